//! Paths to folders in plain characters, through links in a folder of this user alone.

use super::key::CacheKey;
use super::private_folder::of_the_temporary_directory;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The begin of the names of links to folders.
const LINK: &str = "folder-";

/// A path to a folder in which each character `is_plain`: the folder's own, else that of a link to it in a folder of this user alone. Links
/// stay, and are found again by the next run, as long as there is something behind them.
pub(crate) fn plain_path(folder: &Path, is_plain: impl Fn(&Path) -> bool) -> io::Result<PathBuf> {
    if is_plain(folder) {
        return Ok(folder.to_owned());
    }
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into(), "/dev/shm".into()];
    link_in(temporary.iter().filter(|temporary| is_plain(temporary)), folder)
}

/// A link to a folder, in the first of these temporary directories that can have one.
pub(super) fn link_in<'a>(temporary: impl Iterator<Item = &'a PathBuf>, folder: &Path) -> io::Result<PathBuf> {
    let mut key = CacheKey::new();
    key.add("folder", folder.as_os_str().as_encoded_bytes());
    let name = format!("{LINK}{}", &key.finish()[..32]);
    let mut last = io::Error::other("no temporary directory has such a path; set TMPDIR to one");
    for temporary in temporary {
        let own = of_the_temporary_directory(temporary);
        own.iter().for_each(|own| remove_dangling(own));
        let link = own.map(|own| own.join(&name));
        let made = link.and_then(|link| match symlink(folder, &link) {
            Err(_) if fs::read_link(&link).is_ok_and(|target| target == folder) => Ok(link),
            made => made.map(|()| link),
        });
        match made {
            Ok(link) => return Ok(link),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Removes links of [`plain_path`] to folders that are gone. Failures do not matter: the next user tries again.
fn remove_dangling(own: &Path) {
    for entry in fs::read_dir(own).into_iter().flatten().flatten() {
        let is_link = entry.file_name().as_encoded_bytes().starts_with(LINK.as_bytes())
            && entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_link && fs::metadata(entry.path()).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

//! Folders of this user alone, and the users who are trusted in them.

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{fs, io};
use vecud_linux::files;

pub(super) const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The users whose files in a cache may be executed: this one, and root, who could do anything in this one's name.
pub(super) fn trusted() -> [u32; 2] {
    [files::ROOT, rustix::process::geteuid().as_raw()]
}

pub(super) fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A folder of this user alone where everybody may make some.
pub(super) fn of_the_temporary_directory(temp: &Path) -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let folder = temp.join(format!("vecud-{user}"));
    make_private_folder(&folder)?;
    let refuse = |why: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    // Everybody may write to the temporary directory: somebody else could have made it to place libraries in it.
    let found = fs::symlink_metadata(&folder)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return refuse(format!("{} is not a folder of this user alone; remove it", folder.display()));
    }
    match files::stranger(&folder, &trusted(), false) {
        Some(stranger) => refuse(format!("{stranger}; set TMPDIR")),
        None => Ok(folder),
    }
}

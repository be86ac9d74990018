//! An entry: complete or absent, with a list of its files.

use super::error::CacheError;
use super::key::CacheKey;
use super::private_folder::{WRITABLE_BY_OTHERS, trusted};
use rustix::fs::{CWD, FlockOperation, RenameFlags};
use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;
use vecud_linux::files;

pub(super) const TEMPORARY: &str = ".tmp-";

pub(super) const FILES: &str = "files";
pub(super) const LIST: &str = "list";
/// Instead of the digest of a file that is not compared by it.
const NO_DIGEST: &str = "-";

pub(super) const LEFTOVER_AGE: Duration = Duration::from_secs(60);

/// Moves the finished folder into place. A complete entry that appeared meanwhile stays; an incomplete one is exchanged
/// in one step, so that its users find their files at every instant.
pub(super) fn publish(temporary: tempfile::TempDir, entry: &Path) -> Result<(), CacheError> {
    let from = temporary.path();
    let failed = |e: rustix::io::Errno| CacheError::new("cannot move into place", entry, e.into());
    // The temporary folder was made for its maker alone; the entry has the same mode, the cache being one user's.
    match rustix::fs::renameat_with(CWD, from, CWD, entry, RenameFlags::NOREPLACE) {
        Ok(()) => {
            let _ = temporary.keep();
            return Ok(());
        }
        Err(rustix::io::Errno::EXIST) if is_complete(entry) => return Ok(()),
        Err(rustix::io::Errno::EXIST) => {}
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            return publish_plainly(temporary, entry);
        }
        Err(e) => return Err(failed(e)),
    }
    rustix::fs::renameat_with(CWD, from, CWD, entry, RenameFlags::EXCHANGE).map_err(failed)
    // Dropping `temporary` now removes the incomplete one.
}

/// Publishing on file systems without rename flags: plain rename refuses to replace a folder that is not empty.
pub(super) fn publish_plainly(temporary: tempfile::TempDir, entry: &Path) -> Result<(), CacheError> {
    for _ in 0..2 {
        match fs::rename(temporary.path(), entry) {
            Ok(()) => {
                let _ = temporary.keep();
                return Ok(());
            }
            Err(_) if is_complete(entry) => return Ok(()),
            Err(_) if entry.exists() => {
                let aside = temporary.path().with_extension("old");
                let _ = fs::rename(entry, &aside);
                let _ = fs::remove_dir_all(&aside);
            }
            Err(e) => return Err(CacheError::new("cannot move into place", entry, e)),
        }
    }
    Err(CacheError::new("cannot move into place", entry, io::ErrorKind::AlreadyExists.into()))
}

/// An exclusive lock on a folder, or `None` when somebody holds it.
pub(super) fn lock(folder: &Path) -> Option<fs::File> {
    let file = fs::File::open(folder).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file)
}

/// One line per file: size, digest or `-`, path. Removes write permission of other users.
pub(super) fn write_list(entry: &Path, checked: impl Fn(&str) -> bool) -> io::Result<()> {
    let mut list = io::BufWriter::new(fs::File::create_new(entry.join(LIST))?);
    let files = entry.join(FILES);
    let mut folders = vec![files.clone()];
    while let Some(folder) = folders.pop() {
        keep_to_ourselves(&folder)?;
        for item in fs::read_dir(&folder)? {
            let item = item?;
            if item.file_type()?.is_dir() {
                folders.push(item.path());
                continue;
            }
            let path = item.path();
            keep_to_ourselves(&path)?;
            let name = path.strip_prefix(&files).unwrap_or(&path);
            let Some(name) = name.to_str().filter(|n| !n.contains(char::is_control)) else {
                return Err(io::Error::other("a file name that is no plain text"));
            };
            let digest = if checked(name) { digest(&path)? } else { NO_DIGEST.to_owned() };
            writeln!(list, "{} {digest} {name}", item.metadata()?.len())?;
        }
    }
    // A list that was cut off (power failure) lacks this line.
    writeln!(list, "end")?;
    list.into_inner()?.sync_all()
}

fn keep_to_ourselves(path: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(path)?.mode();
    if mode & WRITABLE_BY_OTHERS != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o7777 & !WRITABLE_BY_OTHERS))?;
    }
    Ok(())
}

fn digest(path: &Path) -> io::Result<String> {
    let mut key = CacheKey::new();
    key.add_content(files::open(path)?)?;
    Ok(key.finish())
}

/// Whether every listed file is there with its size, and its content as far as the list has a digest, and no other user
/// can have made or changed any of it. Further files (FMUs write logs into their resources) do not matter.
pub(super) fn is_complete(entry: &Path) -> bool {
    let list = entry.join(LIST);
    let files = entry.join(FILES);
    if ![entry, &list, &files].into_iter().all(|path| ours(path).is_some()) {
        return false;
    }
    let Ok(list) = files::read_to_string(&list) else {
        return false;
    };
    let mut lines = list.lines();
    if lines.next_back() != Some("end") {
        return false;
    }
    let mut known: HashSet<&Path> = HashSet::new();
    lines.all(|line| {
        let mut words = line.splitn(3, ' ');
        let (Some(size), Some(sum), Some(name)) = (words.next(), words.next(), words.next()) else {
            return false;
        };
        let path = files.join(name);
        let is_whole = ours(&path).is_some_and(|found| found.is_file() && size.parse() == Ok(found.len()));
        let mut above = Path::new(name).ancestors().skip(1).filter(|folder| known.insert(folder));
        is_whole
            && above.all(|folder| ours(&files.join(folder)).is_some_and(|found| found.is_dir()))
            && (sum == NO_DIGEST || digest(&path).is_ok_and(|now| now == sum))
    })
}

/// Metadata of a path, unless another user (but root) owns it or may write to it, or it is a link.
fn ours(path: &Path) -> Option<fs::Metadata> {
    let found = fs::symlink_metadata(path).ok()?;
    let safe = trusted().contains(&found.uid()) && found.mode() & WRITABLE_BY_OTHERS == 0 && !found.is_symlink();
    safe.then_some(found)
}

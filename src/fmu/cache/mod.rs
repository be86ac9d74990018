//! A folder of finished results, shared by every run of `vecud` and safe against all of them ending at any time.
//!
//! What it guarantees:
//! - An entry is complete or absent. It is made in a temporary sibling and renamed into place; a list of its files and
//!   their sizes is written last, and compared at every use, so an entry from which somebody (a tidy-up of old
//!   temporary files, a power failure) has taken something is made anew.
//! - Several processes may make the same entry at once: one rename wins, all of them use the winner's.
//! - Whatever goes wrong while an entry is made, its temporary folder is removed. Those of killed processes are removed
//!   by the next user of the cache once they are a day old and nobody holds their lock.
//! - Names of entries hold a hash of everything that they were made from, so an entry never becomes stale.
#![forbid(unsafe_code)]

mod key;

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Access, AtFlags, CWD, FlockOperation, RenameFlags};

pub(crate) use key::Key;

const TEMPORARY: &str = ".tmp-";
const FILES: &str = "files";
const LIST: &str = "list";
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 3600);

/// The folder that holds unpacked FMUs and built libraries.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// The cache's own folder cannot be used.
#[derive(Debug)]
pub struct CacheError {
    /// The folder or file that failed.
    pub path: PathBuf,
    doing: &'static str,
    source: io::Error,
}

impl Cache {
    /// The user's cache: `$VECUD_CACHE`, else `$XDG_CACHE_HOME/vecud`, else `~/.cache/vecud`; where none of these can be
    /// written, a folder under the temporary directory that belongs to this user alone.
    pub fn user() -> io::Result<Cache> {
        choose(|name| std::env::var_os(name), &std::env::temp_dir()).map(Cache::at)
    }

    /// A cache in `folder`, which is made when something is first put there.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        let folder = folder.into();
        Cache { folder: std::path::absolute(&folder).unwrap_or(folder) }
    }

    /// Where the cache is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of entry `name`; `make` is called with an empty folder to fill when there is no complete entry yet.
    pub(crate) fn get_or_make<E: From<CacheError>>(
        &self,
        name: &str,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        self.remove_leftovers();
        let entry = self.folder.join(name);
        if is_complete(&entry) {
            return Ok(entry.join(FILES));
        }
        make_private_folder(&self.folder)
            .map_err(|e| CacheError::new("cannot make the cache folder", &self.folder, e))?;
        let temporary = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempdir_in(&self.folder)
            .map_err(|e| CacheError::new("cannot write to the cache folder", &self.folder, e))?;
        // Held until the folder is in place: tells a cleaner with another idea of the time that somebody is at work.
        let _lock = lock(temporary.path());
        let files = temporary.path().join(FILES);
        fs::create_dir(&files).map_err(|e| CacheError::new("cannot make folder", &files, e))?;
        make(&files)?;
        write_list(temporary.path()).map_err(|e| CacheError::new("cannot write", &temporary.path().join(LIST), e))?;
        publish(temporary, &entry)?;
        Ok(entry.join(FILES))
    }

    /// Removes what killed processes left. Failures do not matter: the next user tries again.
    fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in entries.flatten() {
            if !entry.file_name().as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) {
                continue;
            }
            let modified = entry.metadata().and_then(|m| m.modified());
            let old =
                modified.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > LEFTOVER_AGE));
            if old && lock(&entry.path()).is_some() {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Moves the finished folder into place. A complete entry that appeared meanwhile stays; an incomplete one is exchanged
/// in one step, so that its users find their files at every instant.
fn publish(temporary: tempfile::TempDir, entry: &Path) -> Result<(), CacheError> {
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

/// The same for file systems without rename flags: plain rename refuses to replace a folder that is not empty.
fn publish_plainly(temporary: tempfile::TempDir, entry: &Path) -> Result<(), CacheError> {
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
fn lock(folder: &Path) -> Option<fs::File> {
    let file = fs::File::open(folder).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file)
}

/// One line per file: size, blank, path.
fn write_list(entry: &Path) -> io::Result<()> {
    let mut list = io::BufWriter::new(fs::File::create_new(entry.join(LIST))?);
    let mut folders = vec![entry.join(FILES)];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(&folder)? {
            let item = item?;
            if item.file_type()?.is_dir() {
                folders.push(item.path());
                continue;
            }
            let path = item.path();
            let name = path.strip_prefix(entry).unwrap_or(&path);
            let Some(name) = name.to_str().filter(|n| !n.contains(char::is_control)) else {
                return Err(io::Error::other("a file name that is no plain text"));
            };
            writeln!(list, "{} {name}", item.metadata()?.len())?;
        }
    }
    // A list that was cut off (power failure) lacks this line.
    writeln!(list, "end")?;
    list.into_inner()?.sync_all()
}

/// Whether every listed file is there with its size. Further files (FMUs write logs into their resources) do not matter.
fn is_complete(entry: &Path) -> bool {
    let Ok(list) = fs::read_to_string(entry.join(LIST)) else {
        return false;
    };
    let mut lines = list.lines();
    if lines.next_back() != Some("end") {
        return false;
    }
    lines.all(|line| {
        let Some((size, name)) = line.split_once(' ') else {
            return false;
        };
        let path = entry.join(name);
        fs::symlink_metadata(path).is_ok_and(|m| m.is_file() && size.parse() == Ok(m.len()))
    })
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The folder of the user's cache, given the environment.
fn choose(env: impl Fn(&str) -> Option<OsString>, temp: &Path) -> io::Result<PathBuf> {
    let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = set("VECUD_CACHE") {
        return Ok(named);
    }
    // The XDG specification has relative values ignored.
    let xdg = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = set("HOME").filter(|path| path.is_absolute());
    let usual = [xdg, home.map(|home| home.join(".cache"))];
    for base in usual.into_iter().flatten() {
        let folder = base.join("vecud");
        let may = Access::WRITE_OK | Access::EXEC_OK;
        if make_private_folder(&folder).is_ok() && rustix::fs::accessat(CWD, &folder, may, AtFlags::EACCESS).is_ok() {
            return Ok(folder);
        }
    }
    let user = rustix::process::geteuid().as_raw();
    let folder = temp.join(format!("vecud-{user}"));
    make_private_folder(&folder)?;
    // Everybody may write to the temporary directory: somebody else could have made it to place libraries in it.
    let found = fs::symlink_metadata(&folder)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{} is not a folder of this user alone; remove it", folder.display()),
        ));
    }
    Ok(folder)
}

impl CacheError {
    pub(crate) fn new(doing: &'static str, path: &Path, source: io::Error) -> CacheError {
        CacheError { path: path.to_path_buf(), doing, source }
    }
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CacheError { path, doing, source } = self;
        write!(f, "{}: {doing}: {source}; set VECUD_CACHE to a folder that you may write to", path.display())
    }
}

impl std::error::Error for CacheError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests;

//! A folder of finished results, shared by every run of `vecud` and safe against all of them ending at any time.
//!
//! Guarantees:
//! - An entry is complete or absent. It is made in a temporary sibling and renamed into place; a list of its files and
//!   their sizes, and of those that decide what is executed their digests, is written last, and compared at every use, so an
//!   entry of which somebody (a tidy-up of old temporary files, a power failure) has taken or changed something is made anew.
//! - What other users could have put there is not used: no folder that they may write to, by itself or one above it, and
//!   no file or link of theirs. Only root is as good as the user.
//! - Several processes may make the same entry at once: one rename wins, all of them use the winner's.
//! - Whatever goes wrong while an entry is made, its temporary folder is removed. Those of killed processes are removed
//!   by the next user of the cache, once they are a minute old and nobody holds their lock.
//! - Names of entries hold a hash of everything that they were made from, so an entry never becomes stale.
#![forbid(unsafe_code)]

mod key;

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Access, AtFlags, CWD, FlockOperation, RenameFlags};

pub(crate) use key::CacheKey;
use vecud_linux::files;
use vecud_linux::permits::Permits;
use vecud_linux::rights::Rights;
use vecud_linux::stop::StopToken;

const TEMPORARY: &str = ".tmp-";
/// The begin of the names of links to folders.
const LINK: &str = "folder-";
const FILES: &str = "files";
const LIST: &str = "list";
/// Instead of the digest of a file that is not compared by it.
const NO_DIGEST: &str = "-";
const WRITABLE_BY_OTHERS: u32 = 0o022;
const LEFTOVER_AGE: Duration = Duration::from_secs(60);

/// The folder that holds unpacked FMUs and built libraries.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    note: Option<String>,
    stop: StopToken,
    builds: Permits,
    rights: Rights,
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
    /// written or is safe from other users, a folder under the temporary directory that belongs to this user alone.
    pub fn user() -> io::Result<Cache> {
        choose(|name| std::env::var_os(name), &std::env::temp_dir())
    }

    /// A cache in `folder`, which is made when something is first put there. The caller answers for who may write there.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        let folder = folder.into();
        Cache {
            folder: std::path::absolute(&folder).unwrap_or(folder),
            note: None,
            stop: StopToken::default(),
            builds: Permits::default(),
            rights: Rights::default(),
        }
    }

    /// Why this is not the folder that it usually is, if so.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// A cache of the same folder, for which nothing more is unpacked or built as soon as somebody asks for the end.
    pub fn until(self, stop: StopToken) -> Cache {
        Cache { stop, ..self }
    }

    /// A cache of the same folder, for which a library is built once there is a permit.
    pub fn permitted_by(self, builds: Permits) -> Cache {
        Cache { builds, ..self }
    }

    /// A cache of the same folder, for which FMUs are read with these rights. The folder itself is this user's as before.
    pub fn read_with(self, rights: Rights) -> Cache {
        Cache { rights, ..self }
    }

    /// The rights with which FMUs are read.
    pub(crate) fn rights(&self) -> &Rights {
        &self.rights
    }

    /// Permits to build.
    pub(crate) fn builds(&self) -> &Permits {
        &self.builds
    }

    /// Request for the end of work for this cache.
    pub(crate) fn stop(&self) -> &StopToken {
        &self.stop
    }

    /// Where the cache is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of entry `name`, if it is complete.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        let entry = self.folder.join(name);
        is_complete(&entry).then(|| entry.join(FILES))
    }

    /// The files of entry `name`; `make` is called with an empty folder to fill when there is no complete entry yet. Files
    /// whose path in it is `checked` are compared by their digest at every use.
    pub(crate) fn get_or_make<E: From<CacheError>>(
        &self,
        name: &str,
        checked: impl Fn(&str) -> bool,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        self.remove_leftovers();
        if let Some(files) = self.find(name) {
            return Ok(files);
        }
        let entry = self.folder.join(name);
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
        write_list(temporary.path(), checked)
            .map_err(|e| CacheError::new("cannot write", &temporary.path().join(LIST), e))?;
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

/// Publishing on file systems without rename flags: plain rename refuses to replace a folder that is not empty.
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

/// One line per file: size, digest or `-`, path. What other users may write to by its mode, they may no more.
fn write_list(entry: &Path, checked: impl Fn(&str) -> bool) -> io::Result<()> {
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

/// Whether every listed file is there with its size, and its content as far as the list has a digest, and nobody else can
/// have made or changed any of it. Further files (FMUs write logs into their resources) do not matter.
fn is_complete(entry: &Path) -> bool {
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

/// The users whose files in a cache may be executed: this one, and root, who could do anything in this one's name.
fn trusted() -> [u32; 2] {
    [files::ROOT, rustix::process::geteuid().as_raw()]
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The user's cache, given the environment.
fn choose(env: impl Fn(&str) -> Option<OsString>, temp: &Path) -> io::Result<Cache> {
    let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut unsafe_one = None;
    let mut is_safe = |folder: &Path| match files::stranger(folder, &trusted(), false) {
        None => true,
        Some(stranger) => {
            unsafe_one.get_or_insert((folder.to_owned(), stranger));
            false
        }
    };
    let named = set("VECUD_CACHE").filter(|folder| is_safe(folder));
    // The XDG specification has relative values ignored.
    let xdg = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = set("HOME").filter(|path| path.is_absolute());
    let usual = [xdg, home.map(|home| home.join(".cache"))].into_iter().flatten().map(|base| base.join("vecud"));
    let may_write = |folder: &PathBuf| {
        let may = Access::WRITE_OK | Access::EXEC_OK;
        make_private_folder(folder).is_ok() && rustix::fs::accessat(CWD, folder, may, AtFlags::EACCESS).is_ok()
    };
    let found = match named {
        Some(named) => Some(named),
        None => usual.into_iter().find(|folder| is_safe(folder) && may_write(folder)),
    };
    let folder = found.map_or_else(|| of_the_temporary_directory(temp), Ok)?;
    let note = unsafe_one.map(|(wanted, stranger)| {
        format!(
            "the cache {} is not used, since {stranger}, who could have libraries of theirs executed; used is {}: set \
             VECUD_CACHE to a folder that only you may write to",
            wanted.display(),
            folder.display()
        )
    });
    Ok(Cache { note, ..Cache::at(folder) })
}

/// A path to a folder in which each character `is_plain`: the folder's own, else that of a link to it in a folder of this user alone. Links
/// stay, and are found again by the next run, as long as there is something behind them.
pub(crate) fn plain_path(folder: &Path, is_plain: impl Fn(&Path) -> bool) -> io::Result<PathBuf> {
    if is_plain(folder) {
        return Ok(folder.to_owned());
    }
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into(), "/dev/shm".into()];
    link_in(temporary.iter().filter(|temporary| is_plain(temporary)), folder)
}

/// A link to a folder, in the first of these temporary directories in which there can be one.
fn link_in<'a>(temporary: impl Iterator<Item = &'a PathBuf>, folder: &Path) -> io::Result<PathBuf> {
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

/// A folder of this user alone where everybody may make some.
fn of_the_temporary_directory(temp: &Path) -> io::Result<PathBuf> {
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

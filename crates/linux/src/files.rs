//! Files and folders that others may have prepared.
//!
//! Guarantees: reading never blocks (a pipe under the name of a file is refused, not waited for), a new file is made
//! under its own name (a link in its place is replaced, not followed), and the safety of a folder from other users is
//! judged by its whole path.

#![forbid(unsafe_code)]

mod folder;

pub use folder::Folder;

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// User id of root, which may change everything anyway.
pub const ROOT: u32 = 0;
/// User id that the kernel shows for files of owners outside of this user namespace.
const NOBODY: u32 = 65534;
const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Opens an ordinary file for reading. (A folder opens, too: reading it fails, with the system's words.)
///
/// # Errors
/// The operating system's, and one that says what is there instead of an ordinary file.
pub fn open(path: &Path) -> io::Result<File> {
    // A pipe would be waited for until somebody writes.
    let file = File::options().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() || kind.is_dir() {
        true => Ok(file),
        false => {
            Err(io::Error::other("is no ordinary file (but a pipe, a socket or a device), and only such are read"))
        }
    }
}

/// The text of an ordinary file.
///
/// # Errors
/// As [`open`] and [`fs::read_to_string`].
pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

/// Content of an ordinary file; `None`: it is longer than `longest` bytes.
///
/// # Errors
/// As [`open`] and [`fs::read`].
pub fn read_at_most(path: &Path, longest: u64) -> io::Result<Option<Vec<u8>>> {
    at_most(open(path)?, longest)
}

fn at_most(file: File, longest: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(longest + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= longest).then_some(bytes))
}

/// Makes a new file for writing in place of what has its name, be it a link or a pipe.
///
/// # Errors
/// The operating system's: a folder is not replaced.
pub fn create(path: &Path) -> io::Result<File> {
    create_with(path, File::options().write(true))
}

/// Makes a new file as [`create`], to whose end whoever has it open writes.
///
/// # Errors
/// As [`create`].
pub fn create_to_append(path: &Path) -> io::Result<File> {
    create_with(path, File::options().append(true))
}

/// Makes a new file under another name, which ends with `.part`; it has its own as soon as `begin` has written what makes it a valid one.
/// Where that fails nothing is left behind.
///
/// # Errors
/// As [`create`], and those of `begin`.
pub fn create_begun<T>(path: &Path, begin: impl FnOnce(File) -> io::Result<T>) -> io::Result<T> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".part");
    renamed(Path::new(&partial), path, create(Path::new(&partial)).and_then(begin))
}

/// Gives a file that was made under the name `partial` its own, unless making it has failed: then it is removed.
///
/// # Errors
/// Errors of making the file, and the operating system's.
pub fn renamed<T>(partial: &Path, path: &Path, made: io::Result<T>) -> io::Result<T> {
    let done = made.and_then(|made| fs::rename(partial, path).map(|()| made));
    if done.is_err() {
        let _it_may_not_be_there = fs::remove_file(partial);
    }
    done
}

/// Opens an ordinary file to whose end is written, or makes it; a link is not followed.
///
/// # Errors
/// The operating system's, and one that says what is there instead.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32;
    let file = File::options().create(true).append(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("is no ordinary file")),
    }
}

fn create_with(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Fails where somebody has put something there since.
    options.create_new(true).open(path)
}

/// Opens a file that this program has made, for writing over it; if it is another one by now, makes it anew.
///
/// # Errors
/// As [`create`].
pub fn reopen(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32;
    if let Ok(file) = File::options().write(true).custom_flags(flags).open(path) {
        let found = file.metadata()?;
        // One with a second name may be anybody's.
        if found.is_file() && found.nlink() == 1 && found.uid() == rustix::process::geteuid().as_raw() {
            return Ok(file);
        }
    }
    create(path)
}

/// Opens a device or a pipe for writing.
///
/// # Errors
/// The operating system's: of a pipe that nobody reads "No such device or address".
pub fn open_device(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

/// Which user, beside root and the one who calls sudo, may change what lies in `folder`, while this program has root's
/// rights. Others write where they may.
pub fn stranger_to_root(folder: &Path) -> Option<UnsafeFolder> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let caller = std::env::var("SUDO_UID").ok().and_then(|number| number.parse().ok()).unwrap_or(ROOT);
    stranger(folder, &[ROOT, caller], true)
}

/// Why a folder is not safe from other users.
#[derive(Debug, PartialEq, Eq)]
pub struct UnsafeFolder {
    path: PathBuf,
    owner: Option<u32>,
}

impl fmt::Display for UnsafeFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.owner {
            Some(owner) => write!(f, "{path} belongs to another user (number {owner})"),
            None => write!(f, "other users may write to {path}"),
        }
    }
}

/// Another user, besides the `trusted` ones, who may change the content of `folder`, through this folder or an existing
/// one above it. A folder in which everybody may make files, but rename only his own (`/tmp`), is safe for its content;
/// `shared` tells whether `folder` itself may be of that kind.
pub fn stranger(folder: &Path, trusted: &[u32], shared: bool) -> Option<UnsafeFolder> {
    let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    // The destinations of links, and the folders that contain the links themselves.
    let real = there.canonicalize().unwrap_or_else(|_| there.to_owned());
    let all: BTreeSet<&Path> = real.ancestors().chain(there.ancestors()).collect();
    all.into_iter().find_map(|part| {
        let found = part.symlink_metadata().ok()?;
        let itself = (part == real || part == there) && there == path;
        let known = trusted.contains(&found.uid()) || (!itself && found.uid() == NOBODY && !is_mapped(NOBODY));
        if !known {
            return Some(UnsafeFolder { path: part.to_owned(), owner: Some(found.uid()) });
        }
        // By custom the group with a user's number has no other member.
        let by_group = found.mode() & WRITABLE_BY_GROUP != 0 && found.gid() != found.uid();
        let open = found.is_dir() && (found.mode() & WRITABLE_BY_ALL != 0 || by_group);
        let guarded = found.mode() & STICKY != 0 && (shared || !itself);
        (open && !guarded).then(|| UnsafeFolder { path: part.to_owned(), owner: None })
    })
}

/// Whether a user's number is that of a user in this user namespace.
fn is_mapped(user: u32) -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let mut lines = map.lines().map(|line| line.split_whitespace().flat_map(str::parse::<u64>).collect::<Vec<_>>());
    // First number inside, first outside, how many.
    lines.any(|line| matches!(line[..], [first, _, count] if (first..first + count).contains(&user.into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let guard = tempfile::tempdir().unwrap();
        let path = guard.path().canonicalize().unwrap();
        (guard, path)
    }

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_pipe_is_refused_at_once() {
        let (_guard, folder) = folder();
        let pipe = folder.join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(open(&pipe).unwrap_err().to_string().contains("no ordinary file"));
        assert!(open(Path::new("/dev/zero")).is_err());
        fs::write(folder.join("file"), "x").unwrap();
        assert_eq!(read_to_string(&folder.join("file")).unwrap(), "x");
        assert_eq!(read_to_string(&folder).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn what_is_made_replaces_links_and_pipes() {
        let (_guard, folder) = folder();
        let (precious, name) = (folder.join("precious"), folder.join("name"));
        fs::write(&precious, "mine").unwrap();
        std::os::unix::fs::symlink(&precious, &name).unwrap();
        create(&name).unwrap();
        assert!(name.symlink_metadata().unwrap().is_file());
        assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
        fs::remove_file(&name).unwrap();
        nix::unistd::mkfifo(&name, nix::sys::stat::Mode::S_IRWXU).unwrap();
        create(&name).unwrap();
        fs::hard_link(&precious, folder.join("hard")).unwrap();
        create(&folder.join("hard")).unwrap();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
        fs::create_dir(folder.join("folder")).unwrap();
        assert!(create(&folder.join("folder")).is_err());
    }

    #[test]
    fn whoever_may_change_a_folder_or_one_above_is_found_as_this_user() {
        let me = rustix::process::geteuid().as_raw();
        let trusted = [ROOT, me];
        let (_guard, base) = folder();
        let inner = base.join("a/b");
        assert_eq!(stranger(&inner, &trusted, false), None, "what is not there is made by us");
        fs::create_dir_all(&inner).unwrap();
        chmod(&base.join("a"), 0o700);
        chmod(&inner, 0o755);
        assert_eq!(stranger(&inner, &trusted, false), None);
        let others = |path: &Path| Some(UnsafeFolder { path: path.to_owned(), owner: None });
        chmod(&inner, 0o757);
        assert_eq!(stranger(&inner, &trusted, false), others(&inner));
        // As /tmp.
        chmod(&inner, 0o1777);
        assert_eq!(stranger(&inner, &trusted, false), others(&inner));
        assert_eq!(stranger(&inner, &trusted, true), None);
        assert_eq!(stranger(&inner.join("new"), &trusted, false), None);
        chmod(&inner, 0o700);
        chmod(&base.join("a"), 0o777);
        assert_eq!(stranger(&inner, &trusted, true), others(&base.join("a")));
        assert_eq!(stranger(&inner.join("new/newer"), &trusted, true), others(&base.join("a")));
        // A link that leads there, and one that lies there.
        std::os::unix::fs::symlink(&inner, base.join("link")).unwrap();
        assert_eq!(stranger(&base.join("link"), &trusted, true), others(&base.join("a")));
        fs::create_dir(base.join("safe")).unwrap();
        chmod(&base.join("safe"), 0o700);
        std::os::unix::fs::symlink(base.join("safe"), base.join("a/link")).unwrap();
        assert_eq!(stranger(&base.join("a/link"), &trusted, true), others(&base.join("a")));
        let owner = Some(UnsafeFolder { path: "/".into(), owner: Some(ROOT) });
        if is_mapped(ROOT) {
            assert_eq!(stranger(&base, &[12345], true), owner);
        }
    }
}

//! Ordinary files: opened without waiting, made in place of anything with their name.

use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens an ordinary file for reading. (A folder opens, too: reading it fails, with the system's words.)
///
/// # Errors
/// The operating system's, and one that names the thing there that is no ordinary file.
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
/// As for [`open`] and [`fs::read_to_string`].
pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

/// Content of an ordinary file; `None`: it is longer than `longest` bytes.
///
/// # Errors
/// As for [`open`] and [`fs::read`].
pub fn read_at_most(path: &Path, longest: u64) -> io::Result<Option<Vec<u8>>> {
    at_most(open(path)?, longest)
}

pub(super) fn at_most(file: File, longest: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(longest + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= longest).then_some(bytes))
}

/// Makes a new file for writing, in place of anything with its name, such as a link or a pipe.
///
/// # Errors
/// The operating system's: a folder is not replaced.
pub fn create(path: &Path) -> io::Result<File> {
    create_with(path, File::options().write(true))
}

/// Makes a new file as [`create`] does; all writes go to its end.
///
/// # Errors
/// As for [`create`].
pub fn create_to_append(path: &Path) -> io::Result<File> {
    create_with(path, File::options().append(true))
}

/// Makes a new file under another name, which ends with `.part`; it has its own as soon as `begin` has written what makes it a valid one.
/// Where that fails nothing is left behind.
///
/// # Errors
/// As for [`create`], and those of `begin`.
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

/// Opens an ordinary file for writing at its end, or makes it; a link is not followed.
///
/// # Errors
/// The operating system's, and one that names the thing there that is no ordinary file.
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

/// Opens a file that this program has made, to overwrite it; if another file is there by now, replaces it by a new one.
///
/// # Errors
/// As for [`create`].
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let guard = tempfile::tempdir().unwrap();
        let path = guard.path().canonicalize().unwrap();
        (guard, path)
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
}

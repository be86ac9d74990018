//! A folder that is held open: what is done in it is done there, whatever becomes of its name meanwhile.
//!
//! Guarantees: folders in it are opened and made name by name, and none of them is a link. Paths to its content lead through the
//! descriptor (`/proc/self/fd/N`), so that nothing above it is looked up again; the last name of such a path may be a link: the
//! caller must not follow it.

use super::ordinary_file::at_most;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, accessat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A folder that is held open. Clones hold the same one.
#[derive(Clone, Debug)]
pub struct Folder {
    held: Arc<OwnedFd>,
    path: PathBuf,
}

const HELD: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Folder {
    /// Opens one wherever its path leads.
    ///
    /// # Errors
    /// The operating system's.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let held = rustix::fs::open(path, HELD, Mode::empty())?;
        Ok(Folder { held: Arc::new(held), path: path.to_owned() })
    }

    /// The folder that a path names, made as far as it is not there; `made` hears of each that was made, by the folder it is in and its
    /// name.
    ///
    /// # Errors
    /// The operating system's.
    pub fn make_all(path: &Path, made: &mut impl FnMut(&Folder, &Path)) -> io::Result<Folder> {
        let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new(""));
        let folder = Folder::open(if there.as_os_str().is_empty() { Path::new(".") } else { there })?;
        let folder = Folder { path: there.to_owned(), ..folder };
        folder.make_parts(path.strip_prefix(there).unwrap_or(path), made, |folder| {
            Ok(Folder { path: folder.path.join(".."), ..Folder::open(&folder.join(".."))? })
        })
    }

    /// Makes the folder at a path that begins here, as far as it is not there. No part of the path may be a link.
    ///
    /// # Errors
    /// The operating system's, and one for a link.
    pub fn make_beneath(&self, path: &Path, made: &mut impl FnMut(&Folder, &Path)) -> io::Result<Folder> {
        self.make_parts(path, made, |_| Err(io::Error::from(io::ErrorKind::InvalidInput)))
    }

    /// Makes the folder at a path that begins here, as [`Folder::make_beneath`] does; `above` gives the folder that one is in.
    fn make_parts(
        &self,
        path: &Path,
        made: &mut impl FnMut(&Folder, &Path),
        above: impl Fn(&Folder) -> io::Result<Folder>,
    ) -> io::Result<Folder> {
        path.components().try_fold(self.clone(), |folder, part| match part {
            Component::Normal(name) => {
                let name = Path::new(name);
                if folder.make(name)? {
                    made(&folder, name);
                }
                folder.inner(name)
            }
            Component::CurDir => Ok(folder),
            Component::ParentDir => above(&folder),
            _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
        })
    }

    /// Makes a folder in it, unless there is something of this name. Tells whether it has.
    ///
    /// # Errors
    /// The operating system's.
    pub fn make(&self, name: impl AsRef<Path>) -> io::Result<bool> {
        match mkdirat(&self.held, one(name.as_ref())?, Mode::from_bits_truncate(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The folder at a path from here; no part of the path is a link.
    ///
    /// # Errors
    /// As for [`Folder::inner`].
    pub fn beneath(&self, path: &Path) -> io::Result<Folder> {
        path.iter().try_fold(self.clone(), |folder, name| folder.inner(name))
    }

    /// A folder in it.
    ///
    /// # Errors
    /// The operating system's, and one for a link.
    pub fn inner(&self, name: impl AsRef<Path>) -> io::Result<Folder> {
        let name = one(name.as_ref())?;
        let path = self.path.join(name);
        match openat(&self.held, name, HELD | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(held) => Ok(Folder { held: Arc::new(held), path }),
            Err(Errno::NOTDIR | Errno::LOOP) if self.has_link(name) => {
                Err(io::Error::other("is a link, which is not followed"))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn has_link(&self, name: &Path) -> bool {
        let found = statat(&self.held, name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_symlink())
    }

    /// Opens an ordinary file in it for reading, which is no link.
    ///
    /// # Errors
    /// The operating system's, and one that names the thing there that is no ordinary file.
    pub fn file(&self, name: impl AsRef<Path>) -> io::Result<File> {
        // A pipe would be waited for until somebody writes.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.held, one(name.as_ref())?, flags, Mode::empty())?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("is no ordinary file")),
        }
    }

    /// Reads an ordinary file of this folder; a link is refused. `None`: the file has more than `longest` bytes.
    ///
    /// # Errors
    /// As for [`Folder::file`].
    pub fn read_at_most(&self, name: impl AsRef<Path>, longest: u64) -> io::Result<Option<Vec<u8>>> {
        at_most(self.file(name)?, longest)
    }

    /// Whether an ordinary file of this name is in it.
    pub fn has_file(&self, name: impl AsRef<Path>) -> bool {
        self.join(name).symlink_metadata().is_ok_and(|found| found.is_file())
    }

    /// Removes a folder in it in which there is nothing.
    ///
    /// # Errors
    /// The operating system's.
    pub fn remove_empty(&self, name: impl AsRef<Path>) -> io::Result<()> {
        Ok(unlinkat(&self.held, one(name.as_ref())?, AtFlags::REMOVEDIR)?)
    }

    /// Removes a folder in it with all that it has; of links the links themselves.
    ///
    /// # Errors
    /// The operating system's.
    pub fn remove_all(&self, name: impl AsRef<Path>) -> io::Result<()> {
        fs::remove_dir_all(self.join(one(name.as_ref())?))
    }

    /// Whether files can be made in it.
    ///
    /// # Errors
    /// The operating system's.
    pub fn may_be_written(&self) -> io::Result<()> {
        let may = Access::WRITE_OK | Access::EXEC_OK;
        Ok(accessat(CWD, self.way(), may, AtFlags::EACCESS)?)
    }

    /// The folder's path, as people know it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder's path, for messages.
    pub fn display(&self) -> std::path::Display<'_> {
        self.path.display()
    }

    /// The way to it, as long as it is held.
    pub fn way(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.held.as_raw_fd()).into()
    }

    /// A path to an entry of the folder, valid as long as the folder is held.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.way().join(name)
    }

    /// A way to something in it as people know it.
    pub fn shown(&self, way: &Path) -> PathBuf {
        way.strip_prefix(self.way()).map_or_else(|_| way.to_owned(), |name| self.path.join(name))
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.held.as_fd()
    }
}

/// A path that is one name, which leads neither up nor on.
fn one(name: &Path) -> io::Result<&Path> {
    let mut parts = name.components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(_)), None) => Ok(name),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Whatever its name leads to by now.
    #[test]
    fn what_is_done_in_a_folder_is_done_there() {
        let base = tempfile::tempdir().unwrap();
        let (own, other) = (base.path().join("own"), base.path().join("other"));
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(other.join("runs")).unwrap();
        let folder = Folder::open(&own).unwrap();
        fs::rename(&own, base.path().join("moved")).unwrap();
        symlink(&other, &own).unwrap();
        fs::write(folder.join("file"), "x").unwrap();
        assert!(folder.make("runs").unwrap() && !folder.make("runs").unwrap());
        folder.remove_empty("runs").unwrap();
        assert_eq!(fs::read(base.path().join("moved/file")).unwrap(), b"x");
        assert!(!other.join("file").exists() && other.join("runs").is_dir());
        assert_eq!((folder.path(), folder.shown(&folder.join("file"))), (&*own, own.join("file")));
    }

    #[test]
    fn no_link_is_followed_and_no_name_leads_out() {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir_all(base.path().join("other/deep")).unwrap();
        fs::write(base.path().join("other/file"), "secret").unwrap();
        fs::create_dir(base.path().join("own")).unwrap();
        let folder = Folder::open(&base.path().join("own")).unwrap();
        symlink("../other", folder.join("link")).unwrap();
        symlink("../other/file", folder.join("file")).unwrap();
        let refused = folder.inner("link").unwrap_err();
        assert_eq!(refused.to_string(), "is a link, which is not followed");
        assert!(folder.make_beneath(Path::new("link/new"), &mut |_, _| ()).is_err());
        assert!(folder.file("file").is_err());
        for name in ["", ".", "..", "../other", "/", "link/deep"] {
            assert!(
                folder.inner(name).is_err() && folder.make(name).is_err() && folder.remove_all(name).is_err(),
                "{name}"
            );
        }
        folder.remove_all("link").unwrap();
        assert!(base.path().join("other/deep").is_dir() && folder.join("link").symlink_metadata().is_err());
        let up = Folder::make_all(&base.path().join("new/../other/more"), &mut |_, _| ()).unwrap();
        assert!(base.path().join("other/more").is_dir() && up.path().ends_with("new/../other/more"));
        let mut made = Vec::new();
        folder.make_beneath(Path::new("a/b"), &mut |folder, name| made.push(folder.path().join(name))).unwrap();
        assert_eq!(made, ["a", "a/b"].map(|name| folder.path().join(name)));
    }
}

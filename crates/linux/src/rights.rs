//! The rights with which a file is read that a user has named: those of this process, or those of the user who has asked for it over
//! a unix socket.
//!
//! Guarantees: what another user names is found part by part and opened as that user would find and open it, links included, whatever
//! this process may; nothing of `/proc` is, where a process sees its own secrets. Rights are those of the calling thread, for one look at a
//! time, so no other thread ever has those of somebody else. A thread that cannot get its own back ends the process.
//!
//! Only root (`CAP_SETUID`, `CAP_SETGID`) can take the rights of others. Any other process goes by owner, group and mode of each folder on
//! the way and of the file itself, as the kernel does; a file with an access control list is then for its owner alone.

use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::{Gid, Uid, setfsgid, setfsuid};
use rustix::fs::{CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, fstat, fstatfs, getxattr, openat, readlinkat};
use rustix::io::Errno;
use rustix::process::DumpableBehavior;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_thread_groups};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// The rights of a user with a file or folder, as bits of a mode.
const READ: u32 = 0o4;
const SEARCH: u32 = 0o1;
/// Greatest number of links on a path, as in the kernel.
const MOST_LINKS: usize = 40;
/// Greatest number of groups of a user in the kernel.
const MOST_GROUPS: usize = 65536;

/// Rights for accessing files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rights(Option<User>);

/// Another user than that of this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct User {
    user: u32,
    group: u32,
    /// The groups beside that.
    groups: Vec<u32>,
}

impl Rights {
    /// Rights of the peer of a unix socket: those of this process for its own user, and for root, who may do everything
    /// anyway.
    pub fn of_peer(socket: &impl AsFd) -> io::Result<Rights> {
        let peer = getsockopt(&socket.as_fd(), sockopt::PeerCredentials)?;
        if peer.uid() == 0 || peer.uid() == rustix::process::geteuid().as_raw() {
            return Ok(Rights::default());
        }
        Ok(Rights(Some(User { user: peer.uid(), group: peer.gid(), groups: groups_of_peer(socket)? })))
    }

    /// Whether they are those of this process.
    pub fn are_own(&self) -> bool {
        self.0.is_none()
    }

    /// Examines the file at this path; `look` gets a path that leads there. For another user the file is held meanwhile, so that
    /// nobody can put something else there.
    pub fn at<T>(&self, path: &Path, look: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        let Some(user) = &self.0 else { return look(path) };
        let way = |found: &OwnedFd| PathBuf::from(format!("/proc/self/fd/{}", found.as_raw_fd()));
        let seen = match Borrowed::of(user) {
            Some(_until_it_is_seen) => find(path, None).and_then(|found| look(&way(&found))),
            None => find(path, Some(user)).and_then(|found| look(&way(&found))),
        };
        seen.map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => {
                io::Error::new(error.kind(), format!("{error} to user {}, who has put the rig", user.user))
            }
            _ => error,
        })
    }
}

impl User {
    /// Whether owner, group and mode of a held file let this user do that.
    fn may(&self, held: &OwnedFd, wanted: u32) -> io::Result<()> {
        let found = fstat(held)?;
        let is_owner = found.st_uid == self.user;
        let is_member = found.st_gid == self.group || self.groups.contains(&found.st_gid);
        let bits = found.st_mode
            >> if is_owner {
                6
            } else if is_member {
                3
            } else {
                0
            };
        let has_list = || {
            let way = format!("/proc/self/fd/{}", held.as_raw_fd());
            !matches!(
                getxattr(way, "system.posix_acl_access", &mut [0_u8; 0][..]),
                Err(Errno::NODATA | Errno::OPNOTSUPP)
            )
        };
        match bits & wanted == wanted && (is_owner || !has_list()) {
            true => Ok(()),
            false => Err(Errno::ACCESS.into()),
        }
    }
}

/// Holds the file at a path, without opening it. If `user` is given, the folders on the way must let that user search them, and the file
/// let that user read it; else it is the kernel that refuses.
fn find(path: &Path, user: Option<&User>) -> io::Result<OwnedFd> {
    let hold = |folder: &OwnedFd, name: &OsString| {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(folder, name, flags, Mode::empty())
    };
    let root = || openat(CWD, "/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let may = |held: &OwnedFd, wanted| user.map_or(Ok(()), |user| user.may(held, wanted));
    // The next part is the last one of these.
    let mut parts = parts_of(&std::path::absolute(path)?);
    let (mut held, mut links) = (root()?, 0);
    while let Some(name) = parts.pop() {
        may(&held, SEARCH)?;
        let next = hold(&held, &name)?;
        if FileType::from_raw_mode(fstat(&next)?.st_mode) != FileType::Symlink {
            held = next;
            continue;
        }
        links += 1;
        if links > MOST_LINKS {
            return Err(Errno::LOOP.into());
        }
        let target = PathBuf::from(OsString::from_vec(readlinkat(&next, "", Vec::new())?.into_bytes()));
        if target.is_absolute() {
            held = root()?;
        }
        parts.extend(parts_of(&target));
    }
    if fstatfs(&held)?.f_type == PROC_SUPER_MAGIC {
        return Err(Errno::ACCESS.into());
    }
    let is_folder = FileType::from_raw_mode(fstat(&held)?.st_mode) == FileType::Directory;
    may(&held, if is_folder { READ | SEARCH } else { READ })?;
    Ok(held)
}

/// The names in a path, the first one last.
fn parts_of(path: &Path) -> Vec<OsString> {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    let mut names: Vec<OsString> = names.map(|part| part.as_os_str().to_owned()).collect();
    names.reverse();
    names
}

/// The calling thread has the rights of another user to files, until this is dropped.
struct Borrowed {
    user: Uid,
    group: Gid,
    groups: Vec<rustix::process::Gid>,
    capabilities: CapabilitySets,
    dumpable: DumpableBehavior,
    /// Keeps the value on the thread that has borrowed the rights.
    _here: std::marker::PhantomData<*const ()>,
}

impl Borrowed {
    /// `None`: this process cannot take them, and nothing has changed.
    fn of(user: &User) -> Option<Borrowed> {
        let capabilities = capabilities(None).ok()?;
        // The C library would have all threads do so: these are the kernel's calls, which concern one.
        let groups = rustix::process::getgroups().ok()?;
        let theirs: Vec<_> = user.groups.iter().map(|&group| rustix::process::Gid::from_raw(group)).collect();
        // It is the whole process's: the kernel clears it for all threads, and only the first one can see what it was.
        static DUMPABLE: OnceLock<DumpableBehavior> = OnceLock::new();
        let dumpable = *DUMPABLE.get_or_init(|| match rustix::process::dumpable_behavior() {
            Ok(DumpableBehavior::Dumpable) => DumpableBehavior::Dumpable,
            _ => DumpableBehavior::NotDumpable,
        });
        set_thread_groups(&theirs).ok()?;
        // No call tells whether it was refused: what was set is asked for by the next one.
        let group = setfsgid(Gid::from_raw(user.group));
        let before = setfsuid(Uid::from_raw(user.user));
        let borrowed =
            Borrowed { user: before, group, groups, capabilities, dumpable, _here: std::marker::PhantomData };
        // Of a process that is not root's the kernel takes none.
        let files = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH | CapabilitySet::FOWNER;
        let less = CapabilitySets { effective: capabilities.effective - files, ..capabilities };
        let is_taken = fs_ids() == (user.user, user.group) && set_capabilities(None, less).is_ok();
        is_taken.then_some(borrowed)
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        setfsuid(self.user);
        setfsgid(self.group);
        let groups = set_thread_groups(&self.groups);
        let own = set_capabilities(None, self.capabilities);
        let ids = (self.user.as_raw(), self.group.as_raw());
        if groups.is_err() || own.is_err() || fs_ids() != ids {
            eprintln!("vecud: this thread does not get its rights to files back: the process ends");
            std::process::abort();
        }
        // The kernel has made it what it is of programs that change their user.
        let _it_stays_that = rustix::process::set_dumpable_behavior(self.dumpable);
    }
}

/// The user and the group whose rights to files the calling thread has.
fn fs_ids() -> (u32, u32) {
    // No user has this number: it changes nothing.
    (setfsuid(Uid::from_raw(u32::MAX)).as_raw(), setfsgid(Gid::from_raw(u32::MAX)).as_raw())
}

/// The groups of a user who has connected to a unix socket, without the main one.
fn groups_of_peer(socket: &impl AsFd) -> io::Result<Vec<u32>> {
    let mut groups = vec![0_u32; 64];
    loop {
        let mut length = size_of_val(groups.as_slice()) as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes, which are those of `groups`, where any bits are a value, and one length.
        let result = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERGROUPS,
                groups.as_mut_ptr().cast(),
                &mut length,
            )
        };
        let count = length as usize / size_of::<u32>();
        match (result, io::Error::last_os_error()) {
            (0, _) => {
                groups.truncate(count);
                return Ok(groups);
            }
            (_, error) if error.raw_os_error() == Some(libc::ERANGE) && groups.len() < MOST_GROUPS => {
                groups.resize(count.clamp(groups.len() + 1, MOST_GROUPS), 0);
            }
            (_, error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::net::UnixStream;

    #[test]
    fn who_asks_himself_has_the_rights_of_this_process() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(Rights::of_peer(&one).unwrap(), Rights::default());
        assert!(groups_of_peer(&one).is_ok());
        let own = Rights::default().at(Path::new("/proc/self/stat"), |way| fs::read(way));
        assert!(own.is_ok());
    }

    #[test]
    fn a_path_leads_where_it_leads_for_the_kernel_but_not_into_proc() {
        let guard = tempfile::tempdir().unwrap();
        let folder = guard.path().canonicalize().unwrap();
        fs::create_dir(folder.join("inner")).unwrap();
        fs::write(folder.join("inner/file"), "x").unwrap();
        for (link, target) in [("up", "inner/../inner"), ("ring", "ring"), ("own", "/proc/self"), ("none", "gone")] {
            std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
        }
        std::os::unix::fs::symlink(folder.join("inner"), folder.join("inner/again")).unwrap();
        let same = |path: &str| {
            let found = fstat(find(&folder.join(path), None)?)?;
            let there = rustix::fs::stat(folder.join("inner/file"))?;
            Ok::<_, io::Error>((found.st_dev, found.st_ino) == (there.st_dev, there.st_ino))
        };
        for path in ["inner/file", "up/file", "up/again/../inner/./again/file", "up/again/again/file"] {
            assert!(same(path).unwrap(), "{path}");
        }
        for (path, kind) in [
            ("ring/file", Errno::LOOP),
            ("none", Errno::NOENT),
            ("inner/file/x", Errno::NOTDIR),
            ("own/maps", Errno::ACCESS),
        ] {
            let error = find(&folder.join(path), None).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(kind.raw_os_error()), "{path}");
        }
    }

    /// A file that is this user's alone, and one that everybody may read.
    #[test]
    fn another_user_reads_what_he_may_while_other_threads_read_what_this_one_may_as_this_user() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let guard = tempfile::tempdir().unwrap();
        let own = guard.path().metadata().unwrap();
        let other = User { user: own.uid() + 4321, group: own.gid() + 4321, groups: vec![own.gid() + 4322] };
        let (closed, open) = (guard.path().join("closed"), guard.path().join("open"));
        for (path, mode) in [(&closed, 0o600), (&open, 0o644), (&guard.path().to_owned(), 0o755)] {
            if mode != 0o755 {
                fs::write(path, "x").unwrap();
            }
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let rights = Rights(Some(other));
        let read = |path: &Path| rights.at(path, |way| fs::read(way));
        let error = read(&closed).unwrap_err();
        let words = format!("to user {}", own.uid() + 4321);
        assert!(error.kind() == ErrorKind::PermissionDenied && error.to_string().contains(&words), "{error}");
        assert_eq!(read(&closed.with_file_name("none")).unwrap_err().kind(), ErrorKind::NotFound);
        let (ask, asked) = std::sync::mpsc::channel::<()>();
        let (answer, answered) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let closed = &closed;
            scope.spawn(move || asked.iter().for_each(|()| answer.send(fs::read(closed).is_ok()).unwrap()));
            let seen = rights.at(&open, |way| {
                ask.send(()).unwrap();
                assert!(answered.recv().unwrap(), "another thread has its own rights");
                fs::read(way)
            });
            assert_eq!(seen.unwrap(), b"x");
            drop(ask);
        });
        assert!(fs::read(&closed).is_ok(), "this thread has its own back");
    }

    #[test]
    fn modes_say_what_owner_group_and_others_may() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let guard = tempfile::tempdir().unwrap();
        let file = guard.path().join("file");
        fs::write(&file, "x").unwrap();
        let own = file.metadata().unwrap();
        let (user, group) = (own.uid(), own.gid());
        let held = openat(CWD, &file, OFlags::PATH, Mode::empty()).unwrap();
        for (mode, who, may) in [
            (0o400, (user, group + 1, vec![]), true),
            (0o044, (user, group, vec![]), false),
            (0o040, (user + 1, group, vec![]), true),
            (0o040, (user + 1, group + 1, vec![group + 2, group]), true),
            (0o404, (user + 1, group, vec![]), false),
            (0o004, (user + 1, group + 1, vec![]), true),
            (0o770, (user + 1, group + 1, vec![group + 2]), false),
        ] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let (user, group, groups) = who;
            let told = User { user, group, groups }.may(&held, READ);
            assert_eq!(told.is_ok(), may, "{mode:o}");
        }
    }
}

//! A unix socket: one that the daemon makes, that its user and its group may write to, and that two daemons never share; or one
//! from a service manager, of which nothing is changed.

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrStorage, UnixAddr, bind, getsockname, getsockopt, listen,
    socket, sockopt,
};
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use vecud_host::Error;

/// Permissions of the socket: for its user and its group.
const MODE: u32 = 0o660;

/// A socket that is this process's alone.
pub struct Socket {
    listener: UnixListener,
    name: String,
    _made: Option<Made>,
}

/// A socket that was made here; it is gone when this is dropped.
struct Made {
    path: PathBuf,
    /// The socket as it was made here; somebody else's is not removed.
    number: u64,
    /// Held as long as it is open.
    _lock: File,
}

impl Socket {
    /// Listens at this path. One that a daemon has left which was killed is replaced.
    pub fn bind(path: &Path) -> Result<Socket, Error> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            let path = path.display();
            Error::System(format!("{path}: {what}: {error}; choose another socket with --socket PATH"))
        };
        let mut lock_path = path.as_os_str().to_owned();
        lock_path.push(".lock");
        let lock = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(&lock_path)
            .map_err(|error| failed("cannot listen there", &error))?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            let path = path.display();
            return Err(Error::System(format!(
                "{path}: another daemon listens there; end it, or choose another socket with --socket PATH"
            )));
        }
        match path.symlink_metadata() {
            Ok(found) if found.file_type().is_socket() => {
                fs::remove_file(path).map_err(|error| failed("the socket that is left there", &error))?;
            }
            Ok(_) => return Err(failed("cannot listen there", &"it is there and no socket")),
            Err(_) => (),
        }
        let failed = |error| failed("cannot listen there", &error);
        let (listener, number) = bound(path).map_err(failed)?;
        let made = Made { path: path.to_owned(), number, _lock: lock };
        listen(&listener, Backlog::MAXCONN).map_err(failed)?;
        Ok(Socket { listener: UnixListener::from(listener), name: path.display().to_string(), _made: Some(made) })
    }

    /// A socket that another process has made, and listens at.
    pub fn given(descriptor: &OwnedFd) -> Result<Socket, Error> {
        let wrong = |what: &dyn std::fmt::Display| {
            Error::System(format!(
                "the socket that was handed over ($LISTEN_FDS) is of no use: {what}; ListenStream= of the socket unit wants a path"
            ))
        };
        let address = getsockname::<SockaddrStorage>(descriptor.as_raw_fd()).map_err(|error| wrong(&error))?;
        let Some(address) = address.as_unix_addr() else { return Err(wrong(&"it is no unix socket")) };
        let name = match (address.path(), address.as_abstract()) {
            (Some(path), _) => path.display().to_string(),
            (None, Some(name)) => format!("@{}", String::from_utf8_lossy(name)),
            (None, None) => return Err(wrong(&"it has no name")),
        };
        let listens = getsockopt(descriptor, sockopt::AcceptConn).map_err(|error| wrong(&error))?;
        let kind = getsockopt(descriptor, sockopt::SockType).map_err(|error| wrong(&error))?;
        if !listens || kind != SockType::Stream {
            return Err(wrong(&format!("{name} takes no connections")));
        }
        let listener = UnixListener::from(descriptor.try_clone().map_err(|error| wrong(&error))?);
        listener.set_nonblocking(true).map_err(|error| wrong(&error))?;
        Ok(Socket { listener, name, _made: None })
    }

    /// The socket's path, for messages.
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The listener that accepts connections, in the runtime of the caller.
    pub fn listener(&self) -> io::Result<tokio::net::UnixListener> {
        self.listener.try_clone().and_then(tokio::net::UnixListener::from_std)
    }
}

/// A socket of this path with its permissions, and its number. Nobody can connect to it yet: it had those of the umask before.
fn bound(path: &Path) -> Result<(OwnedFd, u64), Errno> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let listener = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    bind(listener.as_raw_fd(), &UnixAddr::new(path)?)?;
    let made = fs::set_permissions(path, fs::Permissions::from_mode(MODE)).and_then(|()| path.symlink_metadata());
    let number = made.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(0)))?.ino();
    Ok((listener, number))
}

impl Drop for Made {
    fn drop(&mut self) {
        if self.path.symlink_metadata().is_ok_and(|found| found.ino() == self.number) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind::ConnectionRefused;
    use std::os::unix::net::UnixStream;

    /// Nobody is let in by the permissions that the umask would give it.
    #[test]
    fn it_takes_connections_only_once_it_has_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let (_listener, _) = bound(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, MODE);
        assert_eq!(UnixStream::connect(&path).unwrap_err().kind(), ConnectionRefused);
    }
}

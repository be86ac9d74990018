//! A unix socket that its user and its group may write to. Two daemons never have one.

use crate::supervisor::Error;
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Who may speak to it: its user and its group.
const MODE: u32 = 0o660;

/// A socket that is this process's alone; it is gone when this is dropped.
pub struct Socket {
    listener: UnixListener,
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
        let listener = UnixListener::bind(path).map_err(|error| failed("cannot listen there", &error))?;
        let made = fs::set_permissions(path, fs::Permissions::from_mode(MODE)).and_then(|()| path.symlink_metadata());
        let number = made.map_err(|error| failed("cannot let its group write to it", &error))?.ino();
        listener.set_nonblocking(true).map_err(|error| failed("cannot listen there", &error))?;
        Ok(Socket { listener, path: path.to_owned(), number, _lock: lock })
    }

    /// Its path, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// What accepts connections, in the runtime of the caller.
    pub fn listener(&self) -> io::Result<tokio::net::UnixListener> {
        self.listener.try_clone().and_then(tokio::net::UnixListener::from_std)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.path.symlink_metadata().is_ok_and(|found| found.ino() == self.number) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

//! Where requests come from: a unix socket that its group may write to.
//!
//! Guarantees: two daemons never have one socket; a request is read in bounded time and memory, and there are so many connections
//! at most.

use super::log::DaemonLog;
use crate::supervisor::Error;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Connections at a time; further ones wait.
const CONNECTIONS: usize = 256;
/// How long the head of a request may take, and a connection be idle.
const HEAD: Duration = Duration::from_secs(10);
/// The longest head of a request.
const LONGEST_HEAD: usize = 64 << 10;
/// What answers that are under way have when the daemon ends.
const LAST: Duration = Duration::from_secs(2);
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
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.path.symlink_metadata().is_ok_and(|found| found.ino() == self.number) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Answers requests until `end` is there.
pub async fn serve(socket: Socket, api: Router, log: &DaemonLog, end: impl Future<Output = ()>) -> Result<(), Error> {
    let system = |error: io::Error| Error::System(format!("{}: {error}", socket.path.display()));
    let listener = socket.listener.try_clone().and_then(tokio::net::UnixListener::from_std).map_err(system)?;
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let mut end = std::pin::pin!(end);
    loop {
        let permit = connections.clone().acquire_owned();
        let next = async { (permit.await, listener.accept().await) };
        let (permit, stream) = tokio::select! {
            () = &mut end => break,
            (permit, accepted) = next => match accepted {
                Ok((stream, _)) => (permit, stream),
                Err(error) => {
                    // No descriptor is left, or the other side is gone already.
                    log.say(&format!("{}: {error}", socket.path.display()));
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let service = TowerToHyperService::new(api.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .max_buf_size(LONGEST_HEAD)
                .serve_connection(TokioIo::new(stream), service);
            // What goes wrong is the other side's, which has the answer or has gone.
            let _ = connection.await;
            drop(permit);
        });
    }
    let idle = async { drop(connections.acquire_many(CONNECTIONS as u32).await) };
    let _in_vain = tokio::time::timeout(LAST, idle).await;
    Ok(())
}

//! What the runner's process inherits, and which signals it leaves to its parent.

use super::SysError;
use nix::sys::signal::{SigHandler, Signal, signal};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};

/// A file descriptor that the parent process has left open for us, by number; to be taken once.
pub fn inherited(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: fcntl(F_GETFD) only looks whether the number is an open descriptor.
    if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open, and nothing else in this process owns it: it was there before the process started,
    // and callers take each number once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// All that can be read from a descriptor.
pub fn read_to_end(file: OwnedFd) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::from(file).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Ignores SIGINT and SIGTERM, and dies with the parent.
pub fn leave_signals_to_the_supervisor() -> Result<(), SysError> {
    for which in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // SAFETY: SigIgn installs no handler, so there is no code that could break a rule of signal handlers.
        unsafe { signal(which, SigHandler::SigIgn) }
            .map_err(|errno| SysError::new(format!("ignore {which}"), errno as i32, ""))?;
    }
    super::crash::follow_parent(libc::SIGKILL)
}

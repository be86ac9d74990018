//! Messages to the service manager: sd_notify(3), without its library.
//!
//! Guarantee: sending waits for nobody for longer than a moment, whoever may have stopped reading.

use std::env::{self, VarError};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::thread;
use std::time::Duration;

/// Number of attempts to send while the service manager has no room for a message, and the time between two.
const TRIALS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(10);

/// The destination of messages.
#[derive(Debug)]
pub enum Notify {
    /// There is no service manager.
    Nobody,
    /// There is one.
    To(UnixDatagram, SocketAddr),
    /// There is one that cannot be reached; why.
    Lost(io::Error),
}

impl Notify {
    /// The one that `$NOTIFY_SOCKET` names.
    pub fn of_the_environment() -> Notify {
        env::var_os("NOTIFY_SOCKET").map_or(Notify::Nobody, |name| Notify::at(&name))
    }

    /// The one with this address: a path, or `@` and an abstract name.
    fn at(name: &OsStr) -> Notify {
        let address = match name.as_bytes().strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name),
            None => SocketAddr::from_pathname(name),
        };
        let socket = || {
            let socket = UnixDatagram::unbound()?;
            socket.set_nonblocking(true)?;
            Ok((socket, address?))
        };
        socket().map_or_else(Notify::Lost, |(socket, address)| Notify::To(socket, address))
    }

    /// Sends a message: lines of `KEY=value`.
    pub fn send(&self, message: &str) -> io::Result<()> {
        let (socket, address) = match self {
            Notify::Nobody => return Ok(()),
            Notify::To(socket, address) => (socket, address),
            Notify::Lost(error) => return Err(io::Error::new(error.kind(), error.to_string())),
        };
        let mut trials = 1;
        loop {
            match socket.send_to_addr(message.as_bytes(), address) {
                Err(error) if error.kind() == ErrorKind::WouldBlock && trials < TRIALS => trials += 1,
                sent => return sent.map(drop),
            }
            thread::sleep(PAUSE);
        }
    }
}

/// The interval at which the service manager wants a keep-alive of this process; `None`: it wants none.
pub fn watchdog() -> Option<Duration> {
    wanted(env::var("WATCHDOG_USEC"), env::var("WATCHDOG_PID"), std::process::id())
}

fn wanted(time: Result<String, VarError>, process: Result<String, VarError>, own: u32) -> Option<Duration> {
    let is_meant = process.map_or(true, |process| process.parse() == Ok(own));
    let time = time.ok()?.parse().ok().filter(|time| is_meant && *time > 0)?;
    Some(Duration::from_micros(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_paths_and_to_abstract_names_and_nowhere_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("vecud-test-{}", std::process::id());
        let of_name = SocketAddr::from_abstract_name(&name).unwrap();
        let sockets = [UnixDatagram::bind(&path).unwrap(), UnixDatagram::bind_addr(&of_name).unwrap()];
        for (socket, address) in sockets.iter().zip([path.into_os_string(), format!("@{name}").into()]) {
            Notify::at(&address).send("READY=1").unwrap();
            let mut buffer = [0; 16];
            let length = socket.recv(&mut buffer).unwrap();
            assert_eq!(&buffer[..length], b"READY=1");
        }
        Notify::Nobody.send("READY=1").unwrap();
        assert!(Notify::at(folder.path().join("none").as_os_str()).send("READY=1").is_err());
        assert!(Notify::at(OsStr::new(&"x".repeat(200))).send("READY=1").is_err());
    }

    #[test]
    fn nobody_waits_for_who_does_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let _silent = UnixDatagram::bind(&path).unwrap();
        let notify = Notify::at(path.as_os_str());
        let full = (0..100_000).find_map(|_| notify.send("WATCHDOG=1").err()).unwrap();
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn the_watchdog_is_for_the_process_that_it_names() {
        let of = |time: &str, process: Option<&str>| {
            wanted(Ok(time.to_owned()), process.map(str::to_owned).ok_or(VarError::NotPresent), 7)
        };
        assert_eq!(of("2000000", Some("7")), Some(Duration::from_secs(2)));
        assert_eq!(of("2000000", None), Some(Duration::from_secs(2)));
        assert_eq!(of("2000000", Some("8")), None);
        assert_eq!((of("0", None), of("soon", None), of("-1", None)), (None, None, None));
        assert_eq!(wanted(Err(VarError::NotPresent), Ok("7".to_owned()), 7), None);
    }
}

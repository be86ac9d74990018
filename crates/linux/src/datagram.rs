//! Datagram sockets that receive events from outside. The content of datagrams is ignored.
//!
//! Sockets do not block and ask the kernel for its receive time. Receiving allocates nothing. The file of a unix socket is
//! its owner's alone (mode 0600) from its first moment on, and is removed with the [`SocketFile`].

use super::SysError;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{
    self, AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockType, UnixAddr, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use rustix::fs::{Access, AtFlags, CWD};
use std::fs::{self, Permissions};
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A bound socket.
#[derive(Debug)]
pub struct DatagramSocket(OwnedFd);

/// Result of reading a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// There is nothing to receive.
    Nothing,
    /// A datagram, taken out, and when it came: ns of `CLOCK_REALTIME`, if the kernel knows.
    Datagram(Option<i64>),
    /// The socket could not be read, by this error number.
    Failed(i32),
}

/// Room for the control message with the time stamp, aligned as the kernel wants it.
#[derive(Debug, Default)]
pub struct ControlMessage([u64; 8]);

impl DatagramSocket {
    /// Receives UDP datagrams at an address of this machine.
    pub fn udp(address: SocketAddr) -> Result<DatagramSocket, SysError> {
        DatagramSocket::udp_at(address, address.port())
    }

    /// Whether [`DatagramSocket::udp`] would find an interface with that address. Whether the port is free, only a socket
    /// there can tell, and that would take datagrams away.
    pub fn check_udp(address: SocketAddr) -> Result<(), SysError> {
        DatagramSocket::udp_at(address, 0).map(drop)
    }

    fn udp_at(address: SocketAddr, port: u16) -> Result<DatagramSocket, SysError> {
        let mut at = address;
        at.set_port(port);
        let failed = |error: io::Error| {
            let fix = match error.raw_os_error() {
                Some(libc::EADDRINUSE) => "another program receives there (`ss -lunp` names it): choose another port",
                Some(libc::EADDRNOTAVAIL) => "no interface of this machine has that address (`ip address` lists them)",
                Some(libc::EACCES) => "ports below 1024 need CAP_NET_BIND_SERVICE: choose a higher one",
                _ => "",
            };
            SysError::new(format!("receive at udp {address}"), error.raw_os_error().unwrap_or(0), fix)
        };
        let socket = UdpSocket::bind(at).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        DatagramSocket(socket.into()).with_time_stamps()
    }

    /// Makes the unix socket `path`. A socket file that nobody receives at any more, left by a process that was killed, is
    /// replaced; any other file is left alone, and an error.
    pub fn unix(path: &Path) -> Result<(DatagramSocket, SocketFile), SysError> {
        let failed = |errno| no_unix_socket(path, errno);
        let failed_io = |error: io::Error| failed(Errno::from_raw(error.raw_os_error().unwrap_or(0)));
        make_way(path)?;
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket::socket(AddressFamily::Unix, SockType::Datagram, flags, None).map_err(failed)?;
        // The file inherits the mode of the socket, so that it is never open to others.
        let socket = fs::File::from(socket);
        let set = socket.set_permissions(Permissions::from_mode(0o600));
        set.map_err(failed_io)?;
        socket::bind(socket.as_raw_fd(), &UnixAddr::new(path).map_err(failed)?).map_err(failed)?;
        let file = SocketFile { path: path.to_owned(), identity: identity(path).map_err(failed_io)? };
        Ok((DatagramSocket(socket.into()).with_time_stamps()?, file))
    }

    /// Whether [`DatagramSocket::unix`] would make that socket, as far as can be known without making or removing a file,
    /// once nobody receives there any more: now that may be the very rig that is checked.
    pub fn check_unix(path: &Path) -> Result<(), SysError> {
        found(path)?;
        // The dot makes a folder of it, or an error.
        let folder = path.parent().unwrap_or(Path::new("")).join(".");
        let may = Access::WRITE_OK | Access::EXEC_OK;
        let found = rustix::fs::accessat(CWD, &folder, may, AtFlags::EACCESS);
        found.map_err(|errno| no_unix_socket(path, Errno::from_raw(errno.raw_os_error())))
    }

    fn with_time_stamps(self) -> Result<DatagramSocket, SysError> {
        setsockopt(&self.0, sockopt::ReceiveTimestampns, &true)
            .map_err(|errno| SysError::new("have datagrams stamped with their receive time", errno as i32, ""))?;
        Ok(self)
    }

    /// The socket that another process has made, by its descriptor.
    pub fn inherited(socket: OwnedFd) -> DatagramSocket {
        DatagramSocket(socket)
    }

    /// Takes a datagram out, if there is one.
    pub fn receive(&self, control: &mut ControlMessage) -> Received {
        let mut content = [0; 1];
        let mut content = [IoSliceMut::new(&mut content)];
        let control: &mut [u8] = bytes(&mut control.0);
        match socket::recvmsg::<()>(self.0.as_raw_fd(), &mut content, Some(control), MsgFlags::MSG_DONTWAIT) {
            Ok(message) => Received::Datagram(message.cmsgs().ok().and_then(|mut all| all.find_map(stamp))),
            Err(Errno::EAGAIN | Errno::EINTR) => Received::Nothing,
            Err(errno) => Received::Failed(errno as i32),
        }
    }

    /// The number of datagrams that the kernel has dropped since they came faster than they were read: modulo 2^32.
    pub fn dropped(&self) -> u32 {
        // From <linux/sock_diag.h>: the last of nine figures.
        const SK_MEMINFO_DROPS: usize = 8;
        let mut figures = [0_u32; SK_MEMINFO_DROPS + 1];
        let mut length = size_of_val(&figures) as libc::socklen_t;
        // SAFETY: getsockopt writes at most `length` bytes to `figures`, which has as many, and the length that it wrote;
        // any bits are a u32.
        let result = unsafe {
            libc::getsockopt(
                self.0.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_MEMINFO,
                figures.as_mut_ptr().cast(),
                &mut length,
            )
        };
        if result == 0 { figures[SK_MEMINFO_DROPS] } else { 0 }
    }
}

impl AsFd for DatagramSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn stamp(message: ControlMessageOwned) -> Option<i64> {
    match message {
        ControlMessageOwned::ScmTimestampns(time) => Some(time.tv_sec() * 1_000_000_000 + time.tv_nsec()),
        _ => None,
    }
}

fn bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: the same memory, exclusively borrowed for as long; bytes need no alignment, and any bits are a u64.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

fn no_unix_socket(path: &Path, errno: Errno) -> SysError {
    let fix = match errno {
        Errno::ENOENT => "its folder does not exist",
        Errno::ENOTDIR => "a part of the path is no folder",
        Errno::EACCES | Errno::EROFS => "choose a folder that you may write to",
        Errno::EADDRINUSE => "a file of this name has appeared meanwhile",
        _ => "",
    };
    in_the_way(path, errno, fix)
}

fn in_the_way(path: &Path, errno: Errno, fix: &'static str) -> SysError {
    SysError::new(format!("make the unix socket {}", path.display()), errno as i32, fix)
}

/// Removes the file of a unix socket that is gone, if it stands in the way; removes nothing else.
fn make_way(path: &Path) -> Result<(), SysError> {
    let errno = Errno::EADDRINUSE;
    match found(path)? {
        Found::Nothing => Ok(()),
        Found::Left => {
            fs::remove_file(path).map_err(|_| in_the_way(path, errno, "it is left from before and cannot be removed"))
        }
        Found::Alive => {
            Err(in_the_way(path, errno, "another program receives there (`ss -lxp` names it): choose another name"))
        }
    }
}

/// Result of examining the path for a unix socket.
enum Found {
    Nothing,
    /// A stale socket file without a receiver.
    Left,
    /// A socket that may have a receiver.
    Alive,
}

/// Anything but a socket is an error.
fn found(path: &Path) -> Result<Found, SysError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(Found::Nothing) };
    let connected = || UnixDatagram::unbound().and_then(|socket| socket.connect(path));
    let fix = match found.file_type() {
        kind if kind.is_dir() => "there is a folder of this name: name a file in it",
        kind if !kind.is_socket() => {
            "there is a file of this name that is no socket: move it away, or choose another name"
        }
        _ if connected().is_err_and(|error| error.raw_os_error() == Some(libc::ECONNREFUSED)) => {
            return Ok(Found::Left);
        }
        _ => return Ok(Found::Alive),
    };
    Err(in_the_way(path, Errno::EADDRINUSE, fix))
}

/// The file of a unix socket; removed when this is dropped, unless somebody has put another one in its place.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    /// Device and inode: which file it is.
    identity: (u64, u64),
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|now| now == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Sleeps until one of several descriptors can be read. One system call, no allocation.
#[derive(Debug)]
pub struct Poller<'a> {
    all: Vec<(PollFd<'a>, bool)>,
    /// The descriptors of the last wait that are heeded, in their order.
    heeded: Vec<PollFd<'a>>,
}

impl<'a> Poller<'a> {
    /// Watches these descriptors, numbered from 0; all are heeded.
    pub fn new(all: impl IntoIterator<Item = BorrowedFd<'a>>) -> Poller<'a> {
        let all: Vec<_> = all.into_iter().map(|fd| (PollFd::new(fd, PollFlags::POLLIN), true)).collect();
        Poller { heeded: Vec::with_capacity(all.len()), all }
    }

    /// Whether the waits from now on heed that descriptor.
    pub fn heed(&mut self, number: usize, heeded: bool) {
        self.all[number].1 = heeded;
    }

    /// Sleeps until one of the heeded sockets has something, or is at its end; at most for `at_most`.
    pub fn wait(&mut self, at_most: Option<Duration>) {
        self.heeded.clear();
        self.heeded.extend(self.all.iter().filter(|(_, heeded)| *heeded).map(|(fd, _)| fd.clone()));
        if ppoll(&mut self.heeded, at_most.map(TimeSpec::from_duration), None).is_err() {
            // Interrupted: nothing is known, the caller comes back.
            self.heeded.clear();
        }
    }

    /// Whether the last wait has found something there.
    pub fn has(&self, number: usize) -> bool {
        let wanted = self.all[number].0.as_fd().as_raw_fd();
        let found = self.heeded.iter().find(|fd| fd.as_fd().as_raw_fd() == wanted);
        found.and_then(PollFd::any).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::real_time_now;

    /// A port that was free a moment ago.
    fn port() -> SocketAddr {
        UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    #[track_caller]
    fn counts_and_stamps(socket: &DatagramSocket, send: impl Fn(&[u8])) {
        let mut control = ControlMessage::default();
        assert_eq!(socket.receive(&mut control), Received::Nothing);
        // The first socket that asks for stamps turns them on, from the kernel's work queue: what comes until then is
        // stamped when it is read.
        std::thread::sleep(Duration::from_millis(100));
        let before = real_time_now();
        send(b"");
        send(&[7; 1000]);
        std::thread::sleep(Duration::from_millis(5));
        let after = real_time_now();
        let mut watched = Poller::new([socket.as_fd()]);
        watched.wait(None);
        assert!(watched.has(0));
        let mut last = before;
        for _ in 0..2 {
            let Received::Datagram(Some(stamp)) = socket.receive(&mut control) else { panic!("a stamped datagram") };
            assert!((last..=after - 4_000_000).contains(&stamp), "stamped when it came, not when it was read");
            last = stamp;
        }
        assert_eq!(socket.receive(&mut control), Received::Nothing);
        watched.wait(Some(Duration::from_millis(1)));
        assert!(!watched.has(0));
    }

    #[test]
    fn datagrams_come_one_by_one_with_the_time_of_their_arrival() {
        let address = port();
        let socket = DatagramSocket::udp(address).unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        counts_and_stamps(&socket, |content| assert_eq!(sender.send_to(content, address).unwrap(), content.len()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sock");
        let (socket, _file) = DatagramSocket::unix(&path).unwrap();
        let sender = UnixDatagram::unbound().unwrap();
        counts_and_stamps(&socket, |content| assert_eq!(sender.send_to(content, &path).unwrap(), content.len()));
    }

    #[test]
    fn what_the_kernel_throws_away_is_known() {
        let address = port();
        let socket = DatagramSocket::udp(address).unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        const SENT: u32 = 5000;
        (0..SENT).for_each(|_| assert_eq!(sender.send_to(&[0; 100], address).unwrap(), 100));
        let mut control = ControlMessage::default();
        let left = std::iter::from_fn(|| Some(socket.receive(&mut control)).filter(|got| *got != Received::Nothing));
        let left = left.count() as u32;
        assert!(left > 0 && left < SENT);
        assert_eq!(socket.dropped(), SENT - left);
    }

    #[test]
    fn a_port_in_use_and_an_address_of_others_are_refused() {
        let address = port();
        let _first = DatagramSocket::udp(address).unwrap();
        let error = DatagramSocket::udp(address).unwrap_err();
        assert!(error.to_string().contains(&format!("receive at udp {address}")), "{error}");
        assert!(error.fix.contains("another program receives there"), "{error}");
        let error = DatagramSocket::udp("192.0.2.1:5005".parse().unwrap()).unwrap_err();
        assert!(error.fix.contains("no interface of this machine"), "{error}");
    }

    #[test]
    fn a_unix_socket_is_private_and_gone_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sock");
        let (socket, file) = DatagramSocket::unix(&path).unwrap();
        let found = fs::symlink_metadata(&path).unwrap();
        assert!(found.file_type().is_socket());
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        let error = DatagramSocket::unix(&path).unwrap_err();
        assert!(error.fix.contains("another program receives there"), "{error}");
        drop(socket);
        std::mem::forget(file);
        // Left by somebody who was killed.
        let (_socket, file) = DatagramSocket::unix(&path).unwrap();
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn files_of_others_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sock");
        fs::write(&path, "precious").unwrap();
        let error = DatagramSocket::unix(&path).unwrap_err();
        assert!(error.fix.contains("no socket"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        fs::remove_file(&path).unwrap();
        let stream = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(DatagramSocket::unix(&path).unwrap_err().fix.contains("another program"));
        drop(stream);
        // One that was put in the place of ours is not ours.
        let (_socket, file) = DatagramSocket::unix(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        drop(file);
        assert!(path.exists());
        let missing = DatagramSocket::unix(&folder.path().join("no/events.sock")).unwrap_err();
        assert!(missing.fix.contains("folder does not exist"), "{missing}");
    }
}

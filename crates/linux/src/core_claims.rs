//! Which processes of this machine have which cores for their real-time threads: each says so, for as long as it lives.
//!
//! A claim is a socket of the abstract namespace, bound to a name with the core and a place in line: one process gets a place, of whatever
//! user, and it is free again when that process has ended, however it did. Nothing lies in any file. Processes of other network
//! namespaces have claims of their own. A claim binds nobody: whoever wants a core takes it.
//!
//! Claims are made under a name, by default one for the machine; processes under other names do not see each other.

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket, sockopt::PeerCredentials,
};
use std::io;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// The number of processes that can share a core and see each other.
const PLACES: usize = 16;

/// A core that this process has told others of. Dropping it takes that back.
#[derive(Debug)]
pub struct CoreClaim {
    cpu: usize,
    place: usize,
    _held: UnixListener,
}

impl CoreClaim {
    /// Claims a core, beside those that have it already. `Ok(None)`: no place is left in its line.
    pub fn take(name: &str, cpu: usize) -> io::Result<Option<CoreClaim>> {
        for place in 0..PLACES {
            match UnixListener::bind_addr(&address(name, cpu, place)?) {
                Ok(listener) => return Ok(Some(CoreClaim { cpu, place, _held: listener })),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The core.
    pub fn cpu(&self) -> usize {
        self.cpu
    }

    /// Nobody had the core before.
    pub fn is_first(&self) -> bool {
        self.place == 0
    }
}

/// The processes that have claimed a core, but for this one. A number of 0 is that of a process in another namespace.
pub fn claimed(name: &str, cpu: usize) -> Vec<u32> {
    let holder = |place| {
        let asks =
            socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC, None);
        let asks = asks.ok()?;
        match connect(asks.as_raw_fd(), &UnixAddr::new_abstract(named(name, cpu, place).as_bytes()).ok()?) {
            Ok(()) => getsockopt(&asks, PeerCredentials).ok().map(|peer| u32::try_from(peer.pid()).unwrap_or(0)),
            // Its line of those who ask is full, since nobody answers: it is held.
            Err(Errno::EAGAIN) => Some(0),
            Err(_) => None,
        }
    };
    (0..PLACES).filter_map(holder).filter(|process| *process != std::process::id()).collect()
}

fn address(name: &str, cpu: usize, place: usize) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(named(name, cpu, place))
}

fn named(name: &str, cpu: usize, place: usize) -> String {
    format!("vecud/{name}/core/{cpu}/{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_has_a_line_in_which_a_place_is_free_again_when_its_holder_is_gone() {
        let name = format!("test of {}", std::process::id());
        let take = || CoreClaim::take(&name, 7).unwrap();
        let all: Vec<CoreClaim> = std::iter::from_fn(take).collect();
        assert_eq!(all.len(), PLACES);
        assert!(all[0].is_first() && !all[1].is_first());
        assert!(claimed(&name, 7).is_empty(), "its own process is no other one");
        drop(all);
        assert!(take().is_some_and(|claim| claim.is_first() && claim.cpu() == 7));
    }
}

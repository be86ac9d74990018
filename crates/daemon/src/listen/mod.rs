//! The sources of requests: a unix socket that its group may write to, and, on request, an address of this machine.
//!
//! Guarantees: a request is read in bounded time and memory; each of the two has a limited number of connections, so that
//! clients over TCP do not keep others from the socket; a connection that is silent, or takes nothing of an answer, makes way
//! for others.

mod connections;
mod held;
mod places;
mod socket;
mod stalled;
mod tcp;

pub use connections::{CONNECTIONS, LocalAddress, serve};
pub use held::HeldBody;
pub use places::Peer;
pub use socket::Socket;
pub use tcp::Tcp;

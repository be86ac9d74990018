//! Where requests come from: a unix socket that its group may write to, and, if that is wanted, an address of this machine.
//!
//! Guarantees: a request is read in bounded time and memory; there are so many connections at most to each of the two, so that
//! nobody over TCP keeps others from the socket; whoever is silent, or takes nothing of an answer, makes way for others.

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

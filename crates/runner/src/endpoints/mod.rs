//! Endpoints: the ways in for ticks from outside of a run (semantics S3, S9).
//!
//! An endpoint is a source of items. [`Requests`] has those of a controller; every other one is an [`Endpoint`](endpoint::Endpoint), which
//! the one thread of the [`Receiver`] serves. All of them hand their items over by a [`TickProducer`](intake::TickProducer): no tick from
//! outside comes to a task, or to a clock between steps, by another way, except those of files, which are known ahead of their time
//! ([`crate::stimuli`]). docs/adding-an-endpoint.md says how to add one.

mod counter;
mod datagrams;
mod endpoint;
mod intake;
mod receiver;
mod requests;

pub use receiver::{FIRST_SOCKET_FD, Receiver};
pub use requests::Requests;

//! The activation of input clocks: by periods, lists of times, output clocks, datagrams, stimuli.

pub mod candidates;
pub mod causes;
pub mod clocked_clocks;
pub mod endpoints;
mod network;
pub mod released;
pub mod requests;
pub mod triggers;
pub mod waiting;

pub use network::{ClockNetwork, TickSource};

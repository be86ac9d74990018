//! Values on their way between partitions: never torn, never blocking, no allocation after the start.
//!
//! Everything travels as 64-bit words (see `word` and `bytes` of the crate description), so this folder needs no unsafe code.

#![forbid(unsafe_code)]

mod latest;
mod tick_queue;
pub mod versions;
#[cfg(any(test, debug_assertions))]
pub mod wrong;

pub use latest::{FEW, Latest, NewWords, Words};
pub use tick_queue::{Deadline, TickQueue, TickStamp};
pub use versions::{LaneShape, Read, Reader, Stamp, Versions};

//! An explicit-state model of the preemption lock: every interleaving of a few threads on one core.
//!
//! `kernel` is the scheduler, `protocol` the lock, one atomic step at a time, `scene` its variants and what they are put to,
//! `judge` what must never happen, `search` the search. What it must find is in `tests/schedule/preemption_model.rs`.
//! The model is written apart from `crates/linux/src/preemption`, from the same protocol; `tests/schedule/preemption_real` puts the code
//! itself under real threads.
//!
//! A package of its own, since dependencies are optimised in tests: it looks at some millions of states.

#![forbid(unsafe_code)]

mod judge;
mod kernel;
mod protocol;
mod scene;
mod search;

pub use judge::Violation;
pub use scene::{Gate, Mechanism, Raise, Scene};
pub use search::{Found, explore};

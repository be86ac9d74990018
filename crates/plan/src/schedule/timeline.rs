//! The releases of one task.
//!
//! Guarantees (semantics S1–S3, S12):
//! * activation times strictly increase;
//! * a periodic clock stays on its grid, whatever happens: a late start never changes an activation time, and of releases
//!   that have to wait at most [`QUEUE`](crate::QUEUE) are kept;
//! * a tick at the time of one pending or activated (of the last [`QUEUE`](crate::QUEUE)) is coalesced, another one that is earlier than
//!   the last activation gets the time of its dispatch, and pending ones are taken in the order of their times;
//! * a deadline that was reached before its clock is armed anew, or at that very time, is a tick like any other;
//! * nothing is activated at or after the stop of the run;
//! * no allocation after [`Timeline::new`].

mod plain;
mod releases;
mod resume;

pub use releases::{Armed, DispatchStamp, Due, FED, LateRelease, Learned, Skipped, Tick, Timeline};

#[cfg(test)]
mod tests;

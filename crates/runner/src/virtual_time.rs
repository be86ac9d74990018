//! Virtual time: the same plan in one thread, as fast as possible, execution taking zero time (semantics S15).
//!
//! Ordered by (time, merged order). No activation runs inside another: tasks that a partition triggers run after it has returned
//! and its outputs were read. Nothing here looks at a clock, so a run repeats byte for byte.

mod batch_stepping;
mod context;
mod end;
mod moment;
mod one_thread;
pub mod side_by_side;

pub use self::one_thread::run;

//! One order over the priorities of all FMUs, and the FIFO priorities that it gets (semantics S5).
//!
//! Clocks of one FMU with equal priority are a [class](classes); [`merge`] puts the classes of all FMUs in one order;
//! [`folds`] says which levels of one FMU share a FIFO priority where there are too few, [`band`] where the priorities
//! lie on this machine, and [`rungs`] which of them other rigs leave.

mod band;
mod classes;
mod folds;
mod merge;
mod order;
mod rungs;
pub mod shared;

pub use order::{PriorityOrder, order};

//! One order over the priorities of all FMUs, and its FIFO priorities (semantics S5).
//!
//! Clocks of one FMU with equal priority are a [class](priority_groups); [`merge`] puts the classes of all FMUs in one order; [`shared_slots`]
//! chooses levels of one FMU that share a FIFO priority where there are too few, [`band`] places the priorities on this machine,
//! and [`slots`] leaves out those of other rigs.

mod band;
mod merge;
mod order;
mod priority_groups;
pub mod shared;
mod shared_slots;
mod slots;

pub use order::{PriorityOrder, order};

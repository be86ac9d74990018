//! Tasks: what each sets, reads and does, and which take turns.

pub mod batches;
mod plans;
pub mod serial;

pub use plans::{input_clock, plans};

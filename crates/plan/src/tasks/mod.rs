//! Tasks: their inputs, outputs and work, and the turns that they take.

pub mod batches;
mod plans;
pub mod serial;

pub use plans::{input_clock, plans};

//! One order over the priorities of all FMUs, and the FIFO priorities that it gets (design S5).

pub mod band;
mod folds;
pub mod merge;
pub mod order;
pub mod shared;

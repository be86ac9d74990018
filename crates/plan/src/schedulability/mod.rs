//! Worst responses of preemptive fixed priorities, computed before anything runs: how late can each partition be?
//!
//! Guarantee: if no activation and no locked section takes longer than its figures, activations come no more often and threads
//! wake no later, then no response of a clock exceeds its bound. Every step errs to the safe side; exact where it decides (whole
//! numbers of a common unit of time; a core that is loaded to exactly 1 is not overloaded).
//!
//! - [`known`]: the figures of the rig or of an earlier run, and the missing ones;
//! - [`CommonUnit`]: a unit of time in which all figures are whole;
//! - [`arrival`](ArrivalPattern): the number of activations within a span;
//! - [`blocking`](blocks): waits for less urgent tasks;
//! - [`response`](bound): the worst response of one clock;
//! - [`system`](solve): all clocks of all cores, with triggered clocks following those that tick them;
//! - [`verdict`]: missed deadlines, their lateness and their causes; [`table`]: all of it as text.
//!
//! Assumptions about the host are those of `vecud_linux::preemption`: the thread of a locked section gets the priority of the
//! most urgent partition of its instance that waits for it, that of a step the priority of the most urgent one that waits for its
//! turn; partitions of equal priority follow one another. The limits of the analysis are in docs/schedulability.md.

mod arrival;
mod blocking;
mod common_unit;
mod demand;
pub mod known;
mod load;
mod model;
mod response;
mod shared;
mod system;
pub mod table;
pub mod verdict;

pub use crate::model::{Figures, HostFigures};
pub use arrival::{ArrivalPattern, DelayedPattern};
pub use blocking::{Blocking, blocks};
pub use common_unit::CommonUnit;
pub use demand::Demand;
pub use known::{MeasuredClock, MeasuredRun};
pub use load::{Load, load};
pub use model::{Arrivals, Task};
pub use response::{ResponseBound, ResponseResult, bound};
pub use system::solve;
pub use verdict::{Analysis, analyse};

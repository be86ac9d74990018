//! How late can each partition be? Worst responses of preemptive fixed priorities, computed before anything runs.
//!
//! Guarantee: if no activation takes longer than its figures say, no locked section either, activations come no more often
//! and threads wake no later, then no response of a clock exceeds its bound. Every step errs to the safe side; exact where
//! it decides (whole numbers of a common unit of time; a core that is loaded to exactly 1 is not overloaded).
//!
//! - [`known`]: what is reckoned with, of the rig or of an earlier run, and what is not known;
//! - [`Ticks`]: a unit of time in which all of that is whole;
//! - [`arrival`](ArrivalPattern): how many activations can come within a span;
//! - [`blocking`](blocks): who, though less urgent, is waited for;
//! - [`response`](bound): the worst response of one clock;
//! - [`system`](solve): all clocks of all cores, with triggered clocks following those that tick them;
//! - [`verdict`]: who misses a deadline, by how much, and because of whom; [`table`]: all of it as text.
//!
//! What it assumes of the host is what `vecud_linux::preemption` says: the thread of a locked section gets the priority of the most
//! urgent partition of its instance that waits for it, that of a step the priority of the most urgent one that waits for its turn; partitions of equal
//! priority follow one another. What it does not
//! see is in docs/schedulability.md.

mod arrival;
mod blocking;
mod demand;
pub mod known;
mod load;
mod model;
mod response;
mod shared;
mod system;
pub mod table;
mod ticks;
pub mod verdict;

pub use crate::model::{Figures, HostFigures};
pub use arrival::{ArrivalPattern, DelayedPattern};
pub use blocking::{Blocking, blocks};
pub use demand::Demand;
pub use known::{MeasuredClock, MeasuredRun};
pub use load::{Load, load};
pub use model::{Arrivals, Task};
pub use response::{ResponseBound, ResponseResult, bound};
pub use system::solve;
pub use ticks::Ticks;
pub use verdict::{Analysis, analyse};

//! The releases of tasks: (plan, time, event) → activations.
//!
//! Pure, and the same code in both modes: in real time every partition thread asks its own [`Timeline`] for the next release and
//! sleeps until then; in virtual time an [`Agenda`] orders all timelines. The counts made here (overruns, coalesced and retimed
//! ticks) therefore mean the same in both.
//!
//! External events exist in real time only: [`ClockOffset`] gives their times, [`TokenBucket`] accepts or refuses them.

#![forbid(unsafe_code)]

mod agenda;
mod arrival;
mod grid;
mod passed;
mod quiet_point;
mod timeline;
mod token_bucket;

pub use super::QUEUE;
pub use agenda::{Agenda, Instants};
pub use arrival::ClockOffset;
pub use grid::{first_after, first_from};
pub use passed::Passed;
pub use quiet_point::QuietPoint;
pub use timeline::{Armed, DispatchStamp, Due, FED, LateRelease, Learned, Skipped, Tick, Timeline};
pub use token_bucket::TokenBucket;

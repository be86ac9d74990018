//! When tasks are due: (plan, time, event) → activations.
//!
//! Pure, and the same code in both modes: in real time every partition thread asks its own [`Timeline`] what comes next
//! and sleeps until then; in virtual time an [`Agenda`] orders all timelines. What is counted here (overruns, coalesced
//! and retimed ticks) therefore means the same in both.

#![forbid(unsafe_code)]

mod agenda;
mod timeline;

pub use agenda::Agenda;
pub use timeline::{Dispatch, Due, QUEUE, Skipped, Tick, Timeline};

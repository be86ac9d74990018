//! The plan: a rig resolved against the model descriptions of its FMUs.
//!
//! Pure: whatever is wrong with a rig is found here, before any FMU code is loaded. A plan is immutable, and complete:
//! the runner needs neither the rig file nor a model description. It goes to the runner's process serialised.
//!
//! Names: a *task* has a clock, a core, a priority and set / activate / get. Model partitions are the first kind.

#![forbid(unsafe_code)]

mod build;
mod clocks;
mod connections;
mod described;
mod dialect;
mod findings;
pub(crate) mod glob;
mod host;
mod inputs;
mod instances;
mod interfaces;
pub mod model;
mod priorities;
pub mod promise;
mod record;
mod resolved;
pub mod schedulability;
pub mod table;
mod tasks;
mod trace;
pub(crate) mod words;

use build::Timetable;
pub use build::{FmuInput, PlanError, build};
pub use clocks::causes::roots;
pub use connections::{conversion, timing};
pub use host::{FifoReach, HostFacts};
pub use inputs::control;
pub use inputs::stimulus::{FedClock, FedElement, FedValue, Interpolation, StimulusPlan};
pub use interfaces::check_states;
pub use model::*;
pub use priorities::shared;
pub use trace::{TraceMode, TracePlan};

#[cfg(test)]
pub(crate) mod tests;

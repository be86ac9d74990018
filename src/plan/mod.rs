//! The plan: a rig resolved against the model descriptions of its FMUs.
//!
//! Pure: whatever is wrong with a rig is found here, before any FMU code is loaded. A plan is immutable, and complete:
//! the runner needs neither the rig file nor a model description. It goes to the runner's process serialised.
//!
//! Names: a *task* has a clock, a core, a priority and set / activate / get. Model partitions are the first kind.

#![forbid(unsafe_code)]

mod band;
mod batches;
mod build;
mod causes;
mod clocked_clocks;
mod clocks;
mod connections;
pub mod control;
pub mod conversion;
mod cores;
mod cycles;
mod datagrams;
mod delays;
mod dialect;
mod ends;
mod findings;
mod folds;
pub(crate) mod glob;
mod initial;
mod links;
pub mod model;
mod names;
mod order;
mod owners;
mod priorities;
pub mod promise;
mod record;
pub mod schedulability;
mod selection;
pub mod shared;
mod start_values;
mod states;
mod stimuli;
mod stimulus;
pub mod table;
pub mod timing;
mod trace;
mod triggers;
mod units;
mod values;
mod waiting;
pub(crate) mod words;

use build::Timetable;
pub use build::{FifoReach, FmuInput, HostFacts, PlanError, build};
pub use causes::roots;
pub use model::*;
pub use states::check_states;
pub use stimulus::{FedClock, FedElement, FedValue, Interpolation, StimulusPlan};
pub use trace::{TraceMode, TracePlan};

#[cfg(test)]
pub(crate) mod tests;

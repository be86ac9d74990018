//! From a rig file to what is released when: [`rig`] reads what the user wants, [`build`] makes the plan of it, [`schedule`] says
//! which activations are due, [`snapshot`] keeps a run that was left.
//!
//! The plan: a rig resolved against the model descriptions of its FMUs.
//!
//! Pure: whatever is wrong with a rig is found here, before any FMU code is loaded. A plan is immutable, and complete:
//! the runner needs neither the rig file nor a model description. It goes to the runner's process serialised.
//!
//! | where | what |
//! |---|---|
//! | `build` | the stages, in their order |
//! | [`model`] | what a plan consists of |
//! | `described`, `host`, `interfaces`, `dialect` | what is planned for: FMUs, the machine; whether they are fit for it |
//! | `beside` | rigs that run already on the same machine |
//! | `clocks/`, `steps` | what activates which input clock, and when; how far the steps of an FMU go |
//! | `integration` | how Model Exchange FMUs are integrated over their steps |
//! | `connections/` | what a value goes through from an output to an input, and when it is visible |
//! | `inputs/` | values that no FMU computes: start values, stimuli, commands |
//! | `initialisation/` | the order in which FMUs are initialised, and variables set and read |
//! | `record`, `glob` | the columns of the recording |
//! | `resolved` | all of these, which the order and the tasks are worked out from |
//! | `priorities/` | one order of all tasks, and its FIFO priorities |
//! | `tasks/`, `instances` | what each task sets and reads, and which take turns; what each instance is told |
//! | [`promise`], [`schedulability`] | what the plan promises: the same bytes in both modes, worst responses |
//! | [`table`] | the plan as text |

#![forbid(unsafe_code)]

mod beside;
mod build;
mod clocks;
mod connected;
mod connections;
pub mod control;
mod described;
mod dialect;
mod elements;
mod findings;
pub mod glob;
mod groups;
mod host;
mod initialisation;
mod inputs;
mod instances;
mod integration;
mod interfaces;
mod intermediate;
mod interval;
mod logging;
mod masters;
pub mod model;
mod opened;
mod owners;
mod priorities;
pub mod promise;
mod record;
mod resolved;
pub mod rig;
pub mod schedulability;
pub mod schedule;
mod sizes;
pub mod snapshot;
mod steps;
pub mod table;
mod tasks;
mod timetable;
mod wanted;

pub use build::build;
pub use clocks::causes::roots;
pub use connections::timing;
pub use described::offer;
pub use dialect::{is_plain_in_uri, resources};
pub use findings::PlanError;
pub use host::{FifoReach, HostFacts, RunningRig, RunningThread};
pub use inputs::own_starts::{OwnStarts, keep_changed};
pub use inputs::start_values::values_of;
pub use integration::MATRIX_STATES;
pub use interfaces::check_states;
pub use model::*;
pub use opened::{FmuInput, StimulusInput};
pub use priorities::shared;
pub use steps::first_multiple;
pub use timetable::start_time;

#[cfg(test)]
pub(crate) mod tests;

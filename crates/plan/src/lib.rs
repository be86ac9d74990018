//! From a rig file to the schedule of a run: [`rig`] reads the user's file, [`build`] makes the plan of it, [`schedule`] computes
//! the due activations, [`snapshot`] keeps the state of a run for another one.
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! The plan: a rig resolved against the model descriptions of its FMUs.
//!
//! Pure: every error of a rig is found here, before any FMU code is loaded. A plan is immutable, and complete: the runner needs
//! neither the rig file nor a model description. It goes to the runner's process serialised.
//!
//! Each names only modules above it:
//!
//! | module | content |
//! |---|---|
//! | [`model`] | the data of a plan |
//! | `opened`, `findings` | the opened files of a rig; problems and notes |
//! | `elements`, `glob`, `interval`, `logging` | elements of arrays, patterns, intervals as text, log categories |
//! | `described`, `host`, `sizes`, `timetable` | the facts for a plan: FMUs, the machine, sizes that change, start and stop |
//! | `running_rigs` | rigs that are running on the same machine |
//! | `clocks/` | the activation of input clocks |
//! | `dialect`, `interfaces` | requirements on FMUs |
//! | `groups`, `integration`, `steps` | FMUs that step together, the integration of Model Exchange FMUs, the length of steps |
//! | `inputs/` | values that no FMU computes: start values, stimuli |
//! | `connections/` | the way of a value from an output to an input, and when it is visible |
//! | `record` | the columns of the recording |
//! | `needed_variables`, `owners`, `resolved` | all of these, as the source for the order and the tasks |
//! | `priorities/` | one order of all tasks, and its FIFO priorities |
//! | `tasks/` | the inputs, outputs and turns of each task |
//! | `connected`, `masters` | the plans of connections, and of FMUs that step together |
//! | `initialisation/` | the order in which FMUs are initialised, and variables set and read |
//! | [`control`], `intermediate`, `instances` | variables to be set in a run, work within a step, instances |
//! | `build` | the stages, in their order |
//! | [`schedulability`], [`promise`] | the plan's promises: worst responses, the same bytes in both modes |
//! | [`table`] | the plan as text |

#![forbid(unsafe_code)]

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
mod memory_estimate;
pub mod model;
mod needed_variables;
mod opened;
mod owners;
mod priorities;
pub mod promise;
mod record;
mod resolved;
pub mod rig;
mod running_rigs;
pub mod schedulability;
pub mod schedule;
mod sizes;
pub mod snapshot;
mod steps;
pub mod table;
mod tasks;
mod timetable;

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
pub use memory_estimate::reckoned;
pub use model::*;
pub use opened::{FmuInput, StimulusInput};
pub use priorities::shared;
pub use steps::first_multiple;
pub use timetable::start_time;

#[cfg(test)]
pub(crate) mod tests;

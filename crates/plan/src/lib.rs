//! From a rig file to what is released when: [`rig`] reads what the user wants, [`build`] makes the plan of it, [`schedule`] says
//! which activations are due, [`snapshot`] keeps a run that was left.
//!
//! The plan: a rig resolved against the model descriptions of its FMUs.
//!
//! Pure: whatever is wrong with a rig is found here, before any FMU code is loaded. A plan is immutable, and complete:
//! the runner needs neither the rig file nor a model description. It goes to the runner's process serialised.
//!
//! Each names only what stands before it:
//!
//! | where | what |
//! |---|---|
//! | [`model`] | what a plan consists of |
//! | `opened`, `findings` | what opening the files of a rig gave; what is wrong with it |
//! | `elements`, `glob`, `interval`, `logging` | elements of arrays, patterns, intervals as text, log categories |
//! | `described`, `host`, `sizes`, `timetable` | what is planned for: FMUs, the machine, sizes that change, start and stop |
//! | `beside` | rigs that run already on the same machine |
//! | `clocks/` | what activates which input clock, and when |
//! | `dialect`, `interfaces` | whether FMUs are fit for it |
//! | `groups`, `integration`, `steps` | who steps together, how Model Exchange FMUs are integrated, how far steps go |
//! | `inputs/` | values that no FMU computes: start values, stimuli |
//! | `connections/` | what a value goes through from an output to an input, and when it is visible |
//! | `record` | the columns of the recording |
//! | `wanted`, `owners`, `resolved` | all of these, which the order and the tasks are worked out from |
//! | `priorities/` | one order of all tasks, and its FIFO priorities |
//! | `tasks/` | what each task sets and reads, and which take turns |
//! | `connected`, `masters` | what the plan says of connections, and of FMUs that step together |
//! | `initialisation/` | the order in which FMUs are initialised, and variables set and read |
//! | [`control`], `intermediate`, `instances` | what may be set in a run, and in the midst of a step; what each instance is told |
//! | `build` | the stages, in their order |
//! | [`schedulability`], [`promise`] | what the plan promises: worst responses, the same bytes in both modes |
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

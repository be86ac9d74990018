//! The process that holds FMU code.
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! The runner gets a plan and a piece of shared memory from the supervisor, loads and initialises the FMUs, runs the plan in real
//! (`realtime`) or virtual time (`virtual_time`), ends the FMUs, and leaves. All its results and messages go to the shared
//! memory, so that none is lost when FMU code takes the process down. Once activations run, this process does not fork, create
//! threads or map memory of its own accord. Between several runs of one rig it waits for the supervisor (`sequence`). Values and
//! ticks go from partition to partition through [`exchange`].

#![forbid(unsafe_code)]

mod activation;
mod activation_error;
pub mod by_hand;
mod calls;
mod cells;
mod clocks;
mod cooperative;
mod core_occupancy;
mod delays;
mod endpoints;
pub mod exchange;
mod horizon;
mod inbox;
mod initial_loop;
mod initialise;
mod integration_buffers;
mod intervals;
mod job;
mod leave;
mod lines;
mod measure;
mod not_a_number;
mod pause;
mod ports;
mod printed;
mod privileges;
mod process;
mod quiescence;
mod realtime;
mod reconfigure;
mod refusal;
mod required_functions;
mod resize;
mod run_state;
mod sequence;
mod serial;
mod shutdown;
mod signal_bundles;
mod slopes;
mod state;
mod stimuli;
mod surroundings;
mod task_telemetry;
mod text;
mod thread_host;
mod threads;
mod unit;
mod values;
mod virtual_time;
mod visibility;
mod wall_clock;
mod watchdog;

pub use endpoints::FIRST_SOCKET_FD;
pub use job::Job;
pub use process::{FOLDER_FD, JOB_FD, SHARED_MEMORY_FD, STATE_FD, main};

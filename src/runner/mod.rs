//! The process that holds FMU code.
//!
//! It gets a plan and a piece of shared memory from the supervisor, loads and initialises the FMUs, runs the plan in real
//! (`realtime`) or virtual time (`virtual_time`), ends the FMUs, and leaves. All that it has to say goes to the shared
//! memory, so that nothing is lost when FMU code takes the process down. Once activations run, this process does not fork,
//! create threads or map memory of its own accord.

#![forbid(unsafe_code)]

mod activation;
mod cooperative;
mod initialise;
mod process;
mod realtime;
mod shutdown;
mod thread_host;
mod threads;
mod virtual_time;
mod watchdog;
mod world;

pub use process::{PLAN_FD, SHARED_MEMORY_FD, main};

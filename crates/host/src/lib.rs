//! A rig that runs, as a [`Session`]: prepares the runner, watches it, reports events, and writes down what is left of the run.
//! Nothing here knows a terminal or a signal, or changes what other sessions of the process have in common.
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! [`doctor`] examines the machine for causes of latency.
//!
//! FMU code never runs in this process, so whatever it does, the recordings and the report are written.

#![forbid(unsafe_code)]

pub mod by_hand;
mod calls;
mod causes;
mod collect;
mod control;
mod core_claims;
mod cores;
mod death;
pub mod doctor;
mod earlier;
mod error;
mod events;
mod facts;
mod feeder;
mod files;
mod findings;
mod finished;
mod fmus;
mod hangs;
mod host;
mod keeper;
mod kernel;
mod last_lines;
mod machine;
mod memory;
mod memory_budget;
mod neighbours;
mod offspring;
mod over_time;
mod pace;
mod pause;
mod paused;
mod preload;
mod prepare;
mod process;
mod promise;
mod questions;
mod recorder;
mod references;
mod releases;
mod run_folders;
mod run_log;
mod run_name;
mod saved;
mod schedulability;
mod session;
mod shared;
mod shown;
mod simulation;
mod slices;
mod sockets;
mod start_values;
mod stimuli;
mod tasks;
mod threads;
mod time_base;
mod totals;
mod tracer;
mod unbegun;
mod under_way;
mod validation;
mod watch;

pub use control::{AcceptedValue, Applied, Control, ControlError, Ticket};
pub use error::Error;
pub use events::{EventSink, LineWeight, SessionEvent, SessionState};
pub use files::{is_in_use, lock, write_lasting, write_shared, write_unfinished, write_whole};
pub use finished::Finished;
pub use host::HostResources;
pub use memory_budget::MemoryBudget;
pub use pause::PauseError;
pub use prepare::{OpenedRig, Options, OtherRigs, Prepared, open, plan};
pub use questions::NewestValue;
pub use run_name::RunName;
pub use session::{Session, SessionHandle};
pub use shared::Looks;
pub use shown::ShownVariable;
pub use simulation::{
    RowSink, Simulated, SimulationOptions, SweepAxis, Swept, prepare as prepare_simulation, simulate, sweep,
};
pub use sockets::check_sockets;
pub use start_values::give_start_values;
pub use totals::{ClockTotals, Durations, Latencies, LockTotals, RecordedTotals, Totals};
pub use validation::{Examination, validate};
pub use vecud_linux::files::Folder;

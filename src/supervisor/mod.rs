//! What the user started: prepares the runner, watches it, shows progress, and writes down what is left of the run.
//!
//! FMU code never runs in this process, so whatever it does, the recordings and the report are written.

#![forbid(unsafe_code)]

mod calls;
mod causes;
mod collect;
mod control;
mod death;
mod earlier;
mod error;
mod files;
mod findings;
mod fmus;
mod grants;
mod machine;
mod memory;
mod offspring;
mod over_time;
mod pace;
mod prepare;
mod progress;
mod promise;
mod recorder;
pub mod results;
mod saved;
mod schedulability;
mod sockets;
mod stimuli;
mod tasks;
mod teller;
mod threads;
mod tracer;
mod watch;

pub use control::{Applied, Control, ControlError, Ticket};
pub use error::Error;
pub use files::write_whole;
pub use grants::Grants;
pub use prepare::{Options, Prepared, asked_to_stop, default_host, interruptible, plan};
pub use sockets::check_sockets;
pub use watch::{Finished, Tell, run, run_with};

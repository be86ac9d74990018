//! Sets values in FMUs while they run: tunable parameters, inputs without a source, and
//! tunable structural parameters.
//!
//! ```no_run
//! use std::time::Duration;
//! use vecud_description::Values;
//! use vecud_host::{EventSink, Options, Session};
//!
//! let options = Options { file: "rig.toml".into(), control: true, ..Options::default() };
//! let prepared = vecud_host::plan(&options, &EventSink::default())?;
//! let session = Session::start(prepared, EventSink::default(), |_| ())?;
//! let ticket = session.control().set("ecu", "idle_speed", Values::Float64(vec![900.0]))?;
//! let applied = ticket.wait(Duration::from_secs(1))?; // the activation time before which it was set
//! session.stop();
//! let finished = session.wait()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A wrong call would end the instance (VA-05), so everything is checked before anything is sent: names, causality and
//! variability, types, sizes, limits. Variables that are set together are set before the same activation with no partition
//! in between, so they must belong to the same clocks. What is set before an activation stays set: a value is not withdrawn.

mod check;
mod commands;
mod error;
mod hub;
mod limits;

pub use commands::{Control, Ticket};
pub use error::ControlError;
pub use hub::{AcceptedValue, Applied};

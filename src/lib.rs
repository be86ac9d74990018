//! `vecud` runs virtual ECUs (FMI 3.0 Scheduled Execution) in real time.
#![warn(missing_docs)]

pub mod cli;
pub mod exchange;
pub mod ffi;
pub mod fmu;
mod places;
pub mod plan;
pub mod priority;
pub mod record;
pub mod report;
pub mod rig;
pub mod runner;
pub mod schedule;
pub mod supervisor;
pub mod sys;
pub mod time;

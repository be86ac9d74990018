//! Files of stimuli: opened and checked before anything runs, and their part of the report.
//!
//! A file stays open from the plan to the end of the run, so whoever removes it meanwhile changes nothing.

mod opening;
mod result;
mod source;

pub use opening::{check, may_write, open, refuse};
pub use result::{Fault, problems, results};
pub use source::{Reader, StimulusSource};

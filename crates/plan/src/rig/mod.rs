//! The rig file: TOML as text in, a [`Rig`] out.
//!
//! Pure and strict: a key that is not known is an error, and so is a value that this version cannot honour; nothing is
//! read and then ignored. All problems of a file are reported at once, each with line and column and, where a name is
//! close to a known one, with that name. Whether the FMUs fit the rig is not known here: that is `plan`'s work.

#![forbid(unsafe_code)]

mod daemon;
mod document;
mod endpoints;
mod figures;
mod fmu_name;
mod integration;
mod masters;
mod model;
mod nearest;
mod parse;
mod place;
mod problem;
mod record;
mod report;
mod seconds;
mod settings;
mod start;
mod stimuli;
mod tables;
mod task;
mod trace;
mod triggers;
mod variable_name;

pub use daemon::RigDaemon;
pub use document::float_text;
pub use endpoints::{DatagramAddress, EndpointSource, OpenEndpoint, RigEndpoint};
pub use figures::RigFigures;
pub use integration::{Integration, Solver};
pub use masters::{Loops, MasterClass, RigMaster};
pub use model::*;
pub use nearest::{nearest, suggestion};
pub use parse::parse;
pub use place::{At, Place};
pub use problem::{Diagnostic, RigError};
pub use problem::{write_lines, write_place};
pub use record::{Format, MessageEncoding, RigRecord, RigRule, Rotation, Rule};
pub use report::RigReport;
pub use settings::{no_value, set, set_of_only_fmu, value, value_by_hand};
pub use start::{start_line, start_of_only_fmu};
pub use task::{Limits, Overrun, RigTask};
pub use trace::{RigTrace, TraceMode};

#[cfg(test)]
mod tests;

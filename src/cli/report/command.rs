//! What `vecud report` does: one report, two of them or many.

use super::arguments::Arguments;
use super::{against, rebuild, trends};
use std::process::ExitCode;
use vecud_host::Error;

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    match &arguments.against {
        Some(reference) => against::run(&arguments, reference),
        None if !arguments.others.is_empty() => trends::run(&arguments),
        None => rebuild::run(&arguments),
    }
}

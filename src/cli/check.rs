//! `vecud check`: the plan of a rig, without running it.

use crate::plan::table;
use crate::supervisor::{self, Error, Options};
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Arguments {
    /// A rig file (TOML), an .fmu file, or the folder of an unpacked FMU
    file: PathBuf,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let prepared = supervisor::plan(&Options { file: arguments.file, ..Options::default() })?;
    // A closed pipe (`vecud check ... | head`) is no failure.
    let grants = prepared.grants.map_or_else(String::new, |grants| grants.text(&prepared.plan));
    let _ = stdout().write_all((table::render(&prepared.plan) + &grants).as_bytes());
    Ok(ExitCode::SUCCESS)
}

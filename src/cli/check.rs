//! `vecud check`: the plan of a rig, without running it.

use crate::plan::table;
use crate::supervisor::{self, Error, Options, results};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Arguments {
    /// A rig file (TOML), an .fmu file, or the folder of an unpacked FMU
    file: PathBuf,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let prepared = supervisor::plan(&Options { file: arguments.file, ..Options::default() })?;
    supervisor::check_sockets(&prepared)?;
    let grants = prepared.grants.map_or_else(String::new, |grants| grants.text(&prepared.plan));
    results::print(&(table::render(&prepared.plan) + &grants), None)?;
    Ok(ExitCode::SUCCESS)
}

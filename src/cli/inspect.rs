//! `vecud inspect`: what is inside of an FMU, without loading its code.

mod graph;
mod render;
mod tree;

use super::results;
use crate::supervisor::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Arguments {
    /// An .fmu file, or the folder of an unpacked FMU
    file: PathBuf,
    /// For programs
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let (_unpacked, description) = super::interruptible(|stop| super::described(&arguments.file, stop))?;
    let write = |out: &mut dyn Write| match arguments.json {
        true => render::write_json(&description, out),
        false => render::write_text(&description, out),
    };
    results::print_with(write, None)?;
    Ok(ExitCode::SUCCESS)
}

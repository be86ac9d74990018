//! `vecud inspect`: what is inside of an FMU, without loading its code.

mod graph;
mod render;
mod tree;

use super::results;
use crate::fmu::archive::{Cache, Unpacked};
use crate::fmu::description;
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
    let cache = Cache::user().map_err(Error::NoCache)?;
    cache.note().into_iter().for_each(|note| super::say(&format!("note: {note}")));
    let open = |stop| Unpacked::open(&arguments.file, &cache.until(stop)).map_err(Error::Archive);
    let unpacked = super::interruptible(open)?;
    let text = unpacked.model_description().map_err(Error::Archive)?;
    let description = description::parse(&text).map_err(|error| Error::Description(unpacked.origin.clone(), error))?;
    for warning in &description.warnings {
        super::say(&format!("note: {}/{warning}", unpacked.origin.display()));
    }
    let write = |out: &mut dyn Write| match arguments.json {
        true => render::write_json(&description, out),
        false => render::write_text(&description, out),
    };
    results::print_with(write, None)?;
    Ok(ExitCode::SUCCESS)
}

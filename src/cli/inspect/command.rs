//! The arguments of `vecud inspect`, and what is shown with them.

use super::only::{AttributeFilter, Filters};
use super::view::{ListStyle, View};
use super::{render, save};
use crate::cli::diagnostics::say;
use crate::cli::interruption::interruptible;
use crate::cli::preview::described;
use crate::cli::results;
use crate::cli::starts::Starts;
use std::io::{Write, stdout};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;
use vecud_description::ModelDescription;
use vecud_host::Error;
use vecud_linux::process::terminal_size;
use vecud_plan::OwnStarts;
use vecud_plan::rig::Rig;

#[derive(clap::Args)]
pub struct Arguments {
    /// An .fmu file, or the folder of an unpacked FMU
    file: PathBuf,
    /// Show only the variables that match, and nothing else of the FMU. KEY is name (* is any text and ? one character), type, causality,
    /// variability, or start (any, changed). One of several values is enough: causality=input,output. Conditions with different keys all have
    /// to hold
    #[arg(long, value_name = "KEY=VALUE")]
    only: Vec<AttributeFilter>,
    /// Show variables as a tree, by the dots in their names. Default: if the FMU says that its names are structured
    #[arg(long, conflicts_with = "flat")]
    tree: bool,
    /// Show variables one after the other, with their full names
    #[arg(long)]
    flat: bool,
    #[command(flatten)]
    starts: Starts,
    /// Write the start values of the shown variables into a file for --start
    #[arg(long, value_name = "F.toml")]
    save_start: Option<PathBuf>,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let (_unpacked, description) = interruptible(|stop| described(&arguments.file, stop))?;
    let only = Filters::of(&arguments.only, &description)?;
    let layout = match (arguments.tree, arguments.flat) {
        (true, _) => ListStyle::Tree,
        (_, true) => ListStyle::Flat,
        _ => ListStyle::of(&description),
    };
    let screen = terminal_size(stdout().as_fd()).map(|(columns, _)| columns);
    let starts = starts(&arguments, &description)?;
    let view = View { description: &description, starts, only, layout, screen };
    if let Some(file) = &arguments.save_start {
        say(&save::save(&view, file)?);
    }
    let write = |out: &mut dyn Write| match arguments.json {
        true => render::write_json(&view, out),
        false => render::write_text(&view, out),
    };
    results::print_with(write, None)?;
    Ok(ExitCode::SUCCESS)
}

/// The start values of the FMU, with those that are given in place of its own.
fn starts<'a>(arguments: &Arguments, description: &'a ModelDescription) -> Result<OwnStarts<'a>, Error> {
    let Starts { start, start_value } = &arguments.starts;
    if start.is_none() && start_value.is_empty() {
        return Ok(OwnStarts::described(description));
    }
    let mut rig = Rig::for_fmu(&arguments.file);
    vecud_host::give_start_values(&mut rig, start.as_deref(), start_value)?;
    OwnStarts::of(&rig, description).map_err(Error::Plan)
}

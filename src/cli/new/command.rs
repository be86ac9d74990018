//! The arguments of `vecud new`.

use super::{fmu, rig};
use crate::cli::interruption::interruptible;
use crate::cli::results;
use std::path::PathBuf;
use std::process::ExitCode;
use vecud_host::Error;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Create an FMU as C sources: a folder NAME that runs as it is, with two periodic tasks and a triggered task
    Fmu {
        /// Folder to create. Its last part names the FMU: letters, digits and _
        name: PathBuf,
    },
    /// Create a rig for FMUs: a file NAME.toml with their clocks in comments, and triggers and connections where they are clear
    Rig {
        /// Rig file to create. vecud adds .toml
        name: PathBuf,
        /// .fmu files, or folders of unpacked FMUs
        #[arg(required = true, value_name = "FMU")]
        fmus: Vec<PathBuf>,
    },
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let told = interruptible(|stop| match &arguments.what {
        What::Fmu { name } => fmu::make(name, &stop),
        What::Rig { name, fmus } => rig::make(name, fmus, &stop),
    })?;
    results::print(&told, None)?;
    Ok(ExitCode::SUCCESS)
}

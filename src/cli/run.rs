//! `vecud run`: a rig, or one FMU by itself.

use crate::plan::Mode;
use crate::report::{self, Screen};
use crate::supervisor::{self, Error, Options};
use crate::sys::process::terminal_size;
use crate::time::Instant;
use std::io::{IsTerminal, Write, stdout};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Arguments {
    /// A rig file (TOML), an .fmu file, or the folder of an unpacked FMU
    file: PathBuf,
    /// Who drives time; default: what the rig says
    #[arg(long, value_name = "MODE")]
    mode: Option<ModeArgument>,
    /// Simulation time at which the run ends, in seconds
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    stop_time: Option<Instant>,
    /// Where the report and the recordings go; default: vecud-out/<rig>
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// No table while it runs
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ModeArgument {
    /// The wall clock
    Realtime,
    /// As fast as possible, repeatable
    Virtual,
}

fn seconds(text: &str) -> Result<Instant, String> {
    let seconds: f64 = text.parse().map_err(|_| "must be a number of seconds".to_owned())?;
    Instant::from_f64(seconds).ok_or_else(|| "must be a finite number of seconds, below 1e18".to_owned())
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let options = Options {
        file: arguments.file,
        mode: arguments.mode.map(|mode| match mode {
            ModeArgument::Realtime => Mode::RealTime,
            ModeArgument::Virtual => Mode::Virtual,
        }),
        stop_time: arguments.stop_time,
        out: arguments.out,
        quiet: arguments.quiet,
        runner: None,
    };
    let prepared = supervisor::plan(&options)?;
    let finished = supervisor::run(&options, &prepared, &mut super::say)?;
    let columns = terminal_size(stdout().as_fd()).map_or(120, |(columns, _)| columns);
    let color = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let report = finished.out.join("report.html");
    let screen = Screen { columns, lines: usize::MAX, color };
    let place = if report.is_file() { report.display().to_string() } else { "not written".to_owned() };
    let text = report::summary(&finished.run, &place, screen);
    // A closed pipe (`vecud run ... | head`) is no failure of the run.
    let _ = stdout().write_all(text.as_bytes());
    Ok(ExitCode::from(finished.exit_code()))
}

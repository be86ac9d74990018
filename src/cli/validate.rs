//! `vecud validate`: checks whether an FMU is sound.

use super::opening::Opening;
use super::orphans::adopts;
use super::results;
use super::simulate::{deviation, keep_apart};
use super::terminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use vecud_host::{Error, Examination};
use vecud_linux::process::outlive_file_size_limit;
use vecud_linux::stop;
use vecud_report::Validation;
use vecud_report::compare::NamedTolerance;

#[derive(clap::Args)]
pub struct Arguments {
    /// An .fmu file, or the folder of an unpacked FMU
    file: PathBuf,
    #[command(flatten)]
    opening: Opening,
    /// Time limit for each test run of the FMU, and for each call in it, in seconds
    #[arg(long, value_name = "S", default_value = "30", value_parser = seconds, allow_hyphen_values = true)]
    timeout: Duration,
    /// Tolerance for results against the FMU's own reference results: an absolute deviation, a share, or either of the two, such as 1e-6, 0.1%
    /// or 1e-6,0.1%. Default: 1e-6,0.1% for floating-point numbers. Other values have to be equal
    #[arg(long, value_name = "TOL", value_parser = deviation)]
    reference_tolerance: Option<NamedTolerance>,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

/// The exit code of an FMU with findings.
const FINDINGS: u8 = 3;

pub fn seconds(text: &str) -> Result<Duration, String> {
    /// A day.
    const LONGEST: f64 = 86_400.0;
    let seconds: f64 = text.parse().map_err(|_| "must be a number of seconds".to_owned())?;
    match seconds > 0.0 && seconds <= LONGEST {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err("must be above 0, and 86400 seconds at most".to_owned()),
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode, Error> {
    let stop = stop::by_signals().map_err(|error| Error::System(error.to_string()))?;
    outlive_file_size_limit().map_err(|error| Error::System(error.to_string()))?;
    let found = terminal::showing("", |events| {
        keep_apart(&events);
        let examination = Examination {
            file: arguments.file.clone(),
            timeout: arguments.timeout,
            tolerance: arguments.reference_tolerance.clone(),
            stop: stop.clone(),
            adopts: adopts(|warning| events.warn(format_args!("{warning}"))),
            preload: arguments.opening.preload.clone(),
            lenient: arguments.opening.lenient,
        };
        vecud_host::validate(&examination, &events).map_err(|error| match error {
            Error::Interrupted => Error::ValidationInterrupted,
            error => error,
        })
    });
    if arguments.json
        && let Err(error) = &found
        && !matches!(error, Error::ValidationInterrupted)
    {
        let file = arguments.file.display().to_string();
        let nothing = Validation { file, unreadable: Some(error.to_string()), ..Validation::default() };
        results::print(&nothing.json(), None)?;
    }
    let found = found?;
    results::print(&if arguments.json { found.json() } else { found.text() }, None)?;
    Ok(if found.is_sound() { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) })
}

//! Errors that prevent a run: each gives exit code 2.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use vecud_base::plain::Plain;
use vecud_description::{Abi, DescriptionError};
use vecud_fmu::archive::ArchiveError;
use vecud_linux::stop::StopToken;
use vecud_plan::PlanError;
use vecud_plan::rig::{Diagnostic, Place, RigError, write_place};
use vecud_report::CheckProblem;

/// The command, the rig or an FMU is invalid, or the operating system refuses what a run needs.
#[derive(Debug)]
pub enum Error {
    /// An invalid argument on the command line.
    Command(String),
    /// A file that cannot be read or written.
    File(PathBuf, io::Error),
    /// The output folder cannot be used. Whoever has chosen it knows how another one is chosen.
    Output(PathBuf, io::Error),
    /// Another run writes to the output folder: wait for its end, or choose another folder.
    OutputInUse(PathBuf),
    /// Errors in the rig file.
    Rig(RigError),
    /// Errors in a file that the rig file names at this place.
    InRig(PathBuf, Place, Box<Error>),
    /// An FMU's archive, its binary or its sources.
    Archive(ArchiveError),
    /// An FMU's model description; the path of the FMU goes with it.
    Description(PathBuf, DescriptionError),
    /// The rig declares a dialect that contradicts the FMU's own description.
    Abi {
        /// Name of the FMU in the rig.
        fmu: String,
        /// Dialect in the rig.
        wanted: Abi,
        /// Dialect of the FMU's own description.
        own: Abi,
        /// Error of reading the FMU as of the rig's dialect.
        error: Box<Error>,
    },
    /// The rig does not fit its FMUs or this machine.
    Plan(PlanError),
    /// A clock of the rig can miss its deadline: which one, by how much, and why.
    Unschedulable(PathBuf, String),
    /// The file of a saved state, to read or to write.
    State(PathBuf, String),
    /// An error about a report or a recording: the file, the line in it, the defect and the way out.
    Report(PathBuf, Option<u64>, String),
    /// The runner could not load the plan: its messages.
    Refused(Vec<String>),
    /// There is no folder for the cache.
    NoCache(io::Error),
    /// The user asked for the end before the run began.
    Interrupted,
    /// The user asked for the end of a validation.
    ValidationInterrupted,
    /// An error of the operating system.
    System(String),
}

impl Error {
    /// Fails if the end is requested: for work of many steps, between two of them.
    pub fn if_asked(stop: &StopToken) -> Result<(), Error> {
        if stop.is_asked() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Makes an error of a file that cannot be read or written.
    pub fn file(path: &Path) -> impl FnOnce(io::Error) -> Error + use<'_> {
        move |error| Error::File(path.to_owned(), error)
    }

    /// Problems with places in texts that people write: rig files, model descriptions. Empty for other errors.
    pub fn problems(&self) -> Vec<Diagnostic> {
        match self {
            Error::Rig(RigError { problems }) | Error::Plan(PlanError { problems }) => problems.clone(),
            Error::InRig(rig, place, error) => vec![Diagnostic::new(rig, *place, in_rig(error))],
            Error::Description(path, DescriptionError { line, column, message }) => {
                let place = Place { line: *line, column: *column };
                vec![Diagnostic::new(&path.join("modelDescription.xml"), place, message)]
            }
            _ => Vec::new(),
        }
    }

    /// The error for programs, with its places.
    pub fn told(&self) -> Vec<CheckProblem> {
        let known = |number: u32| (number > 0).then_some(number);
        let told = |problem: Diagnostic| CheckProblem {
            file: Some(problem.file.to_string_lossy().into_owned()),
            line: known(problem.place.line),
            column: known(problem.place.column),
            message: problem.message,
        };
        let problems: Vec<CheckProblem> = self.problems().into_iter().map(told).collect();
        match problems.is_empty() {
            true => vec![CheckProblem { file: None, line: None, column: None, message: self.to_string() }],
            false => problems,
        }
    }
}

/// Message about a file that a rig names.
fn in_rig(error: &Error) -> String {
    match error {
        Error::Archive(ArchiveError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            format!("{error}; relative paths count from the rig file's folder")
        }
        _ => error.to_string(),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File(path, error) => write!(f, "{}: {error}", path.display()),
            Error::Output(path, error) => {
                write!(f, "{}: the output folder cannot be used: {error}", path.display())
            }
            Error::OutputInUse(path) => {
                write!(f, "{}: another run is writing to this output folder", path.display())
            }
            Error::Rig(error) => error.fmt(f),
            Error::InRig(rig, place, error) => {
                write_place(rig, *place, f)?;
                write!(f, " {}", in_rig(error))
            }
            Error::Archive(error) => error.fmt(f),
            Error::Description(path, error) => {
                let DescriptionError { line, column, message } = error;
                let path = path.join("modelDescription.xml");
                write!(f, "{}:{line}:{column}: {}", path.display(), Plain(message))
            }
            Error::Abi { fmu, wanted, own, error } => {
                let (key, words) = match *wanted == Abi::Draft {
                    true => ("draft", "the draft"),
                    false => ("released", "released FMI 3.0"),
                };
                let own = match own {
                    Abi::Fmi1 | Abi::Fmi2 => own.name(),
                    Abi::Fmi3 => "released FMI 3.0",
                    Abi::Draft => "the draft",
                };
                write!(
                    f,
                    "dialect = \"{key}\" has {fmu} read as an FMU of {words}: {error}; its own words are those of {own}: leave \
                     dialect out"
                )
            }
            Error::Plan(error) => error.fmt(f),
            Error::Unschedulable(rig, message) => write!(f, "{}: {message}", rig.display()),
            Error::State(path, message) => write!(f, "{}: {message}", path.display()),
            Error::Report(path, Some(line), message) => write!(f, "{}:{line}: {message}", path.display()),
            Error::Report(path, None, message) => write!(f, "{}: {message}", path.display()),
            Error::Refused(lines) => f.write_str(&lines.join("\n")),
            Error::NoCache(error) => {
                write!(f, "no folder for the cache: {error}, or set VECUD_CACHE to another folder")
            }
            Error::Interrupted => f.write_str("interrupted before the run; nothing was written"),
            Error::ValidationInterrupted => {
                f.write_str("interrupted before everything was looked at; of what was, nothing is told")
            }
            Error::Command(message) | Error::System(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

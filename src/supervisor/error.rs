//! Why there is no run: every case is exit code 2.

use crate::fmu::archive::ArchiveError;
use crate::fmu::description::DescriptionError;
use crate::plan::PlanError;
use crate::rig::RigError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The command, the rig or an FMU is invalid, or the operating system refuses what a run needs.
#[derive(Debug)]
pub enum Error {
    /// A file that cannot be read or written.
    File(PathBuf, io::Error),
    /// The rig file.
    Rig(RigError),
    /// An FMU's archive, its binary or its sources.
    Archive(ArchiveError),
    /// An FMU's model description; the path of the FMU goes with it.
    Description(PathBuf, DescriptionError),
    /// The rig does not fit its FMUs or this machine.
    Plan(PlanError),
    /// The runner could not load what the plan says: its words.
    Refused(Vec<String>),
    /// The operating system.
    System(String),
}

impl Error {
    /// A file that cannot be read or written.
    pub fn file(path: &Path) -> impl FnOnce(io::Error) -> Error + use<'_> {
        move |error| Error::File(path.to_owned(), error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File(path, error) => write!(f, "{}: {error}", path.display()),
            Error::Rig(error) => error.fmt(f),
            Error::Archive(error) => error.fmt(f),
            Error::Description(path, error) => write!(f, "{}: {error}", path.display()),
            Error::Plan(error) => error.fmt(f),
            Error::Refused(lines) => f.write_str(&lines.join("\n")),
            Error::System(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

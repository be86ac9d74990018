//! Problems with their places.

use super::Place;
use std::fmt;
use std::path::{Path, PathBuf};
use vecud_base::plain::Plain;

/// A problem of a rig or of an FMU in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The file that has to change.
    pub file: PathBuf,
    /// Place in that file.
    pub place: Place,
    /// The problem and, where there is one, its remedy.
    pub message: String,
}

impl Diagnostic {
    /// A problem at a place of a file.
    pub fn new(file: &Path, place: Place, message: impl Into<String>) -> Diagnostic {
        Diagnostic { file: file.to_owned(), place, message: message.into() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(&self.file, self.place, f)?;
        write!(f, " {}", Plain(&self.message))
    }
}

/// `rig.toml:3:7:`, as far as the place is known.
pub fn write_place(file: &Path, place: Place, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}:", Plain(&file.to_string_lossy()))?;
    if place.line > 0 {
        write!(f, "{}:", place.line)?;
        if place.column > 0 {
            write!(f, "{}:", place.column)?;
        }
    }
    Ok(())
}

/// Why a text is no rig: all problems in the order of the file. Displayed one per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RigError {
    /// Never empty.
    pub problems: Vec<Diagnostic>,
}

impl fmt::Display for RigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_lines(&self.problems, f)
    }
}

impl std::error::Error for RigError {}

/// Writes one problem per line, without a final line feed.
pub fn write_lines(problems: &[Diagnostic], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, problem) in problems.iter().enumerate() {
        if i > 0 {
            f.write_str("\n")?;
        }
        write!(f, "{problem}")?;
    }
    Ok(())
}

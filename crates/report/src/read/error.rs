//! Why a file of a run cannot be read.

use std::fmt;

/// Why a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Line and column, where there is one.
    pub place: Option<(usize, usize)>,
    /// The error and its remedy.
    pub message: String,
    /// The error is in the log, not in the report.
    pub in_log: bool,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

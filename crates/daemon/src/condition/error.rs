//! Errors in the text of a condition.

use std::fmt;

/// An error in a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionError {
    /// Column of the error, counted in characters from 1.
    pub column: usize,
    /// The error, and its remedy.
    pub message: String,
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

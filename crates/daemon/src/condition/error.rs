//! Why a text is no condition.

use std::fmt;

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionError {
    /// Where, counted in characters from 1.
    pub column: usize,
    /// What, and the way out.
    pub message: String,
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

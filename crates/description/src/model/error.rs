//! A description that cannot be used.

use vecud_base::plain::Plain;

/// A description that cannot be used, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptionError {
    /// 1-based line in `modelDescription.xml`.
    pub line: u32,
    /// 1-based column.
    pub column: u32,
    /// The error and, where there is one, its remedy.
    pub message: String,
}

impl std::fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "modelDescription.xml:{}:{}: {}", self.line, self.column, Plain(&self.message))
    }
}

impl std::error::Error for DescriptionError {}

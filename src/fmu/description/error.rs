//! Why a description cannot be used.

/// A description that cannot be used, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptionError {
    /// 1-based line in `modelDescription.xml`.
    pub line: u32,
    /// 1-based column.
    pub column: u32,
    /// What is wrong and, where there is one, the way out.
    pub message: String,
}

impl std::fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "modelDescription.xml:{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for DescriptionError {}

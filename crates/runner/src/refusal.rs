//! Why a run has not begun.

/// Why a run did not come to its start.
#[derive(Debug)]
pub enum Refusal {
    /// The rig or an FMU is invalid: exit code 2.
    Invalid(String),
    /// A call failed, and the board has the details: exit code 1.
    Failed,
}

//! Work in integrating: the budget for it, and its counts.

/// The remaining work. The caller fills it for each communication step; the drive takes from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkBudget {
    /// State events that are still located. With 0, what happens until the goal is looked at there and only there, so that a drive
    /// with a method of fixed steps comes to its goal in any case.
    pub events: u32,
    /// Greatest number of further requests for derivatives.
    pub right_hand_sides: u64,
}

/// Work since [`Drive::new`](super::Drive::new).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    /// Internal steps, those that end in an event among them.
    pub steps: u64,
    /// Attempts at a step that were made smaller since their error was too large.
    pub rejected: u64,
    /// Attempts at a step that were made smaller since the model refused.
    pub discarded: u64,
    /// Number of evaluations of derivatives, for any purpose.
    pub right_hand_sides: u64,
    /// Number of evaluations of the Jacobian.
    pub jacobians: u64,
    /// Number of factorisations of a corrector's matrix.
    pub factorisations: u64,
    /// Number of evaluations of event indicators.
    pub indicators: u64,
    /// State events.
    pub events: u64,
    /// Nominals that were no positive finite numbers, and were taken for 1.
    pub nominals_mended: u64,
}

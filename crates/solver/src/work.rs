//! Work in integrating: the budget for it, and its counts.

/// What may still be worked. The caller fills it for each communication step; the drive takes from it.
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
    /// How often derivatives were asked for, whatever for.
    pub right_hand_sides: u64,
    /// How often the derivatives of the derivatives were wanted.
    pub jacobians: u64,
    /// How often a corrector's matrix was taken apart.
    pub factorisations: u64,
    /// How often event indicators were asked for.
    pub indicators: u64,
    /// State events.
    pub events: u64,
    /// Nominals that were no positive finite numbers, and were taken for 1.
    pub nominals_mended: u64,
}

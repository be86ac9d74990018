//! Phases of the runner.

/// Phase of the runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u64)]
pub enum Phase {
    /// The runner has not started, or loads libraries.
    Loading = 0,
    /// Instantiating and initialising FMUs.
    Initialising = 1,
    /// Activations happen.
    Running = 2,
    /// No new release; waiting for activations, terminating and freeing FMUs.
    Stopping = 3,
    /// The runner is done.
    Done = 4,
    /// The runner has given up; its reason is in the log.
    Refused = 5,
    /// One of several runs is over. The memory is the supervisor's, this word included, until it writes
    /// [`Phase::Initialising`] for the next run or [`Phase::Stopping`] for none.
    Between = 6,
}

impl Phase {
    pub(super) fn from_word(word: u64) -> Phase {
        match word {
            1 => Phase::Initialising,
            2 => Phase::Running,
            3 => Phase::Stopping,
            4 => Phase::Done,
            5 => Phase::Refused,
            6 => Phase::Between,
            _ => Phase::Loading,
        }
    }
}

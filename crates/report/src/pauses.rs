//! The pauses of a run (semantics S26).

use super::format::plural;
use serde::{Deserialize, Serialize};

/// The pauses of a run; in `report.json` as they are here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pauses {
    /// Number of pauses.
    pub number: u64,
    /// Total duration, wall clock, s.
    pub seconds: f64,
    /// The first pauses.
    pub first: Vec<PauseResult>,
}

/// One pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PauseResult {
    /// Simulation time of the pause, s.
    pub time_s: f64,
    /// Duration, wall clock, s.
    pub seconds: f64,
}

impl Pauses {
    /// Whether there were none.
    pub fn are_none(&self) -> bool {
        self.number == 0
    }

    /// Note on the pauses for people; `None`: there were none.
    pub fn note(&self) -> Option<String> {
        let first = self.first.first()?;
        let at = if self.number == 1 { "at" } else { "first at" };
        Some(format!(
            "The run has paused {}, for {:.3} s in all, {at} {} s: that is in no latency.",
            plural(self.number, "time"),
            self.seconds,
            first.time_s
        ))
    }
}

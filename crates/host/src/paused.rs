//! The pauses of a run, kept for its report.

use std::sync::{Mutex, MutexGuard, PoisonError};
use vecud_base::time::Nanos;
use vecud_report::{PauseResult, Pauses};

/// So many pauses of a run are told one by one.
const TOLD: usize = 100;

/// The pauses of a run.
#[derive(Debug, Default)]
pub struct Paused {
    /// Held while somebody pauses the run or resumes it, so that one after the other does.
    turn: Mutex<()>,
    kept: Mutex<PauseLog>,
}

/// The pauses of a run until now.
#[derive(Clone, Debug, Default)]
pub struct PauseLog {
    /// The pauses that are over.
    pub pauses: Pauses,
    /// Simulation time of the pause that goes on, s, and since when it does, CLOCK_MONOTONIC in ns.
    pub open: Option<(f64, i64)>,
}

impl PauseLog {
    /// The pause that goes on, if one does, is over `now`, CLOCK_MONOTONIC in ns.
    pub fn close(&mut self, now: i64) {
        let Some((time_s, since)) = self.open.take() else { return };
        let seconds = Nanos(now.saturating_sub(since)).seconds();
        self.pauses.number += 1;
        self.pauses.seconds += seconds;
        if self.pauses.first.len() < TOLD {
            self.pauses.first.push(PauseResult { time_s, seconds });
        }
    }
}

impl Paused {
    /// Waits until nobody else pauses the run or resumes it.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pauses until now.
    pub fn kept(&self) -> MutexGuard<'_, PauseLog> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

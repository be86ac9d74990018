//! The pauses of a run, kept for its report.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use vecud_base::time::Nanos;
use vecud_report::{PauseResult, Pauses};

/// Number of pauses that the report lists one by one.
const TOLD: usize = 100;

/// The pauses of a run.
#[derive(Debug, Default)]
pub struct Paused {
    /// Serialises requests to pause or resume the run.
    turn: Mutex<()>,
    kept: Mutex<PauseLog>,
}

/// The pauses of a run so far.
#[derive(Clone, Debug, Default)]
pub struct PauseLog {
    /// The completed pauses.
    pub pauses: Pauses,
    /// The present pause: its simulation time, s, and its start, CLOCK_MONOTONIC in ns.
    pub open: Option<(f64, i64)>,
}

impl PauseLog {
    /// Completes the present pause, if there is one, at `now`, CLOCK_MONOTONIC in ns.
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
    /// The turn to pause or resume the run; `None`: somebody else has it.
    pub fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        match self.turn.try_lock() {
            Ok(turn) => Some(turn),
            Err(TryLockError::Poisoned(turn)) => Some(turn.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The pauses so far.
    pub fn kept(&self) -> MutexGuard<'_, PauseLog> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

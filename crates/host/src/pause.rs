//! Pause and resume of a run (semantics S26) through a handle of its session: asks the runner, waits for its answer,
//! and records the pause for the report.
//!
//! The wait is limited to the rig's `shutdown_timeout` and a little more: a stopped runner does not answer. A pause is
//! then withdrawn and the run continues, whatever the runner was about to answer: it obeys the request that stands when
//! it checks. A resume stands.

use super::SessionState;
use super::shared::SharedRig;
use std::fmt;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};
use vecud_base::time::Nanos;
use vecud_linux::wake::monotonic_now;
use vecud_plan::Mode;
use vecud_record::board::{Global, Pause};
use vecud_report::Pauses;

/// Interval between checks for the runner's answer.
const LOOK: Duration = Duration::from_millis(1);
/// Additional time for the runner's answer after the time limit of the released activations.
const ANSWER: Duration = Duration::from_millis(500);

/// Reason why a run does not pause, or does not continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseError {
    /// A pause needs a running session; the state is this.
    NotRunning(SessionState),
    /// A resume needs a paused session; the state is this.
    NotPaused(SessionState),
    /// An activation did not return within this time, and the run continues.
    NotQuiescent(Nanos),
    /// The runner did not answer within this time and a little more: the pause is withdrawn.
    Withdrawn(Nanos),
    /// The runner did not answer within this time and a little more: the run continues as soon as it can.
    NotAnswered(Nanos),
    /// Another request to pause or resume the run waits for its answer.
    UnderWay,
    /// The run ended meanwhile.
    Ended,
}

impl fmt::Display for PauseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PauseError::NotRunning(state) => write!(f, "only a run that goes on can pause: it is {}", state.word()),
            PauseError::NotPaused(state) => write!(f, "only a run that pauses can be resumed: it is {}", state.word()),
            PauseError::NotQuiescent(timeout) => write!(
                f,
                "what was released did not come to its end within {} s (rig: shutdown_timeout), so the run goes on",
                timeout.seconds()
            ),
            PauseError::Withdrawn(timeout) => write!(
                f,
                "the runner has not said within {} s (rig: shutdown_timeout) that the run pauses, so that is withdrawn, and the run goes \
                 on; an activation goes on for as long, or its process is stopped or has no core",
                timeout.seconds()
            ),
            PauseError::NotAnswered(timeout) => write!(
                f,
                "the runner has not said within {} s (rig: shutdown_timeout) that the run goes on, which it does as soon as its process, \
                 which is stopped or has no core, can",
                timeout.seconds()
            ),
            PauseError::UnderWay => {
                f.write_str("it is being paused or resumed already: ask again when that is answered")
            }
            PauseError::Ended => f.write_str("the run came to its end meanwhile"),
        }
    }
}

impl std::error::Error for PauseError {}

impl SharedRig {
    /// Completes all released activations and releases no others. Returns when that is done.
    pub fn pause(&self) -> Result<(), PauseError> {
        let until = self.patience();
        let _turn = self.paused.turn().ok_or(PauseError::UnderWay)?;
        if self.paused.kept().open.is_some() || self.state() != SessionState::Running {
            return Err(PauseError::NotRunning(self.state()));
        }
        let withdrawn = PauseError::Withdrawn(self.plan().shutdown_timeout);
        // The present answer may be to an earlier pause whose withdrawal the runner has not seen yet.
        self.answer(until, withdrawn, |pause| pause == Pause::None as u64)?;
        let word = |word| self.board().global(word);
        word(Global::PauseRequest).store(1, SeqCst);
        let answer = self.answer(until, withdrawn, |pause| pause != Pause::None as u64);
        if answer == Ok(Pause::Paused as u64) {
            let plan = self.plan();
            let since = match plan.mode {
                Mode::RealTime => {
                    self.prepared.begin().nanos().plus(Nanos(word(Global::HeldAt).load(SeqCst) as i64 - 1))
                }
                Mode::Virtual => plan.start.nanos().plus(Nanos(word(Global::Reached).load(SeqCst) as i64)),
            };
            self.paused.kept().open = Some((since.seconds(), monotonic_now()));
            return Ok(());
        }
        word(Global::PauseRequest).store(0, SeqCst);
        answer?;
        // If this takes too long, the next pause waits for it.
        let _none = self.answer(until, withdrawn, |pause| pause == Pause::None as u64);
        Err(PauseError::NotQuiescent(self.plan().shutdown_timeout))
    }

    /// Continues a paused run. Returns when it does.
    pub fn resume(&self) -> Result<(), PauseError> {
        let until = self.patience();
        let _turn = self.paused.turn().ok_or(PauseError::UnderWay)?;
        // A run whose runner did not answer before may be asked once more.
        if self.paused.kept().open.is_none() && !self.is_paused() {
            return Err(PauseError::NotPaused(self.state()));
        }
        self.board().global(Global::PauseRequest).store(0, SeqCst);
        let late = PauseError::NotAnswered(self.plan().shutdown_timeout);
        let answer = self.answer(until, late, |pause| pause == Pause::None as u64);
        self.paused.kept().close(monotonic_now());
        answer.map(|_| ())
    }

    /// The pauses of the run so far, including the present one.
    pub fn pauses(&self) -> Pauses {
        let mut own = self.paused.kept().clone();
        own.close(monotonic_now());
        own.pauses
    }

    /// Clears the pauses for the next run.
    pub fn forget_pauses(&self) {
        *self.paused.kept() = Default::default();
    }

    /// Deadline for an answer to a request made now.
    fn patience(&self) -> Instant {
        Instant::now() + Duration::from_nanos(self.plan().shutdown_timeout.0.max(0) as u64) + ANSWER
    }

    /// Waits for an answer of the runner that satisfies `is_one`; fails with `late` if none comes before `until`.
    fn answer(&self, until: Instant, late: PauseError, is_one: impl Fn(u64) -> bool) -> Result<u64, PauseError> {
        loop {
            let answer = self.board().global(Global::Pause).load(SeqCst);
            if is_one(answer) {
                return Ok(answer);
            }
            if self.state() >= SessionState::Stopping {
                return Err(PauseError::Ended);
            }
            if Instant::now() >= until {
                return Err(late);
            }
            thread::sleep(LOOK);
        }
    }
}

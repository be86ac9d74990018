//! Pause and resume of a run (semantics S26), for whoever has a handle of its session: asks the runner, waits for its answer, and
//! keeps what the report says of it.
//!
//! Nobody waits for longer than the rig's `shutdown_timeout` and a little: a runner that is stopped does not answer. A pause is
//! withdrawn then, and the run goes on, whatever the runner was about to say: it does what is wanted when it looks. A resume stands.

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

/// How often it is looked for the runner's answer.
const LOOK: Duration = Duration::from_millis(1);
/// So much later than what was released may come to its end the runner may say so.
const ANSWER: Duration = Duration::from_millis(500);

/// Why a run does not pause, or does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseError {
    /// It is not running, but this.
    NotRunning(SessionState),
    /// It does not pause, but is this.
    NotPaused(SessionState),
    /// An activation did not return within this time, and the run goes on.
    NotQuiescent(Nanos),
    /// The runner has not answered within this time and a little: the pause is withdrawn.
    Withdrawn(Nanos),
    /// The runner has not answered within this time and a little: the run goes on as soon as it can.
    NotAnswered(Nanos),
    /// The run came to its end meanwhile.
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
            PauseError::Ended => f.write_str("the run came to its end meanwhile"),
        }
    }
}

impl std::error::Error for PauseError {}

impl SharedRig {
    /// Lets come to its end what was released, and releases nothing more. Returns when that is so.
    pub fn pause(&self) -> Result<(), PauseError> {
        let until = self.patience();
        let _turn = self.paused.turn();
        if self.paused.kept().open.is_some() || self.state() != SessionState::Running {
            return Err(PauseError::NotRunning(self.state()));
        }
        let withdrawn = PauseError::Withdrawn(self.plan().shutdown_timeout);
        // What it says may be of a pause before, of which it has not seen yet that it is wanted no more.
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
        // Where this takes too long the next pause waits for it.
        let _none = self.answer(until, withdrawn, |pause| pause == Pause::None as u64);
        Err(PauseError::NotQuiescent(self.plan().shutdown_timeout))
    }

    /// A run that pauses goes on. Returns when it does.
    pub fn resume(&self) -> Result<(), PauseError> {
        let until = self.patience();
        let _turn = self.paused.turn();
        // A run whose runner has not answered before may be told once more.
        if self.paused.kept().open.is_none() && !self.is_paused() {
            return Err(PauseError::NotPaused(self.state()));
        }
        self.board().global(Global::PauseRequest).store(0, SeqCst);
        let late = PauseError::NotAnswered(self.plan().shutdown_timeout);
        let answer = self.answer(until, late, |pause| pause == Pause::None as u64);
        self.paused.kept().close(monotonic_now());
        answer.map(|_| ())
    }

    /// The pauses of the run so far, the one included that goes on.
    pub fn pauses(&self) -> Pauses {
        let mut own = self.paused.kept().clone();
        own.close(monotonic_now());
        own.pauses
    }

    /// Another run begins, which has not paused.
    pub fn forget_pauses(&self) {
        *self.paused.kept() = Default::default();
    }

    /// So long somebody who asks now waits for an answer.
    fn patience(&self) -> Instant {
        Instant::now() + Duration::from_nanos(self.plan().shutdown_timeout.0.max(0) as u64) + ANSWER
    }

    /// What the runner answers, as soon as it is one of these; `late`, if it is none `until` then.
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

//! Pausing (semantics S26): activations that were released are completed, no further ones are released, and simulation time
//! stands until the run goes on.
//!
//! In real time releases are held from an instant on that is still to come, so that none of them slips through; the run goes on
//! at that instant, later by a time after which starts fall on their grid again. In virtual time the run just waits between two
//! instants.

use super::run_state::{Ending, RunState};
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use vecud_base::time::Nanos;
use vecud_record::board::{Global, Pause};

/// The least time from a request to the instant from which releases are held, ns.
const AHEAD: i64 = 1_000_000;
/// No thread looks whether it is held earlier than this before its release, ns.
const EARLY: i64 = 100_000;
/// The least time from the end of a request to the instant at which the run goes on, ns.
const NOTICE: i64 = 10_000_000;
/// How often a run in virtual time looks whether it is to go on.
const LOOK: Duration = Duration::from_millis(1);

/// Whether a pause is requested.
pub fn is_wanted(run: &RunState) -> bool {
    run.board.global(Global::PauseRequest).load(SeqCst) != 0
}

fn tell(run: &RunState, pause: Pause) {
    run.board.global(Global::Pause).store(pause as u64, SeqCst);
}

/// Pausing in real time, for the one thread that looks after the run.
pub struct Pausing<'a> {
    run: &'a RunState,
    /// Starts fall on whole multiples of this, ns.
    grid: i64,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    GoesOn,
    /// Held since then (wall clock, ns), while activations go on.
    Comes(i64),
    Pausing,
    /// The run goes on, and the request for the pause is still there.
    Refused,
}

impl<'a> Pausing<'a> {
    /// A run that goes on; its starts fall on whole multiples of `grid`, ns.
    pub fn of(run: &'a RunState, grid: i64) -> Pausing<'a> {
        Pausing { run, grid, state: State::GoesOn }
    }

    /// Whether simulation time stands, or is about to.
    pub fn is_held(&self) -> bool {
        matches!(self.state, State::Comes(_) | State::Pausing)
    }

    /// Carries out the request as far as possible at `now`, the wall clock in ns.
    pub fn look(&mut self, now: i64) {
        let (run, wanted) = (self.run, is_wanted(self.run));
        self.state = match self.state {
            State::GoesOn if wanted && self.hold() => State::Comes(now),
            State::Comes(_) | State::Pausing if !wanted => {
                self.go_on();
                tell(run, Pause::None);
                State::GoesOn
            }
            State::Comes(_) if run.is_quiet_until(run.held_at()) => {
                tell(run, Pause::Paused);
                State::Pausing
            }
            State::Comes(since) if now - since > run.plan.shutdown_timeout.0 => {
                self.go_on();
                tell(run, Pause::Refused);
                State::Refused
            }
            State::Refused if !wanted => {
                tell(run, Pause::None);
                State::GoesOn
            }
            state => state,
        };
    }

    /// Holds releases from a moment on. `false`: the run is over then.
    fn hold(&self) -> bool {
        let (run, mut ahead) = (self.run, AHEAD);
        loop {
            let at = run.flowing(Nanos(run.now().saturating_add(ahead)));
            if run.plan.stop.is_some_and(|stop| at >= stop.nanos()) || at < run.begin.nanos() {
                if ahead > AHEAD {
                    run.go_on(0);
                }
                return false;
            }
            run.hold(at);
            // This thread may have lost its core meanwhile, and have set the hold too late for releases that have passed.
            if run.now() < run.wall_of(at).0 - EARLY {
                break;
            }
            ahead *= 2;
        }
        // Threads that wait already, for an instant that was too early, have to look again.
        if ahead > AHEAD {
            run.tasks.iter().for_each(|task| task.wake.wake());
        }
        true
    }

    fn go_on(&self) {
        let run = self.run;
        let least = run.now().saturating_add(NOTICE) - run.wall_of(Nanos(run.held_at())).0;
        run.go_on(least.max(0).div_euclid(self.grid).saturating_add(1).saturating_mul(self.grid));
    }
}

/// Waits in virtual time, between two activations, until the run goes on or ends. `look` is called again and again meanwhile.
#[cold]
pub fn wait(run: &RunState, mut look: impl FnMut()) {
    tell(run, Pause::Paused);
    let stop_request = run.board.global(Global::StopRequest);
    while is_wanted(run) && stop_request.load(SeqCst) == 0 && run.ending() != Ending::Discard {
        look();
        std::thread::sleep(LOOK);
    }
    tell(run, Pause::None);
}

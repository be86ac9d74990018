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
pub fn is_wanted(world: &RunState) -> bool {
    world.board.global(Global::PauseRequest).load(SeqCst) != 0
}

fn tell(world: &RunState, pause: Pause) {
    world.board.global(Global::Pause).store(pause as u64, SeqCst);
}

/// Pausing in real time, for the one thread that looks after the run.
pub struct Pausing<'a> {
    world: &'a RunState,
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
    pub fn of(world: &'a RunState, grid: i64) -> Pausing<'a> {
        Pausing { world, grid, state: State::GoesOn }
    }

    /// Whether simulation time stands, or is about to.
    pub fn is_held(&self) -> bool {
        matches!(self.state, State::Comes(_) | State::Pausing)
    }

    /// Carries out the request as far as possible at `now`, the wall clock in ns.
    pub fn look(&mut self, now: i64) {
        let (world, wanted) = (self.world, is_wanted(self.world));
        self.state = match self.state {
            State::GoesOn if wanted && self.hold() => State::Comes(now),
            State::Comes(_) | State::Pausing if !wanted => {
                self.go_on();
                tell(world, Pause::None);
                State::GoesOn
            }
            State::Comes(_) if world.is_quiet_until(world.held_at()) => {
                tell(world, Pause::Paused);
                State::Pausing
            }
            State::Comes(since) if now - since > world.plan.shutdown_timeout.0 => {
                self.go_on();
                tell(world, Pause::Refused);
                State::Refused
            }
            State::Refused if !wanted => {
                tell(world, Pause::None);
                State::GoesOn
            }
            state => state,
        };
    }

    /// Holds releases from a moment on. `false`: the run is over then.
    fn hold(&self) -> bool {
        let (world, mut ahead) = (self.world, AHEAD);
        loop {
            let at = world.flowing(Nanos(world.now().saturating_add(ahead)));
            if world.plan.stop.is_some_and(|stop| at >= stop.nanos()) || at < world.begin.nanos() {
                if ahead > AHEAD {
                    world.go_on(0);
                }
                return false;
            }
            world.hold(at);
            // This thread may have lost its core meanwhile, and have set the hold too late for releases that have passed.
            if world.now() < world.wall_of(at).0 - EARLY {
                break;
            }
            ahead *= 2;
        }
        // Threads that wait already, for an instant that was too early, have to look again.
        if ahead > AHEAD {
            world.tasks.iter().for_each(|task| task.wake.wake());
        }
        true
    }

    fn go_on(&self) {
        let world = self.world;
        let least = world.now().saturating_add(NOTICE) - world.wall_of(Nanos(world.held_at())).0;
        world.go_on(least.max(0).div_euclid(self.grid).saturating_add(1).saturating_mul(self.grid));
    }
}

/// Waits in virtual time, between two activations, until the run goes on or ends. `look` is called again and again meanwhile.
#[cold]
pub fn wait(world: &RunState, mut look: impl FnMut()) {
    tell(world, Pause::Paused);
    let stop_request = world.board.global(Global::StopRequest);
    while is_wanted(world) && stop_request.load(SeqCst) == 0 && world.ending() != Ending::Discard {
        look();
        std::thread::sleep(LOOK);
    }
    tell(world, Pause::None);
}

//! The time base of a run in real time, as the board tells it: which instant of simulation time it is.

use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::{Instant, Nanos};
use vecud_linux::clock::SystemClock;
use vecud_plan::{Mode, Plan};
use vecud_record::board::{Board, Global, Phase};

/// The time base of a run in real time: it tells the simulation time of an instant of the run's clock.
#[derive(Clone, Copy, Debug)]
pub struct TimeBase {
    /// The simulation time at which the run begins.
    pub begin: Instant,
    /// Begin of the run by the run's clock, ns.
    pub first: i64,
    /// The instant by the run's clock, ns, at which the run would have begun without its pauses.
    start: i64,
    /// Now, by the run's clock, ns.
    pub now: i64,
    /// No simulation time is later now, ns from [`TimeBase::begin`]: the run is held.
    held_at: i64,
}

impl TimeBase {
    /// Now. `None`: the run has not begun, or it is one in virtual time.
    pub fn now(plan: &Plan, board: Board, begin: Instant) -> Option<TimeBase> {
        let now = SystemClock::tai_if(plan.keeps_tai()).now();
        TimeBase::of(plan, board, begin, |_| now)
    }

    /// The time base at an earlier instant of CLOCK_MONOTONIC, ns.
    pub fn at(plan: &Plan, board: Board, begin: Instant, monotonic: i64) -> Option<TimeBase> {
        let of_monotonic = board.global(Global::StartMonotonic).load(SeqCst) as i64;
        TimeBase::of(plan, board, begin, |start| monotonic.saturating_add(start.saturating_sub(of_monotonic)))
    }

    /// `now` by the run's clock, which started then.
    fn of(plan: &Plan, board: Board, begin: Instant, now: impl FnOnce(i64) -> i64) -> Option<TimeBase> {
        let word = |word| board.global(word).load(SeqCst) as i64;
        // In this order: whoever finds that the run goes on finds the instant by which it does.
        let held_at = match word(Global::HeldAt) {
            at @ 1.. => at - 1,
            _ => i64::MAX,
        };
        // Where the runner has come to the end, nothing is released after the time that it has reached, however long it waits for what
        // goes on.
        let held_at = match board.phase() {
            Phase::Stopping => {
                let reached = plan.start.nanos().plus(Nanos(word(Global::Reached))).minus(begin.nanos());
                held_at.min(reached.0)
            }
            _ => held_at,
        };
        let (first, later) = (word(Global::Start), word(Global::Shifted));
        let (start, now) = (first.saturating_add(later), now(first));
        let is_there = plan.mode == Mode::RealTime && first > 0 && now >= first;
        is_there.then_some(TimeBase { begin, first, start, now, held_at })
    }

    /// The present simulation time.
    pub fn instant(&self) -> Instant {
        self.simulation(self.now)
    }

    /// The simulation time of an instant of the run's clock.
    pub fn simulation(&self, wall: i64) -> Instant {
        let since = wall.saturating_sub(self.start).min(self.held_at);
        Instant::from_nanos(self.begin.nanos().plus(Nanos(since)))
    }

    /// The last nanosecond before the run begins.
    pub fn before_begin(&self) -> Instant {
        Instant::from_nanos(self.begin.nanos().minus(Nanos(1)))
    }

    /// The simulation time of an instant of the run's clock at which an activation has returned; `None`: none can have.
    pub fn returned(&self, wall: i64) -> Option<Instant> {
        (self.first..=self.now).contains(&wall).then(|| self.simulation(wall))
    }

    /// The time since a simulation time, ns.
    pub fn since(&self, time: Instant) -> i64 {
        self.simulation(self.now).nanos().minus(time.nanos()).0
    }
}

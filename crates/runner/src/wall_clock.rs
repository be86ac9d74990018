//! Wall-clock instants and simulation times of a run: integers that differ by one number, the common start instant.
//!
//! While the run pauses (semantics S26) simulation time stands: releases after the instant at which it is held wait. When the run
//! goes on, the common start instant is later by the length of the pause, in whole steps of the grid of starts. The new start
//! instant is set a moment before the end of the pause, and until then simulation time still stands: complete times stay
//! complete.

use super::run_state::RunState;
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::{Instant, Nanos};
use vecud_record::board::Global;

impl RunState {
    /// Now, ns of the run's clock.
    #[inline]
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// Fixes the common start instant, by the run's clock.
    pub fn set_start(&self, at: Nanos) {
        self.start.store(at.0, SeqCst);
        self.since.store(at.0, SeqCst);
        self.board.global(Global::StartMonotonic).store((at.0 - self.clock.ahead()) as u64, SeqCst);
        self.board.global(Global::Start).store(at.0 as u64, SeqCst);
    }

    /// The common start instant; 0 while it is not known.
    pub fn start(&self) -> Nanos {
        Nanos(self.start.load(SeqCst))
    }

    /// The time since which the run goes on, by its clock: its start, or the end of its last pause. Events from outside that came
    /// before belong to no simulation time.
    #[inline]
    pub fn since(&self) -> Nanos {
        Nanos(self.since.load(SeqCst))
    }

    /// The simulation time, ns, after which releases wait; `i64::MAX`: none does.
    #[inline]
    pub fn held_at(&self) -> i64 {
        self.held_at.load(SeqCst)
    }

    /// Releases after this simulation time wait from now on. Earlier releases, and those that they tick, take place.
    pub fn hold(&self, at: Nanos) {
        self.board.global(Global::HeldAt).store(at.minus(self.begin_nanos).0.max(0) as u64 + 1, SeqCst);
        self.held_at.store(at.0, SeqCst);
    }

    /// Lets simulation time go on where it is held, `later` by the wall clock, ns. Threads find their releases by the new start
    /// instant, since they look at that after they have seen the end of the hold.
    pub fn go_on(&self, later: i64) {
        let held_at = Nanos(self.held_at());
        // Stored first: a reader of the new start instant sees that time stands.
        self.stood_at.store(held_at.0, SeqCst);
        self.start.fetch_add(later, SeqCst);
        self.since.store(self.wall_of(held_at).0, SeqCst);
        self.board.global(Global::Shifted).fetch_add(later as u64, SeqCst);
        self.held_at.store(i64::MAX, SeqCst);
        self.board.global(Global::HeldAt).store(0, SeqCst);
        self.tasks.iter().for_each(|task| task.wake.wake());
    }

    /// The wall clock of a simulation time, to the nanosecond.
    #[inline]
    pub fn wall(&self, time: Instant) -> Nanos {
        self.wall_of(time.nanos())
    }

    /// [`RunState::wall`] of simulation time in nanoseconds.
    #[inline]
    pub fn wall_of(&self, time: Nanos) -> Nanos {
        Nanos(self.start.load(SeqCst)).plus(time.minus(self.begin_nanos))
    }

    /// The simulation time of a wall clock: the inverse of [`RunState::wall`], to the nanosecond, but none after that at which
    /// the run is held, and none before that at which it was held last, where time stands until the run goes on. It is computed
    /// at every activation, so no fraction is reduced.
    pub fn simulation(&self, wall: Nanos) -> Instant {
        let held_at = Nanos(self.held_at());
        let flowing = self.flowing(wall).min(held_at);
        Instant::from_nanos(flowing.max(Nanos(self.stood_at.load(SeqCst))))
    }

    /// The simulation time of a wall clock if the run was not held, ns.
    pub fn flowing(&self, wall: Nanos) -> Nanos {
        self.begin_nanos.plus(wall.minus(Nanos(self.start.load(SeqCst))))
    }

    /// Nanoseconds from the start of the simulation to a later time.
    pub fn since_start(&self, time: Instant) -> u64 {
        time.nanos().minus(self.plan.start.nanos()).0.max(0) as u64
    }

    /// The inverse of [`RunState::since_start`].
    pub fn time_since_start(&self, nanos: u64) -> Instant {
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX);
        Instant::from_nanos(Nanos(self.plan.start.nanos().0.saturating_add(nanos)))
    }
}

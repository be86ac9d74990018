//! Wall-clock instants and simulation times of a run: integers that differ by one number, the common start instant.

use super::world::World;
use crate::record::board::Global;
use crate::time::{Instant, Nanos};
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};

impl World {
    /// Now, ns of the run's clock.
    #[inline]
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// Fixes the common start instant, by the run's clock.
    pub fn set_start(&self, at: Nanos) {
        self.start.store(at.0, SeqCst);
        self.board.global(Global::StartMonotonic).store((at.0 - self.clock.ahead()) as u64, SeqCst);
        self.board.global(Global::Start).store(at.0 as u64, SeqCst);
    }

    /// The common start instant; 0 while it is not known.
    pub fn start(&self) -> Nanos {
        Nanos(self.start.load(SeqCst))
    }

    /// The wall clock of a simulation time, to the nanosecond.
    #[inline]
    pub fn wall(&self, time: Instant) -> Nanos {
        self.wall_of(time.nanos())
    }

    /// [`World::wall`] of simulation time in nanoseconds.
    #[inline]
    pub fn wall_of(&self, time: Nanos) -> Nanos {
        Nanos(self.start.load(Relaxed)).plus(time.minus(self.begin_nanos))
    }

    /// The simulation time of a wall clock: the inverse of [`World::wall`], to the nanosecond. It is asked for at every
    /// activation, so no fraction is reduced.
    pub fn simulation(&self, wall: Nanos) -> Instant {
        let since = wall.minus(Nanos(self.start.load(Relaxed)));
        Instant::from_nanos(self.begin_nanos.plus(since))
    }

    /// Nanoseconds from the start of the simulation to a later time.
    pub fn since_start(&self, time: Instant) -> u64 {
        time.nanos().minus(self.plan.start.nanos()).0.max(0) as u64
    }

    /// The inverse of [`World::since_start`].
    pub fn time_since_start(&self, nanos: u64) -> Instant {
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX);
        Instant::from_nanos(Nanos(self.plan.start.nanos().0.saturating_add(nanos)))
    }
}

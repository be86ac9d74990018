//! What a partition thread works out before it sleeps: after its sleep everything is late already.

use super::own::Own;
use vecud_base::time::{Instant, Nanos};
use vecud_plan::schedule::{Due, Timeline};

/// So long before its release, at most, a thread that polls has everything behind it that comes before the first FMI call, ns.
const EARLY: i64 = 5_000;

/// The next activation, as far as it can be worked out beforehand.
pub struct Coming {
    /// The release on the wall clock, ns, unless it is a tick that was dispatched later.
    pub release: i64,
    /// Simulation time, ns.
    pub nanos: i64,
    /// `None`: what is due is to be looked for at the release.
    pub foreseen: Option<Due>,
}

impl Coming {
    /// What comes next on a timeline.
    pub fn of(own: &Own, timeline: &Timeline) -> Option<Coming> {
        match timeline.foresee() {
            Some(due) => Some(Coming::foreseen(own, due)),
            None => timeline.next().map(|next| Coming::at(own, next, None)),
        }
    }

    /// So long before its release the activation begins, but for its first FMI call, so that the way there is not late. Nothing
    /// must be lost when it is taken back, and without privileges it would keep others from their turns. Whoever lets others
    /// of its priority begin first has to know whether they are due.
    #[inline]
    pub fn early(&self, own: &Own) -> i64 {
        let known = self.foreseen.as_ref().is_some_and(|due| due.dispatched.is_none());
        if known && !own.cooperative && own.state.ahead.is_empty() { own.spin.min(EARLY) } else { 0 }
    }

    /// Whether the run is held before its release, or was since that was worked out: the release is another one, then.
    #[inline]
    pub fn is_held(&self, own: &Own) -> bool {
        // In this order: who finds that the run goes on finds the start instant that it goes on by.
        self.nanos > own.world.held_at() || own.world.wall_of(Nanos(self.nanos)).0 != self.release
    }

    /// This comes next.
    #[inline]
    pub fn foreseen(own: &Own, due: Due) -> Coming {
        Coming::at(own, due.time, Some(due))
    }

    #[inline]
    fn at(own: &Own, time: Instant, foreseen: Option<Due>) -> Coming {
        let nanos = time.nanos();
        Coming { release: own.world.wall_of(nanos).0, nanos: nanos.0, foreseen }
    }
}

//! The next release, worked out before the thread sleeps: after the sleep everything is late already.

use super::task_context::TaskContext;
use vecud_base::time::{Instant, Nanos};
use vecud_plan::schedule::{Due, Timeline};

/// The most time before its release at which a thread that polls is ready for its first FMI call, ns.
const EARLY: i64 = 5_000;

/// The next activation, as far as it can be worked out beforehand.
pub struct NextRelease {
    /// The release on the wall clock, ns, unless it is a tick that was dispatched later.
    pub release: i64,
    /// Simulation time, ns.
    pub nanos: i64,
    /// The activation; `None`: the timeline decides at the release.
    pub foreseen: Option<Due>,
}

impl NextRelease {
    /// The next release of a timeline.
    pub fn of(context: &TaskContext, timeline: &Timeline) -> Option<NextRelease> {
        match timeline.foresee() {
            Some(due) => Some(NextRelease::foreseen(context, due)),
            None => timeline.next().map(|next| NextRelease::at(context, next, None)),
        }
    }

    /// The time by which the activation may begin before its release, but for its first FMI call, so that the entry is not late.
    /// Only a known grid release begins early, for taking that back loses nothing; without privileges it would delay the turns of
    /// others, and a thread that lets others of its priority begin first has to see whether they are due.
    #[inline]
    pub fn early(&self, context: &TaskContext) -> i64 {
        let known = self.foreseen.as_ref().is_some_and(|due| due.dispatched.is_none());
        if known && !context.cooperative && context.state.ahead.is_empty() { context.spin.min(EARLY) } else { 0 }
    }

    /// Whether the run is held before its release, or was since that was worked out: the release is another one, then.
    #[inline]
    pub fn is_held(&self, context: &TaskContext) -> bool {
        // In this order: a reader that sees the end of the hold also sees the new start instant.
        self.nanos > context.run.held_at() || context.run.wall_of(Nanos(self.nanos)).0 != self.release
    }

    /// This comes next.
    #[inline]
    pub fn foreseen(context: &TaskContext, due: Due) -> NextRelease {
        NextRelease::at(context, due.time, Some(due))
    }

    #[inline]
    fn at(context: &TaskContext, time: Instant, foreseen: Option<Due>) -> NextRelease {
        let nanos = time.nanos();
        NextRelease { release: context.run.wall_of(nanos).0, nanos: nanos.0, foreseen }
    }
}

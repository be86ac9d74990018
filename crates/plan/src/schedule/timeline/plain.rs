//! A timeline that is nothing but a grid at the moment, or nothing but ticks, as most are most of the time: its next release is
//! known without looking at anything else, and passing many instants of a grid takes as long as passing few.

use super::releases::{Due, ReleaseSource, Timeline};
use crate::QUEUE;
use crate::schedule::grid::Grid;
use vecud_base::time::Instant;

impl Timeline {
    /// The next result of [`Timeline::take`], where it is known: until a tick, another interval or the like comes.
    #[inline(always)]
    pub fn foresee(&self) -> Option<Due> {
        let due = match (&self.source, self.waiting.first()) {
            (ReleaseSource::Ticks, Some(waiting)) => waiting.due(),
            (ReleaseSource::Ticks, None) => return None,
            _ => {
                let (grid, _) = self.nothing_but_grid()?;
                Due { next: Some(grid.after_next()), ..Due::own(grid.next()) }
            }
        };
        self.stop.is_none_or(|stop| due.time < stop).then_some(due)
    }

    /// Takes the [foreseen](Timeline::foresee) release off the timeline, and foresees the next one.
    #[inline(always)]
    pub fn advance(&mut self) -> Option<Due> {
        self.take();
        self.foresee()
    }

    /// The grid, when nothing else can come next and it does not change, and the stop of the run.
    pub(in crate::schedule) fn nothing_but_grid(&self) -> Option<(&Grid, Option<Instant>)> {
        self.plain_grid().filter(|grid| !grid.changes()).map(|grid| (grid, self.stop))
    }

    /// Has the effect of `instants` calls of [`Timeline::take`], with [nothing but a grid](Timeline::nothing_but_grid) that has
    /// as many instants before the stop. Takes as long for many as for few.
    pub(in crate::schedule) fn pass(&mut self, instants: u64) {
        let not_recent = instants.saturating_sub(QUEUE as u64);
        if let ReleaseSource::Grid { grid, .. } = &mut self.source {
            grid.pass_many(not_recent);
        }
        self.oldest = (self.oldest + (not_recent % QUEUE as u64) as usize) % QUEUE;
        for _ in not_recent..instants {
            self.take();
        }
    }
}

//! Ticks of a stimulus for a partition thread in real time: taken in portions, and looked for again before the known ones run
//! out. No allocation, no lock, no system call.

use super::column::TickColumn;
use super::progress::broken;
use crate::run_state::RunState;
use vecud_base::time::{Instant, Nanos};
use vecud_plan::UnitId;
use vecud_plan::schedule::Timeline;
use vecud_record::stimulus::FeedState;

/// A look this long before the end of the known ticks finds those that were read meanwhile, ns.
const AHEAD: i64 = 20_000_000;
/// The least time between two looks, ns.
const PAUSE: i64 = 5_000_000;

/// The end of the known ticks when the timeline has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fed {
    /// There are none.
    Nothing,
    /// None up to this time; to be looked for again at the wall-clock time.
    Until {
        /// Simulation time.
        known: Instant,
        /// CLOCK_MONOTONIC, ns.
        look: i64,
    },
}

/// The ticks of one task. Dropping it tells the supervisor that the task takes no further ticks.
pub struct TickFeed<'a> {
    run: &'a RunState,
    unit: UnitId,
    column: TickColumn,
    /// Up to where ticks were known at the last look.
    known: f64,
}

impl<'a> TickFeed<'a> {
    /// `None`: no stimulus ticks this task.
    pub fn of(run: &'a RunState, unit: UnitId) -> Option<TickFeed<'a>> {
        let column = TickColumn::of(run, &run.plan.units[unit.0].release)?;
        Some(TickFeed { run, unit, known: column.feed.until(), column })
    }

    /// Moves the ticks that are there to the timeline, as far as that has room.
    #[inline(never)] // few clocks are ticked by stimuli
    pub fn take(&mut self, timeline: &mut Timeline, now: i64) -> Fed {
        // Before the ticks: all that it covers are there, then.
        let feed = self.column.feed;
        let (state, until) = (feed.state(), feed.until());
        let late = self.run.simulation(Nanos(now));
        self.column.take(timeline, |instant| {
            if instant.seconds() > self.known && instant < late {
                feed.starve(self.unit, instant);
            }
        });
        self.known = until;
        if !timeline.is_hungry() || state == FeedState::Ended {
            return Fed::Nothing;
        }
        let known = Instant::from_f64(until).unwrap_or(self.run.begin);
        let end = self.run.wall(known).0;
        if state == FeedState::Broken && end <= now {
            broken(self.run, self.column.stimulus);
        }
        Fed::Until { known, look: end.saturating_sub(AHEAD).max(now + PAUSE) }
    }

    /// Moves the ticks that are there to the timeline of a task that is not activated any more; none of them counts as late.
    pub fn hand_over(&self, timeline: &mut Timeline) {
        self.column.take(timeline, |_| ());
    }
}

impl Drop for TickFeed<'_> {
    fn drop(&mut self) {
        self.column.feed.leave_ticks(self.column.tick);
    }
}

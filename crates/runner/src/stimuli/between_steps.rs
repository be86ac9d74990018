//! Ticks of a stimulus for a clock between steps: whatever comes up to the end of a step is there before the step is made, so
//! that it ends at the first of them (semantics S22). No allocation, no lock, no system call.
//!
//! In virtual time the run has waited for them; in real time one that is read too late for its instant ticks at the next
//! communication point and is counted as starved.

use super::column::TickColumn;
use super::progress::broken;
use crate::run_state::RunState;
use vecud_base::time::Instant;
use vecud_plan::schedule::Timeline;
use vecud_plan::{Release, UnitId};
use vecud_record::stimulus::FeedState;

/// The ticks of one clock.
pub struct StepFeed {
    column: TickColumn,
    /// The unit that makes the steps.
    unit: UnitId,
    /// The next communication point, as far as this clock was known when the last step began.
    decided: Option<Instant>,
}

impl StepFeed {
    /// `None`: no stimulus ticks a clock that is released like this, between the steps that `task` makes.
    pub fn of(run: &RunState, unit: UnitId, release: &Release) -> Option<StepFeed> {
        Some(StepFeed { column: TickColumn::of(run, release)?, unit, decided: None })
    }

    /// Moves the ticks that are there to the timeline of the clock, as far as that has room.
    pub fn take(&self, timeline: &mut Timeline) {
        self.column.take(timeline, |_| ());
    }

    /// [`StepFeed::take`] before a step from `begin` to `end` at most. `false`: the ticks cannot be read, and the run ends.
    pub fn take_within(&mut self, run: &RunState, timeline: &mut Timeline, (begin, end): (Instant, Instant)) -> bool {
        // Before the ticks: all that it covers are there, then.
        let TickColumn { feed, stimulus, tick } = self.column;
        let (state, until) = feed.ticks_known(tick);
        self.column.take(timeline, |instant| {
            if self.decided.is_some_and(|decided| instant < decided) {
                feed.starve(self.unit, instant);
            }
        });
        let next = timeline.fed_after(begin).filter(|next| *next < end);
        if state == FeedState::Broken && next.is_none() && until < end.seconds() {
            broken(run, stimulus);
            return false;
        }
        self.decided = Some(next.unwrap_or(end));
        true
    }
}

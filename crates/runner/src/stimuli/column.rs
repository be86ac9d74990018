//! A column of a stimulus that ticks a clock. Its ticks are known ahead of their time: a timeline takes them, and no queue.

use crate::run_state::RunState;
use vecud_base::time::Instant;
use vecud_plan::Release;
use vecud_plan::schedule::Timeline;
use vecud_record::stimulus::Feed;

/// The ticks of one column.
pub struct TickColumn {
    /// Where they wait.
    pub feed: Feed<'static>,
    /// The stimulus, by its place in the plan.
    pub stimulus: usize,
    /// The column, by its place among those of the stimulus that tick.
    pub tick: usize,
}

impl TickColumn {
    /// `None`: no stimulus ticks a clock that is released like this.
    pub fn of(run: &RunState, release: &Release) -> Option<TickColumn> {
        let Release::Stimulus { stimulus, tick } = *release else { return None };
        Some(TickColumn { feed: run.board.stimulus(stimulus), stimulus, tick })
    }

    /// Moves the ticks that are there to the timeline, as far as that has room; `see` gets each.
    pub fn take(&self, timeline: &mut Timeline, mut see: impl FnMut(Instant)) {
        while timeline.room() > 0
            && let Some(time) = self.feed.take_tick(self.tick)
        {
            timeline.feed(time);
            see(time);
        }
    }
}

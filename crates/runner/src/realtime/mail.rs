//! The mail of other threads for a partition thread: ticks, a new deadline, a new interval.

use crate::exchange::TickStamp;
use crate::run_state::RunState;
use vecud_plan::UnitId;
use vecud_plan::schedule::{self, QUEUE, Timeline};

/// Takes over a new interval of a tunable clock. Returns whether there was one.
pub(super) fn take_change(run: &RunState, unit: UnitId, timeline: &mut Timeline) -> bool {
    let Some((interval, from)) = run.tasks[unit.0].take_change() else { return false };
    timeline.retune(interval, from);
    run.tell_grid(unit, timeline.grid());
    true
}

/// Moves ticks, a new deadline and a new interval from other threads to the timeline.
pub fn take_mail(run: &RunState, unit: UnitId, timeline: &mut Timeline) {
    let state = &run.tasks[unit.0];
    let dispatch = |tick: TickStamp| {
        let TickStamp { dispatched: wall, root, .. } = tick;
        schedule::DispatchStamp { wall, time: run.simulation(wall), root }
    };
    take_change(run, unit, timeline);
    if let Some(deadline) = state.take_deadline() {
        let tick = deadline.tick;
        run.count_armed(unit, tick, timeline.arm(tick.time, deadline.since, dispatch(tick)));
    }
    while timeline.waiting() < QUEUE
        && let Some(stamp) = state.ticks.pop()
    {
        run.count(unit, stamp, timeline.tick(stamp.time, dispatch(stamp)));
        state.ticks.set_waiting(timeline.waiting());
    }
}

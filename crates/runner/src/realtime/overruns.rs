//! Handles releases that find the activation before them still running (semantics S12).

use super::task_context::TaskContext;
use crate::measure::Measure;
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use vecud_base::time::{Instant, Nanos};
use vecud_plan::schedule::{LateRelease, Skipped, Timeline};
use vecud_plan::{Overrun, Release};
use vecud_record::board::promise::Break;
use vecud_record::board::{Global, Metric, TaskWord};
use vecud_record::trace::Note;

/// Counts releases up to `until`, the end of the run, that have not begun. The first of them has waited in vain. Those after it
/// have found it waiting, as they would have found it running.
#[cold]
pub fn of_those_that_never_begin(
    context: &TaskContext,
    timeline: &mut Timeline,
    until: Instant,
    measure: Option<&Measure>,
) {
    let Some(first) = timeline.leave_out(until) else { return };
    let (now, release) = (context.run.wall(until).0, context.run.wall(first).0);
    [Metric::Wakeup, Metric::Start].into_iter().for_each(|metric| context.cells.histogram(metric).count(now - release));
    if let Some(measure) = measure {
        measure.skipped(now - release, context.of_wakeup(release, now));
    }
    let has_stopped_the_run =
        context.overrun == Overrun::Stop && context.run.board.global(Global::OverrunTask).load(Relaxed) != 0;
    if !has_stopped_the_run {
        find(context, timeline, now, measure);
    }
    // Beside the first one, those that are never left out.
    let further = std::iter::from_fn(|| timeline.leave_out(until)).count();
    context.cells.count_shared(TaskWord::Discarded, 1 + further as u64);
}

/// Handles releases up to `now` that became due while the activation before them ran (semantics S12). Ticks are queued in any
/// case, and so is the only release of a changing clock.
#[inline(never)] // this should not happen
pub fn overruns(context: &TaskContext, timeline: &mut Timeline, now: i64, period: Nanos, measure: Option<&Measure>) {
    let found = find(context, timeline, now, measure);
    if let (Some((first, number)), Some(measure)) = (found, measure) {
        measure.overran(context.run, first, period, number, now - context.run.wall(first).0);
    }
}

/// The first of these releases, and how many there are.
fn find(context: &TaskContext, timeline: &mut Timeline, now: i64, measure: Option<&Measure>) -> Option<(Instant, u64)> {
    let TaskContext { run, unit, cells, .. } = *context;
    let time = run.until(Nanos(now));
    let now = now.min(run.wall(time).0);
    let late = |release| now - run.wall(release).0;
    // The first of them, and how many.
    let found: Cell<Option<(Instant, u64)>> = Cell::new(None);
    let overrun = |release: Instant| {
        cells.count_shared(TaskWord::Overruns, 1);
        found.set(Some(found.get().map_or((release, 1), |(first, number)| (first, number + 1))));
    };
    let skipped = |Skipped { time }: Skipped| {
        overrun(time);
        cells.count(TaskWord::Skipped, 1);
        run.board.note_break(unit, Break::Overrun, time);
        for metric in [Metric::Wakeup, Metric::Start, Metric::Response] {
            cells.histogram(metric).count(late(time));
        }
        if let Some(measure) = measure {
            measure.skipped(late(time), context.of_wakeup(run.wall(time).0, now));
        }
        if let Some(ring) = &context.telemetry.trace {
            let (time, release) = (time.nanos().0, run.wall(time).0);
            run.trace_in(ring, Note::Skipped { time, release, at: now });
        }
    };
    match context.overrun {
        Overrun::Skip => {
            // A step makes up for all that were missed, and is not to be missed itself (semantics S21).
            let skip = if context.plan.is_contiguous() { Timeline::skip_to_last } else { Timeline::skip };
            while let Some(release) = skip(timeline, time) {
                skipped(release);
            }
            if let Some(release) = timeline.overdue(time) {
                overrun(release);
            }
        }
        // Steps follow one another, and none is left out: the next one is the next instant, however late.
        Overrun::Queue if context.plan.is_contiguous() => {
            if let Some(release) = timeline.overdue(time) {
                overrun(release);
            }
        }
        Overrun::Queue => {
            if context.plan.release == Release::Changing
                && let Some(release) = timeline.overdue(time)
            {
                overrun(release);
            }
            while let Some(release) = timeline.keep(time) {
                match release {
                    LateRelease::Waits(release) => overrun(release),
                    LateRelease::Not(release) => skipped(release),
                }
            }
        }
        Overrun::Stop => {
            if let Some(release) = timeline.overdue(time) {
                overrun(release);
                run.board.note_break(unit, Break::Overrun, release);
                run.overrun(unit, release, late(release));
            }
        }
    }
    found.get()
}

//! A release that nobody has begun although it is time: its thread gets no core, or the whole process stands still.
//!
//! The runner tells what became of such releases when it comes to them, and it never does where the run ends before (semantics S12).

use super::time_base::TimeBase;
use vecud_base::time::{Fraction, Instant};
use vecud_plan::schedule::Passed;
use vecud_plan::{Overrun, Plan, UnitId};
use vecud_record::board::promise::Break;
use vecud_record::board::{Board, Metric, TaskWord};

/// The next release of a periodic clock, whose activation has not begun though it is time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unbegun {
    /// Time of the release; if several wait, of the first.
    pub first: Instant,
    /// Present delay of that release, ns.
    pub late: i64,
    /// Releases that wait beside it, since they have found an activation running; its thread has counted them as overruns.
    waiting: u64,
    /// The releases after all waiting ones.
    pub passed: Option<Passed>,
}

impl Unbegun {
    /// Looks for the release of a task. Precondition: no activation of the task is under way.
    pub fn of(plan: &Plan, board: Board, time_base: TimeBase, unit: UnitId) -> Option<Unbegun> {
        let (cells, planned) = (board.task(unit), &plan.units[unit.0]);
        if cells.get(TaskWord::Left) != 0 {
            return None;
        }
        let (origin, interval) = grid(board, unit)?;
        let (now, released_until) = (time_base.instant(), plan.released_until(planned));
        let after = |counted, until| Passed::on_grid(origin, interval, counted, until, released_until);
        let (last, finished) = (last_time(board, unit), cells.get(TaskWord::FinishedAt) as i64);
        if cells.get(TaskWord::Active) == 1 {
            // It has not come to its first call.
            return Unbegun::at(released_until, time_base, last, 0, after(last, now));
        }
        if finished == 0 {
            let first = after(time_base.before_begin(), now)?.first;
            return Unbegun::at(released_until, time_base, first, 0, after(first, now));
        }
        let returned = time_base.returned(finished)?;
        let found = after(last, returned);
        match (plan.task_of(unit).overrun, found) {
            (Overrun::Queue, Some(found)) if planned.is_contiguous() => {
                Unbegun::at(released_until, time_base, found.first, 0, after(found.first, now))
            }
            // It makes up for those before.
            (_, Some(found)) if planned.is_contiguous() => {
                let first = found.release(found.count - 1);
                Unbegun::at(released_until, time_base, first, 0, after(first, now))
            }
            (Overrun::Queue, Some(found)) => {
                Unbegun::at(released_until, time_base, found.first, found.waiting(0) - 1, after(returned, now))
            }
            _ => {
                let first = after(last.max(returned), now)?.first;
                Unbegun::at(released_until, time_base, first, 0, after(first, now))
            }
        }
    }

    fn at(
        released_until: Option<Instant>,
        time_base: TimeBase,
        first: Instant,
        waiting: u64,
        passed: Option<Passed>,
    ) -> Option<Unbegun> {
        let is_released = first >= time_base.begin
            && first <= time_base.instant()
            && released_until.is_none_or(|until| first < until);
        is_released.then(|| Unbegun { first, late: time_base.since(first), waiting, passed })
    }

    /// The number of waiting releases, without those after them.
    pub fn number(&self) -> u64 {
        1 + self.waiting
    }
}

const TIME: [TaskWord; 3] = [TaskWord::Time, TaskWord::Time1, TaskWord::Time2];
const ORIGIN: [TaskWord; 3] = [TaskWord::Origin, TaskWord::Origin1, TaskWord::Origin2];

/// The grid of a periodic clock, as its thread has it: an instant of it, and its interval.
pub fn grid(board: Board, unit: UnitId) -> Option<(Instant, Fraction)> {
    Some((instant(board, unit, ORIGIN), interval(board, unit)?))
}

/// The time of the last activation that a task has begun.
pub fn last_time(board: Board, unit: UnitId) -> Instant {
    instant(board, unit, TIME)
}

fn instant(board: Board, unit: UnitId, words: [TaskWord; 3]) -> Instant {
    Instant::from_words(words.map(|word| board.task(unit).get(word)))
}

/// The number of releases that wait behind the activation of this time: they had come when the one before it returned.
/// Precondition: the activation is under way.
pub fn waiting_behind(plan: &Plan, board: Board, time_base: TimeBase, unit: UnitId, time: Instant) -> u64 {
    let (planned, finished) = (&plan.units[unit.0], board.task(unit).get(TaskWord::FinishedAt) as i64);
    let returned = time_base.returned(finished).filter(|_| plan.task_of(unit).overrun == Overrun::Queue);
    let found = returned.zip(interval(board, unit));
    let found =
        found.and_then(|(returned, interval)| Passed::of(time, interval, time, returned, plan.released_until(planned)));
    found.map_or(0, |found| if planned.is_contiguous() { found.count } else { found.waiting(0) })
}

/// The interval of a periodic clock, as its thread has it.
pub fn interval(board: Board, unit: UnitId) -> Option<Fraction> {
    let cells = board.task(unit);
    Fraction::new(cells.get(TaskWord::IntervalCounter), cells.get(TaskWord::IntervalResolution)).ok()
}

/// Counts releases that have found an activation running, or waiting, as its thread would have done at its end. `late`: delay of the
/// first of them, ns.
pub fn count_overruns(plan: &Plan, board: Board, unit: UnitId, passed: Passed, late: i64) {
    let (cells, overrun) = (board.task(unit), plan.task_of(unit).overrun);
    if overrun == Overrun::Stop {
        return cells.count_shared(TaskWord::Overruns, 1);
    }
    cells.count_shared(TaskWord::Overruns, passed.count);
    if overrun == Overrun::Skip {
        cells.count(TaskWord::Skipped, passed.count);
        board.note_break(unit, Break::Overrun, passed.first);
    }
    /// More releases than this, of a hang that has lasted for days, are counted in groups.
    const AT_MOST: u64 = 1 << 20;
    let each = passed.count.div_ceil(AT_MOST);
    for place in (0..passed.count).step_by(each as usize) {
        let many = each.min(passed.count - place);
        let after_first = passed.release(place).nanos().minus(passed.first.nanos()).0;
        // What waits in a queue has no response, since it has not begun.
        let response = (overrun == Overrun::Skip).then_some(Metric::Response);
        for metric in [Metric::Wakeup, Metric::Start].into_iter().chain(response) {
            cells.histogram(metric).count_many(late.saturating_sub(after_first), many);
        }
    }
}

/// Counts activations as discarded that wait, or are under way, at the end of a run, and the releases that wait behind them.
/// `number`: of these activations.
pub fn count_discarded(plan: &Plan, board: Board, unit: UnitId, number: u64, passed: Option<Passed>) {
    let (cells, overrun) = (board.task(unit), plan.task_of(unit).overrun);
    let behind = passed.map_or(0, |passed| passed.count);
    let waits = match overrun {
        Overrun::Skip => 0,
        Overrun::Queue if plan.units[unit.0].is_contiguous() => behind,
        Overrun::Queue => passed.map_or(0, |passed| passed.waiting(number - 1)),
        Overrun::Stop => behind,
    };
    cells.count_shared(TaskWord::Discarded, number + waits);
    if overrun == Overrun::Queue {
        cells.count(TaskWord::Skipped, behind - waits);
    }
}

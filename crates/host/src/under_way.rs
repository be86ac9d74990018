//! The board's view of an activation that has not returned: its start, and the releases since.
//!
//! The runner counts overruns when an activation has returned. Until then they follow from its start and the grid of its
//! clock ([`Passed`]), here and in [`super::unbegun`]: for the table, for limits while it hangs, and for the report when
//! it never returns. Only the runner writes to the board; a copy, at the end of the run, receives the counts that the
//! runner would have written ([`count_unreturned`]).

use super::time_base::TimeBase;
use super::unbegun::{self, Unbegun};
use std::sync::atomic::Ordering::{Acquire, SeqCst};
use vecud_base::time::Instant;
use vecud_plan::schedule::Passed;
use vecud_plan::{Overrun, Plan, UnitId};
use vecud_record::board::{Board, Global, Metric, Scheduling, TaskWord};

/// An activation in real time that has not returned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OngoingActivation {
    /// The activation time.
    pub time: Instant,
    /// First FMI call of the activation, by the run's clock, ns: unique among the activations of a task.
    pub started: i64,
    /// Simulation time of its first FMI call.
    pub since: Instant,
    /// Time since its first FMI call, ns.
    pub running: i64,
    /// Passed releases that are overruns and that its thread has not counted yet; `None`: none, or the clock has no period.
    pub passed: Option<Passed>,
    /// All passed releases, even if the first one ends the run.
    pub released: Option<Passed>,
    /// Present delay of the first of the releases in `passed`, ns.
    pub late: i64,
}

/// Present state of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskProgress {
    /// Number of overruns that the runner has counted.
    counted: u64,
    /// The activation that has not returned.
    pub under_way: Option<OngoingActivation>,
    /// An activation that is due but has not begun.
    pub unbegun: Option<Unbegun>,
}

impl TaskProgress {
    /// Overruns, including those that the activation under way, or the one that has not begun, will find.
    pub fn overruns(&self) -> u64 {
        let found = self.under_way.map_or(self.unbegun.and_then(|own| own.passed), |own| own.passed);
        self.counted.saturating_add(found.map_or(0, |passed| passed.count))
    }
}

/// Reads the progress of a task. All values belong to one activation, so that either its thread or this function counts a
/// release, never both.
pub fn task_progress(plan: &Plan, board: Board, time_base: Option<TimeBase>, unit: UnitId) -> TaskProgress {
    /// A thread that advances between two loads, at each of so many attempts, does not hang.
    const ATTEMPTS: usize = 3;
    let cells = board.task(unit);
    let mut mark = ActivationMark::read(board, unit);
    for _ in 0..ATTEMPTS {
        let counted = cells.word(TaskWord::Overruns).load(Acquire);
        let before = std::mem::replace(&mut mark, ActivationMark::read(board, unit));
        if before == mark {
            let under_way = time_base.and_then(|time_base| under_way(plan, board, time_base, unit, mark));
            let unbegun = time_base.filter(|_| under_way.is_none());
            let unbegun = unbegun.and_then(|time_base| Unbegun::of(plan, board, time_base, unit));
            return TaskProgress { counted, under_way, unbegun };
        }
    }
    TaskProgress { counted: cells.get(TaskWord::Overruns), under_way: None, unbegun: None }
}

/// Identifies an activation of a task, and whether it has returned. The runner stores the time and that it is active, then its start,
/// then its end and that it is active no more, and then counts overruns: two equal marks around a load of the overruns mean that no
/// activation began or returned meanwhile.
#[derive(Clone, Copy, PartialEq)]
struct ActivationMark {
    /// An activation has begun and has not returned.
    active: bool,
    /// First FMI call of the last activation that came to one, by the run's clock, ns; 0: none did.
    started: i64,
    /// Return of the last activation that returned, by the run's clock, ns; 0: none did.
    finished: i64,
    /// Activation time of the last activation that has begun, as words.
    time: [u64; 3],
}

impl ActivationMark {
    fn read(board: Board, unit: UnitId) -> ActivationMark {
        let load = |word| board.task(unit).word(word).load(Acquire);
        ActivationMark {
            active: load(TaskWord::Active) == 1,
            started: load(TaskWord::StartedAt) as i64,
            finished: load(TaskWord::FinishedAt) as i64,
            time: [TaskWord::Time, TaskWord::Time1, TaskWord::Time2].map(load),
        }
    }
}

/// Whether an activation has neither returned nor begun since `copy` was made of the board: its copied values are
/// consistent.
pub fn is_as_copied(board: Board, copy: Board, unit: UnitId) -> bool {
    ActivationMark::read(board, unit) == ActivationMark::read(copy, unit)
}

fn under_way(
    plan: &Plan,
    board: Board,
    time_base: TimeBase,
    unit: UnitId,
    mark: ActivationMark,
) -> Option<OngoingActivation> {
    let ActivationMark { active, started, finished, time } = mark;
    let time = Instant::from_words(time);
    // An activation that has begun but not reached its first call still has the start of its predecessor.
    let has_started = active && started >= finished && (time_base.first..=time_base.now).contains(&started);
    if !has_started || time < time_base.begin || time > time_base.simulation(time_base.now) {
        return None;
    }
    let planned = &plan.units[unit.0];
    let counted = if finished > 0 { time_base.simulation(finished) } else { time_base.begin };
    let (now, until) = (time_base.simulation(time_base.now), plan.released_until(planned));
    let released = unbegun::interval(board, unit).and_then(|interval| Passed::of(time, interval, counted, now, until));
    // The first one ends the run, and later ones are no overruns.
    let passed =
        released.map(|passed| if plan.task_of(unit).overrun == Overrun::Stop { passed.first_alone() } else { passed });
    Some(OngoingActivation {
        time,
        started,
        since: time_base.simulation(started),
        running: time_base.now - started,
        passed,
        released,
        late: passed.map_or(0, |passed| time_base.since(passed.first)),
    })
}

/// The task whose activation preempts the one of `task`: neither has returned, and the other is more urgent, on the same
/// core, and begun later. `None`: no task of the rig does.
pub fn preempted_by(plan: &Plan, board: Board, progress: &[TaskProgress], unit: UnitId) -> Option<UnitId> {
    let fifo = board.global(Global::Scheduling).load(SeqCst) == Scheduling::Fifo as u64 + 1;
    let started = progress[unit.0].under_way?.started;
    let planned = plan.task_of(unit);
    let preempts = |other: &usize| {
        let theirs = plan.task_of(UnitId(*other));
        theirs.cpu == planned.cpu
            && theirs.fifo.get() > planned.fifo.get()
            && progress[*other].under_way.is_some_and(|own| own.started > started)
    };
    (0..plan.units.len()).filter(|_| fifo).find(preempts).map(UnitId)
}

/// The activations, by task, that had not returned by `now` (CLOCK_MONOTONIC, ns), or by the end of the run if the
/// runner has stated it; only those that satisfy `counts`. Adds the counts that their threads would have added on
/// return. Precondition: `board` is a private copy, or the runner is gone.
pub fn count_unreturned(
    plan: &Plan,
    board: Board,
    begin: Instant,
    now: i64,
    counts: impl Fn(UnitId) -> bool,
) -> Vec<Option<OngoingActivation>> {
    let progress = count_overruns(plan, board, time_base(plan, board, begin, now), counts);
    progress.into_iter().map(|own| own.under_way).collect()
}

/// Applies [`count_unreturned`] to a run that is over, whose runner could not account for all releases, and counts as
/// discarded those whose activations have not returned, or not begun.
pub fn count_discarded(plan: &Plan, board: Board, begin: Instant, now: i64) -> Vec<Option<OngoingActivation>> {
    let Some(time_base) = time_base(plan, board, begin, now) else { return vec![None; plan.units.len()] };
    let progress = count_overruns(plan, board, Some(time_base), |_| true);
    for (unit, own) in progress.iter().enumerate() {
        let unit = UnitId(unit);
        let (number, passed) = match (own.under_way, own.unbegun) {
            (Some(own), _) => {
                let behind = unbegun::waiting_behind(plan, board, time_base, unit, own.time);
                (1 + behind, own.released)
            }
            (_, Some(own)) => (own.number(), own.passed),
            _ => continue,
        };
        unbegun::count_discarded(plan, board, unit, number, passed);
        if let Some(own) = own.unbegun {
            for metric in [Metric::Wakeup, Metric::Start] {
                board.task(unit).histogram(metric).count(own.late);
            }
        }
    }
    note_reached(plan, board, time_base.instant());
    progress.into_iter().map(|own| own.under_way).collect()
}

/// Raises the simulation time that the run has reached to at least `time`.
fn note_reached(plan: &Plan, board: Board, time: Instant) {
    let reached = plan.stop.map_or(time, |stop| stop.min(time));
    let since = reached.nanos().minus(plan.start.nanos()).0.max(0);
    board.global(Global::Reached).fetch_max(since as u64, SeqCst);
}

/// Records that a run whose runner has died by `now` has reached the last activation that has begun. The runner itself
/// reports its progress only every few milliseconds.
pub fn note_last_activation(plan: &Plan, board: Board, begin: Instant, now: i64) {
    let Some(time_base) = TimeBase::at(plan, board, begin, now) else { return };
    let marks = (0..plan.units.len()).map(|unit| ActivationMark::read(board, UnitId(unit)));
    let begun = marks.filter(|mark| mark.started != 0);
    // FMU code can overwrite the time.
    let is_possible = |time: &Instant| *time >= begin && *time <= time_base.instant();
    let last = begun.map(|mark| Instant::from_words(mark.time)).filter(is_possible).max();
    last.iter().for_each(|last| note_reached(plan, board, *last));
}

/// Time base of a run at its end, or now.
fn time_base(plan: &Plan, board: Board, begin: Instant, now: i64) -> Option<TimeBase> {
    let said = board.global(Global::Ended).load(SeqCst) as i64;
    TimeBase::at(plan, board, begin, if said > 0 { said } else { now })
}

/// Adds the overruns that the threads of unreturned and unbegun activations would have counted, and returns the progress
/// of each task; without progress: those that do not satisfy `counts`.
fn count_overruns(
    plan: &Plan,
    board: Board,
    time_base: Option<TimeBase>,
    counts: impl Fn(UnitId) -> bool,
) -> Vec<TaskProgress> {
    let look = |unit| Some(unit).filter(|unit| counts(*unit)).map(|unit| task_progress(plan, board, time_base, unit));
    let progress: Vec<TaskProgress> =
        (0..plan.units.len()).map(|unit| look(UnitId(unit)).unwrap_or_default()).collect();
    for (unit, own) in progress.iter().enumerate() {
        let passed = match (own.under_way, own.unbegun) {
            (Some(own), _) => own.passed.map(|passed| (passed, own.late)),
            (_, Some(own)) => {
                own.passed.zip(time_base).map(|(passed, time_base)| (passed, time_base.since(passed.first)))
            }
            _ => None,
        };
        if let Some((passed, late)) = passed {
            unbegun::count_overruns(plan, board, UnitId(unit), passed, late);
        }
    }
    progress
}

//! The board's view of an activation that has not returned: its start, and the releases since.
//!
//! The runner counts overruns when an activation has returned. Until then they follow from its start mark and the grid
//! of its clock ([`Passed`]), here and in [`super::unbegun`]: for the table, for limits while it hangs, and for the
//! report when it never returns. Only the runner writes to the board; a copy, at the end of the run, receives the
//! counts that the runner would have written ([`settle`]).

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
    /// Its first FMI call, by the run's clock, ns: unique among the activations of a task.
    pub started: i64,
    /// Simulation time of its first FMI call.
    pub since: Instant,
    /// Time since its first FMI call, ns.
    pub running: i64,
    /// Passed releases that count and that its thread has not counted yet; `None`: none, or the clock has no period.
    pub passed: Option<Passed>,
    /// All passed releases, even if the first one ends the run.
    pub released: Option<Passed>,
    /// Present delay of the first of them, ns.
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

/// Reads the progress of a task. Each release counts once, by whichever side: all values belong to one activation.
pub fn standing(plan: &Plan, board: Board, time_base: Option<TimeBase>, task: UnitId) -> TaskProgress {
    /// Number of attempts: a thread that advances between two loads does not hang.
    const LOOKS: usize = 3;
    let cells = board.task(task);
    let mut own = mark(board, task);
    for _ in 0..LOOKS {
        let counted = cells.word(TaskWord::Overruns).load(Acquire);
        let before = std::mem::replace(&mut own, mark(board, task));
        if before == own {
            let under_way = time_base.and_then(|time_base| under_way(plan, board, time_base, task, own));
            let unbegun = time_base.filter(|_| under_way.is_none());
            let unbegun = unbegun.and_then(|time_base| Unbegun::of(plan, board, time_base, task));
            return TaskProgress { counted, under_way, unbegun };
        }
    }
    TaskProgress { counted: cells.get(TaskWord::Overruns), under_way: None, unbegun: None }
}

/// Identifies an activation of a task, and whether it has returned. The runner stores the time and that it is active, then its start,
/// then its end and that it is active no more, and then counts overruns: two equal marks around a look at the overruns mean that no
/// activation began or returned meanwhile.
fn mark(board: Board, task: UnitId) -> [u64; 6] {
    const WORDS: [TaskWord; 6] =
        [TaskWord::Active, TaskWord::StartedAt, TaskWord::FinishedAt, TaskWord::Time, TaskWord::Time1, TaskWord::Time2];
    WORDS.map(|word| board.task(task).word(word).load(Acquire))
}

/// Whether an activation has neither returned nor begun since `copy` was made of the board: its copied values are
/// consistent.
pub fn is_as_copied(board: Board, copy: Board, task: UnitId) -> bool {
    mark(board, task) == mark(copy, task)
}

fn under_way(
    plan: &Plan,
    board: Board,
    time_base: TimeBase,
    task: UnitId,
    mark: [u64; 6],
) -> Option<OngoingActivation> {
    let [active, started, finished, time @ ..] = mark;
    let (started, finished, time) = (started as i64, finished as i64, Instant::from_words(time));
    // An activation that has begun but not reached its first call still has the mark of its predecessor.
    let has_started = active == 1 && started >= finished && (time_base.first..=time_base.now).contains(&started);
    if !has_started || time < time_base.begin || time > time_base.simulation(time_base.now) {
        return None;
    }
    let planned = &plan.units[task.0];
    let counted = if finished > 0 { time_base.simulation(finished) } else { time_base.begin };
    let (now, until) = (time_base.simulation(time_base.now), plan.released_until(planned));
    let released = unbegun::interval(board, task).and_then(|interval| Passed::of(time, interval, counted, now, until));
    // The first one ends the run, and later ones are no overruns.
    let passed =
        released.map(|passed| if plan.task_of(task).overrun == Overrun::Stop { passed.first_alone() } else { passed });
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

/// The unreturned activation that keeps another from running: more urgent, on the same core, and begun later. `None`:
/// nothing of the rig does.
pub fn held_up_by(plan: &Plan, board: Board, standings: &[TaskProgress], task: UnitId) -> Option<UnitId> {
    let fifo = board.global(Global::Scheduling).load(SeqCst) == Scheduling::Fifo as u64 + 1;
    let started = standings[task.0].under_way?.started;
    let planned = plan.task_of(task);
    let holds = |other: &usize| {
        let theirs = plan.task_of(UnitId(*other));
        theirs.cpu == planned.cpu
            && theirs.fifo.get() > planned.fifo.get()
            && standings[*other].under_way.is_some_and(|own| own.started > started)
    };
    (0..plan.units.len()).filter(|_| fifo).find(holds).map(UnitId)
}

/// The activations, by task, that had not returned by `now` (CLOCK_MONOTONIC, ns), or by the end of the run if the
/// runner has stated it; only those that satisfy `counts`. Adds the counts that their threads would have added on
/// return: only to a private copy of the board, or when the runner is gone.
pub fn settle(
    plan: &Plan,
    board: Board,
    begin: Instant,
    now: i64,
    counts: impl Fn(UnitId) -> bool,
) -> Vec<Option<OngoingActivation>> {
    let standings = settled(plan, board, time_base(plan, board, begin, now), counts);
    standings.into_iter().map(|own| own.under_way).collect()
}

/// Applies [`settle`] to a run that is over, whose runner could not account for all releases: an activation that has
/// not begun by then never does, and one that has not returned is not complete.
pub fn settle_all(plan: &Plan, board: Board, begin: Instant, now: i64) -> Vec<Option<OngoingActivation>> {
    let Some(time_base) = time_base(plan, board, begin, now) else { return vec![None; plan.units.len()] };
    let standings = settled(plan, board, Some(time_base), |_| true);
    for (task, own) in standings.iter().enumerate() {
        let task = UnitId(task);
        let (number, passed) = match (own.under_way, own.unbegun) {
            (Some(own), _) => {
                let behind = unbegun::waiting_behind(plan, board, time_base, task, own.time);
                (1 + behind, own.released)
            }
            (_, Some(own)) => (own.number(), own.passed),
            _ => continue,
        };
        unbegun::count_discarded(plan, board, task, number, passed);
        if let Some(own) = own.unbegun {
            for metric in [Metric::Wakeup, Metric::Start] {
                board.task(task).histogram(metric).count(own.late);
            }
        }
    }
    note_reached(plan, board, time_base.instant());
    standings.into_iter().map(|own| own.under_way).collect()
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
    let begun = (0..plan.units.len()).map(|task| mark(board, UnitId(task))).filter(|[_, started, ..]| *started > 0);
    // FMU code can overwrite the time.
    let is_possible = |time: &Instant| *time >= begin && *time <= time_base.instant();
    let last = begun.map(|[_, _, _, time @ ..]| Instant::from_words(time)).filter(is_possible).max();
    last.iter().for_each(|last| note_reached(plan, board, *last));
}

/// Time base of a run at its end, or now.
fn time_base(plan: &Plan, board: Board, begin: Instant, now: i64) -> Option<TimeBase> {
    let said = board.global(Global::Ended).load(SeqCst) as i64;
    TimeBase::at(plan, board, begin, if said > 0 { said } else { now })
}

fn settled(
    plan: &Plan,
    board: Board,
    time_base: Option<TimeBase>,
    counts: impl Fn(UnitId) -> bool,
) -> Vec<TaskProgress> {
    let look = |task| Some(task).filter(|task| counts(*task)).map(|task| standing(plan, board, time_base, task));
    let standings: Vec<TaskProgress> =
        (0..plan.units.len()).map(|task| look(UnitId(task)).unwrap_or_default()).collect();
    for (task, own) in standings.iter().enumerate() {
        let passed = match (own.under_way, own.unbegun) {
            (Some(own), _) => own.passed.map(|passed| (passed, own.late)),
            (_, Some(own)) => {
                own.passed.zip(time_base).map(|(passed, time_base)| (passed, time_base.since(passed.first)))
            }
            _ => None,
        };
        if let Some((passed, late)) = passed {
            unbegun::count_overruns(plan, board, UnitId(task), passed, late);
        }
    }
    standings
}

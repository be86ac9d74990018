//! Activations that do not return (semantics S14): limits and `overrun = "stop"` act while they run, messages name
//! them, and one that does not return within `shutdown_timeout` after a limit is given up.
//!
//! Only the activation's own execution counts, as far as the supervisor observed it: not while the process was stopped
//! or a debugger held it, while the supervisor itself was stopped, while more urgent partitions of the rig had the
//! core, nor the execution of other tasks there. So an activation that cannot run is not mistaken for one that hangs;
//! its passed releases are overruns all the same.

use super::calls::function;
use super::time_base::TimeBase;
use super::under_way::{OngoingActivation, TaskProgress, preempted_by, task_progress};
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::{Instant, Nanos};
use vecud_fmi::Function;
use vecud_linux::process;
use vecud_plan::{Limits, Mode, OnError, Overrun, Plan, UnitId};
use vecud_record::board::promise::Break;
use vecud_record::board::{Board, FmuWord, Global, Metric, Phase, TaskWord};
use vecud_report::LimitKey;

/// A longer gap between two checks does not count: the supervisor itself was stopped, ns.
const SEEN: i64 = 1_000_000_000;
/// Activations that have run for less are not examined, ns: most have returned by then.
const LONG: i64 = 50_000_000;
/// Running time after which the first message about a clock appears while its releases pass, ns.
const FIRST_TOLD: i64 = 1_000_000_000;
/// Running time between further messages about the same activation, ns.
const TOLD: i64 = 10_000_000_000;

/// An activation that was under way at the last check.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// [`OngoingActivation::started`].
    started: i64,
    /// The activation's own running time, ns.
    ran: i64,
    /// Execution time of all other tasks of its core by the last check, ns.
    others: u64,
    /// The first limit that it exceeded, and its running time by then, ns.
    over: Option<(LimitKey, i64)>,
    /// Number of messages about its long running time.
    told: i64,
}

/// The release that ended the run because its predecessor was still running, as the rig demands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overdue {
    /// Unit of the release.
    pub unit: UnitId,
    /// Due time.
    pub time: Instant,
    /// Delay of the detection after the due time, ns.
    pub late: i64,
}

/// An activation that did not return within `shutdown_timeout` after a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenUp {
    /// Unit of the activation.
    pub unit: UnitId,
    /// The limit.
    pub limit: LimitKey,
    /// The function that the activation was in.
    pub function: Function,
    /// State of the activation at that time.
    pub under_way: OngoingActivation,
}

/// Consequence of a check of an activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HangAction {
    /// Report that the activation has been running for this many seconds.
    Tell(UnitId, OngoingActivation, i64),
    /// The activation has overrun, which ends the run.
    Overdue(Overdue),
    /// The activation's FMU is given up.
    GiveUp(GivenUp),
}

/// Watches the activations of a run.
#[derive(Clone, Debug)]
pub struct Hangs {
    looked: Option<i64>,
    units: Vec<Option<Watched>>,
    /// For each clock, whether a message named it already.
    told: Vec<bool>,
    /// The overrun that ended the run.
    pub overdue: Option<Overdue>,
    /// Each FMU at most once.
    pub given_up: Vec<GivenUp>,
    /// In virtual time: the activation under way with its progress, and the time of its first observation,
    /// CLOCK_MONOTONIC in ns.
    virtual_progress: Option<(VirtualProgress, i64)>,
}

impl Hangs {
    /// Watches a run from a state before the first check.
    pub fn new(plan: &Plan) -> Hangs {
        let units = plan.units.len();
        let (overdue, given_up, virtual_progress) = Default::default();
        Hangs { looked: None, units: vec![None; units], told: vec![false; units], overdue, given_up, virtual_progress }
    }

    /// Checks the activations of a run that begins at `begin`, in the process `pid`, at the time `now`
    /// (CLOCK_MONOTONIC, ns), and returns the consequences.
    pub fn look(
        &mut self,
        plan: &Plan,
        board: Board,
        begin: Instant,
        phase: Phase,
        pid: u32,
        now: i64,
    ) -> Vec<HangAction> {
        if plan.mode == Mode::Virtual {
            self.virtual_progress = VirtualProgress::read(plan, board).map(|progress| match self.virtual_progress {
                Some((before, since)) if before == progress => (progress, since),
                _ => (progress, now),
            });
            return Vec::new();
        }
        let passed = self.looked.replace(now).map_or(0, |looked| (now - looked).clamp(0, SEEN));
        // After the end of the run the runner waits for activations that have not returned.
        let Some(time_base) = TimeBase::now(plan, board, begin).filter(|_| phase == Phase::Running) else {
            return Vec::new();
        };
        let progress: Vec<TaskProgress> =
            (0..plan.units.len()).map(|unit| task_progress(plan, board, Some(time_base), UnitId(unit))).collect();
        let is_long = |own: &TaskProgress| own.under_way.is_some_and(|own| own.running >= LONG);
        // Files are read only where an activation may hang.
        let stands_still = progress.iter().any(is_long) && {
            let process = process::standing(pid);
            process.stopped || process.traced
        };
        let mut verdicts = Vec::new();
        for unit in (0..plan.units.len()).map(UnitId) {
            let Some(under_way) = progress[unit.0].under_way else {
                self.units[unit.0] = None;
                continue;
            };
            let runs = !stands_still && preempted_by(plan, board, &progress, unit).is_none();
            let others = || executed_by_others(plan, board, unit);
            Watched::follow(&mut self.units[unit.0], &under_way, if runs { passed } else { 0 }, others);
            self.stop_by_overrun(plan, unit, &under_way, &mut verdicts);
            if runs {
                let overruns = progress[unit.0].overruns();
                self.give_up(plan, board, unit, overruns, &under_way, &mut verdicts);
                self.tell(unit, &under_way, &mut verdicts);
            }
        }
        verdicts
    }

    fn stop_by_overrun(
        &mut self,
        plan: &Plan,
        unit: UnitId,
        under_way: &OngoingActivation,
        verdicts: &mut Vec<HangAction>,
    ) {
        let stops = plan.task_of(unit).overrun == Overrun::Stop && self.overdue.is_none();
        if let Some(passed) = under_way.passed.filter(|_| stops) {
            let overdue = Overdue { unit, time: passed.first, late: under_way.late };
            self.overdue = Some(overdue);
            verdicts.push(HangAction::Overdue(overdue));
        }
    }

    fn give_up(
        &mut self,
        plan: &Plan,
        board: Board,
        unit: UnitId,
        overruns: u64,
        under_way: &OngoingActivation,
        verdicts: &mut Vec<HangAction>,
    ) {
        let (fmu, cells) = (plan.units[unit.0].fmu, board.task(unit));
        let Some(own) = &mut self.units[unit.0] else { return };
        let demoted = cells.get(TaskWord::Demoted) == 1;
        let Some(limit) = own.hangs(&plan.limits(unit), overruns, under_way, demoted, plan.shutdown_timeout) else {
            return;
        };
        if self.given_up.iter().any(|given| plan.units[given.unit.0].fmu == fmu) {
            return;
        }
        let function = function(cells.get(TaskWord::Function)).unwrap_or(Function::ActivateModelPartition);
        let given_up = GivenUp { unit, limit, function, under_way: *under_way };
        self.given_up.push(given_up);
        verdicts.push(HangAction::GiveUp(given_up));
    }

    fn tell(&mut self, unit: UnitId, under_way: &OngoingActivation, verdicts: &mut Vec<HangAction>) {
        let (Some(own), told) = (&mut self.units[unit.0], &mut self.told[unit.0]) else { return };
        let times = under_way.running / TOLD;
        let first = under_way.running >= FIRST_TOLD && under_way.passed.is_some() && !*told;
        if first || times > own.told {
            (own.told, *told) = (times, true);
            verdicts.push(HangAction::Tell(unit, *under_way, under_way.running / 1_000_000_000));
        }
    }

    /// Records the overrun that ended the run on behalf of the runner, which could not record it: the activation did
    /// not return.
    pub fn record_overrun(&self, board: Board) {
        let word = |word: Global| board.global(word);
        if let Some(Overdue { unit, time, late }) = self.overdue
            && word(Global::OverrunTask).load(SeqCst) == 0
        {
            let times = [Global::OverrunTime, Global::OverrunTime1, Global::OverrunTime2];
            times.into_iter().zip(time.to_words()).for_each(|(place, value)| word(place).store(value, SeqCst));
            word(Global::OverrunLate).store(late.max(0) as u64, SeqCst);
            word(Global::OverrunTask).store(unit.0 as u64 + 1, SeqCst);
            board.note_break(unit, Break::Overrun, time);
        }
    }

    /// Own running time of the activation under way, ns.
    pub fn ran(&self, unit: UnitId, under_way: &OngoingActivation) -> i64 {
        self.units[unit.0].filter(|own| own.started == under_way.started).map_or(0, |own| own.ran)
    }

    /// Whether an activation under way has run long enough for the report to mention it.
    pub fn lasts(&self, unit: UnitId, under_way: &OngoingActivation) -> bool {
        let ran = self.ran(unit, under_way);
        ran >= TOLD || (ran >= FIRST_TOLD && under_way.passed.is_some())
    }

    /// An activation under way that exceeds a limit, or that ended the run by an overrun.
    pub fn over_limit(&self) -> Option<(UnitId, LimitKey)> {
        let own = |(unit, own): (usize, &Option<Watched>)| Some((UnitId(unit), own.as_ref()?.over?.0));
        let overdue = self.overdue.map(|overdue| (overdue.unit, LimitKey::Overruns));
        self.units.iter().enumerate().find_map(own).or(overdue)
    }

    /// In virtual time: time of the first observation of the activation under way in its present state, CLOCK_MONOTONIC
    /// in ns.
    pub fn no_progress_since(&self) -> Option<i64> {
        self.virtual_progress.map(|(_, since)| since)
    }

    /// Whether a check ended the run.
    pub fn end_the_run(&self, plan: &Plan) -> bool {
        self.overdue.is_some() || (!self.given_up.is_empty() && plan.on_error == OnError::Stop)
    }
}

impl Watched {
    /// Updates the observation of an activation, or begins one. `passed`: time since the last check in which it may
    /// have run, ns.
    fn follow(watched: &mut Option<Watched>, under_way: &OngoingActivation, passed: i64, others: impl Fn() -> u64) {
        let started = under_way.started;
        match watched.as_mut().filter(|own| own.started == started) {
            Some(own) if under_way.running >= LONG => {
                let before = std::mem::replace(&mut own.others, others());
                let theirs = i64::try_from(own.others.saturating_sub(before)).unwrap_or(i64::MAX);
                own.ran += passed.saturating_sub(theirs).max(0);
            }
            Some(_) => (),
            None => *watched = Some(Watched { started, ran: 0, others: others(), over: None, told: 0 }),
        }
    }

    /// The exceeded limit of an activation that did not return within `timeout` after it.
    fn hangs(
        &mut self,
        limits: &Limits,
        overruns: u64,
        under_way: &OngoingActivation,
        demoted: bool,
        timeout: Nanos,
    ) -> Option<LimitKey> {
        let limit = exceeded(limits, overruns, under_way, self.ran, demoted);
        self.over = self.over.or(limit.map(|limit| (limit, self.ran)));
        self.over.filter(|(_, at)| self.ran - at >= timeout.0).map(|(limit, _)| limit)
    }
}

/// The limit that an activation under way has exceeded. Limits on all activations count only if this one worsens the
/// figure.
fn exceeded(
    limits: &Limits,
    overruns: u64,
    under_way: &OngoingActivation,
    ran: i64,
    demoted: bool,
) -> Option<LimitKey> {
    let passed = under_way.passed.is_some();
    let execution = limits.max_execution.is_some_and(|limit| ran > limit.0 || demoted && under_way.running > limit.0);
    let overruns = passed && limits.max_overruns.is_some_and(|limit| overruns > limit);
    let latency = passed && limits.max_latency.is_some_and(|limit| under_way.late > limit.0);
    [(execution, LimitKey::Execution), (overruns, LimitKey::Overruns), (latency, LimitKey::Latency)]
        .into_iter()
        .find_map(|(is_over, key)| is_over.then_some(key))
}

/// Execution time of all other tasks of a core, ns.
fn executed_by_others(plan: &Plan, board: Board, unit: UnitId) -> u64 {
    let cpu = plan.task_of(unit).cpu;
    let others = (0..plan.units.len()).filter(|other| *other != unit.0 && plan.task_of(UnitId(*other)).cpu == cpu);
    others.fold(0, |sum, other| sum.saturating_add(board.task(UnitId(other)).histogram(Metric::Execution).sum()))
}

/// Identifies an activation in virtual time and, where equations are integrated in it, its progress.
#[derive(Clone, Copy, Debug, PartialEq)]
struct VirtualProgress {
    unit: UnitId,
    /// Activations that the unit has counted.
    activations: u64,
    /// The activation time, as words.
    time: [u64; 3],
    /// Evaluations of derivatives by all units.
    right_hand_sides: u64,
}

impl VirtualProgress {
    /// `None`: no activation is under way.
    fn read(plan: &Plan, board: Board) -> Option<VirtualProgress> {
        let units = || (0..plan.units.len()).map(UnitId);
        let unit = units().find(|unit| board.task(*unit).get(TaskWord::Active) == 1)?;
        let own = |word| board.task(unit).get(word);
        let right_hand_sides = units().map(|unit| board.task(unit).get(TaskWord::RightHandSides));
        Some(VirtualProgress {
            unit,
            activations: own(TaskWord::Activations),
            time: [TaskWord::Time, TaskWord::Time1, TaskWord::Time2].map(own),
            right_hand_sides: right_hand_sides.fold(0, u64::wrapping_add),
        })
    }
}

/// Tells the runner to end the run, or to give up an FMU.
pub fn tell_the_runner(plan: &Plan, board: Board, verdict: &HangAction) {
    match verdict {
        HangAction::Tell(..) => (),
        HangAction::Overdue(Overdue { unit, .. }) => {
            board.global(Global::OverdueTask).store(unit.0 as u64 + 1, SeqCst);
        }
        HangAction::GiveUp(GivenUp { unit, .. }) => {
            board.fmu(plan.units[unit.0].fmu).word(FmuWord::GivenUp).store(unit.0 as u64 + 1, SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use vecud_base::time::Fraction;
    use vecud_plan::schedule::Passed;

    const SECOND: i64 = 1_000_000_000;
    const LOOK: i64 = 20_000_000;

    /// An activation at 0 s of a clock of 10 ms that runs for so long.
    fn running(nanos: i64) -> OngoingActivation {
        let interval = Fraction::new(1, 100).unwrap();
        let passed = Passed::of(Instant::ZERO, interval, Instant::ZERO, Instant::from_nanos(Nanos(nanos)), None);
        let late = passed.map_or(0, |_| nanos - SECOND / 100);
        OngoingActivation {
            time: Instant::ZERO,
            started: 7,
            since: Instant::ZERO,
            running: nanos,
            passed,
            released: passed,
            late,
        }
    }

    fn limits(text: &str) -> Limits {
        serde_json::from_str(text).unwrap()
    }

    /// When it is given up, looking each 20 ms; of each of these others execute so much.
    fn given_up(limits: &Limits, others: i64) -> Option<(i64, LimitKey)> {
        let mut watched = None;
        (0..500).find_map(|look| {
            let own = running(look * LOOK);
            Watched::follow(&mut watched, &own, LOOK, || (look * others) as u64);
            let overruns = own.passed.map_or(0, |passed| passed.count);
            let limit = watched.as_mut()?.hangs(limits, overruns, &own, false, Nanos(2 * SECOND))?;
            Some((own.running / 100_000_000, limit))
        })
    }

    /// In tenths of a second: two seconds after the limit, and nobody is given up without one.
    #[test]
    fn an_activation_is_given_up_when_it_is_not_back_in_time_after_a_limit() {
        assert_eq!(given_up(&limits("{}"), 0), None);
        assert_eq!(given_up(&limits(r#"{"max_overruns": 0}"#), 0), Some((20, LimitKey::Overruns)));
        assert_eq!(given_up(&limits(r#"{"max_overruns": 200}"#), 0), Some((40, LimitKey::Overruns)));
        assert_eq!(given_up(&limits(r#"{"max_latency": 1000000000}"#), 0), Some((30, LimitKey::Latency)));
        assert_eq!(given_up(&limits(r#"{"max_execution": 500000000}"#), 0), Some((25, LimitKey::Execution)));
    }

    #[test]
    fn one_that_others_keep_from_running_does_not_hang() {
        let overruns = limits(r#"{"max_overruns": 0}"#);
        assert_eq!(given_up(&overruns, LOOK), None, "they have the core all the time");
        let half = given_up(&overruns, LOOK / 2).unwrap();
        assert!((39..=41).contains(&half.0), "twice as long, {half:?}");
    }

    /// What other activations have done before is not this one's.
    #[test]
    fn limits_that_were_exceeded_before_ask_nothing_of_an_activation_in_time() {
        let own = running(SECOND / 200);
        let limits = limits(r#"{"max_overruns": 0, "max_latency": 1, "max_execution": 1000000000}"#);
        assert_eq!(exceeded(&limits, 77, &own, 0, true), None);
        assert_eq!(exceeded(&limits, 78, &running(SECOND / 50), 0, true), Some(LimitKey::Overruns));
    }

    proptest! {
        /// Whatever is seen, and when: nobody is given up who has not run for the timeout since it was seen first.
        #[test]
        fn nobody_is_given_up_early(
            looks in prop::collection::vec((0..SEEN, 0..SEEN), 1..40), timeout in 1..5 * SECOND, overruns in 0u64..9,
        ) {
            let limits = Limits { max_overruns: Some(overruns), ..Limits::default() };
            let (mut watched, mut now, mut executed, mut own) = (None, 0, 0, 0);
            for (passed, others) in looks {
                now += passed;
                own += (passed - others).max(0);
                executed += others;
                let under_way = running(now);
                Watched::follow(&mut watched, &under_way, passed, || executed as u64);
                let hangs = watched.as_mut().unwrap().hangs(&limits, 9, &under_way, false, Nanos(timeout));
                prop_assert!(hangs.is_none() || own >= timeout);
            }
        }
    }
}

//! Activations that do not return (semantics S14): limits and `overrun = "stop"` act while they run, somebody hears of them, and one
//! that is not back within `shutdown_timeout` after a limit is given up.
//!
//! Judged is what an activation has run itself, as far as the supervisor has seen it: not while the process was stopped or a
//! debugger had it, while the supervisor itself was stopped, while more urgent partitions of the rig had the core, nor what
//! others have executed there. So one that is kept from running is not taken for one that hangs; its releases that pass are
//! overruns all the same.

use super::calls::function;
use super::time_base::TimeBase;
use super::under_way::{OngoingActivation, TaskProgress, held_up_by, standing};
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::{Instant, Nanos};
use vecud_fmi::Function;
use vecud_linux::process;
use vecud_plan::{Limits, Mode, OnError, Overrun, Plan, UnitId};
use vecud_record::board::promise::Break;
use vecud_record::board::{Board, FmuWord, Global, Metric, Phase, TaskWord};
use vecud_report::LimitKey;

/// More than this between two looks was not seen to pass: the supervisor was stopped meanwhile, ns.
const SEEN: i64 = 1_000_000_000;
/// An activation that runs for less is looked at no further, ns: most have returned by then.
const LONG: i64 = 50_000_000;
/// Somebody hears of an activation that runs for so long while its releases pass, ns: once for each clock ...
const FIRST_TOLD: i64 = 1_000_000_000;
/// ... and of every one each time that it has run for so long again, ns.
const TOLD: i64 = 10_000_000_000;

/// An activation that was seen under way at the last look.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// [`OngoingActivation::started`].
    started: i64,
    /// What it has run by itself, ns.
    ran: i64,
    /// What all other tasks of its core had executed by the last look, ns.
    others: u64,
    /// The first limit that it has exceeded, and what it had run by then, ns.
    over: Option<(LimitKey, i64)>,
    /// How often it was told of because it runs for so long.
    told: i64,
}

/// The release that has ended the run, since its predecessor was still running and the rig says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overdue {
    /// Whose release it was.
    pub task: UnitId,
    /// When it was due.
    pub time: Instant,
    /// How late that was seen, ns.
    pub late: i64,
}

/// An activation that did not return within `shutdown_timeout` after a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenUp {
    /// Whose activation it was.
    pub task: UnitId,
    /// The limit.
    pub limit: LimitKey,
    /// The function that it was in.
    pub function: Function,
    /// The activation, as it was then.
    pub under_way: OngoingActivation,
}

/// What there is to be done about an activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HangAction {
    /// Somebody should hear that it runs, for so many seconds by now.
    Tell(UnitId, OngoingActivation, i64),
    /// It has overrun, and the run ends.
    Overdue(Overdue),
    /// Its FMU is given up.
    GiveUp(GivenUp),
}

/// Watches the activations of a run.
#[derive(Clone, Debug)]
pub struct Hangs {
    looked: Option<i64>,
    tasks: Vec<Option<Watched>>,
    /// The clocks that were told of already.
    told: Vec<bool>,
    /// What has ended the run.
    pub overdue: Option<Overdue>,
    /// Each FMU at most once.
    pub given_up: Vec<GivenUp>,
    /// In virtual time: the activation under way and how far it is, and since when it was seen there, CLOCK_MONOTONIC in ns.
    stands: Option<([u64; 6], i64)>,
}

impl Hangs {
    /// Nothing was seen yet.
    pub fn new(plan: &Plan) -> Hangs {
        let tasks = plan.units.len();
        let (overdue, given_up, stands) = Default::default();
        Hangs { looked: None, tasks: vec![None; tasks], told: vec![false; tasks], overdue, given_up, stands }
    }

    /// Looks at the activations of a run that begins at `begin`, in the process `pid`, `now` (CLOCK_MONOTONIC, ns), and says what is
    /// to be done.
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
            self.stands = mark(plan, board).map(|mark| match self.stands {
                Some((before, since)) if before == mark => (mark, since),
                _ => (mark, now),
            });
            return Vec::new();
        }
        let passed = self.looked.replace(now).map_or(0, |looked| (now - looked).clamp(0, SEEN));
        // From then on the runner waits for what has not returned.
        let Some(time_base) = TimeBase::now(plan, board, begin).filter(|_| phase == Phase::Running) else {
            return Vec::new();
        };
        let standings: Vec<TaskProgress> =
            (0..plan.units.len()).map(|task| standing(plan, board, Some(time_base), UnitId(task))).collect();
        let is_long = |own: &TaskProgress| own.under_way.is_some_and(|own| own.running >= LONG);
        // What is read from files is read only where somebody may be hanging.
        let stands_still = standings.iter().any(is_long) && {
            let standing = process::standing(pid);
            standing.stopped || standing.traced
        };
        let mut verdicts = Vec::new();
        for task in (0..plan.units.len()).map(UnitId) {
            let Some(under_way) = standings[task.0].under_way else {
                self.tasks[task.0] = None;
                continue;
            };
            let runs = !stands_still && held_up_by(plan, board, &standings, task).is_none();
            let others = || executed_by_others(plan, board, task);
            Watched::follow(&mut self.tasks[task.0], &under_way, if runs { passed } else { 0 }, others);
            self.stop_by_overrun(plan, task, &under_way, &mut verdicts);
            if runs {
                let overruns = standings[task.0].overruns();
                self.give_up(plan, board, task, overruns, &under_way, &mut verdicts);
                self.tell(task, &under_way, &mut verdicts);
            }
        }
        verdicts
    }

    fn stop_by_overrun(
        &mut self,
        plan: &Plan,
        task: UnitId,
        under_way: &OngoingActivation,
        verdicts: &mut Vec<HangAction>,
    ) {
        let stops = plan.units[task.0].overrun == Overrun::Stop && self.overdue.is_none();
        if let Some(passed) = under_way.passed.filter(|_| stops) {
            let overdue = Overdue { task, time: passed.first, late: under_way.late };
            self.overdue = Some(overdue);
            verdicts.push(HangAction::Overdue(overdue));
        }
    }

    fn give_up(
        &mut self,
        plan: &Plan,
        board: Board,
        task: UnitId,
        overruns: u64,
        under_way: &OngoingActivation,
        verdicts: &mut Vec<HangAction>,
    ) {
        let (planned, cells) = (&plan.units[task.0], board.task(task));
        let Some(own) = &mut self.tasks[task.0] else { return };
        let demoted = cells.get(TaskWord::Demoted) == 1;
        let Some(limit) = own.hangs(&planned.limits, overruns, under_way, demoted, plan.shutdown_timeout) else {
            return;
        };
        if self.given_up.iter().any(|given| plan.units[given.task.0].fmu == planned.fmu) {
            return;
        }
        let function = function(cells.get(TaskWord::Function)).unwrap_or(Function::ActivateModelPartition);
        let given_up = GivenUp { task, limit, function, under_way: *under_way };
        self.given_up.push(given_up);
        verdicts.push(HangAction::GiveUp(given_up));
    }

    fn tell(&mut self, task: UnitId, under_way: &OngoingActivation, verdicts: &mut Vec<HangAction>) {
        let (Some(own), told) = (&mut self.tasks[task.0], &mut self.told[task.0]) else { return };
        let times = under_way.running / TOLD;
        let first = under_way.running >= FIRST_TOLD && under_way.passed.is_some() && !*told;
        if first || times > own.told {
            (own.told, *told) = (times, true);
            verdicts.push(HangAction::Tell(task, *under_way, under_way.running / 1_000_000_000));
        }
    }

    /// The run is over: the overrun that has ended it is that of an activation that did not return, so that the runner could not
    /// note it.
    pub fn settle(&self, board: Board) {
        let word = |word: Global| board.global(word);
        if let Some(Overdue { task, time, late }) = self.overdue
            && word(Global::OverrunTask).load(SeqCst) == 0
        {
            let times = [Global::OverrunTime, Global::OverrunTime1, Global::OverrunTime2];
            times.into_iter().zip(time.to_words()).for_each(|(place, value)| word(place).store(value, SeqCst));
            word(Global::OverrunLate).store(late.max(0) as u64, SeqCst);
            word(Global::OverrunTask).store(task.0 as u64 + 1, SeqCst);
            board.note_break(task, Break::Overrun, time);
        }
    }

    /// What the activation of a task that is under way has run by itself, ns.
    pub fn ran(&self, task: UnitId, under_way: &OngoingActivation) -> i64 {
        self.tasks[task.0].filter(|own| own.started == under_way.started).map_or(0, |own| own.ran)
    }

    /// Whether an activation under way has run by itself for so long that somebody who reads of the run should know it.
    pub fn lasts(&self, task: UnitId, under_way: &OngoingActivation) -> bool {
        let ran = self.ran(task, under_way);
        ran >= TOLD || (ran >= FIRST_TOLD && under_way.passed.is_some())
    }

    /// An activation under way that is over a limit, also one that has ended the run by an overrun.
    pub fn over_limit(&self) -> Option<(UnitId, LimitKey)> {
        let own = |(task, own): (usize, &Option<Watched>)| Some((UnitId(task), own.as_ref()?.over?.0));
        let overdue = self.overdue.map(|overdue| (overdue.task, LimitKey::Overruns));
        self.tasks.iter().enumerate().find_map(own).or(overdue)
    }

    /// In virtual time: since when the activation under way was seen where it is, CLOCK_MONOTONIC in ns.
    pub fn stands_since(&self) -> Option<i64> {
        self.stands.map(|(_, since)| since)
    }

    /// Whether the run was to end because of what was seen.
    pub fn end_the_run(&self, plan: &Plan) -> bool {
        self.overdue.is_some() || (!self.given_up.is_empty() && plan.on_error == OnError::Stop)
    }
}

impl Watched {
    /// An activation was seen again, or is another one. `passed`: since the last look, in which it may have run, ns.
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

    /// The limit that it is over and within `timeout` of which it was not back.
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

/// The limit that an activation under way has exceeded. Of those that are about all activations, only where this one has made it
/// worse.
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

/// What all other tasks of a core have executed, ns.
fn executed_by_others(plan: &Plan, board: Board, task: UnitId) -> u64 {
    let cpu = plan.units[task.0].cpu;
    let others = (0..plan.units.len()).filter(|other| *other != task.0 && plan.units[*other].cpu == cpu);
    others.fold(0, |sum, other| sum.saturating_add(board.task(UnitId(other)).histogram(Metric::Execution).sum()))
}

/// What tells one activation in virtual time from another, and, where equations are integrated in it, from itself when it has come
/// further.
fn mark(plan: &Plan, board: Board) -> Option<[u64; 6]> {
    let task = (0..plan.units.len()).find(|task| board.task(UnitId(*task)).get(TaskWord::Active) == 1)?;
    let [activations, time @ ..] = [TaskWord::Activations, TaskWord::Time, TaskWord::Time1, TaskWord::Time2]
        .map(|word| board.task(UnitId(task)).get(word));
    let tasks = (0..plan.units.len()).map(|task| board.task(UnitId(task)).get(TaskWord::RightHandSides));
    Some([task as u64, activations, time[0], time[1], time[2], tasks.fold(0, u64::wrapping_add)])
}

/// Tells the runner to end the run, or to give up an FMU.
pub fn tell_the_runner(plan: &Plan, board: Board, verdict: &HangAction) {
    match verdict {
        HangAction::Tell(..) => (),
        HangAction::Overdue(Overdue { task, .. }) => {
            board.global(Global::OverdueTask).store(task.0 as u64 + 1, SeqCst);
        }
        HangAction::GiveUp(GivenUp { task, .. }) => {
            board.fmu(plan.units[task.0].fmu).word(FmuWord::GivenUp).store(task.0 as u64 + 1, SeqCst);
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

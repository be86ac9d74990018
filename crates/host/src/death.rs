//! Cause of the end of the runner's process: whose code was running, and where.

use super::calls::{CallLocation, function};
use super::facts::RunFacts;
use super::hangs::GivenUp;
use super::process::Killed;
use super::tasks;
use super::unbegun;
use super::under_way::OngoingActivation;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::plain::plain;
use vecud_base::time::Nanos;
use vecud_fmi::Function;
use vecud_linux::crash::FAULTS;
use vecud_linux::process::signal_name;
use vecud_plan::{FmuId, Mode, Plan, UnitId};
use vecud_record::board::{Board, Global, OutsideCall, Phase, TaskWord};
use vecud_report::{FmuStatus, Kind, LimitKey, Problem, Severity, Subject};

/// An end of the runner's process that was not its own decision.
pub struct ExitCause {
    /// The instance whose code caused it; `None`: none, or unknown.
    pub culprit: Option<FmuId>,
    /// Status of the culprit after it.
    pub status: FmuStatus,
    /// The problem for the report.
    pub problem: Problem,
    /// The process died while unloading libraries, after a complete run.
    pub is_after_the_run: bool,
}

impl ExitCause {
    fn of(culprit: Option<FmuId>, status: FmuStatus, problem: Problem) -> ExitCause {
        ExitCause { culprit, status, problem, is_after_the_run: false }
    }
}

/// Makes a problem; `text` begins with the subject.
fn died(by_fmu_code: bool, subject: Subject, text: String) -> Problem {
    Problem::failure(subject, Kind::Died { by_fmu_code, text })
}

fn subject(plan: &Plan, fmu: FmuId) -> Subject {
    Subject::Fmu(plan.fmus[fmu.0].name.clone())
}

/// Cause of the runner's end, unless it ended regularly. A crash while libraries are unloaded is no failure of the run,
/// which is complete by then.
pub fn death(plan: &Plan, board: Board, facts: &RunFacts) -> Option<ExitCause> {
    let death = any_death(plan, board, facts)?;
    let is_after_the_run = facts.phase == Phase::Done && board.outside_call().function == OutsideCall::UNLOADING;
    let severity = match is_after_the_run {
        true if !facts.strict => Severity::Finding,
        _ => Severity::Failure,
    };
    Some(ExitCause { is_after_the_run, problem: Problem { severity, ..death.problem }, ..death })
}

fn any_death(plan: &Plan, board: Board, facts: &RunFacts) -> Option<ExitCause> {
    let global = |word: Global| board.global(word).load(SeqCst);
    if let Some(unit) = board.named_task(global(Global::HungTask)) {
        if let (Some(function), Some(own)) =
            (function(board.task(unit).get(TaskWord::Function)), facts.unreturned[unit.0])
        {
            let fmu = plan.units[unit.0].fmu;
            let limit =
                facts.hangs.given_up.iter().find(|given| plan.units[given.unit.0].fmu == fmu).map(|own| own.limit);
            let problem = hung(plan, facts, unit, function, &own, limit);
            return Some(ExitCause::of(Some(fmu), FmuStatus::Hung, problem));
        }
        let message = format!(
            "{} and did not return within {} s after the end of the run (rig: shutdown_timeout); the FMU's code hangs",
            at_work(plan, board, unit),
            plan.shutdown_timeout.seconds()
        );
        let subject = match function(board.task(unit).get(TaskWord::Function)) {
            Some(_) => tasks::subject(plan, unit),
            None => Subject::Run,
        };
        let problem = died(true, subject, message);
        return Some(ExitCause::of(Some(plan.units[unit.0].fmu), FmuStatus::Hung, problem));
    }
    if let Some(unit) = board.named_task(global(Global::StarvedTask)) {
        let cpu = plan.task_of(unit).cpu;
        let has_begun = |own: &UnitId| board.task(*own).get(TaskWord::Activations) > 0;
        let of_core = (0..plan.units.len()).map(UnitId).filter(|own| plan.task_of(*own).cpu == cpu && has_begun(own));
        let last = of_core.map(|own| unbegun::last_time(board, own)).max().unwrap_or(plan.start);
        let message = format!(
            "{} got no core: other programs of the same or a higher priority had core {cpu}, on which nothing of the rig has begun since \
             {:.3} s, and it was not through within {} s after the \
             end of the run (rig: shutdown_timeout); keep them off that core, or say another one (cpus in [host]) or a higher \
             priority (fifo_priorities in [host])",
            plain(&plan.told_name(&plan.units[unit.0])),
            last.seconds(),
            plan.shutdown_timeout.seconds()
        );
        let problem = died(false, tasks::subject(plan, unit), message);
        return Some(ExitCause::of(None, FmuStatus::Aborted, problem));
    }
    if let Some(fmu) = board.named_fmu(global(Global::HungFmu)) {
        let function = outside_place(plan, board, Some(fmu), board.outside_call().function);
        let message = format!(
            "fmu `{}` was {function}, which somebody had asked for, and did not return within {} s after the end of the \
             run (rig: shutdown_timeout); the FMU's code hangs",
            plan.fmus[fmu.0].name,
            plan.shutdown_timeout.seconds()
        );
        let problem = died(true, subject(plan, fmu), message);
        return Some(ExitCause::of(Some(fmu), FmuStatus::Hung, problem));
    }
    if let Some(Killed::Overdue(place)) = facts.killed {
        return Some(overdue(plan, board, facts, place));
    }
    let signal = signal_name(facts.exit_status);
    let left_early = global(Global::ExitCalled) == 1 || (signal.is_none() && facts.phase < Phase::Done);
    if signal.is_none() && !left_early {
        return None;
    }
    if facts.killed.is_none() && facts.exit_status.signal() == Some(nix::sys::signal::Signal::SIGKILL as i32) {
        let message =
            "the process of the FMUs was ended from outside by SIGKILL: by somebody, or by the kernel for want of \
                       memory (dmesg tells)"
                .to_owned();
        return Some(ExitCause::of(None, FmuStatus::Aborted, died(false, Subject::Run, message)));
    }
    // A signal from another process has nothing to do with the code that was running or with the maker of the thread.
    if let (None, Some(signal), Some(sender)) = (facts.killed, &signal, global(Global::CrashSender).checked_sub(1)) {
        let by =
            if sender == 0 { "a process of another PID namespace".to_owned() } else { format!("process {sender}") };
        let message = format!("the process of the FMUs was ended from outside by {signal} ({by})");
        return Some(ExitCause::of(None, FmuStatus::Aborted, died(false, Subject::Run, message)));
    }
    let how = match &signal {
        Some(_) if facts.killed == Some(Killed::AskedTwice) => {
            "was ended by force (a second signal, or a stop by force, asked for it)".to_owned()
        }
        Some(_) if facts.killed == Some(Killed::Late) => format!(
            "was ended by force, since it did not return within {} s after the end of the run (rig: shutdown_timeout)",
            plan.shutdown_timeout.seconds()
        ),
        Some(signal) => match global(Global::CrashStack) {
            0 => format!("crashed ({signal})"),
            kib => format!("overflowed its stack of {kib} KiB ({signal}; {})", more_stack(plan, board)),
        },
        None => format!("called exit({})", facts.exit_status.code().unwrap_or(0)),
    };
    let status = match facts.killed {
        Some(Killed::Late) => FmuStatus::Hung,
        _ => FmuStatus::Crashed,
    };
    // The supervisor did not end it: the code itself did.
    let by_itself = signal.is_none() || facts.killed.is_none();
    // While partitions run, only a reconfiguration runs FMU code outside of a task.
    let outside = board.outside_call();
    let in_a_call = outside.function != 0
        || (0..plan.units.len()).any(|unit| board.task(UnitId(unit)).get(TaskWord::Function) != 0);
    // `_exit` leaves no trace of its thread, nor does a fault where FMU code has removed our handlers. If none of our
    // threads was in FMU code, it was another thread.
    let unseen = !in_a_call
        && match facts.exit_status.signal() {
            Some(signal) => FAULTS.contains(&signal) && global(Global::CrashSignal) == 0,
            None => global(Global::ExitCalled) == 0,
        };
    if facts.killed.is_none() && (global(Global::CrashForeign) == 1 || unseen) {
        return Some(in_a_thread_of_theirs(plan, board, status, &how));
    }
    let reconfigures = facts.phase == Phase::Running && outside.function != 0;
    let unit = board.named_task(global(Global::CrashTask)).or_else(|| match reconfigures || outside.function != 0 {
        true => None,
        false => running(plan, board, facts.phase),
    });
    Some(match unit {
        Some(unit) => {
            let (name, at_work) = (&plan.fmus[plan.units[unit.0].fmu.0].name, at_work(plan, board, unit));
            let (fmu, words) = (plan.units[unit.0].fmu, format!("fmu `{name}` {how}: {at_work}"));
            ExitCause::of(Some(fmu), status, died(by_itself, subject(plan, fmu), words))
        }
        None => match outside.fmu {
            _ if outside.function == OutsideCall::UNLOADING => {
                let culprit = one(&whose_code(plan, board));
                let who = culprit.map_or("the process of the FMUs".to_owned(), |fmu| named(plan, &[fmu]));
                let place = outside_place(plan, board, culprit, outside.function);
                let words = format!("the run was over, and {who} {how}: {place}");
                let about = culprit.map_or(Subject::Run, |fmu| subject(plan, fmu));
                ExitCause::of(culprit, status, died(by_itself, about, words))
            }
            Some(fmu) if facts.phase != Phase::Running || reconfigures => {
                let place = outside_place(plan, board, Some(fmu), outside.function);
                let words = format!("fmu `{}` {how}: {place}", plan.fmus[fmu.0].name);
                ExitCause::of(Some(fmu), status, died(by_itself, subject(plan, fmu), words))
            }
            _ => {
                let words = format!("the runner {how} outside of FMU code; please report this");
                ExitCause::of(None, status, died(false, Subject::Run, words))
            }
        },
    })
}

/// Advice for more stack after a stack overflow of FMU code.
fn more_stack(plan: &Plan, board: Board) -> &'static str {
    // In real time what is no task runs on the main thread.
    let is_own = || board.named_task(board.global(Global::CrashTask).load(SeqCst)).is_some();
    match plan.mode == Mode::Virtual || is_own() {
        true => "stack_kib in [host] of the rig makes it larger, or `ulimit -s`",
        false => "`ulimit -s` makes it larger",
    }
}

/// An activation that did not return after a limit, or after the end of the run, had asked for it.
fn hung(
    plan: &Plan,
    facts: &RunFacts,
    unit: UnitId,
    function: Function,
    own: &OngoingActivation,
    limit: Option<LimitKey>,
) -> Problem {
    let kind = Kind::Hung {
        function: told(plan, plan.units[unit.0].fmu, function).to_owned(),
        time_s: own.time.seconds(),
        since_s: own.since.seconds(),
        running: own.running.max(0) as u64,
        over: limit,
        timeout_s: plan.shutdown_timeout.seconds(),
        recorded_s: recorded(plan, facts, own),
    };
    Problem::failure(tasks::subject(plan, unit), kind)
}

/// Time from which recordings lack rows because of an activation, s: the earliest activation under way, since
/// recordings wait for all.
fn recorded(plan: &Plan, facts: &RunFacts, own: &OngoingActivation) -> Option<f64> {
    let earliest = facts.unreturned.iter().flatten().map(|own| own.time).chain([own.time]).min();
    earliest.filter(|_| !plan.signals.is_empty()).map(|time| time.seconds())
}

/// Problems of a run that goes on: activations that last and were not given up.
pub fn lasting(plan: &Plan, board: Board, facts: &RunFacts) -> Vec<Problem> {
    let is_given_up = |unit: &UnitId| facts.hangs.given_up.iter().any(|given| given.unit == *unit);
    let under_way = |unit: UnitId| Some((unit, facts.unreturned[unit.0].filter(|own| facts.hangs.lasts(unit, own))?));
    let units = (0..plan.units.len()).map(UnitId).filter(|unit| facts.run_continues && !is_given_up(unit));
    let problem = |(unit, own): (UnitId, OngoingActivation)| {
        let kind = Kind::Lasts {
            function: name(plan, board, unit).to_owned(),
            time_s: own.time.seconds(),
            running: own.running.max(0) as u64,
            found: own.passed.map_or(0, |passed| passed.count),
            recorded_s: recorded(plan, facts, &own),
        };
        Problem::warning(tasks::subject(plan, unit), kind)
    };
    units.filter_map(under_way).map(problem).collect()
}

/// Problems of FMUs that were given up without ending the process.
pub fn given_up(plan: &Plan, facts: &RunFacts, died: Option<&ExitCause>) -> Vec<Problem> {
    let culprit = died.and_then(|died| died.culprit);
    let others = facts.hangs.given_up.iter().filter(|own| Some(plan.units[own.unit.0].fmu) != culprit);
    let problem = |own: &GivenUp| {
        let still = facts.unreturned[own.unit.0].filter(|last| last.started == own.under_way.started);
        hung(plan, facts, own.unit, own.function, &still.unwrap_or(own.under_way), Some(own.limit))
    };
    others.map(problem).collect()
}

/// A crash on a thread not made by vecud: the activation under way at the time is unrelated.
fn in_a_thread_of_theirs(plan: &Plan, board: Board, status: FmuStatus, how: &str) -> ExitCause {
    let fmus = whose_code(plan, board);
    let culprit = one(&fmus);
    let names = named(plan, &fmus);
    let message = match culprit {
        Some(_) => format!("{names} {how}, in a thread that its code has made"),
        None => {
            format!("FMU code {how}, in a thread that it has made itself: it is not known which of {names} has made it")
        }
    };
    let about = culprit.map_or(Subject::Run, |fmu| subject(plan, fmu));
    ExitCause::of(culprit, status, died(true, about, message))
}

/// The candidates for the code that was running at the end: FMUs that share a library cannot be told apart, and where
/// nothing is known all are candidates.
fn whose_code(plan: &Plan, board: Board) -> Vec<FmuId> {
    // Destructors may call code that belongs to no FMU.
    let unloaded =
        Some(board.outside_call()).filter(|call| call.function == OutsideCall::UNLOADING).and_then(|call| call.fmu);
    let first = unloaded.or(board.named_fmu(board.global(Global::CrashCode).load(SeqCst)));
    let is_its = |fmu: &FmuId| first.is_none_or(|first| plan.fmus[fmu.0].library == plan.fmus[first.0].library);
    (0..plan.fmus.len()).map(FmuId).filter(is_its).collect()
}

fn one(fmus: &[FmuId]) -> Option<FmuId> {
    if let [one] = fmus { Some(*one) } else { None }
}

/// ``fmu `a` ``, or `` `a`, `b` ``.
fn named(plan: &Plan, fmus: &[FmuId]) -> String {
    let names: Vec<String> = fmus.iter().map(|fmu| format!("`{}`", plan.fmus[fmu.0].name)).collect();
    if fmus.len() == 1 { format!("fmu {}", names[0]) } else { names.join(", ") }
}

/// A call that did not return within the rig's `call_timeout` or its substitute.
fn overdue(plan: &Plan, board: Board, facts: &RunFacts, place: CallLocation) -> ExitCause {
    let RunFacts { phase, call_limit, .. } = *facts;
    let limit = plan.call_timeout.map_or(0.0, Nanos::seconds);
    let culprit = match place {
        CallLocation::Outside { fmu, .. } => fmu.or_else(|| one(&whose_code(plan, board))),
        CallLocation::Activation(unit) => Some(plan.units[unit.0].fmu),
        CallLocation::Stopped => board
            .outside_call()
            .fmu
            .filter(|_| board.outside_call().function != 0)
            .or_else(|| running(plan, board, phase).map(|unit| plan.units[unit.0].fmu)),
    };
    let what = has_been(plan, board, phase, place);
    let message = format!("{what} for {limit} s, and the run was ended ({call_limit})");
    let about = culprit.filter(|_| place != CallLocation::Stopped).map_or(Subject::Run, |fmu| subject(plan, fmu));
    ExitCause::of(culprit, FmuStatus::Hung, died(true, about, message))
}

/// Describes a long stay of the runner in this phase: `fmu a has been in fmi3Terminate`.
pub fn has_been(plan: &Plan, board: Board, phase: Phase, place: CallLocation) -> String {
    let of_task = |unit: UnitId| {
        let clock = match plan.units[unit.0].clock() {
            Some(_) => format!(" for clock {}", plain(&plan.units[unit.0].name)),
            None => String::new(),
        };
        let name = name(plan, board, unit);
        let (fmu, time) = (&plan.fmus[plan.units[unit.0].fmu.0].name, board.task(unit).time().seconds());
        format!("fmu `{fmu}` has been in {name}{clock} at {time} s")
    };
    match place {
        CallLocation::Outside { fmu, function } => match fmu.or_else(|| one(&whose_code(plan, board))) {
            Some(fmu) => {
                let place = outside_place(plan, board, Some(fmu), function);
                format!("fmu `{}` has been {place}", plan.fmus[fmu.0].name)
            }
            None => format!("the process of the FMUs has been {}", outside_place(plan, board, None, function)),
        },
        CallLocation::Activation(unit) => of_task(unit),
        CallLocation::Stopped => {
            let outside = board.outside_call();
            let inside = match (outside.fmu.filter(|_| outside.function != 0), running(plan, board, phase)) {
                (Some(fmu), _) => {
                    let place = outside_place(plan, board, Some(fmu), outside.function);
                    format!(" (fmu `{}` was {place})", plan.fmus[fmu.0].name)
                }
                (None, Some(unit)) => format!(" ({})", at_work(plan, board, unit)),
                (None, None) => String::new(),
            };
            format!(
                "the process of the FMUs has been stopped by a signal (SIGSTOP or the like; SIGCONT resumes it){inside}"
            )
        }
    }
}

/// `in fmi3Terminate`, in the terms of the FMU's version of the standard; for an unknown FMU, of the newest version.
fn outside_place(plan: &Plan, board: Board, fmu: Option<FmuId>, word: u64) -> String {
    let name = |function: Function| fmu.map_or(function.name(), |fmu| told(plan, fmu, function));
    match word {
        OutsideCall::LOADING => format!("in the constructors of its library, or in {}", name(Function::GetVersion)),
        OutsideCall::UNLOADING => {
            let fmus = whose_code(plan, board);
            match one(&fmus) {
                Some(_) => "in the destructors of its library".to_owned(),
                None => format!("in the destructors of a library (of {})", named(plan, &fmus)),
            }
        }
        _ => format!("in {}", function(word).map_or("between two calls", name)),
    }
}

/// The task whose FMU code was running, or was running last.
fn running(plan: &Plan, board: Board, phase: Phase) -> Option<UnitId> {
    let units = || (0..plan.units.len()).map(UnitId);
    units().find(|unit| board.task(*unit).get(TaskWord::Function) != 0).or_else(|| {
        units()
            .filter(|unit| phase == Phase::Running && board.task(*unit).get(TaskWord::StartedAt) > 0)
            .max_by_key(|unit| board.task(*unit).get(TaskWord::StartedAt))
    })
}

/// Name of the function in this FMU's version of the standard and interface type.
fn told(plan: &Plan, fmu: FmuId, function: Function) -> &'static str {
    function.told_of(plan.fmus[fmu.0].abi, plan.fmus[fmu.0].runs_as())
}

/// `clock task_10ms was in fmi3ActivateModelPartition at 0.25 s`.
fn at_work(plan: &Plan, board: Board, unit: UnitId) -> String {
    let cells = board.task(unit);
    let time = cells.time().seconds();
    let who = plain(&plan.told_name(&plan.units[unit.0]));
    match function(cells.get(TaskWord::Function)) {
        Some(_) => format!("{who} was in {} at {time} s", name(plan, board, unit)),
        None => format!("no FMU code was running; last was {who} at {time} s"),
    }
}

/// Name of the task's present function in its FMU's version of the standard.
fn name(plan: &Plan, board: Board, unit: UnitId) -> &'static str {
    function(board.task(unit).get(TaskWord::Function))
        .map_or("its code", |function| told(plan, plan.units[unit.0].fmu, function))
}

//! Shared memory and exit status → [`Run`]: what was measured, how each instance ended, and what went wrong.

use super::Prepared;
use super::calls::Place;
use super::causes;
use super::findings::{self, irregularities, stopped_by_overrun, unusable};
use super::machine::Machine;
use super::memory::Memory;
use super::offspring::{self, Left};
use super::progress::scheduling;
use super::promise;
use super::recorder::Recorder;
use super::schedulability;
use super::stimuli;
use super::threads::Threads;
use super::watch::Killed;
use crate::ffi::{Function, Status};
use crate::fmu::description::Abi;
use crate::plain::plain;
use crate::plan::schedulability::table;
use crate::plan::{FmuId, Mode, Plan, Release, TaskId, TaskPlan};
use crate::priority::FifoPriority;
use crate::record::board::{Board, FmuWord, Global, Metric, OutsideCall, Phase, TaskWord};
use crate::record::histogram::Histogram;
use crate::report::{
    ClockResult, DatagramResult, End, FmuResult, FmuStatus, Host, LockResult, Problem, Run, Scheduling, Severity,
    TraceResult,
};
use crate::sys::crash::FAULTS;
use crate::sys::process::signal_name;
use crate::time::{Fraction, Instant, Nanos};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is known besides the shared memory.
pub struct Facts {
    /// How the runner's process ended.
    pub status: ExitStatus,
    /// Why we have ended it, if we have.
    pub killed: Option<Killed>,
    /// When the run began.
    pub started: SystemTime,
    /// When the runner was seen to have ended, CLOCK_MONOTONIC in ns.
    pub gone: i64,
    /// Whether offences against the standard fail the run.
    pub strict: bool,
    /// Samples that came after their row.
    pub late_samples: u64,
    /// For each task that datagrams activate: how many of them the kernel has thrown away.
    pub dropped: Vec<(TaskId, u64)>,
    /// With several runs: which it is.
    pub repetition: Option<u32>,
    /// For each stimulus: what is wrong with its file.
    pub stimuli: Vec<stimuli::Fault>,
    /// The machine.
    pub machine: Machine,
    /// What has become of the runner's threads.
    pub threads: Threads,
    /// Processes that FMU code has left behind.
    pub left: Vec<Left>,
    /// The runner's memory.
    pub memory: Memory,
    /// Whether all of them could be ended.
    pub none_left: bool,
}

/// Puts the run together.
pub fn collect(prepared: &Prepared, board: Board, recorder: &Recorder, facts: &Facts) -> Run {
    let plan = &prepared.plan;
    let global = |word: Global| board.global(word).load(SeqCst);
    let scheduling = scheduling(board);
    let mut clocks: Vec<ClockResult> =
        (0..plan.tasks.len()).map(|task| clock(plan, board, TaskId(task), scheduling, facts)).collect();
    let mut notes = plan.notes.clone();
    let shared = schedulability::predict(plan, scheduling, &mut clocks, &mut notes);
    let died = death(plan, board, facts);
    let fmus: Vec<FmuResult> = (0..plan.fmus.len())
        .map(|fmu| FmuResult {
            name: plan.fmus[fmu].name.clone(),
            path: plan.fmus[fmu].path.display().to_string(),
            status: status(board, FmuId(fmu), died.as_ref()),
            lock: lock(plan, board, FmuId(fmu)),
            findings: findings::of_fmu(prepared, board, FmuId(fmu))
                .into_iter()
                .chain(facts.threads.findings(plan, FmuId(fmu)))
                .chain(offspring::finding(plan, &facts.left, facts.none_left, Some(FmuId(fmu))))
                .collect(),
            log: recorder.last_lines[fmu].iter().cloned().collect(),
        })
        .collect();
    let mut problems = Vec::new();
    let mut problem = |severity, message: String| problems.push(Problem { severity, message });
    if let Some(died) = &died {
        problem(Severity::Failure, died.message.clone());
    }
    for (index, fmu) in fmus.iter().enumerate() {
        failures(plan, board, FmuId(index), fmu, &mut problem);
    }
    for (task, clock) in clocks.iter().enumerate() {
        limits(&plan.tasks[task], clock, board.task(TaskId(task)).get(TaskWord::Demoted) == 1, &mut problem);
    }
    for warning in shared {
        problem(Severity::Warning, warning);
    }
    let overrun = stopped_by_overrun(plan, board);
    if let Some(message) = &overrun {
        problem(Severity::Limit, message.clone());
    }
    for message in &recorder.broken {
        problem(Severity::Failure, message.clone());
    }
    for (status, line) in &recorder.host_lines {
        match status {
            0 => (),
            1 => problem(Severity::Warning, line.trim_start_matches("vecud: warning: ").to_owned()),
            _ => problem(Severity::Failure, line.trim_start_matches("vecud: error: ").to_owned()),
        }
    }
    let stimuli = stimuli::results(plan, board);
    stimuli::problems(&stimuli, board, &facts.stimuli, &mut problem);
    irregularities(prepared, board, &fmus, &clocks, facts, &mut problem);
    let connections = promise::connections(plan, board, &mut problem);
    let promise = promise::promise(plan, board, facts.late_samples, &mut problem);
    let offence = if facts.strict { Severity::Failure } else { Severity::Finding };
    let of_nobody = offspring::finding(plan, &facts.left, facts.none_left, None);
    for finding in fmus.iter().flat_map(|fmu| &fmu.findings).chain(&of_nobody) {
        problem(offence, finding.message.clone());
    }
    if problems.iter().any(|problem| problem.severity == Severity::Failure)
        && let Some(message) = facts.memory.shortage(board)
    {
        problems.push(Problem { severity: Severity::Failure, message });
    }
    if recorder.is_cut || global(Global::LogCut) != 0 {
        let message = format!("run.log was cut off at {} MiB (rig: log_limit in [host])", plan.host.log_limit_mib);
        problems.push(Problem { severity: Severity::Warning, message });
    }
    problems.sort_by_key(|problem| problem.severity);
    // A file that is not written fails the run and does not end it.
    let failures = problems.iter().filter(|problem| problem.severity == Severity::Failure).count();
    let failed = failures > recorder.broken.len();
    let stopped = global(Global::StopRequest) != 0;
    let start = plan.start.nanos();
    // A runner that dies does not get to say when.
    let (began, said) = (global(Global::StartMonotonic) as i64, global(Global::Ended) as i64);
    let ended = if said > 0 { said } else { facts.gone };
    let samples_dropped =
        (0..plan.tasks.len()).map(|task| board.task(TaskId(task)).get(TaskWord::SamplesDropped)).sum();
    Run {
        rig: plan.rig.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mode: plan.mode,
        started: rfc3339(facts.started),
        start_monotonic_ns: began,
        start_time: prepared.begin().seconds(),
        end_time: end_time(
            plan,
            start.plus(Nanos(global(Global::Reached) as i64)),
            failed || stopped || overrun.is_some(),
        ),
        wall_seconds: if began > 0 && ended > began { Nanos(ended - began).seconds() } else { 0.0 },
        end: if failed {
            End::Failure
        } else if overrun.is_some() {
            End::Overrun
        } else if stopped {
            End::Signal
        } else {
            End::StopTime
        },
        problems,
        notes,
        host: Host {
            kernel: facts.machine.kernel.clone(),
            preempt_rt: facts.machine.preempt_rt,
            scheduling,
            fifo_band_asked: plan.host.fifo_asked,
            fifo_band_used: band(&clocks),
            memory_locked: global(Global::MemoryLocked) == 1,
            memory_locked_bytes: global(Global::MemoryLockedBytes),
            memory_wanted_bytes: global(Global::MemoryWantedBytes),
            dma_latency_held: global(Global::DmaLatency) == 1,
            clock: if plan.keeps_tai() { "tai" } else { "monotonic" }.into(),
            spin_us: plan.host.spin.0 as f64 / 1e3,
            cpu_model: facts.machine.cpu_model.clone(),
            cpus_online: facts.machine.cpus_online,
            isolated_cpus: facts.machine.isolated_cpus.clone(),
            facts: facts.machine.facts.clone(),
        },
        fmus,
        clocks,
        stimuli,
        repetition: facts.repetition,
        connections,
        promise,
        samples_dropped,
        log_dropped: board.log().dropped(),
        trace: TraceResult::default(),
    }
}

/// Lowest and highest priority.
fn band(clocks: &[ClockResult]) -> Option<(FifoPriority, FifoPriority)> {
    let used = || clocks.iter().filter_map(|clock| clock.fifo_priority);
    Some((used().min_by_key(|priority| priority.get())?, used().max_by_key(|priority| priority.get())?))
}

fn end_time(plan: &Plan, reached: Nanos, early: bool) -> f64 {
    match plan.stop {
        Some(stop) if !early => stop.seconds(),
        _ => reached.seconds(),
    }
}

/// The runner's process did not leave of its own accord.
struct Death {
    culprit: Option<FmuId>,
    /// What has become of the culprit.
    status: FmuStatus,
    message: String,
}

fn death(plan: &Plan, board: Board, facts: &Facts) -> Option<Death> {
    let global = |word: Global| board.global(word).load(SeqCst);
    if let Some(task) = board.named_task(global(Global::HungTask)) {
        let message = format!(
            "{} and did not return within {} s after the end of the run (rig: shutdown_timeout); the FMU's code hangs",
            at_work(plan, board, task),
            plan.shutdown_timeout.seconds()
        );
        return Some(Death { culprit: Some(plan.tasks[task.0].fmu), status: FmuStatus::Hung, message });
    }
    if let Some(fmu) = board.named_fmu(global(Global::HungFmu)) {
        let function = outside_place(plan, board, board.outside_call().function);
        let message = format!(
            "fmu `{}` was {function}, which somebody had asked for, and did not return within {} s after the end of the \
             run (rig: shutdown_timeout); the FMU's code hangs",
            plan.fmus[fmu.0].name,
            plan.shutdown_timeout.seconds()
        );
        return Some(Death { culprit: Some(fmu), status: FmuStatus::Hung, message });
    }
    if let Some(Killed::Overdue(place)) = facts.killed {
        return Some(overdue(plan, board, place));
    }
    let signal = signal_name(facts.status);
    let left_early = global(Global::ExitCalled) == 1 || (signal.is_none() && board.phase() < Phase::Done);
    if signal.is_none() && !left_early {
        return None;
    }
    if facts.killed.is_none() && facts.status.signal() == Some(nix::sys::signal::Signal::SIGKILL as i32) {
        let message =
            "the process of the FMUs was ended from outside by SIGKILL: by somebody, or by the kernel for want of \
                       memory (dmesg tells)"
                .to_owned();
        return Some(Death { culprit: None, status: FmuStatus::Aborted, message });
    }
    // Whoever's code was running, and whoever has made the thread, has nothing to do with it.
    if let (None, Some(signal), Some(sender)) = (facts.killed, &signal, global(Global::CrashSender).checked_sub(1)) {
        let by =
            if sender == 0 { "a process of another PID namespace".to_owned() } else { format!("process {sender}") };
        let message = format!("the process of the FMUs was ended from outside by {signal} ({by})");
        return Some(Death { culprit: None, status: FmuStatus::Aborted, message });
    }
    let how = match &signal {
        Some(_) if facts.killed == Some(Killed::AskedTwice) => {
            "was ended by force (a second signal asked for it)".to_owned()
        }
        Some(_) if facts.killed == Some(Killed::Late) => format!(
            "was ended by force, since it did not return within {} s after the end of the run (rig: shutdown_timeout)",
            plan.shutdown_timeout.seconds()
        ),
        Some(signal) => format!("crashed ({signal})"),
        None => format!("called exit({})", facts.status.code().unwrap_or(0)),
    };
    let status = match facts.killed {
        Some(Killed::Late) => FmuStatus::Hung,
        _ => FmuStatus::Crashed,
    };
    // While partitions run, only a reconfiguration is in FMU code in the name of no task.
    let outside = board.outside_call();
    let in_a_call = outside.function != 0
        || (0..plan.tasks.len()).any(|task| board.task(TaskId(task)).get(TaskWord::Function) != 0);
    // `_exit` leaves no word of its thread, nor does a fault where FMU code has taken our handlers away. Where none of our
    // threads was in FMU code, it was another one.
    let unseen = !in_a_call
        && match facts.status.signal() {
            Some(signal) => FAULTS.contains(&signal) && global(Global::CrashSignal) == 0,
            None => global(Global::ExitCalled) == 0,
        };
    if facts.killed.is_none() && (global(Global::CrashForeign) == 1 || unseen) {
        return Some(in_a_thread_of_theirs(plan, board, status, &how));
    }
    let reconfigures = board.phase() == Phase::Running && outside.function != 0;
    let task = board.named_task(global(Global::CrashTask)).or_else(|| match reconfigures || outside.function != 0 {
        true => None,
        false => running(plan, board),
    });
    Some(match task {
        Some(task) => {
            let (name, at_work) = (&plan.fmus[plan.tasks[task.0].fmu.0].name, at_work(plan, board, task));
            Death { culprit: Some(plan.tasks[task.0].fmu), status, message: format!("fmu `{name}` {how}: {at_work}") }
        }
        None => match outside.fmu {
            Some(fmu) if board.phase() != Phase::Running || reconfigures => {
                let message =
                    format!("fmu `{}` {how}: {}", plan.fmus[fmu.0].name, outside_place(plan, board, outside.function));
                Death { culprit: Some(fmu), status, message }
            }
            None if outside.function == OutsideCall::UNLOADING => {
                let culprit = one(&whose_code(plan, board));
                let who = culprit.map_or("the process of the FMUs".to_owned(), |fmu| named(plan, &[fmu]));
                let place = outside_place(plan, board, outside.function);
                Death { culprit, status, message: format!("the run was over, and {who} {how}: {place}") }
            }
            _ => Death {
                culprit: None,
                status,
                message: format!("the runner {how} outside of FMU code; please report this"),
            },
        },
    })
}

/// A crash on a thread that vecud has not made: whoever's activation was under way meanwhile has nothing to do with it.
fn in_a_thread_of_theirs(plan: &Plan, board: Board, status: FmuStatus, how: &str) -> Death {
    let fmus = whose_code(plan, board);
    let culprit = one(&fmus);
    let names = named(plan, &fmus);
    let message = match culprit {
        Some(_) => format!("{names} {how}, in a thread that its code has made"),
        None => {
            format!("FMU code {how}, in a thread that it has made itself: it is not known which of {names} has made it")
        }
    };
    Death { culprit, status, message }
}

/// Whose code was running at the end, as far as the process could tell: FMUs that share a library cannot be told apart, and
/// where it is not known at all it is one of all.
fn whose_code(plan: &Plan, board: Board) -> Vec<FmuId> {
    let first = board.named_fmu(board.global(Global::CrashCode).load(SeqCst));
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

/// A call did not return within the rig's `call_timeout`.
fn overdue(plan: &Plan, board: Board, place: Place) -> Death {
    let limit = plan.call_timeout.map_or(0.0, Nanos::seconds);
    let culprit = match place {
        Place::Outside { fmu, .. } => fmu.or_else(|| one(&whose_code(plan, board))),
        Place::Activation(task) => Some(plan.tasks[task.0].fmu),
        Place::Stopped => board
            .outside_call()
            .fmu
            .filter(|_| board.outside_call().function != 0)
            .or_else(|| running(plan, board).map(|task| plan.tasks[task.0].fmu)),
    };
    let what = has_been(plan, board, place);
    let message = format!("{what} for {limit} s, and the run was ended (rig: call_timeout)");
    Death { culprit, status: FmuStatus::Hung, message }
}

/// Where the runner has been for some time: `fmu a has been in fmi3Terminate`.
pub fn has_been(plan: &Plan, board: Board, place: Place) -> String {
    let of_task = |task: TaskId| {
        let clock = plain(&plan.tasks[task.0].name);
        let name = function(board.task(task).get(TaskWord::Function)).map_or("its code", Function::name);
        let (fmu, time) = (&plan.fmus[plan.tasks[task.0].fmu.0].name, board.task(task).time().seconds());
        format!("fmu `{fmu}` has been in {name} for clock {clock} at {time} s")
    };
    match place {
        Place::Outside { fmu, function } => match fmu.or_else(|| one(&whose_code(plan, board))) {
            Some(fmu) => format!("fmu `{}` has been {}", plan.fmus[fmu.0].name, outside_place(plan, board, function)),
            None => format!("the process of the FMUs has been {}", outside_place(plan, board, function)),
        },
        Place::Activation(task) => of_task(task),
        Place::Stopped => {
            let outside = board.outside_call();
            let inside = match (outside.fmu.filter(|_| outside.function != 0), running(plan, board)) {
                (Some(fmu), _) => {
                    let place = outside_place(plan, board, outside.function);
                    format!(" (fmu `{}` was {place})", plan.fmus[fmu.0].name)
                }
                (None, Some(task)) => format!(" ({})", at_work(plan, board, task)),
                (None, None) => String::new(),
            };
            format!(
                "the process of the FMUs has been stopped by a signal (SIGSTOP or the like; SIGCONT resumes it){inside}"
            )
        }
    }
}

/// `in fmi3Terminate`.
fn outside_place(plan: &Plan, board: Board, word: u64) -> String {
    match word {
        OutsideCall::LOADING => "in the constructors of its library, or in fmi3GetVersion".to_owned(),
        OutsideCall::UNLOADING => {
            let fmus = whose_code(plan, board);
            match one(&fmus) {
                Some(_) => "in the destructors of its library".to_owned(),
                None => format!("in the destructors of a library (of {})", named(plan, &fmus)),
            }
        }
        _ => format!("in {}", function(word).map_or("between two calls", Function::name)),
    }
}

/// The task whose FMU code was running, or was running last.
fn running(plan: &Plan, board: Board) -> Option<TaskId> {
    let tasks = || (0..plan.tasks.len()).map(TaskId);
    tasks().find(|task| board.task(*task).get(TaskWord::Function) != 0).or_else(|| {
        tasks()
            .filter(|task| board.phase() == Phase::Running && board.task(*task).get(TaskWord::StartedAt) > 0)
            .max_by_key(|task| board.task(*task).get(TaskWord::StartedAt))
    })
}

fn function(word: u64) -> Option<Function> {
    word.checked_sub(1).and_then(|number| Function::from_u32(number as u32))
}

/// `clock task_10ms was in fmi3ActivateModelPartition at 0.25 s`.
fn at_work(plan: &Plan, board: Board, task: TaskId) -> String {
    let cells = board.task(task);
    let time = cells.time().seconds();
    match function(cells.get(TaskWord::Function)) {
        Some(function) => {
            format!("clock {} was in {function} at {time} s", table::name(plan, task))
        }
        None => format!(
            "no FMU code was running; last was clock {} in {} at {time} s",
            table::name(plan, task),
            Function::ActivateModelPartition
        ),
    }
}

fn status(board: Board, fmu: FmuId, died: Option<&Death>) -> FmuStatus {
    let words = board.fmu(fmu);
    let get = |word: FmuWord| words.word(word).load(SeqCst);
    if let Some(died) = died {
        // The run was over for whoever has ended: what happens after it is of one of them.
        let had_ended = board.phase() == Phase::Done && get(FmuWord::End) == 1;
        match died.culprit == Some(fmu) {
            true => return died.status,
            false if had_ended => (),
            false => return FmuStatus::Aborted,
        }
    }
    match (get(FmuWord::FailureStatus), get(FmuWord::End)) {
        (4, _) => FmuStatus::Fatal,
        (1..=3, _) => FmuStatus::Error,
        (_, 1) => FmuStatus::Terminated,
        _ => FmuStatus::Aborted,
    }
}

fn failures(plan: &Plan, board: Board, fmu: FmuId, result: &FmuResult, problem: &mut dyn FnMut(Severity, String)) {
    let words = board.fmu(fmu);
    let get = |word: FmuWord| words.word(word).load(SeqCst);
    let Some(status) = Status::from_raw(get(FmuWord::FailureStatus) as i32).filter(|status| *status != Status::Ok)
    else {
        return;
    };
    let function = function(get(FmuWord::FailureFunction)).map_or("a call", Function::name);
    let time = Instant::from_words([FmuWord::FailureTime, FmuWord::FailureTime1, FmuWord::FailureTime2].map(get));
    let place = match board.named_task(get(FmuWord::FailureTask)) {
        Some(task) => format!(" for clock {} at {} s", plain(&plan.tasks[task.0].name), time.seconds()),
        // Beside partitions nothing is called during a run but this; Terminate comes after it.
        None if time > plan.start && function != Function::Terminate.name() => {
            format!(" in Reconfiguration Mode at {} s", time.seconds())
        }
        None => String::new(),
    };
    let what = match words.failed_reading() {
        Some(reading) => format!("gave {}", unusable(reading, function)),
        None => format!("returned {status}"),
    };
    let mut message = format!("fmu `{}`: {function} {what}{place}", result.name);
    let asks = matches!(function, "fmi3GetIntervalDecimal" | "fmi3GetIntervalFraction");
    if asks && plan.fmus[fmu.0].abi == Abi::Draft {
        message += " when it was asked for the interval of an output clock that had ticked; if it has none, set \
                    get_intervals = false in its table of the rig";
    }
    if status == Status::Warning {
        message += ", and the rig says on_warning = \"error\"";
    }
    if result.log.is_empty() {
        message += "; it logged nothing";
    } else {
        message += "; its last words:";
        for line in result.log.iter().rev().take(5).rev() {
            message += &format!("\n    {line}");
        }
    }
    problem(Severity::Failure, message);
}

fn limits(plan: &TaskPlan, clock: &ClockResult, demoted: bool, problem: &mut dyn FnMut(Severity, String)) {
    let name = plain(&format!("{}.{}", clock.fmu, clock.clock));
    // Exact: what is only just beyond a limit must not look like it.
    let micros = |nanos: u64| nanos as f64 / 1e3;
    if let Some(limit) = plan.limits.max_latency.map(|limit| limit.0 as u64)
        && clock.start_latency.max() > limit
    {
        let message = format!(
            "clock {name}: start latency reached {} µs, the limit is {} µs (max_latency_us)",
            micros(clock.start_latency.max()),
            micros(limit)
        );
        problem(Severity::Limit, message);
    }
    if let Some(limit) = plan.limits.max_overruns
        && clock.overruns > limit
    {
        problem(
            Severity::Limit,
            format!("clock {name}: {} overruns, the limit is {limit} (max_overruns)", clock.overruns),
        );
    }
    if let Some(limit) = plan.limits.max_execution.map(|limit| limit.0 as u64)
        && (demoted || clock.execution.max() > limit)
    {
        let action = if demoted { "; it was demoted to an ordinary thread" } else { "" };
        let longest = micros(clock.execution.max());
        let message = format!(
            "clock {name}: ran for longer than {} µs (max_execution_us), at most {longest} µs{action}",
            micros(limit)
        );
        problem(Severity::Failure, message);
    }
}

fn clock(plan: &Plan, board: Board, task: TaskId, scheduling: Scheduling, facts: &Facts) -> ClockResult {
    let (planned, cells) = (&plan.tasks[task.0], board.task(task));
    let fmu = &plan.fmus[planned.fmu.0];
    let asked = [TaskWord::AskedCounter, TaskWord::AskedResolution].map(|word| cells.get(word));
    let interval = match &planned.release {
        Release::Periodic { interval, .. } => Some(*interval),
        _ => Fraction::new(asked[0], asked[1]).ok(),
    };
    let measured = |metric| match plan.mode {
        Mode::RealTime => cells.histogram(metric).read(),
        Mode::Virtual => Histogram::default(),
    };
    ClockResult {
        fmu: fmu.name.clone(),
        clock: planned.name.clone(),
        kind: planned.partition().map(|partition| partition.kind),
        interval_s: interval.map(Fraction::seconds),
        activated_by: activated_by(plan, &planned.release, interval),
        fmi_priority: planned.urgency,
        fifo_priority: (scheduling == Scheduling::Fifo).then_some(planned.fifo),
        cpu: planned.cpu,
        thread: planned.thread.clone(),
        activations: cells.get(TaskWord::Activations),
        overruns: cells.get(TaskWord::Overruns),
        skipped: cells.get(TaskWord::Skipped),
        coalesced: cells.get(TaskWord::Coalesced),
        retimed: cells.get(TaskWord::Retimed) + cells.get(TaskWord::LateEvents),
        discarded: cells.get(TaskWord::Discarded),
        datagrams: facts.dropped.iter().find(|(own, _)| *own == task).map(|&(_, dropped)| DatagramResult {
            received: cells.get(TaskWord::Received) + dropped,
            rate_limited: cells.get(TaskWord::RateLimited),
            dropped,
            // Its release is the arrival.
            arrival_latency: measured(Metric::Start),
        }),
        max_latency: planned.limits.max_latency.map(|limit| limit.0 as u64),
        schedulability: schedulability::seen(plan, cells),
        wakeup_latency: measured(Metric::Wakeup),
        start_latency: measured(Metric::Start),
        start_jitter: measured(Metric::Jitter),
        execution: measured(Metric::Execution),
        response: measured(Metric::Response),
        over_time: None,
        parts: causes::parts(board, task),
        causes: causes::causes(plan, board, task),
    }
}

/// `interval`: of a periodic clock, when it is known.
fn activated_by(plan: &Plan, release: &Release, interval: Option<Fraction>) -> String {
    match release {
        Release::Periodic { .. } | Release::Asked => match interval.map(Fraction::seconds) {
            None => "an interval of the FMU's".to_owned(),
            Some(seconds) if seconds >= 1.0 => format!("every {seconds} s"),
            Some(seconds) if seconds >= 1e-3 => format!("every {} ms", Nanos::from_seconds(seconds).0 as f64 / 1e6),
            Some(seconds) => format!("every {} µs", Nanos::from_seconds(seconds).0 as f64 / 1e3),
        },
        Release::Triggered { fmu, output_clock } => {
            let fmu = &plan.fmus[fmu.0];
            format!("{}.{}", fmu.name, fmu.output_clocks[*output_clock].name)
        }
        Release::At(times) => format!("{} times from the rig", times.len()),
        Release::Changing => "its last interval".to_owned(),
        Release::Datagram { source } => plan.datagrams[*source].name.clone(),
        Release::Stimulus { stimulus, .. } => plan.stimuli[*stimulus].file.clone(),
        Release::Countdown => "countdown".to_owned(),
        Release::Never => "nothing".to_owned(),
    }
}

fn lock(plan: &Plan, board: Board, fmu: FmuId) -> LockResult {
    let words = board.fmu(fmu);
    let get = |word: FmuWord| words.word(word).load(SeqCst);
    let mut lock = LockResult {
        acquisitions: 0,
        nested: get(FmuWord::LockNested),
        leaked: get(FmuWord::LockLeaked),
        unbalanced: get(FmuWord::LockUnbalanced),
        hold: words.hold().read(),
        wait: words.wait().read(),
    };
    for (task, _) in plan.tasks.iter().enumerate().filter(|(_, task)| task.fmu == fmu) {
        let cells = board.task(TaskId(task));
        lock.nested += cells.get(TaskWord::LockNested);
        lock.leaked += cells.get(TaskWord::LockLeaked);
        lock.unbalanced += cells.get(TaskWord::LockUnbalanced);
        lock.hold.add(&cells.histogram(Metric::LockHold).read());
        lock.wait.add(&cells.histogram(Metric::LockWait).read());
    }
    // Each outermost acquisition ends in a hold time.
    lock.acquisitions = lock.hold.count();
    lock
}

/// A point of time as RFC 3339 in UTC, to the second (proleptic Gregorian calendar).
fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01, in eras of 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_132_800, "2026-11-20T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}

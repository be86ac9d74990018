//! Output of `vecud check --json`: the plan of a rig, its worst computed responses, and its problems. Fields that
//! `report.json` has too have the same names, units and words there; docs/check.schema.json describes all of them.

use super::words::Word;
use super::{PredictedFrom, SignalResult};
use serde::Serialize;
use std::collections::BTreeSet;
use vecud_plan::schedulability::Analysis;
use vecud_plan::schedulability::verdict::ResponseTime;
use vecud_plan::table::release;
use vecud_plan::{FmuId, OutputClock, Plan, Release, UnitId, timing};

/// The version of the format of `vecud check --json`; see [`super::FORMAT_VERSION`].
const FORMAT_VERSION: u64 = 1;

/// Result of `vecud check`.
#[derive(Debug, Default)]
pub struct Checked<'a> {
    /// The checked file, as the user named it.
    pub file: String,
    /// Problems; empty if there are none.
    pub problems: Vec<CheckProblem>,
    /// The plan; `None`: there is none, because of the problems.
    pub plan: Option<&'a Plan>,
    /// Response-time analysis of the plan; `None` in virtual time, where nothing takes time.
    pub analysis: Option<&'a Analysis>,
    /// Resources of this machine for the plan, in words: scheduling and memory.
    pub machine: Vec<String>,
}

/// A problem of a rig, of an FMU in it, or of the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckProblem {
    /// The file that has to change; `None`: it is not about a place in a file.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// The column in that line, from 1, in characters.
    pub column: Option<u32>,
    /// The problem and, where there is one, its remedy.
    pub message: String,
}

/// The result as pretty-printed JSON, always in the same order.
pub fn check_json(checked: &Checked) -> String {
    let said = Said {
        format_version: FORMAT_VERSION,
        version: env!("CARGO_PKG_VERSION"),
        file: &checked.file,
        verdict: match (checked.problems.is_empty(), checked.plan) {
            (true, _) => "valid",
            (false, Some(_)) => "unschedulable",
            (false, None) => "invalid",
        },
        problems: &checked.problems,
        machine: &checked.machine,
        plan: checked.plan.map(|plan| planned(plan, checked.analysis)),
    };
    serde_json::to_string_pretty(&said).expect("strings, numbers and lists") + "\n"
}

#[derive(Serialize)]
struct Said<'a> {
    format_version: u64,
    version: &'static str,
    file: &'a str,
    verdict: &'static str,
    problems: &'a [CheckProblem],
    machine: &'a [String],
    plan: Option<Planned<'a>>,
}

#[derive(Serialize)]
struct Planned<'a> {
    rig: &'a str,
    mode: &'static str,
    start_time: f64,
    stop_time: Option<f64>,
    on_error: &'static str,
    fmus: Vec<Fmu<'a>>,
    tasks: Vec<Task<'a>>,
    cores: Vec<Core<'a>>,
    turns: Vec<Vec<&'a str>>,
    connections: Vec<Connection<'a>>,
    triggers: Vec<Trigger>,
    stimuli: Vec<&'a str>,
    signals: Vec<SignalResult>,
    warnings: Vec<String>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Fmu<'a> {
    name: &'a str,
    path: String,
    cpu: usize,
}

#[derive(Serialize)]
struct Task<'a> {
    fmu: &'a str,
    clock: &'a str,
    kind: &'static str,
    interval_s: Option<f64>,
    activated_by: String,
    fmi_priority: Option<u32>,
    level: usize,
    fifo_priority: u8,
    cpu: usize,
    thread: &'a str,
    overrun: &'static str,
    max_latency: Option<u64>,
    max_execution: Option<u64>,
    max_overruns: Option<u64>,
    deadline: Option<u64>,
    prediction: Option<&'static str>,
    predicted_response: Option<u64>,
    predicted_from: Option<PredictedFrom>,
}

#[derive(Serialize)]
struct Core<'a> {
    cpu: usize,
    fmus: Vec<&'a str>,
    load: Option<f64>,
}

#[derive(Serialize)]
struct Connection<'a> {
    from: &'a str,
    to: &'a str,
    #[serde(rename = "type")]
    variable_type: &'static str,
    elements: usize,
    timing: &'static str,
    delay: String,
}

#[derive(Serialize)]
struct Trigger {
    from: String,
    ticked_by: Vec<String>,
    to: Vec<String>,
}

fn planned<'a>(plan: &'a Plan, analysis: Option<&Analysis>) -> Planned<'a> {
    let fmu = |fmu: &'a vecud_plan::FmuPlan| Fmu {
        name: &fmu.name,
        path: fmu.path.to_string_lossy().into_owned(),
        cpu: fmu.cpu,
    };
    let cpus: BTreeSet<usize> = plan.cores().into_iter().collect();
    let connections = plan.connections.iter().zip(timing::words(plan)).map(|(connection, delay)| Connection {
        from: &connection.from,
        to: &connection.to,
        variable_type: connection.variable_type.name(),
        elements: connection.elements,
        timing: connection.timing.word(),
        delay,
    });
    Planned {
        rig: &plan.rig,
        mode: plan.mode.word(),
        start_time: plan.start.seconds(),
        stop_time: plan.stop.map(|stop| stop.seconds()),
        on_error: plan.on_error.word(),
        fmus: plan.fmus.iter().map(fmu).collect(),
        tasks: (0..plan.units.len()).map(|at| task(plan, at, analysis)).collect(),
        cores: cpus.into_iter().map(|cpu| core(plan, cpu, analysis)).collect(),
        turns: plan.serials.iter().map(|serial| names(plan, &serial.fmus)).collect(),
        connections: connections.collect(),
        triggers: plan
            .fmus
            .iter()
            .flat_map(|fmu| fmu.output_clocks.iter().map(|clock| trigger(plan, &fmu.name, clock)))
            .collect(),
        stimuli: plan.stimuli.iter().map(|stimulus| stimulus.file.as_str()).collect(),
        signals: plan.signals.iter().map(SignalResult::of).collect(),
        warnings: analysis
            .into_iter()
            .flat_map(|analysis| plan.shared_priorities(analysis))
            .map(|(_, words)| words)
            .collect(),
        notes: &plan.notes,
    }
}

fn task<'a>(plan: &'a Plan, at: usize, analysis: Option<&Analysis>) -> Task<'a> {
    let unit = &plan.units[at];
    let (task, limits) = (&plan.tasks[unit.task.0], plan.limits(UnitId(at)));
    let nanos = |nanos: i64| nanos.max(0) as u64;
    let verdict = analysis.map(|analysis| &analysis.clocks[at]);
    let worst = verdict.and_then(|verdict| verdict.worst());
    Task {
        fmu: &plan.fmus[unit.fmu.0].name,
        clock: &unit.name,
        kind: unit.kind().word(),
        interval_s: match &unit.release {
            Release::Periodic { interval, .. } => Some(interval.seconds()),
            _ => None,
        },
        activated_by: release(plan, &unit.release),
        fmi_priority: unit.urgency.map(|urgency| urgency.0),
        level: unit.level,
        fifo_priority: task.fifo.get(),
        cpu: task.cpu,
        thread: &task.thread,
        overrun: plan.shown_overrun(UnitId(at)).word(),
        max_latency: limits.max_latency.map(|limit| nanos(limit.0)),
        max_execution: limits.max_execution.map(|limit| nanos(limit.0)),
        max_overruns: limits.max_overruns,
        deadline: verdict.and_then(|verdict| verdict.deadline).map(|deadline| nanos(deadline.0)),
        prediction: verdict.map(|verdict| match &verdict.result {
            ResponseTime::Bounded(_) if verdict.late().is_some() => "late",
            ResponseTime::Bounded(_) => "bounded",
            ResponseTime::Idle => "idle",
            ResponseTime::Unknown => "unknown",
            ResponseTime::Overloaded => "overloaded",
            ResponseTime::NotFound => "not found",
        }),
        predicted_response: worst.map(|worst| nanos(worst.response.0)),
        predicted_from: worst.map(|worst| worst.basis.into()),
    }
}

fn names<'a>(plan: &'a Plan, fmus: &[FmuId]) -> Vec<&'a str> {
    fmus.iter().map(|fmu| plan.fmus[fmu.0].name.as_str()).collect()
}

fn core<'a>(plan: &'a Plan, cpu: usize, analysis: Option<&Analysis>) -> Core<'a> {
    let loads = analysis.and_then(|analysis| analysis.cores.iter().find(|core| core.cpu == cpu));
    Core {
        cpu,
        fmus: plan.fmus.iter().filter(|fmu| fmu.cpu == cpu).map(|fmu| fmu.name.as_str()).collect(),
        load: loads.map(|core| core.load.share),
    }
}

fn trigger(plan: &Plan, fmu: &str, clock: &OutputClock) -> Trigger {
    let names =
        |units: &[UnitId]| -> Vec<String> { units.iter().map(|unit| plan.full_name(&plan.units[unit.0])).collect() };
    let mut to: Vec<String> = names(&clock.targets);
    to.extend(clock.clocks.iter().map(|clock| plan.clock_name(*clock)));
    Trigger { from: format!("{fmu}.{}", clock.name), ticked_by: names(&clock.ticked_by), to }
}

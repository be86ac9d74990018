//! Input clocks and what activates them: drafts of the tasks, before they are sorted.

use super::findings::{Findings, Unit};
use super::words::kind_name;
use super::{Release, Timetable};
use crate::fmu::description::{Causality, Clock, IntervalVariability, Variable};
use crate::priority::FmiPriority;
use crate::rig::{At, Limits, Mode, Overrun, Rig, RigClock};
use crate::time::{Fraction, Instant};

/// A task that has no place in the merged order yet.
pub(super) struct Draft {
    /// Index of its FMU.
    pub fmu: usize,
    /// Index of the clock among the FMU's variables.
    pub variable: usize,
    pub priority: FmiPriority,
    pub release: Release,
    pub write_interval: bool,
    pub overrun: Overrun,
    pub limits: Limits,
}

impl Draft {
    /// Its period, if it has one.
    pub(super) fn period(&self) -> Option<Fraction> {
        match self.release {
            Release::Periodic { interval, .. } => Some(interval),
            _ => None,
        }
    }
}

/// Drafts for all input clocks of all FMUs, in rig order, then document order. Triggered clocks are `Never` here.
pub(super) fn drafts(rig: &Rig, units: &[Unit], findings: &mut Findings) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (fmu, unit) in units.iter().enumerate() {
        for clock in &unit.rig.clocks {
            check_name(unit, clock, findings);
        }
        if unit.input.description.scheduled_execution.is_none() {
            continue;
        }
        let before = drafts.len();
        for (variable, v) in unit.variables().iter().enumerate() {
            if let (Some(clock), Causality::Input) = (&v.clock, v.causality) {
                drafts.extend(draft(rig, fmu, unit, variable, v, clock, findings));
            }
        }
        if drafts.len() == before && !unit.variables().iter().any(is_input_clock) {
            findings.note(format!("{} has no input clock, so nothing of it is ever activated", unit.name()));
        }
    }
    drafts
}

/// Whether a variable is an input clock.
pub(super) fn is_input_clock(variable: &Variable) -> bool {
    variable.clock.is_some() && variable.causality == Causality::Input
}

/// Whether a variable is an output clock.
pub(super) fn is_output_clock(variable: &Variable) -> bool {
    variable.clock.is_some() && variable.causality == Causality::Output
}

fn check_name(unit: &Unit, clock: &RigClock, findings: &mut Findings) {
    let name = &clock.name.value;
    match unit.find(name).map(|i| &unit.variables()[i]) {
        Some(variable) if is_input_clock(variable) => {}
        Some(variable) => {
            let what = if variable.clock.is_some() { "no input clock, so it has no task" } else { "no clock" };
            findings.rig(clock.name.place, format!("{}.{name} is {what}", unit.name()));
        }
        None => {
            let hint = unit.suggest(name, is_input_clock);
            findings.rig(clock.name.place, format!("{} has no input clock \"{name}\"{hint}", unit.name()));
        }
    }
}

fn draft(
    rig: &Rig,
    fmu: usize,
    unit: &Unit,
    variable: usize,
    v: &Variable,
    clock: &Clock,
    findings: &mut Findings,
) -> Option<Draft> {
    let is_this = |c: &&RigClock| unit.find(&c.name.value) == Some(variable);
    let overrides = unit.rig.clocks.iter().find(is_this);
    let release = release(unit, v, clock, overrides, findings);
    if let (Mode::RealTime, Some(Release::Periodic { interval, .. })) = (rig.mode, &release)
        && *interval < SHORTEST
    {
        let message = format!(
            "the interval of the clock \"{}\" is shorter than a microsecond, which no real time can keep: try --mode virtual",
            v.name
        );
        findings.xml(unit, v, message);
    }
    let priority = priority(unit, v, clock, findings);
    let periodic = matches!(clock.interval_variability, IntervalVariability::Fixed | IntervalVariability::Tunable);
    Some(Draft {
        fmu,
        variable,
        priority: priority?,
        release: release?,
        write_interval: periodic,
        overrun: overrides.and_then(|c| c.overrun).unwrap_or(rig.overrun),
        limits: overrides.map(|c| c.limits).unwrap_or_default(),
    })
}

fn priority(unit: &Unit, v: &Variable, clock: &Clock, findings: &mut Findings) -> Option<FmiPriority> {
    if clock.priority.is_some() {
        return clock.priority;
    }
    if unit.rig.lenient {
        findings.note(format!("{}.{} has no priority: it runs with the lowest", unit.name(), v.name));
        return Some(FmiPriority(u32::MAX));
    }
    let message = format!(
        "the input clock \"{}\" has no priority, which Scheduled Execution requires; \
         with lenient = true in [fmu.{}] of a rig file it runs with the lowest",
        v.name,
        unit.name()
    );
    findings.xml(unit, v, message);
    None
}

fn release(
    unit: &Unit,
    v: &Variable,
    clock: &Clock,
    overrides: Option<&RigClock>,
    findings: &mut Findings,
) -> Option<Release> {
    let kind = clock.interval_variability;
    let written = overrides.and_then(|c| c.interval.as_ref());
    let adjustable = matches!(kind, IntervalVariability::Fixed | IntervalVariability::Tunable);
    if let (Some(interval), false) = (written, adjustable) {
        let message = format!(
            "the interval of {}.{} cannot be set: it is a {} clock, not a fixed or tunable one",
            unit.name(),
            v.name,
            kind_name(kind)
        );
        findings.rig(interval.place, message);
    }
    match kind {
        IntervalVariability::Triggered => Some(Release::Never),
        IntervalVariability::Countdown => Some(Release::Countdown),
        IntervalVariability::Changing => {
            let message =
                format!("\"{}\" is a changing clock, which is not supported yet by this version of vecud", v.name);
            findings.xml(unit, v, message);
            None
        }
        IntervalVariability::Constant | IntervalVariability::Fixed | IntervalVariability::Tunable => {
            let interval = match written {
                Some(interval) if adjustable => Some(interval.value),
                _ => clock.interval,
            };
            match interval {
                Some(interval) if interval.is_zero() => {
                    findings.xml(unit, v, format!("the interval of the clock \"{}\" is 0", v.name));
                    None
                }
                Some(interval) => Some(Release::Periodic { shift: clock.shift, interval }),
                None => {
                    let hint = if adjustable {
                        format!("; give it one as interval in [fmu.{}.clock.{}]", unit.name(), v.name)
                    } else {
                        String::new()
                    };
                    let kind = kind_name(kind);
                    findings.xml(unit, v, format!("the {kind} clock \"{}\" has no interval{hint}", v.name));
                    None
                }
            }
        }
    }
}

/// The shortest interval in real time, 1 µs. A thread that leaves out releases faster than they come must get ahead of them.
const SHORTEST: Fraction = Fraction::MICROSECOND;

/// Seconds before and after 0 between which a run may start: some hundred years, so that nanoseconds still fit.
const LATEST_START: f64 = 4e9;

/// Start and stop of a rig.
pub(super) fn timetable(rig: &Rig, units: &[Unit], findings: &mut Findings) -> Timetable {
    let experiment = rig.experiment_of_fmu.then(|| units.first().map(|u| &u.input.description.default_experiment));
    let experiment = experiment.flatten();
    let given = |written: &Option<At<Instant>>, default: Option<f64>| {
        let default = || default.and_then(Instant::from_f64).map(At::unplaced);
        written.clone().or_else(default)
    };
    let start =
        given(&rig.start_time, experiment.and_then(|e| e.start_time)).unwrap_or_else(|| At::unplaced(Instant::ZERO));
    if start.value.seconds().abs() > LATEST_START {
        let seconds = start.value.seconds();
        findings.rig(start.place, format!("the start time, {seconds} s, is more than {LATEST_START} s away from 0"));
    }
    let start = start.value;
    let stop = given(&rig.stop_time, experiment.and_then(|e| e.stop_time));
    match &stop {
        Some(stop) if stop.value <= start => {
            let message = format!(
                "the stop time, {} s, is not after the start time, {} s: nothing would run; set stop_time in [rig], or use \
                 --stop-time",
                stop.value.seconds(),
                start.seconds()
            );
            findings.rig(stop.place, message);
        }
        None if rig.mode == Mode::Virtual => {
            findings
                .rig(Default::default(), "virtual time needs a stop time: set stop_time in [rig], or use --stop-time");
        }
        _ => {}
    }
    Timetable { start, stop: stop.map(|at| at.value) }
}

//! Which output clock, or which list of times, activates which triggered input clock.

use super::clocks::{Draft, is_input_clock, is_output_clock};
use super::findings::{Findings, Unit};
use super::words::kind_name;
use super::{FmuId, Release, Timetable};
use crate::fmu::description::IntervalVariability;
use crate::rig::{At, Endpoint, Place, RigTrigger, TriggerSource};
use std::collections::HashMap;

/// An output clock before tasks are sorted.
pub(super) struct Output {
    /// Index among the FMU's variables.
    pub variable: usize,
    /// Drafts that may tick it; empty: not said.
    pub ticked_by: Vec<usize>,
    /// Drafts that it triggers.
    pub targets: Vec<usize>,
}

/// The output clocks of each FMU in document order, without targets.
pub(super) fn outputs(units: &[Unit], drafts: &[Draft]) -> Vec<Vec<Output>> {
    let of_unit = |(fmu, unit): (usize, &Unit)| {
        let mut outputs = Vec::new();
        for (variable, v) in unit.variables().iter().enumerate().filter(|(_, v)| is_output_clock(v)) {
            let mine = |&d: &usize| {
                drafts[d].fmu == fmu && v.clocks.contains(&unit.variables()[drafts[d].variable].value_reference)
            };
            outputs.push(Output { variable, ticked_by: (0..drafts.len()).filter(mine).collect(), targets: Vec::new() });
        }
        outputs
    };
    units.iter().enumerate().map(of_unit).collect()
}

/// Fills in the releases of triggered drafts and the targets of output clocks.
pub(super) fn connect(
    triggers: &[RigTrigger],
    units: &[Unit],
    drafts: &mut [Draft],
    outputs: &mut [Vec<Output>],
    times: &Timetable,
    findings: &mut Findings,
) {
    let mut seen: HashMap<(usize, usize), Place> = HashMap::new();
    for trigger in triggers {
        let target = target(&trigger.clock, units, findings);
        let release = match &trigger.source {
            TriggerSource::OutputClock(from) => source(from, units, outputs, findings)
                .map(|(fmu, output_clock)| Release::Triggered { fmu: FmuId(fmu), output_clock }),
            TriggerSource::Times(at) => schedule(at, &trigger.clock, times, findings),
        };
        let (Some(target), Some(release)) = (target, release) else { continue };
        if let Some(first) = seen.insert(target, trigger.clock.place) {
            let message =
                format!("{} already has a trigger in line {}: a clock has one", trigger.clock.value, first.line);
            findings.rig(trigger.clock.place, message);
            continue;
        }
        // A clock that has no draft was refused before.
        let Some(draft) = drafts.iter().position(|d| (d.fmu, d.variable) == target) else { continue };
        if let Release::Triggered { fmu, output_clock } = release {
            outputs[fmu.0][output_clock].targets.push(draft);
        }
        drafts[draft].release = release;
    }
    for draft in drafts.iter().filter(|draft| draft.release == Release::Never) {
        let unit = &units[draft.fmu];
        let name = &unit.variables()[draft.variable].name;
        findings.note(format!("{}.{name} is a triggered clock that no [[trigger]] names: it never ticks", unit.name()));
    }
    note_cycles(units, drafts, outputs, findings);
}

fn target(clock: &At<Endpoint>, units: &[Unit], findings: &mut Findings) -> Option<(usize, usize)> {
    let Endpoint { fmu, variable } = &clock.value;
    let fmu = units.iter().position(|unit| unit.name() == fmu)?;
    let unit = &units[fmu];
    let Some(index) = unit.find(variable) else {
        let hint = unit.suggest(variable, is_input_clock);
        findings.rig(clock.place, format!("{} has no clock \"{variable}\"{hint}", unit.name()));
        return None;
    };
    let v = &unit.variables()[index];
    match &v.clock {
        Some(c) if is_input_clock(v) && c.interval_variability == IntervalVariability::Triggered => {
            return Some((fmu, index));
        }
        Some(c) if is_input_clock(v) => {
            let kind = kind_name(c.interval_variability);
            let message = format!("{} is a {kind} clock: only triggered clocks can have a trigger", clock.value);
            findings.rig(clock.place, message);
        }
        Some(_) => findings.rig(clock.place, format!("{} is no input clock: nothing can trigger it", clock.value)),
        None => findings.rig(clock.place, format!("{} is no clock", clock.value)),
    }
    None
}

fn source(
    from: &At<Endpoint>,
    units: &[Unit],
    outputs: &[Vec<Output>],
    findings: &mut Findings,
) -> Option<(usize, usize)> {
    let Endpoint { fmu, variable } = &from.value;
    let fmu = units.iter().position(|unit| unit.name() == fmu)?;
    let unit = &units[fmu];
    let Some(index) = unit.find(variable) else {
        let hint = unit.suggest(variable, is_output_clock);
        findings.rig(from.place, format!("{} has no output clock \"{variable}\"{hint}", unit.name()));
        return None;
    };
    let output = outputs[fmu].iter().position(|output| output.variable == index);
    if output.is_none() {
        let what = if unit.variables()[index].clock.is_some() { "no output clock" } else { "no clock" };
        findings.rig(from.place, format!("{} is {what}: only output clocks can trigger", from.value));
    }
    output.map(|output| (fmu, output))
}

fn schedule(
    at: &[At<crate::time::Instant>],
    clock: &At<Endpoint>,
    times: &Timetable,
    findings: &mut Findings,
) -> Option<Release> {
    if let Some(early) = at.iter().find(|time| time.value < times.start) {
        let message = format!(
            "{} is triggered at {} s, before the run starts at {} s",
            clock.value,
            early.value.seconds(),
            times.start.seconds()
        );
        findings.rig(early.place, message);
        return None;
    }
    if let Some(stop) = times.stop
        && let Some(late) = at.iter().find(|time| time.value >= stop)
    {
        let count = at.iter().filter(|time| time.value >= stop).count();
        findings.note(format!(
            "{} has {count} trigger times from {} s on, which is not before the stop time",
            clock.value,
            late.value.seconds()
        ));
    }
    Some(Release::At(at.iter().map(|time| time.value).collect()))
}

/// Partitions that trigger each other at the same instant: legal (a network of nodes that answer each other looks like
/// that) but only the first round happens, since a clock ticks once per instant.
fn note_cycles(units: &[Unit], drafts: &[Draft], outputs: &[Vec<Output>], findings: &mut Findings) {
    let next = |draft: usize| {
        outputs.iter().flatten().filter(move |o| o.ticked_by.contains(&draft)).flat_map(|o| o.targets.iter().copied())
    };
    let mut reported = vec![false; drafts.len()];
    for start in 0..drafts.len() {
        let mut seen = vec![false; drafts.len()];
        let mut open: Vec<usize> = next(start).collect();
        while let Some(draft) = open.pop() {
            if !std::mem::replace(&mut seen[draft], true) {
                open.extend(next(draft));
            }
        }
        if seen[start] && !reported[start] {
            reported.iter_mut().zip(&seen).for_each(|(reported, &seen)| *reported |= seen);
            let name = &units[drafts[start].fmu].variables()[drafts[start].variable].name;
            findings.note(format!(
                "{}.{name} may end up triggering itself: at one instant a clock ticks once, further ticks are coalesced",
                units[drafts[start].fmu].name()
            ));
        }
    }
}

//! Which output clock, which list of times, or which source of datagrams activates which triggered input clock.
//!
//! In the draft the description says so itself (`triggeredBy`). Array clocks are triggered element by element.

use super::cycles;
use super::drafts::{Draft, elements, hint, is_input_clock, is_output_clock, named};
use crate::fmu::description::IntervalVariability;
use crate::plan::findings::{Findings, Unit};
use crate::plan::words::kind_in;
use crate::plan::{FmuId, Release, Timetable};
use crate::rig::{At, Endpoint, Mode, Place, RigTrigger, TriggerSource};
use std::collections::HashMap;

/// An output clock before tasks are sorted.
pub struct Output {
    /// Index among the FMU's variables.
    pub variable: usize,
    /// 0 for a scalar clock, else which of its elements, from 1.
    pub element: usize,
    /// Drafts that may tick it; empty: not said.
    pub ticked_by: Vec<usize>,
    /// Drafts that it triggers.
    pub targets: Vec<usize>,
}

/// The output clocks of each FMU in document order, without targets.
pub fn outputs(units: &[Unit], drafts: &[Draft]) -> Vec<Vec<Output>> {
    let of_unit = |(fmu, unit): (usize, &Unit)| {
        let mut outputs = Vec::new();
        for (variable, v) in unit.variables().iter().enumerate().filter(|(_, v)| is_output_clock(v)) {
            let mine = |&d: &usize| drafts[d].fmu == fmu && drafts[d].owns(unit, v);
            let ticked_by: Vec<usize> = (0..drafts.len()).filter(mine).collect();
            outputs.extend(elements(unit, v).map(|element| Output {
                variable,
                element,
                ticked_by: ticked_by.clone(),
                targets: Vec::new(),
            }));
        }
        outputs
    };
    units.iter().enumerate().map(of_unit).collect()
}

/// Fills in the releases of triggered drafts and the targets of output clocks.
pub fn connect(
    triggers: &[RigTrigger],
    units: &[Unit],
    drafts: &mut [Draft],
    outputs: &mut [Vec<Output>],
    times: &Timetable,
    mode: Mode,
    findings: &mut Findings,
) {
    by_description(units, drafts, outputs, findings);
    let mut seen: HashMap<(usize, usize), Place> = HashMap::new();
    let mut taken: HashMap<usize, Place> = HashMap::new();
    let mut sources = 0..;
    for trigger in triggers {
        let target = target(&trigger.clock, units, findings);
        let source = match &trigger.source {
            TriggerSource::OutputClock(from) => source(from, units, outputs, findings).map(Source::Outputs),
            TriggerSource::Times(at) => schedule(at, &trigger.clock, times, findings).map(Source::Times),
            TriggerSource::Datagrams(datagrams) => {
                if mode == Mode::Virtual {
                    findings.note(format!(
                        "{} is activated by datagrams ({}), which virtual time does not receive: it never ticks",
                        trigger.clock.value, datagrams.address.value
                    ));
                }
                sources.next().map(|source| Source::Datagrams(Release::Datagram { source }))
            }
        };
        let (Some((fmu, variable, element)), Some(source)) = (target, source) else { continue };
        seen.insert((fmu, variable), trigger.clock.place);
        let is_meant = |d: &Draft| (d.fmu, d.variable) == (fmu, variable) && element.is_none_or(|e| d.element == e);
        // A clock that has no draft was refused before.
        let targets: Vec<usize> = (0..drafts.len()).filter(|&d| is_meant(&drafts[d])).collect();
        let again = targets.iter().filter_map(|&draft| taken.insert(draft, trigger.clock.place)).next();
        if let Some(first) = again {
            let message =
                format!("{} already has a trigger in line {}: a clock has one", trigger.clock.value, first.line);
            findings.rig(trigger.clock.place, message);
            continue;
        }
        match source {
            Source::Times(release) => targets.into_iter().for_each(|draft| drafts[draft].release = release.clone()),
            Source::Datagrams(release) => match targets.as_slice() {
                [] => {}
                [draft] => drafts[*draft].release = release,
                _ => {
                    let message =
                        format!("{0} is an array: datagrams tick one element, such as {0}[1]", trigger.clock.value);
                    findings.rig(trigger.clock.place, message);
                }
            },
            Source::Outputs((fmu, sources)) => {
                if let Err(message) = join(fmu, &sources, &targets, drafts, outputs) {
                    findings
                        .rig(trigger.clock.place, format!("{} cannot be triggered: {message}", trigger.clock.value));
                }
            }
        }
    }
    for draft in drafts.iter().filter(|draft| draft.release == Release::Never) {
        let unit = &units[draft.fmu];
        let (name, kind) = (draft.name(unit), kind_in(unit.abi(), IntervalVariability::Triggered));
        let article = if kind.starts_with('a') { "an" } else { "a" };
        findings.note(format!(
            "{}.{name} is {article} {kind} clock that no [[trigger]] names: it never ticks",
            unit.name()
        ));
    }
    cycles::check(units, drafts, outputs, &seen, findings);
}

/// What a `[[trigger]]` says.
enum Source {
    /// Output clocks, by their FMU and their indices among its outputs.
    Outputs((usize, Vec<usize>)),
    Times(Release),
    Datagrams(Release),
}

/// The draft's `triggeredBy`.
fn by_description(units: &[Unit], drafts: &mut [Draft], outputs: &mut [Vec<Output>], findings: &mut Findings) {
    for (fmu, unit) in units.iter().enumerate() {
        for (variable, v) in unit.variables().iter().enumerate().filter(|(_, v)| is_input_clock(v)) {
            let Some(by) = v.clock.as_ref().and_then(|clock| clock.triggered_by) else { continue };
            let is_source = |o: &usize| unit.variables()[outputs[fmu][*o].variable].value_reference == by;
            let sources: Vec<usize> = (0..outputs[fmu].len()).filter(is_source).collect();
            let is_meant = |d: &usize| (drafts[*d].fmu, drafts[*d].variable) == (fmu, variable);
            let targets: Vec<usize> = (0..drafts.len()).filter(is_meant).collect();
            if sources.is_empty() {
                let message = format!("the clock \"{}\" is triggeredBy {}, which is no output clock", v.name, by.0);
                findings.xml(unit, v, message);
            } else if let Err(message) = join(fmu, &sources, &targets, drafts, outputs) {
                findings.xml(unit, v, format!("the clock \"{}\" cannot be triggeredBy {}: {message}", v.name, by.0));
            }
        }
    }
}

/// Output clocks of `fmu` trigger drafts: one all, all one, or each its own.
fn join(
    fmu: usize,
    sources: &[usize],
    targets: &[usize],
    drafts: &mut [Draft],
    outputs: &mut [Vec<Output>],
) -> Result<(), String> {
    let (n, m) = (sources.len(), targets.len());
    if n != 1 && m > 1 && n != m {
        return Err(format!("it has {m} elements, and what triggers it has {n}"));
    }
    for i in 0..n.max(m) {
        let (Some(&source), Some(&target)) = (sources.get(i % n), targets.get(i % m.max(1))) else { continue };
        outputs[fmu][source].targets.push(target);
        drafts[target].release = Release::Triggered { fmu: FmuId(fmu), output_clock: source };
    }
    Ok(())
}

fn target(clock: &At<Endpoint>, units: &[Unit], findings: &mut Findings) -> Option<(usize, usize, Option<usize>)> {
    let Endpoint { fmu, variable } = &clock.value;
    let fmu = units.iter().position(|unit| unit.name() == fmu)?;
    let unit = &units[fmu];
    let Some((index, element)) = named(unit, variable) else {
        let hint = hint(unit, variable, is_input_clock);
        findings.rig(clock.place, format!("{} has no clock \"{variable}\"{hint}", unit.name()));
        return None;
    };
    let v = &unit.variables()[index];
    match &v.clock {
        Some(c) if is_input_clock(v) && c.triggered_by.is_some() => {
            let by = c.triggered_by.and_then(|by| unit.find_reference(by));
            let by = by.map_or("an output clock", |i| &unit.variables()[i].name);
            let message =
                format!("{} is triggered by {by} of the FMU itself (triggeredBy): no [[trigger]] can", clock.value);
            findings.rig(clock.place, message);
        }
        Some(c) if is_input_clock(v) && c.interval_variability == IntervalVariability::Triggered => {
            return Some((fmu, index, element));
        }
        Some(c) if is_input_clock(v) => {
            let kind = kind_in(unit.abi(), c.interval_variability);
            let wanted = kind_in(unit.abi(), IntervalVariability::Triggered);
            let message = format!("{} is a {kind} clock: only {wanted} clocks can have a trigger", clock.value);
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
) -> Option<(usize, Vec<usize>)> {
    let Endpoint { fmu, variable } = &from.value;
    let fmu = units.iter().position(|unit| unit.name() == fmu)?;
    let unit = &units[fmu];
    let Some((index, element)) = named(unit, variable) else {
        let hint = hint(unit, variable, is_output_clock);
        findings.rig(from.place, format!("{} has no output clock \"{variable}\"{hint}", unit.name()));
        return None;
    };
    let is_meant = |o: &Output| o.variable == index && element.is_none_or(|element| o.element == element);
    let meant: Vec<usize> = (0..outputs[fmu].len()).filter(|&o| is_meant(&outputs[fmu][o])).collect();
    if meant.is_empty() {
        let what = if unit.variables()[index].clock.is_some() { "no output clock" } else { "no clock" };
        findings.rig(from.place, format!("{} is {what}: only output clocks can trigger", from.value));
        return None;
    }
    Some((fmu, meant))
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

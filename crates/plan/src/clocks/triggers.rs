//! The connections from output clocks, lists of times and sources of datagrams to the triggered input clocks.
//!
//! In the draft the description has them (`triggeredBy`). Array clocks are triggered element by element.

use super::candidates::{Candidate, InputClock, elements, hint, is_input_clock, is_output_clock, named};
use super::{ClockNetwork, TickSource, causes};
use crate::described::DescribedFmu;
use crate::findings::Findings;
use crate::rig::{At, Mode, Place, Rig, RigEndpoint, TriggerSource, VariableName};
use crate::timetable::Timetable;
use crate::{FmuId, Release};
use std::collections::{BTreeMap, HashMap};
use vecud_description::IntervalVariability;

/// The tick sources of each FMU, without targets.
fn tick_sources(fmus: &[DescribedFmu], candidates: &[Candidate]) -> Vec<Vec<TickSource>> {
    let of_unit = |(fmu, described): (usize, &DescribedFmu)| {
        let mut sources = Vec::new();
        for (variable, v) in described.variables().iter().enumerate().filter(|(_, v)| is_output_clock(v)) {
            let mine = |&d: &usize| candidates[d].fmu == fmu && candidates[d].owns(described, v);
            let ticked_by: Vec<usize> = (0..candidates.len()).filter(mine).collect();
            sources.extend(elements(described, v).map(|element| TickSource {
                variable,
                element,
                ticked_by: ticked_by.clone(),
                targets: Vec::new(),
                step_targets: Vec::new(),
                step_clock: None,
            }));
        }
        let steps = (0..candidates.len()).filter(|&d| candidates[d].fmu == fmu && candidates[d].clock.is_none());
        let steps: Vec<usize> = steps.collect();
        let inputs = candidates.iter().filter(|candidate| candidate.fmu == fmu && candidate.in_steps);
        sources.extend(inputs.filter_map(|input| {
            let InputClock { variable, element, .. } = input.clock?;
            let (ticked_by, step_clock) = (steps.clone(), Some(input.clone()));
            Some(TickSource { variable, element, ticked_by, targets: Vec::new(), step_targets: Vec::new(), step_clock })
        }));
        sources
    };
    fmus.iter().enumerate().map(of_unit).collect()
}

/// Connects triggered clocks with the clocks that trigger them. Candidates of other clocks are unchanged.
pub fn connect(
    rig: &Rig,
    fmus: &[DescribedFmu],
    mut candidates: Vec<Candidate>,
    times: &Timetable,
    findings: &mut Findings,
) -> ClockNetwork {
    let mut tick_sources = tick_sources(fmus, &candidates);
    by_description(fmus, &mut candidates, &mut tick_sources, findings);
    let mut trigger_places: HashMap<(usize, usize), Place> = HashMap::new();
    let mut taken: HashMap<usize, Place> = HashMap::new();
    // Endpoints have the numbers of their places in the rig, refused ones included.
    let mut endpoints = 0..;
    for trigger in &rig.triggers {
        let target = target(&trigger.clock, fmus, findings);
        let source = match &trigger.source {
            TriggerSource::OutputClock(from) => source(from, fmus, &tick_sources, findings).map(Trigger::Outputs),
            TriggerSource::Times(at) => schedule(at, &trigger.clock, times, findings).map(Trigger::Times),
            TriggerSource::Endpoint(RigEndpoint { source, .. }) => {
                if rig.mode == Mode::Virtual {
                    findings.note(format!(
                        "{} is activated by {} ({}), which virtual time does not receive: it never ticks",
                        trigger.clock.value,
                        source.value.items(),
                        source.value
                    ));
                }
                let items = source.value.items();
                endpoints.next().map(|endpoint| Trigger::Endpoint(Release::Endpoint { endpoint }, items))
            }
        };
        let (Some((fmu, variable, element)), Some(source)) = (target, source) else { continue };
        trigger_places.insert((fmu, variable), trigger.clock.place);
        let is_meant = |d: &Candidate| d.is_of(fmu, variable, element);
        // A clock that has no candidate was refused before.
        let targets: Vec<usize> = (0..candidates.len()).filter(|&d| is_meant(&candidates[d])).collect();
        if let Some(first) = targets.iter().find_map(|candidate| taken.get(candidate).copied()) {
            let message =
                format!("{} already has a trigger in line {}: a clock has one", trigger.clock.value, first.line);
            findings.rig(trigger.clock.place, message);
            continue;
        }
        taken.extend(targets.iter().map(|&candidate| (candidate, trigger.clock.place)));
        match source {
            Trigger::Times(release) => {
                targets.into_iter().for_each(|candidate| candidates[candidate].release = release.clone())
            }
            Trigger::Endpoint(release, items) => match targets.as_slice() {
                [] => {}
                [candidate] if candidates[*candidate].in_steps && has_endpoint(&candidates, fmu) => {
                    let message = format!(
                        "{items} tick another clock of {} already: they are counted for all of an FMU that makes steps, which \
                         has one source of them; have another FMU tell its clocks apart, or give times as at",
                        fmus[fmu].name()
                    );
                    findings.rig(trigger.clock.place, message);
                }
                [candidate] => candidates[*candidate].release = release,
                _ => {
                    let message =
                        format!("{0} is an array: {items} tick one element, such as {0}[1]", trigger.clock.value);
                    findings.rig(trigger.clock.place, message);
                }
            },
            Trigger::Outputs((fmu, sources)) => {
                if let Err(message) = join(fmu, &sources, &targets, &mut candidates, &mut tick_sources) {
                    let clock = &trigger.clock.value;
                    let message =
                        format!("{clock} cannot be triggered: {message}; one of its elements is written {clock}[1]");
                    findings.rig(trigger.clock.place, message);
                }
            }
        }
    }
    for candidate in candidates.iter_mut().filter(|candidate| candidate.release == Release::Never) {
        let described = &fmus[candidate.fmu];
        // A clock that belongs to clocks ticks with these, not on request.
        let is_free = candidate.variable(described).is_some_and(|clock| clock.clocks.is_empty());
        if described.controlled && is_free {
            candidate.release = Release::Request;
            continue;
        }
        let (name, kind) = (candidate.name(described), IntervalVariability::Triggered.name_in(described.abi()));
        let article = if kind.starts_with('a') { "an" } else { "a" };
        findings.note(format!(
            "{}.{name} is {article} {kind} clock that no [[trigger]] names: it never ticks",
            described.name()
        ));
    }
    let clocks = split_off_clocks_in_steps(candidates, tick_sources, fmus.len());
    causes::check_circles(fmus, &clocks, &trigger_places, findings);
    clocks
}

/// Whether an endpoint ticks a clock of this FMU.
fn has_endpoint(candidates: &[Candidate], fmu: usize) -> bool {
    candidates.iter().any(|own| own.fmu == fmu && matches!(own.release, Release::Endpoint { .. }))
}

/// Takes the clocks that tick between steps out of the candidates: they are no tasks. Their triggers refer to them by their places among the
/// tick sources of their FMUs. Precondition: they stand at the end of `candidates`.
fn split_off_clocks_in_steps(
    mut candidates: Vec<Candidate>,
    mut tick_sources: Vec<Vec<TickSource>>,
    fmus: usize,
) -> ClockNetwork {
    debug_assert!(candidates.is_sorted_by_key(|candidate| candidate.in_steps));
    let tasks = candidates.iter().position(|candidate| candidate.in_steps).unwrap_or(candidates.len());
    let in_steps = candidates.split_off(tasks);
    let mut places = Vec::new();
    for candidate in &in_steps {
        let InputClock { variable, element, .. } = candidate.clock.expect("it is a clock");
        let is_it = |o: &TickSource| o.step_clock.is_some() && (o.variable, o.element) == (variable, element);
        let place = tick_sources[candidate.fmu].iter().position(is_it).expect("each has a place");
        tick_sources[candidate.fmu][place].step_clock = Some(candidate.clone());
        places.push((candidate.fmu, place));
    }
    for source in tick_sources.iter_mut().flatten() {
        let (own, clocks) = std::mem::take(&mut source.targets).into_iter().partition(|&target| target < tasks);
        source.targets = own;
        source.step_targets = Vec::into_iter(clocks).map(|target: usize| places[target - tasks]).collect();
        source.ticked_by.retain(|&by| by < tasks);
    }
    ClockNetwork { candidates, tick_sources, firsts: (0..fmus).collect(), groups: BTreeMap::new() }
}

/// The source of a `[[trigger]]`.
enum Trigger {
    /// Output clocks, by their FMU and their indices among its tick sources.
    Outputs((usize, Vec<usize>)),
    Times(Release),
    /// An endpoint, and its items for messages.
    Endpoint(Release, &'static str),
}

/// The draft's `triggeredBy`.
fn by_description(
    fmus: &[DescribedFmu],
    candidates: &mut [Candidate],
    tick_sources: &mut [Vec<TickSource>],
    findings: &mut Findings,
) {
    for (fmu, described) in fmus.iter().enumerate() {
        for (variable, v) in described.variables().iter().enumerate().filter(|(_, v)| is_input_clock(v)) {
            let Some(by) = v.clock.as_ref().and_then(|clock| clock.triggered_by) else { continue };
            let is_source = |o: &usize| described.variables()[tick_sources[fmu][*o].variable].value_reference == by;
            let sources: Vec<usize> = (0..tick_sources[fmu].len()).filter(is_source).collect();
            let is_meant = |d: &usize| candidates[*d].is_of(fmu, variable, None);
            let targets: Vec<usize> = (0..candidates.len()).filter(is_meant).collect();
            if sources.is_empty() {
                let message = format!("the clock \"{}\" is triggeredBy {}, which is no output clock", v.name, by.0);
                findings.xml(described, v, message);
            } else if let Err(message) = join(fmu, &sources, &targets, candidates, tick_sources) {
                findings.xml(
                    described,
                    v,
                    format!("the clock \"{}\" cannot be triggeredBy {}: {message}", v.name, by.0),
                );
            }
        }
    }
}

/// Output clocks of `fmu` trigger candidates: one all, all one, or each its own. Precondition: there is a source. There may be no target,
/// as of a clock that was refused before.
fn join(
    fmu: usize,
    sources: &[usize],
    targets: &[usize],
    candidates: &mut [Candidate],
    tick_sources: &mut [Vec<TickSource>],
) -> Result<(), String> {
    let (n, m) = (sources.len(), targets.len());
    if n != 1 && m > 1 && n != m {
        return Err(format!("it has {m} elements, and what triggers it has {n}"));
    }
    for i in 0..n.max(m) {
        let (Some(&source), Some(&target)) = (sources.get(i % n), targets.get(i % m.max(1))) else { continue };
        tick_sources[fmu][source].targets.push(target);
        candidates[target].release = Release::Triggered { fmu: FmuId(fmu), output_clock: source };
    }
    Ok(())
}

fn target(
    clock: &At<VariableName>,
    fmus: &[DescribedFmu],
    findings: &mut Findings,
) -> Option<(usize, usize, Option<usize>)> {
    let VariableName { fmu, variable } = &clock.value;
    let fmu = fmus.iter().position(|described| described.name() == fmu)?;
    let described = &fmus[fmu];
    let Some((index, element)) = named(described, variable) else {
        let hint = hint(described, variable, is_input_clock);
        findings.rig(clock.place, format!("{} has no clock \"{variable}\"{hint}", described.name()));
        return None;
    };
    let v = &described.variables()[index];
    match &v.clock {
        Some(c) if is_input_clock(v) && c.triggered_by.is_some() => {
            let by = c.triggered_by.and_then(|by| described.find_reference(by));
            let by = by.map_or("an output clock", |i| &described.variables()[i].name);
            let message =
                format!("{} is triggered by {by} of the FMU itself (triggeredBy): no [[trigger]] can", clock.value);
            findings.rig(clock.place, message);
        }
        Some(c) if is_input_clock(v) && c.interval_variability == IntervalVariability::Triggered => {
            return Some((fmu, index, element));
        }
        Some(c) if is_input_clock(v) => {
            let kind = c.interval_variability.name_in(described.abi());
            let wanted = IntervalVariability::Triggered.name_in(described.abi());
            let message = format!("{} is a {kind} clock: only {wanted} clocks can have a trigger", clock.value);
            findings.rig(clock.place, message);
        }
        Some(_) => findings.rig(clock.place, format!("{} is no input clock: nothing can trigger it", clock.value)),
        None => findings.rig(clock.place, format!("{} is no clock", clock.value)),
    }
    None
}

fn source(
    from: &At<VariableName>,
    fmus: &[DescribedFmu],
    tick_sources: &[Vec<TickSource>],
    findings: &mut Findings,
) -> Option<(usize, Vec<usize>)> {
    let VariableName { fmu, variable } = &from.value;
    let fmu = fmus.iter().position(|described| described.name() == fmu)?;
    let described = &fmus[fmu];
    let Some((index, element)) = named(described, variable) else {
        let hint = hint(described, variable, is_output_clock);
        findings.rig(from.place, format!("{} has no output clock \"{variable}\"{hint}", described.name()));
        return None;
    };
    let is_meant = |o: &TickSource| o.variable == index && element.is_none_or(|element| o.element == element);
    let meant: Vec<usize> = (0..tick_sources[fmu].len()).filter(|&o| is_meant(&tick_sources[fmu][o])).collect();
    if meant.is_empty() {
        let what = if described.variables()[index].clock.is_some() { "no output clock" } else { "no clock" };
        findings.rig(from.place, format!("{} is {what}: only output clocks can trigger", from.value));
        return None;
    }
    Some((fmu, meant))
}

fn schedule(
    at: &[At<vecud_base::time::Instant>],
    clock: &At<VariableName>,
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

//! The variables that a task sets before and reads after its activation (semantics S10).
//!
//! A task touches variables of its own clock and of no clock only. Variables that belong to output clocks alone are read by the
//! tasks that may tick these, after a partition has returned that has ticked one of them in this activation (FMI 3.0.2, 2.2.8.3:
//! only while one of their clocks is active); in the draft inside the callback. An input that is fed is recorded as it was set:
//! an FMU may change it afterwards, and a replay of the recording has to feed the same.

use crate::clocks::TickSource;
use crate::clocks::candidates::{Candidate, is_output_clock};
use crate::connections::links::Links;
use crate::described::{DescribedFmu, VariableId};
use crate::elements;
use crate::inputs::start_values::start_of;
use crate::resolved::Resolved;
use crate::sizes::{is_resizable, lengths};
use crate::{BatchItem, BatchPlan, ConnectionId, OnTick};
use std::collections::BTreeMap;
use vecud_description::{Abi, Causality, Variable, VariableType};

/// Whether this variable belongs to output clocks alone.
fn is_of_output_clocks(described: &DescribedFmu, v: &Variable) -> bool {
    let mut clocks =
        v.clocks.iter().filter_map(|&clock| described.find_reference(clock)).map(|i| &described.variables()[i]);
    clocks.next().is_some_and(is_output_clock) && clocks.all(is_output_clock)
}

/// The output clocks, or elements of them, that a variable belongs to, by their indices; nothing unless it belongs to
/// output clocks alone. Where events are handled between steps: all clocks that it belongs to.
fn output_clocks(described: &DescribedFmu, sources: &[TickSource], v: &Variable) -> Vec<usize> {
    if !described.handles_events() && !is_of_output_clocks(described, v) {
        return Vec::new();
    }
    let is_its = |o: &TickSource| {
        v.clocks.contains(&described.variables()[o.variable].value_reference)
            && (v.clock_element == 0 || o.element == 0 || v.clock_element == o.element)
    };
    (0..sources.len()).filter(|&i| is_its(&sources[i])).collect()
}

/// Whether this variable is read in the callback in which its output clock has ticked, where there is no Event Mode for that.
/// Arrays of variable size are not: their size is not followed there.
fn is_on_tick(described: &DescribedFmu, v: &Variable) -> bool {
    described.abi() == Abi::Draft
        && !described.handles_events()
        && is_of_output_clocks(described, v)
        && matches!(v.causality, Causality::Output | Causality::Local)
        && !is_resizable(described, v)
}

/// The variables that are read when output clocks of an FMU tick: one batch per type and clock, or element of an array clock.
pub fn on_ticks(resolved: &Resolved, fmu: usize) -> Vec<OnTick> {
    let described = &resolved.fmus[fmu];
    let variables = resolved.needed[fmu].read.iter().copied();
    let variables = variables.filter(|&i| is_on_tick(described, &described.variables()[i]));
    let batches = |(clocks, variables): (Vec<usize>, Vec<usize>)| {
        let batches = read(resolved, fmu, variables).into_iter();
        batches.map(move |batch| OnTick { clocks: clocks.clone(), batch })
    };
    by_output_clocks(resolved, fmu, variables).into_iter().flat_map(batches).collect()
}

/// Variables by the output clocks that they belong to alone, by their places.
fn by_output_clocks(
    resolved: &Resolved,
    fmu: usize,
    variables: impl Iterator<Item = usize>,
) -> BTreeMap<Vec<usize>, Vec<usize>> {
    let mut by_clocks: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    let (described, sources) = (&resolved.fmus[fmu], &resolved.clocks.tick_sources[fmu]);
    for variable in variables {
        let clocks = output_clocks(described, sources, &described.variables()[variable]);
        by_clocks.entry(clocks).or_default().push(variable);
    }
    by_clocks
}

/// The variables that a task sets before and reads after its activation.
#[derive(Clone, Default)]
pub struct Batches {
    pub set: Vec<BatchPlan>,
    pub get: Vec<BatchPlan>,
}

/// The batches of all tasks, by candidate.
pub fn of_tasks(resolved: &Resolved) -> Vec<Batches> {
    let candidates = &resolved.clocks.candidates;
    let (mut set, mut get) = (vec![Vec::new(); candidates.len()], vec![Vec::new(); candidates.len()]);
    for (fmu, (described, needed)) in resolved.fmus.iter().zip(&resolved.needed).enumerate() {
        for &i in &needed.written {
            resolved.setting((fmu, i)).into_iter().for_each(|candidate| set[candidate].push(i));
        }
        // An input that nothing feeds keeps its start value.
        let is_read = |&i: &usize| match described.variables()[i].causality {
            Causality::Input => needed.is_input_read(described, i),
            _ => true,
        };
        for &i in needed.read.iter().filter(|i| is_read(i) && !is_on_tick(described, &described.variables()[**i])) {
            resolved.getting((fmu, i)).into_iter().for_each(|candidate| get[candidate].push(i));
        }
    }
    let is_recorded = |candidate: usize, i: usize| resolved.columns.is_recorded((candidates[candidate].fmu, i));
    let makes_rows = |lists: &[Vec<usize>]| {
        lists.iter().enumerate().any(|(candidate, list)| list.iter().any(|i| is_recorded(candidate, *i)))
    };
    let ticks =
        || (0..resolved.fmus.len()).any(|fmu| !on_ticks(resolved, fmu).is_empty()) || resolved.columns.has_clocks();
    // A rig has the start values of its columns in its files; rows of a simulation, which have none, are all that there is of it.
    let has_files = resolved.rig.record.as_ref().is_none_or(|own| !own.formats.is_empty());
    // Where no recorded variable changes, constant ones make the rows.
    if !has_files && !makes_rows(&set) && !makes_rows(&get) && !ticks() {
        for (fmu, needed) in resolved.needed.iter().enumerate() {
            for &i in needed.read.iter().filter(|i| resolved.columns.is_recorded((fmu, **i))) {
                resolved.setting((fmu, i)).into_iter().for_each(|candidate| get[candidate].push(i));
            }
        }
        get.iter_mut().for_each(|list| list.sort_unstable());
    }
    let batches = |(candidate, (set, get)): (&Candidate, (Vec<usize>, Vec<usize>))| {
        let fmu = candidate.fmu;
        let set = written_with(resolved, fmu, set, |variable, item| {
            fill_written(resolved, (fmu, variable), item);
            let (id, described, starts) = ((fmu, variable), &resolved.fmus[fmu], &resolved.starts[fmu]);
            let is_connected = !resolved.links.feeding(id).is_empty();
            resolved.stimuli.feed(described, starts, id, is_connected, item);
        });
        let batches = |(clocks, variables): (Vec<usize>, Vec<usize>)| {
            let batches = read(resolved, fmu, variables).into_iter();
            batches.map(move |batch| BatchPlan { ticked: clocks.clone(), ..batch })
        };
        if resolved.fmus[fmu].handles_events() {
            return Batches { set, get: read_in_event_mode(resolved, fmu, get) };
        }
        Batches { set, get: by_output_clocks(resolved, fmu, get.into_iter()).into_iter().flat_map(batches).collect() }
    };
    candidates.iter().zip(set.into_iter().zip(get)).map(batches).collect()
}

/// Batches that set connected inputs.
pub fn written(resolved: &Resolved, fmu: usize, variables: impl IntoIterator<Item = usize>) -> Vec<BatchPlan> {
    written_with(resolved, fmu, variables, |variable, item| fill_written(resolved, (fmu, variable), item))
}

/// Batches that set variables. Where events are handled, such as are set in Event Mode alone apart (FMI 3.0.2, 4.2.1: in Step Mode only
/// continuous inputs may be set).
fn written_with(
    resolved: &Resolved,
    fmu: usize,
    variables: impl IntoIterator<Item = usize>,
    fill: impl Fn(usize, &mut BatchItem),
) -> Vec<BatchPlan> {
    let described = &resolved.fmus[fmu];
    let (discrete, others): (Vec<usize>, Vec<usize>) =
        variables.into_iter().partition(|&variable| resolved.is_set_in_event_mode((fmu, variable)));
    let mut batches = group(described, others, &fill);
    for (clocks, variables) in by_output_clocks(resolved, fmu, discrete.into_iter()) {
        let own = group(described, variables, &fill).into_iter();
        batches.extend(own.map(|batch| BatchPlan { in_event_mode: true, ticked: clocks.clone(), ..batch }));
    }
    batches
}

/// Batches that read variables of an FMU whose events are handled between steps: continuous ones, and discrete ones by the clocks
/// that they belong to.
fn read_in_event_mode(resolved: &Resolved, fmu: usize, variables: Vec<usize>) -> Vec<BatchPlan> {
    let described = &resolved.fmus[fmu];
    let (discrete, others): (Vec<usize>, Vec<usize>) =
        variables.into_iter().partition(|&variable| described.changes_in_event_mode(&described.variables()[variable]));
    let mut batches = read(resolved, fmu, others);
    for (clocks, variables) in by_output_clocks(resolved, fmu, discrete.into_iter()) {
        let own = read(resolved, fmu, variables).into_iter();
        batches.extend(own.map(|batch| BatchPlan { in_event_mode: true, ticked: clocks.clone(), ..batch }));
    }
    batches
}

fn fill_written(resolved: &Resolved, (fmu, variable): VariableId, item: &mut BatchItem) {
    let (described, links) = (&resolved.fmus[fmu], &resolved.links);
    let feeding = links.feeding((fmu, variable));
    if resolved.needed[fmu].is_recorded_when_set(described, variable) {
        item.signals = resolved.columns.of_variable((fmu, variable));
    }
    (item.connections, item.capacity) = carried(links, feeding);
    if feeding.iter().any(|&link| links[link].to.partial) {
        item.start = start_of(described, variable, &resolved.starts[fmu]);
        item.capacity = item.capacity.max(item.start.as_ref().map_or(0, elements::longest));
    }
}

/// Batches that read.
pub fn read(resolved: &Resolved, fmu: usize, variables: impl IntoIterator<Item = usize>) -> Vec<BatchPlan> {
    let (described, links) = (&resolved.fmus[fmu], &resolved.links);
    group(described, variables, |variable, item| {
        (item.connections, item.capacity) = carried(links, links.fed_by((fmu, variable)));
        item.signals = resolved.columns.of_variable((fmu, variable));
        item.capacity = item.capacity.max(resolved.columns.capacity(&item.signals));
    })
}

/// The connections at these indices, and the longest value that one of them passes on.
fn carried(links: &Links, these: &[usize]) -> (Vec<ConnectionId>, usize) {
    let capacity = these.iter().map(|&link| links[link].capacity).max().unwrap_or(0);
    (these.iter().copied().map(ConnectionId).collect(), capacity)
}

/// One batch per type, in document order; and one for each array whose size may change.
fn group(
    described: &DescribedFmu,
    variables: impl IntoIterator<Item = usize>,
    complete: impl Fn(usize, &mut BatchItem),
) -> Vec<BatchPlan> {
    let mut by_type: BTreeMap<VariableType, Vec<BatchItem>> = BTreeMap::new();
    let mut resizable = Vec::new();
    for variable in variables {
        let v = &described.variables()[variable];
        let mut item = BatchItem {
            reference: v.value_reference,
            name: v.name.clone(),
            elements: described.elements(v),
            capacity: 0,
            connections: Vec::new(),
            stimuli: Vec::new(),
            start: None,
            signals: Vec::new(),
        };
        complete(variable, &mut item);
        if item.connections.is_empty() && is_resizable(described, v) {
            let (variable_type, resizable_by) = (v.variable_type, Some(lengths(described, v)));
            resizable.push(BatchPlan {
                variable_type,
                items: vec![item],
                resizable: resizable_by,
                in_event_mode: false,
                ticked: Vec::new(),
            });
            continue;
        }
        by_type.entry(v.variable_type).or_default().push(item);
    }
    let fixed = |(variable_type, items)| BatchPlan {
        variable_type,
        items,
        resizable: None,
        in_event_mode: false,
        ticked: Vec::new(),
    };
    by_type.into_iter().map(fixed).chain(resizable).collect()
}

//! Which variables a task sets before and reads after its activation (design S10).
//!
//! A task touches variables of its own clock and of no clock only. Variables that belong to output clocks alone are read
//! by the tasks that may tick these, after a partition has returned that has ticked one of them in this activation (FMI
//! 3.0.2, 2.2.8.3: only while one of their clocks is active); in the draft inside the callback (requirements.md SE-55). An input that is fed is recorded as it was set: an FMU may change it afterwards, and a
//! replay of the recording is to feed the same.

use super::owners::Owners;
use crate::fmu::description::{Abi, Causality, Values, Variability, Variable, VariableType};
use crate::plan::clocks::drafts::{Draft, is_input_clock, is_output_clock};
use crate::plan::clocks::triggers::Output;
use crate::plan::connections::links::Links;
use crate::plan::findings::Unit;
use crate::plan::inputs::control;
use crate::plan::inputs::start_values::Starts;
use crate::plan::inputs::values;
use crate::plan::record::Columns;
use crate::plan::{Batch, BatchItem, ConnectionId, OnTick};
use std::collections::{BTreeMap, BTreeSet};

/// What the rig wants of the variables of one FMU, by index.
pub struct Wanted {
    /// Outputs that feed connections, and what is recorded.
    pub read: BTreeSet<usize>,
    /// Inputs that are fed.
    pub written: BTreeSet<usize>,
}

impl Wanted {
    /// Whether the recording has what is set of this variable, and not what is read. Of arrays of variable size nobody
    /// follows the size of what is set, and of one that the rig has resized only the FMU knows what it starts with.
    pub fn is_recorded_when_set(&self, unit: &Unit, variable: usize) -> bool {
        let v = &unit.variables()[variable];
        self.written.contains(&variable) && !control::is_resizable(unit, v) && !unit.is_resized(v)
    }
}

/// For each FMU.
pub fn wanted(units: &[Unit], links: &Links, columns: &Columns) -> Vec<Wanted> {
    let mut all: Vec<Wanted> =
        units.iter().map(|_| Wanted { read: BTreeSet::new(), written: BTreeSet::new() }).collect();
    for link in links.iter() {
        all[link.source.0].read.insert(link.source.1);
        all[link.target.0].written.insert(link.target.1);
    }
    for &(fmu, variable) in columns.of.keys() {
        all[fmu].read.insert(variable);
    }
    all
}

/// Whether some input clock's task may set this input.
pub fn has_input_clock(unit: &Unit, v: &Variable) -> bool {
    let is_input = |i: usize| is_input_clock(&unit.variables()[i]);
    v.clocks.is_empty() || v.clocks.iter().any(|&clock| unit.find_reference(clock).is_some_and(is_input))
}

/// Whether the draft's task sets this (connected) input.
pub fn sets(unit: &Unit, draft: &Draft, v: &Variable) -> bool {
    touches(unit, draft, v)
}

/// Whether a variable or output clock is of the draft's clock, or of none.
fn touches(unit: &Unit, draft: &Draft, v: &Variable) -> bool {
    v.clocks.is_empty() || draft.owns(unit, v)
}

/// Whether the draft's task reads this (wanted) variable.
pub fn gets(unit: &Unit, draft: &Draft, v: &Variable) -> bool {
    let computed = matches!(v.causality, Causality::Input | Causality::Output | Causality::Local)
        && !matches!(v.variability, Variability::Constant | Variability::Fixed);
    if !computed {
        return false;
    }
    if touches(unit, draft, v) {
        return true;
    }
    let clocks: Vec<&Variable> =
        v.clocks.iter().filter_map(|&clock| unit.find_reference(clock)).map(|i| &unit.variables()[i]).collect();
    !clocks.iter().any(|clock| is_input_clock(clock)) && clocks.iter().any(|clock| touches(unit, draft, clock))
}

/// Whether this variable belongs to output clocks alone.
fn is_of_output_clocks(unit: &Unit, v: &Variable) -> bool {
    let mut clocks = v.clocks.iter().filter_map(|&clock| unit.find_reference(clock)).map(|i| &unit.variables()[i]);
    clocks.next().is_some_and(is_output_clock) && clocks.all(is_output_clock)
}

/// The output clocks, or elements of them, that a variable belongs to, by their places; nothing unless it belongs to output
/// clocks alone.
fn output_clocks(unit: &Unit, outputs: &[Output], v: &Variable) -> Vec<usize> {
    if !is_of_output_clocks(unit, v) {
        return Vec::new();
    }
    let is_its = |o: &Output| {
        v.clocks.contains(&unit.variables()[o.variable].value_reference)
            && (v.clock_element == 0 || o.element == 0 || v.clock_element == o.element)
    };
    (0..outputs.len()).filter(|&i| is_its(&outputs[i])).collect()
}

/// Whether this variable is read in the callback in which its output clock has ticked. Arrays of variable size are not:
/// nobody follows their size there.
fn is_on_tick(unit: &Unit, v: &Variable) -> bool {
    unit.abi() == Abi::Draft
        && is_of_output_clocks(unit, v)
        && matches!(v.causality, Causality::Output | Causality::Local)
        && !control::is_resizable(unit, v)
}

/// What is read when output clocks of this FMU tick: one batch per type and clock, or element of an array clock.
pub fn on_ticks(
    units: &[Unit],
    fmu: usize,
    outputs: &[Output],
    wanted: &Wanted,
    links: &Links,
    columns: &Columns,
) -> Vec<OnTick> {
    let unit = &units[fmu];
    let mut by_clocks: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for &index in wanted.read.iter().filter(|&&i| is_on_tick(unit, &unit.variables()[i])) {
        by_clocks.entry(output_clocks(unit, outputs, &unit.variables()[index])).or_default().push(index);
    }
    let batches = |(clocks, variables): (Vec<usize>, Vec<usize>)| {
        let batches = read(units, fmu, variables, wanted, links, columns).into_iter();
        batches.map(move |batch| OnTick { clocks: clocks.clone(), batch })
    };
    by_clocks.into_iter().flat_map(batches).collect()
}

/// The variables of one task, by index.
#[derive(Clone, Default)]
struct Touched {
    set: Vec<usize>,
    get: Vec<usize>,
}

/// The batches of all tasks, by draft: set, get.
#[allow(clippy::too_many_arguments)] // what the rig says, each resolved by itself
pub fn of_tasks(
    units: &[Unit],
    drafts: &[Draft],
    outputs: &[Vec<Output>],
    owners: &Owners,
    wanted: &[Wanted],
    links: &Links,
    starts: &[Starts],
    columns: &Columns,
) -> Vec<(Vec<Batch>, Vec<Batch>)> {
    let mut touched = vec![Touched::default(); drafts.len()];
    for (fmu, (unit, wanted)) in units.iter().zip(wanted).enumerate() {
        for &i in &wanted.written {
            owners.setting(fmu, i).into_iter().for_each(|draft| touched[draft].set.push(i));
        }
        // An input that nothing feeds keeps its start value.
        let is_read = |&i: &usize| match unit.variables()[i].causality {
            Causality::Input => wanted.written.contains(&i) && !wanted.is_recorded_when_set(unit, i),
            _ => true,
        };
        for &i in wanted.read.iter().filter(|i| is_read(i) && !is_on_tick(unit, &unit.variables()[**i])) {
            owners.getting(fmu, i).into_iter().for_each(|draft| touched[draft].get.push(i));
        }
    }
    let batches = |(draft, touched): (&Draft, Touched)| {
        let (fmu, wanted) = (draft.fmu, &wanted[draft.fmu]);
        let set = written(units, fmu, touched.set, wanted, links, starts, columns);
        let mut by_clocks: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for variable in touched.get {
            let clocks = output_clocks(&units[fmu], &outputs[fmu], &units[fmu].variables()[variable]);
            by_clocks.entry(clocks).or_default().push(variable);
        }
        let batches = |(clocks, variables): (Vec<usize>, Vec<usize>)| {
            let batches = read(units, fmu, variables, wanted, links, columns).into_iter();
            batches.map(move |batch| Batch { ticked: clocks.clone(), ..batch })
        };
        (set, by_clocks.into_iter().flat_map(batches).collect())
    };
    drafts.iter().zip(touched).map(batches).collect()
}

/// Batches that set connected inputs.
pub fn written(
    units: &[Unit],
    fmu: usize,
    variables: impl IntoIterator<Item = usize>,
    wanted: &Wanted,
    links: &Links,
    starts: &[Starts],
    columns: &Columns,
) -> Vec<Batch> {
    group(&units[fmu], variables, |variable, item| {
        let feeding = links.feeding((fmu, variable));
        if wanted.is_recorded_when_set(&units[fmu], variable) {
            item.signals = columns.of.get(&(fmu, variable)).cloned().unwrap_or_default();
        }
        (item.connections, item.capacity) = carried(links, feeding);
        if feeding.iter().any(|&link| links[link].to.partial) {
            item.start = start_of(&units[fmu], variable, &starts[fmu]);
            item.capacity = item.capacity.max(item.start.as_ref().map_or(0, values::longest));
        }
    })
}

/// Whether [`start_of`] is something.
pub fn has_start(unit: &Unit, variable: usize, starts: &Starts) -> bool {
    starts.contains_key(&variable) || unit.start_of(&unit.variables()[variable]).is_some()
}

/// All elements that a variable starts with: by the rig, else by its description.
pub fn start_of(unit: &Unit, variable: usize, starts: &Starts) -> Option<Values> {
    let v = &unit.variables()[variable];
    let start = starts.get(&variable).map(|start| &start.values).or(unit.start_of(v))?;
    Some(values::expanded(start, unit.elements(v)))
}

/// Batches that read.
pub fn read(
    units: &[Unit],
    fmu: usize,
    variables: impl IntoIterator<Item = usize>,
    wanted: &Wanted,
    links: &Links,
    columns: &Columns,
) -> Vec<Batch> {
    group(&units[fmu], variables, |variable, item| {
        (item.connections, item.capacity) = carried(links, links.fed_by((fmu, variable)));
        if !wanted.is_recorded_when_set(&units[fmu], variable) {
            item.signals = columns.of.get(&(fmu, variable)).cloned().unwrap_or_default();
        }
    })
}

/// The connections at these places, and the longest value that one of them passes on.
fn carried(links: &Links, these: &[usize]) -> (Vec<ConnectionId>, usize) {
    let capacity = these.iter().map(|&link| links[link].capacity).max().unwrap_or(0);
    (these.iter().copied().map(ConnectionId).collect(), capacity)
}

/// One batch per type, in document order within; and one for each array whose size may change.
fn group(
    unit: &Unit,
    variables: impl IntoIterator<Item = usize>,
    complete: impl Fn(usize, &mut BatchItem),
) -> Vec<Batch> {
    let mut by_type: BTreeMap<VariableType, Vec<BatchItem>> = BTreeMap::new();
    let mut resizable = Vec::new();
    for variable in variables {
        let v = &unit.variables()[variable];
        let mut item = BatchItem {
            reference: v.value_reference,
            name: v.name.clone(),
            elements: unit.elements(v),
            capacity: 0,
            connections: Vec::new(),
            stimuli: Vec::new(),
            start: None,
            signals: Vec::new(),
        };
        complete(variable, &mut item);
        if item.connections.is_empty() && control::is_resizable(unit, v) {
            let (variable_type, resizable_by) = (v.variable_type, Some(control::lengths(unit, v)));
            resizable.push(Batch { variable_type, items: vec![item], resizable: resizable_by, ticked: Vec::new() });
            continue;
        }
        by_type.entry(v.variable_type).or_default().push(item);
    }
    let fixed = |(variable_type, items)| Batch { variable_type, items, resizable: None, ticked: Vec::new() };
    by_type.into_iter().map(fixed).chain(resizable).collect()
}

//! Which variables a task sets before and reads after its activation (design S10).
//!
//! A task touches variables of its own clock and of no clock only. Variables that belong to output clocks alone are read
//! by the tasks that may tick these, after the partition has returned.

use super::clocks::{Draft, is_input_clock};
use super::connections::Link;
use super::findings::Unit;
use super::record::Columns;
use super::{Batch, BatchItem, ConnectionId};
use crate::fmu::description::{Causality, Variability, Variable, VariableType};
use std::collections::{BTreeMap, BTreeSet};

/// What the rig wants of the variables of one FMU, by index.
pub(super) struct Wanted {
    /// Outputs that feed connections, and what is recorded.
    pub read: BTreeSet<usize>,
    /// Inputs that are fed.
    pub written: BTreeSet<usize>,
}

/// For each FMU.
pub(super) fn wanted(units: &[Unit], links: &[Link], columns: &Columns) -> Vec<Wanted> {
    let mut all: Vec<Wanted> =
        units.iter().map(|_| Wanted { read: BTreeSet::new(), written: BTreeSet::new() }).collect();
    for link in links {
        all[link.source.0].read.insert(link.source.1);
        all[link.target.0].written.insert(link.target.1);
    }
    for &(fmu, variable) in columns.of.keys() {
        all[fmu].read.insert(variable);
    }
    all
}

/// Whether the draft's task sets this (connected) input.
pub(super) fn sets(unit: &Unit, draft: &Draft, v: &Variable) -> bool {
    v.clocks.is_empty() || v.clocks.contains(&unit.variables()[draft.variable].value_reference)
}

/// Whether the draft's task reads this (wanted) variable. An input is read back only if it is fed; else it keeps its start
/// value.
pub(super) fn gets(unit: &Unit, draft: &Draft, v: &Variable) -> bool {
    let computed = matches!(v.causality, Causality::Input | Causality::Output | Causality::Local)
        && !matches!(v.variability, Variability::Constant | Variability::Fixed);
    let own = unit.variables()[draft.variable].value_reference;
    if !computed {
        return false;
    }
    if v.clocks.is_empty() || v.clocks.contains(&own) {
        return true;
    }
    let clocks: Vec<&Variable> =
        v.clocks.iter().filter_map(|&clock| unit.find_reference(clock)).map(|i| &unit.variables()[i]).collect();
    !clocks.iter().any(|clock| is_input_clock(clock))
        && clocks.iter().any(|clock| clock.clocks.is_empty() || clock.clocks.contains(&own))
}

/// The batches of a task: set, get.
pub(super) fn of_task(
    units: &[Unit],
    draft: &Draft,
    wanted: &Wanted,
    links: &[Link],
    columns: &Columns,
) -> (Vec<Batch>, Vec<Batch>) {
    let unit = &units[draft.fmu];
    let set = wanted.written.iter().copied().filter(|&i| sets(unit, draft, &unit.variables()[i]));
    let changes = |i: usize| unit.variables()[i].causality != Causality::Input || wanted.written.contains(&i);
    let get = wanted.read.iter().copied().filter(|&i| changes(i) && gets(unit, draft, &unit.variables()[i]));
    (written(units, draft.fmu, set, links), read(units, draft.fmu, get, links, columns))
}

/// Batches that set connected inputs.
pub(super) fn written(
    units: &[Unit],
    fmu: usize,
    variables: impl IntoIterator<Item = usize>,
    links: &[Link],
) -> Vec<Batch> {
    group(&units[fmu], variables, |variable, item| {
        let feeding = |link: &&Link| link.target == (fmu, variable);
        item.connections = positions(links, feeding);
    })
}

/// Batches that read.
pub(super) fn read(
    units: &[Unit],
    fmu: usize,
    variables: impl IntoIterator<Item = usize>,
    links: &[Link],
    columns: &Columns,
) -> Vec<Batch> {
    group(&units[fmu], variables, |variable, item| {
        let fed = |link: &&Link| link.source == (fmu, variable);
        item.connections = positions(links, fed);
        item.signals = columns.of.get(&(fmu, variable)).cloned().unwrap_or_default();
    })
}

fn positions(links: &[Link], is_meant: impl Fn(&&Link) -> bool) -> Vec<ConnectionId> {
    (0..links.len()).filter(|&i| is_meant(&&links[i])).map(ConnectionId).collect()
}

/// One batch per type, in document order within.
fn group(
    unit: &Unit,
    variables: impl IntoIterator<Item = usize>,
    complete: impl Fn(usize, &mut BatchItem),
) -> Vec<Batch> {
    let mut by_type: BTreeMap<VariableType, Vec<BatchItem>> = BTreeMap::new();
    for variable in variables {
        let v = &unit.variables()[variable];
        let mut item = BatchItem {
            reference: v.value_reference,
            name: v.name.clone(),
            elements: unit.elements(v),
            connections: Vec::new(),
            signals: Vec::new(),
        };
        complete(variable, &mut item);
        by_type.entry(v.variable_type).or_default().push(item);
    }
    by_type.into_iter().map(|(variable_type, items)| Batch { variable_type, items }).collect()
}

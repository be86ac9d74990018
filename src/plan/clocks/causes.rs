//! What brings a task about, and which clock is at the root of it (design S11).
//!
//! A triggered or countdown clock follows others: those that may tick its output clock, or arm it. What is not said by a
//! description may be every partition of the FMU.

use super::drafts::Draft;
use super::triggers::Output;
use crate::plan::findings::Unit;
use crate::plan::{Release, TaskId, TaskPlan};
use crate::time::Fraction;
use std::collections::BTreeSet;

/// The drafts that bring this one about, in no order; empty for a clock of its own time.
pub fn of(draft: usize, drafts: &[Draft], units: &[Unit], outputs: &[Vec<Output>]) -> Vec<usize> {
    let of_fmu = |fmu: usize| (0..drafts.len()).filter(move |&other| drafts[other].fmu == fmu);
    let (fmu, said): (usize, Vec<usize>) = match &drafts[draft].release {
        Release::Triggered { fmu, output_clock } => (fmu.0, outputs[fmu.0][*output_clock].ticked_by.clone()),
        Release::Countdown => {
            let fmu = drafts[draft].fmu;
            let clock = &units[fmu].variables()[drafts[draft].variable];
            (fmu, of_fmu(fmu).filter(|&other| drafts[other].owns(&units[fmu], clock)).collect())
        }
        _ => return Vec::new(),
    };
    if said.is_empty() { of_fmu(fmu).collect() } else { said }
}

/// Per task: the clocks that can be at the root of a chain which leads to it; itself alone, if it has a time of its own or
/// nothing leads there.
pub fn roots(tasks: &[TaskPlan]) -> Vec<Vec<TaskId>> {
    let own = |task: &TaskPlan| task.caused_by.is_empty();
    let mut roots: Vec<BTreeSet<TaskId>> = tasks
        .iter()
        .enumerate()
        .map(|(id, task)| if own(task) { BTreeSet::from([TaskId(id)]) } else { BTreeSet::new() })
        .collect();
    loop {
        let mut changed = false;
        for (id, task) in tasks.iter().enumerate().filter(|(_, task)| !own(task)) {
            let more: Vec<TaskId> = task.caused_by.iter().flat_map(|by| roots[by.0].iter().copied()).collect();
            for root in more {
                changed |= roots[id].insert(root);
            }
        }
        if !changed {
            break;
        }
    }
    let of = |(id, roots): (usize, BTreeSet<TaskId>)| match roots.is_empty() {
        true => vec![TaskId(id)],
        false => roots.into_iter().collect(),
    };
    roots.into_iter().enumerate().map(of).collect()
}

impl Release {
    /// The shortest time between two instants of this clock that are known without its being activated; `None`: there are
    /// none such.
    pub fn shortest_known(&self) -> Option<Fraction> {
        match self {
            Release::Periodic { interval, .. } => Some(*interval),
            _ => None,
        }
    }

    /// Whether it has instants that are known without its being activated: a grid, or a list.
    pub fn has_instants(&self) -> bool {
        matches!(self, Release::Periodic { .. } | Release::Asked | Release::At(_))
    }
}

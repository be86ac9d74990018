//! Initialization Mode: whose outputs are read first, and which inputs get them (semantics S11).

use crate::fmu::description::{Causality, Variability, Variable};
use crate::plan::Batch;
use crate::plan::connections::links::Link;
use crate::plan::described::VariableId;
use crate::plan::findings::Findings;
use crate::plan::priorities::order::constrained;
use crate::plan::resolved::Resolved;
use crate::plan::tasks::batches;

/// What happens in Initialization Mode.
pub struct InitialBatches {
    /// FMUs, producers first.
    pub order: Vec<usize>,
    /// Inputs to set, by FMU.
    pub writes: Vec<Vec<Batch>>,
    /// Outputs to read after the inputs are set, by FMU.
    pub reads: Vec<Vec<Batch>>,
}

/// What is set and read, and in which order of the FMUs. Where these feed each other in a circle, the input that closes it
/// keeps its own start value.
pub fn plan(resolved: &Resolved, findings: &mut Findings) -> InitialBatches {
    let Resolved { fmus, links, wanted, .. } = resolved;
    let variable = |(fmu, index): VariableId| &fmus[fmu].variables()[index];
    let carries = |link: &&Link| readable(variable(link.source)) && variable(link.target).clocks.is_empty();
    let initial: Vec<&Link> = links.iter().filter(carries).collect();
    let edges: Vec<(usize, usize)> =
        initial.iter().map(|link| (link.source.0, link.target.0)).filter(|(a, b)| a != b).collect();
    let order = constrained(fmus.len(), &[], &edges);
    let mut place = vec![0; fmus.len()];
    order.iter().enumerate().for_each(|(at, &fmu)| place[fmu] = at);
    let mut written = vec![Vec::new(); fmus.len()];
    for link in initial {
        let full = |(fmu, index): VariableId| format!("{}.{}", fmus[fmu].name(), variable((fmu, index)).name);
        if place[link.source.0] < place[link.target.0] {
            written[link.target.0].push(link.target.1);
        } else {
            findings.note(format!(
                "{} starts with its own start value: it gets {} only when that is first computed after initialisation, \
                 because the FMUs feed each other in a circle",
                full(link.target),
                full(link.source)
            ));
        }
    }
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for (fmu, described) in fmus.iter().enumerate() {
        written[fmu].sort_unstable();
        // An array may have several sources.
        written[fmu].dedup();
        let feeds = |i: usize| !links.fed_by((fmu, i)).is_empty();
        let is_read = |&i: &usize| {
            let v = &described.variables()[i];
            let given = v.variability == Variability::Constant
                || matches!(v.causality, Causality::Parameter | Causality::StructuralParameter);
            match v.causality {
                // Recorded: its start value is not what it starts with. Most are recorded where they are set.
                Causality::Input => {
                    written[fmu].binary_search(&i).is_ok() && !wanted[fmu].is_recorded_when_set(described, i)
                }
                // The start value of an array that the rig has resized is nobody's but the FMU's.
                _ => readable(v) && (feeds(i) || !given || described.is_resized(v)),
            }
        };
        let read: Vec<usize> = wanted[fmu].read.iter().copied().filter(is_read).collect();
        writes.push(batches::written(resolved, fmu, written[fmu].iter().copied()));
        reads.push(batches::read(resolved, fmu, read));
    }
    InitialBatches { order, writes, reads }
}

/// Whether a variable has a value in Initialization Mode that belongs to no clock.
fn readable(v: &Variable) -> bool {
    v.clocks.is_empty() && v.initial.is_some()
}

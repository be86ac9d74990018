//! The tasks that may set or read a variable (semantics S10), found by its clocks: a rig may have a thousand tasks and ten
//! thousand variables, too many for a test of each pair.

use crate::clocks::candidates::{Candidate, is_input_clock};
use crate::described::DescribedFmu;
use std::collections::{BTreeSet, HashMap};
use vecud_description::{Causality, ValueReference, Variability, Variable};

/// The candidates of each clock, and of each FMU.
pub struct Owners {
    of_clock: HashMap<(usize, ValueReference), Vec<usize>>,
    of_fmu: Vec<Vec<usize>>,
}

impl Owners {
    pub fn new(fmus: &[DescribedFmu], candidates: &[Candidate]) -> Owners {
        let mut of_clock: HashMap<(usize, ValueReference), Vec<usize>> = HashMap::new();
        let mut of_fmu = vec![Vec::new(); fmus.len()];
        for (index, candidate) in candidates.iter().enumerate() {
            if let Some(clock) = candidate.variable(&fmus[candidate.fmu]) {
                of_clock.entry((candidate.fmu, clock.value_reference)).or_default().push(index);
            }
            of_fmu[candidate.fmu].push(index);
        }
        Owners { of_clock, of_fmu }
    }

    /// All candidates of an FMU, ascending.
    pub fn of_fmu(&self, fmu: usize) -> &[usize] {
        &self.of_fmu[fmu]
    }

    /// The candidates of a variable's clocks, and of the clocks of output clocks among these: no other one is concerned.
    /// `None`: all of the FMU may be.
    pub fn near(&self, described: &DescribedFmu, fmu: usize, v: &Variable) -> Option<BTreeSet<usize>> {
        if described.steps().is_some() {
            return None;
        }
        let mut near = BTreeSet::new();
        let of = |clock: ValueReference| self.of_clock.get(&(fmu, clock)).into_iter().flatten().copied();
        for &clock in &v.clocks {
            near.extend(of(clock));
            let Some(index) = described.find_reference(clock) else { continue };
            match described.variables()[index].clocks.as_slice() {
                _ if is_input_clock(&described.variables()[index]) => {}
                // May tick in any partition.
                [] => return None,
                clocks => near.extend(clocks.iter().flat_map(|&clock| of(clock))),
            }
        }
        (!v.clocks.is_empty()).then_some(near)
    }
}

/// Whether a variable or output clock is of the candidate's clock, or of none: then its task sets it, if it is a connected
/// input.
pub fn sets(described: &DescribedFmu, candidate: &Candidate, v: &Variable) -> bool {
    v.clocks.is_empty() || candidate.owns(described, v)
}

/// Whether the candidate's task reads this (wanted) variable.
pub fn gets(described: &DescribedFmu, candidate: &Candidate, v: &Variable) -> bool {
    let computed = matches!(v.causality, Causality::Input | Causality::Output | Causality::Local)
        && !matches!(v.variability, Variability::Constant | Variability::Fixed);
    if !computed {
        return false;
    }
    if sets(described, candidate, v) {
        return true;
    }
    let clocks: Vec<&Variable> = v
        .clocks
        .iter()
        .filter_map(|&clock| described.find_reference(clock))
        .map(|i| &described.variables()[i])
        .collect();
    !clocks.iter().any(|clock| is_input_clock(clock)) && clocks.iter().any(|clock| sets(described, candidate, clock))
}

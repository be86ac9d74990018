//! Which tasks may set and which read a variable (semantics S10), found by its clocks: a rig may have a thousand tasks and ten
//! thousand variables, and not every task is to be asked about every variable.

use super::batches::{gets, sets};
use crate::clocks::candidates::{Candidate, is_input_clock};
use crate::described::{DescribedFmu, VariableId};
use crate::resolved::Resolved;
use std::collections::{BTreeSet, HashMap};
use vecud_description::{ValueReference, Variable};

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

    /// The candidates of a variable's clocks, and of the clocks of output clocks among these: no other one is concerned.
    /// `None`: all of the FMU may be.
    fn near(&self, described: &DescribedFmu, fmu: usize, v: &Variable) -> Option<BTreeSet<usize>> {
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

impl Resolved<'_> {
    /// Candidates that set a (connected) input, ascending.
    pub fn setting(&self, variable: VariableId) -> Vec<usize> {
        self.owning(variable, sets)
    }

    /// Candidates that read a (wanted) variable, ascending.
    pub fn getting(&self, variable: VariableId) -> Vec<usize> {
        self.owning(variable, gets)
    }

    fn owning(
        &self,
        (fmu, variable): VariableId,
        owns: fn(&DescribedFmu, &Candidate, &Variable) -> bool,
    ) -> Vec<usize> {
        let described = &self.fmus[fmu];
        let v = &described.variables()[variable];
        let is_one = |&candidate: &usize| owns(described, &self.clocks.candidates[candidate], v);
        match self.owners.near(described, fmu, v) {
            Some(near) => near.into_iter().filter(is_one).collect(),
            None => self.owners.of_fmu[fmu].iter().copied().filter(is_one).collect(),
        }
    }
}

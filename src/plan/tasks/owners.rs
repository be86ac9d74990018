//! Which tasks may set and which read a variable (design S10), found by its clocks: a rig may have a thousand tasks and ten
//! thousand variables, and not every task is to be asked about every variable.

use super::batches::{gets, sets};
use crate::fmu::description::{ValueReference, Variable};
use crate::plan::clocks::drafts::{Draft, is_input_clock};
use crate::plan::findings::Unit;
use std::collections::{BTreeSet, HashMap};

/// The drafts of each clock.
pub struct Owners<'a> {
    units: &'a [Unit<'a>],
    drafts: &'a [Draft],
    of_clock: HashMap<(usize, ValueReference), Vec<usize>>,
    of_fmu: Vec<Vec<usize>>,
}

impl<'a> Owners<'a> {
    pub fn new(units: &'a [Unit<'a>], drafts: &'a [Draft]) -> Owners<'a> {
        let mut of_clock: HashMap<(usize, ValueReference), Vec<usize>> = HashMap::new();
        let mut of_fmu = vec![Vec::new(); units.len()];
        for (index, draft) in drafts.iter().enumerate() {
            let clock = units[draft.fmu].variables()[draft.variable].value_reference;
            of_clock.entry((draft.fmu, clock)).or_default().push(index);
            of_fmu[draft.fmu].push(index);
        }
        Owners { units, drafts, of_clock, of_fmu }
    }

    /// Drafts that set a (connected) input, ascending.
    pub fn setting(&self, fmu: usize, variable: usize) -> Vec<usize> {
        self.those(fmu, variable, sets)
    }

    /// Drafts that read a (wanted) variable, ascending.
    pub fn getting(&self, fmu: usize, variable: usize) -> Vec<usize> {
        self.those(fmu, variable, gets)
    }

    fn those(&self, fmu: usize, variable: usize, are: fn(&Unit, &Draft, &Variable) -> bool) -> Vec<usize> {
        let (unit, v) = (&self.units[fmu], &self.units[fmu].variables()[variable]);
        let is_one = |&draft: &usize| are(unit, &self.drafts[draft], v);
        match self.near(fmu, v) {
            Some(near) => near.into_iter().filter(is_one).collect(),
            None => self.of_fmu[fmu].iter().copied().filter(is_one).collect(),
        }
    }

    /// Those of its clocks, and of the clocks of output clocks among these: no other one is concerned. `None`: all of the FMU may be.
    fn near(&self, fmu: usize, v: &Variable) -> Option<BTreeSet<usize>> {
        let unit = &self.units[fmu];
        let mut near = BTreeSet::new();
        let of = |clock: ValueReference| self.of_clock.get(&(fmu, clock)).into_iter().flatten().copied();
        for &clock in &v.clocks {
            near.extend(of(clock));
            let Some(index) = unit.find_reference(clock) else { continue };
            match unit.variables()[index].clocks.as_slice() {
                _ if is_input_clock(&unit.variables()[index]) => {}
                // May tick in any partition.
                [] => return None,
                clocks => near.extend(clocks.iter().flat_map(|&clock| of(clock))),
            }
        }
        (!v.clocks.is_empty()).then_some(near)
    }
}

//! An FMU of the rig as its description has it, with names and references found without a search.

use super::findings::Findings;
use super::inputs::{elements, start_values};
use super::{FmuInput, StartValue, interfaces};
use crate::fmu::description::{
    Abi, CoSimulation, Dimension, EnumerationItem, InterfaceOffer, ValueReference, Values, Variability, Variable,
};
use crate::rig::{Rig, RigFmu, suggestion};
use std::collections::{BTreeMap, HashMap};

/// Elements that an array may have which is connected or given a start value: 8 MiB of doubles.
pub(super) const ELEMENTS: usize = 1 << 20;

/// A variable of the rig: index of its FMU, index among that FMU's variables.
pub(super) type VariableId = (usize, usize);

/// One FMU of the rig with what its description says, indexed.
pub(super) struct DescribedFmu<'a> {
    pub(super) rig: &'a RigFmu,
    pub(super) input: &'a FmuInput<'a>,
    /// Whether values are set while the run goes on.
    pub(super) controlled: bool,
    /// The interface type that it runs with; `None`: it has none that can be run.
    pub(super) offer: Option<&'a InterfaceOffer>,
    /// Structural parameters whose values the rig gives.
    pub(super) structure: BTreeMap<usize, StartValue>,
    by_name: HashMap<&'a str, usize>,
    by_reference: HashMap<ValueReference, usize>,
}

impl<'a> DescribedFmu<'a> {
    /// All FMUs of a rig, in its order; `inputs` are what opening them gave.
    pub(super) fn all(rig: &'a Rig, inputs: &'a [FmuInput], findings: &mut Findings) -> Vec<DescribedFmu<'a>> {
        let fmus = rig.fmus.iter().zip(inputs);
        fmus.map(|(fmu, input)| DescribedFmu::new(fmu, input, rig.controlled, findings)).collect()
    }

    fn new(rig: &'a RigFmu, input: &'a FmuInput<'a>, controlled: bool, findings: &mut Findings) -> DescribedFmu<'a> {
        let variables = &input.description.variables;
        let mut by_name = HashMap::with_capacity(variables.len());
        let mut by_reference = HashMap::with_capacity(variables.len());
        for (i, variable) in variables.iter().enumerate() {
            by_name.insert(variable.name.as_str(), i);
            by_reference.insert(variable.value_reference, i);
            for alias in &variable.aliases {
                by_name.entry(alias.name.as_str()).or_insert(i);
            }
        }
        let offer = interfaces::offer(rig, input.description);
        let plain = DescribedFmu { rig, input, controlled, offer, structure: BTreeMap::new(), by_name, by_reference };
        DescribedFmu { structure: start_values::structure(&plain, findings), ..plain }
    }

    /// The name that the rig gives this FMU.
    pub(super) fn name(&self) -> &'a str {
        &self.rig.name.value
    }

    pub(super) fn abi(&self) -> Abi {
        self.input.description.abi
    }

    /// Whether it runs with Scheduled Execution.
    pub(super) fn is_scheduled(&self) -> bool {
        matches!(self.offer, Some(InterfaceOffer::ScheduledExecution(_)))
    }

    /// What it says of its steps; `None`: it runs with another interface type.
    pub(super) fn co_simulation(&self) -> Option<&'a CoSimulation> {
        match self.offer {
            Some(InterfaceOffer::CoSimulation(own)) => Some(own),
            _ => None,
        }
    }

    /// Whether its events are handled in Event Mode (FMI 3.0 for Co-Simulation).
    pub(super) fn handles_events(&self) -> bool {
        let wanted = self.rig.wishes.event_mode_used.unwrap_or(true);
        wanted && self.co_simulation().is_some_and(|own| own.has_event_mode)
    }

    /// Whether a variable of it is set and changes in Event Mode alone (FMI 3.0.2, 4.2.1: in Step Mode only continuous ones are set).
    pub(super) fn changes_in_event_mode(&self, variable: &Variable) -> bool {
        self.handles_events() && variable.variability != Variability::Continuous
    }

    pub(super) fn variables(&self) -> &'a [Variable] {
        &self.input.description.variables
    }

    /// Index of the variable with this name or alias.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Index of the variable with this value reference.
    pub(super) fn find_reference(&self, reference: ValueReference) -> Option<usize> {
        self.by_reference.get(&reference).copied()
    }

    /// The items of the enumeration that a variable is of; none for other types.
    pub(super) fn items(&self, variable: &Variable) -> &'a [EnumerationItem] {
        self.input.description.items_of(variable)
    }

    /// Number of elements at the start, with the rig's values of structural parameters; 1 for a scalar.
    pub(super) fn elements(&self, variable: &Variable) -> usize {
        elements::count(&self.shape(variable))
    }

    /// Length of each dimension; empty for a scalar.
    pub(super) fn shape(&self, variable: &Variable) -> Vec<usize> {
        let length = |dimension: &Dimension| match dimension {
            Dimension::Fixed(n) => *n,
            Dimension::Structural(reference) => self.size_of(*reference),
        };
        variable.dimensions.iter().map(|dimension| usize::try_from(length(dimension)).unwrap_or(usize::MAX)).collect()
    }

    /// The value at the start of a structural parameter or constant that arrays take their size from.
    pub(super) fn size_of(&self, reference: ValueReference) -> u64 {
        let Some(index) = self.find_reference(reference) else { return 0 };
        let given = self.structure.get(&index).map(|start| &start.values);
        match given.or(self.variables()[index].start.as_ref()) {
            Some(Values::UInt64(v)) => v.first().copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// The description's start value of the variable with this index, if it is valid.
    pub(super) fn start_of(&self, index: usize) -> Option<&'a Values> {
        let variable = &self.variables()[index];
        variable.start.as_ref().filter(|_| !self.is_resized(variable))
    }

    /// Whether the rig gives the variable another size than its description, which makes the description's start value
    /// invalid (FMI 3.0, 2.4.7.5.1).
    pub(super) fn is_resized(&self, variable: &Variable) -> bool {
        variable.dimensions.iter().any(|dimension| match dimension {
            Dimension::Structural(reference) => {
                let index = self.find_reference(*reference);
                index.is_some_and(|i| {
                    self.structure
                        .get(&i)
                        .is_some_and(|start| Some(&start.values) != self.variables()[i].start.as_ref())
                })
            }
            Dimension::Fixed(_) => false,
        })
    }

    /// "did you mean" among the variables (and aliases) that fit.
    pub(super) fn suggest(&self, written: &str, fits: impl Fn(&Variable) -> bool) -> String {
        let names = self.variables().iter().filter(|v| fits(v)).flat_map(Variable::names);
        suggestion(written, names)
    }
}

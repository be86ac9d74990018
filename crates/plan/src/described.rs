//! An FMU of the rig as its description has it.

use super::elements::{self, ElementSelection, select};
use super::findings::Findings;
use super::{FmuInput, Retry, StartValue};
use crate::rig::{At, Diagnostic, Integration, Place, Rig, RigFmu, RigMaster, suggestion};
use std::collections::BTreeMap;
use vecud_description::{
    Abi, CoSimulation, Dimension, EnumerationItem, Interface, InterfaceOffer, ModelDescription, ModelExchange,
    ValueReference, Values, Variability, Variable,
};

/// The most elements of an array that is connected or has a start value in the rig: 8 MiB of doubles.
pub(super) const ELEMENTS: usize = 1 << 20;

/// A variable of the rig: index of its FMU, index among that FMU's variables.
pub(super) type VariableId = (usize, usize);

/// The capabilities of an FMU's steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StepAbilities {
    /// Steps may have any size.
    pub(super) varies: bool,
    /// A step may end before its communication point.
    pub(super) may_return_early: bool,
    /// A step can be taken back.
    pub(super) goes_back: bool,
    /// Retry in parts of a step that the FMU discards.
    pub(super) retry: Retry,
    /// Steps are multiples of this, in the FMU's unit of time; `None`: unknown.
    pub(super) internal_step: Option<f64>,
}

/// One FMU of the rig with its description.
pub(super) struct DescribedFmu<'a> {
    pub(super) rig: &'a RigFmu,
    pub(super) input: &'a FmuInput<'a>,
    /// The group of the FMU by `[master.NAME]`.
    pub(super) master: Option<&'a RigMaster>,
    /// Whether values are set while the run goes on.
    pub(super) controlled: bool,
    /// The interface type with which the FMU runs; `None`: it has none that can be run.
    pub(super) offer: Option<&'a InterfaceOffer>,
    /// Structural parameters whose values the rig gives.
    pub(super) structure: BTreeMap<usize, StartValue>,
}

impl<'a> DescribedFmu<'a> {
    /// All FMUs of a rig, in its order; `inputs` are their opened files, and `structure` has the rig's values of structural
    /// parameters for one of them.
    pub(super) fn all(
        rig: &'a Rig,
        inputs: &'a [FmuInput],
        structure: impl Fn(&DescribedFmu, &mut Findings) -> BTreeMap<usize, StartValue>,
        findings: &mut Findings,
    ) -> Vec<DescribedFmu<'a>> {
        let fmus = rig.fmus.iter().zip(inputs).map(|(fmu, input)| DescribedFmu::new(rig, fmu, input));
        fmus.map(|plain| DescribedFmu { structure: structure(&plain, findings), ..plain }).collect()
    }

    fn new(rig: &'a Rig, own: &'a RigFmu, input: &'a FmuInput<'a>) -> DescribedFmu<'a> {
        let offer = offer(own, input.description);
        let (master, controlled) = (rig.master_of(&own.name.value), rig.controlled);
        let structure = BTreeMap::new();
        DescribedFmu { rig: own, input, master, controlled, offer, structure }
    }

    /// The name that the rig gives this FMU.
    pub(super) fn name(&self) -> &'a str {
        &self.rig.name.value
    }

    /// The settings of the FMU's integration: those of its group, else its own.
    pub(super) fn integration(&self) -> &'a Integration {
        match (self.master, self.model_exchange()) {
            (Some(master), Some(_)) => &master.integration,
            _ => &self.rig.integration,
        }
    }

    /// The FMU's core by the rig: that of its group, else its own.
    pub(super) fn cpu(&self) -> Option<&'a At<usize>> {
        self.master.map_or(self.rig.cpu.as_ref(), |master| master.cpu.as_ref())
    }

    pub(super) fn abi(&self) -> Abi {
        self.input.description.abi
    }

    /// Whether the FMU runs with Scheduled Execution.
    pub(super) fn is_scheduled(&self) -> bool {
        matches!(self.offer, Some(InterfaceOffer::ScheduledExecution(_)))
    }

    /// The FMU's `<CoSimulation>` element; `None`: it runs with another interface type.
    pub(super) fn co_simulation(&self) -> Option<&'a CoSimulation> {
        match self.offer {
            Some(InterfaceOffer::CoSimulation(own)) => Some(own),
            _ => None,
        }
    }

    /// The capabilities of the FMU's steps, with either interface type; `None`: it makes none.
    pub(super) fn steps(&self) -> Option<StepAbilities> {
        match self.offer? {
            InterfaceOffer::ScheduledExecution(_) => None,
            InterfaceOffer::CoSimulation(own) => {
                let varies = own.can_handle_variable_communication_step_size;
                Some(StepAbilities {
                    varies,
                    may_return_early: own.might_return_early_from_do_step,
                    goes_back: own.common.can_get_and_set_fmu_state,
                    retry: if varies { self.retry(own) } else { Retry::Never },
                    internal_step: own.fixed_internal_step_size.filter(|step| step.is_finite() && *step > 0.0),
                })
            }
            // The host makes its steps, which end at its events.
            InterfaceOffer::ModelExchange(own) => Some(StepAbilities {
                varies: true,
                may_return_early: true,
                goes_back: own.common.can_get_and_set_fmu_state,
                retry: Retry::Never,
                internal_step: None,
            }),
        }
    }

    /// The retry in parts of a step that the FMU discards. Before FMI 3.0 an algorithm with rollback uses the same state.
    fn retry(&self, own: &CoSimulation) -> Retry {
        match self.abi().may_step_again() {
            true => Retry::Again,
            false if self.master.is_some_and(|own| own.algorithm.takes_back()) => Retry::Never,
            false if self.abi().goes_back_from_discard() && own.common.can_get_and_set_fmu_state => Retry::FromState,
            false if own.can_reject_steps => Retry::Instead,
            false => Retry::Never,
        }
    }

    /// The FMU's `<ModelExchange>` element; `None`: it runs with another interface type.
    pub(super) fn model_exchange(&self) -> Option<&'a ModelExchange> {
        match self.offer {
            Some(InterfaceOffer::ModelExchange(own)) => Some(own),
            _ => None,
        }
    }

    /// Whether the FMU's events are handled in Event Mode: always for Model Exchange, and for Co-Simulation of FMI 3.0 with Event Mode.
    /// Other Co-Simulation FMUs handle their events inside.
    pub(super) fn handles_events(&self) -> bool {
        let wanted = self.abi().uses_event_mode_of_steps() && self.rig.wishes.event_mode_used.unwrap_or(true);
        let has_event_mode = wanted && self.co_simulation().is_some_and(|own| own.has_event_mode);
        has_event_mode || self.model_exchange().is_some()
    }

    /// Whether a variable of the FMU is set and changes in Event Mode alone (FMI 3.0.2, 3.2.2 and 4.2.1: between events only continuous
    /// ones are set).
    pub(super) fn changes_in_event_mode(&self, variable: &Variable) -> bool {
        self.handles_events() && variable.variability != Variability::Continuous
    }

    /// Whether the host enters Event Mode to set inputs that jump (FMI 3.0.2, 4.1.1): for Co-Simulation. A Model Exchange FMU takes
    /// them at any time, and its indicators show whether that is an event.
    pub(super) fn takes_jumps_in_event_mode(&self) -> bool {
        self.handles_events() && self.co_simulation().is_some()
    }

    /// Whether the FMU has intermediate updates.
    pub(super) fn provides_intermediate_update(&self) -> bool {
        // The draft calls back with other arguments.
        self.abi().may_step_again() && self.co_simulation().is_some_and(|own| own.provides_intermediate_update)
    }

    /// Whether the FMU has intermediate updates, and declares this variable for use in them.
    pub(super) fn may_be_used_in_steps(&self, variable: &Variable) -> bool {
        self.provides_intermediate_update() && variable.intermediate_update
    }

    pub(super) fn variables(&self) -> &'a [Variable] {
        &self.input.description.variables
    }

    /// Index of the variable with this name or alias.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.input.description.place_of(name)
    }

    /// Index of the variable with this value reference.
    pub(super) fn find_reference(&self, reference: ValueReference) -> Option<usize> {
        self.input.description.place(reference)
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
        lengths(variable, |reference| self.size_of(reference))
    }

    /// [`DescribedFmu::shape`] with the description's values of structural parameters.
    pub(super) fn described_shape(&self, variable: &Variable) -> Vec<usize> {
        lengths(variable, |reference| {
            size(self.find_reference(reference).and_then(|i| self.variables()[i].start.as_ref()))
        })
    }

    /// The value at the start of a structural parameter or constant that arrays take their size from.
    pub(super) fn size_of(&self, reference: ValueReference) -> u64 {
        let Some(index) = self.find_reference(reference) else { return 0 };
        let given = self.structure.get(&index).map(|start| &start.values);
        size(given.or(self.variables()[index].start.as_ref()))
    }

    /// The index by which the FMU knows a variable: in FMI 2.0 and 1.0 that of the first of its aliases.
    pub(super) fn place(&self, variable: usize) -> usize {
        let v = &self.variables()[variable];
        let reference = self.abi().reference_of_fmu(v.value_reference);
        self.input.description.place((v.variable_type, reference)).unwrap_or(variable)
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

impl Findings<'_> {
    /// A problem that a model description has.
    pub(super) fn xml(&mut self, described: &DescribedFmu, variable: &Variable, message: impl Into<String>) {
        let file = described.input.path.join("modelDescription.xml");
        let place = Place { line: variable.line, column: variable.column };
        self.problems.push(Diagnostic::new(&file, place, message));
    }
}

/// The interface types, the first choice first.
const PREFERRED_INTERFACES: [Interface; 3] =
    [Interface::ScheduledExecution, Interface::CoSimulation, Interface::ModelExchange];

/// The interface type with which an FMU runs: the one in the rig, else the first that the FMU offers. `None`: there is none.
pub fn offer<'a>(fmu: &RigFmu, description: &'a ModelDescription) -> Option<&'a InterfaceOffer> {
    let offered = |wanted: Interface| description.interfaces.iter().find(|offer| offer.interface() == wanted);
    match &fmu.interface {
        Some(wanted) => offered(wanted.value),
        None => PREFERRED_INTERFACES.into_iter().find_map(offered),
    }
}

/// The meaning of a name in a rig.
pub enum NameMeaning {
    /// A variable, by index, and its elements.
    Elements(usize, ElementSelection),
    /// There is no such variable.
    Nothing,
    /// The variable does not have such elements; completes "fmu.variable …".
    Unsuitable(String),
}

/// Finds the variable that a rig names.
pub fn find(described: &DescribedFmu, written: &str) -> NameMeaning {
    if let Some(index) = described.find(written) {
        return NameMeaning::Elements(index, ElementSelection::whole(described.shape(&described.variables()[index])));
    }
    let Some((name, indices)) = written.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) else {
        return NameMeaning::Nothing;
    };
    let Some(index) = described.find(name) else { return NameMeaning::Nothing };
    match select(&described.shape(&described.variables()[index]), indices) {
        Ok(selection) => NameMeaning::Elements(index, selection),
        Err(reason) => NameMeaning::Unsuitable(format!("{}.{written}: {reason}", described.name())),
    }
}

/// Length of each dimension, where `size` gives those of structural parameters.
fn lengths(variable: &Variable, size: impl Fn(ValueReference) -> u64) -> Vec<usize> {
    let length = |dimension: &Dimension| match dimension {
        Dimension::Fixed(n) => *n,
        Dimension::Structural(reference) => size(*reference),
    };
    variable.dimensions.iter().map(|dimension| usize::try_from(length(dimension)).unwrap_or(usize::MAX)).collect()
}

/// A value of a structural parameter as a size.
fn size(value: Option<&Values>) -> u64 {
    match value {
        Some(Values::UInt64(v)) => v.first().copied().unwrap_or(0),
        _ => 0,
    }
}

//! The names that lines of a conversation may use: the functions, states and variables of the FMU, by its description and interface type.

use super::functions::{ENTRIES, Entry, NamingScheme};
use super::settable::{can_be_read, can_be_set};
use super::words::Result;
use std::collections::BTreeMap;
use vecud_description::{
    Causality, Dimension, Interface, InterfaceType, ModelDescription, ValueReference, Values, Variable, VariableType,
};
use vecud_fmi::Function;
use vecud_plan::{glob, rig};
use vecud_runner::by_hand::{FmiState, VariableHandle, Verb};

/// The interface types with their names in a line.
pub const TYPES: [(Interface, [&str; 2]); 3] = [
    (Interface::CoSimulation, ["cs", "co-simulation"]),
    (Interface::ModelExchange, ["me", "model-exchange"]),
    (Interface::ScheduledExecution, ["se", "scheduled-execution"]),
];

/// Start, end and tolerance of an experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Experiment {
    /// Start time.
    pub start: Option<f64>,
    /// Stop time.
    pub stop: Option<f64>,
    /// Tolerance.
    pub tolerance: Option<f64>,
}

/// The context for parsing lines: the FMU and the present state of its instance.
pub struct LineContext<'a> {
    /// The FMU.
    pub description: &'a ModelDescription,
    /// The FMU's version and interface type.
    pub dialect: NamingScheme,
    /// Values of structural parameters that differ from the description.
    pub sizes: &'a BTreeMap<ValueReference, u64>,
    /// Settings for the next initialisation.
    pub setup: Experiment,
    /// Present time of the instance.
    pub time: f64,
}

impl LineContext<'_> {
    /// Finds the entry of a name.
    pub fn entry(&self, written: &str) -> Result<(&'static Entry, Option<Function>)> {
        let NamingScheme { interface, .. } = self.dialect;
        match self.dialect.find(written) {
            Some((entry, function)) if self.dialect.has(entry) || entry.verb == Verb::Instantiate => {
                Ok((entry, function))
            }
            Some((entry, _)) => {
                let has = |own: &Interface| NamingScheme { interface: *own, ..self.dialect }.has(entry);
                let offered = self.description.interfaces.iter().map(|offer| offer.interface());
                let hint = match offered.into_iter().find(has) {
                    Some(own) => format!("; the FMU offers {} as well: --interface-type, or Instantiate", own.name()),
                    None => String::new(),
                };
                let (title, abi) = (self.dialect.title(entry), self.dialect.abi.name());
                Err(format!("{title} is no function of {} in {abi}{hint}", interface.name()))
            }
            None if self.dialect.is_another_function(written) => {
                Err(format!("{written} is a function of FMI, but none that is called by hand"))
            }
            None => {
                let hint = match self.dialect.suggestion(written) {
                    none if none.is_empty() => "; `help` lists what there is".to_owned(),
                    hint => hint,
                };
                Err(format!("there is no function {written}{hint}"))
            }
        }
    }

    /// Syntax of an entry's arguments, reduced to the arguments that this FMU supports.
    pub fn arguments(&self, entry: &Entry) -> String {
        let NamingScheme { abi, .. } = self.dialect;
        match entry.verb {
            Verb::Instantiate => {
                let offered =
                    |own: &Interface| self.description.interfaces.iter().any(|offer| offer.interface() == *own);
                let types: Vec<&str> =
                    TYPES.iter().filter(|(own, _)| offered(own)).map(|(_, names)| names[0]).collect();
                let has_options = !abi.is_earlier() && offered(&Interface::CoSimulation);
                let has_event_mode = self.description.co_simulation().is_some_and(|own| own.has_event_mode);
                let all = [
                    (types.len() > 1).then(|| format!("[{}]", types.join("|"))),
                    Some("[name=NAME] [loggingOn=BOOL]".to_owned()),
                    has_event_mode.then(|| "[eventModeUsed=BOOL]".to_owned()),
                    has_options.then(|| "[earlyReturnAllowed=BOOL]".to_owned()),
                ];
                all.into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
            Verb::EnterEventMode if !self.has_reasons() => String::new(),
            Verb::CompletedIntegratorStep if !abi.has_states() => String::new(),
            _ => entry.arguments.to_owned(),
        }
    }

    /// Help for an entry, in the terms of the FMU's version.
    pub fn about(&self, entry: &Entry) -> String {
        let set_up = self.dialect.name(Function::SetupExperiment);
        match (entry.verb, set_up) {
            (Verb::EnterInitializationMode, Some(set_up)) => {
                format!(
                    "{}; calls {set_up} with these before, which may also be written in a line of its own",
                    entry.about
                )
            }
            _ => entry.about.to_owned(),
        }
    }

    /// Whether Event Mode is entered with the reasons for it, as in Model Exchange.
    pub fn has_reasons(&self) -> bool {
        self.dialect.abi.has_event_reasons() && self.dialect.interface == Interface::ModelExchange
    }

    pub fn variable(&self, name: &str) -> Result<&Variable> {
        self.description.variable(name).ok_or_else(|| {
            let whole = name.split_once('[').filter(|(array, _)| self.description.variable(array).is_some());
            if let Some((array, _)) = whole {
                return format!("{array} is set and read as a whole, not by elements");
            }
            let names = self.description.variables.iter().flat_map(Variable::names);
            format!("there is no variable {name}{}", rig::suggestion(name, names))
        })
    }

    pub fn clock(&self, name: &str) -> Result<&Variable> {
        let variable = self.variable(name)?;
        match variable.clock {
            Some(_) => Ok(variable),
            None => Err(format!("{name} is no clock, but a {}", variable.variable_type.name())),
        }
    }

    /// Present number of elements of a variable.
    fn elements(&self, variable: &Variable) -> usize {
        let length = |dimension: &Dimension| match dimension {
            Dimension::Fixed(length) => *length,
            Dimension::Structural(reference) => self.sizes.get(reference).copied().unwrap_or_else(|| {
                match self.description.by_reference(*reference).and_then(|own| own.start.as_ref()) {
                    Some(Values::UInt64(start)) => start.first().copied().unwrap_or(0),
                    _ => 0,
                }
            }),
        };
        let elements = variable.dimensions.iter().map(length).fold(1, u64::saturating_mul);
        usize::try_from(elements).unwrap_or(usize::MAX)
    }

    pub fn place(&self, variable: &Variable) -> Result<VariableHandle> {
        /// Limit for values entered by hand.
        const MOST: usize = 1 << 20;
        let elements = self.elements(variable);
        if elements > MOST {
            return Err(format!("{} has {elements} elements: more than {MOST} are not called by hand", variable.name));
        }
        Ok(VariableHandle { reference: variable.value_reference, variable_type: variable.variable_type, elements })
    }

    pub fn number_place(&self, name: &str) -> Result<VariableHandle> {
        let variable = self.variable(name)?;
        match variable.variable_type {
            VariableType::Float64 | VariableType::Float32 => self.place(variable),
            other => Err(format!("{name} is a {}: it has no derivatives", other.name())),
        }
    }

    /// The variable with this name, otherwise all variables whose names match it as a pattern.
    pub fn matching(&self, pattern: &str) -> impl Iterator<Item = &Variable> {
        let own = pattern.to_owned();
        let is_name = self.description.variable(pattern).is_some();
        let fits = move |name: &str| if is_name { own == name } else { glob::matches(&own, name) };
        self.description.variables.iter().filter(move |variable| variable.names().any(&fits))
    }

    /// States of this interface type that allow a function.
    pub fn states(&self, verb: Verb) -> Vec<FmiState> {
        verb.states().iter().copied().filter(|state| self.has(*state)).collect()
    }

    /// States of this interface type that allow setting a variable.
    pub fn states_to_set(&self, variable: &Variable) -> Vec<FmiState> {
        let is_set = |state: &FmiState| can_be_set(self.description, self.dialect.interface, variable, *state);
        self.states(Verb::Set).into_iter().filter(is_set).collect()
    }

    /// States of this interface type that allow reading a variable.
    pub fn states_to_get(&self, variable: &Variable) -> Vec<FmiState> {
        let is_read = |state: &FmiState| can_be_read(self.description, variable, *state);
        self.states(Verb::Get).into_iter().filter(is_read).collect()
    }

    /// Whether instances of this interface type have a state.
    fn has(&self, state: FmiState) -> bool {
        match state {
            FmiState::ClockActivationMode | FmiState::PartitionActivated => {
                self.dialect.interface == Interface::ScheduledExecution
            }
            FmiState::StepMode => self.dialect.interface == Interface::CoSimulation,
            FmiState::ContinuousTimeMode => self.dialect.interface == Interface::ModelExchange,
            FmiState::EventMode => match self.description.co_simulation() {
                Some(own) if self.dialect.interface == Interface::CoSimulation => own.has_event_mode,
                _ => self.dialect.interface == Interface::ModelExchange,
            },
            FmiState::ConfigurationMode => {
                self.description.variables.iter().any(|own| own.causality == Causality::StructuralParameter)
            }
            FmiState::InitializationMode => self.dialect.abi.has_initialization_mode(),
            _ => true,
        }
    }

    /// Whether the description gives an entry any use.
    pub fn is_useful(&self, entry: &Entry) -> bool {
        let offers = &self.description.interfaces;
        let own = offers.iter().find(|offer| offer.interface() == self.dialect.interface).map(|offer| offer.common());
        let says = |flag: fn(&InterfaceType) -> bool| own.is_some_and(flag);
        match entry.verb {
            Verb::EnterConfigurationMode | Verb::ExitConfigurationMode => {
                self.description.variables.iter().any(|own| own.causality == Causality::StructuralParameter)
            }
            Verb::SetClock
            | Verb::GetClock
            | Verb::GetInterval
            | Verb::SetInterval
            | Verb::GetShift
            | Verb::SetShift => self.description.variables.iter().any(|own| own.clock.is_some()),
            Verb::GetDirectionalDerivative => says(|own| own.provides_directional_derivatives),
            Verb::GetAdjointDerivative => says(|own| own.provides_adjoint_derivatives),
            Verb::GetFmuState | Verb::SetFmuState | Verb::FreeFmuState => says(|own| own.can_get_and_set_fmu_state),
            Verb::SerializeFmuState | Verb::DeserializeFmuState => says(|own| own.can_serialize_fmu_state),
            Verb::EnterEventMode if self.dialect.interface == Interface::CoSimulation => {
                self.description.co_simulation().is_some_and(|own| own.has_event_mode)
            }
            _ => true,
        }
    }

    /// All entries with a use for this FMU.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        let dialect = self.dialect;
        ENTRIES.iter().filter(move |entry| dialect.has(entry) || entry.verb == Verb::Instantiate)
    }
}

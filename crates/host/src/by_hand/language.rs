//! Parses a line of the conversation into a request to the instance. Errors in the line are reported before the FMU is
//! called.

use super::functions::{ENTRIES, Entry, NamingScheme};
use super::settable::{can_be_read, can_be_set};
use std::collections::BTreeMap;
use vecud_description::{
    Causality, Dimension, Interface, InterfaceType, ModelDescription, ValueReference, Values, Variable, VariableType,
};
use vecud_fmi::{Function, get_function, set_function};
use vecud_plan::glob;
use vecud_plan::rig::{self, RigValue};
use vecud_runner::by_hand::{FmiState, IntervalValue, Request, VariableHandle, Verb};

/// Name of the saved state when a line names none.
const UNNAMED: &str = "state";

/// The interface types with their names in a line.
const TYPES: [(Interface, [&str; 2]); 3] = [
    (Interface::CoSimulation, ["cs", "co-simulation"]),
    (Interface::ModelExchange, ["me", "model-exchange"]),
    (Interface::ScheduledExecution, ["se", "scheduled-execution"]),
];

/// Result of parsing one line.
#[derive(Debug, PartialEq)]
pub enum Instruction {
    /// An empty line or a remark.
    Nothing,
    /// End of the conversation.
    End,
    /// A list of the commands, or help for the named one.
    Help(Option<String>),
    /// The variables whose names match a pattern.
    Variables(String),
    /// A setting that is kept until the next initialisation.
    Setup(Experiment),
    /// Requests in order.
    Requests(Vec<NamedRequest>),
    /// A new instance with this interface type, by default with the last one.
    Instantiate(Option<Interface>, Request),
}

/// A request and the name of its variable.
#[derive(Debug, PartialEq)]
pub struct NamedRequest {
    /// Name of the variable; empty if the request is not about a variable.
    pub name: String,
    /// The request.
    pub request: Request,
}

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

type Result<T> = std::result::Result<T, String>;

impl LineContext<'_> {
    /// Parses one line.
    pub fn read(&self, line: &str) -> Result<Instruction> {
        let line = line.trim();
        let (head, rest) = line.split_once(|c: char| c.is_whitespace() || c == '(').unwrap_or((line, ""));
        // As in C: SetTime(0.5)
        let is_call = line[head.len()..].starts_with('(');
        let rest = match is_call {
            true => rest.trim_end().strip_suffix(')').ok_or("the closing parenthesis is missing")?,
            false => rest,
        };
        let rest = rest.trim();
        match head {
            "" => return Ok(Instruction::Nothing),
            _ if head.starts_with('#') => return Ok(Instruction::Nothing),
            "quit" | "exit" | "bye" => return Ok(Instruction::End),
            "help" | "?" => return Ok(Instruction::Help(Some(rest.to_owned()).filter(|rest| !rest.is_empty()))),
            "variables" => {
                return Ok(Instruction::Variables(if rest.is_empty() { "*".to_owned() } else { rest.to_owned() }));
            }
            _ => {}
        }
        let (entry, function) = self.entry(head)?;
        let title = self.dialect.title(entry);
        self.request(entry, function, rest).map_err(|wrong| match (wrong.is_empty(), self.arguments(entry).as_str()) {
            (false, _) => wrong,
            (true, "") => format!("{title} takes no arguments"),
            (true, arguments) => format!("it is written {} {arguments}", title.split(',').next().unwrap_or(head)),
        })
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
    fn has_reasons(&self) -> bool {
        self.dialect.abi.has_event_reasons() && self.dialect.interface == Interface::ModelExchange
    }

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

    fn request(&self, entry: &Entry, function: Option<Function>, rest: &str) -> Result<Instruction> {
        let words = Words::of(rest);
        let one = |request| Ok(Instruction::Requests(vec![NamedRequest { name: String::new(), request }]));
        match entry.verb {
            Verb::Instantiate => self.instantiate(function, &words),
            Verb::EnterInitializationMode => {
                let setup = self.experiment(&words)?;
                if function == Some(Function::SetupExperiment) {
                    return Ok(Instruction::Setup(setup));
                }
                let start = setup.start.or(self.description.default_experiment.start_time).unwrap_or(0.0);
                let Experiment { stop, tolerance, .. } = setup;
                one(Request::EnterInitializationMode { start, stop, tolerance })
            }
            Verb::SetDebugLogging => {
                let (on, categories) = words.list.split_first().ok_or_else(String::new)?;
                one(Request::SetDebugLogging { on: boolean(on)?, categories: categories.to_vec() })
            }
            Verb::Set => {
                let request = self.set(function, rest)?;
                Ok(Instruction::Requests(vec![request]))
            }
            Verb::Get => self.get(function, &words).map(Instruction::Requests),
            Verb::SetClock => one(Request::SetClock { clocks: self.clocks(&words, Causality::Input)? }),
            Verb::GetClock => {
                let clocks = self.clocks(&words, Causality::Output)?;
                let named = words.list.iter().zip(clocks).map(|(name, clock)| NamedRequest {
                    name: name.clone(),
                    request: Request::GetClock { clocks: vec![clock] },
                });
                Ok(Instruction::Requests(named.collect()))
            }
            Verb::GetInterval | Verb::GetShift => {
                let [name] = words.exactly()?;
                let variable = self.clock(name)?;
                let (fraction_of_interval, fraction_of_shift) =
                    (Function::GetIntervalFraction, Function::GetShiftFraction);
                let said = function.map(|own| own == fraction_of_interval || own == fraction_of_shift);
                let has_resolution = variable.clock.as_ref().is_some_and(|clock| clock.resolution.is_some());
                let (clock, fraction) = (variable.value_reference, said.unwrap_or(has_resolution));
                let request = match entry.verb {
                    Verb::GetInterval => Request::GetInterval { clock, fraction },
                    _ => Request::GetShift { clock, fraction },
                };
                Ok(Instruction::Requests(vec![NamedRequest { name: variable.name.clone(), request }]))
            }
            Verb::SetInterval | Verb::SetShift => {
                let [name, length] = words.exactly()?;
                let clock = self.clock(name)?.value_reference;
                let is_fraction = matches!(function, Some(Function::SetIntervalFraction | Function::SetShiftFraction));
                let length = self::length(length, is_fraction)?;
                one(match entry.verb {
                    Verb::SetInterval => Request::SetInterval { clock, interval: length },
                    _ => Request::SetShift { clock, shift: length },
                })
            }
            Verb::ActivateModelPartition => {
                let (name, time) = match words.list.as_slice() {
                    [name] => (name, self.time),
                    [name, time] => (name, number(time)?),
                    _ => return Err(String::new()),
                };
                one(Request::ActivateModelPartition { clock: self.clock(name)?.value_reference, time })
            }
            Verb::DoStep => match words.list.as_slice() {
                [size] => one(Request::DoStep { point: None, size: number(size)? }),
                // fmi3DoStep has more arguments behind these: all are results, except one that is always true.
                [point, size] => one(Request::DoStep { point: Some(number(point)?), size: number(size)? }),
                _ => Err(String::new()),
            },
            Verb::EnterEventMode if !self.has_reasons() && !words.list.is_empty() => Err(String::new()),
            Verb::EnterEventMode => {
                let mut reasons = [false; 2];
                for word in &words.list {
                    let (key, value) = option(word, &["stepEvent", "timeEvent"])?;
                    reasons[key] = boolean(value)?;
                }
                one(Request::EnterEventMode { step_event: reasons[0], time_event: reasons[1] })
            }
            Verb::SetTime => {
                let [time] = words.exactly()?;
                one(Request::SetTime { time: number(time)? })
            }
            Verb::SetContinuousStates => one(Request::SetContinuousStates { states: numbers(rest)? }),
            Verb::Residual => one(Request::Residual { derivatives: numbers(rest)? }),
            Verb::Jacobian => match words.list.as_slice() {
                [] => one(Request::Jacobian { by_differences: false }),
                [word] if word == "differences" => one(Request::Jacobian { by_differences: true }),
                _ => Err(String::new()),
            },
            Verb::CompletedIntegratorStep => {
                let no_set_fmu_state_prior_to_current_point = match words.list.as_slice() {
                    [] => true,
                    _ if !self.dialect.abi.has_states() => return Err(String::new()),
                    [word] if word.contains('=') => {
                        let (_, value) = option(word, &["noSetFMUStatePriorToCurrentPoint"])?;
                        boolean(value)?
                    }
                    [word] => boolean(word)?,
                    _ => return Err(String::new()),
                };
                one(Request::CompletedIntegratorStep { no_set_fmu_state_prior_to_current_point })
            }
            Verb::GetDirectionalDerivative | Verb::GetAdjointDerivative => {
                let [unknowns, knowns, seed] = words.exactly()?;
                let places = |list: &str| {
                    listed(list).into_iter().map(|name| self.number_place(name)).collect::<Result<Vec<_>>>()
                };
                let adjoint = entry.verb == Verb::GetAdjointDerivative;
                let (unknowns, knowns, seed) = (places(unknowns)?, places(knowns)?, numbers(seed)?);
                one(Request::GetDerivative { adjoint, unknowns, knowns, seed })
            }
            Verb::GetFmuState
            | Verb::SetFmuState
            | Verb::FreeFmuState
            | Verb::SerializeFmuState
            | Verb::DeserializeFmuState => {
                let slot = match words.list.as_slice() {
                    [] => UNNAMED.to_owned(),
                    [name] => name.clone(),
                    _ => return Err(String::new()),
                };
                one(match entry.verb {
                    Verb::GetFmuState => Request::GetFmuState { slot },
                    Verb::SetFmuState => Request::SetFmuState { slot },
                    Verb::FreeFmuState => Request::FreeFmuState { slot },
                    Verb::SerializeFmuState => Request::SerializeFmuState { slot },
                    _ => Request::DeserializeFmuState { slot },
                })
            }
            _ if !words.list.is_empty() => Err(String::new()),
            Verb::EnterConfigurationMode if !self.is_useful(entry) => {
                Err("the FMU has no structural parameters, for which Configuration Mode is".to_owned())
            }
            Verb::GetVersion => one(Request::GetVersion),
            Verb::EnterConfigurationMode => one(Request::EnterConfigurationMode),
            Verb::ExitConfigurationMode => one(Request::ExitConfigurationMode),
            Verb::ExitInitializationMode => one(Request::ExitInitializationMode),
            Verb::UpdateDiscreteStates => one(Request::UpdateDiscreteStates),
            Verb::EnterStepMode => one(Request::EnterStepMode),
            Verb::EnterContinuousTimeMode => one(Request::EnterContinuousTimeMode),
            Verb::GetContinuousStates => one(Request::GetContinuousStates),
            Verb::GetContinuousStateDerivatives => one(Request::GetContinuousStateDerivatives),
            Verb::GetEventIndicators => one(Request::GetEventIndicators),
            Verb::GetNominalsOfContinuousStates => one(Request::GetNominalsOfContinuousStates),
            Verb::GetNumbers => one(Request::GetNumbers),
            Verb::GetStateValueReferences => one(Request::GetStateValueReferences),
            Verb::Terminate => one(Request::Terminate),
            Verb::Reset => one(Request::Reset),
            Verb::FreeInstance => one(Request::FreeInstance),
        }
    }

    fn instantiate(&self, function: Option<Function>, words: &Words) -> Result<Instruction> {
        let interfaces = TYPES;
        let name = |own: Interface| NamingScheme { interface: own, ..self.dialect }.name(Function::instantiate(own));
        // The name of a function that makes instances of several interface types, such as fmi2Instantiate, does not
        // select one.
        let is_of_all = interfaces.iter().filter(|(own, _)| name(*own) == name(self.dialect.interface)).count() > 1;
        let named = interfaces.iter().find(|(own, _)| function == Some(Function::instantiate(*own)));
        let mut interface = named.map(|(own, _)| *own).filter(|_| !is_of_all);
        let (mut name, mut options) = (self.description.model_name.clone(), [true, false, true]);
        let has_event_mode = self.description.co_simulation().is_some_and(|own| own.has_event_mode);
        options[1] = has_event_mode;
        for word in &words.list {
            let lower = word.to_lowercase();
            if let Some((own, _)) = interfaces.iter().find(|(_, names)| names.contains(&lower.as_str())) {
                interface = Some(*own);
                continue;
            }
            let (key, value) = option(word, &["loggingOn", "eventModeUsed", "earlyReturnAllowed", "name"])?;
            match key {
                3 => name = value.to_owned(),
                key => options[key] = boolean(value)?,
            }
        }
        let [logging_on, event_mode_used, early_return_allowed] = options;
        if event_mode_used && !has_event_mode {
            return Err("the FMU has no Event Mode for Co-Simulation (hasEventMode is not true)".to_owned());
        }
        let request = Request::Instantiate { name, logging_on, event_mode_used, early_return_allowed };
        Ok(Instruction::Instantiate(interface, request))
    }

    fn experiment(&self, words: &Words) -> Result<Experiment> {
        let mut setup = self.setup;
        let mut positions = [&mut setup.start, &mut setup.stop, &mut setup.tolerance];
        let mut next = 0;
        for word in &words.list {
            if word.contains('=') {
                let (key, value) = option(word, &["start", "stop", "tolerance", "startTime", "stopTime"])?;
                *positions[key % 3] = Some(number(value)?);
                continue;
            }
            **positions.get_mut(next).ok_or_else(String::new)? = Some(number(word)?);
            next += 1;
        }
        Ok(setup)
    }

    fn variable(&self, name: &str) -> Result<&Variable> {
        self.description.variable(name).ok_or_else(|| {
            let whole = name.split_once('[').filter(|(array, _)| self.description.variable(array).is_some());
            if let Some((array, _)) = whole {
                return format!("{array} is set and read as a whole, not by elements");
            }
            let names = self.description.variables.iter().flat_map(Variable::names);
            format!("there is no variable {name}{}", rig::suggestion(name, names))
        })
    }

    fn clock(&self, name: &str) -> Result<&Variable> {
        let variable = self.variable(name)?;
        match variable.clock {
            Some(_) => Ok(variable),
            None => Err(format!("{name} is no clock, but a {}", variable.variable_type.name())),
        }
    }

    fn clocks(&self, words: &Words, causality: Causality) -> Result<Vec<u32>> {
        if words.list.is_empty() {
            return Err(String::new());
        }
        let clock = |name: &String| {
            let variable = self.clock(name)?;
            match variable.causality == causality {
                true => Ok(variable.value_reference.0),
                false => Err(format!("{name} is {}", variable.causality.with_article())),
            }
        };
        words.list.iter().map(clock).collect()
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

    fn place(&self, variable: &Variable) -> Result<VariableHandle> {
        /// Limit for values entered by hand.
        const MOST: usize = 1 << 20;
        let elements = self.elements(variable);
        if elements > MOST {
            return Err(format!("{} has {elements} elements: more than {MOST} are not called by hand", variable.name));
        }
        Ok(VariableHandle { reference: variable.value_reference, variable_type: variable.variable_type, elements })
    }

    fn number_place(&self, name: &str) -> Result<VariableHandle> {
        let variable = self.variable(name)?;
        match variable.variable_type {
            VariableType::Float64 | VariableType::Float32 => self.place(variable),
            other => Err(format!("{name} is a {}: it has no derivatives", other.name())),
        }
    }

    /// Refuses a variable if the line names a function of another type.
    fn is_of(&self, function: Option<Function>, own: Function, variable: &Variable) -> Result<()> {
        let name = |function: Function| self.dialect.name(function).unwrap_or(function.name());
        match function {
            Some(written) if name(written) != name(own) => {
                let kind = variable.variable_type.name();
                Err(format!("{} is a {kind}: its function is {}", variable.name, name(own)))
            }
            _ => Ok(()),
        }
    }

    fn set(&self, function: Option<Function>, rest: &str) -> Result<NamedRequest> {
        let (name, value) = self.name_and_value(rest)?;
        let variable = self.variable(name)?;
        if variable.variable_type == VariableType::Clock {
            return Err(format!("{name} is a clock: SetClock sets it"));
        }
        self.is_of(function, set_function(variable.variable_type), variable)?;
        let place = self.place(variable)?;
        let items = self.description.items_of(variable);
        let value = written(variable, value)?;
        let values = vecud_plan::values_of(variable, items, place.elements, &value)
            .map_err(|wrong| format!("{name} {wrong}"))?;
        Ok(NamedRequest { name: variable.name.clone(), request: Request::Set { place, values } })
    }

    /// Splits `NAME VALUE` or `NAME=VALUE`; names may contain any character, so known names are tried first.
    fn name_and_value<'l>(&self, rest: &'l str) -> Result<(&'l str, &'l str)> {
        let value = |text: &'l str| {
            let text = text.trim_start();
            text.strip_prefix('=').unwrap_or(text).trim()
        };
        let parts = match rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some((name, rest)) => (name, value(rest)),
            None => {
                let ends = rest.char_indices().filter(|(_, c)| c.is_whitespace() || *c == '=').map(|(at, _)| at);
                let ends: Vec<usize> = ends.collect();
                let known = ends.iter().rev().find(|end| self.description.variable(rest[..**end].trim()).is_some());
                let end = known.or(ends.first()).copied().unwrap_or(rest.len());
                (rest[..end].trim(), value(&rest[end..]))
            }
        };
        match parts {
            ("", _) | (_, "") => Err(String::new()),
            parts => Ok(parts),
        }
    }

    fn get(&self, function: Option<Function>, words: &Words) -> Result<Vec<NamedRequest>> {
        let mut all = Vec::new();
        for word in &words.list {
            let is_pattern = word.contains(['*', '?']) && self.description.variable(word).is_none();
            let matching: Vec<&Variable> = match is_pattern {
                true => self
                    .matching(word)
                    .filter(|variable| variable.clock.is_none())
                    .filter(|variable| self.is_of(function, get_function(variable.variable_type), variable).is_ok())
                    .collect(),
                false => vec![self.variable(word)?],
            };
            if matching.is_empty() {
                return Err(format!("no variable matches {word}"));
            }
            for variable in matching {
                if variable.variable_type == VariableType::Clock {
                    return Err(format!("{word} is a clock: GetClock reads it"));
                }
                self.is_of(function, get_function(variable.variable_type), variable)?;
                let request = Request::Get { place: self.place(variable)? };
                all.push(NamedRequest { name: variable.name.clone(), request });
            }
        }
        if all.is_empty() { Err(String::new()) } else { Ok(all) }
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

/// The words of a line: text in quotes or brackets is one word.
struct Words {
    list: Vec<String>,
}

impl Words {
    fn of(text: &str) -> Words {
        let (mut list, mut word, mut depth, mut quote) = (Vec::new(), String::new(), 0_usize, None);
        let mut is_word = false;
        for c in text.chars() {
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (Some(_), _) => word.push(c),
                (None, '"' | '\'') if depth == 0 => (quote, is_word) = (Some(c), true),
                (None, _) if depth == 0 && (c.is_whitespace() || c == ';') => {
                    if std::mem::take(&mut is_word) {
                        list.push(std::mem::take(&mut word));
                    }
                }
                (None, _) => {
                    match c {
                        '[' | '(' => depth += 1,
                        ']' | ')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    is_word = true;
                    word.push(c);
                }
            }
        }
        if is_word {
            list.push(word);
        }
        // As in C: SetTime(0.5), DoStep(0, 0.1)
        for word in &mut list {
            if word.len() > 1 && word.ends_with(',') {
                word.pop();
            }
        }
        Words { list }
    }

    fn exactly<const N: usize>(&self) -> Result<[&str; N]> {
        let words: Vec<&str> = self.list.iter().map(String::as_str).collect();
        words.try_into().map_err(|_| String::new())
    }
}

/// Splits a list at commas outside brackets.
fn listed(text: &str) -> Vec<&str> {
    let (mut list, mut depth, mut begin) = (Vec::new(), 0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                list.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    list.push(text[begin..].trim());
    list
}

/// Splits `KEY=VALUE` into the number of the key, in any style, and the value.
fn option<'w>(word: &'w str, keys: &[&str]) -> Result<(usize, &'w str)> {
    let Some((key, value)) = word.split_once('=') else {
        return Err(format!("{word} is none of {}=...", keys.join("=..., ")));
    };
    let bare = super::functions::bare(key);
    let place = keys.iter().position(|own| super::functions::bare(own) == bare);
    place
        .map(|place| (place, value))
        .ok_or_else(|| format!("there is no {key}{}", rig::suggestion(key, keys.iter().copied())))
}

/// Parses a value for a variable. Bytes need no quotes; a text has no quotes or is enclosed in two.
fn written(variable: &Variable, value: &str) -> Result<RigValue> {
    let (name, is_scalar) = (&variable.name, variable.dimensions.is_empty());
    let is_plain = !value.contains(['"', '\'', '[', '\\']);
    match variable.variable_type {
        VariableType::Binary if is_scalar && is_plain => Ok(rig::value_by_hand(&format!("\"{value}\""))),
        VariableType::String if is_scalar => match rig::value_by_hand(value) {
            RigValue::String(text) if text == value && value.contains('"') => {
                let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
                Err(format!("{name} is one text, and this is none with quotes within: write \"{escaped}\""))
            }
            value => Ok(value),
        },
        _ => Ok(rig::value_by_hand(value)),
    }
}

fn boolean(word: &str) -> Result<bool> {
    match word.to_lowercase().as_str() {
        "true" | "1" | "on" | "fmi3true" | "fmi2true" => Ok(true),
        "false" | "0" | "off" | "fmi3false" | "fmi2false" => Ok(false),
        _ => Err(format!("{word} is neither true nor false")),
    }
}

/// Parses a number or a fraction such as 1/300.
fn number(word: &str) -> Result<f64> {
    let plain = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let value = match word.split_once('/') {
        Some((counter, resolution)) => {
            plain(counter).zip(plain(resolution)).map(|(counter, resolution)| counter / resolution)
        }
        None => plain(word),
    };
    value.filter(|value| value.is_finite()).ok_or_else(|| format!("{word} is no number"))
}

fn numbers(text: &str) -> Result<Vec<f64>> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']')).filter(|word| !word.is_empty());
    let list = words.map(number).collect::<Result<Vec<f64>>>()?;
    if list.is_empty() { Err(String::new()) } else { Ok(list) }
}

fn length(word: &str, is_fraction: bool) -> Result<IntervalValue> {
    let wrong = || format!("{word} is no interval: write a number, or COUNTER/RESOLUTION");
    match word.split_once('/') {
        Some((counter, resolution)) => Ok(IntervalValue::Fraction {
            counter: counter.trim().parse().map_err(|_| wrong())?,
            resolution: resolution.trim().parse().map_err(|_| wrong())?,
        }),
        None if is_fraction => Err(wrong()),
        None => Ok(IntervalValue::Decimal(number(word)?)),
    }
}

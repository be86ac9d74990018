//! Parses a line of the conversation into a request to the instance. Errors in the line are reported before the FMU is
//! called.

use super::context::{Experiment, LineContext, TYPES};
use super::functions::{Entry, NamingScheme};
use super::words::{self, LineWords, Result, boolean, listed, number, numbers, option, written};
use vecud_description::{Causality, Interface, Variable, VariableType};
use vecud_fmi::{Function, get_function, set_function};
use vecud_runner::by_hand::{Request, Verb};

/// Name of the saved state when a line names none.
const UNNAMED: &str = "state";

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

    fn request(&self, entry: &Entry, function: Option<Function>, rest: &str) -> Result<Instruction> {
        let words = LineWords::of(rest);
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
                let length = words::length(length, is_fraction)?;
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

    fn instantiate(&self, function: Option<Function>, words: &LineWords) -> Result<Instruction> {
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

    fn experiment(&self, words: &LineWords) -> Result<Experiment> {
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

    fn clocks(&self, words: &LineWords, causality: Causality) -> Result<Vec<u32>> {
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

    fn get(&self, function: Option<Function>, words: &LineWords) -> Result<Vec<NamedRequest>> {
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
}

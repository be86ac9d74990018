//! The instance that is called: where it stands, and what becomes of each request.
//!
//! The types of `ffi` are the state machine. A request that they have no room for in the present state is refused before anything is
//! called; which these are is said once, in [`Verb::states`](super::Verb::states).

use super::protocol::{Answer, Given, Length, Message, Place, Request, State, Subject, Why};
use super::saved::{Mode, Slot};
use super::{Mouth, protocol};
use crate::ffi::{
    Attempt, Batch, Configuration, DerivativeError, Differentiable, Failure, Function, Getting, Health, ImplicitForm,
    Initialization, InputClocks, Instance, InstanceControl, Instantiated, Interval, Jacobian, Library, MadeFor, Model,
    Numbers, OutputClocks, Partition, Provides, Reasons, Running, StateSupport, StepOptions, Stepper, Terminated,
};
use crate::fmu::description::{
    Causality, Interface, InterfaceOffer, InterfaceType, ModelDescription, ValueReference, Values, Variable,
    VariableType,
};
use crate::runner::values;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of a string or a binary that is read, at first: of a longer one the FMU is asked again.
const TEXT: usize = 4096;

/// The instance, by what its state lets it do.
pub(super) enum Life {
    None,
    Instantiated(Instance<Instantiated>),
    Configuration(Instance<Configuration>),
    Initialization(Instance<Initialization>),
    Clocks(InstanceControl, Vec<Partition>),
    Steps(InstanceControl, Stepper),
    Equations(InstanceControl, Model),
    Terminated(Instance<Terminated>),
}

pub(super) type Result<T> = std::result::Result<T, Why>;

/// Takes requests.
pub(super) struct Caller {
    pub(super) subject: Subject,
    description: ModelDescription,
    mouth: Arc<Mouth>,
    library: Option<Arc<Library>>,
    pub(super) life: Life,
    pub(super) slots: BTreeMap<String, Slot>,
    /// Bytes of states, with their mode and time.
    pub(super) serialized: BTreeMap<String, (Vec<u8>, Mode, f64)>,
    /// The time that the instance has come to, in its unit of time.
    pub(super) time: f64,
    event_mode_used: bool,
    /// In Event Mode: another iteration is to come before it is left.
    pub(super) iterates: bool,
    /// As described, or as the instance was asked last.
    numbers: Numbers,
    /// As described.
    described: Numbers,
    /// The instance was asked for its numbers.
    has_told_numbers: bool,
}

/// Does something with the instance while nothing of it computes, whichever state it is in, and puts it back.
macro_rules! at_rest {
    ($caller:ident, |$instance:ident| $work:expr) => {
        match std::mem::replace(&mut $caller.life, Life::None) {
            Life::None => Err(Why::NotHere),
            Life::Instantiated($instance) => {
                let done = $work;
                $caller.life = Life::Instantiated($instance);
                done
            }
            Life::Configuration($instance) => {
                let done = $work;
                $caller.life = Life::Configuration($instance);
                done
            }
            Life::Initialization($instance) => {
                let done = $work;
                $caller.life = Life::Initialization($instance);
                done
            }
            Life::Terminated($instance) => {
                let done = $work;
                $caller.life = Life::Terminated($instance);
                done
            }
            running => {
                let ($instance, in_event_mode) = running.joined()?;
                let done = $work;
                $caller.life = $caller.split($instance, in_event_mode);
                done
            }
        }
    };
}

/// Does something that the instance does not come back from as it was.
macro_rules! consumed {
    ($caller:ident, |$instance:ident| $work:expr) => {
        match std::mem::replace(&mut $caller.life, Life::None) {
            Life::None => return Err(Why::NotHere),
            Life::Instantiated($instance) => $work,
            Life::Configuration($instance) => $work,
            Life::Initialization($instance) => $work,
            Life::Terminated($instance) => $work,
            running => {
                let ($instance, _) = running.joined()?;
                $work
            }
        }
    };
}

pub(super) use {at_rest, consumed};

impl Life {
    /// The whole instance of one that computes, and whether it is in Event Mode of Co-Simulation.
    pub(super) fn joined(self) -> Result<(Instance<Running>, bool)> {
        let joined = match self {
            Life::Clocks(control, partitions) => (control.join(partitions), false),
            Life::Steps(control, mut stepper) => {
                let in_event_mode = stepper.event_mode().is_some();
                (control.join(vec![stepper]), in_event_mode)
            }
            Life::Equations(control, model) => (control.join(vec![model]), false),
            _ => return Err(Why::NotHere),
        };
        let instance = joined.0.map_err(|error| Why::Refused(error.to_string()))?;
        Ok((instance, joined.1))
    }
}

impl Caller {
    pub(super) fn new(subject: Subject, description: ModelDescription, mouth: Arc<Mouth>) -> Caller {
        let elements = |variable: &Variable| description.elements(variable) as usize;
        let (states, event_indicators) = description.numbers_of_equations(elements);
        Caller {
            numbers: Numbers { states, event_indicators },
            described: Numbers { states, event_indicators },
            has_told_numbers: false,
            subject,
            description,
            mouth,
            library: None,
            life: Life::None,
            slots: BTreeMap::new(),
            serialized: BTreeMap::new(),
            time: 0.0,
            event_mode_used: false,
            iterates: true,
        }
    }

    /// Answers requests until there are none any more, then ends the instance.
    pub(super) fn serve(mut self, mut from: UnixStream) {
        let mut next = receive(&mut from);
        while let Some(request) = next {
            next = match (&self.life, &request) {
                (Life::Clocks(..), Request::ActivateModelPartition { clock, time }) => {
                    let (clock, time) = (*clock, *time);
                    self.activate(clock, time, &mut from)
                }
                _ => {
                    let result = self.answer(request);
                    self.over(self.state(), result);
                    receive(&mut from)
                }
            };
        }
        self.slots.clear();
    }

    fn over(&self, state: State, result: Result<Given>) {
        self.mouth.say(&Message::Over(Answer { state, time: self.time, result }));
    }

    fn state(&self) -> State {
        let (state, health) = match &self.life {
            Life::None => return State::NoInstance,
            Life::Instantiated(instance) => (State::Instantiated, instance.health()),
            Life::Configuration(instance) => (State::ConfigurationMode, instance.health()),
            Life::Initialization(instance) => (State::InitializationMode, instance.health()),
            Life::Clocks(control, _) => (State::ClockActivationMode, control.health()),
            Life::Steps(control, stepper) => {
                (if stepper.is_in_event_mode() { State::EventMode } else { State::StepMode }, control.health())
            }
            Life::Equations(control, model) => {
                (if model.is_in_event_mode() { State::EventMode } else { State::ContinuousTimeMode }, control.health())
            }
            Life::Terminated(instance) => (State::Terminated, instance.health()),
        };
        match health {
            Health::Healthy => state,
            Health::Failed => State::Failed,
            Health::Fatal | Health::Freed => State::Fatal,
        }
    }

    /// What failed, in the words of the FMU's version.
    pub(super) fn failed(&self, failure: Failure) -> Why {
        let words = failure.in_words_of(self.subject.abi, self.subject.interface);
        if failure.refused { Why::Refused(words) } else { Why::Failed(words) }
    }

    /// What a function is called in messages.
    pub(super) fn word(&self, function: Function) -> &'static str {
        function.word_of(self.subject.abi, self.subject.interface)
    }

    pub(super) fn nothing<T>(&self, done: std::result::Result<T, Failure>) -> Result<Given> {
        done.map(|_outcome_is_told| Given::Nothing).map_err(|failure| self.failed(failure))
    }

    fn attempted(&self, attempt: std::result::Result<Attempt, Failure>) -> Result<()> {
        match attempt {
            Ok(Attempt::Done(_)) => Ok(()),
            Ok(Attempt::Discarded(failure)) | Err(failure) => Err(self.failed(failure)),
        }
    }

    fn derived<T>(&self, done: std::result::Result<T, DerivativeError>) -> Result<T> {
        done.map_err(|error| match error {
            DerivativeError::Failed(failure) => self.failed(failure),
            error => Why::Refused(error.to_string()),
        })
    }

    fn offer(&self) -> Result<&InterfaceOffer> {
        let offers = &self.description.interfaces;
        let offer = offers.iter().find(|offer| offer.interface() == self.subject.interface);
        offer.ok_or_else(|| Why::Invalid(format!("the FMU does not offer {}", self.subject.interface.name())))
    }

    fn common(&self) -> Result<&InterfaceType> {
        self.offer().map(InterfaceOffer::common)
    }

    fn library(&mut self) -> Result<Arc<Library>> {
        if let Some(library) = &self.library {
            return Ok(library.clone());
        }
        let path = Path::new(OsStr::from_bytes(&self.subject.library));
        let loaded = Library::load(path, self.subject.abi, self.subject.interface);
        let library = Arc::new(loaded.map_err(|error| Why::Invalid(error.to_string()))?);
        self.library = Some(library.clone());
        Ok(library)
    }

    /// Takes an instance apart into what computes of it.
    pub(super) fn split(&self, instance: Instance<Running>, in_event_mode: bool) -> Life {
        match self.subject.interface {
            Interface::ScheduledExecution => {
                let is_input = |v: &&Variable| v.clock.is_some() && v.causality == Causality::Input;
                let clocks = self.description.variables.iter().filter(is_input).map(|v| v.value_reference);
                let (control, partitions) = instance.into_parts(&clocks.collect::<Vec<_>>());
                Life::Clocks(control, partitions)
            }
            Interface::CoSimulation => {
                let (control, mut stepper) = instance.into_stepper();
                if in_event_mode {
                    stepper.is_in_initial_event_mode(self.time);
                }
                Life::Steps(control, stepper)
            }
            Interface::ModelExchange => {
                let (control, mut model) = instance.into_model(self.numbers);
                model.is_in_initial_event_mode(self.time);
                Life::Equations(control, model)
            }
        }
    }

    fn answer(&mut self, request: Request) -> Result<Given> {
        if !request.verb().states().contains(&self.state()) {
            return Err(Why::NotHere);
        }
        match request {
            Request::GetVersion => {
                let library = self.library()?;
                Ok(Given::Text(library.version()))
            }
            Request::Instantiate { name, logging_on, event_mode_used, early_return_allowed } => {
                self.instantiate(&name, logging_on, event_mode_used, early_return_allowed)
            }
            Request::SetDebugLogging { on, categories } => {
                let categories: Vec<&str> = categories.iter().map(String::as_str).collect();
                let done = at_rest!(self, |instance| Ok(instance.set_debug_logging(on, &categories)));
                self.nothing(done?)
            }
            Request::EnterConfigurationMode
            | Request::ExitConfigurationMode
            | Request::EnterInitializationMode { .. }
            | Request::ExitInitializationMode => self.go_on(request),
            Request::Set { place, values } => self.set(place, &values),
            Request::Get { place } => self.get(place).map(Given::Values),
            Request::SetClock { clocks } => {
                let clocks = InputClocks::ticking(&clocks);
                let done = match &mut self.life {
                    Life::Steps(_, stepper) => stepper.event_mode().map(|mut event| event.set_clocks(&clocks)),
                    Life::Equations(_, model) => model.event_mode().map(|mut event| event.set_clocks(&clocks)),
                    _ => None,
                };
                self.nothing(done.ok_or(Why::NotHere)?)
            }
            Request::GetClock { clocks } => {
                let clocks: Vec<_> = clocks.into_iter().map(|clock| (ValueReference(clock), 1)).collect();
                let mut clocks = OutputClocks::new(&clocks);
                let done = match &mut self.life {
                    Life::Steps(_, stepper) => stepper.event_mode().map(|mut event| event.get_clocks(&mut clocks)),
                    Life::Equations(_, model) => model.event_mode().map(|mut event| event.get_clocks(&mut clocks)),
                    _ => None,
                };
                self.nothing(done.ok_or(Why::NotHere)?)?;
                Ok(Given::Clocks(clocks.active().iter().map(|active| *active != 0).collect()))
            }
            Request::GetInterval { .. }
            | Request::SetInterval { .. }
            | Request::GetShift { .. }
            | Request::SetShift { .. } => self.clock(request),
            // Those of an instance whose partitions wait are activated by whoever serves requests.
            Request::ActivateModelPartition { .. } => Err(Why::NotHere),
            Request::DoStep { point, size } => self.step(point, size),
            Request::EnterEventMode { .. }
            | Request::EnterStepMode
            | Request::EnterContinuousTimeMode
            | Request::UpdateDiscreteStates => self.event(request),
            Request::GetDerivative { adjoint, unknowns, knowns, seed } => {
                let of = self.matrix_of(&unknowns, &knowns)?;
                let given = match &mut self.life {
                    Life::Initialization(instance) => Some(product(instance, &of, adjoint, &seed)),
                    Life::Equations(_, model) => match model.continuous_time() {
                        Some(mut continuous) => Some(product(&mut continuous, &of, adjoint, &seed)),
                        None => model.event_mode().map(|mut event| product(&mut event, &of, adjoint, &seed)),
                    },
                    Life::Steps(_, stepper) => {
                        stepper.event_mode().map(|mut event| product(&mut event, &of, adjoint, &seed))
                    }
                    _ => None,
                };
                self.derived(given.ok_or(Why::NotHere)?)
            }
            Request::GetFmuState { slot } => self.take_state(slot),
            Request::SetFmuState { slot } => self.set_state(&slot),
            Request::FreeFmuState { slot } => self.free_state(&slot),
            Request::SerializeFmuState { slot } => self.serialize(slot),
            Request::DeserializeFmuState { slot } => self.deserialize(slot),
            Request::Terminate => {
                let (instance, _) = std::mem::replace(&mut self.life, Life::None).joined()?;
                let (instance, done) = instance.terminate();
                self.life = Life::Terminated(instance);
                self.nothing(done)
            }
            Request::Reset => {
                let reset = consumed!(self, |instance| instance.reset());
                self.life = Life::Instantiated(reset.map_err(|failure| self.failed(failure))?);
                self.time = 0.0;
                Ok(Given::Nothing)
            }
            Request::FreeInstance => {
                let is_fatal = self.state() == State::Fatal;
                self.slots.clear();
                let begun = Instant::now();
                let ended = consumed!(self, |instance| instance.end());
                // After Fatal nothing is called.
                if !is_fatal {
                    self.mouth.returned(Function::FreeInstance, String::new(), begun.elapsed().as_nanos() as u64);
                }
                self.time = 0.0;
                self.nothing(ended)
            }
            of_equations => self.equations(of_equations),
        }
    }

    fn instantiate(&mut self, name: &str, logging_on: bool, event_mode: bool, early_return: bool) -> Result<Given> {
        let library = self.library()?;
        let made_for = match self.subject.interface {
            Interface::ScheduledExecution => MadeFor::ScheduledExecution,
            Interface::CoSimulation => MadeFor::CoSimulation(StepOptions::new(event_mode, early_return)),
            Interface::ModelExchange => MadeFor::ModelExchange,
        };
        let function = Function::instantiate(self.subject.interface);
        let support = match self.common()? {
            own if own.can_serialize_fmu_state => StateSupport::Serialize,
            own if own.can_get_and_set_fmu_state => StateSupport::GetAndSet,
            _ => StateSupport::None,
        };
        let (token, resources) = (&self.description.instantiation_token, self.subject.resources.as_deref());
        let begun = Instant::now();
        let made = library.instantiate(&made_for, name, token, resources, logging_on, self.mouth.clone());
        let instance = made.map_err(|failure| self.failed(failure))?;
        self.mouth.returned(function, format!("{name:?}, loggingOn {logging_on}"), begun.elapsed().as_nanos() as u64);
        instance.declare_states(support);
        self.event_mode_used = event_mode;
        (self.numbers, self.has_told_numbers) = (self.described, false);
        self.life = Life::Instantiated(instance);
        Ok(Given::Nothing)
    }

    /// What leads from one state of the initialisation to the next.
    fn go_on(&mut self, request: Request) -> Result<Given> {
        let next = match (std::mem::replace(&mut self.life, Life::None), request) {
            (Life::Instantiated(instance), Request::EnterConfigurationMode) => {
                instance.enter_configuration_mode().map(Life::Configuration)
            }
            (Life::Configuration(instance), Request::ExitConfigurationMode) => {
                instance.exit_configuration_mode().map(Life::Instantiated)
            }
            (Life::Instantiated(instance), Request::EnterInitializationMode { start, stop, tolerance }) => {
                self.time = start;
                let entered = instance.enter_initialization_mode(start, stop, tolerance);
                match entered {
                    // One that is initialised by one call is through with it.
                    Ok(instance) if !self.subject.abi.has_initialization_mode() => self.leave(instance),
                    entered => entered.map(Life::Initialization),
                }
            }
            (Life::Initialization(instance), Request::ExitInitializationMode) => self.leave(instance),
            (life, _) => {
                self.life = life;
                return Err(Why::NotHere);
            }
        };
        self.life = next.map_err(|failure| self.failed(failure))?;
        Ok(Given::Nothing)
    }

    fn leave(&mut self, instance: Instance<Initialization>) -> std::result::Result<Life, Failure> {
        let running = instance.exit_initialization_mode()?;
        self.iterates = true;
        Ok(self.split(running, self.event_mode_used))
    }

    fn set(&mut self, place: Place, values: &Values) -> Result<Given> {
        let Place { reference, variable_type, .. } = place;
        if variable_type == VariableType::Clock {
            return Err(Why::Refused("clocks are set by SetClock".to_owned()));
        }
        let done = match &mut self.life {
            Life::Instantiated(instance) => instance.set_values(reference, variable_type, values),
            Life::Configuration(instance) => instance.set_values(reference, variable_type, values),
            Life::Initialization(instance) => instance.set_values(reference, variable_type, values),
            Life::Clocks(_, partitions) => {
                let partition = partitions.first_mut().ok_or(Why::Refused("the FMU has no input clock".to_owned()))?;
                partition.begin().set(&filled(place, values))
            }
            Life::Steps(_, stepper) => match stepper.event_mode() {
                Some(mut event) => event.set(&filled(place, values)),
                None => stepper.begin().set(&filled(place, values)),
            },
            Life::Equations(_, model) => match model.continuous_time() {
                Some(mut continuous) => {
                    let attempt = continuous.set(&filled(place, values));
                    self.attempted(attempt)?;
                    return Ok(Given::Nothing);
                }
                None => model.event_mode().ok_or(Why::NotHere)?.set(&filled(place, values)),
            },
            Life::None | Life::Terminated(_) => return Err(Why::NotHere),
        };
        self.nothing(done)
    }

    fn get(&mut self, place: Place) -> Result<Values> {
        let Place { reference, variable_type, elements } = place;
        if variable_type == VariableType::Clock {
            return Err(Why::Refused("clocks are read by GetClock".to_owned()));
        }
        let early = match &self.life {
            Life::Instantiated(instance) => Some(instance.get_values(reference, variable_type, elements)),
            Life::Initialization(instance) => Some(instance.get_values(reference, variable_type, elements)),
            _ => None,
        };
        if let Some(values) = early {
            return values.map_err(|failure| self.failed(failure));
        }
        let read = |life: &mut Life, batch: &mut Batch| match life {
            Life::Steps(_, stepper) => Ok(match stepper.event_mode() {
                Some(mut event) => event.get(batch).map(Attempt::Done),
                None => stepper.get(batch).map(Attempt::Done),
            }),
            Life::Equations(_, model) => match model.continuous_time() {
                Some(mut continuous) => Ok(continuous.get(batch)),
                None => Ok(model.event_mode().ok_or(Why::NotHere)?.get(batch).map(Attempt::Done)),
            },
            _ => Err(Why::NotHere),
        };
        let mut room = TEXT;
        loop {
            let mut batch = empty(place, room);
            let attempt = read(&mut self.life, &mut batch)?;
            self.attempted(attempt)?;
            match needed(&batch) {
                Some(more) => room = more,
                None => return values::load(&batch, 0).ok_or(Why::NotHere),
            }
        }
    }

    /// Intervals and shifts.
    fn clock(&mut self, request: Request) -> Result<Given> {
        let interval = |(interval, qualifier): (Interval, i32)| Given::Interval {
            length: length(interval),
            qualifier: Some(qualifier),
        };
        let given = match (&mut self.life, request) {
            (Life::Initialization(instance), Request::GetInterval { clock, fraction }) => {
                instance.get_interval(clock, fraction).map(interval)
            }
            (Life::Steps(_, stepper), Request::GetInterval { clock, fraction }) => {
                stepper.event_mode().ok_or(Why::NotHere)?.get_interval(clock, fraction).map(interval)
            }
            (Life::Equations(_, model), Request::GetInterval { clock, fraction }) => {
                model.event_mode().ok_or(Why::NotHere)?.get_interval(clock, fraction).map(interval)
            }
            (Life::Initialization(instance), Request::SetInterval { clock, interval }) => {
                instance.set_interval(clock, of_length(interval)).map(|_told| Given::Nothing)
            }
            (Life::Initialization(instance), Request::GetShift { clock, fraction }) => instance
                .get_shift(clock, fraction)
                .map(|shift| Given::Interval { length: length(shift), qualifier: None }),
            (Life::Initialization(instance), Request::SetShift { clock, shift }) => {
                instance.set_shift(clock, of_length(shift)).map(|_told| Given::Nothing)
            }
            _ => return Err(Why::NotHere),
        };
        given.map_err(|failure| self.failed(failure))
    }

    fn step(&mut self, point: Option<f64>, size: f64) -> Result<Given> {
        let Life::Steps(_, stepper) = &mut self.life else { return Err(Why::NotHere) };
        let point = point.unwrap_or(self.time);
        match stepper.begin().step(point, size) {
            Ok(after) => {
                let said = after.said();
                self.time = said.reached;
                Ok(Given::Step {
                    reached: said.reached,
                    early_return: said.early_return,
                    event_handling_needed: said.event_handling_needed,
                    terminate_simulation: said.terminate_simulation,
                })
            }
            Err(not_made) => {
                let (failure, reached) = (not_made.failure, not_made.reached);
                let why = self.failed(failure);
                match why {
                    Why::Failed(words) if failure.status == crate::ffi::Status::Discard => {
                        Err(Why::Failed(format!("{words}; it has come to {reached:?}")))
                    }
                    why => Err(why),
                }
            }
        }
    }

    /// What changes between Event Mode and the mode beside it, and the iterations there.
    fn event(&mut self, request: Request) -> Result<Given> {
        let time = self.time;
        let done = match (&mut self.life, request) {
            (Life::Steps(..), Request::EnterEventMode { .. }) if !self.event_mode_used => {
                let words = "the instance was made without eventModeUsed: Instantiate eventModeUsed=true";
                return Err(Why::Refused(words.to_owned()));
            }
            (_, Request::EnterStepMode | Request::EnterContinuousTimeMode) if self.iterates => {
                let until = self.subject.abi.end_of_iteration();
                let update = self.word(Function::UpdateDiscreteStates);
                return Err(Why::Refused(format!("the event is not over: {update}, until {until}")));
            }
            (Life::Steps(_, stepper), Request::EnterEventMode { .. }) => stepper.enter_event_mode(time),
            (Life::Steps(_, stepper), Request::EnterStepMode) => stepper.enter_step_mode(),
            (Life::Equations(_, model), Request::EnterEventMode { step_event, time_event }) => {
                model.enter_event_mode(time, &Reasons { step_event, time_event, roots_found: &[] })
            }
            (Life::Equations(_, model), Request::EnterContinuousTimeMode) => model.enter_continuous_time_mode(),
            (life, Request::UpdateDiscreteStates) => {
                let updated = match life {
                    Life::Steps(_, stepper) => stepper.event_mode().map(|mut event| event.update()),
                    Life::Equations(_, model) => model.event_mode().map(|mut event| event.update()),
                    _ => None,
                };
                let said = updated.ok_or(Why::NotHere)?.map_err(|failure| self.failed(failure))?;
                self.iterates = said.needs_update;
                return Ok(Given::Update {
                    needs_update: said.needs_update,
                    terminate_simulation: said.terminate_simulation,
                    nominals_changed: said.nominals_of_continuous_states_changed,
                    values_changed: said.values_of_continuous_states_changed,
                    next_event_time: said.next_event_time,
                });
            }
            _ => return Err(Why::NotHere),
        };
        // The next event begins with an iteration.
        self.iterates = true;
        self.nothing(done)
    }

    /// How many states and event indicators there are, as the instance says. Where the description says otherwise that is told.
    fn ask_numbers(&mut self) -> Result<Numbers> {
        let Life::Equations(_, model) = &mut self.life else { return Err(Why::NotHere) };
        let numbers = model.numbers();
        let numbers = numbers.map_err(|failure| self.failed(failure))?;
        (self.numbers, self.has_told_numbers) = (numbers, true);
        // With them sizes change, and the numbers of the description are not the last word.
        let is_structural = |own: &Variable| own.causality == Causality::StructuralParameter;
        if !self.description.variables.iter().any(is_structural) {
            let Numbers { states, event_indicators } = self.described;
            for (function, told, described) in [
                (Function::GetNumberOfContinuousStates, numbers.states, states),
                (Function::GetNumberOfEventIndicators, numbers.event_indicators, event_indicators),
            ] {
                if told != described {
                    let function = self.word(function);
                    self.mouth
                        .note(format!("{function} says {told}, and by its modelDescription.xml it has {described}"));
                }
            }
        }
        Ok(numbers)
    }

    /// Of what there is none of by the description the FMU is asked first, where it can tell, and that nothing is called is told.
    fn tell_of_none(&mut self, request: &Request) -> Result<()> {
        let (what, of): (_, fn(&Numbers) -> usize) = match request {
            Request::SetContinuousStates { .. }
            | Request::GetContinuousStates
            | Request::GetContinuousStateDerivatives
            | Request::GetNominalsOfContinuousStates => ("continuous states", |numbers| numbers.states),
            Request::GetEventIndicators => ("event indicators", |numbers| numbers.event_indicators),
            _ => return Ok(()),
        };
        if of(&self.numbers) == 0 && !self.has_told_numbers {
            self.ask_numbers()?;
        }
        if of(&self.numbers) == 0 {
            self.mouth.note(format!("nothing is called: the FMU has no {what}"));
        }
        Ok(())
    }

    /// What only Model Exchange has.
    fn equations(&mut self, request: Request) -> Result<Given> {
        self.tell_of_none(&request)?;
        let Numbers { states, event_indicators } = match request {
            Request::GetNumbers => {
                let Numbers { states, event_indicators } = self.ask_numbers()?;
                return Ok(Given::Numbers { states, event_indicators });
            }
            _ => self.numbers,
        };
        let Life::Equations(_, model) = &mut self.life else { return Err(Why::NotHere) };
        if request == Request::GetStateValueReferences {
            let mut references = vec![0; states];
            let done = model.state_references(&mut references);
            self.nothing(done)?;
            return Ok(Given::References(references));
        }
        let mut continuous = model.continuous_time().ok_or(Why::NotHere)?;
        let vector = |length: usize| vec![0.0; length];
        let (attempt, given) = match request {
            Request::SetTime { time } => {
                let attempt = continuous.set_time(time);
                if let Ok(Attempt::Done(_)) = attempt {
                    self.time = time;
                }
                (attempt, Given::Nothing)
            }
            Request::SetContinuousStates { states: values } => {
                if values.len() != states {
                    let words = format!("the instance has {states} continuous states, not {}", values.len());
                    return Err(Why::Refused(words));
                }
                (continuous.set_states(&values), Given::Nothing)
            }
            Request::GetContinuousStates => {
                let mut values = vector(states);
                (continuous.states(&mut values).map(Attempt::Done), Given::Vector(values))
            }
            Request::GetNominalsOfContinuousStates => {
                let mut values = vector(states);
                (continuous.nominals(&mut values).map(Attempt::Done), Given::Vector(values))
            }
            Request::GetContinuousStateDerivatives => {
                let mut values = vector(states);
                (continuous.derivatives(&mut values), Given::Vector(values))
            }
            Request::GetEventIndicators => {
                let mut values = vector(event_indicators);
                (continuous.indicators(&mut values), Given::Vector(values))
            }
            Request::CompletedIntegratorStep { no_set_fmu_state_prior_to_current_point } => {
                let completed = continuous.completed_integrator_step(no_set_fmu_state_prior_to_current_point);
                let said = completed.map_err(|failure| self.failed(failure))?;
                return Ok(Given::Completed {
                    enter_event_mode: said.enter_event_mode,
                    terminate_simulation: said.terminate_simulation,
                });
            }
            Request::Residual { derivatives } => {
                let form = form(&self.description)?;
                if derivatives.len() != form.states() {
                    let words = format!("there are {} continuous states, not {}", form.states(), derivatives.len());
                    return Err(Why::Refused(words));
                }
                let mut values = vector(form.states());
                (form.residual(&mut continuous, &derivatives, &mut values), Given::Vector(values))
            }
            Request::Jacobian { by_differences } => {
                let form = form(&self.description)?;
                let mut form = if by_differences { form.by_differences() } else { form };
                let (rows, columns, calls) = (form.rows(), form.states(), form.calls());
                let mut elements = vector(rows * columns);
                let done = form.jacobian(&mut continuous, &mut elements);
                let attempt = self.derived(done)?;
                self.attempted(Ok(attempt))?;
                return Ok(Given::Matrix { rows, columns, elements, calls });
            }
            _ => return Err(Why::NotHere),
        };
        self.attempted(attempt)?;
        Ok(given)
    }

    /// Activates a model partition, and answers what can be asked of it then. Gives the first request that is another one.
    fn activate(&mut self, clock: ValueReference, time: f64, from: &mut UnixStream) -> Option<Request> {
        let mut life = std::mem::replace(&mut self.life, Life::None);
        let next = self.activate_of(&mut life, clock, time, from);
        self.life = life;
        match next {
            Ok(next) => next,
            Err(why) => {
                self.over(self.state(), Err(why));
                receive(from)
            }
        }
    }

    fn activate_of(
        &mut self,
        life: &mut Life,
        clock: ValueReference,
        time: f64,
        from: &mut UnixStream,
    ) -> Result<Option<Request>> {
        let Life::Clocks(control, partitions) = life else { return Err(Why::NotHere) };
        if control.health() != Health::Healthy {
            return Err(Why::NotHere);
        }
        let own = partitions.iter_mut().find(|partition| partition.clock() == clock);
        let partition = own.ok_or_else(|| Why::Refused("it is no input clock".to_owned()))?;
        let mut getting = partition.begin().activate(time).map_err(|failure| self.failed(failure))?;
        self.time = time;
        self.over(State::PartitionActivated, Ok(Given::Nothing));
        loop {
            let result = match receive(from) {
                Some(Request::Get { place }) => self.get_activated(&mut getting, place).map(Given::Values),
                Some(Request::GetInterval { clock: own, fraction }) if own == clock => {
                    let given = getting.get_interval(fraction).map(|(interval, qualifier)| Given::Interval {
                        length: length(interval),
                        qualifier: Some(qualifier),
                    });
                    given.map_err(|failure| self.failed(failure))
                }
                Some(Request::GetInterval { .. }) => {
                    Err(Why::Refused("after an activation only its own clock is asked for an interval".to_owned()))
                }
                Some(Request::GetDerivative { adjoint, unknowns, knowns, seed }) => self
                    .matrix_of(&unknowns, &knowns)
                    .and_then(|of| self.derived(product(&mut getting, &of, adjoint, &seed))),
                Some(other) if !other.verb().states().contains(&State::PartitionActivated) => Err(Why::NotHere),
                other => return Ok(other),
            };
            let state = match control.health() {
                Health::Healthy => State::PartitionActivated,
                Health::Failed => State::Failed,
                Health::Fatal | Health::Freed => State::Fatal,
            };
            self.over(state, result);
            if state != State::PartitionActivated {
                return Ok(receive(from));
            }
        }
    }

    fn get_activated(&self, getting: &mut Getting, place: Place) -> Result<Values> {
        if place.variable_type == VariableType::Clock {
            return Err(Why::Refused("in Scheduled Execution clocks are read when the FMU calls back".to_owned()));
        }
        let mut room = TEXT;
        loop {
            let mut batch = empty(place, room);
            getting.get(&mut batch).map_err(|failure| self.failed(failure))?;
            match needed(&batch) {
                Some(more) => room = more,
                None => return values::load(&batch, 0).ok_or(Why::NotHere),
            }
        }
    }

    fn matrix_of(&self, unknowns: &[Place], knowns: &[Place]) -> Result<Jacobian> {
        let all = |places: &[Place]| places.iter().map(|place| (place.reference, place.elements)).collect::<Vec<_>>();
        Ok(Jacobian::new(Provides::from(self.common()?), &all(unknowns), &all(knowns)))
    }
}

fn receive(from: &mut UnixStream) -> Option<Request> {
    // What is no request comes from nobody who could be answered.
    protocol::receive(from).ok().flatten()
}

fn form(description: &ModelDescription) -> Result<ImplicitForm> {
    ImplicitForm::of(description).map_err(|error| Why::Refused(error.to_string()))
}

/// The product of a matrix with a vector.
fn product(
    at: &mut impl Differentiable,
    of: &Jacobian,
    adjoint: bool,
    seed: &[f64],
) -> std::result::Result<Given, DerivativeError> {
    let mut product = vec![0.0; if adjoint { of.columns() } else { of.rows() }];
    if adjoint {
        at.adjoint_derivative(of, seed, &mut product)?;
    } else {
        at.directional_derivative(of, seed, &mut product)?;
    }
    Ok(Given::Vector(product))
}

/// A batch of one variable; `room`: bytes of each string or binary.
fn empty(Place { reference, variable_type, elements }: Place, room: usize) -> Batch {
    match variable_type {
        VariableType::String | VariableType::Binary => {
            Batch::awaiting_bytes(variable_type, &[(reference, elements, room)]).all_enabled()
        }
        other => Batch::new(other, vec![(reference, elements)]),
    }
}

fn filled(place: Place, values: &Values) -> Batch {
    let longest = match values {
        Values::String(all) => all.iter().map(String::len).max(),
        Values::Binary(all) => all.iter().map(Vec::len).max(),
        _ => None,
    };
    let mut batch = empty(place, longest.unwrap_or(0));
    values::store(&mut batch, 0, values);
    batch
}

/// The size of the longest string or binary, where one has not found room.
fn needed(batch: &Batch) -> Option<usize> {
    batch.elements(0).filter_map(|element| batch.bytes(element).err()).max()
}

fn length(interval: Interval) -> Length {
    match interval {
        Interval::Decimal(value) => Length::Decimal(value),
        Interval::Fraction { counter, resolution } => Length::Fraction { counter, resolution },
    }
}

fn of_length(length: Length) -> Interval {
    match length {
        Length::Decimal(value) => Interval::Decimal(value),
        Length::Fraction { counter, resolution } => Interval::Fraction { counter, resolution },
    }
}

//! The instance that is called: its state, and the result of each request.
//!
//! The types of `vecud_fmi` are the state machine. A request that the present state does not allow is refused before anything is
//! called; [`Verb::states`](super::Verb::states) lists the states of each.

use super::channel::Channel;
use super::protocol::{
    self, FmiState, LoadRequest, Message, Reply, ReplyContent, Request, RequestFailure, VariableHandle,
};
use super::slot::{Slot, StateMode};
use crate::surroundings::finding;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use vecud_description::{
    Causality, Interface, InterfaceOffer, InterfaceType, ModelDescription, ValueReference, Variable,
};
use vecud_fmi::{
    Attempt, Configuration, DerivativeError, Differentiable, Failure, Function, Health, Initialization, InputClocks,
    Instance, InstanceControl, Instantiated, Jacobian, Library, MadeFor, Model, Numbers, OutputClocks, Partition,
    Provides, Reasons, Running, StateSupport, StepOptions, Stepper, Terminated, preload,
};
use vecud_linux::surroundings;

/// The instance, by its state.
pub(super) enum LiveInstance {
    None,
    Instantiated(Instance<Instantiated>),
    Configuration(Instance<Configuration>),
    Initialization(Instance<Initialization>),
    Clocks(InstanceControl, Vec<Partition>),
    Steps(InstanceControl, Stepper),
    Equations(InstanceControl, Model),
    Terminated(Instance<Terminated>),
}

pub(super) type Result<T> = std::result::Result<T, RequestFailure>;

/// The answer of the last iteration of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Iterated {
    /// Another iteration has to come.
    Again,
    /// None has.
    Done,
    /// The run has to end (`terminateSimulation`).
    Over,
}

/// Takes requests.
pub(super) struct Caller {
    pub(super) subject: LoadRequest,
    pub(super) description: ModelDescription,
    pub(super) channel: Arc<Channel>,
    library: Option<Arc<Library>>,
    pub(super) instance: LiveInstance,
    pub(super) slots: BTreeMap<String, Slot>,
    /// Bytes of states, with their mode and time.
    pub(super) serialized: BTreeMap<String, (Vec<u8>, StateMode, f64)>,
    /// The time that the instance has come to, in its unit of time.
    pub(super) time: f64,
    event_mode_used: bool,
    /// In Event Mode: the next call that the iteration requires before the mode may be left.
    pub(super) event: Iterated,
    /// As described, or as the instance was asked last.
    pub(super) numbers: Numbers,
    /// As described.
    pub(super) described: Numbers,
    /// The instance was asked for its numbers.
    pub(super) has_told_numbers: bool,
}

/// Does something with the instance while nothing of it computes, whichever state it is in, and puts it back.
macro_rules! at_rest {
    ($caller:ident, |$instance:ident| $work:expr) => {
        match std::mem::replace(&mut $caller.instance, LiveInstance::None) {
            LiveInstance::None => Err(RequestFailure::NotHere),
            LiveInstance::Instantiated($instance) => {
                let done = $work;
                $caller.instance = LiveInstance::Instantiated($instance);
                done
            }
            LiveInstance::Configuration($instance) => {
                let done = $work;
                $caller.instance = LiveInstance::Configuration($instance);
                done
            }
            LiveInstance::Initialization($instance) => {
                let done = $work;
                $caller.instance = LiveInstance::Initialization($instance);
                done
            }
            LiveInstance::Terminated($instance) => {
                let done = $work;
                $caller.instance = LiveInstance::Terminated($instance);
                done
            }
            running => {
                let ($instance, in_event_mode) = running.joined()?;
                let done = $work;
                $caller.instance = $caller.split($instance, in_event_mode);
                done
            }
        }
    };
}

/// Does something that the instance does not come back from as it was.
macro_rules! consumed {
    ($caller:ident, |$instance:ident| $work:expr) => {
        match std::mem::replace(&mut $caller.instance, LiveInstance::None) {
            LiveInstance::None => return Err(RequestFailure::NotHere),
            LiveInstance::Instantiated($instance) => $work,
            LiveInstance::Configuration($instance) => $work,
            LiveInstance::Initialization($instance) => $work,
            LiveInstance::Terminated($instance) => $work,
            running => {
                let ($instance, _) = running.joined()?;
                $work
            }
        }
    };
}

pub(super) use {at_rest, consumed};

impl LiveInstance {
    /// The whole instance of one that computes, and whether it is in Event Mode of Co-Simulation.
    pub(super) fn joined(self) -> Result<(Instance<Running>, bool)> {
        let joined = match self {
            LiveInstance::Clocks(control, partitions) => (control.join(partitions), false),
            LiveInstance::Steps(control, mut stepper) => {
                let in_event_mode = stepper.event_mode().is_some();
                (control.join(vec![stepper]), in_event_mode)
            }
            LiveInstance::Equations(control, model) => (control.join(vec![model]), false),
            _ => return Err(RequestFailure::NotHere),
        };
        let instance = joined.0.map_err(|error| RequestFailure::Refused(error.to_string()))?;
        Ok((instance, joined.1))
    }
}

impl Caller {
    pub(super) fn new(subject: LoadRequest, description: ModelDescription, channel: Arc<Channel>) -> Caller {
        let elements = |variable: &Variable| description.elements(variable) as usize;
        let (states, event_indicators) = description.numbers_of_equations(elements);
        Caller {
            numbers: Numbers { states, event_indicators },
            described: Numbers { states, event_indicators },
            has_told_numbers: false,
            subject,
            description,
            channel,
            library: None,
            instance: LiveInstance::None,
            slots: BTreeMap::new(),
            serialized: BTreeMap::new(),
            time: 0.0,
            event_mode_used: false,
            event: Iterated::Again,
        }
    }

    /// Answers requests until there are none any more, then ends the instance.
    pub(super) fn serve(mut self, mut from: UnixStream) {
        let mut next = receive(&mut from);
        while let Some(request) = next {
            next = match (&self.instance, &request) {
                (LiveInstance::Clocks(..), Request::ActivateModelPartition { clock, time }) => {
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

    /// Ends a request, when no FMU code runs: puts back what the FMU has changed for all code of the process, and sends the
    /// result.
    pub(super) fn over(&self, state: FmiState, result: Result<ReplyContent>) {
        self.put_back("");
        self.channel.say(&Message::Over(Reply { state, time: self.time, result }));
    }

    /// Puts back what FMU code has changed for all code of the process, and notes it, with the time in `when`.
    fn put_back(&self, when: &str) {
        surroundings::restore(|what| {
            let what = finding(what).changed().unwrap_or_default();
            self.channel.note(format!("the FMU changed {what}{when}; that was put back"));
        });
    }

    pub(super) fn state(&self) -> FmiState {
        let (state, health) = match &self.instance {
            LiveInstance::None => return FmiState::NoInstance,
            LiveInstance::Instantiated(instance) => (FmiState::Instantiated, instance.health()),
            LiveInstance::Configuration(instance) => (FmiState::ConfigurationMode, instance.health()),
            LiveInstance::Initialization(instance) => (FmiState::InitializationMode, instance.health()),
            LiveInstance::Clocks(control, _) => (FmiState::ClockActivationMode, control.health()),
            LiveInstance::Steps(control, stepper) => {
                (if stepper.is_in_event_mode() { FmiState::EventMode } else { FmiState::StepMode }, control.health())
            }
            LiveInstance::Equations(control, model) => (
                if model.is_in_event_mode() { FmiState::EventMode } else { FmiState::ContinuousTimeMode },
                control.health(),
            ),
            LiveInstance::Terminated(instance) => (FmiState::Terminated, instance.health()),
        };
        match health {
            Health::Healthy => state,
            Health::Failed => FmiState::Failed,
            Health::Fatal | Health::Freed => FmiState::Fatal,
        }
    }

    /// The failure of a call, in the words of the FMU's version.
    pub(super) fn failed(&self, failure: Failure) -> RequestFailure {
        let words = failure.in_words_of(self.subject.abi, self.subject.interface);
        if failure.refused { RequestFailure::Refused(words) } else { RequestFailure::Failed(words) }
    }

    /// The name of a function in messages.
    pub(super) fn word(&self, function: Function) -> &'static str {
        function.word_of(self.subject.abi, self.subject.interface)
    }

    pub(super) fn nothing<T>(&self, done: std::result::Result<T, Failure>) -> Result<ReplyContent> {
        done.map(|_outcome_is_told| ReplyContent::Nothing).map_err(|failure| self.failed(failure))
    }

    pub(super) fn attempted(&self, attempt: std::result::Result<Attempt, Failure>) -> Result<()> {
        match attempt {
            Ok(Attempt::Done(_)) => Ok(()),
            Ok(Attempt::Discarded(failure)) | Err(failure) => Err(self.failed(failure)),
        }
    }

    pub(super) fn derived<T>(&self, done: std::result::Result<T, DerivativeError>) -> Result<T> {
        done.map_err(|error| match error {
            DerivativeError::Failed(failure) => self.failed(failure),
            error => RequestFailure::Refused(error.to_string()),
        })
    }

    fn offer(&self) -> Result<&InterfaceOffer> {
        let offers = &self.description.interfaces;
        let offer = offers.iter().find(|offer| offer.interface() == self.subject.interface);
        offer
            .ok_or_else(|| RequestFailure::Invalid(format!("the FMU does not offer {}", self.subject.interface.name())))
    }

    pub(super) fn common(&self) -> Result<&InterfaceType> {
        self.offer().map(InterfaceOffer::common)
    }

    fn library(&mut self) -> Result<Arc<Library>> {
        if let Some(library) = &self.library {
            return Ok(library.clone());
        }
        for file in &self.subject.preload {
            let file = Path::new(OsStr::from_bytes(file));
            let told = |words| {
                RequestFailure::Invalid(format!("{} cannot be loaded before it (preload): {words}", file.display()))
            };
            preload(file).map_err(told)?;
        }
        let path = Path::new(OsStr::from_bytes(&self.subject.library));
        let loaded = Library::load(path, self.subject.abi, self.subject.interface);
        self.put_back(" when its library was loaded");
        let library = Arc::new(loaded.map_err(|error| RequestFailure::Invalid(error.to_string()))?);
        library.stays(0);
        self.library = Some(library.clone());
        Ok(library)
    }

    /// Splits an instance into its compute handles.
    pub(super) fn split(&self, instance: Instance<Running>, in_event_mode: bool) -> LiveInstance {
        match self.subject.interface {
            Interface::ScheduledExecution => {
                let is_input = |v: &&Variable| v.clock.is_some() && v.causality == Causality::Input;
                let clocks = self.description.variables.iter().filter(is_input).map(|v| v.value_reference);
                let (control, partitions) = instance.into_parts(&clocks.collect::<Vec<_>>());
                LiveInstance::Clocks(control, partitions)
            }
            Interface::CoSimulation => {
                let (control, mut stepper) = instance.into_stepper();
                if in_event_mode {
                    stepper.is_in_initial_event_mode(self.time);
                }
                LiveInstance::Steps(control, stepper)
            }
            Interface::ModelExchange => {
                let (control, mut model) = instance.into_model(self.numbers);
                model.is_in_initial_event_mode(self.time);
                LiveInstance::Equations(control, model)
            }
        }
    }

    fn answer(&mut self, request: Request) -> Result<ReplyContent> {
        if !request.verb().states().contains(&self.state()) {
            return Err(RequestFailure::NotHere);
        }
        match request {
            Request::GetVersion => {
                let library = self.library()?;
                Ok(ReplyContent::Text(library.version()))
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
            Request::Get { place } => self.get(place).map(ReplyContent::Values),
            Request::SetClock { clocks } => {
                let clocks = InputClocks::ticking(&clocks);
                let done = match &mut self.instance {
                    LiveInstance::Steps(_, stepper) => stepper.event_mode().map(|mut event| event.set_clocks(&clocks)),
                    LiveInstance::Equations(_, model) => model.event_mode().map(|mut event| event.set_clocks(&clocks)),
                    _ => None,
                };
                self.nothing(done.ok_or(RequestFailure::NotHere)?)
            }
            Request::GetClock { clocks } => {
                let clocks: Vec<_> = clocks.into_iter().map(|clock| (ValueReference(clock), 1)).collect();
                let mut clocks = OutputClocks::new(&clocks);
                let done = match &mut self.instance {
                    LiveInstance::Steps(_, stepper) => {
                        stepper.event_mode().map(|mut event| event.get_clocks(&mut clocks))
                    }
                    LiveInstance::Equations(_, model) => {
                        model.event_mode().map(|mut event| event.get_clocks(&mut clocks))
                    }
                    _ => None,
                };
                self.nothing(done.ok_or(RequestFailure::NotHere)?)?;
                Ok(ReplyContent::Clocks(clocks.active().iter().map(|active| *active != 0).collect()))
            }
            Request::GetInterval { .. }
            | Request::SetInterval { .. }
            | Request::GetShift { .. }
            | Request::SetShift { .. } => self.clock(request),
            // While the partitions of the instance wait, the loop that serves requests activates them.
            Request::ActivateModelPartition { .. } => Err(RequestFailure::NotHere),
            Request::DoStep { point, size } => self.step(point, size),
            Request::EnterEventMode { .. }
            | Request::EnterStepMode
            | Request::EnterContinuousTimeMode
            | Request::UpdateDiscreteStates => self.event(request),
            Request::GetDerivative { adjoint, unknowns, knowns, seed } => {
                let of = self.matrix_of(&unknowns, &knowns)?;
                let given = match &mut self.instance {
                    LiveInstance::Initialization(instance) => Some(product(instance, &of, adjoint, &seed)),
                    LiveInstance::Equations(_, model) => match model.continuous_time() {
                        Some(mut continuous) => Some(product(&mut continuous, &of, adjoint, &seed)),
                        None => model.event_mode().map(|mut event| product(&mut event, &of, adjoint, &seed)),
                    },
                    LiveInstance::Steps(_, stepper) => {
                        stepper.event_mode().map(|mut event| product(&mut event, &of, adjoint, &seed))
                    }
                    _ => None,
                };
                self.derived(given.ok_or(RequestFailure::NotHere)?)
            }
            Request::GetFmuState { slot } => self.take_state(slot),
            Request::SetFmuState { slot } => self.set_state(&slot),
            Request::FreeFmuState { slot } => self.free_state(&slot),
            Request::SerializeFmuState { slot } => self.serialize(slot),
            Request::DeserializeFmuState { slot } => self.deserialize(slot),
            Request::Terminate => {
                let (instance, _) = std::mem::replace(&mut self.instance, LiveInstance::None).joined()?;
                let (instance, done) = instance.terminate();
                self.instance = LiveInstance::Terminated(instance);
                self.nothing(done)
            }
            Request::Reset => {
                let reset = consumed!(self, |instance| instance.reset());
                self.instance = LiveInstance::Instantiated(reset.map_err(|failure| self.failed(failure))?);
                self.time = 0.0;
                Ok(ReplyContent::Nothing)
            }
            Request::FreeInstance => {
                let is_fatal = self.state() == FmiState::Fatal;
                self.slots.clear();
                let begun = Instant::now();
                let ended = consumed!(self, |instance| instance.end());
                // After Fatal nothing is called.
                if !is_fatal {
                    self.channel.returned(Function::FreeInstance, String::new(), begun.elapsed().as_nanos() as u64);
                }
                self.time = 0.0;
                self.nothing(ended)
            }
            of_equations => self.equations(of_equations),
        }
    }

    fn instantiate(
        &mut self,
        name: &str,
        logging_on: bool,
        event_mode: bool,
        early_return: bool,
    ) -> Result<ReplyContent> {
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
        let made = library.instantiate(&made_for, name, token, resources, logging_on, self.channel.clone());
        let instance = made.map_err(|failure| self.failed(failure))?;
        self.channel.returned(function, format!("{name:?}, loggingOn {logging_on}"), begun.elapsed().as_nanos() as u64);
        instance.declare_states(support);
        self.event_mode_used = event_mode;
        (self.numbers, self.has_told_numbers) = (self.described, false);
        self.instance = LiveInstance::Instantiated(instance);
        Ok(ReplyContent::Nothing)
    }

    /// Takes the initialisation from one state to the next.
    fn go_on(&mut self, request: Request) -> Result<ReplyContent> {
        let next = match (std::mem::replace(&mut self.instance, LiveInstance::None), request) {
            (LiveInstance::Instantiated(instance), Request::EnterConfigurationMode) => {
                instance.enter_configuration_mode().map(LiveInstance::Configuration)
            }
            (LiveInstance::Configuration(instance), Request::ExitConfigurationMode) => {
                instance.exit_configuration_mode().map(LiveInstance::Instantiated)
            }
            (LiveInstance::Instantiated(instance), Request::EnterInitializationMode { start, stop, tolerance }) => {
                self.time = start;
                let entered = instance.enter_initialization_mode(start, stop, tolerance);
                match entered {
                    // One that is initialised by one call is through with it.
                    Ok(instance) if !self.subject.abi.has_initialization_mode() => self.leave(instance),
                    entered => entered.map(LiveInstance::Initialization),
                }
            }
            (LiveInstance::Initialization(instance), Request::ExitInitializationMode) => self.leave(instance),
            (live, _) => {
                self.instance = live;
                return Err(RequestFailure::NotHere);
            }
        };
        self.instance = next.map_err(|failure| self.failed(failure))?;
        Ok(ReplyContent::Nothing)
    }

    fn leave(&mut self, instance: Instance<Initialization>) -> std::result::Result<LiveInstance, Failure> {
        let running = instance.exit_initialization_mode()?;
        self.event = Iterated::Again;
        Ok(self.split(running, self.event_mode_used))
    }

    fn step(&mut self, point: Option<f64>, size: f64) -> Result<ReplyContent> {
        let LiveInstance::Steps(_, stepper) = &mut self.instance else { return Err(RequestFailure::NotHere) };
        let point = point.unwrap_or(self.time);
        match stepper.begin().step(point, size) {
            Ok(after) => {
                let said = after.said();
                self.time = said.reached;
                Ok(ReplyContent::Step {
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
                    RequestFailure::Failed(words) if failure.status == vecud_fmi::Status::Discard => {
                        Err(RequestFailure::Failed(format!("{words}; it has come to {reached:?}")))
                    }
                    why => Err(why),
                }
            }
        }
    }

    /// Why Event Mode is not left.
    fn still_in_event(&self) -> String {
        if self.event == Iterated::Over {
            let terminate = self.word(Function::Terminate);
            return format!("the FMU has asked for the end of the run (terminateSimulation): {terminate} is next");
        }
        let until = self.subject.abi.end_of_iteration();
        format!("the event is not over: {}, until {until}", self.word(Function::UpdateDiscreteStates))
    }

    /// Enters or leaves Event Mode, and iterates there.
    fn event(&mut self, request: Request) -> Result<ReplyContent> {
        let time = self.time;
        let done = match (&mut self.instance, request) {
            (LiveInstance::Steps(..), Request::EnterEventMode { .. }) if !self.event_mode_used => {
                let words = "the instance was made without eventModeUsed: Instantiate eventModeUsed=true";
                return Err(RequestFailure::Refused(words.to_owned()));
            }
            (_, Request::EnterStepMode | Request::EnterContinuousTimeMode) if self.event != Iterated::Done => {
                return Err(RequestFailure::Refused(self.still_in_event()));
            }
            (LiveInstance::Steps(_, stepper), Request::EnterEventMode { .. }) => stepper.enter_event_mode(time),
            (LiveInstance::Steps(_, stepper), Request::EnterStepMode) => stepper.enter_step_mode(),
            (LiveInstance::Equations(_, model), Request::EnterEventMode { step_event, time_event }) => {
                model.enter_event_mode(time, &Reasons { step_event, time_event, roots_found: &[] })
            }
            (LiveInstance::Equations(_, model), Request::EnterContinuousTimeMode) => model.enter_continuous_time_mode(),
            (live, Request::UpdateDiscreteStates) => {
                let updated = match live {
                    LiveInstance::Steps(_, stepper) => stepper.event_mode().map(|mut event| event.update()),
                    LiveInstance::Equations(_, model) => model.event_mode().map(|mut event| event.update()),
                    _ => None,
                };
                let said = updated.ok_or(RequestFailure::NotHere)?.map_err(|failure| self.failed(failure))?;
                self.event = match (said.terminate_simulation, said.needs_update) {
                    (true, _) => Iterated::Over,
                    (false, true) => Iterated::Again,
                    (false, false) => Iterated::Done,
                };
                return Ok(ReplyContent::Update {
                    needs_update: said.needs_update,
                    terminate_simulation: said.terminate_simulation,
                    nominals_changed: said.nominals_of_continuous_states_changed,
                    values_changed: said.values_of_continuous_states_changed,
                    next_event_time: said.next_event_time,
                });
            }
            _ => return Err(RequestFailure::NotHere),
        };
        // The next event begins with an iteration.
        self.event = Iterated::Again;
        self.nothing(done)
    }

    pub(super) fn matrix_of(&self, unknowns: &[VariableHandle], knowns: &[VariableHandle]) -> Result<Jacobian> {
        let all = |places: &[VariableHandle]| {
            places.iter().map(|place| (place.reference, place.elements)).collect::<Vec<_>>()
        };
        Ok(Jacobian::new(Provides::from(self.common()?), &all(unknowns), &all(knowns)))
    }
}

pub(super) fn receive(from: &mut UnixStream) -> Option<Request> {
    // Anything but a request comes from a peer that could not be answered.
    protocol::receive(from).ok().flatten()
}

/// The product of a matrix with a vector.
pub(super) fn product(
    at: &mut impl Differentiable,
    of: &Jacobian,
    adjoint: bool,
    seed: &[f64],
) -> std::result::Result<ReplyContent, DerivativeError> {
    let mut product = vec![0.0; if adjoint { of.columns() } else { of.rows() }];
    if adjoint {
        at.adjoint_derivative(of, seed, &mut product)?;
    } else {
        at.directional_derivative(of, seed, &mut product)?;
    }
    Ok(ReplyContent::Vector(product))
}

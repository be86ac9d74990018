//! The equations of an instance for Model Exchange (FMI 3.0, chapter 3; FMI 2.0, chapter 3; FMI 1.0 for Model Exchange), which the
//! importer integrates.
//!
//! The instance is in one of two modes, and each is a type that lends what the standards allow there, and nothing else:
//! [`Model::event_mode`] an [`EventMode`], [`Model::continuous_time`] a [`ContinuousTime`]. The mode belongs to the instance: it is
//! still known after [`InstanceControl::join`](super::InstanceControl::join), and a state that is set leads back to its own.
//!
//! FMI 1.0 has no modes. Entering one calls nothing there, and the first update after the initialisation is the answer of
//! `fmiInitialize`.
//!
//! Calls at each point in time allocate nothing and take no lock here.

use super::abi::Functions;
use super::arguments;
use super::batch::Batch;
use super::environment::Health;
use super::event_mode::EventMode;
use super::function::Function;
use super::part::ComputeHandle;
use super::reasons::Reasons;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome, Status};
use super::step_state::StepState;
use super::types::{RawBool, RawInstance, RawReference, RawStatus};

/// The numbers of an instance's continuous states and event indicators: of arrays, all elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Number of continuous states, and of their derivatives and nominal values.
    pub states: usize,
    /// Event indicators.
    pub event_indicators: usize,
}

/// The equations of an instance: `Send`, not `Sync`, as its part.
pub struct Model {
    part: ComputeHandle,
    /// The time that the FMU knows: what a failure is put on.
    time: Option<f64>,
    /// Numbers of states and event indicators in the description.
    described: Numbers,
    /// State to which the instance can be restored.
    state: StepState,
}

/// Result of a call that an FMU may refuse because of its point.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub enum Attempt {
    /// The call succeeded.
    Done(Outcome),
    /// `fmi3Discard`: nothing was computed, and the instance is as it was before. A smaller step may go well.
    Discarded(Failure),
}

impl Attempt {
    fn of(result: Result<Outcome, Failure>) -> Result<Attempt, Failure> {
        match result {
            Ok(outcome) => Ok(Attempt::Done(outcome)),
            Err(failure) if failure.status == Status::Discard && !failure.refused => Ok(Attempt::Discarded(failure)),
            Err(failure) => Err(failure),
        }
    }
}

/// The answer of an FMU to a completed integrator step (`fmi3CompletedIntegratorStep`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Outcome of the call.
    pub outcome: Outcome,
    /// `enterEventMode`: it wants Event Mode to be entered, for a step event.
    pub enter_event_mode: bool,
    /// `terminateSimulation`: the run is to end.
    pub terminate_simulation: bool,
}

impl From<Model> for ComputeHandle {
    fn from(model: Model) -> ComputeHandle {
        model.part
    }
}

impl Model {
    pub(super) fn new(part: ComputeHandle, described: Numbers) -> Model {
        Model { part, time: None, described, state: StepState::default() }
    }

    fn shared(&self) -> &SharedInstance {
        &self.part.shared
    }

    fn cause(&self) -> CallContext {
        CallContext { clock: None, time: self.time }
    }

    /// Whether the instance may still be called.
    #[inline]
    pub fn health(&self) -> Health {
        self.shared().health()
    }

    /// Treats the instance as if a call had returned `fmi3Error`: nothing but `fmi3FreeInstance` will be called.
    pub fn fail(&self) {
        self.shared().fail(Status::Error);
    }

    /// Asks for the memory that every call looks at.
    #[inline]
    pub fn prefetch(&self) {
        self.shared().prefetch();
    }

    /// The instance has left Initialization Mode at this time, and is in Event Mode since: what fails there is put on it.
    pub fn is_in_initial_event_mode(&mut self, time: f64) {
        self.time = Some(time);
    }

    /// The Event Mode that the instance is in; `None`: it is in Continuous-Time Mode.
    #[inline]
    pub fn event_mode(&mut self) -> Option<EventMode<'_>> {
        let cause = self.cause();
        self.shared().is_in_event_mode().then(|| EventMode::new(&mut self.part, cause))
    }

    /// Whether the instance is in Event Mode, else in Continuous-Time Mode.
    pub fn is_in_event_mode(&self) -> bool {
        self.shared().is_in_event_mode()
    }

    /// The Continuous-Time Mode that the instance is in; `None`: it is in Event Mode.
    #[inline]
    pub fn continuous_time(&mut self) -> Option<ContinuousTime<'_>> {
        if self.shared().is_in_event_mode() { None } else { Some(ContinuousTime { model: self }) }
    }

    /// `fmi3EnterEventMode` for these reasons, unless the instance is there. `time` is that which it was told last.
    pub fn enter_event_mode(&mut self, time: f64, reasons: &Reasons) -> Result<Outcome, Failure> {
        if self.shared().is_in_event_mode() {
            return Ok(Outcome::Ok);
        }
        self.time = Some(time);
        self.change_mode(Function::EnterEventMode, true, |f, i| {
            // SAFETY: the instance is alive and in Continuous-Time Mode, and `self` is what calls it alone.
            unsafe { f.enter_event_mode(i, reasons) }
        })
    }

    /// `fmi3EnterContinuousTimeMode`, unless the instance is there. Not as long as an FMU that it is connected with needs another
    /// [update](EventMode::update).
    pub fn enter_continuous_time_mode(&mut self) -> Result<Outcome, Failure> {
        if !self.shared().is_in_event_mode() {
            return Ok(Outcome::Ok);
        }
        self.change_mode(Function::EnterContinuousTimeMode, false, |f, i| {
            // SAFETY: the instance is alive and in Event Mode, and `self` is what calls it alone.
            unsafe { (f.enter_continuous_time_mode)(i) }
        })
    }

    /// Changes the mode, by a call where the C interface has modes.
    fn change_mode(
        &mut self,
        function: Function,
        to_event_mode: bool,
        c: impl FnOnce(&Functions, RawInstance) -> RawStatus,
    ) -> Result<Outcome, Failure> {
        let shared = self.shared();
        let outcome = if shared.library.functions().has_modes() {
            shared.call(function, self.cause(), c)?
        } else if shared.health() == Health::Healthy {
            Outcome::Ok
        } else {
            return Err(shared.refusal(function, self.cause()));
        };
        shared.set_in_event_mode(to_event_mode);
        Ok(outcome)
    }

    /// `fmi3GetNumberOfContinuousStates` and `fmi3GetNumberOfEventIndicators`, unchecked: they change with structural parameters. Where
    /// an FMU has no such functions, what its description says.
    pub fn numbers(&mut self) -> Result<Numbers, Failure> {
        Ok(numbers(self.shared(), self.cause())?.unwrap_or(self.described))
    }

    /// `fmiGetStateValueReferences` of FMI 1.0, whose description does not tell the variables of states: a reference for each
    /// state, 2³² − 1 for a state that is no variable. Refused in other versions.
    pub fn state_references(&mut self, references: &mut [RawReference]) -> Result<Outcome, Failure> {
        let (function, shared) = (Function::GetStateValueReferences, self.shared());
        if !shared.library.functions().has_state_references() {
            return Err(shared.refusal(function, self.cause()));
        }
        shared.call(function, self.cause(), |f, i| {
            // SAFETY: the instance is alive and initialised.
            unsafe { f.get_state_references(i, references) }
        })
    }

    /// Whether the instance may be called.
    pub fn is_healthy(&self) -> bool {
        self.part.shared.is_healthy()
    }

    /// `fmi3GetFMUState`: remembers the present state instead of that from before. The first time, for which the FMU takes
    /// memory, is before the run.
    pub fn remember(&mut self) -> Result<Outcome, Failure> {
        self.state.remember(&mut self.part)
    }

    /// `fmi3SetFMUState`: as it was when the state was remembered, and in the mode that it was in. `None`: none was.
    pub fn go_back(&mut self) -> Option<Result<Outcome, Failure>> {
        self.state.go_back(&mut self.part)
    }
}

/// The numbers of an instance for Model Exchange, by its own functions; `None`: it has no such functions. Precondition: it was
/// initialised.
pub(super) fn numbers(shared: &SharedInstance, cause: CallContext) -> Result<Option<Numbers>, Failure> {
    let (of_states, of_indicators) = (Function::GetNumberOfContinuousStates, Function::GetNumberOfEventIndicators);
    let lacks = |function| shared.library.missing().contains(&function);
    if !shared.library.functions().tells_numbers() || lacks(of_states) || lacks(of_indicators) {
        return Ok(None);
    }
    let (mut states, mut event_indicators) = (0, 0);
    shared.call(of_states, cause, |f, i| {
        // SAFETY: the instance is alive and initialised; the place can be written to.
        unsafe { (f.get_number_of_continuous_states)(i, &mut states) }
    })?;
    shared.call(of_indicators, cause, |f, i| {
        // SAFETY: as above.
        unsafe { (f.get_number_of_event_indicators)(i, &mut event_indicators) }
    })?;
    Ok(Some(Numbers { states, event_indicators }))
}

/// An instance in Continuous-Time Mode.
#[must_use]
pub struct ContinuousTime<'a> {
    model: &'a mut Model,
}

impl ContinuousTime<'_> {
    pub(super) fn shared(&self) -> &SharedInstance {
        self.model.shared()
    }

    pub(super) fn cause(&self) -> CallContext {
        self.model.cause()
    }

    /// `fmi3SetTime`, in the FMU's unit of time. Never back over a step that was completed, or an event.
    #[inline]
    pub fn set_time(&mut self, time: f64) -> Result<Attempt, Failure> {
        self.model.time = Some(time);
        Attempt::of(self.shared().call(Function::SetTime, self.cause(), |f, i| {
            // SAFETY: the instance is alive and in Continuous-Time Mode, which `self` stands for.
            unsafe { (f.set_time)(i, time) }
        }))
    }

    /// Sets the enabled items of the batch, in one call. Precondition: they are continuous inputs, for nothing else may be set in
    /// this mode.
    #[inline]
    pub fn set(&mut self, batch: &Batch) -> Result<Attempt, Failure> {
        Attempt::of(self.shared().set_batch(batch).map_err(|failure| failure.of(self.cause())))
    }

    /// `fmi3SetContinuousStates`, of all states. As all functions with values of states or indicators: not called when there are
    /// none, so that an FMU without states need not have the function.
    #[inline]
    pub fn set_states(&mut self, states: &[f64]) -> Result<Attempt, Failure> {
        if states.is_empty() {
            return Ok(Attempt::Done(Outcome::Ok));
        }
        let make = |(): &mut (), f: &Functions, i| {
            // SAFETY: the instance is alive and in Continuous-Time Mode; as many values as said.
            unsafe { (f.set_continuous_states)(i, states.as_ptr(), states.len()) }
        };
        let shown = |_: &(), _| arguments::of_values(states.iter(), true);
        Attempt::of(self.shared().call_with(Function::SetContinuousStates, self.cause(), (), make, shown))
    }

    /// `fmi3GetContinuousStateDerivatives`, of all states.
    #[inline]
    pub fn derivatives(&mut self, derivatives: &mut [f64]) -> Result<Attempt, Failure> {
        Attempt::of(self.read(Function::GetContinuousStateDerivatives, derivatives, |f, i, values| {
            // SAFETY: the instance is alive and in Continuous-Time Mode; as much room as said.
            unsafe { (f.get_continuous_state_derivatives)(i, values.as_mut_ptr(), values.len()) }
        }))
    }

    /// Calls `fmi3GetEventIndicators` for all indicators.
    #[inline]
    pub fn indicators(&mut self, indicators: &mut [f64]) -> Result<Attempt, Failure> {
        Attempt::of(self.read(Function::GetEventIndicators, indicators, |f, i, values| {
            // SAFETY: the instance is alive and in Continuous-Time Mode; as much room as said.
            unsafe { (f.get_event_indicators)(i, values.as_mut_ptr(), values.len()) }
        }))
    }

    /// Reads the enabled items of the batch, in one call.
    #[inline]
    pub fn get(&mut self, batch: &mut Batch) -> Result<Attempt, Failure> {
        Attempt::of(self.shared().get_batch(batch).map_err(|failure| failure.of(self.cause())))
    }

    /// Calls `fmi3GetContinuousStates` for all states.
    pub fn states(&mut self, states: &mut [f64]) -> Result<Outcome, Failure> {
        self.read(Function::GetContinuousStates, states, |f, i, values| {
            // SAFETY: the instance is alive and in Continuous-Time Mode; as much room as said.
            unsafe { (f.get_continuous_states)(i, values.as_mut_ptr(), values.len()) }
        })
    }

    /// `fmi3GetNominalsOfContinuousStates`, of all states; unchecked.
    pub fn nominals(&mut self, nominals: &mut [f64]) -> Result<Outcome, Failure> {
        self.read(Function::GetNominalsOfContinuousStates, nominals, |f, i, values| {
            // SAFETY: the instance is alive and in Continuous-Time Mode; as much room as said.
            unsafe { (f.get_nominals_of_continuous_states)(i, values.as_mut_ptr(), values.len()) }
        })
    }

    /// Calls one of the functions that fill a vector.
    #[inline(always)] // as `visit`
    fn read(
        &self,
        function: Function,
        values: &mut [f64],
        c: impl FnOnce(&Functions, RawInstance, &mut [f64]) -> RawStatus,
    ) -> Result<Outcome, Failure> {
        if values.is_empty() {
            return Ok(Outcome::Ok);
        }
        let make = |values: &mut &mut [f64], f: &Functions, i| c(f, i, values);
        let shown = |values: &&mut [f64], is_read| arguments::of_values(values.iter(), is_read);
        self.shared().call_with(function, self.cause(), values, make, shown)
    }

    /// `fmi3CompletedIntegratorStep`: the integrator has accepted the states that were set last. The importer promises with
    /// `no_set_fmu_state_prior_to_current_point` that it will not go back to before this point.
    pub fn completed_integrator_step(
        &mut self,
        no_set_fmu_state_prior_to_current_point: bool,
    ) -> Result<Completed, Failure> {
        let (mut event, mut terminate): (RawBool, RawBool) = (0, 0);
        let no_set = no_set_fmu_state_prior_to_current_point.into();
        let outcome = self.shared().call(Function::CompletedIntegratorStep, self.cause(), |f, i| {
            // SAFETY: the instance is alive and in Continuous-Time Mode; both places can be written to.
            unsafe { (f.completed_integrator_step)(i, no_set, &mut event, &mut terminate) }
        })?;
        Ok(Completed { outcome, enter_event_mode: event != 0, terminate_simulation: terminate != 0 })
    }
}

//! The steps of an instance for Co-Simulation (FMI 3.0, chapter 4; FMI 2.0, chapter 4; FMI 1.0 for Co-Simulation).
//!
//! One step is a sequence of types: [`Stepper::begin`] lends a [`BeforeStep`], [`BeforeStep::step`] turns it into an
//! [`AfterStep`]. So nothing can be read after something was set without a step in between.

use super::abi::{Functions, RawStep};
use super::batch::Batch;
use super::environment::Health;
use super::event_mode::EventMode;
use super::function::Function;
use super::part::ComputeHandle;
use super::reasons::Reasons;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome, Status};
use super::step_state::StepState;
use super::types::{RawInstance, RawStatus};
use std::fmt;
use std::time::Duration;

/// A step is not called in Event Mode, nor in place of another one where there is no such thing.
const NO_STEP_HERE: Failure = Failure::new(Function::DoStep, Status::Error, true);

/// The part of an instance that makes its steps.
pub struct Stepper {
    pub(super) part: ComputeHandle,
    /// The last step, and the FMU's answers.
    raw: RawStep,
    /// The instance is in Event Mode, at this time; `None`: in Step Mode.
    pub(super) event: Option<f64>,
    /// The state to which a step can be taken back.
    state: StepState,
}

impl From<Stepper> for ComputeHandle {
    fn from(stepper: Stepper) -> ComputeHandle {
        stepper.part
    }
}

impl Stepper {
    pub(super) fn new(part: ComputeHandle) -> Stepper {
        Stepper { part, raw: RawStep::new(0.0, 0.0), event: None, state: StepState::default() }
    }

    /// Gives a step up that is pending for longer (`fmi2Pending`).
    pub fn with_patience(self, patience: Duration) -> Stepper {
        Stepper { raw: RawStep { patience, ..self.raw }, ..self }
    }

    pub(super) fn shared(&self) -> &SharedInstance {
        &self.part.shared
    }

    /// Whether the instance may still be called.
    #[inline]
    pub fn health(&self) -> Health {
        self.part.shared.health()
    }

    /// Treats the instance as if a call had returned `fmi3Error`: nothing but `fmi3FreeInstance` will be called.
    pub fn fail(&self) {
        self.part.shared.fail(Status::Error);
    }

    /// Asks for the memory that every call looks at.
    #[inline]
    pub fn prefetch(&self) {
        self.part.shared.prefetch();
    }

    /// Reads the enabled items of the batch, in one call, between steps: values of the last step, or of a state that was set.
    pub fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure> {
        self.part.shared.get_batch(batch)
    }

    /// `fmi2GetMaxStepSize`, at rest at this time: how far the FMU can step from there by its own word, which may be anything; both in
    /// the FMU's unit of time. Refused where there is no such function.
    pub fn max_step_size(&mut self, time: f64) -> Result<(f64, Outcome), Failure> {
        // What an FMU has not written is no answer.
        let mut size = f64::NAN;
        let call = |size: &mut &mut f64, functions: &Functions, instance| {
            // SAFETY: the instance is alive and in Step Mode, as whoever asks holds what makes its steps.
            unsafe { functions.get_max_step_size(instance, size) }
        };
        let shown = |size: &&mut f64, is_over| if is_over { format!("{size:?}") } else { String::new() };
        let cause = CallContext { clock: None, time: Some(time) };
        let outcome = self.part.shared.call_with(Function::GetMaxStepSize, cause, &mut size, call, shown)?;
        Ok((size, outcome))
    }

    /// `fmi3GetFMUState`: remembers the present state instead of that from before. The first time, for which the FMU takes
    /// memory, is before the run.
    pub fn remember(&mut self) -> Result<Outcome, Failure> {
        self.state.remember(&mut self.part)
    }

    /// `fmi3SetFMUState`: as it was when the state was remembered. `None`: none was.
    pub fn go_back(&mut self) -> Option<Result<Outcome, Failure>> {
        self.state.go_back(&mut self.part)
    }

    /// The instance was made for Event Mode and has left Initialization Mode, at this time: it is in Event Mode already.
    pub fn is_in_initial_event_mode(&mut self, time: f64) {
        self.event = Some(time);
    }

    /// Whether the instance is in Event Mode, else in Step Mode.
    pub fn is_in_event_mode(&self) -> bool {
        self.event.is_some()
    }

    /// The Event Mode that the instance is in; `None`: it is in Step Mode.
    pub fn event_mode(&mut self) -> Option<EventMode<'_>> {
        let time = self.event?;
        Some(EventMode::new(&mut self.part, cause(time)))
    }

    /// `fmi3EnterEventMode` at this time, unless the instance is there.
    #[cold]
    pub fn enter_event_mode(&mut self, time: f64) -> Result<Outcome, Failure> {
        if self.event.is_some() {
            return Ok(Outcome::Ok);
        }
        // SAFETY: the instance is alive and in Step Mode, and `self` is what calls it alone.
        let call = |f: &Functions, i| unsafe { f.enter_event_mode(i, &Reasons::default()) };
        let outcome = self.shared().call(Function::EnterEventMode, cause(time), call)?;
        self.event = Some(time);
        Ok(outcome)
    }

    /// `fmi3EnterStepMode`, unless the instance is there: what the event has changed can be read, or a step follows.
    #[cold]
    pub fn enter_step_mode(&mut self) -> Result<Outcome, Failure> {
        let Some(time) = self.event else { return Ok(Outcome::Ok) };
        // SAFETY: the instance is alive and in Event Mode.
        let call = |f: &Functions, i| unsafe { (f.enter_step_mode)(i) };
        let outcome = self.shared().call(Function::EnterStepMode, cause(time), call)?;
        self.event = None;
        Ok(outcome)
    }

    /// The longest wait for a pending step.
    pub(super) fn patience(&self) -> Duration {
        self.raw.patience
    }

    /// [`BeforeStep::step`] by `make`, of a step that C was already asked for.
    pub(super) fn end_step(
        &mut self,
        raw: RawStep,
        make: impl FnOnce(&mut RawStep, &Functions, RawInstance) -> RawStatus,
    ) -> Result<AfterStep<'_>, NoStep<'_>> {
        self.raw = raw;
        self.call_step(make)
    }

    /// Has `make` make the step that is told.
    #[inline(always)] // as `visit`
    fn call_step(
        &mut self,
        make: impl FnOnce(&mut RawStep, &Functions, RawInstance) -> RawStatus,
    ) -> Result<AfterStep<'_>, NoStep<'_>> {
        let Stepper { part, raw, .. } = &mut *self;
        let cause = CallContext { clock: None, time: Some(raw.point) };
        let make = |raw: &mut &mut RawStep, functions: &Functions, instance| make(raw, functions, instance);
        let shown = |raw: &&mut RawStep, _| {
            let early =
                if raw.early_return != 0 { format!(", earlyReturn at {:?}", raw.reached) } else { String::new() };
            let event = if raw.event_handling_needed != 0 { ", eventHandlingNeeded" } else { "" };
            let over = if raw.terminate_simulation != 0 { ", terminateSimulation" } else { "" };
            format!("{:?}{early}{event}{over}", raw.size)
        };
        match part.shared.call_with(Function::DoStep, cause, raw, make, shown) {
            Ok(outcome) => Ok(AfterStep { stepper: self, outcome }),
            Err(failure) => Err(NoStep::new(self, failure)),
        }
    }

    /// Starts the sequence of a step. Calls nothing.
    #[inline]
    pub fn begin(&mut self) -> BeforeStep<'_> {
        BeforeStep { stepper: self }
    }
}

fn cause(time: f64) -> CallContext {
    CallContext { clock: None, time: Some(time) }
}

/// Before the step: inputs can be set.
#[must_use]
pub struct BeforeStep<'a> {
    stepper: &'a mut Stepper,
}

impl<'a> BeforeStep<'a> {
    pub(super) fn shared(&self) -> &SharedInstance {
        &self.stepper.part.shared
    }

    /// Sets the enabled items of the batch, in one call.
    #[inline(always)] // as `visit`
    pub fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        self.stepper.part.shared.set_batch(batch)
    }

    /// [`Stepper::remember`], with the inputs of the step.
    pub fn remember(&mut self) -> Result<Outcome, Failure> {
        self.stepper.remember()
    }

    /// Steps from the communication point over the size, both in the FMU's unit of time.
    #[inline(always)] // as `visit`
    pub fn step(self, point: f64, size: f64) -> Result<AfterStep<'a>, NoStep<'a>> {
        let BeforeStep { stepper } = self;
        if stepper.event.is_some() {
            return Err(NoStep { stepper, failure: NO_STEP_HERE, reached: point });
        }
        stepper.raw.begin(point, size);
        stepper.call_step(|raw, functions, instance| {
            // SAFETY: the instance is alive and in Step Mode, and `stepper` is the only reference to what makes its steps.
            unsafe { functions.do_step(instance, raw) }
        })
    }

    /// [`BeforeStep::step`] in place of the last step, which is rejected: from where that one began. Only FMUs of FMI 1.0 that
    /// can reject steps (`canRejectSteps`) have this (`newStep`); refused in other versions, where states are set instead.
    pub fn step_instead(self, point: f64, size: f64) -> Result<AfterStep<'a>, NoStep<'a>> {
        let BeforeStep { stepper } = self;
        if !stepper.shared().library.functions().rejects_steps() {
            return Err(NoStep { stepper, failure: NO_STEP_HERE, reached: point });
        }
        stepper.raw.begin(point, size);
        stepper.call_step(|raw, functions, instance| {
            raw.new_step = false.into();
            // SAFETY: the instance is alive, and `stepper` is the only reference to what makes its steps.
            let status = unsafe { functions.do_step(instance, raw) };
            raw.new_step = true.into();
            status
        })
    }
}

/// A step that was not made, or not whole.
pub struct NoStep<'a> {
    stepper: &'a mut Stepper,
    /// The answer of the call. Discard leaves the instance healthy.
    pub failure: Failure,
    /// After Discard, the time that the FMU reached; the communication point if it does not say. Else without meaning.
    pub reached: f64,
}

impl<'a> NoStep<'a> {
    #[cold]
    fn new(stepper: &'a mut Stepper, failure: Failure) -> NoStep<'a> {
        let reached = stepper.raw.reached;
        NoStep { stepper, failure, reached }
    }

    /// Goes back to the state that was [remembered](BeforeStep::remember), for another step. The failure of the step, if no state
    /// was.
    pub fn go_back(self) -> Result<BeforeStep<'a>, Failure> {
        let _warning_is_counted = self.stepper.go_back().unwrap_or(Err(self.failure))?;
        Ok(BeforeStep { stepper: self.stepper })
    }

    /// Prepares another step instead.
    pub fn again(self) -> BeforeStep<'a> {
        BeforeStep { stepper: self.stepper }
    }
}

impl fmt::Debug for NoStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NoStep").field("failure", &self.failure).field("reached", &self.reached).finish()
    }
}

/// The answer of an FMU to a step that it has made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepResult {
    /// `lastSuccessfulTime`: the time that it has reached.
    pub reached: f64,
    /// `earlyReturn`: it stopped short of the next communication point.
    pub early_return: bool,
    /// `eventHandlingNeeded`: it wants to enter Event Mode.
    pub event_handling_needed: bool,
    /// `terminateSimulation`: the run is to end.
    pub terminate_simulation: bool,
}

/// After the step: outputs can be read.
pub struct AfterStep<'a> {
    stepper: &'a mut Stepper,
    outcome: Outcome,
}

impl<'a> AfterStep<'a> {
    /// Prepares a further step, without reading the results of this one.
    #[inline]
    pub fn again(self) -> BeforeStep<'a> {
        BeforeStep { stepper: self.stepper }
    }

    pub(super) fn shared(&self) -> &SharedInstance {
        &self.stepper.part.shared
    }

    /// The caller on whose behalf a call after the step is made.
    pub(super) fn cause(&self) -> CallContext {
        CallContext { clock: None, time: Some(self.stepper.raw.point) }
    }

    /// Outcome of the step.
    #[inline]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The FMU's answer to the step.
    #[inline]
    pub fn said(&self) -> StepResult {
        let raw = &self.stepper.raw;
        StepResult {
            reached: raw.reached,
            early_return: raw.early_return != 0,
            event_handling_needed: raw.event_handling_needed != 0,
            terminate_simulation: raw.terminate_simulation != 0,
        }
    }

    /// Reads the enabled items of the batch, in one call.
    #[inline(always)] // as `visit`
    pub fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure> {
        let cause = self.cause();
        self.stepper.part.shared.get_batch(batch).map_err(|failure| failure.of(cause))
    }
}

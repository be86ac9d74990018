//! Event Mode of an instance for Co-Simulation (FMI 3.0, 2.3.3 and 4.2): super-dense iterations between two steps.
//!
//! [`EventMode`] is lent by what makes the steps, before or after one, and gives that back in Step Mode. So nothing steps in
//! between.

use super::batch::Batch;
use super::function::Function;
use super::shared::Cause;
use super::status::{Failure, Outcome};
use super::step::{AfterStep, BeforeStep, Stepper};
use super::types::RawBool;

/// An instance in Event Mode.
#[must_use]
pub struct EventMode<'a> {
    stepper: &'a mut Stepper,
    /// The time of the event, as the FMU is told it.
    time: f64,
}

/// What an FMU says of an iteration (`fmi3UpdateDiscreteStates`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteUpdate {
    /// How the call went.
    pub outcome: Outcome,
    /// `discreteStatesNeedUpdate`: another iteration is to follow.
    pub needs_update: bool,
    /// `terminateSimulation`: the run is to end.
    pub terminate_simulation: bool,
    /// `nextEventTime`, if it is defined.
    pub next_event_time: Option<f64>,
}

impl Stepper {
    /// The instance was made for Event Mode and has left Initialization Mode: it is in Event Mode already.
    pub fn initial_event_mode(&mut self, time: f64) -> EventMode<'_> {
        EventMode { stepper: self, time }
    }
}

impl<'a> BeforeStep<'a> {
    /// `fmi3EnterEventMode` at this time.
    pub fn enter_event_mode(self, time: f64) -> Result<EventMode<'a>, Failure> {
        EventMode::enter(self.into_stepper(), time)
    }
}

impl<'a> AfterStep<'a> {
    /// `fmi3EnterEventMode` at this time.
    pub fn enter_event_mode(self, time: f64) -> Result<EventMode<'a>, Failure> {
        EventMode::enter(self.again().into_stepper(), time)
    }
}

impl<'a> EventMode<'a> {
    fn cause(time: f64) -> Cause {
        Cause { clock: None, time: Some(time) }
    }

    #[cold]
    fn enter(stepper: &'a mut Stepper, time: f64) -> Result<EventMode<'a>, Failure> {
        // SAFETY: the instance is alive and in Step Mode, and `stepper` is what calls it alone.
        stepper.shared().call(Function::EnterEventMode, Self::cause(time), |f, i| unsafe { f.enter_event_mode(i) })?;
        Ok(EventMode { stepper, time })
    }

    /// Sets what is enabled in the batch, in one call.
    pub fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        self.stepper.shared().set_batch(batch)
    }

    /// `fmi3UpdateDiscreteStates`: one iteration.
    #[cold]
    pub fn update(&mut self) -> Result<DiscreteUpdate, Failure> {
        let [mut needs, mut terminate, mut nominals, mut values, mut defined]: [RawBool; 5] = [0; 5];
        let mut next = 0.0;
        let outcome = self.stepper.shared().call(Function::UpdateDiscreteStates, Self::cause(self.time), |f, i| {
            // SAFETY: the instance is alive and in Event Mode, which `self` stands for; each place can be written to.
            unsafe {
                (f.update_discrete_states)(
                    i,
                    &mut needs,
                    &mut terminate,
                    &mut nominals,
                    &mut values,
                    &mut defined,
                    &mut next,
                )
            }
        })?;
        Ok(DiscreteUpdate {
            outcome,
            needs_update: needs != 0,
            terminate_simulation: terminate != 0,
            next_event_time: (defined != 0).then_some(next),
        })
    }

    /// `fmi3EnterStepMode`: what the event has changed can be read, or a step follows.
    #[cold]
    pub fn enter_step_mode(self) -> Result<AfterStep<'a>, Failure> {
        let EventMode { stepper, time } = self;
        // SAFETY: the instance is alive and in Event Mode, which `self` stood for.
        let call = |f: &super::abi::Functions, i| unsafe { (f.enter_step_mode)(i) };
        let outcome = stepper.shared().call(Function::EnterStepMode, Self::cause(time), call)?;
        Ok(AfterStep::after_event(stepper, time, outcome))
    }
}

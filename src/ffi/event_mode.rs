//! Event Mode of an instance for Co-Simulation (FMI 3.0, 2.3.3 and 4.2): super-dense iterations between two steps.
//!
//! An instance that handles events is in one of two modes, which [`Stepper`] keeps: so no step is made in Event Mode, and nothing
//! that is allowed in Event Mode alone is called in Step Mode.

use super::abi::Fmi3Functions;
use super::arguments;
use super::batch::{Batch, normalise};
use super::clock_update::OutputClocks;
use super::function::Function;
use super::interval::Interval;
use super::shared::Cause;
use super::status::{Failure, Outcome};
use super::step::Stepper;
use super::types::RawBool;
use crate::fmu::description::ValueReference;

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
    /// The instance was made for Event Mode and has left Initialization Mode, at this time: it is in Event Mode already.
    pub fn is_in_initial_event_mode(&mut self, time: f64) {
        self.event = Some(time);
    }

    /// The Event Mode that the instance is in; `None`: it is in Step Mode.
    pub fn event_mode(&mut self) -> Option<EventMode<'_>> {
        let time = self.event?;
        Some(EventMode { stepper: self, time })
    }

    /// `fmi3EnterEventMode` at this time, unless the instance is there.
    #[cold]
    pub fn enter_event_mode(&mut self, time: f64) -> Result<Outcome, Failure> {
        if self.event.is_some() {
            return Ok(Outcome::Ok);
        }
        // SAFETY: the instance is alive and in Step Mode, and `self` is what calls it alone.
        let call = |f: &super::abi::Functions, i| unsafe { f.enter_event_mode(i) };
        let outcome = self.shared().call(Function::EnterEventMode, cause(time), call)?;
        self.event = Some(time);
        Ok(outcome)
    }

    /// `fmi3EnterStepMode`, unless the instance is there: what the event has changed can be read, or a step follows.
    #[cold]
    pub fn enter_step_mode(&mut self) -> Result<Outcome, Failure> {
        let Some(time) = self.event else { return Ok(Outcome::Ok) };
        // SAFETY: the instance is alive and in Event Mode.
        let call = |f: &super::abi::Functions, i| unsafe { (f.enter_step_mode)(i) };
        let outcome = self.shared().call(Function::EnterStepMode, cause(time), call)?;
        self.event = None;
        Ok(outcome)
    }
}

fn cause(time: f64) -> Cause {
    Cause { clock: None, time: Some(time) }
}

impl EventMode<'_> {
    fn cause(&self) -> Cause {
        cause(self.time)
    }

    /// Sets what is enabled in the batch, in one call.
    pub fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        self.stepper.shared().set_batch(batch).map_err(|failure| failure.of(self.cause()))
    }

    /// Reads what is enabled in the batch, in one call.
    pub fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure> {
        self.stepper.shared().get_batch(batch).map_err(|failure| failure.of(self.cause()))
    }

    /// `fmi3SetClock`: these input clocks tick.
    pub fn set_clocks(&mut self, clocks: &[u32]) -> Result<Outcome, Failure> {
        /// As many as are set in one call.
        const MOST: usize = 16;
        let active = [1; MOST];
        let mut outcome = Outcome::Ok;
        for some in clocks.chunks(MOST) {
            let active = &active[..some.len()];
            let shown = |_: &(), _| arguments::of_variables(some, arguments::booleans(active));
            outcome = outcome.or(self.stepper.shared().call_fmi3_with(
                Function::SetClock,
                self.cause(),
                (),
                |(), f, i| {
                    // SAFETY: the instance is alive and in Event Mode; as many references and values as said.
                    unsafe { (f.set_clock)(i, some.as_ptr(), some.len(), active.as_ptr()) }
                },
                shown,
            )?);
        }
        Ok(outcome)
    }

    /// `fmi3GetClock` of all of them. The FMU resets what is read, so read each clock once.
    pub fn get_clocks(&mut self, clocks: &mut OutputClocks) -> Result<Outcome, Failure> {
        let (references, active) = clocks.for_one_call();
        let make = |active: &mut &mut [RawBool], f: &Fmi3Functions, i| {
            // SAFETY: the instance is alive and in Event Mode, and for each clock there is a value.
            unsafe { (f.get_clock)(i, references.as_ptr(), references.len(), active.as_mut_ptr()) }
        };
        let shown =
            |active: &&mut [RawBool], is_read| arguments::of_read(references, arguments::booleans(active), is_read);
        let shared = self.stepper.shared();
        let outcome = shared.call_fmi3_with(Function::GetClock, self.cause(), &mut active[..], make, shown);
        normalise(active);
        outcome
    }

    /// `fmi3GetIntervalFraction` or `fmi3GetIntervalDecimal`: the interval of an input clock, and its qualifier.
    pub fn get_interval(&mut self, clock: ValueReference, fraction: bool) -> Result<(Interval, i32), Failure> {
        let cause = Cause { clock: Some(clock), time: Some(self.time) };
        self.stepper.shared().get_interval(clock, fraction, cause)
    }

    /// `fmi3UpdateDiscreteStates`: one iteration.
    #[cold]
    pub fn update(&mut self) -> Result<DiscreteUpdate, Failure> {
        let [mut needs, mut terminate, mut nominals, mut values, mut defined]: [RawBool; 5] = [0; 5];
        let mut next = 0.0;
        let outcome = self.stepper.shared().call(Function::UpdateDiscreteStates, self.cause(), |f, i| {
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
}

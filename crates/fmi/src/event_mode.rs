//! Event Mode of an instance (FMI 3.0, 2.3.3, 3.2 and 4.2): super-dense iterations at one point in time, between two steps of
//! Co-Simulation.
//!
//! An instance that handles events is in one of two modes, which [`Stepper`](super::Stepper) and [`Model`](super::Model) keep: so no
//! step is made, and no state set, in Event Mode, and nothing that is allowed in Event Mode alone is called in the other mode.

use super::abi::RawUpdate;
use super::batch::Batch;
use super::clocks::{InputClocks, OutputClocks};
use super::environment::Health;
use super::function::Function;
use super::interval::{ElementIntervals, Interval};
use super::part::ComputeHandle;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome};
use vecud_description::ValueReference;

/// An instance in Event Mode, lent by the part that computes.
#[must_use]
pub struct EventMode<'a> {
    part: &'a mut ComputeHandle,
    /// The time of the event, as the FMU is told it.
    cause: CallContext,
}

/// The answer of an FMU to an iteration (`fmi3UpdateDiscreteStates`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteUpdate {
    /// Outcome of the call.
    pub outcome: Outcome,
    /// `discreteStatesNeedUpdate`: another iteration is to follow.
    pub needs_update: bool,
    /// `terminateSimulation`: the run is to end.
    pub terminate_simulation: bool,
    /// `nominalsOfContinuousStatesChanged`: whether the nominal values must be read again.
    pub nominals_of_continuous_states_changed: bool,
    /// `valuesOfContinuousStatesChanged`: whether the states must be read again.
    pub values_of_continuous_states_changed: bool,
    /// `nextEventTime`, if it is defined.
    pub next_event_time: Option<f64>,
}

impl<'a> EventMode<'a> {
    /// The Event Mode that the instance is in; a failure is put on this cause.
    pub(super) fn new(part: &'a mut ComputeHandle, cause: CallContext) -> EventMode<'a> {
        EventMode { part, cause }
    }

    pub(super) fn shared(&self) -> &SharedInstance {
        &self.part.shared
    }

    pub(super) fn cause(&self) -> CallContext {
        self.cause
    }

    /// Sets the enabled items of the batch, in one call.
    pub fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        self.shared().set_batch(batch).map_err(|failure| failure.of(self.cause()))
    }

    /// Reads the enabled items of the batch, in one call.
    pub fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure> {
        self.shared().get_batch(batch).map_err(|failure| failure.of(self.cause()))
    }

    /// `fmi3SetClock`: these input clocks tick. In the draft none is subactive: their partitions compute states and outputs.
    pub fn set_clocks(&mut self, clocks: &InputClocks) -> Result<Outcome, Failure> {
        self.shared().set_clocks(clocks, self.cause)
    }

    /// Calls `fmi3GetClock` for all clocks. Precondition: each clock is read once, since the FMU resets it.
    pub fn get_clocks(&mut self, clocks: &mut OutputClocks) -> Result<Outcome, Failure> {
        self.shared().get_clocks(clocks, self.cause)
    }

    /// Calls the draft's `fmi3GetIntervalDecimal` or `fmi3GetIntervalFraction`, as there is room in `into`, for all elements of these
    /// output clocks.
    pub fn get_draft_intervals(&mut self, references: &[u32], into: ElementIntervals) -> Result<Outcome, Failure> {
        self.shared().get_draft_intervals(references, into, self.cause)
    }

    /// `fmi3GetIntervalFraction` or `fmi3GetIntervalDecimal`: the interval of an input clock, and its qualifier.
    pub fn get_interval(&mut self, clock: ValueReference, fraction: bool) -> Result<(Interval, i32), Failure> {
        let cause = CallContext { clock: Some(clock), ..self.cause };
        self.shared().get_interval(clock, fraction, cause)
    }

    /// `fmi3UpdateDiscreteStates`: one iteration.
    #[cold]
    pub fn update(&mut self) -> Result<DiscreteUpdate, Failure> {
        let mut raw = RawUpdate::default();
        let outcome = match self.said_when_initialised() {
            Some(said) => {
                raw = said;
                Outcome::Ok
            }
            None => self.shared().call(Function::UpdateDiscreteStates, self.cause(), |f, i| {
                // SAFETY: the instance is alive and in Event Mode, which `self` stands for.
                unsafe { f.update(i, &mut raw) }
            })?,
        };
        Ok(DiscreteUpdate {
            outcome,
            needs_update: raw.needs_update != 0,
            terminate_simulation: raw.terminate_simulation != 0,
            nominals_of_continuous_states_changed: raw.nominals_changed != 0,
            values_of_continuous_states_changed: raw.values_changed != 0,
            next_event_time: (raw.next_event_time_defined != 0).then_some(raw.next_event_time),
        })
    }

    /// The answer of FMI 1.0 about the first iteration when the instance was initialised, once.
    fn said_when_initialised(&self) -> Option<RawUpdate> {
        let shared = self.shared();
        if shared.health() != Health::Healthy {
            return None;
        }
        // SAFETY: the instance is alive, and `self` is what calls it alone.
        unsafe { shared.library.functions().take_initial_update(shared.raw()) }
    }
}

//! The computing part of an FMU with Event Mode: steps that it makes itself, or equations that the host integrates.

use crate::slopes::CarriedDerivatives;
use vecud_fmi::{
    Attempt, Batch, ComputeHandle, EventMode, Failure, Function, Model, Numbers, Outcome, Reasons, Stepper,
};

/// The computing part of one FMU.
pub enum Engine {
    /// Co-Simulation.
    Steps(Stepper),
    /// Model Exchange.
    Equations(Model),
}

/// A call at a communication point was refused or not: no smaller step mends it there.
fn settled(attempt: Attempt) -> Result<Outcome, Failure> {
    match attempt {
        Attempt::Done(outcome) => Ok(outcome),
        Attempt::Discarded(failure) => Err(failure),
    }
}

impl Engine {
    pub fn prefetch(&self) {
        match self {
            Engine::Steps(stepper) => stepper.prefetch(),
            Engine::Equations(model) => model.prefetch(),
        }
    }

    pub fn fail(&self) {
        match self {
            Engine::Steps(stepper) => stepper.fail(),
            Engine::Equations(model) => model.fail(),
        }
    }

    /// The numbers of states and event indicators that the instance reports; `None`: it makes its steps itself.
    pub fn numbers(&mut self) -> Result<Option<Numbers>, Failure> {
        match self {
            Engine::Steps(_) => Ok(None),
            Engine::Equations(model) => model.numbers().map(Some),
        }
    }

    /// The instance has left Initialization Mode at this time, in its unit, and is in Event Mode therefore.
    pub fn is_in_initial_event_mode(&mut self, time: f64) {
        match self {
            Engine::Steps(stepper) => stepper.is_in_initial_event_mode(time),
            Engine::Equations(model) => model.is_in_initial_event_mode(time),
        }
    }

    /// The Event Mode that it is in; `None`: it is between events.
    pub fn event_mode(&mut self) -> Option<EventMode<'_>> {
        match self {
            Engine::Steps(stepper) => stepper.event_mode(),
            Engine::Equations(model) => model.event_mode(),
        }
    }

    /// Enters Event Mode at this time, in its unit, unless it is there.
    pub fn enter_event_mode(&mut self, time: f64, reasons: &Reasons) -> Result<Outcome, Failure> {
        match self {
            Engine::Steps(stepper) => stepper.enter_event_mode(time),
            Engine::Equations(model) => model.enter_event_mode(time, reasons),
        }
    }

    /// Leaves Event Mode, unless it is between events.
    pub fn leave_event_mode(&mut self) -> Result<Outcome, Failure> {
        match self {
            Engine::Steps(stepper) => stepper.enter_step_mode(),
            Engine::Equations(model) => model.enter_continuous_time_mode(),
        }
    }

    /// Sets inputs between events; equations take them in Event Mode too.
    pub fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        match self {
            Engine::Steps(stepper) => stepper.begin().set(batch),
            Engine::Equations(model) => match model.continuous_time() {
                Some(mut now) => settled(now.set(batch)?),
                None => model.event_mode().map_or(Ok(Outcome::Ok), |mut now| now.set(batch)),
            },
        }
    }

    /// Sets derivatives of inputs between events. Only steps have any.
    pub fn set_slopes(&mut self, slopes: &CarriedDerivatives) -> Result<Outcome, Failure> {
        match self {
            Engine::Steps(stepper) => stepper.begin().set_derivatives(slopes.derivatives()),
            Engine::Equations(_) => Ok(Outcome::Ok),
        }
    }

    /// Reads outputs between events.
    pub fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure> {
        match self {
            Engine::Steps(stepper) => stepper.get(batch),
            Engine::Equations(model) => match model.continuous_time() {
                Some(mut now) => settled(now.get(batch)?),
                None => model.event_mode().map_or(Ok(Outcome::Ok), |mut now| now.get(batch)),
            },
        }
    }

    /// Reads slopes of outputs. Only steps have any.
    pub fn get_slopes(&mut self, slopes: &mut CarriedDerivatives) -> Result<Outcome, Failure> {
        match self {
            Engine::Steps(stepper) => stepper.get_derivatives(slopes.derivatives_mut()),
            Engine::Equations(_) => Ok(Outcome::Ok),
        }
    }

    /// The function that takes it from one time to another, for messages.
    pub fn step_function(&self) -> Function {
        match self {
            Engine::Steps(_) => Function::DoStep,
            Engine::Equations(_) => Function::GetContinuousStateDerivatives,
        }
    }

    /// Remembers its state, to which it may have to be taken back.
    pub fn remember(&mut self) -> Result<Outcome, Failure> {
        match self {
            Engine::Steps(stepper) => stepper.remember(),
            Engine::Equations(model) => model.remember(),
        }
    }

    /// Whether the instance may be called.
    pub fn is_healthy(&self) -> bool {
        match self {
            Engine::Steps(stepper) => stepper.is_healthy(),
            Engine::Equations(model) => model.is_healthy(),
        }
    }

    /// Takes it back to the state that it was to remember; `None`: there is none.
    pub fn go_back(&mut self) -> Option<Result<Outcome, Failure>> {
        match self {
            Engine::Steps(stepper) => stepper.go_back(),
            Engine::Equations(model) => model.go_back(),
        }
    }
}

impl From<Engine> for ComputeHandle {
    fn from(engine: Engine) -> ComputeHandle {
        match engine {
            Engine::Steps(stepper) => stepper.into(),
            Engine::Equations(model) => model.into(),
        }
    }
}

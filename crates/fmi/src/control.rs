//! An initialised instance, taken apart and put together again: the parts that compute are handed out, and the control that ends the
//! instance needs them back.

use super::clock_update::ClockUpdate;
use super::environment::Health;
use super::instance::{Instance, Running, Whole};
use super::model::{Model, Numbers};
use super::part::ComputeHandle;
use super::partition::{ClockElement, Partition};
use super::status::{Failure, Outcome, Status};
use super::step::Stepper;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vecud_description::Interface;

impl Instance<Running> {
    /// Splits the instance into the control that ends it and a model partition for each of these input clocks (or
    /// elements of array clocks), in that order.
    ///
    /// # Contract
    /// Precondition: from here on several threads call the same instance, and Scheduled Execution allows that under
    /// preemption, not in parallel: the caller makes sure that all threads with partitions of this instance run on one
    /// core by fixed priority, or otherwise take turns (design, S6 to S8). No memory of Rust's depends on it, but the
    /// FMU's does.
    ///
    /// # Panics
    /// If a clock is named twice: a partition is not activated inside itself.
    pub fn into_parts(self, clocks: &[impl Copy + Into<ClockElement>]) -> (InstanceControl, Vec<Partition>) {
        let clocks: Vec<ClockElement> = clocks.iter().map(|&clock| clock.into()).collect();
        let distinct: HashSet<ClockElement> = clocks.iter().copied().collect();
        assert_eq!(distinct.len(), clocks.len(), "an input clock has one model partition, or one for each element");
        let partitions =
            clocks.into_iter().map(|clock| Partition::new(ComputeHandle::of(&self.shared), clock)).collect();
        (InstanceControl::new(self.shared), partitions)
    }

    /// Splits an instance for Co-Simulation into the control that ends it and the stepper that makes its steps.
    ///
    /// # Panics
    /// If it was made for another interface type.
    pub fn into_stepper(self) -> (InstanceControl, Stepper) {
        assert_eq!(self.shared.interface, Interface::CoSimulation, "steps are those of Co-Simulation");
        let stepper = Stepper::new(ComputeHandle::of(&self.shared));
        (InstanceControl::new(self.shared), stepper)
    }

    /// Splits an instance for Model Exchange into what ends it and its equations. `described`: how many states and event indicators
    /// its description says that it has, which FMI 2.0 and 1.0 say nowhere else.
    ///
    /// # Panics
    /// If it was made for another interface type.
    pub fn into_model(self, described: Numbers) -> (InstanceControl, Model) {
        assert_eq!(self.shared.interface, Interface::ModelExchange, "equations are those of Model Exchange");
        let model = Model::new(ComputeHandle::of(&self.shared), described);
        (InstanceControl::new(self.shared), model)
    }
}

/// The control that ends an instance whose parts compute.
#[must_use = "dropping it leaves the end of the instance to the last of its parts"]
pub struct InstanceControl {
    pub(super) shared: Whole,
}

impl InstanceControl {
    pub(super) fn new(shared: Whole) -> InstanceControl {
        InstanceControl { shared }
    }

    /// The handle with which clock updates read clocks.
    pub fn clock_update(&self) -> ClockUpdate {
        ClockUpdate::new(self.shared.clone())
    }

    /// Whether the instance may still be called.
    pub fn health(&self) -> Health {
        self.shared.health()
    }

    /// Treats the instance as if a call had returned `fmi3Error`: nothing but `fmi3FreeInstance` will be called.
    pub fn fail(&self) {
        self.shared.fail(Status::Error);
    }

    /// Ends the instance: `fmi3Terminate` if it is healthy, `fmi3FreeInstance` unless it is fatal.
    ///
    /// Terminates the instance. It needs all parts back, since a part that is here does not compute; if some are missing,
    /// nothing is called and the instance is abandoned.
    pub fn terminate(self, parts: Vec<impl Into<ComputeHandle>>) -> Result<Outcome, TerminateError> {
        self.join(parts)?.end().map_err(TerminateError::Failed)
    }

    /// Puts the instance together again: nothing of it computes, since all parts are here.
    ///
    /// If some parts are missing: nothing is called and the instance is abandoned.
    pub fn join(self, parts: Vec<impl Into<ComputeHandle>>) -> Result<Instance<Running>, TerminateError> {
        let parts: Vec<ComputeHandle> = parts.into_iter().map(Into::into).collect();
        let own = parts.iter().filter(|part| Arc::ptr_eq(&part.shared, &self.shared)).count();
        let missing = self.shared.parts.load(Ordering::Acquire) - own;
        if missing > 0 {
            self.abandon();
            return Err(TerminateError::PartsMissing(missing));
        }
        drop(parts);
        Ok(Instance::new(self.shared))
    }

    /// Leaves the instance as it is, for ever: a part of it hangs. Nothing is called any more, nothing is unloaded.
    pub fn abandon(self) {
        self.shared.fail(Status::Error);
        std::mem::forget(self.shared);
    }
}

/// Why an instance was not ended properly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TerminateError {
    /// `fmi3Terminate` did not go well. The instance was freed, unless that was fatal.
    Failed(Failure),
    /// This number of parts was not given back. The instance was abandoned.
    PartsMissing(usize),
}

impl fmt::Display for TerminateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TerminateError::Failed(failure) => failure.fmt(f),
            TerminateError::PartsMissing(1) => f.write_str("1 part of the instance still computes"),
            TerminateError::PartsMissing(n) => write!(f, "{n} parts of the instance still compute"),
        }
    }
}

impl std::error::Error for TerminateError {}

//! The model partitions of an instance in Clock Activation Mode, each for a thread of its own.
//!
//! One activation is a sequence of types: [`Partition::begin`] lends a [`BeforeActivation`], [`BeforeActivation::activate`] turns it into
//! an [`AfterActivation`]. So nothing can be read after something was set without an activation in between (S10).

use super::batch::Batch;
use super::clock_update::ClockUpdate;
use super::environment::Health;
use super::function::Function;
use super::interval::Interval;
use super::part::ComputeHandle;
use super::shared::CallContext;
use super::status::{Failure, Outcome, Status};
use vecud_description::ValueReference;

/// The clock of a model partition: an input clock, or one element of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockElement {
    /// The clock.
    pub clock: ValueReference,
    /// `clockElementIndex`: 0 for a scalar; of an array clock, which the draft has, the element's number from 1 in row-major
    /// order.
    pub element: usize,
}

impl From<ValueReference> for ClockElement {
    fn from(clock: ValueReference) -> ClockElement {
        ClockElement { clock, element: 0 }
    }
}

/// The model partition of one input clock: `Send`, so that it can move to its thread, not `Sync`, so that it stays there.
pub struct Partition {
    pub(super) part: ComputeHandle,
    clock: ValueReference,
    /// 0: all of a scalar clock.
    element: usize,
}

impl Partition {
    pub(super) fn new(part: ComputeHandle, ClockElement { clock, element }: ClockElement) -> Partition {
        Partition { part, clock, element }
    }

    /// The input clock of the partition.
    pub fn clock(&self) -> ValueReference {
        self.clock
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

    /// The handle with which the clock updates of this partition's activations read clocks.
    pub fn clock_update(&self) -> ClockUpdate {
        ClockUpdate::new(self.part.shared.clone())
    }

    /// Asks for the memory that every call looks at.
    #[inline]
    pub fn prefetch(&self) {
        self.part.shared.prefetch();
    }

    /// Starts the sequence of an activation. Calls nothing.
    #[inline]
    pub fn begin(&mut self) -> BeforeActivation<'_> {
        BeforeActivation { partition: self }
    }
}

impl From<Partition> for ComputeHandle {
    fn from(partition: Partition) -> ComputeHandle {
        partition.part
    }
}

/// Before the activation: inputs can be set.
#[must_use]
pub struct BeforeActivation<'a> {
    partition: &'a mut Partition,
}

impl<'a> BeforeActivation<'a> {
    fn cause(&self) -> CallContext {
        CallContext { clock: Some(self.partition.clock), time: None }
    }

    /// Sets the enabled items of the batch, in one call. Precondition: they are variables of this partition's clock or of none.
    #[inline(always)] // as `visit`
    pub fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        self.partition.part.shared.set_batch(batch).map_err(|failure| failure.of(self.cause()))
    }

    /// Calls `fmi3GetIntervalFraction` or `fmi3GetIntervalDecimal` for one tunable clock, after tunable parameters were
    /// set; the result is for [`super::Qualifier::from_raw`].
    pub fn get_interval(&mut self, clock: ValueReference, fraction: bool) -> Result<(Interval, i32), Failure> {
        self.partition.part.shared.get_interval(clock, fraction, CallContext { clock: Some(clock), time: None })
    }

    /// `fmi3ActivateModelPartition`.
    #[inline(always)] // as `visit`
    pub fn activate(self, time: f64) -> Result<AfterActivation<'a>, Failure> {
        let BeforeActivation { partition } = self;
        let cause = CallContext { clock: Some(partition.clock), time: Some(time) };
        let outcome = partition.part.shared.call(Function::ActivateModelPartition, cause, |f, i| {
            // SAFETY: the instance is alive and in Clock Activation Mode. This partition is not active already: `self`
            // holds the only reference to it.
            unsafe { f.activate(i, partition.clock.0, partition.element, time) }
        })?;
        Ok(AfterActivation { partition, time, outcome })
    }
}

/// After the activation: outputs can be read.
pub struct AfterActivation<'a> {
    pub(super) partition: &'a mut Partition,
    time: f64,
    outcome: Outcome,
}

impl AfterActivation<'_> {
    pub(super) fn cause(&self) -> CallContext {
        CallContext { clock: Some(self.partition.clock), time: Some(self.time) }
    }

    /// Outcome of the activation.
    #[inline]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Reads the enabled items of the batch, in one call. Precondition: they are variables of this partition's clock or of none.
    #[inline(always)] // as `visit`
    pub fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure> {
        self.partition.part.shared.get_batch(batch).map_err(|failure| failure.of(self.cause()))
    }

    /// Calls `fmi3GetIntervalFraction` or `fmi3GetIntervalDecimal` for this partition's clock, a changing one: the
    /// interval until its next activation; the result is for [`super::Qualifier::from_raw`].
    pub fn get_interval(&mut self, fraction: bool) -> Result<(Interval, i32), Failure> {
        self.partition.part.shared.get_interval(self.partition.clock, fraction, self.cause())
    }
}

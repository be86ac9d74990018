//! An instance in Clock Activation Mode: its partitions, each for a thread of its own, and what ends it.
//!
//! One activation is a sequence of types: [`Partition::begin`] lends a [`Setting`], [`Setting::activate`] turns it into a
//! [`Getting`]. So nothing can be read after something was set without an activation in between (S10).

use super::batch::Batch;
use super::clock_update::ClockUpdate;
use super::environment::Health;
use super::function::Function;
use super::instance::{Instance, Running, Whole};
use super::interval::Interval;
use super::shared::{Cause, Shared};
use super::status::{Failure, Outcome, Status};
use crate::fmu::description::ValueReference;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a model partition belongs to: an input clock, or one element of it.
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
    pub(super) shared: Arc<Shared>,
    clock: ValueReference,
    /// 0: all of a scalar clock.
    element: usize,
    only_one_thread: PhantomData<Cell<()>>,
}

impl Partition {
    pub(super) fn new(shared: Arc<Shared>, ClockElement { clock, element }: ClockElement) -> Partition {
        shared.partitions.fetch_add(1, Ordering::AcqRel);
        Partition { shared, clock, element, only_one_thread: PhantomData }
    }

    /// The input clock of the partition.
    pub fn clock(&self) -> ValueReference {
        self.clock
    }

    /// Whether the instance may still be called.
    #[inline]
    pub fn health(&self) -> Health {
        self.shared.health()
    }

    /// Treats the instance as if a call had returned `fmi3Error`: nothing but `fmi3FreeInstance` will be called.
    pub fn fail(&self) {
        self.shared.fail(Status::Error);
    }

    /// What the clock updates of this partition's activations read clocks with.
    pub fn clock_update(&self) -> ClockUpdate {
        ClockUpdate::new(self.shared.clone())
    }

    /// Asks for the memory that every call looks at.
    #[inline]
    pub fn prefetch(&self) {
        self.shared.prefetch();
    }

    /// Starts the sequence of an activation. Calls nothing.
    #[inline]
    pub fn begin(&mut self) -> Setting<'_> {
        Setting { partition: self }
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        self.shared.partitions.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Before the activation: inputs can be set.
#[must_use]
pub struct Setting<'a> {
    partition: &'a mut Partition,
}

impl<'a> Setting<'a> {
    fn cause(&self) -> Cause {
        Cause { clock: Some(self.partition.clock), time: None }
    }

    /// Sets what is enabled in the batch, in one call. Only variables of this partition's clock or of none.
    #[inline(always)] // as `visit`
    pub fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        self.partition.shared.set_batch(batch).map_err(|failure| failure.of(self.cause()))
    }

    /// `fmi3GetIntervalFraction` or `fmi3GetIntervalDecimal` of one tunable clock, after tunable parameters were set, and
    /// what [`super::Qualifier::from_raw`] makes something of.
    pub fn get_interval(&mut self, clock: ValueReference, fraction: bool) -> Result<(Interval, i32), Failure> {
        self.partition.shared.get_interval(clock, fraction, Cause { clock: Some(clock), time: None })
    }

    /// `fmi3ActivateModelPartition`.
    #[inline(always)] // as `visit`
    pub fn activate(self, time: f64) -> Result<Getting<'a>, Failure> {
        let Setting { partition } = self;
        let cause = Cause { clock: Some(partition.clock), time: Some(time) };
        let outcome = partition.shared.call(Function::ActivateModelPartition, cause, |f, i| {
            // SAFETY: the instance is alive and in Clock Activation Mode. This partition is not active already: `self`
            // holds the only reference to it.
            unsafe { f.activate(i, partition.clock.0, partition.element, time) }
        })?;
        Ok(Getting { partition, time, outcome })
    }
}

/// After the activation: outputs can be read.
pub struct Getting<'a> {
    pub(super) partition: &'a mut Partition,
    time: f64,
    outcome: Outcome,
}

impl Getting<'_> {
    pub(super) fn cause(&self) -> Cause {
        Cause { clock: Some(self.partition.clock), time: Some(self.time) }
    }

    /// How the activation went.
    #[inline]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Reads what is enabled in the batch, in one call. Only variables of this partition's clock or of none.
    #[inline(always)] // as `visit`
    pub fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure> {
        self.partition.shared.get_batch(batch).map_err(|failure| failure.of(self.cause()))
    }

    /// `fmi3GetIntervalFraction` or `fmi3GetIntervalDecimal` of this partition's clock, a changing one: the interval until
    /// its next activation, and what [`super::Qualifier::from_raw`] makes something of.
    pub fn get_interval(&mut self, fraction: bool) -> Result<(Interval, i32), Failure> {
        self.partition.shared.get_interval(self.partition.clock, fraction, self.cause())
    }
}

/// What ends an instance that has partitions.
#[must_use = "dropping it leaves the end of the instance to the last of its partitions"]
pub struct InstanceControl {
    pub(super) shared: Whole,
}

impl InstanceControl {
    pub(super) fn new(shared: Whole) -> InstanceControl {
        InstanceControl { shared }
    }

    /// What clock updates read clocks with.
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
    /// Wants all partitions back, for a partition that is here is not active. With some of them missing nothing is called
    /// and the instance is abandoned.
    pub fn terminate(self, partitions: Vec<Partition>) -> Result<Outcome, TerminateError> {
        self.join(partitions)?.end().map_err(TerminateError::Failed)
    }

    /// Puts the instance together again: no model partition is active, since all of them are here.
    ///
    /// With some of them missing nothing is called and the instance is abandoned.
    pub fn join(self, partitions: Vec<Partition>) -> Result<Instance<Running>, TerminateError> {
        let own = partitions.iter().filter(|p| Arc::ptr_eq(&p.shared, &self.shared)).count();
        let missing = self.shared.partitions.load(Ordering::Acquire) - own;
        if missing > 0 {
            self.abandon();
            return Err(TerminateError::PartitionsMissing(missing));
        }
        drop(partitions);
        Ok(Instance::new(self.shared))
    }

    /// Leaves the instance as it is, for ever: some partition hangs. Nothing is called any more, nothing is unloaded.
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
    /// This many partitions were not given back. The instance was abandoned.
    PartitionsMissing(usize),
}

impl fmt::Display for TerminateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TerminateError::Failed(failure) => failure.fmt(f),
            TerminateError::PartitionsMissing(1) => f.write_str("1 model partition is still active"),
            TerminateError::PartitionsMissing(n) => write!(f, "{n} model partitions are still active"),
        }
    }
}

impl std::error::Error for TerminateError {}

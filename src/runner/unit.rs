//! What a task does with its FMU when it is released: it sets, computes and gets (semantics S10). One variant of [`Unit`] for each
//! kind of [`Work`]; what releases tasks, carries values and records sees no more of it than [`Setting`] and [`Getting`].
//!
//! The time that is handed to the FMU, and the one from which on what it has computed is valid, are the unit's affair: of a
//! model partition both are its activation time.

mod partition;

use self::partition::PartitionUnit;
use super::activation::{Calls, Meter};
use super::halt::Halt;
use super::thread_host::PartitionHost;
use super::world::World;
use crate::exchange::Stamp;
use crate::ffi::{Batch, ClockElement, Failure, Instance, InstanceControl, Outcome, Running};
use crate::plan::{FmuId, TaskId, Work};
use crate::schedule::Due;
use crate::time::{Fraction, Instant};

/// The FMU code of one task; belongs to one thread.
pub enum Unit {
    /// The model partition of an input clock (Scheduled Execution).
    Partition(PartitionUnit),
}

/// A unit before it computes.
pub trait Setting {
    /// The unit after that.
    type Getting: Getting;

    /// Sets what is enabled in the batch, in one call.
    fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure>;

    /// Tunable parameters were set for the release `due`: asks the FMU again for what may depend on them.
    fn follow_parameters(&mut self, host: &PartitionHost, due: &Due) -> Result<(), Halt>;

    /// Computes for the release `due`, which is so many `seconds`.
    fn compute(self, due: &Due, seconds: f64) -> Result<Self::Getting, Failure>;
}

/// A unit that has computed.
pub trait Getting {
    /// How that went.
    fn outcome(&self) -> Outcome;

    /// Asks the FMU for what the host must know before it reads anything else.
    fn ask(&mut self, host: &PartitionHost, due: &Due) -> Result<(), Halt>;

    /// With which stamp delayed connections get what was computed for `due`; `None`: they never show it.
    fn stamp(&mut self, world: &World, due: &Due) -> Option<Stamp>;

    /// Reads what is enabled in the batch, in one call.
    fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure>;
}

impl Unit {
    /// Takes an instance apart: its tasks with their units, and what [joins](join) them again.
    pub fn all_of(world: &World, fmu: FmuId, instance: Instance<Running>) -> (InstanceControl, Vec<(TaskId, Unit)>) {
        let tasks = world.plan.tasks.iter().enumerate().filter(|(_, task)| task.fmu == fmu);
        let works: Vec<_> = tasks.map(|(task, plan)| (TaskId(task), &plan.work)).collect();
        let clocks: Vec<ClockElement> = works.iter().map(|(_, Work::Partition(partition))| partition.into()).collect();
        let (control, partitions) = instance.into_parts(&clocks);
        let unit = |((task, _), partition): (&(TaskId, &Work), _)| {
            (*task, Unit::Partition(PartitionUnit::new(world, *task, partition)))
        };
        (control, works.iter().zip(partitions).map(unit).collect())
    }

    /// Whether [`Getting::ask`] asks for nothing.
    pub fn asks_nothing(&self) -> bool {
        let Unit::Partition(unit) = self;
        unit.asks_nothing()
    }

    /// Asks for the memory that every call looks at.
    #[inline]
    pub fn prefetch(&self) {
        let Unit::Partition(unit) = self;
        unit.prefetch();
    }

    /// Treats the instance as failed.
    pub fn fail(&self) {
        let Unit::Partition(unit) = self;
        unit.fail();
    }

    /// Makes the calls of the task once, for the release `due`, which is so many `seconds`.
    #[inline]
    pub fn run(
        &mut self,
        calls: &mut Calls,
        world: &World,
        host: &PartitionHost,
        due: &Due,
        seconds: f64,
        meter: &mut impl Meter,
    ) -> Result<(), Halt> {
        let Unit::Partition(unit) = self;
        calls.run(unit.begin(), world, host, due, seconds, meter)
    }

    /// From when on what was computed for `due` is valid: the time that it is recorded with.
    #[inline]
    pub fn valid_from(&self, due: &Due) -> Instant {
        let Unit::Partition(_) = self;
        due.time
    }

    /// After how long the FMU wants to be released again, if it says so each time; told once.
    pub fn take_next(&mut self) -> Option<Fraction> {
        let Unit::Partition(unit) = self;
        unit.take_next()
    }
}

/// Puts an instance together again; `None`: units of it are missing, and it is abandoned.
pub fn join(control: InstanceControl, units: Vec<Unit>) -> Option<Instance<Running>> {
    let partitions = units.into_iter().map(|Unit::Partition(unit)| unit.into_partition()).collect();
    control.join(partitions).ok()
}

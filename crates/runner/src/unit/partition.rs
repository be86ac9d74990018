//! The model partition of an input clock: `fmi3ActivateModelPartition` at its activation time (FMI 3.0, 4.2).

use crate::activation_error::ActivationError;
use crate::calls::{Calls, Getting, Setting};
use crate::exchange::Stamp;
use crate::inbox::Settable;
use crate::intervals::{duration, known, unusable};
use crate::run_state::RunState;
use crate::thread_host::PartitionHost;
use crate::visibility::Visibility;
use vecud_base::time::{Fraction, Instant, TimeUnit};
use vecud_fmi::{Batch, Failure, Function, Outcome, Partition};
use vecud_plan::schedule::Due;
use vecud_plan::{Release, UnitId};

/// A model partition and its clock.
pub struct PartitionUnit {
    partition: Partition,
    clock: Clock,
}

/// The clock of a model partition.
struct Clock {
    unit: UnitId,
    /// The FMU's unit of time; `None`: the second.
    time_unit: Option<TimeUnit>,
    /// Whether the interval of a changing clock is read as a fraction; `None`: it is no changing clock.
    changing: Option<bool>,
    /// The interval that the last activation of a changing clock has returned.
    next: Option<Fraction>,
    visibility: Visibility,
}

impl PartitionUnit {
    /// The model partition of this task.
    pub fn new(run: &RunState, unit: UnitId, partition: Partition) -> PartitionUnit {
        let plan = &run.plan.units[unit.0];
        let time_unit = Some(run.plan.fmus[plan.fmu.0].time_unit).filter(|unit| !unit.is_second());
        let own = plan.partition().filter(|_| plan.release == Release::Changing);
        let changing = own.map(|partition| partition.supports_fraction);
        let clock = Clock { unit, time_unit, changing, next: None, visibility: Visibility::default() };
        PartitionUnit { partition, clock }
    }

    /// Whether the FMU is never asked for the interval of its clock.
    pub fn asks_nothing(&self) -> bool {
        self.clock.changing.is_none()
    }

    /// Fetches the memory that its next call reads first into the processor's cache.
    #[inline]
    pub fn prefetch(&self) {
        self.partition.prefetch();
    }

    /// Marks the instance as failed: nothing calls it any more.
    pub fn fail(&self) {
        self.partition.fail();
    }

    /// Starts an activation. Calls nothing.
    #[inline]
    pub fn begin(&mut self) -> impl Setting {
        Before { setting: self.partition.begin(), clock: &mut self.clock }
    }

    /// Takes the interval from the last activation of a changing clock to its next one.
    pub fn take_next(&mut self) -> Option<Fraction> {
        self.clock.next.take()
    }

    /// Gives the model partition back, so that its instance can be ended.
    pub fn into_partition(self) -> Partition {
        self.partition
    }
}

/// Before the model partition is activated.
struct Before<'a> {
    setting: vecud_fmi::BeforeActivation<'a>,
    clock: &'a mut Clock,
}

/// The model partition was activated.
struct After<'a> {
    getting: vecud_fmi::AfterActivation<'a>,
    clock: &'a mut Clock,
}

impl Settable for Before<'_> {
    #[inline(always)] // as what it calls
    fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        self.setting.set(batch)
    }

    /// Intervals of tunable clocks may depend on tunable parameters (semantics S2).
    fn follow_parameters(&mut self, host: &PartitionHost, time: Instant) -> Result<(), ActivationError> {
        host.reread_tunable_intervals(&mut self.setting, time)
    }
}

impl<'a> Setting for Before<'a> {
    type Getting = After<'a>;

    #[inline(always)] // as what it calls
    fn compute(self, _calls: &mut Calls, due: &Due, seconds: f64) -> Result<After<'a>, Failure> {
        let Before { setting, clock } = self;
        let time = clock.time_unit.map_or(seconds, |unit| unit.value(due.time));
        Ok(After { getting: setting.activate(time)?, clock })
    }
}

impl Getting for After<'_> {
    #[inline]
    fn outcome(&self) -> Outcome {
        self.getting.outcome()
    }

    /// The interval of a changing clock.
    fn ask(&mut self, host: &PartitionHost, due: &Due) -> Result<(), ActivationError> {
        let Some(fraction) = self.clock.changing else { return Ok(()) };
        let (read, qualifier) = self.getting.get_interval(fraction)?;
        let unit = self.clock.time_unit.unwrap_or(TimeUnit::SECOND);
        let interval = known(qualifier).and_then(|()| duration(read, unit)).and_then(|interval| {
            // Not 0, nor finer than time is kept.
            if due.time.after(interval) > due.time { Ok(interval) } else { Err(unusable(read, unit)) }
        });
        let function = Function::get_interval(fraction);
        self.clock.next =
            Some(interval.map_err(|reading| host.fail_reading(function, self.clock.unit, due.time, reading))?);
        Ok(())
    }

    fn stamp(&mut self, run: &RunState, due: &Due) -> Option<Stamp> {
        let Clock { unit, next, ref mut visibility, .. } = *self.clock;
        visibility.of(run, unit, due, next)
    }

    #[inline(always)] // as what it calls
    fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure> {
        self.getting.get(batch)
    }
}

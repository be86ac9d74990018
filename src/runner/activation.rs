//! One activation: set, activate, get, publish, record (design S10). The same code in real and in virtual time.

use super::cables::{self, Incoming, Outgoing};
use super::inbox::Inbox;
use super::intervals::{duration, known, unusable};
use super::resize::Resizable;
use super::stimuli::Stimulated;
use super::thread_host::PartitionHost;
use super::values::{self, Input, Output, Publishing};
use super::visibility::Visibility;
use super::world::World;
use crate::ffi::{Batch, Failure, Function, Outcome, Partition, Status};
use crate::fmu::description::{ValueReference, VariableType};
use crate::plan::{self, OnWarning, Plan, Release, SignalId, TaskId};
use crate::record::findings::{Finding, Occurrence};
use crate::record::samples::SampleRing;
use crate::schedule::Due;
use crate::sys::prefetch::prefetch_all;
use crate::time::{Fraction, Instant, TimeUnit};
use std::collections::{HashMap, HashSet};

/// A task with its model partition and its buffers; belongs to one thread.
pub struct Activation {
    task: TaskId,
    partition: Partition,
    /// Nothing but numbers that come and go in cables, in calls that are always the same.
    plain: bool,
    activated: bool,
    warnings_are_errors: bool,
    set: Vec<(Batch, Inputs)>,
    get: Vec<(Batch, Outputs)>,
    inbox: Inbox,
    stimuli: Vec<Stimulated>,
    resizable: Option<Resizable>,
    /// `None`: nothing of this task is recorded.
    samples: Option<SampleRing<'static>>,
    /// Recorded values before those that callbacks read.
    own_columns: usize,
    presence_words: usize,
    /// Reads variables that other partitions read as well and that feed connections, or strings or binaries: reading and
    /// publishing must not be interrupted by other partitions.
    undisturbed: bool,
    /// Of a changing clock: whether its interval is read as a fraction.
    changing: Option<bool>,
    /// What the last activation of a changing clock has said.
    next: Option<Fraction>,
    /// In what the FMU counts time, if that is not the second.
    unit: Option<TimeUnit>,
    /// Delayed connections begin here.
    delays: bool,
    visibility: Visibility,
}

/// Is told when the model partition is entered and when it has returned. `()` does not care, at no cost: virtual time.
pub trait Meter {
    /// What is to be set was set.
    fn enter(&mut self);
    /// What is to be read comes next.
    fn leave(&mut self);
}

impl Meter for () {
    #[inline]
    fn enter(&mut self) {}
    #[inline]
    fn leave(&mut self) {}
}

/// Where what is set comes from.
struct Inputs {
    cables: Incoming,
    single: Vec<Input>,
}

/// Where what is read goes.
struct Outputs {
    cables: Outgoing,
    single: Vec<Output>,
    /// The output clocks of which one has to have ticked in the activation; empty: it is read after every one. The clock
    /// counts as active until the activation that has ticked it ends.
    ticked: Vec<usize>,
}

/// Whether a call went well, also by the rig's word on warnings. The host has counted the warning and noted the failure;
/// the rest of the activation is left out.
pub(super) fn allowed(outcome: Outcome, warnings_are_errors: bool) -> Result<(), Failure> {
    let refused = Failure {
        function: Function::ActivateModelPartition,
        status: Status::Error,
        clock: None,
        time: None,
        refused: true,
    };
    if outcome == Outcome::Warning && warnings_are_errors { Err(refused) } else { Ok(()) }
}

/// What several tasks of an instance read.
pub struct SharedOutputs {
    /// Those that feed connections, and how many tasks read them.
    readers: HashMap<(usize, ValueReference), usize>,
    /// Per instance: its tasks.
    tasks: Vec<usize>,
}

impl SharedOutputs {
    /// Those of a plan.
    pub fn of(plan: &Plan) -> SharedOutputs {
        let mut shared = SharedOutputs { readers: HashMap::new(), tasks: vec![0; plan.fmus.len()] };
        for task in &plan.tasks {
            shared.tasks[task.fmu.0] += 1;
            let read: HashSet<ValueReference> = feeds(task).collect();
            read.into_iter().for_each(|reference| *shared.readers.entry((task.fmu.0, reference)).or_default() += 1);
        }
        shared
    }

    /// Whether other partitions may disturb what this task reads and publishes.
    fn disturb(&self, task: &plan::TaskPlan) -> bool {
        // What an FMU returns of strings and binaries is lost with the next call to it, by whomever.
        let fleeting = |batch: &plan::Batch| matches!(batch.variable_type, VariableType::String | VariableType::Binary);
        self.tasks[task.fmu.0] > 1 && task.get.iter().any(fleeting)
            || feeds(task).any(|reference| self.readers[&(task.fmu.0, reference)] > 1)
    }
}

/// What a task reads for connections.
fn feeds(task: &plan::TaskPlan) -> impl Iterator<Item = ValueReference> {
    let items = task.get.iter().flat_map(|batch| &batch.items).filter(|item| !item.connections.is_empty());
    items.map(|item| item.reference)
}

impl Activation {
    /// The buffers of a task.
    pub fn new(world: &World, task: TaskId, partition: Partition, shared: &SharedOutputs) -> Activation {
        let plan = &world.plan.tasks[task.0];
        let set = plan.set.iter().map(|planned| {
            let (mut values, mut inputs) = values::set(&world.plan, planned);
            inputs.iter_mut().for_each(|input| input.follow_delay(world, task, &mut values));
            let single = cables::without_cables(world, inputs, &mut values);
            (Incoming::new(world, planned, &values), values, single)
        });
        let set: Vec<_> = set.map(|(cables, values, single)| (values, Inputs { cables, single })).collect();
        let get = plan.get.iter().map(|planned| {
            let (values, outputs) = values::get(&world.plan, planned);
            let single = outputs.into_iter().filter_map(|output| output.without_cables(world)).collect();
            let cables = Outgoing::new(world, planned, &values);
            (values, Outputs { cables, single, ticked: planned.ticked.clone() })
        });
        let get: Vec<_> = get.collect();
        let undisturbed = shared.disturb(plan);
        let samples = Some(world.board.samples(task)).filter(|ring| !ring.is_unused());
        let delays = get.iter().flat_map(|(_, outputs)| &outputs.single).any(Output::is_delayed);
        let stimuli = Stimulated::of(world, task, &set.iter().map(|(values, _)| values).collect::<Vec<_>>());
        let (inbox, resizable) = (Inbox::new(world, task), Resizable::new(&world.plan, plan));
        let changing =
            plan.partition().filter(|_| plan.release == Release::Changing).map(|partition| partition.supports_fraction);
        let alone = set.iter().all(|(_, inputs): &(_, Inputs)| inputs.single.is_empty())
            && get.iter().all(|(_, outputs): &(_, Outputs)| outputs.single.is_empty() && outputs.ticked.is_empty());
        let unit = Some(world.plan.fmus[plan.fmu.0].time_unit).filter(|unit| !unit.is_second());
        let plain =
            alone && unit.is_none() && inbox.is_unused() && resizable.is_none() && changing.is_none() && !undisturbed;
        let (own_columns, presence_words) = (plan.recorded().count(), world.plan.presence_words(plan));
        Activation {
            task,
            partition,
            plain,
            activated: false,
            warnings_are_errors: world.plan.fmus[plan.fmu.0].on_warning == OnWarning::Error,
            set,
            get,
            inbox,
            stimuli,
            resizable,
            samples,
            own_columns,
            presence_words,
            undisturbed,
            changing,
            next: None,
            unit,
            delays,
            visibility: Visibility::default(),
        }
    }

    /// Whether the last [`Activation::run`] came to call `fmi3ActivateModelPartition`: before it, setting an input can fail, or
    /// the instance can turn out to be one that must not be called any more.
    pub fn activated(&self) -> bool {
        self.activated
    }

    /// Whether [`Due::next`] matters: delayed connections begin here.
    #[inline]
    pub fn delays(&self) -> bool {
        self.delays
    }

    /// Whether it does nothing but the calls that are always the same.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether there are stimuli for it.
    #[inline]
    pub fn is_stimulated(&self) -> bool {
        !self.stimuli.is_empty()
    }

    /// The interval from the last activation of a changing clock to its next one; told once.
    pub fn take_next(&mut self) -> Option<Fraction> {
        self.next.take()
    }

    /// Gives the model partition back, so that the instance can be ended, and tells whose task it was.
    pub fn into_partition(self) -> (TaskId, Partition) {
        (self.task, self.partition)
    }

    /// Treats the instance as failed.
    pub fn fail(&self) {
        self.partition.fail();
    }

    /// Asks for the memory that [`Activation::run`] will touch.
    #[inline]
    pub fn prefetch(&self) {
        self.partition.prefetch();
        for (values, inputs) in &self.set {
            prefetch_all(values);
            inputs.cables.prefetch();
        }
        for (values, outputs) in &self.get {
            prefetch_all(values);
            outputs.cables.prefetch();
        }
    }

    /// Brings what stimuli have for an activation at `time`. `false`: that cannot be read, and the run ends; the activation
    /// is not to be run.
    #[inline]
    pub fn stimulate(&mut self, world: &World, time: Instant) -> bool {
        self.stimuli.iter_mut().all(|stimulus| stimulus.fetch(world, self.task, time, &mut self.set))
    }

    /// Runs it at `due.time`, which is so many `seconds` and is told in the FMU's own unit. When a call fails, or another partition of the instance has, what is
    /// left is not done.
    #[inline]
    pub fn run(
        &mut self,
        world: &World,
        host: &PartitionHost,
        due: &Due,
        seconds: f64,
        meter: &mut impl Meter,
    ) -> Result<(), Failure> {
        match self.plain {
            true => self.run_as::<true>(world, host, due, seconds, meter),
            false => self.run_with_everything(world, host, due, seconds, meter),
        }
    }

    #[inline(never)]
    fn run_with_everything(
        &mut self,
        world: &World,
        host: &PartitionHost,
        due: &Due,
        seconds: f64,
        meter: &mut impl Meter,
    ) -> Result<(), Failure> {
        self.run_as::<false>(world, host, due, seconds, meter)
    }

    /// What is only there when the activation is not [plain](Activation::plain) is left out of `PLAIN` ones, for speed alone.
    #[inline(always)]
    fn run_as<const PLAIN: bool>(
        &mut self,
        world: &World,
        host: &PartitionHost,
        due: &Due,
        seconds: f64,
        meter: &mut impl Meter,
    ) -> Result<(), Failure> {
        let warnings_are_errors = self.warnings_are_errors;
        let check = |outcome: Outcome| allowed(outcome, warnings_are_errors);
        if !PLAIN && let Some(resizable) = &mut self.resizable {
            resizable.follow(world, host.fmu(), |batch, elements| self.get[batch].0.resize(elements));
        }
        if !PLAIN {
            for (values, inputs) in &mut self.set {
                inputs.cables.fetch(values);
                inputs.single.iter_mut().for_each(|input| input.fetch(world, due.time, values));
            }
        }
        self.activated = false;
        let mut setting = self.partition.begin();
        if !PLAIN && self.inbox.apply(world, host, &mut setting, due.time)? {
            // A tunable parameter was set, on which intervals of tunable clocks may depend (design S2).
            host.reread_tunable_intervals(&mut setting, due.time)?;
        }
        for (values, inputs) in &mut self.set {
            if PLAIN {
                inputs.cables.fetch(values);
            }
            check(setting.set(values)?)?;
        }
        let value = if PLAIN { seconds } else { self.unit.map_or(seconds, |unit| unit.value(due.time)) };
        meter.enter();
        let activated = setting.activate(value);
        meter.leave();
        self.activated = !activated.as_ref().is_err_and(|failure| failure.refused);
        host.returned_from_fmu();
        let mut getting = activated?;
        check(getting.outcome())?;
        if !PLAIN && let Some(fraction) = self.changing {
            let (read, qualifier) = getting.get_interval(fraction)?;
            let unit = self.unit.unwrap_or(TimeUnit::SECOND);
            let interval = known(qualifier).and_then(|()| duration(read, unit)).and_then(|interval| {
                // Not 0, nor finer than time is kept.
                if due.time.after(interval) > due.time { Ok(interval) } else { Err(unusable(read, unit)) }
            });
            self.next = Some(interval.map_err(|reading| {
                host.fail_reading(Function::get_interval(fraction), self.task, due.time, reading)
            })?);
        }
        let stamp = if !PLAIN && self.delays { self.visibility.of(world, self.task, due, self.next) } else { None };
        let now = Some(Publishing { task: self.task, stamp });
        let state = &world.tasks[self.task.0];
        let mut read_and_publish = || {
            for (values, outputs) in &mut self.get {
                if !PLAIN && !outputs.ticked.is_empty() && !state.has_one_ticked(&outputs.ticked) {
                    continue;
                }
                check(getting.get(values)?)?;
                outputs.cables.publish(values);
                if PLAIN {
                    continue;
                }
                for output in &outputs.single {
                    if let Some(size) = output.publish(world, now, values) {
                        let (task, reference) = (Some(self.task), Some(output.reference));
                        let seen = Occurrence { task, reference, time: Some(due.time), value: size as u64 };
                        world.board.fmu(host.fmu()).findings().note(Finding::OversizedValue, seen);
                    }
                }
            }
            Ok(())
        };
        if !PLAIN && self.undisturbed { host.locked(read_and_publish) } else { read_and_publish() }
    }

    /// The run is over: notes what was finished only after this task had looked for the last time.
    pub fn settle(&self, world: &World) {
        self.set.iter().flat_map(|(_, inputs)| &inputs.single).for_each(|input| input.note_missed(world));
    }

    /// Whether something of it is recorded.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        self.samples.is_some()
    }

    /// Appends what the last activation set and read, and what `host` has read in callbacks meanwhile, to the task's
    /// samples. `false`: there was no room.
    #[inline]
    pub fn sample(&self, world: &World, host: &PartitionHost, order: u64, time: Instant) -> bool {
        self.samples.as_ref().is_none_or(|ring| self.append(ring, world, host, order, time))
    }

    #[inline(never)] // most tasks of a rig are not recorded
    fn append(&self, ring: &SampleRing, world: &World, host: &PartitionHost, order: u64, time: Instant) -> bool {
        let plan = &world.plan.tasks[self.task.0];
        let planned = plan.set.iter().chain(&plan.get);
        let batches = self.set.iter().map(|(values, _)| values).chain(self.get.iter().map(|(values, _)| values));
        let initial =
            |signal: SignalId| world.board.initial(signal).or(world.plan.signals[signal.0].start).unwrap_or(0);
        let own = planned.zip(batches).enumerate().flat_map(|(number, (planned, values))| {
            let get = number.checked_sub(self.set.len());
            let places = get.and_then(|get| self.resizable.as_ref()?.places(get));
            planned.items.iter().enumerate().flat_map(move |(item, variable)| {
                let (first, is_set) = (values.elements(item).start, get.is_some() || values.is_enabled(item));
                (0..variable.signals.len()).map(move |element| match places {
                    None if is_set => values.word(first + element),
                    // Nobody has had a value for it yet.
                    None => initial(variable.signals[element]),
                    Some(places) => places[element].map_or(0, |place| values.word(place as usize)),
                })
            })
        });
        let state = &world.tasks[self.task.0];
        host.with_on_ticks(|on_ticks| {
            let presence = (0..self.presence_words).map(|word| {
                let own = self.resizable.as_ref().map_or(u64::MAX, |resizable| resizable.presence(word));
                let unread = plan
                    .recorded_when_ticked()
                    .filter(|(column, clocks)| column / 64 == word && !state.has_one_ticked(clocks));
                let unread = unread.fold(0, |bits, (column, _)| bits | 1 << (column % 64));
                own & !unread & !on_ticks.absent(self.own_columns, word)
            });
            ring.push(order, time, own.chain(on_ticks.words()).chain(presence))
        })
    }
}

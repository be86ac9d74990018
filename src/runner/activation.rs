//! One activation: set, activate, get, publish, record (design S10). The same code in real and in virtual time.

use super::thread_host::PartitionHost;
use super::world::World;
use crate::ffi::{Batch, Failure, Function, Outcome, Partition, Status};
use crate::plan::{self, OnWarning, TaskId};
use crate::time::Instant;
use std::ops::Range;

/// A task with its model partition and its buffers; belongs to one thread.
pub struct Activation {
    task: TaskId,
    partition: Partition,
    set: Vec<(Batch, Vec<Input>)>,
    get: Vec<(Batch, Vec<Output>)>,
    /// Reads variables that other partitions read as well and that feed connections: reading and publishing must not be
    /// interrupted by them.
    shares_outputs: bool,
}

struct Input {
    item: usize,
    elements: Range<usize>,
    cell: usize,
}

struct Output {
    elements: Range<usize>,
    cells: Vec<usize>,
}

/// The batch for variables of a plan.
pub fn batch(plan: &plan::Batch, awaiting: bool) -> Batch {
    let variables = plan.items.iter().map(|item| (item.reference, item.elements)).collect();
    if awaiting { Batch::awaiting(plan.variable_type, variables) } else { Batch::new(plan.variable_type, variables) }
}

impl Activation {
    /// The buffers of a task.
    pub fn new(world: &World, task: TaskId, partition: Partition) -> Activation {
        let plan = &world.plan.tasks[task.0];
        let set = plan.set.iter().map(|planned| {
            let mut values = batch(planned, true);
            let mut inputs = Vec::new();
            for (item, variable) in planned.items.iter().enumerate() {
                let elements = values.elements(item);
                for (element, signal) in elements.clone().zip(&variable.signals) {
                    let start = world.board.initial(*signal).or(world.plan.signals[signal.0].start);
                    values.set_word(element, start.unwrap_or(0));
                }
                for connection in &variable.connections {
                    inputs.push(Input { item, elements: elements.clone(), cell: connection.0 });
                }
            }
            (values, inputs)
        });
        let get = plan.get.iter().map(|planned| {
            let values = batch(planned, false);
            let outputs = planned.items.iter().enumerate().filter(|(_, variable)| !variable.connections.is_empty());
            let outputs = outputs
                .map(|(item, variable)| Output {
                    elements: values.elements(item),
                    cells: variable.connections.iter().map(|connection| connection.0).collect(),
                })
                .collect();
            (values, outputs)
        });
        let feeds = |task: &plan::TaskPlan| {
            let items = task.get.iter().flat_map(|batch| &batch.items).filter(|item| !item.connections.is_empty());
            items.map(|item| item.reference).collect::<Vec<_>>()
        };
        let own = feeds(plan);
        let siblings =
            world.plan.tasks.iter().enumerate().filter(|(index, other)| *index != task.0 && other.fmu == plan.fmu);
        let shares_outputs = siblings.flat_map(|(_, other)| feeds(other)).any(|reference| own.contains(&reference));
        let (set, get) = (set.collect(), get.collect());
        Activation { task, partition, set, get, shares_outputs }
    }

    /// Gives the model partition back, so that the instance can be ended, and tells whose task it was.
    pub fn into_partition(self) -> (TaskId, Partition) {
        (self.task, self.partition)
    }

    /// Treats the instance as failed.
    pub fn fail(&self) {
        self.partition.fail();
    }

    /// Runs it at `time`. When a call fails, or another partition of the instance has, what is left is not done.
    pub fn run(&mut self, world: &World, host: &PartitionHost, time: Instant) -> Result<(), Failure> {
        let warnings_are_errors = world.plan.fmus[host.fmu().0].on_warning == OnWarning::Error;
        // The host has counted the warning and noted the failure; here the rest of the activation is left out.
        let check = |outcome: Outcome| {
            let refused = Failure {
                function: Function::ActivateModelPartition,
                status: Status::Error,
                clock: None,
                time: None,
                refused: true,
            };
            if outcome == Outcome::Warning && warnings_are_errors { Err(refused) } else { Ok(()) }
        };
        for (values, inputs) in &mut self.set {
            for input in inputs {
                let start = input.elements.start;
                if world.cells[input.cell].read(|i, word| values.set_word(start + i, word)) > 0 {
                    values.enable(input.item);
                }
            }
        }
        let mut setting = self.partition.begin();
        for (values, _) in &self.set {
            check(setting.set(values)?)?;
        }
        let activated = setting.activate(time.seconds());
        host.returned_from_fmu();
        let mut getting = activated?;
        check(getting.outcome())?;
        let mut read_and_publish = || {
            for (values, outputs) in &mut self.get {
                check(getting.get(values)?)?;
                for output in outputs {
                    for cell in &output.cells {
                        world.cells[*cell].write(|i| values.word(output.elements.start + i));
                    }
                }
            }
            Ok(())
        };
        if self.shares_outputs { host.locked(read_and_publish) } else { read_and_publish() }
    }

    /// Appends what the last activation set and read to the task's samples. `false`: there was no room.
    pub fn sample(&self, world: &World, order: u64, time: Instant) -> bool {
        let ring = world.board.samples(self.task);
        if ring.is_unused() {
            return true;
        }
        let plan = &world.plan.tasks[self.task.0];
        let planned = plan.set.iter().chain(&plan.get);
        let batches = self.set.iter().map(|(values, _)| values).chain(self.get.iter().map(|(values, _)| values));
        let values = planned.zip(batches).flat_map(|(planned, values)| {
            planned.items.iter().enumerate().flat_map(move |(item, variable)| {
                values.elements(item).zip(&variable.signals).map(move |(element, _)| values.word(element))
            })
        });
        ring.push(order, time, values)
    }
}

//! From a shared library to an instance in Clock Activation Mode (FMI 3.0, 2.3; design S2, S11, S16).
//!
//! One thread, FMU after FMU. Values travel between instances in Initialization Mode in the plan's dependency order, so
//! inputs whose sources have initial values start with those.

use super::thread_host::PartitionHost;
use super::world::World;
use crate::exchange::word;
use crate::ffi::{
    Failure, ForeignCall, Initialization, Instance, InstanceControl, InstanceHost, Instantiated, Interval, Library,
    Outcome, Partition, Qualifier, Status, set_thread_host,
};
use crate::fmu::description::IntervalVariability;
use crate::plan::{self, FmuId, Release, TaskId};
use crate::record::board::{Board, FmuWord};
use crate::sys::wake::monotonic_now;
use crate::time::{Fraction, Instant};
use std::path::PathBuf;
use std::sync::Arc;

/// Why a run did not come to its start.
#[derive(Debug)]
pub enum Refusal {
    /// The rig or an FMU is invalid: exit code 2.
    Invalid(String),
    /// A call failed; the board knows which: exit code 1.
    Failed,
}

/// An instance that is ready to run.
pub struct Ready {
    /// Ends it.
    pub control: InstanceControl,
    /// Its partitions, by task.
    pub partitions: Vec<(TaskId, Partition)>,
}

/// What an instance tells its importer from any thread: goes to the board, and nothing waits.
struct Ear {
    board: Board<'static>,
    fmu: FmuId,
}

impl InstanceHost for Ear {
    fn log(&self, status: Status, category: Option<&[u8]>, message: &[u8]) {
        let category = category.unwrap_or_default();
        self.board.log().push(Some(self.fmu.0), status as u8, monotonic_now(), category, message);
    }

    fn foreign_call(&self, what: ForeignCall) {
        let word = match what {
            ForeignCall::ClockUpdateInsideGetClock => FmuWord::NestedUpdates,
            _ => FmuWord::ForeignCalls,
        };
        self.board.fmu(self.fmu).count(word, 1);
    }
}

/// Loads the libraries of all instances; instances of one FMU share one.
pub fn load(world: &World) -> Result<Vec<Arc<Library>>, Refusal> {
    let mut libraries: Vec<(PathBuf, Arc<Library>)> = Vec::new();
    let mut of_instances = Vec::new();
    for fmu in &world.plan.fmus {
        let known = libraries.iter().find(|(path, _)| *path == fmu.library);
        let library = match known {
            Some((_, library)) => library.clone(),
            None => {
                let library = Library::load(&fmu.library).map_err(|error| {
                    Refusal::Invalid(format!("fmu `{}` ({}): {error}", fmu.name, fmu.path.display()))
                })?;
                let library = Arc::new(library);
                libraries.push((fmu.library.clone(), library.clone()));
                library
            }
        };
        of_instances.push(library);
    }
    Ok(of_instances)
}

/// Instantiates and initialises all instances. Also gives the deadlines that countdown clocks are armed with from the
/// start, by task.
pub fn initialise(
    world: &'static World,
    libraries: &[Arc<Library>],
    hosts: &[&'static PartitionHost],
) -> Result<(Vec<Ready>, Vec<Option<Instant>>), Refusal> {
    let mut instances = Vec::new();
    for (index, fmu) in world.plan.fmus.iter().enumerate() {
        set_thread_host(Some(hosts[index]));
        let instance = instantiate(world, FmuId(index), &libraries[index])?;
        instances.push(Some(checked(hosts[index], set_up(world, fmu, instance), Instance::fail)?));
    }
    // Producers before consumers: what one computes initially is there when the next one is asked.
    for index in &world.plan.initial_order {
        let instance = instances[index.0].as_ref().expect("each is initialised once");
        set_thread_host(Some(hosts[index.0]));
        checked(hosts[index.0], exchange(world, *index, instance), |()| instance.fail())?;
    }
    let mut armed = vec![None; world.plan.tasks.len()];
    let mut ready = Vec::new();
    for (index, instance) in instances.iter_mut().enumerate() {
        let instance = instance.take().expect("each is initialised once");
        set_thread_host(Some(hosts[index]));
        checked(hosts[index], clocks(world, FmuId(index), &instance, &mut armed), |()| instance.fail())?;
        let own = || world.plan.tasks.iter().enumerate().filter(|(_, task)| task.fmu == FmuId(index));
        let references: Vec<_> = own().map(|(_, task)| task.reference).collect();
        let instance = checked(hosts[index], instance.exit_initialization_mode(), Instance::fail)?;
        let (control, partitions) = instance.into_parts(&references);
        let _ = world.instances[index].updates.set(control.clock_update());
        let partitions = own().map(|(task, _)| TaskId(task)).zip(partitions).collect();
        hosts[index].returned_from_fmu();
        ready.push(Ready { control, partitions });
    }
    Ok((ready, armed))
}

/// What came of a call; `fail` makes the instance one that must not be called any more, when the call went well but for a
/// warning that the rig calls an error.
fn checked<T>(host: &PartitionHost, result: Result<T, Failure>, fail: impl FnOnce(&T)) -> Result<T, Refusal> {
    host.returned_from_fmu();
    match result {
        Ok(value) if !host.has_failed() => Ok(value),
        Ok(value) => {
            fail(&value);
            Err(Refusal::Failed)
        }
        Err(failure) => {
            host.fail(&failure);
            Err(Refusal::Failed)
        }
    }
}

fn instantiate(world: &World, fmu: FmuId, library: &Arc<Library>) -> Result<Instance<Instantiated>, Refusal> {
    let plan = &world.plan.fmus[fmu.0];
    let ear = Arc::new(Ear { board: world.board, fmu });
    let resources = plan.resources.as_deref();
    // With logging on, since without it even errors are silent; narrowed to the listed categories right after.
    library.instantiate_scheduled_execution(&plan.name, &plan.token, resources, true, ear).map_err(|failure| {
        Refusal::Invalid(format!(
            "fmu `{}` ({}): {failure}: the instantiation token may not match the binary, or the FMU lacks something that \
             it needs",
            plan.name,
            plan.path.display()
        ))
    })
}

fn set_up(
    world: &World,
    plan: &plan::FmuPlan,
    instance: Instance<Instantiated>,
) -> Result<Instance<Initialization>, Failure> {
    let categories: Vec<&str> = plan.log_categories.iter().map(String::as_str).collect();
    let _warning_is_counted: Outcome = instance.set_debug_logging(true, &categories)?;
    for start in &plan.start_values {
        let _warning_is_counted = instance.set_values(start.reference, start.variable_type, &start.values)?;
    }
    instance.enter_initialization_mode(world.plan.start.seconds(), world.plan.stop.map(Instant::seconds), None)
}

/// Sets what its sources have computed already, then reads what others and the recording want.
fn exchange(world: &World, fmu: FmuId, instance: &Instance<Initialization>) -> Result<(), Failure> {
    let plan = &world.plan.fmus[fmu.0];
    for planned in &plan.initial_writes {
        for item in &planned.items {
            for connection in &item.connections {
                let mut words = vec![0; item.elements];
                if world.cells[connection.0].read(|i, word| words[i] = word) > 0
                    && let Some(values) = word::values(&words, planned.variable_type)
                {
                    let _warning_is_counted = instance.set_values(item.reference, planned.variable_type, &values)?;
                    for (signal, word) in item.signals.iter().zip(&words) {
                        world.board.set_initial(*signal, *word);
                    }
                }
            }
        }
    }
    for planned in &plan.initial_reads {
        for item in &planned.items {
            let values = instance.get_values(item.reference, planned.variable_type, item.elements)?;
            let words = word::words(&values).unwrap_or_default();
            for connection in &item.connections {
                world.cells[connection.0].write(|i| words[i]);
            }
            for (signal, word) in item.signals.iter().zip(&words) {
                world.board.set_initial(*signal, *word);
            }
        }
    }
    Ok(())
}

/// Writes the intervals of fixed and tunable clocks, asks countdown clocks for theirs.
fn clocks(
    world: &World,
    fmu: FmuId,
    instance: &Instance<Initialization>,
    armed: &mut [Option<Instant>],
) -> Result<(), Failure> {
    for (index, task) in world.plan.tasks.iter().enumerate().filter(|(_, task)| task.fmu == fmu) {
        // Not the shift: it is the description's own, a rig cannot change it, and FMUs answer Error to needless calls.
        if let (true, Release::Periodic { interval, .. }) = (task.write_interval, &task.release) {
            let interval = match task.supports_fraction {
                true => Interval::Fraction { counter: interval.counter(), resolution: interval.resolution() },
                false => Interval::Decimal(interval.seconds()),
            };
            let _warning_is_counted = instance.set_interval(task.reference, interval)?;
        }
        if task.kind == IntervalVariability::Countdown {
            let (interval, qualifier) = instance.get_interval(task.reference, task.supports_fraction)?;
            let interval = match interval {
                Interval::Decimal(seconds) => Fraction::from_f64(seconds),
                Interval::Fraction { counter, resolution } => Fraction::new(counter, resolution),
            };
            match (qualifier, interval) {
                (Qualifier::NotYetKnown | Qualifier::Unchanged, _) => (),
                (Qualifier::Changed, Ok(interval)) => armed[index] = Some(world.plan.start.after(interval)),
                (Qualifier::Changed, Err(_)) => world.count(fmu, FmuWord::IllegalIntervals),
            }
        }
    }
    Ok(())
}

//! Virtual time with a thread for each task: what is due at one instant runs side by side, and begins at once.
//!
//! For FMUs that make steps and have nothing to do with each other, as two instances of one FMU. To see whether they are in each other's
//! way, and whether one minds to be called from another thread than the one that has instantiated it.

use super::{Lane, Moment, goes_on, left};
use crate::ffi::set_thread_host;
use crate::plan::TaskId;
use crate::record::board::Global;
use crate::runner::activation::Activation;
use crate::runner::stimuli::VirtualStimuli;
use crate::runner::thread_host::{Dispatch, PartitionHost};
use crate::runner::world::World;
use crate::schedule::{Agenda, Due, Timeline};
use crate::sys::preemption::LockMember;
use crate::sys::thread;
use crate::time::Instant;
use crossbeam::channel::{Receiver, Sender, unbounded};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;

/// Stack of a thread: as much as the only thread of virtual time has.
const STACK: usize = 8 << 20;
/// How long a thread waits for the others to begin at the same time.
const TOGETHER: Duration = Duration::from_millis(1);

/// One activation for a thread.
struct Order {
    due: Due,
    /// Its time, as FMUs get it.
    seconds: f64,
    /// The place of its row among those of an instant.
    number: u64,
    /// So many activations have begun when all of its instant have.
    together: u64,
}

/// The thread of a task.
struct Worker {
    orders: Sender<Order>,
    /// The activation is over; a release beside the grid that it wants.
    done: Receiver<Option<Instant>>,
    thread: JoinHandle<Activation>,
}

/// Runs all activations up to the stop time, or until somebody asks for an end, and gives them back with what is left to be done. `Err`:
/// there are no threads.
pub fn run(
    world: &'static World,
    activations: Vec<Activation>,
    timelines: Vec<Timeline>,
) -> Result<(Vec<Activation>, Vec<Timeline>), String> {
    let begun = Arc::new(AtomicU64::new(0));
    let mut workers = Vec::new();
    for (task, activation) in activations.into_iter().enumerate() {
        workers.push(Worker::start(world, TaskId(task), activation, Arc::clone(&begun))?);
    }
    let mut agenda = Agenda::new(timelines);
    let [complete, reached, stop_request] =
        [Global::Complete, Global::Reached, Global::StopRequest].map(|word| world.board.global(word));
    let (mut stimuli, mut moment) = (VirtualStimuli::new(world), Moment::default());
    let (mut number, mut together, begin) = (0, 0, world.plan.start.nanos());
    while goes_on(world, &mut agenda, stop_request) && stimuli.wait(world, &mut agenda) {
        let mut due: Vec<(TaskId, Due)> = Vec::new();
        while let Some(next) = agenda.peek()
            && due.first().is_none_or(|(_, first)| first.time == next)
            && let Some(task) = agenda.take()
        {
            // Before anybody asks what comes after this instant.
            moment.follow(&agenda, begin, complete);
            due.push((task, *agenda.due()));
        }
        if due.is_empty() {
            break;
        }
        due.retain(|(task, _)| !world.instances[world.plan.tasks[task.0].fmu.0].failed.load(Relaxed));
        together += due.len() as u64;
        for (task, due) in &due {
            number += 1;
            let order = Order { due: *due, seconds: moment.seconds, number, together };
            // A thread that has gone is seen when it is asked.
            let _ = workers[task.0].orders.send(order);
        }
        for (task, _) in due {
            if let Ok(Some(point)) = workers[task.0].done.recv() {
                agenda.beside(task, point);
            }
        }
        reached.store(moment.since_start, Relaxed);
    }
    let activations = workers.into_iter().map(Worker::join).collect::<Result<_, _>>()?;
    Ok((activations, left(world, agenda)))
}

impl Worker {
    fn start(
        world: &'static World,
        task: TaskId,
        activation: Activation,
        begun: Arc<AtomicU64>,
    ) -> Result<Worker, String> {
        let ((orders, all), (end, done)) = (unbounded(), unbounded());
        let body = move || serve(world, task, activation, &all, &end, &begun);
        let thread = thread::spawn(&world.plan.tasks[task.0].thread, STACK, body).map_err(|error| error.to_string())?;
        Ok(Worker { orders, done, thread })
    }

    fn join(self) -> Result<Activation, String> {
        drop(self.orders);
        self.thread.join().map_err(|_| "a thread of FMU code has ended before the run".to_owned())
    }
}

/// Runs the activations of a task until there are no more.
fn serve(
    world: &'static World,
    task: TaskId,
    mut activation: Activation,
    orders: &Receiver<Order>,
    done: &Sender<Option<Instant>>,
    begun: &AtomicU64,
) -> Activation {
    let events = Dispatch::Events(RefCell::default());
    let host = PartitionHost::new(world, world.plan.tasks[task.0].fmu, LockMember::outside(), events);
    // As long as the process: FMU code may call back until its very end.
    let host: &'static PartitionHost = Box::leak(Box::new(host));
    set_thread_host(Some(host));
    let mut lane = Lane::new(world, task, &mut activation, host, &[]);
    for Order { due, seconds, number, together } in orders {
        begin_together(begun, together);
        let result = lane.activate(world, task, &due, seconds);
        // What it would tick is not there.
        host.take_events(|_| ());
        if lane.has(|rare| rare.recorded) && result.is_ok() {
            lane.record(world, number, &due);
        }
        let _ = done.send(lane.activation.take_point());
    }
    activation.finish(world, host);
    set_thread_host(None);
    activation
}

/// Waits until all of an instant are here, but not for ever: who has only one core gets it in turn.
fn begin_together(begun: &AtomicU64, together: u64) {
    let (from, _) = (std::time::Instant::now(), begun.fetch_add(1, SeqCst));
    while begun.load(SeqCst) < together && from.elapsed() < TOGETHER {
        std::thread::yield_now();
    }
}

//! Starts the partition threads at one instant, watches over the run, and joins them (design S14).

use super::activation::Activation;
use super::realtime::PartitionThread;
use super::watchdog::Watchdog;
use super::world::{Ending, World};
use crate::plan::TaskId;
use crate::record::board::{Global, Phase, TaskWord};
use crate::sys::wake::monotonic_now;
use crate::sys::{affinity, crash, thread};
use crate::time::{Instant, Nanos};
use crossbeam::channel::unbounded;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the main thread looks.
const LOOK: Duration = Duration::from_millis(2);
/// Starts fall on whole multiples of this on CLOCK_MONOTONIC (design S18), ns.
const START_GRID: i64 = 10_000_000;

/// Runs the plan in real time and gives the activations back, so that the instances can be ended. `Err`: the threads could
/// not be set up; when not all activations are there, no instance may be touched any more.
///
/// When a thread does not return in time this does not return either: the process ends.
pub fn run(
    world: &'static World,
    activations: Vec<Activation>,
    armed: &[Option<Instant>],
    say: &dyn Fn(u8, &str),
) -> Result<Vec<Activation>, Vec<Activation>> {
    let (ready, is_ready) = unbounded();
    let mut threads = Vec::new();
    let mut problems = Vec::new();
    for (index, activation) in activations.into_iter().enumerate() {
        let task = TaskId(index);
        let plan = &world.plan.tasks[index];
        let body = PartitionThread { world, task, activation, armed: armed[index], ready: ready.clone() };
        match thread::spawn(&plan.thread, world.plan.host.stack_kib * 1024, move || body.run()) {
            Ok(thread) => threads.push(thread),
            Err(error) => problems.push(error.to_string()),
        }
    }
    // So that a thread that dies before it is ready ends the wait for it.
    drop(ready);
    let mut demotions = Vec::new();
    for _ in &threads {
        match is_ready.recv() {
            Ok(Ok(demotion)) => demotions.push(demotion),
            Ok(Err(problem)) => problems.push(problem),
            Err(_) => problems.push("a partition thread ended before it was set up".to_owned()),
        }
    }
    for problem in &problems {
        say(3, problem);
    }
    if !problems.is_empty() {
        world.end(Ending::Discard);
        return Err(join(world, threads, monotonic_now()));
    }
    let watchdog = Watchdog::start(world, demotions, say);
    world.set_start(Nanos((monotonic_now() / START_GRID + 4) * START_GRID));
    world.board.set_phase(Phase::Running);
    for task in &world.tasks {
        task.wake.wake();
    }
    let own: Vec<usize> = world.plan.tasks.iter().map(|task| task.cpu).collect();
    if let Err(error) = affinity::keep_off(&own) {
        say(1, &error.to_string());
    }
    let asked = watch(world);
    world.board.set_phase(Phase::Stopping);
    let activations = join(world, threads, asked);
    for (task, state) in world.tasks.iter().enumerate() {
        // Ticks of partitions that were still running when the thread that they were for had left.
        let left = std::iter::from_fn(|| state.ticks.pop()).count();
        world.board.task(TaskId(task)).count_shared(TaskWord::Discarded, left as u64);
    }
    world.board.global(Global::Ended).store(monotonic_now() as u64, SeqCst);
    drop(watchdog);
    Ok(activations)
}

/// Until the run is to end: by its stop time, a request, or a failure. Returns when it was to.
fn watch(world: &World) -> i64 {
    let stop = world.plan.stop.map(|stop| world.wall(stop).0);
    let [complete, reached] = [Global::Complete, Global::Reached].map(|word| world.board.global(word));
    loop {
        if let Some(time) = world.complete() {
            complete.fetch_max(time, SeqCst);
        }
        let now = monotonic_now();
        let time = world.simulation(Nanos(now));
        let time = world.plan.stop.map_or(time, |stop| stop.min(time));
        reached.store(world.since_start(time), SeqCst);
        if world.ending() != Ending::No {
            return now;
        }
        if world.board.global(Global::StopRequest).load(SeqCst) != 0 {
            world.end(Ending::Discard);
            return now;
        }
        if world.tasks.iter().all(|task| task.finished.load(SeqCst)) {
            return now;
        }
        if let Some(stop) = stop.filter(|stop| now >= *stop) {
            // Activations released and ticks raised before the stop time still run, unless they take for ever.
            let late = now - stop > world.plan.shutdown_timeout.0;
            if late || world.is_quiet() {
                world.end(if late { Ending::Discard } else { Ending::Finished });
                return stop;
            }
        }
        std::thread::sleep(LOOK);
    }
}

/// Waits for all threads, at most as long as the rig allows after the end was `asked` for, but never without a chance.
fn join(world: &World, threads: Vec<JoinHandle<Activation>>, asked: i64) -> Vec<Activation> {
    const CHANCE: i64 = 100_000_000;
    let deadline = asked.saturating_add(world.plan.shutdown_timeout.0).max(monotonic_now() + CHANCE);
    // The culprit is inside FMU code; others may only be waiting for it: at the gate, or for the lock that it holds.
    let hangs = || {
        let missing = || (0..world.tasks.len()).filter(|task| !world.tasks[*task].finished.load(SeqCst));
        let word = |task: usize, word| world.board.task(TaskId(task)).get(word);
        let active = |task: &usize| word(*task, TaskWord::Active) == 1;
        let holds = |task: &usize| {
            let lock = &world.instances[world.plan.tasks[*task].fmu.0].lock;
            active(task) && lock.holder().is_some_and(|tid| u64::from(tid) == word(*task, TaskWord::Tid))
        };
        missing().find(holds).or_else(|| missing().find(active)).or_else(|| missing().next())
    };
    let exist = threads.len() == world.tasks.len();
    while exist && hangs().is_some() && monotonic_now() < deadline {
        std::thread::sleep(LOOK);
    }
    if let Some(task) = hangs().filter(|_| exist) {
        world.board.global(Global::HungTask).store(task as u64 + 1, SeqCst);
        world.board.global(Global::Ended).store(monotonic_now() as u64, SeqCst);
        crash::expect_exit();
        // Whatever the thread does in there, no instance can be ended while it does it.
        crash::exit_now(1);
    }
    threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
}

//! Virtual time: the same plan in one thread, as fast as possible, execution taking zero time (design S15).
//!
//! Ordered by (time, merged order). No activation runs inside another: what a partition triggers runs after it has
//! returned and its outputs were read. Nothing here looks at a clock, so a run repeats byte for byte.

use super::activation::Activation;
use super::thread_host::{Event, PartitionHost};
use super::world::{Ending, World};
use crate::ffi::set_thread_host;
use crate::plan::TaskId;
use crate::record::board::{Global, TaskWord};
use crate::schedule::{Agenda, Tick, Timeline};
use crate::time::Instant;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Duration;

/// Runs all activations in [start, stop), or until somebody asks for an end. `hosts` has one per instance.
pub fn run(
    world: &'static World,
    activations: &mut [Activation],
    hosts: &[&'static PartitionHost],
    armed: &[Option<Instant>],
) {
    let plan = &world.plan;
    let timelines =
        plan.tasks.iter().map(|task| Timeline::new(&task.release, plan.start, plan.stop)).collect::<Vec<_>>();
    let mut agenda = Agenda::new(timelines);
    for (task, time) in armed.iter().enumerate() {
        if let Some(time) = time {
            agenda.arm(TaskId(task), *time, plan.start);
        }
    }
    let complete = world.board.global(Global::Complete);
    let stop_request = world.board.global(Global::StopRequest);
    let mut order = 0;
    let mut early = false;
    while let Some((task, due)) = agenda.take() {
        let (fmu, cells) = (plan.tasks[task.0].fmu, world.board.task(task));
        let stopped = stop_request.load(Relaxed) != 0 || world.ending() == Ending::Discard;
        if stopped || world.instances[fmu.0].failed.load(Relaxed) {
            // Periodic releases after the end are none; pending ones are thrown away.
            if due.dispatched.is_some() {
                cells.count(TaskWord::Discarded, 1);
            }
            if stopped {
                early = true;
                break;
            }
            continue;
        }
        let host = hosts[fmu.0];
        // One nanosecond less, since nanoseconds are rounded.
        complete.store(world.since_start(due.time).saturating_sub(1), SeqCst);
        set_thread_host(Some(host));
        crate::sys::crash::label_thread(task.0 as u64 + 1);
        host.begin(task, due.time);
        let result = activations[task.0].run(world, host, due.time);
        // Still in the name of this activation.
        host.returned_from_fmu();
        if let Err(failure) = &result {
            activations[task.0].fail();
            host.fail(failure);
        }
        host.end();
        crate::sys::crash::label_thread(0);
        cells.count(TaskWord::Activations, 1);
        host.take_events(|event| match event {
            Event::Tick(target, time) => note(world, target, agenda.tick(target, time)),
            Event::Arm(target, time) => note(world, target, agenda.arm(target, time, due.time)),
        });
        order += 1;
        while result.is_ok() && !activations[task.0].sample(world, order, due.time) {
            // Nothing is lost in virtual time: wait for the supervisor to read.
            std::thread::sleep(Duration::from_micros(100));
        }
        world.board.global(Global::Reached).store(world.since_start(due.time), Relaxed);
    }
    if let Some(stop) = plan.stop.filter(|_| !early) {
        world.board.global(Global::Reached).store(world.since_start(stop), Relaxed);
    }
    // After a regular end nothing waits but deadlines after the stop, which are nobody's loss.
    for task in (0..plan.tasks.len()).map(TaskId).filter(|_| early) {
        world.board.task(task).count(TaskWord::Discarded, agenda.discard(task));
    }
}

fn note(world: &World, target: TaskId, outcome: Tick) {
    let cells = world.board.task(target);
    match outcome {
        Tick::Queued => (),
        Tick::Coalesced => cells.count(TaskWord::Coalesced, 1),
        Tick::Full => cells.count(TaskWord::Overruns, 1),
        Tick::AfterStop => cells.count(TaskWord::Discarded, 1),
    }
}

//! Real time: one thread per task (design S6, S12, S17, S18).
//!
//! A partition thread sleeps until the next release that its timeline knows, or until somebody has ticked it; runs the
//! activation inside the preemption gate; records; skips what it has missed. From its second activation on it allocates
//! nothing, faults no page, logs nothing, and makes one system call per uncontended periodic activation: the sleep.

use super::activation::Activation;
use super::thread_host::{Dispatch, PartitionHost};
use super::world::{Ending, World};
use crate::ffi::set_thread_host;
use crate::fmu::description::IntervalVariability;
use crate::plan::TaskId;
use crate::record::board::{Metric, Scheduling, TaskCells, TaskWord};
use crate::schedule::{self, Due, QUEUE, Tick, Timeline};
use crate::sys::affinity::{self, current_cpu};
use crate::sys::preemption::Partition as LockMember;
use crate::sys::wake::{Wakening, monotonic_now};
use crate::sys::{memory, scheduling, thread};
use crate::time::{Instant, Nanos};
use crossbeam::channel::Sender;
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};

/// What every partition thread touches of its stack and heap before the start.
const HEAP: usize = 256 * 1024;

/// A partition thread's ingredients.
pub struct PartitionThread {
    /// What all threads share.
    pub world: &'static World,
    /// Which task.
    pub task: TaskId,
    /// Its model partition and buffers.
    pub activation: Activation,
    /// A deadline from initialisation, for countdown clocks.
    pub armed: Option<Instant>,
    /// Told once: whether the thread is set up.
    pub ready: Sender<Result<LockDemotion, String>>,
}

/// What a watchdog needs of a thread.
pub struct LockDemotion {
    /// Which task.
    pub task: TaskId,
    /// Takes its priority.
    pub demotion: crate::sys::preemption::Demotion,
}

/// Figures of the activation before, for the jitter.
struct Previous {
    release: i64,
    start: i64,
}

impl PartitionThread {
    /// The body of the thread; gives the activation back when the run ends.
    pub fn run(mut self) -> Activation {
        let (world, task) = (self.world, self.task);
        let plan = &world.plan.tasks[task.0];
        let fifo = world.scheduling == Scheduling::Fifo;
        let member = LockMember::new(plan.level, fifo.then_some(plan.fifo.get()));
        world.board.task(task).word(TaskWord::Tid).store(u64::from(thread::current_tid()), Relaxed);
        crate::sys::crash::label_thread(task.0 as u64 + 1);
        let set_up = self.set_up(fifo).map(|()| LockDemotion { task, demotion: member.demotion() });
        let failed = set_up.is_err();
        let _ = self.ready.send(set_up);
        if !failed {
            // For ever: FMU code may call back as long as this thread lives, and the process ends with the run.
            let host: &'static PartitionHost =
                Box::leak(Box::new(PartitionHost::new(world, plan.fmu, member, Dispatch::Threads)));
            set_thread_host(Some(host));
            let mut timeline = Timeline::new(&plan.release, world.plan.start, world.plan.stop);
            if let Some(time) = self.armed {
                let start = world.plan.start;
                timeline.arm(time, start, schedule::Dispatch { wall: Nanos(0), time: start });
            }
            self.serve(host, timeline);
            set_thread_host(None);
        }
        world.tasks[task.0].next.store(i64::MAX, SeqCst);
        world.tasks[task.0].finished.store(true, SeqCst);
        world.instances[plan.fmu.0].turns.announce(task.0, i64::MAX);
        self.activation
    }

    fn set_up(&self, fifo: bool) -> Result<(), String> {
        let plan = &self.world.plan.tasks[self.task.0];
        let place = |error: crate::sys::SysError| format!("thread {}: {error}", plan.thread);
        thread::block_signals().map_err(place)?;
        thread::minimize_timer_slack().map_err(place)?;
        memory::prefault_arena(HEAP);
        memory::prefault_stack(self.world.plan.host.stack_kib * 1024 * 3 / 4);
        affinity::pin_to(plan.cpu).map_err(place)?;
        if fifo {
            scheduling::set_fifo(plan.fifo.get()).map_err(place)?;
        }
        Ok(())
    }

    fn serve(&mut self, host: &'static PartitionHost, mut timeline: Timeline) {
        let (world, task) = (self.world, self.task);
        let plan = &world.plan.tasks[task.0];
        let (state, cells) = (&world.tasks[task.0], world.board.task(task));
        let turns = &world.instances[plan.fmu.0].turns;
        let cooperative = world.scheduling == Scheduling::Cooperative;
        let mut previous: Option<Previous> = None;
        self.wait_for_start();
        let mut now = monotonic_now();
        loop {
            let seen = state.wake.value();
            // Not idle, and next unknown, before the mail is taken: `World::complete` must not miss it in between.
            // The bit is taken back first: what set it is mail that the next look sees.
            world.noticed(task);
            if state.has_mail() {
                state.idle.store(false, SeqCst);
                state.next.store(i64::MIN, SeqCst);
                take_mail(world, task, &mut timeline, &cells);
            }
            let leave = world.ending() == Ending::Discard || world.instances[plan.fmu.0].failed.load(SeqCst);
            if leave {
                while state.has_mail() {
                    take_mail(world, task, &mut timeline, &cells);
                    cells.count_shared(TaskWord::Discarded, timeline.discard());
                }
                cells.count_shared(TaskWord::Discarded, timeline.discard());
                return;
            }
            let Some(next) = timeline.next() else {
                state.next.store(i64::MAX, SeqCst);
                state.idle.store(true, SeqCst);
                if world.ending() == Ending::Finished {
                    return;
                }
                if cooperative {
                    turns.announce(task.0, i64::MAX);
                }
                state.wake.wait_until(seen, None);
                now = monotonic_now();
                continue;
            };
            state.next.store(next.nanos().0, SeqCst);
            let release = world.wall(next).0;
            if cooperative {
                turns.announce(task.0, release);
            }
            if now < release {
                let wakening = state.wake.wait_until(seen, Some(release));
                now = monotonic_now();
                if wakening == Wakening::Woken {
                    continue;
                }
            }
            let due = timeline.take().expect("there is a next one");
            state.ticks.waiting(timeline.waiting());
            state.idle.store(false, SeqCst);
            state.next.store(due.time.nanos().0, SeqCst);
            now = self.activate(host, due, now, &mut previous);
            while let Some(skipped) = timeline.skip(world.simulation(Nanos(now))) {
                cells.count_shared(TaskWord::Overruns, 1);
                cells.count(TaskWord::Skipped, 1);
                let late = now - world.wall(skipped.time).0;
                for metric in [Metric::Wakeup, Metric::Start, Metric::Response] {
                    cells.histogram(metric).record(late);
                }
            }
        }
    }

    /// Sleeps until the common start instant is known; the first release is on or after it.
    fn wait_for_start(&self) {
        let state = &self.world.tasks[self.task.0];
        loop {
            let seen = state.wake.value();
            if self.world.start().0 != 0 || self.world.ending() != Ending::No {
                return;
            }
            state.wake.wait_until(seen, None);
        }
    }

    /// Runs one activation; returns the wall clock at its end.
    fn activate(&mut self, host: &PartitionHost, due: Due, woken: i64, previous: &mut Option<Previous>) -> i64 {
        let (world, task) = (self.world, self.task);
        let plan = &world.plan.tasks[task.0];
        let (instance, cells) = (&world.instances[plan.fmu.0], world.board.task(task));
        let cooperative = world.scheduling == Scheduling::Cooperative;
        let core = &world.cores[world.tasks[task.0].core];
        if cooperative {
            instance.turns.take(task.0, monotonic_now);
        } else {
            instance.lock.enter(host.member(), || world.help(task));
        }
        // The instance may have failed, or the run been stopped, while this one waited.
        if instance.failed.load(SeqCst) || world.ending() == Ending::Discard {
            self.leave(host, cooperative);
            cells.count_shared(TaskWord::Discarded, 1);
            return monotonic_now();
        }
        let executed_before = core.executed.load(Relaxed);
        host.begin(task, due.time);
        let start = monotonic_now();
        cells.word(TaskWord::StartedAt).store(start as u64, Relaxed);
        if current_cpu() != plan.cpu {
            cells.count(TaskWord::WrongCore, 1);
        }
        let result = self.activation.run(world, host, due.time);
        let end = monotonic_now();
        // Still in the name of this activation, and before anybody else may enter. FMU code can leak a lock when it is read
        // too.
        host.returned_from_fmu();
        if let Err(failure) = &result {
            self.activation.fail();
            host.fail(failure);
        }
        host.end();
        let meanwhile = core.executed.load(Relaxed) - executed_before;
        let execution = (end - start - meanwhile).max(0);
        core.executed.fetch_add(execution, Relaxed);
        self.leave(host, cooperative);

        let release = match due.dispatched {
            None => world.wall(due.time).0,
            Some(at) if plan.kind == IntervalVariability::Countdown && !due.retimed => at.0.max(world.wall(due.time).0),
            Some(at) => at.0,
        };
        cells.count(TaskWord::Activations, 1);
        cells.count(TaskWord::Retimed, u64::from(due.retimed));
        cells.histogram(Metric::Wakeup).record(woken - release);
        cells.histogram(Metric::Start).record(start - release);
        cells.histogram(Metric::Execution).record(execution);
        cells.histogram(Metric::Response).record(end - release);
        if let Some(previous) = previous {
            let jitter = (start - previous.start) - (release - previous.release);
            cells.histogram(Metric::Jitter).record(jitter.abs());
        }
        *previous = Some(Previous { release, start });
        if result.is_ok() && !self.activation.sample(world, end as u64, due.time) {
            cells.count(TaskWord::SamplesDropped, 1);
        }
        monotonic_now()
    }

    fn leave(&self, host: &PartitionHost, cooperative: bool) {
        let instance = &self.world.instances[host.fmu().0];
        if cooperative {
            instance.turns.give_back();
        } else {
            instance.lock.leave(host.member());
        }
    }
}

/// Moves ticks and a new deadline from other threads to the timeline.
fn take_mail(world: &World, task: TaskId, timeline: &mut Timeline, cells: &TaskCells) {
    let state = &world.tasks[task.0];
    let dispatch = |wall| schedule::Dispatch { wall, time: world.simulation(wall) };
    let note = |outcome| match outcome {
        Tick::Queued => (),
        Tick::Coalesced => cells.count_shared(TaskWord::Coalesced, 1),
        Tick::Full => cells.count_shared(TaskWord::Overruns, 1),
        Tick::AfterStop => cells.count_shared(TaskWord::Discarded, 1),
    };
    if let Some(deadline) = state.take_deadline() {
        note(timeline.arm(deadline.tick.time, deadline.since, dispatch(deadline.tick.dispatched)));
    }
    while timeline.waiting() < QUEUE
        && let Some(stamp) = state.ticks.pop()
    {
        note(timeline.tick(stamp.time, dispatch(stamp.dispatched)));
        state.ticks.waiting(timeline.waiting());
    }
}

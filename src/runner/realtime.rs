//! Real time: one thread per task (design S6, S12, S17, S18).
//!
//! A partition thread sleeps until the next release that its timeline knows, or until somebody has ticked it; runs the
//! activation inside the preemption gate; records; skips what it has missed. From its second activation on it allocates
//! nothing, faults no page, logs nothing, and makes one system call per uncontended periodic activation: the sleep.

use super::activation::Activation;
use super::measure::{Ended, Measure, Stopwatch};
use super::stimuli::{Fed, TickFeed};
use super::thread_host::{Dispatch, PartitionHost};
use super::world::{Ending, World};
use crate::exchange::TickStamp;
use crate::ffi::set_thread_host;
use crate::fmu::description::IntervalVariability;
use crate::plan::{Overrun, Release, TaskId};
use crate::record::board::promise::Break;
use crate::record::board::{Metric, Scheduling, TaskCells, TaskWord};
use crate::record::findings::{Finding, Occurrence};
use crate::record::trace::Note;
use crate::schedule::{self, Due, Kept, QUEUE, Skipped, Timeline};
use crate::sys::affinity::{self, current_cpu};
use crate::sys::preemption::Partition as LockMember;
use crate::sys::wake::{self, Wakening};
use crate::sys::{SysError, memory, scheduling, thread};
use crate::time::{Fraction, Instant, Nanos};
use crossbeam::channel::Sender;
use std::cell::Cell;
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
    /// Where its time goes; `None` until the start.
    pub measure: Option<Measure>,
    /// Told once: whether the thread is set up.
    pub ready: Sender<Result<SetUp, String>>,
}

/// What a thread tells of itself when it is set up.
pub struct SetUp {
    /// Which task.
    pub task: TaskId,
    /// Takes its priority.
    pub demotion: crate::sys::preemption::Demotion,
    /// An address in its stack.
    pub stack: usize,
    /// What the system has refused, and what it can do without.
    pub unrefined: Option<SysError>,
}

/// Figures of the activation before, for the jitter.
struct Previous {
    release: i64,
    start: i64,
}

impl PartitionThread {
    /// The body of the thread; when the run ends it gives the activation back, and what is left to be done.
    pub fn run(mut self, mut timeline: Timeline) -> (Activation, Timeline) {
        let (world, task) = (self.world, self.task);
        let plan = &world.plan.tasks[task.0];
        let fifo = world.scheduling == Scheduling::Fifo;
        let member = LockMember::new(plan.level, fifo.then_some(plan.fifo.get()));
        world.board.task(task).word(TaskWord::Tid).store(u64::from(thread::current_tid()), Relaxed);
        crate::sys::crash::label_thread(task.0 as u64 + 1);
        let set_up = self.set_up(fifo).map(|unrefined| SetUp {
            task,
            demotion: member.demotion(),
            stack: (&raw const world).addr(),
            unrefined,
        });
        let failed = set_up.is_err();
        let _ = self.ready.send(set_up);
        if !failed {
            // For ever: FMU code may call back as long as this thread lives, and the process ends with the run.
            let host: &'static PartitionHost =
                Box::leak(Box::new(PartitionHost::new(world, plan.fmu, member, Dispatch::Threads)));
            set_thread_host(Some(host));
            self.serve(host, &mut timeline);
            self.measure.iter().for_each(Measure::end);
            set_thread_host(None);
        }
        world.tasks[task.0].next.store(i64::MAX, SeqCst);
        world.tasks[task.0].finished.store(true, SeqCst);
        world.instances[plan.fmu.0].turns.retire(task.0);
        (self.activation, timeline)
    }

    fn set_up(&self, fifo: bool) -> Result<Option<SysError>, String> {
        let plan = &self.world.plan.tasks[self.task.0];
        let place = |error: SysError| format!("thread {}: {error}", plan.thread);
        thread::block_signals().map_err(place)?;
        wake::prepare_to_sleep(self.world.clock).map_err(place)?;
        let unrefined = thread::minimize_timer_slack().err();
        memory::prefault_arena(HEAP);
        memory::prefault_stack(self.world.plan.host.stack_kib * 1024 * 3 / 4);
        if self.world.pinned {
            affinity::pin_to(plan.cpu).map_err(place)?;
        }
        if fifo {
            scheduling::set_fifo(plan.fifo.get()).map_err(place)?;
        }
        Ok(unrefined)
    }

    fn serve(&mut self, host: &'static PartitionHost, timeline: &mut Timeline) {
        let (world, task) = (self.world, self.task);
        let plan = &world.plan.tasks[task.0];
        let (state, cells) = (&world.tasks[task.0], world.board.task(task));
        let turns = &world.instances[plan.fmu.0].turns;
        let cooperative = world.scheduling == Scheduling::Cooperative;
        let mut previous: Option<Previous> = None;
        let mut ticks = TickFeed::of(world, task);
        self.wait_for_start();
        self.measure = Measure::of(world, task);
        let mut now = world.now();
        loop {
            let seen = state.wake.value();
            if cooperative {
                turns.decide(task.0);
            }
            // Not idle, and next unknown, before the mail is taken: `World::complete` must not miss it in between.
            // The bit is taken back first: what set it is mail that the next look sees.
            world.noticed(task);
            if state.has_mail() {
                state.idle.store(false, SeqCst);
                state.next.store(i64::MIN, SeqCst);
                take_mail(world, task, timeline);
            }
            let fed = ticks.as_mut().map_or(Fed::Nothing, |ticks| ticks.take(timeline, now));
            let leave = world.ending() == Ending::Discard || world.instances[plan.fmu.0].failed.load(SeqCst);
            // For the saved state, or to be thrown away if there is none, once all threads have left.
            if leave && world.saves {
                return;
            }
            if leave {
                let due = world.simulation(Nanos(now));
                // There may be more of a stimulus than a timeline takes at once.
                loop {
                    let discarded = timeline.discard(due);
                    cells.count_shared(TaskWord::Discarded, discarded);
                    if state.has_mail() {
                        take_mail(world, task, timeline);
                    } else if discarded == 0 {
                        return;
                    }
                    ticks.iter().for_each(|ticks| ticks.hand_over(timeline));
                }
            }
            if let (Fed::Until { known, look }, None) = (fed, timeline.next()) {
                // Not idle: there may be ticks from then on.
                state.next.store(known.nanos().0, SeqCst);
                if world.ending() == Ending::Finished {
                    return;
                }
                if cooperative {
                    turns.announce(task.0, None);
                }
                self.measure.iter_mut().for_each(|measure| measure.sleeps(world));
                state.wake.wait_until(seen, Some(look));
                now = world.now();
                continue;
            }
            let Some(next) = timeline.next() else {
                state.next.store(i64::MAX, SeqCst);
                state.idle.store(true, SeqCst);
                if world.ending() == Ending::Finished {
                    return;
                }
                if cooperative {
                    turns.announce(task.0, None);
                }
                self.measure.iter_mut().for_each(|measure| measure.sleeps(world));
                state.wake.wait_until(seen, None);
                now = world.now();
                continue;
            };
            let release = world.wall(next).0;
            if cooperative {
                turns.announce(task.0, Some(release));
            }
            if now < release {
                state.next.store(next.nanos().0, SeqCst);
                self.measure.iter_mut().for_each(|measure| measure.sleeps(world));
                let wakening;
                (wakening, now) = self.sleep(seen, release);
                if wakening == Wakening::Woken {
                    continue;
                }
            }
            let due = timeline.take().expect("there is a next one");
            if plan.kind == IntervalVariability::Tunable {
                world.tell_grid(task, timeline.grid());
            }
            state.ticks.waiting(timeline.waiting());
            if state.idle.load(Relaxed) {
                state.idle.store(false, SeqCst);
            }
            state.next.store(due.time.nanos().0, SeqCst);
            let period = timeline.interval().map_or(Nanos::MAX, Fraction::nanos);
            now = self.activate(host, due, now, period, &mut previous);
            if let Some(interval) = self.activation.take_next() {
                timeline.follow(interval, due.time);
            }
            take_change(world, task, timeline);
            overruns(world, task, timeline, &cells, now, period, self.measure.as_ref());
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

    /// Waits for the release: sleeps, and looks at the clock for the last `spin_us`. Returns the wall clock, too.
    fn sleep(&self, seen: u32, release: i64) -> (Wakening, i64) {
        let (world, wake) = (self.world, &self.world.tasks[self.task.0].wake);
        let spin = world.plan.host.spin.0;
        if spin == 0 {
            return (wake.wait_until(seen, Some(release)), world.now());
        }
        let wakening = wake.wait_until(seen, Some(release - spin));
        if wakening == Wakening::Woken {
            return (wakening, world.now());
        }
        // To those that it preempts this is as good as an activation.
        let executed = &world.cores[world.tasks[self.task.0].core].executed;
        let (since, executed_before) = (world.now(), executed.load(Relaxed));
        let (wakening, now) = wake.poll_until(seen, release);
        let meanwhile = executed.load(Relaxed) - executed_before;
        executed.fetch_add((now - since - meanwhile).max(0), Relaxed);
        (wakening, now)
    }

    /// Runs one activation; returns the wall clock at its end.
    fn activate(
        &mut self,
        host: &PartitionHost,
        due: Due,
        woken: i64,
        period: Nanos,
        previous: &mut Option<Previous>,
    ) -> i64 {
        let (world, task) = (self.world, self.task);
        let plan = &world.plan.tasks[task.0];
        let (instance, cells) = (&world.instances[plan.fmu.0], world.board.task(task));
        let cooperative = world.scheduling == Scheduling::Cooperative;
        let core = &world.cores[world.tasks[task.0].core];
        let release = match due.dispatched {
            None => world.wall(due.time).0,
            // An event from outside is due when it arrives; a deadline, or a tick with a delay, at its time. What a run that
            // was left had dispatched is late from the start of this one on.
            Some(at) if due.retimed || matches!(plan.release, Release::Datagram { .. }) => at.0.max(world.start().0),
            Some(at) => at.0.max(world.wall(due.time).0),
        };
        let gate_waits = if cooperative {
            instance.turns.take(task.0, release, || world.now());
            0
        } else {
            instance.lock.enter(host.member(), || world.help(task))
        };
        // The instance may have failed, or the run been stopped, while this one waited. It is no more on the timeline, so
        // it still runs if the state is saved.
        let stopped = instance.failed.load(SeqCst) || (world.ending() == Ending::Discard && !world.saves);
        if stopped || !self.activation.stimulate(world, due.time) {
            self.leave(host, cooperative);
            cells.count_shared(TaskWord::Discarded, 1);
            return world.now();
        }
        host.begin(&world.sites[task.0], &due);
        let mut watch = Stopwatch::new(host, &core.executed);
        let start = world.now();
        cells.word(TaskWord::StartedAt).store(start as u64, Relaxed);
        if world.pinned && current_cpu() != plan.cpu {
            cells.count(TaskWord::WrongCore, 1);
        }
        let result = self.activation.run(world, host, &due, due.time.seconds(), &mut watch);
        let end = world.now();
        cells.word(TaskWord::FinishedAt).store(end as u64, Relaxed);
        // Still in the name of this activation, and before anybody else may enter. FMU code can leak a lock when it is read
        // too.
        host.returned_from_fmu();
        if let Err(failure) = &result {
            self.activation.fail();
            host.fail(failure);
        }
        host.end();
        let within = watch.within(world, end - start);
        let execution = within.execution;
        core.executed.fetch_add(execution, Relaxed);
        self.leave(host, cooperative);
        if !self.activation.activated() {
            cells.count_shared(TaskWord::Discarded, 1);
            return world.now();
        }
        // Without real-time priorities any other process may have taken the core meanwhile.
        if !cooperative && Nanos(execution) > period {
            let (task, reference) = (Some(task), Some(plan.reference));
            let seen = Occurrence { task, reference, time: Some(due.time), value: execution as u64 };
            world.board.fmu(plan.fmu).findings().note(Finding::OutlastsPeriod, seen);
        }
        cells.count(TaskWord::Activations, 1);
        cells.count(TaskWord::Retimed, u64::from(due.retimed));
        if due.retimed {
            world.board.note_break(task, Break::Retimed, due.time);
        }
        cells.histogram(Metric::Wakeup).record(woken - release);
        cells.histogram(Metric::Start).record(start - release);
        if let Release::Datagram { .. } = plan.release {
            // The dispatch of such a tick is the arrival.
            cells.histogram(Metric::Arrival).record(start - release);
        }
        cells.histogram(Metric::Execution).record(execution);
        cells.histogram(Metric::Response).record(end - release);
        if let Some(previous) = previous {
            let jitter = (start - previous.start) - (release - previous.release);
            cells.histogram(Metric::Jitter).record(jitter.abs());
            keep_shortest(&cells, period, release - previous.release);
        }
        *previous = Some(Previous { release, start });
        if let Some(measure) = &mut self.measure {
            let time = due.time;
            measure.note(world, host, Ended { time, release, woken, start, end, within, gate_waits });
        }
        if let Some(ring) = &world.sites[task.0].trace {
            let (time, flow) = (due.time.nanos().0, due.dispatched.map_or(0, |at| at.0 as u64));
            let retimed = due.retimed;
            world.trace_in(ring, Note::Activated { time, release, woken, start, end, execution, flow, retimed });
        }
        if result.is_ok() && !self.activation.sample(world, host, end as u64, due.time) {
            cells.count(TaskWord::SamplesDropped, 1);
        }
        world.now()
    }

    fn leave(&self, host: &PartitionHost, cooperative: bool) {
        let instance = &self.world.instances[host.fmu().0];
        if cooperative {
            instance.turns.give_back(self.task.0);
        } else {
            instance.lock.leave(host.member());
        }
    }
}

/// Of a clock without a period: how near to one another two releases were.
fn keep_shortest(cells: &TaskCells, period: Nanos, between: i64) {
    let (word, seen) = (cells.word(TaskWord::ShortestInterval), between.max(0) as u64 + 1);
    let shortest = word.load(Relaxed);
    if period == Nanos::MAX && (shortest == 0 || seen < shortest) {
        word.store(seen, Relaxed);
    }
}

/// What became due while the activation before it ran, until `now` (design S12). Ticks are queued in any case, and so is
/// the release of a changing clock: it is the only one there is.
fn overruns(
    world: &World,
    task: TaskId,
    timeline: &mut Timeline,
    cells: &TaskCells,
    now: i64,
    period: Nanos,
    measure: Option<&Measure>,
) {
    let time = world.simulation(Nanos(now));
    let late = |release| now - world.wall(release).0;
    // The first of them, and how many.
    let found: Cell<Option<(Instant, u64)>> = Cell::new(None);
    let overrun = |release: Instant| {
        cells.count_shared(TaskWord::Overruns, 1);
        found.set(Some(found.get().map_or((release, 1), |(first, number)| (first, number + 1))));
    };
    let skipped = |Skipped { time }: Skipped| {
        overrun(time);
        cells.count(TaskWord::Skipped, 1);
        world.board.note_break(task, Break::Overrun, time);
        for metric in [Metric::Wakeup, Metric::Start, Metric::Response] {
            cells.histogram(metric).record(late(time));
        }
        if let Some(ring) = &world.sites[task.0].trace {
            let (time, release) = (time.nanos().0, world.wall(time).0);
            world.trace_in(ring, Note::Skipped { time, release, at: now });
        }
    };
    match world.plan.tasks[task.0].overrun {
        Overrun::Skip => {
            while let Some(release) = timeline.skip(time) {
                skipped(release);
            }
            if let Some(release) = timeline.overdue(time) {
                overrun(release);
            }
        }
        Overrun::Queue => {
            if world.plan.tasks[task.0].release == Release::Changing
                && let Some(release) = timeline.overdue(time)
            {
                overrun(release);
            }
            while let Some(release) = timeline.keep(time) {
                match release {
                    Kept::Waits(release) => overrun(release),
                    Kept::Not(release) => skipped(release),
                }
            }
        }
        Overrun::Stop => {
            if let Some(release) = timeline.overdue(time) {
                overrun(release);
                world.board.note_break(task, Break::Overrun, release);
                world.overrun(task, release, late(release));
            }
        }
    }
    if let (Some((first, number)), Some(measure)) = (found.get(), measure) {
        measure.overran(world, first, period, number, late(first));
    }
}

/// Takes over a new interval of a tunable clock.
fn take_change(world: &World, task: TaskId, timeline: &mut Timeline) {
    if let Some((interval, from)) = world.tasks[task.0].take_change() {
        timeline.retune(interval, from);
        world.tell_grid(task, timeline.grid());
    }
}

/// Moves ticks, a new deadline and a new interval from other threads to the timeline.
pub fn take_mail(world: &World, task: TaskId, timeline: &mut Timeline) {
    let state = &world.tasks[task.0];
    let dispatch = |tick: TickStamp| {
        let TickStamp { dispatched: wall, root, .. } = tick;
        schedule::Dispatch { wall, time: world.simulation(wall), root }
    };
    take_change(world, task, timeline);
    if let Some(deadline) = state.take_deadline() {
        let tick = deadline.tick;
        world.count(task, tick, timeline.arm(tick.time, deadline.since, dispatch(tick)));
    }
    while timeline.waiting() < QUEUE
        && let Some(stamp) = state.ticks.pop()
    {
        world.count(task, stamp, timeline.tick(stamp.time, dispatch(stamp)));
        state.ticks.waiting(timeline.waiting());
    }
}

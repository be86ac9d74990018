//! Real time: one thread per task (semantics S6, S12, S17, S18).
//!
//! A partition thread sleeps until the next release of its timeline, or until a tick wakes it; runs the activation inside the
//! preemption gate; records; skips missed releases. A thread that polls enters the gate before its release, and leaves it again
//! without an activation if there is mail. From its second activation on it allocates nothing, faults no page, logs nothing, and
//! makes one system call per uncontended periodic activation: the sleep.

mod awake;
mod coming;
mod marks;
mod overruns;
mod own;

use self::awake::Awake;
use self::coming::Coming;
use self::marks::Marks;
use self::own::Own;
use super::activation::Activation;
use super::halt::Halt;
use super::measure::{EndedActivation, Measure, Stopwatch};
use super::serial::HeldTurn;
use super::stimuli::{Fed, TickFeed};
use super::thread_host::{Dispatch, PartitionHost};
use super::world::{Ending, World};
use crate::exchange::TickStamp;
use crossbeam::channel::Sender;
use std::ops::Range;
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};
use vecud_base::time::{Instant, Nanos};
use vecud_fmi::set_thread_host;
use vecud_linux::affinity::{self, current_cpu};
use vecud_linux::preemption::LockMember;
use vecud_linux::wake::{self, Wakening};
use vecud_linux::{SysError, memory, thread};
use vecud_plan::UnitId;
use vecud_plan::schedule::{self, Due, QUEUE, Timeline};
use vecud_record::board::promise::Break;
use vecud_record::board::{Metric, Scheduling, TaskWord};
use vecud_record::findings::{FindingKind, Occurrence};
use vecud_record::trace::Note;

/// Bytes of heap that every partition thread touches before the start.
const HEAP: usize = 256 * 1024;

/// A partition thread's ingredients.
pub struct PartitionThread {
    /// The state that all threads share.
    pub world: &'static World,
    /// The task of the thread.
    pub task: UnitId,
    /// The FMU code and the buffers of the task.
    pub activation: Activation,
    /// Where the time of activations goes; `None` until the start.
    pub measure: Option<Measure>,
    /// Told once: whether the thread is set up.
    pub ready: Sender<Result<SetUp, String>>,
}

/// The report of a thread that is set up.
pub struct SetUp {
    /// The task of the thread.
    pub task: UnitId,
    /// Takes the priority from the thread.
    pub demotion: vecud_linux::preemption::Demotion,
    /// The part of the thread's stack that is ready.
    pub stack: Range<usize>,
    /// The first setting that the system refused and the thread can do without.
    pub unrefined: Option<SysError>,
}

impl PartitionThread {
    /// The body of the thread; returns the activation and the pending releases at the end of the run.
    ///
    /// `stack`: the prefaulted part of the thread's stack.
    pub fn run(mut self, mut timeline: Timeline, stack: Range<usize>) -> (Activation, Timeline) {
        let (world, task) = (self.world, self.task);
        let plan = &world.plan.units[task.0];
        let fifo = world.scheduling == Scheduling::Fifo;
        let member = LockMember::new(plan.level, fifo.then_some(plan.fifo.get())).sharing(world.tasks[task.0].shared);
        for own in world.plan.task_of(task).units() {
            world.board.task(*own).word(TaskWord::Tid).store(u64::from(thread::current_tid()), Relaxed);
        }
        vecud_linux::crash::label_thread(task.0 as u64 + 1);
        let set_up = self.set_up().map(|unrefined| SetUp { task, demotion: member.demotion(), stack, unrefined });
        let failed = set_up.is_err();
        let _ = self.ready.send(set_up);
        if !failed {
            // For ever: FMU code may call back as long as this thread lives, and the process ends with the run.
            let host: &'static PartitionHost =
                Box::leak(Box::new(PartitionHost::new(world, plan.fmu, member, Dispatch::Threads)));
            host.join(other_hosts(world, task));
            set_thread_host(Some(host));
            self.serve(host, &mut timeline);
            let refused = host.member().counts().raise_refused;
            world.board.task(task).word(TaskWord::RaiseRefused).store(refused, Relaxed);
            self.activation.finish(world, host);
            self.measure.iter().for_each(Measure::end);
            set_thread_host(None);
        }
        world.left(task);
        world.instances[plan.fmu.0].turns.retire(task.0);
        world.wait_to_leave(task);
        (self.activation, timeline)
    }

    /// All but the priority, which the supervisor gives.
    fn set_up(&self) -> Result<Option<SysError>, String> {
        let plan = &self.world.plan.units[self.task.0];
        let place = |error: SysError| format!("thread {}: {error}", plan.thread);
        thread::block_signals().map_err(place)?;
        wake::prepare_to_sleep(self.world.clock).map_err(place)?;
        let unrefined = thread::minimize_timer_slack().err();
        memory::prefault_arena(HEAP);
        if self.world.pinned {
            affinity::pin_to(plan.cpu).map_err(place)?;
        }
        Ok(unrefined)
    }

    fn serve(&mut self, host: &'static PartitionHost, timeline: &mut Timeline) {
        let own = Own::of(self.world, self.task);
        let Own { world, task, state, cooperative, .. } = own;
        let turns = &own.instance.turns;
        let mut marks = Marks::new(timeline);
        let mut ticks = TickFeed::of(world, task);
        self.wait_for_start();
        self.measure = Measure::of(world, task);
        let (mut coming, mut more_mail) = (None::<Coming>, true);
        let mut now = world.now();
        loop {
            let seen = state.wake.value();
            if cooperative {
                turns.decide(task.0);
            }
            // Before the mail is taken, so that `RunState::complete` does not miss it in between. The bit is cleared first: mail
            // that sets it again is seen by the next look.
            if world.noticed(task) || more_mail {
                state.next.store(i64::MIN, SeqCst);
                take_mail(world, task, timeline);
                // The timeline may have had no room for all of the mail.
                more_mail = state.has_mail();
                coming = None;
            }
            let fed = ticks.as_mut().map_or(Fed::Nothing, |ticks| ticks.take(timeline, now));
            let leave = world.ending() == Ending::Discard || own.instance.failed.load(SeqCst);
            // For the saved state, or to be thrown away if there is none, once all threads have left.
            if leave && world.saves {
                return;
            }
            if leave {
                let until = world.until(Nanos(world.now()));
                // An instance that has failed has no further releases.
                if !own.instance.failed.load(SeqCst) {
                    overruns::of_those_that_never_begin(&own, timeline, until, self.measure.as_ref());
                }
                return discard(&own, timeline, ticks.as_ref(), until);
            }
            // Whatever can be worked out before the sleep is: after it, everything is late already.
            if coming.is_none() {
                coming = Coming::of(&own, timeline);
            }
            // Borrowed instead of moved: parts that were written a moment ago are slow to copy as a whole.
            let Some(next) = &coming else {
                let look = match fed {
                    Fed::Nothing => {
                        state.next.store(i64::MAX, SeqCst);
                        None
                    }
                    Fed::Until { known, look } => {
                        // There may be ticks from then on.
                        state.next.store(known.nanos().0, SeqCst);
                        Some(look)
                    }
                };
                if world.ending() == Ending::Finished {
                    return;
                }
                if cooperative {
                    turns.announce(task.0, None);
                }
                self.measure.iter_mut().for_each(|measure| measure.sleeps(world));
                state.wake.wait_until(seen, look);
                now = world.now();
                self.prefetch(&own, host);
                continue;
            };
            if cooperative {
                turns.announce(task.0, Some(next.release));
            }
            state.next.store(next.nanos, SeqCst);
            marks.period.follow(timeline);
            let awake = if now >= next.release {
                Awake::now(&own, seen)
            } else {
                self.measure.iter_mut().for_each(|measure| measure.sleeps(world));
                let (wakening, awake) = self.sleep(&own, host, seen, next);
                now = awake.at;
                if wakening == Wakening::Woken {
                    if next.is_held(&own) {
                        coming = None;
                    }
                    continue;
                }
                awake
            };
            if next.is_held(&own) {
                self.wait_to_go_on(&own, seen, next);
                coming = None;
                now = world.now();
                continue;
            }
            let (taken, foreseen);
            let due = match &next.foreseen {
                Some(due) => {
                    foreseen = true;
                    if due.dispatched.is_some() {
                        // The tick ceases to wait.
                        state.ticks.waiting(timeline.waiting() - 1);
                    }
                    due
                }
                None => {
                    foreseen = false;
                    taken = take_next(&own, timeline);
                    marks.period.follow(timeline);
                    &taken
                }
            };
            let Some(ended) = self.activate(&own, host, due, next, awake, &mut marks) else { continue };
            now = ended;
            let time = due.time;
            coming = match foreseen {
                true => timeline.advance().map(|due| Coming::foreseen(&own, due)),
                false => None,
            };
            if let Some(interval) = self.activation.take_next() {
                timeline.follow(interval, time);
            }
            if let Some(point) = self.activation.take_point() {
                timeline.beside(point);
                coming = None;
            }
            if own.tunable && take_change(world, task, timeline) {
                coming = None;
            }
            if coming.is_none() {
                coming = Coming::of(&own, timeline);
            }
            if coming.as_ref().is_some_and(|next| next.release <= now) {
                overruns::overruns(&own, timeline, now, marks.period.nanos, self.measure.as_ref());
                // A skipped release may have brought a new interval into force.
                if own.tunable {
                    world.tell_grid(task, timeline.grid());
                }
                coming = None;
            }
        }
    }

    /// Sleeps until the common start instant is known; the first release is on or after it.
    #[inline(never)] // once
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

    /// Waits for the release: sleeps, then polls the clock for the last `spin_us`, or up to [the early begin](NextRelease::early)
    /// of the activation.
    #[inline]
    fn sleep(&self, own: &Own, host: &PartitionHost, seen: u32, next: &Coming) -> (Wakening, Awake) {
        let wakening = own.state.wake.wait_until(seen, Some(next.release - own.spin));
        // Asking for memory is not the kernel's time any more.
        let awake = Awake::now(own, seen);
        self.prefetch(own, host);
        if own.spin == 0 || wakening == Wakening::Woken {
            return (wakening, awake);
        }
        awake.poll(own, next.release - next.early(own))
    }

    /// Waits until the run is held no more, or there is mail: a tick of an activation that goes on.
    #[cold]
    fn wait_to_go_on(&mut self, own: &Own, seen: u32, next: &Coming) {
        if own.cooperative {
            own.instance.turns.announce(own.task.0, None);
        }
        // Where the run goes on already, the release is only to be found anew.
        if next.nanos > own.world.held_at() {
            self.measure.iter_mut().for_each(|measure| measure.sleeps(own.world));
            own.state.wake.wait_until(seen, None);
        }
    }

    /// Asks for the memory that leads to the first FMI calls.
    #[inline(never)] // twice in the loop
    fn prefetch(&self, own: &Own, host: &PartitionHost) {
        own.prefetch(host);
        self.activation.prefetch();
    }

    /// Runs one activation. `awake`: since the thread's first instruction for it. Returns the wall clock of its end, ns. `None`:
    /// there was mail when it had come [early](Coming::early), and it was not run.
    fn activate(
        &mut self,
        own: &Own,
        host: &'static PartitionHost,
        due: &Due,
        next: &Coming,
        awake: Awake,
        marks: &mut Marks,
    ) -> Option<i64> {
        let Own { world, task, instance, cells, core, cooperative, .. } = *own;
        let release = match due.dispatched {
            None => next.release,
            // An event from outside is due when it arrives; a deadline, or a tick with a delay, at its time. Dispatches from
            // before a resumed run are late from its start on, and those from before a pause from its end on.
            Some(at) if due.retimed || own.from_outside => at.0.max(world.since().0),
            Some(at) => at.0.max(next.release),
        };
        let mut gate_waits = if cooperative {
            instance.turns.take(task.0, release, || world.now());
            0
        } else {
            // Tasks of the same level cannot begin once this one has entered.
            if !own.state.ahead.is_empty() {
                world.let_others_begin(task);
            }
            instance.lock.enter(host.member(), || world.let_others_begin(task))
        };
        own.prefetch_notes();
        let mut woken = awake.at;
        if next.early(own) > 0 && woken < next.release {
            let Some(at) = awake.wait_inside(own, host, next.release, &mut gate_waits) else {
                leave(own, host, None);
                return None;
            };
            woken = at;
        }
        // Behind the release, so that polling delays no other turn.
        let turn = own.serial.map(|serial| {
            serial.take(|| {
                gate_waits += 1;
                world.help(task);
            })
        });
        let rig = own.of_wakeup(release, woken);
        // The instance may have failed, or the run been stopped, while this one waited. It is taken off the timeline whatever
        // happens, so it still runs if the state is saved.
        let stopped = instance.failed.load(SeqCst) || (world.ending() == Ending::Discard && !world.saves);
        if stopped || !self.activation.stimulate(world, due) {
            leave(own, host, turn);
            return Some(has_waited_in_vain(own, release, woken));
        }
        host.begin(own.site, due);
        let mut watch = Stopwatch::new(host, &core.executed);
        let start = world.now();
        cells.word(TaskWord::StartedAt).store(start as u64, Relaxed);
        if own.cpu.is_some_and(|cpu| current_cpu() != cpu) {
            cells.count(TaskWord::WrongCore, 1);
        }
        let result = self.activation.run(world, host, due, due.time.seconds(), &mut watch);
        let end = world.now();
        cells.word(TaskWord::FinishedAt).store(end as u64, Relaxed);
        // Still in the name of this activation, and before anybody else may enter. FMU code can leak a lock when it is read
        // too.
        host.returned_from_fmu();
        if let Err(halt) = &result {
            failed(host, &self.activation, halt);
        }
        host.end();
        let within = watch.within(world, end - start);
        let execution = within.execution;
        core.executed.fetch_add(execution, Relaxed);
        core.occupied.note(awake.since, end, own.plan.fifo.get());
        leave(own, host, turn);
        if !self.activation.computed() {
            return Some(discarded(own));
        }
        // Without real-time priorities any other process may have taken the core meanwhile.
        if !cooperative && Nanos(execution) > marks.period.nanos {
            outlasts(own, due, execution);
        }
        if due.retimed {
            retimed(own, due);
        }
        let (jitter, (preempted, blocked, set_get)) = (marks.jitter(own, release, start), within.parts());
        let ended = EndedActivation { time: due.time, release, woken, rig, start, end, within, gate_waits };
        let machine = ended.machine();
        let host_before = self.measure.as_mut().and_then(|measure| measure.note(world, host, ended));
        let (time, flow, retimed) = (next.nanos, due.dispatched.map_or(0, |at| at.0 as u64), due.retimed);
        own.note(
            &Note::Activated { time, release, woken, start, end, execution, flow, retimed },
            &Note::Spent { jitter, preempted, blocked, set_get, host: host_before, machine },
        );
        cells.count(TaskWord::Activations, 1);
        if result.is_ok() && !self.activation.sample(world, host, end as u64, due) {
            cells.count(TaskWord::SamplesDropped, 1);
        }
        Some(end)
    }
}

/// Serve the FMUs of the other members on the thread of a group.
fn other_hosts(world: &'static World, task: UnitId) -> Vec<&'static PartitionHost> {
    let host = |other: &UnitId| {
        let fmu = world.plan.units[other.0].fmu;
        let host = PartitionHost::new(world, fmu, LockMember::outside(), Dispatch::Threads);
        &*Box::leak(Box::new(host))
    };
    world.plan.task_of(task).others().iter().map(host).collect()
}

/// Takes the next activation off the timeline.
#[inline(never)] // whatever can be foreseen does without
fn take_next(own: &Own, timeline: &mut Timeline) -> Due {
    let due = timeline.take().expect("there is a next one");
    if own.tunable {
        own.world.tell_grid(own.task, timeline.grid());
    }
    own.state.ticks.waiting(timeline.waiting());
    due
}

/// Opens the gate for the next activation, after giving back a turn.
#[inline]
fn leave(own: &Own, host: &PartitionHost, turn: Option<HeldTurn>) {
    drop(turn);
    if own.cooperative {
        own.instance.turns.give_back(own.task.0);
    } else {
        own.instance.lock.leave(host.member());
    }
}

/// [`discarded`], of an activation that woke then and has waited for its turn until the end of the run.
#[cold]
fn has_waited_in_vain(own: &Own, release: i64, woken: i64) -> i64 {
    if !own.instance.failed.load(SeqCst) {
        let until = own.world.wall(own.world.until(Nanos(own.world.now()))).0;
        own.cells.histogram(Metric::Wakeup).count((woken.min(until) - release).max(0));
        own.cells.histogram(Metric::Start).count((until - release).max(0));
    }
    discarded(own)
}

/// A due activation was not run. Returns the wall clock.
#[cold]
fn discarded(own: &Own) -> i64 {
    own.cells.count_shared(TaskWord::Discarded, 1);
    own.world.now()
}

#[cold]
fn failed(host: &PartitionHost, activation: &Activation, halt: &Halt) {
    activation.fail();
    halt.note(host);
}

/// Notes that an activation has executed for longer than the period of its clock.
#[cold]
fn outlasts(own: &Own, due: &Due, execution: i64) {
    let (task, reference) = (Some(own.task), own.plan.clock());
    let seen = Occurrence { task, reference, time: Some(due.time), value: execution as u64 };
    own.world.board.fmu(own.plan.fmu).findings().note(FindingKind::OutlastsPeriod, seen);
}

/// Notes that an activation got another time, since its tick came too late for its own.
#[cold]
fn retimed(own: &Own, due: &Due) {
    own.cells.count(TaskWord::Retimed, 1);
    own.world.board.note_break(own.task, Break::Retimed, due.time);
}

/// Discards the due activations, and those that come meanwhile.
#[cold]
fn discard(own: &Own, timeline: &mut Timeline, ticks: Option<&TickFeed>, due: Instant) {
    // There may be more of a stimulus than a timeline takes at once.
    loop {
        let discarded = timeline.discard(due);
        own.cells.count_shared(TaskWord::Discarded, discarded);
        if own.state.has_mail() {
            take_mail(own.world, own.task, timeline);
        } else if discarded == 0 {
            return;
        }
        ticks.iter().for_each(|ticks| ticks.hand_over(timeline));
    }
}

/// Takes over a new interval of a tunable clock. Returns whether there was one.
fn take_change(world: &World, task: UnitId, timeline: &mut Timeline) -> bool {
    let Some((interval, from)) = world.tasks[task.0].take_change() else { return false };
    timeline.retune(interval, from);
    world.tell_grid(task, timeline.grid());
    true
}

/// Moves ticks, a new deadline and a new interval from other threads to the timeline.
pub fn take_mail(world: &World, task: UnitId, timeline: &mut Timeline) {
    let state = &world.tasks[task.0];
    let dispatch = |tick: TickStamp| {
        let TickStamp { dispatched: wall, root, .. } = tick;
        schedule::DispatchStamp { wall, time: world.simulation(wall), root }
    };
    take_change(world, task, timeline);
    if let Some(deadline) = state.take_deadline() {
        let tick = deadline.tick;
        world.count_armed(task, tick, timeline.arm(tick.time, deadline.since, dispatch(tick)));
    }
    while timeline.waiting() < QUEUE
        && let Some(stamp) = state.ticks.pop()
    {
        world.count(task, stamp, timeline.tick(stamp.time, dispatch(stamp)));
        state.ticks.waiting(timeline.waiting());
    }
}

//! The thread of one task: sleeps until a release, runs the activation inside the gate, accounts for it.

use super::awake::Awake;
use super::jitter::JitterState;
use super::mail::{take_change, take_mail};
use super::next_release::NextRelease;
use super::overruns;
use super::task_context::TaskContext;
use crate::activation::Activation;
use crate::activation_error::ActivationError;
use crate::measure::{EndedActivation, Measure, Stopwatch};
use crate::run_state::{Ending, RunState};
use crate::serial::HeldTurn;
use crate::stimuli::{Fed, TickFeed};
use crate::thread_host::{Dispatch, PartitionHost};
use crossbeam::channel::Sender;
use std::ops::Range;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use vecud_base::time::{Instant, Nanos};
use vecud_fmi::set_thread_host;
use vecud_linux::affinity::{self, current_cpu};
use vecud_linux::preemption::LockMember;
use vecud_linux::wake::{self, Wakening};
use vecud_linux::{SysError, memory, thread};
use vecud_plan::UnitId;
use vecud_plan::schedule::{Due, Timeline};
use vecud_record::board::promise::Break;
use vecud_record::board::{Metric, Scheduling, TaskWord};
use vecud_record::findings::{FindingKind, Occurrence};
use vecud_record::trace::Note;

/// Bytes of heap that every partition thread touches before the start.
const HEAP: usize = 256 * 1024;

/// A partition thread's ingredients.
pub struct PartitionThread {
    /// The state that all threads share.
    pub run: &'static RunState,
    /// The first unit of the thread's task.
    pub unit: UnitId,
    /// The FMU code and the buffers of the task.
    pub activation: Activation,
    /// Where the time of activations goes; `None` until the start.
    pub measure: Option<Measure>,
    /// Told once: whether the thread is set up.
    pub ready: Sender<Result<SetUp, String>>,
}

/// The report of a thread that is set up.
pub struct SetUp {
    /// The first unit of the thread's task.
    pub unit: UnitId,
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
        let (run, unit) = (self.run, self.unit);
        let (plan, task) = (&run.plan.units[unit.0], run.plan.task_of(unit));
        let fifo = run.scheduling == Scheduling::Fifo;
        let member = LockMember::new(plan.level, fifo.then_some(task.fifo.get())).sharing(run.tasks[unit.0].shared);
        for member in task.units() {
            run.board.task(*member).word(TaskWord::Tid).store(u64::from(thread::current_tid()), Relaxed);
        }
        vecud_linux::crash::label_thread(unit.0 as u64 + 1);
        let set_up = self.set_up().map(|unrefined| SetUp { unit, demotion: member.demotion(), stack, unrefined });
        let failed = set_up.is_err();
        let _ = self.ready.send(set_up);
        if !failed {
            // For ever: FMU code may call back as long as this thread lives, and the process ends with the run.
            let host: &'static PartitionHost =
                Box::leak(Box::new(PartitionHost::new(run, plan.fmu, member, Dispatch::Threads)));
            host.join(other_hosts(run, unit));
            set_thread_host(Some(host));
            self.serve(host, &mut timeline);
            let refused = host.member().counts().raise_refused;
            run.board.task(unit).word(TaskWord::RaiseRefused).store(refused, Relaxed);
            self.activation.finish(run, host);
            self.measure.iter().for_each(Measure::end);
            set_thread_host(None);
        }
        run.left(unit);
        run.instances[plan.fmu.0].turns.retire(unit.0);
        run.wait_to_leave(unit);
        (self.activation, timeline)
    }

    /// All but the priority, which the supervisor gives.
    fn set_up(&self) -> Result<Option<SysError>, String> {
        let plan = self.run.plan.task_of(self.unit);
        let place = |error: SysError| format!("thread {}: {error}", plan.thread);
        thread::block_signals().map_err(place)?;
        wake::prepare_to_sleep(self.run.clock).map_err(place)?;
        let unrefined = thread::minimize_timer_slack().err();
        memory::prefault_arena(HEAP);
        if self.run.pinned {
            affinity::pin_to(plan.cpu).map_err(place)?;
        }
        Ok(unrefined)
    }

    fn serve(&mut self, host: &'static PartitionHost, timeline: &mut Timeline) {
        let context = TaskContext::of(self.run, self.unit);
        let TaskContext { run, unit, state, cooperative, .. } = context;
        let turns = &context.instance.turns;
        let mut jitter = JitterState::new(timeline);
        let mut ticks = TickFeed::of(run, unit);
        self.wait_for_start();
        self.measure = Measure::of(run, unit);
        let (mut next_release, mut more_mail) = (None::<NextRelease>, true);
        let mut now = run.now();
        loop {
            let seen = state.wake.value();
            if cooperative {
                turns.decide(unit.0);
            }
            // Before the mail is taken, so that `RunState::complete` does not miss it in between. The bit is cleared first: mail
            // that sets it again is seen by the next look.
            if run.noticed(unit) || more_mail {
                state.next.store(i64::MIN, SeqCst);
                take_mail(run, unit, timeline);
                // The timeline may have had no room for all of the mail.
                more_mail = state.has_mail();
                next_release = None;
            }
            let fed = ticks.as_mut().map_or(Fed::Nothing, |ticks| ticks.take(timeline, now));
            let leave = run.ending() == Ending::Discard || context.instance.failed.load(SeqCst);
            // For the saved state, or to be thrown away if there is none, once all threads have left.
            if leave && run.saves {
                return;
            }
            if leave {
                let until = run.until(Nanos(run.now()));
                // An instance that has failed has no further releases.
                if !context.instance.failed.load(SeqCst) {
                    overruns::of_those_that_never_begin(&context, timeline, until, self.measure.as_ref());
                }
                return discard(&context, timeline, ticks.as_ref(), until);
            }
            // Whatever can be worked out before the sleep is: after it, everything is late already.
            if next_release.is_none() {
                next_release = NextRelease::of(&context, timeline);
            }
            // Borrowed instead of moved: parts that were written a moment ago are slow to copy as a whole.
            let Some(next) = &next_release else {
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
                if run.ending() == Ending::Finished {
                    return;
                }
                if cooperative {
                    turns.announce(unit.0, None);
                }
                self.measure.iter_mut().for_each(|measure| measure.sleeps(run));
                state.wake.wait_until(seen, look);
                now = run.now();
                self.prefetch(&context, host);
                continue;
            };
            if cooperative {
                turns.announce(unit.0, Some(next.release));
            }
            state.next.store(next.nanos, SeqCst);
            jitter.period.follow(timeline);
            let awake = if now >= next.release {
                Awake::now(&context, seen)
            } else {
                self.measure.iter_mut().for_each(|measure| measure.sleeps(run));
                let (wakening, awake) = self.sleep(&context, host, seen, next);
                now = awake.at;
                if wakening == Wakening::Woken {
                    if next.is_held(&context) {
                        next_release = None;
                    }
                    continue;
                }
                awake
            };
            if next.is_held(&context) {
                self.wait_to_go_on(&context, seen, next);
                next_release = None;
                now = run.now();
                continue;
            }
            let (taken, foreseen);
            let due = match &next.foreseen {
                Some(due) => {
                    foreseen = true;
                    if due.dispatched.is_some() {
                        // The tick ceases to wait.
                        state.ticks.set_waiting(timeline.waiting() - 1);
                    }
                    due
                }
                None => {
                    foreseen = false;
                    taken = take_next(&context, timeline);
                    jitter.period.follow(timeline);
                    &taken
                }
            };
            let Some(ended) = self.activate(&context, host, due, next, awake, &mut jitter) else { continue };
            now = ended;
            let time = due.time;
            next_release = match foreseen {
                true => timeline.advance().map(|due| NextRelease::foreseen(&context, due)),
                false => None,
            };
            if let Some(interval) = self.activation.unit.take_next() {
                timeline.follow(interval, time);
            }
            if let Some(point) = self.activation.unit.take_point() {
                timeline.beside(point);
                next_release = None;
            }
            if context.tunable && take_change(run, unit, timeline) {
                next_release = None;
            }
            if next_release.is_none() {
                next_release = NextRelease::of(&context, timeline);
            }
            if next_release.as_ref().is_some_and(|next| next.release <= now) {
                overruns::overruns(&context, timeline, now, jitter.period.nanos, self.measure.as_ref());
                // A skipped release may have brought a new interval into force.
                if context.tunable {
                    run.tell_grid(unit, timeline.grid());
                }
                next_release = None;
            }
        }
    }

    /// Sleeps until the common start instant is known; the first release is on or after it.
    #[inline(never)] // once
    fn wait_for_start(&self) {
        let state = &self.run.tasks[self.unit.0];
        loop {
            let seen = state.wake.value();
            if self.run.start().0 != 0 || self.run.ending() != Ending::No {
                return;
            }
            state.wake.wait_until(seen, None);
        }
    }

    /// Waits for the release: sleeps, then polls the clock for the last `spin_us`, or up to [the early begin](NextRelease::early)
    /// of the activation.
    #[inline]
    fn sleep(&self, context: &TaskContext, host: &PartitionHost, seen: u32, next: &NextRelease) -> (Wakening, Awake) {
        let wakening = context.state.wake.wait_until(seen, Some(next.release - context.spin));
        // Asking for memory is not the kernel's time any more.
        let awake = Awake::now(context, seen);
        self.prefetch(context, host);
        if context.spin == 0 || wakening == Wakening::Woken {
            return (wakening, awake);
        }
        awake.poll(context, next.release - next.early(context))
    }

    /// Waits until the run is held no more, or there is mail: a tick of an activation that goes on.
    #[cold]
    fn wait_to_go_on(&mut self, context: &TaskContext, seen: u32, next: &NextRelease) {
        if context.cooperative {
            context.instance.turns.announce(context.unit.0, None);
        }
        // Where the run goes on already, the release is only to be found anew.
        if next.nanos > context.run.held_at() {
            self.measure.iter_mut().for_each(|measure| measure.sleeps(context.run));
            context.state.wake.wait_until(seen, None);
        }
    }

    /// Asks for the memory that leads to the first FMI calls.
    #[inline(never)] // twice in the loop
    fn prefetch(&self, context: &TaskContext, host: &PartitionHost) {
        context.prefetch(host);
        self.activation.prefetch();
    }

    /// Runs one activation. `awake`: since the thread's first instruction for it. Returns the wall clock of its end, ns. `None`:
    /// there was mail when it had come [early](NextRelease::early), and it was not run.
    fn activate(
        &mut self,
        context: &TaskContext,
        host: &'static PartitionHost,
        due: &Due,
        next: &NextRelease,
        awake: Awake,
        jitter: &mut JitterState,
    ) -> Option<i64> {
        let TaskContext { run, unit, instance, cells, core, cooperative, .. } = *context;
        let release = match due.dispatched {
            None => next.release,
            // An event from outside is due when it arrives; a deadline, or a tick with a delay, at its time. Dispatches from
            // before a resumed run are late from its start on, and those from before a pause from its end on.
            Some(at) if due.retimed || context.from_outside => at.0.max(run.since().0),
            Some(at) => at.0.max(next.release),
        };
        let mut gate_waits = if cooperative {
            instance.turns.take(unit.0, release, || run.now());
            0
        } else {
            // Tasks of the same level cannot begin once this one has entered.
            if !context.state.ahead.is_empty() {
                run.let_others_begin(unit);
            }
            instance.lock.enter(host.member(), || run.let_others_begin(unit))
        };
        context.prefetch_notes();
        let mut woken = awake.at;
        if next.early(context) > 0 && woken < next.release {
            let Some(at) = awake.wait_inside(context, host, next.release, &mut gate_waits) else {
                leave(context, host, None);
                return None;
            };
            woken = at;
        }
        // Behind the release, so that polling delays no other turn.
        let turn = context.serial.map(|serial| {
            serial.take(|| {
                gate_waits += 1;
                run.help(unit);
            })
        });
        let rig = context.of_wakeup(release, woken);
        // The instance may have failed, or the run been stopped, while this one waited. It is taken off the timeline whatever
        // happens, so it still runs if the state is saved.
        let stopped = instance.failed.load(SeqCst) || (run.ending() == Ending::Discard && !run.saves);
        if stopped || !self.activation.stimulate(run, due) {
            leave(context, host, turn);
            return Some(has_waited_in_vain(context, release, woken));
        }
        host.begin(context.telemetry, due);
        let mut watch = Stopwatch::new(host, &core.executed);
        let start = run.now();
        cells.word(TaskWord::StartedAt).store(start as u64, Relaxed);
        if context.cpu.is_some_and(|cpu| current_cpu() != cpu) {
            cells.count(TaskWord::WrongCore, 1);
        }
        let result = self.activation.run(run, host, due, due.time.seconds(), &mut watch);
        let end = run.now();
        cells.word(TaskWord::FinishedAt).store(end as u64, Relaxed);
        // Still in the name of this activation, and before anybody else may enter. FMU code can leak a lock when it is read
        // too.
        host.returned_from_fmu();
        if let Err(error) = &result {
            failed(host, &self.activation, error);
        }
        host.end();
        let within = watch.within(run, end - start);
        let execution = within.execution;
        core.executed.fetch_add(execution, Relaxed);
        core.occupancy.note(awake.since, end, context.fifo);
        leave(context, host, turn);
        if !self.activation.calls.computed() {
            return Some(discarded(context));
        }
        // Without real-time priorities any other process may have taken the core meanwhile.
        if !cooperative && Nanos(execution) > jitter.period.nanos {
            outlasts(context, due, execution);
        }
        if due.retimed {
            retimed(context, due);
        }
        let (jitter, (preempted, blocked, set_get)) = (jitter.jitter(context, release, start), within.parts());
        let ended = EndedActivation { time: due.time, release, woken, rig, start, end, within, gate_waits };
        let machine = ended.machine();
        let host_before = self.measure.as_mut().and_then(|measure| measure.note(run, host, ended));
        let (time, flow, retimed) = (next.nanos, due.dispatched.map_or(0, |at| at.0 as u64), due.retimed);
        context.note(
            &Note::Activated { time, release, woken, start, end, execution, flow, retimed },
            &Note::Spent { jitter, preempted, blocked, set_get, host: host_before, machine },
        );
        cells.count(TaskWord::Activations, 1);
        if result.is_ok() && !self.activation.sample(run, host, end as u64, due) {
            cells.count(TaskWord::SamplesDropped, 1);
        }
        Some(end)
    }
}

/// Serve the FMUs of the other members on the thread of a group.
fn other_hosts(run: &'static RunState, unit: UnitId) -> Vec<&'static PartitionHost> {
    let host = |other: &UnitId| {
        let fmu = run.plan.units[other.0].fmu;
        let host = PartitionHost::new(run, fmu, LockMember::outside(), Dispatch::Threads);
        &*Box::leak(Box::new(host))
    };
    run.plan.task_of(unit).others().iter().map(host).collect()
}

/// Takes the next activation off the timeline.
#[inline(never)] // whatever can be foreseen does without
fn take_next(context: &TaskContext, timeline: &mut Timeline) -> Due {
    let due = timeline.take().expect("there is a next one");
    if context.tunable {
        context.run.tell_grid(context.unit, timeline.grid());
    }
    context.state.ticks.set_waiting(timeline.waiting());
    due
}

/// Opens the gate for the next activation, after giving back a turn.
#[inline]
fn leave(context: &TaskContext, host: &PartitionHost, turn: Option<HeldTurn>) {
    drop(turn);
    if context.cooperative {
        context.instance.turns.give_back(context.unit.0);
    } else {
        context.instance.lock.leave(host.member());
    }
}

/// [`discarded`], of an activation that woke then and has waited for its turn until the end of the run.
#[cold]
fn has_waited_in_vain(context: &TaskContext, release: i64, woken: i64) -> i64 {
    if !context.instance.failed.load(SeqCst) {
        let until = context.run.wall(context.run.until(Nanos(context.run.now()))).0;
        context.cells.histogram(Metric::Wakeup).count((woken.min(until) - release).max(0));
        context.cells.histogram(Metric::Start).count((until - release).max(0));
    }
    discarded(context)
}

/// A due activation was not run. Returns the wall clock.
#[cold]
fn discarded(context: &TaskContext) -> i64 {
    context.cells.count_shared(TaskWord::Discarded, 1);
    context.run.now()
}

#[cold]
fn failed(host: &PartitionHost, activation: &Activation, error: &ActivationError) {
    activation.unit.fail();
    error.note(host);
}

/// Notes that an activation has executed for longer than the period of its clock.
#[cold]
fn outlasts(context: &TaskContext, due: &Due, execution: i64) {
    let (unit, reference) = (Some(context.unit), context.plan.clock());
    let seen = Occurrence { unit, reference, time: Some(due.time), value: execution as u64 };
    context.run.board.fmu(context.plan.fmu).findings().note(FindingKind::OutlastsPeriod, seen);
}

/// Notes that an activation got another time, since its tick came too late for its own.
#[cold]
fn retimed(context: &TaskContext, due: &Due) {
    context.cells.count(TaskWord::Retimed, 1);
    context.run.board.note_break(context.unit, Break::Retimed, due.time);
}

/// Discards the due activations, and those that come meanwhile.
#[cold]
fn discard(context: &TaskContext, timeline: &mut Timeline, ticks: Option<&TickFeed>, due: Instant) {
    // There may be more of a stimulus than a timeline takes at once.
    loop {
        let discarded = timeline.discard(due);
        context.cells.count_shared(TaskWord::Discarded, discarded);
        if context.state.has_mail() {
            take_mail(context.run, context.unit, timeline);
        } else if discarded == 0 {
            return;
        }
        ticks.iter().for_each(|ticks| ticks.hand_over(timeline));
    }
}

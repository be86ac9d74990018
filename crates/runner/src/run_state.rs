//! The state that the threads of a run share: built before the first of them starts, never moved or resized afterwards.

use crate::exchange::{Deadline, Latest, TickQueue, TickStamp, Versions};
use crossbeam::utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock, PoisonError};
use vecud_base::time::{Fraction, Instant, Nanos};
use vecud_description::IntervalVariability;
use vecud_fmi::{ClockUpdate, Numbers};
use vecud_linux::clock::SystemClock;
use vecud_linux::cycles::TickScale;
use vecud_linux::pi::PiWord;
use vecud_linux::preemption::PreemptionLock;
use vecud_linux::prefetch::prefetch;
use vecud_linux::wake::WakeWord;
use vecud_plan::schedule::{Armed, Tick};
use vecud_plan::snapshot::BetweenSteps;
use vecud_plan::{FmuId, Length, Mode, OnError, Overrun, Plan, StepClock, TaskId, UnitId, control};
use vecud_record::board::promise::Break;
use vecud_record::board::{Board, FmuWord, Global, Scheduling, TaskWord};
use vecud_record::ring::Ring;
use vecud_record::trace::note::{Note, WIDTH};
use vecud_record::trace::notes;

use super::cells;
use super::cooperative::Turns;
use super::core_occupancy::CoreOccupancy;
use super::horizon::Horizon;
use super::integration_buffers::BufferSwap;
use super::job::Job;
use super::privileges::Granted;
use super::serial::Serial;
use super::signal_bundles::SignalBundles;
use super::task_telemetry::TaskTelemetry;

/// Why partition threads leave their loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Ending {
    /// They stay: the run goes on.
    No = 0,
    /// The stop time has come and everything before it is done.
    Finished = 1,
    /// A signal or an error: pending activations are thrown away.
    Discard = 2,
}

/// The state that the threads of a run share.
pub struct RunState {
    /// The plan that is run.
    pub plan: Plan,
    /// Simulation time of the start instant: the plan's start, or where a run was left that this one goes on with.
    pub begin: Instant,
    /// [`RunState::begin`] in nanoseconds.
    pub(super) begin_nanos: Nanos,
    /// The state is saved at the end, with all pending activations.
    pub saves: bool,
    /// The memory shared with the supervisor.
    pub board: Board<'static>,
    /// The shared state of each instance, by [`FmuId`].
    pub instances: Vec<InstanceState>,
    /// Per unit: its task. Apart from the plan, since every tick that is handed on looks here.
    pub task_of: Box<[TaskId]>,
    /// Per unit, each on cache lines of its own: threads on other cores write to them all the time.
    pub tasks: Vec<CachePadded<TaskState>>,
    /// Connections whose values travel together.
    pub bundles: SignalBundles,
    /// Per connection: its newest value; of a delayed one, and of one in a signal bundle, that of Initialization Mode.
    pub cells: Vec<Latest>,
    /// Per connection: the versions of a delayed one.
    pub versions: Vec<Option<Versions>>,
    /// Per core in use.
    pub cores: Vec<CoreState>,
    /// Per unit: its counters, histograms and note rings.
    pub telemetry: Vec<TaskTelemetry>,
    /// The words by which threads take turns, by [`Plan::serials`].
    pub serials: Box<[PiWord]>,
    /// Ticks and deadlines handed over since the start. Changes whenever work moves from one task to another, so that a thread
    /// that looks at several tasks can tell whether it missed something in between.
    pub dispatches: AtomicU64,
    /// Up to where external events are over.
    pub horizon: Horizon,
    /// How partitions are scheduled.
    pub scheduling: Scheduling,
    /// Partition threads stay on the cores that the plan gives them.
    pub pinned: bool,
    /// The clock of releases.
    pub clock: SystemClock,
    /// Converts time stamp differences of the lock.
    pub scale: TickScale,
    ending: AtomicU64,
    /// [`RunState::until`].
    ends_at: AtomicI64,
    /// Partition threads may end.
    dismissed: AtomicBool,
    /// The common start instant by that clock; 0 while it is not known.
    pub(super) start: AtomicI64,
    /// [`RunState::held_at`].
    pub(super) held_at: AtomicI64,
    /// [`RunState::since`].
    pub(super) since: AtomicI64,
    /// The simulation time, ns, at which the run was held last; `i64::MIN`: it never was.
    pub(super) stood_at: AtomicI64,
}

/// The state that the threads of one instance share.
pub struct InstanceState {
    /// The preemption lock of the instance.
    pub lock: PreemptionLock,
    /// The order of its partitions without real-time scheduling.
    pub turns: Turns,
    /// Reads its clocks during updates; set when it is initialised.
    pub updates: OnceLock<ClockUpdate>,
    /// No activation may start any more.
    pub failed: AtomicBool,
    /// The activation under way may never return: no thread waits for it.
    pub given_up: AtomicBool,
    /// The values of [`vecud_plan::FmuPlan::sizes`]; written while no partition is active.
    pub sizes: Box<[AtomicU64]>,
    /// How often sizes have changed.
    pub resized: AtomicU64,
    /// The task that makes its steps; `None`: it makes none.
    pub steps: Option<UnitId>,
    /// Of an instance that makes steps: ticks from outside of them, for each of its clocks.
    pub ticks: Box<[TickQueue]>,
    /// For an instance that makes the steps of integrated FMUs: buffers for other numbers of states.
    pub buffer_swap: BufferSwap,
    /// Pending events and ticks of an instance that makes steps; used before and after the run only.
    between: Mutex<BetweenSteps>,
}

impl InstanceState {
    /// A copy of the pending events and ticks between its steps. Not while the run goes on.
    pub fn between_steps(&self) -> BetweenSteps {
        self.between.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// This is to come between its steps. Not while the run goes on.
    pub fn expect(&self, between: BetweenSteps) {
        *self.between.lock().unwrap_or_else(PoisonError::into_inner) = between;
    }
}

/// Words of a changed interval.
const RETUNED: usize = 5;
/// Words of a grid: origin, counter, resolution.
pub const GRID: usize = 5;

/// The words between the thread of one task and other threads.
pub struct TaskState {
    /// The word that the thread of the task sleeps on.
    pub wake: WakeWord,
    /// Ticks for the task.
    pub ticks: TickQueue,
    /// The deadline of a countdown clock, newest version (a [`Deadline`] as words).
    pub armed: Latest,
    /// The newest version of `armed` that its thread has seen.
    pub armed_seen: AtomicU64,
    /// 1 + index of the task whose activation ticked it last; 0: none. Written under the lock of the instance that ticks.
    pub ticked_by: AtomicU64,
    /// The newest change of a tunable clock's interval: counter, resolution, and the time of the change.
    pub retuned: Latest,
    /// The newest version of `retuned` that its thread has seen.
    pub retuned_seen: AtomicU64,
    /// 1 + index of the clock at the root of its activation under way, or of the last one.
    pub root: AtomicU64,
    /// A bit for each output clock of its instance: it has ticked in the activation under way. Set under the lock of the instance
    /// by the thread that reads the clock, which may be a partition that has preempted this one.
    pub has_ticked: Box<[AtomicU64]>,
    /// The grid of a periodic clock: an instant of it, and the interval.
    pub grid: Latest,
    /// Simulation time of the task's current or next activation, ns; `i64::MAX`: there is none; `i64::MIN`: its thread is about
    /// to look.
    pub next: AtomicI64,
    /// The thread of the task has left its loop.
    pub finished: AtomicBool,
    /// The core of the task: index into [`RunState::cores`].
    pub core: usize,
    /// The place of the task among those of its core, most urgent first.
    pub place: usize,
    /// Tasks of the same core and FIFO priority that come before this one in the order of the plan, most urgent first; none
    /// without `SCHED_FIFO`.
    pub ahead: Box<[UnitId]>,
    /// Which of the priorities that several levels of the instance share is that of the task; `None`: none of them.
    pub shared: Option<usize>,
    /// The kind of clock that releases the task: only a countdown clock is armed, only a tunable one gets another interval.
    pub kind: Option<IntervalVariability>,
}

impl TaskState {
    /// The newest deadline, if its thread has not seen it yet.
    fn unseen_deadline(&self) -> Option<Deadline> {
        let mut words = [0; Deadline::WIDTH];
        let version = self.armed.read(|i, word| words[i] = word);
        (version != self.armed_seen.load(SeqCst)).then(|| Deadline::from_words(words))
    }

    /// [`TaskState::unseen_deadline`], which its thread has seen from now on.
    pub fn take_deadline(&self) -> Option<Deadline> {
        if !self.has_deadline() {
            return None;
        }
        let mut words = [0; Deadline::WIDTH];
        let version = self.armed.read(|i, word| words[i] = word);
        (self.armed_seen.swap(version, SeqCst) != version).then(|| Deadline::from_words(words))
    }

    /// The newest change of the interval and its time, if the thread has not seen it yet; from now on it has.
    pub fn take_change(&self) -> Option<(Fraction, Instant)> {
        if !self.has_change() {
            return None;
        }
        let mut words = [0; RETUNED];
        let version = self.retuned.read(|i, word| words[i] = word);
        self.retuned_seen.store(version, SeqCst);
        let [counter, resolution, a, b, c] = words;
        Some((Fraction::new(counter, resolution).ok()?, Instant::from_words([a, b, c])))
    }

    /// Notes that this output clock of its instance has ticked in the activation under way.
    pub fn note_ticked(&self, output: usize) {
        self.has_ticked[output / 64].fetch_or(1 << (output % 64), SeqCst);
    }

    /// Another activation begins, in which no output clock has ticked.
    pub fn forget_ticked(&self) {
        self.has_ticked.iter().for_each(|word| word.store(0, SeqCst));
    }

    /// Whether one of these output clocks has ticked in the activation under way, or in the last one.
    pub fn has_one_ticked(&self, outputs: &[usize]) -> bool {
        outputs.iter().any(|output| self.has_ticked[output / 64].load(SeqCst) >> (output % 64) & 1 == 1)
    }

    /// Whether other threads have handed it work that its own thread has not taken yet.
    pub fn has_mail(&self) -> bool {
        !self.ticks.is_empty() || self.has_deadline() || self.has_change()
    }

    #[inline]
    fn has_deadline(&self) -> bool {
        self.kind == Some(IntervalVariability::Countdown) && self.armed.version() != self.armed_seen.load(SeqCst)
    }

    #[inline]
    fn has_change(&self) -> bool {
        self.kind == Some(IntervalVariability::Tunable) && self.retuned.version() != self.retuned_seen.load(SeqCst)
    }
}

/// The state that the threads of one core share.
#[derive(Debug)]
pub struct CoreState {
    /// The units of the core, most urgent first.
    pub units: Vec<UnitId>,
    /// A bit per place: that task was given mail (ticks, a deadline, an interval), and its thread, which looks for none before,
    /// has not noticed yet.
    pub pending: Vec<AtomicU64>,
    /// Time that partitions have executed here, ns.
    pub executed: AtomicI64,
    /// When they did, of late.
    pub occupancy: CoreOccupancy,
}

impl RunState {
    /// The state of a run, before anything is initialised.
    pub fn new(job: &Job, board: Board<'static>, granted: Granted, scale: TickScale) -> Result<RunState, String> {
        let plan = job.plan.clone();
        let Granted { scheduling, pinned } = granted;
        let clock = SystemClock::tai_if(plan.keeps_tai());
        let mut cores: Vec<(usize, Vec<UnitId>)> = Vec::new();
        let mut places = Vec::new();
        for unit in (0..plan.units.len()).map(UnitId) {
            let own = plan.task_of(unit).cpu;
            let core = cores.iter().position(|(cpu, _)| *cpu == own).unwrap_or_else(|| {
                cores.push((own, Vec::new()));
                cores.len() - 1
            });
            places.push((core, cores[core].1.len()));
            cores[core].1.push(unit);
        }
        let fifo = scheduling == Scheduling::Fifo;
        let shared = if fifo { plan.shared() } else { Vec::new() };
        let shared_by = |fmu: FmuId| -> Vec<&Vec<UnitId>> {
            shared.iter().filter(|units| plan.units[units[0].0].fmu == fmu).collect()
        };
        let ahead = |index: usize| {
            let own = plan.task_of(UnitId(index));
            let equal = |id: &UnitId| plan.task_of(*id).cpu == own.cpu && plan.task_of(*id).fifo == own.fifo;
            (0..if fifo { index } else { 0 }).map(UnitId).filter(equal).collect()
        };
        let tasks = (places.into_iter().zip(&plan.units).enumerate())
            .map(|(index, ((core, place), unit))| {
                CachePadded::new(TaskState {
                    wake: WakeWord::on(clock),
                    ticks: TickQueue::default(),
                    armed: Latest::new(Deadline::WIDTH),
                    armed_seen: AtomicU64::new(0),
                    retuned: Latest::new(RETUNED),
                    retuned_seen: AtomicU64::new(0),
                    ticked_by: AtomicU64::new(0),
                    root: AtomicU64::new(0),
                    has_ticked: (0..plan.fmus[unit.fmu.0].output_clocks.len().div_ceil(64))
                        .map(|_| AtomicU64::new(0))
                        .collect(),
                    grid: Latest::new(GRID),
                    next: AtomicI64::new(job.begin.nanos().0),
                    finished: AtomicBool::new(false),
                    core,
                    place,
                    ahead: ahead(index),
                    shared: shared_by(unit.fmu).iter().position(|units| units.contains(&UnitId(index))),
                    kind: unit.partition().map(|partition| partition.kind),
                })
            })
            .collect();
        let instances = (0..plan.fmus.len())
            .map(|index| {
                let own = plan.units.iter().filter(|unit| unit.fmu == FmuId(index));
                let ceiling = own.map(|unit| plan.tasks[unit.task.0].fifo.get()).max().filter(|_| fifo);
                let lock = PreemptionLock::new(plan.fmus[index].levels, ceiling)
                    .map_err(|error| format!("fmu `{}`: {error}", plan.fmus[index].name))?
                    .with_shared(shared_by(FmuId(index)).len());
                Ok(InstanceState {
                    lock,
                    turns: Turns::new(plan.units.iter().map(|unit| (unit.fmu == FmuId(index)).then_some(unit.level))),
                    updates: OnceLock::new(),
                    failed: AtomicBool::new(false),
                    given_up: AtomicBool::new(false),
                    sizes: plan.fmus[index].sizes.iter().map(|size| AtomicU64::new(size.start)).collect(),
                    resized: AtomicU64::new(0),
                    steps: plan
                        .units
                        .iter()
                        .position(|unit| unit.fmu == FmuId(index) && unit.is_contiguous())
                        .map(UnitId),
                    ticks: match plan.fmus[index].output_clocks.as_slice() {
                        clocks if clocks.iter().any(|clock| clock.input.is_some()) => {
                            clocks.iter().map(|_| TickQueue::default()).collect()
                        }
                        _ => Box::default(),
                    },
                    buffer_swap: BufferSwap::default(),
                    between: Mutex::default(),
                })
            })
            .collect::<Result<_, String>>()?;
        let cells = plan.connections.iter().map(cells::cell).collect();
        let telemetry = (0..plan.units.len()).map(|unit| TaskTelemetry::new(board, &plan, UnitId(unit))).collect();
        let versions = plan.connections.iter().map(|connection| cells::versions(&plan, connection)).collect();
        let cores = cores
            .into_iter()
            .map(|(_, units)| CoreState {
                pending: (0..units.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
                units,
                executed: AtomicI64::new(0),
                occupancy: CoreOccupancy::new(),
            })
            .collect();
        Ok(RunState {
            begin: job.begin,
            begin_nanos: job.begin.nanos(),
            saves: job.save_state,
            board,
            instances,
            tasks,
            bundles: SignalBundles::lay(&plan),
            task_of: plan.units.iter().map(|unit| unit.task).collect(),
            serials: plan.serials.iter().map(|_| PiWord::new()).collect(),
            plan,
            cells,
            versions,
            cores,
            telemetry,
            dispatches: AtomicU64::new(0),
            horizon: Horizon::new(),
            scheduling,
            pinned,
            clock,
            scale,
            ending: AtomicU64::new(Ending::No as u64),
            ends_at: AtomicI64::new(i64::MAX),
            dismissed: AtomicBool::new(false),
            start: AtomicI64::new(0),
            held_at: AtomicI64::new(i64::MAX),
            since: AtomicI64::new(0),
            stood_at: AtomicI64::new(i64::MIN),
        })
    }

    /// Notes something for the trace. In virtual time nothing is lost: waits for the supervisor to read.
    #[inline(always)] // what a kind of note does not have is known where it is made
    pub fn trace_in(&self, ring: &Ring, note: Note) {
        if self.scheduling == Scheduling::Virtual {
            ring.wait_for_room(WIDTH);
        }
        notes::push(ring, [&note]);
    }

    /// The word that tells whether the run ends: 0 while it goes on.
    pub fn ending_word(&'static self) -> &'static AtomicU64 {
        &self.ending
    }

    /// Whether threads are to leave.
    pub fn ending(&self) -> Ending {
        match self.ending.load(SeqCst) {
            0 => Ending::No,
            1 => Ending::Finished,
            _ => Ending::Discard,
        }
    }

    /// Makes all partition threads leave; a discard overrides a regular end, and releases after it do not count.
    pub fn end(&self, ending: Ending) {
        if ending == Ending::Discard && self.plan.mode == Mode::RealTime {
            let now = match self.start().0 {
                // A run that never starts.
                0 => self.begin_nanos.0 - 1,
                _ => self.simulation(Nanos(self.now())).nanos().0,
            };
            let _whoever_is_first = self.ends_at.compare_exchange(i64::MAX, now, SeqCst, SeqCst);
        }
        self.ending.fetch_max(ending as u64, SeqCst);
        for task in &self.tasks {
            task.wake.wake();
        }
    }

    /// The simulation time of a wall clock, but none after the stop, or after that at which the run was [ended](RunState::end)
    /// before.
    pub fn until(&self, wall: Nanos) -> Instant {
        let time = self.simulation(wall).min(Instant::from_nanos(Nanos(self.ends_at.load(SeqCst))));
        self.plan.stop.map_or(time, |stop| stop.min(time))
    }

    /// The thread of a task has left its loop, or it is a group's, and this its member: nothing of it is still to come.
    pub fn left(&self, unit: UnitId) {
        self.board.task(unit).word(TaskWord::Left).store(1, SeqCst);
        self.tasks[unit.0].next.store(i64::MAX, SeqCst);
        self.tasks[unit.0].finished.store(true, SeqCst);
    }

    /// Lets partition threads end that have left their loops.
    pub fn dismiss(&self) {
        self.dismissed.store(true, SeqCst);
        for task in &self.tasks {
            task.wake.wake();
        }
    }

    /// Waits, on the thread of a task that is done, for [`RunState::dismiss`].
    pub fn wait_to_leave(&self, unit: UnitId) {
        let wake = &self.tasks[unit.0].wake;
        loop {
            let seen = wake.value();
            if self.dismissed.load(SeqCst) {
                return;
            }
            wake.wait_until(seen, None);
        }
    }

    /// An instance has failed: none of its partitions starts any more (semantics S13).
    pub fn instance_failed(&self, fmu: FmuId) {
        if self.instances[fmu.0].failed.swap(true, SeqCst) {
            return;
        }
        if self.plan.on_error == OnError::Stop {
            self.end(Ending::Discard);
            return;
        }
        for (unit, state) in self.plan.units.iter().zip(&self.tasks) {
            if unit.fmu == fmu {
                state.wake.wake();
            }
        }
    }

    /// The shortest period that there can be. A thread that leaves out releases faster than they come must get ahead of
    /// them.
    pub fn shortest_period(&self) -> Fraction {
        match self.plan.mode {
            Mode::RealTime => Fraction::MICROSECOND,
            Mode::Virtual => Fraction::ZERO,
        }
    }

    /// Counts an overrun of `unit`, seen `late` after its release or tick at `time`; it ends the run, in an orderly way, if the
    /// rig says so.
    pub fn overrun(&self, unit: UnitId, time: Instant, late: i64) {
        if self.plan.task_of(unit).overrun != Overrun::Stop {
            return;
        }
        let word = |word: Global| self.board.global(word);
        if word(Global::OverrunTask).compare_exchange(0, unit.0 as u64 + 1, SeqCst, SeqCst).is_ok() {
            let times = [Global::OverrunTime, Global::OverrunTime1, Global::OverrunTime2];
            times.into_iter().zip(time.to_words()).for_each(|(place, value)| word(place).store(value, Relaxed));
            word(Global::OverrunLate).store(late.max(0) as u64, SeqCst);
            self.end(Ending::Discard);
        }
    }

    /// Hands a tick to a task's thread, and the caller wakes the thread. `false`: it was not taken, since the queue is
    /// full, which is an overrun, or since the instance has failed.
    pub fn tick(&self, target: UnitId, stamp: TickStamp) -> bool {
        let state = &self.tasks[target.0];
        if self.instances[self.plan.units[target.0].fmu.0].failed.load(SeqCst) {
            self.board.task(target).count_shared(TaskWord::Discarded, 1);
            return false;
        }
        let outcome = state.ticks.push(stamp);
        if outcome != Tick::Queued {
            self.count(target, stamp, outcome);
            return false;
        }
        // In the draft a tick may have a delay.
        self.dispatched(target, || stamp.dispatched.max(self.wall(stamp.time)));
        true
    }

    /// Hands a tick to a clock that ticks between the steps of its instance, which takes it at the next communication point.
    /// `false`: it was not taken, as of [`RunState::tick`].
    pub fn tick_between_steps(&self, StepClock { fmu, clock }: StepClock, stamp: TickStamp) -> bool {
        let instance = &self.instances[fmu.0];
        let Some(unit) = instance.steps else { return false };
        if instance.failed.load(SeqCst) {
            self.discard_ticks(unit, 1);
            return false;
        }
        let outcome = instance.ticks[clock].push(stamp);
        if outcome == Tick::Full {
            self.board.task(unit).count_shared(TaskWord::RefusedTicks, 1);
        }
        self.count(unit, stamp, outcome);
        outcome != Tick::Full
    }

    /// Discards this number of ticks of clocks that tick between the steps of `unit`.
    pub fn discard_ticks(&self, unit: UnitId, number: u64) {
        self.board.task(unit).count_shared(TaskWord::Discarded, number);
        self.board.task(unit).count_shared(TaskWord::DiscardedTicks, number);
    }

    /// Keeps, after the run, the ticks without a communication point for the saved state, or discards them.
    ///
    /// Not before: other tasks tick such clocks until the last of them has left, and the thread that makes the steps may be the
    /// first.
    pub fn leave_ticks(&self) {
        for instance in &self.instances {
            let Some(unit) = instance.steps else { continue };
            let mut left = Vec::new();
            for (clock, queue) in instance.ticks.iter().enumerate() {
                left.extend(std::iter::from_fn(|| queue.pop()).map(|tick| (clock, tick.time)));
                queue.waiting(0);
            }
            if self.saves {
                instance.between.lock().unwrap_or_else(PoisonError::into_inner).ticks = left;
            } else {
                self.discard_ticks(unit, left.len() as u64);
            }
        }
    }

    /// Prefetches the memory that [`RunState::tick`] changes.
    #[inline]
    pub fn prefetch_tick(&self, target: UnitId) {
        let state = &self.tasks[target.0];
        state.ticks.places().into_iter().for_each(prefetch);
        prefetch(&state.wake);
    }

    /// Counts the outcome of a tick; one that found its queue full is an overrun, seen when it was dispatched.
    pub fn count(&self, target: UnitId, tick: TickStamp, outcome: Tick) {
        let cells = self.board.task(target);
        match outcome {
            Tick::Queued => (),
            Tick::Coalesced => cells.count_shared(TaskWord::Coalesced, 1),
            Tick::Full => {
                cells.count_shared(TaskWord::Overruns, 1);
                self.board.note_break(target, Break::Overrun, tick.time);
                self.overrun(target, tick.time, tick.dispatched.minus(self.wall(tick.time)).0);
            }
            Tick::AfterStop => cells.count_shared(TaskWord::Discarded, 1),
        }
    }

    /// [`RunState::count`] of a countdown clock that was armed with `tick`, and of the deadline before.
    pub fn count_armed(&self, target: UnitId, tick: TickStamp, armed: Armed) {
        if let Some(time) = armed.lost {
            self.count(target, TickStamp { time, ..tick }, Tick::Full);
        }
        self.count(target, tick, armed.tick);
    }

    /// Arms a countdown clock. The caller wakes the thread.
    pub fn arm(&self, target: UnitId, deadline: Deadline) {
        let state = &self.tasks[target.0];
        // A deadline that the clock's thread has seen is kept by it. One that it has not seen, and that was reached, would be
        // lost.
        if let Some(before) = state.unseen_deadline().filter(|before| before.tick.time <= deadline.since) {
            self.tick(target, before.tick);
        }
        let words = deadline.to_words();
        state.armed.write(|i| words[i]);
        self.dispatched(target, || self.wall(deadline.tick.time));
    }

    /// Changes the interval of a tunable clock from `from` on. The caller wakes the thread, and excludes other callers.
    pub fn retune(&self, target: UnitId, interval: Fraction, from: Instant) {
        let [a, b, c] = from.to_words();
        let words = [interval.counter(), interval.resolution(), a, b, c];
        self.tasks[target.0].retuned.write(|i| words[i]);
        // Its thread alone has the time of its last tick, so it may be due at once.
        self.dispatched(target, || self.wall(from));
    }

    /// `target` has mail, and is due at `release` (wall clock).
    fn dispatched(&self, target: UnitId, release: impl Fn() -> Nanos) {
        let state = &self.tasks[target.0];
        self.dispatches.fetch_add(1, SeqCst);
        // With this the mail is given: its thread looks for none without it.
        self.cores[state.core].pending[state.place / 64].fetch_or(1 << (state.place % 64), SeqCst);
        if self.scheduling == Scheduling::Cooperative {
            let turns = &self.instances[self.plan.units[target.0].fmu.0].turns;
            turns.expect(target.0, release().0);
            // Its thread reports that it has finished before it takes back what it announced: one of the two sees the other.
            if state.finished.load(SeqCst) {
                turns.retire(target.0);
            }
        }
        state.wake.mark();
    }

    /// By which the calling thread takes turns for the steps of `unit`; `None`: it takes none.
    pub fn serial(&self, unit: UnitId) -> Option<Serial<'_>> {
        self.plan.serial_of(unit).map(|serial| Serial::by(&self.serials[serial]))
    }

    /// Wakes the tasks of this core that are more urgent than `unit` and have ticks that they have not noticed (design S9): no
    /// middle partition slips in before a higher one whose waker was preempted before it could wake it.
    #[inline]
    pub fn help(&self, unit: UnitId) {
        let state = &self.tasks[unit.0];
        let core = &self.cores[state.core];
        let (last, above) = (state.place / 64, (1 << (state.place % 64)) - 1);
        for (index, word) in core.pending[..=last].iter().enumerate() {
            let higher = word.load(SeqCst) & if index == last { above } else { u64::MAX };
            if higher != 0 {
                self.wake_pending(core, index * 64, higher);
            }
        }
    }

    /// [`RunState::help`]; besides, tasks with the FIFO priority of `unit` that come before it in the order of the plan, and are
    /// due but have not begun, run first: the kernel takes them in the order in which they were woken. To be called by its
    /// thread, before it begins.
    #[inline]
    pub fn let_others_begin(&self, unit: UnitId) {
        self.help(unit);
        let ahead = &self.tasks[unit.0].ahead;
        if !ahead.is_empty() {
            self.let_begin(ahead);
        }
    }

    #[inline(never)] // few share a priority
    fn let_begin(&self, ahead: &[UnitId]) {
        // One of them may come to stand behind others of them, or wait for its token. The loop is bounded: a thread that waits
        // longer is not waited for.
        for _ in 0..2 + ahead.len() {
            let now = Nanos(self.now());
            if !ahead.iter().any(|other| self.is_to_begin(*other, now)) {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Whether a task is due and has not begun.
    fn is_to_begin(&self, unit: UnitId, now: Nanos) -> bool {
        let state = &self.tasks[unit.0];
        let next = state.next.load(SeqCst);
        let due = match next {
            i64::MAX => false,
            i64::MIN => true,
            next => self.wall_of(Nanos(next)) <= now,
        };
        (due || state.has_mail()) && self.telemetry[unit.0].cells.get(TaskWord::Active) == 0
    }

    #[cold]
    fn wake_pending(&self, core: &CoreState, first: usize, mut places: u64) {
        while places != 0 {
            let place = first + places.trailing_zeros() as usize;
            places &= places - 1;
            self.tasks[core.units[place].0].wake.wake_marked();
        }
    }

    /// The thread of `unit` has noticed its mail; `false`: there is none since the last call. A tick that is being handed over
    /// changes the word that the thread sleeps on.
    #[inline]
    pub fn noticed(&self, unit: UnitId) -> bool {
        let state = &self.tasks[unit.0];
        let word = &self.cores[state.core].pending[state.place / 64];
        let bit = 1 << (state.place % 64);
        let there_is = word.load(Acquire) & bit != 0;
        if there_is {
            word.fetch_and(!bit, SeqCst);
        }
        there_is
    }

    /// The tasks of which something is still to come: neither has their thread left, nor was their instance given up.
    fn awaited(&self) -> impl Iterator<Item = &TaskState> {
        let all = self.tasks.iter().zip(&self.plan.units);
        let awaited = all.filter(|(task, planned)| {
            !task.finished.load(SeqCst) && !self.instances[planned.fmu.0].given_up.load(SeqCst)
        });
        awaited.map(|(task, _)| &**task)
    }

    /// Gives up the instances that the supervisor names: as if they had failed, but activations that have begun are not waited
    /// for. Returns whether there was one.
    pub fn give_up(&self) -> bool {
        let mut any = false;
        for (fmu, instance) in self.instances.iter().enumerate() {
            let is_told = self.board.fmu(FmuId(fmu)).word(FmuWord::GivenUp).load(SeqCst) != 0;
            if is_told && !instance.given_up.swap(true, SeqCst) {
                self.instance_failed(FmuId(fmu));
                any = true;
            }
        }
        any
    }

    /// Simulation time since the start, ns, before which every activation is complete and recorded: nothing earlier can
    /// happen any more. `None` when work was moving while this looked.
    pub fn complete(&self) -> Option<u64> {
        let before = self.dispatches.load(SeqCst);
        let mut complete = i64::MAX;
        for task in self.awaited() {
            // The mail first: a task takes its mail only after it has announced its look.
            if task.has_mail() {
                return None;
            }
            complete = complete.min(task.next.load(SeqCst));
        }
        // Times in nanoseconds are rounded; nothing before the previous nanosecond is meant.
        let since = complete.saturating_sub(self.plan.start.nanos().0).saturating_sub(1);
        (self.dispatches.load(SeqCst) == before).then_some(since.max(0) as u64)
    }

    /// Whether every task is done with its work before the stop time.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet_until(i64::MAX - 1)
    }

    /// Whether every task is done with its work up to this simulation time, ns, itself included.
    pub fn is_quiet_until(&self, time: i64) -> bool {
        let before = self.dispatches.load(SeqCst);
        let quiet = self.awaited().all(|task| !task.has_mail() && task.next.load(SeqCst) > time);
        quiet && self.dispatches.load(SeqCst) == before
    }

    /// The number of elements of a variable of this instance now.
    pub fn elements(&self, fmu: FmuId, lengths: &[Length]) -> usize {
        let sizes = &self.instances[fmu.0].sizes;
        control::elements(lengths, |size| sizes[size].load(Relaxed))
    }

    /// How many states and event indicators this instance has by its description with the structural parameters that it has now.
    pub fn described_now(&self, fmu: FmuId) -> Numbers {
        let size = |size: usize| self.instances[fmu.0].sizes[size].load(Relaxed);
        let own = self.plan.fmus[fmu.0].model_exchange();
        let numbers = own.map(|own| own.numbers(size)).unwrap_or_default();
        Numbers { states: numbers.0, event_indicators: numbers.1 }
    }
}

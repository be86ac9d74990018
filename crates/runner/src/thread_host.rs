//! What FMU code on one of our threads asks for: the preemption lock, and the [`routing`] of its ticks (semantics S4, S7, S9).
//!
//! One [`PartitionHost`] per partition thread; in virtual time, and while FMUs are initialised and ended, one per instance
//! on the only thread.

mod blocked;
mod intermediate;
mod on_ticks;
mod routing;
mod tracing;
mod tunables;

pub use tracing::virtual_flow;

use self::blocked::Waits;
use self::intermediate::Midst;
use self::on_ticks::OnTicks;
use self::routing::Clocks;
use self::tracing::Section;
use super::halt::Halt;
use super::site::TaskTelemetry;
use super::world::{Ending, World};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};
use vecud_base::time::{Fraction, Instant};
use vecud_fmi::{
    CallIndicator, CallProbe, Failure, Function, InStep, Intermediate, Outcome, Status, ThreadHost, Wishes,
};
use vecud_linux::preemption::{LockMember, Locked, PreemptionLock, Unlocked};
use vecud_plan::schedule::Due;
use vecud_plan::{FmuId, OnWarning, UnitId};
use vecud_record::board::{FailedCall, FmuWord, Global, Metric, OutsideCall, TaskWord};
use vecud_record::findings::{FindingKind, Occurrence};
use vecud_record::histogram::HistogramWriter;
use vecud_record::ring::Ring;
use vecud_record::unusable::Unusable;

/// No hold time waits to be recorded.
const RECORDED: u64 = u64::MAX;

/// Something that a clock update brought about, in virtual time; with the clock at the root of it.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A tick for a task.
    Tick(UnitId, Instant, Option<UnitId>),
    /// A countdown clock is armed for this time.
    Arm(UnitId, Instant, Option<UnitId>),
    /// A tunable clock was given another interval at this time.
    Retune(UnitId, Fraction, Instant),
}

/// Where ticks go.
pub enum Dispatch {
    /// To the queues of other threads, which are woken when the instance is unlocked.
    Threads,
    /// Into a list, for the only thread to look at when the partition has returned.
    Events(RefCell<Vec<Event>>),
}

/// What holds outside of activations.
struct Outside {
    /// Where lock hold times go.
    hold: HistogramWriter<'static>,
    /// Where calls are shown and counted.
    shown: CallProbe,
}

/// Serves the FMU code that runs on one thread for one instance.
pub struct PartitionHost {
    world: &'static World,
    fmu: FmuId,
    /// Where the activation under way leaves its marks; `None` outside of activations.
    site: Cell<Option<&'static TaskTelemetry>>,
    /// Where the time of the activation under way, or of the last one, stands; `None`: what happens is at `time`.
    timed_by: Cell<Option<&'static TaskTelemetry>>,
    time: Cell<Instant>,
    /// The instance has clocks that activations can tick or arm.
    ticks: bool,
    /// The activation under way, or the last one, of an instance that [`ticks`](PartitionHost::ticks).
    due: Cell<Option<Due>>,
    member: LockMember,
    lock: &'static PreemptionLock,
    /// How often FMU code holds the lock (our own callbacks take it too).
    held_by_fmu: Cell<u32>,
    /// Where the function that is being called is shown: in the task's word, or outside of activations in that of the run,
    /// together with whose it is.
    shown: CallIndicator,
    outside: Outside,
    dispatch: Dispatch,
    /// The last hold time, in ticks; [`RECORDED`] when it has been recorded.
    last_hold: Cell<u64>,
    /// The longest locked section of our own in an activation, in ticks.
    longest_own: Cell<u64>,
    /// A bit per task: to be woken at the outermost unlock.
    to_wake: Box<[Cell<u64>]>,
    clocks: RefCell<Clocks>,
    on_ticks: RefCell<OnTicks>,
    has_midst: bool,
    /// Not 0: the run ends; somebody asks for its end.
    wishes: Wishes,
    midst: RefCell<Option<Midst>>,
    section: Cell<Section>,
    waits: Waits,
    /// Serve the FMUs whose steps are made together with those of this one.
    others: RefCell<Vec<&'static PartitionHost>>,
}

impl PartitionHost {
    /// The host of `fmu` on the calling thread, which takes part in its preemption lock as `member`.
    pub fn new(world: &'static World, fmu: FmuId, member: LockMember, dispatch: Dispatch) -> PartitionHost {
        let clocks = Clocks::new(world, fmu);
        let board = world.board;
        let midst = Midst::new(world, fmu);
        let (hold, word, tag) = (board.fmu(fmu).hold(), board.global(Global::OutsideCall), OutsideCall::tag(fmu));
        let shown = CallProbe { word, tag, calls: board.outside_calls(&world.plan, fmu) };
        PartitionHost {
            world,
            fmu,
            ticks: clocks.are_there(),
            site: Cell::new(None),
            timed_by: Cell::new(None),
            time: Cell::new(world.plan.start),
            due: Cell::new(None),
            member,
            held_by_fmu: Cell::new(0),
            shown: CallIndicator::new(shown),
            outside: Outside { hold, shown },
            dispatch,
            last_hold: Cell::new(RECORDED),
            longest_own: Cell::new(0),
            lock: &world.instances[fmu.0].lock,
            to_wake: world.plan.units.chunks(64).map(|_| Cell::new(0)).collect(),
            clocks: RefCell::new(clocks),
            on_ticks: RefCell::new(OnTicks::new(world, fmu)),
            has_midst: midst.is_some(),
            wishes: [world.ending_word(), board.global(Global::StopRequest)],
            midst: RefCell::new(midst),
            section: Cell::default(),
            waits: Waits::default(),
            others: RefCell::default(),
        }
    }

    /// The steps of these are made on this thread, together with those of its own instance.
    pub fn join(&self, others: Vec<&'static PartitionHost>) {
        *self.others.borrow_mut() = others;
    }

    /// What serves an instance whose steps are made on this thread.
    pub fn of(&'static self, fmu: FmuId) -> &'static PartitionHost {
        self.others.borrow().iter().copied().find(|other| other.fmu == fmu).unwrap_or(self)
    }

    /// The instance.
    pub fn fmu(&self) -> FmuId {
        self.fmu
    }

    /// This thread's part in the preemption lock.
    pub fn member(&self) -> &LockMember {
        &self.member
    }

    /// An activation of the task that leaves its marks at `site` begins: what happens from now on is in its name.
    #[inline]
    pub fn begin(&self, site: &'static TaskTelemetry, due: &Due) {
        self.record_last_hold();
        if self.ticks {
            self.may_tick(site.task, due);
        }
        self.enter(site);
        site.begin(&due.time);
    }

    /// What happens from now on is in the name of the task that leaves its marks at `site`, if it is in one of its activations.
    #[inline]
    pub fn enter(&self, site: &'static TaskTelemetry) {
        self.site.set(Some(site));
        self.timed_by.set(Some(site));
        self.shown.set(site.shown);
    }

    /// In the activation that begins, clocks can be ticked or armed.
    #[inline(never)] // most FMUs have none
    fn may_tick(&self, task: UnitId, due: &Due) {
        self.due.set(Some(*due));
        self.world.tasks[task.0].root.store(due.root.unwrap_or(task).0 as u64 + 1, Relaxed);
        self.world.tasks[task.0].forget_ticked();
        self.on_ticks.borrow_mut().forget();
    }

    /// What happens from now on, outside of any activation, happens at this time.
    pub fn at(&self, time: Instant) {
        self.timed_by.set(None);
        self.time.set(time);
    }

    /// The activation is over, and [no lock](PartitionHost::returned_from_fmu) of it is left.
    #[inline]
    pub fn end(&self) {
        if let Some(site) = self.site.take() {
            site.end();
            self.shown.set(self.outside.shown);
        }
    }

    /// The task whose activation is under way; `None` outside of activations.
    fn task(&self) -> Option<UnitId> {
        self.site.get().map(|site| site.task)
    }

    /// The time of this activation, or of the last one, or what was [said](PartitionHost::at) since.
    fn time(&self) -> Instant {
        self.timed_by.get().map_or_else(|| self.time.get(), |site| site.cells.time())
    }

    /// Where this activation notes things; `None`: nowhere.
    #[inline]
    fn trace(&self) -> Option<&'static Ring<'static>> {
        self.site.get().and_then(|site| site.trace.as_ref())
    }

    /// Where lock hold times go.
    #[inline]
    fn hold(&self) -> HistogramWriter<'static> {
        self.site.get().map_or(self.outside.hold, |site| site.hold)
    }

    /// FMU code has returned: releases a lock that it did not give back, and records what its locks have left to record.
    #[inline]
    pub fn returned_from_fmu(&self) {
        if self.held_by_fmu.get() > 0 {
            self.leaked();
        }
        self.record_last_hold();
    }

    #[cold]
    fn leaked(&self) {
        self.held_by_fmu.set(0);
        self.count(TaskWord::LockLeaked, FmuWord::LockLeaked);
        self.note(FindingKind::LockLeaked, None, 0);
        if let Some(leak) = self.lock.release_leaked(&self.member) {
            self.record_hold(leak.held);
            self.trace_unlock(leak.held, true);
        }
        self.wake_targets();
    }

    /// Runs `body` with the instance locked, as callbacks do.
    pub fn locked<T>(&self, body: impl FnOnce() -> T) -> T {
        self.take_lock();
        let result = body();
        let unlocked = self.lock.unlock(&self.member);
        self.wake_targets();
        if let Unlocked::Outermost { held } = unlocked {
            self.keep_longest(held);
        }
        result
    }

    /// In real time, the longest of our own locked sections; those of the FMU have a histogram.
    #[inline]
    fn keep_longest(&self, ticks: u64) {
        if ticks > self.longest_own.get() && matches!(self.dispatch, Dispatch::Threads) {
            self.longest_own.set(ticks);
            if let Some(site) = self.site.get() {
                let nanos = self.world.scale.nanos(ticks);
                site.cells.word(TaskWord::LongestOwnLock).store(nanos, Relaxed);
            }
        }
    }

    /// What callbacks have read since the activation began.
    pub fn with_on_ticks<T>(&self, body: impl FnOnce(&OnTicks) -> T) -> T {
        body(&self.on_ticks.borrow())
    }

    /// Whether activations can tick or arm clocks.
    pub fn can_tick(&self) -> bool {
        self.ticks
    }

    /// Whether there are events to be taken.
    #[inline]
    pub fn has_events(&self) -> bool {
        let own = matches!(&self.dispatch, Dispatch::Events(events) if !events.borrow().is_empty());
        own || self.others.borrow().iter().any(|other| other.has_events())
    }

    /// Events since the last call, in virtual time, of those too whose steps are made on this thread.
    #[inline]
    pub fn take_events(&self, mut take: impl FnMut(Event)) {
        if let Dispatch::Events(events) = &self.dispatch {
            events.borrow_mut().drain(..).for_each(&mut take);
        }
        for other in self.others.borrow().iter() {
            if let Dispatch::Events(events) = &other.dispatch {
                events.borrow_mut().drain(..).for_each(&mut take);
            }
        }
    }

    /// Notes that a call failed; a refused one is the consequence of another and says nothing new.
    pub fn fail(&self, failure: &Failure) {
        if !failure.refused {
            let failed = as_noted(failure);
            // Before the run, the clock that was asked for something.
            let asked = || {
                let mut tasks = self.world.plan.units.iter();
                tasks
                    .position(|task| task.fmu == self.fmu && failure.clock.is_some() && task.clock() == failure.clock)
                    .map(UnitId)
            };
            let task = self.task().or_else(asked);
            let time = self.evaluated_at(failure).unwrap_or_else(|| self.time());
            self.world.board.fmu(self.fmu).fail(failed, task, time, None);
        }
        self.world.instance_failed(self.fmu);
    }

    /// Where an FMU that is integrated was asked, which may be anywhere in a step.
    fn evaluated_at(&self, failure: &Failure) -> Option<Instant> {
        let plan = &self.world.plan.fmus[self.fmu.0];
        plan.model_exchange().and(failure.time).and_then(|time| plan.time_unit.instant(time))
    }

    /// Notes that a call went well, but gave what nothing can be done with, for `task` at `time`: for a clock what no clock can have,
    /// or a derivative that is not finite.
    pub fn fail_reading(&self, function: Function, task: UnitId, time: Instant, reading: Unusable) -> Halt {
        let failed = FailedCall { status: Status::Error as u64, function: function as u64, answer: None };
        self.world.board.fmu(self.fmu).fail(failed, Some(task), time, Some(reading));
        self.world.instance_failed(self.fmu);
        Halt::Reading
    }

    /// Whether the instance has failed.
    pub fn has_failed(&self) -> bool {
        self.world.instances[self.fmu.0].failed.load(SeqCst)
    }

    fn count(&self, task_word: TaskWord, fmu_word: FmuWord) {
        match self.task() {
            Some(task) => self.world.board.task(task).count(task_word, 1),
            None => self.world.board.fmu(self.fmu).count(fmu_word, 1),
        }
    }

    fn record_wait(&self, ticks: u64) {
        let board = self.world.board;
        let recorder = match self.task() {
            Some(task) => board.task(task).histogram(Metric::LockWait),
            None => board.fmu(self.fmu).wait(),
        };
        recorder.record(self.world.scale.nanos(ticks) as i64);
    }

    /// Records the hold time before this one, and keeps this one: the counters of a value that was just measured would
    /// have to be written before the next locked instruction can be executed, those of an old one long have been.
    #[inline]
    fn record_hold(&self, ticks: u64) {
        let last = self.last_hold.replace(ticks);
        if last != RECORDED {
            self.hold().record(self.world.scale.nanos(last) as i64);
        }
    }

    /// Records the last hold time, if it has not been yet.
    #[inline]
    fn record_last_hold(&self) {
        if self.last_hold.get() != RECORDED {
            self.record_it();
        }
    }

    #[inline(never)] // so that what looks whether there is one stays small
    fn record_it(&self) {
        self.record_hold(RECORDED);
    }

    /// Wakes what was ticked, most urgent first, unless the instance is still locked by this thread.
    fn wake_targets(&self) {
        if self.member.depth() > 0 {
            return;
        }
        for (index, word) in self.to_wake.iter().enumerate().filter(|(_, word)| word.get() != 0) {
            let mut bits = word.take();
            while bits != 0 {
                let task = index * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.world.tasks[task].wake.wake_marked();
            }
        }
    }

    fn wake_later(&self, target: UnitId) {
        let word = &self.to_wake[target.0 / 64];
        word.set(word.get() | 1 << (target.0 % 64));
    }
}

impl Halt {
    /// Has `host` note a call that failed, if that is what it is.
    pub fn note(&self, host: &PartitionHost) {
        if let Halt::Call(failure) = self {
            host.fail(failure);
        }
    }
}

impl ThreadHost for PartitionHost {
    fn clock_update(&self, time: Option<f64>) {
        // Under the lock, so that no other partition reads (and thereby resets) a tick and is preempted with it.
        let since = self.stamp_if_traced();
        if let Err(failure) = self.locked(|| self.route(time)) {
            self.fail(&failure);
        }
        self.trace_update(since);
    }

    fn in_step(&self) -> InStep {
        let is_over = self.world.ending() == Ending::Discard || self.wishes[1].load(Relaxed) != 0;
        InStep { exchanges: self.has_midst, returns_early: is_over }
    }

    fn wishes(&'static self) -> Option<&'static Wishes> {
        (!self.has_midst).then_some(&self.wishes)
    }

    fn intermediate_update(&self, update: &Intermediate) {
        self.in_midst(update);
    }

    fn lock_preemption(&self) {
        if self.held_by_fmu.replace(self.held_by_fmu.get() + 1) > 0 {
            self.count(TaskWord::LockNested, FmuWord::LockNested);
            self.trace_nested_lock();
        }
        let locked = self.take_lock();
        if let Locked::Outermost { waited } = locked {
            if let Some(ticks) = waited {
                self.record_wait(ticks);
            }
            self.trace_lock(waited);
        }
    }

    fn unlock_preemption(&self) {
        let Some(left) = self.held_by_fmu.get().checked_sub(1) else {
            self.count(TaskWord::LockUnbalanced, FmuWord::LockUnbalanced);
            self.note(FindingKind::LockUnbalanced, None, 0);
            return;
        };
        self.held_by_fmu.set(left);
        if let Unlocked::Outermost { held } = self.lock.unlock(&self.member) {
            self.record_hold(held);
            self.trace_unlock(held, false);
            self.wake_targets();
        }
    }

    #[cold]
    fn warned(&self, function: Function) {
        self.count(TaskWord::Warnings, FmuWord::Warnings);
        if self.world.plan.fmus[self.fmu.0].on_warning == OnWarning::Error {
            let (status, clock, time) = (Status::Warning, None, None);
            self.fail(&Failure { function, status, clock, time, answer: None, refused: false });
            if let Some(updates) = self.world.instances[self.fmu.0].updates.get() {
                updates.fail();
            }
        }
    }

    #[inline]
    fn shown(&'static self) -> Option<&'static CallIndicator> {
        Some(&self.shown)
    }
}

/// Whether an instance whose steps may have to be undone has given its state, for which it was asked before the first release of `task`.
/// One that is still healthy without is not asked again, which is a finding; of another one the failure is noted, behind which everything
/// is refused.
pub fn gives_state(world: &World, task: UnitId, given: Result<Outcome, Failure>, is_healthy: bool) -> bool {
    let board = world.board.fmu(world.plan.units[task.0].fmu);
    match given {
        Ok(_) => return true,
        Err(_) if is_healthy => {
            board.findings().note(FindingKind::NoState, Occurrence { task: Some(task), ..Occurrence::default() });
        }
        Err(failure) if failure.refused => (),
        Err(failure) => board.fail(as_noted(&failure), Some(task), world.begin, None),
    }
    false
}

/// A call that has failed, as the board has it.
pub fn as_noted(failure: &Failure) -> FailedCall {
    FailedCall { status: failure.status as u64, function: failure.function as u64, answer: failure.answer }
}

//! Serves FMU code on the runner's threads: the preemption lock, and the [`routing`] of its ticks (semantics S4, S7, S9).
//!
//! One [`PartitionHost`] per partition thread; in virtual time, and while FMUs are initialised and ended, one per instance on the
//! only thread.

mod blocked;
mod intermediate;
mod on_ticks;
mod routing;
mod tracing;
mod tunables;

pub use tracing::virtual_flow;

use self::blocked::Waits;
use self::intermediate::IntermediateWork;
use self::on_ticks::OnTicks;
use self::routing::Clocks;
use self::tracing::Section;
use super::activation_error::ActivationError;
use super::run_state::{Ending, RunState};
use super::task_telemetry::TaskTelemetry;
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

/// The time and state outside of activations.
struct Outside {
    /// Where lock hold times go.
    hold: HistogramWriter<'static>,
    /// Where calls are shown and counted.
    shown: CallProbe,
}

/// Serves the FMU code that runs on one thread for one instance.
pub struct PartitionHost {
    run: &'static RunState,
    fmu: FmuId,
    /// The telemetry of the activation under way; `None` outside of activations.
    telemetry: Cell<Option<&'static TaskTelemetry>>,
    /// The telemetry whose time is that of the activation under way, or of the last one; `None`: calls happen at `time`.
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
    /// Where the function under way is shown: in the task's word, or outside of activations in that of the run, together with the
    /// instance.
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
    /// Not 0: the run ends, or its end is requested.
    wishes: Wishes,
    midst: RefCell<Option<IntermediateWork>>,
    section: Cell<Section>,
    waits: Waits,
    /// The hosts of the FMUs whose steps are made together with those of this one.
    others: RefCell<Vec<&'static PartitionHost>>,
}

impl PartitionHost {
    /// The host of `fmu` on the calling thread, which takes part in its preemption lock as `member`.
    pub fn new(run: &'static RunState, fmu: FmuId, member: LockMember, dispatch: Dispatch) -> PartitionHost {
        let clocks = Clocks::new(run, fmu);
        let board = run.board;
        let midst = IntermediateWork::new(run, fmu);
        let (hold, word, tag) = (board.fmu(fmu).hold(), board.global(Global::OutsideCall), OutsideCall::tag(fmu));
        let shown = CallProbe { word, tag, calls: board.outside_calls(&run.plan, fmu) };
        PartitionHost {
            run,
            fmu,
            ticks: clocks.are_there(),
            telemetry: Cell::new(None),
            timed_by: Cell::new(None),
            time: Cell::new(run.plan.start),
            due: Cell::new(None),
            member,
            held_by_fmu: Cell::new(0),
            shown: CallIndicator::new(shown),
            outside: Outside { hold, shown },
            dispatch,
            last_hold: Cell::new(RECORDED),
            longest_own: Cell::new(0),
            lock: &run.instances[fmu.0].lock,
            to_wake: run.plan.units.chunks(64).map(|_| Cell::new(0)).collect(),
            clocks: RefCell::new(clocks),
            on_ticks: RefCell::new(OnTicks::new(run, fmu)),
            has_midst: midst.is_some(),
            wishes: [run.ending_word(), board.global(Global::StopRequest)],
            midst: RefCell::new(midst),
            section: Cell::default(),
            waits: Waits::default(),
            others: RefCell::default(),
        }
    }

    /// Adds the hosts of FMUs whose steps are made on this thread, together with those of its own instance.
    pub fn join(&self, others: Vec<&'static PartitionHost>) {
        *self.others.borrow_mut() = others;
    }

    /// The host of an instance whose steps are made on this thread.
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

    /// Begins an activation of the task with this telemetry: from now on the host acts in its name.
    #[inline]
    pub fn begin(&self, telemetry: &'static TaskTelemetry, due: &Due) {
        self.record_last_hold();
        if self.ticks {
            self.may_tick(telemetry.unit, due);
        }
        self.enter(telemetry);
        telemetry.begin(&due.time);
    }

    /// From now on the host acts in the name of the task with this telemetry, if an activation of it is under way.
    #[inline]
    pub fn enter(&self, telemetry: &'static TaskTelemetry) {
        self.telemetry.set(Some(telemetry));
        self.timed_by.set(Some(telemetry));
        self.shown.set(telemetry.shown);
    }

    /// In the activation that begins, clocks can be ticked or armed.
    #[inline(never)] // most FMUs have none
    fn may_tick(&self, unit: UnitId, due: &Due) {
        self.due.set(Some(*due));
        self.run.tasks[unit.0].root.store(due.root.unwrap_or(unit).0 as u64 + 1, Relaxed);
        self.run.tasks[unit.0].forget_ticked();
        self.on_ticks.borrow_mut().forget();
    }

    /// From now on events outside of any activation have this time.
    pub fn at(&self, time: Instant) {
        self.timed_by.set(None);
        self.time.set(time);
    }

    /// The activation is over, and [no lock](PartitionHost::returned_from_fmu) of it is left.
    #[inline]
    pub fn end(&self) {
        if let Some(telemetry) = self.telemetry.take() {
            telemetry.end();
            self.shown.set(self.outside.shown);
        }
    }

    /// The task whose activation is under way; `None` outside of activations.
    fn unit(&self) -> Option<UnitId> {
        self.telemetry.get().map(|telemetry| telemetry.unit)
    }

    /// The time of this activation, or of the last one, or the one [set](PartitionHost::at) since.
    fn time(&self) -> Instant {
        self.timed_by.get().map_or_else(|| self.time.get(), |telemetry| telemetry.cells.time())
    }

    /// Where this activation notes things; `None`: nowhere.
    #[inline]
    fn trace(&self) -> Option<&'static Ring<'static>> {
        self.telemetry.get().and_then(|telemetry| telemetry.trace.as_ref())
    }

    /// Where lock hold times go.
    #[inline]
    fn hold(&self) -> HistogramWriter<'static> {
        self.telemetry.get().map_or(self.outside.hold, |telemetry| telemetry.hold)
    }

    /// FMU code has returned: releases a lock that it still holds, and records the pending hold times.
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

    /// Keeps the longest of the host's own locked sections, in real time; those of the FMU have a histogram.
    #[inline]
    fn keep_longest(&self, ticks: u64) {
        if ticks > self.longest_own.get() && matches!(self.dispatch, Dispatch::Threads) {
            self.longest_own.set(ticks);
            if let Some(telemetry) = self.telemetry.get() {
                let nanos = self.run.scale.nanos(ticks);
                telemetry.cells.word(TaskWord::LongestOwnLock).store(nanos, Relaxed);
            }
        }
    }

    /// The values that callbacks have read since the activation began.
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

    /// Takes the events since the last call, in virtual time, including those of instances whose steps are made on this thread.
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

    /// Notes that a call failed; a refused one is the consequence of another and adds nothing.
    pub fn fail(&self, failure: &Failure) {
        if !failure.refused {
            let failed = as_noted(failure);
            // Before the run, the clock that was asked for something.
            let asked = || {
                let mut tasks = self.run.plan.units.iter();
                tasks
                    .position(|task| task.fmu == self.fmu && failure.clock.is_some() && task.clock() == failure.clock)
                    .map(UnitId)
            };
            let task = self.unit().or_else(asked);
            let time = self.evaluated_at(failure).unwrap_or_else(|| self.time());
            self.run.board.fmu(self.fmu).fail(failed, task, time, None);
        }
        self.run.instance_failed(self.fmu);
    }

    /// Where an FMU that is integrated was asked, which may be anywhere in a step.
    fn evaluated_at(&self, failure: &Failure) -> Option<Instant> {
        let plan = &self.run.plan.fmus[self.fmu.0];
        plan.model_exchange().and(failure.time).and_then(|time| plan.time_unit.instant(time))
    }

    /// Notes that a call succeeded, but returned a value that the host cannot use, for `unit` at `time`: an interval that no
    /// clock can have, or a derivative that is not finite.
    pub fn fail_reading(&self, function: Function, unit: UnitId, time: Instant, reading: Unusable) -> ActivationError {
        let failed = FailedCall { status: Status::Error as u64, function: function as u64, answer: None };
        self.run.board.fmu(self.fmu).fail(failed, Some(unit), time, Some(reading));
        self.run.instance_failed(self.fmu);
        ActivationError::Reading
    }

    /// Whether the instance has failed.
    pub fn has_failed(&self) -> bool {
        self.run.instances[self.fmu.0].failed.load(SeqCst)
    }

    fn count(&self, task_word: TaskWord, fmu_word: FmuWord) {
        match self.unit() {
            Some(unit) => self.run.board.task(unit).count(task_word, 1),
            None => self.run.board.fmu(self.fmu).count(fmu_word, 1),
        }
    }

    fn record_wait(&self, ticks: u64) {
        let board = self.run.board;
        let recorder = match self.unit() {
            Some(unit) => board.task(unit).histogram(Metric::LockWait),
            None => board.fmu(self.fmu).wait(),
        };
        recorder.record(self.run.scale.nanos(ticks) as i64);
    }

    /// Records the hold time before this one, and keeps this one: the counters of a value that was just measured would have to be
    /// written before the next locked instruction can be executed, those of an old one long have been.
    #[inline]
    fn record_hold(&self, ticks: u64) {
        let last = self.last_hold.replace(ticks);
        if last != RECORDED {
            self.hold().record(self.run.scale.nanos(last) as i64);
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

    /// Wakes the tasks that were ticked, most urgent first, unless this thread still holds the lock of the instance.
    fn wake_targets(&self) {
        if self.member.depth() > 0 {
            return;
        }
        for (index, word) in self.to_wake.iter().enumerate().filter(|(_, word)| word.get() != 0) {
            let mut bits = word.take();
            while bits != 0 {
                let task = index * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.run.tasks[task].wake.wake_marked();
            }
        }
    }

    fn wake_later(&self, target: UnitId) {
        let word = &self.to_wake[target.0 / 64];
        word.set(word.get() | 1 << (target.0 % 64));
    }
}

impl ActivationError {
    /// Has `host` note a call that failed.
    pub fn note(&self, host: &PartitionHost) {
        if let ActivationError::Call(failure) = self {
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
        let is_over = self.run.ending() == Ending::Discard || self.wishes[1].load(Relaxed) != 0;
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
        if self.run.plan.fmus[self.fmu.0].on_warning == OnWarning::Error {
            let (status, clock, time) = (Status::Warning, None, None);
            self.fail(&Failure { function, status, clock, time, answer: None, refused: false });
            if let Some(updates) = self.run.instances[self.fmu.0].updates.get() {
                updates.fail();
            }
        }
    }

    #[inline]
    fn shown(&'static self) -> Option<&'static CallIndicator> {
        Some(&self.shown)
    }
}

/// Whether an instance whose steps may have to be undone has given its state before the first release of `unit`. An instance that
/// is still healthy without a state is not asked again, which is a finding; any other failure is noted, and the instance is
/// refused from then on.
pub fn gives_state(run: &RunState, unit: UnitId, given: Result<Outcome, Failure>, is_healthy: bool) -> bool {
    let board = run.board.fmu(run.plan.units[unit.0].fmu);
    match given {
        Ok(_) => return true,
        Err(_) if is_healthy => {
            board.findings().note(FindingKind::NoState, Occurrence { task: Some(unit), ..Occurrence::default() });
        }
        Err(failure) if failure.refused => (),
        Err(failure) => board.fail(as_noted(&failure), Some(unit), run.begin, None),
    }
    false
}

/// A call that has failed, as the board has it.
pub fn as_noted(failure: &Failure) -> FailedCall {
    FailedCall { status: failure.status as u64, function: failure.function as u64, answer: failure.answer }
}

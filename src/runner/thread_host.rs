//! What FMU code on one of our threads asks for: the preemption lock, and the routing of its ticks (design S4, S7, S9).
//!
//! One [`PartitionHost`] per partition thread; in virtual time, and while FMUs are initialised and ended, one per instance
//! on the only thread.

use super::world::World;
use crate::exchange::{Deadline, TickStamp};
use crate::ffi::{Failure, Function, Qualifier, Status, ThreadHost};
use crate::plan::{FmuId, OnWarning, OutputClock, TaskId, TriggerTime};
use crate::record::board::{FmuWord, Global, Metric, TaskWord};
use crate::record::histogram::Recorder;
use crate::sys::preemption::{Locked, Partition as LockMember, Unlocked};
use crate::sys::wake::monotonic_now;
use crate::time::{Fraction, Instant, Nanos};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// Something that a clock update brought about, in virtual time.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A tick for a task.
    Tick(TaskId, Instant),
    /// A countdown clock is armed for this time.
    Arm(TaskId, Instant),
}

/// Where ticks go.
pub enum Dispatch {
    /// To the queues of other threads, which are woken when the instance is unlocked.
    Threads,
    /// Into a list, for the only thread to look at when the partition has returned.
    Events(RefCell<Vec<Event>>),
}

/// Serves the FMU code that runs on one thread for one instance.
pub struct PartitionHost {
    world: &'static World,
    fmu: FmuId,
    /// Whose activation this is; `None` outside of activations.
    task: Cell<Option<TaskId>>,
    /// Activation time of that activation.
    time: Cell<Instant>,
    member: LockMember,
    /// How often FMU code holds the lock (our own callbacks take it too).
    held_by_fmu: Cell<u32>,
    dispatch: Dispatch,
    /// A bit per task: to be woken at the outermost unlock.
    to_wake: Box<[Cell<u64>]>,
    clocks: RefCell<Clocks>,
}

/// Buffers for one clock update.
struct Clocks {
    outputs: Vec<u32>,
    active: Vec<u8>,
    decimal: Countdowns,
    fraction: Countdowns,
    intervals: Vec<f64>,
    counters: Vec<u64>,
    resolutions: Vec<u64>,
}

#[derive(Default)]
struct Countdowns {
    tasks: Vec<TaskId>,
    references: Vec<u32>,
    qualifiers: Vec<i32>,
}

impl PartitionHost {
    /// The host of `fmu` on the calling thread, which takes part in its preemption lock as `member`.
    pub fn new(world: &'static World, fmu: FmuId, member: LockMember, dispatch: Dispatch) -> PartitionHost {
        let plan = &world.plan.fmus[fmu.0];
        let countdowns = |fraction: bool| {
            let wanted = plan.countdowns.iter().filter(|task| world.plan.tasks[task.0].supports_fraction == fraction);
            let tasks: Vec<TaskId> = wanted.copied().collect();
            let references: Vec<u32> = tasks.iter().map(|task| world.plan.tasks[task.0].reference.0).collect();
            Countdowns { qualifiers: vec![0; tasks.len()], tasks, references }
        };
        let (decimal, fraction) = (countdowns(false), countdowns(true));
        let outputs: Vec<u32> = plan.output_clocks.iter().map(|clock| clock.reference.0).collect();
        let clocks = Clocks {
            active: vec![0; outputs.len()],
            outputs,
            intervals: vec![0.0; decimal.tasks.len()],
            counters: vec![0; fraction.tasks.len()],
            resolutions: vec![0; fraction.tasks.len()],
            decimal,
            fraction,
        };
        PartitionHost {
            world,
            fmu,
            task: Cell::new(None),
            time: Cell::new(world.plan.start),
            member,
            held_by_fmu: Cell::new(0),
            dispatch,
            to_wake: world.plan.tasks.chunks(64).map(|_| Cell::new(0)).collect(),
            clocks: RefCell::new(clocks),
        }
    }

    /// The instance.
    pub fn fmu(&self) -> FmuId {
        self.fmu
    }

    /// This thread's part in the preemption lock.
    pub fn member(&self) -> &LockMember {
        &self.member
    }

    /// An activation begins: what happens from now on is in its name.
    pub fn begin(&self, task: TaskId, time: Instant) {
        self.task.set(Some(task));
        self.time.set(time);
        let cells = self.world.board.task(task);
        cells.set_time(time);
        cells.word(TaskWord::Active).store(1, Relaxed);
    }

    /// The activation is over.
    pub fn end(&self) {
        if let Some(task) = self.task.take() {
            self.world.board.task(task).word(TaskWord::Active).store(0, Relaxed);
        }
    }

    /// FMU code has returned: releases a lock that it did not give back.
    pub fn returned_from_fmu(&self) {
        if self.held_by_fmu.replace(0) > 0 {
            self.count(TaskWord::LockLeaked, FmuWord::LockLeaked);
            if let Some(leak) = self.world.instances[self.fmu.0].lock.release_leaked(&self.member) {
                self.record_hold(leak.held);
            }
            self.wake_targets();
        }
    }

    /// Runs `body` with the instance locked, as callbacks do.
    pub fn locked<T>(&self, body: impl FnOnce() -> T) -> T {
        let lock = &self.world.instances[self.fmu.0].lock;
        lock.lock(&self.member);
        let result = body();
        lock.unlock(&self.member);
        self.wake_targets();
        result
    }

    /// Events since the last call, in virtual time.
    pub fn take_events(&self, mut take: impl FnMut(Event)) {
        if let Dispatch::Events(events) = &self.dispatch {
            events.borrow_mut().drain(..).for_each(&mut take);
        }
    }

    /// Notes that a call failed; a refused one is the consequence of another and says nothing new.
    pub fn fail(&self, failure: &Failure) {
        if !failure.refused {
            let (status, function) = (failure.status as u64, failure.function as u64);
            self.world.board.fmu(self.fmu).fail(status, function, self.task.get(), self.time.get());
        }
        self.world.instance_failed(self.fmu);
    }

    /// Whether the instance has failed.
    pub fn has_failed(&self) -> bool {
        self.world.instances[self.fmu.0].failed.load(SeqCst)
    }

    fn count(&self, task_word: TaskWord, fmu_word: FmuWord) {
        match self.task.get() {
            Some(task) => self.world.board.task(task).count(task_word, 1),
            None => self.world.board.fmu(self.fmu).count(fmu_word, 1),
        }
    }

    fn recorder(&self, metric: Metric) -> Recorder<'static> {
        match (self.task.get(), metric) {
            (Some(task), metric) => self.world.board.task(task).histogram(metric),
            (None, Metric::LockHold) => self.world.board.fmu(self.fmu).hold(),
            (None, _) => self.world.board.fmu(self.fmu).wait(),
        }
    }

    fn record_hold(&self, ticks: u64) {
        self.recorder(Metric::LockHold).record(self.world.scale.nanos(ticks) as i64);
    }

    /// Wakes what was ticked, most urgent first, unless the instance is still locked by this thread.
    fn wake_targets(&self) {
        if self.member.depth() > 0 {
            return;
        }
        for (index, word) in self.to_wake.iter().enumerate() {
            let mut bits = word.take();
            while bits != 0 {
                let task = index * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.world.tasks[task].wake.wake_marked();
            }
        }
    }

    /// The time of a tick of `clock` (S4).
    fn tick_time(&self, clock: &OutputClock) -> Instant {
        if self.world.plan.trigger_time == TriggerTime::Now && matches!(self.dispatch, Dispatch::Threads) {
            return self.world.simulation(Nanos(monotonic_now()));
        }
        let own = self.task.get();
        if clock.ticked_by.is_empty() || own.is_some_and(|own| clock.ticked_by.contains(&own)) {
            return self.time.get();
        }
        // Another one of them is preempted: its tick surfaces in this one's callback.
        let active = |task: &&TaskId| self.world.board.task(**task).get(TaskWord::Active) == 1;
        let preempted = clock.ticked_by.iter().find(active);
        preempted.map_or(self.time.get(), |task| self.world.board.task(*task).time())
    }

    fn dispatch_tick(&self, target: TaskId, time: Instant, dispatched: Nanos) {
        match &self.dispatch {
            Dispatch::Threads => {
                if self.world.tick(target, TickStamp { time, dispatched }) {
                    self.wake_later(target);
                }
            }
            Dispatch::Events(events) => events.borrow_mut().push(Event::Tick(target, time)),
        }
    }

    fn dispatch_deadline(&self, target: TaskId, time: Instant, dispatched: Nanos) {
        match &self.dispatch {
            Dispatch::Threads => {
                let tick = TickStamp { time, dispatched };
                self.world.arm(target, Deadline { tick, since: self.time.get() });
                self.wake_later(target);
            }
            Dispatch::Events(events) => events.borrow_mut().push(Event::Arm(target, time)),
        }
    }

    fn wake_later(&self, target: TaskId) {
        let word = &self.to_wake[target.0 / 64];
        word.set(word.get() | 1 << (target.0 % 64));
    }

    /// Reads every output clock once and every countdown interval, and hands out what they say.
    fn route(&self) -> Result<(), Failure> {
        let instance = &self.world.instances[self.fmu.0];
        let Some(updates) = instance.updates.get() else { return Ok(()) };
        let plan = &self.world.plan.fmus[self.fmu.0];
        let Ok(mut clocks) = self.clocks.try_borrow_mut() else { return Ok(()) };
        let clocks = &mut *clocks;
        let now = match self.dispatch {
            Dispatch::Threads => Nanos(monotonic_now()),
            Dispatch::Events(_) => Nanos(0), // virtual time looks at no clock
        };
        if !clocks.outputs.is_empty() {
            let _counted = updates.get_clocks(&clocks.outputs, &mut clocks.active)?;
            for (clock, active) in plan.output_clocks.iter().zip(&clocks.active) {
                if *active == 1 {
                    let time = self.tick_time(clock);
                    for target in &clock.targets {
                        self.dispatch_tick(*target, time, now);
                    }
                }
            }
        }
        let Countdowns { tasks, references, qualifiers } = &mut clocks.decimal;
        if !tasks.is_empty() {
            let _counted = updates.get_interval_decimal(references, &mut clocks.intervals, qualifiers)?;
            for (index, target) in tasks.iter().enumerate() {
                let interval = || Fraction::from_f64(clocks.intervals[index]).ok();
                self.deadline(*target, qualifiers[index], interval, now);
            }
        }
        let Countdowns { tasks, references, qualifiers } = &mut clocks.fraction;
        if !tasks.is_empty() {
            let (counters, resolutions) = (&mut clocks.counters, &mut clocks.resolutions);
            let _counted = updates.get_interval_fraction(references, counters, resolutions, qualifiers)?;
            for (index, target) in tasks.iter().enumerate() {
                let interval = || Fraction::new(counters[index], resolutions[index]).ok();
                self.deadline(*target, qualifiers[index], interval, now);
            }
        }
        Ok(())
    }

    /// A countdown interval was read: a changed one counts from the activation time of the caller.
    fn deadline(&self, target: TaskId, qualifier: i32, interval: impl FnOnce() -> Option<Fraction>, now: Nanos) {
        match Qualifier::from_raw(qualifier) {
            Some(Qualifier::Changed) => match interval() {
                Some(interval) => self.dispatch_deadline(target, self.time.get().after(interval), now),
                None => self.world.count(self.fmu, FmuWord::IllegalIntervals),
            },
            None => self.world.count(self.fmu, FmuWord::IllegalIntervals),
            Some(_) => (),
        }
    }
}

impl ThreadHost for PartitionHost {
    fn clock_update(&self) {
        // Under the lock, so that no other partition reads (and thereby resets) a tick and is preempted with it.
        if let Err(failure) = self.locked(|| self.route()) {
            self.fail(&failure);
        }
    }

    fn lock_preemption(&self) {
        if self.held_by_fmu.replace(self.held_by_fmu.get() + 1) > 0 {
            self.count(TaskWord::LockNested, FmuWord::LockNested);
        } else {
            self.count(TaskWord::LockAcquisitions, FmuWord::LockAcquisitions);
        }
        let locked = self.world.instances[self.fmu.0].lock.lock(&self.member);
        if let Locked::Outermost { waited: Some(ticks) } = locked {
            self.recorder(Metric::LockWait).record(self.world.scale.nanos(ticks) as i64);
        }
    }

    fn unlock_preemption(&self) {
        let Some(left) = self.held_by_fmu.get().checked_sub(1) else {
            self.count(TaskWord::LockUnbalanced, FmuWord::LockUnbalanced);
            return;
        };
        self.held_by_fmu.set(left);
        if let Unlocked::Outermost { held } = self.world.instances[self.fmu.0].lock.unlock(&self.member) {
            self.record_hold(held);
            self.wake_targets();
        }
    }

    fn calling(&self, function: Function) {
        self.function_word().store(function as u64 + 1, Relaxed);
    }

    fn returned(&self, function: Function, status: Status) {
        if status == Status::Warning {
            self.count(TaskWord::Warnings, FmuWord::Warnings);
            if self.world.plan.fmus[self.fmu.0].on_warning == OnWarning::Error {
                let (clock, time) = (None, None);
                self.fail(&Failure { function, status, clock, time, refused: false });
                if let Some(updates) = self.world.instances[self.fmu.0].updates.get() {
                    updates.fail();
                }
            }
        }
        // Inside a callback the partition itself is still in its activation.
        let outer = crate::ffi::current_function().map_or(0, |function| function as u64 + 1);
        self.function_word().store(outer, Relaxed);
    }
}

impl PartitionHost {
    fn function_word(&self) -> &'static AtomicU64 {
        match self.task.get() {
            Some(task) => self.world.board.task(task).word(TaskWord::Function),
            None => {
                let board = self.world.board;
                board.global(Global::MainFmu).store(self.fmu.0 as u64 + 1, Relaxed);
                board.global(Global::MainFunction)
            }
        }
    }
}

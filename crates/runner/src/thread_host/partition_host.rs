//! The host of the FMU code that runs on one thread for one instance: its state, and the activation under way.

use super::clock_buffers::Clocks;
use super::intermediate::IntermediateWork;
use super::on_ticks::OnTicks;
use crate::run_state::RunState;
use crate::task_telemetry::TaskTelemetry;
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use vecud_base::time::{Fraction, Instant};
use vecud_fmi::{CallIndicator, CallProbe, Wishes};
use vecud_linux::preemption::{LockMember, PreemptionLock};
use vecud_plan::schedule::Due;
use vecud_plan::{FmuId, UnitId};
use vecud_record::board::{Global, Metric, OutsideCall};
use vecud_record::histogram::HistogramWriter;
use vecud_record::ring::Ring;

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

/// Time that waits for the lock have taken so far, ns.
#[derive(Default)]
pub(super) struct Waits {
    pub(super) blocked: Cell<i64>,
    pub(super) executed: Cell<i64>,
}

/// A locked section of FMU code that goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Section {
    pub(super) since: u64,
    pub(super) waited: u64,
    pub(super) nested: u32,
}

/// Serves the FMU code that runs on one thread for one instance.
pub struct PartitionHost {
    pub(super) run: &'static RunState,
    pub(super) fmu: FmuId,
    /// The telemetry of the activation under way; `None` outside of activations.
    pub(super) telemetry: Cell<Option<&'static TaskTelemetry>>,
    /// The telemetry whose time is that of the activation under way, or of the last one; `None`: calls happen at `time`.
    timed_by: Cell<Option<&'static TaskTelemetry>>,
    time: Cell<Instant>,
    /// The instance has clocks that activations can tick or arm.
    ticks: bool,
    /// The activation under way, or the last one, of an instance that [`ticks`](PartitionHost::ticks).
    pub(super) due: Cell<Option<Due>>,
    pub(super) member: LockMember,
    pub(super) lock: &'static PreemptionLock,
    /// How often FMU code holds the lock (our own callbacks take it too).
    pub(super) held_by_fmu: Cell<u32>,
    /// Where the function under way is shown: in the task's word, or outside of activations in that of the run, together with the
    /// instance.
    pub(super) shown: CallIndicator,
    outside: Outside,
    pub(super) dispatch: Dispatch,
    /// The last hold time, in ticks; [`RECORDED`] when it has been recorded.
    last_hold: Cell<u64>,
    /// The longest locked section of our own in an activation, in ticks.
    pub(super) longest_own: Cell<u64>,
    /// A bit per task: to be woken at the outermost unlock.
    pub(super) to_wake: Box<[Cell<u64>]>,
    pub(super) clocks: RefCell<Clocks>,
    pub(super) on_ticks: RefCell<OnTicks>,
    pub(super) has_midst: bool,
    /// Not 0: the run ends, or its end is requested.
    pub(super) wishes: Wishes,
    pub(super) midst: RefCell<Option<IntermediateWork>>,
    pub(super) section: Cell<Section>,
    pub(super) waits: Waits,
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
    pub(super) fn unit(&self) -> Option<UnitId> {
        self.telemetry.get().map(|telemetry| telemetry.unit)
    }

    /// The time of this activation, or of the last one, or the one [set](PartitionHost::at) since.
    pub(super) fn time(&self) -> Instant {
        self.timed_by.get().map_or_else(|| self.time.get(), |telemetry| telemetry.cells.time())
    }

    /// Where this activation notes things; `None`: nowhere.
    #[inline]
    pub(super) fn trace(&self) -> Option<&'static Ring<'static>> {
        self.telemetry.get().and_then(|telemetry| telemetry.trace.as_ref())
    }

    /// Where lock hold times go.
    #[inline]
    fn hold(&self) -> HistogramWriter<'static> {
        self.telemetry.get().map_or(self.outside.hold, |telemetry| telemetry.hold)
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

    /// Whether the instance has failed.
    pub fn has_failed(&self) -> bool {
        self.run.instances[self.fmu.0].failed.load(SeqCst)
    }

    pub(super) fn record_wait(&self, ticks: u64) {
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
    pub(super) fn record_hold(&self, ticks: u64) {
        let last = self.last_hold.replace(ticks);
        if last != RECORDED {
            self.hold().record(self.run.scale.nanos(last) as i64);
        }
    }

    /// Records the last hold time, if it has not been yet.
    #[inline]
    pub(super) fn record_last_hold(&self) {
        if self.last_hold.get() != RECORDED {
            self.record_it();
        }
    }

    #[inline(never)] // so that what looks whether there is one stays small
    fn record_it(&self) {
        self.record_hold(RECORDED);
    }
}

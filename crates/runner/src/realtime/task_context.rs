//! The context of a task, looked up once: a thread that has just slept finds little of the run state in the processor's caches,
//! and each look through a table is one more miss.

use crate::run_state::{CoreState, InstanceState, RunState, TaskState};
use crate::serial::Serial;
use crate::task_telemetry::TaskTelemetry;
use crate::thread_host::PartitionHost;
use vecud_description::IntervalVariability;
use vecud_linux::prefetch::{prefetch, prefetch_all};
use vecud_plan::{Overrun, Release, UnitId, UnitPlan};
use vecud_record::board::{Scheduling, TaskCells, TaskWord};
use vecud_record::figures::TaskFigures;
use vecud_record::ring::Ring;
use vecud_record::trace::{Note, notes};

/// References and constants that the thread of a task needs in every activation.
#[derive(Clone, Copy)]
pub struct TaskContext {
    /// The state that all threads share.
    pub run: &'static RunState,
    /// The first unit of the thread's task.
    pub unit: UnitId,
    /// The plan of the unit.
    pub plan: &'static UnitPlan,
    /// The words by which other threads hand work to this one.
    pub state: &'static TaskState,
    /// Counters, histograms and notes of the task.
    pub telemetry: &'static TaskTelemetry,
    /// The counters and times of the task.
    pub cells: TaskCells<'static>,
    /// Where each activation leaves two notes.
    pub notes: Ring<'static>,
    /// The instance that the task belongs to.
    pub instance: &'static InstanceState,
    /// The lock of its turns; `None`: it takes no turns.
    pub serial: Option<Serial<'static>>,
    /// The core of the task.
    pub core: &'static CoreState,
    /// Without real-time priorities.
    pub cooperative: bool,
    /// Overrun policy.
    pub overrun: Overrun,
    /// The priority of the thread.
    pub fifo: u8,
    /// The core that the thread is pinned to; `None`: it runs anywhere.
    pub cpu: Option<usize>,
    /// The time before a release for which the thread polls, ns.
    pub spin: i64,
    /// The interval of the clock may change.
    pub tunable: bool,
    /// Datagrams or requests release the task.
    pub from_outside: bool,
}

impl TaskContext {
    /// Looks all of it up for the thread of `unit`.
    pub fn of(run: &'static RunState, unit: UnitId) -> TaskContext {
        let (plan, state, telemetry) = (&run.plan.units[unit.0], &run.tasks[unit.0], &run.telemetry[unit.0]);
        let task = run.plan.task_of(unit);
        let notes = telemetry.notes.expect("there is a ring in real time");
        let (instance, core) = (&run.instances[plan.fmu.0], &run.cores[state.core]);
        let cooperative = run.scheduling == Scheduling::Cooperative;
        TaskContext {
            run,
            unit,
            plan,
            state,
            telemetry,
            cells: telemetry.cells,
            notes,
            instance,
            serial: run.serial(unit),
            core,
            cooperative,
            overrun: task.overrun,
            fifo: task.fifo.get(),
            cpu: run.pinned.then_some(task.cpu),
            spin: run.plan.host.spin.0,
            tunable: plan.has_clock(IntervalVariability::Tunable),
            from_outside: matches!(plan.release, Release::Endpoint { .. } | Release::Request),
        }
    }

    /// How much of the time from a release to the thread's being ready for it belonged to partitions that are at least as urgent;
    /// wall clock, ns.
    #[inline]
    pub fn of_wakeup(&self, release: i64, woken: i64) -> i64 {
        self.core.occupancy.of_wakeup(release, woken, self.fifo)
    }

    /// Asks for the memory that leads to the first FMI call.
    #[inline]
    pub fn prefetch(&self, host: &PartitionHost) {
        self.instance.lock.prefetch(host.member());
        prefetch(&self.instance.failed);
        prefetch_all(host);
        prefetch(self.telemetry);
        prefetch(&self.core.pending[0]);
        prefetch(&self.core.executed);
        prefetch(self.cells.word(TaskWord::Time));
    }

    /// Asks for the memory that [`TaskContext::note`] will write.
    #[inline]
    pub fn prefetch_notes(&self) {
        self.notes.prefetched().into_iter().for_each(prefetch);
    }

    /// Leaves notes for the supervisor's figures; where the ring is full, counts the figures itself.
    #[inline]
    pub fn note(&self, activated: &Note, spent: &Note) {
        if !notes::push(&self.notes, [activated, spent]) {
            self.count_notes([activated, spent]);
        }
    }

    #[cold]
    fn count_notes(&self, notes: [&Note; 2]) {
        if let Some(figures) = TaskFigures::of(self.run.board, self.unit) {
            notes.into_iter().for_each(|note| figures.take(note));
        }
    }
}

//! What a partition thread needs of the world in every activation, looked up once: whoever has just slept finds little of
//! it in the processor's caches, and each look through a table is one more miss.

use crate::serial::Serial;
use crate::site::TaskTelemetry;
use crate::thread_host::PartitionHost;
use crate::world::{CoreState, InstanceState, TaskState, World};
use vecud_description::IntervalVariability;
use vecud_linux::prefetch::{prefetch, prefetch_all};
use vecud_plan::{Release, UnitId, UnitPlan};
use vecud_record::board::{Scheduling, TaskCells, TaskWord};
use vecud_record::figures::TaskFigures;
use vecud_record::ring::Ring;
use vecud_record::trace::{Note, notes};

/// What the thread of a task needs in every activation.
#[derive(Clone, Copy)]
pub struct Own {
    /// What all threads share.
    pub world: &'static World,
    /// The task of the thread.
    pub task: UnitId,
    /// The plan of the task.
    pub plan: &'static UnitPlan,
    /// What others tell the thread.
    pub state: &'static TaskState,
    /// Where activations leave their marks.
    pub site: &'static TaskTelemetry,
    /// The counters and times of the task.
    pub cells: TaskCells<'static>,
    /// Where each activation leaves two notes.
    pub notes: Ring<'static>,
    /// The instance that the task belongs to.
    pub instance: &'static InstanceState,
    /// The way to its turns; `None`: it needs none.
    pub serial: Option<Serial<'static>>,
    /// The core of the task.
    pub core: &'static CoreState,
    /// Without real-time priorities.
    pub cooperative: bool,
    /// The core that the thread is pinned to; `None`: it runs anywhere.
    pub cpu: Option<usize>,
    /// So long before a release the thread polls, ns.
    pub spin: i64,
    /// The interval of the clock may change.
    pub tunable: bool,
    /// Datagrams or requests release the task.
    pub from_outside: bool,
}

impl Own {
    /// Looks all of it up for the thread of `task`.
    pub fn of(world: &'static World, task: UnitId) -> Own {
        let (plan, state, site) = (&world.plan.units[task.0], &world.tasks[task.0], &world.sites[task.0]);
        let notes = site.notes.expect("there is a ring in real time");
        let (instance, core) = (&world.instances[plan.fmu.0], &world.cores[state.core]);
        let cooperative = world.scheduling == Scheduling::Cooperative;
        Own {
            world,
            task,
            plan,
            state,
            site,
            cells: site.cells,
            notes,
            instance,
            serial: world.serial(task),
            core,
            cooperative,
            cpu: world.pinned.then_some(plan.cpu),
            spin: world.plan.host.spin.0,
            tunable: plan.has_clock(IntervalVariability::Tunable),
            from_outside: matches!(plan.release, Release::Datagram { .. } | Release::Request),
        }
    }

    /// How much of the time from a release to the thread's being ready for it belonged to partitions that are at least as urgent;
    /// wall clock, ns.
    #[inline]
    pub fn of_wakeup(&self, release: i64, woken: i64) -> i64 {
        self.core.occupied.of_wakeup(release, woken, self.plan.fifo.get())
    }

    /// Asks for the memory that leads to the first FMI call.
    #[inline]
    pub fn prefetch(&self, host: &PartitionHost) {
        self.instance.lock.prefetch(host.member());
        prefetch(&self.instance.failed);
        prefetch_all(host);
        prefetch(self.site);
        prefetch(&self.core.pending[0]);
        prefetch(&self.core.executed);
        prefetch(self.cells.word(TaskWord::Time));
    }

    /// Asks for the memory that [`Own::note`] will write.
    #[inline]
    pub fn prefetch_notes(&self) {
        self.notes.prefetched().into_iter().for_each(prefetch);
    }

    /// Leaves what the supervisor makes figures of; without room for it, makes them.
    #[inline]
    pub fn note(&self, activated: &Note, spent: &Note) {
        if !notes::push(&self.notes, [activated, spent]) {
            self.count_notes([activated, spent]);
        }
    }

    #[cold]
    fn count_notes(&self, notes: [&Note; 2]) {
        if let Some(figures) = TaskFigures::of(self.world.board, self.task) {
            notes.into_iter().for_each(|note| figures.take(note));
        }
    }
}

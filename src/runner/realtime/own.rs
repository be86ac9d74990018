//! What a partition thread needs of the world in every activation, looked up once: whoever has just slept finds little of
//! it in the processor's caches, and each look through a table is one more miss.

use crate::plan::{TaskId, TaskPlan};
use crate::record::board::{Scheduling, TaskCells, TaskWord};
use crate::runner::site::Site;
use crate::runner::thread_host::PartitionHost;
use crate::runner::world::{CoreState, InstanceState, TaskState, World};
use crate::sys::prefetch::{prefetch, prefetch_all};

/// One task's.
#[derive(Clone, Copy)]
pub struct Own {
    /// What all threads share.
    pub world: &'static World,
    /// Which task.
    pub task: TaskId,
    /// Its plan.
    pub plan: &'static TaskPlan,
    /// What others tell it.
    pub state: &'static TaskState,
    /// Where its activations leave their marks.
    pub site: &'static Site,
    /// Its words.
    pub cells: TaskCells<'static>,
    /// Its instance.
    pub instance: &'static InstanceState,
    /// Its core.
    pub core: &'static CoreState,
    /// Without real-time priorities.
    pub cooperative: bool,
}

impl Own {
    /// That of a task.
    pub fn of(world: &'static World, task: TaskId) -> Own {
        let (plan, state, site) = (&world.plan.tasks[task.0], &world.tasks[task.0], &world.sites[task.0]);
        let (instance, core) = (&world.instances[plan.fmu.0], &world.cores[state.core]);
        let cooperative = world.scheduling == Scheduling::Cooperative;
        Own { world, task, plan, state, site, cells: site.cells, instance, core, cooperative }
    }

    /// Asks for the memory that leads to the first FMI call.
    #[inline]
    pub fn prefetch(&self, host: &PartitionHost) {
        self.instance.lock.prefetch(host.member());
        prefetch_all(host);
        prefetch(self.site);
        prefetch(&self.core.pending[0]);
        prefetch(&self.core.executed);
        prefetch(self.cells.word(TaskWord::Time));
    }
}

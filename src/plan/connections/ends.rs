//! Who computes and who sets what a connection carries.

use crate::plan::{Batch, FmuPlan, TaskId, TaskPlan};

/// The tasks at both ends of one connection, most urgent first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    pub producers: Vec<TaskId>,
    pub consumers: Vec<TaskId>,
}

/// The ends of so many connections, by their places.
pub fn of(connections: usize, tasks: &[TaskPlan], fmus: &[FmuPlan]) -> Vec<Ends> {
    fn note<'a>(batches: impl IntoIterator<Item = &'a Batch>, mut note: impl FnMut(usize)) {
        let items = batches.into_iter().flat_map(|batch| &batch.items);
        items.flat_map(|item| &item.connections).for_each(|connection| note(connection.0));
    }
    fn add(tasks: &mut Vec<TaskId>, task: TaskId) {
        if tasks.last() != Some(&task) {
            tasks.push(task);
        }
    }
    let mut ends = vec![Ends::default(); connections];
    for (id, task) in tasks.iter().enumerate() {
        note(&task.set, |connection| add(&mut ends[connection].consumers, TaskId(id)));
        // What is read in callbacks may be so in every partition of the FMU.
        let on_ticks = fmus[task.fmu.0].on_ticks().iter().map(|on_tick| &on_tick.batch);
        note(task.get.iter().chain(on_ticks), |connection| add(&mut ends[connection].producers, TaskId(id)));
    }
    ends
}

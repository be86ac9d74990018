//! The time up to which all tasks are done with their work.

use super::shared::RunState;
use super::task_state::TaskState;
use std::sync::atomic::Ordering::SeqCst;

impl RunState {
    /// The tasks of which something is still to come: neither has their thread left, nor was their instance given up.
    fn awaited(&self) -> impl Iterator<Item = &TaskState> {
        let all = self.tasks.iter().zip(&self.plan.units);
        let awaited = all.filter(|(task, planned)| {
            !task.finished.load(SeqCst) && !self.instances[planned.fmu.0].given_up.load(SeqCst)
        });
        awaited.map(|(task, _)| &**task)
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
}

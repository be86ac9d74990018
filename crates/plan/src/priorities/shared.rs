//! Levels of one FMU that share a FIFO priority (semantics S5), and what that costs them.
//!
//! The more urgent of two that share one does not interrupt the other: once that has begun, it ends first. Of those that are
//! due the most urgent begins first all the same.

use crate::schedulability::Analysis;
use crate::schedulability::table::{duration, name};
use crate::{Mode, Plan, TaskId};
use std::fmt::Write;

impl Plan {
    /// Tasks of different levels of one FMU that share a FIFO priority, most urgent first; none where FIFO priorities do not
    /// matter. In order of the FMUs and, within one, most urgent first.
    pub fn shared(&self) -> Vec<Vec<TaskId>> {
        let matters = self.mode == Mode::RealTime && self.host.cooperative.is_none();
        let mut by_fmu = vec![Vec::new(); if matters { self.fmus.len() } else { 0 }];
        for (id, task) in self.tasks.iter().enumerate().filter(|_| matters) {
            by_fmu[task.fmu.0].push(TaskId(id));
        }
        // Tasks stand most urgent first.
        let level = |id: &TaskId| self.tasks[id.0].level;
        let several = |ids: &&[TaskId]| ids.first().map(level) != ids.last().map(level);
        let priorities =
            by_fmu.iter().flat_map(|own| own.chunk_by(|a, b| self.tasks[a.0].fifo == self.tasks[b.0].fifo));
        priorities.filter(several).map(<[TaskId]>::to_vec).collect()
    }

    /// Whether two tasks are of different levels of one FMU that share a FIFO priority.
    pub fn share(&self, a: TaskId, b: TaskId) -> bool {
        let matters = self.mode == Mode::RealTime && self.host.cooperative.is_none();
        let (a, b) = (&self.tasks[a.0], &self.tasks[b.0]);
        matters && a.fmu == b.fmu && a.fifo == b.fifo && a.level != b.level
    }

    /// For each FMU whose levels share FIFO priorities: which do, and how much later those are that wait for others. Several
    /// lines each.
    pub fn shared_priorities(&self, analysis: &Analysis) -> Vec<String> {
        let shared = self.shared();
        let of_fmu = shared.chunk_by(|a, b| self.tasks[a[0].0].fmu == self.tasks[b[0].0].fmu);
        of_fmu.map(|shared| self.of_one(shared, analysis)).collect()
    }

    fn of_one(&self, shared: &[Vec<TaskId>], analysis: &Analysis) -> String {
        let fmu = self.tasks[shared[0][0].0].fmu;
        let (low, high) = self.host.fifo_asked;
        let mut text = format!(
            "fmu `{}`: {} priority levels, but fifo_priorities = [{}, {}] has {}: neighbours share a FIFO priority, and one that \
             has begun is not interrupted by a more urgent one that shares it. A wider band gives each its own; \
             strict_priorities = true in [host] refuses the rig",
            self.fmus[fmu.0].name,
            self.fmus[fmu.0].levels,
            low.get(),
            high.get(),
            high.get() - low.get() + 1
        );
        for tasks in shared {
            let names: Vec<String> = tasks.iter().map(|task| name(self, *task)).collect();
            let _ = write!(text, "\n    FIFO {}: {}", self.tasks[tasks[0].0].fifo.get(), names.join(", "));
            let last = tasks.iter().map(|task| self.tasks[task.0].level).max();
            let waiting = tasks.iter().filter(|task| Some(self.tasks[task.0].level) != last);
            for delay in waiting.map(|task| self.delay(*task, tasks, analysis)) {
                let _ = write!(text, "; {delay}");
            }
        }
        text
    }

    /// How much later a task may respond since it shares its priority, in words.
    fn delay(&self, task: TaskId, tasks: &[TaskId], analysis: &Analysis) -> String {
        let level = |task: TaskId| self.tasks[task.0].level;
        let own = name(self, task);
        match analysis.clocks[task.0].shared {
            Some(delay) => format!("{own} responds up to {} later", duration(delay)),
            None => {
                let below = tasks.iter().filter(|other| level(**other) > level(task));
                let below: Vec<String> = below.map(|other| name(self, *other)).collect();
                format!("{own} later by up to an activation of {} (execution_us not known)", below.join(" or "))
            }
        }
    }
}

//! The price that levels of one FMU pay for sharing a FIFO priority (semantics S5).

use super::Analysis;
use super::table::{duration, name};
use crate::{FmuId, Plan, UnitId};
use std::fmt::Write;

impl Plan {
    /// The warning for each FMU whose levels share FIFO priorities: these levels, and the delay of those that wait for others.
    /// Several lines each.
    pub fn shared_priorities(&self, analysis: &Analysis) -> Vec<(FmuId, String)> {
        let shared = self.shared();
        let of_fmu = shared.chunk_by(|a, b| self.units[a[0].0].fmu == self.units[b[0].0].fmu);
        of_fmu.map(|shared| self.of_one(shared, analysis)).collect()
    }

    fn of_one(&self, shared: &[Vec<UnitId>], analysis: &Analysis) -> (FmuId, String) {
        let fmu = self.units[shared[0][0].0].fmu;
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
            let _ = write!(text, "\n    FIFO {}: {}", self.units[tasks[0].0].fifo.get(), names.join(", "));
            let last = tasks.iter().map(|task| self.units[task.0].level).max();
            let waiting = tasks.iter().filter(|task| Some(self.units[task.0].level) != last);
            for delay in waiting.map(|task| self.delay(*task, tasks, analysis)) {
                let _ = write!(text, "; {delay}");
            }
        }
        (fmu, text)
    }

    /// The delay of a task that shares its priority, in words.
    fn delay(&self, task: UnitId, tasks: &[UnitId], analysis: &Analysis) -> String {
        let level = |task: UnitId| self.units[task.0].level;
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

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
        for units in shared {
            let names: Vec<String> = units.iter().map(|unit| name(self, *unit)).collect();
            let _ = write!(text, "\n    FIFO {}: {}", self.task_of(units[0]).fifo.get(), names.join(", "));
            let last = units.iter().map(|unit| self.units[unit.0].level).max();
            let waiting = units.iter().filter(|unit| Some(self.units[unit.0].level) != last);
            for delay in waiting.map(|unit| self.delay(*unit, units, analysis)) {
                let _ = write!(text, "; {delay}");
            }
        }
        (fmu, text)
    }

    /// The delay of a task that shares its priority, in words.
    fn delay(&self, unit: UnitId, units: &[UnitId], analysis: &Analysis) -> String {
        let level = |unit: UnitId| self.units[unit.0].level;
        let own = name(self, unit);
        match analysis.clocks[unit.0].shared {
            Some(delay) => format!("{own} responds up to {} later", duration(delay)),
            None => {
                let below = units.iter().filter(|other| level(**other) > level(unit));
                let below: Vec<String> = below.map(|other| name(self, *other)).collect();
                format!("{own} later by up to an activation of {} (execution_us not known)", below.join(" or "))
            }
        }
    }
}

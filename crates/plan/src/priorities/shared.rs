//! Levels of one FMU that share a FIFO priority (semantics S5).
//!
//! The more urgent of two levels that share a priority does not interrupt the other: an activation that has begun ends
//! first. Of several levels that are due the most urgent still begins first.

use crate::{Mode, Plan, UnitId};

impl Plan {
    /// Tasks of different levels of one FMU that share a FIFO priority, most urgent first; none where FIFO priorities do not
    /// matter. In order of the FMUs and, within one, most urgent first.
    pub fn shared(&self) -> Vec<Vec<UnitId>> {
        let matters = self.mode == Mode::RealTime && self.host.cooperative.is_none();
        let mut by_fmu = vec![Vec::new(); if matters { self.fmus.len() } else { 0 }];
        for (id, unit) in self.units.iter().enumerate().filter(|_| matters) {
            by_fmu[unit.fmu.0].push(UnitId(id));
        }
        // Tasks stand most urgent first.
        let level = |id: &UnitId| self.units[id.0].level;
        let several = |ids: &&[UnitId]| ids.first().map(level) != ids.last().map(level);
        let priorities =
            by_fmu.iter().flat_map(|own| own.chunk_by(|a, b| self.task_of(*a).fifo == self.task_of(*b).fifo));
        priorities.filter(several).map(<[UnitId]>::to_vec).collect()
    }

    /// Whether two tasks are of different levels of one FMU that share a FIFO priority.
    pub fn share(&self, a: UnitId, b: UnitId) -> bool {
        let matters = self.mode == Mode::RealTime && self.host.cooperative.is_none();
        let is_one = self.task_of(a).fifo == self.task_of(b).fifo;
        let (a, b) = (&self.units[a.0], &self.units[b.0]);
        matters && is_one && a.fmu == b.fmu && a.level != b.level
    }
}

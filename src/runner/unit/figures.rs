//! The figures that only steps have, as they are counted in shared memory.

use crate::plan::TaskId;
use crate::record::board::{TaskCells, TaskWord};
use crate::record::findings::{Finding, FindingCells, Occurrence};
use crate::runner::world::World;
use crate::time::{Instant, TimeUnit};
use std::sync::atomic::Ordering::Relaxed;

/// The figures of the steps of one task; written by its thread only.
pub struct StepFigures {
    task: TaskId,
    cells: TaskCells<'static>,
    findings: FindingCells<'static>,
    unit: TimeUnit,
    /// The furthest that a step was off its point, in the FMU's unit of time.
    furthest: f64,
}

impl StepFigures {
    /// The figures of a task whose FMU counts time in `unit`.
    pub fn new(world: &World, task: TaskId, unit: TimeUnit) -> StepFigures {
        let findings = world.board.fmu(world.plan.tasks[task.0].fmu).findings();
        StepFigures { task, cells: world.board.task(task), findings, unit, furthest: 0.0 }
    }

    /// A step was made.
    #[inline]
    pub fn step(&self) {
        self.cells.count(TaskWord::Steps, 1);
    }

    /// It stopped short of its communication point.
    #[cold]
    pub fn early_return(&self) {
        self.cells.count(TaskWord::EarlyReturns, 1);
    }

    /// A step was discarded.
    #[cold]
    pub fn rejected(&self) {
        self.cells.count(TaskWord::RejectedSteps, 1);
    }

    /// Event Mode was entered.
    #[cold]
    pub fn event(&self) {
        self.cells.count(TaskWord::Events, 1);
    }

    /// The furthest that a step was off its communication point, in the FMU's unit of time.
    pub fn furthest(&self) -> f64 {
        self.furthest
    }

    /// A step without early return was so far off its communication point, in the FMU's unit of time.
    #[inline]
    pub fn deviates(&mut self, off: f64) {
        if off > self.furthest {
            self.deviates_further(off);
        }
    }

    /// A step without early return has `reached` a time by its own word, in the FMU's unit of time, that is too far off its
    /// communication point.
    #[inline]
    pub fn off_the_point(&self, point: Option<Instant>, reached: f64) {
        let (task, value) = (Some(self.task), reached.to_bits());
        self.findings.note_alone(Finding::OffThePoint, || Occurrence { task, reference: None, time: point, value });
    }

    #[cold]
    fn deviates_further(&mut self, off: f64) {
        self.furthest = off;
        let seconds = off * self.unit.seconds().seconds();
        self.cells.word(TaskWord::Deviation).store(seconds.to_bits(), Relaxed);
    }
}

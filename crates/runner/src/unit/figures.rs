//! The figures of steps, and of the integration of FMUs over them, as counters in shared memory.

use crate::run_state::RunState;
use std::sync::atomic::Ordering::Relaxed;
use vecud_base::time::{Instant, TimeUnit};
use vecud_plan::UnitId;
use vecud_record::board::{TaskCells, TaskWord};
use vecud_record::findings::{FindingCells, FindingKind, Occurrence};
use vecud_solver::WorkCounts;

/// The figures of the steps of one task; written by its thread only.
pub struct StepFigures {
    unit: UnitId,
    cells: TaskCells<'static>,
    findings: FindingCells<'static>,
    time_unit: TimeUnit,
    /// The furthest that a step was off its point, in the FMU's unit of time.
    furthest: f64,
}

impl StepFigures {
    /// The figures of a task whose FMU counts time in `time_unit`.
    pub fn new(run: &RunState, unit: UnitId, time_unit: TimeUnit) -> StepFigures {
        let findings = run.board.fmu(run.plan.units[unit.0].fmu).findings();
        StepFigures { unit, cells: run.board.task(unit), findings, time_unit, furthest: 0.0 }
    }

    /// A step was made.
    #[inline]
    pub fn step(&self) {
        self.cells.count(TaskWord::Steps, 1);
    }

    /// A step stopped short of its communication point.
    #[cold]
    pub fn early_return(&self) {
        self.cells.count(TaskWord::EarlyReturns, 1);
    }

    /// A step was discarded.
    #[cold]
    pub fn rejected(&self) {
        self.cells.count(TaskWord::RejectedSteps, 1);
    }

    /// A step was taken back to its begin.
    #[cold]
    pub fn taken_back(&self) {
        self.cells.count(TaskWord::TakenBack, 1);
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
        let (unit, value) = (Some(self.unit), reached.to_bits());
        self.findings.note_alone(FindingKind::OffThePoint, || Occurrence { unit, reference: None, time: point, value });
    }

    /// The FMU has announced, at this communication point, a time event that is over by then.
    #[cold]
    pub fn event_is_over(&self, point: Instant, event: Instant) {
        let (unit, value) = (Some(self.unit), event.seconds().to_bits());
        self.findings.note(FindingKind::PastEvent, Occurrence { unit, reference: None, time: Some(point), value });
    }

    /// The FMU has announced, at this communication point, a time event for the same time but for rounding, after more than
    /// `most` in a row.
    #[cold]
    pub fn time_creeps(&self, point: Instant, most: u32) {
        let (unit, value) = (Some(self.unit), u64::from(most));
        self.findings.note(FindingKind::CreepingTime, Occurrence { unit, reference: None, time: Some(point), value });
    }

    #[cold]
    fn deviates_further(&mut self, off: f64) {
        self.furthest = off;
        let seconds = off * self.time_unit.seconds().seconds();
        self.cells.word(TaskWord::Deviation).store(seconds.to_bits(), Relaxed);
    }
}

/// The figures of an integration, counted for one task; written by its thread only.
pub struct IntegrationFigures {
    cells: TaskCells<'static>,
    /// The work that is counted already.
    counted: WorkCounts,
    /// Right-hand sides in this release.
    in_release: u64,
}

impl IntegrationFigures {
    /// The figures of an integration, in the name of this task.
    pub fn new(run: &RunState, unit: UnitId) -> IntegrationFigures {
        IntegrationFigures { cells: run.board.task(unit), counted: WorkCounts::default(), in_release: 0 }
    }

    /// A release begins.
    pub fn begin(&mut self) {
        self.in_release = 0;
    }

    /// Counts the work since the last call; `now` is the total.
    pub fn note(&mut self, now: WorkCounts) {
        let before = std::mem::replace(&mut self.counted, now);
        let right_hand_sides = now.right_hand_sides - before.right_hand_sides;
        self.in_release += right_hand_sides;
        let count = |word: TaskWord, now: u64, before: u64| match now - before {
            0 => (),
            more => self.cells.count(word, more),
        };
        count(TaskWord::SolverSteps, now.steps, before.steps);
        count(TaskWord::SolverRejected, now.rejected + now.discarded, before.rejected + before.discarded);
        count(TaskWord::RightHandSides, now.right_hand_sides, before.right_hand_sides);
        count(TaskWord::Jacobians, now.jacobians, before.jacobians);
        count(TaskWord::StateEvents, now.events, before.events);
        let most = self.cells.word(TaskWord::MostRightHandSides);
        if self.in_release > most.load(Relaxed) {
            most.store(self.in_release, Relaxed);
        }
    }
}

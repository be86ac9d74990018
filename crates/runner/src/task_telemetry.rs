//! The telemetry of a task: its places in the shared memory, looked up once.

use std::sync::atomic::Ordering::Relaxed;
use vecud_base::time::Instant;
use vecud_fmi::CallProbe;
use vecud_plan::{Plan, TraceMode, UnitId};
use vecud_record::board::{Board, Metric, TaskCells, TaskWord};
use vecud_record::histogram::HistogramWriter;
use vecud_record::ring::Ring;

/// The counters, histograms and note rings of one task.
pub struct TaskTelemetry {
    /// The unit.
    pub unit: UnitId,
    /// Counters and times of the task.
    pub cells: TaskCells<'static>,
    /// Where its calls of FMU code are shown and counted.
    pub shown: CallProbe,
    /// The histogram of its lock hold times.
    pub hold: HistogramWriter<'static>,
    /// Where activations are noted; `None` in virtual time when nothing is traced.
    pub notes: Option<Ring<'static>>,
    /// Where everything else that a trace shows is noted; `None`: nowhere.
    pub trace: Option<Ring<'static>>,
}

impl TaskTelemetry {
    /// Looks the places of a task up.
    pub fn new(board: Board<'static>, plan: &Plan, unit: UnitId) -> TaskTelemetry {
        let (cells, notes) = (board.task(unit), board.notes(unit));
        let shown = CallProbe { word: cells.word(TaskWord::Function), tag: 0, calls: board.calls(unit) };
        let trace = notes.filter(|_| plan.trace.mode != TraceMode::Off);
        TaskTelemetry { unit, cells, shown, hold: cells.histogram(Metric::LockHold), notes, trace }
    }

    /// An activation of this time begins.
    #[inline]
    pub fn begin(&self, time: &Instant) {
        self.cells.set_time(time);
        self.cells.word(TaskWord::Active).store(1, Relaxed);
    }

    /// Clears the mark of an activation under way.
    #[inline]
    pub fn end(&self) {
        self.cells.word(TaskWord::Active).store(0, Relaxed);
    }
}

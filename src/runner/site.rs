//! Where the activations of a task leave their marks in the shared memory, looked up once.

use crate::plan::{Plan, TaskId, TraceMode};
use crate::record::board::{Board, Metric, TaskCells};
use crate::record::histogram::Recorder;
use crate::record::trace::NoteRing;

/// Those of one task.
pub struct Site {
    /// Whose they are.
    pub task: TaskId,
    /// Its words.
    pub cells: TaskCells<'static>,
    /// Lock hold times.
    pub hold: Recorder<'static>,
    /// Where activations are noted; `None` in virtual time when nothing is traced.
    pub notes: Option<NoteRing<'static>>,
    /// The same for everything else that a trace shows; `None`: nowhere.
    pub trace: Option<NoteRing<'static>>,
}

impl Site {
    /// That of a task.
    pub fn new(board: Board<'static>, plan: &Plan, task: TaskId) -> Site {
        let (cells, notes) = (board.task(task), board.notes(task));
        let trace = notes.filter(|_| plan.trace.mode != TraceMode::Off);
        Site { task, cells, hold: cells.histogram(Metric::LockHold), notes, trace }
    }
}

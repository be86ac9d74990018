//! Where the activations of a task leave their marks in the shared memory, looked up once.

use crate::plan::TaskId;
use crate::record::board::{Board, Metric, TaskCells};
use crate::record::histogram::Recorder;
use crate::record::trace::TraceRing;

/// Those of one task.
pub struct Site {
    /// Whose they are.
    pub task: TaskId,
    /// Its words.
    pub cells: TaskCells<'static>,
    /// Lock hold times.
    pub hold: Recorder<'static>,
    /// Where it notes who runs when; `None`: nowhere.
    pub trace: Option<TraceRing<'static>>,
}

impl Site {
    /// That of a task.
    pub fn new(board: Board<'static>, task: TaskId) -> Site {
        let cells = board.task(task);
        Site { task, cells, hold: cells.histogram(Metric::LockHold), trace: board.trace(task) }
    }
}

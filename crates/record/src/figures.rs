//! From what an activation notes to the histograms of its task (semantics S18).
//!
//! An activation leaves two notes, which lie side by side; nine histograms lie on some twenty cache lines and as many pages,
//! of which whoever has slept finds none at hand. So the supervisor keeps them, from the notes. When these find no room,
//! because the supervisor was kept from reading, the activation's own thread does: nothing is lost, and both may be at it at
//! the same time.

use super::board::causes::{CauseCells, ResponsePart};
use super::board::{Board, Metric, TaskCells};
use super::trace::Note;
use vecud_plan::UnitId;

/// The histograms of one task.
#[derive(Clone, Copy)]
pub struct TaskFigures<'a> {
    cells: TaskCells<'a>,
    causes: CauseCells<'a>,
}

impl<'a> TaskFigures<'a> {
    /// The figures of a task; `None` in virtual time, where nothing is late.
    pub fn of(board: Board<'a>, unit: UnitId) -> Option<TaskFigures<'a>> {
        Some(TaskFigures { cells: board.task(unit), causes: board.causes(unit)? })
    }

    /// Counts what is in a note.
    pub fn take(&self, note: &Note) {
        let count = |metric, nanos| self.cells.histogram(metric).count(nanos);
        let count_part = |part, nanos| self.causes.histogram(part).count(nanos);
        match *note {
            Note::Activated { release, woken, start, end, execution, .. } => {
                count(Metric::Wakeup, woken.saturating_sub(release));
                count(Metric::Start, start.saturating_sub(release));
                count(Metric::Execution, execution);
                count(Metric::Response, end.saturating_sub(release));
            }
            Note::Spent { jitter, preempted, blocked, set_get, host, machine } => {
                jitter.into_iter().for_each(|jitter| count(Metric::Jitter, jitter));
                let parts = [
                    (ResponsePart::Preempted, preempted),
                    (ResponsePart::Blocked, blocked),
                    (ResponsePart::SetGet, set_get),
                    (ResponsePart::WakeupMachine, machine),
                ];
                parts.into_iter().for_each(|(part, nanos)| count_part(part, nanos));
                host.into_iter().for_each(|host| count_part(ResponsePart::Host, host));
            }
            Note::Locked { .. }
            | Note::Updated { .. }
            | Note::Ticked { .. }
            | Note::Armed { .. }
            | Note::Skipped { .. } => (),
        }
    }
}

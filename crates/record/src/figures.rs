//! Makes the histograms of a task from the notes of its activations (semantics S18).
//!
//! An activation leaves two notes, which lie side by side; nine histograms lie on some twenty cache lines and as many pages,
//! none of which is at hand after a sleep. So the supervisor counts in the histograms, from the notes. If the notes find no
//! room, because the supervisor was kept from reading, the activation's own thread counts: nothing is lost, and both may
//! count at the same time.

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

    /// Counts the content of a note.
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

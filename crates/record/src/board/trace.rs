//! Where partitions note who runs when, and where their time goes.

use super::{Board, Global};
use crate::LINE;
use crate::trace::NoteRing;
use crate::trace::ring::notes;
use std::sync::atomic::Ordering::Relaxed;
use vecud_plan::{Plan, UnitId};

/// Per task: first word, and how many notes. Each begins on a cache line.
pub(super) fn rings(plan: &Plan, next: &mut usize) -> Vec<(usize, usize)> {
    let tasks = plan.units.iter().map(|task| {
        let notes = notes(plan, task);
        let start = if notes == 0 { *next } else { next.next_multiple_of(LINE) };
        *next = start + NoteRing::words(notes);
        (start, notes)
    });
    tasks.collect()
}

impl<'a> Board<'a> {
    /// The ring of a task's notes; `None` in virtual time when nothing is traced.
    pub fn notes(&self, task: UnitId) -> Option<NoteRing<'a>> {
        let (start, notes) = self.layout.traces[task.0];
        NoteRing::new(&self.words[start..start + NoteRing::words(notes)], notes)
    }

    /// In virtual time: the number of the next thing that is noted. One thread at a time.
    pub fn next_in_order(&self) -> u64 {
        let order = self.global(Global::TraceOrder);
        let number = order.load(Relaxed).wrapping_add(1);
        order.store(number, Relaxed);
        number
    }
}

//! The tasks of one core that go before another one: those that have mail which they have not noticed, and those with its priority
//! that are due before it.

use super::core_state::CoreState;
use super::shared::RunState;
use std::sync::atomic::{Ordering::Acquire, Ordering::SeqCst};
use vecud_base::time::Nanos;
use vecud_plan::UnitId;
use vecud_record::board::TaskWord;

impl RunState {
    /// Wakes the tasks of this core that are more urgent than `unit` and have ticks that they have not noticed (design S9): no
    /// middle partition slips in before a higher one whose waker was preempted before it could wake it.
    #[inline]
    pub fn help(&self, unit: UnitId) {
        let state = &self.tasks[unit.0];
        let core = &self.cores[state.core];
        let (last, above) = (state.place / 64, (1 << (state.place % 64)) - 1);
        for (index, word) in core.pending[..=last].iter().enumerate() {
            let higher = word.load(SeqCst) & if index == last { above } else { u64::MAX };
            if higher != 0 {
                self.wake_pending(core, index * 64, higher);
            }
        }
    }

    /// [`RunState::help`]; besides, tasks with the FIFO priority of `unit` that come before it in the order of the plan, and are
    /// due but have not begun, run first: the kernel takes them in the order in which they were woken. To be called by its
    /// thread, before it begins.
    #[inline]
    pub fn let_others_begin(&self, unit: UnitId) {
        self.help(unit);
        let ahead = &self.tasks[unit.0].ahead;
        if !ahead.is_empty() {
            self.let_begin(ahead);
        }
    }

    #[inline(never)] // few share a priority
    fn let_begin(&self, ahead: &[UnitId]) {
        // One of them may come to stand behind others of them, or wait for its token. The loop is bounded: a thread that waits
        // longer is not waited for.
        for _ in 0..2 + ahead.len() {
            let now = Nanos(self.now());
            if !ahead.iter().any(|other| self.is_to_begin(*other, now)) {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Whether a task is due and has not begun.
    fn is_to_begin(&self, unit: UnitId, now: Nanos) -> bool {
        let state = &self.tasks[unit.0];
        let next = state.next.load(SeqCst);
        let due = match next {
            i64::MAX => false,
            i64::MIN => true,
            next => self.wall_of(Nanos(next)) <= now,
        };
        (due || state.has_mail()) && self.telemetry[unit.0].cells.get(TaskWord::Active) == 0
    }

    #[cold]
    fn wake_pending(&self, core: &CoreState, first: usize, mut places: u64) {
        while places != 0 {
            let place = first + places.trailing_zeros() as usize;
            places &= places - 1;
            self.tasks[core.units[place].0].wake.wake_marked();
        }
    }

    /// The thread of `unit` has noticed its mail; `false`: there is none since the last call. A tick that is being handed over
    /// changes the word that the thread sleeps on.
    #[inline]
    pub fn noticed(&self, unit: UnitId) -> bool {
        let state = &self.tasks[unit.0];
        let word = &self.cores[state.core].pending[state.place / 64];
        let bit = 1 << (state.place % 64);
        let there_is = word.load(Acquire) & bit != 0;
        if there_is {
            word.fetch_and(!bit, SeqCst);
        }
        there_is
    }
}

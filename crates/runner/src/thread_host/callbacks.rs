//! The callbacks of FMU code on one thread.

use super::partition_host::PartitionHost;
use crate::run_state::Ending;
use std::sync::atomic::Ordering::Relaxed;
use vecud_fmi::{CallIndicator, Failure, Function, InStep, Intermediate, Status, ThreadHost, Wishes};
use vecud_linux::preemption::{Locked, Unlocked};
use vecud_plan::OnWarning;
use vecud_record::board::{FmuWord, TaskWord};
use vecud_record::findings::FindingKind;

impl ThreadHost for PartitionHost {
    fn clock_update(&self, time: Option<f64>) {
        // Under the lock, so that no other partition reads (and thereby resets) a tick and is preempted with it.
        let since = self.stamp_if_traced();
        if let Err(failure) = self.locked(|| self.route(time)) {
            self.fail(&failure);
        }
        self.trace_update(since);
    }

    fn in_step(&self) -> InStep {
        let is_over = self.run.ending() == Ending::Discard || self.wishes[1].load(Relaxed) != 0;
        InStep { exchanges: self.has_midst, returns_early: is_over }
    }

    fn wishes(&'static self) -> Option<&'static Wishes> {
        (!self.has_midst).then_some(&self.wishes)
    }

    fn intermediate_update(&self, update: &Intermediate) {
        self.in_midst(update);
    }

    fn lock_preemption(&self) {
        if self.held_by_fmu.replace(self.held_by_fmu.get() + 1) > 0 {
            self.count(TaskWord::LockNested, FmuWord::LockNested);
            self.trace_nested_lock();
        }
        let locked = self.take_lock();
        if let Locked::Outermost { waited } = locked {
            if let Some(ticks) = waited {
                self.record_wait(ticks);
            }
            self.trace_lock(waited);
        }
    }

    fn unlock_preemption(&self) {
        let Some(left) = self.held_by_fmu.get().checked_sub(1) else {
            self.count(TaskWord::LockUnbalanced, FmuWord::LockUnbalanced);
            self.note(FindingKind::LockUnbalanced, None, 0);
            return;
        };
        self.held_by_fmu.set(left);
        if let Unlocked::Outermost { held } = self.lock.unlock(&self.member) {
            self.record_hold(held);
            self.trace_unlock(held, false);
            self.wake_targets();
        }
    }

    #[cold]
    fn warned(&self, function: Function) {
        self.count(TaskWord::Warnings, FmuWord::Warnings);
        if self.run.plan.fmus[self.fmu.0].on_warning == OnWarning::Error {
            let (status, clock, time) = (Status::Warning, None, None);
            self.fail(&Failure { function, status, clock, time, answer: None, refused: false });
            if let Some(updates) = self.run.instances[self.fmu.0].updates.get() {
                updates.fail();
            }
        }
    }

    #[inline]
    fn shown(&'static self) -> Option<&'static CallIndicator> {
        Some(&self.shown)
    }
}

//! The preemption lock on the side of the host: its own locked sections, leaked locks, and the wake-ups after an unlock.

use super::partition_host::{Dispatch, PartitionHost};
use std::sync::atomic::Ordering::Relaxed;
use vecud_linux::preemption::Unlocked;
use vecud_plan::UnitId;
use vecud_record::board::{FmuWord, TaskWord};
use vecud_record::findings::FindingKind;

impl PartitionHost {
    /// FMU code has returned: releases a lock that it still holds, and records the pending hold times.
    #[inline]
    pub fn returned_from_fmu(&self) {
        if self.held_by_fmu.get() > 0 {
            self.leaked();
        }
        self.record_last_hold();
    }

    #[cold]
    fn leaked(&self) {
        self.held_by_fmu.set(0);
        self.count(TaskWord::LockLeaked, FmuWord::LockLeaked);
        self.note(FindingKind::LockLeaked, None, 0);
        if let Some(leak) = self.lock.release_leaked(&self.member) {
            self.record_hold(leak.held);
            self.trace_unlock(leak.held, true);
        }
        self.wake_targets();
    }

    /// Runs `body` with the instance locked, as callbacks do.
    pub fn locked<T>(&self, body: impl FnOnce() -> T) -> T {
        self.take_lock();
        let result = body();
        let unlocked = self.lock.unlock(&self.member);
        self.wake_targets();
        if let Unlocked::Outermost { held } = unlocked {
            self.keep_longest(held);
        }
        result
    }

    /// Keeps the longest of the host's own locked sections, in real time; those of the FMU have a histogram.
    #[inline]
    fn keep_longest(&self, ticks: u64) {
        if ticks > self.longest_own.get() && matches!(self.dispatch, Dispatch::Threads) {
            self.longest_own.set(ticks);
            if let Some(telemetry) = self.telemetry.get() {
                let nanos = self.run.scale.nanos(ticks);
                telemetry.cells.word(TaskWord::LongestOwnLock).store(nanos, Relaxed);
            }
        }
    }

    /// Wakes the tasks that were ticked, most urgent first, unless this thread still holds the lock of the instance.
    pub(super) fn wake_targets(&self) {
        if self.member.depth() > 0 {
            return;
        }
        for (index, word) in self.to_wake.iter().enumerate().filter(|(_, word)| word.get() != 0) {
            let mut bits = word.take();
            while bits != 0 {
                let task = index * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.run.tasks[task].wake.wake_marked();
            }
        }
    }

    pub(super) fn wake_later(&self, target: UnitId) {
        let word = &self.to_wake[target.0 / 64];
        word.set(word.get() | 1 << (target.0 % 64));
    }
}

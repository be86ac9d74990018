//! How long activations wait for the preemption lock, in `lockPreemption` and in clock updates.

use super::PartitionHost;
use crate::sys::preemption::Locked;
use std::sync::atomic::Ordering::Relaxed;

impl PartitionHost {
    /// Time that activations on this thread have waited for the lock so far, ns, less that in which partitions ran on this
    /// core from beginning to end meanwhile.
    #[inline]
    pub fn blocked(&self) -> i64 {
        self.blocked.get()
    }

    /// Takes the lock.
    #[inline]
    pub(super) fn take_lock(&self) -> Locked {
        let mut executed = 0;
        let locked = self.lock.lock_or_wait(&self.member, || executed = self.executed());
        if let Locked::Outermost { waited: Some(ticks) } = locked {
            self.has_waited(ticks, executed);
        }
        locked
    }

    #[cold]
    fn has_waited(&self, ticks: u64, executed: i64) {
        let waited = self.world.scale.nanos(ticks) as i64 - (self.executed() - executed);
        self.blocked.set(self.blocked.get() + waited.max(0));
    }

    /// Time that partitions have executed on this activation's core, ns.
    fn executed(&self) -> i64 {
        let world = self.world;
        self.task().map_or(0, |task| world.cores[world.tasks[task.0].core].executed.load(Relaxed))
    }
}

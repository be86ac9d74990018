//! How long activations wait for the preemption lock, in `lockPreemption` and in clock updates.

use super::partition_host::{PartitionHost, Waits};
use std::sync::atomic::Ordering::Relaxed;
use vecud_linux::preemption::Locked;

impl PartitionHost {
    /// Time that activations on this thread have waited for the lock so far, ns, whichever thread ran meanwhile.
    #[inline]
    pub fn blocked(&self) -> i64 {
        self.waits.blocked.get()
    }

    /// Execution time of partitions of this core that ended during such a wait, ns: of the holder, and of threads that preempted
    /// it.
    #[inline]
    pub fn executed_in_waits(&self) -> i64 {
        self.waits.executed.get()
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
        let Waits { blocked, executed: in_waits } = &self.waits;
        blocked.set(blocked.get() + self.run.scale.nanos(ticks) as i64);
        in_waits.set(in_waits.get() + self.executed() - executed);
    }

    /// Time that partitions have executed on this activation's core, ns.
    fn executed(&self) -> i64 {
        let run = self.run;
        self.unit().map_or(0, |unit| run.cores[run.tasks[unit.0].core].executed.load(Relaxed))
    }
}

//! The state of a partition thread that is awake: since when, and polling from then on.

use super::task_context::TaskContext;
use crate::thread_host::PartitionHost;
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};
use vecud_linux::wake::Wakening;

/// A moment in which a thread was awake.
#[derive(Clone, Copy)]
pub struct Awake {
    /// The value of its wake word before it slept.
    pub seen: u32,
    /// Wall clock, ns.
    pub at: i64,
    /// The first instruction after the sleep, from which on the thread has not given its core away: wall clock, ns.
    pub since: i64,
    /// Execution time of partitions on its core by then, ns.
    executed: i64,
}

impl Awake {
    /// Now.
    #[inline]
    pub fn now(context: &TaskContext, seen: u32) -> Awake {
        let at = context.run.now();
        Awake { seen, at, since: at, executed: context.core.executed.load(Relaxed) }
    }

    /// Waits for the release inside of the gate, which took `waits` to enter, so that the entry is not late. Returns the wall
    /// clock, ns, when the thread was ready for the release: not later than the release where only the gate was in the way.
    /// `None`: there is mail.
    #[inline(never)] // for those who poll
    pub fn wait_inside(
        self,
        context: &TaskContext,
        host: &PartitionHost,
        release: i64,
        waits: &mut u32,
    ) -> Option<i64> {
        // Time at the gate is not polling time.
        let from = if *waits == 0 { self } else { Awake::now(context, self.seen) };
        let ready = if from.at < release {
            let (wakening, awake) = from.poll(context, release);
            if wakening == Wakening::Woken {
                return None;
            }
            awake.at
        } else {
            release
        };
        // A more urgent one may have come meanwhile, and sleep in FMU code, or may have to be woken.
        let nobody_waits = context.core.pending.iter().all(|word| word.load(SeqCst) == 0);
        if !(nobody_waits && context.instance.lock.is_passed(host.member())) {
            *waits += context.instance.lock.enter_again(host.member(), || context.run.help(context.unit));
        }
        Some(ready)
    }

    /// Polls the clock until `until`, wall clock in ns. Threads that it preempts see that as an activation.
    #[inline]
    pub fn poll(self, context: &TaskContext, until: i64) -> (Wakening, Awake) {
        let (wakening, at) = context.state.wake.poll_until(self.seen, until);
        let executed = &context.core.executed;
        let meanwhile = executed.load(Relaxed) - self.executed;
        let polled = (at - self.at - meanwhile).max(0);
        (wakening, Awake { at, executed: executed.fetch_add(polled, Relaxed) + polled, ..self })
    }
}

//! When partitions of the rig occupied a core, so that a late wake-up is attributed to its cause (semantics S18).
//!
//! A thread that is released while a more urgent partition of its own rig runs is not woken late by the kernel: it waits for its
//! turn. The wake-up latency without that time is the machine's: the latency that a free core would have had.
//!
//! The threads of one core preempt each other but never run at once, so their occupations are nested or apart. A thread that is
//! preempted while it notes its own leaves the previous entry for a moment; the preempting thread is more urgent, and does not
//! count it. Where threads are not pinned, or have no real-time priorities, several may run at once, and the figures are as good
//! as the kernel's order.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// Occupations that are remembered. A thread that waits for more than these has waited for at least these.
const KEPT: usize = 64;
/// In a second word, the FIFO priority; above it the duration, ns.
const FIFO_BITS: u32 = 8;

/// The last occupations of a core.
#[derive(Debug)]
pub struct CoreOccupancy {
    /// How many there were.
    number: AtomicU64,
    /// When the latest one ended, wall clock in ns.
    until: AtomicI64,
    kept: Box<[[AtomicI64; 2]]>,
}

impl CoreOccupancy {
    /// A core that no thread has used yet.
    pub fn new() -> CoreOccupancy {
        let kept = (0..KEPT).map(|_| [const { AtomicI64::new(i64::MIN) }; 2]).collect();
        CoreOccupancy { number: AtomicU64::new(0), until: AtomicI64::new(i64::MIN), kept }
    }

    /// A thread of this FIFO priority has used the core from its first instruction for an activation to the end of it, wall clock
    /// in ns, except while it was preempted.
    #[inline]
    pub fn note(&self, from: i64, to: i64, fifo: u8) {
        let place = self.number.fetch_add(1, Relaxed);
        let [end, rest] = &self.kept[place as usize % KEPT];
        end.store(to, Relaxed);
        rest.store((to - from).max(0) << FIFO_BITS | i64::from(fifo), Relaxed);
        // A thread that was preempted after its look at the clock notes its end after the threads that preempted it.
        self.until.fetch_max(to, Relaxed);
    }

    /// How much of the time from a release to the first instruction of its thread, which has this FIFO priority, belonged to
    /// partitions that are at least as urgent, ns.
    #[inline]
    pub fn of_wakeup(&self, release: i64, woken: i64, fifo: u8) -> i64 {
        match self.until.load(Relaxed) > release && woken > release {
            true => self.sum(release, woken, fifo),
            false => 0,
        }
    }

    #[cold]
    fn sum(&self, release: i64, woken: i64, fifo: u8) -> i64 {
        let number = self.number.load(Relaxed);
        // From there on all is counted.
        let (mut counted, mut sum) = (woken, 0);
        for place in (number.saturating_sub(KEPT as u64)..number).rev() {
            let [end, rest] = &self.kept[place as usize % KEPT];
            let (to, rest) = (end.load(Relaxed), rest.load(Relaxed));
            let from = to.saturating_sub(rest >> FIFO_BITS).max(release);
            if to > release && rest & ((1 << FIFO_BITS) - 1) >= i64::from(fifo) {
                sum += (to.min(counted) - from).max(0);
                counted = counted.min(from);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_more_urgent_partitions_had_of_a_wakeup_is_the_rigs() {
        let core = CoreOccupancy::new();
        assert_eq!(core.of_wakeup(100, 200, 50), 0);
        core.note(0, 90, 60);
        assert_eq!(core.of_wakeup(100, 200, 50), 0, "it was over before the release");
        core.note(95, 120, 60);
        assert_eq!(core.of_wakeup(100, 130, 50), 20, "from the release on");
        core.note(140, 150, 40);
        assert_eq!(core.of_wakeup(100, 200, 50), 20, "a less urgent one is in nobody's way");
        assert_eq!(core.of_wakeup(100, 200, 40), 30, "an equal one is");
        core.note(160, 170, 70);
        core.note(155, 180, 60);
        assert_eq!(core.of_wakeup(100, 200, 50), 45, "the time of one that interrupted another counts once");
        assert_eq!(core.of_wakeup(100, 175, 50), 40, "up to the wake-up");
        assert_eq!(core.of_wakeup(200, 200, 50), 0);
    }

    #[test]
    fn who_waited_for_more_than_is_remembered_has_waited_for_at_least_that() {
        let core = CoreOccupancy::new();
        for i in 0..2 * KEPT as i64 {
            core.note(10 * i, 10 * i + 5, 60);
        }
        assert_eq!(core.of_wakeup(0, 10_000, 50), 5 * KEPT as i64);
    }

    proptest! {
        /// Nested or apart, in the order of their ends, and no more of them than are remembered: each instant that one of them
        /// covers counts once.
        #[test]
        fn every_instant_counts_once(lengths in prop::collection::vec((0..20_i64, 0..20_i64, 0..4_u8, any::<bool>()), 1..KEPT / 2), release in 0..400_i64, length in 0..400_i64, fifo in 0..4_u8) {
            let core = CoreOccupancy::new();
            let mut covered = vec![false; 2000];
            let mut now = 0;
            for (gap, length, own, nests) in lengths {
                let from = now + gap;
                let mut to = from + length;
                let mut occupy = |from: i64, to: i64, fifo_of: u8| {
                    core.note(from, to, fifo_of);
                    if fifo_of >= fifo {
                        (from..to).for_each(|at| covered[at as usize] = true);
                    }
                };
                if nests {
                    // A more urgent one in the middle, which prolongs it.
                    occupy(from + length / 2, from + length / 2 + 3, own + 1);
                    to += 3;
                }
                occupy(from, to, own);
                now = to;
            }
            let woken = release + length;
            let expected = (release..woken).filter(|at| covered[*at as usize]).count();
            prop_assert_eq!(core.of_wakeup(release, woken, fifo), expected as i64);
        }
    }
}

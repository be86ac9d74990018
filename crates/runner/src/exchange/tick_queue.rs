//! Ticks on their way to the task that they trigger: one producer at a time, one consumer, bounded.
//!
//! The producer is the thread that runs the clock-update callback of the instance that owns the output clock; the preemption lock
//! of that instance keeps producers apart. The consumer is the triggered task's thread. A tick that does not fit is refused, so
//! no tick is lost silently (semantics S9).
//!
//! A ring of `vecud_record` would not do: a place stays taken until its tick is activated, the producer looks at the last tick to coalesce another
//! one with it, and the counters of all queues have one order, by which the third thread below decides.
//!
//! Memory ordering: the producer writes a slot, then releases `written`; the consumer acquires it, reads, then releases
//! `read`, and `done` when the tick has been activated. All counters are sequentially consistent, since a third thread
//! decides from several queues whether anything is still under way.

use std::sync::atomic::{AtomicU64, Ordering};
use vecud_base::time::{Instant, Nanos};
use vecud_plan::UnitId;
use vecud_plan::schedule::{QUEUE, Tick};

const WIDTH: usize = 5;

/// A tick and when it was dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickStamp {
    /// Time of the tick.
    pub time: Instant,
    /// Wall clock of the dispatch.
    pub dispatched: Nanos,
    /// The clock at the root of the chain that led to it; `None`: there is none.
    pub root: Option<UnitId>,
}

impl TickStamp {
    /// The tick as words, for [`TickQueue`].
    pub fn to_words(self) -> [u64; WIDTH] {
        let [a, b, c] = self.time.to_words();
        [a, b, c, self.dispatched.0 as u64, self.root.map_or(0, |root| root.0 as u64 + 1)]
    }

    /// The inverse of [`TickStamp::to_words`].
    pub fn from_words(words: [u64; WIDTH]) -> TickStamp {
        let [a, b, c, dispatched, root] = words;
        let root = root.checked_sub(1).map(|root| UnitId(root as usize));
        TickStamp { time: Instant::from_words([a, b, c]), dispatched: Nanos(dispatched as i64), root }
    }
}

/// A deadline of a countdown clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The time at which the clock is to tick, and the time of the arming.
    pub tick: TickStamp,
    /// Time of the activation that has armed it.
    pub since: Instant,
}

impl Deadline {
    /// Words that one takes.
    pub const WIDTH: usize = WIDTH + 3;

    /// The deadline as words, which [`Deadline::from_words`] reads.
    pub fn to_words(self) -> [u64; Self::WIDTH] {
        let ([a, b, c, d, e], [f, g, h]) = (self.tick.to_words(), self.since.to_words());
        [a, b, c, d, e, f, g, h]
    }

    /// The inverse of [`Deadline::to_words`].
    pub fn from_words(words: [u64; Self::WIDTH]) -> Deadline {
        let [a, b, c, d, e, f, g, h] = words;
        Deadline { tick: TickStamp::from_words([a, b, c, d, e]), since: Instant::from_words([f, g, h]) }
    }
}

/// A queue of at most [`QUEUE`] ticks, including those that the consumer has taken but not activated yet.
#[derive(Debug)]
pub struct TickQueue {
    written: AtomicU64,
    read: AtomicU64,
    /// The number of ticks that no longer wait; never more than `read`.
    done: AtomicU64,
    slots: [[AtomicU64; WIDTH]; QUEUE],
}

impl Default for TickQueue {
    fn default() -> Self {
        let slots = std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0)));
        TickQueue { written: AtomicU64::new(0), read: AtomicU64::new(0), done: AtomicU64::new(0), slots }
    }
}

impl TickQueue {
    /// Appends a tick. When the queue is full, one more tick at the time of the last one is coalesced: the timeline would
    /// have done that.
    pub fn push(&self, tick: TickStamp) -> Tick {
        let written = self.written.load(Ordering::Relaxed);
        if written - self.done.load(Ordering::SeqCst) >= QUEUE as u64 {
            let same = self.slot(written - 1).time == tick.time;
            return if same { Tick::Coalesced } else { Tick::Full };
        }
        for (place, word) in self.slots[written as usize % QUEUE].iter().zip(tick.to_words()) {
            place.store(word, Ordering::Relaxed);
        }
        self.written.store(written + 1, Ordering::SeqCst);
        Tick::Queued
    }

    /// Memory that the next [`TickQueue::push`] changes.
    pub fn places(&self) -> [&AtomicU64; 2] {
        let written = self.written.load(Ordering::Relaxed);
        [&self.written, &self.slots[written as usize % QUEUE][0]]
    }

    /// The oldest tick, which stays.
    pub fn peek(&self) -> Option<TickStamp> {
        let read = self.read.load(Ordering::Relaxed);
        (self.written.load(Ordering::SeqCst) != read).then(|| self.slot(read))
    }

    /// Takes the oldest tick; its place is free when it no longer [waits](TickQueue::set_waiting).
    pub fn pop(&self) -> Option<TickStamp> {
        let read = self.read.load(Ordering::Relaxed);
        if self.written.load(Ordering::SeqCst) == read {
            return None;
        }
        let tick = self.slot(read);
        self.read.store(read + 1, Ordering::SeqCst);
        Some(tick)
    }

    /// The tick of that number, for the producer, or once it is written and until it is read.
    fn slot(&self, number: u64) -> TickStamp {
        let slot = &self.slots[number as usize % QUEUE];
        TickStamp::from_words(std::array::from_fn(|i| slot[i].load(Ordering::Relaxed)))
    }

    /// The consumer has taken ticks of which `waiting` still wait for their activation.
    pub fn set_waiting(&self, waiting: usize) {
        let done = self.read.load(Ordering::Relaxed).saturating_sub(waiting as u64);
        // Only the consumer writes it, and a store is a locked instruction.
        if self.done.load(Ordering::Relaxed) != done {
            self.done.store(done, Ordering::SeqCst);
        }
    }

    /// Whether all were taken.
    pub fn is_empty(&self) -> bool {
        self.read.load(Ordering::SeqCst) == self.written.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(k: i64) -> TickStamp {
        let root = usize::try_from(k % 3).ok().map(UnitId);
        TickStamp { time: Instant::from_nanos(Nanos(k)), dispatched: Nanos(-k), root }
    }

    #[test]
    fn first_in_first_out_and_bounded() {
        let queue = TickQueue::default();
        for round in 0..3 {
            for k in 0..QUEUE as i64 {
                assert_eq!(queue.push(tick(100 * round + k)), Tick::Queued);
            }
            assert_eq!(queue.push(tick(99)), Tick::Full, "the seventeenth is refused");
            for k in 0..QUEUE as i64 {
                assert_eq!(queue.pop(), Some(tick(100 * round + k)));
                assert_eq!(queue.push(tick(99)), Tick::Full, "taken, but not activated");
            }
            queue.set_waiting(0);
            assert!(queue.pop().is_none() && queue.is_empty());
        }
    }

    #[test]
    fn a_full_queue_loses_no_tick_at_the_time_of_its_last_one() {
        let queue = TickQueue::default();
        (0..QUEUE as i64).for_each(|k| assert_eq!(queue.push(tick(k)), Tick::Queued));
        let last = tick(QUEUE as i64 - 1);
        assert_eq!(queue.push(TickStamp { dispatched: Nanos(7), ..last }), Tick::Coalesced);
        assert_eq!(queue.push(tick(0)), Tick::Full);
        assert_eq!(std::iter::from_fn(|| queue.pop()).last(), Some(last));
    }

    #[test]
    fn every_tick_that_was_accepted_arrives_in_order() {
        let queue = TickQueue::default();
        let count = if cfg!(miri) { 100 } else { 100_000 };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for k in 0..count {
                    while queue.push(tick(k)) != Tick::Queued {
                        std::hint::spin_loop();
                    }
                }
            });
            for k in 0..count {
                loop {
                    if let Some(got) = queue.pop() {
                        assert_eq!(got, tick(k));
                        queue.set_waiting(0);
                        break;
                    }
                    std::hint::spin_loop();
                }
            }
        });
    }
}

//! Breaks of the promise that real time gives the numbers of virtual time (semantics S15): the first irregularity of each
//! clock, and values that came too late for each consumer of a delayed connection.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use vecud_base::time::Instant;
use vecud_plan::Plan;

/// Words of a clock: what it was, its time, whether that is complete.
pub(super) const BREAK: usize = 5;

/// Words of a consumer of a connection.
pub(super) const READING: usize = 10;

/// The reason why a clock's activations differ from those of virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Break {
    /// A release was left out, or a tick found its queue full.
    Overrun = 1,
    /// A tick came too late for its own time.
    Retimed = 2,
}

/// The place of these words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    pub(super) breaks: usize,
    /// Per connection: the first word of its consumers.
    pub(super) readings: Vec<usize>,
}

impl Region {
    /// The begin of the region.
    pub(super) fn begin(&self) -> usize {
        self.breaks
    }

    /// The region from `next` on; moves `next` behind it.
    pub(super) fn of(plan: &Plan, next: &mut usize) -> Region {
        let mut take = |words: usize| {
            *next += words;
            *next - words
        };
        let breaks = take(plan.units.len() * BREAK);
        let consumers =
            plan.connections.iter().map(|connection| connection.delay.as_ref().map_or(0, |d| d.consumers.len()));
        Region { breaks, readings: consumers.map(|count| take(count * READING)).collect() }
    }
}

pub(super) fn time(words: &[AtomicU64]) -> Instant {
    Instant::from_words([0, 1, 2].map(|i| words[i].load(SeqCst)))
}

/// Values that a consumer of a delayed connection did not get. Its own thread writes, and after that has left, the runner's main
/// thread.
#[derive(Clone, Copy)]
pub struct ReadingCells<'a> {
    pub(super) words: &'a [AtomicU64],
}

impl ReadingCells<'_> {
    fn add(&self, at: usize, first: Instant, more: u64) {
        let count = self.words[at].load(Relaxed);
        if count == 0 || first < time(&self.words[at + 1..at + 4]) {
            let words = first.to_words().into_iter().chain([more]);
            self.words[at + 1..at + 5].iter().zip(words).for_each(|(place, word)| place.store(word, Relaxed));
        }
        self.words[at].store(count.wrapping_add(1), SeqCst);
    }

    /// A version of that producer, by its place among them, was to be visible from `visible` on and was not finished.
    pub fn missed(&self, visible: Instant, producer: usize) {
        self.add(0, visible, producer as u64);
    }

    /// Counts a version that had been overwritten when the consumer wanted it at `time`.
    pub fn lost(&self, time: Instant) {
        self.add(5, time, 0);
    }

    /// The number of missed versions; the instant at which the first should have been visible, and its producer.
    pub fn all_missed(&self) -> (u64, Instant, usize) {
        (self.words[0].load(SeqCst), time(&self.words[1..4]), self.words[4].load(SeqCst) as usize)
    }

    /// The number of overwritten versions, and the time of the first.
    pub fn all_lost(&self) -> (u64, Instant) {
        (self.words[5].load(SeqCst), time(&self.words[6..9]))
    }
}

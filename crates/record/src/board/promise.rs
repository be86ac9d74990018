//! What breaks the promise that real time gives the numbers of virtual time (semantics S15): per clock its first irregularity,
//! and per delayed connection and consumer what came too late.

use super::Board;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use vecud_base::time::Instant;
use vecud_plan::{ConnectionId, Plan, UnitId};

/// Words of a clock: what it was, its time, whether that is complete.
const BREAK: usize = 5;

/// Words of a consumer of a connection.
const READING: usize = 10;

/// What makes a clock's activations others than those of virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Break {
    /// A release was left out, or a tick found its queue full.
    Overrun = 1,
    /// A tick came too late for its own time.
    Retimed = 2,
}

/// Where these words lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    breaks: usize,
    /// Per connection: the first word of its consumers.
    readings: Vec<usize>,
}

impl Region {
    /// Where it begins.
    pub(super) fn begin(&self) -> usize {
        self.breaks
    }

    /// From `next` on, which is moved behind it.
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

impl<'a> Board<'a> {
    /// Notes what makes a clock's activations others from `time` on, if it is the first such thing. From any thread.
    pub fn note_break(&self, task: UnitId, what: Break, time: Instant) {
        let words = &self.words[self.layout.promise.breaks + task.0 * BREAK..][..BREAK];
        if words[0].compare_exchange(0, what as u64, SeqCst, SeqCst).is_ok() {
            words[1..4].iter().zip(time.to_words()).for_each(|(place, word)| place.store(word, Relaxed));
            words[4].store(1, SeqCst);
        }
    }

    /// The first such thing.
    pub fn first_break(&self, task: UnitId) -> Option<(Break, Instant)> {
        let words = &self.words[self.layout.promise.breaks + task.0 * BREAK..][..BREAK];
        let what = match words[0].load(SeqCst) {
            1 => Break::Overrun,
            2 => Break::Retimed,
            _ => return None,
        };
        (words[4].load(SeqCst) == 1).then(|| (what, time(&words[1..4])))
    }

    /// A consumer of a delayed connection, by its place among them.
    pub fn reading(&self, connection: ConnectionId, consumer: usize) -> ReadingCells<'a> {
        let start = self.layout.promise.readings[connection.0] + consumer * READING;
        ReadingCells { words: &self.words[start..start + READING] }
    }
}

fn time(words: &[AtomicU64]) -> Instant {
    Instant::from_words([0, 1, 2].map(|i| words[i].load(SeqCst)))
}

/// What a consumer of a delayed connection did not get. Its own thread writes; the runner's main thread when that has left.
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

    /// At `time` the version that was wanted had been overwritten already.
    pub fn lost(&self, time: Instant) {
        self.add(5, time, 0);
    }

    /// How many were missed; from when on the first should have been visible, and its producer.
    pub fn all_missed(&self) -> (u64, Instant, usize) {
        (self.words[0].load(SeqCst), time(&self.words[1..4]), self.words[4].load(SeqCst) as usize)
    }

    /// How many had been overwritten, and when first.
    pub fn all_lost(&self) -> (u64, Instant) {
        (self.words[5].load(SeqCst), time(&self.words[6..9]))
    }
}

#[cfg(test)]
impl super::Layout {
    /// Nothing but this.
    fn only(promise: Region, total: usize) -> super::Layout {
        let (samples, notes, control, stimuli) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        super::Layout {
            fmus: 0,
            tasks: 0,
            histograms: 0,
            calls: 0,
            log: 0,
            promise,
            initial: 0,
            starts: Vec::new(),
            rings: 0,
            samples,
            notes,
            causes: None,
            call_times: Vec::new(),
            commands: 0,
            control,
            requests: None,
            stimuli,
            total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Layout;

    #[test]
    fn the_first_of_everything_is_kept_and_everything_counted() {
        let mut next = 0;
        let region = Region { breaks: 0, readings: vec![BREAK, BREAK] };
        next += BREAK + READING;
        let layout = Layout::only(region, next);
        let words: Vec<AtomicU64> = (0..next).map(|_| AtomicU64::new(0)).collect();
        let board = Board::new(&words, &layout);
        let at = |seconds| Instant::from_f64(seconds).unwrap();
        assert_eq!(board.first_break(UnitId(0)), None);
        board.note_break(UnitId(0), Break::Retimed, at(0.5));
        board.note_break(UnitId(0), Break::Overrun, at(0.7));
        assert_eq!(board.first_break(UnitId(0)), Some((Break::Retimed, at(0.5))));
        let reading = board.reading(ConnectionId(1), 0);
        reading.missed(at(3.0), 1);
        reading.missed(at(2.0), 2);
        reading.missed(at(4.0), 1);
        reading.lost(at(1.0));
        assert_eq!((reading.all_missed(), reading.all_lost()), ((3, at(2.0), 2), (1, at(1.0))));
    }
}

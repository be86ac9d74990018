//! Samples of recorded variables: one ring per task, one producer, one consumer.
//!
//! A record is what one activation has set and read: its order, its activation time, and the values as words. What does not
//! fit is refused; the producer counts it.

use std::sync::atomic::{AtomicU64, Ordering};
use vecud_base::time::Instant;
use vecud_description::bytes;

const HEADER: usize = 2;
const RECORD_HEADER: usize = 4;

/// One record, as the consumer sees it, without its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleHeader {
    /// Orders records of one activation time: when they were completed.
    pub order: u64,
    /// Activation time.
    pub time: Instant,
}

/// The rest of a record that is being written.
pub struct NewRecord<'a>(&'a [AtomicU64]);

impl<'a> NewRecord<'a> {
    /// The places of the next values, so many of them: each takes one.
    #[inline]
    pub fn places(&mut self, values: usize) -> impl Iterator<Item = impl FnOnce(u64) + use<'a>> + use<'a> {
        let (places, rest) = self.0.split_at(values.min(self.0.len()));
        self.0 = rest;
        places.iter().map(|place| move |word| place.store(word, Ordering::Relaxed))
    }

    /// Puts as many of these words as there are, into the room of a value that takes `room` words.
    #[inline]
    pub fn put_in(&mut self, room: usize, words: impl IntoIterator<Item = u64>) {
        self.places(room).zip(words).for_each(|(place, word)| place(word));
    }

    /// Puts a string or binary into a room for so many bytes; nothing, if there is none, or if it is longer.
    #[inline]
    pub fn put_bytes(&mut self, capacity: usize, value: Option<&[u8]>) {
        let (room, rest) = self.0.split_at(bytes::words(capacity).min(self.0.len()));
        self.0 = rest;
        match value.filter(|value| value.len() <= capacity) {
            Some(value) => bytes::pack(value, |place, word| room[place].store(word, Ordering::Relaxed)),
            None => room[0].store(bytes::NOTHING, Ordering::Relaxed),
        }
    }

    /// Puts the next values.
    #[inline]
    pub fn put_all(&mut self, words: impl IntoIterator<Item = u64>) {
        words.into_iter().for_each(|word| self.places(1).for_each(|place| place(word)));
    }
}

/// A ring of records in shared words.
#[derive(Clone, Copy)]
pub struct SampleRing<'a> {
    words: &'a [AtomicU64],
    records: usize,
    values: usize,
}

impl<'a> SampleRing<'a> {
    /// Words that a ring takes.
    pub fn words(records: usize, values: usize) -> usize {
        HEADER + records * (RECORD_HEADER + values)
    }

    /// The ring in `words`, zero at first.
    pub fn new(words: &'a [AtomicU64], records: usize, values: usize) -> SampleRing<'a> {
        SampleRing { words, records, values }
    }

    fn record(&self, number: u64) -> &'a [AtomicU64] {
        let width = RECORD_HEADER + self.values;
        let start = HEADER + (number as usize % self.records) * width;
        &self.words[start..start + width]
    }

    /// Whether this task records nothing.
    pub fn is_unused(&self) -> bool {
        self.records == 0
    }

    /// Whether a record would be refused now.
    pub fn is_full(&self) -> bool {
        let [written, read] = [&self.words[0], &self.words[1]];
        written.load(Ordering::Relaxed).wrapping_sub(read.load(Ordering::Acquire)) >= self.records as u64
    }

    /// Records that wait now, and how many there is room for.
    pub fn waiting(&self) -> (usize, usize) {
        if self.is_unused() {
            return (0, 0);
        }
        let waiting = self.words[0].load(Ordering::Acquire).wrapping_sub(self.words[1].load(Ordering::Relaxed));
        (waiting.min(self.records as u64) as usize, self.records)
    }

    /// Appends a record, whose values `fill` puts into it; `false` when the ring is full.
    #[inline]
    pub fn push(&self, order: u64, time: Instant, fill: impl FnOnce(&mut NewRecord)) -> bool {
        if self.is_full() {
            return false;
        }
        let written = self.words[0].load(Ordering::Relaxed);
        let mut record = NewRecord(self.record(written));
        let [a, b, c] = time.to_words();
        record.put_all([order, a, b, c]);
        fill(&mut record);
        self.words[0].store(written.wrapping_add(1), Ordering::Release);
        true
    }

    /// For the consumer: empties a ring whose counters FMU code has written over, so that it goes on. Whether it was one.
    pub fn mend(&self) -> bool {
        let [written, read] = [&self.words[0], &self.words[1]];
        let waiting = written.load(Ordering::Acquire).wrapping_sub(read.load(Ordering::Relaxed));
        let broken = waiting > self.records as u64;
        if broken {
            read.store(written.load(Ordering::Acquire), Ordering::Release);
        }
        broken
    }

    /// Takes the oldest record, and appends its values, the task's recorded ones as words, to `values`. `Some(None)`: its time
    /// is none, so FMU code has written over it.
    pub fn pop(&self, values: &mut Vec<u64>) -> Option<Option<SampleHeader>> {
        if self.is_unused() {
            return None;
        }
        let read = self.words[1].load(Ordering::Relaxed);
        let waiting = self.words[0].load(Ordering::Acquire).wrapping_sub(read);
        // FMU code can write anywhere, also to the counters.
        if waiting == 0 || waiting > self.records as u64 {
            return None;
        }
        let record = self.record(read);
        let word = |i: usize| record[i].load(Ordering::Relaxed);
        let sample = (word(2) < word(3))
            .then(|| SampleHeader { order: word(0), time: Instant::from_words([word(1), word(2), word(3)]) });
        values.extend(record[RECORD_HEADER..].iter().map(|word| word.load(Ordering::Relaxed)));
        self.words[1].store(read.wrapping_add(1), Ordering::Release);
        Some(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_out_as_they_went_in_and_a_full_ring_refuses() {
        let words: Vec<AtomicU64> = (0..SampleRing::words(2, 3)).map(|_| AtomicU64::new(0)).collect();
        let ring = SampleRing::new(&words, 2, 3);
        let mut values = Vec::new();
        for round in 0..5 {
            let time = Instant::from_f64(0.1 * round as f64).unwrap();
            assert!(ring.push(round, time, |record| record.put_all([round, 2, 3])));
            assert!(ring.push(round, time, |record| record.put_all([4, 5, 6])));
            assert!(!ring.push(round, time, |record| record.put_all([0, 0, 0])));
            assert_eq!(ring.pop(&mut values), Some(Some(SampleHeader { order: round, time })));
            assert!(ring.pop(&mut values).flatten().is_some());
            assert_eq!(ring.pop(&mut values), None);
            assert_eq!(std::mem::take(&mut values), [round, 2, 3, 4, 5, 6]);
        }
    }

    /// FMU code can write anywhere, also here.
    #[test]
    fn counters_that_are_none_are_no_records() {
        let words: Vec<AtomicU64> = (0..SampleRing::words(2, 3)).map(|_| AtomicU64::new(7)).collect();
        let ring = SampleRing::new(&words, 2, 3);
        for written in [u64::MAX, 6, 10] {
            words[0].store(written, Ordering::Relaxed);
            assert_eq!(ring.pop(&mut Vec::new()), None, "{written} written, 7 read");
            assert!(ring.is_full(), "{written} written, 7 read");
        }
        assert!(ring.mend() && !ring.mend());
        assert!(ring.push(1, Instant::ZERO, |record| record.put_all([1, 2, 3])), "it goes on");
        // The counter of the first one's time: it is larger than its resolution.
        words[HEADER + 2].store(u64::MAX, Ordering::Relaxed);
        assert!(ring.push(2, Instant::ZERO, |record| record.put_all([4, 5, 6])));
        let orders = std::iter::from_fn(|| ring.pop(&mut Vec::new())).map(|sample| sample.map(|sample| sample.order));
        assert_eq!(orders.collect::<Vec<_>>(), [None, Some(2)]);
    }
}

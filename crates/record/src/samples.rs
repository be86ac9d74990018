//! Samples of recorded variables: one ring per task, one producer, one consumer.
//!
//! A record is the data that one activation has set and read: its order, its activation time, and the values as words. A
//! record without room is refused; the producer counts it.

use crate::ring::{Record, Ring};
use std::sync::atomic::{AtomicU64, Ordering};
use vecud_base::time::Instant;
use vecud_description::bytes;

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
    /// The places of the next values, one word each; `values`: their number.
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

    /// Puts a string or binary into its room of bytes; puts nothing if there is none, or if it is too long.
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

/// The samples of a task.
#[derive(Clone, Copy)]
pub struct SampleRing<'a> {
    /// Their ring.
    pub ring: Ring<'a>,
    /// Words of each.
    pub length: usize,
}

impl<'a> SampleRing<'a> {
    /// The number of words of a record with this number of values.
    pub fn length(values: usize) -> usize {
        RECORD_HEADER + values
    }

    /// Appends a record, whose values `fill` puts into it; `false` when the ring is full.
    #[inline]
    pub fn push(&self, order: u64, time: Instant, fill: impl FnOnce(&mut NewRecord)) -> bool {
        self.ring.push_with(self.length, |places| {
            let Some((header, values)) = places.split_first_chunk::<RECORD_HEADER>() else { return };
            let [a, b, c] = time.to_words();
            header.iter().zip([order, a, b, c]).for_each(|(place, word)| place.store(word, Ordering::Relaxed));
            fill(&mut NewRecord(values));
        })
    }

    /// Takes the present records: the words behind the header. `None`: the length or the time of a record is impossible, so FMU code
    /// has written over it.
    pub fn take(self) -> impl Iterator<Item = Option<(SampleHeader, Record<'a>)>> {
        self.ring.take().map(move |record| {
            let [order, a, b, c] = std::array::from_fn(|place| record.word(place));
            (record.len() == self.length && b < c).then(|| {
                let header = SampleHeader { order, time: Instant::from_words([a, b, c]) };
                (header, record.part(RECORD_HEADER, self.length))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::RingPlace;

    #[test]
    fn records_come_out_as_they_went_in_and_what_was_written_over_is_none() {
        let mut end = 0;
        let place = RingPlace::after(&mut end, 16, 7);
        let words: Vec<AtomicU64> = (0..end).map(|_| AtomicU64::new(0)).collect();
        let ring = SampleRing { ring: place.ring(&words), length: SampleRing::length(3) };
        let take = || -> Vec<Option<(SampleHeader, Vec<u64>)>> {
            ring.take().map(|sample| sample.map(|(header, values)| (header, values.words().collect()))).collect()
        };
        for round in 0..5 {
            let time = Instant::from_f64(0.1 * round as f64).unwrap();
            assert!(ring.push(round, time, |record| record.put_all([round, 2, 3])));
            assert!(ring.push(9, time, |record| record.put_all([4, 5, 6])));
            assert!(!ring.push(round, time, |record| record.put_all([0, 0, 0])));
            let header = |order| SampleHeader { order, time };
            assert_eq!(take(), [Some((header(round), vec![round, 2, 3])), Some((header(9), vec![4, 5, 6]))]);
        }
        // FMU code can write anywhere, also here: the counter of a time is larger than its resolution.
        words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        assert!(ring.push(1, Instant::ZERO, |record| record.put_all([1, 2, 3])));
        let length = words.iter().position(|word| word.load(Ordering::Relaxed) == 7).unwrap();
        words[length + 3].store(u64::MAX, Ordering::Relaxed);
        assert!(ring.push(2, Instant::ZERO, |record| record.put_all([4, 5, 6])));
        let orders: Vec<Option<u64>> =
            take().into_iter().map(|sample| sample.map(|(header, _)| header.order)).collect();
        assert_eq!(orders, [None, Some(2)]);
    }
}

//! A ring of records of any length in shared words: one writer, one reader, in one process or in two.
//!
//! A record is its length and its words, side by side. Positions only grow; modulo the capacity, a power of two, they are places. A
//! record that begins before the end of the capacity may go on behind it, where there is room for the longest record, and the next
//! one begins at the front.
//!
//! Memory ordering: the writer puts a record there, then releases `written`; the reader acquires that, reads, then releases `read`, which
//! the writer acquires before it writes over what was there. Several writers, or several readers, exclude each other by a lock of theirs.
//!
//! FMU code can write anywhere, also here. A writer takes counters that cannot be for a full ring; the reader takes them, and a length
//! that cannot be, for one record without words, and has an empty ring once it is through with that. No real record is without words.

use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::time::Duration;

/// Words of a cache line.
pub(super) const LINE: usize = 8;

/// The writer's line.
const WRITTEN: usize = 0;
const REFUSED: usize = 1;
/// The reader's line.
const READ: usize = LINE;
const HEADER: usize = 2 * LINE;

/// The place of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingPlace {
    start: usize,
    capacity: usize,
    longest: usize,
}

impl RingPlace {
    /// The place of a ring from the next cache line on; moves `next` behind it. The ring has room for at least `capacity` words,
    /// one for the length of each record included, and for records of at most `longest` words.
    pub fn after(next: &mut usize, capacity: usize, longest: usize) -> RingPlace {
        let (start, capacity) = (next.next_multiple_of(LINE), capacity.next_power_of_two());
        *next = start + HEADER + capacity + longest;
        RingPlace { start, capacity, longest }
    }

    /// The ring that lies here in `words`, zero at first.
    pub fn ring(self, words: &[AtomicU64]) -> Ring<'_> {
        let words = &words[self.start..][..HEADER + self.capacity + self.longest];
        let (header, data) = words.split_first_chunk().expect("as many words");
        Ring { header, data, mask: self.capacity - 1 }
    }
}

/// A ring of records. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Ring<'a> {
    header: &'a [AtomicU64; HEADER],
    data: &'a [AtomicU64],
    mask: usize,
}

impl<'a> Ring<'a> {
    fn capacity(&self) -> u64 {
        self.mask as u64 + 1
    }

    /// The words of the longest record that an empty ring has room for, wherever that begins.
    pub fn longest(&self) -> usize {
        self.data.len() - self.mask - 1
    }

    /// Words that wait now, and how many there is room for.
    pub fn waiting(&self) -> (usize, usize) {
        let waiting = self.header[WRITTEN].load(Acquire).wrapping_sub(self.header[READ].load(Relaxed));
        (waiting.min(self.capacity()) as usize, self.mask + 1)
    }

    /// The place for the length of another record, those for its words, and the position after it; `None`: there is no room.
    #[inline(always)]
    fn space(&self, length: usize) -> Option<(&'a AtomicU64, &'a [AtomicU64], u64)> {
        let written = self.header[WRITTEN].load(Relaxed);
        let free = self.capacity().saturating_sub(written.wrapping_sub(self.header[READ].load(Acquire)));
        let at = written as usize & self.mask;
        let width = (1 + length).min(self.mask + 1 - at) as u64;
        let (head, words) = self.data.get(at..at + 1 + length)?.split_first()?;
        (width <= free).then_some((head, words, written.wrapping_add(width)))
    }

    /// Appends a record of this number of words, which `fill` writes; without room counts it, and is `false`. For the writer.
    #[inline(always)] // what a record of known length does not need is known where it is made
    pub fn push_with(&self, length: usize, fill: impl FnOnce(&'a [AtomicU64])) -> bool {
        let Some((head, words, next)) = self.space(length) else { return self.refuse() };
        head.store(length as u64, Relaxed);
        fill(words);
        self.header[WRITTEN].store(next, Release);
        true
    }

    /// Appends a record of these words. For the writer.
    pub fn push(&self, record: &[u64]) -> bool {
        let put =
            |places: &[AtomicU64]| places.iter().zip(record).for_each(|(place, word)| place.store(*word, Relaxed));
        self.push_with(record.len(), put)
    }

    #[cold]
    fn refuse(&self) -> bool {
        let refused = &self.header[REFUSED];
        refused.store(refused.load(Relaxed).wrapping_add(1), Relaxed);
        false
    }

    /// The number of refused records.
    pub fn refused(&self) -> u64 {
        self.header[REFUSED].load(Relaxed)
    }

    /// Whether there is room for a record of this number of words; the room stays until a record is appended.
    pub fn has_room(&self, length: usize) -> bool {
        self.space(length).is_some()
    }

    /// Waits until there is. For a writer that is in no hurry.
    pub fn wait_for_room(&self, length: usize) {
        while !self.has_room(length) {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// The first words that the writer looks at or changes.
    #[inline]
    pub fn prefetched(&self) -> [&'a AtomicU64; 5] {
        let at = self.header[WRITTEN].load(Relaxed) as usize & self.mask;
        let [first, second, third] = [at, at + LINE, at + 2 * LINE].map(|place| &self.data[place.min(self.mask)]);
        [&self.header[WRITTEN], &self.header[READ], first, second, third]
    }

    /// The record at `read`, if it lies before `written`, and the position after it.
    #[inline]
    fn record(&self, read: u64, written: u64) -> Option<(Record<'a>, u64)> {
        let waiting = written.wrapping_sub(read);
        if waiting == 0 {
            return None;
        }
        let at = read as usize & self.mask;
        let length = self.data[at].load(Relaxed) as usize;
        let width = length.saturating_add(1).min(self.mask + 1 - at) as u64;
        let words = length.checked_add(at + 1).and_then(|end| self.data.get(at + 1..end));
        let words = words.filter(|_| width <= waiting && waiting <= self.capacity());
        Some(words.map_or((Record(&[]), written), |words| (Record(words), read.wrapping_add(width))))
    }

    /// The oldest record, which stays. For the reader.
    #[inline]
    pub fn peek(&self) -> Option<Record<'a>> {
        self.record(self.header[READ].load(Acquire), self.header[WRITTEN].load(Acquire)).map(|(record, _)| record)
    }

    /// Takes the present records one by one: each is gone when the next one is asked for. For the reader.
    #[inline]
    pub fn take(self) -> RecordReader<'a> {
        let read = self.header[READ].load(Acquire);
        RecordReader { ring: self, next: read, written: self.header[WRITTEN].load(Acquire) }
    }
}

/// RecordReader that are being read. See [`Ring::take`].
pub struct RecordReader<'a> {
    ring: Ring<'a>,
    next: u64,
    written: u64,
}

impl RecordReader<'_> {
    fn free(&self) {
        self.ring.header[READ].store(self.next, Release);
    }
}

impl<'a> Iterator for RecordReader<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        self.free();
        let (record, next) = self.ring.record(self.next, self.written)?;
        self.next = next;
        Some(record)
    }
}

impl Drop for RecordReader<'_> {
    fn drop(&mut self) {
        self.free();
    }
}

/// A record, or a part of one, that is being read.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a>(&'a [AtomicU64]);

impl<'a> Record<'a> {
    /// The number of its words.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether it has none: it cannot be read, since FMU code has written over it.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// A word of the record; 0 beyond the end.
    #[inline]
    pub fn word(self, index: usize) -> u64 {
        self.0.get(index).map_or(0, |word| word.load(Relaxed))
    }

    /// The words of the record.
    pub fn words(self) -> impl Iterator<Item = u64> + use<'a> {
        self.0.iter().map(|word| word.load(Relaxed))
    }

    /// A part of the record, as long as there is one.
    pub fn part(self, start: usize, length: usize) -> Record<'a> {
        let rest = &self.0[start.min(self.len())..];
        Record(&rest[..length.min(rest.len())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring for 16 words, with records of at most 12.
    fn with_ring(test: impl FnOnce(&[AtomicU64], Ring)) {
        let mut end = 0;
        let place = RingPlace::after(&mut end, 11, 12);
        let words: Vec<AtomicU64> = (0..end).map(|_| AtomicU64::new(0)).collect();
        test(&words, place.ring(&words));
    }

    fn taken(ring: Ring) -> Vec<Vec<u64>> {
        ring.take().map(|record| record.words().collect()).collect()
    }

    #[test]
    fn records_of_any_length_come_out_as_they_went_in_round_and_round() {
        with_ring(|_, ring| {
            for round in 0..100u64 {
                let record: Vec<u64> = (0..1 + round % 11).map(|i| round * 10 + i).collect();
                assert!(ring.push(&record) && ring.push(&[7]), "{round}");
                assert_eq!(ring.peek().unwrap().words().collect::<Vec<u64>>(), record);
                // What comes meanwhile waits for the next look.
                assert_eq!(ring.take().inspect(|_| assert!(ring.push(&[8]))).count(), 2);
                assert_eq!(taken(ring), [[8], [8]]);
                assert!(ring.peek().is_none());
            }
        });
    }

    #[test]
    fn a_full_ring_refuses_counts_and_keeps_what_it_has() {
        with_ring(|_, ring| {
            // The last one before the end of the capacity goes on behind it.
            for first in [7, 12] {
                assert!(ring.push(&vec![1; first]) && ring.push(&[2; 12]));
                assert!(!ring.has_room(1) && !ring.push(&[3]));
                assert_eq!((ring.waiting(), ring.longest()), ((16, 16), 12));
                assert_eq!(taken(ring), [vec![1; first], vec![2; 12]]);
            }
            assert_eq!(ring.refused(), 2);
        });
    }

    /// FMU code can write anywhere, also here.
    #[test]
    fn counters_and_lengths_that_cannot_be_are_a_record_without_words() {
        let damages =
            [(WRITTEN, 0), (WRITTEN, 40), (READ, 7), (HEADER + 2, 0), (HEADER + 2, 6), (HEADER + 2, u64::MAX)];
        for (place, word) in damages {
            with_ring(|words, ring| {
                assert!(ring.push(&[1]) && ring.take().count() == 1 && ring.push(&[2]) && ring.push(&[3]));
                words[place].store(word, Relaxed);
                assert_eq!((ring.has_room(1), ring.peek().unwrap().len()), (place >= HEADER, 0), "{place}");
                assert_eq!(taken(ring)[0], [0; 0]);
                assert!(ring.push(&[5]), "it goes on");
                assert_eq!(taken(ring), [[5]]);
            });
        }
    }

    #[test]
    fn a_reader_on_another_thread_gets_every_record_whole_and_in_order() {
        with_ring(|_, ring| {
            let count = if cfg!(miri) { 100 } else { 50_000 };
            let record = |number: u64| vec![number; 1 + number as usize % 12];
            std::thread::scope(|scope| {
                let writer = scope.spawn(move || (0..count).filter(|number| ring.push(&record(*number))).count());
                let mut seen = Vec::new();
                loop {
                    let is_over = writer.is_finished();
                    seen.extend(taken(ring));
                    if is_over {
                        break;
                    }
                }
                assert!(seen.iter().all(|words| *words == record(words[0])), "no record is torn");
                assert!(seen.is_sorted_by_key(|words| words[0]));
                assert_eq!(seen.len() as u64 + ring.refused(), count, "each is read or counted");
            });
        });
    }
}

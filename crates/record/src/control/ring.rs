//! Records of any length in shared words: one writer, readers that exclude each other.
//!
//! Counters only grow. The writer puts the record there and then moves `written` (release); a reader that sees it
//! (acquire) sees the record. The reader finishes a record by its outcome and then moves `done` (release), which hands
//! outcome and room back to the writer. The writer never has more than [`OUTSTANDING`] records of which it has not read
//! the outcome.

use std::sync::atomic::{AtomicU64, Ordering};
use vecud_base::time::Instant;

const WRITTEN: usize = 0;
const READ: usize = 1;
const DONE: usize = 2;
const OUTCOMES: usize = 3;
const OUTCOME_WORDS: usize = 4;
const HEADER: usize = OUTCOMES + OUTSTANDING * OUTCOME_WORDS;

/// Records whose outcomes a ring remembers.
pub const OUTSTANDING: usize = 64;

/// How a command went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The command was carried out.
    Applied,
    /// A call failed; the instance is at its end. Status and function as [`crate::board`] has them.
    Failed {
        /// 1 warning that the rig calls an error, 2 discard, 3 error, 4 fatal.
        status: u8,
        /// Which function.
        function: u8,
    },
    /// Nothing was called: the variable has another number of elements by now.
    Resized,
    /// A tick was not taken: the instance has failed, or the stop time has come.
    Refused,
    /// A tick was not taken: as many of its clock as there may be wait already.
    Full,
    /// A tick was taken, and waits until the run, which is held, goes on.
    Held,
}

impl CommandOutcome {
    fn to_word(self) -> u64 {
        match self {
            CommandOutcome::Applied => 0,
            CommandOutcome::Failed { status, function } => 1 | u64::from(status) << 8 | u64::from(function) << 16,
            CommandOutcome::Resized => 2,
            CommandOutcome::Refused => 3,
            CommandOutcome::Full => 4,
            CommandOutcome::Held => 5,
        }
    }

    fn from_word(word: u64) -> CommandOutcome {
        match word & 0xff {
            0 => CommandOutcome::Applied,
            1 => CommandOutcome::Failed { status: (word >> 8) as u8, function: (word >> 16) as u8 },
            2 => CommandOutcome::Resized,
            4 => CommandOutcome::Full,
            5 => CommandOutcome::Held,
            _ => CommandOutcome::Refused,
        }
    }
}

/// Outcome of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommandReply {
    /// Success, or the kind of failure.
    pub verdict: CommandOutcome,
    /// Activation time of the activation before which it was executed; for a reconfiguration the simulation time.
    pub time: Instant,
}

/// A ring in shared words, all zero at first.
#[derive(Clone, Copy)]
pub struct Ring<'a> {
    header: &'a [AtomicU64],
    data: &'a [AtomicU64],
}

/// A record that is being read.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    data: &'a [AtomicU64],
    start: u64,
    length: usize,
}

impl<'a> Ring<'a> {
    /// Words that a ring with room for `capacity` words takes.
    pub fn words(capacity: usize) -> usize {
        HEADER + capacity
    }

    /// The ring in these words.
    ///
    /// # Panics
    /// When there are too few to hold anything.
    pub fn new(words: &'a [AtomicU64]) -> Ring<'a> {
        assert!(words.len() > HEADER, "a ring needs room for records");
        let (header, data) = words.split_at(HEADER);
        Ring { header, data }
    }

    /// The longest record that this ring could ever take.
    pub fn longest(&self) -> usize {
        self.data.len() - 1
    }

    /// Writer: whether there is room for a record of so many words now; there is until one is appended.
    pub fn has_room(&self, words: usize) -> bool {
        let written = self.header[WRITTEN].load(Ordering::Relaxed);
        // FMU code can write anywhere, also to the counters.
        let waiting = written.wrapping_sub(self.header[READ].load(Ordering::Acquire));
        (words as u64) < (self.data.len() as u64).saturating_sub(waiting)
    }

    /// Writer: appends a record; `false` when there is no room for it now.
    pub fn push(&self, record: &[u64]) -> bool {
        if !self.has_room(record.len()) {
            return false;
        }
        let written = self.header[WRITTEN].load(Ordering::Relaxed);
        for (offset, word) in (0..).zip(std::iter::once(record.len() as u64).chain(record.iter().copied())) {
            self.place(written.wrapping_add(offset)).store(word, Ordering::Relaxed);
        }
        self.header[WRITTEN].store(written.wrapping_add(1 + record.len() as u64), Ordering::Release);
        true
    }

    /// Writer: how many records are finished, counted from the start.
    pub fn done(&self) -> u64 {
        self.header[DONE].load(Ordering::Acquire)
    }

    /// Writer: the outcome of a finished record, one of the last [`OUTSTANDING`]; records are numbered from 0.
    pub fn outcome(&self, number: u64) -> CommandReply {
        let words = self.outcome_words(number);
        let word = |i: usize| words[i].load(Ordering::Relaxed);
        CommandReply {
            verdict: CommandOutcome::from_word(word(0)),
            time: Instant::from_words([word(1), word(2), word(3)]),
        }
    }

    /// Reader: the oldest record that is not finished.
    #[inline]
    pub fn next(&self) -> Option<Record<'a>> {
        let read = self.header[READ].load(Ordering::Acquire);
        let waiting = self.header[WRITTEN].load(Ordering::Acquire).wrapping_sub(read);
        // FMU code can write anywhere, also to the counters: nothing is longer than the ring.
        if waiting == 0 || waiting > self.data.len() as u64 {
            return None;
        }
        let length = self.place(read).load(Ordering::Relaxed).min(waiting - 1) as usize;
        Some(Record { data: self.data, start: read.wrapping_add(1), length })
    }

    /// Reader: [`Ring::next`] is finished.
    pub fn finish(&self, outcome: CommandReply) {
        let Some(record) = self.next() else { return };
        let done = self.header[DONE].load(Ordering::Relaxed);
        let [a, b, c] = outcome.time.to_words();
        for (place, word) in self.outcome_words(done).iter().zip([outcome.verdict.to_word(), a, b, c]) {
            place.store(word, Ordering::Relaxed);
        }
        self.header[READ].store(record.start.wrapping_add(record.length as u64), Ordering::Release);
        self.header[DONE].store(done.wrapping_add(1), Ordering::Release);
    }

    fn place(&self, at: u64) -> &'a AtomicU64 {
        &self.data[(at % self.data.len() as u64) as usize]
    }

    fn outcome_words(&self, number: u64) -> &'a [AtomicU64] {
        let start = OUTCOMES + (number % OUTSTANDING as u64) as usize * OUTCOME_WORDS;
        &self.header[start..start + OUTCOME_WORDS]
    }
}

impl<'a> Record<'a> {
    /// The number of words that the record has.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// One of them; 0 beyond the end.
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        if index >= self.length {
            return 0;
        }
        self.data[(self.start.wrapping_add(index as u64) % self.data.len() as u64) as usize].load(Ordering::Relaxed)
    }

    /// A part of it.
    pub fn part(&self, start: usize, length: usize) -> Record<'a> {
        let start = start.min(self.length);
        Record { start: self.start.wrapping_add(start as u64), length: length.min(self.length - start), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(capacity: usize) -> Vec<AtomicU64> {
        (0..Ring::words(capacity)).map(|_| AtomicU64::new(0)).collect()
    }

    fn words(record: Record) -> Vec<u64> {
        (0..record.len()).map(|i| record.word(i)).collect()
    }

    fn at(seconds: f64) -> CommandReply {
        CommandReply { verdict: CommandOutcome::Applied, time: Instant::from_f64(seconds).unwrap() }
    }

    #[test]
    fn records_of_any_length_come_out_as_they_went_in_round_and_round() {
        let memory = memory(11);
        let ring = Ring::new(&memory);
        for round in 0..100u64 {
            let record: Vec<u64> = (0..round % 6).map(|i| round * 10 + i).collect();
            assert!(ring.push(&record) && ring.push(&[7]));
            assert_eq!(words(ring.next().unwrap()), record);
            ring.finish(at(round as f64));
            assert_eq!(words(ring.next().unwrap()), [7]);
            ring.finish(at(0.5));
            assert!(ring.next().is_none());
            assert_eq!(ring.done(), 2 * round + 2);
            assert_eq!(ring.outcome(2 * round), at(round as f64));
            assert_eq!(ring.outcome(2 * round + 1), at(0.5));
        }
    }

    #[test]
    fn a_full_ring_refuses_and_keeps_what_it_has() {
        let memory = memory(8);
        let ring = Ring::new(&memory);
        assert_eq!(ring.longest(), 7);
        assert!(ring.push(&[1, 2, 3]) && ring.push(&[4, 5, 6]));
        assert!(!ring.push(&[]));
        assert_eq!(words(ring.next().unwrap()), [1, 2, 3]);
        ring.finish(at(0.0));
        assert!(!ring.push(&[7, 8, 9, 10]) && ring.push(&[7, 8, 9]));
        assert_eq!(words(ring.next().unwrap()), [4, 5, 6]);
    }

    /// FMU code can write anywhere, also here.
    #[test]
    fn a_ring_that_has_read_more_than_was_written_is_full() {
        let memory = memory(8);
        memory[READ].store(u64::MAX - 20, Ordering::Relaxed);
        assert!(!Ring::new(&memory).push(&[1]));
    }

    #[test]
    fn verdicts_survive_their_word() {
        for verdict in
            [CommandOutcome::Applied, CommandOutcome::Resized, CommandOutcome::Failed { status: 3, function: 77 }]
        {
            assert_eq!(CommandOutcome::from_word(verdict.to_word()), verdict);
        }
    }

    #[test]
    fn a_reader_on_another_thread_gets_every_record_whole() {
        let memory = memory(64);
        let ring = Ring::new(&memory);
        let count = if cfg!(miri) { 100 } else { 50_000 };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..count {
                    let record = vec![number; (number % 13) as usize];
                    while number - ring.done() >= OUTSTANDING as u64 || !ring.push(&record) {
                        std::thread::yield_now();
                    }
                }
            });
            for number in 0..count {
                let record = loop {
                    match ring.next() {
                        Some(record) => break record,
                        None => std::thread::yield_now(),
                    }
                };
                assert_eq!(words(record), vec![number; (number % 13) as usize]);
                ring.finish(at(0.0));
            }
        });
    }
}

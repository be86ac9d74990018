//! The newest lines of an FMU that found no room in the log: severe ones apart from others, so that a flood of the others does
//! not replace them.
//!
//! Any thread puts a line over the oldest of its kind, without waiting: a slot has one owner at a time, who has taken it by
//! compare-and-swap, and a slot that somebody is at is left aside. A producer that a crash has stopped leaves its slot taken.

use super::line::{BODY, LogRecord, Speaker, TEXT, fitting, read, write};
use std::sync::atomic::{AtomicU64, Ordering};

/// Lines of each kind.
const KEPT: usize = 8;
/// Words of a slot: its state, line.
const SLOT: usize = 1 + BODY;
/// Words of a kind: how many lines have come, slots.
const KIND: usize = 1 + KEPT * SLOT;

/// Words that it takes.
pub const WORDS: usize = 2 * KIND;

/// Nothing is in the slot.
const EMPTY: u64 = 0;
/// Somebody writes or reads it.
const TAKEN: u64 = 1;
/// A line is in it.
const FULL: u64 = 2;

/// The lines of an FMU.
#[derive(Clone, Copy)]
pub struct Overflow<'a> {
    words: &'a [AtomicU64],
}

impl<'a> Overflow<'a> {
    /// The lines in [`WORDS`] words, zero at first.
    pub fn new(words: &'a [AtomicU64]) -> Overflow<'a> {
        Overflow { words: &words[..WORDS] }
    }

    /// Keeps a line. `false`: another one was lost for it, or itself.
    pub fn put(&self, fmu: usize, status: u8, at: i64, category: &[u8], message: &[u8]) -> bool {
        let kind = &self.words[usize::from(status > 1) * KIND..][..KIND];
        let next = kind[0].fetch_add(1, Ordering::Relaxed) as usize;
        for place in 0..KEPT {
            let (state, body) =
                kind[1 + next.wrapping_add(place) % KEPT * SLOT..][..SLOT].split_first().expect("words");
            let before = state.load(Ordering::Relaxed);
            if before == TAKEN || state.compare_exchange(before, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_err() {
                continue;
            }
            let category = fitting(category);
            let kept = &message[..message.len().min(TEXT - category.len())];
            let speaker = Speaker { fmu: Some(fmu), status, at };
            write(body, speaker, [category, kept], kept.len() < message.len(), false);
            state.store(FULL, Ordering::Release);
            return before == EMPTY;
        }
        false
    }

    /// For the consumer: takes all lines, the oldest first.
    pub fn take(&self) -> Vec<LogRecord> {
        let slots = self.words.chunks(KIND).flat_map(|kind| kind[1..].chunks(SLOT));
        let line = |slot: &[AtomicU64]| {
            let (state, body) = slot.split_first()?;
            state.compare_exchange(FULL, TAKEN, Ordering::Acquire, Ordering::Relaxed).ok()?;
            let line = read(body).line();
            state.store(EMPTY, Ordering::Release);
            Some(line)
        };
        let mut lines: Vec<LogRecord> = slots.filter_map(line).collect();
        lines.sort_by_key(|line| line.at);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Vec<AtomicU64> {
        (0..WORDS).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn the_newest_of_each_kind_stay() {
        let words = words();
        let overflow = Overflow::new(&words);
        let put = |status: u8, at: i64| overflow.put(3, status, at, b"c", at.to_string().as_bytes());
        assert_eq!((0..20).filter(|at| put(3, *at)).count(), KEPT, "what takes the place of another one has lost it");
        assert_eq!((20..1000).filter(|at| put(0, *at)).count(), KEPT);
        let lines = overflow.take();
        let messages: Vec<i64> = lines.iter().map(|line| line.message.parse().unwrap()).collect();
        assert_eq!(messages, (12..20).chain(992..1000).collect::<Vec<i64>>());
        assert!(lines.iter().all(|line| line.fmu == Some(3) && line.category == "c"));
        assert_eq!(overflow.take(), []);
        assert!(put(0, 0));
    }

    /// A producer that was stopped in the midst of a line keeps nobody waiting, nor does FMU code that has written there.
    #[test]
    fn slots_that_somebody_is_at_are_left_aside() {
        let words = words();
        let overflow = Overflow::new(&words);
        words[KIND + 1].store(TAKEN, Ordering::Relaxed);
        assert_eq!((0..8).filter(|at| overflow.put(0, 4, *at, b"", b"x")).count(), KEPT - 1);
        assert_eq!(overflow.take().len(), KEPT - 1);
        words.iter().for_each(|word| word.store(TAKEN, Ordering::Relaxed));
        assert!(!overflow.put(0, 4, 0, b"", b"x"));
        words.iter().for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
        assert_eq!(overflow.take(), []);
    }

    #[test]
    fn lines_of_several_threads_are_whole() {
        let words = words();
        let overflow = Overflow::new(&words);
        let each = if cfg!(miri) { 20 } else { 2000 };
        let is_whole =
            |line: &LogRecord| line.message.len() == 30 && line.message.chars().all(|c| line.message.starts_with(c));
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let text = [b'a' + thread; 30];
                scope.spawn(move || (0..each).filter(|at| overflow.put(0, thread, *at, b"", &text)).count());
            }
            (0..each).for_each(|_| assert!(overflow.take().iter().all(is_whole)));
        });
        assert!(overflow.take().iter().all(is_whole));
    }
}

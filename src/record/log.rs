//! Log lines of FMUs and of the host, from any thread, without ever blocking it.
//!
//! A bounded ring of fixed slots in shared words. A producer takes a slot by one compare-and-swap, copies, and marks the
//! slot as written; when the ring is full the line is dropped and counted. Text that is longer than a slot is cut (and says
//! so). A producer that is preempted in between delays the consumer, not other producers; after a crash the consumer steps
//! over what was left unwritten.

use std::sync::atomic::{AtomicU64, Ordering};

/// Lines that the ring holds.
pub const SLOTS: usize = 512;
const TEXT_WORDS: usize = 92;
/// Words per slot: sequence, source and status and lengths, wall clock, text.
const SLOT: usize = 3 + TEXT_WORDS;
/// Words before the lines.
pub const HEADER: usize = 3;
const TAIL: usize = 0;
const HEAD: usize = 1;
const DROPPED: usize = 2;
const TEXT: usize = TEXT_WORDS * 8;

/// Words that the ring takes.
pub const WORDS: usize = HEADER + SLOTS * SLOT;

/// Bytes of category and message that a line can hold.
pub const LONGEST: usize = TEXT;

/// The category of lines that tell of a call of one of the FMU's functions.
pub const CALL: &[u8] = b"call";

/// A log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Index of the FMU; `None`: the host itself.
    pub fmu: Option<usize>,
    /// FMI status (0 OK to 4 Fatal); for host lines 0 is information and 3 an error.
    pub status: u8,
    /// CLOCK_MONOTONIC, ns.
    pub at: i64,
    /// Empty when there was none.
    pub category: String,
    /// What was said.
    pub message: String,
    /// The message was longer.
    pub cut: bool,
}

/// The ring.
#[derive(Clone, Copy)]
pub struct LogRing<'a> {
    words: &'a [AtomicU64],
}

impl<'a> LogRing<'a> {
    /// The ring in [`WORDS`] words, zero at first.
    pub fn new(words: &'a [AtomicU64]) -> LogRing<'a> {
        LogRing { words: &words[..WORDS] }
    }

    fn slot(&self, number: u64) -> &'a [AtomicU64] {
        let start = HEADER + (number as usize % SLOTS) * SLOT;
        &self.words[start..start + SLOT]
    }

    /// Whether a line would find room now.
    pub fn has_room(&self) -> bool {
        let [tail, head] = [TAIL, HEAD].map(|word| self.words[word].load(Ordering::Acquire));
        tail.wrapping_sub(head) < SLOTS as u64
    }

    /// Appends a line; any thread. `false`: there was no room.
    pub fn push(&self, fmu: Option<usize>, status: u8, at: i64, category: &[u8], message: &[u8]) -> bool {
        let Some(number) = self.claim(self.words[TAIL].load(Ordering::Relaxed)) else {
            self.words[DROPPED].fetch_add(1, Ordering::Relaxed);
            return false;
        };
        let slot = self.slot(number);
        let category = &category[..category.len().min(TEXT / 4)];
        let kept = &message[..message.len().min(TEXT - category.len())];
        let cut = u64::from(kept.len() < message.len());
        let source = fmu.map_or(0, |fmu| fmu as u64 + 1);
        slot[1].store(
            source << 32 | cut << 31 | u64::from(status) << 24 | (category.len() as u64) << 12 | kept.len() as u64,
            Ordering::Relaxed,
        );
        slot[2].store(at as u64, Ordering::Relaxed);
        let mut bytes = category.iter().chain(kept).copied();
        for word in &slot[3..3 + (category.len() + kept.len()).div_ceil(8)] {
            word.store(u64::from_le_bytes(std::array::from_fn(|_| bytes.next().unwrap_or(0))), Ordering::Relaxed);
        }
        slot[0].store(number.wrapping_add(1), Ordering::Release);
        true
    }

    /// Claims the next slot, which was number `next` a moment ago; `None`: there is no room.
    fn claim(&self, mut next: u64) -> Option<u64> {
        loop {
            if next.wrapping_sub(self.words[HEAD].load(Ordering::Acquire)) >= SLOTS as u64 {
                // Full; or others have come first, and their lines were taken already.
                let now = self.words[TAIL].load(Ordering::Relaxed);
                if now == next {
                    return None;
                }
                next = now;
                continue;
            }
            match self.words[TAIL].compare_exchange_weak(
                next,
                next.wrapping_add(1),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(next),
                Err(newer) => next = newer,
            }
        }
    }

    /// For the consumer: empties a ring whose counters FMU code has written over, so that it goes on. Whether it was one.
    pub fn mend(&self) -> bool {
        let [tail, head] = [TAIL, HEAD].map(|word| &self.words[word]);
        let broken = tail.load(Ordering::Acquire).wrapping_sub(head.load(Ordering::Relaxed)) > SLOTS as u64;
        if broken {
            head.store(tail.load(Ordering::Acquire), Ordering::Release);
        }
        broken
    }

    /// Takes the oldest line. `after_the_end`: the producers are gone, so step over slots that were left unwritten.
    pub fn pop(&self, after_the_end: bool) -> Option<Line> {
        loop {
            let number = self.words[HEAD].load(Ordering::Relaxed);
            let waiting = self.words[TAIL].load(Ordering::Acquire).wrapping_sub(number);
            // FMU code can write anywhere, also to the counters.
            if waiting == 0 || waiting > SLOTS as u64 {
                return None;
            }
            let slot = self.slot(number);
            let written = slot[0].load(Ordering::Acquire) == number.wrapping_add(1);
            if !written && !after_the_end {
                return None;
            }
            let line = written.then(|| {
                let about = slot[1].load(Ordering::Relaxed);
                let category = ((about >> 12 & 0xfff) as usize).min(TEXT);
                let message = ((about & 0xfff) as usize).min(TEXT - category);
                let text: Vec<u8> = slot[3..3 + (category + message).div_ceil(8)]
                    .iter()
                    .flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes())
                    .collect();
                Line {
                    fmu: (about >> 32).checked_sub(1).map(|fmu| fmu as usize),
                    status: (about >> 24 & 0x7f) as u8,
                    at: slot[2].load(Ordering::Relaxed) as i64,
                    category: String::from_utf8_lossy(&text[..category]).into_owned(),
                    message: String::from_utf8_lossy(&text[category..category + message]).into_owned(),
                    cut: about >> 31 & 1 == 1,
                }
            });
            self.words[HEAD].store(number.wrapping_add(1), Ordering::Release);
            if line.is_some() {
                return line;
            }
        }
    }

    /// Counts them from 0 again.
    pub fn forget_dropped(&self) {
        self.words[DROPPED].store(0, Ordering::Relaxed);
    }

    /// Lines that found the ring full.
    pub fn dropped(&self) -> u64 {
        self.words[DROPPED].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Vec<AtomicU64> {
        (0..WORDS).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn a_line_comes_out_as_it_went_in() {
        let words = words();
        let ring = LogRing::new(&words);
        ring.push(Some(2), 3, 77, b"logStatusError", "Größe".as_bytes());
        ring.push(None, 0, 78, b"", b"");
        let line = ring.pop(false).unwrap();
        assert_eq!((line.fmu, line.status, line.at, line.cut), (Some(2), 3, 77, false));
        assert_eq!((line.category.as_str(), line.message.as_str()), ("logStatusError", "Größe"));
        assert_eq!(ring.pop(false).unwrap().fmu, None);
        assert_eq!(ring.pop(false), None);
    }

    #[test]
    fn long_text_is_cut_and_a_flood_is_counted() {
        let words = words();
        let ring = LogRing::new(&words);
        ring.push(None, 0, 0, &[b'c'; 5000], &[b'm'; 5000]);
        let line = ring.pop(false).unwrap();
        assert!(line.cut);
        assert_eq!(line.category.len() + line.message.len(), TEXT);
        for _ in 0..SLOTS + 10 {
            ring.push(None, 0, 0, b"", b"x");
        }
        assert_eq!(ring.dropped(), 10);
        assert_eq!(std::iter::from_fn(|| ring.pop(false)).count(), SLOTS);
    }

    #[test]
    fn lines_of_several_threads_all_arrive_whole() {
        let words = words();
        let ring = LogRing::new(&words);
        let (threads, each) = (4, if cfg!(miri) { 20 } else { 100 });
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || {
                    for k in 0..each {
                        ring.push(Some(thread), 0, k, b"", &[b'a' + thread as u8; 30]);
                    }
                });
            }
        });
        let lines: Vec<Line> = std::iter::from_fn(|| ring.pop(false)).collect();
        assert_eq!(lines.len(), threads * each as usize);
        for line in lines {
            let letter = (b'a' + line.fmu.unwrap() as u8) as char;
            assert!(line.message.len() == 30 && line.message.chars().all(|c| c == letter), "{line:?}");
        }
    }

    #[test]
    fn a_producer_that_others_have_overtaken_finds_the_room_that_there_is() {
        let words = words();
        let ring = LogRing::new(&words);
        // It has looked where the end is and was preempted; others have written lines since, which were taken already.
        let seen = words[TAIL].load(Ordering::Relaxed);
        for _ in 0..3 {
            assert!(ring.push(None, 0, 0, b"", b"x") && ring.pop(false).is_some());
        }
        assert_eq!(ring.claim(seen), Some(3));
    }

    /// FMU code can write anywhere, also here.
    #[test]
    fn lengths_that_are_none_are_read_without_harm() {
        let words = words();
        let ring = LogRing::new(&words);
        ring.push(None, 0, 0, b"", b"x");
        words[HEADER + 1].store(u64::MAX, Ordering::Relaxed);
        let line = ring.pop(false).unwrap();
        assert!(line.category.len() + line.message.len() <= 3 * TEXT, "each byte becomes one character at the most");
    }

    #[test]
    fn an_end_that_is_none_is_no_reason_to_look_for_ever() {
        for end in [u64::MAX, SLOTS as u64 + 2] {
            let words = words();
            let ring = LogRing::new(&words);
            words[HEAD].store(1, Ordering::Relaxed);
            words[TAIL].store(end, Ordering::Relaxed);
            assert_eq!(ring.pop(true), None);
            assert!(!ring.push(None, 0, 0, b"", b"x"));
        }
    }

    #[test]
    fn what_a_crash_left_unwritten_is_stepped_over() {
        let words = words();
        let ring = LogRing::new(&words);
        words[TAIL].store(1, Ordering::Relaxed);
        ring.push(None, 0, 0, b"", b"after");
        assert_eq!(ring.pop(false), None);
        assert_eq!(ring.pop(true).unwrap().message, "after");
    }
}

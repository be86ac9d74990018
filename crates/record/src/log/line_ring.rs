//! The ring of log lines: many producers, one consumer.

use super::line::{BODY, LogRecord, Piece, Speaker, TEXT, fitting, read, write};
use std::sync::atomic::{AtomicU64, Ordering};

/// Slots of the ring.
pub const SLOTS: usize = 512;
/// Slots that a line may have.
const MOST: usize = 8;

/// Words per slot: sequence, line.
const SLOT: usize = 1 + BODY;
/// Words before the lines.
pub const HEADER: usize = 3;
const TAIL: usize = 0;
const HEAD: usize = 1;
const DROPPED: usize = 2;

/// Words that the ring takes.
pub const WORDS: usize = HEADER + SLOTS * SLOT;

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

    /// Appends a line; any thread. `false`: there was no room, and it is counted as lost.
    pub fn push(&self, fmu: Option<usize>, status: u8, at: i64, category: &[u8], message: &[u8]) -> bool {
        let is_kept = self.offer(fmu, status, at, category, message);
        if !is_kept {
            self.count_lost();
        }
        is_kept
    }

    /// [`LogRing::push`] of a line that is not lost yet when there is no room.
    pub fn offer(&self, fmu: Option<usize>, status: u8, at: i64, category: &[u8], message: &[u8]) -> bool {
        let room = match (fmu, status) {
            (Some(_), 0) => SLOTS / 2,
            (Some(_), 1) => SLOTS / 4 * 3,
            (Some(_), _) => SLOTS / 8 * 7,
            (None, _) => SLOTS,
        };
        let category = fitting(category);
        let kept = &message[..message.len().min(MOST * TEXT - category.len())];
        let first = kept.len().min(TEXT - category.len());
        let (first, rest) = kept.split_at(first);
        let count = 1 + rest.len().div_ceil(TEXT) as u64;
        let Some(number) = self.claim(self.words[TAIL].load(Ordering::Relaxed), count, room as u64) else {
            return false;
        };
        let speaker = Speaker { fmu, status, at };
        let is_cut = kept.len() < message.len();
        let put = |number: u64, texts: [&[u8]; 2], goes_on: bool| {
            let (written, body) = self.slot(number).split_first().expect("a slot has words");
            write(body, speaker, texts, is_cut && !goes_on, goes_on);
            written.store(number.wrapping_add(1), Ordering::Release);
        };
        // The first one last: who sees it sees all.
        for place in (1..count).rev() {
            let begin = (place as usize - 1) * TEXT;
            let piece = &rest[begin..rest.len().min(begin + TEXT)];
            put(number.wrapping_add(place), [b"", piece], place + 1 < count);
        }
        put(number, [category, first], count > 1);
        true
    }

    /// Claims the next slots; the number of the first was `next` a moment ago. `None`: there is no room.
    fn claim(&self, mut next: u64, count: u64, room: u64) -> Option<u64> {
        loop {
            if next.wrapping_sub(self.words[HEAD].load(Ordering::Acquire)).wrapping_add(count) > room {
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
                next.wrapping_add(count),
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
    pub fn pop(&self, after_the_end: bool) -> Option<LogRecord> {
        let mut line = self.take(after_the_end)?;
        for _ in 1..MOST {
            if !line.goes_on {
                break;
            }
            let Some(more) = self.take(after_the_end) else { break };
            line.message.extend(more.message);
            (line.goes_on, line.cut) = (more.goes_on, more.cut);
        }
        Some(line.line())
    }

    /// Takes the oldest slot.
    fn take(&self, after_the_end: bool) -> Option<Piece> {
        loop {
            let number = self.words[HEAD].load(Ordering::Relaxed);
            let waiting = self.words[TAIL].load(Ordering::Acquire).wrapping_sub(number);
            // FMU code can write anywhere, also to the counters.
            if waiting == 0 || waiting > SLOTS as u64 {
                return None;
            }
            let (written, body) = self.slot(number).split_first().expect("a slot has words");
            let is_written = written.load(Ordering::Acquire) == number.wrapping_add(1);
            if !is_written && !after_the_end {
                return None;
            }
            let piece = is_written.then(|| read(body));
            self.words[HEAD].store(number.wrapping_add(1), Ordering::Release);
            if piece.is_some() {
                return piece;
            }
        }
    }

    /// Counts a line that could not be kept.
    pub fn count_lost(&self) {
        self.words[DROPPED].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts them from 0 again.
    pub fn forget_dropped(&self) {
        self.words[DROPPED].store(0, Ordering::Relaxed);
    }

    /// Lines that could not be kept.
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
        ring.push(None, 0, 0, &[b'c'; 5000], &[b'm'; 50_000]);
        let line = ring.pop(false).unwrap();
        assert!(line.cut);
        assert_eq!((line.category.len(), line.message.len()), (TEXT / 4, MOST * TEXT - TEXT / 4));
        for _ in 0..SLOTS + 10 {
            ring.push(None, 0, 0, b"", b"x");
        }
        assert_eq!(ring.dropped(), 10);
        assert_eq!(std::iter::from_fn(|| ring.pop(false)).count(), SLOTS);
    }

    /// The report of a Python traceback is no use without its last line.
    #[test]
    fn text_of_several_slots_comes_out_whole() {
        let words = words();
        let ring = LogRing::new(&words);
        // Around its end, and with letters of which slots have parts.
        (0..SLOTS - 2).for_each(|_| assert!(ring.push(None, 0, 0, b"", b"x") && ring.pop(false).is_some()));
        for length in [TEXT - 1, TEXT, TEXT + 1, 2 * TEXT, 3 * TEXT + 5] {
            let text: String = "aä".chars().cycle().take(length).collect();
            assert!(ring.push(Some(0), 3, 7, b"", text.as_bytes()));
            let line = ring.pop(false).unwrap();
            assert_eq!((line.message, line.cut, line.at), (text, false, 7));
        }
        assert_eq!(ring.pop(false), None);
    }

    #[test]
    fn a_flood_leaves_room_for_what_is_more_severe() {
        let words = words();
        let ring = LogRing::new(&words);
        let mut kept = [Some(0), Some(1), Some(3), None].into_iter().map(|status: Option<u8>| {
            let fmu = status.map(|_| 0);
            (0..2 * SLOTS).filter(|_| ring.push(fmu, status.unwrap_or(3), 0, b"", b"x")).count()
        });
        assert_eq!(std::array::from_fn(|_| kept.next().unwrap()), [SLOTS / 2, SLOTS / 4, SLOTS / 8, SLOTS / 8]);
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
                        ring.push(Some(thread), 3, k, b"", &[b'a' + thread as u8; 30]);
                    }
                });
            }
        });
        let lines: Vec<LogRecord> = std::iter::from_fn(|| ring.pop(false)).collect();
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
        assert_eq!(ring.claim(seen, 1, SLOTS as u64), Some(3));
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

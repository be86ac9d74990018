//! A ring of notes in shared words: one producer, the thread of its task; one consumer, the supervisor.
//!
//! Memory ordering: the producer writes a note, then releases `written`; the consumer acquires that, reads, then releases
//! `read`, which the producer acquires before it writes over what was there. Each note is a cache line of its own.

use super::note::{Note, WIDTH};
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release as Publish};
use std::time::Duration;
use vecud_plan::{Mode, Plan, Release, TraceMode, UnitPlan};

/// `written`, `read`, `dropped`, each on a cache line of its own: two processes write them.
const HEADER: usize = 3 * WIDTH;
const READ: usize = WIDTH;
const DROPPED: usize = 2 * WIDTH;

/// Notes of a ring at most: half a mebibyte.
const MOST: usize = 8192;
/// And at least.
const LEAST: usize = 256;
/// The notes of all rings together, where the least are not more: memory that is locked is not for the asking.
const TOGETHER: usize = 1 << 17;
/// Notes of an activation and seconds for which there is room, and how many notes of a clock without a period.
type Room = (f64, f64, usize);
/// An activation makes six notes or so when everything is traced, and what writes files may take its time.
const TRACED: Room = (6.0, 2.0, MOST / 2);
/// The room of a task that is not traced: it makes two notes in real time even so, and they need not wait for long.
const UNTRACED: Room = (2.0, 0.25, 2 * LEAST);

/// How many notes the ring of a task holds; where all tasks together would have too many, less, but never less than 256.
pub fn notes(plan: &Plan, task: &UnitPlan) -> usize {
    let (each, seconds, other) = match (plan.trace.mode, plan.mode) {
        (TraceMode::Off, Mode::Virtual) => return 0,
        (TraceMode::Off, Mode::RealTime) => UNTRACED,
        _ => TRACED,
    };
    let wanted = match &task.release {
        Release::Periodic { interval, .. } => (seconds * each / interval.seconds()).min(1e9) as usize,
        Release::Never => LEAST,
        _ => other,
    };
    // A power of two, rounded down where rooms are shared.
    let shared = (TOGETHER / plan.units.len().max(1)).max(LEAST).next_power_of_two();
    wanted.clamp(LEAST, MOST.min(shared)).next_power_of_two()
}

/// A ring of notes. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct NoteRing<'a> {
    header: &'a [AtomicU64],
    notes: &'a [AtomicU64],
    mask: usize,
}

impl<'a> NoteRing<'a> {
    /// Words that a ring takes.
    pub fn words(notes: usize) -> usize {
        if notes == 0 { 0 } else { HEADER + notes * WIDTH }
    }

    /// The ring of so many notes, a power of two, in `words`, zero at first; `None`: there are none.
    ///
    /// # Panics
    /// When there are fewer words than it takes.
    pub fn new(words: &'a [AtomicU64], notes: usize) -> Option<NoteRing<'a>> {
        let (header, rest) = words.split_at_checked(HEADER).filter(|_| notes > 0)?;
        assert!(notes.is_power_of_two(), "a ring of {notes} notes");
        Some(NoteRing { header, notes: &rest[..notes * WIDTH], mask: notes - 1 })
    }

    /// Whether a note would be dropped now.
    fn is_full(&self) -> bool {
        self.header[0].load(Relaxed).wrapping_sub(self.header[READ].load(Acquire)) > self.mask as u64
    }

    /// Waits until none would be. For a producer that is in no hurry.
    pub fn wait_for_room(&self) {
        while self.is_full() {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// Notes that wait now, and how many there is room for.
    pub fn waiting(&self) -> (usize, usize) {
        let waiting = self.header[0].load(Acquire).wrapping_sub(self.header[READ].load(Relaxed));
        (waiting.min(self.mask as u64 + 1) as usize, self.mask + 1)
    }

    /// The first words that [`NoteRing::push_pair`] looks at or changes.
    #[inline]
    pub fn next_pair(&self) -> [&'a AtomicU64; 4] {
        let written = self.header[0].load(Relaxed) as usize;
        let [first, second] =
            [written, written.wrapping_add(1)].map(|number| &self.notes[(number & self.mask) * WIDTH]);
        [&self.header[0], &self.header[READ], first, second]
    }

    /// Appends a note; a full ring drops and counts it. For the producer.
    #[inline(always)] // as `World::trace_in`
    pub fn push(&self, note: &Note) {
        if self.is_full() {
            return self.drop_one();
        }
        let written = self.header[0].load(Relaxed);
        self.write(written, note);
        self.header[0].store(written.wrapping_add(1), Publish);
    }

    /// Appends two notes that belong together. `false`: there was no room for both, which counts as one dropped note. For the
    /// producer.
    #[inline(always)] // as `push`
    pub fn push_pair(&self, pair: [&Note; 2]) -> bool {
        let (written, read) = (self.header[0].load(Relaxed), self.header[READ].load(Acquire));
        if written.wrapping_sub(read) >= self.mask as u64 {
            self.drop_one();
            return false;
        }
        self.write(written, pair[0]);
        self.write(written.wrapping_add(1), pair[1]);
        self.header[0].store(written.wrapping_add(2), Publish);
        true
    }

    #[inline(always)]
    fn write(&self, number: u64, note: &Note) {
        let at = (number as usize & self.mask) * WIDTH;
        for (place, word) in self.notes[at..at + WIDTH].iter().zip(note.to_words()) {
            place.store(word, Relaxed);
        }
    }

    #[cold]
    fn drop_one(&self) {
        let dropped = &self.header[DROPPED];
        dropped.store(dropped.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// For the consumer: empties a ring whose counters FMU code has written over, so that it goes on. Whether it was one.
    pub fn mend(&self) -> bool {
        let broken = self.header[0].load(Acquire).wrapping_sub(self.header[READ].load(Relaxed)) > self.mask as u64 + 1;
        if broken {
            self.header[READ].store(self.header[0].load(Acquire), Publish);
        }
        broken
    }

    /// Takes the oldest note. For the consumer. `Some(None)`: it cannot be read, so FMU code has written over it.
    pub fn pop(&self) -> Option<Option<Note>> {
        let read = self.header[READ].load(Relaxed);
        let waiting = self.header[0].load(Acquire).wrapping_sub(read);
        if waiting == 0 || waiting > self.mask as u64 + 1 {
            return None;
        }
        let at = (read as usize & self.mask) * WIDTH;
        let words = std::array::from_fn(|i| self.notes[at + i].load(Relaxed));
        self.header[READ].store(read.wrapping_add(1), Publish);
        Some(Note::from_words(words))
    }

    /// How many notes were dropped.
    pub fn dropped(&self) -> u64 {
        self.header[DROPPED].load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vecud_plan::UnitId;

    fn memory(notes: usize) -> Vec<AtomicU64> {
        (0..NoteRing::words(notes)).map(|_| AtomicU64::new(0)).collect()
    }

    fn skip(k: i64) -> Note {
        Note::Skipped { time: k, release: 2 * k, at: 3 * k }
    }

    #[test]
    fn first_in_first_out_and_a_full_ring_drops_and_counts() {
        let words = memory(4);
        let ring = NoteRing::new(&words, 4).unwrap();
        for round in 0..5 {
            (0..6).for_each(|k| ring.push(&skip(10 * round + k)));
            assert_eq!(ring.dropped(), 2 * (round as u64 + 1));
            let left: Vec<Note> = std::iter::from_fn(|| ring.pop()).flatten().collect();
            assert_eq!(left, [0, 1, 2, 3].map(|k| skip(10 * round + k)));
        }
        assert!(NoteRing::new(&[], 0).is_none(), "nothing is traced");
    }

    /// What belongs together is there together or not at all.
    #[test]
    fn a_pair_that_does_not_fit_as_a_whole_is_dropped_as_a_whole() {
        let words = memory(4);
        let ring = NoteRing::new(&words, 4).unwrap();
        let pair = |k: i64| ring.push_pair([&skip(k), &skip(k + 1)]);
        assert!(pair(0));
        ring.push(&skip(2));
        assert!(!pair(3), "there is room for one only");
        assert_eq!(ring.dropped(), 1);
        assert_eq!(ring.pop(), Some(Some(skip(0))));
        assert!(pair(3));
        assert!(!pair(5), "full");
        let left: Vec<Note> = std::iter::from_fn(|| ring.pop()).flatten().collect();
        assert_eq!(left, [1, 2, 3, 4].map(skip));
        assert_eq!(ring.dropped(), 2);
    }

    #[test]
    fn what_was_not_dropped_arrives_whole_and_in_order_while_both_are_at_work() {
        let words = memory(64);
        let ring = NoteRing::new(&words, 64).unwrap();
        let count = if cfg!(miri) { 300 } else { 300_000 };
        let note = |k: u64| Note::Ticked {
            output: k as u32,
            target: UnitId(k as usize % 1000),
            taken: k.is_multiple_of(3),
            time: k as i64,
            at: -(k as i64),
            flow: k.wrapping_mul(7),
        };
        let seen = std::thread::scope(|scope| {
            let producer = scope.spawn(move || (0..count).for_each(|k| ring.push(&note(k))));
            let (mut last, mut seen) = (None, 0);
            loop {
                let over = producer.is_finished();
                while let Some(got) = ring.pop() {
                    let Some(got) = got else { panic!("a note that cannot be read") };
                    let Note::Ticked { time, .. } = got else { panic!("{got:?}") };
                    assert_eq!(got, note(time as u64), "no note is torn");
                    assert!(last.is_none_or(|last| time > last), "{time} after {last:?}");
                    (last, seen) = (Some(time), seen + 1);
                }
                if over {
                    break seen;
                }
            }
        });
        assert_eq!(seen + ring.dropped(), count, "each is read or counted");
    }
}

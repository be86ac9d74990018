//! The newest version of a value of several words.
//!
//! Guarantees:
//! * a reader sees a version that was written whole, or none: never a mixture;
//! * the writer never waits; a reader repeats only when the writer has overtaken it by all slots during its copy, so a
//!   reader of higher priority on the writer's core never repeats.
//!
//! Protocol: [`SLOTS`] slots, each with the version that it holds. The writer announces nothing before it has taken the
//! slot's version away (0), written the words and put the new version there; then it publishes the version. A reader
//! takes the published version's slot, copies, and looks whether the slot still holds that version.
//!
//! Memory ordering: as in a sequence lock. The slot's version is taken away before the words change (release fence), and
//! the reader's second look comes after its copy (acquire fence); the words themselves are atomics, relaxed. The number of the
//! newest version is released and acquired, and no more: a reader that must not miss it is woken, or looks again, after a
//! stronger store of the writer's.
//!
//! One writer at a time: threads that share a writing end exclude each other (the preemption lock of the producing instance).

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Versions that are kept at once.
const SLOTS: usize = 4;

/// Words that are copied in a row: the loop counter costs as much as the copy.
const ROW: usize = 8;

/// Words that can be copied without any loop.
pub const FEW: usize = 16;

/// A value of a fixed number of words, and its newest version.
#[derive(Debug)]
pub struct Latest {
    published: AtomicU64,
    slots: [Slot; SLOTS],
}

/// A slot for a version. Its size is a power of two, so that finding the slot of a version takes no multiplication.
#[derive(Debug)]
#[repr(align(32))]
struct Slot {
    /// The version that it holds.
    holds: AtomicU64,
    words: Box<[AtomicU64]>,
}

impl Latest {
    /// A value of `words` words that was never written.
    pub fn new(words: usize) -> Latest {
        let slot = |_| Slot { holds: AtomicU64::new(0), words: (0..words).map(|_| AtomicU64::new(0)).collect() };
        Latest { published: AtomicU64::new(0), slots: std::array::from_fn(slot) }
    }

    #[inline]
    fn slot(&self, version: u64) -> &Slot {
        &self.slots[version as usize % SLOTS]
    }

    /// Publishes a new version; `word(i)` gives its words.
    pub fn write(&self, word: impl Fn(usize) -> u64) {
        self.write_with(|words| (0..words.len()).for_each(|i| words.set(i, word(i))));
    }

    /// Publishes a new version, which `fill` writes. Words that `fill` leaves out keep the value of some older version: readers
    /// must find out from the others that these do not count.
    #[inline]
    pub fn write_with(&self, fill: impl FnOnce(NewWords)) {
        let version = self.published.load(Ordering::Relaxed) + 1;
        let Slot { holds, words } = self.slot(version);
        holds.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        fill(NewWords(words));
        holds.store(version, Ordering::Release);
        self.published.store(version, Ordering::Release);
    }

    /// Hands each word of the newest version to `take` and returns the version's number, counted from 1; 0 when nothing was
    /// written yet. `take` may be called again from word 0 on; the last values are right.
    pub fn read(&self, mut take: impl FnMut(usize, u64)) -> u64 {
        self.read_with(|words| (0..words.len()).for_each(|i| take(i, words.get(i))))
    }

    /// Hands the newest version to `take`, which copies it. `take` may be called again, and must then copy everything again:
    /// before its last call, words may come from several versions. Returns the version's number as [`Latest::read`].
    #[inline]
    pub fn read_with(&self, mut take: impl FnMut(Words)) -> u64 {
        loop {
            let version = self.version();
            if version == 0 {
                return 0;
            }
            if self.try_read(version, &mut take) {
                return version;
            }
            std::hint::spin_loop();
        }
    }

    /// Lets `take` copy this version, which was the newest one at a look. `false`: the writer has overtaken it meanwhile, and
    /// the copy does not count.
    #[inline]
    pub fn try_read(&self, version: u64, take: impl FnOnce(Words)) -> bool {
        let Slot { holds, words } = self.slot(version);
        if holds.load(Ordering::Acquire) != version {
            return false;
        }
        take(Words(words));
        fence(Ordering::Acquire);
        holds.load(Ordering::Relaxed) == version
    }

    /// Memory that is touched when this version is written, or read.
    #[inline]
    pub fn places(&self, version: u64) -> [&AtomicU64; 3] {
        let Slot { holds, words } = self.slot(version);
        let word = |at: usize| words.get(at).unwrap_or(holds);
        [holds, word(0), word(8)]
    }

    /// Words of a version.
    pub fn width(&self) -> usize {
        self.slots[0].words.len()
    }

    /// Number of the newest version.
    #[inline]
    pub fn version(&self) -> u64 {
        self.published.load(Ordering::Acquire)
    }
}

/// The words of a version that is being read.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(pub(super) &'a [AtomicU64]);

impl Words<'_> {
    /// The word at this place.
    #[inline]
    pub fn get(self, i: usize) -> u64 {
        self.0[i].load(Ordering::Relaxed)
    }

    /// The words at these places.
    #[inline]
    pub fn several(self, range: Range<usize>) -> impl Iterator<Item = u64> {
        self.0[range].iter().map(|word| word.load(Ordering::Relaxed))
    }

    /// Copies the words from this one on: as many as there are doubles.
    #[inline]
    pub fn copy_to(self, first: usize, doubles: &mut [f64]) {
        let words = &self.0[first..][..doubles.len()];
        let ((rows, last), (places, others)) = (words.as_chunks::<ROW>(), doubles.as_chunks_mut::<ROW>());
        let copy = |(word, place): (&AtomicU64, &mut f64)| *place = f64::from_bits(word.load(Ordering::Relaxed));
        rows.iter().zip(places).for_each(|(row, places)| row.iter().zip(places).for_each(copy));
        last.iter().zip(others).for_each(copy);
    }

    /// Copies all words, which are at most [`FEW`].
    ///
    /// # Panics
    /// When they are more, or not as many as the doubles.
    #[inline]
    pub fn copy_few_to(self, doubles: &mut [f64]) {
        let doubles = Cell::from_mut(doubles).as_slice_of_cells();
        few(self.0, doubles, |word, double| double.set(f64::from_bits(word.load(Ordering::Relaxed))));
    }

    /// How many words there are.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "a value without words is not exchanged")]
    pub fn len(self) -> usize {
        self.0.len()
    }
}

/// The words of a version that is being written.
#[derive(Clone, Copy, Debug)]
pub struct NewWords<'a>(pub(super) &'a [AtomicU64]);

impl NewWords<'_> {
    /// Changes the word at this place.
    #[inline]
    pub fn set(self, i: usize, word: u64) {
        self.0[i].store(word, Ordering::Relaxed);
    }

    /// The places of several words: each changes one.
    #[inline]
    pub fn several(self, range: Range<usize>) -> impl Iterator<Item = impl FnOnce(u64)> {
        self.0[range].iter().map(|place| move |word| place.store(word, Ordering::Relaxed))
    }

    /// Changes the words from this one on to the bits of these doubles.
    #[inline]
    pub fn copy_from(self, first: usize, doubles: &[f64]) {
        let words = &self.0[first..][..doubles.len()];
        let ((rows, last), (places, others)) = (doubles.as_chunks::<ROW>(), words.as_chunks::<ROW>());
        let copy = |(double, place): (&f64, &AtomicU64)| place.store(double.to_bits(), Ordering::Relaxed);
        rows.iter().zip(places).for_each(|(row, places)| row.iter().zip(places).for_each(copy));
        last.iter().zip(others).for_each(copy);
    }

    /// Changes all words, which are at most [`FEW`], to the bits of these doubles.
    ///
    /// # Panics
    /// When they are more, or not as many as the doubles.
    #[inline]
    pub fn copy_few_from(self, doubles: &[f64]) {
        few(self.0, doubles, |word, double| word.store(double.to_bits(), Ordering::Relaxed));
    }

    /// How many words there are.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "a value without words is not exchanged")]
    pub fn len(self) -> usize {
        self.0.len()
    }
}

/// Calls `each` for each of a few words and the double beside it, with one look at their number and without a loop.
#[inline(always)]
fn few<D>(words: &[AtomicU64], doubles: &[D], each: impl Fn(&AtomicU64, &D)) {
    macro_rules! by_number {
        ($($number:literal)*) => {
            match (words.len(), doubles.len()) {
                $(($number, $number) => {
                    let (words, doubles) = (&words[..$number], &doubles[..$number]);
                    words.iter().zip(doubles).for_each(|(word, double)| each(word, double));
                })*
                _ => panic!("a few words, as many as doubles"),
            }
        };
    }
    by_number!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
}

#[cfg(test)]
#[path = "latest_tests.rs"]
mod tests;

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
//! the reader's second look comes after its copy (acquire fence); the words themselves are atomics, relaxed.
//!
//! One writer at a time: whoever shares a writing end excludes the others (the preemption lock of the producing
//! instance).

use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Versions that are kept at once.
const SLOTS: u64 = 4;

/// A value of a fixed number of words, and its newest version.
#[derive(Debug)]
pub struct Latest {
    published: AtomicU64,
    slots: Box<[AtomicU64]>,
    width: usize,
}

impl Latest {
    /// A value of `words` words that was never written.
    pub fn new(words: usize) -> Latest {
        let slots = (0..SLOTS as usize * (words + 1)).map(|_| AtomicU64::new(0)).collect();
        Latest { published: AtomicU64::new(0), slots, width: words }
    }

    fn slot(&self, version: u64) -> (&AtomicU64, &[AtomicU64]) {
        let start = (version % SLOTS) as usize * (self.width + 1);
        let slot = &self.slots[start..start + self.width + 1];
        (&slot[0], &slot[1..])
    }

    /// Publishes a new version; `word(i)` gives its words.
    pub fn write(&self, word: impl Fn(usize) -> u64) {
        let version = self.published.load(Ordering::Relaxed) + 1;
        let (holds, words) = self.slot(version);
        holds.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        for (i, place) in words.iter().enumerate() {
            place.store(word(i), Ordering::Relaxed);
        }
        holds.store(version, Ordering::Release);
        self.published.store(version, Ordering::SeqCst);
    }

    /// The newest version: hands each word to `take` and returns the version's number, counted from 1; 0 when nothing was
    /// written yet. `take` may be called again from word 0 on; what it got last is right.
    pub fn read(&self, mut take: impl FnMut(usize, u64)) -> u64 {
        loop {
            let version = self.version();
            if version == 0 {
                return 0;
            }
            let (holds, words) = self.slot(version);
            if holds.load(Ordering::Acquire) == version {
                for (i, place) in words.iter().enumerate() {
                    take(i, place.load(Ordering::Relaxed));
                }
                fence(Ordering::Acquire);
                if holds.load(Ordering::Relaxed) == version {
                    return version;
                }
            }
            std::hint::spin_loop();
        }
    }

    /// Number of the newest version.
    pub fn version(&self) -> u64 {
        self.published.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn nothing_before_the_first_write_then_the_newest() {
        let value = Latest::new(2);
        assert_eq!(value.read(|_, _| panic!("nothing to take")), 0);
        for round in 1..10 {
            value.write(|i| round * 10 + i as u64);
            let mut got = [0; 2];
            assert_eq!(value.read(|i, word| got[i] = word), round);
            assert_eq!(got, [round * 10, round * 10 + 1]);
        }
    }

    #[test]
    fn a_reader_on_another_core_never_sees_a_mixture() {
        let value = Latest::new(64);
        let stop = AtomicBool::new(false);
        let reads = if cfg!(miri) { 50 } else { 200_000 };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut round = 0;
                while !stop.load(Ordering::Relaxed) {
                    round += 1;
                    value.write(|_| round);
                }
            });
            let mut last = 0;
            for _ in 0..reads {
                let mut got = [0; 64];
                let version = value.read(|i, word| got[i] = word);
                assert!(got.iter().all(|word| *word == got[0]), "torn: {got:?}");
                assert!(version == got[0] && version >= last, "version {version} after {last}");
                last = version;
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
}

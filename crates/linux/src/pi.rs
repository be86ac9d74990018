//! A priority-inheriting word: mutual exclusion that costs one compare-and-swap when nobody else is there.
//!
//! Protocol (that of `FUTEX_LOCK_PI`): the word is 0 when free, else the owner's thread id, with the top bit set by the
//! kernel while somebody waits. Taking a free word is a compare-and-swap from 0 to the own id; giving it back is one
//! from the own id to 0. When either fails, the kernel takes over: it queues the waiters by priority, lends the owner
//! the highest priority among them, and at the unlock **hands the word over** to the first one. Between that hand-over
//! and the new owner's first instruction the word is taken although nobody runs inside; whoever builds on this must
//! allow for that.
//!
//! Ownership: a word belongs to a thread, not to a guard, because the callbacks of an FMU are a pair of C functions.
//! Not recursive: a thread that locks what it owns is a bug here, and panics.
//!
//! Memory ordering: a successful lock acquires, an unlock releases; the kernel's paths are full barriers.

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use std::sync::atomic::{AtomicU32, Ordering};

/// The bits of the word that hold the owner (`FUTEX_TID_MASK`).
const OWNER: u32 = 0x3fff_ffff;

/// A priority-inheriting lock in one word. See the [module](self).
#[derive(Debug, Default)]
pub struct PiWord(AtomicU32);

impl PiWord {
    /// A free word.
    pub const fn new() -> Self {
        PiWord(AtomicU32::new(0))
    }

    /// Takes the word if it is free. `tid` is the calling thread's id.
    #[inline]
    pub fn try_lock(&self, tid: u32) -> bool {
        self.0.compare_exchange(0, tid, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes the word, waiting as long as it must. True when it was contended, that is, when the kernel was asked.
    ///
    /// # Panics
    /// If the calling thread already owns the word.
    #[inline]
    pub fn lock(&self, tid: u32) -> bool {
        if self.try_lock(tid) {
            return false;
        }
        self.lock_slowly(tid);
        true
    }

    #[cold]
    fn lock_slowly(&self, tid: u32) {
        loop {
            match futex::lock_pi(&self.0, Flags::PRIVATE, None) {
                Ok(()) => return,
                Err(Errno::INTR | Errno::AGAIN) => {}
                // The owner's thread has ended (FMU code may call `pthread_exit`): the word is nobody's. Take it over.
                Err(Errno::SRCH) => {
                    let left = self.0.load(Ordering::Relaxed);
                    let dead = left & OWNER != tid;
                    if dead && self.0.compare_exchange(left, tid, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                        return;
                    }
                }
                Err(error) => panic!("FUTEX_LOCK_PI of word {:#x}: {error}", self.owner()),
            }
        }
    }

    /// Gives the word back; the highest-priority waiter owns it from this instant.
    ///
    /// # Panics
    /// If the calling thread does not own the word.
    #[inline]
    pub fn unlock(&self, tid: u32) {
        if self.0.compare_exchange(tid, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.unlock_slowly();
        }
    }

    #[cold]
    fn unlock_slowly(&self) {
        loop {
            match futex::unlock_pi(&self.0, Flags::PRIVATE) {
                Ok(()) => return,
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => panic!("FUTEX_UNLOCK_PI of word {:#x}: {error}", self.owner()),
            }
        }
    }

    /// The owner's thread id, 0 when free. Stale as soon as it is read, except when it is the caller's own id.
    #[inline]
    pub fn owner(&self) -> u32 {
        self.0.load(Ordering::Acquire) & OWNER
    }

    /// Whether this kernel has priority-inheriting futexes.
    pub fn supported() -> Result<(), Errno> {
        // A free word that is unlocked by its non-owner: refused with EPERM where the operation exists.
        match futex::unlock_pi(&AtomicU32::new(0), Flags::PRIVATE) {
            Err(Errno::NOSYS) => Err(Errno::NOSYS),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::current_tid;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn a_free_word_is_taken_and_given_back_without_the_kernel() {
        let (word, tid) = (PiWord::new(), current_tid());
        assert!(!word.lock(tid));
        assert_eq!(word.owner(), tid);
        assert!(!word.try_lock(tid));
        word.unlock(tid);
        assert_eq!(word.owner(), 0);
    }

    #[test]
    fn threads_exclude_each_other() {
        let word = Arc::new(PiWord::new());
        let sum = Arc::new(AtomicU64::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (word, sum) = (Arc::clone(&word), Arc::clone(&sum));
                std::thread::spawn(move || {
                    let tid = current_tid();
                    for _ in 0..2_000 {
                        word.lock(tid);
                        let value = sum.load(Ordering::Relaxed);
                        std::hint::spin_loop();
                        sum.store(value + 1, Ordering::Relaxed);
                        word.unlock(tid);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(sum.load(Ordering::Relaxed), 8_000);
        assert_eq!(word.owner(), 0);
    }

    #[test]
    fn a_word_whose_owner_has_ended_is_taken_over() {
        let word = Arc::new(PiWord::new());
        let theirs = Arc::clone(&word);
        std::thread::spawn(move || theirs.lock(current_tid())).join().unwrap();
        let tid = current_tid();
        assert!(word.lock(tid));
        assert_eq!(word.owner(), tid);
        word.unlock(tid);
    }

    #[test]
    fn supported_here() {
        assert_eq!(PiWord::supported(), Ok(()));
    }
}

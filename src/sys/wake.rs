//! The one sleep of a partition thread: until an absolute instant, or until somebody wakes it.
//!
//! Protocol: the word counts. The sleeper reads it ([`WakeWord::value`]), looks whether there is work, and if not sleeps
//! *as long as the word still has that value*. A waker makes the work visible first, then calls [`WakeWord::wake`], which
//! changes the word and then wakes. A wake between the sleeper's look and its sleep therefore makes the sleep return at
//! once: none is lost. One system call per sleep (`FUTEX_WAIT_BITSET`, private, absolute `CLOCK_MONOTONIC`), one per wake.
//!
//! Memory ordering: `wake` releases what was written before it; `value` and a sleep that returns acquire.

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags, Timespec};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

/// Why a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakening {
    /// The word has changed, before the sleep or during it.
    Woken,
    /// The deadline has come, and nobody has changed the word.
    TimedOut,
}

/// The word that one thread sleeps on. See the [module](self).
#[derive(Debug, Default)]
pub struct WakeWord(AtomicU32);

impl WakeWord {
    /// A word with the value 0.
    pub const fn new() -> Self {
        WakeWord(AtomicU32::new(0))
    }

    /// The value to hand to [`wait_until`](Self::wait_until); read it before looking for work.
    #[inline]
    pub fn value(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Sleeps while the word is `expected`, at most until `deadline` (nanoseconds of `CLOCK_MONOTONIC`).
    #[inline]
    pub fn wait_until(&self, expected: u32, deadline: Option<i64>) -> Wakening {
        let deadline = deadline.map(timespec);
        loop {
            match futex::wait_bitset(&self.0, Flags::PRIVATE, expected, deadline.as_ref(), NonZeroU32::MAX) {
                // The waker may have been preempted by this very deadline, between changing the word and the call.
                Err(Errno::TIMEDOUT) if self.value() == expected => return Wakening::TimedOut,
                Ok(()) | Err(Errno::INTR) => {
                    // A wake that comes with no change was meant for somebody who slept here before; a signal for nobody.
                    if self.value() != expected {
                        return Wakening::Woken;
                    }
                }
                // EAGAIN, or at the deadline: the word had changed already. Anything else (a kernel without futexes does not exist) must not
                // become an endless loop either.
                Err(_) => {
                    self.value();
                    return Wakening::Woken;
                }
            }
        }
    }

    /// Changes the word and wakes its sleeper.
    #[inline]
    pub fn wake(&self) {
        self.mark();
        self.wake_marked();
    }

    /// The first half of [`wake`](Self::wake): changes the word, without a system call. The sleeper will not fall asleep
    /// on the old value any more, but one that sleeps goes on sleeping until [`wake_marked`](Self::wake_marked).
    #[inline]
    pub fn mark(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// The second half of [`wake`](Self::wake): the system call.
    #[inline]
    pub fn wake_marked(&self) {
        // Fails only for an address that is not mapped, which a reference never is.
        let _ = futex::wake(&self.0, Flags::PRIVATE, 1);
    }
}

/// Now, in nanoseconds of `CLOCK_MONOTONIC`.
#[inline]
pub fn monotonic_now() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

fn timespec(nanos: i64) -> Timespec {
    let nanos = nanos.max(0);
    Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn sleeps_until_the_deadline_and_not_less() {
        let word = WakeWord::new();
        let deadline = monotonic_now() + 5_000_000;
        assert_eq!(word.wait_until(0, Some(deadline)), Wakening::TimedOut);
        assert!(monotonic_now() >= deadline);
        assert_eq!(word.wait_until(0, Some(-5)), Wakening::TimedOut);
    }

    #[test]
    fn a_wake_before_the_sleep_is_not_lost() {
        let word = WakeWord::new();
        let seen = word.value();
        word.wake();
        assert_eq!(word.wait_until(seen, None), Wakening::Woken);
    }

    #[test]
    fn a_word_that_was_changed_before_the_deadline_is_no_timeout() {
        let word = Arc::new(WakeWord::new());
        let theirs = Arc::clone(&word);
        // A waker that is preempted between the two halves, by the sleeper whose deadline has come.
        let waker = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(5));
            theirs.mark();
        });
        let deadline = monotonic_now() + 1_000_000_000;
        assert_eq!(word.wait_until(0, Some(deadline)), Wakening::Woken);
        assert!(monotonic_now() >= deadline, "nobody has called it");
        waker.join().unwrap();
    }

    #[test]
    fn a_wake_during_the_sleep_ends_it() {
        let word = Arc::new(WakeWord::new());
        let theirs = Arc::clone(&word);
        let sleeper = std::thread::spawn(move || theirs.wait_until(0, None));
        std::thread::sleep(std::time::Duration::from_millis(5));
        word.mark();
        word.wake_marked();
        assert_eq!(sleeper.join().unwrap(), Wakening::Woken);
    }
}

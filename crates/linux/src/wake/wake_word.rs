//! The word that one thread sleeps on.

use super::signal::{self, Sleeper};
use crate::SysError;
use crate::clock::SystemClock;
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

/// The word that one thread sleeps on. See the [module](super).
#[derive(Debug, Default)]
pub struct WakeWord {
    word: AtomicU32,
    /// The clock that deadlines are instants of.
    clock: SystemClock,
    /// The thread that sleeps until an instant of `CLOCK_TAI`.
    pub(super) sleeper: Sleeper,
}

impl WakeWord {
    /// A word with the value 0, for deadlines of `CLOCK_MONOTONIC`.
    pub const fn new() -> Self {
        WakeWord::on(SystemClock::Monotonic)
    }

    /// A word with the value 0, for deadlines of `clock`. Of `CLOCK_TAI`, the threads that will sleep on it call
    /// [`prepare_to_sleep`] before.
    pub const fn on(clock: SystemClock) -> Self {
        WakeWord { word: AtomicU32::new(0), clock, sleeper: Sleeper::new() }
    }

    /// The value to hand to [`wait_until`](Self::wait_until); read it before looking for work.
    #[inline]
    pub fn value(&self) -> u32 {
        self.word.load(Ordering::Acquire)
    }

    /// Sleeps while the word is `expected`, at most until `deadline` (nanoseconds of its clock).
    #[inline]
    pub fn wait_until(&self, expected: u32, deadline: Option<i64>) -> Wakening {
        match (deadline, self.clock) {
            (Some(deadline), SystemClock::Tai) => self.sleep_on_tai(expected, deadline, || ()),
            _ => self.wait_for_futex(expected, deadline),
        }
    }

    /// Looks at the clock and the word until `deadline`, or until the word is no more `expected`; and the last look at the
    /// clock. No system call where the clock needs none.
    #[inline]
    pub fn poll_until(&self, expected: u32, deadline: i64) -> (Wakening, i64) {
        loop {
            let now = self.clock.now();
            if self.value() != expected {
                return (Wakening::Woken, now);
            }
            if now >= deadline {
                return (Wakening::TimedOut, now);
            }
        }
    }

    /// Sleeps until an instant of `CLOCK_TAI`. `before` runs when everything is ready but the system call, for tests.
    pub(super) fn sleep_on_tai(&self, expected: u32, deadline: i64, before: impl Fn()) -> Wakening {
        match self.sleeper.sleep_until(deadline, || self.value() != expected, before) {
            true => Wakening::Woken,
            false => Wakening::TimedOut,
        }
    }

    #[inline]
    fn wait_for_futex(&self, expected: u32, deadline: Option<i64>) -> Wakening {
        let deadline = deadline.map(timespec);
        loop {
            match futex::wait_bitset(&self.word, Flags::PRIVATE, expected, deadline.as_ref(), NonZeroU32::MAX) {
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
        self.word.fetch_add(1, Ordering::Release);
    }

    /// The second half of [`wake`](Self::wake): the system call.
    #[inline]
    pub fn wake_marked(&self) {
        if self.clock == SystemClock::Tai && self.sleeper.signal() {
            return;
        }
        // Fails only for an address that is not mapped, which a reference never is.
        let _ = futex::wake(&self.word, Flags::PRIVATE, 1);
    }
}

/// Makes it possible that the calling thread sleeps until instants of `clock`.
pub fn prepare_to_sleep(clock: SystemClock) -> Result<(), SysError> {
    match clock {
        SystemClock::Monotonic => Ok(()),
        SystemClock::Tai => signal::prepare(),
    }
}

fn timespec(nanos: i64) -> Timespec {
    let nanos = nanos.max(0);
    Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 }
}

//! Where others see which function of FMU code a thread is inside of: reports of crashes and hangs read it there.
//!
//! One store says it, so a reader finds it whole at any time, also in the memory of a process that is no more.

use super::function::Function;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A word, and what stands in it beside the function.
///
/// The lowest 16 bits are 1 + the number of the function that the thread is inside of, the innermost one; 0 between calls. The
/// upper half is the tag of whoever calls, which stays there between calls. Between both, where there is a tag, calls are
/// counted, so that who looks now and then can tell a call that lasts from the next one of the same function.
#[derive(Debug)]
pub struct Shown {
    word: Cell<&'static AtomicU64>,
    tag: Cell<u64>,
    count: Cell<u16>,
}

impl Shown {
    /// Shows it in this word from the next call on, with this tag, whose lower half is 0. Nothing is written before.
    pub fn new(word: &'static AtomicU64, tag: u64) -> Shown {
        Shown { word: Cell::new(word), tag: Cell::new(tag), count: Cell::new(0) }
    }

    /// From the next call on it is shown in another word. Not inside of a call.
    #[inline]
    pub fn set(&self, word: &'static AtomicU64, tag: u64) {
        self.word.set(word);
        self.tag.set(tag);
    }

    #[inline]
    pub(super) fn show(&self, called: Called) {
        let tag = self.tag.get();
        if tag == 0 {
            self.word.get().store(u64::from(called.0), Relaxed);
        } else {
            self.count.set(self.count.get().wrapping_add(1));
            self.word.get().store(tag | u64::from(self.count.get()) << 16 | u64::from(called.0), Relaxed);
        }
    }
}

/// 1 + the number of a function; 0: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Called(u32);

impl Called {
    pub(super) const NOTHING: Called = Called(0);

    #[inline]
    pub(super) const fn function(function: Function) -> Called {
        Called(function as u32 + 1)
    }
}

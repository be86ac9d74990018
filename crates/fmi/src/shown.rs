//! Words that show the function of FMU code that a thread is in, and counts of its calls: reports of crashes and hangs, and those of
//! runs, read them.
//!
//! One store writes such a word, so a reader finds it whole at any time, also in the memory of a process that is no more.

use super::function::Function;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The number of calls of each function, by its number; there is room for more functions than FMI has.
pub type CallCounts = [AtomicU64; 128];

const _: () = assert!(Function::ALL.len() <= 128);

/// A word, the tag in it beside the function, and counts.
///
/// The lowest 16 bits are 1 + the number of the function that the thread is in, the innermost one; 0 between calls. The upper
/// half is the tag of the caller, which stays there between calls. Between both, if there is a tag, is a count of calls, so
/// that a reader can tell a call that lasts from the next one of the same function.
///
/// With a tag, several threads may count at one place; without one, this thread alone.
#[derive(Debug)]
pub struct CallIndicator {
    place: Cell<CallProbe>,
    count: Cell<u16>,
}

/// The place at which calls are shown and counted.
#[derive(Clone, Copy, Debug)]
pub struct CallProbe {
    /// The word.
    pub word: &'static AtomicU64,
    /// The tag in the word's upper half; the lower one is 0.
    pub tag: u64,
    /// The counts.
    pub calls: &'static CallCounts,
}

impl CallIndicator {
    /// Shows calls at this place from the next one on. Nothing is written before.
    pub fn new(place: CallProbe) -> CallIndicator {
        CallIndicator { place: Cell::new(place), count: Cell::new(0) }
    }

    /// From the next call on calls are shown at another place. Precondition: the thread is in no call.
    #[inline]
    pub fn set(&self, place: CallProbe) {
        self.place.set(place);
    }

    /// The present place at which calls are shown and counted.
    pub(super) fn place(&self) -> CallProbe {
        self.place.get()
    }

    /// The thread enters a function.
    #[inline]
    pub(super) fn enter(&self, function: Function) {
        self.show(FunctionCode::function(function));
        let CallProbe { tag, calls, .. } = self.place.get();
        let count = &calls[function as usize];
        match tag {
            0 => count.store(count.load(Relaxed).wrapping_add(1), Relaxed),
            _ => drop(count.fetch_add(1, Relaxed)),
        }
    }

    /// Undoes the count of a call: the FMU has no such function.
    #[cold]
    pub(super) fn take_back(&self, function: Function) {
        self.place.get().calls[function as usize].fetch_sub(1, Relaxed);
    }

    #[inline]
    pub(super) fn show(&self, called: FunctionCode) {
        let CallProbe { word, tag, .. } = self.place.get();
        if tag == 0 {
            word.store(u64::from(called.0), Relaxed);
        } else {
            self.count.set(self.count.get().wrapping_add(1));
            word.store(tag | u64::from(self.count.get()) << 16 | u64::from(called.0), Relaxed);
        }
    }
}

/// 1 + the number of a function; 0: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FunctionCode(u32);

impl FunctionCode {
    pub(super) const NOTHING: FunctionCode = FunctionCode(0);

    #[inline]
    pub(super) const fn function(function: Function) -> FunctionCode {
        FunctionCode(function as u32 + 1)
    }
}

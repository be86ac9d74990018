//! Where others see which function of FMU code a thread is inside of, and how often it has called each: reports of crashes and hangs,
//! and those of runs, read it there.
//!
//! One store says where the thread is, so a reader finds it whole at any time, also in the memory of a process that is no more.

use super::function::Function;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How often each function was called, by its number; there is room for more functions than FMI has.
pub type CallCounts = [AtomicU64; 128];

const _: () = assert!(Function::ALL.len() <= 128);

/// A word, and what stands in it beside the function; and counts.
///
/// The lowest 16 bits are 1 + the number of the function that the thread is inside of, the innermost one; 0 between calls. The
/// upper half is the tag of whoever calls, which stays there between calls. Between both, where there is a tag, calls are
/// counted, so that who looks now and then can tell a call that lasts from the next one of the same function.
///
/// Where there is a tag, several threads may count at one place; where there is none, this one alone.
#[derive(Debug)]
pub struct CallIndicator {
    place: Cell<CallProbe>,
    count: Cell<u16>,
}

/// Where calls are shown and counted.
#[derive(Clone, Copy, Debug)]
pub struct CallProbe {
    /// The word.
    pub word: &'static AtomicU64,
    /// What stands in its upper half; the lower one is 0.
    pub tag: u64,
    /// The counts.
    pub calls: &'static CallCounts,
}

impl CallIndicator {
    /// Shows calls at this place from the next one on. Nothing is written before.
    pub fn new(place: CallProbe) -> CallIndicator {
        CallIndicator { place: Cell::new(place), count: Cell::new(0) }
    }

    /// From the next call on they are shown at another place. Not inside of a call.
    #[inline]
    pub fn set(&self, place: CallProbe) {
        self.place.set(place);
    }

    /// Where calls are shown and counted now.
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

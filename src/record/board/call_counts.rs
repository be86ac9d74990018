//! How often each function of an FMU was called, and how long that took; only where somebody wants to know it.

use super::Board;
use crate::plan::{FmuId, Plan};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Functions that there can be, by their numbers: more than FMI has.
const FUNCTIONS: usize = 128;

/// Of each FMU its words, behind `next`.
pub(super) fn regions(plan: &Plan, next: &mut usize) -> Vec<Range<usize>> {
    let region = |counts: bool| {
        let begin = *next;
        *next += if counts { 2 * FUNCTIONS } else { 0 };
        begin..*next
    };
    plan.fmus.iter().map(|fmu| fmu.watch.counts).map(region).collect()
}

/// The counts of an FMU. Written by the thread that calls, read when the run is over.
#[derive(Clone, Copy)]
pub struct CallCounts<'a>(&'a [AtomicU64]);

impl CallCounts<'_> {
    /// A call of the function of this number took so long, ns.
    pub fn add(&self, function: u32, nanos: u64) {
        let Some([calls, time]) = self.words(function) else { return };
        calls.fetch_add(1, Relaxed);
        time.fetch_add(nanos, Relaxed);
    }

    /// Calls of the function of this number, and the time that all of them took, ns.
    pub fn of(&self, function: u32) -> (u64, u64) {
        self.words(function).map_or((0, 0), |[calls, time]| (calls.load(Relaxed), time.load(Relaxed)))
    }

    fn words(&self, function: u32) -> Option<&[AtomicU64; 2]> {
        let place = 2 * function as usize;
        self.0.get(place..place + 2)?.try_into().ok()
    }
}

impl<'a> Board<'a> {
    /// The counts of an FMU; without room, if nobody wants them.
    pub fn call_counts(&self, fmu: FmuId) -> CallCounts<'a> {
        CallCounts(&self.words[self.layout.call_counts[fmu.0].clone()])
    }
}

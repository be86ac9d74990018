//! How often each function of an FMU was called, by each task and outside of all tasks; and how long that took, where somebody wants
//! to know it.

use crate::ring::LINE;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use vecud_plan::Plan;

/// Functions that there can be, by their numbers: more than FMI has.
pub(super) const FUNCTIONS: usize = 128;

/// Words of the counts of a task, or of what an FMU is called for outside of all tasks. What is called most is in the first line. There
/// is a line more than there are counts: by a power of two, the first lines of many tasks would share a few places of the cache.
pub(super) const WORDS: usize = FUNCTIONS + LINE;

/// Of each FMU the words for times, behind `next`.
pub(super) fn times(plan: &Plan, next: &mut usize) -> Vec<Range<usize>> {
    let region = |are_timed: bool| {
        let begin = *next;
        *next += if are_timed { FUNCTIONS } else { 0 };
        begin..*next
    };
    plan.fmus.iter().map(|fmu| fmu.watch.times).map(region).collect()
}

/// The times of the calls of an FMU's functions. Written by whoever calls, read when the run is over.
#[derive(Clone, Copy)]
pub struct CallTimes<'a>(pub(super) &'a [AtomicU64]);

impl CallTimes<'_> {
    /// A call of the function of this number took so long, ns.
    pub fn add(&self, function: u32, nanos: u64) {
        if let Some(time) = self.0.get(function as usize) {
            time.fetch_add(nanos, Relaxed);
        }
    }
}

/// Figures of the calls of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionCalls {
    /// Number of the function.
    pub function: u32,
    /// Number of calls.
    pub calls: u64,
    /// How long all of these took, ns; `None`: nobody has measured it, as of what makes and frees an instance.
    pub nanos: Option<u64>,
}

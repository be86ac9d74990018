//! The number of calls of each function of an FMU, by each task and outside of all tasks, and, on request, their duration.

use crate::ring::LINE;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use vecud_plan::Plan;

/// Functions that there can be, by their numbers: more than FMI has.
pub(super) const FUNCTIONS: usize = 128;

/// Words of the call counts of a task, or of an FMU outside of all tasks. The functions that are called most are in the first line.
/// There is a line more than there are counts: with a power of two, the first lines of many tasks would share a few places of the
/// cache.
pub(super) const WORDS: usize = FUNCTIONS + LINE;

/// The words for times of each FMU, behind `next`.
pub(super) fn times(plan: &Plan, next: &mut usize) -> Vec<Range<usize>> {
    let region = |are_timed: bool| {
        let begin = *next;
        *next += if are_timed { FUNCTIONS } else { 0 };
        begin..*next
    };
    plan.fmus.iter().map(|fmu| fmu.watch.times).map(region).collect()
}

/// The times of the calls of an FMU's functions. Each calling thread writes them; they are read after the run.
#[derive(Clone, Copy)]
pub struct CallTimes<'a>(pub(super) &'a [AtomicU64]);

impl CallTimes<'_> {
    /// Adds the duration of a call of the function with this number, ns.
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
    /// Duration of all calls, ns; `None`: it was not measured, as for functions that make and free an instance.
    pub nanos: Option<u64>,
}

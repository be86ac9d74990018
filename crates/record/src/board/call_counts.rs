//! How often each function of an FMU was called, by each task and outside of all tasks; and how long that took, where somebody wants
//! to know it.

use super::{Board, Layout};
use crate::LINE;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use vecud_plan::{FmuId, Plan, UnitId};

/// Functions that there can be, by their numbers: more than FMI has.
const FUNCTIONS: usize = 128;

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
pub struct CallTimes<'a>(&'a [AtomicU64]);

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

impl Layout {
    /// The first word of the counts of this number: those of tasks come first, then those of FMUs.
    fn counts(&self, number: usize) -> Range<usize> {
        let begin = self.calls + number * WORDS;
        begin..begin + FUNCTIONS
    }
}

impl<'a> Board<'a> {
    /// How often a task has called each function; written by its thread alone.
    pub fn calls(&self, task: UnitId) -> &'a [AtomicU64; FUNCTIONS] {
        self.counts(task.0)
    }

    /// How often an FMU was called outside of its tasks.
    pub fn outside_calls(&self, plan: &Plan, fmu: FmuId) -> &'a [AtomicU64; FUNCTIONS] {
        self.counts(plan.units.len() + fmu.0)
    }

    fn counts(&self, number: usize) -> &'a [AtomicU64; FUNCTIONS] {
        self.words[self.layout.counts(number)].try_into().expect("as many words")
    }

    /// The times of an FMU's calls; without room, if nobody wants them.
    pub fn call_times(&self, fmu: FmuId) -> CallTimes<'a> {
        CallTimes(&self.words[self.layout.call_times[fmu.0].clone()])
    }

    /// The functions of an FMU that were called, by their numbers, with the calls of all tasks and those outside of them.
    pub fn calls_of(&self, plan: &Plan, fmu: FmuId) -> impl Iterator<Item = FunctionCalls> + use<'a> {
        let own = (0..plan.units.len()).filter(|task| plan.units[*task].fmu == fmu);
        let mut all: Vec<_> = own.map(|task| self.calls(UnitId(task))).collect();
        all.push(self.outside_calls(plan, fmu));
        let times = self.call_times(fmu);
        (0..FUNCTIONS).filter_map(move |function| {
            let calls = all.iter().fold(0_u64, |sum, counts| sum.saturating_add(counts[function].load(Relaxed)));
            let nanos = times.0.get(function).map(|time| time.load(Relaxed)).filter(|nanos| *nanos > 0);
            (calls > 0).then_some(FunctionCalls { function: function as u32, calls, nanos })
        })
    }
}

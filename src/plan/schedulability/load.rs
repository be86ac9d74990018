//! The load of a processor, exactly.
//!
//! Whoever is loaded beyond 1 has no worst response: the work that waits grows for ever (C. L. Liu, J. W. Layland, Journal of
//! the ACM 20 (1973)). At exactly 1 it still has, and sums of `f64` do not tell the two apart.

use super::big::Big;
use super::{Demand, Pattern};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The part of a processor's time that tasks need in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Exactly: less than all of it, all, or more.
    pub against_one: Ordering,
    /// As a number, rounded.
    pub share: f64,
}

/// The load by these tasks together. Listed times end, and are nothing in the long run.
pub fn load<'a>(tasks: impl IntoIterator<Item = &'a Demand<'a>>) -> Load {
    let mut work_by_interval: BTreeMap<i128, u128> = BTreeMap::new();
    for task in tasks {
        for stream in &task.streams {
            if let Pattern::Grid { interval, .. } = stream.pattern {
                *work_by_interval.entry(*interval).or_default() += task.execution as u128;
            }
        }
    }
    let (mut work, mut time) = (Big::of(0), Big::of(1));
    let mut share = 0.0;
    for (&interval, &execution) in &work_by_interval {
        let interval_big = Big::of(interval as u128);
        work = work.times(&interval_big).plus(&time.times(&Big::of(execution)));
        time = time.times(&interval_big);
        share += execution as f64 / interval as f64;
    }
    Load { against_one: work.cmp(&time), share }
}

//! Thresholds above which a figure is evidence, and the clock that shows it.

use crate::ClockResult;

/// Nothing shorter is worth a word, ns.
pub(super) const NOTABLE: u64 = 50_000;
/// Nothing that is not so many times the median is late.
pub(super) const TIMES: u64 = 5;

pub(super) fn name(clock: &ClockResult) -> String {
    format!("{}.{}", clock.fmu, clock.clock)
}

/// `3 of the 10 worst wake-ups of ecu.task_1ms`.
pub(super) fn of_the_worst(number: usize, all: usize, what: &str, clock: &ClockResult) -> String {
    match all {
        1 => format!("the only {what} of {}", name(clock)),
        _ => format!("{number} of the {all} worst {what}s of {}", name(clock)),
    }
}

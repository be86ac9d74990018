//! Thresholds above which a figure is evidence, and the clock that shows it.

use crate::ClockResult;

/// Shorter times are not worth a hint, ns.
pub(super) const NOTABLE: u64 = 50_000;
/// A time is late from this multiple of the median on.
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

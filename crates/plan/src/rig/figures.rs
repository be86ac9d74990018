//! A rig's execution times and rates of its clocks, from which `vecud check` computes worst responses. They do not change the
//! run.

use super::At;
use super::document::{TableReader, number};
use toml_edit::Item;
use vecud_base::time::Nanos;

/// Keys of `[fmu.NAME.clock.CLOCK]` that are figures.
pub(super) const KEYS: [&str; 4] = ["execution_us", "lock_us", "deadline_us", "min_interval_us"];

/// Keys of `[fmu.NAME]` that are figures, of its steps: these have a period.
pub(super) const KEYS_OF_STEP: [&str; 3] = ["execution_us", "lock_us", "deadline_us"];

/// Figures of one clock; missing ones may have been measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigFigures {
    /// `execution_us`: the longest execution.
    pub execution: Option<At<Nanos>>,
    /// `lock_us`: the longest locked section.
    pub lock: Option<At<Nanos>>,
    /// `min_interval_us`: the shortest time between two activations of a clock that has no period.
    pub min_interval: Option<At<Nanos>>,
    /// `deadline_us`: the longest response that is allowed.
    pub deadline: Option<At<Nanos>>,
}

/// Reads them; durations of work are rounded up to a nanosecond, intervals between activations down.
pub(super) fn read(section: &TableReader) -> RigFigures {
    let micros = |key, least: f64, expected| {
        let value = |item: &Item| number(item).filter(|us| (least..=1e12).contains(us));
        section.read(key, expected, value)
    };
    let positive = |key| micros(key, 1e-3, "a number of microseconds from 0.001 to 1e12");
    let nanos = |at: At<f64>, round: fn(f64) -> f64| At { value: Nanos(whole(at.value * 1e3, round)), place: at.place };
    let figures = RigFigures {
        execution: positive("execution_us").map(|at| nanos(at, f64::ceil)),
        lock: micros("lock_us", 0.0, "a number of microseconds from 0 to 1e12").map(|at| nanos(at, f64::ceil)),
        min_interval: positive("min_interval_us").map(|at| nanos(at, f64::floor)),
        deadline: positive("deadline_us").map(|at| nanos(at, f64::floor)),
    };
    if let (Some(lock), Some(execution)) = (&figures.lock, &figures.execution)
        && lock.value > execution.value
    {
        let [lock_us, execution_us] = [lock, execution].map(|at| at.value.0 as f64 / 1e3);
        let message = format!(
            "lock_us = {lock_us} is more than execution_us = {execution_us}: a locked section is a part of the execution"
        );
        section.document.problem(lock.place, message);
    }
    figures
}

/// `[host]`'s `wakeup_us` and `overhead_us`.
pub(super) fn read_host(section: &TableReader, key: &str) -> Option<Nanos> {
    let micros = |item: &Item| number(item).filter(|us| (0.0..=1e6).contains(us));
    let value = section.read(key, "a number of microseconds from 0 to 1e6", micros)?;
    Some(Nanos(whole(value.value * 1e3, f64::ceil)))
}

/// Rounded, unless it is whole but for the rounding of `f64`: 0.3 µs is 300 ns.
fn whole(nanos: f64, round: fn(f64) -> f64) -> i64 {
    let nearest = nanos.round();
    if (nanos - nearest).abs() <= 1e-9 * nanos.abs().max(1.0) { nearest as i64 } else { round(nanos) as i64 }
}

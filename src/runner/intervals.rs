//! Intervals and shifts between FMUs and the exact durations that are reckoned with (design S1, S2, S15).

use crate::ffi::{Interval, Qualifier};
use crate::record::unusable::Unusable;
use crate::time::Fraction;

/// As the FMI function of a clock takes it: a fraction if the clock supports that.
pub fn told(duration: Fraction, supports_fraction: bool) -> Interval {
    match supports_fraction {
        true => Interval::Fraction { counter: duration.counter(), resolution: duration.resolution() },
        false => Interval::Decimal(duration.seconds()),
    }
}

/// What was read, as a duration of 0 or more. A decimal is the shortest one that reads back.
pub fn duration(read: Interval) -> Result<Fraction, Unusable> {
    let exact = match read {
        Interval::Decimal(seconds) => Fraction::from_f64(seconds),
        Interval::Fraction { counter, resolution } => Fraction::new(counter, resolution),
    };
    exact.map_err(|_| unusable(read))
}

/// What was read, as a duration above 0 and not below `shortest`.
pub fn period(read: Interval, shortest: Fraction) -> Result<Fraction, Unusable> {
    duration(read).and_then(|period| match period.is_zero() || period < shortest {
        true => Err(unusable(read)),
        false => Ok(period),
    })
}

/// That an interval is known, changed or not.
pub fn known(qualifier: i32) -> Result<(), Unusable> {
    match Qualifier::from_raw(qualifier) {
        Some(Qualifier::Changed | Qualifier::Unchanged) => Ok(()),
        Some(Qualifier::NotYetKnown) | None => Err(Unusable::Qualifier(qualifier)),
    }
}

/// What was read, for the report.
pub fn unusable(read: Interval) -> Unusable {
    match read {
        Interval::Decimal(seconds) => Unusable::Decimal(seconds),
        Interval::Fraction { counter, resolution } => Unusable::Fraction(counter, resolution),
    }
}

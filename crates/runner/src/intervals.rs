//! Intervals and shifts between FMUs, which have units of time of their own, and the exact durations in seconds that are
//! reckoned with (semantics S1, S2, S15).

use vecud_base::time::{Fraction, TimeUnit};
use vecud_fmi::{Interval, Qualifier};
use vecud_record::unusable::Unusable;

/// As the FMI function of a clock takes it, in the FMU's `unit`: a fraction if the clock supports that.
pub fn told(duration: Fraction, unit: TimeUnit, supports_fraction: bool) -> Interval {
    match (unit.amount(duration), supports_fraction) {
        (Ok(amount), true) => Interval::Fraction { counter: amount.counter(), resolution: amount.resolution() },
        (Ok(amount), false) => Interval::Decimal(amount.seconds()),
        // Finer than can be reckoned with: as near as a double is.
        (Err(_), _) => Interval::Decimal(duration.seconds() / unit.seconds().seconds()),
    }
}

/// The duration, 0 or more, of an FMU's answer in its time `unit`. A decimal is the shortest one that reads back.
pub fn duration(read: Interval, unit: TimeUnit) -> Result<Fraction, Unusable> {
    let exact = match read {
        Interval::Decimal(amount) => Fraction::from_f64(amount),
        Interval::Fraction { counter, resolution } => Fraction::new(counter, resolution),
    };
    exact.and_then(|amount| unit.duration(amount)).map_err(|_| unusable(read, unit))
}

/// An interval that was read, as a duration above 0 and not below `shortest`.
pub fn period(read: Interval, unit: TimeUnit, shortest: Fraction) -> Result<Fraction, Unusable> {
    duration(read, unit).and_then(|period| match period.is_zero() || period < shortest {
        true => Err(unusable(read, unit)),
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

/// An interval that was read and cannot be used, in seconds, for the report.
pub fn unusable(read: Interval, unit: TimeUnit) -> Unusable {
    match read {
        Interval::Fraction { counter, resolution } if unit.is_second() => Unusable::Fraction(counter, resolution),
        _ => Unusable::Decimal(roughly(read, unit)),
    }
}

/// An interval that was read, in seconds, legal or not: for messages.
pub fn roughly(read: Interval, unit: TimeUnit) -> f64 {
    let amount = match read {
        Interval::Decimal(amount) => amount,
        Interval::Fraction { counter, resolution } => counter as f64 / resolution as f64,
    };
    amount * unit.seconds().seconds()
}

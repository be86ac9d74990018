//! A unit of time in which every figure is whole: a nanosecond, or a part of one where intervals are no whole nanoseconds.

use vecud_base::time::{Fraction, Nanos};

const BILLION: i128 = 1_000_000_000;
/// Finer units than this many in a second are not used.
const FINEST: i128 = 1_000_000_000_000_000_000;

/// The number of units in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks(i128);

impl Ticks {
    /// The coarsest unit for these intervals. Where that is too fine, some are [rounded](Ticks::interval).
    pub fn of(intervals: impl IntoIterator<Item = Fraction>) -> Ticks {
        let multiple = |ticks: i128, interval: Fraction| {
            let resolution = i128::from(interval.resolution());
            Some(ticks / gcd(ticks, resolution) * resolution).filter(|ticks| *ticks <= FINEST).unwrap_or(ticks)
        };
        Ticks(intervals.into_iter().fold(BILLION, multiple))
    }

    /// A time in this unit, exactly.
    pub fn nanos(self, nanos: Nanos) -> i128 {
        i128::from(nanos.0) * (self.0 / BILLION)
    }

    /// An interval in this unit, exactly or rounded down, to at least one: shorter intervals are more work.
    pub fn interval(self, interval: Fraction) -> i128 {
        (i128::from(interval.counter()) * self.0 / i128::from(interval.resolution())).max(1)
    }

    /// Rounded up.
    pub fn to_nanos(self, ticks: i128) -> Nanos {
        let part = self.0 / BILLION;
        Nanos(i64::try_from((ticks + part - 1).div_euclid(part)).unwrap_or(i64::MAX))
    }
}

/// The greatest common divisor.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fraction(counter: u64, resolution: u64) -> Fraction {
        Fraction::new(counter, resolution).unwrap()
    }

    #[test]
    fn every_interval_is_whole() {
        let third = fraction(1, 3);
        let ticks = Ticks::of([third, fraction(1, 100), fraction(2, 7000)]);
        assert_eq!(ticks, Ticks(21_000_000_000));
        assert_eq!((ticks.interval(third), ticks.nanos(Nanos(2))), (7_000_000_000, 42));
        assert_eq!([42, 43, 63].map(|t| ticks.to_nanos(t).0), [2, 3, 3]);
    }

    #[test]
    fn what_would_be_too_fine_is_rounded_down() {
        let fine = fraction(1, (1 << 62) - 57);
        let ticks = Ticks::of([fine, fraction(1, 100)]);
        assert_eq!((ticks, ticks.interval(fine)), (Ticks(BILLION), 1));
    }
}

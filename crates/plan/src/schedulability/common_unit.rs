//! A unit of time in which every figure of the analysis is whole: a nanosecond, or a part of one if an interval is no whole
//! number of nanoseconds.

use vecud_base::time::{Fraction, Nanos};

const NANOS_PER_SECOND: i128 = 1_000_000_000;
/// The finest unit: this many are in a second.
const FINEST: i128 = 1_000_000_000_000_000_000;

/// A common unit of time: the number of such units in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonUnit(i128);

impl CommonUnit {
    /// The coarsest unit for these intervals. Where that is too fine, some are [rounded](CommonUnit::of_interval).
    pub fn of(intervals: impl IntoIterator<Item = Fraction>) -> CommonUnit {
        let multiple = |units: i128, interval: Fraction| {
            let resolution = i128::from(interval.resolution());
            Some(units / gcd(units, resolution) * resolution).filter(|units| *units <= FINEST).unwrap_or(units)
        };
        CommonUnit(intervals.into_iter().fold(NANOS_PER_SECOND, multiple))
    }

    /// A time in this unit, exactly.
    pub fn of_nanos(self, nanos: Nanos) -> i128 {
        i128::from(nanos.0) * (self.0 / NANOS_PER_SECOND)
    }

    /// An interval in this unit, exactly or rounded down, to at least one: a shorter interval is more work, which is the safe side.
    pub fn of_interval(self, interval: Fraction) -> i128 {
        (i128::from(interval.counter()) * self.0 / i128::from(interval.resolution())).max(1)
    }

    /// A time of this unit in nanoseconds, rounded up.
    pub fn to_nanos(self, units: i128) -> Nanos {
        let part = self.0 / NANOS_PER_SECOND;
        Nanos(i64::try_from((units + part - 1).div_euclid(part)).unwrap_or(i64::MAX))
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
        let units = CommonUnit::of([third, fraction(1, 100), fraction(2, 7000)]);
        assert_eq!(units, CommonUnit(21_000_000_000));
        assert_eq!((units.of_interval(third), units.of_nanos(Nanos(2))), (7_000_000_000, 42));
        assert_eq!([42, 43, 63].map(|t| units.to_nanos(t).0), [2, 3, 3]);
    }

    #[test]
    fn what_would_be_too_fine_is_rounded_down() {
        let fine = fraction(1, (1 << 62) - 57);
        let units = CommonUnit::of([fine, fraction(1, 100)]);
        assert_eq!((units, units.of_interval(fine)), (CommonUnit(NANOS_PER_SECOND), 1));
    }
}

//! The unit in which an FMU counts time: that of its independent variable (FMI 3.0.2, 2.2.8.4, "The values of the arguments
//! intervals, shifts, and counters / resolutions refer to the unit of the independent variable"; 5.2.2, `activationTime`).
//!
//! Guarantees: durations are converted exactly or refused; points of time are rounded once, when they become an `f64`.

use super::denominator::{DENOMINATOR_LIMIT, gcd};
use super::{Fraction, Instant, NotAFraction};
use serde::{Deserialize, Serialize};

/// The length of an FMU's unit of time, in seconds: above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeUnit(Fraction);

/// `a · b`, exactly.
fn product(a: Fraction, b: Fraction) -> Result<Fraction, NotAFraction> {
    let (left, right) = (gcd(a.counter, b.resolution), gcd(b.counter, a.resolution));
    let counter = (a.counter / left).checked_mul(b.counter / right).ok_or(NotAFraction::TooLarge)?;
    let resolution = (a.resolution / right).checked_mul(b.resolution / left).ok_or(NotAFraction::TooLarge)?;
    Fraction::new(counter, resolution)
}

impl TimeUnit {
    /// The second.
    pub const SECOND: TimeUnit = TimeUnit(Fraction { counter: 1, resolution: 1 });

    /// The unit with this length; `None` for 0, and for lengths that are too great for the arithmetic.
    pub fn new(seconds: Fraction) -> Option<TimeUnit> {
        (!seconds.is_zero() && seconds.counter <= DENOMINATOR_LIMIT).then_some(TimeUnit(seconds))
    }

    /// Whether nothing is to be converted.
    pub fn is_second(self) -> bool {
        self == TimeUnit::SECOND
    }

    /// The length of the unit in seconds.
    pub fn seconds(self) -> Fraction {
        self.0
    }

    /// The duration of this amount of the unit.
    pub fn duration(self, amount: Fraction) -> Result<Fraction, NotAFraction> {
        if self.is_second() { Ok(amount) } else { product(amount, self.0) }
    }

    /// The amount of the unit in a duration.
    pub fn amount(self, duration: Fraction) -> Result<Fraction, NotAFraction> {
        let inverse = Fraction { counter: self.0.resolution, resolution: self.0.counter };
        if self.is_second() { Ok(duration) } else { product(duration, inverse) }
    }

    /// The instant that is `value` of this unit after 0, by the shortest decimal that reads back as `value`, or, where that has too many
    /// places, hardly after it; `None` if that is not finite or not representable.
    pub fn instant(self, value: f64) -> Option<Instant> {
        if self.is_second() {
            return Instant::not_before(value);
        }
        let exact = || {
            let magnitude = Instant::ZERO.after(self.duration(Fraction::from_f64(value.abs()).ok()?).ok()?);
            Some(if value < 0.0 { magnitude.negated() } else { magnitude })
        };
        exact().or_else(|| Instant::not_before(value * self.0.seconds()))
    }

    /// A point of time as the FMU gets it: the nearest `f64` in its unit.
    pub fn value(self, time: Instant) -> f64 {
        if self.is_second() {
            return time.seconds();
        }
        self.exactly(time).map_or_else(|| time.seconds() / self.0.seconds(), |time| time.seconds())
    }

    /// The number of units as if they were seconds; `None`: too large a number.
    fn exactly(self, time: Instant) -> Option<Instant> {
        let numerator = i128::from(time.seconds) * i128::from(time.resolution) + i128::from(time.counter);
        let numerator = numerator.checked_mul(i128::from(self.0.resolution))?;
        let (a, b) = (time.resolution, self.0.counter);
        let denominator = a.checked_mul(b).filter(|product| *product <= DENOMINATOR_LIMIT)?;
        let seconds = i64::try_from(numerator.div_euclid(i128::from(denominator))).ok()?;
        let counter = numerator.rem_euclid(i128::from(denominator)) as u64;
        Some(Instant { seconds, counter, resolution: denominator })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fraction(text: &str) -> Fraction {
        Fraction::parse(text).unwrap()
    }

    fn unit(seconds: &str) -> TimeUnit {
        TimeUnit::new(fraction(seconds)).unwrap()
    }

    #[test]
    fn milliseconds_minutes_and_steps_of_a_third_are_exact() {
        assert_eq!(unit("0.001").duration(fraction("10")), Ok(fraction("0.01")));
        assert_eq!(unit("60").duration(fraction("0.5")), Ok(fraction("30")));
        assert_eq!(unit("1/3").amount(fraction("2")), Ok(fraction("6")));
        assert_eq!(unit("1e-9").amount(fraction("1/3")), Ok(fraction("1000000000/3")));
        assert_eq!(TimeUnit::SECOND.amount(fraction("1/3")), Ok(fraction("1/3")));
        assert_eq!(TimeUnit::new(Fraction::ZERO), None);
    }

    /// 0.29 · 1000 and the like is not what the FMU gets, but the nearest double of the exact product.
    #[test]
    fn points_of_time_are_rounded_once() {
        for k in 0..1000u32 {
            let time = Instant::ZERO.after_many(fraction("0.01"), u64::from(k));
            assert_eq!(unit("0.001").value(time), f64::from(10 * k));
        }
        assert_eq!(unit("0.001").value(Instant::from_f64(-0.0015).unwrap()), -1.5);
    }

    /// Interval 10/3 of a millisecond, a billion ticks on: 10^10/3 ms.
    #[test]
    fn a_grid_in_milliseconds_does_not_drift_in_a_billion_ticks() {
        let milliseconds = unit("0.001");
        let interval = milliseconds.duration(fraction("10/3")).unwrap();
        let mut near = Instant::ZERO.after_many(interval, 999_999_999);
        near = near.after(interval);
        assert_eq!(near, Instant::ZERO.after_many(fraction("1/300"), 1_000_000_000));
        assert_eq!(milliseconds.value(near), 1e10 / 3.0);
    }

    #[test]
    fn what_cannot_be_held_is_refused() {
        assert_eq!(unit("1e-9").duration(fraction("1e-12")), Err(NotAFraction::TooLarge));
        assert_eq!(unit("0.001").instant(f64::NAN), None);
    }

    /// Where decimals have more places than instants, a time is hardly after it.
    #[test]
    fn times_with_many_places_are_instants_as_well() {
        let milliseconds = unit("0.001");
        for k in 1..3000_u32 {
            let time = f64::from(k) * 1.234_567_890_123_456_7e-6;
            let instant = Instant::not_before(time).unwrap();
            assert!(instant.seconds() >= time && instant.seconds() - time <= 2e-18, "{time}: {instant:?}");
            let third = 0.1 * f64::from(k);
            let told = milliseconds.value(milliseconds.instant(third).unwrap());
            assert!((0.0..=3e-15 + 2.0 * third * f64::EPSILON).contains(&(told - third)), "{third}: {told}");
        }
        assert_eq!(Instant::not_before(-0.25), Instant::from_f64(-0.25));
        assert_eq!((Instant::not_before(f64::NAN), Instant::not_before(f64::INFINITY)), (None, None));
    }

    /// A grid from 0 on: a point and the difference to the next one give this one, to the bit, over any number of steps.
    #[test]
    fn differences_of_the_points_of_a_grid_add_up_to_them() {
        for (step, length) in
            [("0.04", "1"), ("0.01", "1"), ("1/60", "1"), ("1/7", "1"), ("1/3000", "0.001"), ("0.1", "60")]
        {
            let (step, unit) = (fraction(step), unit(length));
            let (mut time, mut sum) = (Instant::ZERO, 0.0);
            for k in 0..1_000_000 {
                let next = time.after(step);
                sum += unit.value(next) - unit.value(time);
                assert_eq!(sum, unit.value(next), "step {k} of {step}");
                time = next;
            }
        }
    }

    /// Where the next point is more than twice as far from 0 there may be no such number.
    #[test]
    fn beyond_twice_the_distance_a_difference_may_be_rounded() {
        let (time, next) = (0.5 * f64::EPSILON, 1.0 + f64::EPSILON);
        let differences = [1.0, 1.0 + f64::EPSILON];
        assert!(differences.iter().all(|difference| time + difference != next));
        assert!(differences.contains(&(next - time)));
        assert_ne!(-1.0 + (1e-17 - -1.0), 1e-17, "about 0");
    }

    proptest! {
        /// Sterbenz: the difference of two numbers that are not further apart than a factor of two is exact.
        #[test]
        fn up_to_twice_the_distance_the_sum_is_the_next_point(time in 1e-12f64..1e12, times in 1.0f64..=2.0, is_before: bool) {
            let (time, next) = if is_before { (-time * times, -time) } else { (time, time * times) };
            prop_assert_eq!(time + (next - time), next);
        }

        #[test]
        fn there_and_back_is_the_same(
            length in (1u64..10_000, 1u64..10_000), amount in (0u64..1_000_000, 1u64..1_000_000), value in -1e6f64..1e6,
        ) {
            let unit = TimeUnit::new(Fraction::new(length.0, length.1).unwrap()).unwrap();
            let amount = Fraction::new(amount.0, amount.1).unwrap();
            prop_assert_eq!(unit.amount(unit.duration(amount).unwrap()), Ok(amount));
            let there = unit.instant(value).map(|instant| unit.value(instant));
            prop_assert!(there.is_none_or(|there| (there - value).abs() <= 1e-12 * value.abs().max(1.0)), "{there:?}");
        }
    }
}

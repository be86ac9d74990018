//! Instants counted in equal parts of a second: where many share a denominator, an addition is one of integers.

use super::denominator::gcd;
use super::{Fraction, Instant};

/// The most parts of a second: a counter of such parts lasts for a century.
const MOST: u64 = 1 << 32;

/// Equal parts of a second, counted from `base`, which is a whole number of them.
#[derive(Clone, Copy, Debug)]
pub struct Subdivision {
    base: Instant,
}

impl Default for Subdivision {
    /// Whole seconds, from 0.
    fn default() -> Subdivision {
        Subdivision { base: Instant::ZERO }
    }
}

impl Subdivision {
    /// The parts that `base` needs, counted from there; `None`: too many.
    pub fn from(base: Instant) -> Option<Subdivision> {
        (base.resolution <= MOST).then_some(Subdivision { base })
    }

    /// Parts in which this denominator can be told as well; `None`: too many.
    #[must_use]
    pub fn with(self, resolution: u64) -> Option<Subdivision> {
        let own = self.base.resolution;
        let common = (own / gcd(own, resolution)).checked_mul(resolution).filter(|common| *common <= MOST)?;
        Some(Subdivision {
            base: Instant { counter: self.base.counter * (common / own), resolution: common, ..self.base },
        })
    }

    /// A duration; `None`: it is no whole number of parts, or too long.
    pub fn length(self, duration: Fraction) -> Option<u64> {
        let own = self.base.resolution;
        own.is_multiple_of(duration.resolution).then(|| duration.counter.checked_mul(own / duration.resolution))?
    }

    /// The number of the first part that does not begin before `time`; 0 when that is not after the base, and `u64::MAX`
    /// when it is too far away.
    pub fn first_from(self, time: Instant) -> u64 {
        let own = u128::from(self.base.resolution);
        // Rounded up.
        let counter = (u128::from(time.counter) * own).div_ceil(u128::from(time.resolution)) as i128;
        let whole = (i128::from(time.seconds) - i128::from(self.base.seconds)) * own as i128;
        u64::try_from((whole + counter - i128::from(self.base.counter)).max(0)).unwrap_or(u64::MAX)
    }

    /// The instant that lies this number of parts after another one. Precondition: that one came from this division.
    #[inline]
    pub fn after(self, from: Instant, parts: u64) -> Instant {
        let resolution = self.base.resolution;
        debug_assert_eq!(from.resolution, resolution);
        let counter = from.counter.saturating_add(parts);
        if counter < resolution {
            return Instant { counter, resolution, ..from };
        }
        Subdivision::carry(from.seconds, counter, resolution)
    }

    fn carry(seconds: i64, counter: u64, resolution: u64) -> Instant {
        let seconds = seconds.saturating_add_unsigned(counter / resolution);
        Instant { seconds, counter: counter % resolution, resolution }
    }

    /// Origin of the count.
    pub fn base(self) -> Instant {
        self.base
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Counting is exact: where all denominators are known, numbers stand for instants as their differences do.
        #[test]
        fn a_count_is_the_instant(
            start in -20i64..20, base in (0u64..5000, 1u64..500), step in (1u64..5000, 1u64..500),
            off in (0u64..5000, 1u64..70_000), steps in 0u64..5000,
        ) {
            let fraction = |(counter, resolution)| Fraction::new(counter, resolution).unwrap();
            let base = Instant { seconds: start, counter: 0, resolution: 1 }.after(fraction(base));
            let step = fraction(step);
            let parts = Subdivision::from(base).unwrap().with(step.resolution()).unwrap();
            let length = parts.length(step).unwrap();
            let time = base.after_many(step, steps);
            prop_assert_eq!(parts.base(), base);
            prop_assert_eq!(parts.after(parts.base(), length * steps), time);
            prop_assert_eq!(parts.after(parts.after(parts.base(), length * steps), length), time.after(step));
            // Of any time: the first that is not before it.
            let any = base.after(fraction(off));
            let count = parts.first_from(any);
            prop_assert!(parts.after(parts.base(), count) >= any);
            prop_assert!(count == 0 || parts.after(parts.base(), count - 1) < any);
            prop_assert_eq!(parts.first_from(Instant { seconds: start - 1, counter: 0, resolution: 1 }), 0);
        }
    }

    #[test]
    fn what_needs_too_many_parts_is_refused() {
        let parts = Subdivision::from(Instant::ZERO).unwrap();
        assert!(parts.with(1 << 32).is_some());
        assert!(parts.with((1 << 32) + 1).is_none());
        assert!(parts.with(1 << 31).unwrap().with(3).is_none());
        assert_eq!(parts.length(Fraction::new(1, 2).unwrap()), None);
        assert_eq!(parts.with(1000).unwrap().first_from(Instant::MAX), u64::MAX);
    }
}

//! Exact points of simulation time.

use super::denominator::{ATTO, DENOMINATOR_LIMIT, gcd};
use super::rounding::{nearest_double, nearest_nanos};
use super::{Fraction, Nanos};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// An exact point of simulation time: whole seconds and a fraction of one.
///
/// Comparison is exact; so is [`Instant::after`] as long as the common denominator stays below 2^63 (module
/// documentation).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Instant {
    pub(super) seconds: i64,
    pub(super) counter: u64,
    pub(super) resolution: u64,
}

/// An [`Instant`] in a file, which anybody may have written.
#[derive(Deserialize)]
struct Written {
    seconds: i64,
    counter: u64,
    resolution: u64,
}

impl TryFrom<Written> for Instant {
    type Error = &'static str;

    fn try_from(Written { seconds, counter, resolution }: Written) -> Result<Instant, &'static str> {
        match counter < resolution && resolution <= DENOMINATOR_LIMIT {
            true => Ok(Instant { seconds, counter, resolution }),
            false => Err("is no point of time"),
        }
    }
}

impl Instant {
    /// Time zero.
    pub const ZERO: Instant = Instant { seconds: 0, counter: 0, resolution: 1 };
    /// Later than everything.
    pub const MAX: Instant = Instant { seconds: i64::MAX, counter: 0, resolution: 1 };

    /// `seconds + counter/resolution`, with `counter` of any size.
    fn normalised(seconds: i64, counter: u128, resolution: u64) -> Instant {
        let carry = counter / u128::from(resolution);
        Instant {
            seconds: seconds.saturating_add(i64::try_from(carry).unwrap_or(i64::MAX)),
            counter: (counter % u128::from(resolution)) as u64,
            resolution,
        }
    }

    /// The instant of the shortest decimal that reads back as `seconds`; `None` if that is not finite or not
    /// representable.
    pub fn from_f64(seconds: f64) -> Option<Instant> {
        if seconds >= 0.0 {
            return Some(Instant::ZERO.after(Fraction::from_f64(seconds).ok()?));
        }
        Some(Instant::ZERO.after(Fraction::from_f64(-seconds).ok()?).negated())
    }

    /// [`Instant::from_f64`], and where the decimal has too many places for that to be `seconds`, hardly after it.
    pub fn not_before(seconds: f64) -> Option<Instant> {
        const ATTOSECOND: Fraction = Fraction { counter: 1, resolution: 1_000_000_000_000_000_000 };
        let near = Instant::from_f64(seconds)?;
        Some(if near.seconds() < seconds { near.after(ATTOSECOND) } else { near })
    }

    /// The instant as long before zero as this one is after it.
    pub(super) fn negated(self) -> Instant {
        match self.counter {
            0 => Instant { seconds: -self.seconds, ..self },
            c => Instant { seconds: -self.seconds - 1, counter: self.resolution - c, ..self },
        }
    }

    /// This instant plus a duration.
    #[inline]
    pub fn after(self, duration: Fraction) -> Instant {
        if self.resolution != duration.resolution || duration.counter >= duration.resolution {
            return self.after_many(duration, 1);
        }
        // Both are below 2^63.
        let counter = self.counter + duration.counter;
        match counter.checked_sub(self.resolution) {
            None => Instant { counter, ..self },
            Some(counter) => Instant { seconds: self.seconds.saturating_add(1), counter, ..self },
        }
    }

    /// Whether [`Instant::after`] only has to add numerators.
    #[inline]
    pub fn shares_denominator(self, duration: Fraction) -> bool {
        self.resolution == duration.resolution
    }

    /// This instant plus `count` times `duration`: the tick of a grid, computed in one step so that nothing accumulates.
    pub fn after_many(self, duration: Fraction, count: u64) -> Instant {
        let total = u128::from(duration.counter) * u128::from(count);
        let whole = total / u128::from(duration.resolution);
        let rest = (total % u128::from(duration.resolution)) as u64;
        let seconds = self.seconds.saturating_add(i64::try_from(whole).unwrap_or(i64::MAX));
        let (a, b) = (self.resolution, duration.resolution);
        if a == b {
            return Instant::normalised(seconds, u128::from(self.counter) + u128::from(rest), a);
        }
        let divisor = gcd(a, b);
        match (a / divisor).checked_mul(b).filter(|&common| common <= DENOMINATOR_LIMIT) {
            Some(common) => {
                let counter =
                    u128::from(self.counter) * u128::from(common / a) + u128::from(rest) * u128::from(common / b);
                Instant::normalised(seconds, counter, common)
            }
            None => {
                let atto = |counter: u64, resolution: u64| {
                    (u128::from(counter) * u128::from(ATTO) + u128::from(resolution) / 2) / u128::from(resolution)
                };
                Instant::normalised(seconds, atto(self.counter, a) + atto(rest, b), ATTO)
            }
        }
    }

    /// The duration from an earlier instant to this one; `None`: that instant is not earlier or the same, or the duration cannot
    /// be represented.
    pub fn minus(self, earlier: Instant) -> Option<Fraction> {
        let common = u128::from(self.resolution) * u128::from(earlier.resolution);
        let numerator = |i: Instant| {
            let scale = common / u128::from(i.resolution);
            let whole = i128::from(i.seconds).checked_mul(i128::try_from(common).ok()?)?;
            whole.checked_add(i128::try_from(u128::from(i.counter) * scale).ok()?)
        };
        let difference = u128::try_from(numerator(self)?.checked_sub(numerator(earlier)?)?).ok()?;
        let (mut a, mut b) = (difference, common);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Fraction::new(u64::try_from(difference / a).ok()?, u64::try_from(common / a).ok()?).ok()
    }

    /// The nearest `f64` in seconds, as FMI wants it, rounded once.
    #[inline]
    pub fn seconds(&self) -> f64 {
        nearest_double(self.seconds, self.counter, self.resolution)
    }

    /// The nearest nanosecond of simulation time.
    pub fn nanos(self) -> Nanos {
        nearest_nanos(self.seconds, self.counter, self.resolution)
    }

    /// An instant of whole nanoseconds.
    pub fn from_nanos(nanos: Nanos) -> Instant {
        Instant {
            seconds: nanos.0.div_euclid(1_000_000_000),
            counter: nanos.0.rem_euclid(1_000_000_000) as u64,
            resolution: 1_000_000_000,
        }
    }

    /// Three words for shared memory; [`Instant::from_words`] is the inverse.
    pub fn to_words(self) -> [u64; 3] {
        [self.seconds as u64, self.counter, self.resolution]
    }

    /// The inverse of [`Instant::to_words`]; what is no instant (memory that was never written, or that others have written
    /// over) gives zero.
    pub fn from_words(words: [u64; 3]) -> Instant {
        if words[1] >= words[2] {
            Instant::ZERO
        } else {
            Instant { seconds: words[0] as i64, counter: words[1], resolution: words[2] }
        }
    }
}

impl Ord for Instant {
    fn cmp(&self, other: &Instant) -> Ordering {
        self.seconds.cmp(&other.seconds).then_with(|| {
            if self.resolution == other.resolution {
                return self.counter.cmp(&other.counter);
            }
            let left = u128::from(self.counter) * u128::from(other.resolution);
            left.cmp(&(u128::from(other.counter) * u128::from(self.resolution)))
        })
    }
}

impl PartialOrd for Instant {
    fn partial_cmp(&self, other: &Instant) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Instant {
    #[inline]
    fn eq(&self, other: &Instant) -> bool {
        match self.resolution == other.resolution {
            true => self.counter == other.counter && self.seconds == other.seconds,
            false => self.cmp(other) == Ordering::Equal,
        }
    }
}

impl Eq for Instant {}

/// [`Instant::nanos`] of many instants, which mostly have the same denominator: a division less.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToNanos {
    resolution: u64,
    /// Nanoseconds of one part.
    part: u64,
}

impl ToNanos {
    /// The nearest nanosecond of simulation time.
    #[inline]
    pub fn of(&mut self, time: &Instant) -> Nanos {
        const BILLION: u64 = 1_000_000_000;
        const SOON: u64 = 1 << 32;
        if time.resolution == self.resolution && (time.seconds as u64).wrapping_add(SOON) < 2 * SOON {
            return Nanos(time.seconds * BILLION as i64 + (time.counter * self.part) as i64);
        }
        self.of_any(time)
    }

    #[inline(never)]
    fn of_any(&mut self, time: &Instant) -> Nanos {
        const BILLION: u64 = 1_000_000_000;
        if time.resolution != self.resolution {
            if !BILLION.is_multiple_of(time.resolution) {
                return time.nanos();
            }
            *self = ToNanos { resolution: time.resolution, part: BILLION / time.resolution };
        }
        let whole = time.seconds.saturating_mul(BILLION as i64);
        Nanos(whole.saturating_add((time.counter * self.part) as i64))
    }
}

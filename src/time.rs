//! Time without rounding surprises.
//!
//! * [`Nanos`]: the wall clock and durations measured on it, whole nanoseconds.
//! * [`Fraction`]: an exact non-negative duration in seconds, as FMI's counter/resolution or a decimal gives it.
//! * [`Instant`]: an exact point of simulation time. Two instants that are equal as fractions are equal here, whether
//!   they came from a grid (`k·1/100`) or from a decimal (`0.01`); `f64` appears only in [`Instant::seconds`], rounded
//!   once (design S1).
//!
//! Denominators are kept up to 2^63. A sum whose exact denominator is larger (an FMU gave an interval with more than 18
//! decimals) is rounded to the attosecond, always the same way, so that runs stay repeatable.

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// Nanoseconds of wall-clock time: a point of `CLOCK_MONOTONIC` or a difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nanos(pub i64);

impl Nanos {
    /// One second.
    pub const SECOND: Nanos = Nanos(1_000_000_000);
    /// Later than everything.
    pub const MAX: Nanos = Nanos(i64::MAX);

    /// `self + other`, saturating.
    pub fn plus(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }

    /// `self - other`, saturating.
    pub fn minus(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }

    /// From seconds, rounded to the nearest nanosecond.
    pub fn from_seconds(seconds: f64) -> Nanos {
        Nanos((seconds * 1e9).round() as i64)
    }

    /// In seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }
}

/// The largest denominator that is kept exactly.
const DENOMINATOR_LIMIT: u64 = 1 << 63;
/// Where instants finer than that are rounded to: attoseconds.
const ATTO: u64 = 1_000_000_000_000_000_000;

/// Why a text or a number is no [`Fraction`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAFraction {
    /// Not a decimal and not `counter/resolution`.
    Syntax,
    /// NaN or infinite.
    NotFinite,
    /// Below zero.
    Negative,
    /// `x/0`.
    ZeroResolution,
    /// More digits than an exact fraction here can hold.
    TooLarge,
}

impl fmt::Display for NotAFraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotAFraction::Syntax => "is neither a number nor counter/resolution",
            NotAFraction::NotFinite => "is not finite",
            NotAFraction::Negative => "is negative",
            NotAFraction::ZeroResolution => "has the resolution 0",
            NotAFraction::TooLarge => "has more digits than can be represented exactly",
        })
    }
}

impl std::error::Error for NotAFraction {}

/// A non-negative duration in seconds, exact: `counter / resolution`, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fraction {
    counter: u64,
    resolution: u64,
}

impl Fraction {
    /// Zero seconds.
    pub const ZERO: Fraction = Fraction { counter: 0, resolution: 1 };

    /// `counter / resolution` seconds (FMI's `intervalCounter` and `resolution`).
    pub fn new(counter: u64, resolution: u64) -> Result<Fraction, NotAFraction> {
        if resolution == 0 {
            return Err(NotAFraction::ZeroResolution);
        }
        let divisor = gcd(counter, resolution);
        let (counter, resolution) = (counter / divisor, resolution / divisor);
        if resolution > DENOMINATOR_LIMIT {
            return Err(NotAFraction::TooLarge);
        }
        Ok(Fraction { counter, resolution })
    }

    /// A decimal as it is written (`0.01`, `1e-3`, `25.0`) or a fraction (`1/100`): exactly what the text says.
    pub fn parse(text: &str) -> Result<Fraction, NotAFraction> {
        let text = text.trim();
        if let Some((counter, resolution)) = text.split_once('/') {
            let number = |s: &str| s.trim().parse::<u64>().map_err(|_| NotAFraction::Syntax);
            return Fraction::new(number(counter)?, number(resolution)?);
        }
        let value: f64 = text.parse().map_err(|_| NotAFraction::Syntax)?;
        if !value.is_finite() {
            return Err(NotAFraction::NotFinite);
        }
        decimal(text)
    }

    /// The fraction of the shortest decimal that reads back as `seconds` (design S15).
    pub fn from_f64(seconds: f64) -> Result<Fraction, NotAFraction> {
        if !seconds.is_finite() {
            return Err(NotAFraction::NotFinite);
        }
        if seconds < 0.0 {
            return Err(NotAFraction::Negative);
        }
        match decimal(&format!("{seconds:e}")) {
            // More than 18 decimals: to the attosecond, which is finer than the double is at any time above 0.01 s.
            Err(NotAFraction::TooLarge) if seconds < 9.0 => Fraction::new((seconds * ATTO as f64).round() as u64, ATTO),
            other => other,
        }
    }

    /// The numerator in lowest terms.
    pub fn counter(self) -> u64 {
        self.counter
    }

    /// The denominator in lowest terms.
    pub fn resolution(self) -> u64 {
        self.resolution
    }

    /// Whether this is exactly zero.
    pub fn is_zero(self) -> bool {
        self.counter == 0
    }

    /// In seconds, rounded once.
    pub fn seconds(self) -> f64 {
        Instant::ZERO.after(self).seconds()
    }

    /// To the nearest nanosecond.
    pub fn nanos(self) -> Nanos {
        Instant::ZERO.after(self).nanos()
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Fraction) -> Ordering {
        let left = u128::from(self.counter) * u128::from(other.resolution);
        left.cmp(&(u128::from(other.counter) * u128::from(self.resolution)))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Fraction) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.counter, self.resolution)
    }
}

/// A decimal literal (`[+-]digits[.digits][e[+-]digits]`) as an exact fraction.
fn decimal(text: &str) -> Result<Fraction, NotAFraction> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| NotAFraction::Syntax)?),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.as_bytes().first() {
        Some(b'-') => (true, &mantissa[1..]),
        Some(b'+') => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !whole.bytes().chain(part.bytes()).all(|b| b.is_ascii_digit()) || (whole.is_empty() && part.is_empty()) {
        return Err(NotAFraction::Syntax);
    }
    let part = part.trim_end_matches('0');
    let mut counter: u128 = 0;
    for digit in whole.bytes().chain(part.bytes()) {
        counter = counter
            .checked_mul(10)
            .and_then(|c| c.checked_add(u128::from(digit - b'0')))
            .ok_or(NotAFraction::TooLarge)?;
    }
    if counter == 0 {
        return Ok(Fraction::ZERO);
    }
    if negative {
        return Err(NotAFraction::Negative);
    }
    let scale = i64::from(exponent) - part.len() as i64;
    let power = |n: i64| u32::try_from(n).ok().and_then(|n| 10u128.checked_pow(n)).ok_or(NotAFraction::TooLarge);
    let (counter, resolution) = if scale >= 0 {
        (counter.checked_mul(power(scale)?).ok_or(NotAFraction::TooLarge)?, 1)
    } else {
        (counter, power(-scale)?)
    };
    let divisor = gcd128(counter, resolution);
    let narrow = |n: u128| u64::try_from(n / divisor).map_err(|_| NotAFraction::TooLarge);
    Fraction::new(narrow(counter)?, narrow(resolution)?)
}

/// An exact point of simulation time: whole seconds and a fraction of one.
///
/// Comparison is exact; so is [`Instant::after`] as long as the common denominator stays below 2^63 (module
/// documentation).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Instant {
    seconds: i64,
    counter: u64,
    resolution: u64,
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
        let magnitude = Instant::ZERO.after(Fraction::from_f64(-seconds).ok()?);
        Some(match magnitude.counter {
            0 => Instant { seconds: -magnitude.seconds, ..magnitude },
            c => Instant { seconds: -magnitude.seconds - 1, counter: magnitude.resolution - c, ..magnitude },
        })
    }

    /// This instant plus a duration.
    pub fn after(self, duration: Fraction) -> Instant {
        self.after_many(duration, 1)
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

    /// As FMI wants it: the nearest `f64`, rounded once.
    pub fn seconds(self) -> f64 {
        const EXACT: u64 = 1 << 53;
        let numerator = i128::from(self.seconds) * i128::from(self.resolution) + i128::from(self.counter);
        if numerator.unsigned_abs() <= u128::from(EXACT) && self.resolution <= EXACT {
            return numerator as f64 / self.resolution as f64;
        }
        // Beyond 53 bits the division itself would round operands first: keep 64 quotient bits and a sticky one.
        let magnitude = numerator.unsigned_abs();
        let shift = 64 - (128 - magnitude.leading_zeros() as i32) + (64 - self.resolution.leading_zeros() as i32);
        let shift = shift.clamp(0, magnitude.leading_zeros() as i32) as u32;
        let scaled = magnitude << shift;
        let quotient = scaled / u128::from(self.resolution);
        let sticky = u128::from(!scaled.is_multiple_of(u128::from(self.resolution)));
        let value = (quotient | sticky) as f64 * 2f64.powi(-(shift as i32));
        if numerator < 0 { -value } else { value }
    }

    /// To the nearest nanosecond of simulation time.
    pub fn nanos(self) -> Nanos {
        let part =
            (u128::from(self.counter) * 1_000_000_000 + u128::from(self.resolution) / 2) / u128::from(self.resolution);
        Nanos(self.seconds.saturating_mul(1_000_000_000).saturating_add(part as i64))
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

    /// The inverse of [`Instant::to_words`]; a resolution of 0 (memory never written) gives zero.
    pub fn from_words(words: [u64; 3]) -> Instant {
        if words[2] == 0 {
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
    fn eq(&self, other: &Instant) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Instant {}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

fn gcd128(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fraction(text: &str) -> Fraction {
        Fraction::parse(text).unwrap()
    }

    #[test]
    fn a_decimal_is_exactly_what_it_says() {
        assert_eq!(fraction("0.01"), Fraction::new(1, 100).unwrap());
        assert_eq!(fraction("1e-3"), Fraction::new(1, 1000).unwrap());
        assert_eq!(fraction("2.50E1"), Fraction::new(25, 1).unwrap());
        assert_eq!(fraction(" 10/1000 "), Fraction::new(1, 100).unwrap());
        assert_eq!(fraction("-0.0"), Fraction::ZERO);
    }

    #[test]
    fn nonsense_is_refused_with_its_reason() {
        for (text, reason) in [
            ("", NotAFraction::Syntax),
            ("ten", NotAFraction::Syntax),
            ("1/x", NotAFraction::Syntax),
            ("1/0", NotAFraction::ZeroResolution),
            ("-0.1", NotAFraction::Negative),
            ("NaN", NotAFraction::NotFinite),
            ("inf", NotAFraction::NotFinite),
            ("1e-40", NotAFraction::TooLarge),
        ] {
            assert_eq!(Fraction::parse(text), Err(reason), "{text}");
        }
    }

    #[test]
    fn a_grid_and_a_decimal_meet_exactly() {
        let grid = Instant::ZERO.after_many(fraction("1/100"), 3);
        let countdown = Instant::ZERO.after(fraction("0.01")).after(Fraction::from_f64(0.02).unwrap());
        assert_eq!(grid, countdown);
        assert_eq!(Instant::ZERO.after_many(fraction("1/3"), 3), Instant::ZERO.after(fraction("1")));
    }

    #[test]
    fn no_drift_after_a_billion_ticks() {
        let tick = Instant::ZERO.after_many(fraction("0.001"), 1_000_000_007);
        assert_eq!(tick.seconds(), 1_000_000.007);
        assert_eq!(tick.nanos(), Nanos(1_000_000_007_000_000));
        assert_eq!(Instant::ZERO.after_many(fraction("1/3"), 1_000_000_000).seconds(), 1e9 / 3.0);
    }

    #[test]
    fn negative_start_times_work() {
        let start = Instant::from_f64(-0.25).unwrap();
        assert_eq!(start.seconds(), -0.25);
        assert_eq!(start.after(fraction("0.25")), Instant::ZERO);
        assert_eq!(start.nanos(), Nanos(-250_000_000));
    }

    #[test]
    fn an_interval_with_too_many_digits_is_rounded_to_the_attosecond() {
        let tiny = Fraction::from_f64(0.000_345_678_912_345_678_9).unwrap();
        assert!((tiny.seconds() - 0.000_345_678_912_345_678_9).abs() < 1e-18);
        let odd = Instant::ZERO.after(fraction("1/3")).after(tiny);
        assert!((odd.seconds() - (1.0 / 3.0 + 0.000_345_678_912_345_678_9)).abs() < 1e-16);
    }

    proptest! {
        #[test]
        fn seconds_reads_back_what_the_shortest_decimal_said(value in 0.0..1e9f64) {
            let instant = Instant::from_f64(value).unwrap();
            prop_assert!((instant.seconds() - value).abs() <= value * f64::EPSILON);
        }

        #[test]
        fn decimals_of_15_digits_survive_exactly(digits in 0u64..1_000_000_000_000_000, places in 0usize..15) {
            let text = format!("{}e-{}", digits, places);
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(Fraction::parse(&text).unwrap().seconds(), expected);
        }

        #[test]
        fn order_agrees_with_cross_multiplication(a in 0u64..1_000_000, b in 1u64..1_000_000, c in 0u64..1_000_000, d in 1u64..1_000_000) {
            let left = Instant::ZERO.after(Fraction::new(a, b).unwrap());
            let right = Instant::ZERO.after(Fraction::new(c, d).unwrap());
            prop_assert_eq!(left.cmp(&right), (a * d).cmp(&(c * b)));
        }

        #[test]
        fn words_round_trip(seconds in any::<i32>(), counter in 0u64..1000, resolution in 1u64..1000) {
            let instant = Instant { seconds: i64::from(seconds), counter: counter % resolution, resolution };
            prop_assert_eq!(Instant::from_words(instant.to_words()), instant);
        }
    }
}

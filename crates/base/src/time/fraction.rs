//! Exact durations, as they are written in files or come from C.

use super::Nanos;
use super::denominator::{ATTO, DENOMINATOR_LIMIT, gcd};
use super::rounding::{nearest_double, nearest_nanos};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::num::IntErrorKind;

/// Why a text or a number is no [`Fraction`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAFraction {
    /// The text is no decimal and no `counter/resolution`.
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
            NotAFraction::TooLarge => {
                "has more digits than can be represented exactly: in lowest terms the counter must be below 2^64 and the \
                 resolution at most 2^63"
            }
        })
    }
}

impl std::error::Error for NotAFraction {}

/// A non-negative duration in seconds, exact: `counter / resolution`, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Fraction {
    pub(super) counter: u64,
    pub(super) resolution: u64,
}

/// A [`Fraction`] in a file, which anybody may have written.
#[derive(Deserialize)]
struct Written {
    counter: u64,
    resolution: u64,
}

impl TryFrom<Written> for Fraction {
    type Error = NotAFraction;

    fn try_from(Written { counter, resolution }: Written) -> Result<Fraction, NotAFraction> {
        Fraction::new(counter, resolution)
    }
}

impl Fraction {
    /// Zero seconds.
    pub const ZERO: Fraction = Fraction { counter: 0, resolution: 1 };
    /// 1 s.
    pub const SECOND: Fraction = Fraction { counter: 1, resolution: 1 };
    /// 1 ms.
    pub const MILLISECOND: Fraction = Fraction { counter: 1, resolution: 1000 };
    /// A microsecond.
    pub const MICROSECOND: Fraction = Fraction { counter: 1, resolution: 1_000_000 };
    /// A nanosecond.
    pub const NANOSECOND: Fraction = Fraction { counter: 1, resolution: 1_000_000_000 };

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
            let number = |s: &str| {
                s.trim().parse::<u64>().map_err(|error| match error.kind() {
                    IntErrorKind::PosOverflow => NotAFraction::TooLarge,
                    _ => NotAFraction::Syntax,
                })
            };
            return Fraction::new(number(counter)?, number(resolution)?);
        }
        let value: f64 = text.parse().map_err(|_| NotAFraction::Syntax)?;
        if !value.is_finite() {
            return Err(NotAFraction::NotFinite);
        }
        decimal(text)
    }

    /// The fraction of the shortest decimal that reads back as `seconds` (semantics S15). Allocates nothing: partitions ask
    /// for intervals while they run.
    pub fn from_f64(seconds: f64) -> Result<Fraction, NotAFraction> {
        if !seconds.is_finite() {
            return Err(NotAFraction::NotFinite);
        }
        if seconds < 0.0 {
            return Err(NotAFraction::Negative);
        }
        let mut text = ShortText::default();
        write!(text, "{seconds:e}").map_err(|_| NotAFraction::TooLarge)?;
        match decimal(text.as_str()) {
            // More than 18 decimals: to the attosecond, which is finer than the double is at any time above 0.01 s.
            Err(NotAFraction::TooLarge) if seconds < 9.0 => Fraction::new((seconds * ATTO as f64).round() as u64, ATTO),
            other => other,
        }
    }

    /// A duration as somebody has written it down: [`Fraction::parse`], but a decimal to which a fraction was divided out
    /// (`0.016666666666666666`) is that fraction (1/60), and one of more digits than a fraction holds (`0.0022500000000000003`, by a program
    /// that has added up doubles) is the double that it reads as ([`Fraction::from_f64`]).
    pub fn parse_duration(text: &str) -> Result<Fraction, NotAFraction> {
        let double = || text.trim().parse::<f64>().ok();
        if let Some(fraction) = double().and_then(|seconds| divided_out(parts(text.trim()).ok()?, seconds)) {
            return Ok(fraction);
        }
        match (Fraction::parse(text), double()) {
            (Err(NotAFraction::TooLarge), Some(seconds)) => Fraction::from_f64(seconds),
            (parsed, _) => parsed,
        }
    }

    /// A duration as an FMU gives it: [`Fraction::from_f64`], but a decimal to which a fraction was divided out is that fraction.
    /// Allocates nothing.
    pub fn duration(seconds: f64) -> Result<Fraction, NotAFraction> {
        let divided = || {
            let mut text = ShortText::default();
            write!(text, "{seconds:e}").ok()?;
            divided_out(parts(text.as_str()).ok()?, seconds)
        };
        divided().map_or_else(|| Fraction::from_f64(seconds), Ok)
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

    /// Whether this is a whole number of times `step`, which is not zero; zero is.
    pub fn is_multiple_of(self, step: Fraction) -> bool {
        let (own, steps) = (
            u128::from(self.counter) * u128::from(step.resolution),
            u128::from(step.counter) * u128::from(self.resolution),
        );
        own.is_multiple_of(steps)
    }

    /// The number of whole `step`s in this fraction, and whether nothing remains. A remainder, or a lack, below a billionth of a
    /// step is rounding and counts as nothing. Precondition: `step` is not zero.
    pub fn steps(self, step: Fraction) -> (u64, bool) {
        const ROUNDING: u128 = 1_000_000_000;
        let own = u128::from(self.counter) * u128::from(step.resolution);
        let step = u128::from(step.counter) * u128::from(self.resolution);
        let (whole, left) = (own / step, own % step);
        let is_rounding = |part: u128| part <= (step - 1) / ROUNDING;
        let (whole, is_whole) = match is_rounding(step - left) {
            true => (whole + 1, true),
            false => (whole, is_rounding(left)),
        };
        (u64::try_from(whole).unwrap_or(u64::MAX), is_whole)
    }

    /// Whether this is a whole number of times `step`, which is not zero, but for [rounding](Fraction::steps); zero is.
    pub fn is_in_steps(self, step: Fraction) -> bool {
        self.steps(step).1
    }

    /// The value in seconds, rounded once.
    pub fn seconds(self) -> f64 {
        nearest_double(self.whole_seconds(), self.counter % self.resolution, self.resolution)
    }

    /// The value to the nearest nanosecond.
    pub fn nanos(self) -> Nanos {
        nearest_nanos(self.whole_seconds(), self.counter % self.resolution, self.resolution)
    }

    fn whole_seconds(self) -> i64 {
        i64::try_from(self.counter / self.resolution).unwrap_or(i64::MAX)
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

/// Room for any `f64` in scientific notation, on the stack.
#[derive(Default)]
struct ShortText {
    bytes: [u8; 32],
    length: usize,
}

impl ShortText {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).expect("written as text")
    }
}

impl fmt::Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// A decimal literal (`[+-]digits[.digits][e[+-]digits]`) as a whole number and the power of ten that divides it.
fn parts(text: &str) -> Result<(u128, u128), NotAFraction> {
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
        return Ok((0, 1));
    }
    if negative {
        return Err(NotAFraction::Negative);
    }
    let scale = i64::from(exponent) - part.len() as i64;
    let power = |n: i64| u32::try_from(n).ok().and_then(|n| 10u128.checked_pow(n)).ok_or(NotAFraction::TooLarge);
    match scale >= 0 {
        true => Ok((counter.checked_mul(power(scale)?).ok_or(NotAFraction::TooLarge)?, 1)),
        false => Ok((counter, power(-scale)?)),
    }
}

/// A decimal literal as an exact fraction.
fn decimal(text: &str) -> Result<Fraction, NotAFraction> {
    let (counter, resolution) = parts(text)?;
    let divisor = gcd128(counter, resolution);
    let narrow = |n: u128| u64::try_from(n / divisor).map_err(|_| NotAFraction::TooLarge);
    Fraction::new(narrow(counter)?, narrow(resolution)?)
}

/// The fraction that was divided out to a decimal: it has a denominator up to 100,000, and either is the same double as the decimal,
/// `value`, or lies within one unit of its last place, where it has 15 digits or more. Denominators are far too small for that to be
/// chance.
fn divided_out((counter, resolution): (u128, u128), value: f64) -> Option<Fraction> {
    const DIGITS_15: u128 = 10u128.pow(14);
    const DIGITS_20: u128 = 10u128.pow(20);
    const LARGEST_DENOMINATOR: u128 = 100_000;
    /// The least number of decimals of this length between a fraction and its neighbours; fewer, and it may lie near by chance.
    const SPARSE: u128 = 1000;
    if counter >= DIGITS_20 {
        return None;
    }
    // A fraction that lies so near is a convergent of the continued fraction (Hardy and Wright, theorem 184).
    let (mut dividend, mut divisor) = (counter, resolution);
    let (mut before, mut last) = ((0, 1), (1, 0));
    while divisor > 0 {
        let quotient = dividend / divisor;
        let (numerator, denominator) = (quotient * last.0 + before.0, quotient * last.1 + before.1);
        let is_exact = numerator * resolution == counter * denominator;
        if denominator > LARGEST_DENOMINATOR || !is_exact && SPARSE * denominator * denominator > resolution {
            return None;
        }
        let found = Fraction::new(u64::try_from(numerator).ok()?, denominator as u64).ok()?;
        let difference = (counter * denominator).abs_diff(numerator * resolution);
        let is_near = difference <= denominator && counter >= DIGITS_15;
        if numerator > 0 && (is_near || found.seconds() == value) {
            return Some(found);
        }
        (before, last) = (last, (numerator, denominator));
        (dividend, divisor) = (divisor, dividend % divisor);
    }
    None
}

fn gcd128(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        if let (Ok(a), Ok(b)) = (u64::try_from(a), u64::try_from(b)) {
            return u128::from(gcd(a, b));
        }
        (a, b) = (b, a % b);
    }
    a.max(1)
}

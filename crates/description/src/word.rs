//! One 64-bit word per scalar value, whatever its type.
//!
//! * `Float64`: its bits. `Float32`: its bits, zero-extended.
//! * Signed integers and enumerations: sign-extended. Unsigned integers: zero-extended.
//! * Booleans and clocks: 0 or 1.
//!
//! Strings and binaries have no words. Pure; a word does not know its type, so [`write()`] is told.

#![forbid(unsafe_code)]

use crate::{Values, VariableType};
use std::fmt;
use std::ops::Range;

/// The words of all elements; `None` for strings and binaries.
pub fn words(values: &Values) -> Option<Vec<u64>> {
    /// Sign-extends signed integers, zero-extends unsigned ones.
    fn signed<T: Copy + Into<i64>>(values: &[T]) -> Vec<u64> {
        values.iter().map(|&v| v.into() as u64).collect()
    }
    fn unsigned<T: Copy + Into<u64>>(values: &[T]) -> Vec<u64> {
        values.iter().map(|&v| v.into()).collect()
    }
    Some(match values {
        Values::Float32(v) => v.iter().map(|v| u64::from(v.to_bits())).collect(),
        Values::Float64(v) => v.iter().map(|v| v.to_bits()).collect(),
        Values::Int8(v) => signed(v),
        Values::Int16(v) => signed(v),
        Values::Int32(v) => signed(v),
        Values::Int64(v) => signed(v),
        Values::UInt8(v) => unsigned(v),
        Values::UInt16(v) => unsigned(v),
        Values::UInt32(v) => unsigned(v),
        Values::UInt64(v) => unsigned(v),
        Values::Boolean(v) | Values::Clock(v) => unsigned(v),
        Values::String(_) | Values::Binary(_) => return None,
    })
}

/// The inverse of [`words`]; `None` for strings and binaries. Bits beyond the type are ignored.
pub fn values(words: &[u64], variable_type: VariableType) -> Option<Values> {
    fn all<T>(words: &[u64], convert: impl Fn(u64) -> T) -> Vec<T> {
        words.iter().map(|&word| convert(word)).collect()
    }
    Some(match variable_type {
        VariableType::Float32 => Values::Float32(all(words, |w| f32::from_bits(w as u32))),
        VariableType::Float64 => Values::Float64(all(words, f64::from_bits)),
        VariableType::Int8 => Values::Int8(all(words, |w| w as i8)),
        VariableType::UInt8 => Values::UInt8(all(words, |w| w as u8)),
        VariableType::Int16 => Values::Int16(all(words, |w| w as i16)),
        VariableType::UInt16 => Values::UInt16(all(words, |w| w as u16)),
        VariableType::Int32 => Values::Int32(all(words, |w| w as i32)),
        VariableType::UInt32 => Values::UInt32(all(words, |w| w as u32)),
        VariableType::Int64 | VariableType::Enumeration => Values::Int64(all(words, |w| w as i64)),
        VariableType::UInt64 => Values::UInt64(words.to_vec()),
        VariableType::Boolean => Values::Boolean(all(words, |w| w != 0)),
        VariableType::Clock => Values::Clock(all(words, |w| w != 0)),
        VariableType::String | VariableType::Binary => return None,
    })
}

/// A word as the number that is drawn; of integers beyond 2⁵³ the nearest one. `None` for strings and binaries.
pub fn number(word: u64, variable_type: VariableType) -> Option<f64> {
    Some(match variable_type {
        VariableType::Float32 => f64::from(f32::from_bits(word as u32)),
        VariableType::Float64 => f64::from_bits(word),
        VariableType::Int8
        | VariableType::Int16
        | VariableType::Int32
        | VariableType::Int64
        | VariableType::Enumeration => word as i64 as f64,
        VariableType::UInt8 | VariableType::UInt16 | VariableType::UInt32 | VariableType::UInt64 => word as f64,
        VariableType::Boolean | VariableType::Clock => f64::from(u8::from(word != 0)),
        VariableType::String | VariableType::Binary => return None,
    })
}

/// Writes a word as `signals.csv` shows it: floats by the shortest decimal that reads back exactly, integers plain,
/// booleans 0 or 1. Allocates nothing.
#[inline]
pub fn write(out: &mut impl fmt::Write, word: u64, variable_type: VariableType) -> fmt::Result {
    match variable_type {
        VariableType::Float32 => {
            let value = f32::from_bits(word as u32);
            let in_the_middle = is_in_the_middle(value.abs().to_bits().into(), 23, 150);
            write_float(out, value, 9e-7..1e-4, 1e12, in_the_middle)
        }
        VariableType::Float64 => {
            let value = f64::from_bits(word);
            let in_the_middle = is_in_the_middle(value.abs().to_bits(), 52, 1075);
            write_float(out, value, 9e-6..1e-4, 1e15, in_the_middle)
        }
        VariableType::Int8
        | VariableType::Int16
        | VariableType::Int32
        | VariableType::Int64
        | VariableType::Enumeration => out.write_str(itoa::Buffer::new().format(word as i64)),
        VariableType::Boolean | VariableType::Clock => out.write_char(if word != 0 { '1' } else { '0' }),
        VariableType::UInt8 | VariableType::UInt16 | VariableType::UInt32 | VariableType::UInt64 => {
            out.write_str(itoa::Buffer::new().format(word))
        }
        VariableType::String | VariableType::Binary => Ok(()),
    }
}

/// Writes a float as `{:?}` does, which changes to an exponent where that is shorter (1e300). The crate zmij takes a fifth of
/// the time, but changes elsewhere, and has `e+` before large exponents: the standard library writes values that are `small`,
/// values from `large` on, and values that may be `in_the_middle` of their two shortest texts, of which each of the two picks
/// another one.
#[inline]
fn write_float<F>(
    out: &mut impl fmt::Write,
    value: F,
    small: Range<f64>,
    large: f64,
    in_the_middle: bool,
) -> fmt::Result
where
    F: zmij::Float + fmt::Debug + Copy + Into<f64>,
{
    let size = value.into().abs();
    match in_the_middle || small.contains(&size) || size >= large {
        true => write!(out, "{value:?}"),
        false => out.write_str(zmij::Buffer::new().format(value)),
    }
}

/// Whether a float of these bits, without its sign, may be just between the two shortest texts that read back as it. The bits of
/// its fraction and the exponent of 2 by which all of them make a whole number are those of its type.
///
/// Floats that are 2^-k apart have d places, the least number with 10^-d < 2^-k. Between two texts of d places are the odd
/// multiples of 2^-(d+1).
#[inline]
fn is_in_the_middle(bits: u64, fraction: u32, whole: i32) -> bool {
    let exponent = (bits >> fraction) as i32;
    let leading = if exponent == 0 { 0 } else { 1 << fraction };
    let significand = bits & ((1 << fraction) - 1) | leading;
    let k = whole - exponent.max(1);
    // The logarithm of 2 is 1233/4096.
    let places = ((k * 1233) >> 12) + 1;
    k - significand.trailing_zeros() as i32 == places + 1
}

/// [`write()`] into a new string.
pub fn text(word: u64, variable_type: VariableType) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = write(&mut out, word, variable_type);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn signs_are_kept_through_all_widths() {
        assert_eq!(words(&Values::Int8(vec![-1])), Some(vec![u64::MAX]));
        assert_eq!(words(&Values::UInt8(vec![255])), Some(vec![255]));
        assert_eq!(text(u64::MAX, VariableType::Int8), "-1");
        assert_eq!(text(u64::MAX, VariableType::UInt64), "18446744073709551615");
        assert_eq!(text(i64::MIN as u64, VariableType::Enumeration), "-9223372036854775808");
        assert_eq!(text(1, VariableType::Boolean), "1");
    }

    #[test]
    fn a_float32_is_not_shown_with_the_digits_of_a_float64() {
        let word = words(&Values::Float32(vec![0.1])).unwrap()[0];
        assert_eq!(text(word, VariableType::Float32), "0.1");
    }

    #[test]
    fn numbers_are_those_that_text_shows() {
        for values in [
            Values::Int8(vec![-7]),
            Values::UInt64(vec![1 << 40]),
            Values::Float64(vec![0.1]),
            Values::Boolean(vec![true]),
        ] {
            let variable_type = match values {
                Values::Int8(_) => VariableType::Int8,
                Values::UInt64(_) => VariableType::UInt64,
                Values::Float64(_) => VariableType::Float64,
                _ => VariableType::Boolean,
            };
            let word = words(&values).unwrap()[0];
            assert_eq!(number(word, variable_type), text(word, variable_type).parse().ok());
        }
        assert_eq!(number(1, VariableType::String), None);
    }

    #[test]
    fn strings_have_no_words() {
        assert_eq!(words(&Values::String(vec!["x".to_owned()])), None);
        assert_eq!(values(&[1], VariableType::Binary), None);
    }

    #[test]
    fn words_and_values_are_inverse() {
        let all = [
            (Values::Float32(vec![-0.0, 1.5e-40]), VariableType::Float32),
            (Values::Int16(vec![i16::MIN, 7]), VariableType::Int16),
            (Values::UInt32(vec![u32::MAX]), VariableType::UInt32),
            (Values::Int64(vec![-3]), VariableType::Enumeration),
            (Values::Boolean(vec![true, false]), VariableType::Boolean),
        ];
        for (original, variable_type) in all {
            assert_eq!(values(&words(&original).unwrap(), variable_type), Some(original));
        }
    }

    /// Recordings of all versions can be compared byte by byte.
    #[test]
    fn floats_are_written_as_the_standard_library_writes_them() {
        let is_same = |value: f64| {
            assert_eq!(text(value.to_bits(), VariableType::Float64), format!("{value:?}"));
            let value = value as f32;
            assert_eq!(text(value.to_bits().into(), VariableType::Float32), format!("{value:?}"));
        };
        for value in [0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, f64::MAX, 5e-324, f64::from(f32::MAX)] {
            is_same(value);
            is_same(-value);
        }
        // Around each power of ten, where the form changes.
        for exponent in -30..30 {
            let power = 10f64.powi(exponent);
            for near in -3..=3 {
                is_same(f64::from_bits(power.to_bits().wrapping_add_signed(near)));
                is_same(f32::from_bits((power as f32).to_bits().wrapping_add_signed(near as i32)).into());
                is_same(power * (1.0 + 0.37 * near as f64));
            }
        }
        // In the middle of two texts: sums of few powers of two.
        for exponent in -160..60 {
            let power = 2f64.powi(exponent);
            (0..300).for_each(|odd| is_same(power * f64::from(2 * odd + 1)));
        }
    }

    proptest! {
        #[test]
        fn all_floats_are_written_as_the_standard_library_writes_them(bits in any::<u64>(), between in -20f64..20.0) {
            let (value, single) = (f64::from_bits(bits), f32::from_bits(bits as u32));
            prop_assert_eq!(text(bits, VariableType::Float64), format!("{value:?}"));
            prop_assert_eq!(text(bits & 0xFFFF_FFFF, VariableType::Float32), format!("{single:?}"));
            let usual = 10f64.powf(between);
            prop_assert_eq!(text(usual.to_bits(), VariableType::Float64), format!("{usual:?}"));
            // With few bits behind the point: these may be in the middle of two texts.
            let parts = 2f64.powi((bits % 60) as i32);
            let few = (usual * parts).round() / parts;
            prop_assert_eq!(text(few.to_bits(), VariableType::Float64), format!("{few:?}"));
            let usual = usual as f32;
            prop_assert_eq!(text(usual.to_bits().into(), VariableType::Float32), format!("{usual:?}"));
        }

        #[test]
        fn every_float64_reads_back_exactly(bits in any::<u64>()) {
            let shown = text(bits, VariableType::Float64);
            let back: f64 = shown.parse().unwrap();
            prop_assert!(back.to_bits() == bits || f64::from_bits(bits).is_nan() && back.is_nan());
        }
    }
}

//! Values as XML Schema writes them (FMI 3.0, 2.4, table of schema types): exact, range-checked, nothing guessed.

use super::model::{DescriptionError, ValueReference, Values, VariableType};
use super::xml::{Attribute, Element};

/// A value that one word spells.
pub(super) trait Scalar: Sized {
    /// For messages: "is not ...".
    const WHAT: &'static str;

    /// The value, if the word is one.
    fn read(word: &str) -> Option<Self>;
}

macro_rules! integers {
    ($($type:ty, $what:literal;)*) => {
        $(impl Scalar for $type {
            const WHAT: &'static str = $what;

            fn read(word: &str) -> Option<Self> {
                match word.parse() {
                    Ok(value) => Some(value),
                    Err(_) => is_negative_zero(word).then_some(0),
                }
            }
        })*
    };
}

integers! {
    i8, "an integer from -128 to 127";
    u8, "an integer from 0 to 255";
    i16, "an integer from -32768 to 32767";
    u16, "an integer from 0 to 65535";
    i32, "an integer from -2147483648 to 2147483647";
    u32, "an integer from 0 to 4294967295";
    i64, "an integer from -9223372036854775808 to 9223372036854775807";
    u64, "an integer from 0 to 18446744073709551615";
}

macro_rules! floats {
    ($($type:ident)*) => {
        $(impl Scalar for $type {
            const WHAT: &'static str = "a number";

            fn read(word: &str) -> Option<Self> {
                match word {
                    "INF" | "+INF" => Some($type::INFINITY),
                    "-INF" => Some($type::NEG_INFINITY),
                    "NaN" => Some($type::NAN),
                    _ if is_decimal(word) => word.parse().ok(),
                    _ => None,
                }
            }
        })*
    };
}

floats! { f32 f64 }

impl Scalar for bool {
    const WHAT: &'static str = "true, false, 1 or 0";

    fn read(word: &str) -> Option<bool> {
        match word {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }
}

impl Scalar for ValueReference {
    const WHAT: &'static str = "a value reference (0 to 4294967295)";

    fn read(word: &str) -> Option<ValueReference> {
        u32::read(word).map(ValueReference)
    }
}

/// `-0`, which XML Schema allows for an unsigned type and Rust does not read as one.
fn is_negative_zero(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit == b'0'))
}

/// Whether only characters of a decimal literal occur (Rust would also read `inf` and `nan`).
pub(super) fn is_decimal(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'))
}

/// The list of an attribute as values of a type; `None` for types that have no such list (strings; in the released dialect
/// binaries and clocks too).
pub(super) fn list(attribute: Attribute<'_>, variable_type: VariableType) -> Result<Option<Values>, DescriptionError> {
    let values = match variable_type {
        VariableType::Float32 => Values::Float32(attribute.list()?),
        VariableType::Float64 => Values::Float64(attribute.list()?),
        VariableType::Int8 => Values::Int8(attribute.list()?),
        VariableType::UInt8 => Values::UInt8(attribute.list()?),
        VariableType::Int16 => Values::Int16(attribute.list()?),
        VariableType::UInt16 => Values::UInt16(attribute.list()?),
        VariableType::Int32 => Values::Int32(attribute.list()?),
        VariableType::UInt32 => Values::UInt32(attribute.list()?),
        VariableType::Int64 | VariableType::Enumeration => Values::Int64(attribute.list()?),
        VariableType::UInt64 => Values::UInt64(attribute.list()?),
        VariableType::Boolean => Values::Boolean(attribute.list()?),
        VariableType::String | VariableType::Binary | VariableType::Clock => return Ok(None),
    };
    if values.is_empty() { Err(attribute.error("has no value")) } else { Ok(Some(values)) }
}

/// One value (`min`, `max`).
pub(super) fn single(
    attribute: Attribute<'_>,
    variable_type: VariableType,
) -> Result<Option<Values>, DescriptionError> {
    match list(attribute, variable_type)? {
        Some(values) if values.len() != 1 => Err(attribute.error("is not a single value")),
        values => Ok(values),
    }
}

/// The value of a `<Start>` element of a binary.
pub(super) fn binary(start: Element<'_>) -> Result<Vec<u8>, DescriptionError> {
    match start.attribute("value") {
        Some(attribute) => bytes(attribute, attribute.value.trim_ascii()),
        None => Ok(Vec::new()),
    }
}

/// A binary in hexadecimal.
pub(super) fn bytes(attribute: Attribute<'_>, hexadecimal: &str) -> Result<Vec<u8>, DescriptionError> {
    let digits = hexadecimal.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return Err(attribute.error("has an odd number of hexadecimal digits"));
    }
    let digit = |byte: u8| (byte as char).to_digit(16).map(|d| d as u8);
    let byte = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
    digits.chunks_exact(2).map(|pair| byte(pair).ok_or_else(|| attribute.error("is not hexadecimal"))).collect()
}

/// Whether `min` is above `max`.
pub(super) fn is_above(min: &Values, max: &Values) -> bool {
    fn above<T: PartialOrd>(min: &[T], max: &[T]) -> bool {
        min.first().zip(max.first()).is_some_and(|(min, max)| min > max)
    }
    match (min, max) {
        (Values::Float32(a), Values::Float32(b)) => above(a, b),
        (Values::Float64(a), Values::Float64(b)) => above(a, b),
        (Values::Int8(a), Values::Int8(b)) => above(a, b),
        (Values::UInt8(a), Values::UInt8(b)) => above(a, b),
        (Values::Int16(a), Values::Int16(b)) => above(a, b),
        (Values::UInt16(a), Values::UInt16(b)) => above(a, b),
        (Values::Int32(a), Values::Int32(b)) => above(a, b),
        (Values::UInt32(a), Values::UInt32(b)) => above(a, b),
        (Values::Int64(a), Values::Int64(b)) => above(a, b),
        (Values::UInt64(a), Values::UInt64(b)) => above(a, b),
        _ => false,
    }
}

/// The first of some values that is below `min` or above `max`, in words; these are single values of the same type.
pub(super) fn outside<'v>(values: &Values, min: Option<&'v Values>, max: Option<&'v Values>) -> Option<String> {
    fn find<T: PartialOrd + std::fmt::Debug>(values: &[T], min: Option<&T>, max: Option<&T>) -> Option<String> {
        values.iter().find_map(|value| match (min, max) {
            (Some(min), _) if value < min => Some(format!("{value:?} is below its min {min:?}")),
            (_, Some(max)) if value > max => Some(format!("{value:?} is above its max {max:?}")),
            _ => None,
        })
    }
    macro_rules! numbers {
        ($($kind:ident)*) => {
            match values {
                $(Values::$kind(own) => {
                    let bound = |bound: Option<&'v Values>| match bound {
                        Some(Values::$kind(bound)) => bound.first(),
                        _ => None,
                    };
                    find(own, bound(min), bound(max))
                })*
                Values::Boolean(_) | Values::Clock(_) | Values::String(_) | Values::Binary(_) => None,
            }
        };
    }
    numbers!(Float32 Float64 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64)
}

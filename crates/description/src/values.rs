//! Values as XML Schema writes them (FMI 3.0, 2.4, table of schema types): exact, range-checked, nothing guessed.

use super::model::{DescriptionError, Values, VariableType};
use super::xml::{Attribute, Element};

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

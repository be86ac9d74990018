//! Values by element: filling arrays, replacing parts of them.

use crate::fmu::description::Values;
use std::ops::Range;

/// Does the same with every kind of values.
macro_rules! for_each {
    ($values:expr, $v:ident => $same:expr) => {
        match $values {
            Values::Float32($v) => Values::Float32($same),
            Values::Float64($v) => Values::Float64($same),
            Values::Int8($v) => Values::Int8($same),
            Values::UInt8($v) => Values::UInt8($same),
            Values::Int16($v) => Values::Int16($same),
            Values::UInt16($v) => Values::UInt16($same),
            Values::Int32($v) => Values::Int32($same),
            Values::UInt32($v) => Values::UInt32($same),
            Values::Int64($v) => Values::Int64($same),
            Values::UInt64($v) => Values::UInt64($same),
            Values::Boolean($v) => Values::Boolean($same),
            Values::String($v) => Values::String($same),
            Values::Binary($v) => Values::Binary($same),
            Values::Clock($v) => Values::Clock($same),
        }
    };
}

/// All `elements` of an array, where one value may stand for all of them.
pub fn expanded(values: &Values, elements: usize) -> Values {
    fn fill<T: Clone>(values: &[T], elements: usize) -> Vec<T> {
        match values {
            [single] => vec![single.clone(); elements],
            all => all.to_vec(),
        }
    }
    for_each!(values, v => fill(v, elements))
}

/// `values` with the elements of `runs` replaced by those of `part`, in order.
///
/// # Panics
/// When they are of different types.
pub fn replaced(values: Values, runs: &[Range<usize>], part: &Values) -> Values {
    fn replace<T: Clone>(mut values: Vec<T>, runs: &[Range<usize>], part: &[T]) -> Vec<T> {
        let numbers = runs.iter().cloned().flatten();
        numbers.zip(part).for_each(|(number, value)| values[number] = value.clone());
        values
    }
    macro_rules! same_type {
        ($($variant:ident)*) => {
            match (values, part) {
                $((Values::$variant(v), Values::$variant(part)) => Values::$variant(replace(v, runs, part)),)*
                (values, part) => panic!("{part:?} is no part of {values:?}"),
            }
        };
    }
    same_type!(Float32 Float64 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Boolean String Binary Clock)
}

/// Bytes of the longest string or binary.
pub fn longest(values: &Values) -> usize {
    match values {
        Values::String(v) => v.iter().map(String::len).max().unwrap_or(0),
        Values::Binary(v) => v.iter().map(Vec::len).max().unwrap_or(0),
        _ => 0,
    }
}

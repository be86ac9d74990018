//! Values of a command against the limits of its variable.

use vecud_description::Values;
use vecud_plan::ControlVariable;

/// A message about the first value that is outside of the variable's limits; `None`: there is none.
pub(super) fn outside_of_limits(variable: &ControlVariable, values: &Values) -> Option<String> {
    fn check<T: PartialOrd + std::fmt::Display + Copy>(
        values: &[T],
        min: Option<&T>,
        max: Option<&T>,
    ) -> Option<String> {
        let no_number = |value: &&T| value.partial_cmp(value).is_none();
        if let Some(value) = values.iter().find(no_number).filter(|_| min.or(max).is_some()) {
            return Some(format!("is {value}, which is within no limits, and it has some"));
        }
        let below = |value: &&T| min.is_some_and(|min| **value < *min);
        let above = |value: &&T| max.is_some_and(|max| **value > *max);
        if let (Some(value), Some(min)) = (values.iter().find(below), min) {
            return Some(format!("is {value}, below its min {min}"));
        }
        let (value, max) = (values.iter().find(above)?, max?);
        Some(format!("is {value}, above its max {max}"))
    }
    macro_rules! in_limits {
        ($($variant:ident)*) => {
            match values {
                $(Values::$variant(values) => {
                    let bound = |bound: &Option<Values>| match bound {
                        Some(Values::$variant(bound)) => bound.first().copied(),
                        _ => None,
                    };
                    check(values, bound(&variable.min).as_ref(), bound(&variable.max).as_ref())
                })*
                Values::Boolean(_) | Values::Clock(_) | Values::String(_) | Values::Binary(_) => None,
            }
        };
    }
    let outside = in_limits!(Float32 Float64 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64);
    outside.or_else(|| match values {
        Values::Int64(values) if !variable.items.is_empty() => {
            let value = values.iter().find(|value| !variable.items.contains(value))?;
            Some(format!("is {value}, which is no item of its enumeration"))
        }
        _ => None,
    })
}

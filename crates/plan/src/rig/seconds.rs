//! Durations in seconds, as a number or an exact fraction.

use super::At;
use super::document::{TableReader, describe, float_text, number};
use vecud_base::time::Fraction;

/// Seconds, above 0.
pub(super) fn read_positive(section: &TableReader, key: &str) -> Option<At<Fraction>> {
    let interval = read_fraction(section, key)?;
    if interval.value.is_zero() {
        section.document.problem(interval.place, format!("{key} must be above 0"));
        return None;
    }
    Some(interval)
}

/// Seconds, as a number or a fraction.
pub(super) fn read_fraction(section: &TableReader, key: &str) -> Option<At<Fraction>> {
    let item = section.get(key)?;
    let place = section.place_of(item);
    let fraction = match (item.as_str(), number(item)) {
        (Some(text), _) => Fraction::parse_duration(text).map_err(|reason| format!("{key} = \"{text}\" {reason}")),
        (None, Some(value)) => {
            Fraction::duration(value).map_err(|reason| format!("{key} = {} {reason}", float_text(value)))
        }
        (None, None) => {
            Err(format!("{key} must be a number of seconds or a fraction as \"1/100\", not {}", describe(item)))
        }
    };
    match fraction {
        Ok(value) => Some(At { value, place }),
        Err(message) => {
            section.document.problem(place, message);
            None
        }
    }
}

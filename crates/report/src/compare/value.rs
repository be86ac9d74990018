//! Compares two cells of one signal within a tolerance.
//!
//! * Numbers are equal when their values are: `1`, `1.0` and `1e0`, `0.0` and `-0.0`, `true` and `1`. NaN equals NaN.
//! * The absolute deviation is |a − b|, the relative one |a − b| / max(|a|, |b|): 0 to 2, defined at zero, and the same
//!   whichever side comes first.
//! * A value is within a tolerance when it is within its absolute *or* its relative part.
//! * Integers on both sides (enumerations and booleans among them) are compared exactly; only a tolerance that names the
//!   signal by a pattern is applied to them.
//! * A value against none, a number against NaN, and text have no deviation: they differ, beyond every finite tolerance.

use std::str::FromStr;
use vecud_plan::glob;

/// Deviation between two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// |a − b|; infinite: there is no difference between such values.
    pub absolute: f64,
    /// The deviation in proportion to the larger value.
    pub relative: f64,
    /// Whether both values were integers.
    pub whole: bool,
}

enum Value {
    Whole(i128),
    Number(f64),
    Other,
}

fn value(text: &str) -> Value {
    match text {
        "" => Value::Other,
        _ if text.eq_ignore_ascii_case("true") => Value::Whole(1),
        _ if text.eq_ignore_ascii_case("false") => Value::Whole(0),
        _ => match (text.parse(), text.parse()) {
            (Ok(whole), _) => Value::Whole(whole),
            (_, Ok(number)) => Value::Number(number),
            _ => Value::Other,
        },
    }
}

impl Value {
    fn number(self) -> Option<f64> {
        match self {
            Value::Whole(whole) => Some(whole as f64),
            Value::Number(number) => Some(number),
            Value::Other => None,
        }
    }
}

/// The number of a cell, if it has one.
pub fn number(text: &str) -> Option<f64> {
    value(text).number()
}

/// Deviation between two cells; `None`: they are equal.
pub fn deviation(a: &str, b: &str) -> Option<Deviation> {
    if a == b {
        return None;
    }
    let unlike = Some(Deviation { absolute: f64::INFINITY, relative: f64::INFINITY, whole: false });
    let (a, b) = match (value(a), value(b)) {
        // Far from zero integers differ that are the same number in floating point.
        (Value::Whole(a), Value::Whole(b)) => {
            let (absolute, larger) = (a.abs_diff(b) as f64, a.unsigned_abs().max(b.unsigned_abs()) as f64);
            return (a != b).then_some(Deviation { absolute, relative: absolute / larger, whole: true });
        }
        (a, b) => (a.number(), b.number()),
    };
    let (Some(a), Some(b)) = (a, b) else { return unlike };
    if a == b || a.is_nan() && b.is_nan() {
        return None;
    }
    match (a - b).abs() {
        absolute if absolute.is_finite() => {
            Some(Deviation { absolute, relative: absolute / a.abs().max(b.abs()), whole: false })
        }
        _ => unlike,
    }
}

/// Tolerance for the values of a signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The limit in the signal's unit.
    pub absolute: f64,
    /// The limit in proportion to the larger value.
    pub relative: f64,
    /// Whether the tolerance was given for this signal, not for all signals: it then counts for integers, too.
    pub named: bool,
}

impl Tolerance {
    /// Whether the tolerance admits a deviation.
    pub fn admits(&self, deviation: &Deviation) -> bool {
        let counts = self.named || !deviation.whole;
        counts && (deviation.absolute <= self.absolute || deviation.relative <= self.relative)
    }
}

/// A tolerance for the signals that a pattern names: `plant.*=1e-6`, `plant.*=0.1%`, `plant.*=1e-6,0.1%`; `inf` admits all.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTolerance {
    /// `*` is any text, `?` one character.
    pub pattern: String,
    tolerance: Tolerance,
}

impl FromStr for NamedTolerance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((pattern, numbers)) = text.rsplit_once('=').filter(|(pattern, _)| !pattern.is_empty()) else {
            return Err("must be PATTERN=TOL, like 'plant.*=1e-6' or 'plant.*=0.1%'".to_owned());
        };
        let (mut absolute, mut relative) = (None, None);
        for part in numbers.split(',') {
            let (number, scale, place, kind) = match part.strip_suffix('%') {
                Some(number) => (number, 0.01, &mut relative, "relative"),
                None => (part, 1.0, &mut absolute, "absolute"),
            };
            let parsed = number.trim().parse::<f64>().ok().filter(|number| *number >= 0.0);
            let Some(parsed) = parsed else {
                return Err(format!(
                    "\"{part}\" is no tolerance; it should be a number like 1e-6, a share like 0.1%, or inf"
                ));
            };
            if place.replace(parsed * scale).is_some() {
                return Err(format!("has two {kind} tolerances; give one, or one of each kind, like 1e-6,0.1%"));
            }
        }
        let (absolute, relative) = (absolute.unwrap_or(0.0), relative.unwrap_or(0.0));
        Ok(NamedTolerance { pattern: pattern.to_owned(), tolerance: Tolerance { absolute, relative, named: true } })
    }
}

/// The tolerances of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Tolerances {
    /// For all signals.
    pub absolute: f64,
    /// For all signals.
    pub relative: f64,
    /// Tolerances for some signals; the last one that names a signal replaces all others for it.
    pub named: Vec<NamedTolerance>,
}

impl Tolerances {
    /// Tolerances between a simulation and its reference: the user's choice, otherwise one for numbers that were
    /// computed elsewhere.
    pub fn of_a_reference(wanted: Option<&NamedTolerance>) -> Tolerances {
        /// Absolute tolerance, in the unit of the signal, and relative tolerance.
        const USUAL: (f64, f64) = (1e-6, 1e-3);
        let (absolute, relative) = if wanted.is_some() { (0.0, 0.0) } else { USUAL };
        Tolerances { absolute, relative, named: wanted.into_iter().cloned().collect() }
    }

    /// The tolerance of a signal.
    pub fn of(&self, signal: &str) -> Tolerance {
        let named = self.named.iter().rev().find(|named| glob::matches(&named.pattern, signal));
        let (absolute, relative) = (self.absolute, self.relative);
        named.map_or(Tolerance { absolute, relative, named: false }, |named| named.tolerance)
    }

    /// A pattern that names no signal of these.
    pub fn idle<'a>(&'a self, signals: &[&str]) -> Option<&'a str> {
        let idle = |named: &&NamedTolerance| !signals.iter().any(|signal| glob::matches(&named.pattern, signal));
        self.named.iter().find(idle).map(|named| named.pattern.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_equal_and_what_is_not() {
        for (a, b) in [
            ("1", "1.0"),
            ("0.0", "-0.0"),
            ("NaN", "nan"),
            ("true", "1"),
            ("FALSE", "0.0"),
            ("", ""),
            ("inf", "Infinity"),
            ("850.0", "8.5e2"),
            ("ready", "ready"),
        ] {
            assert_eq!((deviation(a, b), deviation(b, a)), (None, None), "{a} {b}");
        }
        let apart = |a, b| deviation(a, b).map(|d| (d.absolute, d.relative, d.whole));
        assert_eq!(apart("3", "4"), Some((1.0, 0.25, true)));
        assert_eq!(apart("3.0", "4"), Some((1.0, 0.25, false)));
        assert_eq!(apart("-2.0", "2.0"), Some((4.0, 2.0, false)));
        assert_eq!(apart("0.0", "5e-324").map(|d| d.1), Some(1.0));
        assert_eq!(apart("18446744073709551615", "18446744073709551614").map(|d| (d.0, d.2)), Some((1.0, true)));
        let none = Some((f64::INFINITY, f64::INFINITY, false));
        for (a, b) in
            [("", "1"), ("NaN", "1.0"), ("inf", "-inf"), ("inf", "1"), ("on", "off"), ("1e308", "-1e308"), ("x", "1")]
        {
            assert_eq!((apart(a, b), apart(b, a)), (none, none), "{a} {b}");
        }
    }

    #[test]
    fn tolerances_in_their_order() {
        let named = |text: &str| text.parse::<NamedTolerance>();
        let all = Tolerances {
            absolute: 0.5,
            relative: 0.0,
            named: vec![named("plant.*=1e-6").unwrap(), named("*.speed=2,10%").unwrap(), named("x[=]=inf").unwrap()],
        };
        let tolerance = |absolute, relative, named| Tolerance { absolute, relative, named };
        assert_eq!(all.of("ecu.a"), tolerance(0.5, 0.0, false));
        assert_eq!(all.of("plant.a"), tolerance(1e-6, 0.0, true));
        assert_eq!(all.of("plant.speed"), tolerance(2.0, 0.1, true));
        assert_eq!(all.idle(&["plant.speed", "x[=]"]), None);
        assert_eq!(all.idle(&["ecu.speed", "plant.a"]), Some("x[=]"));
        for bad in ["x", "=1", "x=", "x=a", "x=-1", "x=nan", "x=1,", "x=%", "x=1,2", "x=1%,1,2%"] {
            assert!(named(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn integers_are_exact_unless_they_are_named() {
        let (one, some) = (deviation("3", "4").unwrap(), deviation("3.0", "4.0").unwrap());
        let all = Tolerance { absolute: 10.0, relative: 0.0, named: false };
        assert!(!all.admits(&one) && all.admits(&some));
        assert!(Tolerance { named: true, ..all }.admits(&one));
        let missing = deviation("", "4.0").unwrap();
        assert!(!all.admits(&missing));
        assert!(Tolerance { absolute: f64::INFINITY, ..all }.admits(&missing));
    }

    proptest! {
        #[test]
        fn a_value_equals_itself_and_deviations_have_no_direction(a in any::<f64>(), b in any::<f64>()) {
            let (a, b) = (format!("{a:?}"), format!("{b}"));
            prop_assert_eq!(deviation(&a, &a), None);
            prop_assert_eq!(deviation(&a, &b), deviation(&b, &a));
            if let Some(apart) = deviation(&a, &b) {
                prop_assert!(apart.absolute > 0.0 && apart.relative > 0.0);
            }
        }
    }
}

//! Units of values, and of time.

use vecud_base::time::{Fraction, TimeUnit};

/// A unit: `base = factor · value + offset`, with the exponents of the SI units.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitDefinition {
    /// Unique name.
    pub name: String,
    /// The relation of the unit to SI, if declared.
    pub base: Option<BaseUnit>,
    /// Units to show values in.
    pub display_units: Vec<DisplayUnit>,
}

/// Exponents of kg, m, s, A, K, mol, cd, rad with factor and offset.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseUnit {
    /// The exponents in the order kg, m, s, A, K, mol, cd, rad.
    pub exponents: [i32; 8],
    /// Default 1.
    pub factor: f64,
    /// Default 0.
    pub offset: f64,
}

/// `display = factor · value + offset`, or `factor / value` when `inverse`.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayUnit {
    /// Unique within the unit.
    pub name: String,
    /// Default 1.
    pub factor: f64,
    /// Default 0.
    pub offset: f64,
    /// Default false.
    pub inverse: bool,
}

/// The FMU's unit of time: that of its independent variable (FMI 3.0.2, 2.2.8.4). All times and intervals of a
/// [`ModelDescription`](super::ModelDescription) are converted to seconds already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time {
    /// Name of the unit; `None`: there is none, so it is the second.
    pub name: Option<String>,
    /// The unit; `Err`: why the one of this name is no unit of time. Seconds are meant as far as anybody knows.
    pub unit: Result<TimeUnit, &'static str>,
}

impl Default for Time {
    fn default() -> Time {
        Time { name: None, unit: Ok(TimeUnit::SECOND) }
    }
}

impl Time {
    /// The unit, or seconds where there is none.
    pub fn unit(&self) -> TimeUnit {
        self.unit.unwrap_or(TimeUnit::SECOND)
    }

    /// The duration that an attribute of the description says in this unit; `None`: there is none, or it is 0.
    pub fn duration(&self, amount: f64) -> Option<Fraction> {
        let amount = Fraction::duration(amount).ok()?;
        self.unit().duration(amount).ok().filter(|duration| !duration.is_zero())
    }
}

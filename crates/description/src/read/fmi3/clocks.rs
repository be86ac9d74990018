//! The attributes of clocks (FMI 3.0, 2.4.4, "Attributes for ClockType"; 2.2.8.3).
//!
//! Guarantees: an interval is an exact fraction above zero; only periodic clocks have one, constant ones always.
//! Clocks of the draft are given their meaning in [`crate::read::draft`].

use crate::model::{Abi, Causality, Clock, DescriptionError, IntervalVariability, Variable};
use crate::read::draft;
use crate::read::written_clock::WrittenClock;
use crate::xml::Element;
use vecud_base::priority::FmiPriority;
use vecud_base::time::Fraction;

const ATTRIBUTES: [&str; 9] = [
    "canBeDeactivated",
    "priority",
    "intervalVariability",
    "intervalDecimal",
    "shiftDecimal",
    "supportsFraction",
    "resolution",
    "intervalCounter",
    "shiftCounter",
];

/// The attributes of a `<Clock>` or `<ClockType>`.
pub(super) fn attributes(dialect: Abi) -> &'static [&'static str] {
    match dialect {
        Abi::Draft => &draft::CLOCK,
        Abi::Fmi3 => &ATTRIBUTES,
        Abi::Fmi1 | Abi::Fmi2 => &[],
    }
}

impl WrittenClock<'_> {
    /// The clock of a variable (`causality` given) or of a type, which may leave the interval to its variables.
    pub(super) fn clock(self, causality: Option<Causality>) -> Result<Clock, DescriptionError> {
        let element = self.element;
        if draft::is_draft(element) {
            return draft::clock(self, causality);
        }
        let Some(interval_variability) = self.variability else {
            let hint = match element.attribute("interval") {
                Some(_) => " (a pre-release of FMI 3.0 called it `interval`)",
                None => "",
            };
            return Err(element.error(format!("{}: attribute `intervalVariability` is missing{hint}", element.label())));
        };
        use IntervalVariability as I;
        let periodic = matches!(interval_variability, I::Constant | I::Fixed | I::Tunable);
        if causality == Some(Causality::Output) {
            if interval_variability != I::Triggered {
                element.warn(format!("{}: an output clock should be triggered", element.label()));
            }
            if self.priority.is_some() {
                element.warn(format!("{}: an output clock has no priority", element.label()));
            }
        }
        let mut clock = Clock {
            interval_variability,
            priority: self.priority.map(FmiPriority),
            interval: None,
            interval_decimal: periodic && self.interval.decimal.is_some(),
            shift: Fraction::ZERO,
            resolution: self.resolution,
            supports_fraction: self.supports_fraction.unwrap_or(false),
            can_be_deactivated: self.can_be_deactivated.unwrap_or(false),
            triggered_by: None,
            clock_type: None,
        };
        if !periodic {
            for attribute in self.interval.attributes() {
                attribute.warn("is ignored: only constant, fixed and tunable clocks have it");
            }
            return Ok(clock);
        }
        clock.interval = match self.interval.value(self.resolution)? {
            Some((attribute, interval)) if interval.is_zero() => {
                return Err(attribute.error("must be greater than 0"));
            }
            Some((_, interval)) => Some(interval),
            None if interval_variability == I::Constant && causality.is_some() => {
                return Err(element.error(format!(
                    "{}: a constant clock needs an interval (`intervalDecimal`, or `intervalCounter` and `resolution`)",
                    element.label()
                )));
            }
            None => None,
        };
        if let Some((_, shift)) = self.shift.value(self.resolution)? {
            clock.shift = shift;
        }
        Ok(clock)
    }
}

/// A local clock: refused in an FMU for Scheduled Execution alone (FMI 3.0, 2.2.8.3, "triggered local Clock").
pub(super) fn check_local(
    variables: &[Variable],
    elements: &[Element<'_>],
    other_interfaces: bool,
) -> Result<(), DescriptionError> {
    let is_local = |v: &Variable| v.clock.is_some() && v.causality == Causality::Local;
    for (_, &element) in variables.iter().zip(elements).filter(|(v, _)| is_local(v)) {
        let message = format!("{}: a local clock, which Scheduled Execution does not have", element.label());
        if other_interfaces {
            element.warn(message);
            continue;
        }
        return Err(match element.attribute("causality") {
            Some(attribute) => DescriptionError { message, ..attribute.error("") },
            None => element.error(format!("{message} (causality is input or output; the default is local)")),
        });
    }
    Ok(())
}

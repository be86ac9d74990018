//! The attributes of clocks (FMI 3.0, 2.4.4, "Attributes for ClockType"; 2.2.8.3).
//!
//! Guarantees: an interval is an exact fraction above zero; only periodic clocks have one, constant ones always;
//! `intervalCounter/resolution` wins over `intervalDecimal`. What a variable writes wins over its declared type as a
//! whole: an `intervalDecimal` of the variable is not beaten by an `intervalCounter` of the type.
//!
//! Clocks of the draft are read here too, and given their meaning in [`crate::read::draft`].

use crate::model::{Abi, Causality, Clock, DescriptionError, IntervalVariability, Variable};
use crate::read::draft::{self, DraftClock};
use crate::values::is_decimal;
use crate::xml::{Attribute, Element};
use vecud_base::priority::FmiPriority;
use vecud_base::time::{Fraction, NotAFraction};

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
pub(in super::super) fn attributes(dialect: Abi) -> &'static [&'static str] {
    match dialect {
        Abi::Draft => &draft::CLOCK,
        Abi::Fmi3 => &ATTRIBUTES,
        Abi::Fmi1 | Abi::Fmi2 => &[],
    }
}

const INTERVALS: [(&str, IntervalVariability); 6] = [
    ("constant", IntervalVariability::Constant),
    ("fixed", IntervalVariability::Fixed),
    ("tunable", IntervalVariability::Tunable),
    ("changing", IntervalVariability::Changing),
    ("countdown", IntervalVariability::Countdown),
    ("triggered", IntervalVariability::Triggered),
];

/// The attributes as written, each checked by itself.
#[derive(Clone, Copy)]
pub(in super::super) struct WrittenClock<'a> {
    pub(in super::super) element: Element<'a>,
    variability: Option<IntervalVariability>,
    pub(in super::super) priority: Option<u32>,
    can_be_deactivated: Option<bool>,
    supports_fraction: Option<bool>,
    pub(in super::super) resolution: Option<u64>,
    pub(in super::super) interval: Timing<'a>,
    pub(in super::super) shift: Timing<'a>,
    /// Empty in the released dialect, as is what only that has in the draft.
    pub(in super::super) draft: DraftClock<'a>,
}

/// An interval or a shift in its two spellings.
#[derive(Clone, Copy)]
pub(in super::super) struct Timing<'a> {
    decimal: Option<(Attribute<'a>, Fraction)>,
    counter: Option<(Attribute<'a>, u64)>,
}

impl<'a> Timing<'a> {
    fn read(element: Element<'a>, decimal: &str, counter: &str) -> Result<Timing<'a>, DescriptionError> {
        let counter = element.attribute(counter).map(|a| Ok((a, a.scalar()?))).transpose()?;
        Ok(Timing { decimal: element.attribute(decimal).map(|a| Ok((a, fraction(a)?))).transpose()?, counter })
    }

    fn or(self, other: Timing<'a>) -> Timing<'a> {
        if self.decimal.is_some() || self.counter.is_some() { self } else { other }
    }

    pub(in super::super) fn attributes(self) -> impl Iterator<Item = Attribute<'a>> {
        self.decimal.map(|(a, _)| a).into_iter().chain(self.counter.map(|(a, _)| a))
    }

    /// The one that counts, with its attribute.
    pub(in super::super) fn value(
        self,
        resolution: Option<u64>,
    ) -> Result<Option<(Attribute<'a>, Fraction)>, DescriptionError> {
        let Some((attribute, counter)) = self.counter else { return Ok(self.decimal) };
        let Some(resolution) = resolution else {
            // A shift of zero needs no unit.
            return match self.decimal {
                _ if counter == 0 && attribute.name() == "shiftCounter" => {
                    Ok(self.decimal.or(Some((attribute, Fraction::ZERO))))
                }
                Some(decimal) => {
                    attribute.warn(format!("has no `resolution`: `{}` is used", decimal.0.name()));
                    Ok(Some(decimal))
                }
                None => Err(attribute.error("needs the attribute `resolution`")),
            };
        };
        let value = Fraction::new(counter, resolution).map_err(|error| match error {
            NotAFraction::TooLarge => attribute.error(format!(
                "with resolution={resolution} cannot be represented by vecud: in lowest terms the resolution may be at most \
                 2^63 (FMI allows up to 2^64 - 1); export the FMU with a coarser resolution"
            )),
            other => attribute.error(other.to_string()),
        })?;
        if let Some((other, decimal)) = self.decimal {
            let (a, b) = (value.seconds(), decimal.seconds());
            if (a - b).abs() > 1e-9 * a.max(b) {
                other.warn(format!("differs from `{}`/resolution = {value} s, which is used", attribute.name()));
            }
        }
        Ok(Some((attribute, value)))
    }
}

/// A decimal as an exact fraction; with more digits than that can hold, the fraction of the nearest double.
fn fraction(attribute: Attribute<'_>) -> Result<Fraction, DescriptionError> {
    let text = attribute.value.trim_ascii();
    let seconds: f64 = attribute.scalar()?;
    let exact = match seconds {
        _ if !is_decimal(text) => Err(NotAFraction::NotFinite),
        _ => Fraction::parse_duration(text),
    };
    let result = match exact {
        Err(NotAFraction::TooLarge) => Fraction::duration(seconds),
        other => other,
    };
    match result {
        Ok(value) if value.is_zero() && seconds != 0.0 => Err(attribute.error("is too small")),
        other => other.map_err(|error| attribute.error(error.to_string())),
    }
}

impl<'a> WrittenClock<'a> {
    pub(in super::super) fn read(element: Element<'a>) -> Result<WrittenClock<'a>, DescriptionError> {
        let resolution = element.attribute("resolution");
        let written = WrittenClock {
            element,
            variability: element.attribute("intervalVariability").map(|a| a.choice(&INTERVALS)).transpose()?,
            priority: element.scalar("priority")?,
            can_be_deactivated: element.scalar("canBeDeactivated")?,
            supports_fraction: element.scalar("supportsFraction")?,
            resolution: resolution.map(Attribute::scalar).transpose()?,
            interval: Timing::read(element, "intervalDecimal", "intervalCounter")?,
            shift: Timing::read(element, "shiftDecimal", "shiftCounter")?,
            draft: DraftClock::read(element)?,
        };
        match (resolution, written.resolution) {
            (Some(attribute), Some(0)) => Err(attribute.error("must be greater than 0")),
            _ => Ok(written),
        }
    }

    /// With the declared type's attributes where the variable has none.
    pub(in super::super) fn or(self, declared: Option<&WrittenClock<'a>>) -> WrittenClock<'a> {
        let Some(declared) = declared else { return self };
        WrittenClock {
            element: self.element,
            variability: self.variability.or(declared.variability),
            priority: self.priority.or(declared.priority),
            can_be_deactivated: self.can_be_deactivated.or(declared.can_be_deactivated),
            supports_fraction: self.supports_fraction.or(declared.supports_fraction),
            resolution: self.resolution.or(declared.resolution),
            interval: self.interval.or(declared.interval),
            shift: self.shift.or(declared.shift),
            draft: self.draft.or(declared.draft),
        }
    }

    /// The clock of a variable (`causality` given) or of a type, which may leave the interval to its variables.
    pub(in super::super) fn clock(self, causality: Option<Causality>) -> Result<Clock, DescriptionError> {
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
pub(in super::super) fn check_local(
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

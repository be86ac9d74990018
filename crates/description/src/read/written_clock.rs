//! The attributes of clocks of FMI 3.0 and of its draft as they are written, each checked by itself.
//!
//! Guarantees: `intervalCounter/resolution` wins over `intervalDecimal`. What a variable writes wins over its declared type as a
//! whole: an `intervalDecimal` of the variable is not beaten by an `intervalCounter` of the type.

use crate::lexical::is_decimal;
use crate::model::{ClockType, DescriptionError, IntervalVariability, ValueReference};
use crate::xml::{Attribute, Element};
use vecud_base::time::{Fraction, NotAFraction};

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
pub(super) struct WrittenClock<'a> {
    pub(super) element: Element<'a>,
    pub(super) variability: Option<IntervalVariability>,
    pub(super) priority: Option<u32>,
    pub(super) can_be_deactivated: Option<bool>,
    pub(super) supports_fraction: Option<bool>,
    pub(super) resolution: Option<u64>,
    pub(super) interval: WrittenInterval<'a>,
    pub(super) shift: WrittenInterval<'a>,
    /// The draft's attributes; empty in the released dialect.
    pub(super) draft: DraftClock<'a>,
}

/// An interval or a shift in its two spellings.
#[derive(Clone, Copy)]
pub(super) struct WrittenInterval<'a> {
    pub(super) decimal: Option<(Attribute<'a>, Fraction)>,
    counter: Option<(Attribute<'a>, u64)>,
}

impl<'a> WrittenInterval<'a> {
    fn read(element: Element<'a>, decimal: &str, counter: &str) -> Result<WrittenInterval<'a>, DescriptionError> {
        let counter = element.attribute(counter).map(|a| Ok((a, a.scalar()?))).transpose()?;
        Ok(WrittenInterval { decimal: element.attribute(decimal).map(|a| Ok((a, fraction(a)?))).transpose()?, counter })
    }

    fn or(self, other: WrittenInterval<'a>) -> WrittenInterval<'a> {
        if self.decimal.is_some() || self.counter.is_some() { self } else { other }
    }

    pub(super) fn attributes(self) -> impl Iterator<Item = Attribute<'a>> {
        self.decimal.map(|(a, _)| a).into_iter().chain(self.counter.map(|(a, _)| a))
    }

    /// The one that counts, with its attribute.
    pub(super) fn value(self, resolution: Option<u64>) -> Result<Option<(Attribute<'a>, Fraction)>, DescriptionError> {
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
    pub(super) fn read(element: Element<'a>) -> Result<WrittenClock<'a>, DescriptionError> {
        let resolution = element.attribute("resolution");
        let written = WrittenClock {
            element,
            variability: element.attribute("intervalVariability").map(|a| a.choice(&INTERVALS)).transpose()?,
            priority: element.scalar("priority")?,
            can_be_deactivated: element.scalar("canBeDeactivated")?,
            supports_fraction: element.scalar("supportsFraction")?,
            resolution: resolution.map(Attribute::scalar).transpose()?,
            interval: WrittenInterval::read(element, "intervalDecimal", "intervalCounter")?,
            shift: WrittenInterval::read(element, "shiftDecimal", "shiftCounter")?,
            draft: DraftClock::read(element)?,
        };
        match (resolution, written.resolution) {
            (Some(attribute), Some(0)) => Err(attribute.error("must be greater than 0")),
            _ => Ok(written),
        }
    }

    /// The clock's attributes, with the declared type's where the variable has none.
    pub(super) fn or(self, declared: Option<&WrittenClock<'a>>) -> WrittenClock<'a> {
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
}

const CLOCK_TYPES: [(&str, ClockType); 2] =
    [("synchronousTime", ClockType::SynchronousTime), ("communicationPoint", ClockType::CommunicationPoint)];

/// The draft's attributes of a clock as written, each checked by itself.
#[derive(Clone, Copy, Default)]
pub(super) struct DraftClock<'a> {
    pub(super) clock_type: Option<ClockType>,
    pub(super) triggered_by: Option<(Attribute<'a>, ValueReference)>,
    pub(super) periodic: Option<bool>,
    pub(super) strict: Option<(Attribute<'a>, bool)>,
}

impl<'a> DraftClock<'a> {
    fn read(element: Element<'a>) -> Result<DraftClock<'a>, DescriptionError> {
        Ok(DraftClock {
            clock_type: element.attribute("clockType").map(|a| a.choice(&CLOCK_TYPES)).transpose()?,
            triggered_by: element.attribute("triggeredBy").map(|a| Ok((a, a.scalar()?))).transpose()?,
            periodic: element.scalar("periodic")?,
            strict: element.attribute("strict").map(|a| Ok((a, a.scalar()?))).transpose()?,
        })
    }

    fn or(self, declared: DraftClock<'a>) -> DraftClock<'a> {
        DraftClock {
            clock_type: self.clock_type.or(declared.clock_type),
            triggered_by: self.triggered_by.or(declared.triggered_by),
            periodic: self.periodic.or(declared.periodic),
            strict: self.strict.or(declared.strict),
        }
    }
}

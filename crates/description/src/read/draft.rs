//! Parts of a description that only the draft of FMI 3.0 has (the main branch of the standard in January 2021).
//!
//! The draft's clocks get the released words: strictly periodic is `constant`, other periodic is `fixed`, aperiodic is
//! `triggered`. Attributes that its text requires and its own example leaves out (`instantiationToken`, `start` of
//! input clocks, `variability="clock"`) are a warning if missing; a contradiction is an error:
//!
//! - `strict` without `periodic`; strictly periodic without `intervalCounter` and `resolution`; either of them 0;
//! - `triggeredBy` on a clock that is periodic, or no input, or naming anything but an output clock;
//! - `clockReference` to a variable that is no clock, `clockElementIndex` beyond the end of its array;
//! - clocks of both types in one FMU; `synchronousTime` in Scheduled Execution.

use super::written_clock::{WrittenClock, WrittenInterval};
use crate::model::{Abi, Causality, Clock, ClockType, DescriptionError, Dimension, IntervalVariability};
use crate::model::{Initial, ValueReference, Values, Variability, Variable, VariableType};
use crate::xml::{Attribute, Element};
use crate::{rules, values};
use vecud_base::priority::FmiPriority;
use vecud_base::time::Fraction;

/// Whether the description is one of the draft.
pub(super) fn is_draft(element: Element<'_>) -> bool {
    element.vocabulary().abi == Abi::Draft
}

/// The attributes of a `<Clock>` or `<ClockType>`.
pub(super) const CLOCK: [&str; 8] =
    ["clockType", "triggeredBy", "priority", "periodic", "strict", "intervalCounter", "shiftCounter", "resolution"];
/// The attributes of every variable, beyond those of both dialects.
pub(super) const VARIABLE: [&str; 4] = ["clockReference", "clockElementIndex", "intermediateUpdate", "initial"];
/// The attributes of `<ScheduledExecution>` which the released text does not have. None of them matters to an importer: the
/// callback is always there, and neither derivatives of outputs nor smooth inputs belong to a scheduled partition.
pub(super) const SCHEDULED_EXECUTION: [&str; 3] =
    ["maxOutputDerivativeOrder", "providesIntermediateUpdate", "recommendedIntermediateInputSmoothness"];

/// The clock of a variable (`causality` given) or of a type, which may leave everything but its kind to its variables.
pub(super) fn clock(written: WrittenClock<'_>, causality: Option<Causality>) -> Result<Clock, DescriptionError> {
    let (element, own) = (written.element, written.draft);
    let Some(clock_type) = own.clock_type else {
        return Err(element.error(format!(
            "{}: attribute `clockType` is missing (Scheduled Execution: communicationPoint)",
            element.label()
        )));
    };
    let periodic = own.periodic.unwrap_or(false);
    let strict = match own.strict {
        Some((attribute, true)) if !periodic => {
            return Err(attribute.error("needs periodic=\"true\": only a periodic clock can be strictly periodic"));
        }
        Some((_, strict)) => strict,
        None => false,
    };
    if let Some((attribute, _)) = own.triggered_by {
        match causality {
            _ if periodic => return Err(attribute.error("belongs to aperiodic clocks: this one is periodic")),
            Some(Causality::Output | Causality::Local) => {
                return Err(attribute.error("belongs to input clocks: an output clock triggers, and is not triggered"));
            }
            _ => {}
        }
    }
    // The plan decides whether an input clock without priority may run.
    if written.priority.is_none() && causality.is_some_and(|causality| causality != Causality::Input) {
        element.warn(format!("{}: attribute `priority` is missing", element.label()));
    }
    let mut clock = Clock {
        interval_variability: match (periodic, strict) {
            (true, true) => IntervalVariability::Constant,
            (true, false) => IntervalVariability::Fixed,
            (false, _) => IntervalVariability::Triggered,
        },
        priority: written.priority.map(FmiPriority),
        interval: None,
        interval_decimal: false,
        shift: Fraction::ZERO,
        resolution: written.resolution,
        supports_fraction: true,
        can_be_deactivated: false,
        triggered_by: own.triggered_by.map(|(_, reference)| reference),
        clock_type: Some(clock_type),
    };
    if !periodic {
        let (interval, shift) = (written.interval.attributes(), written.shift.attributes());
        interval.chain(shift).for_each(|a| a.warn("is ignored: the clock is not periodic"));
        return Ok(clock);
    }
    clock.interval = interval(element, written.interval, written.resolution, strict && causality.is_some())?;
    if let Some((_, shift)) = written.shift.value(written.resolution)? {
        clock.shift = shift;
    }
    Ok(clock)
}

fn interval(
    element: Element<'_>,
    written: WrittenInterval<'_>,
    resolution: Option<u64>,
    needed: bool,
) -> Result<Option<Fraction>, DescriptionError> {
    match written.value(resolution)? {
        Some((attribute, interval)) if interval.is_zero() => Err(attribute.error("must be greater than 0")),
        Some((_, interval)) => Ok(Some(interval)),
        None if needed => Err(element.error(format!(
            "{}: a strictly periodic clock needs the attributes `intervalCounter` and `resolution`",
            element.label()
        ))),
        None => Ok(None),
    }
}

/// `start`, which the draft has on clocks and binaries too.
pub(super) fn start(attribute: Attribute<'_>, variable_type: VariableType) -> Result<Option<Values>, DescriptionError> {
    let values = match variable_type {
        VariableType::Clock => Values::Clock(attribute.list()?),
        VariableType::Binary => {
            let words = attribute.value.split_ascii_whitespace();
            Values::Binary(words.map(|word| values::bytes(attribute, word)).collect::<Result<_, _>>()?)
        }
        _ => return values::list(attribute, variable_type),
    };
    if values.is_empty() { Err(attribute.error("has no value")) } else { Ok(Some(values)) }
}

/// `variability`, which has the further word `clock`, here the same as `discrete`.
pub(super) fn variability(attribute: Attribute<'_>, is_clock: bool) -> Result<Variability, DescriptionError> {
    match (attribute.value.trim_ascii(), is_clock) {
        ("clock", true) => Ok(Variability::Discrete),
        ("clock", false) => Err(attribute.error("is for clocks only")),
        (_, true) => {
            attribute.warn("should be clock");
            attribute.choice(&rules::VARIABILITIES)
        }
        (_, false) => attribute.choice(&rules::VARIABILITIES),
    }
}

/// Warns of attributes of a clock variable that the draft requires, and its own example leaves out.
pub(super) fn check_clock(element: Element<'_>, causality: Causality) -> Result<(), DescriptionError> {
    if element.attribute("variability").is_none() {
        element.warn(format!("{}: variability=\"clock\" is missing", element.label()));
    }
    if causality == Causality::Input && element.attribute("start").is_none() {
        element.warn(format!("{}: a start value is missing", element.label()));
    }
    let words: &[(&str, Initial)] =
        if causality == Causality::Input { &rules::INITIALS[..1] } else { &rules::INITIALS };
    element.attribute("initial").map(|attribute| attribute.choice(words)).transpose()?;
    Ok(())
}

/// `clockReference` and `clockElementIndex`. Whether the clock has such an element is checked by [`element_of`].
pub(super) fn association(element: Element<'_>) -> Result<(Vec<ValueReference>, usize), DescriptionError> {
    let clocks: Vec<ValueReference> = element.scalar("clockReference")?.into_iter().collect();
    let Some(attribute) = element.attribute("clockElementIndex") else { return Ok((clocks, 0)) };
    let index: u64 = attribute.scalar()?;
    if clocks.is_empty() {
        attribute.warn("means nothing without `clockReference` and is ignored");
        return Ok((clocks, 0));
    }
    match usize::try_from(index) {
        Ok(index) => Ok((clocks, index)),
        Err(_) => Err(attribute.error("is larger than any array")),
    }
}

/// The element of `clock` that `clockElementIndex` names, once its array is known to have it: 0 for a scalar.
pub(super) fn element_of(
    index: usize,
    clock: &Variable,
    elements: u64,
    element: Element<'_>,
) -> Result<usize, DescriptionError> {
    let attribute = element.required("clockElementIndex")?;
    let name = &clock.name;
    match index {
        0 => Ok(0),
        1 if clock.dimensions.is_empty() => {
            attribute.warn(format!("should be 0: the clock {name:?} is a scalar"));
            Ok(0)
        }
        _ if clock.dimensions.is_empty() => {
            Err(attribute.error(format!("names an element of the clock {name:?}, which is a scalar")))
        }
        _ if index as u64 <= elements => Ok(index),
        // Structural parameters may still change its length.
        _ if clock.dimensions.iter().any(|d| matches!(d, Dimension::Structural(_))) => Err(attribute.error(format!(
            "is beyond the end of the clock {name:?}, which has {elements} elements with the start values of its \
             dimensions"
        ))),
        _ => Err(attribute.error(format!("is beyond the end of the clock {name:?}, which has {elements} elements"))),
    }
}

/// Whether all clocks are of one type, and one that the interface type allows.
pub(super) fn check_types(
    variables: &[Variable],
    elements: &[Element<'_>],
    scheduled_execution: bool,
) -> Result<(), DescriptionError> {
    let mut first: Option<(&Variable, ClockType)> = None;
    for (variable, &element) in variables.iter().zip(elements) {
        let Some(clock_type) = variable.clock.as_ref().and_then(|clock| clock.clock_type) else { continue };
        let place = || element.attribute("clockType").map_or_else(|| element.error(""), |a| a.error(""));
        if scheduled_execution && clock_type == ClockType::SynchronousTime {
            let message = format!(
                "{}: a synchronous clock, which Scheduled Execution does not have (clockType=\"communicationPoint\")",
                element.label()
            );
            return Err(DescriptionError { message, ..place() });
        }
        match first {
            Some((other, other_type)) if other_type != clock_type => {
                let message = format!(
                    "{}: clockType differs from that of {:?} (line {}); all clocks of an FMU are of one type",
                    element.label(),
                    other.name,
                    other.line
                );
                return Err(DescriptionError { message, ..place() });
            }
            Some(_) => {}
            None => first = Some((variable, clock_type)),
        }
    }
    Ok(())
}

/// Whether `triggeredBy` names an output clock.
pub(super) fn check_trigger(element: Element<'_>, target: Option<&Variable>) -> Result<(), DescriptionError> {
    let refuse = |what: String| match element.attribute("triggeredBy") {
        Some(attribute) => Err(attribute.error(what)),
        // From its declared type.
        None => Err(element.error(format!("{}: triggeredBy {what}", element.label()))),
    };
    match target {
        None => refuse("names a value reference that no variable has".to_owned()),
        Some(v) if v.variable_type != VariableType::Clock => {
            refuse(format!("names {:?} (line {}), which is no clock", v.name, v.line))
        }
        Some(v) if v.causality != Causality::Output => {
            refuse(format!("names {:?} (line {}), which is no output clock", v.name, v.line))
        }
        Some(_) => Ok(()),
    }
}

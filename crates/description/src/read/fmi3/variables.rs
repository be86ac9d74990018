//! `<ModelVariables>` (FMI 3.0, 2.4.7): each element by itself. What one variable says of another is checked in
//! [`super::references`].
//!
//! Guarantees: the type's attributes are read and range-checked, defaults filled in (variability and `initial` by the
//! tables in [`crate::rules`]), the declared type's attributes inherited; combinations that the tables do not allow are
//! errors.

use super::types::{self, TypeDefinitions};
use crate::model::{Alias, Causality, Clock, DescriptionError, Dimension, Initial, ValueReference};
use crate::model::{Values, Variability, Variable, VariableType};
use crate::read::draft;
use crate::read::shared::SharedAttributes;
use crate::read::written_clock::WrittenClock;
use crate::rules;
use crate::units::Units;
use crate::values;
use crate::xml::{Attribute, Element, for_each};

const COMMON: [&str; 7] = [
    "name",
    "valueReference",
    "description",
    "causality",
    "variability",
    "canHandleMultipleSetPerTimeInstant",
    "declaredType",
];
/// Attributes that clocks do not have: they are neither arrays nor initialised.
const VALUED: [&str; 3] = ["intermediateUpdate", "previous", "initial"];
const FLOAT: [&str; 2] = ["derivative", "reinit"];

/// Reads all variables of a list with these elements; the second list holds the element of each.
pub(super) fn read<'a>(
    list: Element<'a>,
    elements: Vec<Element<'a>>,
    types: &TypeDefinitions<'a>,
    units: &Units,
) -> Result<(Vec<Variable>, Vec<Element<'a>>), DescriptionError> {
    let mut variables = Vec::with_capacity(elements.len());
    let mut read = Vec::with_capacity(elements.len());
    for_each(elements, |element| {
        match types::variable_type(element.name()) {
            Some(variable_type) => {
                read_one(element, variable_type, types, units, &mut variables)?;
                read.push(element);
            }
            None if element.name() == "Annotations" => {}
            None => element.warn_unknown(list),
        }
        Ok(())
    })?;
    Ok((variables, read))
}

fn check_attributes(element: Element<'_>, variable_type: VariableType) {
    let is_clock = variable_type == VariableType::Clock;
    let none: &[&str] = &[];
    let valued = if is_clock { none } else { &VALUED };
    let float = if rules::is_float(variable_type) { &FLOAT } else { none };
    let has_start = variable_type != VariableType::Clock;
    let start: &[&str] = if has_start { &["start", "clocks"] } else { &["clocks"] };
    let own = types::attribute_names(variable_type, element.vocabulary().abi);
    let draft = match draft::is_draft(element) {
        true => &draft::VARIABLE[..],
        false => none,
    };
    let draft_start: &[&str] = if is_clock && draft::is_draft(element) { &["start"] } else { none };
    element.warn_of_unknown_attributes(&[&COMMON[..], start, own, valued, float, draft, draft_start]);
}

/// Reads a variable to the end of the list, where it is made in place: it is large.
fn read_one<'a>(
    element: Element<'a>,
    variable_type: VariableType,
    types: &TypeDefinitions<'a>,
    units: &Units,
    list: &mut Vec<Variable>,
) -> Result<(), DescriptionError> {
    check_attributes(element, variable_type);
    let name = element.unique_name()?;
    let value_reference = element.required("valueReference")?.scalar()?;
    let declared = types.declared(element, variable_type)?;
    let (causality, variability, initial) = classification(element, variable_type)?;

    let written = SharedAttributes::read(element, variable_type)?;
    written.check(element, units);
    let shared = match declared {
        Some(declared) => written.or(declared),
        None => written,
    };
    let clock = match variable_type {
        VariableType::Clock => Some(Box::new(clock(element, types, declared.map(|d| &*d.name), causality)?)),
        VariableType::Enumeration if declared.is_none() && element.attribute("declaredType").is_none() => {
            element.overlook(element.error(format!("{}: attribute `declaredType` is missing", element.label())))?;
            None
        }
        _ => None,
    };
    let Children { dimensions, start, aliases } = children(element, variable_type, units, shared.unit.as_deref())?;
    if causality == Causality::StructuralParameter && !dimensions.is_empty() {
        return Err(element.error(format!("{}: a structuralParameter has no <Dimension>", element.label())));
    }
    let is_binary = variable_type == VariableType::Binary;
    let (derivative, reinit) = match rules::is_float(variable_type) {
        true => (element.scalar("derivative")?, element.flag("reinit")?),
        false => (None, false),
    };
    let (previous, intermediate_update) = match variable_type {
        VariableType::Clock => (None, false),
        _ => (element.scalar("previous")?, element.flag("intermediateUpdate")?),
    };
    let can_handle_multiple_set_per_time_instant =
        element.scalar("canHandleMultipleSetPerTimeInstant")?.unwrap_or(true);
    let misplaced = |name: &str, of: &str| {
        if let Some(attribute) = element.attribute(name) {
            attribute.warn(format!("belongs only to {of}"));
        }
    };
    if !can_handle_multiple_set_per_time_instant && causality != Causality::Input {
        misplaced("canHandleMultipleSetPerTimeInstant", "inputs");
    }
    if intermediate_update && variability != Variability::Continuous && !draft::is_draft(element) {
        misplaced("intermediateUpdate", "continuous variables");
    }
    let (clocks, clock_element) = match draft::is_draft(element) {
        true => draft::association(element)?,
        false => (clock_list(element, variability)?, 0),
    };
    check_start(element, variable_type, causality, initial, start.as_ref())?;
    if let (Some(definition), Some(Values::Int64(start))) = (declared, &start)
        && let Some(items) = types.items(&definition.name)
        && let Some(value) = start.iter().find(|&value| !items.contains(value))
    {
        element.warn(format!("{}: start {value} is no item of {:?}", element.label(), definition.name));
    }
    shared.check_start(element, element, start.as_ref());
    // Nobody else's business: the FMU has this value by itself.
    if let (Some(Values::Binary(start)), Some(limit)) = (&start, shared.max_size)
        && let Some(value) = start.iter().find(|value| value.len() as u64 > limit)
    {
        element.warn(format!("{}: a start value has {} bytes, but maxSize is {limit}", element.label(), value.len()));
    }
    let (line, column) = element.place();
    list.push(Variable {
        name: name.to_owned(),
        value_reference,
        variable_type,
        description: element.text("description"),
        causality,
        variability,
        initial,
        can_handle_multiple_set_per_time_instant,
        intermediate_update,
        previous,
        clocks,
        clock_element,
        dimensions,
        declared_type: declared.map(|declared| declared.name.clone()),
        start,
        aliases,
        alias_of: None,
        quantity: shared.quantity,
        unit: shared.unit,
        display_unit: shared.display_unit,
        relative_quantity: shared.relative_quantity.unwrap_or(false),
        unbounded: shared.unbounded.unwrap_or(false),
        min: shared.min,
        max: shared.max,
        nominal: shared.nominal,
        derivative,
        reinit,
        mime_type: shared.mime_type.or_else(|| is_binary.then(|| "application/octet-stream".into())),
        max_size: shared.max_size,
        clock,
        line,
        column,
    });
    Ok(())
}

/// `causality`, `variability` and `initial` with their defaults, if the standard's tables allow them together.
fn classification(
    element: Element<'_>,
    variable_type: VariableType,
) -> Result<(Causality, Variability, Option<Initial>), DescriptionError> {
    let causality = match element.attribute("causality") {
        Some(attribute) => attribute.choice(&rules::CAUSALITIES)?,
        None => Causality::Local,
    };
    let is_clock = variable_type == VariableType::Clock;
    let variability = match element.attribute("variability") {
        Some(attribute) if draft::is_draft(element) => draft::variability(attribute, is_clock)?,
        Some(attribute) => attribute.choice(&rules::VARIABILITIES)?,
        None => rules::default_variability(causality, variable_type),
    };
    let words = || (rules::word(&rules::CAUSALITIES, causality), rules::word(&rules::VARIABILITIES, variability));
    let refuse = |why: &str| {
        let words = words();
        let message = format!("{}: causality {} with variability {}: {why}", element.label(), words.0, words.1);
        match element.attribute("variability").or(element.attribute("causality")) {
            Some(attribute) => DescriptionError { message, ..attribute.error("") },
            None => element.error(message),
        }
    };
    if is_clock && !matches!(causality, Causality::Input | Causality::Output | Causality::Local) {
        return Err(refuse("a clock is input, output or local"));
    }
    if is_clock && variability != Variability::Discrete {
        return Err(refuse("a clock is discrete"));
    }
    if causality == Causality::Independent && !rules::is_float(variable_type) {
        return Err(refuse("the independent variable is a Float64 or Float32"));
    }
    if let Some(why) = rules::objection(causality, variability) {
        return Err(refuse(why));
    }
    if variability == Variability::Continuous && !rules::is_float(variable_type) {
        return Err(refuse("only Float64 and Float32 are continuous"));
    }
    if is_clock {
        if draft::is_draft(element) {
            draft::check_clock(element, causality)?;
        }
        return Ok((causality, variability, None));
    }
    let allowed = rules::initials(causality, variability);
    let default = allowed.first().copied();
    let initial = match element.attribute("initial") {
        None => default,
        Some(attribute) => {
            let initial = attribute.choice(&rules::INITIALS)?;
            let is_allowed = allowed.contains(&initial);
            if !is_allowed {
                let words = words();
                let allowed: Vec<&str> = allowed.iter().map(|&other| rules::word(&rules::INITIALS, other)).collect();
                let which = if allowed.is_empty() { "none".to_owned() } else { allowed.join(" or ") };
                let (causality, variability) = words;
                let what = "does not go with causality";
                element.overlook(
                    attribute.error(format!("{what} {causality} and variability {variability}, which allow {which}")),
                )?;
            }
            if is_allowed { Some(initial) } else { default }
        }
    };
    Ok((causality, variability, initial))
}

fn clock<'a>(
    element: Element<'a>,
    types: &TypeDefinitions<'a>,
    declared: Option<&str>,
    causality: Causality,
) -> Result<Clock, DescriptionError> {
    let declared = declared.and_then(|name| types.clock(name));
    WrittenClock::read(element)?.or(declared).clock(Some(causality))
}

fn clock_list(element: Element<'_>, variability: Variability) -> Result<Vec<ValueReference>, DescriptionError> {
    let Some(attribute) = element.attribute("clocks") else { return Ok(Vec::new()) };
    let clocks = attribute.list()?;
    if clocks.is_empty() {
        attribute.warn("names no clock");
    } else if !matches!(variability, Variability::Discrete | Variability::Tunable) {
        attribute.warn("belongs only to discrete and tunable variables");
    }
    Ok(clocks)
}

#[derive(Default)]
struct Children {
    dimensions: Vec<Dimension>,
    start: Option<Values>,
    aliases: Vec<Alias>,
}

fn children(
    element: Element<'_>,
    variable_type: VariableType,
    units: &Units,
    unit: Option<&str>,
) -> Result<Children, DescriptionError> {
    let mut result = Children::default();
    if let Some(attribute) = element.attribute("start") {
        result.start = match (draft::is_draft(element), variable_type) {
            (true, _) => draft::start(attribute, variable_type)?,
            (false, VariableType::String | VariableType::Binary) => Some(start_attribute(attribute, variable_type)?),
            (false, _) => values::list(attribute, variable_type)?,
        };
    }
    let mut has_elements = false;
    for child in element.children() {
        match (child.name(), variable_type) {
            ("Dimension", VariableType::Clock) if !draft::is_draft(element) => {
                return Err(child.error("a clock is not an array"));
            }
            ("Dimension", _) => result.dimensions.push(dimension(child, element)?),
            ("Start", VariableType::String) => {
                child.warn_of_unknown_attributes(&[&["value"]]);
                if !std::mem::replace(&mut has_elements, true) {
                    result.start = None;
                }
                let Values::String(values) = result.start.get_or_insert(Values::String(Vec::new())) else { continue };
                values.push(child.text("value").unwrap_or_default());
            }
            ("Start", VariableType::Binary) => {
                child.warn_of_unknown_attributes(&[&["value"]]);
                if !std::mem::replace(&mut has_elements, true) {
                    result.start = None;
                }
                let Values::Binary(values) = result.start.get_or_insert(Values::Binary(Vec::new())) else { continue };
                values.push(values::binary(child)?);
            }
            ("Alias", _) => {
                child.warn_of_unknown_attributes(&[&["name", "description", "displayUnit"]]);
                let alias = Alias {
                    name: child.unique_name()?.to_owned(),
                    description: child.text("description"),
                    display_unit: child.text("displayUnit"),
                };
                if alias.display_unit.is_some() {
                    units.check(child, unit, alias.display_unit.as_deref());
                }
                result.aliases.push(alias);
            }
            ("Annotations", _) => {}
            _ => child.warn_unknown(element),
        }
    }
    Ok(result)
}

/// The start value of a string or binary where generators write it as those of numbers are written. `<Start>` elements come before it.
fn start_attribute(attribute: Attribute<'_>, variable_type: VariableType) -> Result<Values, DescriptionError> {
    attribute.warn("is not where a start value of this type stands (<Start value=\"...\"/>): taken for one unless there is a <Start>");
    Ok(match variable_type {
        VariableType::Binary => Values::Binary(vec![values::bytes(attribute, attribute.value.trim_ascii())?]),
        _ => Values::String(vec![attribute.value.to_owned()]),
    })
}

fn dimension(element: Element<'_>, of: Element<'_>) -> Result<Dimension, DescriptionError> {
    element.warn_of_unknown_attributes(&[&["start", "valueReference"]]);
    match (element.attribute("start"), element.attribute("valueReference")) {
        (Some(start), None) => match start.scalar()? {
            0 => Err(start.error(format!("must be greater than 0: initially {} has elements", of.label()))),
            length => Ok(Dimension::Fixed(length)),
        },
        (None, Some(reference)) => Ok(Dimension::Structural(reference.scalar()?)),
        _ => Err(element.error("<Dimension> needs either `start` or `valueReference`, not both")),
    }
}

/// Whether there is a start value where the standard wants one (2.4.7.4, `start`). One that it does not want is only a
/// warning, except for the independent variable: tools do write it for calculated variables.
fn check_start(
    element: Element<'_>,
    variable_type: VariableType,
    causality: Causality,
    initial: Option<Initial>,
    start: Option<&Values>,
) -> Result<(), DescriptionError> {
    if variable_type == VariableType::Clock {
        return Ok(());
    }
    let wanted = matches!(initial, Some(Initial::Exact | Initial::Approx));
    match start {
        // LS-BUS networks leave it out.
        None if wanted && variable_type == VariableType::Binary && causality == Causality::Input => {
            element.warn(format!("{}: a start value is missing", element.label()));
            Ok(())
        }
        None if wanted => element.overlook(element.error(format!("{}: a start value is missing", element.label()))),
        Some(_) if causality == Causality::Independent => {
            let has_none = format!("{}: the independent variable has no start value", element.label());
            element.overlook(element.error(has_none))
        }
        Some(_) if !wanted => {
            element.warn(format!("{}: a start value, although `initial` is calculated", element.label()));
            Ok(())
        }
        _ => Ok(()),
    }
}

//! Start values of the rig, checked against the variables that they are for.

use crate::StartValue;
use crate::described::{DescribedFmu, ELEMENTS, NameMeaning, find};
use crate::elements::{self, ElementSelection, replaced};
use crate::findings::Findings;
use crate::model::conversion::integer;
use crate::rig::{At, RigValue, float_text, suggestion};
use std::collections::BTreeMap;
use vecud_description::word;
use vecud_description::{Causality, EnumerationItem, Initial, Values, Variability, Variable, VariableType};

/// Resized arrays that are named in a note.
const NAMED: usize = 5;

/// Start values of one FMU by the index of their variable, so in document order.
pub type Starts = BTreeMap<usize, StartValue>;

/// Values of structural parameters, on which the sizes of others depend: to be known before everything else.
pub fn structure(described: &DescribedFmu, findings: &mut Findings) -> Starts {
    of(described, true, findings)
}

/// All other start values of one FMU that can be set.
pub fn resolve(described: &DescribedFmu, findings: &mut Findings) -> Starts {
    of(described, false, findings)
}

fn of(described: &DescribedFmu, structural: bool, findings: &mut Findings) -> Starts {
    let mut starts = Starts::new();
    // Elements that have been given already, in the rig file (`false`) or on the command line (`true`), which may give them
    // again.
    let mut given: BTreeMap<(bool, usize), Vec<ElementSelection>> = BTreeMap::new();
    for (name, value) in &described.rig.start {
        let (index, selection) = match find(described, &name.value) {
            NameMeaning::Elements(index, selection) => (index, selection),
            // Told with the others.
            _ if structural => continue,
            NameMeaning::Unsuitable(message) => {
                findings.rig(name.place, message);
                continue;
            }
            NameMeaning::Nothing => {
                let hint = match described.suggest(&name.value, |v| settable(v).is_ok()) {
                    none if none.is_empty() => described.suggest(&name.value, |v| v.clock.is_none()),
                    hint => hint,
                };
                findings.rig(name.place, format!("{} has no variable \"{}\"{hint}", described.name(), name.value));
                continue;
            }
        };
        let v = &described.variables()[index];
        if (v.causality == Causality::StructuralParameter) != structural {
            continue;
        }
        if let Err(reason) = settable(v) {
            findings.rig(
                name.place,
                format!("{}.{} cannot be given a start value: {reason}", described.name(), name.value),
            );
            continue;
        }
        let others = given.entry((name.place.option().is_some(), index)).or_default();
        if others.iter().any(|other| other.overlaps(&selection)) {
            let message =
                format!("the start value of {}.{} is given twice (\"{}\")", described.name(), v.name, name.value);
            findings.rig(name.place, message);
            continue;
        }
        let Some(mut values) = convert(described, v, &selection, name, value, findings) else { continue };
        if selection.partial {
            // The other elements: given by other keys, or as in the XML.
            let Some(rest) = start_of(described, index, &starts) else {
                let message = format!(
                    "{}.{} has no start value in its description for the elements that \"{}\" leaves out: give it one as a \
                     whole",
                    described.name(),
                    v.name,
                    name.value
                );
                findings.rig(name.place, message);
                continue;
            };
            values = replaced(rest, &selection.runs, &values);
        }
        others.push(selection);
        starts.insert(index, start(described, v, values));
    }
    starts
}

/// All elements of a variable's start value: the rig's, else the description's.
pub fn start_of(described: &DescribedFmu, variable: usize, starts: &Starts) -> Option<Values> {
    let v = &described.variables()[variable];
    let start = starts.get(&variable).map(|start| &start.values).or(described.start_of(variable))?;
    Some(elements::expanded(start, described.elements(v)))
}

/// The start value of a variable.
pub fn start(described: &DescribedFmu, v: &Variable, values: Values) -> StartValue {
    StartValue {
        reference: v.value_reference,
        name: v.name.clone(),
        variable_type: v.variable_type,
        values,
        in_initialization_mode: !v.clocks.is_empty()
            || v.causality == Causality::Input && described.abi().sets_inputs_in_initialization_mode_alone(),
    }
}

/// An element of a variable, or why it cannot start with that: "is 5, above its max 4"; `None`: it is of another type.
pub fn fitting(v: &Variable, items: &[EnumerationItem], value: &RigValue) -> Option<Result<Values, String>> {
    let number = number(v, items, value).ok()?;
    Some(in_limits(v, number).map(|number| collect(v.variable_type, vec![number])))
}

/// Notes arrays that the rig has resized without giving them a value: the values of their descriptions do not fit.
pub fn note_resized(
    described: &DescribedFmu,
    starts: &Starts,
    is_fed: impl Fn(usize) -> bool,
    findings: &mut Findings,
) {
    let is_left = |index: &usize| {
        let v = &described.variables()[*index];
        v.start.is_some()
            && settable(v).is_ok()
            && described.is_resized(v)
            && !starts.contains_key(index)
            && !is_fed(*index)
    };
    let left: Vec<usize> = (0..described.variables().len()).filter(is_left).collect();
    let arrays = left.iter().take(NAMED).map(|index| {
        let v = &described.variables()[*index];
        let (now, then) = (described.shape(v), described.described_shape(v));
        format!("{} has {} elements, and {} in its description", v.name, count_text(&now), count_text(&then))
    });
    let arrays: Vec<String> = arrays.collect();
    let more = left.len() - arrays.len();
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    if !left.is_empty() {
        findings.note(format!(
            "{}: with these structural parameters start values of the description do not fit ({}{more}): what they start with is up to \
             the FMU, unless they are given others",
            described.name(),
            arrays.join("; ")
        ));
    }
}

/// `6 ([2,3])`, of one dimension `6`.
fn count_text(shape: &[usize]) -> String {
    let count = elements::count(shape);
    if shape.len() > 1 { format!("{count} ({})", elements::shape_text(shape)) } else { count.to_string() }
}

/// Whether a variable can be set before initialisation, else why not.
pub fn settable(v: &Variable) -> Result<(), String> {
    let initial = matches!(v.initial, Some(Initial::Exact | Initial::Approx));
    match v.causality {
        _ if v.clock.is_some() => Err("it is a clock".to_owned()),
        _ if v.variability == Variability::Constant => Err("it is a constant".to_owned()),
        Causality::StructuralParameter | Causality::Parameter | Causality::Input => Ok(()),
        // Before Initialization Mode clocked variables are not set (2.2.7.2), and in it only those with `exact` (2.3.3).
        _ if !v.clocks.is_empty() && v.initial == Some(Initial::Approx) => Err(
            "it belongs to a clock, and initial = \"approx\" can be set only before Initialization Mode, where such \
                 variables are not set"
                .to_owned(),
        ),
        Causality::Output | Causality::Local if initial => Ok(()),
        causality => Err(format!("it is {} whose initial value the FMU computes", causality.with_article())),
    }
}

/// The values of the selected elements, which `name` names.
fn convert(
    described: &DescribedFmu,
    v: &Variable,
    selection: &ElementSelection,
    name: &At<String>,
    value: &At<RigValue>,
    findings: &mut Findings,
) -> Option<Values> {
    if described.elements(v) > ELEMENTS {
        let message = format!(
            "{}.{} has more than {ELEMENTS} elements: it cannot be given a start value",
            described.name(),
            v.name
        );
        findings.rig(value.place, message);
        return None;
    }
    let elements = selection.elements();
    let scalars: Vec<At<&RigValue>> = match &value.value {
        RigValue::Array(list) if selection.shape.is_empty() => {
            let message = format!(
                "{}.{} is a scalar, but its start value is a list of {}",
                described.name(),
                name.value,
                list.len()
            );
            findings.rig(value.place, message);
            return None;
        }
        RigValue::Array(list) if list.len() != elements => {
            let message = format!(
                "{}.{} has {elements} elements, but its start value has {}",
                described.name(),
                name.value,
                list.len()
            );
            findings.rig(value.place, message);
            return None;
        }
        RigValue::Array(list) => list.iter().map(|at| At { value: &at.value, place: at.place }).collect(),
        // One value fills the array.
        single => (0..elements).map(|_| At { value: single, place: value.place }).collect(),
    };
    let items = described.items(v);
    let mut values = Vec::with_capacity(scalars.len());
    for scalar in scalars {
        match number(v, items, scalar.value).and_then(|number| in_limits(v, number)) {
            Ok(number) => values.push(number),
            Err(reason) => {
                findings.rig(scalar.place, format!("the start value of {}.{} {reason}", described.name(), v.name));
                return None;
            }
        }
    }
    Some(collect(v.variable_type, values))
}

/// Whether each element of a value is one that the variable can start with, else why not: "is 5, above its max 4".
pub fn check(v: &Variable, items: &[EnumerationItem], value: &RigValue) -> Result<(), String> {
    let is_allowed = |value: &RigValue| number(v, items, value).and_then(|number| in_limits(v, number)).map(drop);
    match value {
        RigValue::Array(list) => list.iter().try_for_each(|element| is_allowed(&element.value)),
        single => is_allowed(single),
    }
}

/// A value of a rig file as the values of a variable with this number of elements, not compared with its limits; or the error,
/// such as "must be a number, not true".
pub fn values_of(v: &Variable, items: &[EnumerationItem], elements: usize, value: &RigValue) -> Result<Values, String> {
    let scalars: Vec<&RigValue> = match value {
        RigValue::Array(list) if v.dimensions.is_empty() => {
            return Err(format!("is a scalar, but was given a list of {}", list.len()));
        }
        RigValue::Array(list) if list.len() != elements => {
            return Err(format!("has {elements} elements, but was given {}", list.len()));
        }
        RigValue::Array(list) => list.iter().map(|at| &at.value).collect(),
        // One value fills the array.
        single => vec![single; elements],
    };
    let numbers = scalars.into_iter().map(|scalar| number(v, items, scalar)).collect::<Result<Vec<_>, _>>()?;
    Ok(collect(v.variable_type, numbers))
}

/// The value of one element.
enum ElementValue {
    Float(f64),
    Integer(i128),
    Boolean(bool),
    String(String),
    Binary(Vec<u8>),
}

fn number(v: &Variable, items: &[EnumerationItem], value: &RigValue) -> Result<ElementValue, String> {
    let kind = v.variable_type;
    let not = |what: String| Err(format!("must be {}, not {what}", article(kind)));
    match (kind, value) {
        (VariableType::Float64, RigValue::Float(f)) => Ok(ElementValue::Float(*f)),
        (VariableType::Float32, RigValue::Float(f)) if f.is_finite() && f.abs() > f64::from(f32::MAX) => {
            Err(format!("is {}, which a Float32 cannot hold", float_text(*f)))
        }
        (VariableType::Float32, RigValue::Float(f)) => Ok(ElementValue::Float(*f)),
        (VariableType::Float32 | VariableType::Float64, RigValue::Integer(i)) => Ok(ElementValue::Float(*i as f64)),
        (VariableType::Boolean, RigValue::Boolean(b)) => Ok(ElementValue::Boolean(*b)),
        (VariableType::String, RigValue::String(s)) if s.contains('\0') => {
            Err(format!("is {s:?}, but no string in C can have the character 0 (NUL) in it"))
        }
        (VariableType::String, RigValue::String(s)) => Ok(ElementValue::String(s.clone())),
        (VariableType::Binary, RigValue::String(s)) => match (binary(s), v.max_size) {
            (Some(bytes), Some(limit)) if bytes.len() as u64 > limit => {
                Err(format!("has {} bytes, but its maxSize is {limit}", bytes.len()))
            }
            (Some(bytes), _) => Ok(ElementValue::Binary(bytes)),
            (None, _) => not(format!("\"{s}\"")),
        },
        // TOML's integers end at 2^63 - 1.
        (VariableType::UInt64, RigValue::String(s)) if !s.is_empty() && s.bytes().all(|c| c.is_ascii_digit()) => {
            match s.parse::<u64>() {
                Ok(value) => Ok(ElementValue::Integer(value.into())),
                Err(_) => Err(format!("is {s}, but UInt64 holds 0 to {}", u64::MAX)),
            }
        }
        (VariableType::Enumeration, RigValue::String(s)) => match items.iter().find(|item| item.name == *s) {
            Some(item) => Ok(ElementValue::Integer(i128::from(item.value))),
            None => {
                let hint = suggestion(s, items.iter().map(|item| item.name.as_str()));
                Err(format!("is \"{s}\", which is no item of its enumeration{hint}"))
            }
        },
        (VariableType::Enumeration, RigValue::Integer(i))
            if !items.is_empty() && items.iter().all(|item| item.value != *i) =>
        {
            let known: Vec<String> = items.iter().map(|item| format!("{} ({})", item.name, item.value)).collect();
            Err(format!("is {i}, which is no item of its enumeration; it has {}", known.join(", ")))
        }
        (_, RigValue::Integer(i)) => match range(kind) {
            Some((low, high)) if (low..=high).contains(&i128::from(*i)) => Ok(ElementValue::Integer(i128::from(*i))),
            Some((low, high)) => Err(format!("is {i}, but {} holds {low} to {high}", kind.name())),
            None => not(i.to_string()),
        },
        (_, RigValue::Float(f)) => match range(kind) {
            // Beyond 2^53 a float does not determine an integer.
            Some((low, high)) if f.fract() == 0.0 && f.abs() < 9.1e15 => {
                let whole = *f as i128;
                if (low..=high).contains(&whole) {
                    Ok(ElementValue::Integer(whole))
                } else {
                    Err(format!("is {f}, but {} holds {low} to {high}", kind.name()))
                }
            }
            _ => not(float_text(*f)),
        },
        (_, RigValue::Boolean(b)) => not(b.to_string()),
        (_, RigValue::String(s)) => not(format!("the string \"{s}\"")),
        (_, RigValue::Array(_)) => not("a list".to_owned()),
    }
}

/// `0x0aff`: two digits a byte, in either case; `0x` is empty.
fn binary(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.strip_prefix("0x")?.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? * 16 + digit(*low)?).ok();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

fn article(kind: VariableType) -> String {
    match kind {
        VariableType::Float32 | VariableType::Float64 => "a number".to_owned(),
        VariableType::Boolean => "true or false".to_owned(),
        VariableType::String => "a string".to_owned(),
        VariableType::Binary => "a string of hexadecimal digits as \"0x0aff\"".to_owned(),
        VariableType::Enumeration => "the name or the number of an item".to_owned(),
        _ => "a whole number".to_owned(),
    }
}

/// The least and the largest integer of a type; `None`: it has no integers.
fn range(kind: VariableType) -> Option<(i128, i128)> {
    let (signed, bits) = integer(if kind == VariableType::Enumeration { VariableType::Int64 } else { kind })?;
    Some(if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) })
}

/// Checks `min` and `max`.
fn in_limits(v: &Variable, value: ElementValue) -> Result<ElementValue, String> {
    let outside = |value: String, limit: &str, bound: String| Err(format!("is {value}, {limit} its {bound}"));
    for (bound, name, below) in [(&v.min, "min", true), (&v.max, "max", false)] {
        let Some(bound) = bound else { continue };
        let side = if below { "below" } else { "above" };
        match (&value, bound_of(bound, v.variable_type)) {
            (ElementValue::Float(x), Some(ElementValue::Float(b))) if (below && *x < b) || (!below && *x > b) => {
                return outside(float_text(*x), side, format!("{name} {}", float_text(b)));
            }
            (ElementValue::Integer(x), Some(ElementValue::Integer(b))) if (below && *x < b) || (!below && *x > b) => {
                return outside(x.to_string(), side, format!("{name} {b}"));
            }
            _ => {}
        }
    }
    Ok(value)
}

/// The single value of a `min` or `max`; `None`: nothing that is compared.
fn bound_of(bound: &Values, kind: VariableType) -> Option<ElementValue> {
    let word = *word::words(bound)?.first()?;
    match kind {
        VariableType::Float32 => Some(ElementValue::Float(f32::from_bits(word as u32).into())),
        VariableType::Float64 => Some(ElementValue::Float(f64::from_bits(word))),
        _ => {
            let (low, _) = range(kind)?;
            Some(ElementValue::Integer(if low < 0 { (word as i64).into() } else { word.into() }))
        }
    }
}

/// Elements of the right kind and range, as values of the variable's type.
fn collect(kind: VariableType, scalars: Vec<ElementValue>) -> Values {
    let word = |scalar: &ElementValue| match scalar {
        ElementValue::Float(f) if kind == VariableType::Float32 => u64::from((*f as f32).to_bits()),
        ElementValue::Float(f) => f.to_bits(),
        ElementValue::Integer(i) => *i as u64,
        ElementValue::Boolean(b) => u64::from(*b),
        ElementValue::String(_) | ElementValue::Binary(_) => 0,
    };
    let words: Vec<u64> = scalars.iter().map(word).collect();
    word::values(&words, kind).unwrap_or_else(|| {
        let text = |scalar| if let ElementValue::String(text) = scalar { Some(text) } else { None };
        let bytes = |scalar| if let ElementValue::Binary(bytes) = scalar { Some(bytes) } else { None };
        match kind {
            VariableType::String => Values::String(scalars.into_iter().filter_map(text).collect()),
            _ => Values::Binary(scalars.into_iter().filter_map(bytes).collect()),
        }
    })
}

//! The start values of the variables of one FMU, from the description and the rig: `vecud inspect` shows and keeps them.

use super::start_values::{Starts, check, resolve, settable, structure};
use crate::described::{DescribedFmu, NameMeaning, find};
use crate::elements::expanded;
use crate::findings::Findings;
use crate::rig::{At, Rig, RigValue, start_line};
use crate::{FmuInput, PlanError};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use vecud_description::bytes;
use vecud_description::{EnumerationItem, ModelDescription, ValueReference, Values, VariableType};

/// The start values of the only FMU of a rig, by the places of variables in its description.
#[derive(Clone, Debug)]
pub struct OwnStarts<'a> {
    description: &'a ModelDescription,
    /// Other values than the description's, of all elements.
    changed: BTreeMap<usize, Values>,
    /// Variables whose value in the description does not count: they have another size, or are an alias of one that is given.
    void: BTreeSet<usize>,
}

impl<'a> OwnStarts<'a> {
    /// The start values that a rig of one FMU, which has this description, gives it; checked as strictly as when the rig is run.
    pub fn of(rig: &Rig, description: &'a ModelDescription) -> Result<OwnStarts<'a>, PlanError> {
        with_described(rig, description, |described, findings| {
            let given = resolve(described, findings);
            let given: Starts = described.structure.clone().into_iter().chain(given).collect();
            // A negated alias is a name of the same value, too.
            let of_fmu = |reference| description.abi.reference_of_fmu(reference);
            let shared = given.values().map(|start| place(start.variable_type, of_fmu(start.reference)));
            let shared: HashSet<_> = shared.collect();
            let is_void = |index: &usize| {
                let variable = &description.variables[*index];
                let own = place(variable.variable_type, of_fmu(variable.value_reference));
                let is_other_name = || shared.contains(&own);
                !given.contains_key(index) && (described.is_resized(variable) || is_other_name())
            };
            let void = (0..description.variables.len()).filter(is_void).collect();
            let differs = |(index, values): &(usize, Values)| {
                let described = described.start_of(*index).map(|own| expanded(own, values.len()));
                described.is_none_or(|own| bytes::elements(&own) != bytes::elements(values))
            };
            let changed = given.into_iter().map(|(index, start)| (index, start.values)).filter(differs).collect();
            OwnStarts { description, changed, void }
        })
    }

    /// The start values of an FMU's description, unchanged.
    pub fn described(description: &'a ModelDescription) -> OwnStarts<'a> {
        OwnStarts { description, changed: BTreeMap::new(), void: BTreeSet::new() }
    }

    /// The value that the variable at this place starts with, if it is another one than its description's.
    pub fn changed(&self, index: usize) -> Option<&Values> {
        self.changed.get(&index)
    }

    /// Number of start values that differ from the description's.
    pub fn count_changed(&self) -> usize {
        self.changed.len()
    }

    /// The start value of the variable at this place; `None`: there is none.
    pub fn value(&self, index: usize) -> Option<&Values> {
        let described = || self.description.variables[index].start.as_ref().filter(|_| !self.void.contains(&index));
        self.changed(index).or_else(described)
    }

    /// The start value of a variable as a line of a file that is given to the same FMU again. `None`: it has none that can be
    /// given; an error: why the file cannot have it.
    pub fn line(&self, index: usize) -> Option<Result<String, String>> {
        let variable = &self.description.variables[index];
        let values = self.value(index).filter(|_| settable(variable).is_ok())?;
        let items = self.description.items_of(variable);
        let value = rig_value(values, items);
        Some(check(variable, items, &value).map(|()| start_line(&variable.name, &value)))
    }
}

/// Removes from a rig of one FMU the start values that equal the description's: the FMU starts with them anyway, and some FMUs
/// refuse to be told them.
pub fn keep_changed(rig: &mut Rig, description: &ModelDescription) -> Result<(), PlanError> {
    let starts = OwnStarts::of(rig, description)?;
    let is_kept: Vec<bool> = with_described(rig, description, |described, _| {
        let is_changed = |name: &At<String>| match find(described, &name.value) {
            NameMeaning::Elements(index, _) => starts.changed(index).is_some(),
            NameMeaning::Nothing | NameMeaning::Unsuitable(_) => true,
        };
        rig.fmus[0].start.iter().map(|(name, _)| name.place.option().is_some() || is_changed(name)).collect()
    })?;
    let mut is_kept = is_kept.into_iter();
    rig.fmus[0].start.retain(|_| is_kept.next().unwrap_or(true));
    Ok(())
}

/// Does something with the only FMU of a rig, and returns the rig's problems.
fn with_described<T>(
    rig: &Rig,
    description: &ModelDescription,
    body: impl FnOnce(&DescribedFmu, &mut Findings) -> T,
) -> Result<T, PlanError> {
    let path = rig.fmus[0].path.value.clone();
    let (library, folder) = (PathBuf::new(), String::new());
    let inputs = [FmuInput { description, library, folder, resources: None, path, tells_max_step: false }];
    let mut findings = Findings::new(rig);
    let described = DescribedFmu::all(rig, &inputs, structure, &mut findings);
    let done = body(&described[0], &mut findings);
    findings.refuse()?;
    Ok(done)
}

/// The storage of a value in the FMU: variables with the same one are aliases.
fn place(variable_type: VariableType, reference: ValueReference) -> (VariableType, ValueReference) {
    match variable_type {
        // FMI 1.0 and 2.0 get and set both with the same functions, and in FMI 3.0 no two variables have one reference.
        VariableType::Enumeration => (VariableType::Int32, reference),
        other => (other, reference),
    }
}

/// Values as a rig has them.
fn rig_value(values: &Values, items: &[EnumerationItem]) -> RigValue {
    fn all<T: Clone>(values: &[T], to: impl Fn(T) -> RigValue) -> Vec<RigValue> {
        values.iter().cloned().map(to).collect()
    }
    let integer = |value: i64| match items.iter().find(|item| item.value == value) {
        Some(item) => RigValue::String(item.name.clone()),
        None => RigValue::Integer(value),
    };
    // TOML's integers end at 2^63 - 1.
    let large =
        |value: u64| i64::try_from(value).map_or_else(|_| RigValue::String(value.to_string()), RigValue::Integer);
    let hexadecimal = |bytes: Vec<u8>| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        RigValue::String(format!("0x{digits}"))
    };
    let mut all = match values {
        // By its own shortest decimal, which reads back as the same number.
        Values::Float32(v) => all(v, |own| RigValue::Float(own.to_string().parse().unwrap_or(own.into()))),
        Values::Float64(v) => all(v, RigValue::Float),
        Values::Int8(v) => all(v, |own| integer(own.into())),
        Values::UInt8(v) => all(v, |own| integer(own.into())),
        Values::Int16(v) => all(v, |own| integer(own.into())),
        Values::UInt16(v) => all(v, |own| integer(own.into())),
        Values::Int32(v) => all(v, |own| integer(own.into())),
        Values::UInt32(v) => all(v, |own| integer(own.into())),
        Values::Int64(v) => all(v, integer),
        Values::UInt64(v) => all(v, large),
        Values::Boolean(v) | Values::Clock(v) => all(v, RigValue::Boolean),
        Values::String(v) => all(v, RigValue::String),
        Values::Binary(v) => all(v, hexadecimal),
    };
    // One value fills an array, too.
    match all.len() {
        1 => all.remove(0),
        _ => RigValue::Array(all.into_iter().map(At::unplaced).collect()),
    }
}

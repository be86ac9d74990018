//! Checks commands before they are sent. Pure: names and values against the plan.

use super::error::ControlError;
use super::limits::outside_of_limits;
use std::collections::BTreeMap;
use vecud_description::{Values, VariableType};
use vecud_plan::control::elements;
use vecud_plan::rig::suggestion;
use vecud_plan::{ControlKind, ControlVariable, FmuPlan, Plan, Release};

/// A command that has passed the checks.
pub struct CheckedCommand {
    /// Index of the instance.
    pub fmu: usize,
    /// Lane of the command; `None`: Reconfiguration Mode.
    pub lane: Option<usize>,
    /// Indices into [`vecud_plan::ControlPlan::variables`], with their values.
    pub sets: Vec<(usize, Values)>,
}

/// Finds the FMU and the variable named `fmu.variable`, if it can be set.
pub fn variable<'a>(plan: &'a Plan, name: &str) -> Result<(usize, &'a ControlVariable), ControlError> {
    let refused = |reason| ControlError::Refused { variable: name.to_owned(), reason };
    let Some((fmu, variable)) = name.split_once('.') else {
        return Err(refused("variables are named as fmu.variable".to_owned()));
    };
    let fmu = find(plan, fmu)?;
    let own = &plan.fmus[fmu];
    Ok((fmu, &own.control.variables[number(own, variable)?]))
}

/// Number of the clock named `fmu.clock`, which ticks on request.
pub fn requested(plan: &Plan, name: &str) -> Result<usize, ControlError> {
    if let Some(number) = plan.requests.iter().position(|clock| clock.name == name) {
        return Ok(number);
    }
    let names = plan.requests.iter().map(|clock| clock.name.as_str());
    let unit = plan.units.iter().find(|unit| plan.full_name(unit) == name);
    let between = plan.fmus.iter().flat_map(|fmu| fmu.output_clocks.iter().map(move |clock| (fmu, clock)));
    let mut inputs = between.filter(|(_, clock)| clock.input.is_some());
    let reason = match unit {
        Some(unit) if unit.clock().is_none() => "it is no clock: it makes steps".to_owned(),
        Some(unit) if unit.release == Release::Never => {
            "it belongs to clocks of its FMU, and ticks with these".to_owned()
        }
        Some(_) => "something else ticks it, as `vecud check` shows".to_owned(),
        None if inputs.any(|(fmu, clock)| format!("{}.{}", fmu.name, clock.name) == name) => {
            "something else ticks it, as `vecud check` shows".to_owned()
        }
        None => format!("there is no such input clock{}", suggestion(name, names)),
    };
    Err(ControlError::NoTick { clock: name.to_owned(), reason })
}

/// Checks variables of any FMUs, by `fmu.variable`: each command comes with the indices of the variables that it sets
/// together.
pub fn all(
    plan: &Plan,
    named: &[(&str, Values)],
    sizes: impl Fn(usize) -> Vec<u64>,
) -> Result<Vec<(CheckedCommand, Vec<usize>)>, ControlError> {
    let mut groups: BTreeMap<(usize, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (place, (name, _)) in named.iter().enumerate() {
        let (fmu, variable) = variable(plan, name)?;
        let lane = match variable.kind {
            ControlKind::Value { lane, .. } => Some(lane),
            ControlKind::Structural { .. } => None,
        };
        groups.entry((fmu, lane)).or_default().push(place);
    }
    if groups.is_empty() {
        return Err(ControlError::Nothing);
    }
    let command = |((fmu, lane), places): ((usize, Option<usize>), Vec<usize>)| {
        let own = &plan.fmus[fmu].name;
        let together: Vec<(&str, Values)> =
            places.iter().map(|place| (&named[*place].0[own.len() + 1..], named[*place].1.clone())).collect();
        let command = match lane {
            Some(_) => values(plan, own, &together, &sizes),
            None => structure(plan, own, &together),
        };
        Ok((command?, places))
    };
    groups.into_iter().map(command).collect()
}

/// Checks variables to set before one activation. `sizes` gives the present sizes of an instance.
pub fn values(
    plan: &Plan,
    fmu: &str,
    values: &[(&str, Values)],
    sizes: impl FnOnce(usize) -> Vec<u64>,
) -> Result<CheckedCommand, ControlError> {
    let fmu = find(plan, fmu)?;
    let sizes = sizes(fmu);
    let mut lane = None;
    let sets = sets(&plan.fmus[fmu], values, &sizes, |variable, kind| match kind {
        ControlKind::Value { lane: own, .. } => match lane {
            None => {
                lane = Some((own, variable.to_owned()));
                Ok(())
            }
            Some((other, _)) if other == own => Ok(()),
            Some((_, ref first)) => Err(ControlError::OtherClocks(first.clone(), variable.to_owned())),
        },
        ControlKind::Structural { .. } => {
            let reason = "it is a structuralParameter: use reconfigure".to_owned();
            Err(ControlError::Refused { variable: variable.to_owned(), reason })
        }
    })?;
    Ok(CheckedCommand { fmu, lane: lane.map(|(lane, _)| lane), sets })
}

/// Checks structural parameters to set in Reconfiguration Mode.
pub fn structure(plan: &Plan, fmu: &str, values: &[(&str, Values)]) -> Result<CheckedCommand, ControlError> {
    let fmu = find(plan, fmu)?;
    let planned: Vec<u64> = plan.fmus[fmu].sizes.iter().map(|size| size.start).collect();
    let sets = sets(&plan.fmus[fmu], values, &planned, |variable, kind| match kind {
        ControlKind::Structural { .. } => Ok(()),
        ControlKind::Value { .. } => {
            let reason = "it is no structuralParameter: use set".to_owned();
            Err(ControlError::Refused { variable: variable.to_owned(), reason })
        }
    })?;
    let own = &plan.fmus[fmu];
    for (number, values) in &sets {
        let variable = &own.control.variables[*number];
        let (ControlKind::Structural { size: Some(size) }, Values::UInt64(new)) = (variable.kind, values) else {
            continue;
        };
        let refuse = |reason| Err(ControlError::Refused { variable: full(own, variable), reason });
        let (start, new) = (own.sizes[size].start, new[0]);
        if new > start {
            return refuse(format!(
                "arrays cannot become larger than at the start of the run, when it was {start}; start the run with {new} \
                 (rig: start = {{ ... }}) and make it smaller"
            ));
        }
        let by = |length: &vecud_plan::Length| *length == vecud_plan::Length::By(size);
        let connected = own.control.connected.iter().find(|(_, lengths)| lengths.iter().any(by));
        if let Some((name, _)) = connected.filter(|_| new != start) {
            return refuse(format!("{}.{name} depends on it, which is connected and so keeps its size", own.name));
        }
    }
    Ok(CheckedCommand { fmu, lane: None, sets })
}

fn find(plan: &Plan, name: &str) -> Result<usize, ControlError> {
    let found = plan.fmus.iter().position(|fmu| fmu.name == name);
    let fmu = found.ok_or_else(|| {
        let guess = suggestion(name, plan.fmus.iter().map(|fmu| fmu.name.as_str()));
        ControlError::NoSuchFmu(name.to_owned(), guess)
    })?;
    if plan.fmus[fmu].control.names.is_empty() {
        return Err(ControlError::NotControlled);
    }
    Ok(fmu)
}

/// Index of a variable in [`vecud_plan::ControlPlan::variables`].
fn number(fmu: &FmuPlan, name: &str) -> Result<usize, ControlError> {
    let refused = |reason| ControlError::Refused { variable: format!("{}.{name}", fmu.name), reason };
    match fmu.control.names.get(name) {
        Some(Ok(number)) => Ok(*number),
        Some(Err(reason)) => Err(refused(reason.to_string())),
        None => {
            let names = fmu.control.names.iter().filter(|(_, found)| found.is_ok()).map(|(name, _)| name.as_str());
            Err(refused(format!("there is no such variable{}", suggestion(name, names))))
        }
    }
}

fn full(fmu: &FmuPlan, variable: &ControlVariable) -> String {
    format!("{}.{}", fmu.name, variable.name)
}

fn sets(
    fmu: &FmuPlan,
    values: &[(&str, Values)],
    sizes: &[u64],
    mut right_kind: impl FnMut(&str, ControlKind) -> Result<(), ControlError>,
) -> Result<Vec<(usize, Values)>, ControlError> {
    let mut sets: Vec<(usize, Values)> = Vec::new();
    for (name, values) in values {
        let variable = format!("{}.{name}", fmu.name);
        let number = number(fmu, name)?;
        let plan = &fmu.control.variables[number];
        right_kind(&variable, plan.kind)?;
        if sets.iter().any(|(other, _)| *other == number) {
            return Err(ControlError::Refused { variable, reason: "it is named twice".to_owned() });
        }
        if let Some(reason) = wrong(plan, values, sizes) {
            return Err(ControlError::Refused { variable, reason });
        }
        sets.push((number, values.clone()));
    }
    if sets.is_empty() { Err(ControlError::Nothing) } else { Ok(sets) }
}

/// Explains why a variable cannot take these values; `None`: it can.
fn wrong(variable: &ControlVariable, values: &Values, sizes: &[u64]) -> Option<String> {
    use Values as V;
    use VariableType as T;
    let fits = matches!(
        (variable.variable_type, values),
        (T::Float32, V::Float32(_))
            | (T::Float64, V::Float64(_))
            | (T::Int8, V::Int8(_))
            | (T::UInt8, V::UInt8(_))
            | (T::Int16, V::Int16(_))
            | (T::UInt16, V::UInt16(_))
            | (T::Int32, V::Int32(_))
            | (T::UInt32, V::UInt32(_))
            | (T::Int64 | T::Enumeration, V::Int64(_))
            | (T::UInt64, V::UInt64(_))
            | (T::Boolean, V::Boolean(_))
            | (T::String, V::String(_))
            | (T::Binary, V::Binary(_))
    );
    if !fits {
        let kind = variable.variable_type.name();
        return Some(format!("it is {kind}, and the values are of another type"));
    }
    let wanted = elements(&variable.lengths, |size| sizes[size]);
    if values.len() != wanted {
        return Some(format!("it has {wanted} elements now, and the values have {}", values.len()));
    }
    let longest = match values {
        V::String(texts) if texts.iter().any(|text| text.contains('\0')) => {
            return Some("a string contains the character 0".to_owned());
        }
        V::String(texts) => texts.iter().map(String::len).max(),
        V::Binary(binaries) => binaries.iter().map(Vec::len).max(),
        _ => None,
    };
    if let (Some(longest), Some(most)) = (longest, variable.bytes)
        && longest > most
    {
        return Some(format!("a value has {longest} bytes, and {most} are possible"));
    }
    outside_of_limits(variable, values).map(|what| format!("a value {what}"))
}

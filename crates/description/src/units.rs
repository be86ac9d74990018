//! `<UnitDefinitions>` (FMI 3.0, 2.4.3). Names are unique; conversions are finite and can be inverted.

use super::model::{BaseUnit, Causality, DescriptionError, DisplayUnit, Time, UnitDefinition, Variable};
use super::xml::{Element, for_each};
use std::collections::{HashMap, HashSet};
use vecud_base::time::{Fraction, TimeUnit};

/// The base units in the order of [`BaseUnit::exponents`].
const SI: [&str; 8] = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];

/// The units, and the names of their display units by their own.
#[derive(Default)]
pub(super) struct Units {
    pub(super) list: Vec<UnitDefinition>,
    by_name: HashMap<String, HashSet<String>>,
}

impl Units {
    pub(super) fn read(definitions: Element<'_>) -> Result<Units, DescriptionError> {
        let mut units = Units::default();
        for_each(definitions.children(), |element| {
            if element.name() != "Unit" {
                element.warn_unknown(definitions);
                return Ok(());
            }
            let unit = unit(element)?;
            // Generators write several units without a name.
            if !unit.name.is_empty() && units.by_name.contains_key(&unit.name) {
                let twice = format!("{}: a unit with this name exists already", element.label());
                return element.overlook(element.error(twice));
            }
            let displays = unit.display_units.iter().map(|display| display.name.clone()).collect();
            units.by_name.insert(unit.name.clone(), displays);
            units.list.push(unit);
            Ok(())
        })?;
        Ok(units)
    }

    /// Reads the units of FMI 1.0: a `<BaseUnit>` is a name, and its `<DisplayUnitDefinition>`s have a `gain` instead of a
    /// factor.
    pub(super) fn read_fmi1(definitions: Element<'_>) -> Result<Units, DescriptionError> {
        let mut units = Units::default();
        for element in definitions.children() {
            if element.name() != "BaseUnit" {
                element.warn_unknown(definitions);
                continue;
            }
            element.warn_of_unknown_attributes(&[&["unit"]]);
            let name = element.required("unit")?;
            let mut unit = UnitDefinition { name: name.value.to_owned(), base: None, display_units: Vec::new() };
            let mut displays = HashSet::new();
            for child in element.children() {
                if child.name() != "DisplayUnitDefinition" {
                    child.warn_unknown(element);
                    continue;
                }
                child.warn_of_unknown_attributes(&[&["displayUnit", "gain", "offset"]]);
                let display = child.required("displayUnit")?;
                let (factor, offset) = factor_and_offset(child, "gain")?;
                if !displays.insert(display.value.to_owned()) {
                    return Err(display.error("is given twice for this unit"));
                }
                unit.display_units.push(DisplayUnit { name: display.value.to_owned(), factor, offset, inverse: false });
            }
            if units.by_name.insert(unit.name.clone(), displays).is_some() {
                return Err(name.error("is a unit that exists already"));
            }
            units.list.push(unit);
        }
        Ok(units)
    }

    /// Warns if a unit or display unit that an element uses is not defined: nothing is computed with it.
    pub(super) fn check(&self, element: Element<'_>, unit: Option<&str>, display_unit: Option<&str>) {
        let displays = unit.and_then(|unit| self.by_name.get(unit));
        if let (Some(unit), None) = (unit, displays) {
            element.warn(format!("{}: unit {unit:?} is not defined", element.label()));
        }
        let Some(display_unit) = display_unit else { return };
        match (unit, displays) {
            (None, _) => element.warn(format!("{}: displayUnit {display_unit:?} without a unit", element.label())),
            (Some(unit), Some(displays)) if !displays.contains(display_unit) => element
                .warn(format!("{}: displayUnit {display_unit:?} is not defined for unit {unit:?}", element.label())),
            _ => {}
        }
    }
}

/// The exponents of a unit of time.
const TIME: [i32; 8] = [0, 0, 1, 0, 0, 0, 0, 0];

/// The FMU's unit of time: the unit in `list` of the variable with causality independent. An offset, or an invalid factor,
/// is an error.
pub(super) fn time(
    units: &[UnitDefinition],
    variables: &[Variable],
    list: Element<'_>,
) -> Result<Time, DescriptionError> {
    let independent = variables.iter().find(|variable| variable.causality == Causality::Independent);
    let named = |v: &&Variable| v.unit.as_deref().is_some_and(|unit| !unit.is_empty());
    let Some((variable, name)) = independent.filter(named).and_then(|v| Some((v, v.unit.as_deref()?))) else {
        return Ok(Time::default());
    };
    let of = |unit| Time { name: Some(name.to_owned()), unit };
    let base = units.iter().find(|unit| unit.name == name).and_then(|unit| unit.base.as_ref());
    let Some(base) = base else {
        let undefined = "the description does not say what it is (<UnitDefinitions>, <BaseUnit>)";
        return Ok(of(if name == "s" { Ok(TimeUnit::SECOND) } else { Err(undefined) }));
    };
    if base.exponents != TIME {
        return Ok(of(Err("by its <BaseUnit> it is no power 1 of s alone")));
    }
    let wrong =
        |what: String| list.error(format!("the unit {name:?} of the independent variable {:?} {what}", variable.name));
    if base.offset != 0.0 {
        return Err(wrong(format!("has the offset {}: a unit of time has none", base.offset)));
    }
    let unit = Fraction::from_f64(base.factor).ok().and_then(TimeUnit::new);
    let unit =
        unit.ok_or_else(|| wrong(format!("has the factor {}, by which no time can be reckoned", base.factor)))?;
    Ok(of(Ok(unit)))
}

fn unit(element: Element<'_>) -> Result<UnitDefinition, DescriptionError> {
    element.warn_of_unknown_attributes(&[&["name"]]);
    let mut unit = UnitDefinition { name: element.label_name()?.to_owned(), base: None, display_units: Vec::new() };
    let mut names = HashSet::new();
    for child in element.children() {
        match child.name() {
            "BaseUnit" if unit.base.is_some() => return Err(child.error("<BaseUnit> is given twice")),
            // A base unit without a name would be that of variables without a unit.
            "BaseUnit" => unit.base = Some(base_unit(child)?).filter(|_| !unit.name.is_empty()),
            "DisplayUnit" => {
                let display = display_unit(child)?;
                if names.insert(display.name.clone()) {
                    unit.display_units.push(display);
                } else {
                    child.overlook(child.error(format!("{}: given twice for this unit", child.label())))?;
                }
            }
            "Annotations" => {}
            _ => child.warn_unknown(element),
        }
    }
    Ok(unit)
}

fn base_unit(element: Element<'_>) -> Result<BaseUnit, DescriptionError> {
    element.warn_of_unknown_attributes(&[&SI, &["factor", "offset"]]);
    let mut exponents = [0; 8];
    for (exponent, name) in exponents.iter_mut().zip(SI) {
        *exponent = element.scalar(name)?.unwrap_or(0);
    }
    let (factor, offset) = factor_and_offset(element, "factor")?;
    Ok(BaseUnit { exponents, factor, offset })
}

fn display_unit(element: Element<'_>) -> Result<DisplayUnit, DescriptionError> {
    element.warn_of_unknown_attributes(&[&["name", "factor", "offset", "inverse"]]);
    let name = element.label_name()?.to_owned();
    let (factor, offset) = factor_and_offset(element, "factor")?;
    let inverse = element.flag("inverse")?;
    if inverse && offset != 0.0 {
        element.warn(format!("{}: an inverse display unit has no offset", element.label()));
    }
    Ok(DisplayUnit { name, factor, offset, inverse })
}

fn factor_and_offset(element: Element<'_>, factor_name: &str) -> Result<(f64, f64), DescriptionError> {
    let factor: f64 = element.scalar(factor_name)?.unwrap_or(1.0);
    let offset: f64 = element.scalar("offset")?.unwrap_or(0.0);
    if factor == 0.0 || !factor.is_finite() || !offset.is_finite() {
        return Err(
            element.error(format!("{}: {factor_name} must be finite and not 0, offset finite", element.label()))
        );
    }
    Ok((factor, offset))
}

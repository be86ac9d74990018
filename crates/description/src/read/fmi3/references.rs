//! References between variables: names, value references, clocks, dimensions, derivatives, previous values (FMI 3.0,
//! 2.4.7). One pass, no look-up scans.

use super::types::TypeDefinitions;
use crate::model::{
    Causality, DescriptionError, Dimension, Index, ValueReference, Values, Variability, Variable, VariableType,
};
use crate::read::draft;
use crate::rules::is_float;
use crate::xml::{Attribute, Element, for_each};
use std::collections::HashSet;

/// The variables, their elements and the index over them.
struct All<'a> {
    variables: &'a [Variable],
    elements: &'a [Element<'a>],
    index: &'a Index,
}

/// Checks all variables, completes what only all together say, and returns their index.
pub(super) fn check(
    variables: &mut [Variable],
    elements: &[Element<'_>],
    types: &TypeDefinitions<'_>,
) -> Result<Index, DescriptionError> {
    let index = unique(variables, elements)?;
    let all = All { variables, elements, index: &index };
    let (mut of_arrays, mut clock_elements) = (Vec::new(), Vec::new());
    let mut independent: Option<&Variable> = None;
    let mut previous = HashSet::new();
    let states: HashSet<ValueReference> = variables.iter().filter_map(|variable| variable.derivative).collect();
    let named_as_types = types.list.iter().filter_map(|definition| index.by_name(variables, &definition.name));
    let named_as_types: HashSet<usize> = named_as_types.collect();
    let mut positions = 0..variables.len();
    for_each(elements.iter().copied(), |element| {
        let Some(position) = positions.next() else { return Ok(()) };
        let variable = &variables[position];
        if named_as_types.contains(&position) && types.get(&variable.name).is_some() {
            element.warn(format!("{}: a type has the same name", element.label()));
        }
        if variable.causality == Causality::Independent
            && let Some(first) = independent.replace(variable)
        {
            return Err(element.error(format!(
                "{}: the independent variable is {:?} (line {}) already",
                element.label(),
                first.name,
                first.line
            )));
        }
        element.kept(all.check_clocks(variable, element))?;
        element.kept(all.check_trigger(variable, element))?;
        element.kept(all.check_dimensions(variable, element))?;
        element.kept(all.check_derivative(variable, element))?;
        element.kept(all.check_previous(variable, element, &mut previous))?;
        // A state is what another variable is the derivative of (2.4.7.5, `derivative`).
        if variable.reinit
            && !states.contains(&variable.value_reference)
            && let Some(attribute) = element.attribute("reinit")
        {
            attribute.warn("belongs only to states: no variable is its `derivative`");
        }
        if variable.clock_element > 0 {
            of_arrays.push(position);
        }
        Ok(())
    })?;
    // After every variable's dimensions are known to be good.
    for position in of_arrays {
        let (variable, element) = (&variables[position], elements[position]);
        if let Some((clock, _)) = variable.clocks.first().and_then(|&clock| all.get(clock)) {
            let index = draft::element_of(variable.clock_element, clock, all.length(clock), element)?;
            clock_elements.push((position, index));
        }
    }
    for (position, index) in clock_elements {
        variables[position].clock_element = index;
    }
    Ok(index)
}

fn unique(variables: &[Variable], elements: &[Element<'_>]) -> Result<Index, DescriptionError> {
    let index = Index::of(variables);
    if let Some((earlier, later)) = index.duplicate_reference(variables) {
        let other = &variables[earlier];
        let attribute = elements[later].required("valueReference")?;
        return Err(
            attribute.error(format!("is the value reference of {:?} (line {}) already", other.name, other.line))
        );
    }
    if let Some((earlier, later)) = index.duplicate_name(variables) {
        let element = elements[later.variable()];
        let mut aliases = element.children().filter(|child| child.name() == "Alias");
        let culprit = later.alias().and_then(|alias| aliases.nth(alias)).unwrap_or(element);
        let line = variables[earlier.variable()].line;
        return Err(culprit.required("name")?.error(format!("is the name of line {line} already")));
    }
    Ok(index)
}

impl<'a> All<'a> {
    fn get(&self, reference: ValueReference) -> Option<(&'a Variable, Element<'a>)> {
        let position = self.index.by_reference(self.variables, reference)?;
        Some((&self.variables[position], self.elements[position]))
    }

    fn target(
        &self,
        element: Element<'_>,
        attribute: &str,
        reference: ValueReference,
    ) -> Result<&'a Variable, DescriptionError> {
        let missing =
            |attribute: Attribute<'_>| attribute.error(format!("names {}, which no variable has", reference.0));
        match self.get(reference) {
            Some((variable, _)) => Ok(variable),
            None => Err(element.required(attribute).map_or_else(|error| error, missing)),
        }
    }

    fn check_clocks(&self, variable: &Variable, element: Element<'_>) -> Result<(), DescriptionError> {
        let name = if draft::is_draft(element) { "clockReference" } else { "clocks" };
        for &reference in &variable.clocks {
            let clock = self.target(element, name, reference)?;
            if clock.variable_type != VariableType::Clock {
                let attribute = element.required(name)?;
                return Err(attribute.error(format!("names {:?} (line {}), which is no clock", clock.name, clock.line)));
            }
            if reference == variable.value_reference {
                element.warn(format!("{}: a clock that belongs to itself", element.label()));
            }
        }
        Ok(())
    }

    fn check_trigger(&self, variable: &Variable, element: Element<'_>) -> Result<(), DescriptionError> {
        match variable.clock.as_ref().and_then(|clock| clock.triggered_by) {
            Some(reference) => draft::check_trigger(element, self.get(reference).map(|(target, _)| target)),
            None => Ok(()),
        }
    }

    /// Number of elements while structural parameters have their start values; the dimensions have been checked.
    fn length(&self, variable: &Variable) -> u64 {
        let length_of = |dimension: &Dimension| match dimension {
            Dimension::Fixed(length) => *length,
            Dimension::Structural(reference) => self.get(*reference).map_or(0, |(v, _)| length(v).unwrap_or(0)),
        };
        variable.dimensions.iter().map(length_of).fold(1, u64::saturating_mul)
    }

    fn check_dimensions(&self, variable: &Variable, element: Element<'_>) -> Result<(), DescriptionError> {
        if variable.dimensions.is_empty() && variable.start.as_ref().is_none_or(|start| start.len() == 1) {
            return Ok(());
        }
        let mut product = Some(1u64);
        let mut children = element.children().filter(|child| child.name() == "Dimension");
        for dimension in &variable.dimensions {
            let child = children.next().unwrap_or(element);
            let length = match dimension {
                Dimension::Fixed(length) => *length,
                Dimension::Structural(reference) => {
                    let target = self.target(child, "valueReference", *reference)?;
                    length(target).map_err(|why| {
                        let name = &target.name;
                        child.error(format!("{}: its dimension {name:?} {why}", element.label()))
                    })?
                }
            };
            product = product.and_then(|product| product.checked_mul(length));
        }
        let Some(elements) = product else {
            return Err(element.error(format!("{}: more elements than memory has addresses", element.label())));
        };
        match variable.start.as_ref().map(Values::len) {
            Some(given) if given != 1 && given as u64 != elements => {
                let message = match elements {
                    1 => format!("{}: {given} start values for one value", element.label()),
                    _ => format!("{}: {given} start values for {elements} elements", element.label()),
                };
                match element.attribute("start") {
                    Some(attribute) => Err(DescriptionError { message, ..attribute.error("") }),
                    None => Err(element.error(message)),
                }
            }
            _ => Ok(()),
        }
    }

    fn check_derivative(&self, variable: &Variable, element: Element<'_>) -> Result<(), DescriptionError> {
        let Some(reference) = variable.derivative else { return Ok(()) };
        let state = self.target(element, "derivative", reference)?;
        let attribute = element.required("derivative")?;
        if reference == variable.value_reference {
            attribute.warn("names the variable itself");
        }
        if !is_float(state.variable_type) {
            return Err(attribute.error(format!("names {:?}, which is no Float64 or Float32", state.name)));
        }
        Ok(())
    }

    fn check_previous(
        &self,
        variable: &Variable,
        element: Element<'_>,
        seen: &mut HashSet<ValueReference>,
    ) -> Result<(), DescriptionError> {
        let Some(reference) = variable.previous else { return Ok(()) };
        let attribute = element.required("previous")?;
        let target = self.target(element, "previous", reference)?;
        if reference == variable.value_reference {
            return Err(attribute.error("names the variable itself"));
        }
        if target.variable_type != variable.variable_type {
            return Err(attribute.error(format!("names {:?}, which is of another type", target.name)));
        }
        if !seen.insert(reference) {
            attribute.warn("is the `previous` of another variable too");
        }
        if variable.clocks.is_empty() {
            attribute.warn("belongs only to variables with `clocks`");
        }
        if variable.variability != Variability::Discrete || target.variability != Variability::Discrete {
            attribute.warn("joins variables that are not both discrete");
        }
        if target.causality == Causality::Input {
            attribute.warn("names an input");
        }
        Ok(())
    }
}

/// The initial length that a variable gives to a dimension, or why it cannot.
fn length(target: &Variable) -> Result<u64, &'static str> {
    if target.causality != Causality::StructuralParameter && target.variability != Variability::Constant {
        return Err("is neither a structuralParameter nor constant");
    }
    match &target.start {
        _ if target.variable_type != VariableType::UInt64 => Err("is no UInt64"),
        Some(Values::UInt64(values)) if values.len() == 1 && target.dimensions.is_empty() => match values[0] {
            0 => Err("has the start value 0"),
            length => Ok(length),
        },
        _ => Err("has no single start value"),
    }
}

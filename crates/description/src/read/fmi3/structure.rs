//! `<ModelStructure>` (FMI 3.0, 2.4.8; the draft calls `<ContinuousStateDerivative>` `<Derivative>`): ordered lists of outputs,
//! states, and unknowns with their dependencies.
//!
//! Guarantees: every value reference in it is a variable's; `dependenciesKind` is as long as `dependencies`; an absent list is
//! distinct from an empty one. A defect that only other tools would mind is a warning.

use super::dialect;
use crate::model::{
    Causality, Dependency, DependencyKind, DescriptionError, Index, ModelStructure, Unknown, ValueReference,
};
use crate::model::{Variability, Variable};
use crate::read::{dependencies, draft};
use crate::rules::is_float;
use crate::xml::{Element, for_each};

pub(super) fn read(
    list: Element<'_>,
    variables: &[Variable],
    index: &Index,
) -> Result<ModelStructure, DescriptionError> {
    let mut structure = ModelStructure::default();
    // For each variable, whether it is in each of the five lists.
    let mut listed = vec![[false; 5]; variables.len()];
    let mut order = ListOrder::default();
    for_each(list.children(), |element| {
        let home = dialect::of_structure(element.name()).filter(|&home| home != element.vocabulary().abi);
        if let Some(home) = home {
            element.warn(format!("<{}> belongs to {} and is ignored", element.name(), home.name()));
            return Ok(());
        }
        let (number, target) = match element.name() {
            "Output" => (0, &mut structure.outputs),
            "ContinuousStateDerivative" | "Derivative" => (1, &mut structure.continuous_state_derivatives),
            "ClockedState" => (2, &mut structure.clocked_states),
            "InitialUnknown" => (3, &mut structure.initial_unknowns),
            "EventIndicator" => (4, &mut structure.event_indicators),
            "Annotations" => return Ok(()),
            _ => {
                element.warn_unknown(list);
                return Ok(());
            }
        };
        order.check(element, number);
        let Some((unknown, position)) = unknown(element, variables, index)? else { return Ok(()) };
        let variable = &variables[position];
        if std::mem::replace(&mut listed[position][number], true) {
            element.warn(format!("{} lists {:?} twice", element.label(), variable.name));
        }
        check(element, &unknown, variable)?;
        target.push(unknown);
        Ok(())
    })?;
    for (variable, [is_output, ..]) in variables.iter().zip(listed) {
        if variable.causality == Causality::Output && !is_output {
            list.warn(format!("<ModelStructure>: output {:?} (line {}) is not listed", variable.name, variable.line));
        }
    }
    Ok(structure)
}

/// Checks the order of the five lists (the schema's `xs:sequence`); the draft has another order, which is not checked.
#[derive(Default)]
struct ListOrder<'a> {
    last: Option<(usize, &'a str)>,
    is_wrong: bool,
}

impl<'a> ListOrder<'a> {
    /// Warns of the first element that stands behind one of a later list.
    fn check(&mut self, element: Element<'a>, number: usize) {
        match self.last {
            Some((last, name)) if last > number && !self.is_wrong && !draft::is_draft(element) => {
                element.warn(format!(
                    "<{}> stands behind <{name}>; the order is Output, ContinuousStateDerivative, ClockedState, \
                     InitialUnknown, EventIndicator",
                    element.name()
                ));
                self.is_wrong = true;
            }
            Some((last, _)) if last > number => {}
            _ => self.last = Some((number, element.name())),
        }
    }
}

/// Reads an entry, with the position of its variable; `None`: there is no such variable, and all errors are collected.
fn unknown(
    element: Element<'_>,
    variables: &[Variable],
    index: &Index,
) -> Result<Option<(Unknown, usize)>, DescriptionError> {
    element.warn_of_unknown_attributes(&[&["valueReference", "dependencies", "dependenciesKind"]]);
    let own = element.required("valueReference").and_then(|attribute| {
        let reference: ValueReference = attribute.scalar()?;
        let position = index.by_reference(variables, reference);
        Ok((reference, position.ok_or_else(|| attribute.error("is no variable's"))?))
    });
    let own = element.kept(own)?;
    let dependencies = match element.attribute("dependencies") {
        None => {
            dependencies::kinds(element, None)?;
            None
        }
        Some(attribute) => {
            let references: Vec<ValueReference> = attribute.list()?;
            if let Some(wrong) =
                references.iter().find(|&&reference| index.by_reference(variables, reference).is_none())
            {
                let nobody = attribute.error(format!("names {}, which no variable has", wrong.0));
                element.kept(Err::<(), _>(nobody))?;
            }
            let kinds = dependencies::kinds(element, Some(references.len()))?;
            let pairs = references.into_iter().zip(kinds);
            Some(pairs.map(|(on, kind)| Dependency { on: on.into(), kind }).collect())
        }
    };
    Ok(own.map(|(reference, position)| (Unknown { variable: reference.into(), dependencies }, position)))
}

/// Checks that a variable may be in the list of its entry.
fn check(element: Element<'_>, unknown: &Unknown, variable: &Variable) -> Result<(), DescriptionError> {
    let name = &variable.name;
    match element.name() {
        "Output" if variable.causality != Causality::Output => {
            element.warn(format!("<Output> lists {name:?}, which is no output"));
        }
        "ContinuousStateDerivative" | "Derivative" if variable.derivative.is_none() => {
            return Err(element.error(format!(
                "<{}> lists {name:?} (line {}), which has no attribute `derivative`",
                element.name(),
                variable.line
            )));
        }
        "ClockedState" if variable.previous.is_none() => {
            element.warn(format!("<ClockedState> lists {name:?}, which has no attribute `previous`"));
        }
        "EventIndicator" if variable.variability != Variability::Continuous || !is_float(variable.variable_type) => {
            element.warn(format!("<EventIndicator> lists {name:?}, which is no continuous number"));
        }
        "InitialUnknown" => {
            let odd = |d: &Dependency| !matches!(d.kind, DependencyKind::Dependent | DependencyKind::Constant);
            if unknown.dependencies.iter().flatten().any(odd) {
                element.warn(format!("<InitialUnknown> {name:?}: dependencies are only dependent or constant here"));
            }
        }
        _ => {}
    }
    Ok(())
}

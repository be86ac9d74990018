//! The recorded and watched columns as variables again: what somebody who looks on is shown.

use super::Prepared;
use std::ops::Range;
use vecud_description::VariableType;
use vecud_plan::SignalId;

/// A variable that is recorded or watched.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownVariable {
    /// `fmu.variable`.
    pub name: String,
    /// Type of its values.
    pub variable_type: VariableType,
    /// Unit of its values; empty: it has none.
    pub unit: String,
    /// Whether it is an array, whose elements are columns in row-major order.
    pub is_array: bool,
    /// The variable's columns.
    columns: Range<usize>,
}

impl ShownVariable {
    /// The variable's columns.
    pub fn columns(&self) -> impl Iterator<Item = SignalId> + use<> {
        self.columns.clone().map(SignalId)
    }
}

/// The variables with columns, in the order of these.
pub fn variables(prepared: &Prepared) -> Vec<ShownVariable> {
    let mut all: Vec<ShownVariable> = Vec::new();
    for (place, column) in prepared.plan.columns().enumerate() {
        let array = array_of(prepared, &column.name);
        let name = array.unwrap_or(&column.name);
        // Columns of a variable stand side by side.
        match all.last_mut().filter(|last| last.is_array && array.is_some() && last.name == name) {
            Some(last) => last.columns.end = place + 1,
            None => all.push(ShownVariable {
                name: name.to_owned(),
                variable_type: column.variable_type,
                unit: column.unit.clone(),
                is_array: array.is_some(),
                columns: place..place + 1,
            }),
        }
    }
    all
}

/// The array with the element of a column. Scalars of arrays that are no FMI 3.0 ones are named like elements.
fn array_of<'a>(prepared: &Prepared, column: &'a str) -> Option<&'a str> {
    let (fmu, variable) = column.split_once('.')?;
    let (array, _) = variable.strip_suffix(']')?.rsplit_once('[')?;
    let fmu_number = prepared.plan.fmus.iter().position(|own| own.name == fmu)?;
    let description = &prepared.descriptions[fmu_number];
    let is_variable = |name: &str| description.variable(name).is_some();
    (!is_variable(variable) && is_variable(array)).then(|| &column[..fmu.len() + 1 + array.len()])
}

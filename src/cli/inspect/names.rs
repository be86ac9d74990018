//! What variables, types and variabilities are called, in the text and in JSON.

use vecud_description::{ModelDescription, ValueReference, Variability, VariableType};

/// The name of a type in the description's version.
pub(super) fn type_in(description: &ModelDescription, variable_type: VariableType) -> &'static str {
    match (description.abi.is_earlier(), variable_type) {
        (true, VariableType::Float64) => "Real",
        (true, VariableType::Int32) => "Integer",
        (_, other) => other.name(),
    }
}

/// The names of the variables with these value references; `#7` where there is none.
pub(super) fn names(description: &ModelDescription, references: &[ValueReference]) -> Vec<String> {
    let name = |&reference: &ValueReference| match description.by_reference(reference) {
        Some(variable) => variable.name.clone(),
        None => format!("#{}", reference.0),
    };
    references.iter().map(name).collect()
}

/// How the standard calls a variability.
pub(super) fn variability_name(variability: Variability) -> &'static str {
    match variability {
        Variability::Constant => "constant",
        Variability::Fixed => "fixed",
        Variability::Tunable => "tunable",
        Variability::Discrete => "discrete",
        Variability::Continuous => "continuous",
    }
}

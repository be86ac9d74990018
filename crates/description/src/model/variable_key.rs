//! The key by which a variable is found: its reference, and where that is not unique its type.

use super::value_reference::ValueReference;
use super::variable::VariableType;

/// The key of a variable: FMI 1.0 and 2.0 give the same value reference to one variable of each base type, so the key
/// has the type; in FMI 3.0 references are unique over all types, and the type may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VariableKey {
    /// A type of the variable's base type, whose functions get and set it.
    pub variable_type: Option<VariableType>,
    /// The value reference of the variable.
    pub reference: ValueReference,
}

impl From<ValueReference> for VariableKey {
    fn from(reference: ValueReference) -> VariableKey {
        VariableKey { variable_type: None, reference }
    }
}

impl From<(VariableType, ValueReference)> for VariableKey {
    fn from((variable_type, reference): (VariableType, ValueReference)) -> VariableKey {
        VariableKey { variable_type: Some(variable_type), reference }
    }
}

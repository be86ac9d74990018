//! The model structure: unknowns and their dependencies.

use super::variable_key::VariableKey;

/// `<ModelStructure>`: ordered lists.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ModelStructure {
    /// `<Output>`
    pub outputs: Vec<Unknown>,
    /// `<ContinuousStateDerivative>`
    pub continuous_state_derivatives: Vec<Unknown>,
    /// `<ClockedState>`
    pub clocked_states: Vec<Unknown>,
    /// `<InitialUnknown>`
    pub initial_unknowns: Vec<Unknown>,
    /// `<EventIndicator>`
    pub event_indicators: Vec<Unknown>,
}

/// An entry of the model structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// The variable.
    pub variable: VariableKey,
    /// Dependencies of the variable: `None` is "everything", an empty list "nothing".
    pub dependencies: Option<Vec<Dependency>>,
}

/// A dependency with its kind (`dependent` where not written).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The variable that it depends on.
    pub on: VariableKey,
    /// Kind of the dependency.
    pub kind: DependencyKind,
}

/// `dependenciesKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the standard's words
pub enum DependencyKind {
    Dependent,
    Constant,
    Fixed,
    Tunable,
    Discrete,
}

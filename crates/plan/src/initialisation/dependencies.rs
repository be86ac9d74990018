//! The inputs on which the initial value of an output depends, by its model description.
//!
//! | version | element |
//! |---|---|
//! | FMI 3.0, its draft, FMI 2.0 | `InitialUnknown`; for outputs that are not listed there `Output` |
//! | FMI 1.0 | `DirectDependency` |
//!
//! Guarantees: an output without declared dependencies, or with others than inputs, counts as dependent on all inputs.

use crate::described::DescribedFmu;
use std::collections::{HashMap, HashSet};
use vecud_description::{Causality, Initial, Unknown, Variable};

/// The declared dependencies of an FMU's initial values.
pub struct InitialDependencies<'a> {
    described: &'a DescribedFmu<'a>,
    /// The unknowns, by the index of the variable.
    unknowns: HashMap<usize, &'a Unknown>,
    /// The places of all inputs.
    inputs: HashSet<usize>,
}

impl<'a> InitialDependencies<'a> {
    pub fn new(described: &'a DescribedFmu<'a>) -> InitialDependencies<'a> {
        let description = described.input.description;
        let structure = &description.structure;
        let mut unknowns = HashMap::new();
        // A declaration for the initial value replaces the one for later values.
        for unknown in structure.outputs.iter().chain(&structure.initial_unknowns) {
            if let Some(place) = description.place(unknown.variable) {
                unknowns.insert(place, unknown);
            }
        }
        let variables = described.variables();
        let inputs = (0..variables.len()).filter(|&i| variables[i].causality == Causality::Input);
        let inputs = inputs.map(|input| described.place(input)).collect();
        InitialDependencies { described, unknowns, inputs }
    }

    /// The [places](DescribedFmu::place) of the inputs that a variable depends on; `None`: it may depend on all.
    pub fn of(&self, variable: usize) -> Option<Vec<usize>> {
        if self.is_given(&self.described.variables()[variable]) {
            return Some(Vec::new());
        }
        let mut inputs = Vec::new();
        for dependency in self.unknowns.get(&self.described.place(variable))?.dependencies.as_ref()? {
            let on = self.described.input.description.place(dependency.on)?;
            if self.inputs.contains(&on) {
                inputs.push(on);
            } else if !self.is_given(&self.described.variables()[on]) {
                // A state, for instance, whose own dependencies are undeclared.
                return None;
            }
        }
        Some(inputs)
    }

    /// Whether it starts with its start value, whatever the inputs are. In FMI 1.0 a start value is a wish only.
    fn is_given(&self, v: &Variable) -> bool {
        let is_exact = v.initial == Some(Initial::Exact) && self.described.abi().has_initialization_mode();
        is_exact
            || matches!(v.causality, Causality::Independent | Causality::Parameter | Causality::StructuralParameter)
    }
}

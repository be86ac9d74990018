//! Rules of the standard that no run depends on and that FMUs often break: they only matter to the validation of an
//! FMU. All others are errors or warnings of the readers already.

use super::model::{Abi, Causality, DescriptionError, Initial, ModelDescription, Variable, VariableKey};
use super::rules;
use std::collections::HashSet;

impl ModelDescription {
    /// Violations of these rules, each with the place of a variable, or with line 0 if something is missing.
    pub fn breaches(&self) -> Vec<DescriptionError> {
        let mut breaches = Vec::new();
        if self.abi == Abi::Fmi3 && !self.variables.iter().any(|v| v.causality == Causality::Independent) {
            let message = "there is no independent variable, of which FMI 3.0 wants exactly one (2.4.7.4, `causality`); time \
                           counts in seconds then";
            breaches.push(DescriptionError { line: 0, column: 0, message: message.to_owned() });
        }
        if matches!(self.abi, Abi::Fmi3 | Abi::Fmi2) {
            breaches.extend(self.unlisted_unknowns());
        }
        breaches
    }

    /// Variables that an importer computes initially, and that `<ModelStructure>` does not list as such (FMI 3.0.2, 2.4.8, `InitialUnknown`;
    /// FMI 2.0.5, 2.2.8).
    fn unlisted_unknowns(&self) -> Vec<DescriptionError> {
        let listed: HashSet<VariableKey> =
            self.structure.initial_unknowns.iter().map(|unknown| unknown.variable).collect();
        let derivatives = self.structure.continuous_state_derivatives.iter();
        let derivatives: Vec<&Variable> =
            derivatives.filter_map(|unknown| self.by_reference(unknown.variable)).collect();
        let states = derivatives.iter().filter_map(|derivative| derivative.derivative);
        let states: HashSet<_> = states.collect();
        let derivatives: HashSet<_> = derivatives.iter().map(|derivative| derivative.value_reference).collect();
        let key = |v: &Variable| match self.abi {
            Abi::Fmi3 => VariableKey::from(v.value_reference),
            _ => VariableKey::from((v.variable_type, v.value_reference)),
        };
        let is_unknown = |v: &&Variable| {
            let is_computed = matches!(v.initial, Some(Initial::Calculated | Initial::Approx));
            let is_state = states.contains(&v.value_reference) || derivatives.contains(&v.value_reference);
            // Before FMI 3.0 others may have the same reference.
            let is_state = is_state && rules::is_float(v.variable_type);
            let is_output = v.causality == Causality::Output && v.clocks.is_empty();
            v.causality == Causality::CalculatedParameter
                || (is_computed && v.variable_type != super::VariableType::Clock && (is_output || is_state))
        };
        let missing = self.variables.iter().filter(is_unknown).filter(|v| !listed.contains(&key(v)));
        let breach = |v: &Variable| DescriptionError {
            line: v.line,
            column: v.column,
            message: format!(
                "{} {:?} (initial {}) is not listed under <ModelStructure> as initial unknown",
                rules::word(&rules::CAUSALITIES, v.causality),
                v.name,
                v.initial.map_or("calculated", |initial| rules::word(&rules::INITIALS, initial))
            ),
        };
        missing.map(breach).collect()
    }
}

//! The continuous states of a description: their variables, in the order of all vectors of states, and the unknowns that depend
//! on them.

use super::model::{Abi, Causality, ModelDescription, Unknown, Variable, VariableType};
use std::collections::HashMap;
use std::ops::Range;

/// A continuous state.
#[derive(Clone, Debug)]
pub struct ContinuousState<'a> {
    /// The variable of the state.
    pub variable: &'a Variable,
    /// The variable that is its derivative with respect to time.
    pub derivative: &'a Variable,
    /// The state's elements, by their indices in vectors of states.
    pub elements: Range<usize>,
}

/// All continuous states, in the order of `<ModelStructure>`.
#[derive(Clone, Debug)]
pub struct ContinuousStates<'a> {
    description: &'a ModelDescription,
    list: Vec<ContinuousState<'a>>,
    /// By the index of its variable in the description: the index of a state in the list.
    places: HashMap<usize, usize>,
}

impl ModelDescription {
    /// The continuous states, where variables have as many elements as `elements` says. `None`: it is not known which they are, as in
    /// FMI 1.0, which tells no more than their number.
    pub fn continuous_states(&self, elements: impl Fn(&Variable) -> usize) -> Option<ContinuousStates<'_>> {
        if !self.abi.has_structure_of_states() {
            return None;
        }
        let derivatives = &self.structure.continuous_state_derivatives;
        let (mut list, mut end) = (Vec::with_capacity(derivatives.len()), 0);
        let mut places = HashMap::with_capacity(derivatives.len());
        for unknown in derivatives {
            let derivative = self.by_reference(unknown.variable)?;
            let place = self.place_of_state(derivative)?;
            let variable = &self.variables[place];
            let begin = end;
            end += elements(derivative);
            if elements(variable) != end - begin {
                return None;
            }
            places.insert(place, list.len());
            list.push(ContinuousState { variable, derivative, elements: begin..end });
        }
        Some(ContinuousStates { description: self, list, places })
    }
}

impl ModelDescription {
    /// The variable that another one is the derivative of.
    pub(super) fn state_of(&self, derivative: &Variable) -> Option<&Variable> {
        self.variables.get(self.place_of_state(derivative)?)
    }

    /// The place of that variable in the description. In FMI 1.0 and 2.0 an Integer may have the reference of a Real: a state is a Real.
    fn place_of_state(&self, derivative: &Variable) -> Option<usize> {
        let reference = derivative.derivative?;
        match self.abi.has_typed_references() {
            true => self.place((VariableType::Float64, reference)),
            false => self.place(reference),
        }
    }

    /// A local derivative of a variable that can be a state, where an FMU of FMI 2.0 for Model Exchange lists no derivative, so that nothing
    /// is integrated. Derivatives of inputs and outputs may only tell that they are such. FMUs of FMI 3.0 say themselves how many states they have.
    pub fn derivative_that_is_not_integrated(&self) -> Option<&Variable> {
        let is_own = |v: &&Variable| {
            let of_state = |state: &Variable| matches!(state.causality, Causality::Output | Causality::Local);
            v.causality == Causality::Local && self.state_of(v).is_some_and(of_state)
        };
        let lists_none = self.abi == Abi::Fmi2 && self.structure.continuous_state_derivatives.is_empty();
        self.model_exchange().filter(|_| lists_none).and_then(|_| self.variables.iter().find(is_own))
    }

    /// The number of continuous states and event indicators; `elements` gives the number of elements of a variable.
    pub fn numbers_of_equations(&self, elements: impl Fn(&Variable) -> usize) -> (usize, usize) {
        let of = |unknown: &Unknown| self.by_reference(unknown.variable).map_or(1, &elements);
        let count = |unknowns: &[Unknown]| unknowns.iter().map(of).sum();
        let said = |number: Option<u32>| number.unwrap_or(0) as usize;
        let (states, indicators) = match self.abi.has_structure_of_states() {
            true => (count(&self.structure.continuous_state_derivatives), count(&self.structure.event_indicators)),
            false => (said(self.number_of_continuous_states), 0),
        };
        (states, indicators.max(said(self.number_of_event_indicators)))
    }
}

impl<'a> ContinuousStates<'a> {
    /// The states.
    pub fn list(&self) -> &[ContinuousState<'a>] {
        &self.list
    }

    /// Elements of all states.
    pub fn elements(&self) -> usize {
        self.list.last().map_or(0, |last| last.elements.end)
    }

    /// The elements of states on which an unknown depends, each once, by its dependencies: if these are left out, all of them.
    pub fn that_determine(&self, unknown: &Unknown) -> Vec<Range<usize>> {
        let Some(dependencies) = &unknown.dependencies else { return vec![0..self.elements(); 1] };
        let variables = &self.description.variables;
        let place = |on| self.places.get(&self.description.index.by_reference(variables, on)?).copied();
        let mut states: Vec<usize> = dependencies.iter().filter_map(|dependency| place(dependency.on)).collect();
        states.sort_unstable();
        states.dedup();
        states.into_iter().map(|state| self.list[state].elements.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::parse;

    /// References count by base type in FMI 2.0, so that an Integer may have that of a state.
    #[test]
    fn a_state_is_found_where_an_integer_has_its_reference() {
        let text = r#"<fmiModelDescription fmiVersion="2.0" modelName="m" guid="g"><ModelExchange modelIdentifier="m"/><ModelVariables>
            <ScalarVariable name="mode" valueReference="0" causality="local" variability="discrete"><Integer/></ScalarVariable>
            <ScalarVariable name="x" valueReference="0" causality="local"><Real/></ScalarVariable>
            <ScalarVariable name="der(x)" valueReference="1" causality="local"><Real derivative="2"/></ScalarVariable>
            </ModelVariables><ModelStructure><Derivatives><Unknown index="3"/></Derivatives></ModelStructure></fmiModelDescription>"#;
        let description = parse(text).unwrap();
        let states = description.continuous_states(|_| 1).unwrap();
        let names: Vec<_> =
            states.list().iter().map(|state| (&*state.variable.name, &*state.derivative.name)).collect();
        assert_eq!(names, [("x", "der(x)")]);
    }
}

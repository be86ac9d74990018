//! Which clock ticks in which partition, and which clock it then activates, as far as a description declares it: the
//! released dialect leaves it to the importer what an output clock activates.

use super::names::names;
use serde_json::{Value, json};
use std::collections::HashMap;
use vecud_description::{Causality, IntervalVariability, ModelDescription, ValueReference, Variable};

/// What a clock does in the partitions that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    /// An output clock ticks.
    Tick,
    /// A countdown clock is armed.
    Arm,
}

/// One clock with its partitions and targets.
#[derive(Debug)]
pub(super) struct Edge<'a> {
    clock: &'a Variable,
    verb: Verb,
    /// Input clocks of the same FMU that name it as `triggeredBy` (draft).
    triggers: Vec<ValueReference>,
}

/// All output clocks and countdown clocks in document order.
pub(super) fn edges(description: &ModelDescription) -> Vec<Edge<'_>> {
    let edge = |v: &'_ Variable| match (v.causality, v.clock.as_ref()?.interval_variability) {
        (Causality::Output, _) => Some(Verb::Tick),
        (Causality::Input, IntervalVariability::Countdown) => Some(Verb::Arm),
        _ => None,
    };
    let mut triggered_by: HashMap<ValueReference, Vec<ValueReference>> = HashMap::new();
    for v in &description.variables {
        if let Some(by) = v.clock.as_ref().and_then(|clock| clock.triggered_by) {
            triggered_by.entry(by).or_default().push(v.value_reference);
        }
    }
    let all = description.variables.iter().filter_map(|v| Some((v, edge(v)?)));
    all.map(|(clock, verb)| Edge {
        clock,
        verb,
        triggers: triggered_by.get(&clock.value_reference).cloned().unwrap_or_default(),
    })
    .collect()
}

impl Edge<'_> {
    /// "OutClock may tick in 10msClock, triggers AperiodicClock".
    pub(super) fn text(&self, description: &ModelDescription) -> String {
        let verb = match self.verb {
            Verb::Tick => "may tick in",
            Verb::Arm => "may be armed in",
        };
        let partitions = match self.clock.clocks.as_slice() {
            [] => "any partition (it names none)".to_owned(),
            _ => clocks_of(description, self.clock),
        };
        let triggers = match self.triggers.as_slice() {
            [] => String::new(),
            clocks => format!(", triggers {}", names(description, clocks).join(", ")),
        };
        format!("{} {verb} {partitions}{triggers}", self.clock.name)
    }

    pub(super) fn json(&self, description: &ModelDescription) -> Value {
        let partitions = match self.verb {
            Verb::Tick => "ticksIn",
            Verb::Arm => "armedIn",
        };
        json!({
            "clock": self.clock.name,
            partitions: names(description, &self.clock.clocks),
            "triggers": names(description, &self.triggers),
        })
    }
}

/// The clocks that a variable belongs to; of an array clock (draft) with the element, counted from 1: `task[3]`.
pub(super) fn clocks_of(description: &ModelDescription, variable: &Variable) -> String {
    let names = names(description, &variable.clocks).join(", ");
    match variable.clock_element {
        0 => names,
        element => format!("{names}[{element}]"),
    }
}

//! Variable connections: both ends exist, fit each other, and no input has two sources.

use super::findings::{ELEMENTS, Findings, Unit};
use super::words::{causality_with_article, shape_text, type_name};
use crate::fmu::description::{Causality, Variable, VariableType};
use crate::rig::{At, Endpoint, Place, Rig};
use std::collections::HashMap;

/// A connection whose ends are found; (index of the FMU, index of the variable).
pub(super) struct Link {
    pub source: (usize, usize),
    pub target: (usize, usize),
    pub elements: usize,
}

/// All connections of the rig, in its order.
pub(super) fn resolve(rig: &Rig, units: &[Unit], findings: &mut Findings) -> Vec<Link> {
    let mut links = Vec::new();
    let mut taken: HashMap<(usize, usize), (Place, String)> = HashMap::new();
    for connect in &rig.connects {
        let source = end(&connect.from, units, Causality::Output, findings);
        let target = end(&connect.to, units, Causality::Input, findings);
        if let Some(target) = target {
            if let Some((first, from)) = taken.get(&target) {
                let message = format!(
                    "{} already has the source {from} (line {}): an input has one",
                    connect.to.value, first.line
                );
                findings.rig(connect.to.place, message);
                continue;
            }
            taken.insert(target, (connect.to.place, connect.from.value.to_string()));
        }
        let (Some(source), Some(target)) = (source, target) else { continue };
        if fit(units, source, target, &connect.from.value, &connect.to, findings) {
            let elements = units[source.0].elements(&units[source.0].variables()[source.1]);
            links.push(Link { source, target, elements });
        }
    }
    links
}

/// One end, if it is a variable of the wanted causality.
fn end(endpoint: &At<Endpoint>, units: &[Unit], wanted: Causality, findings: &mut Findings) -> Option<(usize, usize)> {
    let Endpoint { fmu, variable } = &endpoint.value;
    let fmu = units.iter().position(|unit| unit.name() == fmu)?;
    let unit = &units[fmu];
    let fits = |v: &Variable| v.causality == wanted && v.clock.is_none();
    let Some(index) = unit.find(variable) else {
        // A name of the right kind is the better guess; any name is better than none.
        let hint = match unit.suggest(variable, fits) {
            none if none.is_empty() => unit.suggest(variable, |v| v.clock.is_none()),
            hint => hint,
        };
        let hint = if hint.is_empty() { "; vecud inspect lists them".to_owned() } else { hint };
        findings.rig(endpoint.place, format!("{} has no variable \"{variable}\"{hint}", unit.name()));
        return None;
    };
    let v = &unit.variables()[index];
    if v.clock.is_some() {
        let message = format!("{} is a clock: clocks are connected by [[trigger]]", endpoint.value);
        findings.rig(endpoint.place, message);
    } else if v.causality != wanted {
        let role = if wanted == Causality::Input { "to must name an input" } else { "from must name an output" };
        let message = format!("{} is {}; {role}", endpoint.value, causality_with_article(v.causality));
        findings.rig(endpoint.place, message);
    } else {
        return Some((fmu, index));
    }
    None
}

fn fit(
    units: &[Unit],
    source: (usize, usize),
    target: (usize, usize),
    from: &Endpoint,
    to: &At<Endpoint>,
    findings: &mut Findings,
) -> bool {
    let (a, b) = (&units[source.0].variables()[source.1], &units[target.0].variables()[target.1]);
    let (a_shape, b_shape) = (units[source.0].shape(a), units[target.0].shape(b));
    let message = if a.variable_type != b.variable_type || a_shape != b_shape {
        let (a, b) = (type_name(a.variable_type), type_name(b.variable_type));
        format!("{from} is {a}{}, but {} is {b}{}", shape_text(&a_shape), to.value, shape_text(&b_shape))
    } else if matches!(a.variable_type, VariableType::String | VariableType::Binary) {
        let kind = type_name(a.variable_type);
        format!("{from} is {kind}: connecting {kind} variables is not supported yet by this version of vecud")
    } else if units[source.0].elements(a) == 0 {
        format!("{from} and {} have no elements", to.value)
    } else if units[source.0].elements(a) > ELEMENTS {
        format!("{from} has more than the {ELEMENTS} elements that a connection can carry")
    } else if only_output_clocks(&units[target.0], b) {
        format!("{} belongs to an output clock: setting it is not supported yet by this version of vecud", to.value)
    } else {
        return true;
    };
    findings.rig(to.place, message);
    false
}

/// An input that no input clock's task may set.
fn only_output_clocks(unit: &Unit, variable: &Variable) -> bool {
    let is_input_clock = |i: usize| super::clocks::is_input_clock(&unit.variables()[i]);
    !variable.clocks.is_empty()
        && !variable.clocks.iter().any(|&clock| unit.find_reference(clock).is_some_and(is_input_clock))
}

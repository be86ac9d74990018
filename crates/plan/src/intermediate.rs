//! The work in the midst of the steps of a Co-Simulation FMU of FMI 3.0 (intermediate update): inputs on lines are set where it
//! asks for them, and its internal steps are recorded where the rig wants that (semantics S20).

use super::findings::Findings;
use super::resolved::Resolved;
use super::tasks::batches;
use super::{BatchPlan, Extrapolation, IntermediatePlan};
use vecud_description::{Causality, VariableType};

/// The work in the midst of the steps of this FMU; `None`: it need not call back.
pub(super) fn plan(resolved: &Resolved, fmu: usize) -> Option<IntermediatePlan> {
    let described = &resolved.fmus[fmu];
    let own = described.co_simulation().filter(|_| described.provides_intermediate_update())?;
    let is_on_curve = |variable: usize| {
        let mut feeding = resolved.links.feeding((fmu, variable)).iter();
        feeding.any(|&link| resolved.links[link].extrapolation != Extrapolation::Hold)
    };
    let variables = described.variables().iter().enumerate();
    let inputs = variables.filter(|(index, _)| is_on_curve(*index));
    let inputs = inputs.map(|(_, variable)| (variable.value_reference, described.elements(variable))).collect();
    let recorded = if described.rig.internal_steps.is_some() { recorded(resolved, fmu) } else { Vec::new() };
    let plan = IntermediatePlan { inputs, recorded };
    let needs_it = own.can_return_early_after_intermediate_update || !plan.variables().is_empty();
    needs_it.then_some(plan)
}

/// Recorded outputs and local variables that may be read in the midst of a step.
fn recorded(resolved: &Resolved, fmu: usize) -> Vec<BatchPlan> {
    let described = &resolved.fmus[fmu];
    let is_read = |&index: &usize| {
        let variable = &described.variables()[index];
        let is_text = matches!(variable.variable_type, VariableType::String | VariableType::Binary);
        described.may_be_used_in_steps(variable)
            && matches!(variable.causality, Causality::Output | Causality::Local)
            && !is_text
            && resolved.columns.is_recorded((fmu, index))
    };
    let read = resolved.needed[fmu].read.iter().copied().filter(is_read);
    let mut batches = batches::read(resolved, fmu, read);
    batches.retain(|batch| batch.resizable.is_none());
    batches.iter_mut().flat_map(|batch| &mut batch.items).for_each(|item| item.connections.clear());
    batches
}

/// Refuses `internal_steps` where there is nothing to be recorded in the midst of a step.
pub(super) fn check(resolved: &Resolved, findings: &mut Findings) {
    for (fmu, described) in resolved.fmus.iter().enumerate() {
        let Some(place) = described.rig.internal_steps else { continue };
        let name = described.name();
        let reason = match described.co_simulation() {
            None => "makes no steps (Co-Simulation)",
            Some(_) if !described.provides_intermediate_update() => {
                "has no intermediate update (providesIntermediateUpdate, FMI 3.0)"
            }
            Some(_) if recorded(resolved, fmu).is_empty() => {
                "has no recorded output or local variable that may be read in the midst of a step (intermediateUpdate)"
            }
            Some(_) => continue,
        };
        findings.rig(place, format!("internal_steps is not possible: {name} {reason}"));
    }
}

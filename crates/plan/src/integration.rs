//! The integration of Model Exchange FMUs (semantics S25): its method and steps, and each FMU's numbers of continuous states and event
//! indicators.

use super::described::DescribedFmu;
use super::findings::Findings;
use super::{
    IntegrationPlan, JacobianPlan, Length, Mode, ModelExchangePlan, ResizableEquations, Solver, groups, sizes,
};
use crate::rig::{At, Rig, float_text};
use std::ops::Range;
use vecud_base::time::Fraction;
use vecud_description::{ModelExchange, Unknown};

/// Default of `max_events`: events that are located within a step.
const EVENTS: u32 = 100;
/// Tolerances that can be computed with.
const TOLERANCES: Range<f64> = 1e-15..1.0;
/// Default of the relative tolerance, where neither the rig nor the FMU gives one.
const TOLERANCE: f64 = 1e-4;

/// The most states that methods for stiff equations integrate together: their matrices have an entry for each two states.
pub const MATRIX_STATES: usize = 2000;

/// The tightest tolerance of a method: below it the rounding errors of many steps add up to more than the tolerance. `None`: the
/// method has no tolerance.
fn tightest(solver: Solver) -> Option<f64> {
    match solver {
        Solver::Euler | Solver::Rk4 => None,
        Solver::Dopri5 => Some(1e-13),
        Solver::Bdf | Solver::Auto => Some(1e-12),
    }
}

/// The integration of an FMU, in steps over `step`.
pub(super) fn plan(described: &DescribedFmu, step: Fraction) -> IntegrationPlan {
    let said = described.integration();
    IntegrationPlan {
        solver: said.solver.as_ref().map_or(Solver::Rk4, |at| at.value),
        internal_step: said.internal_step.as_ref().map_or(step, |at| at.value),
        tolerance: tolerance(described),
        max_events: said.max_events.as_ref().map_or(EVENTS, |at| at.value),
    }
}

/// The relative tolerance: the rig's, else that of the default experiment.
fn tolerance(described: &DescribedFmu) -> f64 {
    let said = described.integration().tolerance.as_ref().map(|at| at.value);
    let suggested = described.input.description.default_experiment.tolerance.filter(|own| TOLERANCES.contains(own));
    said.or(suggested).unwrap_or(TOLERANCE)
}

/// The tolerance that the FMU is given: for a solver of its own, and for Model Exchange that of its integration.
pub(super) fn told_tolerance(described: &DescribedFmu) -> Option<f64> {
    let said = described.integration();
    let is_adaptive = said.solver.as_ref().is_some_and(|solver| solver.value.is_adaptive());
    match described.model_exchange() {
        Some(_) if is_adaptive => Some(tolerance(described)),
        _ => said.tolerance.as_ref().map(|at| at.value),
    }
}

/// Checks the settings of the integration, in steps over `step`.
pub(super) fn check(rig: &Rig, described: &DescribedFmu, step: &At<Fraction>, findings: &mut Findings) {
    let said = described.integration();
    let name = described.name();
    if described.model_exchange().is_none() {
        if let Some((key, place)) = said.first() {
            findings.rig(place, format!("{key} in [fmu.{name}] is for Model Exchange: {name} does not run with it"));
        }
        return;
    }
    let solver = said.solver.as_ref().map_or(Solver::Rk4, |at| at.value);
    // An option names its own settings before the message.
    let is_option = said.internal_step.as_ref().is_some_and(|internal| internal.place.option().is_some());
    let key = if is_option { "the step of the solver" } else { "internal_step" };
    if let Some(internal) = said.internal_step.as_ref().filter(|internal| internal.value > step.value) {
        let message = format!(
            "{key} of {name}, {} s, is longer than its step, {} s{}: at the end of each step there is one of the solver's",
            internal.value.seconds(),
            step.value.seconds(),
            if is_option { " (--output-interval)" } else { "" }
        );
        findings.rig(internal.place, message);
    }
    if let Some(internal) = said.internal_step.as_ref().filter(|_| solver.is_adaptive()) {
        let message = format!(
            "{key} of {name} is for solvers with a fixed step (euler, rk4): {} makes its steps by the tolerance",
            solver.word()
        );
        findings.rig(internal.place, message);
    }
    if let Some(at) = said.tolerance.as_ref().filter(|at| !TOLERANCES.contains(&at.value)) {
        let message = format!(
            "the tolerance of {name}, {}, is not from 1e-15 to below 1: nothing is computed with it",
            float_text(at.value)
        );
        findings.rig(at.place, message);
    }
    if let Some(at) = said.solver.as_ref().filter(|at| at.value.is_adaptive() && rig.mode == Mode::RealTime) {
        let message = format!(
            "nobody knows beforehand how many steps {} makes, so that it cannot be used in real time: take solver = \"rk4\" or \
             \"euler\" with an internal_step, or virtual time (mode = \"virtual\" in [rig], or `vecud run --mode virtual`)",
            at.value.word()
        );
        findings.rig(at.place, message);
    }
}

/// Notes an FMU whose description has derivatives and lists none.
pub(super) fn check_states(described: &DescribedFmu, findings: &mut Findings) {
    let description = &described.input.description;
    let derivative = described.model_exchange().and_then(|_| description.derivative_that_is_not_integrated());
    if let Some(derivative) = derivative {
        findings.note(format!(
            "nothing of {} is integrated: {:?} (line {}) is a derivative, and <ModelStructure> of its modelDescription.xml lists none",
            described.name(),
            derivative.name,
            derivative.line
        ));
    }
}

/// Checks that the tolerance of everything integrated with this FMU is above rounding.
pub(super) fn check_rounding(described: &DescribedFmu, findings: &mut Findings) {
    let solver = described.integration().solver.as_ref().filter(|_| described.model_exchange().is_some());
    let (Some(solver), tolerance) = (solver.map(|at| at.value), tolerance(described)) else { return };
    let Some(tightest) = tightest(solver).filter(|tightest| tolerance < *tightest) else { return };
    findings.note(format!(
        "the tolerance of {}, {}, is not kept by {}: below {} rounding adds up to more",
        described.name(),
        float_text(tolerance),
        solver.word(),
        float_text(tightest)
    ));
}

/// Whether there are matrices for all that is integrated together with this FMU.
pub(super) fn check_matrices(fmus: &[DescribedFmu], described: &DescribedFmu, findings: &mut Findings) {
    let solver = described.integration().solver.as_ref();
    let Some(at) = solver.filter(|at| described.model_exchange().is_some() && needs_matrices(at.value)) else { return };
    let states = states_together(fmus, described);
    if states <= MATRIX_STATES {
        return;
    }
    let whose = match described.master {
        Some(master) => format!("[master.{}] integrates {states} continuous states together", master.name.value),
        None => format!("{} has {states} continuous states", described.name()),
    };
    let most = format!("matrices for stiff equations are made for {MATRIX_STATES} at most");
    match at.value {
        Solver::Bdf => {
            findings
                .rig(at.place, format!("{whose}, and {most}: take the solver dopri5, rk4 or euler in place of bdf"));
        }
        _ => findings.note(format!("{whose}, and {most}: auto stays with dopri5")),
    }
}

fn needs_matrices(solver: Solver) -> bool {
    matches!(solver, Solver::Bdf | Solver::Auto)
}

/// The number of continuous states that are integrated together with those of an FMU, its own included.
fn states_together(fmus: &[DescribedFmu], described: &DescribedFmu) -> usize {
    let states = |own: &DescribedFmu| own.input.description.numbers_of_equations(|variable| own.elements(variable)).0;
    let Some(master) = described.master else { return states(described) };
    let members = groups::members(fmus, master).into_iter().map(|fmu| &fmus[fmu]);
    members.filter(|own| own.model_exchange().is_some()).map(states).sum()
}

/// The plan of an instance with Model Exchange.
pub(super) fn of_interface(described: &DescribedFmu, own: &ModelExchange) -> ModelExchangePlan {
    let (states, indicators) =
        described.input.description.numbers_of_equations(|variable| described.elements(variable));
    ModelExchangePlan {
        resizable: resizable(described),
        jacobian: jacobian(described, own),
        states,
        indicators,
        needs_completed_step: own.needs_completed_integrator_step,
    }
}

/// The variables that determine the numbers of states and event indicators, where tunable structural parameters change them.
fn resizable(described: &DescribedFmu) -> Option<ResizableEquations> {
    let description = described.input.description;
    let variable = |unknown: &Unknown| description.place(unknown.variable).map(|place| &description.variables[place]);
    let of = |unknowns: &[Unknown]| -> Vec<Vec<Length>> {
        unknowns.iter().filter_map(variable).map(|variable| sizes::lengths(described, variable)).collect()
    };
    let structure = &description.structure;
    let all = ResizableEquations {
        states: of(&structure.continuous_state_derivatives),
        indicators: of(&structure.event_indicators),
    };
    let mut lengths = all.states.iter().chain(&all.indicators).flatten();
    lengths.any(|length| matches!(length, Length::By(_))).then_some(all)
}

/// The dependencies of derivatives on states, by `<ModelStructure>`; `None`: any may depend on any, or the solver needs none.
fn jacobian(described: &DescribedFmu, own: &ModelExchange) -> Option<JacobianPlan> {
    let description = described.input.description;
    let is_asked = described.integration().solver.as_ref().is_some_and(|solver| needs_matrices(solver.value));
    let states = description.continuous_states(|variable| described.elements(variable)).filter(|_| is_asked)?;
    if states.elements() == 0 || states.elements() > MATRIX_STATES {
        return None;
    }
    let mut plan = JacobianPlan {
        is_provided: own.common.provides_directional_derivatives,
        derivatives: Vec::with_capacity(states.list().len()),
        states: Vec::with_capacity(states.list().len()),
        places: Vec::new(),
    };
    for (unknown, state) in description.structure.continuous_state_derivatives.iter().zip(states.list()) {
        plan.derivatives.push((state.derivative.value_reference, state.elements.len()));
        plan.states.push((state.variable.value_reference, state.elements.len()));
        for columns in states.that_determine(unknown) {
            let places = state.elements.clone().flat_map(|row| columns.clone().map(move |column| (row, column)));
            plan.places.extend(places);
        }
    }
    Some(plan)
}

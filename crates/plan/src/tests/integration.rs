//! What is planned for FMUs that are integrated.

use super::{host, try_build};
use crate::{MATRIX_STATES, Plan};
use vecud_description::{Abi, ModelDescription, parse};

/// An FMU for Model Exchange with so many states, x' = f(x), of which nothing more is said.
fn equations(states: usize) -> ModelDescription {
    let xml = format!(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\"><ModelExchange modelIdentifier=\"m\"/>\
         <ModelVariables><Float64 name=\"x\" valueReference=\"1\" initial=\"exact\" start=\"0\"><Dimension start=\"{states}\"/></Float64>\
         <Float64 name=\"der(x)\" valueReference=\"2\" derivative=\"1\"><Dimension start=\"{states}\"/></Float64></ModelVariables>\
         <ModelStructure><ContinuousStateDerivative valueReference=\"2\"/></ModelStructure></fmiModelDescription>"
    );
    let mut description = parse(&xml).unwrap();
    description.warnings.clear();
    description
}

fn alone(solver: &str, states: usize) -> Result<Plan, String> {
    let text = format!(
        "[rig]\nmode = \"virtual\"\nstop_time = 1\n[fmu.m]\npath = \"m\"\nstep = \"1/10\"\nsolver = \"{solver}\"\n"
    );
    try_build(&text, &[equations(states)], &host())
}

fn has_places(plan: &Plan) -> bool {
    plan.fmus[0].model_exchange().is_some_and(|own| own.jacobian.is_some())
}

/// Which derivative depends on which state has a place for every two of them: it is made where a solver asks, and for as many as a matrix
/// is made for.
#[test]
fn places_of_a_jacobian_are_made_for_who_asks() {
    for (solver, asks) in [("euler", false), ("rk4", false), ("dopri5", false), ("bdf", true), ("auto", true)] {
        let plan = alone(solver, 3).unwrap();
        assert_eq!(has_places(&plan), asks, "{solver}");
        assert_eq!(plan.notes, Vec::<String>::new());
    }
    let places = alone("bdf", 3).unwrap().fmus[0].model_exchange().and_then(|own| own.jacobian.clone()).unwrap().places;
    assert_eq!(places.len(), 9);
}

#[test]
fn more_states_than_matrices_are_made_for_are_integrated_without() {
    let plan = alone("auto", MATRIX_STATES + 1).unwrap();
    assert!(!has_places(&plan));
    let [note] = &plan.notes[..] else { panic!("{:?}", plan.notes) };
    assert!(note.starts_with("m has 2001 continuous states") && note.ends_with("auto stays with dopri5"), "{note}");
    assert!(alone("rk4", 1_000_000).unwrap().notes.is_empty());
    let refused = alone("bdf", MATRIX_STATES + 1).unwrap_err();
    assert!(refused.starts_with("rig.toml:7:10: m has 2001 continuous states, and matrices"), "{refused}");
    assert!(refused.ends_with("take the solver dopri5, rk4 or euler in place of bdf"), "{refused}");
}

/// An FMU that lists no derivative although it has one is told: nothing of it is integrated.
#[test]
fn derivatives_that_nobody_lists_are_told() {
    let mut unlisted = ModelDescription { abi: Abi::Fmi2, ..equations(1) };
    unlisted.structure.continuous_state_derivatives.clear();
    let text = "[rig]\nmode = \"virtual\"\nstop_time = 1\n[fmu.m]\npath = \"m\"\nstep = \"1/10\"\n";
    let plan = try_build(text, &[unlisted], &host()).unwrap();
    let [note] = &plan.notes[..] else { panic!("{:?}", plan.notes) };
    assert!(note.starts_with("nothing of m is integrated: \"der(x)\" (line 1)"), "{note}");
    assert_eq!(alone("rk4", 1).unwrap().notes, [""; 0]);
}

/// A tolerance that rounding does not leave is told, whoever says it; methods of fixed steps have none.
#[test]
fn a_tolerance_below_rounding_is_told() {
    for (solver, tolerance, tightest) in [
        ("bdf", "9e-13", Some("1e-12")),
        ("auto", "1e-14", Some("1e-12")),
        ("dopri5", "9e-14", Some("1e-13")),
        ("bdf", "1e-12", None),
        ("dopri5", "1e-13", None),
        ("rk4", "1e-15", None),
    ] {
        let text = format!(
            "[rig]\nmode = \"virtual\"\nstop_time = 1\n[fmu.m]\npath = \"m\"\nstep = \"1/10\"\nsolver = \"{solver}\"\n"
        );
        let mut suggesting = equations(1);
        suggesting.default_experiment.tolerance = tolerance.parse().ok();
        let said = try_build(&format!("{text}tolerance = {tolerance}\n"), &[equations(1)], &host()).unwrap().notes;
        assert_eq!(try_build(&text, &[suggesting], &host()).unwrap().notes, said, "{solver}");
        let expected = tightest.map(|tightest| {
            format!(
                "the tolerance of m, {tolerance}, is not kept by {solver}: below {tightest} rounding adds up to more"
            )
        });
        assert_eq!(said, Vec::from_iter(expected));
    }
}

/// What is integrated together has one matrix.
#[test]
fn states_of_a_group_count_together() {
    let group = |solver: &str, states: usize| {
        let text = format!(
            "[rig]\nmode = \"virtual\"\nstop_time = 1\n[fmu.a]\npath = \"a\"\n[fmu.b]\npath = \"b\"\n\
             [master.g]\nfmus = [\"a\", \"b\"]\nstep = \"1/10\"\nsolver = \"{solver}\"\n"
        );
        try_build(&text, &[equations(states), equations(states)], &host())
    };
    assert!(group("bdf", MATRIX_STATES / 2).unwrap().notes.is_empty());
    let refused = group("bdf", MATRIX_STATES / 2 + 1).unwrap_err();
    assert_eq!(refused.lines().count(), 1, "{refused}");
    assert!(refused.contains("[master.g] integrates 2002 continuous states together"), "{refused}");
    assert_eq!(group("auto", MATRIX_STATES / 2 + 1).unwrap().notes.len(), 1);
}

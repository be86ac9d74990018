//! Groups by `[master.NAME]`, as far as descriptions decide.

use super::{host, try_build};
use crate::fmu::description::{ModelDescription, parse};

/// An FMU for Co-Simulation with these flags.
fn stepping(flags: &str) -> ModelDescription {
    let xml = format!(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">\
         <CoSimulation modelIdentifier=\"m\" {flags}/><DefaultExperiment stepSize=\"0.01\"/><ModelVariables>\
         <Float64 name=\"u\" valueReference=\"1\" causality=\"input\" start=\"0\"/>\
         <Float64 name=\"y\" valueReference=\"2\" causality=\"output\"/></ModelVariables><ModelStructure/></fmiModelDescription>"
    );
    let mut description = parse(&xml).unwrap();
    description.warnings.clear();
    description
}

const RETURNS: &str =
    "canHandleVariableCommunicationStepSize=\"true\" mightReturnEarlyFromDoStep=\"true\" canGetAndSetFMUState=\"true\"";

fn build(algorithm: &str, other: &str) -> Result<crate::plan::Plan, String> {
    let text = format!(
        "[rig]\nmode = \"virtual\"\nstop_time = 1\n[fmu.fixed]\npath = \"f\"\n[fmu.other]\npath = \"o\"\n\
         [master.g]\nfmus = [\"fixed\", \"other\"]\nalgorithm = \"{algorithm}\"\n"
    );
    try_build(&text, &[stepping(""), stepping(other)], &host())
}

/// An FMU with one step size cannot follow others to where these stop; where nobody stops early it is predictable by that very size.
#[test]
fn one_step_size_is_for_groups_that_keep_it() {
    let refused = build("predictable", RETURNS).unwrap_err();
    assert!(
        refused.contains("rig.toml:8:9: [master.g] cannot be: steps of it end where one of its FMUs stops early"),
        "{refused}"
    );
    assert!(refused.contains("fixed: it has one step size"), "{refused}");
    let plan =
        build("predictable", "canHandleVariableCommunicationStepSize=\"true\" canGetAndSetFMUState=\"true\"").unwrap();
    assert_eq!(plan.masters.len(), 1);
    assert!(build("jacobi", RETURNS).is_ok());
}

/// The task of a group has its name; its members are those of the rig's list, by name.
#[test]
fn a_group_is_a_task_with_its_name() {
    let plan = build("gauss-seidel", RETURNS).unwrap();
    let master = &plan.masters[0];
    assert_eq!(plan.full_name(&plan.tasks[master.leader.0]), "fixed.g");
    let names: Vec<&str> = master.slaves.iter().map(|slave| slave.name.as_str()).collect();
    assert_eq!(names, ["fixed", "other"]);
    assert_eq!(plan.led_by(master.leader).len(), 1);
}

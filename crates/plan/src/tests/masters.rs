//! Groups by `[master.NAME]`, as far as descriptions decide.

use super::{host, try_build};
use crate::{GroupPlan, Plan, RunningRig, TaskId, TaskPlan, TaskWork};
use vecud_base::time::Fraction;
use vecud_description::{ModelDescription, parse};
use vecud_solver::master::{SlaveClass, Source};

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

fn build(algorithm: &str, other: &str) -> Result<Plan, String> {
    let text = format!(
        "[rig]\nmode = \"virtual\"\nstop_time = 1\n[fmu.fixed]\npath = \"f\"\n[fmu.other]\npath = \"o\"\n\
         [master.g]\nfmus = [\"fixed\", \"other\"]\nalgorithm = \"{algorithm}\"\n"
    );
    try_build(&text, &[stepping(""), stepping(other)], &host())
}

/// The first task, and the group that it is.
fn group(plan: &Plan) -> (&TaskPlan, &GroupPlan) {
    let task = &plan.tasks[0];
    match &task.work {
        TaskWork::Group(group) => (task, group),
        other => panic!("{other:?}"),
    }
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
    assert!(group(&plan).1.master.is_some());
    assert!(build("jacobi", RETURNS).is_ok());
}

/// The task of a group has its name; its members are those of the rig's list, by name.
#[test]
fn a_group_is_a_task_with_its_name() {
    let plan = build("gauss-seidel", RETURNS).unwrap();
    let (task, group) = group(&plan);
    assert_eq!(plan.full_name(&plan.units[task.first().0]), "fixed.g");
    let names: Vec<&str> =
        group.master.iter().flat_map(|master| &master.slaves).map(|slave| slave.name.as_str()).collect();
    assert_eq!(names, ["fixed", "other"]);
    assert_eq!((plan.tasks.len(), group.members.len(), plan.units.len()), (1, 2, 2));
    assert!(plan.units.iter().all(|unit| unit.task == TaskId(0)), "a member is no task");
}

/// `fixedInternalStepSize` says how far an FMU can step that does not return early: to the last multiple within a step of the group. One
/// that has nothing else to say for itself would be a second legacy one.
#[test]
fn an_internal_step_is_how_far_an_fmu_can_step() {
    let varies = "canHandleVariableCommunicationStepSize=\"true\"";
    for (internal, most) in [("0.001", "1/100"), ("0.01", "1/100"), ("0.003", "9/1000"), ("0.02", "1/50")] {
        let flags = format!("{varies} fixedInternalStepSize=\"{internal}\"");
        let text = "[rig]\nmode = \"virtual\"\nstop_time = 1\n[fmu.a]\npath = \"a\"\n[fmu.b]\npath = \"b\"\n\
                    [master.g]\nfmus = [\"a\", \"b\"]\nstep = \"1/100\"\nalgorithm = \"predictable\"\n";
        let plan = try_build(text, &[stepping(&flags), stepping(&flags)], &host()).unwrap();
        for own in group(&plan).1.master.as_ref().unwrap().classes.slaves() {
            assert_eq!(own.class, SlaveClass::Predictable, "{internal}");
            assert_eq!(own.sources, [Source::InternalStep(Fraction::parse(most).unwrap())], "{internal}");
        }
        let refused = try_build(text, &[stepping(varies), stepping(varies)], &host()).unwrap_err();
        assert!(refused.contains("2 of its FMUs can neither say how far they step nor go back"), "{refused}");
    }
}

/// The thread of a group is one: it polls once for each release, and other rigs see one thread.
#[test]
fn a_group_has_one_thread() {
    let text = "[host]\nspin_us = 6000\n[fmu.a]\npath = \"a\"\n[fmu.b]\npath = \"b\"\n[master.g]\nfmus = [\"a\", \"b\"]\nstep = \"1/100\"\n";
    let plan = try_build(text, &[stepping(RETURNS), stepping(RETURNS)], &host()).unwrap();
    assert!(plan.notes.iter().any(|note| note.contains("polling for releases takes 60 % of core")), "{:?}", plan.notes);
    assert_eq!(RunningRig::of("g", &plan).threads.len(), 1);
}

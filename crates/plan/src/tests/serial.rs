//! Which FMUs make their steps one at a time (semantics S34), and what that does to worst responses.

use super::*;
use crate::schedulability::verdict::{ResponseTime, Worst};
use crate::schedulability::{analyse, table as schedule};
use crate::{FmuId, UnitId, table};

/// An FMU with this interface type, which makes steps of 10 ms.
fn stepping(interface: &str) -> ModelDescription {
    let xml = format!(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\"><{interface} modelIdentifier=\"m\"/>\
         <DefaultExperiment stepSize=\"0.01\"/><ModelVariables>\
         <Float64 name=\"y\" valueReference=\"2\" causality=\"output\"/></ModelVariables><ModelStructure/></fmiModelDescription>"
    );
    let mut description = parse(&xml).unwrap();
    description.warnings.clear();
    description
}

/// A rig of FMUs for Co-Simulation: names, paths, keys. A path is a library.
fn rig(rig: &str, fmus: &[(&str, &str, &str)], more: &str) -> Result<Plan, String> {
    let fmu = |(name, path, keys): &(&str, &str, &str)| format!("[fmu.{name}]\npath = \"{path}\"\n{keys}\n");
    let text = format!("[rig]\n{rig}\n[record]\n{}{more}", fmus.iter().map(fmu).collect::<String>());
    try_build(&text, &vec![stepping("CoSimulation"); fmus.len()], &host())
}

/// The names of the FMUs of each turn.
fn turns(plan: &Plan) -> Vec<Vec<&str>> {
    let name = |fmu: &FmuId| plan.fmus[fmu.0].name.as_str();
    plan.serials.iter().map(|serial| serial.fmus.iter().map(name).collect()).collect()
}

const NOTHING: Vec<Vec<&str>> = Vec::new();

#[test]
fn instances_of_one_library_take_turns_unless_the_rig_says_otherwise() {
    let plan = rig("", &[("a", "x", ""), ("b", "y", ""), ("c", "x", ""), ("d", "y", "")], "").unwrap();
    assert_eq!(turns(&plan), [["a", "c"], ["b", "d"]]);
    let words = "a and c make their steps one at a time: they are instances of one library";
    let text = table::render(&plan);
    assert!(text.contains(words) && text.contains("parallel = true in [fmu.a]"), "{text}");
    assert!(text.contains("assumed: a and c, which take turns, leave nothing to each other"), "{text}");
    assert!(!text.contains("share no memory"), "{text}");
    let plan = rig("", &[("a", "x", "parallel = true"), ("b", "x", "parallel = false"), ("c", "x", "")], "").unwrap();
    assert_eq!(turns(&plan), [["b", "c"]]);
    let text = table::render(&plan);
    assert!(
        text.contains("a, b and c, which are instances of one library, run beside each other (parallel = true)"),
        "{text}"
    );
    assert!(text.contains("assumed: a, b and c, which are instances of one library, share no memory"), "{text}");
    let plan = rig("", &[("a", "x", "parallel = true"), ("b", "x", "parallel = true")], "").unwrap();
    assert_eq!(turns(&plan), NOTHING);
    assert_eq!(turns(&rig("", &[("a", "x", ""), ("b", "y", "")], "").unwrap()), NOTHING);
}

/// FMUs that take turns with the same one are in one turn: no task waits for two.
#[test]
fn who_takes_turns_with_the_same_fmu_takes_turns_with_each_other() {
    let named = "serialise = [\"c\", \"b\"]";
    let plan =
        rig(named, &[("a", "x", ""), ("b", "y", ""), ("c", "x", ""), ("d", "y", ""), ("e", "z", "")], "").unwrap();
    assert_eq!(turns(&plan), [["a", "b", "c", "d"]]);
    assert!(table::render(&plan).contains("a, b, c and d make their steps one at a time (serialise)"));
    assert_eq!(plan.serial_of(UnitId(0)), Some(0));
}

#[test]
fn fmus_for_model_exchange_take_turns_too() {
    let text = "[fmu.a]\npath = \"x\"\nstep = \"1/100\"\n[fmu.b]\npath = \"x\"\nstep = \"1/100\"\n";
    let plan = try_build(text, &vec![stepping("ModelExchange"); 2], &host()).unwrap();
    assert_eq!(turns(&plan), [["a", "b"]]);
}

/// The steps of a group are made on one thread, one after the other: only an FMU outside of it may be in its way.
#[test]
fn a_group_takes_turns_as_a_whole() {
    let group = "[master.g]\nfmus = [\"a\", \"b\"]\n";
    assert_eq!(turns(&rig("", &[("a", "x", ""), ("b", "x", "")], group).unwrap()), NOTHING);
    let plan = rig("", &[("a", "x", ""), ("b", "y", ""), ("c", "x", "")], group).unwrap();
    assert_eq!(turns(&plan), [["a", "c"]]);
    let all: Vec<Option<usize>> = (0..3).map(|unit| plan.serial_of(UnitId(unit))).collect();
    assert_eq!(all, [Some(0); 3], "the thread of the group makes the steps of b as well");
}

/// `lockPreemption` is each instance's own, and a partition that is triggered by another one runs before that goes on: no turn could wait
/// for its end.
#[test]
fn partitions_take_no_turns_and_that_is_said() {
    let text = "[fmu.a]\npath = \"x\"\n[fmu.b]\npath = \"x\"\n[record]\n";
    let plan = try_build(text, &vec![description(PLANT); 2], &host()).unwrap();
    assert_eq!(turns(&plan), NOTHING);
    let words = "a and b, which are instances of one library, run beside each other (partitions take no turns, and lockPreemption holds \
                 for each instance alone)";
    assert!(table::render(&plan).contains(words), "{}", table::render(&plan));
}

#[test]
fn what_cannot_take_turns_is_refused() {
    let refused = |text: &str, words: &str| {
        let two = [description(PLANT), stepping("CoSimulation")];
        let error = try_build(text, &two, &host()).unwrap_err();
        assert!(error.starts_with(words), "{error}");
    };
    let fmus = "[fmu.a]\npath = \"x\"\n[fmu.b]\npath = \"y\"\n";
    refused(
        &format!("rig.serialise = [\"a\", \"b\"]\n{fmus}"),
        "rig.toml:1:18: serialise: a runs with Scheduled Execution",
    );
    let parallel = format!("rig.serialise = [\"a\", \"b\"]\n{fmus}parallel = true\n");
    assert!(
        try_build(&parallel, &vec![stepping("CoSimulation"); 2], &host())
            .unwrap_err()
            .contains("rig.toml:1:23: serialise: b is to take turns, and [fmu.b] says parallel = true")
    );
    refused(
        "[fmu.a]\npath = \"x\"\nparallel = false\n[fmu.b]\npath = \"y\"\n",
        "rig.toml:3:12: parallel in [fmu.a] is for steps",
    );
}

fn worst(plan: &Plan, unit: usize) -> Option<Worst> {
    match &analyse(plan, None).clocks[unit].result {
        ResponseTime::Bounded(worst) => Some(worst.clone()),
        _ => None,
    }
}

/// A step that has begun ends first, with the priority of the one that waits: that delays those in between, too.
#[test]
fn a_turn_blocks_those_that_are_more_urgent() {
    let keys = |step: &str| format!("cpu = 1\nstep = \"{step}\"\nexecution_us = 100");
    let fmus = [("a", "x", &*keys("1/100")), ("b", "y", &keys("1/50")), ("c", "x", &keys("1/20"))];
    let plan = rig("", &fmus, "").unwrap();
    let blocked = |unit: usize| worst(&plan, unit).unwrap().blocking;
    let names: Vec<String> = plan.units.iter().map(|unit| plan.full_name(unit)).collect();
    assert_eq!(names, ["a.step", "b.step", "c.step"]);
    let by_c = vec![(UnitId(2), vecud_base::time::Nanos(105_000))];
    assert_eq!((blocked(0), blocked(1), blocked(2)), (by_c.clone(), by_c, vec![]));
    let free =
        rig("", &fmus.map(|(name, path, keys)| (name, if path == "x" { name } else { path }, keys)), "").unwrap();
    assert_eq!(worst(&free, 0).unwrap().blocking, []);
}

/// A step that waits for an FMU on another core waits for all that preempts that one there: there is no bound, and `vecud check` says so.
#[test]
fn turns_over_cores_have_no_bound() {
    let keys = |cpu: usize| format!("cpu = {cpu}\nstep = \"1/100\"\nexecution_us = 100");
    let fmus = [("a", "x", &*keys(1)), ("b", "y", &keys(1)), ("c", "x", &keys(2)), ("d", "z", &keys(3))];
    let plan = rig("", &fmus, "").unwrap();
    let bounded: Vec<bool> = (0..4).map(|unit| worst(&plan, unit).is_some()).collect();
    let of = |name: &str| bounded[plan.units.iter().position(|unit| plan.fmus[unit.fmu.0].name == name).unwrap()];
    assert_eq!((of("a"), of("b"), of("c"), of("d")), (false, false, false, true));
    let text = schedule::render(&plan, &analyse(&plan, None), None);
    assert!(text.contains("unknown where it depends on a and c, which take turns over cores"), "{text}");
}

//! Clocks of the draft dialect: unions, and array clocks with a task for each element.

use super::{description, host, inputs, partition};
use crate::rig;
use crate::{DraftIntervals, Plan, Release, build};
use std::path::Path;
use vecud_base::time::Fraction;
use vecud_description::{ModelDescription, ValueReference, parse};

/// An array of three periodic clocks, an array of three output clocks, and who they trigger.
const ARRAYS: &str = r#"
<Clock name="bank" valueReference="1" causality="input" clockType="communicationPoint" priority="2" periodic="true" intervalCounter="10" resolution="1000"><Dimension start="3"/></Clock>
<Clock name="each" valueReference="2" causality="input" clockType="communicationPoint" priority="3" triggeredBy="4"><Dimension start="3"/></Clock>
<Clock name="any" valueReference="3" causality="input" clockType="communicationPoint" priority="4" triggeredBy="4"/>
<Clock name="outs" valueReference="4" causality="output" clockType="communicationPoint" priority="3" clockReference="1" clockElementIndex="2"><Dimension start="3"/></Clock>
<Clock name="out" valueReference="5" causality="output" clockType="communicationPoint" priority="3" clockReference="1"/>
<Clock name="all" valueReference="6" causality="input" clockType="communicationPoint" priority="5" triggeredBy="5"><Dimension start="2"/></Clock>
<Clock name="free" valueReference="7" causality="input" clockType="communicationPoint" priority="6"><Dimension start="2"/></Clock>
"#;

fn draft(variables: &str) -> ModelDescription {
    let xml = format!(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">\
         <ScheduledExecution modelIdentifier=\"m\"/><ModelVariables>{variables}</ModelVariables><ModelStructure/>\
         </fmiModelDescription>"
    );
    let mut description = parse(&xml).unwrap();
    description.warnings.clear();
    description
}

/// A rig of one such FMU, `d`.
fn try_build(variables: &str, more: &str) -> Result<Plan, String> {
    let text = format!("[fmu.d]\npath = \"d\"\n{more}");
    super::try_build(&text, &[draft(variables)], &host())
}

/// The names of what each output clock triggers, and of the tasks that may tick it.
fn triggers(plan: &Plan) -> Vec<(String, Vec<String>, Vec<String>)> {
    let names = |ids: &[crate::UnitId]| ids.iter().map(|id| plan.units[id.0].name.clone()).collect();
    let clocks = plan.fmus.iter().flat_map(|fmu| &fmu.output_clocks);
    clocks.map(|clock| (clock.name.clone(), names(&clock.targets), names(&clock.ticked_by))).collect()
}

#[test]
fn every_element_is_a_task_with_its_number_and_a_thread_of_its_own_name() {
    let plan = try_build(ARRAYS, "").unwrap();
    let tasks: Vec<_> =
        plan.units.iter().map(|t| (t.name.as_str(), partition(t).clock.0, partition(t).element)).collect();
    let expected = [
        ("bank[1]", 1, 1),
        ("bank[2]", 1, 2),
        ("bank[3]", 1, 3),
        ("each[1]", 2, 1),
        ("each[2]", 2, 2),
        ("each[3]", 2, 3),
        ("any", 3, 0),
        ("all[1]", 6, 1),
        ("all[2]", 6, 2),
        ("free[1]", 7, 1),
        ("free[2]", 7, 2),
    ];
    assert_eq!(tasks, expected);
    assert_eq!(plan.tasks[1].thread, "d.bank[2]");
    assert_eq!((plan.units[0].level, plan.units[2].level, plan.units[3].level), (0, 0, 1), "one priority, one level");
}

#[test]
fn arrays_trigger_element_by_element_a_scalar_all_and_every_element_a_scalar() {
    let more = "[[trigger]]\nclock = \"d.free[2]\"\nfrom = \"d.outs[3]\"";
    let plan = try_build(ARRAYS, more).unwrap();
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let expected = [
        ("outs[1]".to_owned(), of(&["each[1]", "any"]), of(&["bank[2]"])),
        ("outs[2]".to_owned(), of(&["each[2]", "any"]), of(&["bank[2]"])),
        ("outs[3]".to_owned(), of(&["each[3]", "any", "free[2]"]), of(&["bank[2]"])),
        ("out".to_owned(), of(&["all[1]", "all[2]"]), of(&["bank[1]", "bank[2]", "bank[3]"])),
    ];
    assert_eq!(triggers(&plan), expected);
    let free = plan.units.iter().find(|unit| unit.name == "free[1]").unwrap();
    assert_eq!(free.release, Release::Never);
    assert!(plan.notes.iter().any(|note| note.contains("d.free[1] is an aperiodic clock")), "{:?}", plan.notes);
}

#[test]
fn arrays_of_different_sizes_do_not_fit() {
    let message = try_build(&ARRAYS.replacen("start=\"3\"", "start=\"4\"", 1), "").map(|_| ());
    assert_eq!(message, Ok(()), "bank may have any size");
    let message = try_build(&ARRAYS.replace("triggeredBy=\"5\"", "triggeredBy=\"4\""), "").unwrap_err();
    assert!(
        message.contains("\"all\" cannot be triggeredBy 4: it has 2 elements, and what triggers it has 3"),
        "{message}"
    );
    let message = try_build(ARRAYS, "[[trigger]]\nclock = \"d.free\"\nfrom = \"d.outs\"").unwrap_err();
    let words = "d.free cannot be triggered: it has 2 elements, and what triggers it has 3; one of its elements is written d.free[1]";
    assert!(message.contains(words), "{message}");
}

#[test]
fn a_clock_has_one_trigger_also_by_element() {
    let twice = "[[trigger]]\nclock = \"d.free\"\nat = [0.0]\n[[trigger]]\nclock = \"d.free[2]\"\nfrom = \"d.out\"";
    let message = try_build(ARRAYS, twice).unwrap_err();
    assert!(message.contains("d.free[2] already has a trigger in line 4"), "{message}");
    let both = "[[trigger]]\nclock = \"d.free[1]\"\nat = [0.0]\n[[trigger]]\nclock = \"d.free[2]\"\nfrom = \"d.out\"";
    assert!(try_build(ARRAYS, both).is_ok());
}

#[test]
fn what_the_rig_says_of_an_element_goes_before_what_it_says_of_the_clock() {
    let more = "[fmu.d.clock.bank]\ninterval = 0.02\nmax_overruns = 3\n[fmu.d.clock.\"bank[3]\"]\ninterval = \"1/3\"";
    let plan = try_build(ARRAYS, more).unwrap();
    let interval = |text: &str| Fraction::parse(text).unwrap();
    let expected = ["1/50", "1/50", "1/3"].map(interval);
    let intervals: Vec<Fraction> = plan.units[..3]
        .iter()
        .map(|unit| match unit.release {
            Release::Periodic { interval, .. } => interval,
            _ => Fraction::ZERO,
        })
        .collect();
    // Sorted by priority only: elements of one clock keep their order.
    assert_eq!(intervals, expected);
    assert!(plan.tasks[..3].iter().all(|task| task.limits.max_overruns == Some(3)));
    let told = DraftIntervals { reference: ValueReference(1), fraction: true, intervals };
    assert_eq!(plan.fmus[0].draft_clocks.as_ref().unwrap().intervals, [told]);
    assert!(plan.units.iter().all(|unit| !partition(unit).write_interval), "not again in Initialization Mode");
}

#[test]
fn elements_that_a_clock_does_not_have_are_refused_with_those_that_it_has() {
    let trigger = |clock, from| format!("[[trigger]]\nclock = \"d.{clock}\"\nfrom = \"d.{from}\"");
    let with_one = ARRAYS.replace("<Dimension start=\"2\"/>", "<Dimension start=\"1\"/>");
    for (variables, more, message) in [
        (
            ARRAYS,
            "[fmu.d.clock.\"bank[4]\"]\ninterval = 1".to_owned(),
            "3:14: d has no input clock \"bank[4]\": the elements of bank are bank[1] to bank[3]",
        ),
        (
            ARRAYS,
            trigger("free[0]", "out"),
            "4:9: d has no clock \"free[0]\": the elements of free are free[1] to free[2]",
        ),
        (
            ARRAYS,
            trigger("free[2]", "outs[4]"),
            "5:8: d has no output clock \"outs[4]\": the elements of outs are outs[1] to outs[3]",
        ),
        (
            with_one.as_str(),
            trigger("free[2]", "out"),
            "4:9: d has no clock \"free[2]\": free has one element, free[1]",
        ),
        (ARRAYS, trigger("free[2]", "out[1]"), "5:8: d has no output clock \"out[1]\": out is no array"),
        // Of another kind: no use in naming its elements.
        (ARRAYS, trigger("free[2]", "bank[4]"), "5:8: d has no output clock \"bank[4]\""),
    ] {
        assert_eq!(try_build(variables, &more).unwrap_err(), format!("rig.toml:{message}"));
    }
}

#[test]
fn a_clock_without_an_interval_gets_one_from_the_rig_as_a_decimal() {
    let variables = "<Clock name='p' valueReference='1' causality='input' clockType='communicationPoint' priority='1' \
                     periodic='true'/>";
    let message = try_build(variables, "").unwrap_err();
    assert!(message.contains("the periodic clock \"p\" has no interval; give it one"), "{message}");
    let plan = try_build(variables, "[fmu.d.clock.p]\ninterval = 0.5").unwrap();
    let told = DraftIntervals {
        reference: ValueReference(1),
        fraction: false,
        intervals: vec![Fraction::parse("0.5").unwrap()],
    };
    assert_eq!(plan.fmus[0].draft_clocks.as_ref().unwrap().intervals, [told]);
}

#[test]
fn an_absurd_number_of_elements_is_refused() {
    let message = try_build(&ARRAYS.replacen("start=\"3\"", "start=\"1000000000\"", 1), "").unwrap_err();
    assert!(message.contains("the clock \"bank\" has 1000000000 elements; 256 are possible"), "{message}");
}

#[test]
fn the_draft_is_told_a_uri() {
    let descriptions = [draft(ARRAYS), description(super::PLANT)];
    let rig = rig::parse("[fmu.d]\npath = 'd'\n[fmu.p]\npath = 'p'", Path::new("rig.toml")).unwrap();
    let mut inputs = inputs(&rig, &descriptions);
    inputs.iter_mut().for_each(|input| input.resources = Some("/a b/resources/".to_owned()));
    let plan = build(&rig, &inputs, &[], &host()).unwrap();
    let resources: Vec<_> = plan.fmus.iter().map(|fmu| fmu.resources.as_deref().unwrap()).collect();
    assert_eq!(resources, ["file:///a%20b/resources", "/a b/resources/"]);
}

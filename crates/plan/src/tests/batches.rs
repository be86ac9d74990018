//! What a task sets and reads (S10).

use super::initialisation::steps;
use super::*;
use crate::{BatchPlan, SignalId, UnitPlan};

/// All variables of these batches, by name.
fn names(batches: &[BatchPlan]) -> Vec<&str> {
    batches.iter().flat_map(|batch| batch.items.iter().map(|item| item.name.as_str())).collect()
}

fn unit<'a>(plan: &'a Plan, clock: &str) -> &'a UnitPlan {
    plan.units.iter().find(|unit| unit.name == clock).unwrap()
}

#[test]
fn a_task_touches_variables_of_its_clock_and_of_no_clock() {
    let plan =
        ecu_and_plant("[[connect]]\nfrom = \"plant.speed\"\nto = \"ecu.speed\"\n[record]\nsignals = [\"ecu.*\"]\n");
    assert_eq!(names(&unit(&plan, "fast").set), ["speed"]);
    assert_eq!(names(&unit(&plan, "slow").set), [""; 0]);
    assert_eq!(names(&unit(&plan, "fast").get), ["alive"]);
    assert_eq!(names(&unit(&plan, "isr").get), ["teeth", "alive"]);
}

#[test]
fn an_input_that_is_fed_is_recorded_where_it_is_set_and_not_read() {
    let plan =
        ecu_and_plant("[[connect]]\nfrom = \"plant.speed\"\nto = \"ecu.speed\"\n[record]\nsignals = [\"ecu.speed\"]\n");
    let fast = unit(&plan, "fast");
    assert_eq!(fast.set[0].items[0].signals, [SignalId(0)]);
    assert!(fast.get.is_empty() && !steps(&plan).contains("get ecu"), "{}", steps(&plan));
}

#[test]
fn an_input_that_nothing_feeds_keeps_its_start_value_and_is_not_read() {
    let plan = ecu_and_plant("[record]\n");
    assert_eq!(names(&unit(&plan, "fast").get), ["alive"]);
    assert_eq!(names(&unit(&plan, "step").get), ["speed", "field", "count"]);
    assert_eq!(plan.signals[0].start, Some(vec![0f64.to_bits()]));
}

#[test]
fn variables_of_an_output_clock_are_read_by_the_task_that_ticks_it() {
    let plan = ecu_and_plant("[record]\nsignals = [\"ecu.*\"]\n");
    assert_eq!(names(&unit(&plan, "slow").get), ["throttle", "alive", "ticks"]);
}

#[test]
fn only_what_is_needed_is_read_one_batch_per_type_and_those_of_output_clocks_by_themselves() {
    let plan = ecu_and_plant("[[connect]]\nfrom = \"ecu.throttle\"\nto = \"plant.throttle\"\n");
    assert_eq!(names(&unit(&plan, "slow").get), ["throttle"]);
    assert_eq!(unit(&plan, "slow").get[0].items[0].connections.len(), 1);
    assert_eq!(names(&unit(&plan, "step").set), ["throttle"]);
    assert!(unit(&plan, "fast").get.is_empty());
    let all = ecu_and_plant("[record]\n");
    let (always, when_ticked): (Vec<&BatchPlan>, Vec<_>) =
        unit(&all, "slow").get.iter().partition(|b| b.ticked.is_empty());
    assert_eq!(when_ticked.iter().map(|batch| batch.ticked.as_slice()).collect::<Vec<_>>(), [[0]]);
    let types: Vec<_> = always.iter().map(|batch| batch.variable_type).collect();
    assert!(types.windows(2).all(|pair| pair[0] < pair[1]), "{types:?}");
}

#[test]
fn parameters_are_recorded_without_being_read() {
    let plan = ecu_and_plant("[fmu.ecu.start]\nidle_speed = 850\n[record]\nsignals = [\"ecu.idle_speed\"]\n");
    assert_eq!(plan.signals[0].start, Some(vec![850f64.to_bits()]));
    assert!(plan.units.iter().all(|unit| unit.get.is_empty()));
    assert_eq!(steps(&plan), "enter ecu, enter plant");
}

#[test]
fn what_an_array_of_another_size_starts_with_only_the_fmu_knows_so_it_is_read_before_the_run() {
    let xml = r#"
<Clock name="c" valueReference="1" causality="input" intervalVariability="constant" intervalDecimal="1" priority="1"/>
<UInt64 name="n" valueReference="4" causality="structuralParameter" variability="fixed" start="3"/>
<Float64 name="u" valueReference="2" causality="input" start="1"><Dimension valueReference="4"/></Float64>
<Float64 name="y" valueReference="3" causality="output" initial="calculated"><Dimension valueReference="4"/></Float64>"#;
    for (n, is_read) in [(3, false), (4, true)] {
        let text = format!(
            "[fmu.a]\npath = \"a\"\nstart = {{ n = {n} }}\n[[connect]]\nfrom = \"a.y\"\nto = \"a.u\"\n\
             [record]\nsignals = [\"a.u\"]\n"
        );
        let plan = try_build(&text, &[description(xml)], &host()).unwrap();
        let recorded =
            |batches: &[BatchPlan]| batches.iter().flat_map(|b| &b.items).map(|i| i.signals.len()).sum::<usize>();
        // As it is set, whatever its size.
        assert_eq!((recorded(&plan.units[0].set), recorded(&plan.units[0].get)), (n, 0), "n = {n}");
        assert_eq!(steps(&plan).contains("get a.u"), is_read, "{}", steps(&plan));
    }
}

//! Order, priorities, cores, releases.

use super::*;
use crate::plan::{FmuId, Mode, Release, TaskId};
use crate::rig::Rig;
use crate::time::{Fraction, Instant};

/// `fmu.clock` of all tasks in order.
fn names(plan: &Plan) -> Vec<String> {
    plan.tasks.iter().map(|task| format!("{}.{}", plan.fmus[task.fmu.0].name, task.clock)).collect()
}

#[test]
fn tasks_of_all_fmus_stand_in_one_order() {
    let plan = ecu_and_plant("[[connect]]\nfrom = \"plant.speed\"\nto = \"ecu.speed\"\n");
    // Both have 1 ms; the plant produces what the fast task consumes. The interrupt is above the fast task in its FMU.
    assert_eq!(names(&plan), ["ecu.isr", "plant.step", "ecu.fast", "ecu.slow"]);
    assert_eq!(plan.tasks.iter().map(|t| t.fifo.get()).collect::<Vec<_>>(), [89, 88, 87, 86]);
    assert_eq!(plan.tasks.iter().map(|t| t.level).collect::<Vec<_>>(), [0, 0, 1, 2]);
    assert_eq!(plan.fmus.iter().map(|fmu| fmu.levels).collect::<Vec<_>>(), [3, 1]);
    assert_eq!(plan.tasks[2].thread, "ecu.fast");
    let millisecond = Fraction::new(1, 1000).unwrap();
    assert_eq!(plan.tasks[1].release, Release::Periodic { shift: Fraction::ZERO, interval: millisecond });
}

#[test]
fn an_output_clock_knows_who_ticks_it_and_whom_it_triggers() {
    let plan = ecu_and_plant("[[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.tick\"\n");
    assert_eq!(names(&plan), ["ecu.isr", "ecu.fast", "plant.step", "ecu.slow"]);
    let tick = &plan.fmus[0].output_clocks[0];
    assert_eq!((tick.ticked_by.as_slice(), tick.targets.as_slice()), (&[TaskId(3)][..], &[TaskId(0)][..]));
    assert_eq!(plan.tasks[0].release, Release::Triggered { fmu: FmuId(0), output_clock: 0 });
}

#[test]
fn a_schedule_is_kept_exactly() {
    let plan = ecu_and_plant("[[trigger]]\nclock = \"ecu.isr\"\nat = [0, 0.1, 8]\n[rig]\nstop_time = 8\n");
    let times = [0.0, 0.1, 8.0].map(|t| Instant::from_f64(t).unwrap());
    assert_eq!(plan.tasks[0].release, Release::At(times.to_vec()));
    assert_eq!(plan.notes, ["ecu.isr has 1 trigger times from 8 s on, which is not before the stop time"]);
}

#[test]
fn a_triggered_clock_without_trigger_is_noted() {
    let plan = ecu_and_plant("");
    assert_eq!(plan.tasks[0].release, Release::Never);
    assert_eq!(plan.notes, ["ecu.isr is a triggered clock that no [[trigger]] names: it never ticks"]);
}

#[test]
fn a_circle_of_triggers_is_noted() {
    let fmu = r#"<Clock name="a" valueReference="1" causality="input" intervalVariability="triggered" priority="0"/>
        <Clock name="out" valueReference="2" causality="output" intervalVariability="triggered" clocks="1"/>"#;
    let text = "[fmu.x]\npath = \"x\"\n[[trigger]]\nclock = \"x.a\"\nfrom = \"x.out\"\n";
    let plan = try_build(text, &[description(fmu)], &host()).unwrap();
    assert!(plan.notes[0].starts_with("x.a may end up triggering itself"), "{:?}", plan.notes);
}

#[test]
fn countdown_tasks_are_listed_and_fixed_intervals_are_written() {
    let fmu = r#"
<Clock name="c" valueReference="1" causality="input" intervalVariability="countdown" priority="3"/>
<Clock name="f" valueReference="2" causality="input" intervalVariability="fixed" intervalDecimal="0.2" shiftDecimal="0.05" priority="4" supportsFraction="true" resolution="1000"/>"#;
    let text = "[fmu.x]\npath = \"x\"\n[fmu.x.clock.f]\ninterval = \"1/10\"\nmax_latency_us = 1.5\nmax_overruns = 0\n";
    let plan = try_build(text, &[description(fmu)], &host()).unwrap();
    assert_eq!(plan.fmus[0].countdowns, [TaskId(0)]);
    let f = &plan.tasks[1];
    let interval = Fraction::new(1, 10).unwrap();
    assert_eq!(f.release, Release::Periodic { shift: Fraction::new(1, 20).unwrap(), interval });
    assert!(f.write_interval && f.supports_fraction && !plan.tasks[0].write_interval);
    assert_eq!((f.limits.max_latency.unwrap().0, f.limits.max_overruns), (1500, Some(0)));
}

#[test]
fn cores_are_isolated_ones_else_the_last_and_go_round() {
    let cpus = |plan: &Plan| plan.fmus.iter().map(|fmu| fmu.cpu).collect::<Vec<_>>();
    assert_eq!(cpus(&ecu_and_plant("")), [3, 3]);
    assert_eq!(cpus(&ecu_and_plant("[host]\ncpus = [2, 1]\n")), [2, 1]);
    let text = "[fmu.a]\npath = \"a\"\ncpu = 0\n[fmu.b]\npath = \"b\"\n";
    let isolated = HostFacts { allowed_cpus: vec![0, 1], isolated_cpus: vec![6, 7] };
    let plan = try_build(text, &[description(ECU), description(PLANT)], &isolated).unwrap();
    assert_eq!(cpus(&plan), [0, 6]);
    // The whole band again on the other core.
    assert_eq!(plan.tasks.iter().filter(|task| task.fifo.get() == 89).count(), 2);
}

#[test]
fn in_virtual_time_a_core_of_another_machine_is_only_noted() {
    let plan = ecu_and_plant("[rig]\nmode = \"virtual\"\nstop_time = 1\n[host]\ncpus = [99]\n");
    assert_eq!(plan.mode, Mode::Virtual);
    assert!(plan.notes[0].starts_with("cpus: core 99 does not exist"), "{:?}", plan.notes);
}

#[test]
fn a_single_fmu_brings_its_own_experiment() {
    let mut fmu = description(PLANT);
    fmu.default_experiment.start_time = Some(1.0);
    fmu.default_experiment.stop_time = Some(3.5);
    let rig = Rig::for_fmu(Path::new("some/My Plant.fmu"));
    let descriptions = [fmu];
    let plan = build(&rig, &inputs(&rig, &descriptions), &host()).unwrap();
    assert_eq!((plan.rig.as_str(), plan.fmus[0].name.as_str()), ("My_Plant", "My_Plant"));
    assert_eq!((plan.start.seconds(), plan.stop.unwrap().seconds()), (1.0, 3.5));
    assert_eq!(plan.signals.len(), 1 + 1 + 6 + 1);
}

#[test]
fn a_plan_survives_its_way_to_the_runner() {
    let plan = ecu_and_plant("[[connect]]\nfrom = \"plant.speed\"\nto = \"ecu.speed\"\n[record]\n");
    let bytes = postcard::to_stdvec(&plan).unwrap();
    assert_eq!(postcard::from_bytes::<Plan>(&bytes).unwrap(), plan);
}

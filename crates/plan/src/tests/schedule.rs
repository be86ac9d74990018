//! Order, priorities, cores, releases.

use super::*;
use crate::rig::Rig;
use crate::{FifoReach, FmuId, Mode, Overrun, Release, UnitId};
use vecud_base::priority::FifoPriority;
use vecud_base::time::{Fraction, Instant};

/// `fmu.clock` of all tasks in order.
fn names(plan: &Plan) -> Vec<String> {
    plan.units.iter().map(|unit| format!("{}.{}", plan.fmus[unit.fmu.0].name, unit.name)).collect()
}

#[test]
fn tasks_of_all_fmus_stand_in_one_order() {
    let plan = ecu_and_plant("[[connect]]\nfrom = \"plant.speed\"\nto = \"ecu.speed\"\n");
    // Both have 1 ms; the plant produces what the fast task consumes. The interrupt is above the fast task in its FMU.
    assert_eq!(names(&plan), ["ecu.isr", "plant.step", "ecu.fast", "ecu.slow"]);
    assert_eq!(plan.tasks.iter().map(|t| t.fifo.get()).collect::<Vec<_>>(), [89, 88, 87, 86]);
    assert_eq!(plan.units.iter().map(|t| t.level).collect::<Vec<_>>(), [0, 0, 1, 2]);
    assert_eq!(plan.fmus.iter().map(|fmu| fmu.levels).collect::<Vec<_>>(), [3, 1]);
    assert_eq!(plan.tasks[2].thread, "ecu.fast");
    let millisecond = Fraction::new(1, 1000).unwrap();
    assert_eq!(plan.units[1].release, Release::Periodic { shift: Fraction::ZERO, interval: millisecond });
}

#[test]
fn an_output_clock_knows_who_ticks_it_and_whom_it_triggers() {
    let plan = ecu_and_plant("[[trigger]]\nclock = \"ecu.isr\"\nfrom = \"ecu.tick\"\n");
    assert_eq!(names(&plan), ["ecu.isr", "ecu.fast", "plant.step", "ecu.slow"]);
    let tick = &plan.fmus[0].output_clocks[0];
    assert_eq!((tick.ticked_by.as_slice(), tick.targets.as_slice()), (&[UnitId(3)][..], &[UnitId(0)][..]));
    assert_eq!(plan.units[0].release, Release::Triggered { fmu: FmuId(0), output_clock: 0 });
}

#[test]
fn a_schedule_is_kept_exactly() {
    let plan = ecu_and_plant("[[trigger]]\nclock = \"ecu.isr\"\nat = [0, 0.1, 8]\n[rig]\nstop_time = 8\n");
    let times = [0.0, 0.1, 8.0].map(|t| Instant::from_f64(t).unwrap());
    assert_eq!(plan.units[0].release, Release::At(times.to_vec()));
    assert_eq!(plan.notes, ["ecu.isr has 1 trigger times from 8 s on, which is not before the stop time"]);
}

#[test]
fn a_triggered_clock_without_trigger_is_noted() {
    let plan = ecu_and_plant("");
    assert_eq!(plan.units[0].release, Release::Never);
    assert_eq!(plan.notes, ["ecu.isr is a triggered clock that no [[trigger]] names: it never ticks"]);
}

/// Two triggered clocks, each ticked by what `a_by` and `b_by` say, which trigger each other.
fn circle(a_by: &str, b_by: &str) -> Result<Plan, String> {
    let clock = |attributes: &str| format!("<Clock {attributes} causality=\"input\"/>");
    let fmu = clock(r#"name="a" valueReference="1" intervalVariability="triggered" priority="0""#)
        + &clock(r#"name="b" valueReference="2" intervalVariability="triggered" priority="1""#)
        + &clock(r#"name="t" valueReference="3" intervalVariability="constant" intervalDecimal="1" priority="2""#)
        + &format!(
            r#"<Clock name="oa" valueReference="4" causality="output" intervalVariability="triggered" {a_by}/>"#
        )
        + &format!(
            r#"<Clock name="ob" valueReference="5" causality="output" intervalVariability="triggered" {b_by}/>"#
        );
    let text = "[fmu.x]\npath = \"x\"\n[[trigger]]\nclock = \"x.b\"\nfrom = \"x.oa\"\n\
                [[trigger]]\nclock = \"x.a\"\nfrom = \"x.ob\"\n";
    try_build(text, &[description(&fmu)], &host())
}

#[test]
fn a_circle_of_triggers_that_nothing_starts_is_refused() {
    let error = circle(r#"clocks="1""#, r#"clocks="2""#).unwrap_err();
    assert_eq!(
        error,
        "rig.toml:7:9: the triggers of x.a, x.b form a circle that nothing outside of it starts, so none of them would ever \
         tick: give one of them another trigger"
    );
}

#[test]
fn a_circle_of_triggers_that_something_starts_is_noted() {
    let plan = circle(r#"clocks="1 3""#, r#"clocks="2""#).unwrap();
    assert!(plan.notes.iter().any(|n| n.starts_with("x.a may end up triggering itself")), "{:?}", plan.notes);
}

#[test]
fn a_circle_through_a_clock_that_does_not_say_who_ticks_it_is_left_to_the_run() {
    assert!(circle("", r#"clocks="2""#).is_ok());
}

#[test]
fn countdown_tasks_are_listed_and_fixed_intervals_are_written() {
    let fmu = r#"
<Clock name="c" valueReference="1" causality="input" intervalVariability="countdown" priority="3"/>
<Clock name="f" valueReference="2" causality="input" intervalVariability="fixed" intervalDecimal="0.2" shiftDecimal="0.05" priority="4" supportsFraction="true" resolution="1000"/>"#;
    let text = "[fmu.x]\npath = \"x\"\n[fmu.x.clock.f]\ninterval = \"1/10\"\nmax_latency_us = 1.5\nmax_overruns = 0\n";
    let plan = try_build(text, &[description(fmu)], &host()).unwrap();
    assert_eq!(plan.fmus[0].countdowns(), [UnitId(0)]);
    let f = &plan.units[1];
    let interval = Fraction::new(1, 10).unwrap();
    assert_eq!(f.release, Release::Periodic { shift: Fraction::new(1, 20).unwrap(), interval });
    let [countdown, fixed] = [0, 1].map(|unit| partition(&plan.units[unit]));
    assert!(fixed.write_interval && fixed.supports_fraction && !countdown.write_interval);
    let limits = plan.tasks[1].limits;
    assert_eq!((limits.max_latency.unwrap().0, limits.max_overruns), (1500, Some(0)));
}

/// What the importer decides, it writes; for the rest it asks. What counts is whether `intervalDecimal` is there (FMI 3.0.2,
/// 2.2.8.2, table of clock types).
#[test]
fn fixed_and_tunable_clocks_without_interval_decimal_are_asked_and_take_nothing_of_the_rig() {
    let clock = |attributes: &str, rig: &str| {
        let xml = format!(
            "<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"tunable\" priority=\"1\" \
             {attributes}/>"
        );
        let text = format!("[fmu.x]\npath = \"x\"\n[fmu.x.clock.c]\n{rig}");
        let unit = try_build(&text, &[description(&xml)], &host()).map(|plan| plan.units[0].clone());
        unit.map(|unit| (unit.release.clone(), partition(&unit).write_interval, partition(&unit).write_shift))
    };
    let [tenth, fifth, half] = ["1/10", "1/5", "1/2"].map(|text| Fraction::parse(text).unwrap());
    assert_eq!(clock("", ""), Ok((Release::Asked, false, false)));
    let counters = "supportsFraction=\"true\" resolution=\"10\" intervalCounter=\"1\" shiftCounter=\"5\"";
    assert_eq!(clock(counters, ""), Ok((Release::Asked, false, false)));
    let given = "intervalDecimal=\"0.1\" shiftDecimal=\"0.5\"";
    assert_eq!(clock(given, ""), Ok((Release::Periodic { shift: half, interval: tenth }, true, false)));
    let both = "interval = \"1/5\"\nshift = 0.1";
    assert_eq!(clock(given, both), Ok((Release::Periodic { shift: tenth, interval: fifth }, true, true)));
    for (attributes, key, what) in [
        ("", "interval = 0.2", "interval of x.c cannot be set to 0.2 s"),
        (counters, "shift = 0", "shift of x.c cannot be set to 0 s"),
    ] {
        let error = clock(attributes, key).unwrap_err();
        assert!(error.contains(what) && error.contains("has no intervalDecimal"), "{error}");
    }
}

#[test]
fn a_changing_clock_is_asked_and_never_told() {
    let xml =
        "<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"changing\" priority=\"1\"/>";
    let plan = try_build("[fmu.x]\npath = \"x\"\n[rig]\noverrun = \"queue\"", &[description(xml)], &host()).unwrap();
    let unit = &plan.units[0];
    assert_eq!(
        (&unit.release, partition(unit).write_interval, plan.tasks[0].overrun),
        (&Release::Changing, false, Overrun::Queue)
    );
}

#[test]
fn cores_are_isolated_ones_else_the_last_and_go_round() {
    let cpus = |plan: &Plan| plan.fmus.iter().map(|fmu| fmu.cpu).collect::<Vec<_>>();
    assert_eq!(cpus(&ecu_and_plant("")), [3, 3]);
    assert_eq!(cpus(&ecu_and_plant("[host]\ncpus = [2, 1]\n")), [2, 1]);
    let text = "[fmu.a]\npath = \"a\"\ncpu = 0\n[fmu.b]\npath = \"b\"\n";
    let isolated = HostFacts { allowed_cpus: vec![0, 1], isolated_cpus: vec![6, 7], ..HostFacts::default() };
    let plan = try_build(text, &[description(ECU), description(PLANT)], &isolated).unwrap();
    assert_eq!(cpus(&plan), [0, 6]);
    // The whole band again on the other core.
    assert_eq!(plan.tasks.iter().filter(|task| task.fifo.get() == 89).count(), 2);
}

#[test]
fn below_a_limit_of_the_machine_tasks_keep_their_order_and_leave_room_for_the_watchdog() {
    let fifo = |limit: u8, more: &str| {
        let limit = FifoPriority::new(limit).unwrap();
        let host = HostFacts { fifo: FifoReach::UpTo(limit), ..host() };
        let text = format!("[fmu.ecu]\npath = \"ecu\"\n[fmu.plant]\npath = \"plant\"\n{more}");
        let plan = try_build(&text, &[description(ECU), description(PLANT)], &host).unwrap();
        let fifo: Vec<u8> = plan.tasks.iter().map(|task| task.fifo.get()).collect();
        (fifo, plan.host.fifo_asked.1.get(), plan.host.cooperative)
    };
    assert_eq!(fifo(60, ""), (vec![60, 59, 58, 57], 89, None));
    assert_eq!(fifo(60, "[fmu.ecu.clock.fast]\nmax_execution_us = 5\n"), (vec![59, 58, 57, 56], 89, None));
    assert_eq!(fifo(3, "").0, [3, 2, 2, 1], "levels of two FMUs fold");
    let reason = "fmu `ecu` alone needs 3 priority levels".to_owned();
    assert_eq!(fifo(2, ""), (vec![89, 88, 87, 86], 89, Some(reason)));
    assert_eq!(fifo(2, "[rig]\nmode = \"virtual\"\nstop_time = 1\n").2, None);
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
    let plan = build(&rig, &inputs(&rig, &descriptions), &[], &host()).unwrap();
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

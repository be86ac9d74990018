//! Structural parameters: before initialisation, and while partitions run.

use super::bench::{Bench, Left, SOON, at};
use super::program::{real_time, shared_core, user, wait_until};
use vecud::fmu::description::Values;
use vecud::supervisor::ControlError;

fn n(value: u64) -> (&'static str, Values) {
    ("n", Values::UInt64(vec![value]))
}

#[test]
fn the_rig_sets_fixed_and_tunable_ones_in_configuration_mode_before_initialisation() {
    for bench in
        [Bench::new("start = { n = 3, rows = 4 }", "").uncontrolled(), Bench::new("start = { n = 3, rows = 4 }", "")]
    {
        let left = bench.until(0.02).run(|_| ()).passed().was_lawful();
        let names =
            |start: &str| left.header.iter().filter(|name| name.starts_with(start)).cloned().collect::<Vec<_>>();
        assert_eq!(names("x.values"), ["x.values[1]", "x.values[2]", "x.values[3]"]);
        assert_eq!(names("x.grid").len(), 12);
        assert_eq!((left.last("x.n"), left.last("x.rows"), left.last("x.configurations")), ("3", "4", "1"));
        assert_eq!((left.last("x.values[3]"), left.last("x.grid[4,3]")), ("303.0", "43"));
        // What the FMU has made of the array, not the start of a longer one.
        assert_eq!(left.at(0.0, "x.table[3]"), "30.0");
        // An input that nothing feeds is what the FMU has made of it.
        assert_eq!(left.at(0.0, "x.field[1]"), "0.0");
    }
}

#[test]
fn sizes_in_the_plan_follow_the_rig() {
    let bench = Bench::new("start = { n = 2, table = [0.5, 0.25] }", "").until(0.002);
    assert_eq!(bench.run(|_| ()).passed().was_lawful().at(0.0, "x.table_sum"), "0.75");
    let refusal = Bench::new("start = { n = 2, table = [1, 2, 3, 4, 5, 6, 7] }", "").refusal();
    assert!(refusal.contains("x.table has 2 elements, but its start value has 7"), "{refusal}");
    let refusal = Bench::new("start = { n = 17 }", "").refusal();
    assert!(refusal.contains("the start value of x.n is 17, above its max 16"), "{refusal}");
    // The description's start value is one of seven elements, and has nothing to say of an array of three.
    let refusal = Bench::new("start = { n = 3, 'table[2]' = 5 }", "").refusal();
    assert!(refusal.contains("give it one as a whole"), "{refusal}");
    // Connections are checked with these sizes.
    let fmu = concat!(env!("CARGO_MANIFEST_DIR"), "/fmus/structural");
    let more = format!("[fmu.y]\npath = '{fmu}'\n[[connect]]\nfrom = 'y.values'\nto = 'x.field'\n");
    let refusal = Bench::new("start = { rows = 3 }", &more).refusal();
    assert!(refusal.contains("y.values is Float64[7], but x.field is Float64[3]"), "{refusal}");
    let more = more.replace("[[connect]]", "start = { n = 3 }\n[[connect]]");
    let left = Bench::new("start = { rows = 3 }", &more).until(0.01).run(|_| ()).passed();
    assert_eq!(left.last("x.field[3]"), "303.0");
}

/// 7 → 3 → 0 → 7 elements, each at its time.
fn shrinks_and_grows(left: &Left, times: [f64; 3]) {
    let [three, none, seven] = times;
    let counts = |time: f64, name: &str| {
        let there = |i: usize| {
            left.header.contains(&format!("{name}{i}]")) && !left.at(time, &format!("{name}{i}]")).is_empty()
        };
        (1..=7).filter(|i| there(*i)).count()
    };
    for (time, expected) in [(0.0, 7), (three, 3), (none, 0), (seven, 7)] {
        assert_eq!(counts(time, "x.values["), expected, "at {time}");
    }
    assert_eq!((left.at(three, "x.values[3]"), left.at(three, "x.values[4]")), ("303.0", ""));
    assert_eq!(left.at(seven, "x.values[7]"), "707.0");
}

#[test]
fn an_array_shrinks_to_three_and_to_no_elements_and_grows_again() {
    let bench = Bench::new("", "").until(0.05);
    let left = bench.run(|control| {
        control.reconfigure("x", &[n(3)], at(0.0105)).unwrap();
        control.reconfigure("x", &[n(0)], at(0.0205)).unwrap();
        control.reconfigure("x", &[n(7)], at(0.03)).unwrap();
    });
    let left = left.passed().was_lawful();
    assert_eq!(left.changes("x.n"), [(0.0, "7"), (0.011, "3"), (0.021, "0"), (0.03, "7")]);
    assert_eq!(left.changes("x.configurations"), [(0.0, "0"), (0.011, "1"), (0.021, "2"), (0.03, "3")]);
    shrinks_and_grows(&left, [0.011, 0.021, 0.03]);
    // A matrix that loses columns: the second row stays the second row, though it lies elsewhere in the array.
    let row = |time: f64| (1..=7).map(|i| left.at(time, &format!("x.grid[2,{i}]")).to_owned()).collect::<Vec<_>>();
    assert_eq!(row(0.0), ["21", "22", "23", "24", "25", "26", "27"]);
    assert_eq!(row(0.02), ["21", "22", "23", "", "", "", ""]);
    assert_eq!(left.at(0.03, "x.grid[2,7]"), "27");
    // A parameter whose size has changed is no longer what it was set to.
    assert_eq!((left.at(0.01, "x.table[2]"), left.at(0.011, "x.table[2]")), ("2.0", ""));
}

#[test]
fn values_are_for_the_size_that_the_array_has_by_then() {
    let left = Bench::new("", "").until(0.02).run(|control| {
        let early = control.set_together("x", &[("table", Values::Float32(vec![9.0; 7]))], at(0.0105)).unwrap();
        control.reconfigure("x", &[n(3)], at(0.005)).unwrap();
        let control = control.clone();
        std::thread::spawn(move || {
            assert_eq!(
                early.wait(SOON),
                Err(ControlError::Resized),
                "{:?}",
                control.set("x", "on", Values::Boolean(vec![true])).is_ok()
            )
        });
    });
    // Had the seven values been handed over, the FMU would have answered Error.
    assert_eq!(left.passed().was_lawful().last("x.table_sum"), "60.0");
}

/// Reconfigures again and again while partitions run, preempt each other and sleep; the FMU answers Error if one of them is
/// active. Gives how often.
fn again_and_again(bench: &Bench, preemptive: bool) {
    let running = bench.start(|_| ());
    wait_until("the run begins", || bench.is_recording());
    let control = running.control.clone();
    let sizes = [3, 0, 7, 1, 5];
    for round in 0..30 {
        let size = sizes[round % sizes.len()];
        control.reconfigure("x", &[n(size)], None).unwrap().wait(SOON).unwrap();
        let table = Values::Float32(vec![0.5; size as usize]);
        control.set("x", "table", table).unwrap().wait(SOON).unwrap();
        // The next one is to find partitions at work.
        std::thread::sleep(std::time::Duration::from_millis(round as u64 % 7));
    }
    control.end();
    let left = running.finish().passed().was_lawful();
    assert_eq!(left.last("x.configurations"), "30");
    assert_eq!(left.last("x.preempted").parse::<u64>().unwrap() > 0, preemptive);
    let report = bench.report();
    let fast = &report["clocks"][0];
    assert_eq!(fast["clock"], "fast");
    // Releases that an instance at rest has missed are missed, not made up for; the grid stays.
    assert!(fast["skipped"].as_u64().unwrap() >= 30, "each takes 3 ms: {fast}");
    let off = |row: &&Vec<String>| {
        let milliseconds = row[0].parse::<f64>().unwrap() * 1e3;
        (milliseconds - milliseconds.round()).abs() > 1e-6
    };
    // Rows between the grid are those of the reconfigurations themselves.
    assert!(left.rows.iter().filter(off).count() <= 30, "{}", left.rows.iter().filter(off).count());
}

const BUSY: &str = "start = { fast_burn_us = 200, slow_burn_us = 3000, slow_sleep_us = 500 }";

#[test]
fn no_partition_is_active_while_the_instance_is_reconfigured() {
    real_time("no_partition_is_active_while_the_instance_is_reconfigured", || {
        again_and_again(&Bench::new(BUSY, "").in_real_time(), true);
    });
}

#[test]
fn nor_is_one_in_a_cooperative_run_as_this_user() {
    let Some(words) = user::words_without_real_time("nor_is_one_in_a_cooperative_run_as_this_user") else { return };
    shared_core(|| {
        again_and_again(&Bench::new(BUSY, "").in_real_time().with_runner(words), false);
    });
}

#[test]
fn the_other_fmus_of_a_core_go_on_meanwhile() {
    real_time("the_other_fmus_of_a_core_go_on_meanwhile", || {
        let fmu = concat!(env!("CARGO_MANIFEST_DIR"), "/fmus/structural");
        let bench = Bench::new("", &format!("[fmu.y]\npath = '{fmu}'\n")).in_real_time();
        let running = bench.start(|_| ());
        wait_until("the run begins", || bench.is_recording());
        for round in 0..20 {
            running.control.reconfigure("x", &[n(round % 8)], None).unwrap().wait(SOON).unwrap();
        }
        running.control.end();
        running.finish().passed().was_lawful();
        let report = bench.report();
        let skipped = |fmu: &str| -> u64 {
            let clocks = report["clocks"].as_array().unwrap().iter();
            clocks
                .filter(|clock| clock["fmu"] == fmu && clock["clock"] == "fast")
                .map(|clock| clock["skipped"].as_u64().unwrap())
                .sum()
        };
        // Each rest takes 3 ms, so x misses ticks of 1 ms; on a busy machine y may miss some, but not for that.
        assert!(skipped("x") >= 20 && skipped("y") * 2 < skipped("x"), "{} and {}", skipped("x"), skipped("y"));
    });
}

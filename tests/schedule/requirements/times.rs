//! Start, stop, the grid, and what keeps it.

use super::program::clock::{EQUAL_A, FAST, LOW, SLOW};
use super::program::{Rig, real_time, real_time_on_own_core, send, shared_core, skipped, wait_until};
use super::{spans, tracer};
use crate::wait_until_recorded;
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::time::Duration;

/// The tracer says what it is told, and refuses what lies beyond.
const STOP: [(&str, &str, &str); 2] = [
    (
        "fmu.c",
        "    fmu->base.start_time = startTime;\n",
        "    fmu->base.start_time = startTime;
    last_time = stopTimeDefined ? stopTime : 1e300;
    fmu_log(&fmu->base, fmi3OK, \"told %d %g %g\", (int)stopTimeDefined, startTime, stopTimeDefined ? stopTime : -1.0);\n",
    ),
    (
        "fmu.c",
        "static fmi3Status activate(struct tracer *fmu, struct activation *activation)\n{\n",
        "static fmi3Status activate(struct tracer *fmu, struct activation *activation)\n{
    if (activation->time >= last_time) return fmi3Error;\n",
    ),
];

#[test]
fn the_run_is_what_lies_from_the_start_to_before_the_stop_and_fmus_are_told_so() {
    let folder = crate::program::tempdir().unwrap();
    let [(file, before, after), activate] = STOP;
    let declared = ("fmu.c", "/* A change of state:", "static double last_time;\n/* A change of state:");
    let path = tracer(folder.path(), &[declared, (file, before, after), activate]);
    let rig = |times: &str| {
        Rig::new(times).fmu("a", path.clone(), "fast_tick_low_every = 1", "log = true").trigger("a.out_low", "a.low")
    };
    shared_core(|| {
        for real in [false, true] {
            let rig = rig("start_time = 0.5\nstop_time = 0.6");
            let run = if real { rig.run() } else { rig.run_virtual() }.exits(0);
            assert!(run.file("run.log").contains("told 1 0.5 0.6"), "{}", run.file("run.log"));
            let trace = run.trace("a");
            let slow: Vec<f64> = (0..10).map(|k| f64::from(50 + k) / 100.0).collect();
            assert_eq!(trace.activations(SLOW), slow);
            let (fast, low) = (trace.activations(FAST), trace.activations(LOW));
            assert_eq!((fast[0], fast.len() as u64 + run.count("a", "fast", "skipped")), (0.5, 100));
            assert!(*fast.last().unwrap() <= 0.599);
            // What was ticked before the stop still runs.
            assert!(low == fast || real, "{low:?}");
        }
        // A run that ends by a signal has no stop time.
        let rig = rig("");
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        std::thread::sleep(Duration::from_millis(100));
        send(child.id() as i32, Signal::SIGTERM);
        let run = rig.finish(child).exits(0);
        assert!(run.file("run.log").contains("told 0 0 -1"), "{}", run.file("run.log"));
    });
}

#[test]
fn no_release_comes_early_and_late_ones_do_not_add_up() {
    real_time("no_release_comes_early_and_late_ones_do_not_add_up", || {
        let run = Rig::new("stop_time = 1").tracer("a", "").run().exits(0);
        let start = run.report()["start_monotonic_ns"].as_i64().unwrap();
        assert_eq!(start % 10_000_000, 0, "a whole 10 ms");
        let trace = run.trace("a");
        for (clock, period) in [(FAST, 1_000_000), (SLOW, 10_000_000)] {
            let begins = trace.events.iter().filter(|e| e.is("activate", "begin") && e.clock == clock);
            let late: Vec<i64> = begins.map(|e| e.ns - start - (e.time * 1e9).round() as i64).collect();
            assert!(late.iter().all(|late| *late >= 0), "early: {:?}", late.iter().min());
            // However late single ones were, the grid is where it was.
            let least = late[late.len() / 2..].iter().min().unwrap();
            let most = period / 2;
            assert!(*least < most, "of the last half second none began in the first half of its period: {least} ns");
        }
    });
}

/// The founding text's engine with a long calculation in the background: partitions of 1 ms, and one of 35 ms beneath.
#[test]
fn an_activation_of_35_ms_does_not_concern_one_of_1_ms() {
    real_time_on_own_core("an_activation_of_35_ms_does_not_concern_one_of_1_ms", || {
        let start = "low_burn_us = 35000, equal_a_tick_low_every = 25, slow_tick_high_every = 0, arm_every = 0";
        let mut inside = Vec::new();
        for _ in 0..10 {
            let run = Rig::new("stop_time = 0.5\nshutdown_timeout = 5")
                .tracer("a", start)
                .trigger("a.out_low", "a.low")
                .run()
                .exits(0);
            let trace = run.trace("a");
            assert!(trace.violations() == 0 && trace.activations(LOW).len() >= 9, "{:?}", trace.summary);
            let fast = run.count("a", "fast", "activations") + run.count("a", "fast", "skipped");
            assert_eq!(fast, 500);
            // The last one begins at the stop time, after all others.
            inside = spans(&trace, LOW)
                .into_iter()
                .filter(|(.., time)| *time < 0.46)
                .map(|(from, to, _)| {
                    trace.events[from..to].iter().filter(|e| e.is("activate", "begin") && e.clock == FAST).count()
                })
                .collect();
            // Nothing was left out, and 35 ms and more had 34 releases and more in them.
            if run.count("a", "fast", "skipped") == 0 && inside.iter().all(|fast| *fast >= 34) {
                return;
            }
        }
        panic!("fast was hindered in each of ten runs; inside of low in the last one: {inside:?}");
    });
}

/// Page faults of the runner's threads, by name.
fn faults(runner: i32) -> BTreeMap<String, u64> {
    let tasks = std::fs::read_dir(format!("/proc/{runner}/task")).unwrap();
    tasks
        .filter_map(|task| {
            let stat = std::fs::read_to_string(task.ok()?.path().join("stat")).ok()?;
            let (name, rest) = (stat.split_once('(')?.1, stat.rsplit_once(')')?.1);
            let fields: Vec<&str> = rest.split_whitespace().collect();
            let (minor, major): (u64, u64) = (fields[7].parse().ok()?, fields[9].parse().ok()?);
            Some((name.rsplit_once(')')?.0.to_owned(), minor + major))
        })
        .collect()
}

#[test]
fn partition_threads_fault_no_page_once_they_are_under_way() {
    let test = "partition_threads_fault_no_page_once_they_are_under_way";
    real_time(test, || {
        let rig = Rig::new("stop_time = 100")
            .tracer("a", "fast_tick_high_every = 3, equal_a_tick_low_every = 2")
            .tracer("b", "")
            .trigger("a.out_high", "a.high")
            .trigger("a.out_low", "b.low")
            .connect("a.out_f64", "b.in_f64")
            .connect("a.out_array", "b.in_array");
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let runner = super::program::runner_of(&child);
        wait_until("threads are there", || faults(runner).len() > 14);
        // All have had their second activation by then.
        wait_until_recorded(&rig.out(), "time", 0.2);
        let before = faults(runner);
        wait_until_recorded(&rig.out(), "time", 0.7);
        let after = faults(runner);
        send(child.id() as i32, Signal::SIGINT);
        let run = rig.finish(child).exits(0);
        if run.report()["host"]["memory_locked"] != true {
            return skipped(test, &"memory cannot be locked here");
        }
        let partitions: Vec<&String> =
            before.keys().filter(|name| name.starts_with("a.") || name.starts_with("b.")).collect();
        assert_eq!(partitions.len(), 14, "{before:?}");
        for name in partitions {
            assert_eq!(before[name], after[name], "page faults of {name}");
        }
    });
}

/// What the report says of `equal_a`, which `equal_b` keeps waiting now and then, and of `slow`, which `fast` interrupts.
#[test]
fn reported_latencies_are_those_that_the_fmu_has_seen() {
    real_time_on_own_core("reported_latencies_are_those_that_the_fmu_has_seen", || {
        let start = "equal_b_burn_us = 700, slow_burn_us = 1500, slow_lock_us = 500, fast_burn_us = 150";
        let run = Rig::new("stop_time = 0.3").tracer("a", start).run().exits(0);
        let (trace, start) = (run.trace("a"), run.report()["start_monotonic_ns"].as_i64().unwrap());
        let name = |clock: u32| super::program::clock::NAMES[clock as usize];
        let of = |clock, metric: &str, what: &str| run.clock("a", name(clock))[metric][what].as_f64().unwrap();
        for clock in [EQUAL_A, SLOW] {
            let seen: Vec<(f64, f64)> = spans(&trace, clock)
                .into_iter()
                .map(|(from, to, time)| {
                    let release = start + (time * 1e9).round() as i64;
                    ((trace.events[from].ns - release) as f64, (trace.events[to].ns - release) as f64)
                })
                .collect();
            let n = seen.len() as f64;
            let (begun, ended): (f64, f64) = (seen.iter().map(|s| s.0).sum(), seen.iter().map(|s| s.1).sum());
            for metric in ["wakeup_latency", "start_latency", "execution", "response"] {
                assert_eq!(of(clock, metric, "count"), n, "{metric} of {}", name(clock));
            }
            // A histogram's means and the clock of the processor are exact to a percent.
            let (starts, ends) = (of(clock, "start_latency", "mean"), of(clock, "response", "mean"));
            assert!((0.5..1.01).contains(&(starts * n / begun)), "{}: {starts} ns, seen {}", name(clock), begun / n);
            assert!((0.99..1.5).contains(&(ends * n / ended)), "{}: {ends} ns, seen {}", name(clock), ended / n);
            assert!(of(clock, "wakeup_latency", "mean") <= starts);
        }
        // Execution is what is left without the partitions that came in between.
        let (mut own, slow) = (0.0, spans(&trace, SLOW));
        for &(from, to, _) in &slow {
            own += (trace.events[to].ns - trace.events[from].ns) as f64;
            let (mut depth, mut since) = (0, 0);
            for event in trace.events[from + 1..to].iter().filter(|e| e.what == "activate") {
                let begins = event.phase == "begin";
                (depth, since) =
                    (if begins { depth + 1 } else { depth - 1 }, if begins && depth == 0 { event.ns } else { since });
                own -= if depth == 0 { (event.ns - since) as f64 } else { 0.0 };
            }
        }
        let execution = of(SLOW, "execution", "mean");
        assert!((0.6..1.03).contains(&(execution * slow.len() as f64 / own)), "{execution} ns, seen {}", own / 30.0);
        assert!(of(SLOW, "execution", "min") >= 1.95e6, "burnt and locked");
        let hold = &run.fmu("a")["lock"]["hold"];
        assert!(hold["max"].as_u64().unwrap() >= 490_000, "{hold}");
        assert!(of(EQUAL_A, "start_jitter", "max") > 0.1e6, "equal_b kept it waiting");
    });
}

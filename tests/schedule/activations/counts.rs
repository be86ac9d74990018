//! What the report counts, against what FMUs have noticed; and that virtual time repeats itself.

use crate::program::clock::{DELAYED, FAST, HIGH, LOW, OUT_HIGH, OUT_LOW, SLOW};
use crate::program::{Outcome, Rig, changed_tracer, real_time, shared_core};

const NEVER: [&str; 4] = ["overruns", "skipped", "retimed", "discarded"];

#[test]
fn the_engine_in_virtual_time_repeats_to_the_byte() {
    let rig = Rig::of_file("examples/engine.toml");
    let run = || {
        let mut command = rig.command();
        command.args(["--mode", "virtual", "--stop-time", "3"]);
        let run = rig.finish(rig.start(command)).exits(0);
        let signals = run.file("signals.csv");
        (run, signals)
    };
    let ((first, signals), (second, signals_again)) = (run(), run());
    assert!(signals == signals_again, "signals.csv differs from run to run");
    for same in ["clocks", "problems", "end", "end_time"] {
        assert_eq!(first.report()[same], second.report()[same], "{same}");
    }

    for (fmu, clock, activations) in
        [("plant", "step", 3000), ("ecu", "task_1ms", 3000), ("ecu", "task_10ms", 300), ("ecu", "task_100ms", 30)]
    {
        assert_eq!(first.count(fmu, clock, "activations"), activations, "{fmu}.{clock}");
    }
    // Every tooth is one activation of the control unit's crank task.
    let teeth = first.count("plant", "next_tooth", "activations");
    assert!(teeth > 1000);
    assert_eq!(first.count("ecu", "crank_isr", "activations"), teeth);
    for clock in first.report()["clocks"].as_array().unwrap() {
        for what in NEVER.into_iter().chain(["coalesced"]) {
            assert_eq!(clock[what], 0, "{what} of {clock}");
        }
    }
    let times = first.signals().times();
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "rows are ordered by time");
    assert_eq!((times[0], *times.last().unwrap() < 3.0), (0.0, true));
}

#[test]
fn tracers_in_virtual_time_repeat_to_the_byte() {
    let signals = || {
        let rig = Rig::new("stop_time = 0.5\nmode = 'virtual'")
            .tracer("a", "count_up = true, arm_every = 1, arm_interval = 0.00251234567891")
            .tracer("b", "count_up = true, fast_tick_low_every = 3")
            .trigger("a.out_low", "b.low")
            .trigger("b.out_low", "a.low")
            .trigger("a.out_high", "a.high")
            .connect("a.out_f64", "b.in_f64")
            .connect("b.out_i32", "a.in_i32");
        rig.run().exits(0).file("signals.csv")
    };
    let first = signals();
    assert!((0..3).all(|_| signals() == first));
}

/// As many activations as ticks, less those that are counted as something else; times increase, rows too.
#[track_caller]
fn accounted(run: &Outcome, source: &str, output: u32, target: &str, clock: u32) {
    let broken = run.check_ticks(source, output, target, clock);
    assert!(broken.is_empty(), "{broken:#?}");
    let times = run.trace(target).activations(clock);
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "activation times increase strictly: {times:?}");
    let rows = run.signals().times();
    assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "rows are ordered by time");
    let late = run.problems().into_iter().find(|problem| problem.contains("after their row"));
    assert_eq!(late, None);
}

#[test]
fn ticks_of_one_time_are_one_activation() {
    // At every even millisecond both fast and equal_a tick.
    let rig = || {
        Rig::new("stop_time = 0.2")
            .tracer("a", "fast_tick_high_every = 1, equal_a_tick_high_every = 1, slow_tick_high_every = 0")
            .trigger("a.out_high", "a.high")
    };
    let run = rig().run_virtual().exits(0);
    accounted(&run, "a", OUT_HIGH, "a", HIGH);
    assert_eq!((run.count("a", "high", "activations"), run.count("a", "high", "coalesced")), (200, 100));
    shared_core(|| {
        let run = rig().run().exits(0);
        accounted(&run, "a", OUT_HIGH, "a", HIGH);
        assert!(run.count("a", "high", "coalesced") > 10, "{}", run.clock("a", "high"));
    });
}

#[test]
fn a_tick_that_comes_too_late_gets_the_time_of_its_dispatch() {
    // slow ticks in the name of its own time after 4 ms, while fast ticks at 2, 5, 8, 11 ms and so on; where that is a time
    // of slow's too (20, 50, 80 ms), the tick is coalesced.
    let rig = || {
        Rig::new("stop_time = 0.3")
            .tracer("a", "fast_tick_high_every = 3, slow_burn_us = 8000, arm_interval = 0.0031000004")
            .trigger("a.out_high", "a.high")
    };
    let run = rig().run_virtual().exits(0);
    accounted(&run, "a", OUT_HIGH, "a", HIGH);
    assert_eq!(run.count("a", "high", "retimed"), 0, "nothing takes time in virtual time");
    real_time("a_tick_that_comes_too_late_gets_the_time_of_its_dispatch", || {
        let run = rig().run().exits(0);
        accounted(&run, "a", OUT_HIGH, "a", HIGH);
        let retimed = run.count("a", "high", "retimed");
        assert!(retimed > 5, "{}", run.clock("a", "high"));
        // Exactly those activations are off the grid of whole milliseconds on which all ticks are.
        let times = run.trace("a").activations(HIGH);
        let off = times.iter().filter(|time| **time != (**time * 1000.0).round() / 1000.0).count();
        assert_eq!(off as u64, retimed);
        run.problem(&["clock a.high", &format!("{retimed} ticks came too late")]);
    });
}

#[test]
fn a_deadline_that_passes_before_the_clock_is_armed_anew_is_activated() {
    // low takes 35 ms of every 50 ms, and delayed is made less urgent: slow arms it anew every 10 ms meanwhile.
    let folder = crate::program::tempdir().unwrap();
    let change = ("clocks=\"4\" priority=\"3\"", "clocks=\"4\" priority=\"6\"");
    let path = changed_tracer(folder.path(), "../modelDescription.xml", &[change]);
    let start =
        "delayed_priority = 6, arm_every = 1, arm_interval = 0.002, low_burn_us = 35000, equal_a_tick_low_every = 25";
    let rig = || {
        Rig::new("stop_time = 0.3\nshutdown_timeout = 5")
            .fmu("a", path.clone(), start, "")
            .trigger("a.out_low", "a.low")
    };
    let run = rig().run_virtual().exits(0);
    assert_eq!(run.count("a", "delayed", "activations"), 30);
    real_time("a_deadline_that_passes_before_the_clock_is_armed_anew_is_activated", || {
        let run = rig().run().exits(0);
        // A skipped activation of slow arms nothing.
        let armed = run.count("a", "slow", "activations");
        assert!(armed >= 28, "{armed}");
        assert_eq!(run.count("a", "delayed", "activations"), armed, "{}", run.clock("a", "delayed"));
        let of_delayed = run.trace("a").activations(DELAYED);
        assert!(of_delayed.iter().all(|time| (time * 1000.0).round() as u64 % 10 == 2), "{of_delayed:?}");
    });
}

/// t(i) = t(event) + T(i) (FMI 3.0.2, 2.2.8.3, "Countdown aperiodic Clock"): slow arms its countdown clock every 10 ms for
/// 10 ms and is more urgent, or as urgent, so at each deadline it arms anew first. From 0.01 s on every one is reached.
#[test]
fn a_deadline_at_which_the_clock_is_armed_anew_is_reached_and_ticks() {
    for priority in [6, 4] {
        let folder = crate::program::tempdir().unwrap();
        let less_urgent = format!("clocks=\"4\" priority=\"{priority}\"");
        let change = ("clocks=\"4\" priority=\"3\"", less_urgent.as_str());
        let path = changed_tracer(folder.path(), "../modelDescription.xml", &[change]);
        let start = format!(
            "delayed_priority = {priority}, arm_every = 1, arm_interval = 0.01, equal_a_tick_low_every = 0, \
             slow_tick_high_every = 0"
        );
        let rig = || Rig::new("stop_time = 0.3\nshutdown_timeout = 5").fmu("a", path.clone(), &start, "");
        let check = |run: &Outcome| {
            let expected: Vec<f64> = (1..30).map(|k| f64::from(k) / 100.0).collect();
            assert_eq!(run.trace("a").activations(DELAYED), expected);
            for what in NEVER.into_iter().chain(["coalesced"]) {
                assert_eq!(run.count("a", "delayed", what), 0, "{what}");
            }
        };
        check(&rig().run_virtual().exits(0));
        // Cooperatively without the privilege.
        shared_core(|| {
            let run = rig().run().exits(0);
            if run.count("a", "slow", "skipped") == 0 {
                check(&run);
            }
        });
    }
}

#[test]
fn sixteen_ticks_wait_and_no_more() {
    real_time("sixteen_ticks_wait_and_no_more", || {
        // fast ticks every millisecond, low takes 25 ms for each: the queue is full most of the time.
        let run = Rig::new("stop_time = 0.25\nshutdown_timeout = 5")
            .tracer("a", "fast_tick_low_every = 1, equal_a_tick_low_every = 0")
            .tracer("b", "low_burn_us = 25000, equal_a_tick_low_every = 0")
            .trigger("a.out_low", "b.low")
            .run()
            .exits(0);
        accounted(&run, "a", OUT_LOW, "b", LOW);
        let (a, b) = (run.trace("a"), run.trace("b"));
        let last = a.events.iter().rfind(|event| event.is("activate", "begin") && event.clock == FAST).unwrap().ns;
        let drained =
            b.events.iter().filter(|event| event.is("activate", "begin") && event.clock == LOW && event.ns > last);
        // What waited at the end still runs.
        assert_eq!(drained.count(), 16);
        assert!(run.count("b", "low", "overruns") > 100, "{}", run.clock("b", "low"));
        assert_eq!(run.count("b", "low", "discarded"), 0);
        run.problem(&["clock b.low", "overruns"]);
    });
}

#[test]
fn a_late_partition_is_skipped_and_stays_on_its_grid() {
    real_time("a_late_partition_is_skipped_and_stays_on_its_grid", || {
        // fast takes 2.5 ms of every 1 ms.
        let run = Rig::new("stop_time = 0.2").tracer("a", "fast_burn_us = 2500").run().exits(0);
        let (activations, skipped) = (run.count("a", "fast", "activations"), run.count("a", "fast", "skipped"));
        assert_eq!(activations + skipped, 200);
        assert_eq!(run.count("a", "fast", "overruns"), skipped);
        assert!(skipped >= 100, "{skipped}");
        let times = run.trace("a").activations(FAST);
        assert!(times.iter().all(|time| *time == (time * 1000.0).round() / 1000.0), "{times:?}");
        // No coordinated omission: what was skipped is in the latencies, not in the execution times.
        let (clock, all) = (run.clock("a", "fast"), activations + skipped);
        for (metric, count) in
            [("wakeup_latency", all), ("start_latency", all), ("response", all), ("execution", activations)]
        {
            assert_eq!(clock[metric]["count"], count, "{metric}");
        }
        assert!(clock["start_latency"]["max"].as_u64().unwrap() >= 1_000_000);
    });
}

#[test]
fn clock_updates_inside_of_get_clock_are_refused_and_counted() {
    let rig = || {
        Rig::new("stop_time = 0.1")
            .tracer("a", "update_in_get_clock = true, lock_in_get_clock = true")
            .trigger("a.out_high", "a.high")
    };
    shared_core(|| {
        for run in [rig().run_virtual().exits(0), rig().run().exits(0)] {
            let callbacks = run.trace("a").count("update", "begin");
            run.problem(&["fmu `a`", &format!("{callbacks} clock updates from inside fmi3GetClock")]);
            let misplaced = run.problems().iter().any(|problem| problem.contains("had no effect"));
            assert!(!misplaced, "told of the instance, and nothing else: {:#?}", run.problems());
            assert_eq!(run.trace("a").violations(), 0);
            accounted(&run, "a", OUT_HIGH, "a", HIGH);
        }
    });
}

#[test]
fn every_call_begins_with_default_floating_point_control() {
    let start = "fail_kind = 12, fail_clock = 1, fail_at = 10";
    let rig = || Rig::new("stop_time = 0.1").tracer("a", start).tracer("b", "").connect("a.out_f64", "b.in_f64");
    shared_core(|| {
        for run in [rig().run_virtual().exits(0), rig().run().exits(0)] {
            assert_eq!((run.trace("a").violations(), run.trace("b").violations()), (0, 0));
            assert_eq!(run.trace("a").count("fail", "note"), 1);
        }
    });
}

#[test]
fn a_fixed_clock_is_told_its_interval_and_nothing_else() {
    let folder = crate::program::tempdir().unwrap();
    // The tracer's functions for other clocks, and for shifts, return fmi3Error; without its interval it finds a violation.
    let change = ("\"constant\" intervalDecimal=\"0.01\"", "\"fixed\" intervalDecimal=\"0.01\" shiftDecimal=\"0.005\"");
    let path = changed_tracer(folder.path(), "../modelDescription.xml", &[change]);
    let start = "slow_adjustable = true, slow_counter = 20, slow_shift = 5";
    let keys = "clock.slow.interval = \"1/50\"";
    let run = Rig::new("stop_time = 0.1").fmu("a", path, start, keys).run_virtual().exits(0);
    assert_eq!(run.trace("a").violations(), 0, "{:?}", run.trace("a").summary);
    assert_eq!(run.trace("a").activations(SLOW), [0.005, 0.025, 0.045, 0.065, 0.085]);
}

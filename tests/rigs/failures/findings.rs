//! What FMUs do against the standard is found, counted, named with its place, and with `--strict` fails the run.

use crate::program::{Outcome, Rig, changed_tracer, real_time, shared_core};

/// A tracer that breaks a rule of this kind in its 5th activation of `fast`, at 0.004 s: however late the machine is, no
/// release is left out.
fn offender(kind: i32) -> Rig {
    Rig::new("stop_time = 0.05\noverrun = 'queue'")
        .tracer("a", &format!("fail_kind = {kind}, fail_clock = 1, fail_at = 5"))
}

/// Runs it in both modes; both pass, and find exactly this offence.
#[track_caller]
fn finds(rig: impl Fn() -> Rig + Sync, kind: &str, count: u64, words: &[&str]) {
    shared_core(|| {
        for run in [rig().run_virtual().exits(0), rig().run().exits(0)] {
            assert_eq!(run.finding("a", kind), Some(count), "{:#}", run.fmu("a")["findings"]);
            let place = run.problems().iter().position(|problem| words.iter().all(|word| problem.contains(word)));
            let place = place.unwrap_or_else(|| panic!("{words:?} is not among {:#?}", run.problems()));
            assert_eq!(run.report()["problems"][place]["severity"], "finding");
            assert_eq!(run.report()["verdict"], "pass");
        }
        let strict: Outcome = rig().run_with(&["--strict", "--mode", "virtual"]).exits(1);
        assert_eq!(strict.report()["verdict"], "fail");
        strict.problem(words);
    });
}

#[test]
fn a_run_without_offences_has_no_finding_and_passes_strictly() {
    let rig = || {
        Rig::new("stop_time = 0.1")
            .tracer("a", "fast_tick_high_every = 1, slow_tick_high_every = 1, fast_lock_every = 1")
            .trigger("a.out_high", "a.high")
    };
    shared_core(|| {
        for run in [rig().run_with(&["--strict", "--mode", "virtual"]).exits(0), rig().run().exits(0)] {
            // A stall of the machine can make an activation outlast its period.
            let findings = run.fmu("a")["findings"].as_array().unwrap().clone();
            assert!(findings.iter().all(|finding| finding["kind"] == "outlasts_period"), "{findings:#?}");
            // Ticks of several partitions at one instant are coalesced, which is nobody's fault.
            assert!(run.count("a", "high", "coalesced") > 0);
        }
    });
}

#[test]
fn a_lock_that_is_not_given_back() {
    finds(|| offender(7), "lock_leaked", 1, &["fmu `a`: 1 time", "preemption lock held", "in clock fast at 0.004 s"]);
}

#[test]
fn an_unlock_without_a_lock() {
    finds(|| offender(8), "lock_unbalanced", 1, &["fmu `a`: 1 call of unlockPreemption", "in clock fast at 0.004 s"]);
}

#[test]
fn a_clock_update_on_a_thread_that_is_not_ours() {
    finds(|| offender(13), "foreign_thread", 1, &["fmu `a`: refused 1 clock update", "inside no call to it (thread "]);
}

#[test]
fn a_lock_on_a_thread_that_is_not_ours() {
    let words =
        ["fmu `a`: 2 calls of lockPreemption or unlockPreemption had no effect", "that vecud has not made (thread "];
    finds(|| offender(14), "foreign_lock", 2, &words);
}

#[test]
fn a_clock_update_after_terminate() {
    let rig = || Rig::new("stop_time = 0.05").tracer("a", "fail_kind = 15, fail_function = 8");
    finds(rig, "outside_clock_activation", 1, &["fmu `a`: refused 1 clock update", "after fmi3Terminate"]);
}

#[test]
fn a_tick_without_a_clock_update_surfaces_in_another_one() {
    // By its declaration slow does not tick high: fast does, and says nothing.
    let rig = || {
        let start = "fail_kind = 17, fail_clock = 1, fail_at = 5, slow_tick_high_every = 0, slow_tick_low_every = 1, \
                     equal_a_tick_low_every = 0";
        let rig = Rig::new("stop_time = 0.05");
        let without_slow = ("clocks=\"1 2 3 4 6 7\"", "clocks=\"1 2 3\"");
        let fmu = changed_tracer(rig.folder(), "../modelDescription.xml", &[without_slow]);
        rig.fmu("a", fmu, start, "").trigger("a.out_high", "a.high")
    };
    finds(
        rig,
        "tick_read_late",
        1,
        &[
            "fmu `a`: 1 tick of out_high surfaced in a partition that its clocks attribute does not name",
            "in clock slow at 0.01 s",
        ],
    );
}

#[test]
fn intervals_that_no_clock_can_have() {
    for (written, shown) in [("nan", "NaN"), ("-0.5", "-0.5"), ("inf", "inf")] {
        let rig = || Rig::new("stop_time = 0.05").tracer("a", &format!("arm_interval = {written}, arm_every = 5"));
        let words = format!("fmu `a`: ignored 1 interval that no clock can have: {shown} s for clock delayed");
        finds(rig, "illegal_interval", 1, &[&words, "in clock slow at 0.04 s"]);
    }
}

#[test]
fn a_flood_of_log_messages() {
    shared_core(|| {
        // In virtual time the flood can be slower than its reader.
        let run = offender(16).run().exits(0);
        let lost = run.finding("a", "log_flood").expect("found");
        assert!(lost > 0 && lost < 10_000, "{lost}");
        run.problem(&["fmu `a`:", "log messages came too fast to be kept"]);
        assert_eq!(run.report()["log_dropped"], lost);
    });
}

#[test]
fn an_activation_that_takes_longer_than_its_period() {
    real_time("an_activation_that_takes_longer_than_its_period", || {
        let rig = || Rig::new("stop_time = 0.1").tracer("a", "fast_burn_us = 1500");
        let run = rig().run().exits(0);
        assert_eq!(run.finding("a", "outlasts_period"), Some(run.count("a", "fast", "activations")));
        run.problem(&[
            "fmu `a`:",
            "executed for longer than the period of the clock: fast for",
            "first in clock fast at 0 s",
        ]);
        rig().run_with(&["--strict"]).exits(1);
    });
}

#[test]
fn a_cycle_of_triggers_is_cut_where_it_closes() {
    // fast ticks b.low, which ticks a.high, which ticks b.low: at the same instant. Every tenth time, so none may be left out.
    let rig = || {
        Rig::new("stop_time = 0.05\noverrun = 'queue'")
            .tracer("a", "fast_tick_low_every = 10, high_tick_low_every = 1, equal_a_tick_low_every = 0")
            .tracer("b", "low_tick_high_every = 1, slow_tick_high_every = 0")
            .trigger("a.out_low", "b.low")
            .trigger("b.out_high", "a.high")
    };
    finds(
        rig,
        "cut_cycle",
        5,
        &["fmu `a`: 5 ticks of low would have closed a cycle", "first in clock high at 0.009 s"],
    );
    let run = rig().run_virtual().exits(0);
    assert_eq!((run.count("a", "high", "activations"), run.count("b", "low", "activations")), (5, 5));
    assert_eq!(run.count("b", "low", "coalesced"), 5);
}

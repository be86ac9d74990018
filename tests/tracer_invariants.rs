//! The rules of Scheduled Execution, proven from what FMUs notice when the whole program runs them: the order of every
//! activation, lock, callback, set and get, in real and in virtual time.

mod program;

use program::clock::{HIGH, LOW, OUT_HIGH, OUT_LOW};
use program::{Outcome, Rig, Seen, check_threads, real_time};

const STOP_MS: u64 = 1000;

/// Two instances on one core, connected and triggering each other in both directions. Partitions are long enough to be
/// preempted in the midst of everything: `slow` is inside its locked section when `fast` is released, and so on.
fn rig() -> Rig {
    let a = "count_up = true, slow_burn_us = 600, slow_lock_us = 700, slow_tick_in_lock = true, \
             fast_tick_high_every = 3, fast_tick_low_every = 7, equal_a_burn_us = 60, equal_b_burn_us = 150, \
             equal_b_tick_high_every = 5, low_burn_us = 250, low_lock_us = 100, low_lock_nested = true, \
             delayed_tick_high_every = 1, arm_every = 1";
    let b = "count_up = true, slow_burn_us = 300, slow_lock_us = 1300, lock_in_get_clock = true, \
             equal_a_lock_us = 80, equal_a_tick_low_every = 3, low_burn_us = 200, low_tick_high_every = 2, \
             high_burn_us = 30, arm_every = 3, arm_interval = 0.0031";
    Rig::new(&format!("stop_time = {}", STOP_MS as f64 / 1000.0))
        .tracer("a", a)
        .tracer("b", b)
        .trigger("a.out_high", "a.high")
        .trigger("b.out_high", "b.high")
        .trigger("a.out_low", "b.low")
        .trigger("b.out_low", "a.low")
        .connect("a.out_f64", "b.in_f64")
        .connect("b.out_i32", "a.in_i32")
        .connect("a.out_array", "b.in_array")
        .connect("b.out_bool", "a.in_bool")
        .connect("a.out_i8", "b.in_i8")
        .connect("b.out_u64", "a.in_u64")
        .more("[record]\nsignals = ['*.count_*', '*.violation*', '*.time_*', '*.out_i*', '*.out_u*', '*.out_enum', '*.in_i*']")
}

fn check(run: &Outcome, preemptive: bool) -> (Seen, Vec<String>) {
    let mut seen = Seen::default();
    let mut broken = Vec::new();
    for fmu in ["a", "b"] {
        let trace = run.trace(fmu);
        let (own, found) = trace.check(preemptive);
        seen += own;
        broken.extend(found);
        if preemptive {
            broken.extend(check_threads(&trace));
        }
        broken.extend(run.check_counts(fmu, STOP_MS));
        if run.signals().last(&format!("{fmu}.violations")) > 0 {
            broken.push(format!("{fmu}.violations is not 0 at the end of signals.csv"));
        }
    }
    for (source, output, target, clock) in
        [("a", OUT_HIGH, "a", HIGH), ("b", OUT_HIGH, "b", HIGH), ("a", OUT_LOW, "b", LOW), ("b", OUT_LOW, "a", LOW)]
    {
        broken.extend(run.check_ticks(source, output, target, clock));
    }
    (seen, broken)
}

#[track_caller]
fn assert_nothing_broken(broken: &[String]) {
    let first = broken.iter().take(12).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(broken.is_empty(), "{} rules broken:\n{first}", broken.len());
}

#[test]
fn ten_real_time_runs_in_a_row_keep_every_rule() {
    let Some(_core) = real_time("ten_real_time_runs_in_a_row_keep_every_rule") else { return };
    let mut total = Seen::default();
    for round in 1..=10 {
        let run = rig().run().exits(0);
        let (seen, broken) = check(&run, true);
        println!("run {round}: {seen:?}");
        assert_nothing_broken(&broken);
        total += seen;
    }
    println!("ten runs: {total:?}");
    // There was something to be seen in all of it.
    assert!(total.activations > 10_000 && total.locked_sections > 10_000, "{total:?}");
    assert!(total.callbacks > 2_000 && total.high_ticks > 1_000 && total.preemptions > 1_000, "{total:?}");
}

#[test]
fn virtual_time_keeps_every_rule() {
    let run = rig().run_virtual().exits(0);
    let (seen, broken) = check(&run, false);
    println!("{seen:?}");
    assert_nothing_broken(&broken);
    assert_eq!(seen.preemptions, 0);
    assert!(seen.activations > 4_000 && seen.callbacks > 800 && seen.high_ticks > 500, "{seen:?}");
    for fmu in ["a", "b"] {
        for clock in ["fast", "equal_a", "equal_b", "slow", "high", "low", "delayed"] {
            for never in ["overruns", "skipped", "retimed", "discarded"] {
                assert_eq!(run.count(fmu, clock, never), 0, "{never} of {fmu}.{clock}");
            }
        }
    }
}

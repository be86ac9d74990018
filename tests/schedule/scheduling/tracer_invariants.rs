//! The rules of Scheduled Execution, proven from what FMUs notice when the whole program runs them: the order of every
//! activation, lock, callback, set and get, in real and in virtual time.

use crate::program::clock::{HIGH, LOW, OUT_HIGH, OUT_LOW};
use crate::program::{Kind, Outcome, Rig, Seen, changed_tracer, check_threads, real_time};

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

fn check(run: &Outcome, kind: Kind) -> (Seen, Vec<String>) {
    let mut seen = Seen::default();
    let mut broken = Vec::new();
    for fmu in ["a", "b"] {
        let trace = run.trace(fmu);
        let (own, found) = trace.check(kind);
        seen += own;
        broken.extend(found);
        if kind != Kind::OneAtATime {
            broken.extend(check_threads(&trace));
        }
        broken.extend(run.check_counts(fmu, STOP_MS));
        let violations = run.signals().last(&format!("{fmu}.violations"));
        if violations > 0 && kind != Kind::Sleeping {
            broken.push(format!("{fmu}.violations is {violations} at the end of signals.csv: {:?}", trace.summary));
        }
    }
    for (source, output, target, clock) in
        [("a", OUT_HIGH, "a", HIGH), ("b", OUT_HIGH, "b", HIGH), ("a", OUT_LOW, "b", LOW), ("b", OUT_LOW, "a", LOW)]
    {
        broken.extend(run.check_ticks(source, output, target, clock));
    }
    let late = run.problems().into_iter().filter(|problem| problem.contains("after their row"));
    broken.extend(late);
    (seen, broken)
}

#[track_caller]
fn assert_nothing_broken(broken: &[String]) {
    let first = broken.iter().take(12).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(broken.is_empty(), "{} rules broken:\n{first}", broken.len());
}

#[test]
fn ten_real_time_runs_in_a_row_keep_every_rule() {
    real_time("ten_real_time_runs_in_a_row_keep_every_rule", || {
        let mut total = Seen::default();
        for round in 1..=10 {
            let run = rig().run().exits(0);
            let (seen, broken) = check(&run, Kind::Preemptive);
            println!("run {round}: {seen:?}");
            assert_nothing_broken(&broken);
            total += seen;
        }
        println!("ten runs: {total:?}");
        // There was something to be seen in all of it.
        assert!(total.activations > 10_000 && total.locked_sections > 10_000, "{total:?}");
        assert!(total.callbacks > 2_000 && total.high_ticks > 1_000 && total.preemptions > 1_000, "{total:?}");
    });
}

#[test]
fn virtual_time_keeps_every_rule() {
    let run = rig().run_virtual().exits(0);
    let (seen, broken) = check(&run, Kind::OneAtATime);
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

#[test]
fn partitions_that_sleep_keep_every_rule() {
    real_time("partitions_that_sleep_keep_every_rule", || {
        // At 2, 8, 14 ms: equal_a sleeps beyond the release of equal_b. fast and low sleep now and then, too.
        let start = "equal_a_sleep_every = 1, equal_a_sleep_us = 1200, equal_b_sleep_every = 2, equal_b_sleep_us = 700, \
                 fast_sleep_every = 3, fast_sleep_us = 250, slow_lock_us = 900, slow_burn_us = 500, \
                 low_burn_us = 300, low_lock_us = 400, equal_a_tick_low_every = 2, delayed_tick_high_every = 1";
        let mut total = Seen::default();
        for _ in 0..3 {
            let run = Rig::new(&format!("stop_time = {}", STOP_MS as f64 / 1000.0))
                .tracer("a", start)
                .tracer("b", start)
                .trigger("a.out_high", "a.high")
                .trigger("b.out_high", "b.high")
                .trigger("a.out_low", "b.low")
                .trigger("b.out_low", "a.low")
                .run()
                .exits(0);
            let (seen, broken) = check(&run, Kind::Sleeping);
            println!("{seen:?}");
            assert_nothing_broken(&broken);
            total += seen;
        }
        assert!(total.preemptions > 500 && total.high_ticks > 200, "{total:?}");
        // Without the gate it would be about every fifth.
        assert!(total.inside_sleepers * 100 < total.activations, "{total:?}");
    });
}

/// A partition ticks `high` inside of a long locked section; meanwhile `fast` is released and waits for the unlock. `high`
/// is more urgent than both.
#[test]
fn a_middle_partition_does_not_slip_in_before_a_ticked_higher_one() {
    let test = "a_middle_partition_does_not_slip_in_before_a_ticked_higher_one";
    real_time(test, || {
        let folder = crate::program::tempdir().unwrap();
        let unlock = "    if (in_lock) unlock(fmu, activation);";
        let later = format!("    if (in_lock) burn(fmu, activation, 1500000);\n{unlock}");
        let path = changed_tracer(folder.path(), "partitions.c", &[(unlock, &later)]);
        let start = "slow_tick_in_lock = true, equal_b_tick_low_every = 4, arm_every = 0";
        let run = Rig::new(&format!("stop_time = {}", STOP_MS as f64 / 1000.0))
            .fmu("a", path.clone(), start, "")
            .fmu("b", path, start, "")
            .trigger("a.out_high", "a.high")
            .trigger("b.out_high", "b.high")
            .trigger("a.out_low", "b.low")
            .trigger("b.out_low", "a.low")
            .run()
            .exits(0);
        let (seen, broken) = check(&run, Kind::Preemptive);
        println!("{seen:?}");
        assert_nothing_broken(&broken);
        assert!(seen.high_ticks > 150, "{seen:?}");
    });
}

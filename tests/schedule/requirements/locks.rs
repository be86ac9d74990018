//! lockPreemption and unlockPreemption.

use super::program::clock::{FAST, SLOW};
use super::program::{Kind, Rig, real_time, real_time_on_own_core, send, shared_core};
use super::tracer;
use crate::wait_until_recorded;
use nix::sys::signal::Signal::SIGINT;

#[test]
fn a_million_locked_sections_are_balanced_in_both_modes() {
    let rig = || Rig::new("stop_time = 1").tracer("a", "cost_rounds = 2000");
    shared_core(|| {
        for run in [rig().run_virtual().exits(0), rig().run().exits(0)] {
            let (lock, slow) = (&run.fmu("a")["lock"], run.count("a", "slow", "activations"));
            assert!(slow > 50 && lock["acquisitions"].as_u64().unwrap() >= slow * 10_000, "{slow}: {lock}");
            assert_eq!(lock["violations"], 0);
        }
    });
}

/// Only `slow` ever locks: what keeps the others out is not that they ask for the lock.
#[test]
fn nobody_starts_inside_of_a_section_although_nobody_else_locks() {
    real_time("nobody_starts_inside_of_a_section_although_nobody_else_locks", || {
        let others =
            ["fast", "equal_a", "equal_b", "high", "low", "delayed"].map(|p| format!("{p}_lock_every = 0")).join(", ");
        // arm_every = 0, since arming takes the lock too, and slow_tick_high_every, since callbacks do.
        let start = format!(
            "{others}, slow_lock_us = 3000, arm_every = 0, slow_tick_high_every = 0, equal_a_tick_low_every = 0"
        );
        let run = Rig::new("stop_time = 0.5").tracer("a", &start).run().exits(0);
        let trace = run.trace("a");
        let (seen, broken) = trace.check(Kind::Preemptive);
        assert!(broken.is_empty(), "{broken:#?}");
        assert_eq!(seen.locked_sections, run.count("a", "slow", "activations"));
        // Inside of each, fast was due three times or so; it ran right after it.
        let begun = |from: usize| trace.events[from..].iter().find(|e| e.is("activate", "begin")).map(|e| e.clock);
        let unlocks = trace.events.iter().enumerate().filter(|(_, e)| e.is("unlock", "begin"));
        let next: Vec<Option<u32>> = unlocks.map(|(at, _)| begun(at)).collect();
        assert!(next.len() > 25 && next.iter().all(|clock| *clock == Some(FAST)), "{next:?}");
    });
}

/// The example of the founding text: three values written by a slow task and read by a fast one, both under the lock.
#[test]
fn three_values_that_are_written_under_the_lock_are_never_seen_mixed() {
    real_time_on_own_core("three_values_that_are_written_under_the_lock_are_never_seen_mixed", || {
        let folder = crate::program::tempdir().unwrap();
        let run = "    burn(fmu, activation, set->burn_us * INT64_C(500));\n    if (every(set->lock_every";
        let more = "    static volatile int16_t buffer[3];
    for (int i = 0; activation->clock == SLOW && i < 10000; i++) {
        fmu->base.lock_preemption();
        for (int j = 0; j < 3; j++) buffer[j] = (int16_t)(i % 1000);
        fmu->base.unlock_preemption();
    }
    for (int i = 0; activation->clock == FAST && i < 1000; i++) {
        fmu->base.lock_preemption();
        if (buffer[0] != buffer[1] || buffer[1] != buffer[2]) violated(fmu, FAST, TORN_ARRAY);
        fmu->base.unlock_preemption();
    }
";
        let path = tracer(folder.path(), &[("partitions.c", run, &format!("{more}{run}"))]);
        let start = "equal_a_tick_low_every = 0, slow_tick_high_every = 0, arm_every = 0";
        let rig = Rig::new("stop_time = 100\nshutdown_timeout = 5").fmu("a", path, start, "");
        let child = rig.start(rig.command());
        // A second and more: `fast` comes a thousand times, each millisecond but for what is left out.
        wait_until_recorded(&rig.out(), "a.count_fast", 1000.0);
        wait_until_recorded(&rig.out(), "a.count_slow", 50.0);
        send(child.id() as i32, SIGINT);
        let run = rig.finish(child).exits(0);
        let trace = run.trace("a");
        assert_eq!(trace.violations(), 0, "{:?}", trace.summary);
        let (fast, slow) = (run.count("a", "fast", "activations"), run.count("a", "slow", "activations"));
        assert!(fast >= 1000 && slow >= 50, "{fast} times a thousand reads, {slow} times ten thousand writes");
        // Readers came in the midst of writing.
        let inside = super::spans(&trace, SLOW).into_iter().map(|(from, to, _)| {
            trace.events[from..to].iter().filter(|e| e.is("activate", "begin") && e.clock == FAST).count()
        });
        assert!(inside.sum::<usize>() > 50);
    });
}

/// `a.slow` holds the lock for 3 ms, `a.fast` waits for it from the next millisecond on. All of `b` is less urgent than
/// `a.fast` and, but for its slowest, more urgent than `a.slow`: it would go on for ever without inheritance.
#[test]
fn while_a_more_urgent_one_waits_for_the_lock_nobody_between_runs() {
    real_time("while_a_more_urgent_one_waits_for_the_lock_nobody_between_runs", || {
        let (mut sections, mut waiting) = (0, 0);
        for _ in 0..3 {
            let quiet = "equal_a_tick_low_every = 0, slow_tick_high_every = 0, arm_every = 0";
            let run = Rig::new("stop_time = 0.5")
                .tracer("a", &format!("slow_lock_us = 3000, {quiet}"))
                .tracer("b", &format!("fast_burn_us = 200, {quiet}"))
                .run()
                .exits(0);
            let (a, b) = (run.trace("a"), run.trace("b"));
            let fifo = |fmu, clock| run.count(fmu, clock, "fifo_priority");
            assert!(fifo("a", "fast") > fifo("b", "fast") && fifo("b", "equal_b") > fifo("a", "slow"));
            let start = run.report()["start_monotonic_ns"].as_i64().unwrap();
            let starts: Vec<i64> = b.events.iter().filter(|e| e.is("activate", "begin")).map(|e| e.ns).collect();
            for (from, to, _) in super::spans(&a, SLOW) {
                let own = &a.events[from..to];
                let edge =
                    |what: &str, phase: &str| own.iter().find(|e| e.is(what, phase) && e.clock == SLOW).unwrap().ns;
                let (locked, unlocked) = (edge("lock", "end"), edge("unlock", "begin"));
                // fast is released at whole milliseconds; half of one is for its way to the lock.
                let released = locked + 1_000_000 - (locked - start).rem_euclid(1_000_000);
                let inside = starts.iter().filter(|ns| (released + 500_000..unlocked).contains(ns)).count();
                assert_eq!(inside, 0, "partitions of b began while a.fast waited for a.slow");
                sections += 1;
                // Of these b.fast is one, every millisecond.
                waiting += (unlocked - released - 500_000).max(0) / 1_000_000;
            }
        }
        assert!(sections > 60 && waiting > 60, "{sections} sections, {waiting} releases in them");
    });
}

//! Activations that return an error, hang, crash or exit.

use super::*;
use crate::program::PATIENCE;

#[test]
fn an_error_ends_the_instance_without_terminate() {
    in_both_modes(
        || in_activation(ERROR, ""),
        |run, realtime| {
            failed(run, "error", "terminated");
            recorded_up_to_the_failure(run, realtime);
            end_of_a(run, 0, 1);
            let time = time_of_failure(run);
            assert!(realtime || time == "at 0.05 s", "{time}");
            let last_words = "An error, as asked for.";
            run.problem(&["fmu `a`", "fmi3ActivateModelPartition", "fmi3Error", "clock fast", &time, last_words]);
            assert_eq!(run.trace("b").count("terminate", "begin"), 1, "the other one ends properly");
            assert!(run.file("run.log").contains("a: [logStatusError] error: An error, as asked for."));
            assert!(run.report()["end_time"].as_f64().unwrap() < 0.2);
        },
    );
}

#[test]
fn a_discard_counts_as_an_error() {
    in_both_modes(
        || in_activation(DISCARD, ""),
        |run, realtime| {
            failed(run, "error", "terminated");
            recorded_up_to_the_failure(run, realtime);
            end_of_a(run, 0, 1);
            run.problem(&["fmu `a`", "fmi3ActivateModelPartition", "fmi3Discard", "clock fast", "Discarded, as asked"]);
        },
    );
}

#[test]
fn after_a_fatal_error_nothing_of_that_fmu_is_called() {
    for on_error in ["", "on_error = 'continue'"] {
        in_both_modes(
            || in_activation(FATAL, on_error),
            |run, realtime| {
                // Both are instances of one FMU.
                failed(run, "fatal", "aborted");
                recorded_up_to_the_failure(run, realtime);
                end_of_a(run, 0, 0);
                run.problem(&["fmu `a`", "fmi3ActivateModelPartition", "fmi3Fatal", "clock fast", "A fatal error"]);
                let b = run.trace("b");
                assert_eq!((b.count("terminate", "begin"), b.count("free", "begin")), (0, 0));
                let calls_of_b = b.activations(program::clock::FAST).len();
                assert!(calls_of_b <= 60 || realtime, "{calls_of_b}");
            },
        );
    }
}

#[test]
fn with_on_error_continue_the_other_instance_goes_on() {
    in_both_modes(
        || in_activation(ERROR, "on_error = 'continue'"),
        |run, realtime| {
            failed(run, "error", "terminated");
            end_of_a(run, 0, 1);
            assert_eq!(run.signals().last("a.count_fast"), 50);
            let all = run.count("b", "fast", "activations") + run.count("b", "fast", "skipped");
            assert_eq!(all, 200);
            assert_eq!(run.signals().last("b.count_fast"), run.count("b", "fast", "activations"));
            assert!(*run.signals().times().last().unwrap() >= 0.19 || realtime);
            assert_eq!(run.report()["end_time"], 0.2, "the run came to its stop time");
            // b still ticks a's clock: those ticks are thrown away, and counted, but are no overruns.
            assert_eq!(run.count("a", "low", "overruns"), 0);
            assert!(run.count("a", "low", "discarded") > 10, "{}", run.clock("a", "low"));
        },
    );
}

#[test]
fn a_hanging_partition_is_reported_by_name() {
    shared_core(|| {
        let run = in_activation(HANG_ASLEEP, "").run();
        failed(&run, "hung", "aborted");
        run.problem(&["clock a.fast", "fmi3ActivateModelPartition", &time_of_failure(&run), "0.3 s", "hangs"]);
        recorded_up_to_the_hang(&run);
        assert!(run.took < PATIENCE, "{:?}", run.took);
    });
}

#[test]
fn a_partition_that_spins_is_reported_by_name() {
    real_time("a_partition_that_spins_is_reported_by_name", || {
        let run = in_activation(HANG_BUSY, "").run();
        failed(&run, "hung", "aborted");
        run.problem(&["clock a.fast", "fmi3ActivateModelPartition", &time_of_failure(&run), "hangs"]);
        assert_eq!(run.signals().last("a.count_fast"), 50);
    });
}

#[test]
fn a_partition_that_hangs_with_the_lock_held_is_the_one_reported() {
    shared_core(|| {
        // equal_a sleeps for a minute in its locked section; all others wait for the lock.
        let run = two("equal_a_lock_sleep_us = 60000000, equal_a_lock_every = 20", "", "").run();
        failed(&run, "hung", "aborted");
        run.problem(&["clock a.equal_a", "fmi3ActivateModelPartition", "hangs"]);
    });
}

/// What came before, and of the other instance all.
#[track_caller]
fn recorded_up_to_the_hang(run: &Outcome) {
    let signals = run.signals();
    assert_eq!(signals.last("a.count_fast"), 50);
    assert_eq!(signals.last("b.count_fast"), run.count("b", "fast", "activations"));
    assert_eq!(run.count("b", "fast", "activations") + run.count("b", "fast", "skipped"), 200);
}

#[test]
fn a_crash_leaves_a_complete_report() {
    in_both_modes(
        || in_activation(CRASH, ""),
        |run, realtime| {
            failed(run, "crashed", "aborted");
            recorded_up_to_the_failure(run, realtime);
            let time = time_of_failure(run);
            run.problem(&["fmu `a` crashed (SIGSEGV)", "clock a.fast", "fmi3ActivateModelPartition", &time]);
            // The runner could not say any more how long it took.
            let took = run.report()["wall_seconds"].as_f64().unwrap();
            assert!(took > if realtime { 0.04 } else { 0.0 }, "{took}");
            let trace = run.trace("a");
            assert_eq!((trace.count("terminate", "begin"), trace.count("free", "begin")), (0, 0));
        },
    );
}

#[test]
fn an_abort_leaves_a_complete_report() {
    in_both_modes(
        || in_activation(ABORT, ""),
        |run, realtime| {
            failed(run, "crashed", "aborted");
            recorded_up_to_the_failure(run, realtime);
            let time = time_of_failure(run);
            run.problem(&["fmu `a` crashed (SIGABRT)", "clock a.fast", "fmi3ActivateModelPartition", &time]);
        },
    );
}

#[test]
fn a_call_of_exit_is_no_regular_end() {
    in_both_modes(
        || in_activation(EXIT, ""),
        |run, realtime| {
            failed(run, "crashed", "aborted");
            recorded_up_to_the_failure(run, realtime);
            let time = time_of_failure(run);
            run.problem(&["fmu `a` called exit(3)", "clock a.fast", "fmi3ActivateModelPartition", &time]);
        },
    );
}

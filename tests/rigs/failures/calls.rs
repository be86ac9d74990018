//! Wrong use of the lock, warnings, and failures of other functions than activations.

use super::*;

#[test]
fn a_leaked_lock_is_released_and_reported() {
    in_both_modes(
        || in_activation(LEAK_LOCK, ""),
        |run, _| {
            assert_eq!(run.code, 0, "{}", run.stderr);
            let lock = &run.fmu("a")["lock"];
            assert_eq!((&lock["leaked"], &lock["unbalanced"], &lock["violations"]), (&1.into(), &0.into(), &1.into()));
            run.problem(&["fmu `a`", "1 time a partition", "preemption lock held"]);
            assert_eq!(run.count("a", "fast", "activations") + run.count("a", "fast", "skipped"), 200);
            let (_, broken) = run.trace("b").check(kind(run));
            assert!(broken.is_empty(), "{broken:#?}");
        },
    );
}

/// Nothing in FMI 3.0.2, 5.1 and 5.2 forbids to take the lock again: it is counted, and nothing is wrong with it.
#[test]
fn a_lock_that_is_taken_again_by_its_owner_is_no_problem() {
    in_both_modes(
        || Rig::new("stop_time = 0.2").tracer("a", "slow_lock_nested = true"),
        |run, _| {
            assert_eq!(run.code, 0, "{}", run.stderr);
            let lock = &run.fmu("a")["lock"];
            assert!(lock["nested"].as_u64() > Some(0) && lock["violations"] == 0, "{lock}");
            assert!(!run.problems().iter().any(|problem| problem.contains("lockPreemption")), "{:#?}", run.problems());
        },
    );
}

#[test]
fn a_lock_that_is_leaked_while_outputs_are_read_is_released_and_reported() {
    in_both_modes(
        || in_function(LEAK_LOCK, 5, 100),
        |run, _| {
            assert_eq!(run.code, 0, "{}", run.stderr);
            let lock = &run.fmu("a")["lock"];
            assert_eq!((&lock["leaked"], &lock["nested"], &lock["violations"]), (&1.into(), &0.into(), &1.into()));
        },
    );
}

#[test]
fn an_unlock_without_a_lock_has_no_effect_and_is_reported() {
    in_both_modes(
        || in_activation(UNLOCK_UNLOCKED, ""),
        |run, _| {
            assert_eq!(run.code, 0, "{}", run.stderr);
            let lock = &run.fmu("a")["lock"];
            assert_eq!((&lock["leaked"], &lock["unbalanced"], &lock["violations"]), (&0.into(), &1.into(), &1.into()));
            run.problem(&["fmu `a`", "1 call of unlockPreemption without a lock"]);
            for fmu in ["a", "b"] {
                let (_, broken) = run.trace(fmu).check(kind(run));
                assert!(broken.is_empty(), "{broken:#?}");
            }
        },
    );
}

#[test]
fn a_warning_is_what_the_rig_says() {
    let start = format!("fail_kind = {WARNING}, fail_clock = 1, fail_at = 51");
    in_both_modes(
        || two(&start, "", "on_warning = 'log'"),
        |run, _| {
            assert_eq!((run.code, run.status("a").as_str()), (0, "terminated"), "{}", run.stderr);
            run.problem(&["fmu `a`", "1 call returned fmi3Warning"]);
            assert!(run.file("run.log").contains("A warning, as asked for."));
            assert!(run.stderr.contains("A warning, as asked for."), "{}", run.stderr);
        },
    );
    in_both_modes(
        || two(&start, "", "on_warning = 'ignore'"),
        |run, _| {
            assert_eq!((run.code, run.status("a").as_str()), (0, "terminated"), "{}", run.stderr);
            let about = run.problems().into_iter().filter(|problem| problem.contains("Warning"));
            assert_eq!(about.collect::<Vec<_>>(), Vec::<String>::new());
            let (_, broken) = run.trace("a").check(kind(run));
            assert!(broken.is_empty(), "{broken:#?}");
        },
    );
    in_both_modes(
        || two(&start, "", "on_warning = 'error'"),
        |run, realtime| {
            failed(run, "error", "terminated");
            recorded_up_to_the_failure(run, realtime);
            end_of_a(run, 0, 1);
            let words =
                ["fmu `a`", "fmi3ActivateModelPartition", "fmi3Warning", "on_warning = \"error\"", "clock fast"];
            run.problem(&words);
        },
    );
}

#[test]
fn a_warning_anywhere_is_an_error_if_the_rig_says_so() {
    for (function, at, name) in [(2, 1, "fmi3EnterInitializationMode"), (6, 3, "fmi3GetClock"), (5, 60, "fmi3Get")] {
        let start = format!("fail_kind = {WARNING}, fail_function = {function}, fail_at = {at}");
        let run = two(&start, "", "on_warning = 'error'").run_virtual();
        failed(&run, "error", if function == 2 { "aborted" } else { "terminated" });
        run.problem(&["fmu `a`", name, "fmi3Warning", "on_warning = \"error\""]);
        let trace = run.trace("a");
        assert_eq!((trace.count("terminate", "begin"), trace.count("free", "begin")), (0, 1));
        // A warning in a callback is the last call in it: the FMU misses the others (UPDATE_INCOMPLETE).
        let kinds = if function == 6 { "0x800" } else { "0x0" };
        assert_eq!(trace.summary["kinds"], kinds, "{name}");
    }
}

#[test]
fn a_failure_of_any_function_is_reported_with_its_name() {
    for (function, at, name, clock) in [
        (2, 1, "fmi3EnterInitializationMode", ""),
        (3, 1, "fmi3ExitInitializationMode", ""),
        (4, 60, "fmi3SetFloat64", "clock fast"),
        (5, 200, "fmi3Get", "clock "),
        (6, 5, "fmi3GetClock", "clock "),
        (7, 5, "fmi3GetIntervalDecimal", "clock "),
    ] {
        for (kind, status) in [(ERROR, "fmi3Error"), (FATAL, "fmi3Fatal")] {
            let run = in_function(kind, function, at).run_virtual();
            let other = match (kind, function) {
                (FATAL, _) | (_, 2 | 3) => "aborted",
                _ => "terminated",
            };
            failed(&run, if kind == FATAL { "fatal" } else { "error" }, other);
            run.problem(&["fmu `a`", name, status, clock, "as asked for."]);
            end_of_a(&run, 0, usize::from(kind != FATAL));
        }
        let run = in_function(CRASH, function, at).run_virtual();
        failed(&run, "crashed", "aborted");
        run.problem(&["fmu `a` crashed (SIGSEGV)", name]);
    }
}

#[test]
fn a_failure_inside_a_callback_is_reported_in_real_time_too() {
    shared_core(|| {
        for (function, name) in [(5, "fmi3Get"), (6, "fmi3GetClock"), (7, "fmi3GetIntervalDecimal")] {
            let run = in_function(ERROR, function, 5).run();
            failed(&run, "error", "terminated");
            run.problem(&["fmu `a`", name, "fmi3Error"]);
            end_of_a(&run, 0, 1);
        }
    });
}

#[test]
fn a_failure_of_terminate_fails_the_run() {
    for (kind, status, code) in [(ERROR, "fmi3Error", "error"), (FATAL, "fmi3Fatal", "fatal")] {
        let run = in_function(kind, 8, 1).run_virtual();
        assert_eq!((run.code, run.status("a").as_str()), (1, code), "{}", run.stderr);
        run.problem(&["fmu `a`", "fmi3Terminate", status]);
        let trace = run.trace("a");
        let free = usize::from(kind != FATAL);
        assert_eq!((trace.count("terminate", "begin"), trace.count("free", "begin")), (1, free));
        assert_eq!(run.signals().last("a.count_fast"), 200, "everything is recorded");
    }
    let run = in_function(CRASH, 8, 1).run_virtual();
    assert_eq!((run.code, run.status("a").as_str()), (1, "crashed"), "{}", run.stderr);
    run.problem(&["fmu `a` crashed (SIGSEGV)", "fmi3Terminate"]);
    assert_eq!(run.signals().last("a.count_fast"), 200, "everything is recorded");
}

#[test]
fn an_fmu_that_cannot_be_made_leaves_nothing_behind() {
    for mode in ["", "mode = 'virtual'"] {
        let rig = Rig::new(&format!("stop_time = 0.1\n{mode}")).tracer("fail_instantiate_1", "");
        let run = rig.run().exits(2);
        assert!(run.stderr.contains("No instance, as asked for."), "its words: {}", run.stderr);
        assert!(run.stderr.contains("fail_instantiate_1") && run.stderr.contains("fmi3Instantiate"), "{}", run.stderr);
        assert!(!run.out.exists(), "nothing is left behind");
        assert!(run.stdout.is_empty(), "{}", run.stdout);
    }
}

#[test]
fn a_crash_or_exit_while_it_is_made_is_a_failed_run() {
    for (kind, how) in [(CRASH, "crashed (SIGSEGV)"), (EXIT, "called exit(3)")] {
        let name = format!("fail_instantiate_{kind}");
        let run = Rig::new("stop_time = 0.1\nmode = 'virtual'").tracer(&name, "").run().exits(1);
        run.problem(&[&format!("fmu `{name}` {how}"), "fmi3InstantiateScheduledExecution"]);
        assert_eq!(run.status(&name), "crashed");
        assert!(run.signals().rows.is_empty());
    }
}

//! FMUs that fail, and runs that are stopped: what the exit code, the report and the recording say, and what is called
//! afterwards.

mod program;

use nix::sys::signal::Signal;
use program::{Kind, Outcome, Rig, changed_tracer, real_time, runner_of, send, the_core, wait_until};
use std::time::Duration;

const ERROR: i32 = 1;
const DISCARD: i32 = 2;
const FATAL: i32 = 3;
const HANG_ASLEEP: i32 = 4;
const CRASH: i32 = 5;
const EXIT: i32 = 6;
const LEAK_LOCK: i32 = 7;
const UNLOCK_UNLOCKED: i32 = 8;
const WARNING: i32 = 9;
const HANG_BUSY: i32 = 10;
const ABORT: i32 = 11;

/// Instance `a` fails in the 51st activation of `fast`; `b` is all right.
fn in_activation(kind: i32, rig: &str) -> Rig {
    two(&format!("fail_kind = {kind}, fail_clock = 1, fail_at = 51"), rig, "")
}

/// Instance `a` fails in a function.
fn in_function(kind: i32, function: i32, at: i32) -> Rig {
    two(&format!("fail_kind = {kind}, fail_function = {function}, fail_at = {at}"), "", "")
}

fn two(start: &str, rig: &str, keys: &str) -> Rig {
    Rig::new(&format!("stop_time = 0.2\nshutdown_timeout = 0.3\n{rig}"))
        .tracer_with("a", start, keys)
        .tracer("b", "")
        .trigger("a.out_low", "b.low")
        .trigger("b.out_low", "a.low")
        .trigger("a.out_high", "a.high")
        .trigger("b.out_high", "b.high")
        .connect("b.out_f64", "a.in_f64")
        .connect("a.out_i32", "b.in_i32")
        .more("[record]\nsignals = ['*.count_*', '*.violations', '*.out_f64', '*.out_i32']")
}

/// Runs it in real time and in virtual time.
fn in_both_modes(rig: impl Fn() -> Rig, check: impl Fn(&Outcome, bool)) {
    {
        let _core = the_core();
        check(&rig().run(), true);
    }
    check(&rig().run_virtual(), false);
}

/// The report of a run that failed, with everything up to then.
#[track_caller]
fn failed(run: &Outcome, a: &str, b: &str) {
    assert_eq!(run.code, 1, "{}", run.stderr);
    let report = run.report();
    assert_eq!((report["verdict"].as_str(), report["end"].as_str()), (Some("fail"), Some("failure")));
    assert_eq!((run.status("a").as_str(), run.status("b").as_str()), (a, b), "{:#?}", run.problems());
    assert!(run.out.join("report.html").exists());
}

fn kind(realtime: bool) -> Kind {
    let fifo = realtime && vecud::sys::scheduling::probe_fifo(89).is_ok();
    if fifo { Kind::Preemptive } else { Kind::OneAtATime }
}

/// What was recorded before the failure at 0.05 s is there, and nothing of the failed activation.
#[track_caller]
fn recorded_up_to_the_failure(run: &Outcome, realtime: bool) {
    let signals = run.signals();
    let (count, skipped) = (signals.last("a.count_fast"), run.count("a", "fast", "skipped"));
    assert_eq!(count, 50, "the 51st fails");
    assert!(skipped == 0 || realtime);
    let last_of_b = signals.last("b.count_fast") + run.count("b", "fast", "skipped");
    assert!((50..=52).contains(&last_of_b) || realtime, "{last_of_b}");
}

/// When the 51st activation of `fast` is, which is 0.05 s if none was skipped, as the report has to say it.
#[track_caller]
fn time_of_failure(run: &Outcome) -> String {
    format!("at {} s", run.trace("a").activations(program::clock::FAST)[50])
}

/// Nothing is activated after the failure; what is called instead.
#[track_caller]
fn end_of_a(run: &Outcome, terminate: usize, free: usize) {
    let trace = run.trace("a");
    let failure = trace.events.iter().position(|event| event.is("fail", "note")).expect("it fails");
    let later = trace.events[failure..].iter().filter(|event| event.is("activate", "begin"));
    assert_eq!(later.count(), 0, "activations after the failure");
    assert_eq!((trace.count("terminate", "begin"), trace.count("free", "begin")), (terminate, free));
    assert_eq!(trace.violations(), 0, "{:?}", trace.summary);
}

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
    let _core = the_core();
    let run = in_activation(HANG_ASLEEP, "").run();
    failed(&run, "crashed", "aborted");
    run.problem(&["clock a.fast", "fmi3ActivateModelPartition", &time_of_failure(&run), "0.3 s", "hangs"]);
    recorded_up_to_the_hang(&run);
    assert!(run.took < Duration::from_millis(2500), "{:?}", run.took);
}

#[test]
fn a_partition_that_spins_is_reported_by_name() {
    let Some(_core) = real_time("a_partition_that_spins_is_reported_by_name") else { return };
    let run = in_activation(HANG_BUSY, "").run();
    failed(&run, "crashed", "aborted");
    run.problem(&["clock a.fast", "fmi3ActivateModelPartition", &time_of_failure(&run), "hangs"]);
    assert_eq!(run.signals().last("a.count_fast"), 50);
}

#[test]
fn a_partition_that_hangs_with_the_lock_held_is_the_one_reported() {
    let _core = the_core();
    // equal_a sleeps for a minute in its locked section; all others wait for the lock.
    let run = two("equal_a_lock_sleep_us = 60000000, equal_a_lock_every = 20", "", "").run();
    failed(&run, "crashed", "aborted");
    run.problem(&["clock a.equal_a", "fmi3ActivateModelPartition", "hangs"]);
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

#[test]
fn a_leaked_lock_is_released_and_reported() {
    in_both_modes(
        || in_activation(LEAK_LOCK, ""),
        |run, realtime| {
            assert_eq!(run.code, 0, "{}", run.stderr);
            let lock = &run.fmu("a")["lock"];
            assert_eq!((&lock["leaked"], &lock["unbalanced"], &lock["violations"]), (&1.into(), &0.into(), &1.into()));
            run.problem(&["fmu `a`", "1 time a partition", "preemption lock held"]);
            assert_eq!(run.count("a", "fast", "activations") + run.count("a", "fast", "skipped"), 200);
            let (_, broken) = run.trace("b").check(kind(realtime));
            assert!(broken.is_empty(), "{broken:#?}");
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
        |run, realtime| {
            assert_eq!(run.code, 0, "{}", run.stderr);
            let lock = &run.fmu("a")["lock"];
            assert_eq!((&lock["leaked"], &lock["unbalanced"], &lock["violations"]), (&0.into(), &1.into(), &1.into()));
            run.problem(&["fmu `a`", "1 call of unlockPreemption without a lock"]);
            for fmu in ["a", "b"] {
                let (_, broken) = run.trace(fmu).check(kind(realtime));
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
        |run, realtime| {
            assert_eq!((run.code, run.status("a").as_str()), (0, "terminated"), "{}", run.stderr);
            let about = run.problems().into_iter().filter(|problem| problem.contains("Warning"));
            assert_eq!(about.collect::<Vec<_>>(), Vec::<String>::new());
            let (_, broken) = run.trace("a").check(kind(realtime));
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
    let _core = the_core();
    for (function, name) in [(5, "fmi3Get"), (6, "fmi3GetClock"), (7, "fmi3GetIntervalDecimal")] {
        let run = in_function(ERROR, function, 5).run();
        failed(&run, "error", "terminated");
        run.problem(&["fmu `a`", name, "fmi3Error"]);
        end_of_a(&run, 0, 1);
    }
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

#[test]
fn a_signal_from_outside_crashes_the_run_and_not_its_report() {
    let _core = the_core();
    let rig = in_activation(0, "").more("");
    let child = rig.start(long(&rig));
    rig.wait_until_it_runs();
    std::thread::sleep(Duration::from_millis(150));
    send(runner_of(&child), Signal::SIGSEGV);
    let run = rig.finish(child, Duration::from_secs(10));
    assert_eq!(run.code, 1, "{}", run.stderr);
    run.problem(&["SIGSEGV", "from process"]);
    assert!([run.status("a"), run.status("b")].contains(&"crashed".to_owned()));
    let count = run.signals().last("a.count_fast");
    assert!(count > 50 && count + 3 > run.count("a", "fast", "activations"), "{count}");
}

/// The command with a stop time far away.
fn long(rig: &Rig) -> std::process::Command {
    let mut command = rig.command();
    command.args(["--stop-time", "100"]);
    command
}

#[test]
fn sigint_and_sigterm_lead_to_an_orderly_end() {
    let _core = the_core();
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let rig = in_activation(0, "");
        let child = rig.start(long(&rig));
        rig.wait_until_it_runs();
        std::thread::sleep(Duration::from_millis(100));
        send(child.id() as i32, signal);
        let run = rig.finish(child, Duration::from_secs(10)).exits(0);
        let report = run.report();
        assert_eq!((report["end"].as_str(), report["verdict"].as_str()), (Some("signal"), Some("pass")));
        assert!((0.05..50.0).contains(&report["end_time"].as_f64().unwrap()), "{}", report["end_time"]);
        for fmu in ["a", "b"] {
            assert_eq!(run.status(fmu), "terminated");
            let (_, broken) = run.trace(fmu).check(kind(report["host"]["scheduling"] == "fifo"));
            assert!(broken.is_empty(), "{broken:#?}");
            let recorded = run.signals().last(&format!("{fmu}.count_fast"));
            assert_eq!(recorded, run.count(fmu, "fast", "activations"), "all that ran is recorded");
        }
    }
}

#[test]
fn a_virtual_run_ends_by_a_signal() {
    let rig =
        Rig::new("mode = 'virtual'\nstop_time = 1e6").tracer("a", "").more("[record]\nsignals = ['a.count_fast']");
    let child = rig.start(rig.command());
    rig.wait_until_it_runs();
    std::thread::sleep(Duration::from_millis(100));
    send(child.id() as i32, Signal::SIGTERM);
    let run = rig.finish(child, Duration::from_secs(10)).exits(0);
    assert_eq!(run.report()["end"], "signal");
    assert_eq!(run.signals().last("a.count_fast"), run.count("a", "fast", "activations"));
}

#[test]
fn a_hang_and_a_signal_end_within_the_timeout() {
    let _core = the_core();
    let rig = in_activation(HANG_ASLEEP, "");
    let child = rig.start(long(&rig));
    rig.wait_until_it_runs();
    std::thread::sleep(Duration::from_millis(150));
    send(child.id() as i32, Signal::SIGTERM);
    let run = rig.finish(child, Duration::from_secs(4));
    failed(&run, "crashed", "aborted");
    run.problem(&["clock a.fast", "fmi3ActivateModelPartition", "hangs"]);
}

#[test]
fn a_second_sigint_ends_it_the_hard_way() {
    let _core = the_core();
    let start = format!("fail_kind = {HANG_ASLEEP}, fail_clock = 1, fail_at = 51");
    let rig = Rig::new("stop_time = 100\nshutdown_timeout = 60").tracer("a", &start);
    let child = rig.start(rig.command());
    rig.wait_until_it_runs();
    std::thread::sleep(Duration::from_millis(150));
    send(child.id() as i32, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(100));
    send(child.id() as i32, Signal::SIGINT);
    let run = rig.finish(child, Duration::from_secs(4)).exits(1);
    assert_eq!(run.status("a"), "crashed");
    run.problem(&["fmu `a`", "was ended by force", "second signal", "clock a.fast", "fmi3ActivateModelPartition"]);
    assert_eq!(run.signals().last("a.count_fast"), 50);
}

#[test]
fn a_hang_while_it_is_initialised_ends_by_a_signal() {
    let rig = in_function(HANG_ASLEEP, 2, 1);
    let child = rig.start(rig.command());
    wait_until("it hangs", || rig.folder().join("a.trace.csv").exists());
    send(child.id() as i32, Signal::SIGTERM);
    let run = rig.finish(child, Duration::from_secs(8));
    failed(&run, "crashed", "aborted");
    run.problem(&["fmu `a`", "fmi3EnterInitializationMode", "did not return within"]);
}

#[test]
fn a_hang_in_terminate_ends_by_itself() {
    for kind in [HANG_ASLEEP, HANG_BUSY] {
        let run = in_function(kind, 8, 1).run_virtual();
        assert_eq!((run.code, run.status("a").as_str()), (1, "crashed"), "{}", run.stderr);
        run.problem(&["fmu `a`", "fmi3Terminate", "did not return within"]);
        assert_eq!(run.signals().last("a.count_fast"), 200, "everything is recorded");
        assert!(run.took < Duration::from_secs(5), "{:?}", run.took);
    }
}

#[test]
fn a_hang_in_virtual_time_ends_by_a_signal() {
    let rig = in_activation(HANG_BUSY, "mode = 'virtual'");
    let child = rig.start(rig.command());
    wait_until("it hangs", || rig.folder().join("a.trace.csv").exists());
    send(child.id() as i32, Signal::SIGTERM);
    let run = rig.finish(child, Duration::from_secs(8));
    failed(&run, "crashed", "aborted");
    run.problem(&["fmu `a`", "clock a.fast", "fmi3ActivateModelPartition", "0.05 s", "did not return within"]);
    recorded_up_to_the_failure(&run, false);
}

#[test]
fn a_partition_that_runs_for_too_long_is_demoted() {
    let Some(_core) = real_time("a_partition_that_runs_for_too_long_is_demoted") else { return };
    let keys = "clock.slow = { max_execution_us = 10000 }";
    let run = two("slow_burn_us = 40000", "", keys).run().exits(1);
    run.problem(&["clock a.slow", "10000 µs", "max_execution_us", "demoted"]);
    // One that never comes back is demoted, and reported as hanging in the end.
    let start = format!("fail_kind = {HANG_BUSY}, fail_clock = 4, fail_at = 5");
    let run = two(&start, "", keys).run();
    failed(&run, "crashed", "aborted");
    run.problem(&["clock a.slow", "max_execution_us", "demoted"]);
    run.problem(&["clock a.slow", "hangs"]);
}

#[test]
fn a_limit_that_is_exceeded_is_exit_code_3() {
    let _core = the_core();
    // 30 ms long: fast cannot but be late in a cooperative run, and equal_a waits in any.
    let run = two("equal_b_burn_us = 30000", "", "clock.equal_a = { max_latency_us = 5000 }").run().exits(3);
    run.problem(&["clock a.equal_a", "start latency", "5000 µs", "max_latency_us"]);
    assert_eq!((run.report()["verdict"].as_str(), run.status("a").as_str()), (Some("fail"), "terminated"));
    let run = two("equal_b_burn_us = 30000", "", "clock.equal_b = { max_overruns = 1 }").run().exits(3);
    run.problem(&["clock a.equal_b", "overruns", "the limit is 1", "max_overruns"]);
    assert_eq!(run.report()["end"], "stop_time");
}

#[test]
fn the_runner_does_not_outlive_the_supervisor() {
    let _core = the_core();
    let rig = in_activation(0, "");
    let mut child = rig.start(long(&rig));
    rig.wait_until_it_runs();
    let runner = runner_of(&child);
    send(child.id() as i32, Signal::SIGKILL);
    child.wait().unwrap();
    wait_until("the runner is gone", || {
        let state = std::fs::read_to_string(format!("/proc/{runner}/stat"));
        // Nobody may be there to reap it: then it stays as a zombie.
        state.map_or(true, |stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
    });
}

#[test]
fn a_call_of_exit_2_is_not_taken_for_a_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let path = changed_tracer(folder.path(), "failures.c", &[("exit(3)", "exit(2)")]);
    let start = format!("fail_kind = {EXIT}, fail_function = 2");
    let run = Rig::new("stop_time = 0.1\nmode = 'virtual'").fmu("a", path, &start, "").run().exits(1);
    run.problem(&["fmu `a` called exit(2)", "fmi3EnterInitializationMode"]);
    assert_eq!(run.status("a"), "crashed");
}

#[test]
fn the_log_has_what_fmus_say_and_what_they_print() {
    let folder = tempfile::tempdir().unwrap();
    let say =
        "if (activation->clock == SLOW) printf(\"printed at %g\\n\", activation->time), fflush(stdout);\n    burn(";
    let changes = [
        ("#include <errno.h>", "#include <errno.h>\n#include <stdio.h>"),
        (
            "    burn(fmu, activation, set->burn_us * INT64_C(500));\n    if",
            &format!("    {say}fmu, activation, set->burn_us * INT64_C(500));\n    if"),
        ),
    ];
    let path = changed_tracer(folder.path(), "partitions.c", &changes);
    for mode in ["realtime", "virtual"] {
        let _core = the_core();
        let rig = format!("stop_time = 0.2\nmode = '{mode}'");
        let run = Rig::new(&rig).fmu("a", path.clone(), "log_every = 2", "").run().exits(0);
        let log = run.file("run.log");
        let slow = run.count("a", "slow", "activations");
        let lines = |what: &str| log.lines().filter(|line| line.contains(what)).count() as u64;
        assert_eq!(lines("a: [logEvents] Partition slow, activation "), slow / 2, "{log}");
        assert_eq!(lines("printed at "), slow, "{log}");
        assert!(!run.stdout.contains("printed at"), "what FMUs print is no result");
        // Whole lines, and nothing else but the host's own.
        let known = |line: &str| {
            line.starts_with("printed at ") || line.contains("a: [logEvents] ") || line.contains("vecud: ")
        };
        assert!(log.lines().all(known), "{log}");
    }
}

#[test]
fn the_log_begins_before_the_start() {
    let run = in_function(ERROR, 2, 1).run_virtual();
    assert!(
        run.file("run.log").contains("a: [logStatusError] error: An error, as asked for."),
        "{}",
        run.file("run.log")
    );
}

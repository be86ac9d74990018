//! Signals, limits, and what is left when a run is ended from outside.

use super::*;
use crate::program::{PATIENCE, cache, copied_tracer, shared_core, tempdir};
use std::sync::{Arc, Mutex};
use vecud::supervisor::{Error, EventSink, Options, SessionEvent, plan};
use vecud::sys::stop::StopToken;

#[test]
fn a_signal_from_outside_ends_the_run_and_not_its_report() {
    shared_core(|| {
        let rig = in_activation(0, "").more("");
        let child = rig.start(long(&rig));
        wait_until("it is recorded", || rows(&rig) > 51);
        send(runner_of(&child), Signal::SIGSEGV);
        let run = rig.finish(child);
        assert_eq!(run.code, 1, "{}", run.stderr);
        run.problem(&["was ended from outside by SIGSEGV", &format!("process {}", std::process::id())]);
        assert_eq!((run.status("a").as_str(), run.status("b").as_str()), ("aborted", "aborted"));
        let count = run.signals().last("a.count_fast");
        assert!(count > 50 && count + 3 > run.count("a", "fast", "activations"), "{count}");
    });
}

/// A rig of many FMUs, or of large ones, takes a while to be planned.
#[test]
fn whoever_wants_the_end_while_fmus_are_opened_waits_for_one_of_them() {
    let folder = tempdir().unwrap();
    let (stop, opened) = (StopToken::default(), Arc::new(Mutex::new(Vec::new())));
    let events = EventSink::new({
        let (stop, opened) = (stop.clone(), opened.clone());
        move |event| {
            if let SessionEvent::Begun(what) = event {
                let mut opened = opened.lock().unwrap();
                opened.push(what);
                if opened.len() == 2 {
                    stop.ask();
                }
            }
        }
    });
    let fmu = |name: &str| format!("[fmu.{name}]\npath = '{}'\n", copied_tracer(&folder.path().join(name)).display());
    let text = ["a", "b", "c"].map(fmu).concat();
    let file = folder.path().join("rig.toml");
    let options = Options { file, text: Some(text), cache: Some(cache()), stop, ..Options::default() };
    assert!(matches!(plan(&options, &events), Err(Error::Interrupted)));
    assert_eq!(opened.lock().unwrap().len(), 2, "c is not opened any more");
}

/// Rows of the recording so far.
fn rows(rig: &Rig) -> usize {
    std::fs::read_to_string(rig.out().join("signals.csv")).map_or(0, |text| text.lines().count().saturating_sub(1))
}

/// The command with a stop time far away.
fn long(rig: &Rig) -> std::process::Command {
    let mut command = rig.command();
    command.args(["--stop-time", "100"]);
    command
}

#[test]
fn sigint_and_sigterm_lead_to_an_orderly_end() {
    shared_core(|| {
        for signal in [Signal::SIGINT, Signal::SIGTERM] {
            let rig = in_activation(0, "");
            let child = rig.start(long(&rig));
            rig.wait_until_it_runs();
            std::thread::sleep(Duration::from_millis(100));
            send(child.id() as i32, signal);
            let run = rig.finish(child).exits(0);
            let report = run.report();
            assert_eq!((report["end"].as_str(), report["verdict"].as_str()), (Some("signal"), Some("pass")));
            assert!((0.05..50.0).contains(&report["end_time"].as_f64().unwrap()), "{}", report["end_time"]);
            for fmu in ["a", "b"] {
                assert_eq!(run.status(fmu), "terminated");
                let (_, broken) = run.trace(fmu).check(kind(&run));
                assert!(broken.is_empty(), "{broken:#?}");
                let recorded = run.signals().last(&format!("{fmu}.count_fast"));
                assert_eq!(recorded, run.count(fmu, "fast", "activations"), "all that ran is recorded");
            }
        }
    });
}

#[test]
fn a_virtual_run_ends_by_a_signal() {
    let rig =
        Rig::new("mode = 'virtual'\nstop_time = 1e6").tracer("a", "").more("[record]\nsignals = ['a.count_fast']");
    let child = rig.start(rig.command());
    rig.wait_until_it_runs();
    std::thread::sleep(Duration::from_millis(100));
    send(child.id() as i32, Signal::SIGTERM);
    let run = rig.finish(child).exits(0);
    assert_eq!(run.report()["end"], "signal");
    assert_eq!(run.signals().last("a.count_fast"), run.count("a", "fast", "activations"));
}

#[test]
fn a_hang_and_a_signal_end_within_the_timeout() {
    shared_core(|| {
        let rig = in_activation(HANG_ASLEEP, "");
        let child = rig.start(long(&rig));
        wait_until("it hangs", || rig.folder().join("a.trace.csv").exists());
        send(child.id() as i32, Signal::SIGTERM);
        let run = rig.finish(child);
        failed(&run, "hung", "aborted");
        run.problem(&["clock a.fast", "fmi3ActivateModelPartition", "hangs"]);
    });
}

#[test]
fn a_second_sigint_ends_it_the_hard_way() {
    shared_core(|| {
        let start = format!("fail_kind = {HANG_ASLEEP}, fail_clock = 1, fail_at = 51");
        let rig = Rig::new("stop_time = 100\nshutdown_timeout = 60").tracer("a", &start);
        let child = rig.start(rig.command());
        wait_until("it hangs", || rig.folder().join("a.trace.csv").exists());
        send(child.id() as i32, Signal::SIGINT);
        std::thread::sleep(Duration::from_millis(100));
        // Two that are there at once are one.
        let status = format!("/proc/{}/status", child.id());
        let has_come = || std::fs::read_to_string(&status).unwrap().contains("ShdPnd:\t0000000000000000");
        wait_until("the first one has come", has_come);
        send(child.id() as i32, Signal::SIGINT);
        let run = rig.finish(child).exits(1);
        assert_eq!(run.status("a"), "crashed");
        run.problem(&["fmu `a`", "was ended by force", "second signal", "clock a.fast", "fmi3ActivateModelPartition"]);
        assert_eq!(run.signals().last("a.count_fast"), 50);
    });
}

#[test]
fn a_hang_while_it_is_initialised_ends_by_a_signal() {
    shared_core(|| {
        let rig = in_function(HANG_ASLEEP, 2, 1);
        let child = rig.start(rig.command());
        wait_until("it hangs", || rig.folder().join("a.trace.csv").exists());
        send(child.id() as i32, Signal::SIGTERM);
        let run = rig.finish(child);
        failed(&run, "hung", "aborted");
        run.problem(&["fmu `a`", "fmi3EnterInitializationMode", "did not return within"]);
    });
}

#[test]
fn a_hang_in_terminate_ends_by_itself() {
    for kind in [HANG_ASLEEP, HANG_BUSY] {
        let run = in_function(kind, 8, 1).run_virtual();
        assert_eq!((run.code, run.status("a").as_str()), (1, "hung"), "{}", run.stderr);
        run.problem(&["fmu `a`", "fmi3Terminate", "did not return within"]);
        assert_eq!(run.signals().last("a.count_fast"), 200, "everything is recorded");
        assert!(run.took < PATIENCE, "{:?}", run.took);
    }
}

#[test]
fn a_hang_in_virtual_time_ends_by_a_signal() {
    let rig = in_activation(HANG_BUSY, "mode = 'virtual'");
    let child = rig.start(rig.command());
    wait_until("it hangs", || rig.folder().join("a.trace.csv").exists());
    send(child.id() as i32, Signal::SIGTERM);
    let run = rig.finish(child);
    failed(&run, "hung", "aborted");
    run.problem(&["fmu `a`", "clock a.fast", "fmi3ActivateModelPartition", "0.05 s", "did not return within"]);
    recorded_up_to_the_failure(&run, false);
}

#[test]
fn a_partition_that_runs_for_too_long_is_demoted() {
    real_time("a_partition_that_runs_for_too_long_is_demoted", || {
        let keys = "clock.slow = { max_execution_us = 10000 }";
        let run = two("slow_burn_us = 40000", "", keys).run().exits(1);
        run.problem(&["clock a.slow", "10000 µs", "max_execution_us", "demoted"]);
        // One that never comes back is demoted, and reported as hanging in the end.
        let start = format!("fail_kind = {HANG_BUSY}, fail_clock = 4, fail_at = 5");
        let run = two(&start, "", keys).run();
        failed(&run, "hung", "aborted");
        run.problem(&["clock a.slow", "max_execution_us", "demoted"]);
        run.problem(&["clock a.slow", "hangs"]);
    });
}

#[test]
fn a_limit_that_is_exceeded_is_exit_code_3() {
    shared_core(|| {
        // 30 ms long: fast cannot but be late in a cooperative run, and equal_a waits in any.
        let run = two("equal_b_burn_us = 30000", "", "clock.equal_a = { max_latency_us = 5000 }").run().exits(3);
        run.problem(&["clock a.equal_a", "start latency", "5000 µs", "max_latency_us"]);
        assert_eq!((run.report()["verdict"].as_str(), run.status("a").as_str()), (Some("fail"), "terminated"));
        let run = two("equal_b_burn_us = 30000", "", "clock.equal_b = { max_overruns = 1 }").run().exits(3);
        run.problem(&["clock a.equal_b", "overruns", "the limit is 1", "max_overruns"]);
        assert_eq!(run.report()["end"], "stop_time");
    });
}

#[test]
fn the_runner_does_not_outlive_the_supervisor() {
    shared_core(|| {
        let rig = in_activation(0, "");
        let mut child = rig.start(long(&rig));
        rig.wait_until_it_runs();
        let runner = runner_of(&child);
        send(child.id() as i32, Signal::SIGKILL);
        child.wait().unwrap();
        gone(runner, "the runner is gone");
    });
}

#[test]
fn a_supervisor_that_is_killed_as_soon_as_there_is_a_runner_leaves_none() {
    // The kernel ends it with its parent only once it has asked for that, and it may come to that too late.
    shared_core(|| {
        for round in 0..5 {
            let rig = in_activation(0, "");
            let mut child = rig.start(long(&rig));
            let runner = loop {
                if let Some(runner) = runner_now(&child) {
                    break runner;
                }
            };
            send(child.id() as i32, Signal::SIGKILL);
            child.wait().unwrap();
            gone(runner, &format!("round {round}: the runner is gone"));
        }
    });
}

/// Waits until there is no such process, and ends it if it stays.
fn gone(process: i32, what: &str) {
    let there = || {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
        // Nobody may be there to reap it: then it stays as a zombie.
        state.is_ok_and(|stat| !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
    };
    let began = std::time::Instant::now();
    while there() {
        if began.elapsed() > PATIENCE {
            send(process, Signal::SIGKILL);
            panic!("waited in vain until {what}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_call_of_exit_2_is_not_taken_for_a_refusal() {
    let folder = crate::program::tempdir().unwrap();
    let path = changed_tracer(folder.path(), "failures.c", &[("exit(3)", "exit(2)")]);
    let start = format!("fail_kind = {EXIT}, fail_function = 2");
    let run = Rig::new("stop_time = 0.1\nmode = 'virtual'").fmu("a", path, &start, "").run().exits(1);
    run.problem(&["fmu `a` called exit(2)", "fmi3EnterInitializationMode"]);
    assert_eq!(run.status("a"), "crashed");
}

#[test]
fn the_log_has_what_fmus_say_and_what_they_print() {
    let folder = crate::program::tempdir().unwrap();
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
        shared_core(|| {
            let rig = format!("stop_time = 0.2\nmode = '{mode}'");
            let run = Rig::new(&rig).fmu("a", path.clone(), "log_every = 2", "log = true").run().exits(0);
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
        });
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

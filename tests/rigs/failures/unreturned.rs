//! An activation in real time that does not return is seen while it hangs: the table counts what passes, `overrun = "stop"` and
//! limits act, and everything that a run leaves says it.

use super::{HANG_ASLEEP, HANG_BUSY, failed, two_for};
use crate::program::{Outcome, PATIENCE, Rig, cache, has_real_time, real_time, send, shared_core, wait_until};
use nix::sys::signal::Signal;
use std::path::PathBuf;
use std::time::Duration;
use vecud::report::{FmuStatus, LiveRow};
use vecud::supervisor::{self, EventSink, Options, Session};

/// What `report.json`, `junit.xml` and the page say of the activation of `a.fast` at 0.05 s, or somewhat later.
#[track_caller]
fn said(run: &Outcome, asked: &str) {
    failed(run, "hung", "aborted");
    let words =
        ["clock a.fast was in fmi3ActivateModelPartition at 0.", "running since 0.", asked, "recordings waited for it"];
    let hung = run.problem(&words);
    let junit = run.file("junit.xml");
    let status = junit.split("name=\"status\"").nth(1).unwrap();
    assert!(status.split("</testcase>").next().unwrap().contains(&hung.replace('\'', "&#39;")), "{junit}");
    assert!(run.file("report.html").contains("running since 0."));
}

/// `kind` in the 51st activation of `a.fast`, which has these keys.
fn hanging(stop: f64, kind: i32, rig: &str, keys: &str) -> Rig {
    let start = format!("fail_kind = {kind}, fail_clock = 1, fail_at = 51");
    let keys = if keys.is_empty() { String::new() } else { format!("clock.fast = {{ {keys} }}") };
    two_for(stop, &start, rig, &keys)
}

fn session(rig: &Rig) -> Session {
    let options = Options {
        file: rig.file(),
        out: Some(rig.out()),
        cache: Some(cache()),
        runner: Some(PathBuf::from(env!("CARGO_BIN_EXE_vecud"))),
        ..Options::default()
    };
    let prepared = supervisor::plan(&options, &EventSink::default()).unwrap();
    Session::start(prepared, EventSink::default(), |_| ()).unwrap()
}

/// The row of a clock in the live table.
fn row(session: &Session, clock: &str) -> LiveRow {
    session.snapshot().clocks.into_iter().find(|row| row.name == clock).unwrap()
}

/// Releases count while it hangs, once each, in the table and then in the report.
#[test]
fn a_hang_is_in_the_table_while_it_lasts() {
    shared_core(|| {
        let rig = hanging(100.0, HANG_ASLEEP, "", "");
        let session = session(&rig);
        wait_until("the table shows it", || row(&session, "a.fast").under_way.is_some());
        let (first, others) = (row(&session, "a.fast"), row(&session, "b.fast"));
        let running = first.under_way.unwrap();
        assert!(running.running >= 500_000_000 && !running.held_up, "{running:?}");
        assert!(first.overruns >= 450 && first.activations == 50, "{first:?}");
        assert!(others.under_way.is_none());
        wait_until("further releases pass", || row(&session, "a.fast").overruns > first.overruns + 20);
        let last = row(&session, "a.fast").overruns;
        session.stop();
        let finished = session.wait().unwrap().remove(0);
        assert_eq!((finished.exit_code(), finished.run.fmus[0].status), (1, FmuStatus::Hung));
        let clock = finished.run.clocks.iter().find(|clock| clock.fmu == "a" && clock.clock == "fast").unwrap();
        assert!(clock.overruns >= last && clock.skipped == clock.overruns, "{last} {}", clock.overruns);
        // Each release up to then is an activation or left out.
        let released = (finished.run.wall_seconds * 1000.0) as u64 + 2;
        assert!(clock.activations + clock.overruns <= released, "{} {released}", clock.overruns);
    });
}

#[test]
fn in_virtual_time_too() {
    let rig = hanging(100.0, HANG_BUSY, "mode = 'virtual'", "");
    let session = session(&rig);
    wait_until("the table shows it", || row(&session, "a.fast").under_way.is_some());
    assert_eq!(row(&session, "a.fast").overruns, 0, "nothing passes");
    session.stop();
    let asked = std::time::Instant::now();
    let finished = session.wait().unwrap().remove(0);
    assert_eq!((finished.exit_code(), finished.run.fmus[0].status), (1, FmuStatus::Hung));
    // Twice the timeout and a second is what the end of a run may take when nothing hangs in an activation.
    assert!(asked.elapsed() < Duration::from_secs(50), "{:?}", asked.elapsed());
}

/// What the report of a run that goes on, or of which the end is not known, says of the activation of `a.fast` at about 0.05 s.
fn lasts(report: &serde_json::Value) -> bool {
    let words = ["clock a.fast has been in fmi3ActivateModelPartition at 0.0", " s for ", "found it still running"];
    let all =
        |text: &str| words.iter().all(|word| text.contains(word)) && text.contains("recordings wait for it since 0.0");
    let mut problems = report["problems"].as_array().unwrap().iter();
    problems.any(|problem| problem["kind"] == "lasts" && all(problem["text"].as_str().unwrap()))
}

/// Which partition hangs, since when, and who waits for it: of a run that goes on, and of one that is killed then.
#[test]
fn reports_without_an_end_say_what_lasts() {
    shared_core(|| {
        // A second and a half: the first checkpoint comes after one.
        let rig = hanging(100.0, HANG_ASLEEP, "", "").more("[report]\ncheckpoint = 1\n");
        let mut child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let read = |name: &str| {
            serde_json::from_str::<serde_json::Value>(&std::fs::read_to_string(rig.out().join(name)).ok()?).ok()
        };
        wait_until("a checkpoint has it", || read("checkpoint.json").is_some_and(|known| lasts(&known)));
        send(child.id() as i32, Signal::SIGUSR1);
        wait_until("there is a report", || read("report.json").is_some_and(|report| report["ended"] == "running"));
        assert!(lasts(&read("report.json").unwrap()), "{}", read("report.json").unwrap()["problems"]);
        send(child.id() as i32, Signal::SIGKILL);
        child.wait().unwrap();
        let mut report = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
        assert!(report.arg("report").arg(rig.out()).output().unwrap().status.success());
        let cut_off = read("report.json").unwrap();
        assert!(cut_off["ended"] == "cut off" && lasts(&cut_off), "{}", cut_off["problems"]);
    });
}

/// A checkpoint, of which this report is made, has it as well.
#[test]
fn a_report_of_the_run_that_goes_on_counts_what_passes() {
    shared_core(|| {
        let rig = hanging(100.0, HANG_ASLEEP, "", "max_overruns = 100000");
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        std::thread::sleep(Duration::from_millis(700));
        let report = rig.out().join("report.json");
        send(child.id() as i32, Signal::SIGUSR1);
        let read = || serde_json::from_str::<serde_json::Value>(&std::fs::read_to_string(&report).ok()?).ok();
        // Room for the last report is set aside there.
        wait_until("there is a report", || read().is_some_and(|report| report["ended"] == "running"));
        let clocks = read().unwrap()["clocks"].as_array().unwrap().clone();
        let fast = clocks.iter().find(|clock| clock["fmu"] == "a" && clock["clock"] == "fast").unwrap();
        assert_eq!(fast["activations"], 50);
        assert!(fast["overruns"].as_u64() > Some(400) && fast["overruns"] == fast["skipped"], "{fast}");
        send(child.id() as i32, Signal::SIGTERM);
        said(&rig.finish(child), "after the end of the run");
    });
}

/// Exit code 1 goes before 3, which each of these is when the activation returns.
#[test]
fn stop_and_limits_act_while_it_hangs() {
    shared_core(|| {
        let is_preemptive = has_real_time("stop_and_limits_act_while_it_hangs, in part");
        for kind in [HANG_ASLEEP, HANG_BUSY].into_iter().take(if is_preemptive { 2 } else { 1 }) {
            let run = hanging(20.0, kind, "", "overrun = 'stop'").run();
            said(&run, "after the end of the run");
            run.problem(&["clock a.fast", "found the activation before it still running", "overrun = \"stop\""]);
            assert_eq!((run.count("a", "fast", "overruns"), run.count("a", "fast", "skipped")), (1, 0));
            for (keys, key, problem) in [
                ("max_overruns = 0", "max_overruns", "overruns, the limit is 0"),
                ("max_latency_us = 20000", "max_latency_us", "the limit is 20000 µs"),
                (
                    "max_execution_us = 2000",
                    "max_execution_us",
                    "ran for more than 2 ms (max_execution_us), still running after",
                ),
            ] {
                let run = hanging(20.0, kind, "", keys).run();
                said(&run, &format!("did not return within 0.3 s after it was over {key} (rig: shutdown_timeout)"));
                run.problem(&["clock a.fast", problem]);
                assert!(run.stderr.contains(&format!("after it was over {key}: the run ends (rig: on_error)")));
                assert!(run.count("a", "fast", "overruns") >= 250, "{}", run.clock("a", "fast"));
                assert!(run.took < PATIENCE, "{:?}", run.took);
            }
        }
    });
}

/// Recordings, whose memory lasts for two seconds, do not wait for it any longer, and nobody else loses anything.
#[test]
fn with_on_error_continue_the_others_go_on_without_it() {
    shared_core(|| {
        // 2.8 s: longer than that memory.
        let run = hanging(2.8, HANG_ASLEEP, "on_error = 'continue'", "max_overruns = 0").run();
        failed(&run, "hung", "aborted");
        run.problem(&["clock a.fast", "after it was over max_overruns", "hangs"]);
        assert!(run.stderr.contains("max_overruns: the others go on without it (rig: on_error)"), "{}", run.stderr);
        assert_eq!(run.count("b", "fast", "activations") + run.count("b", "fast", "skipped"), 2800);
        assert_eq!(run.signals().last("b.count_fast"), run.count("b", "fast", "activations"));
        assert_eq!(run.report()["samples_dropped"], 0);
    });
}

/// Its releases that pass are overruns, but it does not hang, however long it takes.
#[test]
fn a_partition_that_more_urgent_ones_keep_from_running_does_not_hang() {
    real_time("a_partition_that_more_urgent_ones_keep_from_running_does_not_hang", || {
        let run = Rig::new("stop_time = 1\nshutdown_timeout = 0.2")
            .tracer_with("a", "fast_burn_us = 850, slow_burn_us = 60000", "clock.slow = { max_overruns = 0 }")
            .run()
            .exits(3);
        run.problem(&["clock a.slow", "overruns, the limit is 0"]);
        assert_eq!(run.status("a"), "terminated");
        assert!(run.count("a", "slow", "overruns") > 20, "{}", run.clock("a", "slow"));
    });
}

/// Who watches hears of it, and since when recordings wait for it.
#[test]
fn somebody_hears_of_it_within_a_second_or_so() {
    shared_core(|| {
        // 1.3 s: the warning comes after one second.
        let run = hanging(1.3, HANG_ASLEEP, "", "").run();
        let line = run.stderr.lines().find(|line| line.starts_with("warning: fmu `a` has been in")).unwrap_or_default();
        for words in ["for clock fast at 0.0", "for 1 s", "found it still running", "recordings wait for it since 0.0"]
        {
            assert!(line.contains(words), "no {words} in {line:?}");
        }
        assert!(run.count("a", "fast", "overruns") > 1000);
    });
}

/// Who waits for the end goes by CLOCK_MONOTONIC, whatever the clock of the run says: that is decades ahead.
#[test]
fn the_end_is_waited_for_in_time_whatever_the_clock_of_the_run() {
    shared_core(|| {
        let run = hanging(0.2, HANG_ASLEEP, "", "max_overruns = 100000").more("[host]\nclock = 'tai'").run();
        said(&run, "did not return within 0.3 s after the end of the run");
    });
}

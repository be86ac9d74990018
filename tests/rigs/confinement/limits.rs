//! Memory and the log have limits; what comes to them is named.

use crate::confinement::tracer_with;
use crate::program::{Outcome, Rig, send, shared_core, wait_until};
use nix::sys::signal::Signal;
use std::path::Path;

const CODE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void misbehave(void)
{
    const char *what = getenv("HOSTILE");
    if (!strcmp(what, "one block")) memset(malloc((size_t)1 << 30), 1, 1 << 30);
    if (!strcmp(what, "many blocks"))
        for (void *block; (block = malloc(1 << 20)) || (abort(), 0);) memset(block, 1, 1 << 20);
    if (!strcmp(what, "print"))
        for (int i = 0; i < 100; i++) printf("%0*d\n", 9999, i), fflush(stdout);
    static int count;
    if (!strcmp(what, "count")) printf("%0*d\n", 1000, ++count), fflush(stdout);
}
"#;

fn run(folder: &Path, what: &str, host: &str, arguments: &[&str]) -> Outcome {
    let fmu = folder.join("hostile");
    let rig = Rig::new("stop_time = 0.5").fmu("a", fmu, "", "").more(&format!("[host]\n{host}"));
    let mut command = rig.command();
    command.args(arguments).env("HOSTILE", what);
    rig.finish(rig.start(command))
}

/// However it comes to its limit, the report names the limit with the crash.
#[test]
fn memory_that_fmu_code_may_not_have_is_named() {
    let folder = crate::program::tempdir().unwrap();
    tracer_with(folder.path(), CODE, "if (clockReference == 1 && activationTime >= 0.03) misbehave();");
    shared_core(|| {
        for mode in ["realtime", "virtual"] {
            for what in ["one block", "many blocks"] {
                let run = run(folder.path(), what, "memory_limit = 600", &["--mode", mode]).exits(1);
                run.problem(&["fmu `a` crashed", "clock a.fast"]);
                run.problem(&["memory was short", "may have 600 MiB", "memory_limit", "refused before the crash"]);
            }
        }
    });
}

/// In this folder of the results: the length of a log and of what it was before, and their lines.
fn logs(run: &Outcome, folder: &str) -> ([usize; 2], Vec<String>) {
    let [earlier, now] = ["run-earlier.log", "run.log"].map(|name| run.file(&format!("{folder}{name}")));
    ([earlier.len(), now.len()], format!("{earlier}{now}").lines().map(str::to_owned).collect())
}

/// The numbers that lines of `misbehave` have, in their order.
fn numbers(lines: &[String]) -> Vec<u64> {
    lines
        .iter()
        .filter(|line| line.len() >= 1000)
        .map(|line| line.trim_start_matches('0').parse().unwrap_or(0))
        .collect()
}

/// What FMU code prints faster than anybody can follow is left out, with a warning; the run goes on to its end.
#[test]
fn a_log_that_grows_too_fast_is_cut_off() {
    let folder = crate::program::tempdir().unwrap();
    tracer_with(folder.path(), CODE, "if (clockReference == 1) misbehave();");
    shared_core(|| {
        let run = run(folder.path(), "print", "log_limit = 3", &["--mode", "virtual"]).exits(0);
        assert_eq!(run.count("a", "fast", "activations"), 500);
        run.problem(&["run.log was cut off", "may have 3 MiB", "log_limit"]);
        assert!(run.report()["log_rotations"].as_u64() > Some(0));
        // Both keep to it, but for the lines behind the place that was cut: the cut may have been in a file that has made way.
        for name in ["run-earlier.log", "run.log"] {
            let (log, most) = (run.file(name), 3 << 19);
            assert!(log.len() < most + 100_000, "{name}: {} bytes", log.len());
            assert!(log.len() <= most || log[most..].starts_with("\n(cut off here: log_limit)\n"), "{name}");
        }
    });
}

/// Of what is printed for long the newest part is there, without a gap: at most as much as the rig allows.
#[test]
fn a_log_that_grows_for_long_has_its_newest_part() {
    let folder = crate::program::tempdir().unwrap();
    tracer_with(folder.path(), CODE, "if (clockReference == 1) misbehave();");
    shared_core(|| {
        // Three seconds: it is begun anew several times, each so late that a supervisor without a core for 0.3 s can follow.
        let run = run(folder.path(), "count", "log_limit = 2", &["--mode", "realtime", "--stop-time", "3"]).exits(0);
        let printed = run.count("a", "fast", "activations");
        assert!(!run.problems().iter().any(|problem| problem.contains("cut off")), "{:?}", run.problems());
        let ([earlier, now], lines) = logs(&run, "");
        let numbers = numbers(&lines);
        let first = printed - numbers.len() as u64 + 1;
        assert!(numbers.iter().copied().eq(first..=printed), "{first} to {printed}: {numbers:?}");
        assert!(earlier + now <= 2 << 20 && numbers.len() > 400, "{earlier} and {now} bytes, {} lines", numbers.len());
        let notes = run.report()["notes"].to_string();
        assert!(notes.contains("run.log was begun anew") && notes.contains("MiB before that are gone"), "{notes}");
        // The page leads to both.
        let page = run.file("report.html");
        assert!(page.contains("<a href=\"run-earlier.log\">"));
    });
}

/// With `--repeat` each run has its log, and what that was before, in its own folder: nothing goes to another run's.
#[test]
fn each_of_several_runs_begins_its_own_log_anew() {
    let folder = crate::program::tempdir().unwrap();
    tracer_with(folder.path(), CODE, "if (clockReference == 1) misbehave();");
    shared_core(|| {
        let arguments = ["--mode", "realtime", "--stop-time", "1", "--repeat", "2"];
        let all = run(folder.path(), "count", "log_limit = 2", &arguments).exits(0);
        let mut before = 0;
        for folder in ["run-1/", "run-2/"] {
            let report: serde_json::Value = serde_json::from_str(&all.file(&format!("{folder}report.json"))).unwrap();
            assert_eq!(report["log_rotations"], 1, "{folder}");
            let clocks = report["clocks"].as_array().unwrap();
            let fast = clocks.iter().find(|clock| clock["clock"] == "fast").unwrap();
            let printed = fast["activations"].as_u64().unwrap();
            // The library stays, and goes on counting.
            let numbers = numbers(&logs(&all, folder).1);
            assert!(numbers.iter().copied().eq(before + 1..=before + printed), "{folder}: {printed} of {numbers:?}");
            before += printed;
        }
    });
}

/// What the log was before is part of the results, too: who takes it away fails the run.
#[test]
fn what_the_log_was_before_is_missed() {
    let folder = crate::program::tempdir().unwrap();
    let fmu = tracer_with(folder.path(), CODE, "if (clockReference == 1) misbehave();");
    shared_core(|| {
        let rig = Rig::new("").fmu("a", fmu.clone(), "", "").more("[host]\nlog_limit = 2");
        let mut command = rig.command();
        command.env("HOSTILE", "count");
        let child = rig.start(command);
        let earlier = rig.out().join("run-earlier.log");
        wait_until("the log was begun anew", || earlier.exists());
        std::fs::remove_file(&earlier).unwrap();
        send(child.id() as i32, Signal::SIGINT);
        let run = rig.finish(child).exits(1);
        run.problem(&["run-earlier.log was removed while the run went on"]);
        assert_eq!(run.report()["verdict"], "fail");
    });
}

//! What is known of a run that goes on, or of which nobody has seen the end.

use super::program::{Rig, Schema, cache, runner_of, send, shared_core, wait_until};
use nix::sys::signal::Signal::{SIGINT, SIGKILL, SIGUSR1};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A rig in real time without an end, with these keys in `[report]`.
fn endless(keys: &str) -> Rig {
    Rig::new("overrun = \"queue\"").tracer("a", "").more(&format!("[report]\n{keys}\n"))
}

/// A `report.json` or `checkpoint.json`, which is what docs/report.schema.json says.
fn json(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let value = serde_json::from_slice(&bytes).unwrap();
    Schema::of("report.schema.json").holds(&value);
    value
}

/// `vecud report` of this folder, which succeeds; gives what it says and the `report.json` that it leaves.
fn report(out: &Path) -> (String, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_vecud")).arg("report").arg(out).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    (text, json(&out.join("report.json")))
}

/// Waits until there is a checkpoint of a run that had taken longer than this, s, and gives it.
fn checkpoint_after(out: &Path, seconds: f64) -> Value {
    let file = out.join("checkpoint.json");
    let mut newest = Value::Null;
    wait_until("there is a checkpoint", || {
        newest = fs::read(&file).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).expect("it is whole"));
        newest["wall_seconds"].as_f64().is_some_and(|taken| taken > seconds)
    });
    Schema::of("report.schema.json").holds(&newest);
    newest
}

/// The counts of a report agree with each other, whatever went on while they were read.
fn counts_agree(report: &Value) {
    for clock in report["clocks"].as_array().unwrap() {
        let number = |what: &Value| what.as_u64().unwrap();
        let count = |metric: &str| number(&clock[metric]["count"]);
        assert_eq!(number(&clock["activations"]), count("execution"), "{}", clock["clock"]);
        assert_eq!(number(&clock["activations"]) + number(&clock["skipped"]), count("response"), "{}", clock["clock"]);
        assert!(number(&clock["overruns"]) >= number(&clock["skipped"]), "{}", clock["clock"]);
    }
}

fn activations(report: &Value) -> u64 {
    report["clocks"].as_array().unwrap().iter().map(|clock| clock["activations"].as_u64().unwrap()).sum()
}

const FILES: [&str; 5] = ["report.html", "histograms.hlog", "junit.xml", "cyclictest.json", "a.fast.execution.hgrm"];

/// Of a run whose supervisor is killed everything is known up to its last checkpoint, by the command that makes reports anew; its
/// figures, too.
#[test]
fn of_a_supervisor_that_is_killed_the_last_checkpoint_is_left() {
    shared_core(|| {
        // Two seconds: a checkpoint is written each second, and the second one takes the place of the first.
        let rig = endless("checkpoint = 1");
        let mut child = rig.start(rig.command());
        let last = checkpoint_after(&rig.out(), 1.5);
        assert_eq!((&last["ended"], &last["verdict"]), (&"running".into(), &"fail".into()));
        counts_agree(&last);
        assert!(!rig.out().join("report.json").exists(), "it is there at the end alone");
        send(child.id() as i32, SIGKILL);
        child.wait().unwrap();
        let (text, report) = report(&rig.out());
        assert_eq!((&report["ended"], &report["verdict"]), (&"cut off".into(), &"fail".into()));
        assert!(report["end_time"].as_f64() >= last["end_time"].as_f64());
        assert!(activations(&report) >= activations(&last) && activations(&last) > 0);
        assert!(
            report["problems"][0]["text"].as_str().unwrap().starts_with("the run was cut off"),
            "{}",
            report["problems"]
        );
        assert!(text.contains("failure: the run was cut off") && text.contains(" was cut off: "), "{text}");
        counts_agree(&report);
        assert!(FILES.iter().all(|name| rig.out().join(name).is_file()), "{FILES:?}");
        let page = fs::read_to_string(rig.out().join("report.html")).unwrap();
        assert!(page.contains("<h2>Cut off</h2>"));
        let junit = fs::read_to_string(rig.out().join("junit.xml")).unwrap();
        assert_eq!(junit.matches("<failure").count(), 1, "{junit}");
        // It is known as a run of this folder, by the same start, when the next one begins.
        let start = report["started"].as_str().unwrap().replace(':', "-");
        rig.run_with(&["--stop-time", "0.05"]);
        let kept = rig.out().join("runs").join(start);
        assert!(kept.join("checkpoint.json").is_file() && kept.join("report.html").is_file(), "{}", kept.display());
        assert!(!rig.out().join("checkpoint.json").exists());
    });
}

/// The first checkpoint is there as soon as the run has begun, and does not wait for the interval.
#[test]
fn a_run_that_is_killed_at_once_has_a_report() {
    shared_core(|| {
        let rig = endless("checkpoint = 60");
        let mut child = rig.start(rig.command());
        let first = checkpoint_after(&rig.out(), 0.0);
        assert!(first["wall_seconds"].as_f64().unwrap() < 60.0, "{}", first["wall_seconds"]);
        send(child.id() as i32, SIGKILL);
        child.wait().unwrap();
        let (text, report) = report(&rig.out());
        assert_eq!((&report["ended"], &report["verdict"]), (&"cut off".into(), &"fail".into()));
        assert!(text.contains("failure: the run was cut off"), "{text}");
        // Nothing may have been activated yet, of which there were histograms.
        let mut files = FILES.iter().filter(|name| !name.ends_with(".hgrm"));
        assert!(files.all(|name| rig.out().join(name).is_file()), "{FILES:?}");
    });
}

/// A recording goes on after the last checkpoint, and what is too old of it goes: the report names the files that are there.
#[test]
fn a_report_of_a_run_that_was_cut_off_names_the_recordings_that_lie_there() {
    let rig = Rig::new("mode = \"virtual\"\nstop_time = 0.3")
        .tracer("a", "")
        .more("[record]\nsignals = [\"a.count_*\"]\nrotate = \"50ms\"\nkeep = 3\n");
    let run = rig.run().exits(0);
    let out = rig.out();
    let mut known = (*run.report()).clone();
    let kept = known["recordings"][0].clone();
    let [first, last] = ["first", "last"].map(|which| kept[which].as_str().unwrap().to_owned());
    // As a checkpoint had it, one file before the end; its histograms are those of the run.
    known["ended"] = "running".into();
    known["recordings"][0] =
        serde_json::json!({ "first": "signals-000002.csv", "last": "signals-000004.csv", "removed": 1 });
    known["histograms"] = run.file("histograms.hlog").into();
    fs::write(out.join("checkpoint.json"), known.to_string()).unwrap();
    fs::remove_file(out.join("report.json")).unwrap();
    let (_, report) = report(&out);
    assert_eq!((&report["ended"], &report["recordings"][0]), (&"cut off".into(), &kept));
    assert!(first.as_str() > "signals-000002.csv" && out.join(&first).is_file() && out.join(&last).is_file());
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains(&first) && page.contains(&last) && !page.contains("signals-000002.csv"));
}

/// SIGUSR1 asks for a report and ends neither of the processes; so does who makes one from outside. At the end there is one like
/// that of every other run.
#[test]
fn a_run_that_goes_on_has_a_report_when_somebody_asks() {
    shared_core(|| {
        let rig = endless("checkpoint = 0");
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let (supervisor, runner) = (child.id() as i32, runner_of(&child));
        let room = rig.out().join("report.json.part");
        wait_until("it has room for its report", || room.exists());
        send(runner, SIGUSR1);
        std::thread::sleep(Duration::from_millis(300));
        assert!(!rig.out().join("checkpoint.json").exists(), "nobody wants one");
        let mut before = 0;
        for _ in 0..2 {
            let _ = fs::remove_file(rig.out().join("cyclictest.json"));
            send(supervisor, SIGUSR1);
            wait_until("there is a report", || rig.out().join("a.fast.execution.hgrm").exists());
            wait_until("it is whole", || FILES.iter().all(|name| rig.out().join(name).exists()));
            let now = json(&rig.out().join("report.json"));
            assert_eq!(
                (&now["ended"], &now["verdict"], &now["fmus"][0]["status"]),
                (&"running".into(), &"fail".into(), &"running".into())
            );
            counts_agree(&now);
            assert!(activations(&now) > before);
            before = activations(&now);
        }
        let (text, outside) = report(&rig.out());
        assert!(text.contains(" goes on: ") && outside["ended"] == "running", "{text}");
        assert!(room.exists(), "the room of the run is the run's");
        send(supervisor, SIGINT);
        let run = rig.finish(child).exits(0);
        let report = run.report();
        assert_eq!(
            (&report["ended"], &report["verdict"], &report["end"]),
            (&"finished".into(), &"pass".into(), &"signal".into())
        );
        assert!(activations(&report) >= before && !rig.out().join("checkpoint.json").exists());
        assert_eq!(run.stderr.matches("the run goes on, its report so far: ").count(), 2, "{}", run.stderr);
    });
}

/// Where a checkpoint cannot be written the run goes on, and says so once, there and in its report.
#[test]
fn a_checkpoint_that_cannot_be_written_is_a_warning() {
    shared_core(|| {
        let rig = endless("checkpoint = 1");
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        fs::create_dir(rig.out().join("checkpoint.json.part")).unwrap();
        let words = "checkpoint.json cannot be written, the run goes on: Is a directory (os error 21)";
        let said = || fs::read_to_string(rig.folder().join("stderr")).unwrap().contains(words);
        wait_until("it is said", said);
        // More than three seconds: a checkpoint is tried each second, and twice again after the one that was told.
        std::thread::sleep(Duration::from_millis(2200));
        send(child.id() as i32, SIGINT);
        let run = rig.finish(child).exits(0);
        run.problem(&[words]);
        assert_eq!(run.stderr.matches(words).count(), 1, "{}", run.stderr);
    });
}

/// What was written by versions that knew no runs without an end is of runs that have one.
#[test]
fn a_report_without_a_word_on_its_end_is_of_a_finished_run() {
    let rig = Rig::new("mode = \"virtual\"\nstop_time = 0.02").tracer("a", "");
    let run = rig.run().exits(0);
    let text = run.file("report.json");
    assert!(text.contains("  \"ended\": \"finished\",\n"));
    fs::write(rig.out().join("report.json"), text.replace("  \"ended\": \"finished\",\n", "")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    let output = command.env("VECUD_CACHE", cache()).arg("report").arg(rig.out()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains(" passed: "), "{text}");
}

/// Memory that FMU code asks for and does not give back is a course in the report, and a hint, whoever reads it while the run goes on.
#[test]
fn memory_that_grows_is_told_while_the_run_goes_on() {
    shared_core(|| {
        let folder = super::program::tempdir().unwrap();
        let fmu = super::program::copied_tracer(&folder.path().join("fmu"));
        let file = fmu.join("sources/fmu.c");
        let text = fs::read_to_string(&file).unwrap();
        let begin = "    trace_begin(fmu, TRACE_ACTIVATE,";
        assert!(text.contains(begin));
        let leak = format!("    memset(malloc(3000), 1, 3000);\n{begin}");
        fs::write(&file, format!("#include <stdlib.h>\n#include <string.h>\n{}", text.replacen(begin, &leak, 1)))
            .unwrap();
        let rig = Rig::new("overrun = \"queue\"").fmu("a", fmu, "", "").more("[report]\ncheckpoint = 1\n");
        let child = rig.start(rig.command());
        let hint = |report: &Value| {
            let hints = report["hints"].as_array().unwrap();
            hints.iter().any(|hint| hint.as_str().unwrap().contains("the process of fmu `a` grows: from "))
        };
        let mut longer_than = 0.0;
        let course = loop {
            let checkpoint = checkpoint_after(&rig.out(), longer_than);
            longer_than = checkpoint["wall_seconds"].as_f64().unwrap();
            if hint(&checkpoint) {
                break checkpoint["host"]["memory_over_time"]["resident_kib"].as_array().unwrap().clone();
            }
        };
        send(child.id() as i32, SIGINT);
        let run = rig.finish(child).exits(0);
        assert!(course.last().unwrap().as_u64() > course[course.len() / 2].as_u64(), "{course:?}");
        assert!(run.file("report.html").contains("Memory of the FMUs</dt>"));
    });
}

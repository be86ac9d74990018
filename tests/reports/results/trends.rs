//! `vecud report A B C`: the figures of many runs in one page, and as JSON.

use super::program::Rig;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A folder with the reports `one`, `two` and `three`, of which the second lacks a clock and failed.
fn three() -> tempfile::TempDir {
    let folder = crate::program::tempdir().unwrap();
    let run = Rig::new("stop_time = 0.1").tracer("a", "").run_virtual().exits(0);
    let report = run.report();
    for (number, name) in ["one", "two", "three"].into_iter().enumerate() {
        let mut report = (*report).clone();
        report["started"] = format!("2026-03-0{}T02:00:00Z", number + 1).into();
        if name == "two" {
            report["clocks"].as_array_mut().unwrap().remove(0);
            report["verdict"] = "fail".into();
            // As vecud wrote it before problems were objects.
            report["format_version"] = 1.into();
            report["problems"] = vec!["it <crashed>"].into();
            report["problem_severities"] = vec!["failure"].into();
            report["problem_topics"] = vec!["other"].into();
        }
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("report.json"), report.to_string()).unwrap();
    }
    folder
}

fn report(folder: &Path, arguments: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("report").args(arguments.split_whitespace()).current_dir(folder);
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn runs_are_drawn_in_the_order_that_is_given() {
    let folder = three();
    let (code, said, _) = report(folder.path(), "two one/report.json three -o nightly.html");
    let clocks = "trends: nightly.html\n";
    assert_eq!((code, said.starts_with("3 runs, "), said.ends_with(clocks)), (Some(0), true, true), "{said}");
    assert!(said.contains("1 failed: two"), "{said}");
    let page = fs::read_to_string(folder.path().join("nightly.html")).unwrap();
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("no {what}"));
    let table = place("<h2>The runs</h2>");
    assert!(page[table..].find("two").unwrap() < page[table..].find("one/report.json").unwrap());
    assert!(
        page.contains("it &lt;crashed&gt;")
            && page.contains("1 of 3 runs failed")
            && page.contains("There is nothing to be drawn")
    );
    assert!(!page.contains("<script") && !page.contains("Start latency"), "nothing is late in virtual time");
    // By itself the page is in the folder of whoever asks for it.
    assert_eq!(report(folder.path(), "one two").0, Some(0));
    assert!(folder.path().join("trends.html").is_file());
}

/// A checkpoint, or a report that was made of a run while it went on, does not know of the kill that came afterwards.
#[test]
fn runs_that_were_killed_are_cut_off() {
    let folder = three();
    for (name, file) in [("two", "checkpoint.json"), ("three", "report.json")] {
        let path = folder.path().join(name).join("report.json");
        let mut report: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        report["ended"] = "running".into();
        fs::remove_file(path).unwrap();
        fs::write(folder.path().join(name).join(file), report.to_string()).unwrap();
    }
    let ended = || {
        let (code, said, told) = report(folder.path(), "one two three --json");
        assert_eq!(code, Some(0), "{told}");
        let trends: Value = serde_json::from_str(&said).unwrap();
        let of = |run: &Value| {
            let first = run["problems"][0].as_str().unwrap_or_default();
            (run["ended"].as_str().unwrap().to_owned(), first.split(':').next().unwrap().to_owned())
        };
        trends["runs"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let one = ("finished".to_owned(), String::new());
    let words = "the run was cut off (vecud was killed, or the machine lost power)";
    let cut_off = ("cut off".to_owned(), words.to_owned());
    assert_eq!(ended(), [one.clone(), cut_off.clone(), cut_off.clone()]);
    // Somebody has the folder.
    let locked = fs::File::open(folder.path().join("three")).unwrap();
    locked.try_lock().unwrap();
    assert_eq!(ended(), [one, cut_off, ("running".to_owned(), "the run has not ended".to_owned())]);
}

#[test]
fn as_json_they_have_the_figures_of_their_reports() {
    let folder = three();
    let (code, said, _) = report(folder.path(), "one two three --json");
    assert_eq!(code, Some(0));
    let trends: Value = serde_json::from_str(&said).unwrap();
    let runs = trends["runs"].as_array().unwrap();
    let of = |field: &str| runs.iter().map(|run| run[field].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(
        (of("name"), of("verdict")),
        (vec!["one".into(), "two".into(), "three".into()], vec!["pass".into(), "fail".into(), "pass".into()])
    );
    let own: Value = serde_json::from_slice(&fs::read(folder.path().join("one/report.json")).unwrap()).unwrap();
    let clocks = trends["clocks"].as_array().unwrap();
    assert_eq!(clocks.len(), own["clocks"].as_array().unwrap().len());
    for (trend, clock) in clocks.iter().zip(own["clocks"].as_array().unwrap()) {
        assert_eq!((&trend["fmu"], &trend["clock"]), (&clock["fmu"], &clock["clock"]));
        assert_eq!(trend["points"][0]["activations"], clock["activations"]);
        assert_eq!(trend["points"][0]["start_latency"], Value::Null);
    }
    assert_eq!((&clocks[0]["points"][1], clocks[1]["points"][1].is_object()), (&Value::Null, true));
    assert!(!folder.path().join("trends.html").exists(), "a page is made with --out only");
}

#[test]
fn what_cannot_be_read_is_named_and_nothing_is_made() {
    let folder = three();
    fs::write(folder.path().join("two/report.json"), "{").unwrap();
    let (code, said, told) = report(folder.path(), "one two nothing three");
    assert_eq!((code, said.as_str()), (Some(2), ""));
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("two/report.json:1: ") && lines[1].starts_with("nothing: "),
        "{told}"
    );
    assert!(!folder.path().join("trends.html").exists());
    for wrong in ["one --json", "one two --against three", "one two --out one"] {
        assert_eq!(report(folder.path(), wrong).0, Some(2), "{wrong}");
    }
}

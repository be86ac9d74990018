//! Each output of a run stands on its own: whichever cannot be written, all others are there, whole, and `report.json` names it.

use std::fs;
use std::process::{Child, Stdio};

use crate::bad_input::bench::{Bench, Outcome, wait};
use crate::program::{limit_files, problem_texts};

/// What a run in real time writes at its end, beside what it writes while it runs.
const NAMES: [&str; 6] =
    ["report.json", "report.html", "histograms.hlog", "junit.xml", "cyclictest.json", "a.fast.execution.hgrm"];

/// Runs the tracer for a moment, and does something once it records.
fn run_and(bench: &Bench, spoil: impl FnOnce(&Child)) -> Outcome {
    let mut command = bench.command(["run", "a", "--stop-time", "0.4", "--out", "o", "--quiet"]);
    let streams = ["stdout", "stderr"].map(|name| fs::File::create(bench.path(name)).unwrap());
    let [stdout, stderr] = streams.map(Stdio::from);
    let mut child = command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn().unwrap();
    while !bench.path("o/signals.csv").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    spoil(&child);
    let code = wait(&mut child).code();
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| fs::read_to_string(bench.path(name)).unwrap());
    Outcome { code, stdout, stderr }
}

/// Every file but these is there as a whole, and none that is half written.
#[track_caller]
fn others_are_whole(bench: &Bench, but: &[&str], what: &str) {
    for name in NAMES.into_iter().filter(|name| !but.contains(name)) {
        let text =
            fs::read_to_string(bench.path("o").join(name)).unwrap_or_else(|error| panic!("{what}: {name}: {error}"));
        let whole = match name.rsplit_once('.').unwrap().1 {
            "json" => serde_json::from_str::<serde_json::Value>(&text).is_ok(),
            "html" => text.trim_end().ends_with("</html>"),
            "xml" => text.trim_end().ends_with("</testsuites>"),
            "hlog" => text.lines().filter(|line| line.starts_with("Tag=a.fast.")).count() > 5,
            _ => text.contains("#[Max") && text.ends_with("]\n"),
        };
        assert!(whole, "{what}: {name} is not whole");
    }
    let half = |name: &str| name.ends_with(".part") && bench.path("o").join(name).is_file();
    let left: Vec<_> = fs::read_dir(bench.path("o")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| half(&name.to_string_lossy())), "{what}: {left:?}");
}

/// In the place of the file, or of the one under whose name it is written first.
#[test]
fn a_folder_that_takes_the_place_of_an_output_while_the_run_goes_on_costs_that_output_alone() {
    for name in NAMES {
        for place in [name.to_owned(), format!("{name}.part")] {
            let bench = Bench::with_fmu("a");
            let outcome = run_and(&bench, |_| {
                let place = bench.path("o").join(&place);
                let _room_that_was_set_aside = fs::remove_file(&place);
                fs::create_dir(place).unwrap();
            });
            assert_eq!(outcome.code, Some(1), "{place}: {outcome:?}");
            let message = format!("the report is incomplete: o: cannot write {name}: Is a directory (os error 21)");
            assert!(outcome.stdout.contains(&format!("failure: {message}\n")), "{place}: {outcome:?}");
            others_are_whole(&bench, &[name], &place);
            if name != "report.json" {
                let report = fs::read_to_string(bench.path("o/report.json")).unwrap();
                let report: serde_json::Value = serde_json::from_str(&report).unwrap();
                let problems = problem_texts(&report);
                assert!(report["verdict"] == "fail" && problems.contains(&message), "{place}: {problems:?}");
            }
        }
    }
}

/// A limit that comes while the run goes on (`prlimit`, a service manager): what is longer is missing or cut and named, what is
/// shorter is there.
#[test]
fn a_limit_on_the_size_of_files_costs_those_that_are_longer() {
    let bench = Bench::with_fmu("a");
    let outcome = run_and(&bench, |child| limit_files(child, 150_000));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    others_are_whole(&bench, &["report.html"], "a limit of 150 kB");
    assert!(!bench.path("o/report.html").exists());
    let report = fs::read_to_string(bench.path("o/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let problems = problem_texts(&report);
    let named = |words: &[&str]| {
        let of = |problem: &String| words.iter().all(|word| problem.contains(word));
        assert!(problems.iter().any(of), "{words:?} is not in {problems:?}");
    };
    named(&["the report is incomplete: o: cannot write report.html: File too large"]);
    named(&["signals.csv ends at ", "File too large"]);
    let csv = fs::read_to_string(bench.path("o/signals.csv")).unwrap();
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.iter().all(|&n| n == columns[0]) && csv.ends_with('\n'), "whole rows");
    assert!(csv.len() <= 150_000);
}

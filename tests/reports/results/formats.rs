//! What other tools read of a run: `junit.xml`, `cyclictest.json`, and the course of latencies in `report.json`; and that
//! `vecud report` makes the files anew, to the byte.

use crate::program::{Outcome, Rig, shared_core};
use roxmltree::{Document, Node};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// `fast` (1 ms) sleeps for 4 ms in its 50th, 100th, ... activation, so nothing below it keeps a limit of 1 µs.
fn late() -> Rig {
    let start = "fast_sleep_every = 50, fast_sleep_us = 4000";
    Rig::new("stop_time = 0.5").tracer_with("a", start, "clock.fast = { max_latency_us = 1 }").tracer("b", "")
}

/// Names of cases, and how many or why.
type Named<T> = Vec<(String, T)>;

/// Suites with their numbers of cases, and the failures: case and text.
fn junit(run: &Outcome) -> (Named<usize>, Named<String>) {
    let text = run.file("junit.xml");
    let document = Document::parse(&text).unwrap();
    assert_eq!(document.root_element().tag_name().name(), "testsuites");
    let mut suites = Vec::new();
    let mut failures = Vec::new();
    for suite in document.root_element().children().filter(Node::is_element) {
        // What the strictest of the schemas asks for.
        for name in ["id", "name", "package", "timestamp", "hostname", "tests", "failures", "errors", "time"] {
            assert!(suite.attribute(name).is_some_and(|value| !value.is_empty()), "no {name}: {text}");
        }
        let parts: Vec<&str> = suite.children().filter(Node::is_element).map(|node| node.tag_name().name()).collect();
        let cases = parts.iter().filter(|part| **part == "testcase").count();
        assert_eq!((parts[0], &parts[cases + 1..]), ("properties", &["system-out", "system-err"][..]));
        assert_eq!(suite.attribute("tests").unwrap(), cases.to_string());
        suites.push((suite.attribute("name").unwrap().to_owned(), cases));
        for case in suite.children().filter(|node| node.has_tag_name("testcase")) {
            assert!(["classname", "name", "time"].iter().all(|name| case.attribute(*name).is_some()));
            for failure in case.children().filter(Node::is_element) {
                assert!(failure.has_tag_name("failure") && failure.attribute("type").is_some());
                failures.push((case.attribute("name").unwrap().to_owned(), failure.text().unwrap().to_owned()));
            }
        }
    }
    (suites, failures)
}

fn rebuilt(folder: &Path) {
    let status = Command::new(env!("CARGO_BIN_EXE_vecud")).arg("report").arg(folder).output().unwrap().status;
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_limit_that_was_exceeded_fails_its_case_and_no_other() {
    shared_core(|| {
        let run = late().run().exits(3);
        let (suites, failures) = junit(&run);
        assert_eq!(suites.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b", "test"]);
        // Four clocks or more with overruns each, one limit, status and findings.
        assert!(suites[0].1 == suites[1].1 + 1 && suites[1].1 >= 4, "{suites:?}");
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert_eq!(failures[0].0, "fast: start latency within max_latency");
        assert_eq!(failures[0].1, run.problem(&["(max_latency_us)"]));
    });
}

#[test]
fn an_fmu_that_fails_fails_its_status() {
    let run =
        Rig::new("stop_time = 0.1").tracer("a", "fail_kind = 1, fail_at = 20").tracer("b", "").run_virtual().exits(1);
    let (_, failures) = junit(&run);
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert!(failures[0].0 == "status" && failures[0].1.starts_with("fmu `a`: "), "{failures:?}");
    assert!(!run.out.join("cyclictest.json").exists(), "in virtual time nobody wakes up");
}

#[test]
fn cyclictests_file_has_the_machines_part_of_the_wake_up_latencies_of_each_clock() {
    shared_core(|| {
        let run = late().run().exits(3);
        let file: Value = serde_json::from_str(&run.file("cyclictest.json")).unwrap();
        let report = run.report();
        let clocks = report["clocks"].as_array().unwrap();
        assert_eq!((&file["file_version"], &file["num_threads"]), (&1.into(), &clocks.len().into()));
        assert_eq!((&file["return_code"], &file["resolution_in_ns"]), (&3.into(), &0.into()));
        for (number, clock) in clocks.iter().enumerate() {
            let thread = &file["thread"][number.to_string()];
            // Of a clock that was never activated there are no parts.
            let own = clock.get("parts").map_or(&clock["wakeup_latency"], |parts| &parts["wakeup_machine"]);
            assert_eq!((&thread["cycles"], &thread["cpu"]), (&own["count"], &clock["cpu"]));
            let histogram = thread["histogram"].as_object().unwrap();
            let values: u64 = histogram.values().map(|count| count.as_u64().unwrap()).sum();
            assert_eq!(Some(values), own["count"].as_u64(), "nothing is beyond the histogram");
            for (name, key) in [("min", "min"), ("max", "max")] {
                assert_eq!(thread[name].as_u64().unwrap(), own[key].as_u64().unwrap() / 1000, "{name}");
            }
            let last = histogram.keys().map(|value| value.parse::<u64>().unwrap()).max();
            assert_eq!(last.unwrap_or(0), thread["max"].as_u64().unwrap());
            assert!((thread["avg"].as_f64().unwrap() - own["mean"].as_f64().unwrap() / 1e3).abs() < 0.006);
        }
    });
}

#[test]
fn the_course_of_latencies_has_each_maximum_in_its_interval() {
    shared_core(|| {
        let run = late().run().exits(3);
        for name in ["fast", "slow"] {
            let clock = run.clock("a", name);
            let course = &clock["over_time"];
            assert_eq!(course["interval_s"], 0.05);
            for metric in ["start_latency", "response"] {
                let points: Vec<Option<u64>> = serde_json::from_value(course[metric].clone()).unwrap();
                // Half a second in steps of 50 ms, and what ended after it.
                assert!((10..=13).contains(&points.len()), "{name}: {} intervals", points.len());
                assert_eq!(points.iter().flatten().max(), clock[metric]["max"].as_u64().as_ref(), "{name}: {metric}");
            }
        }
        // It sleeps in each 50 ms, and for longer than anything else takes.
        let points: Vec<Option<u64>> =
            serde_json::from_value(run.clock("a", "fast")["over_time"]["response"].clone()).unwrap();
        let slept = points.iter().flatten().filter(|longest| **longest >= 4_000_000).count();
        assert!(slept >= 8, "{points:?}");
    });
}

/// Half a second has two intervals or more, one after the other.
#[test]
fn the_log_has_an_entry_for_each_interval() {
    shared_core(|| {
        let run = late().run().exits(3);
        let log = run.file("histograms.hlog");
        let lines = log.lines().filter_map(|line| line.strip_prefix("Tag=a.fast.response,"));
        let spans: Vec<(f64, f64)> = lines
            .map(|line| {
                let mut figures = line.split(',').map(|figure| figure.parse().unwrap_or(f64::NAN));
                (figures.next().unwrap(), figures.next().unwrap())
            })
            .collect();
        assert!(spans.len() >= 2, "{spans:?}");
        assert!(spans.windows(2).all(|pair| (pair[0].0 + pair[0].1 - pair[1].0).abs() < 0.002), "{spans:?}");
    });
}

#[test]
fn a_report_anew_has_the_same_files() {
    shared_core(|| {
        let run = late().run().exits(3);
        for name in ["junit.xml", "cyclictest.json"] {
            let before = run.file(name);
            std::fs::remove_file(run.out.join(name)).unwrap();
            rebuilt(&run.out);
            assert_eq!(run.file(name), before, "{name}");
        }
    });
}

/// The report says how the run was started, as somebody can type it, and what the machine had to do beside it.
#[test]
fn reports_have_the_command_line_and_the_load() {
    let rig = Rig::new("stop_time = 0.01").tracer("a", "");
    let run = rig.run_with(&["--mode", "virtual", "--set", "a.fast_burn_us = 0"]).exits(0);
    let report = run.report();
    let words: Vec<&str> = report["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(words[1], "run");
    assert_eq!(words[words.len() - 4..], ["--mode", "virtual", "--set", "a.fast_burn_us = 0"]);
    assert!(run.file("report.html").contains(" --mode virtual --set &#39;a.fast_burn_us = 0&#39;</code>"));
    for load in ["load_at_start", "load_at_end"] {
        let figures: Vec<f64> = report["host"][load].as_array().unwrap().iter().map(|f| f.as_f64().unwrap()).collect();
        assert!(figures.len() == 3 && figures.iter().all(|figure| *figure >= 0.0), "{figures:?}");
    }
    assert!(run.file("report.html").contains("<dt>Load before the run</dt>"));
}

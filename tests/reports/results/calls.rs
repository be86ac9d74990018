//! The calls of each function of an FMU, in `report.json` and on the page.

use super::program::{Outcome, Rig, shared_core};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn fmu(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// A rig of one FMU that is no tracer.
fn alone(name: &str, keys: &str, more: &str) -> Rig {
    let path = fmu(name);
    let keys = format!("[fmu.a]\npath = {path:?}\n{keys}\n");
    Rig::of_text(&format!("[rig]\nmode = \"virtual\"\nstop_time = 0.1\n{keys}{more}\n"))
}

fn calls(run: &Outcome, fmu: &str) -> Vec<(String, u64, Value)> {
    let calls = run.fmu(fmu)["calls"].as_array().unwrap().clone();
    let text = |own: &Value| own["function"].as_str().unwrap().to_owned();
    calls.iter().map(|own| (text(own), own["calls"].as_u64().unwrap(), own["total_ns"].clone())).collect()
}

/// How often functions were called whose names begin and end like this.
fn count(run: &Outcome, fmu: &str, begin: &str, end: &str) -> u64 {
    let of = |(function, ..): &&(String, u64, Value)| function.starts_with(begin) && function.ends_with(end);
    calls(run, fmu).iter().filter(of).map(|(_, calls, _)| calls).sum()
}

/// What the FMUs themselves have noted is what is reported: of partitions that preempt each other, in callbacks, and outside.
#[test]
fn as_many_calls_are_reported_as_the_fmus_have_noted() {
    let rig = || {
        Rig::new("stop_time = 0.3")
            .tracer("a", "fast_tick_high_every = 2, arm_every = 1")
            .tracer("b", "")
            .trigger("a.out_high", "a.high")
            .trigger("a.out_low", "b.low")
            .connect("a.out_f64", "b.in_f64")
    };
    shared_core(|| {
        for run in [rig().run_virtual().exits(0), rig().run().exits(0)] {
            for name in ["a", "b"] {
                let (trace, run) = (run.trace(name), &run);
                assert_eq!(trace.summary["dropped"], "0");
                let noted = |what: &str| trace.count(what, "begin") as u64;
                let values = |begin: &str| -> u64 {
                    let types = ["Float32", "Float64", "8", "16", "Int32", "Int64", "Boolean", "String", "Binary"];
                    types.iter().map(|end| count(run, name, begin, end)).sum()
                };
                assert!(noted("activate") > 300, "{}", noted("activate"));
                assert_eq!(count(run, name, "fmi3Activate", ""), noted("activate"), "{name}");
                assert_eq!(count(run, name, "fmi3GetClock", ""), noted("get_clock"), "{name}");
                assert_eq!(count(run, name, "fmi3GetInterval", ""), noted("get_interval"), "{name}");
                assert_eq!(values("fmi3Set"), noted("set"), "{name}");
                assert_eq!(values("fmi3Get"), noted("get"), "{name}");
                for once in ["Instantiate", "ExitInitializationMode", "Terminate", "FreeInstance"] {
                    assert_eq!(count(run, name, &format!("fmi3{once}"), ""), 1, "{name} {once}");
                }
                assert!(calls(run, name).iter().all(|(.., time)| time.is_null()), "nobody wanted it measured");
            }
            assert!(count(&run, "a", "fmi3GetClock", "") > 100);
            let page = run.file("report.html");
            assert!(page.contains("<h4>Calls</h4>") && !page.contains("Time, all"));
        }
    });
}

#[test]
fn functions_have_the_names_of_their_version() {
    let run = alone("follower", "", "").run().exits(0);
    assert_eq!(count(&run, "a", "fmi2DoStep", ""), run.count("a", "step", "steps"));
    assert_eq!((count(&run, "a", "fmi2Instantiate", ""), count(&run, "a", "fmi2FreeInstance", "")), (1, 1));
    assert!(calls(&run, "a").iter().all(|(function, ..)| function.starts_with("fmi2")), "{:?}", calls(&run, "a"));
}

/// A call that does not return is one, and what came before it is not lost.
#[test]
fn the_call_of_a_crash_is_counted() {
    let run = alone("stepper", "step = 0.01\nstart = { fail_at = 0.05, fail_kind = 7 }", "").run().exits(1);
    assert_eq!(run.status("a"), "crashed");
    assert_eq!((run.count("a", "step", "activations"), count(&run, "a", "fmi3DoStep", "")), (5, 6));
    assert_eq!(count(&run, "a", "fmi3Terminate", ""), 0);
}

#[test]
fn how_long_calls_take_is_measured_where_the_rig_asks() {
    let keys = "step = 0.01\nstart = { burn_us = 2000 }";
    let run = alone("stepper", keys, "[report]\ncall_times = true").run().exits(0);
    let (function, number, time) = calls(&run, "a").swap_remove(0);
    assert_eq!((function.as_str(), number), ("fmi3DoStep", 10), "what took longest comes first");
    assert!(time.as_u64().unwrap() >= 10 * 2_000_000, "{time}");
    let untimed: Vec<String> =
        calls(&run, "a").into_iter().filter(|(.., time)| time.is_null()).map(|(function, ..)| function).collect();
    assert_eq!(untimed.len(), 2, "{untimed:?}");
    assert!(untimed.iter().all(|own| own.contains("Instan")), "{untimed:?}");
    assert!(run.file("report.html").contains("Time, all"));
}

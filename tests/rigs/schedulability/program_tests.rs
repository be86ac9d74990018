//! The whole program: who is refused, who is not, and runs that keep to what was computed.

use crate::program::{Outcome, Rig, cache, real_time};
use std::path::Path;
use std::process::{Command, Output};

/// `vecud check` with this rig.
fn check(rig: &Rig, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("check").arg(rig.file()).args(arguments).env("VECUD_CACHE", cache()).output().unwrap()
}

#[track_caller]
fn says(output: &Output, code: i32, stdout: &[&str], stderr: &[&str]) {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert_eq!(output.status.code(), Some(code), "{out}\n{err}");
    for (text, words) in [(out, stdout), (err, stderr)] {
        words.iter().for_each(|words| assert!(text.contains(words), "{words} is not in\n{text}"));
    }
}

/// Four clocks that burn little of what the rig says they may; `fast` may take `fast_us`.
fn tracer(rig: &str, fast_us: u32, more: &str) -> Rig {
    let start = "fast_burn_us = 20, equal_a_burn_us = 50, equal_b_burn_us = 50, slow_burn_us = 500";
    let keys = format!(
        "clock.fast = {{ execution_us = {fast_us}, lock_us = 100 }}\n\
         clock.equal_a = {{ execution_us = 200, lock_us = 100 }}\n\
         clock.equal_b = {{ execution_us = 200, lock_us = 100 }}\n\
         clock.slow = {{ execution_us = 1000, lock_us = 100 }}\n\
         clock.delayed = {{ execution_us = 100, lock_us = 50, min_interval_us = 10_000 }}\n"
    );
    Rig::new(rig).tracer_with("ecu", start, &keys).more(more)
}

const HOST: &str = "[host]\nwakeup_us = 400\noverhead_us = 10\n";

#[test]
fn check_refuses_a_rig_whose_clock_misses_its_deadline() {
    says(&check(&tracer("", 200, HOST), &[]), 0, &["\nSchedulability\n", "ecu.fast"], &[]);
    let refused = check(&tracer("", 500, HOST), &[]);
    let why = [
        "clock ecu.fast misses its deadline of 1 ms by 20 µs: on core ",
        "its worst response is 1.02 ms",
        " 510 µs  its own execution\n",
        " 110 µs  ecu.equal_a, less urgent, in its longest locked section\n",
        " 400 µs  waking up\n",
        "deadline_us in [fmu.ecu.clock.fast]",
    ];
    says(&refused, 2, &["-20 µs"], &why);
    let text = std::fs::read_to_string(tracer("", 500, HOST).file()).unwrap();
    let text = text.replace("execution_us = 500", "execution_us = 500, deadline_us = 1020");
    says(&check(&Rig::of_text(&text), &[]), 0, &["1.02 ms"], &[]);
}

#[test]
fn polling_for_releases_is_execution() {
    let polls = check(&tracer("", 200, &format!("{HOST}spin_us = 300\n")), &[]);
    let why = ["clock ecu.fast misses its deadline of 1 ms by 20 µs: on core ", " 510 µs  its own execution\n"];
    says(&polls, 2, &[", 300 µs of polling before each release that is known"], &why);
}

#[test]
fn check_refuses_an_overloaded_core_with_its_clocks() {
    let refused = check(&tracer("", 900, HOST), &[]);
    let why = ["is loaded with 119.7 %, more than it has", " 91.0 %  ecu.fast\n", " 10.5 %  ecu.equal_a\n"];
    says(&refused, 2, &["none"], &why);
}

#[test]
fn what_is_not_known_is_no_error_and_named() {
    let rig = Rig::new("").tracer_with("ecu", "", "clock.fast = { execution_us = 100, lock_us = 10 }\n");
    let hint = [
        "unknown execution times (execution_us): ecu.equal_a, ecu.equal_b, ecu.delayed, ecu.slow",
        "unknown shortest intervals (min_interval_us): ecu.delayed",
        "to know: run the rig once, then vecud check --measured with its output folder",
    ];
    says(&check(&rig, &[]), 0, &hint, &[]);
    let in_virtual_time = check(&tracer("mode = 'virtual'\nstop_time = 1", 900, HOST), &[]);
    says(&in_virtual_time, 0, &[], &[]);
    assert!(!String::from_utf8_lossy(&in_virtual_time.stdout).contains("Schedulability"), "nothing takes time there");
}

const CLOCKS: [&str; 5] = ["fast", "equal_a", "equal_b", "slow", "delayed"];

fn number(run: &Outcome, clock: &str, what: &[&str]) -> u64 {
    let all = run.clock("ecu", clock);
    what.iter().fold(&all, |value, key| &value[key]).as_u64().unwrap_or_else(|| panic!("{clock} {what:?}: {all}"))
}

#[test]
fn a_run_stays_below_what_was_computed_from_the_rigs_figures() {
    real_time("a_run_stays_below_what_was_computed_from_the_rigs_figures", || {
        // What a virtual machine among others takes to wake up; what takes longer still was a stall.
        let host = "[host]\nwakeup_us = 2000\noverhead_us = 10\n";
        let run = tracer("stop_time = 0.3", 200, host).run().exits(0);
        for clock in CLOCKS {
            assert_eq!(run.clock("ecu", clock)["predicted_from"], "rig", "{clock}");
            let (measured, predicted) = (["response", "max"], ["predicted_response"]);
            let [measured, predicted] = [number(&run, clock, &measured), number(&run, clock, &predicted)];
            assert!(measured > 0 && measured <= predicted, "{clock}: {measured} ns, computed were {predicted} ns");
        }
        assert!(!run.file("report.json").contains("computed from the rig's figures"), "no note says otherwise");
        assert!(run.file("report.html").contains("worst response by computation"));
    });
}

#[test]
fn a_clock_that_is_slower_than_the_rig_says_is_noted() {
    real_time("a_clock_that_is_slower_than_the_rig_says_is_noted", || {
        let host = "[host]\nwakeup_us = 0\noverhead_us = 0\n";
        let rig = tracer("stop_time = 0.3", 200, host);
        let text = std::fs::read_to_string(rig.file()).unwrap();
        let text = text.replace("execution_us = 1000", "execution_us = 300");
        let run = Rig::of_text(&text).run().exits(0);
        let notes = run.report()["notes"].to_string();
        for words in ["clock ecu.slow: its response reached ", "more than its execution_us = 300"] {
            assert!(notes.contains(words), "{words} is not in {notes}");
        }
    });
}

#[test]
fn what_a_run_has_measured_serves_the_next_check() {
    real_time("what_a_run_has_measured_serves_the_next_check", || {
        let rig = Rig::new("name = 'mine'\nstop_time = 1").tracer_with("ecu", "slow_burn_us = 800", "");
        let run = rig.run().exits(0);
        let out = run.out.display().to_string();
        for clock in CLOCKS {
            assert_eq!(run.clock("ecu", clock)["predicted_from"], "run", "{clock}");
            assert!(number(&run, clock, &["longest_lock"]) > 0, "{clock} locks");
        }
        assert!(number(&run, "delayed", &["shortest_interval"]) > 10_000_000);
        assert!(run.clock("ecu", "fast")["shortest_interval"].is_null());
        // Deadlines that a stall of the machine does not make it miss.
        let text = std::fs::read_to_string(rig.file()).unwrap();
        let roomy: String = CLOCKS.iter().map(|clock| format!("clock.{clock}.deadline_us = 1e9\n")).collect();
        let text = text.replace("[fmu.ecu]\n", &format!("[fmu.ecu]\n{roomy}"));
        let checked = check(&Rig::of_text(&text), &["--measured", &out]);
        says(&checked, 0, &["measured figures are the worst that the run in", "(measured)"], &[]);
        assert!(!String::from_utf8_lossy(&checked.stdout).contains("  unknown "), "all is known");
        // What the rig says goes first.
        let slower =
            text.replace("clock.slow.deadline_us = 1e9", "clock.slow = { deadline_us = 1e4, execution_us = 20_000 }");
        says(&check(&Rig::of_text(&slower), &["--measured", &out]), 2, &[], &["core", "ecu.slow"]);
        // A clock that the run did not have.
        let report = run.file("report.json").replace("\"clock\": \"slow\"", "\"clock\": \"slower\"");
        std::fs::write(run.out.join("report.json"), report).unwrap();
        let named = "unknown execution times (execution_us): ecu.slow\n";
        says(&check(&Rig::of_text(&text), &["--measured", &out]), 0, &[named, "did not measure them"], &[]);
    });
}

#[test]
fn measured_figures_must_be_of_a_run_of_this_rig() {
    let rig = tracer("name = 'mine'", 200, HOST);
    let folder = crate::program::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let wrong = |name: &str, words: &[&str]| says(&check(&rig, &["--measured", &path(name)]), 2, &[], words);
    wrong("nowhere", &["there is no such folder"]);
    std::fs::create_dir(path("empty")).unwrap();
    wrong("empty", &["report.json: there is none: no run has ended in this folder"]);
    let put = |name: &str, text: &str| {
        std::fs::create_dir(path(name)).unwrap();
        std::fs::write(Path::new(&path(name)).join("report.json"), text).unwrap();
    };
    put("broken", "{ \"rig\": ");
    wrong("broken", &["report.json:1", "this file is damaged or no report.json"]);
    let other = vecud::report::json(&vecud::report::sample(1));
    put("other", &other);
    wrong("other", &["this is a run of the rig \"engine\", not of \"mine\""]);
    put("renamed", &other.replace("\"rig\": \"engine\"", "\"rig\": \"mine\""));
    wrong("renamed", &["this run had none of the clocks of the rig"]);
    let virtual_run = other.replace("\"rig\": \"engine\"", "\"rig\": \"mine\"").replace("\"realtime\"", "\"virtual\"");
    put("virtual", &virtual_run);
    wrong("virtual", &["this run was in virtual time, which measures nothing"]);
    let in_virtual_time = tracer("name = 'mine'\nmode = 'virtual'\nstop_time = 1", 200, HOST);
    says(
        &check(&in_virtual_time, &["--measured", &path("other")]),
        2,
        &[],
        &["in virtual time, where nothing takes time"],
    );
}

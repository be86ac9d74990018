//! FMU code that fails, crashes, exits, hangs: it is told, and the conversation goes on.

use super::{called, example, json, script};
use std::time::Instant;

const ERROR: u32 = 1;
const DISCARD: u32 = 2;
const FATAL: u32 = 3;
const HANG: u32 = 4;
const CRASH: u32 = 5;
const EXIT: u32 = 6;
const WARNING: u32 = 9;
const BUSY: u32 = 10;
const ABORT: u32 = 11;

/// The first activation of `fast` fails in this way; then another instance is made.
fn in_activation(kind: u32, after: &[&str]) -> (i32, Vec<serde_json::Value>) {
    let kind = format!("set fail_kind {kind}");
    let begin = [
        "Instantiate",
        &kind,
        "set fail_clock 1",
        "set fail_at 1",
        "EnterInitializationMode",
        "ExitInitializationMode",
        "activate fast 0",
    ];
    json(&example("tracer"), &["--keep-going", "--timeout", "1"], &[&begin[..], after].concat())
}

#[test]
fn what_ends_the_process_ends_the_instance_alone() {
    for (kind, words) in [
        (CRASH, "the FMU crashed (SIGSEGV) in fmi3ActivateModelPartition"),
        (ABORT, "the FMU crashed (SIGABRT) in fmi3ActivateModelPartition"),
        (EXIT, "the FMU called exit(3) in fmi3ActivateModelPartition"),
        (HANG, "the FMU has been in fmi3ActivateModelPartition for 1 s, and was ended (--timeout)"),
        (BUSY, "the FMU has been in fmi3ActivateModelPartition for 1 s, and was ended (--timeout)"),
    ] {
        let begun = Instant::now();
        let (code, lines) =
            in_activation(kind, &["get out_f64", "Instantiate", "EnterInitializationMode", "get in_f64"]);
        assert_eq!(code, 1);
        assert!(begun.elapsed().as_secs() < 20, "{words}");
        let failed = &lines[6];
        assert_eq!((failed["outcome"].as_str(), failed["state"].as_str()), (Some("failed"), Some("no instance")));
        assert!(failed["message"].as_str().unwrap().starts_with(words), "{failed}");
        // The call that it was in is one of those of the line.
        let call = failed["calls"].as_array().unwrap().last().unwrap();
        let end = words.trim_start_matches("the FMU ").split(" in ").next().unwrap();
        let end = if end == "has been" { "did not return" } else { end };
        assert_eq!(
            (call["function"].as_str(), call["status"].as_str()),
            (Some("fmi3ActivateModelPartition"), Some(end))
        );
        assert!(call["arguments"].is_null() && call["nanoseconds"].is_null(), "{call}");
        let message = lines[7]["message"].as_str().unwrap();
        assert!(message.contains("there is no instance; fmi3InstantiateScheduledExecution makes one"), "{message}");
        assert_eq!(lines[9]["state"].as_str(), Some("Initialization Mode"), "the next instance is of a new process");
        assert_eq!(lines[10]["outcome"].as_str(), Some("done"));
    }
}

#[test]
fn a_status_says_what_is_left() {
    for (kind, state) in [(ERROR, "failed"), (DISCARD, "failed"), (FATAL, "fatal")] {
        let (code, lines) = in_activation(kind, &["activate fast 1", "Reset", "FreeInstance", "Instantiate"]);
        assert_eq!(code, 1);
        let failed = &lines[6];
        assert_eq!((failed["outcome"].as_str(), failed["state"].as_str()), (Some("failed"), Some(state)), "{failed}");
        assert_eq!(failed["log"].as_array().map(Vec::len), Some(1), "what it has logged of it");
        assert_eq!(lines[7]["outcome"].as_str(), Some("refused"));
        assert!(called(&lines[7]).is_empty());
        match kind {
            // Nothing is called any more, not even what frees it.
            FATAL => {
                assert_eq!(lines[8]["outcome"].as_str(), Some("refused"));
                assert!(called(&lines[9]).is_empty());
            }
            _ => {
                assert_eq!((called(&lines[8]), lines[8]["state"].as_str()), (vec!["fmi3Reset"], Some("Instantiated")));
                assert_eq!(called(&lines[9]), ["fmi3FreeInstance"]);
            }
        }
        assert_eq!(lines[10]["outcome"].as_str(), Some("done"), "{:?}", lines[10]);
    }
    let (code, lines) = in_activation(WARNING, &["get count_fast"]);
    assert_eq!(code, 0);
    assert_eq!(lines[6]["calls"][0]["status"].as_str(), Some("fmi3Warning"));
    assert_eq!(lines[7]["outcome"].as_str(), Some("done"));
}

/// A call before the activations: what fails is ended by the standard's rules.
#[test]
fn a_transition_that_fails_frees_the_instance() {
    let lines = [
        "Instantiate",
        "set function fmi3EnterInitializationMode",
        "set status 3",
        "EnterInitializationMode",
        "Instantiate",
    ];
    let (code, lines) = json(&example("failing"), &["--keep-going"], &lines);
    assert_eq!(code, 1, "{lines:?}");
    let message = lines[3]["message"].as_str().unwrap();
    assert!(message.ends_with("fmi3EnterInitializationMode returned fmi3Error; the instance was freed"), "{message}");
    assert_eq!(lines[4]["outcome"].as_str(), Some("done"));
}

/// Discard of Model Exchange refuses what was asked and nothing else.
#[test]
fn a_discard_leaves_the_equations_as_they_were() {
    let lines = [
        "Instantiate",
        "set function fmi3GetContinuousStateDerivatives",
        "set status 2",
        "EnterInitializationMode",
        "ExitInitializationMode",
        "UpdateDiscreteStates",
        "UpdateDiscreteStates",
        "EnterContinuousTimeMode",
        "derivatives",
        "derivatives",
    ];
    let (code, lines) = json(&example("failing"), &["--keep-going"], &lines);
    assert_eq!(code, 1, "{lines:?}");
    assert_eq!(lines[8]["calls"][0]["status"].as_str(), Some("fmi3Discard"), "{:?}", lines[8]);
    assert_eq!(
        (lines[8]["outcome"].as_str(), lines[8]["state"].as_str()),
        (Some("failed"), Some("Continuous-Time Mode"))
    );
    assert_eq!(lines[9]["outcome"].as_str(), Some("done"));
}

#[test]
fn a_script_that_meets_a_crash_ends_with_exit_code_1() {
    let lines = [
        "Instantiate",
        "set fail_kind 5",
        "set fail_clock 1",
        "set fail_at 1",
        "EnterInitializationMode",
        "ExitInitializationMode",
        "activate fast 0",
        "Instantiate",
    ];
    let said = script(&example("tracer"), &[], &lines).exits(1);
    said.complains(&["line 7: the FMU crashed (SIGSEGV) in fmi3ActivateModelPartition"]);
    assert_eq!(said.stdout.matches("fmi3InstantiateScheduledExecution").count(), 1);
}

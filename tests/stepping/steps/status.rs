//! What an FMU answers to a step, and what becomes of the run (semantics S13, S14, S23).

use super::program::{Rig, real_time};
use super::{Outcome, alone, numbers, run};

/// In the step that begins at 50 ms, of ten.
fn kind(number: u32) -> String {
    format!("fail_kind = {number}, fail_at = 0.05")
}

const RIG: &str = "stop_time = 0.1\nshutdown_timeout = 0.2";

#[test]
fn a_warning_is_counted_and_the_run_goes_on() {
    let outcome = run(&alone(RIG, &kind(1), ""), "virtual").exits(0);
    outcome.problem(&["1 call returned fmi3Warning"]);
    assert_eq!(outcome.signals().last("s.n"), 10);
    run(&alone(RIG, &kind(1), "on_warning = 'error'"), "virtual").exits(1);
}

/// FMI 3.0.2: the state is as it was, so that shorter steps can follow.
#[test]
fn a_step_that_is_discarded_is_made_in_halves() {
    let outcome = run(&alone(RIG, &kind(2), ""), "virtual").exits(0);
    // The FMU counts the discarded one as well.
    assert_eq!(outcome.signals().last("s.n"), 12);
    let step = outcome.clock("s", "step");
    assert_eq!((&step["activations"], &step["steps"], &step["rejected_steps"]), (&10.into(), &11.into(), &1.into()));
    assert_eq!(outcome.signals().times().last(), Some(&0.1));
}

#[test]
fn errors_end_the_run_and_name_function_time_and_last_words() {
    for (number, status, words) in
        [(3, "error", "fmi3DoStep returned fmi3Error"), (4, "fatal", "fmi3DoStep returned fmi3Fatal")]
    {
        let outcome = run(&alone(RIG, &kind(number), ""), "virtual").exits(1);
        outcome.problem(&[words, " at 0.05 s", "as it was told"]);
        assert_eq!(outcome.status("s"), status);
        // What was computed before is there.
        assert_eq!(outcome.signals().times().last(), Some(&0.05));
    }
}

#[test]
fn an_fmu_that_asks_for_the_end_has_it_at_the_end_of_its_step() {
    let outcome = run(&alone(RIG, &kind(5), ""), "virtual").exits(0);
    assert_eq!(outcome.finding("s", "asked_for_end"), Some(1));
    outcome.problem(&["asked for the end of the run (terminateSimulation), in step at 0.06 s"]);
    assert_eq!(outcome.signals().times().last(), Some(&0.06));
    assert_eq!((outcome.status("s").as_str(), outcome.report()["verdict"].as_str()), ("terminated", Some("pass")));
    assert_eq!(outcome.report()["end_time"], 0.06);
    // It may: that is no offence.
    alone(RIG, &kind(5), "").run_with(&["--mode", "virtual", "--strict"]).exits(0);
}

#[test]
fn with_continue_an_fmu_that_asks_for_the_end_ends_alone() {
    let two = |text: String| format!("{text}[fmu.other]\npath = '{}'\n", super::stepper().display());
    let rig = alone(&format!("{RIG}\non_error = 'continue'"), &kind(5), "");
    let text = two(std::fs::read_to_string(rig.file()).unwrap());
    std::fs::write(rig.file(), text).unwrap();
    let outcome = run(&rig, "virtual").exits(0);
    assert_eq!((outcome.signals().last("s.n"), outcome.signals().last("other.n")), (6, 10));
    real_time("with_continue_an_fmu_that_asks_for_the_end_ends_alone", || {
        assert_eq!(run(&rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv"));
    });
}

/// Nothing goes on from there.
#[test]
fn the_state_of_an_fmu_that_has_asked_for_the_end_is_not_saved() {
    let rig = alone(RIG, &kind(5), "");
    let state = rig.folder().join("state");
    let outcome = rig.run_with(&["--mode", "virtual", "--save-state", state.to_str().unwrap()]).exits(1);
    outcome.problem(&["the state is not saved", "fmu `s` has asked for the end of the run"]);
    assert!(!state.exists());
}

/// A row has what was computed for its time, or is none.
#[test]
fn a_step_whose_results_are_not_read_has_no_row() {
    let outcome = run(&alone(RIG, &kind(1), "on_warning = 'error'"), "virtual").exits(1);
    assert_eq!(outcome.signals().times().last(), Some(&0.05));
}

#[test]
fn a_step_that_does_not_return_is_named() {
    real_time("a_step_that_does_not_return_is_named", || {
        let outcome = run(&alone(RIG, &kind(6), ""), "realtime").exits(1);
        outcome.problem(&["s.step was in fmi3DoStep at 0.05 s", "the FMU's code hangs"]);
        assert_eq!(outcome.status("s"), "hung");
        assert_eq!(numbers(&outcome, "s.n").last(), Some(&5.0));
    });
}

#[test]
fn a_crash_in_a_step_is_named() {
    let outcome = run(&alone(RIG, &kind(7), ""), "virtual").exits(1);
    outcome.problem(&["fmu `s` crashed (SIGABRT): s.step was in fmi3DoStep at 0.05 s"]);
    assert_eq!(outcome.signals().times().last(), Some(&0.05));
}

/// The step that begins at 50 ms computes it, so it is valid at 60 ms.
#[test]
fn an_output_that_is_no_number_is_a_finding_and_ends_the_run_where_the_rig_says_so() {
    let words = "fmu `s`: gave NaN once: for x, in step at 0.06 s";
    let outcome = run(&alone(RIG, &kind(9), ""), "virtual").exits(0);
    assert_eq!(outcome.finding("s", "not_a_number"), Some(1));
    assert!(outcome.problem(&[words]).ends_with("at 0.06 s"));
    assert_eq!((outcome.signals().last("s.n"), outcome.report()["verdict"].as_str()), (10, Some("pass")));

    let stops = || alone(&format!("{RIG}\nnan = 'stop'"), &kind(9), "");
    let stopped = run(&stops(), "virtual").exits(1);
    stopped.problem(&[words, "; that ended the run (rig: nan = \"stop\")"]);
    assert_eq!((stopped.report()["verdict"].as_str(), stopped.status("s").as_str()), (Some("fail"), "terminated"));
    // What was computed is recorded, and nothing after it.
    let rows = |outcome: &Outcome| (outcome.signals().times().last().copied(), numbers(outcome, "s.x").last().copied());
    assert!(matches!(rows(&stopped), (Some(0.06), Some(x)) if x.is_nan()), "{:?}", rows(&stopped));
    real_time("an_output_that_is_no_number_is_a_finding_and_ends_the_run_where_the_rig_says_so", || {
        let stopped = run(&stops(), "realtime").exits(1);
        assert!(matches!(rows(&stopped), (Some(0.06), Some(x)) if x.is_nan()), "{:?}", rows(&stopped));
    });
    // Numbers are no reason.
    let others = run(&alone(&format!("{RIG}\nnan = 'stop'"), &kind(0), ""), "virtual").exits(0);
    assert_eq!(others.finding("s", "not_a_number"), None);
}

/// `lastSuccessfulTime` without an early return: the grid stays.
#[test]
fn a_step_that_claims_to_have_reached_another_time_is_a_finding() {
    let outcome = run(&alone(RIG, &kind(8), ""), "virtual").exits(0);
    assert_eq!(outcome.finding("s", "off_the_point"), Some(1));
    let deviation = outcome.clock("s", "step")["max_deviation_s"].as_f64().unwrap();
    assert!((deviation - 0.005).abs() < 1e-12, "{deviation}");
    assert_eq!(outcome.signals().last("s.n"), 10);
}

/// FMI 2.0.5, 4.2.2, and FMI 1.0: the FMU discards each step beyond an event, at 3.7, 13.7, ... ms, is at the event then, and takes no other step from
/// there (`fmus/discarding_fmi2/sources/discarding.h`).
#[test]
fn before_fmi_3_a_discarded_step_is_made_in_parts_where_the_fmu_can_be_taken_back() {
    let path = |name: &str| super::stepper().with_file_name(name);
    let rig = |name: &str, keys: &str| {
        let text =
            format!("[rig]\nstop_time = 0.1\n[record]\n[fmu.d]\npath = '{}'\nstep = 0.01\n", path(name).display());
        Rig::of_text(&format!("{text}start = {{ u = 1.0 }}\n{keys}\n"))
    };
    let times: Vec<f64> = (0..=10).map(|k| f64::from(k) / 100.0).collect();
    let is_whole = |outcome: &Outcome| {
        let y = numbers(outcome, "d.y");
        assert!(y.iter().zip(&times).all(|(y, time)| (y - time).abs() < 1e-12) && y.len() == 11, "{y:?}");
        assert_eq!((outcome.signals().last("d.steps"), outcome.signals().last("d.events")), (20, 10));
        let step = outcome.clock("d", "step");
        assert_eq!((&step["steps"], &step["rejected_steps"]), (&20.into(), &10.into()));
    };
    for (name, words) in
        [("discarding_fmi2", "fmi2DoStep returned fmi2Discard"), ("discarding_fmi1", "fmiDoStep returned fmiDiscard")]
    {
        is_whole(&run(&rig(name, ""), "virtual").exits(0));
        run(&rig(name, "retry_steps = false"), "virtual").exits(1).problem(&["d", words]);
        let simulate = |more: &[&str]| {
            std::process::Command::new(env!("CARGO_BIN_EXE_vecud"))
                .args(["simulate", "--stop-time", "0.1", "--output-interval", "0.01", "--start-value", "u=1"])
                .args(more)
                .arg(path(name))
                .output()
                .unwrap()
        };
        let refused = simulate(&["--retry-steps=false"]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&refused.stderr).contains(words), "{refused:?}");
        let simulated = simulate(&[]);
        let text = String::from_utf8_lossy(&simulated.stdout);
        let last = text.lines().last().unwrap_or_default();
        let last: Vec<f64> = last.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert!(matches!(last[..], [0.1, y, 20.0, 10.0] if (y - 0.1).abs() < 1e-12), "{text}");
        real_time("before_fmi_3_a_discarded_step_is_made_in_parts_where_the_fmu_can_be_taken_back", || {
            // A state before each step is nothing that each rig in real time pays for.
            let plain = run(&rig(name, ""), "realtime");
            match name {
                "discarding_fmi2" => {
                    drop(plain.exits(1).problem(&["d", words, "with retry_steps = true in its table"]))
                }
                _ => is_whole(&plain.exits(0)),
            }
            is_whole(&run(&rig(name, "retry_steps = true"), "realtime").exits(0));
        });
    }
    // Some say that they have states, and have none.
    let stateless = |answer: &str, keys: &str| {
        let rig = rig("discarding_fmi2", keys);
        let copy = rig.folder().join("copy");
        crate::simulated::copy(&path("discarding_fmi2"), &copy);
        let source = copy.join("sources/discarding_fmi2.c");
        let code = std::fs::read_to_string(&source).unwrap();
        let has = "if (!*state) *state = malloc(sizeof(struct discarding));";
        assert!(code.contains(has));
        std::fs::write(source, code.replace(has, answer)).unwrap();
        let text = std::fs::read_to_string(rig.file()).unwrap();
        let text = text.replace(&path("discarding_fmi2").display().to_string(), "copy");
        std::fs::write(rig.file(), text.replace("u = 1.0", "u = 1.0, first = 1.0")).unwrap();
        run(&rig, "virtual")
    };
    let error = "return fmi2Error;";
    stateless(error, "").exits(1).problem(&["d", "fmi2GetFMUstate returned fmi2Error", "retry_steps = false"]);
    stateless(error, "retry_steps = false").exits(0);
    // One that says that all is well goes on without, as it would in a program that asks for none.
    let without = stateless("return fmi2OK;", "").exits(0);
    assert_eq!((without.finding("d", "no_state"), without.count("d", "step", "activations")), (Some(1), 10));
    without.problem(&["fmu `d`: gave no state when it was asked for it"]);
    // Neither of the two can make other steps, and neither can be taken back.
    for (name, flag) in [
        ("discarding_fmi2", "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\""),
        ("discarding_fmi1", "canRejectSteps=\"true\""),
        ("discarding_fmi2", "canHandleVariableCommunicationStepSize=\"true\""),
        ("discarding_fmi1", "canHandleVariableCommunicationStepSize=\"true\""),
    ] {
        let rig = rig(name, "");
        let copy = rig.folder().join("copy");
        crate::simulated::copy(&path(name), &copy);
        let xml = std::fs::read_to_string(copy.join("modelDescription.xml")).unwrap();
        assert!(xml.contains(flag), "{name} {flag}");
        std::fs::write(copy.join("modelDescription.xml"), xml.replace(flag, "")).unwrap();
        let text = std::fs::read_to_string(rig.file()).unwrap().replace(&path(name).display().to_string(), "copy");
        std::fs::write(rig.file(), &text).unwrap();
        run(&rig, "virtual").exits(1).problem(&["d", "DoStep returned"]);
        std::fs::write(rig.file(), text + "retry_steps = true\n").unwrap();
        let refused = run(&rig, "virtual").exits(2);
        assert!(refused.stderr.contains("cannot be tried in parts"), "{}", refused.stderr);
    }
}

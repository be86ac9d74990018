//! `vecud call`: what the state of an instance does not allow is refused before the FMU hears of it.

use crate::fmu::{ALL, Strict, books};
use crate::simulated::Place;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

/// Calls that are tried in every state.
const TRIED: [&str; 34] = [
    "EnterInitializationMode 0 0.1",
    "ExitInitializationMode",
    "EnterEventMode",
    "UpdateDiscreteStates",
    "EnterContinuousTimeMode",
    "EnterStepMode",
    "DoStep 0.01",
    "Terminate",
    "Initialize",
    "InitializeSlave 0 0.1",
    "SetTime 0.005",
    "SetContinuousStates 0.5",
    "GetContinuousStates",
    "derivatives",
    "indicators",
    "nominals",
    "CompletedIntegratorStep",
    "Reset",
    "save a",
    "set x 0.5",
    "set dx 0.5",
    "set u 1",
    "set y 1",
    "set gain 2",
    "set rise 2",
    "set demand 0",
    "get x",
    "get dx",
    "get aux",
    "get y",
    "get n",
    "get gain",
    "jacobian differences",
    "residual 0",
];

/// A way through all states.
fn way(fmu: Strict) -> Vec<&'static str> {
    let begin = match (fmu.version, fmu.equations) {
        (1, true) => vec!["Instantiate me", "SetTime 0", "Initialize", "UpdateDiscreteStates"],
        (1, false) => vec!["Instantiate cs", "InitializeSlave 0 0.1", "DoStep 0.01"],
        (_, true) => vec![
            "Instantiate me",
            "EnterInitializationMode 0 0.1",
            "ExitInitializationMode",
            "UpdateDiscreteStates",
            "EnterContinuousTimeMode",
            "EnterEventMode",
        ],
        (_, false) if fmu.shows_events => vec![
            "Instantiate cs",
            "EnterInitializationMode 0 0.1",
            "ExitInitializationMode",
            "UpdateDiscreteStates",
            "EnterStepMode",
            "DoStep 0.01",
            "EnterEventMode",
        ],
        _ => vec!["Instantiate cs", "EnterInitializationMode 0 0.1", "ExitInitializationMode", "DoStep 0.01"],
    };
    let again = fmu.shows_events.then_some("UpdateDiscreteStates");
    begin.into_iter().chain(again).chain(["Terminate"]).collect()
}

#[test]
fn an_fmu_hears_of_no_call_that_its_state_does_not_allow() {
    for fmu in ALL {
        let way = way(fmu);
        let mut script = String::new();
        for reached in 1..=way.len() {
            for tried in TRIED {
                script += &format!("{}\n{tried}\nFreeInstance\n", way[..reached].join("\n"));
            }
        }
        let place = Place::new();
        let results = place.path("results");
        fs::create_dir(&results).unwrap();
        let mut command = place.command_of("call", &fmu.path(), &["--interface-type", fmu.short(), "--keep-going"]);
        command.env("STRICT_RESULTS", &results).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(script.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let books = books(&results);
        let lives: usize =
            books.values().map(|book| book.lines().filter(|line| line.starts_with("freed")).count()).sum();
        assert_eq!(lives, way.len() * TRIED.len(), "{fmu:?}: {}", String::from_utf8_lossy(&output.stderr));
        let refused: Vec<&str> =
            books.values().flat_map(|book| book.lines()).filter(|line| !line.starts_with("freed")).collect();
        assert!(refused.is_empty(), "{fmu:?}: {refused:#?}");
    }
}

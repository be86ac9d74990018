//! Help, refusals and errors have the names of the FMU's own version, and of nothing that it has not.

use super::{Said, example, json, script};

/// Lines of a conversation with an FMU that offers Model Exchange alone, in every state that it comes to.
const MODEL_EXCHANGE: [&str; 26] = [
    "help",
    "SetTime 1",
    "Instantiate",
    "help",
    "Instantiate",
    "EnterEventMode",
    "EnterInitializationMode",
    "help",
    "EnterInitializationMode",
    "ExitInitializationMode",
    "help",
    "EnterContinuousTimeMode",
    "UpdateDiscreteStates",
    "EnterContinuousTimeMode",
    "help",
    "SetContinuousStates",
    "UpdateDiscreteStates",
    "CompletedIntegratorStep 1 2",
    "GetFMUState",
    "SetFMUState nowhere",
    "SerializeFMUState nowhere",
    "DeserializeFMUState nowhere",
    "DoStep 1",
    "ActivateModelPartition u",
    "GetShiftDecimal u",
    "EnterStepMode",
];

fn all(said: &Said) -> String {
    format!("{}{}", said.stdout, said.stderr)
}

#[test]
fn nothing_is_told_by_a_name_of_another_version() {
    for (fmu, others) in [("spring_fmi2", &["fmi3", "fmiS", "fmiI"][..]), ("ball_fmi1", &["fmi3", "fmi2"])] {
        let said = script(&example(fmu), &["--keep-going"], &MODEL_EXCHANGE).exits(2);
        let all = all(&said);
        for line in all.lines() {
            assert!(!others.iter().any(|other| line.contains(other)), "{fmu}: {line}");
        }
        // Each function that is named outside of the lines that were typed has its prefix, if the version has it.
        let own = if fmu == "ball_fmi1" {
            ["fmiEventUpdate", "fmiInitialize "]
        } else {
            ["fmi2NewDiscreteStates", "fmi2SetupExperiment"]
        };
        assert!(own.iter().all(|name| all.contains(name)), "{all}");
    }
}

/// What was refused, function by function.
#[test]
fn refusals_name_what_there_is() {
    let to_event_mode = ["Instantiate", "EnterInitializationMode", "ExitInitializationMode"];
    for (fmu, before, line, words) in [
        (
            "spring_fmi2",
            &to_event_mode[..],
            "EnterContinuousTimeMode",
            "the event is not over: fmi2NewDiscreteStates, until newDiscreteStatesNeeded is false",
        ),
        (
            "ball_fmi1",
            &to_event_mode[..2],
            "EnterContinuousTimeMode",
            "the event is not over: fmiEventUpdate, until iterationConverged is true",
        ),
        ("spring_fmi2", &to_event_mode, "SetFMUState a", "there is no state `a`: fmi2GetFMUstate takes one"),
        ("spring_fmi2", &to_event_mode, "DoStep 1", "fmi2DoStep is no function of Model Exchange in FMI 2.0"),
        (
            "spring_fmi2",
            &to_event_mode,
            "GetShiftDecimal u",
            "GetShiftDecimal is no function of Model Exchange in FMI 2.0",
        ),
        (
            "spring_fmi2",
            &to_event_mode,
            "fmi2SetupExperiment 1",
            "fmi2SetupExperiment was not called: the instance is in Event Mode, and it is for Instantiated; fmi2Reset leads on",
        ),
        (
            "ball_fmi1",
            &to_event_mode[..2],
            "fmiInitialize",
            "fmiInitialize was not called: the instance is in Event Mode, and it is for Instantiated; fmiFreeModelInstance leads on",
        ),
        ("ball_fmi1", &to_event_mode[..1], "EnterEventMode", "EnterEventMode was not called: "),
        ("spring", &to_event_mode, "EnterEventMode stepEvent=1", "fmi3EnterEventMode takes no arguments"),
    ] {
        let lines = [before, &[line]].concat();
        let said = script(&example(fmu), &[], &lines).exits(2);
        said.complains(&[&format!("line {}: {words}", lines.len())]);
    }
}

/// After `terminateSimulation` Event Mode is not left.
#[test]
fn who_has_asked_for_the_end_in_event_mode_stays_there() {
    for (fmu, set, leave, terminate) in [
        ("events", "set ends 1", "EnterStepMode", "fmi3Terminate"),
        ("inc", "set counter 13", "EnterContinuousTimeMode", "fmi3Terminate"),
    ] {
        let lines =
            ["Instantiate", set, "EnterInitializationMode", "ExitInitializationMode", "update", leave, "Terminate"];
        let said = script(&example(fmu), &["--keep-going"], &lines).exits(2);
        said.complains(&[&format!(
            "line 6: the FMU has asked for the end of the run (terminateSimulation): {terminate} is next"
        )]);
        assert_eq!(said.stderr.matches("line ").count(), 1, "{}", said.stderr);
    }
}

/// After an error only what the version has, and the FMU, is left.
#[test]
fn what_is_left_after_an_error_has_its_names() {
    for (fmu, function, left) in [
        ("failing_fmi1", "fmiInitialize", None),
        ("failing_fmi1", "fmiGetDerivatives", Some("only fmiFreeModelInstance is left")),
        ("failing_fmi2", "fmi2GetDerivatives", Some("only fmi2Reset, fmi2SetFMUstate and fmi2FreeInstance are left")),
        (
            "failing",
            "fmi3GetContinuousStateDerivatives",
            Some("only fmi3Reset, fmi3SetFMUState and fmi3FreeInstance are left"),
        ),
    ] {
        let set = format!("set function {function}");
        let mut lines = vec!["Instantiate", set.as_str(), "set status 3", "EnterInitializationMode"];
        if fmu != "failing_fmi1" {
            lines.push("ExitInitializationMode");
        }
        lines.extend(["update", "update", "EnterContinuousTimeMode", "derivatives", "SetTime 1"]);
        let said = script(&example(fmu), &["--keep-going"], &lines).exits(1);
        said.complains(&[&format!("{function} ")]);
        match left {
            Some(left) => assert_eq!(said.stderr.matches(left).count(), 2, "{}", said.stderr),
            None => said.complains(&["fmiInitialize returned fmiError; the instance was freed"]),
        }
    }
}

/// The function that has failed of the two that one request calls.
#[test]
fn of_two_functions_the_one_that_fails_is_named() {
    for (fmu, function, request) in [
        ("failing_fmi2", "fmi2SetupExperiment", "EnterInitializationMode"),
        ("failing_fmi2", "fmi2EnterInitializationMode", "EnterInitializationMode"),
        ("failing_fmi1", "fmiSetTime", "fmiInitialize"),
        ("failing_fmi1", "fmiInitialize", "fmiInitialize"),
    ] {
        let set = format!("set function {function}");
        let (code, lines) = json(&example(fmu), &[], &["Instantiate", &set, "set status 3", request]);
        assert_eq!(code, 1);
        let failed = &lines[3];
        let prefix = if fmu == "failing_fmi2" { "fmi2" } else { "fmi" };
        assert_eq!(failed["calls"][0]["function"], function);
        let message = failed["message"].as_str().unwrap();
        assert_eq!(message, format!("{function} returned {prefix}Error; the instance was freed"));
    }
}

/// What returns no status is told with the number.
#[test]
fn what_is_no_status_is_told_with_the_number() {
    for (fmu, prefix, standard) in [
        ("failing", "fmi3", "the released FMI 3.0"),
        ("failing_fmi2", "fmi2", "FMI 2.0"),
        ("failing_fmi1", "fmi", "FMI 1.0"),
    ] {
        for number in [9, -1] {
            let set = [format!("set function {prefix}GetContinuousStates"), format!("set status {number}")];
            let lines = ["Instantiate", &set[0], &set[1], "EnterInitializationMode", "ExitInitializationMode"];
            let lines = match fmu {
                "failing_fmi1" => &lines[..4],
                _ => &lines[..],
            };
            let lines = [lines, &["update", "update", "EnterContinuousTimeMode", "states"]].concat();
            let said = script(&example(fmu), &["--keep-going"], &lines).exits(1);
            said.complains(&[&format!(
                "{prefix}GetContinuousStates at 0 s returned {number} (no status of {standard})"
            )]);
        }
    }
}

/// Only interface types that the FMU offers, and options that they have.
#[test]
fn help_offers_what_the_fmu_has() {
    for (fmu, wanted) in [
        ("linear", "fmi3InstantiateModelExchange [name=NAME] [loggingOn=BOOL]"),
        ("spring_fmi2", "fmi2Instantiate [name=NAME] [loggingOn=BOOL]"),
        ("ball_fmi1", "fmiInstantiateModel [name=NAME] [loggingOn=BOOL]"),
        ("rejecting", "fmi3InstantiateCoSimulation [name=NAME] [loggingOn=BOOL] [earlyReturnAllowed=BOOL]"),
        (
            "predicting",
            "fmi3InstantiateCoSimulation [name=NAME] [loggingOn=BOOL] [eventModeUsed=BOOL] [earlyReturnAllowed=BOOL]",
        ),
        ("discarding_fmi1", "fmiInstantiateSlave [name=NAME] [loggingOn=BOOL]"),
    ] {
        let said = script(&example(fmu), &[], &["help"]).exits(0);
        let line = said.stdout.lines().find(|line| line.contains("Instantiate")).unwrap();
        assert_eq!(line.trim(), wanted, "{fmu}");
    }
}

/// A text is the whole of what is written, or what stands between two quotes: nobody has to guess which.
#[test]
fn a_text_with_quotes_in_its_midst_is_refused() {
    for (value, instead) in [("a \"b\" c", "write \"a \\\"b\\\" c\""), ("\"a\" b", "write \"\\\"a\\\" b\"")] {
        let set = format!("set in_string {value}");
        let said = script(&example("tracer"), &[], &["Instantiate", &set]).exits(2);
        said.complains(&["line 2: in_string is one text, and this is none with quotes within", instead]);
        assert!(!said.stdout.contains("SetString"), "{}", said.stdout);
    }
    for (value, told) in [("a b", "a b"), ("\"a b\"", "a b"), ("\"a \\\"b\\\" c\"", "a \\\"b\\\" c")] {
        let set = format!("set in_string {value}");
        let said = script(&example("tracer"), &[], &["Instantiate", &set]).exits(0);
        said.shows(&[&format!("fmi3SetString([33], [\"{told}\"]) -> fmi3OK")]);
    }
}

#[test]
fn a_binary_is_written_with_or_without_quotes() {
    for value in ["0x00", "0x0aFF", "\"0x0aff\"", "0x"] {
        let set = format!("set in_binary {value}");
        let said = script(&example("tracer"), &[], &["Instantiate", &set]).exits(0);
        let told = value.trim_matches('"').to_lowercase();
        said.shows(&[&format!("fmi3SetBinary([34], [{told}]) -> fmi3OK")]);
    }
    let said = script(&example("tracer"), &[], &["Instantiate", "set in_binary 00ff"]).exits(2);
    said.complains(&["in_binary must be a string of hexadecimal digits as \"0x0aff\", not \"00ff\""]);
}

/// Of two functions of one command the refusal names the one that would have been called, and what leads on, wherever the instance is.
#[test]
fn a_clock_that_cannot_be_asked_now_says_what_leads_on() {
    let lines = ["Instantiate", "EnterInitializationMode", "ExitInitializationMode", "Terminate"];
    for (count, way) in [(1, "fmi3EnterInitializationMode"), (3, "fmi3ActivateModelPartition"), (4, "fmi3Reset")] {
        for function in ["fmi3GetIntervalDecimal", "fmi3GetIntervalFraction"] {
            let line = format!("{function} low");
            let said = script(&example("tracer"), &[], &[&lines[..count], &[&line]].concat()).exits(2);
            said.complains(&[
                &format!("line {}: {function} was not called: ", count + 1),
                &format!("; {way} leads on\n"),
            ]);
        }
    }
}

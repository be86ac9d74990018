//! What is out of order is refused before the FMU hears of it, and `help` tells the truth about what is not.

use super::{called, example, json};
use std::path::Path;

/// How to get into each state, for one FMU of each interface type, and what `help` is to say of the state.
fn ways() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let initialised = ["Instantiate", "EnterInitializationMode", "ExitInitializationMode"];
    let longer = |more: &[&'static str]| initialised.iter().chain(more).copied().collect::<Vec<_>>();
    vec![
        ("linear", "no instance", vec![]),
        ("linear", "Instantiated", vec!["Instantiate"]),
        ("linear", "Initialization Mode", vec!["Instantiate", "EnterInitializationMode"]),
        ("linear", "Event Mode", initialised.to_vec()),
        ("linear", "Continuous-Time Mode", longer(&["UpdateDiscreteStates", "EnterContinuousTimeMode"])),
        ("linear", "Terminated", longer(&["Terminate"])),
        ("structural", "Configuration Mode", vec!["Instantiate", "EnterConfigurationMode"]),
        ("predicting", "Event Mode", initialised.to_vec()),
        ("predicting", "Step Mode", longer(&["update", "EnterStepMode"])),
        ("tracer", "Clock Activation Mode", initialised.to_vec()),
        ("tracer", "Partition Activated", longer(&["activate fast 0"])),
    ]
}

/// A call of each entry that is written as it should be, for an FMU: one of each that there is, with arguments that do no harm.
fn calls(fmu: &str) -> Vec<&'static str> {
    let mut calls = vec![
        "Instantiate",
        "SetDebugLogging true",
        "EnterConfigurationMode",
        "ExitConfigurationMode",
        "EnterInitializationMode",
        "ExitInitializationMode",
        "GetFMUState other",
        "Terminate",
        "Reset",
        "FreeInstance",
    ];
    calls.extend(match fmu {
        "linear" => &[
            "get x[0]",
            "EnterEventMode",
            "UpdateDiscreteStates",
            "EnterContinuousTimeMode",
            "SetTime 0",
            "SetContinuousStates 1 2 3 4 5 6 7 8 9 10 11 12",
            "GetContinuousStates",
            "GetContinuousStateDerivatives",
            "GetNominalsOfContinuousStates",
            "GetNumberOfContinuousStates",
            "CompletedIntegratorStep",
            "GetDirectionalDerivative y[0] x[0] 1",
            "jacobian",
            "residual 1 2 3 4 5 6 7 8 9 10 11 12",
        ][..],
        "predicting" => &["get y", "DoStep 0.001", "EnterEventMode", "UpdateDiscreteStates", "EnterStepMode"],
        "tracer" => &["get out_f64", "activate high 0", "GetIntervalDecimal fast"],
        _ => &[],
    });
    calls
}

/// The words that `help` lists, without what stands behind them.
fn listed(help: &str) -> Vec<String> {
    let calls = help.lines().filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    let names = |call: &str| {
        // Arguments are in capital letters or in brackets.
        let names = call.split(' ').take_while(|word| word.starts_with(char::is_lowercase));
        names.map(|word| word.trim_end_matches(',').to_lowercase()).collect::<Vec<_>>()
    };
    calls.flat_map(names).collect()
}

#[test]
fn help_lists_exactly_what_is_not_refused_and_what_is_refused_calls_nothing() {
    let (mut allowed, mut refused) = (0, 0);
    for (fmu, state, way) in ways() {
        let path = example(fmu);
        let (code, lines) = json(&path, &[], &[&way[..], &["help"]].concat());
        assert_eq!(code, 0, "{fmu}, {state}: {lines:?}");
        let help = lines.last().unwrap();
        assert_eq!(help["state"].as_str(), Some(state), "{fmu}");
        let listed = listed(help["message"].as_str().unwrap());
        let is_listed = |call: &&str| {
            let name = call.split(' ').next().unwrap().to_lowercase();
            let name = if name == "activate" { "activatemodelpartition" } else { name.as_str() };
            let is_it = |own: &str| own == name || name == "instantiate" && own.starts_with(name);
            listed.iter().any(|own| is_it(own.trim_start_matches("fmi3")))
        };
        let (own, others): (Vec<&str>, Vec<&str>) = calls(fmu).into_iter().partition(is_listed);
        // All of them leave the instance where it was.
        let (_, lines) = json(&path, &["--keep-going"], &[&way[..], &others].concat());
        for line in &lines[way.len()..] {
            let what = format!("{fmu}, {state}, not in {listed:?}: {line}");
            assert_eq!((line["outcome"].as_str(), line["state"].as_str()), (Some("refused"), Some(state)), "{what}");
            assert!(called(line).is_empty(), "{what}");
            refused += 1;
        }
        for call in own {
            let (_, lines) = json(&path, &["--keep-going"], &[&way[..], &[call]].concat());
            let line = lines.last().unwrap();
            // For want of an iteration, of a state that was taken: not for the state of the instance.
            let by_state = line["message"].as_str().is_some_and(|message| message.contains(", and it is for "));
            assert!(!by_state && line["outcome"] != "invalid", "{fmu}, {state}, in {listed:?}: {line}");
            allowed += 1;
        }
    }
    assert!(allowed > 50 && refused > 80, "{allowed} allowed, {refused} refused");
}

#[test]
fn a_refusal_says_where_the_instance_is_and_what_leads_on() {
    let lines = [
        "Instantiate",
        "GetContinuousStates",
        "EnterInitializationMode",
        "SetTime 1",
        "ExitInitializationMode",
        "SetTime 1",
        "Instantiate",
    ];
    let (code, lines) = json(&example("linear"), &["--keep-going"], &lines);
    assert_eq!(code, 2);
    let message = |line: usize| lines[line]["message"].as_str().unwrap();
    for (line, words) in [
        (
            1,
            "fmi3GetContinuousStates was not called: the instance is instantiated, and it is for Continuous-Time Mode; fmi3EnterInitializationMode leads on",
        ),
        (
            3,
            "fmi3SetTime was not called: the instance is in Initialization Mode, and it is for Continuous-Time Mode; fmi3ExitInitializationMode leads on",
        ),
        (
            5,
            "fmi3SetTime was not called: the instance is in Event Mode, and it is for Continuous-Time Mode; fmi3EnterContinuousTimeMode leads on",
        ),
        (6, "fmi3InstantiateModelExchange was not called: there is an instance, which fmi3FreeInstance gives up"),
    ] {
        assert_eq!(message(line), words);
    }
}

/// The FMU is strict: it logs each call that its state has no room for.
#[test]
fn an_fmu_that_would_complain_hears_of_nothing_that_is_out_of_place() {
    let lines = [
        "SetTime 1",
        "Instantiate",
        "UpdateDiscreteStates",
        "EnterInitializationMode",
        "EnterContinuousTimeMode",
        "ExitInitializationMode",
        "GetContinuousStateDerivatives",
        "EnterContinuousTimeMode",
        "UpdateDiscreteStates",
        "EnterContinuousTimeMode",
        "UpdateDiscreteStates",
        "EnterContinuousTimeMode",
        "UpdateDiscreteStates",
        "SetTime 0.1",
        "Terminate",
        "SetTime 0.2",
        "GetContinuousStates",
        "FreeInstance",
    ];
    let (code, lines) = json(&example("failing"), &["--keep-going"], &lines);
    assert_eq!(code, 2);
    let logged: Vec<_> = lines.iter().flat_map(|line| line["log"].as_array().unwrap()).collect();
    assert!(logged.is_empty(), "{logged:?}");
    assert_eq!(lines.iter().filter(|line| line["outcome"] == "refused").count(), 9, "{lines:?}");
}

#[test]
fn what_an_fmu_does_not_offer_is_not_called() {
    let path: &Path = &example("ball");
    let description = std::fs::read_to_string(path.join("modelDescription.xml")).unwrap();
    assert!(!description.contains("providesDirectionalDerivatives=\"true\""));
    let lines = [&super::TO_CONTINUOUS_TIME[..], &["GetDirectionalDerivative der(h) h 1"]].concat();
    let name =
        description.split("derivative=\"").next().unwrap().rsplit("name=\"").next().unwrap().split('"').next().unwrap();
    let call = format!("GetDirectionalDerivative {name} {name} 1");
    let lines: Vec<&str> =
        lines.into_iter().map(|line| if line.contains("der(h)") { call.as_str() } else { line }).collect();
    let (code, lines) = json(path, &[], &lines);
    assert_eq!(code, 2);
    let message = lines.last().unwrap()["message"].as_str().unwrap();
    assert!(message.contains("the FMU does not offer it (providesDirectionalDerivatives is not true)"), "{message}");
}

/// Each of these would be set by an FMU that does not look, and refused by one that does.
#[test]
fn a_variable_is_set_only_where_its_class_is() {
    let initialised = ["Instantiate", "EnterInitializationMode", "ExitInitializationMode"];
    let longer = |more: &[&'static str]| initialised.iter().chain(more).copied().collect::<Vec<_>>();
    let continuous = longer(&["update", "update", "EnterContinuousTimeMode"]);
    for (fmu, way, set, words) in [
        (
            "ball",
            initialised.to_vec(),
            "set v 3",
            "fmi3SetFloat64 was not called: the instance is in Event Mode, and v, a continuous output with initial = \"exact\", is \
             set in Instantiated, Initialization Mode, Continuous-Time Mode; fmi3EnterContinuousTimeMode leads on",
        ),
        (
            "ball",
            continuous.clone(),
            "set g 3",
            "fmi3SetFloat64 was not called: the instance is in Continuous-Time Mode, and g, a fixed parameter, is set in \
             Instantiated, Initialization Mode; fmi3Reset leads on",
        ),
        (
            "ball",
            vec!["Instantiate"],
            "set bounces 3",
            "fmi3SetInt32 was not called: bounces is a discrete output with initial = \"calculated\", which is never set",
        ),
        (
            "failing",
            continuous.clone(),
            "set d 3",
            "fmi3SetFloat64 was not called: the instance is in Continuous-Time Mode, and d, a discrete input, is set in \
             Instantiated, Initialization Mode, Event Mode; fmi3EnterEventMode leads on",
        ),
        (
            "failing_fmi2",
            continuous.clone(),
            "set gain 3",
            "fmi2SetReal was not called: the instance is in Continuous-Time Mode, and gain, a tunable parameter, is set in \
             Instantiated, Initialization Mode, Event Mode; fmi2EnterEventMode leads on",
        ),
        (
            "failing_fmi2",
            vec!["Instantiate"],
            "set u 3",
            "fmi2SetReal was not called: the instance is instantiated, and u, a continuous input, is set in Initialization Mode, \
             Event Mode, Continuous-Time Mode; fmi2EnterInitializationMode leads on",
        ),
        (
            "ball_fmi1",
            vec!["Instantiate", "Initialize"],
            "set g 3",
            "fmiSetReal was not called: the instance is in Event Mode, and g, a fixed parameter, is set in Instantiated; \
             fmiFreeModelInstance leads on",
        ),
        (
            "predicting",
            longer(&["update", "EnterStepMode"]),
            "set first 3",
            "fmi3SetFloat64 was not called: the instance is in Step Mode, and first, a fixed parameter, is set in Instantiated, \
             Initialization Mode; fmi3Reset leads on",
        ),
        (
            "structural",
            vec!["Instantiate", "EnterConfigurationMode"],
            "set gain 3",
            "is set in Instantiated, Initialization Mode, Clock Activation Mode, Partition Activated; \
             fmi3ExitConfigurationMode leads on",
        ),
    ] {
        let (_, lines) = json(&example(fmu), &["--keep-going"], &[&way[..], &[set]].concat());
        let line = lines.last().unwrap();
        let what = format!("{fmu}, {way:?}: {line}");
        assert_eq!(line["outcome"].as_str(), Some("refused"), "{what}");
        assert!(called(line).is_empty(), "{what}");
        assert!(line["message"].as_str().unwrap().contains(words), "{what}, not {words}");
    }
    // What is allowed reaches the FMUs, which answer Error to all else.
    for (fmu, way, sets) in [
        ("failing", vec!["Instantiate"], &["set gain 3", "set u 1", "set d 1", "set x 1"][..]),
        ("failing", initialised.to_vec(), &["set gain 3", "set u 1", "set d 1"]),
        ("failing", continuous.clone(), &["set u 1"]),
        ("failing_fmi2", vec!["Instantiate"], &["set gain 3", "set x 1"]),
        ("failing_fmi2", vec!["Instantiate", "EnterInitializationMode"], &["set gain 3", "set u 1", "set d 1"]),
        ("failing_fmi2", continuous, &["set u 1"]),
        ("predicting", longer(&["update", "EnterStepMode"]), &["set u 1"]),
    ] {
        let (code, lines) = json(&example(fmu), &[], &[&way[..], sets].concat());
        assert_eq!(code, 0, "{fmu}, {sets:?}: {:?}", lines.last());
    }
}

/// The description has neither states nor indicators, the FMU one of each.
#[test]
fn numbers_that_are_not_those_of_the_description_are_told() {
    let folder = crate::program::tempdir().unwrap();
    let fmu = folder.path().join("failing");
    let copied = std::process::Command::new("cp").arg("-rL").arg(example("failing")).arg(&fmu).status().unwrap();
    assert!(copied.success());
    let file = fmu.join("modelDescription.xml");
    let mut description = std::fs::read_to_string(&file).unwrap();
    for line in ["<EventIndicator valueReference", "<ContinuousStateDerivative valueReference"] {
        assert!(description.contains(line), "{line}");
        description = description.lines().filter(|own| !own.contains(line)).collect::<Vec<_>>().join("\n");
    }
    std::fs::write(&file, description).unwrap();
    let asks = ["derivatives", "indicators", "GetContinuousStates"];
    let (code, lines) = json(
        &fmu,
        &[],
        &[&super::TO_CONTINUOUS_TIME[..4], &["update"], &super::TO_CONTINUOUS_TIME[4..], &asks].concat(),
    );
    assert_eq!(code, 0, "{lines:?}");
    let [derivatives, indicators, states] = &lines[lines.len() - 3..] else { panic!("{lines:?}") };
    let numbers = ["fmi3GetNumberOfContinuousStates", "fmi3GetNumberOfEventIndicators"];
    assert_eq!(called(derivatives), [&numbers[..], &["fmi3GetContinuousStateDerivatives"]].concat());
    let notes = numbers.map(|function| format!("{function} says 1, and by its modelDescription.xml it has 0"));
    assert_eq!(derivatives["notes"], serde_json::json!(notes));
    // They are asked for once.
    assert_eq!(called(indicators), ["fmi3GetEventIndicators"]);
    assert_eq!(called(states), ["fmi3GetContinuousStates"]);
    assert_eq!(states["notes"], serde_json::json!([]));
}

#[test]
fn that_nothing_is_called_of_an_fmu_without_states_is_told() {
    let (code, lines) = json(
        &example("inc"),
        &["--interface-type", "me"],
        &[&super::TO_CONTINUOUS_TIME[..], &["derivatives"]].concat(),
    );
    assert_eq!(code, 0, "{lines:?}");
    let line = lines.last().unwrap();
    assert!(!called(line).contains(&"fmi3GetContinuousStateDerivatives"), "{line}");
    assert_eq!(line["notes"], serde_json::json!(["nothing is called: the FMU has no continuous states"]));
}

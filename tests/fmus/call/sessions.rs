//! Whole lives of instances: Model Exchange, Co-Simulation and Scheduled Execution, of FMI 3.0, 2.0 and 1.0.

use super::{TO_CONTINUOUS_TIME, called, example, json, script};
use serde_json::json as value;
use std::io::Write;
use std::path::Path;

#[test]
fn equations_are_evaluated_by_hand() {
    let lines = [
        "# by the names of the standard, in each style",
        "",
        "fmi3InstantiateModelExchange",
        "EnterInitializationMode 0 1",
        "get x[0] y*",
        "fmi3ExitInitializationMode",
        "UpdateDiscreteStates",
        "enter_continuous_time_mode",
        "SetTime(0.5)",
        "fmi3SetFloat64 u[0] 4",
        "set_continuous_states [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]",
        "GetContinuousStateDerivatives",
        "residual 5.625 0 0 0 0 0 0 0 0 0 0 0",
        "GetDirectionalDerivative der(x[0]),y[0] x[0],x[1] 1,0",
        "completed_integrator_step true",
        "Terminate",
        "FreeInstance",
    ];
    script(&example("linear"), &[], &lines).exits(0).shows(&[
        "> fmi3InstantiateModelExchange",
        "fmi3InstantiateModelExchange(\"linear\", loggingOn true)",
        "fmi3EnterInitializationMode(start 0.0, stop 1.0) -> fmi3OK",
        "  x[0] = 1.0",
        "  y[0] = 2.0",
        "  y[2] = 15.0",
        "fmi3UpdateDiscreteStates() -> fmi3OK",
        "  no next event",
        "fmi3SetTime(0.5) -> fmi3OK",
        "fmi3SetFloat64([300], [4.0]) -> fmi3OK",
        "  [5.625, -1.0625, -1.28125, -1.5, -1.71875, -1.9375, -2.15625, -2.6875, -2.59375, -2.8125, -3.03125, -4.4375]",
        "  [0.0, -1.0625, -1.28125, -1.5, -1.71875, -1.9375, -2.15625, -2.6875, -2.59375, -2.8125, -3.03125, -4.4375]",
        "  [-1.0, 2.0]",
        "fmi3CompletedIntegratorStep() -> fmi3OK",
        "  accepted",
        "fmi3Terminate() -> fmi3OK",
        "fmi3FreeInstance()",
    ]);
}

#[test]
fn the_matrix_of_the_equations_is_there_by_either_way() {
    let lines = [&TO_CONTINUOUS_TIME[..], &["jacobian", "jacobian differences"]].concat();
    let (code, lines) = json(&example("linear"), &[], &lines);
    assert_eq!(code, 0);
    let [directional, differences] = &lines[5..] else { panic!("{lines:?}") };
    let element = |line: &serde_json::Value, row: usize, column: usize| {
        let result = &line["results"][0];
        assert_eq!((&result["rows"], &result["columns"]), (&value!(15), &value!(12)));
        result["matrix"][row][column].as_f64().unwrap()
    };
    for (row, column, right) in
        [(0, 0, -1.0), (0, 11, 0.125), (7, 2, -0.3125), (12, 0, 2.0), (14, 11, 1.25), (3, 9, 0.0)]
    {
        assert_eq!(element(directional, row, column), right);
        assert!((element(differences, row, column) - right).abs() < 1e-6);
    }
    let calls = directional["results"][0]["calls"].as_u64().unwrap() as usize;
    assert_eq!(called(directional), vec!["fmi3GetDirectionalDerivative"; calls]);
    assert!(calls < 7, "{calls}");
    assert!(!called(differences).contains(&"fmi3GetDirectionalDerivative"));
}

#[test]
fn a_state_leads_back_to_what_was() {
    let lines = [
        &TO_CONTINUOUS_TIME[..],
        &[
            "SetTime 0.25",
            "save here",
            "SerializeFMUState here",
            "SetTime 0.5",
            "SetContinuousStates 0 0 0 0 0 0 0 0 0 0 0 0",
            "EnterEventMode",
            "restore here",
            "states",
            "FreeFMUState here",
            "DeserializeFMUState here",
            "SetTime 0.75",
            "SetFMUState here",
        ],
    ]
    .concat();
    let (code, lines) = json(&example("linear"), &[], &lines);
    assert_eq!(code, 0, "{lines:?}");
    assert_eq!(lines[7]["results"][0]["bytes"].as_u64(), Some(384));
    assert_eq!((&lines[10]["state"], &lines[11]["state"]), (&value!("Event Mode"), &value!("Continuous-Time Mode")));
    assert_eq!(lines[12]["results"][0]["values"][11], value!(12.0), "those of the start");
    assert_eq!((&lines[11]["time"], &lines[16]["time"]), (&value!(0.25), &value!(0.25)));
}

#[test]
fn steps_are_made_and_events_handled_by_hand() {
    let lines = [
        "Instantiate eventModeUsed=true",
        "set u 2",
        "EnterInitializationMode",
        "ExitInitializationMode",
        "UpdateDiscreteStates",
        "EnterStepMode",
        "DoStep 0.001",
        "DoStep 0.001 0.0027",
        "EnterEventMode",
        "update",
        "EnterStepMode",
        "get y events",
    ];
    script(&example("predicting"), &[], &lines).exits(0).shows(&[
        "fmi3InstantiateCoSimulation(\"predicting\", loggingOn true)",
        "  the next event is at 0.0037",
        "fmi3DoStep(0.0, 0.001) -> fmi3OK",
        "  it has come to 0.001",
        "  it has come to 0.0037, eventHandlingNeeded",
        "fmi3EnterEventMode() -> fmi3OK",
        "  the next event is at 0.0137",
        "  y = 0.0074",
        "  events = 1",
    ]);
}

/// A step that the FMU cuts short, and one from before it.
#[test]
fn a_step_can_be_taken_back() {
    let lines = [
        "Instantiate",
        "set u 2",
        "EnterInitializationMode",
        "ExitInitializationMode",
        "save",
        "DoStep 1/100",
        "restore",
        "DoStep 0.0037",
        "get y",
    ];
    script(&example("rejecting"), &[], &lines).exits(0).shows(&[
        "  it has come to 0.0037, earlyReturn",
        "fmi3SetFMUState() -> fmi3OK",
        "fmi3DoStep(0.0, 0.0037) -> fmi3OK",
        "  it has come to 0.0037",
        "  y = 0.0074",
    ]);
}

#[test]
fn partitions_are_activated_by_hand() {
    let lines = [
        "Instantiate",
        "set in_string hello world",
        "set in_enum two",
        "EnterInitializationMode",
        "ExitInitializationMode",
        "set in_f64 1.5",
        "activate fast 0.5",
        "get out_f64 count_fast time",
        "fmi3ActivateModelPartition high",
        "get count_high in_string in_enum",
        "Terminate",
    ];
    script(&example("tracer"), &[], &lines).exits(0).shows(&[
        "fmi3InstantiateScheduledExecution(\"tracer\", loggingOn true)",
        "fmi3SetString([33], [\"hello world\"]) -> fmi3OK",
        "fmi3ActivateModelPartition(1, 0.5) -> fmi3OK",
        "  count_fast = 1",
        "  time = 0.5",
        "  count_high = 1",
        "  in_string = \"hello world\"",
        "  in_enum = 2 two",
        "fmi3Terminate() -> fmi3OK",
    ]);
}

/// What version 2.0 calls otherwise, and two functions that the program calls together.
#[test]
fn an_fmu_of_fmi_2_is_called_by_its_own_names() {
    let lines = [
        "fmi2Instantiate",
        "fmi2SetupExperiment 0.5 2 1e-6",
        "fmi2EnterInitializationMode",
        "fmi2ExitInitializationMode",
        "NewDiscreteStates",
        "fmi2EnterContinuousTimeMode",
        "fmi2GetDerivatives",
        "GetReal *",
    ];
    let (code, lines) = json(&example("spring_fmi2"), &[], &lines);
    assert_eq!(code, 0, "{lines:?}");
    let calls: Vec<&str> = lines.iter().flat_map(called).collect();
    assert_eq!(
        calls[..6],
        [
            "fmi2Instantiate",
            "fmi2EnterInitializationMode",
            "fmi2ExitInitializationMode",
            "fmi2NewDiscreteStates",
            "fmi2EnterContinuousTimeMode",
            "fmi2GetDerivatives"
        ]
    );
    assert!(calls[6..].len() > 2 && calls[6..].iter().all(|name| *name == "fmi2GetReal"), "{calls:?}");
    assert_eq!(lines[2]["calls"][0]["arguments"], value!("tolerance 1e-6, start 0.5, stop 2.0"));
    assert_eq!(lines[2]["time"], value!(0.5));
}

/// FMI 1.0 has neither an Initialization Mode nor any other.
#[test]
fn an_fmu_of_fmi_1_is_called_by_its_own_names() {
    let lines = [
        "fmiInstantiateModel",
        "fmiInitialize 0",
        "fmiEventUpdate",
        "EnterContinuousTimeMode",
        "fmiSetTime 0.25",
        "fmiGetContinuousStates",
        "fmiGetDerivatives",
        "EnterEventMode",
        "EventUpdate",
        "fmiTerminate",
        "fmiFreeModelInstance",
    ];
    let said = script(&example("ball_fmi1"), &[], &lines).exits(0);
    said.shows(&[
        "fmiInitialize(start 0.0) -> fmiOK",
        "> fmiEventUpdate",
        "  nothing was called: in FMI 1.0 what initialises an instance has said this already",
        "  nothing was called: FMI 1.0 has no such function",
        "fmiSetTime(0.25) -> fmiOK",
        "fmiGetDerivatives([0.0, -9.81]) -> fmiOK",
        "> EventUpdate",
        "fmiEventUpdate() -> fmiOK",
        "fmiFreeModelInstance()",
    ]);
    assert!(!said.stdout.contains("fmi3"), "{}", said.stdout);
}

/// All types, also arrays whose length is a structural parameter.
#[test]
fn variables_of_every_type_are_set_and_read() {
    let lines = [
        "Instantiate",
        "set in_f32 0.5",
        "set in_u64 18446744073709551615",
        "set in_i8 -128",
        "set in_bool true",
        "set in_binary \"0x0aff\"",
        "set in_array 2",
        "get in_f32 in_u64 in_i8 in_bool in_binary",
        "EnterInitializationMode",
        "get in_array",
    ];
    let (code, lines) = json(&example("tracer"), &[], &lines);
    assert_eq!(code, 0, "{lines:?}");
    let results = &lines[7]["results"];
    let values: Vec<_> = (0..5).map(|place| &results[place]["values"][0]).collect();
    assert_eq!(values, [&value!(0.5), &value!(u64::MAX), &value!(-128), &value!(true), &value!("0x0aff")]);
    assert_eq!(lines[9]["results"][0]["values"].as_array().map(Vec::len), Some(64), "one value fills the array");
}

#[test]
fn structural_parameters_change_sizes() {
    let lines = [
        "Instantiate",
        "EnterConfigurationMode",
        "set n 2",
        "ExitConfigurationMode",
        "EnterInitializationMode",
        "get x",
    ];
    let fmu = example("structural");
    let description = std::fs::read_to_string(fmu.join("modelDescription.xml")).unwrap();
    let name = |key: &str| {
        let at = description.find(key).unwrap_or_else(|| panic!("{key}"));
        description[..at].rsplit("name=\"").next().unwrap().split('"').next().unwrap().to_owned()
    };
    let (parameter, reference) = {
        let at = description.find("causality=\"structuralParameter\"").unwrap();
        let element = &description[description[..at].rfind('<').unwrap()..];
        let value = |key: &str| element.split(key).nth(1).unwrap().split('"').next().unwrap().to_owned();
        (value("name=\""), value("valueReference=\""))
    };
    let array = name(&format!("<Dimension valueReference=\"{reference}\"/>"));
    let set = format!("set {parameter} 2");
    let get = format!("get {array}");
    let lines: Vec<&str> = lines
        .into_iter()
        .map(|line| match line {
            "set n 2" => set.as_str(),
            "get x" => get.as_str(),
            other => other,
        })
        .collect();
    let (code, lines) = json(&fmu, &[], &lines);
    assert_eq!(code, 0, "{lines:?}");
    let values = lines[5]["results"][0]["values"].as_array().unwrap();
    assert!(!values.is_empty() && values.len() % 2 == 0, "{lines:?}");
}

/// The Modelica Reference FMUs, which nobody here has written.
#[test]
fn foreign_fmus_of_all_versions_are_called() {
    let Some(folder) = std::env::var_os("VECUD_REFERENCE_FMUS") else {
        let why = "set VECUD_REFERENCE_FMUS to a folder with the Modelica Reference FMUs";
        let _ = writeln!(std::io::stderr(), "SKIPPED: foreign_fmus_of_all_versions_are_called: {why}");
        return;
    };
    let steps = ["Instantiate", "EnterInitializationMode", "ExitInitializationMode", "DoStep 0.1", "get h"];
    let equations = [&TO_CONTINUOUS_TIME[..], &["derivatives", "indicators", "jacobian"]].concat();
    let mut tried = 0;
    for (path, options, lines) in [
        ("3.0/BouncingBall.fmu", &[][..], &steps[..]),
        ("2.0/BouncingBall.fmu", &[], &steps),
        ("1.0/cs/BouncingBall.fmu", &[], &steps),
        ("3.0/BouncingBall.fmu", &["--interface-type", "me"], &equations),
        ("2.0/BouncingBall.fmu", &["--interface-type", "me"], &equations),
        ("1.0/me/BouncingBall.fmu", &[], &equations),
    ] {
        let fmu = Path::new(&folder).join(path);
        if !fmu.exists() {
            let _ = writeln!(std::io::stderr(), "SKIPPED: {path}: not in VECUD_REFERENCE_FMUS");
            continue;
        }
        let for_this = |line: &&'static str| match *line {
            // It is initialised by one call, and says there that its event is not over.
            "ExitInitializationMode" if path.starts_with("1.0") => vec![],
            "UpdateDiscreteStates" if path.starts_with("1.0") => vec![*line; 2],
            other => vec![other],
        };
        let lines: Vec<&str> = lines.iter().flat_map(for_this).collect();
        // With Event Mode used it begins in that.
        let lines: Vec<&str> = match path.starts_with("3.0") && options.is_empty() {
            true => ["Instantiate eventModeUsed=false"].into_iter().chain(lines.into_iter().skip(1)).collect(),
            false => lines,
        };
        let (code, lines) = json(&fmu, options, &lines);
        assert_eq!(code, 0, "{path}: {lines:?}");
        let last = &lines.last().unwrap()["results"][0];
        match last.get("matrix") {
            // States h and v, and both as outputs.
            Some(matrix) => {
                assert_eq!(matrix.as_array().unwrap().len(), 4, "{path}");
                let near = |row: usize, right: [f64; 2]| {
                    (0..2).all(|column| (matrix[row][column].as_f64().unwrap() - right[column]).abs() < 1e-6)
                };
                let all = [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
                assert!((0..4).all(|row| near(row, all[row])), "{path}: {matrix}");
            }
            None => assert_eq!(last["values"], value!([0.9514405000000001]), "{path}"),
        }
        tried += 1;
    }
    assert!(tried > 0, "VECUD_REFERENCE_FMUS names a folder without them");
}

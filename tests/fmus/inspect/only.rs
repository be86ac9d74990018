//! `--only`, `--tree` and `--flat`.

use super::{FMI1, FMI2, Place, fmu, inspect};
use serde_json::json;

#[test]
fn conditions_are_met_together_and_of_their_values_one_is_enough() {
    let shown = |arguments: &[&str]| -> Vec<String> {
        let done = inspect(&fmu("engine_ecu"), arguments).exits(0);
        done.names().into_iter().map(str::to_owned).collect()
    };
    assert_eq!(shown(&["--only", "variability=tunable"]), ["idle_speed"]);
    assert_eq!(shown(&["--only", "name=*speed", "--only", "causality=input,parameter"]), ["speed", "idle_speed"]);
    assert_eq!(shown(&["--only", "name=speed", "--only", "name=target_*"]), ["speed", "target_speed"]);
    assert_eq!(shown(&["--only", "name=speed,target_?peed"]), ["speed", "target_speed"]);
    assert_eq!(shown(&["--only", "type=Clock", "--only", "name=task_*"]), ["task_1ms", "task_10ms", "task_100ms"]);
    assert!(shown(&["--only", "start=any"]).contains(&"pedal".to_owned()));
}

#[test]
fn of_the_fmu_nothing_else_is_shown_but_how_many_there_are() {
    let done = inspect(&fmu("stepper"), &["--only", "type=UInt64", "--only", "causality=parameter"]).exits(0);
    let expected = "\
stepper (FMI 3.0)

Variables (3 of 11)
  name       reference  type    causality  variability  initial  clocks  start  unit
  salt              30  UInt64  parameter  fixed        exact            0            what it begins with
  burn_us           31  UInt64  parameter  fixed        exact            0            processor time of a step, µs
  fail_kind         33  UInt64  parameter  fixed        exact            0            what goes wrong (0: nothing)
";
    assert_eq!(done.stdout, expected);
    let none = inspect(&fmu("stepper"), &["--only", "type=String"]).exits(0);
    assert_eq!(none.stdout, "stepper (FMI 3.0)\n\nNone of its 11 variables is like that\n");
}

/// As JSON it is the whole FMU, but for the variables.
#[test]
fn json_has_the_same_variables() {
    let all = inspect(&fmu("engine_ecu"), &["--json"]).exits(0).json();
    let some = inspect(&fmu("engine_ecu"), &["--json", "--only", "causality=output", "--only", "type=Boolean"])
        .exits(0)
        .json();
    let is_meant = |v: &&serde_json::Value| v["causality"] == "output" && v["type"] == "Boolean";
    let meant: Vec<_> = all["variables"].as_array().unwrap().iter().filter(is_meant).collect();
    assert!(!meant.is_empty());
    assert_eq!(some["variables"].as_array().unwrap().iter().collect::<Vec<_>>(), meant);
    assert_eq!((&some["interfaces"], &some["clockGraph"]), (&all["interfaces"], &all["clockGraph"]));
}

#[test]
fn what_there_is_not_is_named_with_what_there_is() {
    for (condition, words) in [
        (
            "speed",
            "must be KEY=VALUE or KEY=VALUE,VALUE, with one of the keys name, type, causality, variability, start",
        ),
        (
            "typ=Int8",
            "there is no key \"typ\"; did you mean \"type\"? (there are name, type, causality, variability, start)",
        ),
        (
            "type=float64",
            "--only type=float64: there is no such type; did you mean \"Float64\"? (there are Float32, Float64, Int8,",
        ),
        ("type=Real", "there is no such type (there are Float32,"),
        (
            "causality=inputs",
            "there is no such causality; did you mean \"input\"? (there are structuralParameter, parameter,",
        ),
        (
            "variability=often",
            "there is no such variability (there are constant, fixed, tunable, discrete, continuous)",
        ),
        ("start=new", "there is no such kind of start value (there are any, changed)"),
        ("name=salz", "--only name=salz: no variable has such a name; did you mean \"salt\"?"),
        ("name=salt,", "name has no value, or an empty one"),
    ] {
        let refused = inspect(&fmu("stepper"), &["--only", condition]).exits(2);
        assert!(refused.stderr.contains(words), "{condition}: {}", refused.stderr);
        assert_eq!(refused.stdout, "", "{condition}");
    }
}

/// Types have the names of the FMU's version.
#[test]
fn earlier_versions_have_their_own_types() {
    let place = Place::new();
    for (name, xml) in [("one", FMI1), ("two", FMI2)] {
        let file = place.described(name, xml);
        let all = place.inspect(&file, &["--json"]).exits(0).json();
        for own in ["Real", "Integer", "Boolean", "String", "Enumeration"] {
            let some = place.inspect(&file, &["--json", "--only", &format!("type={own}")]).exits(0).json();
            let is_meant = |v: &&serde_json::Value| v["type"] == own;
            let meant = all["variables"].as_array().unwrap().iter().filter(is_meant).count();
            assert_eq!(some["variables"].as_array().unwrap().len(), meant, "{name} {own}");
        }
        let refused = place.inspect(&file, &["--only", "type=Float64"]).exits(2);
        assert!(
            refused.stderr.contains("(there are Real, Integer, Boolean, String, Enumeration)"),
            "{}",
            refused.stderr
        );
    }
    let draft = inspect(&fmu("three_input_clocks_draft"), &["--only", "type=Clock"]).exits(0);
    assert!(draft.names().contains(&"10msClock"), "{}", draft.stdout);
}

#[test]
fn variables_are_laid_out_as_a_tree_or_flat_whatever_the_fmu_says() {
    let xml = r#"<fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="t">
<CoSimulation modelIdentifier="m"/>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
<Float64 name="a.b[1].c" valueReference="1" causality="parameter" variability="fixed" start="1"/>
<Float64 name="a.b[2].c" valueReference="2" causality="parameter" variability="fixed" start="2"/>
<Float64 name="a.d" valueReference="3" causality="parameter" variability="tunable" start="3"/>
</ModelVariables></fmiModelDescription>"#;
    let place = Place::new();
    let flat = place.described("flat", xml);
    let structured =
        place.described("tree", &xml.replace(" modelName", " variableNamingConvention=\"structured\" modelName"));
    // How far each row is moved in, and its first word.
    let lines = |file, arguments: &[&str]| -> Vec<String> {
        let text = place.inspect(file, arguments).exits(0).stdout;
        let rows = text.split_once("Variables").unwrap().1.lines().skip(2).take_while(|row| !row.is_empty());
        let depth = |row: &str| (row.len() - row.trim_start().len()) / 2;
        rows.map(|row| format!("{}{}", depth(row), row.split_whitespace().next().unwrap())).collect()
    };
    let (as_tree, as_list) =
        (["1time", "1a", "2b[1]", "3c", "2b[2]", "3c", "2d"], ["1time", "1a.b[1].c", "1a.b[2].c", "1a.d"]);
    assert_eq!(lines(&structured, &[]), as_tree);
    assert_eq!(lines(&flat, &[]), as_list);
    assert_eq!(lines(&flat, &["--tree"]), as_tree);
    assert_eq!(lines(&structured, &["--flat"]), as_list);
    // What is left out has no branches.
    assert_eq!(lines(&flat, &["--tree", "--only", "variability=tunable"]), ["1a", "2d"]);
    let path =
        |file, arguments: &[&str]| place.inspect(file, arguments).exits(0).json()["variables"][1]["path"].clone();
    assert_eq!(path(&flat, &["--json", "--tree"]), json!(["a", "b[1]", "c"]));
    assert_eq!(path(&structured, &["--json", "--flat"]), json!(null));
    let refused = place.inspect(&flat, &["--tree", "--flat"]).exits(2);
    assert!(refused.stderr.contains("cannot be used with"), "{}", refused.stderr);
}

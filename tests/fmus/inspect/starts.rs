//! `--start`, `--start-value` and `--save-start`: sets of start values that are looked at, changed and used.

use super::{Done, FMI1, FMI2, Place, fmu, inspect};
use serde_json::json;

#[test]
fn what_differs_from_the_description_is_marked_with_both_values() {
    let done = inspect(&fmu("stepper"), &["--start-value", "salt=3", "--start-value", "burn_us=0"]).exits(0);
    let salt = done.stdout.lines().find(|line| line.contains(" salt ")).unwrap();
    assert!(salt.contains("  * 3 (0)  "), "{salt}");
    assert!(done.stdout.lines().all(|line| line.contains(" salt ") || !line.contains("  * ")), "{}", done.stdout);
    assert!(
        done.stdout.contains("\n\n* 1 changed: in parentheses the start value of the description\n"),
        "{}",
        done.stdout
    );
    let arguments = ["--start-value", "salt=3", "--start-value", "burn_us=0", "--only", "start=changed"];
    assert_eq!(inspect(&fmu("stepper"), &arguments).exits(0).names(), ["salt"]);
    let json = inspect(&fmu("stepper"), &[&arguments[..], &["--json"]].concat()).exits(0).json();
    assert_eq!((&json["variables"][0]["start"], &json["variables"][0]["changedStart"]), (&json!([0]), &json!([3])));
    let same = inspect(&fmu("stepper"), &["--start-value", "salt=0", "--json"]).exits(0).json();
    assert!(same["variables"].as_array().unwrap().iter().all(|v| v.get("changedStart").is_none()));
}

/// All types, elements of arrays, and names with dots: what was changed is kept, and the rest as the description has it.
#[test]
fn a_set_is_kept_looked_at_and_kept_again() {
    let place = Place::new();
    let changes = [
        "Float32_in[2]=0.1",
        "Int8_in=7",
        "Boolean_in=[true,true,false,false]",
        "String_in=[\"a\\nb\",\"#\"]",
        "Binary_in=[\"0x00ff\",\"0x\"]",
        "Enumeration_in=\"two\"",
        "matrix_in[2,3]=-1e300",
        "text_in=\"ä = 1\"",
    ];
    let arguments: Vec<&str> = changes.iter().flat_map(|change| ["--start-value", change]).collect();
    let saved = place.inspect(&fmu("all_types"), &[&arguments[..], &["--save-start", "set.toml"]].concat()).exits(0);
    assert_eq!(saved.stderr, "set.toml: 23 start values\n");
    let text = place.read("set.toml");
    assert!(
        text.starts_with("# Start values of all_types (FMI 3.0), written by vecud inspect --save-start.\n"),
        "{text}"
    );
    for line in [
        "Float32_in = [-inf, 0.1, -1.175494e-38, nan, 1.175494e-38, 3.402823e38, inf]  # ",
        "Int8_in = [7, 7]  # -128 to 127; the FMU's: -128 127\n",
        "Enumeration_in = \"two\"",
        "matrix_in = [1.0, 2.0, 3.0, 4.0, 5.0, -1e300]",
        "String_in = [\"a\\u000Ab\", \"#\"]",
        "pa_in = 0.0  # Pa\n",
        "UInt64_in = [0, \"18446744073709551615\"]  # ",
        "long_from = \"18446744073709551615\"",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let again = place.inspect(&fmu("all_types"), &["--start", "set.toml", "--save-start", "again.toml"]).exits(0);
    assert_eq!(again.stdout, saved.stdout);
    assert_eq!(place.read("again.toml"), text);
    let changed = place.inspect(&fmu("all_types"), &["--start", "set.toml", "--only", "start=changed"]).exits(0);
    let names =
        ["Float32_in", "Int8_in", "Boolean_in", "String_in", "Binary_in", "Enumeration_in", "matrix_in", "text_in"];
    assert_eq!(changed.names(), names);
    // What is given on the command line counts before the file.
    let back = place.inspect(
        &fmu("all_types"),
        &["--start", "set.toml", "--start-value", "text_in=\"\"", "--only", "start=changed"],
    );
    assert_eq!(back.exits(0).names(), &names[..7]);
}

/// Of the variables that are shown, and that can be given a start value.
#[test]
fn what_is_kept_is_chosen_like_what_is_shown() {
    let place = Place::new();
    place.inspect(&fmu("stepper"), &["--only", "name=fail_*", "--save-start", "some.toml"]).exits(0);
    let lines: Vec<String> = place.read("some.toml").lines().skip(3).map(str::to_owned).collect();
    assert_eq!(lines, ["fail_at = 0.0", "fail_kind = 0"]);
    let none = place.inspect(&fmu("stepper"), &["--only", "causality=output", "--save-start", "none.toml"]).exits(0);
    assert_eq!(none.stderr, "none.toml: no start values, since nothing that is shown has one that can be set\n");
}

/// The file is one for `vecud simulate`, and its lines are those of a rig.
#[test]
fn a_simulation_and_a_rig_take_the_same_lines() {
    let place = Place::new();
    place.inspect(&fmu("stepper"), &["--start-value", "salt=3", "--save-start", "set.toml"]).exits(0);
    let salted = place.run("simulate", &fmu("stepper"), &["--start-value", "salt=3"]).exits(0);
    let plain = place.run("simulate", &fmu("stepper"), &[]).exits(0);
    let by_file = place.run("simulate", &fmu("stepper"), &["--start", "set.toml"]).exits(0);
    assert_eq!(by_file.stdout, salted.stdout);
    assert_ne!(plain.stdout, salted.stdout);
    let over = place.run("simulate", &fmu("stepper"), &["--start", "set.toml", "--start-value", "salt=0"]).exits(0);
    assert_eq!(over.stdout, plain.stdout);
    let swept = place.run("simulate", &fmu("stepper"), &["--start", "set.toml", "--sweep", "salt=0,3"]);
    assert_eq!(swept.exits(0).stdout.lines().count(), 2 * plain.stdout.lines().count() - 1);
    let rig = |start: &str| format!("[fmu.stepper]\npath = {:?}\n{start}", fmu("stepper"));
    place.write("rig.toml", &rig(&format!("[fmu.stepper.start]\n{}", place.read("set.toml"))));
    place.run("check", &place.path("rig.toml"), &[]).exits(0);
    let values = "start = { salt = 3, a = 0.0 }\n";
    place.write("rig.toml", &rig(values));
    place.run("check", &place.path("rig.toml"), &[]).exits(0);
    place.write("rows.toml", "salt = 3\na = 0.0\n");
    assert_eq!(
        place.inspect(&fmu("stepper"), &["--start", "rows.toml", "--only", "start=changed"]).exits(0).names(),
        ["salt"]
    );
}

/// Not every FMU can be told all of its start values; what a file has as the description has it is not told.
#[test]
fn what_is_not_changed_is_not_set() {
    let place = Place::new();
    let calls = |arguments: &[&str]| -> u64 {
        let done = place.run("simulate", &fmu("stepper"), &[arguments, &["--show-stats"]].concat()).exits(0);
        let row = done.stderr.lines().find(|line| line.starts_with("fmi3SetUInt64"));
        row.map_or(0, |row| row.split_whitespace().nth(1).unwrap().parse().unwrap())
    };
    place.write("same.toml", "salt = 0\nburn_us = 0\n");
    place.write("other.toml", "salt = 1\nburn_us = 0\n");
    let plain = calls(&[]);
    assert_eq!(calls(&["--start", "same.toml"]), plain);
    assert_eq!(calls(&["--start", "other.toml"]), plain + 1);
}

#[test]
fn what_is_wrong_with_a_set_has_its_line_and_what_may_have_been_meant() {
    let place = Place::new();
    for (text, words) in [
        ("a = 1\nsalz = 3\n", "set.toml:2:1: stepper has no variable \"salz\"; did you mean \"salt\"?"),
        (
            "salt = \"x\"\n",
            "set.toml:1:8: the start value of stepper.salt must be a whole number, not the string \"x\"",
        ),
        (
            "salt = -1\n",
            "set.toml:1:8: the start value of stepper.salt is -1, but UInt64 holds 0 to 18446744073709551615",
        ),
        ("a = [1, 2]\n", "set.toml:1:5: stepper.a is a scalar, but its start value is a list of 2"),
        ("a = 1\na = 2\n", "set.toml:2:1: duplicate key: \"a\" is given twice"),
        ("a = \n", "set.toml:1:5: "),
        ("time = 1\n", "set.toml:1:1: stepper.time cannot be given a start value: it is an independent"),
        ("[rig]\nname = \"x\"\n", "set.toml:2:1: stepper has no variable \"rig.name\""),
        ("salz = 1\nslat = 1\n", "set.toml:2:1: stepper has no variable \"slat\"; did you mean \"salt\"?"),
    ] {
        place.write("set.toml", text);
        for command in ["inspect", "simulate"] {
            let refused = place.run(command, &fmu("stepper"), &["--start", "set.toml"]).exits(2);
            assert!(refused.stderr.contains(words), "{command} {text}: {}", refused.stderr);
            assert_eq!(refused.stdout, "", "{command} {text}");
        }
    }
    let limits = Place::new();
    limits.write("set.toml", "# idle\nidle_speed = 5000\n");
    let refused = limits.inspect(&fmu("engine_ecu"), &["--start", "set.toml"]).exits(2);
    assert_eq!(refused.stderr, "set.toml:2:14: the start value of engine_ecu.idle_speed is 5000, above its max 2000\n");
    let option = limits.inspect(&fmu("engine_ecu"), &["--start-value", "idle_speed=5000"]).exits(2);
    assert!(option.stderr.contains("--start-value idle_speed=5000: the start value of"), "{}", option.stderr);
}

#[test]
fn what_is_no_set_at_all_is_refused() {
    let place = Place::new();
    std::fs::write(place.path("latin.toml"), b"a = 1 # \xe4\n").unwrap();
    std::fs::create_dir(place.path("folder")).unwrap();
    for (file, words) in [
        ("nowhere.toml", "nowhere.toml: No such file"),
        ("folder", "folder: Is a directory"),
        ("latin.toml", "latin.toml:1:9: is not UTF-8, the encoding of TOML text; give a file of start values (TOML)"),
    ] {
        let refused = place.inspect(&fmu("stepper"), &["--start", file]).exits(2);
        assert!(refused.stderr.contains(words), "{file}: {}", refused.stderr);
    }
}

/// Somebody's own file is not lost.
#[test]
fn no_other_file_is_replaced() {
    let place = Place::new();
    place.write("own.toml", "salt = 3\n");
    let refused = place.inspect(&fmu("stepper"), &["--start", "own.toml", "--save-start", "own.toml"]).exits(2);
    assert!(
        refused.stderr.contains("--save-start own.toml: is there already, and not written by --save-start"),
        "{}",
        refused.stderr
    );
    assert_eq!((place.read("own.toml").as_str(), refused.stdout.as_str()), ("salt = 3\n", ""));
    let save =
        |value: &str| place.inspect(&fmu("stepper"), &["--start-value", value, "--save-start", "set.toml"]).exits(0);
    save("salt=1");
    save("salt=2");
    assert!(place.read("set.toml").contains("\nsalt = 2  # the FMU's: 0\n"));
    let nowhere = place.inspect(&fmu("stepper"), &["--save-start", "no/where.toml"]).exits(2);
    assert!(nowhere.stderr.contains("no/where.toml: No such file"), "{}", nowhere.stderr);
}

/// What is read is written over by no output of a simulation.
#[test]
fn a_simulation_does_not_write_over_its_set() {
    let place = Place::new();
    place.write("set.toml", "salt = 3\n");
    let refused = place.run("simulate", &fmu("stepper"), &["--start", "set.toml", "-o", "set.toml"]).exits(2);
    assert!(refused.stderr.contains("that is what is simulated, or its input"), "{}", refused.stderr);
    assert_eq!(place.read("set.toml"), "salt = 3\n");
}

/// Structural parameters give arrays another size, and the description's values of these do not count then.
#[test]
fn an_array_of_another_size_has_no_value_of_the_description() {
    let place = Place::new();
    let all = place.inspect(&fmu("structural"), &["--json"]).exits(0).json();
    let variables = all["variables"].as_array().unwrap();
    let sized = |v: &&serde_json::Value| {
        v["dimensions"].as_array().unwrap().iter().any(|d| d["valueReference"].is_u64()) && v["start"].is_array()
    };
    let array = variables.iter().find(sized).expect("an array with a size that can be set");
    let reference = array["dimensions"].as_array().unwrap().iter().find_map(|d| d["valueReference"].as_u64()).unwrap();
    let size = variables.iter().find(|v| v["valueReference"] == reference).unwrap();
    let other = format!("{}={}", size["name"].as_str().unwrap(), size["start"][0].as_u64().unwrap() + 1);
    place.inspect(&fmu("structural"), &["--start-value", &other, "--save-start", "set.toml"]).exits(0);
    let name = array["name"].as_str().unwrap();
    let text = place.read("set.toml");
    assert!(
        text.contains(&other.replace('=', " = ")) && !text.lines().any(|line| line.starts_with(&format!("{name} = "))),
        "{text}"
    );
    let again: Done = place.inspect(&fmu("structural"), &["--start", "set.toml", "--only", "start=changed"]).exits(0);
    assert_eq!(again.names(), [size["name"].as_str().unwrap()]);
}

/// Before FMI 3.0 several variables may be names of one value: of those that are not given nothing is kept.
#[test]
fn earlier_versions_keep_one_name_of_each_value() {
    for xml in [FMI1, FMI2] {
        let place = Place::new();
        let file = place.described("x", xml);
        let all = place.inspect(&file, &["--json"]).exits(0).json();
        let saved = place.inspect(&file, &["--save-start", "set.toml"]).exits(0);
        assert!(saved.stderr.contains("set.toml: "), "{}", saved.stderr);
        let changed = place.inspect(&file, &["--start", "set.toml", "--only", "start=changed"]).exits(0);
        assert!(changed.stdout.contains("None of its "), "{}", changed.stdout);
        assert!(all["variables"].as_array().unwrap().iter().any(|v| v["aliasOf"].is_object()));
    }
    let xml = r#"<fmiModelDescription fmiVersion="2.0" modelName="m" guid="g"><CoSimulation modelIdentifier="m"/><ModelVariables>
<ScalarVariable name="a" valueReference="1" causality="input"><Real start="1"/></ScalarVariable>
<ScalarVariable name="n" valueReference="1" causality="parameter" variability="fixed"><Integer start="2"/></ScalarVariable>
<ScalarVariable name="b" valueReference="1" causality="local" initial="exact"><Real start="1"/></ScalarVariable>
</ModelVariables><ModelStructure/></fmiModelDescription>"#;
    let place = Place::new();
    let file = place.described("x", xml);
    place.inspect(&file, &["--start-value", "b=5", "--save-start", "set.toml"]).exits(0);
    let lines: Vec<String> = place.read("set.toml").lines().skip(3).map(str::to_owned).collect();
    assert_eq!(lines, ["n = 2", "b = 5.0  # the FMU's: 1.0"]);
}

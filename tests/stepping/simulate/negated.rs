//! Negated aliases of FMI 1.0: the FMU knows the variable that they are aliases of, and values have the opposite sign.

use super::{Place, copy, fmu};
use std::process::Command;

/// `xn`, `un` and `fallsn` are the opposites of the state `x`, the input `u` and the count `falls`.
fn place() -> Place {
    let place = Place::new();
    copy(&fmu("failing_fmi1"), &place.path("failing_fmi1"));
    copy(&fmu("common"), &place.path("common"));
    let alias = |name: &str, reference: u32, causality: &str, value: &str| {
        format!(
            "<ScalarVariable name=\"{name}\" valueReference=\"{reference}\" alias=\"negatedAlias\" {causality}>{value}</ScalarVariable>"
        )
    };
    let aliases = [
        alias("xn", 1, "causality=\"output\"", "<Real/>"),
        alias("un", 4, "causality=\"input\"", "<Real start=\"0\"/>"),
        alias("fallsn", 22, "variability=\"discrete\" causality=\"output\"", "<Integer/>"),
    ];
    let description = std::fs::read_to_string(place.path("failing_fmi1/modelDescription.xml")).unwrap();
    let changed = description.replace("  </ModelVariables>", &format!("{}\n  </ModelVariables>", aliases.concat()));
    place.with("failing_fmi1/modelDescription.xml", &changed)
}

const COLUMNS: [&str; 4] =
    ["--output-variable=x", "--output-variable=xn", "--output-variable=falls", "--output-variable=fallsn"];

fn opposite(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| 0.0 - value).collect()
}

#[test]
fn they_are_read_and_set_with_the_opposite_sign() {
    let place = place();
    let by = |start: &str| place.simulate("failing_fmi1", &[&COLUMNS[..], &["--start-value", start]].concat()).exits(0);
    let (alias, own) = (by("un=-0.5"), by("u=0.5"));
    assert!(alias.stdout == own.stdout && by("un=0.5").stdout != own.stdout, "the sign counts");
    for (name, negated) in [("x", "xn"), ("falls", "fallsn")] {
        assert_eq!(own.column(negated), opposite(&own.column(name)), "{negated}");
    }
    assert!(own.column("falls").last().is_some_and(|falls| *falls >= 3.0));
    assert!(own.rows().concat().iter().all(|cell| *cell != "-0.0"), "of 0 there is no opposite");
}

/// An input file, and a connection between two FMUs.
#[test]
fn inputs_that_are_fed_and_connected_have_the_opposite_sign() {
    let place = place().with("in.csv", "time,un\n0,-1\n3,-4\n").with("own.csv", "time,u\n0,1\n3,4\n");
    let fed = |file: &str| place.simulate("failing_fmi1", &[&COLUMNS[..], &["--input-file", file]].concat()).exits(0);
    assert!(fed("in.csv").stdout == fed("own.csv").stdout);
    let rig = |from: &str, to: &str| {
        let fmu = "path = 'failing_fmi1'\nstep = 0.01\n";
        format!(
            "[rig]\nmode = 'virtual'\nstop_time = 1\n[fmu.a]\n{fmu}[fmu.b]\n{fmu}[[connect]]\nfrom = 'a.{from}'\nto = 'b.{to}'\n\
             [record]\nsignals = ['a.x', 'b.x']\n"
        )
    };
    let recorded = |from: &str, to: &str| {
        let place = &place;
        std::fs::write(place.path("rig.toml"), rig(from, to)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        let run = command.args(["run", "rig.toml", "--out", "out"]).current_dir(place.path("")).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        std::fs::read_to_string(place.path("out/signals.csv")).unwrap()
    };
    let own = recorded("x", "u");
    assert!(recorded("xn", "un") == own, "twice the opposite");
    assert!(recorded("xn", "u") != own, "once the opposite");
}

/// The description's reference is shown, and that the sign differs.
#[test]
fn inspect_shows_them_as_they_are_described() {
    let place = place();
    let output = place.command_of("inspect", std::path::Path::new("failing_fmi1"), &["--json"]).output().unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let variables = shown["variables"].as_array().unwrap();
    let alias = variables.iter().find(|variable| variable["name"] == "xn").unwrap();
    assert_eq!((&alias["valueReference"], &alias["aliasOf"]["name"]), (&1.into(), &"x".into()));
    assert_eq!(alias["aliasOf"]["negated"], true);
}

/// The log of calls has references and values of the FMU.
#[test]
fn calls_are_logged_as_the_fmu_gets_them() {
    let place = place().with("in.csv", "time,un\n0,-3\n1,-3\n");
    let options = ["--input-file", "in.csv", "--log-fmi-calls", "--output-variable=xn"];
    let told = place.simulate("failing_fmi1", &options).exits(0);
    assert!(!told.stderr.contains("214748364"), "{}", told.stderr);
    assert!(told.stderr.contains("fmiSetReal([4], [3.0])"), "{}", told.stderr);
    // What it returned is the opposite of the row.
    let first = told.column("xn")[0];
    assert!(told.stderr.contains(&format!("fmiGetReal([1], [{:?}])", 0.0 - first)), "{}", told.stderr);
}

/// Other names of an input that is fed, and of what is given a start value, have what the FMU has.
#[test]
fn other_names_of_what_is_given_have_the_value_of_the_fmu() {
    let place = place().with("in.csv", "time,un\n0,-1\n1,-4\n3,-4\n");
    let columns = ["--output-variable=u", "--output-variable=un"];
    let fed = place.simulate("failing_fmi1", &[&columns[..], &["--input-file", "in.csv"]].concat()).exits(0);
    let (own, other) = (fed.column("u"), fed.column("un"));
    assert_eq!((own[0], own.last(), other.last()), (1.0, Some(&4.0), Some(&-4.0)), "{}", fed.stdout);
    let given = place.simulate("failing_fmi1", &[&columns[..], &["--start-value=un=-0.5"]].concat()).exits(0);
    assert!(given.column("u").iter().all(|own| *own == 0.5), "{}", given.stdout);
}

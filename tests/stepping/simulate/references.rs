//! The Modelica Reference FMUs (<https://github.com/modelica/Reference-FMUs>): of all versions, beside the results that are published
//! with them. They are not part of this repository; `VECUD_REFERENCE_FMUS` names a folder that has them.

use super::{Place, simulate};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The FMU of each version for Co-Simulation, or a visible word that there is none.
fn versions(test: &str, name: &str) -> Vec<(&'static str, PathBuf)> {
    let Some(folder) = std::env::var_os("VECUD_REFERENCE_FMUS") else {
        let why = "set VECUD_REFERENCE_FMUS to a folder with the Modelica Reference FMUs";
        let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
        return Vec::new();
    };
    let file = |version: &str| Path::new(&folder).join(version).join(name);
    let found = ["3.0", "2.0", "1.0/cs"].map(|version| (version, file(version)));
    found.into_iter().filter(|(_, file)| file.is_file()).collect()
}

/// x' = -x by Euler's method with steps of 0.1 s: what is published, to the last bit of each number.
#[test]
fn dahlquist_is_eulers_method_to_the_last_bit() {
    for (version, file) in versions("dahlquist_is_eulers_method_to_the_last_bit", "Dahlquist.fmu") {
        let simulated = simulate(file, &["--output-interval=0.1", "--stop-time=10"]).exits(0);
        let mut expected = vec![1.0_f64];
        (0..100).for_each(|_| expected.push(expected.last().map(|x| x + 0.1 * -x).unwrap()));
        assert_eq!(simulated.column("x"), expected, "{version}");
    }
}

/// A ball that falls from 1 m hits the ground at 0.4515 s; before the bounce it goes down, after it up, and with Event Mode both are
/// rows of that time.
#[test]
fn a_ball_bounces_at_an_event_with_two_rows() {
    for (version, file) in versions("a_ball_bounces_at_an_event_with_two_rows", "BouncingBall.fmu") {
        let simulated = simulate(file, &["--stop-time=0.5"]).exits(0);
        let (times, v) = (simulated.column("time"), simulated.column("v"));
        let bounce = v.windows(2).position(|pair| pair[0] < 0.0 && pair[1] > 0.0).unwrap();
        assert!((times[bounce] - 0.4515).abs() < 0.01, "{version}");
        assert_eq!(times[bounce] == times[bounce + 1], version == "3.0", "{version}");
    }
}

/// Steps that no two of them are apart by a double.
#[test]
fn versions_of_a_model_compute_the_same() {
    for name in ["VanDerPol.fmu", "Dahlquist.fmu"] {
        let all = versions("versions_of_a_model_compute_the_same", name);
        let text = |file: &PathBuf| simulate(file, &["--output-interval=0.1", "--stop-time=5"]).exits(0).stdout;
        let texts: Vec<String> = all.iter().map(|(_, file)| text(file)).collect();
        assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{name}");
    }
}

/// A stair asks for the end when it is at its top: a regular end there.
#[test]
fn an_fmu_that_asks_for_the_end_gets_it() {
    for (version, file) in versions("an_fmu_that_asks_for_the_end_gets_it", "Stair.fmu") {
        if version == "1.0/cs" {
            continue; // which has no way to ask
        }
        let simulated = simulate(file, &["--output-interval=0.2", "--stop-time=20"]).exits(0);
        assert_eq!(simulated.column("time").last(), Some(&9.0), "{version}");
    }
}

/// The start values of each as `vecud inspect` keeps them, and one of them changed.
#[test]
fn a_set_of_start_values_as_it_is_kept_changes_nothing() {
    let names = ["BouncingBall", "Dahlquist", "Feedthrough", "Resource", "Stair", "StateSpace", "VanDerPol"];
    for name in names.map(|name| format!("{name}.fmu")) {
        for (version, file) in versions("a_set_of_start_values_as_it_is_kept_changes_nothing", &name) {
            let place = Place::new();
            let saved = place.command_of("inspect", &file, &["--save-start", "set.toml"]).output().unwrap();
            assert!(saved.status.success(), "{version} {name}: {}", String::from_utf8_lossy(&saved.stderr));
            let plain = place.simulate(&file, &["--output-interval=0.1"]).exits(0);
            let with_set = place.simulate(&file, &["--output-interval=0.1", "--start=set.toml"]).exits(0);
            assert_eq!(with_set.stdout, plain.stdout, "{version} {name}");
            if name == "Dahlquist.fmu" {
                let set = std::fs::read_to_string(place.path("set.toml")).unwrap();
                std::fs::write(place.path("other.toml"), set.replace("k = 1.0", "k = 2.0")).unwrap();
                let other = place.simulate(&file, &["--output-interval=0.1", "--start=other.toml"]).exits(0);
                assert_eq!(other.column("x")[1], 0.8, "{version}: x' = -2x by a step of Euler's method");
            }
        }
    }
}

/// All types go through, strings and binaries too; what the inputs were is an input file again.
#[test]
fn what_feedthrough_has_got_feeds_it_the_same_again() {
    for (version, file) in versions("what_feedthrough_has_got_feeds_it_the_same_again", "Feedthrough.fmu") {
        if version != "3.0" {
            continue; // where its variables have other names
        }
        let rows = "time,String_input,Binary_input,Int32_input,Boolean_input,Enumeration_input\n\
                    0,\"a \"\"b\"\", c\",0x00ff,1,1,1\n0.15,\"\",0x,2,0,2\n0.25,12,dead,3,1,2\n";
        let arguments = ["--stop-time=0.3", "--output-interval=0.1", "--input-file=in.csv"];
        let wanted = [&arguments[..], &["--output-variable=*_input"]].concat();
        let first = Place::new().with("in.csv", rows).simulate(&file, &wanted).exits(0);
        let last = first.stdout.lines().last().unwrap();
        assert!(last.starts_with("0.3,") && last.ends_with(",1,\"12\",0xdead,2"), "{last}");
        let again = Place::new().with("in.csv", &first.stdout);
        assert_eq!(again.simulate(&file, &wanted).exits(0).stdout, first.stdout);
        let outputs = [&arguments[..], &["--output-variable=*_output"]].concat();
        let outputs = again.simulate(&file, &outputs).exits(0).stdout;
        assert_eq!(outputs.replace("_output", "_input"), first.stdout, "what goes in comes out");
    }
}

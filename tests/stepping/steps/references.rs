//! The Modelica Reference FMUs (<https://github.com/modelica/Reference-FMUs>) in rigs: FMUs that nobody here wrote, of FMI 3.0, 2.0
//! and 1.0. They are not part of this repository; `VECUD_REFERENCE_FMUS` names a folder that has them.

use super::program::{Rig, real_time, skipped};
use super::{numbers, run};
use std::path::{Path, PathBuf};

/// Files of this name in the folder and those in it, whose path has this word.
pub fn find(folder: &Path, name: &str, version: &str) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> = folder.read_dir().ok()?.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.into_iter().find_map(|path| match path.is_dir() {
        true => find(&path, name, version),
        false if path.file_name().is_some_and(|file| file == name) && path.to_str()?.contains(version) => Some(path),
        false => None,
    })
}

/// The FMU of each version for Co-Simulation, or a visible word that there is none.
fn versions(test: &str, name: &str) -> Vec<(&'static str, PathBuf)> {
    let Some(folder) = std::env::var_os("VECUD_REFERENCE_FMUS") else {
        skipped(test, &"set VECUD_REFERENCE_FMUS to a folder with the Modelica Reference FMUs");
        return Vec::new();
    };
    let all = ["/3.0/", "/2.0/", "/1.0/cs/"];
    let found = all.iter().filter_map(|version| Some((*version, find(Path::new(&folder), name, version)?)));
    let found: Vec<_> = found.collect();
    assert!(!found.is_empty(), "VECUD_REFERENCE_FMUS has no {name}");
    found
}

fn rig(path: &Path, step: &str, stop: &str) -> Rig {
    let text = format!("[rig]\nstop_time = {stop}\n[record]\n[fmu.m]\npath = '{}'\nstep = '{step}'\n", path.display());
    Rig::of_text(&text)
}

/// x' = -x by Euler's method, with the FMU's internal step of 0.1 s.
#[test]
fn dahlquist_is_eulers_method_to_the_last_bit() {
    let test = "dahlquist_is_eulers_method_to_the_last_bit";
    for (version, path) in versions(test, "Dahlquist.fmu") {
        let outcome = run(&rig(&path, "1/10", "10"), "virtual").exits(0);
        let mut expected = vec![1.0_f64];
        (0..100).for_each(|_| expected.push(expected.last().map(|x| x + 0.1 * -x).unwrap()));
        assert_eq!(numbers(&outcome, "m.x"), expected, "{version}");
    }
}

/// `1/100`
fn seconds(fraction: &str) -> f64 {
    let (counter, resolution) = fraction.split_once('/').unwrap();
    counter.parse::<f64>().unwrap() / resolution.parse::<f64>().unwrap()
}

#[test]
fn all_versions_of_a_model_compute_the_same() {
    let test = "all_versions_of_a_model_compute_the_same";
    for (name, step, stop, column) in [
        ("BouncingBall.fmu", "1/100", "3", "m.h"),
        ("VanDerPol.fmu", "1/100", "20", "m.x0"),
        ("Stair.fmu", "1/5", "8.6", "m.counter"),
    ] {
        let all = versions(test, name);
        // With Event Mode there are rows of events too.
        let length = seconds(step);
        let on_grid = |time: f64| (time / length - (time / length).round()).abs() < 1e-6;
        let of = |path: &Path| {
            let outcome = run(&rig(path, step, stop), "virtual").exits(0);
            let rows = outcome.signals().times().to_vec().into_iter().zip(numbers(&outcome, column));
            rows.filter(|(time, _)| on_grid(*time)).map(|(_, value)| value).collect::<Vec<_>>()
        };
        let values: Vec<Vec<f64>> = all.iter().map(|(_, path)| of(path)).collect();
        for (other, (version, _)) in values.iter().zip(&all) {
            assert!(other == &values[0] && other.len() > 40, "{name} {version}");
        }
    }
}

/// States of FMI 2.0 and 3.0 go to a file and back.
#[test]
fn a_run_that_is_cut_in_two_computes_the_same() {
    let test = "a_run_that_is_cut_in_two_computes_the_same";
    for (version, path) in versions(test, "VanDerPol.fmu").into_iter().filter(|(version, _)| *version != "/1.0/cs/") {
        let rig = rig(&path, "1/100", "2");
        let state = rig.folder().join("state");
        let state = state.to_str().unwrap();
        let part = |stop: &str, more: [&str; 2]| {
            let arguments = ["--mode", "virtual", "--stop-time", stop, more[0], more[1]];
            numbers(&rig.run_with(&arguments).exits(0), "m.x0")
        };
        let mut parts = part("0.7", ["--save-state", state]);
        parts.extend(part("2", ["--restore-state", state]));
        assert_eq!(parts, numbers(&run(&rig, "virtual").exits(0), "m.x0"), "{version}");
    }
}

/// The FMU ends itself when its counter is 10.
#[test]
fn stair_asks_for_the_end_at_9_s() {
    let test = "stair_asks_for_the_end_at_9_s";
    for (version, path) in versions(test, "Stair.fmu").into_iter().filter(|(version, _)| *version != "/1.0/cs/") {
        let outcome = run(&rig(&path, "1/5", "10"), "virtual").exits(0);
        assert_eq!(outcome.signals().times().last(), Some(&9.0), "{version}");
        assert_eq!(outcome.finding("m", "asked_for_end"), Some(1), "{version}");
    }
}

/// Values of each type go through an FMU and on to another one, in both modes.
#[test]
fn feedthrough_passes_all_types_on_in_both_modes() {
    let test = "feedthrough_passes_all_types_on_in_both_modes";
    let all = versions(test, "Feedthrough.fmu");
    let Some((_, path)) = all.iter().find(|(version, _)| *version == "/3.0/") else { return };
    let path = path.display();
    let connect: String = ["Float64_continuous", "Int32", "Boolean", "UInt8", "String", "Binary"]
        .iter()
        .map(|name| format!("[[connect]]\nfrom = 'a.{name}_output'\nto = 'b.{name}_input'\n"))
        .collect();
    let start = "Float64_continuous_input = 1.5, Int32_input = -7, Boolean_input = true, UInt8_input = 200, String_input = 'Motor', \
                 Binary_input = '0x00ff'";
    let text = format!(
        "[rig]\nstop_time = 1\n[record]\ntext_size = 16\n[fmu.a]\npath = '{path}'\nstart = {{ {start} }}\n[fmu.b]\npath = '{path}'\n{connect}"
    );
    let of = |mode: &str| run(&Rig::of_text(&text), mode).exits(0);
    let outcome = of("virtual");
    for (column, value) in [
        ("Float64_continuous", "1.5"),
        ("Int32", "-7"),
        ("Boolean", "1"),
        ("UInt8", "200"),
        ("String", "Motor"),
        ("Binary", "0x00ff"),
    ] {
        let name = format!("b.{column}_output");
        assert_eq!(outcome.signals().column(&name).last(), Some(&value), "{column}");
    }
    real_time(test, || assert_eq!(of("realtime").file("signals.csv"), outcome.file("signals.csv")));
}

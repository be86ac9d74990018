//! The examples that have delayed connections only, the engine and the car with a transmission: as they are, up to where the first
//! release was left out, and with ten times as much time, so that a machine which stops for milliseconds leaves none out.

use super::program::{Rig, real_time_on_own_core};
use super::{difference, is_the_same, run, under_load};
use std::fs;
use std::path::Path;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// An example whose FMUs lie in that folder, and its files where they are.
fn example(name: &str, fmus: &Path) -> String {
    let text = fs::read_to_string(repository().join("examples").join(name)).unwrap();
    let stimulus = format!("\"{}", repository().join("examples/stimulus").display());
    text.replace("../fmus", fmus.to_str().unwrap()).replace("\"stimulus", &stimulus)
}

fn is_the_same_up_to_where_its_report_says(name: &str) {
    // Six seconds: the load comes at 4 s, the third gear at 5.7 s.
    let text = example(name, &repository().join("fmus"));
    let rig = Rig::of_text(&text.replace("stop_time = 10.0", "stop_time = 6.0"));
    let expected = run(&rig, "virtual", &[]).file("signals.csv");
    real_time_on_own_core(name, || {
        let outcome = under_load(|| run(&rig, "realtime", &[]));
        let promise = outcome.report()["promise"].clone();
        println!("{promise}");
        assert_eq!(promise["covered"], promise["columns"]);
        let different = difference(&expected, &outcome.file("signals.csv"), promise["until_s"].as_f64());
        assert_eq!(different, None, "{promise}");
    });
}

#[test]
fn the_engine_records_the_bytes_of_virtual_time_up_to_where_its_report_says() {
    is_the_same_up_to_where_its_report_says("engine_delayed.toml");
}

/// Steps, clocks between them, and a partition that one of these ticks.
#[test]
fn the_transmission_records_the_bytes_of_virtual_time_up_to_where_its_report_says() {
    is_the_same_up_to_where_its_report_says("cs_vecu.toml");
}

/// A copy of an FMU whose texts are changed.
pub fn changed(name: &str, to: &Path, changes: &[(&str, &str)]) {
    for part in ["", "sources"] {
        let from = repository().join("fmus").join(name).join(part);
        fs::create_dir_all(to.join(name).join(part)).unwrap();
        for file in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            let mut text = fs::read_to_string(&file).unwrap();
            changes.iter().for_each(|(before, after)| text = text.replace(before, after));
            fs::write(to.join(name).join(part).join(file.file_name().unwrap()), text).unwrap();
        }
    }
}

/// Engine and control unit in that folder, with ten times as much time.
fn slow_engine(folder: &Path) {
    changed(
        "engine_plant",
        folder,
        &[("intervalDecimal=\"0.001\"", "intervalDecimal=\"0.01\""), ("step_size = 1e-3", "step_size = 1e-2")],
    );
    changed(
        "engine_control",
        folder,
        &[
            ("intervalDecimal=\"0.01\"", "intervalDecimal=\"0.02\""),
            ("intervalDecimal=\"0.001\"", "intervalDecimal=\"0.01\""),
        ],
    );
}

fn slow(seed: u64) {
    let folder = crate::program::tempdir().unwrap();
    slow_engine(folder.path());
    // Five seconds: the load comes at 4 s.
    let start = format!("start = {{ initial_speed = {} }}\n\n[fmu.control]", 900 + 50 * seed);
    let text = example("engine_delayed.toml", folder.path())
        .replace("stop_time = 10.0", "stop_time = 5.0")
        .replace("idle_speed = 850.0", &format!("idle_speed = {}", 800 + 40 * seed))
        .replace("[fmu.control]", &format!("cpu = 0\n{start}\ncpu = 1"));
    let rig = Rig::of_text(&text);
    let recorded = is_the_same("the engine with delayed connections", &rig);
    assert!(recorded.lines().count() > 500);
}

/// Three gears are engaged, each beside the grid, whichever core the transmission has.
#[test]
fn the_transmission_on_two_cores_records_the_bytes_of_virtual_time() {
    let folder = crate::program::tempdir().unwrap();
    slow_engine(folder.path());
    changed("transmission", folder.path(), &[]);
    changed("dashboard", folder.path(), &[]);
    // Six seconds: the third gear is engaged at 5.7 s.
    let text = example("cs_vecu.toml", folder.path())
        .replace("stop_time = 10.0", "stop_time = 6.0")
        .replace("step = \"1/200\"", "step = \"1/50\"\ncpu = 0")
        .replace("[fmu.control]", "cpu = 1\n\n[fmu.control]\ncpu = 1")
        .replace("[fmu.dashboard]", "[fmu.dashboard]\ncpu = 1");
    let rig = Rig::of_text(&text);
    is_the_same("the transmission on two cores", &rig);
    assert_eq!(run(&rig, "virtual", &[]).count("dashboard", "gear_message", "activations"), 3);
}

#[test]
fn the_engine_on_two_cores_records_the_bytes_of_virtual_time_seed_1() {
    slow(1);
}

#[test]
fn the_engine_on_two_cores_records_the_bytes_of_virtual_time_seed_2() {
    slow(2);
}

#[test]
fn the_engine_on_two_cores_records_the_bytes_of_virtual_time_seed_3() {
    slow(3);
}

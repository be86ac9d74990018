//! A control unit of clocks and a plant that makes steps in a closed loop, for Co-Simulation (`examples/engine_cs.toml`) and for Model
//! Exchange (`examples/suspension.toml`), on one core and on two.

use super::is_the_same;
use super::program::Rig;
use std::fs;
use std::path::Path;

/// The example of that name, whose control unit is that FMU, with the plant on the core of this number among those that are allowed, and
/// the control unit on that one; with twenty times as much time, so that a machine which stops for milliseconds leaves nothing out.
fn is_the_same_on(example: &str, control_unit: &str, plant: usize, control: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cpus: Vec<usize> = vecud::sys::affinity::allowed_cpus().unwrap().into_iter().collect();
    let on = |name: &str, number: usize| format!("[fmu.{name}]\ncpu = {}", cpus[number % cpus.len()]);
    let fmus = crate::program::tempdir().unwrap();
    let slower = ("intervalDecimal=\"0.001\"", "intervalDecimal=\"0.02\"");
    super::engine::changed(control_unit, fmus.path(), &[slower]);
    // Three seconds: the bump comes at 1 s, and steps only each 20 ms.
    let text = fs::read_to_string(root.join("examples").join(example)).unwrap();
    let own = format!("../fmus/{control_unit}");
    let changes = [
        (own.as_str(), fmus.path().join(control_unit).display().to_string()),
        ("../fmus", root.join("fmus").display().to_string()),
        ("1/1000", "1/50".to_owned()),
        ("stop_time = 10.0", "stop_time = 3.0".to_owned()),
        ("[fmu.plant]", on("plant", plant)),
        ("[fmu.control]", on("control", control)),
    ];
    let text = changes.iter().fold(text, |text, (before, after)| {
        assert!(text.contains(before), "{before}");
        text.replace(before, after)
    });
    is_the_same(example, &Rig::of_text(&text));
}

#[test]
fn on_one_core_it_records_the_bytes_of_virtual_time() {
    is_the_same_on("engine_cs.toml", "engine_control", 0, 0);
}

#[test]
fn on_two_cores_it_records_the_bytes_of_virtual_time() {
    is_the_same_on("engine_cs.toml", "engine_control", 0, 1);
}

/// The wheel leaves the road at the bump, so that events are located within steps.
#[test]
fn what_is_integrated_records_the_bytes_of_virtual_time_on_one_core() {
    is_the_same_on("suspension.toml", "suspension_control", 0, 0);
}

#[test]
fn what_is_integrated_records_the_bytes_of_virtual_time_on_two_cores() {
    is_the_same_on("suspension.toml", "suspension_control", 0, 1);
}

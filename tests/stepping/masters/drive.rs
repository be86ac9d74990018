//! The example of a group with rollback: who has passed an event of another one is taken back to it.

use super::{Outcome, Rig, run};

fn drive(algorithm: &str) -> Outcome {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("examples/drive.toml")).unwrap();
    let text = text.replace("\"rollback\"", &format!("\"{algorithm}\""));
    let text = text.replace("../fmus", root.join("fmus").to_str().unwrap());
    let text = text.replace("stimulus/", &format!("{}/", root.join("examples/stimulus").to_str().unwrap()));
    run(&Rig::of_text(&text), "virtual").exits(0)
}

/// Each gear that is engaged costs one step that is made twice, and a release at its own time.
#[test]
fn the_engine_is_taken_back_to_the_gear() {
    let outcome = drive("rollback");
    let signals = outcome.signals();
    let rows = signals.column("time").into_iter().zip(signals.column("transmission.gear_changed"));
    let gears: Vec<f64> = rows.filter(|(_, tick)| *tick == "1").map(|(time, _)| time.parse().unwrap()).collect();
    let is_on_grid = |time: &&f64| ((*time * 100.0).round() - *time * 100.0).abs() < 1e-9;
    let ticks = gears.iter().filter(|time| !is_on_grid(time)).count() as u64;
    assert!(ticks >= 3, "{gears:?}");
    let releases = outcome.count("engine", "drive", "activations");
    assert_eq!(releases, 1000 + ticks, "the grid of 10 ms, and each gear");
    assert_eq!(outcome.count("engine", "drive", "steps"), releases + ticks);
    assert_eq!(outcome.count("engine", "drive", "taken_back"), ticks);
    assert_eq!(
        outcome.count("transmission", "step", "discarded"),
        0,
        "it has made all of its steps, by another one's task"
    );
}

/// A transmission that says when its clocks tick makes the same drive, and nobody is taken back.
#[test]
fn nobody_is_taken_back_where_events_are_told_beforehand() {
    let (rollback, predictable) = (drive("rollback"), drive("predictable"));
    let rows = |outcome: &Outcome| outcome.file("signals.csv");
    assert_eq!(rows(&rollback), rows(&predictable));
    let releases = predictable.count("engine", "drive", "activations");
    assert_eq!(predictable.count("engine", "drive", "steps"), releases);
    assert_eq!(predictable.count("engine", "drive", "taken_back"), 0);
}

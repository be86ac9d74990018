//! `vecud new fmu`: what it makes runs as it is; what it cannot make it does not begin.

use super::Desk;
use std::os::unix::fs::PermissionsExt;

/// The last value of a column of `signals.csv`; `None`: it has none.
fn last(csv: &str, column: &str) -> Option<f64> {
    let place = csv.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
    let values = csv.lines().skip(1).filter_map(|line| line.split(',').nth(place).filter(|cell| !cell.is_empty()));
    values.last().map(|value| value.parse().unwrap())
}

#[test]
fn a_new_fmu_runs_at_once() {
    let desk = Desk::new();
    let told = desk.does("new fmu wheel");
    assert!(told.ends_with("next: vecud check wheel, vecud run wheel, vecud new rig RIG wheel\n"), "{told}");
    assert_eq!(desk.names(), ["wheel"]);
    let plan = desk.does("check wheel");
    for task in ["on_pulse", "task_1ms", "task_10ms"] {
        assert!(plan.contains(task), "{plan}");
    }
    desk.does("run wheel --mode virtual --out out");
    // Alone nothing ticks on_pulse, so the controller sees no speed.
    let csv = desk.read("out/signals.csv");
    assert_eq!(last(&csv, "wheel.turns"), None);
    assert!(last(&csv, "wheel.speed").unwrap() > 50.0);
}

#[test]
fn with_its_trigger_the_new_fmu_does_what_its_comments_say() {
    let desk = Desk::new();
    desk.does("new fmu wheel");
    desk.does("new rig first wheel");
    desk.does("run first.toml --mode virtual --out out");
    let csv = desk.read("out/signals.csv");
    let [speed, measured] = ["wheel.speed", "wheel.measured_speed"].map(|column| last(&csv, column).unwrap());
    assert!((speed - 20.0).abs() < 0.5 && (measured - speed).abs() < 0.5, "{speed}, measured {measured}");
    assert!((60.0..110.0).contains(&last(&csv, "wheel.turns").unwrap()));
}

/// Nothing in it is against the standard, as far as vecud sees: `--strict` finds nothing, and states can be saved.
#[test]
fn a_new_fmu_keeps_to_the_standard() {
    let desk = Desk::new();
    desk.does("new fmu wheel");
    desk.does("new rig first wheel");
    desk.does("run first.toml --mode virtual --strict --stop-time 1 --save-state half --out out");
    desk.does("run first.toml --mode virtual --strict --restore-state half --out rest");
    desk.does("run first.toml --mode virtual --strict --out whole");
    let [rest, whole] = ["rest", "whole"].map(|out| last(&desk.read(&format!("{out}/signals.csv")), "wheel.speed"));
    assert_eq!(rest, whole);
    let validated = desk.does("validate wheel");
    assert!(!validated.contains("Warnings") && validated.contains("no findings"), "{}", validated);
    let inspected = desk.run("inspect wheel");
    assert_eq!((inspected.code, inspected.stderr.as_str()), (Some(0), ""));
}

#[test]
fn names_that_no_fmu_can_have_are_refused() {
    let desk = Desk::new();
    desk.refuses("new fmu my-fmu", "\"my-fmu\" cannot be the name of an FMU: it must be an identifier of C");
    desk.refuses("new fmu 2nd", "and not begin with a digit, as _2nd\n");
    desk.refuses("new fmu .", "\".\" cannot be the name of an FMU");
    desk.refuses("new fmu no/such/folder", "no/such/folder: No such file or directory");
    desk.refuses("new fmu", "not provided:\n  <NAME>");
    desk.refuses("new", "Usage: vecud new <COMMAND>");
}

#[test]
fn nothing_is_overwritten_and_nothing_is_left_behind() {
    let desk = Desk::new();
    desk.write("wheel", "mine");
    desk.refuses("new fmu wheel", "wheel: is there already, and is not overwritten: choose another name\n");
    assert_eq!(desk.read("wheel"), "mine");
    std::os::unix::fs::symlink("nowhere", desk.path("link")).unwrap();
    desk.refuses("new fmu link", "link: is there already");
    std::fs::create_dir(desk.path("empty")).unwrap();
    desk.refuses("new fmu empty", "empty: is there already");
    // No file may be longer than 0 bytes.
    let script = format!("ulimit -f 0; exec {} new fmu full", env!("CARGO_BIN_EXE_vecud"));
    let full = std::process::Command::new("sh").args(["-c", &script]).current_dir(desk.path(".")).output().unwrap();
    let words = String::from_utf8(full.stderr).unwrap();
    assert_eq!(full.status.code(), Some(2), "{words}");
    assert!(words.contains("full/sources/README.md: File too large"), "{words}");
    assert_eq!(desk.names(), ["empty", "link", "wheel"]);
    let mode = |name: &str| std::fs::metadata(desk.path(name)).unwrap().permissions().mode() & 0o777;
    desk.does("new fmu empty/inner");
    assert_eq!(mode("empty/inner"), mode("empty"), "whoever may read other folders may read this one");
}

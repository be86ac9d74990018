//! `vecud run --set`: start values from the command line come before the rig's, and are as strictly checked.

use super::Desk;

/// A wheel, and a rig that gives it a start value.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.does("new fmu wheel");
    desk.does("new rig first wheel");
    let rig = desk.read("first.toml").replace("# start = { gain = 1.0 }", "start = { gain = 1.0 }");
    assert!(rig.contains("\nstart = { gain = 1.0 }"), "{rig}");
    desk.write("first.toml", &rig);
    desk
}

/// The largest value of a column of `signals.csv`.
fn largest(csv: &str, column: &str) -> f64 {
    let place = csv.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
    let cells = csv.lines().skip(1).filter_map(|line| line.split(',').nth(place)?.parse::<f64>().ok());
    cells.fold(f64::MIN, f64::max)
}

#[test]
fn a_value_from_the_command_line_comes_before_the_rigs() {
    let desk = desk();
    desk.does("run first.toml --mode virtual --out one");
    desk.does("run first.toml --mode virtual --set wheel.gain=4 --set wheel.target=10 --out four");
    assert!(largest(&desk.read("one/signals.csv"), "wheel.speed") < 20.1);
    let four = desk.read("four/signals.csv");
    assert_eq!(largest(&four, "wheel.gain"), 4.0);
    assert_eq!(largest(&four, "wheel.target"), 10.0);
    assert!(largest(&four, "wheel.speed") > 11.0, "it overshoots");
    // Whoever reads the report later knows of it.
    let report: serde_json::Value = serde_json::from_str(&desk.read("four/report.json")).unwrap();
    let notes: Vec<&str> = report["notes"].as_array().unwrap().iter().filter_map(|note| note.as_str()).collect();
    assert!(notes.contains(&"--set wheel.gain=4") && notes.contains(&"--set wheel.target=10"), "{notes:?}");
    // An FMU by itself has the name of its file.
    desk.does("run wheel --mode virtual --stop-time 0.1 --set wheel.gain=4 --out alone");
    assert_eq!(largest(&desk.read("alone/signals.csv"), "wheel.gain"), 4.0);
}

#[test]
fn what_cannot_be_set_names_the_option_and_what_was_meant() {
    let desk = desk();
    for (options, words) in [
        ("--set wheel.gian=2", "--set wheel.gian=2: wheel has no variable \"gian\"; did you mean \"gain\"?\n"),
        ("--set weel.gain=2", "--set weel.gain=2: wheel has no variable \"weel.gain\"; did you mean \"gain\"?\n"),
        ("--set gain", "--set gain: must be written FMU.NAME=VALUE; the rig has the FMUs wheel\n"),
        ("--set wheel.gain=fast", "--set wheel.gain=fast: \"fast\" is no value: write a number"),
        ("--set wheel.gain=true", "--set wheel.gain=true: the start value of wheel.gain must be a number, not true\n"),
        ("--set wheel.gain=-1", "--set wheel.gain=-1: the start value of wheel.gain is -1, below its min 0\n"),
        ("--set wheel.speed=1", "--set wheel.speed=1: wheel.speed cannot be given a start value"),
        ("--set wheel.gain=1 --set wheel.gain=2", "--set wheel.gain=2: the start value of wheel.gain is given twice"),
        ("--set wheel.gain=1 --restore-state x", "cannot be used with"),
        ("--set", "a value is required for '--set <[FMU.]NAME=VALUE>'"),
    ] {
        desk.refuses(&format!("run first.toml --mode virtual {options}"), words);
    }
    // What the rig says must be right, too.
    desk.write("first.toml", &desk.read("first.toml").replace("gain = 1.0", "gain = -1.0"));
    desk.refuses("run first.toml --set wheel.gain=2", "first.toml:");
}

#[test]
fn elements_of_an_array_can_be_set_over_what_the_rig_gives_the_whole() {
    let desk = Desk::new();
    let fmu = super::repository("fmus/matrix_gain");
    let rig = format!(
        "[fmu.m]\npath = '{fmu}'\nstart = {{ K = [10, 20, 30, 40, 50, 60] }}\n[record]\nsignals = ['m.K', 'm.Y']\n"
    );
    desk.write("m.toml", &rig);
    desk.does("run m.toml --mode virtual --stop-time 0.01 --set m.K[1,2]=7 --set m.K[3,:]=[8,9] --out out");
    let first = |out: &str| desk.read(&format!("{out}/signals.csv")).lines().nth(1).unwrap().to_owned();
    assert!(first("out").starts_with("0.0,10.0,7.0,30.0,40.0,8.0,9.0,"), "{}", first("out"));
    desk.does("run m.toml --mode virtual --stop-time 0.01 --set m.K=1 --out whole");
    assert!(first("whole").starts_with("0.0,1.0,1.0,1.0,1.0,1.0,1.0,"), "{}", first("whole"));
    desk.refuses("run m.toml --mode virtual --set m.K[4,1]=7", "--set m.K[4,1]=7: m.K[4,1]: ");
    desk.refuses("run m.toml --mode virtual --set m.K[1,1]=7 --set m.K=[1,2,3,4,5,6]", "is given twice");
}

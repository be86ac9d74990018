//! Runs in parts, and several runs: saved states, `--repeat`.

use super::program::{Outcome, Rig};
use super::{alone, stepper};

fn run(rig: &Rig, arguments: &[&str]) -> Outcome {
    rig.run_with(&[&["--mode", "virtual"], arguments].concat()).exits(0)
}

/// Two that read each other, with steps that meet seldom.
fn pair() -> Rig {
    let fmu = |name: &str, step: &str| format!("[fmu.{name}]\npath = '{}'\nstep = '{step}'\n", stepper().display());
    let connect = "[[connect]]\nfrom = 'a.x'\nto = 'b.a'\n[[connect]]\nfrom = 'b.x'\nto = 'a.b'\n";
    Rig::of_text(&format!("[rig]\nstop_time = 0.2\n[record]\n{}{}{connect}", fmu("a", "3/1000"), fmu("b", "7/1000")))
}

/// Rows of a recording, without the header.
fn rows(outcome: &Outcome) -> Vec<String> {
    outcome.file("signals.csv").lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_run_that_is_cut_anywhere_computes_and_records_the_same() {
    let rig = pair();
    let whole = rows(&run(&rig, &["--stop-time", "0.21"]));
    // On a step of both, of one, of none; the last row of a whole run is that of its stop time.
    for cut in ["0.021", "0.09", "0.1"] {
        let state = rig.folder().join("state");
        let state = state.to_str().unwrap();
        let mut parts = rows(&run(&rig, &["--stop-time", cut, "--save-state", state]));
        parts.extend(rows(&run(&rig, &["--stop-time", "0.21", "--restore-state", state])));
        assert_eq!(parts, whole, "cut at {cut} s");
    }
}

#[test]
fn a_repeated_run_begins_anew() {
    let rig = alone("stop_time = 0.1", "salt = 3", "");
    run(&rig, &["--repeat", "3"]);
    let file = |number: u32| std::fs::read_to_string(rig.out().join(format!("run-{number}/signals.csv"))).unwrap();
    assert_eq!(file(1).lines().count(), 12);
    assert!(file(1) == file(2) && file(1) == file(3));
}

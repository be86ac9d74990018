//! Rows tick clocks of FMUs for Co-Simulation at their instants, between the steps (semantics S22): `fmus/step_clocks` refuses every
//! call that is out of place, and a value of the clock's that is set while it is not active.

use super::program::{Outcome, Rig, cache, real_time};
use super::{Numbers, drive, run};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

fn fmu(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name).display().to_string()
}

/// A rig with `fmus`, and a file that feeds one of them, `s`.
fn fed(stop: &str, fmus: &str, file: &str) -> Rig {
    let fmus = fmus.replace("STEP_CLOCKS", &fmu("step_clocks"));
    let stimulus = if file.is_empty() { "" } else { "[[stimulus]]\nfile = 'drive.csv'\n" };
    let rig = Rig::of_text(&format!("[rig]\nstop_time = {stop}\n[record]\nclocks = true\n{fmus}{stimulus}"));
    std::fs::write(drive(&rig), file).unwrap();
    rig
}

/// What both modes record, which is the same.
fn in_both_modes(test: &str, rig: &Rig) -> Outcome {
    let outcome = run(rig, &["--mode", "virtual"]).exits(0);
    real_time(test, || {
        let in_real_time = run(rig, &["--mode", "realtime"]).exits(0);
        assert_eq!(in_real_time.report()["stimuli"][0]["starved"], 0);
        assert_eq!(in_real_time.file("signals.csv"), outcome.file("signals.csv"));
    });
    outcome
}

/// The instants at which a recorded clock has ticked, and what a column has there.
fn at_ticks(outcome: &Outcome, clock: &str, column: &str) -> Vec<(f64, f64)> {
    let signals = outcome.signals();
    let ticked = signals.column(clock).iter().map(|cell| cell.parse() == Ok(1.0)).collect::<Vec<bool>>();
    let rows = signals.times().into_iter().zip(signals.column(column)).zip(ticked);
    rows.filter(|(_, ticked)| *ticked).map(|((time, cell), _)| (time, cell.parse().unwrap())).collect()
}

/// A file with ticks and what goes with them at any microsecond, some of them on the grid of 10 ms, and rows without; and the ticks of
/// a run up to 0.2 s.
fn drawn(seed: u64) -> (String, Vec<(f64, f64)>) {
    let (mut numbers, mut micros) = (Numbers(seed), -5_000_i32);
    let (mut text, mut ticks) = ("time,s.called,s.message,s.u\n".to_owned(), Vec::new());
    while micros < 210_000 {
        let (ticked, value) = (numbers.below(3) > 0, numbers.below(1000) as f64);
        let time = f64::from(micros) / 1e6;
        writeln!(text, "{time},{},{value},{}", u8::from(ticked), numbers.below(9)).unwrap();
        if ticked && (0..200_000).contains(&micros) {
            ticks.push((time, value));
        }
        micros += match numbers.below(4) {
            0 => 10_000 - micros.rem_euclid(10_000),
            1 => 1 + numbers.below(300) as i32,
            _ => 1 + numbers.below(9_000) as i32,
        };
    }
    (text, ticks)
}

#[test]
fn a_clock_ticks_at_the_instants_of_its_rows_with_their_values_in_both_modes() {
    for seed in 1..4 {
        let (text, ticks) = drawn(seed);
        assert!(ticks.len() > 20, "{}", ticks.len());
        let rig = fed("0.2", "[fmu.s]\npath = 'STEP_CLOCKS'\n", &text);
        let outcome = in_both_modes("a_clock_ticks_at_the_instants_of_its_rows_with_their_values_in_both_modes", &rig);
        assert_eq!(at_ticks(&outcome, "s.called", "s.last_message"), ticks);
        assert_eq!(at_ticks(&outcome, "s.called", "s.message"), ticks);
        // The FMU adds its steps up.
        let called = at_ticks(&outcome, "s.called", "s.last_called");
        assert!(called.iter().all(|(time, called)| (time - called).abs() < 1e-9), "{called:?}");
        assert_eq!(outcome.count("s", "step", "deferred"), 0);
    }
}

/// The same instants as a list in the rig: the same recording.
#[test]
fn a_file_with_nothing_but_ticks_is_as_good_as_a_list() {
    let times = [0.0, 0.002, 0.01, 0.0333, 0.0334, 0.09];
    let text = times.iter().fold("time,s.called\n".to_owned(), |text, time| text + &format!("{time},1\n"));
    let rig = fed("0.1", "[fmu.s]\npath = 'STEP_CLOCKS'\n", &text);
    let outcome = in_both_modes("a_file_with_nothing_but_ticks_is_as_good_as_a_list", &rig);
    let listed = "[fmu.s]\npath = 'STEP_CLOCKS'\n[[trigger]]\nclock = 's.called'\n";
    let listed = fed("0.1", &format!("{listed}at = {times:?}\n"), "");
    let expected = run(&listed, &["--mode", "virtual"]).exits(0);
    assert_eq!(outcome.file("signals.csv"), expected.file("signals.csv"));
}

/// What a run has recorded, ticks included, gives the same when it is replayed; clocks with times of their own have these again.
#[test]
fn a_recording_ticks_them_as_they_have_ticked() {
    let (text, ticks) = drawn(5);
    let first = fed("0.2", "[fmu.s]\npath = 'STEP_CLOCKS'\n", &text);
    let recorded = run(&first, &["--mode", "virtual"]).exits(0);
    let again = "[fmu.s]\npath = 'STEP_CLOCKS'\n[[stimulus]]\nrecording = 'FOLDER'\n";
    let again = fed("0.2", &again.replace("FOLDER", first.out().to_str().unwrap()), "");
    let replayed = in_both_modes("a_recording_ticks_them_as_they_have_ticked", &again);
    assert_eq!(at_ticks(&replayed, "s.called", "s.last_message"), ticks);
    assert_eq!(replayed.file("signals.csv"), recorded.file("signals.csv"));
}

/// What makes its steps together with an FMU that a row ticks has a communication point there, and so has what that FMU ticks.
#[test]
fn a_tick_of_a_row_goes_on_to_whom_it_triggers() {
    let rig = fed(
        "0.1",
        "[fmu.s]\npath = 'STEP_CLOCKS'\n[fmu.b]\npath = 'STEP_CLOCKS'\n[fmu.t]\npath = 'STEP_CLOCKS'\n\
         [[trigger]]\nclock = 'b.called'\nfrom = 's.called'\n[[trigger]]\nclock = 't.called'\nfrom = 'b.later'\n",
        "time,s.called,s.message\n0.0021,1,5\n0.03,1,6\n0.0777,1,7\n",
    );
    let outcome = in_both_modes("a_tick_of_a_row_goes_on_to_whom_it_triggers", &rig);
    let times = |clock: &str| at_ticks(&outcome, clock, clock).into_iter().map(|(time, _)| time).collect::<Vec<_>>();
    assert_eq!((times("s.called"), times("b.called")), (vec![0.0021, 0.03, 0.0777], vec![0.0021, 0.03, 0.0777]));
    assert_eq!(times("t.called"), [0.0064, 0.0343, 0.082]);
}

/// A step of 1 s, and far more rows in it than are read ahead: the run waits for them, and each tick is at its instant.
#[test]
fn ticks_are_known_a_whole_step_ahead_however_many_rows_that_are() {
    let mut text = "time,s.called,s.message,s.u\n0,0,0,0\n1,0,0,1\n".to_owned();
    let mut ticks = Vec::new();
    for i in 0..40_000 {
        let (time, is_tick) = (1.0 + f64::from(i + 1) / 40_000.0, i % 10_000 == 9_998);
        writeln!(text, "{time:.9},{},{i},{}", u8::from(is_tick), i % 7).unwrap();
        if is_tick {
            ticks.push((format!("{time:.9}").parse().unwrap(), f64::from(i)));
        }
    }
    text += "9,1,1,1\n";
    let rig = fed("3", "[fmu.s]\npath = 'STEP_CLOCKS'\nstep = 1\n", &text);
    let outcome = run(&rig, &["--mode", "virtual"]).exits(0);
    assert_eq!(at_ticks(&outcome, "s.called", "s.last_message"), ticks);
}

#[test]
fn a_cut_run_ticks_where_the_uncut_one_does() {
    let (text, ticks) = drawn(7);
    let rig = fed("0.2", "[fmu.s]\npath = 'STEP_CLOCKS'\n", &text);
    let rows = |arguments: &[&str]| {
        let outcome = run(&rig, &[&["--mode", "virtual"], arguments].concat()).exits(0);
        outcome.file("signals.csv").lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = rows(&[]);
    let state = rig.folder().join("state");
    let state = state.to_str().unwrap();
    // On the grid, in the midst of a step, and at a tick.
    for cut in ["0.05".to_owned(), "0.0611".to_owned(), ticks[ticks.len() / 2].0.to_string()] {
        let mut parts = rows(&["--stop-time", &cut, "--save-state", state]);
        parts.extend(rows(&["--restore-state", state]));
        let differs = parts.iter().zip(&whole).find(|(part, whole)| part != whole);
        assert!(parts.len() == whole.len() && differs.is_none(), "cut at {cut}: {differs:?}");
    }
}

/// A step that a tick may have ended which nobody can read is not made; a value that cannot be read is no fault of a tick.
#[test]
fn a_row_that_cannot_be_read_ends_the_run_before_the_step_that_needs_it() {
    let mut text = "time,s.called,s.message\n".to_owned();
    (0..2_000).for_each(|i| writeln!(text, "{},{},{i}", f64::from(i) / 1e4, i % 50 / 49).unwrap());
    let broken = text.clone() + "0.2,1,x\n0.3,1,1\n";
    let rig = |text: &str| fed("0.5", "[fmu.s]\npath = 'STEP_CLOCKS'\n", text);
    let check = |rig: &Rig, last: f64| {
        let of = |outcome: Outcome| {
            let outcome = outcome.exits(1);
            outcome.problem(&["drive.csv:2002:", "the run ended where it"]);
            assert_eq!(outcome.signals().times().last(), Some(&last));
            outcome.file("signals.csv")
        };
        let recorded = of(run(rig, &["--mode", "virtual"]));
        real_time("a_row_that_cannot_be_read_ends_the_run_before_the_step_that_needs_it", || {
            assert_eq!(of(run(rig, &["--mode", "realtime"])), recorded);
        });
    };
    // The row at 0.2 s has a value that nobody understands, and a tick that everybody does.
    check(&rig(&broken), 0.2);
    // Nobody knows when the next row is: the step from the last tick, at 0.1999 s, to 0.2 s is none.
    check(&rig(&(text + "0.1,1,1\n")), 0.1999);
}

#[test]
fn check_shows_what_is_ticked_and_who_has_no_event_mode_is_refused() {
    let rig = fed("0.1", "[fmu.s]\npath = 'STEP_CLOCKS'\n", "time,s.called,s.u\n0,1,1\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("check").arg(rig.file()).env("VECUD_CACHE", cache());
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let words: Vec<String> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for expected in ["drive.csv s.called → s.called ticks", "by s.called of drive.csv, ticks in s.step"] {
        assert!(words.iter().any(|line| line.contains(expected)), "{expected} is not in\n{text}");
    }
    let folder = crate::program::tempdir().unwrap();
    let copy = folder.path().join("modeless");
    assert!(Command::new("cp").arg("-rL").arg(fmu("step_clocks")).arg(&copy).status().unwrap().success());
    let description = copy.join("modelDescription.xml");
    let text = std::fs::read_to_string(&description).unwrap();
    std::fs::write(&description, text.replace("hasEventMode=\"true\"", "")).unwrap();
    let rig = fed("0.1", &format!("[fmu.s]\npath = '{}'\n", copy.display()), "time,s.called\n0,1\n");
    let message =
        "drive.csv:1:6: column 2: s has no Event Mode (hasEventMode), in which alone clocks tick between steps";
    let outcome = run(&rig, &[]).exits(2);
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
}

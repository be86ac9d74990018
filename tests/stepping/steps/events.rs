//! Events of FMUs for Co-Simulation (semantics S22): `fmus/events` refuses every call that is out of place in its mode, a step
//! beyond its next time event, and an iteration that nobody needs.

use super::program::{Rig, real_time};
use super::{numbers, run, stepper};
use std::path::{Path, PathBuf};

fn events() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/events")
}

/// Alone, with these start values, for a second.
fn alone(start: &str) -> Rig {
    Rig::of_text(&format!(
        "[rig]\nstop_time = 1\n[record]\n[fmu.e]\npath = '{}'\nstart = {{ {start} }}\n",
        events().display()
    ))
}

/// Every 15 ms and every 33.3 ms, off the grid of 10 ms, and three iterations each: the initial one too.
#[test]
fn time_and_state_events_come_at_their_instants_in_both_modes() {
    let rig = alone("every = 0.015, early = 0.0333, iterations = 3");
    let outcome = run(&rig, "virtual").exits(0);
    let last = |column: &str| outcome.signals().last(column);
    assert_eq!((last("e.time_events"), last("e.state_events"), last("e.updates")), (66, 30, 3 * 97));
    assert_eq!((last("e.entered"), *numbers(&outcome, "e.last").last().unwrap()), (96, 0.999));
    let step = outcome.clock("e", "step");
    assert_eq!((&step["events"], &step["early_returns"]), (&96.into(), &30.into()));
    real_time("time_and_state_events_come_at_their_instants_in_both_modes", || {
        assert_eq!(run(&rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv"));
    });
}

/// The input is set in Event Mode, which is entered where it has changed and nowhere else; a continuous one needs none.
#[test]
fn a_discrete_input_that_changes_is_an_event() {
    let rig = Rig::of_text(&format!(
        "[rig]\nstop_time = 0.1\n[record]\n[fmu.s]\npath = '{}'\nstep = '1/50'\n[fmu.e]\npath = '{}'\n\
         [[connect]]\nfrom = 's.n'\nto = 'e.d'\n[[connect]]\nfrom = 's.x'\nto = 'e.u'\n",
        stepper().display(),
        events().display()
    ));
    let outcome = run(&rig, "virtual").exits(0);
    // Of 20 ms each: visible at its end, seen in an iteration then, and that is recorded: the last value of the instant.
    assert_eq!(numbers(&outcome, "e.d_seen"), [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0]);
    assert_eq!(outcome.signals().last("e.entered"), 4);
    let area: f64 = (0..10).map(|k| 0.01 * numbers(&outcome, "e.u")[k]).sum();
    assert!((numbers(&outcome, "e.sum").last().unwrap() - area).abs() < 1e-12);
}

#[test]
fn events_that_do_not_settle_are_an_error_of_the_fmu() {
    let outcome = run(&alone("iterations = 1000"), "virtual").exits(1);
    outcome.problem(&[
        "fmi3UpdateDiscreteStates gave no end of an event: after 100 iterations it still asks for another one, at 0 s",
    ]);
    // A hundred are made.
    let outcome = run(&alone("iterations = 100"), "virtual").exits(0);
    assert_eq!(outcome.signals().last("e.updates"), 100);
}

/// No Event Mode at the stop time, after which nothing follows.
#[test]
fn an_event_at_the_stop_time_is_not_handled() {
    let outcome = run(&alone("every = 0.25"), "virtual").exits(0);
    assert_eq!((outcome.signals().last("e.time_events"), outcome.signals().last("e.entered")), (3, 3));
}

/// A state knows when the next event is.
#[test]
fn a_run_that_is_cut_between_two_events_goes_on_with_the_next_one() {
    let rig = alone("every = 0.015, early = 0.0333, iterations = 3");
    let state = rig.folder().join("state");
    let state = state.to_str().unwrap();
    let rows = |arguments: &[&str]| {
        let outcome = rig.run_with(&[&["--mode", "virtual"], arguments].concat()).exits(0);
        outcome.file("signals.csv").lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut parts = rows(&["--stop-time", "0.42", "--save-state", state]);
    parts.extend(rows(&["--stop-time", "1", "--restore-state", state]));
    assert_eq!(parts, rows(&["--stop-time", "1"]));
}

/// FMI 3.0.2, 2.3.4: what follows `terminateSimulation` is fmi3Terminate. The FMU refuses to be brought out of Event Mode and to step.
#[test]
fn event_mode_is_not_left_any_more_when_the_end_was_asked_for_there() {
    for (ends, time) in [("ends = 1", 0.0), ("ends = 3", 0.03), ("ends = 3, iterations = 2", 0.015)] {
        let rig = alone(&format!("every = 0.015, {ends}"));
        let ends_well = |mode| {
            let outcome = run(&rig, mode).exits(0);
            assert_eq!((outcome.finding("e", "asked_for_end"), outcome.status("e").as_str()), (Some(1), "terminated"));
            assert_eq!(outcome.report()["end_time"], time, "{ends}, {mode}");
        };
        ends_well("virtual");
        real_time("event_mode_is_not_left_any_more_when_the_end_was_asked_for_there", || ends_well("realtime"));
    }
}

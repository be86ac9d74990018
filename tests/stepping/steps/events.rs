//! Events of FMUs for Co-Simulation (semantics S22): `fmus/events` refuses every call that is out of place in its mode, a step
//! beyond its next time event, and an iteration that nobody needs.

use super::equations::changed;
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

/// So it is where time hardly goes on from one time event to the next: after many of these, what is told is handled at the ends of steps.
#[test]
fn time_events_by_which_time_hardly_goes_on_have_an_end() {
    let rig = alone("every = 0.015, exact = 1, creep = 1");
    let state = rig.folder().join("state");
    let state = state.to_str().unwrap();
    let outcome = rig.run_with(&["--mode", "virtual", "--save-state", state, "--stop-time", "0.1"]).exits(0);
    // At 15 ms, and at the instants of the grid from 20 ms on.
    assert_eq!(outcome.signals().last("e.time_events"), 1001 + 8);
    assert_eq!(outcome.finding("e", "creeping_time"), Some(1 + 8));
    let told = "fmu `e`: told 9 time events more after 1000 in a row that time has hardly gone on for (nextEventTime): each of them was";
    outcome.problem(&[told, "handled at the end of its step", "first", "at 0.01500000000"]);
    let outcome = rig.run_with(&["--mode", "virtual", "--restore-state", state, "--stop-time", "0.2"]).exits(0);
    assert_eq!(outcome.signals().last("e.time_events"), 1001 + 8 + 10);
    real_time("time_events_by_which_time_hardly_goes_on_have_an_end", || {
        // A thousand releases may take longer than there is until the next instant.
        let outcome = rig.run_with(&["--stop-time", "0.1"]).exits(0);
        assert!((1002..=1001 + 8).contains(&outcome.signals().last("e.time_events")));
    });
}

/// A state knows which jumps were seen: at a release beside the grid, and at none, since the source has come first.
#[test]
fn a_run_that_is_cut_beside_a_jump_sees_it_once() {
    for (timing, every) in [("delayed", 0.0331), ("immediate", 0.035)] {
        let rig = Rig::of_text(&format!(
            "[rig]\nstop_time = 0.1\n[record]\n[fmu.s]\npath = '{0}'\nstart = {{ every = {every} }}\n[fmu.e]\npath = '{0}'\n\
             start = {{ every = 0.0333 }}\n[[connect]]\nfrom = 's.last'\nto = 'e.u'\ntiming = '{timing}'\n",
            events().display()
        ));
        let state = rig.folder().join("state");
        let state = state.to_str().unwrap();
        let rows = |arguments: &[&str]| {
            let outcome = rig.run_with(&[&["--mode", "virtual"], arguments].concat()).exits(0);
            outcome.file("signals.csv").lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        let mut parts = rows(&["--stop-time", "0.04", "--save-state", state]);
        parts.extend(rows(&["--stop-time", "0.1", "--restore-state", state]));
        assert_eq!(parts, rows(&["--stop-time", "0.1"]), "{timing}");
    }
}

/// FMI 3.0.2, 2.3.4: what follows `terminateSimulation` is fmi3Terminate. The FMU refuses to be brought out of Event Mode and to step.
#[test]
fn event_mode_is_not_left_any_more_when_the_end_was_asked_for_there() {
    for (ends, time) in [("ends = 1", 0.0), ("ends = 3", 0.03), ("ends = 3, iterations = 2", 0.015)] {
        let rig = alone(&format!("every = 0.015, {ends}"));
        let ends_well = |mode| {
            let outcome = run(&rig, mode).exits(0);
            assert_eq!((outcome.finding("e", "asked_for_end"), outcome.status("e").as_str()), (Some(1), "terminated"));
            assert_eq!(outcome.signals().times().last(), Some(&time), "{ends}, {mode}");
        };
        ends_well("virtual");
        real_time("event_mode_is_not_left_any_more_when_the_end_was_asked_for_there", || ends_well("realtime"));
    }
}

/// A `nextEventTime` that is the time of the event brings Event Mode once more at that time, before the next step; one that is still told
/// then is a finding, and is handled at the next communication point, where the FMU tells the one after it.
#[test]
fn an_event_at_the_same_time_follows_at_once() {
    for (again, updates, findings) in [(1, 1 + 2 * 9, None), (2, 1 + 4 * 9, Some(9))] {
        let rig = alone(&format!("every = 0.1, again = {again}"));
        let outcome = run(&rig, "virtual").exits(0);
        let last = |column: &str| outcome.signals().last(column);
        assert_eq!((last("e.updates"), last("e.time_events")), (updates, 9), "{again}");
        assert_eq!(last("e.idle"), findings.unwrap_or(0), "{again}: those at the next point");
        assert_eq!(outcome.finding("e", "past_event"), findings, "{again}");
        assert_eq!(outcome.clock("e", "step")["events"], updates - 1, "{again}");
        // Each instant has one row, as without that.
        assert_eq!(outcome.signals().times().len(), 101);
        real_time("an_event_at_the_same_time_follows_at_once", || {
            assert_eq!(run(&rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv"));
        });
    }
}

/// Times of events are products, k · 0.1: one in three is a unit in the last place after the instant of the grid that it belongs to, or after
/// the row of a stimulus. There the FMU, which takes nothing for rounding, is told the time of its event, and has no Event Mode for nothing.
#[test]
fn an_event_beside_an_instant_of_the_grid_is_at_that_instant() {
    let constant = ("modelDescription.xml", "canHandleVariableCommunicationStepSize=\"true\"", "");
    for (step, changes) in [("1/10", &[][..]), ("1/5", &[]), ("1/10", &[constant])] {
        let rig = Rig::of_text(&format!(
            "[rig]\nstop_time = 10\n[record]\nsignals = ['e.*']\n[fmu.e]\npath = 'events'\nstep = '{step}'\n\
             start = {{ every = 0.1, exact = 1 }}\n"
        ));
        changed(&rig, "events", changes);
        let outcome = run(&rig, "virtual").exits(0);
        let last = |column: &str| outcome.signals().last(column);
        // That of the stop time is not handled.
        assert_eq!((last("e.time_events"), last("e.entered"), last("e.idle")), (99, 99, 0), "{step}");
        // The row of an instant has what its event has made.
        let third = outcome.signals().times().iter().position(|time| *time == 0.3);
        if let Some(third) = third {
            assert_eq!(numbers(&outcome, "e.time_events")[third], 3.0);
        }
        assert_eq!(outcome.signals().times().iter().filter(|time| (**time - 0.3).abs() < 1e-9).count(), 1, "{step}");
    }
}

/// A rig of `events` whose input `u` is fed like this, over steps of 100 ms for a second.
fn fed(text: &str) -> Rig {
    Rig::of_text(&format!(
        "[rig]\nstop_time = 1\n[record]\nsignals = ['e.*']\n[fmu.e]\npath = '{}'\nstep = '1/10'\n{text}",
        events().display()
    ))
}

/// How often Event Mode was entered, `u` in the last iteration, and how often it was another one in Step Mode; the same in both modes.
fn jumps(rig: &Rig, name: &str) -> (u64, f64, u64) {
    let outcome = run(rig, "virtual").exits(0);
    real_time(name, || {
        assert_eq!(run(rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv"));
    });
    let last = |column: &str| *numbers(&outcome, column).last().unwrap();
    (last("e.entered") as u64, last("e.u_seen"), last("e.changes") as u64)
}

/// FMI 3.0.2, 4.1.1: a continuous input that jumps is set in Event Mode. What a file holds, or a discrete output hands on, does nothing but jump;
/// what is on lines does not. The step before has the left value.
#[test]
fn a_continuous_input_that_jumps_is_set_in_event_mode() {
    let test = "a_continuous_input_that_jumps_is_set_in_event_mode";
    let stimulus = |interpolation: &str, rows: &str| {
        let rig = fed(&format!(
            "[[stimulus]]\nfile = 'in.csv'\ninterpolation = '{interpolation}'\ncolumns = {{ 'e.u' = 'u' }}\n"
        ));
        std::fs::write(rig.folder().join("in.csv"), format!("time,u\n{rows}")).unwrap();
        rig
    };
    let held = stimulus("hold", "0,0\n0.3,5\n0.45,2\n0.75,2\n0.8,2\n");
    assert_eq!(jumps(&held, test), (2, 2.0, 0));
    let outcome = run(&held, "virtual");
    let sum = *numbers(&outcome, "e.sum").last().unwrap();
    assert!((sum - (0.15 * 5.0 + 0.55 * 2.0)).abs() < 1e-12, "{sum}");
    // A row beside the grid that changes something is a communication point, with a row of the recording; another one is none.
    let times = outcome.signals().times();
    assert!(times.contains(&0.45) && !times.contains(&0.75), "{times:?}");
    // It starts with the value of the first row.
    assert_eq!(jumps(&stimulus("linear", "0,1\n2,21\n"), test), (0, 1.0, 9));

    let switch = fed(&format!(
        "[fmu.t]\npath = '{}'\nstep = '1/10'\n[[connect]]\nfrom = 't.on'\nto = 'e.u'\n\
         [[stimulus]]\nfile = 'in.csv'\ncolumns = {{ 't.u' = 'u' }}\n",
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/threshold").display()
    ));
    std::fs::write(switch.folder().join("in.csv"), "time,u\n0,0\n0.3,1\n0.6,0\n").unwrap();
    // The first value that comes is a change, as of a discrete input.
    assert_eq!(jumps(&switch, test), (3, 0.0, 0));
}

/// What jumps in an event of its source jumps where that is seen next; samples of a continuous output do not.
#[test]
fn a_jump_of_another_fmu_is_one_of_the_input_that_it_feeds() {
    let test = "a_jump_of_another_fmu_is_one_of_the_input_that_it_feeds";
    let source = |start: &str, output: &str, timing: &str| {
        fed(&format!(
            "[fmu.s]\npath = '{}'\nstep = '1/10'\nstart = {{ {start} }}\n\
             [[connect]]\nfrom = 's.{output}'\nto = 'e.u'\ntiming = '{timing}'\n",
            events().display()
        ))
    };
    for start in ["every = 0.25", "early = 0.25"] {
        assert_eq!(jumps(&source(start, "last", "delayed"), test), (3, 0.75, 0), "{start}");
    }
    assert_eq!(jumps(&source("u = 2", "sum", "delayed"), test).0, 0);
    // Whoever comes first decides what is seen at one time: in virtual time the order of the rig.
    let immediate = run(&source("every = 0.25", "last", "immediate"), "virtual").exits(0);
    let last = |column: &str| *numbers(&immediate, column).last().unwrap();
    assert_eq!((last("e.entered"), last("e.u_seen"), last("e.changes")), (3.0, 0.75, 0.0));
}

/// Of an array of which some elements are continuous and others are held, or come from something discrete, only those make it jump.
#[test]
fn an_array_jumps_with_those_of_its_elements_that_do() {
    let stimulus = |column: &str, interpolation: &str, file: &str| {
        format!("[[stimulus]]\nfile = '{file}'\ninterpolation = '{interpolation}'\ncolumns = {{ '{column}' = 'u' }}\n")
    };
    let line = stimulus("e.w[1]", "linear", "line.csv");
    let written = |rig: &Rig| {
        std::fs::write(rig.folder().join("line.csv"), "time,u\n0,0\n2,20\n").unwrap();
        std::fs::write(rig.folder().join("steps.csv"), "time,u\n0,0\n0.3,5\n0.5,5\n0.7,2\n").unwrap();
    };
    let held = fed(&(line.clone() + &stimulus("e.w[2]", "hold", "steps.csv")));
    // An FMU without Event Mode, whose output is another one after each step.
    let discrete =
        fed(&format!("{line}[fmu.s]\npath = 'stepper'\nstep = '3/10'\n[[connect]]\nfrom = 's.x'\nto = 'e.w[2]'\n"));
    let variability = ("name=\"x\" valueReference=\"20\"", "name=\"x\" valueReference=\"20\" variability=\"discrete\"");
    changed(&discrete, "stepper", &[("modelDescription.xml", variability.0, variability.1)]);
    for (rig, entered) in [(held, 2.0), (discrete, 3.0)] {
        written(&rig);
        let outcome = run(&rig, "virtual").exits(0);
        let last = |column: &str| *numbers(&outcome, column).last().unwrap();
        assert_eq!((last("e.entered"), last("e.w_changes")), (entered, 0.0));
        assert_eq!(last("e.w_seen"), last("e.w[2]"));
        // A run that goes on has seen what there was.
        let state = rig.folder().join("state");
        let part = |arguments: &[&str]| rig.run_with(&[&["--mode", "virtual"], arguments].concat()).exits(0);
        part(&["--stop-time", "0.4", "--save-state", state.to_str().unwrap()]);
        let rest = part(&["--restore-state", state.to_str().unwrap()]);
        assert_eq!(*numbers(&rest, "e.entered").last().unwrap(), entered);
    }
}

/// Rows of a file beside the grid, which an input holds, are seen at the next instant of the grid where steps are constant, or there is no Event
/// Mode: the step is the rig's word there, and nobody knows how many rows there are in one.
#[test]
fn held_rows_beside_the_grid_wait_for_it_where_steps_or_events_are_not_to_be_had() {
    let constant = ("modelDescription.xml", "canHandleVariableCommunicationStepSize=\"true\"", "");
    let foretelling = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/foretelling");
    let of_fmi2 = format!("path = '{}'\nstart = {{ lie = 7 }}", foretelling.display());
    for (fmu, changes, sum) in [("path = 'events'", &[constant][..], "e.sum"), (of_fmi2.as_str(), &[], "e.y")] {
        let rig = Rig::of_text(&format!(
            "[rig]\nstop_time = 1\n[record]\n[fmu.e]\n{fmu}\nstep = '1/10'\n[[stimulus]]\nfile = 'in.csv'\ncolumns = {{ 'e.u' = 'u' }}\n"
        ));
        changed(&rig, "events", changes);
        std::fs::write(rig.folder().join("in.csv"), "time,u\n0,0\n0.3,5\n0.45,2\n").unwrap();
        let outcome = run(&rig, "virtual").exits(0);
        assert_eq!(outcome.signals().times().len(), 11);
        let sum = *numbers(&outcome, sum).last().unwrap();
        assert!((sum - (0.2 * 5.0 + 0.5 * 2.0)).abs() < 1e-12, "{sum}");
    }
}

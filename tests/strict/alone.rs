//! One strict FMU, in every way in which it is run, with values that are worked out by hand.

use crate::fmu::{ALL, CS3, ME1, Ran, Strict, Way, Wrong, alone, rig_until};
use crate::program::{real_time, tempdir};
use std::fs;

/// A time event every 20 ms, and every 32 ms a state event that takes x back to 0.
const EVENTS: &str = "u=1.0, rise=0.032, every=0.02";

/// What those events come to at each row. At the stop time `run` enters no Event Mode.
fn look(wrong: &mut Wrong, way: Way, fmu: Strict, ran: &Ran) {
    wrong.look(ran, |found| {
        for row in 1..=10 {
            let time = f64::from(row) / 100.0;
            let own = |name: &str| ran.at(time, name);
            let state_events = (time / 0.032).floor();
            let is_left = row == 10 && way != Way::Simulate && fmu.shows_events;
            let events = f64::from(row / 2) + state_events - f64::from(u8::from(is_left));
            let x = time - state_events * 0.032;
            let at = |name: &str| format!("{name} at {time}");
            found.same(&at("y"), own("y"), 2.0 * x);
            found.same(&at("aux"), own("aux"), x);
            found.same(&at("n"), own("n"), events);
            found.same(&at("entered"), own("entered"), if fmu.shows_events { events } else { 0.0 });
            if fmu.version == 1 {
                found.same(&at("minus_y"), own("minus_y"), -2.0 * x);
            }
        }
    });
}

#[test]
fn a_life_with_time_events_and_state_events_is_made_of_calls_in_their_places() {
    let mut wrong = Wrong::default();
    for fmu in ALL {
        for way in [Way::Simulate, Way::Virtual] {
            look(&mut wrong, way, fmu, &alone(way, fmu, EVENTS, ""));
        }
    }
    wrong.none();
}

#[test]
fn a_life_in_real_time_is_made_of_calls_in_their_places() {
    real_time("a_life_in_real_time_is_made_of_calls_in_their_places", || {
        let mut wrong = Wrong::default();
        for fmu in ALL {
            look(&mut wrong, Way::RealTime, fmu, &alone(Way::RealTime, fmu, EVENTS, ""));
        }
        wrong.none();
    });
}

/// Each solver ends its steps in its own way.
#[test]
fn every_solver_completes_its_steps_and_enters_event_mode_behind_them() {
    let mut wrong = Wrong::default();
    for fmu in ALL.into_iter().filter(|fmu| fmu.equations) {
        for solver in ["euler", "rk4", "dopri5", "bdf"] {
            let ran = alone(Way::Simulate, fmu, EVENTS, &format!("--solver {solver}"));
            look(&mut wrong, Way::Simulate, fmu, &ran);
        }
    }
    wrong.none();
}

/// Grid instants are rounded, and so are the FMU's own: 0.06 + 0.01 is less than 0.07.
#[test]
fn a_time_event_at_every_grid_instant_is_handled_there_and_nowhere_else() {
    let mut wrong = Wrong::default();
    for fmu in ALL {
        for way in [Way::Simulate, Way::Virtual] {
            let ran = alone(way, fmu, "u=1.0, every=0.01", "");
            let last = if fmu.shows_events && way == Way::Virtual { 9.0 } else { 10.0 };
            wrong.look(&ran, |found| {
                (1..10).for_each(|row| found.same("n", ran.at(f64::from(row) / 100.0, "n"), f64::from(row)));
                found.same("n at the end", ran.at(0.1, "n"), last);
            });
        }
    }
    wrong.none();
}

/// Two rows of one time. FMUs that see events have an Event Mode there, also where nothing but a continuous input jumps.
#[test]
fn inputs_that_jump_are_set_in_event_mode_where_there_is_one() {
    let folder = tempdir().unwrap();
    let both = folder.path().join("both.csv");
    fs::write(&both, "time,u,d\n0,0,0\n0.045,1,0\n0.045,2,1\n0.1,2,1\n").unwrap();
    let continuous = folder.path().join("continuous.csv");
    fs::write(&continuous, "time,u\n0,0\n0.045,1\n0.045,2\n0.1,2\n").unwrap();
    let mut wrong = Wrong::default();
    for fmu in ALL {
        for (file, slope) in [(&both, 3.0), (&continuous, 2.0)] {
            let ran = alone(Way::Simulate, fmu, "", &format!("-i {}", file.display()));
            // On the line of the file, or held over each step: 10 ms with 0, 2/9, 4/9 and 6/9, and 5 ms with 8/9.
            let before = if fmu.equations { 0.0225 } else { 0.01 * 12.0 / 9.0 + 0.005 * 8.0 / 9.0 };
            wrong.look(&ran, |found| {
                found.same("y", ran.at(0.1, "y"), 2.0 * (before + 0.055 * slope));
                found.same("entered", ran.at(0.1, "entered"), f64::from(u8::from(fmu.shows_events)));
                found.same("seen", ran.at(0.1, "seen"), if fmu.shows_events { 2.0 } else { 0.0 });
            });
        }
    }
    wrong.none();
}

/// A discrete input of a stimulus changes between two grid instants.
#[test]
fn a_discrete_input_of_a_stimulus_is_set_in_event_mode_where_there_is_one() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("steps.csv");
    fs::write(&file, "time,s.d\n0,0\n0.045,1\n").unwrap();
    let mut wrong = Wrong::default();
    for fmu in ALL {
        let ran = alone(Way::Virtual, fmu, "u=1.0", &format!("[[stimulus]]\nfile = '{}'\n", file.display()));
        wrong.look(&ran, |found| {
            found.same("d", ran.at(0.1, "d"), 1.0);
            found.same("entered", ran.at(0.1, "entered"), f64::from(u8::from(fmu.shows_events)));
        });
    }
    wrong.none();
}

/// x' = 2 u + d = 2.5, from 0.01 on.
#[test]
fn start_values_of_states_inputs_and_parameters_are_set_where_they_may_be() {
    let mut wrong = Wrong::default();
    for fmu in ALL {
        for way in [Way::Simulate, Way::Virtual] {
            let ran = alone(way, fmu, "x=0.01, u=1.0, d=0.5, gain=2.0, rise=5.0", "");
            wrong.look(&ran, |found| {
                found.same("y at the start", ran.at(0.0, "y"), 0.02);
                found.same("y", ran.at(0.1, "y"), 0.52);
            });
        }
    }
    wrong.none();
}

/// What has no Event Mode by the importer's own wish.
#[test]
fn what_is_not_agreed_on_is_not_used() {
    let mut wrong = Wrong::default();
    for more in [
        "--event-mode-used false",
        "--early-return-allowed false",
        "--event-mode-used false --early-return-allowed false",
    ] {
        let ran = alone(Way::Simulate, CS3, EVENTS, more);
        wrong.look(&ran, |found| found.same("n", ran.at(0.08, "n"), 6.0));
    }
    wrong.none();
}

/// Where an FMU can be taken back, it is asked to go on from there.
#[test]
fn a_state_is_taken_and_given_back_where_the_standard_allows_it() {
    let folder = tempdir().unwrap();
    let state = folder.path().join("state");
    let mut wrong = Wrong::default();
    for fmu in ALL.into_iter().filter(|fmu| fmu.version > 1 && !fmu.shows_events) {
        let first = format!("--stop-time 0.05 --final-fmu-state-file {}", state.display());
        wrong.look(&alone(Way::Simulate, fmu, "u=1.0, every=0.02", &first), |_| ());
        let second = format!("--start-time 0.05 --stop-time 0.1 --initial-fmu-state-file {}", state.display());
        let ran = alone(Way::Simulate, fmu, "", &second);
        wrong.look(&ran, |found| {
            found.same("y", ran.at(0.1, "y"), 0.2);
            found.same("n", ran.at(0.1, "n"), 5.0);
        });
    }
    wrong.none();
}

/// FMI 1.0 has no functions for it.
#[test]
fn a_run_that_goes_on_from_a_saved_state_makes_the_calls_that_follow_on_it() {
    let folder = tempdir().unwrap();
    let mut wrong = Wrong::default();
    for fmu in ALL.into_iter().filter(|fmu| fmu.version > 1) {
        let tables = fmu.table("s", EVENTS, "step = '1/100'") + "[record]\nsignals = ['s.y', 's.n']\n";
        let state = folder.path().join(format!("{fmu:?}"));
        let state = state.to_str().unwrap();
        let first = rig_until(0.05, Way::Virtual, &format!("{fmu:?} first"), &tables, &["--save-state", state]);
        wrong.look(&first, |_| ());
        let second = rig_until(0.1, Way::Virtual, &format!("{fmu:?} then"), &tables, &["--restore-state", state]);
        wrong.look(&second, |found| {
            found.same("y", second.at(0.1, "y"), 0.008);
            found.same("n", second.at(0.1, "n"), if fmu.shows_events { 7.0 } else { 8.0 });
        });
    }
    wrong.none();
}

/// FMI 1.0 has no function for it in Model Exchange.
#[test]
fn an_fmu_that_is_reset_begins_its_life_anew() {
    let mut wrong = Wrong::default();
    for fmu in ALL.into_iter().filter(|fmu| *fmu != ME1) {
        let tables = fmu.table("s", EVENTS, "step = '1/100'");
        let ran = rig_until(0.1, Way::Virtual, &format!("{fmu:?}, thrice"), &tables, &["--repeat", "3"]);
        wrong.look(&ran, |_| ());
    }
    wrong.none();
}

#[test]
fn validation_of_an_fmu_makes_no_call_out_of_place() {
    for fmu in ALL {
        let place = crate::simulated::Place::new();
        let results = place.path("results");
        fs::create_dir(&results).unwrap();
        let output = place.command_of("validate", &fmu.path(), &[]).env("STRICT_RESULTS", &results).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let books = crate::fmu::books(&results);
        assert!(!books.is_empty());
        for (name, book) in books {
            assert!(book.lines().all(|line| line == "freed in Terminated"), "{fmu:?}, {name}: {book}");
        }
    }
}

//! What FMUs may demand of their importer, on a strict FMU alone.

use crate::fmu::{ALL, CS1, CS2, CS3, PLAIN3, Ran, Strict, Way, Wrong, alone};
use crate::program::real_time;

const EVENTS: &str = "u=1.0, every=0.02";

/// Looks at a demand of several FMUs in both ways that are no real time.
fn all(fmus: impl IntoIterator<Item = Strict>, demand: &str, look: impl Fn(&mut Wrong, Way, Strict, &Ran)) {
    let mut wrong = Wrong::default();
    for fmu in fmus {
        for way in [Way::Simulate, Way::Virtual] {
            look(&mut wrong, way, fmu, &alone(way, fmu, &format!("{EVENTS}, {demand}"), ""));
        }
    }
    wrong.none();
}

/// Time events at 0.02, 0.04, 0.06 and 0.08, and at the end where it is handled; Event Mode as often, and `more` times.
fn events_as_without(wrong: &mut Wrong, way: Way, fmu: Strict, ran: &Ran, more: f64) {
    let events = if fmu.shows_events && way != Way::Simulate { 4.0 } else { 5.0 };
    wrong.look(ran, |found| {
        found.same("y", ran.at(0.1, "y"), 0.2);
        found.same("n", ran.at(0.1, "n"), events);
        found.same("entered", ran.at(0.1, "entered"), if fmu.shows_events { events + more } else { 0.0 });
    });
}

/// FMI 3.0.2, 2.3.5: the importer must call fmi3Terminate. The event after 0.05 s is at 0.06 s.
#[test]
fn what_asks_for_the_end_is_terminated_and_nothing_else() {
    // FMI 1.0 has no such word in Co-Simulation.
    all(ALL.into_iter().filter(|fmu| *fmu != CS1), "demand=1, when=0.05", |wrong, _, fmu, ran| {
        let end = if fmu.shows_events { 0.06 } else { 0.05 };
        wrong.look(ran, |found| found.same("the end", ran.times().last().copied().unwrap_or(f64::NAN), end));
    });
}

#[test]
fn what_asks_for_the_end_in_real_time_is_terminated_and_nothing_else() {
    real_time("what_asks_for_the_end_in_real_time_is_terminated_and_nothing_else", || {
        let mut wrong = Wrong::default();
        for fmu in ALL.into_iter().filter(|fmu| *fmu != CS1) {
            wrong.look(&alone(Way::RealTime, fmu, &format!("{EVENTS}, demand=1, when=0.05"), ""), |_| ());
        }
        wrong.none();
    });
}

/// FMI 3.0.2, 2.3.5: the importer computes up to `nextEventTime` and then enters Event Mode, also where that is now.
#[test]
fn a_time_event_that_is_due_at_once_is_handled_at_once() {
    all(ALL.into_iter().filter(|fmu| fmu.shows_events), "demand=2, when=0.04", |wrong, way, fmu, ran| {
        events_as_without(wrong, way, fmu, ran, 1.0);
    });
}

#[test]
fn a_time_event_a_unit_in_the_last_place_before_a_grid_instant_is_handled_once() {
    all(ALL, "demand=3", |wrong, way, fmu, ran| events_as_without(wrong, way, fmu, ran, 0.0));
}

/// FMI 3.0.2, 4.2.1: the next step begins where the last one has come to.
#[test]
fn a_step_that_returns_early_is_gone_on_with_from_there() {
    all([CS3], "demand=4, when=0.055", |wrong, way, fmu, ran| {
        events_as_without(wrong, way, fmu, ran, 0.0);
        wrong.look(ran, |found| found.same("y there", ran.at(0.055, "y"), 0.11));
    });
}

/// FMI 2.0.5, 4.2.2 and 4.2.4: it is made again from the state at its begin, and not gone on with.
#[test]
fn a_step_of_fmi_2_that_is_discarded_is_made_again_from_the_state_before_it() {
    all([CS2], "demand=4, when=0.055", |wrong, way, fmu, ran| events_as_without(wrong, way, fmu, ran, 0.0));
}

/// FMI 3.0.2, 4.2.1: after fmi3Discard the FMU is in the state from before the call.
#[test]
fn a_step_of_fmi_3_that_is_discarded_is_made_in_smaller_ones() {
    all([CS3, PLAIN3], "demand=5, when=0.05", |wrong, way, fmu, ran| events_as_without(wrong, way, fmu, ran, 0.0));
}

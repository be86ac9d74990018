//! What a model refuses, or answers with what is no number.

use super::*;
use crate::Answer;

const METHODS: [Method; 5] = [
    Method::Euler { internal_step: 0.25 },
    Method::Rk4 { internal_step: 0.25 },
    Method::Dopri5 { tolerance: 1e-4 },
    Method::Bdf { tolerance: 1e-4 },
    Method::Auto { tolerance: 1e-4 },
];

/// A tank that runs empty, x' = -sqrt(x), whose derivative is refused where there is nothing: its closed form is (1 - t/2)².
fn tank(_: f64, x: &[f64], dx: &mut [f64]) -> Answered {
    if x[0] < 0.0 {
        return Err(ModelError::Discard("an empty tank"));
    }
    dx[0] = -x[0].sqrt();
    Ok(())
}

#[test]
fn steps_shrink_where_the_model_refuses_what_is_beyond() {
    for method in METHODS {
        let mut model = smooth(tank);
        let mut drive = started(method, &mut model, &[1.0], 0);
        // As far as there is something in it: Euler's tank is empty earlier than it should be.
        let stopped = drive.to(&mut model, &Goal::end(0.0, 2.5), &mut PLENTY.clone()).unwrap_err();
        assert!(matches!(stopped, Stopped::Refused { .. }), "{stopped:?}");
        assert!(drive.counts().discarded > 15, "{:?}", drive.counts());
        assert!(drive.states()[0] >= 0.0 && drive.states()[0] < 1e-6, "{:?}", drive.states());
    }
}

#[test]
fn a_wall_is_approached_and_then_named() {
    for method in METHODS {
        // x' = 1, and nothing is said of x > 1.
        let mut model = smooth(|_, x, dx| {
            dx[0] = 1.0;
            if x[0] > 1.0 { Err(ModelError::Discard("beyond")) } else { Ok(()) }
        });
        let mut drive = started(method, &mut model, &[0.1], 0);
        let stopped = drive.to(&mut model, &Goal::end(0.0, 2.0), &mut PLENTY.clone()).unwrap_err();
        let Stopped::Refused { t, failure: "beyond" } = stopped else { panic!("{stopped:?}") };
        assert!(t > drive.time() && t - drive.time() < 0.25 / 1000.0 && drive.time() > 0.899, "{stopped:?}");
        assert!(drive.counts().discarded >= 10 && drive.counts().discarded < 200, "{:?}", drive.counts());
        assert!(stopped.to_string().ends_with(" s, with steps made smaller again and again: beyond"), "{stopped}");
    }
}

#[test]
fn a_failure_is_not_tried_again() {
    let asked = std::cell::Cell::new(0);
    let mut model = smooth(|t, _, dx| {
        asked.set(asked.get() + 1);
        dx[0] = 1.0;
        if t > 0.3 { Err(ModelError::Failed("broken")) } else { Ok(()) }
    });
    let mut drive = started(METHODS[0], &mut model, &[0.0], 0);
    let stopped = drive.to(&mut model, &Goal::end(0.0, 2.0), &mut PLENTY.clone()).unwrap_err();
    assert_eq!(stopped, Stopped::Failed { t: 0.5, failure: "broken" });
    assert_eq!(stopped.to_string(), "at 0.5 s: broken");
    assert_eq!((drive.time(), asked.get()), (0.25, 3));
}

#[test]
fn what_is_no_number_is_refused_as_well() {
    for method in METHODS {
        for wrong in [f64::NAN, f64::INFINITY] {
            let mut model = smooth(|t, _, dx: &mut [f64]| {
                dx[0] = 1.0;
                dx[1] = if t > 0.6 { wrong } else { 1.0 };
                Ok(())
            });
            let mut drive = started(method, &mut model, &[0.0, 0.0], 0);
            let stopped = drive.to(&mut model, &Goal::end(0.0, 2.0), &mut PLENTY.clone()).unwrap_err();
            let Stopped::NotFinite { t, answer: Answer::Derivative(1) } = stopped else { panic!("{stopped:?}") };
            assert!(t > 0.6 && t < 0.601 && drive.time() <= 0.6, "{stopped:?}");
        }
    }
}

#[test]
fn an_indicator_that_is_no_number_is_refused_and_an_infinite_one_is_none_that_changes() {
    for method in METHODS {
        let mut model = with_indicators(decay, |t, _, z| {
            z[0] = f64::INFINITY;
            z[1] = if t > 0.6 { f64::NAN } else { 1.0 };
            Ok(())
        });
        let mut drive = started(method, &mut model, &[1.0], 2);
        let stopped = drive.to(&mut model, &Goal::end(0.0, 2.0), &mut PLENTY.clone()).unwrap_err();
        assert!(matches!(stopped, Stopped::NotFinite { answer: Answer::Indicator(1), .. }), "{stopped:?}");
        assert!(stopped.to_string().contains("event indicator 1 is not a number"), "{stopped}");
    }
}

#[test]
fn what_is_refused_during_a_search_makes_the_step_smaller() {
    // Between 0.30 and 0.34 the indicator is not to be had, and that is where a search from 0.25 to 0.5 looks first.
    for method in METHODS {
        let mut model = with_indicators(clock, |_, x, z| {
            z[0] = 0.38 - x[0];
            if x[0] > 0.37 && x[0] < 0.379 { Err(ModelError::Discard("not here")) } else { Ok(()) }
        });
        let mut drive = started(method, &mut model, &[0.0], 1);
        // It cannot be located to the last places, but the domain does change behind.
        let stopped = drive.to(&mut model, &Goal::end(0.0, 1.0), &mut PLENTY.clone());
        assert_eq!(stopped, Ok(Reached::Event { located: true }), "{method:?}");
        assert!((drive.time() - 0.38).abs() < 1e-15, "{method:?}");
    }
}

/// A step is repeated to the event that was found in it, and this model refuses the first answer of each repetition: every 13th, where
/// two steps ask for 13. Steps that are halved come so close to the event that they change no state any more.
#[test]
fn an_event_is_reached_though_the_step_to_it_is_refused_again_and_again() {
    let threshold = 0.9998631047774509;
    let mut asked = 0u32;
    let f = |_: f64, x: &[f64], dx: &mut [f64]| {
        asked += 1;
        (dx[0], dx[1]) = (x[1], -x[0]);
        if asked.is_multiple_of(13) { Err(ModelError::Discard("now and then")) } else { Ok(()) }
    };
    let z = |_: f64, x: &[f64], z: &mut [f64]| {
        z[0] = x[0] - threshold;
        Ok(())
    };
    let mut model = with_indicators(f, z);
    let mut drive = started(Method::Dopri5 { tolerance: 1e-5 }, &mut model, &[0.0, 1.0], 1);
    let mut bound = WorkBudget { events: 1, right_hand_sides: 1000 };
    let mut point = 0.0;
    for length in [0.5864273472217336, 0.6051115316349226, 0.18505050764303763] {
        let goal = Goal { limit: point + length, ..Goal::end(point, point + length) };
        assert_eq!(drive.to(&mut model, &goal, &mut bound).unwrap(), Reached::Until { step_ended: true });
        point = goal.until;
    }
    let reached = drive.to(&mut model, &Goal::end(point, point + 0.1897545467442172), &mut bound).unwrap();
    assert_eq!(reached, Reached::Event { located: true });
    // As exact as the states are where they hardly change: 1e-5, and their slope is 1/60.
    assert!((drive.time() - threshold.asin()).abs() < 1e-5 && (drive.states()[0] - threshold).abs() < 1e-15);
    assert!(drive.counts().discarded < 30, "{:?}", drive.counts());
}

#[test]
fn a_model_without_states_may_refuse_as_well() {
    // Its indicators are to be had for three tenths of a second from where it was told last that they were.
    for method in METHODS {
        let from = std::cell::Cell::new(0.0);
        let mut model = with_indicators(
            |_, _, _| unreachable!("it has no states"),
            |t, _, z| {
                if t > from.get() + 0.3 {
                    return Err(ModelError::Discard("too far"));
                }
                from.set(t);
                z[0] = 1.0;
                Ok(())
            },
        );
        let mut drive = started(method, &mut model, &[], 1);
        let reached = drive.to(&mut model, &Goal::end(0.0, 2.0), &mut PLENTY.clone());
        assert_eq!((reached, drive.time()), (Ok(Reached::Until { step_ended: true }), 2.0), "{method:?}");
    }
}

#[test]
fn a_goal_at_which_the_model_refuses_to_be_is_named_after_as_many_steps_that_ended_before_it() {
    for method in METHODS.into_iter().filter(|method| method.tolerance().is_some()) {
        for steps in [false, true] {
            let mut model = with_indicators(decay, |t, _, z| {
                z[0] = 1.0;
                if t == 0.3 { Err(ModelError::Discard("not at 0.3 s")) } else { Ok(()) }
            });
            let mut drive = started(method, &mut model, &[1.0], 1);
            let goal = Goal { limit: 1.0, steps, ..Goal::end(0.0, 0.3) };
            let mut bound = WorkBudget { events: 9, right_hand_sides: 10_000 };
            let stopped = loop {
                match drive.to(&mut model, &goal, &mut bound) {
                    Ok(reached) => assert_eq!(reached, Reached::Step, "{method:?}"),
                    Err(stopped) => break stopped,
                }
            };
            assert_eq!(stopped, Stopped::Refused { t: 0.3, failure: "not at 0.3 s" }, "{method:?}");
            assert!(drive.counts().discarded <= 10 && drive.time() > 0.299, "{method:?}: {:?}", drive.counts());
        }
    }
}

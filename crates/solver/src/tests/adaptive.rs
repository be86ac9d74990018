//! Methods that choose their steps: order, tolerance, what is between steps, and what a run that is taken up again does.

use super::*;
use crate::Pace;

/// The error at the end of steps that the goals have cut, however large it is.
fn error_of_cut_steps(method: Method, steps: u32) -> f64 {
    let mut model = smooth(decay);
    let mut drive = started(method, &mut model, &[1.0], 0);
    drive.set_pace(Pace { length: 1.0, error: 1.0 });
    for number in 0..steps {
        let end = |number: u32| f64::from(number) / f64::from(steps);
        drive.to(&mut model, &Goal::end(end(number), end(number + 1)), &mut PLENTY.clone()).unwrap();
    }
    assert_eq!((drive.counts().steps, drive.counts().rejected), (steps.into(), 0));
    (drive.states()[0] - (-1.0f64).exp()).abs()
}

#[test]
fn the_order_of_dopri5_is_five() {
    let slopes = order(&[16, 32, 64].map(|steps| error_of_cut_steps(Method::Dopri5 { tolerance: 1.0 }, steps)));
    assert!(slopes.iter().all(|slope| (slope - 5.0).abs() < 0.1), "{slopes:?}");
}

#[test]
fn what_is_between_steps_of_dopri5_is_of_order_four() {
    // In one step from 0 to h, looked at before its end, the error shrinks with h to the fifth.
    let error = |h: f64| {
        let mut model = smooth(decay);
        let mut drive = started(Method::Dopri5 { tolerance: 1.0 }, &mut model, &[1.0], 0);
        drive.set_pace(Pace { length: h, error: 1.0 });
        let goal = Goal { limit: h, ..Goal::end(0.0, 0.3 * h) };
        assert_eq!(drive.to(&mut model, &goal, &mut PLENTY.clone()), Ok(Reached::Until { step_ended: false }));
        assert_eq!((model.t, &model.x[..], drive.counts().steps), (drive.time(), drive.states(), 0));
        (drive.states()[0] - (-0.3 * h).exp()).abs()
    };
    let slopes = order(&[0.1, 0.05, 0.025].map(error));
    assert!(slopes.iter().all(|slope| (slope - 5.0).abs() < 0.1), "{slopes:?}");
}

/// The largest error of an oscillation over ten seconds.
fn error_of_oscillation(method: Method) -> (f64, WorkCounts) {
    let mut model = smooth(oscillation);
    let drive = solved(method, &mut model, &[0.0, 1.0], 10.0);
    let exact = [10f64.sin(), 10f64.cos()];
    let error = drive.states().iter().zip(exact).map(|(x, exact)| (x - exact).abs()).fold(0.0, f64::max);
    (error, drive.counts())
}

#[test]
fn a_smaller_tolerance_makes_a_smaller_error_with_more_work() {
    let mut last = (f64::INFINITY, 0);
    for digits in [3, 5, 7, 9, 11] {
        let tolerance = 10f64.powi(-digits);
        let (error, counts) = error_of_oscillation(Method::Dopri5 { tolerance });
        assert!(
            error < 10.0 * tolerance && error < 0.1 * last.0 && counts.steps > last.1,
            "{digits}: {error} {counts:?}"
        );
        last = (error, counts.steps);
    }
}

#[test]
fn looking_ahead_changes_neither_steps_nor_their_ends() {
    let ends = |rows: u32, limit: f64| {
        let mut model = smooth(oscillation);
        let mut drive = started(Method::Dopri5 { tolerance: 1e-6 }, &mut model, &[0.0, 1.0], 0);
        let mut ends = Vec::new();
        for row in 1..=rows {
            let until = 10.0 * f64::from(row) / f64::from(rows);
            let goal = Goal { limit, steps: true, ..Goal::end(0.0, until) };
            while drive.to(&mut model, &goal, &mut PLENTY.clone()).unwrap() == Reached::Step {
                ends.push((drive.time(), drive.states().to_vec()));
            }
            let error = (drive.states()[0] - until.sin()).abs();
            assert!(error < 1e-5, "{error} at {until}");
        }
        ends
    };
    let alone = ends(1, 10.0);
    assert!(alone.len() > 20);
    assert_eq!(ends(1000, 10.0), alone);
    // Where the step may not end beyond, each goal is an end.
    assert_ne!(ends(1000, 0.0), alone);
}

#[test]
fn a_run_that_is_taken_up_again_has_the_same_bits() {
    let mut model = smooth(van_der_pol(1.0));
    let method = Method::Dopri5 { tolerance: 1e-7 };
    let mut whole = started(method, &mut model, &[2.0, 0.0], 0);
    whole.to(&mut model, &Goal::end(0.0, 4.0), &mut PLENTY.clone()).unwrap();
    let mut second = Drive::new(method, 2, 0);
    second.states_mut().copy_from_slice(whole.states());
    second.restart(&mut model, 4.0).unwrap();
    second.set_pace(whole.pace());
    for drive in [&mut whole, &mut second] {
        drive.to(&mut model, &Goal::end(4.0, 9.0), &mut PLENTY.clone()).unwrap();
    }
    assert_eq!(whole.states(), second.states());
}

#[test]
fn absolute_tolerances_follow_nominals() {
    // Two oscillations, of which the second is a millionth of the first. Both errors are to be small beside their own nominal.
    let mut model = smooth(|_, x, dx| {
        dx.copy_from_slice(&[x[1], -x[0], 7.0 * x[3], -7.0 * x[2]]);
        Ok(())
    });
    let mut error = |small: f64| {
        let mut drive = Drive::new(Method::Dopri5 { tolerance: 1e-6 }, 4, 0);
        drive.states_mut().copy_from_slice(&[0.0, 1.0, 0.0, 1e-6]);
        drive.set_nominals(&[1.0, 1.0, small, small]);
        drive.restart(&mut model, 0.0).unwrap();
        drive.to(&mut model, &Goal::end(0.0, 10.0), &mut PLENTY.clone()).unwrap();
        (drive.states()[2] - 1e-6 * 70f64.sin()).abs() * 1e6
    };
    assert!(error(1e-6) < 1e-4);
    assert!(error(1.0) > 1e-3);
}

#[test]
fn what_has_no_bounds_ends_where_it_has_none() {
    // x' = x², of which 1 / (1 - t) is a solution.
    let mut model = smooth(|_, x, dx| {
        dx[0] = x[0] * x[0];
        Ok(())
    });
    let mut drive = started(Method::Dopri5 { tolerance: 1e-6 }, &mut model, &[1.0], 0);
    let stopped = drive.to(&mut model, &Goal::end(0.0, 2.0), &mut PLENTY.clone()).unwrap_err();
    assert!(matches!(stopped, Stopped::StepTooSmall { .. } | Stopped::NotFinite { .. }), "{stopped:?}");
    assert!((drive.time() - 1.0).abs() < 1e-6, "{stopped:?}");
}

#[test]
fn an_event_ahead_of_the_goal_waits_until_the_goal_has_come_to_it() {
    let mut model = with_indicators(fall, |_, x, z| {
        z[0] = x[0];
        Ok(())
    });
    let mut drive = started(Method::Dopri5 { tolerance: 1e-6 }, &mut model, &[1.0, 0.0], 1);
    let mut bound = PLENTY;
    let fallen = (2.0f64 / 9.81).sqrt();
    for row in 1.. {
        let until = 0.01 * f64::from(row);
        let goal = Goal { limit: 2.0, ..Goal::end(0.0, until) };
        let reached = drive.to(&mut model, &goal, &mut bound).unwrap();
        assert_eq!((model.t, &model.x[..]), (drive.time(), drive.states()));
        if reached == (Reached::Event { located: true }) {
            break;
        }
        assert!(drive.time() == until && until < fallen);
        assert!((drive.states()[0] - (1.0 - 0.5 * 9.81 * until * until)).abs() < 1e-14);
    }
    assert!((drive.time() - fallen).abs() < 1e-15);
    assert!(drive.counts().right_hand_sides < 60, "{:?}", drive.counts());
}

const CHOOSING: [Method; 3] =
    [Method::Dopri5 { tolerance: 1e-6 }, Method::Bdf { tolerance: 1e-6 }, Method::Auto { tolerance: 1e-6 }];

/// Goes on to every tenth of a second up to 9 s, with steps that may be of any length, and gives the times of events.
fn events_by_tenths<E: Indicators<Failure = &'static str>>(drive: &mut Drive, model: &mut E) -> Vec<f64> {
    let mut events = Vec::new();
    for row in 1..=90 {
        let goal = Goal { limit: f64::INFINITY, ..Goal::end(0.0, 0.1 * f64::from(row)) };
        while let Reached::Event { located: true } = drive.to(model, &goal, &mut PLENTY.clone()).unwrap() {
            let now = drive.time();
            events.push(now);
            drive.restart(model, now).unwrap();
        }
        assert_eq!(drive.time(), goal.until);
    }
    events
}

#[test]
fn what_changes_there_and_back_within_a_long_step_is_seen_at_the_goals() {
    for method in CHOOSING {
        let mut model = with_indicators(clock, |_, x, z| {
            z[0] = (x[0] - 5.95) * (x[0] - 5.95) - 0.01;
            Ok(())
        });
        let mut drive = started(method, &mut model, &[0.0], 1);
        let events = events_by_tenths(&mut drive, &mut model);
        assert_eq!(events.len(), 2, "{method:?}: {events:?}");
        assert!((events[0] - 5.85).abs() < 1e-12 && (events[1] - 6.05).abs() < 1e-12, "{method:?}: {events:?}");
        assert!(drive.counts().right_hand_sides < 150, "{method:?}: {:?}", drive.counts());
    }
}

#[test]
fn who_refuses_to_be_in_the_midst_of_a_step_gets_another_one() {
    for method in CHOOSING {
        let mut refusals = 0;
        let mut model = with_indicators(decay, |t: f64, x: &[f64], z: &mut [f64]| {
            z[0] = x[0] - 0.01;
            if (t == 0.5 || t == 3.0) && refusals < 2 {
                refusals += 1;
                return Err(ModelError::Discard("not now"));
            }
            Ok(())
        });
        let mut drive = started(method, &mut model, &[1.0], 1);
        let events = events_by_tenths(&mut drive, &mut model);
        assert!(events.len() == 1 && (events[0] - 100.0f64.ln()).abs() < 1e-3, "{method:?}: {events:?}");
        assert_eq!(drive.counts().discarded, 2, "{method:?}");
    }
}

#[test]
fn work_that_ends_while_an_event_is_looked_for_leaves_no_step_that_is_half_made() {
    // Positive for a fiftieth of a second about the third goal, in a step that was made beyond it.
    for method in CHOOSING {
        for right_hand_sides in 6..60 {
            let f = |t: f64, _: &[f64], dx: &mut [f64]| {
                dx[0] = t.cos();
                Ok(())
            };
            let mut model = with_indicators(f, |t, _, z| {
                z[0] = 0.01 - (t - 0.3).abs();
                Ok(())
            });
            let mut drive = started(method, &mut model, &[0.0], 1);
            let mut events = Vec::new();
            for row in 1..=10 {
                let goal = Goal { limit: 1.0, ..Goal::end(0.0, 0.1 * f64::from(row)) };
                let mut bound = WorkBudget { events: 9, right_hand_sides };
                loop {
                    match drive.to(&mut model, &goal, &mut bound) {
                        Ok(Reached::Event { .. }) => {
                            let now = drive.time();
                            events.push(now);
                            drive.restart(&mut model, now).unwrap();
                        }
                        // What one call needs is not to be had in pieces.
                        Err(Stopped::NoWorkLeft { .. }) => bound.right_hand_sides = 1000,
                        reached => break assert_eq!(reached.map(|_| drive.time()), Ok(goal.until)),
                    }
                }
                let error = (drive.states()[0] - drive.time().sin()).abs();
                assert!(error < 1e-4, "{method:?}, {right_hand_sides}: {error} at {}", drive.time());
            }
            assert!(
                events.len() == 2 && (events[0] - 0.29).abs() < 1e-12,
                "{method:?}, {right_hand_sides}: {events:?}"
            );
        }
    }
}

#[test]
fn inputs_that_jump_at_communication_points_cost_accuracy_nowhere() {
    // x' = 20 (u - x), u = 1 and 0 in turn for a tenth of a second each.
    let u = std::cell::Cell::new(0.0);
    for method in
        [Method::Dopri5 { tolerance: 1e-6 }, Method::Bdf { tolerance: 1e-6 }, Method::Auto { tolerance: 1e-6 }]
    {
        let mut model = smooth(|_, x, dx| {
            dx[0] = 20.0 * (u.get() - x[0]);
            Ok(())
        });
        let mut drive = started(method, &mut model, &[0.0], 0);
        let mut exact = 0.0;
        for number in 0..50 {
            u.set(f64::from(number % 2));
            assert_eq!(drive.after_inputs(&mut model), Ok(false));
            let (from, until) = (0.1 * f64::from(number), 0.1 * f64::from(number + 1));
            drive.to(&mut model, &Goal::end(from, until), &mut PLENTY.clone()).unwrap();
            exact = u.get() + (exact - u.get()) * (-20.0 * (until - from)).exp();
            assert!((drive.states()[0] - exact).abs() < 2e-5, "{method:?}: {} instead of {exact}", drive.states()[0]);
        }
    }
}

#[test]
fn a_first_step_is_never_shorter_than_time_can_tell() {
    // x' = -1e12 x wants steps of less than picoseconds; at a million seconds the next double is a tenth of a nanosecond away.
    for method in [Method::Dopri5 { tolerance: 1e-6 }, Method::Bdf { tolerance: 1e-6 }] {
        let mut model = smooth(|_, x, dx| {
            dx[0] = -1e12 * x[0];
            Ok(())
        });
        let mut drive = Drive::new(method, 1, 0);
        drive.states_mut()[0] = 1.0;
        drive.restart(&mut model, 1e6).unwrap();
        let goal = Goal { steps: true, ..Goal::end(1e6, 1e6 + 1e-6) };
        let (mut before, mut bound) = (1e6, WorkBudget { events: 0, right_hand_sides: 10_000 });
        while let Ok(Reached::Step) = drive.to(&mut model, &goal, &mut bound) {
            assert!(drive.time() > before);
            before = drive.time();
        }
    }
}

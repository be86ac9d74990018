//! Euler and Runge-Kutta: their order, their bits, and where their steps end.

use super::*;
use crate::Answer;

fn error_of_decay(method: Method) -> f64 {
    let drive = solved(method, &mut smooth(decay), &[1.0], 1.0);
    (drive.states()[0] - (-1.0f64).exp()).abs()
}

#[test]
fn their_order_is_one_and_four() {
    let steps = [1.0 / 64.0, 1.0 / 128.0, 1.0 / 256.0];
    let euler = order(&steps.map(|internal_step| error_of_decay(Method::Euler { internal_step })));
    let rk4 = order(&steps.map(|internal_step| error_of_decay(Method::Rk4 { internal_step })));
    assert!(euler.iter().all(|slope| (slope - 1.0).abs() < 0.1), "{euler:?}");
    assert!(rk4.iter().all(|slope| (slope - 4.0).abs() < 0.1), "{rk4:?}");
}

#[test]
fn time_in_the_equations_keeps_the_order() {
    // x' = cos t + x - sin t, of which x = sin t is a solution.
    let error = |internal_step| {
        let f = |t: f64, x: &[f64], dx: &mut [f64]| {
            dx[0] = t.cos() + x[0] - t.sin();
            Ok(())
        };
        (solved(Method::Rk4 { internal_step }, &mut smooth(f), &[0.0], 2.0).states()[0] - 2f64.sin()).abs()
    };
    let rk4 = order(&[1.0 / 16.0, 1.0 / 32.0, 1.0 / 64.0].map(error));
    assert!(rk4.iter().all(|slope| (slope - 4.0).abs() < 0.1), "{rk4:?}");
}

#[test]
fn they_keep_their_order_where_the_equations_are_not_linear() {
    let end = |method| solved(method, &mut smooth(van_der_pol(1.0)), &[2.0, 0.0], 2.0).states()[0];
    let exact = end(Method::Rk4 { internal_step: 1.0 / 4096.0 });
    let errors = |method: fn(f64) -> Method| {
        order(&[1.0 / 64.0, 1.0 / 128.0, 1.0 / 256.0].map(|internal_step| (end(method(internal_step)) - exact).abs()))
    };
    let euler = errors(|internal_step| Method::Euler { internal_step });
    let rk4 = errors(|internal_step| Method::Rk4 { internal_step });
    assert!(euler.iter().all(|slope| (slope - 1.0).abs() < 0.1), "{euler:?}");
    assert!(rk4.iter().all(|slope| (slope - 4.0).abs() < 0.1), "{rk4:?}");
}

#[test]
fn euler_does_what_an_fmu_does_that_has_it_inside() {
    let mut drive = started(Method::Euler { internal_step: 0.1 }, &mut smooth(decay), &[1.0], 0);
    let mut model = smooth(decay);
    let mut x = 1.0f64;
    for number in 0..100 {
        let (from, until) = (f64::from(number) * 0.1, f64::from(number + 1) * 0.1);
        drive.to(&mut model, &Goal::end(from, until), &mut PLENTY.clone()).unwrap();
        x += 0.1 * -x;
        assert_eq!((drive.time(), drive.states()[0].to_bits()), (until, x.to_bits()));
    }
    // Each point's derivatives are asked for once.
    assert_eq!(drive.counts().right_hand_sides, 101);
}

#[test]
fn steps_end_on_the_grid_of_the_communication_point() {
    let mut ends = Vec::new();
    let mut model = smooth(decay);
    let mut drive = Drive::new(Method::Rk4 { internal_step: 0.1 }, 1, 0);
    drive.states_mut()[0] = 1.0;
    drive.restart(&mut model, 0.7).unwrap();
    let goal = Goal { steps: true, ..Goal::end(0.7, 1.15) };
    // An event at 0.83 that something outside has brought.
    let before = Goal { until: 0.83, ..goal };
    loop {
        let reached =
            drive.to(&mut model, if drive.time() < 0.83 { &before } else { &goal }, &mut PLENTY.clone()).unwrap();
        ends.push(drive.time());
        assert_eq!(model.t, drive.time());
        assert_eq!(model.x, drive.states());
        if drive.time() == 0.83 {
            assert_eq!(reached, Reached::Until { step_ended: true });
            drive.restart(&mut model, 0.83).unwrap();
        } else if reached != Reached::Step {
            break;
        }
    }
    assert_eq!(ends, [0.7 + 0.1, 0.83, 0.7 + 2.0 * 0.1, 0.7 + 3.0 * 0.1, 0.7 + 4.0 * 0.1, 1.15]);
}

#[test]
fn a_model_without_states_and_indicators_only_hears_of_the_time() {
    let mut model = smooth(|_, _, _| unreachable!("it has no states"));
    let mut drive = started(Method::Euler { internal_step: 0.5 }, &mut model, &[], 0);
    drive.to(&mut model, &Goal::end(0.0, 2.0), &mut PLENTY.clone()).unwrap();
    assert_eq!((drive.time(), model.t, drive.counts().right_hand_sides), (2.0, 2.0, 0));
}

#[test]
fn a_step_that_time_cannot_tell_apart_is_the_smallest_that_it_can() {
    let mut model = smooth(decay);
    let mut drive = Drive::new(Method::Euler { internal_step: 1e-9 }, 1, 0);
    drive.restart(&mut model, 1e9).unwrap();
    drive.to(&mut model, &Goal::end(1e9, 1e9 + 1e-6), &mut PLENTY.clone()).unwrap();
    assert_eq!(drive.time(), 1e9 + 1e-6);
}

#[test]
fn nominals_that_are_none_are_counted() {
    let mut drive = Drive::new(Method::Euler { internal_step: 1.0 }, 5, 0);
    drive.set_nominals(&[0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9]);
    assert_eq!(drive.counts().nominals_mended, 4);
}

/// Derivatives that are finite anywhere may lead to a state that is not.
#[test]
fn a_state_that_is_not_finite_is_refused_though_its_derivative_is() {
    for method in [Method::Euler { internal_step: 1.0 }, Method::Rk4 { internal_step: 1.0 }] {
        let mut model = smooth(|_, _, dx: &mut [f64]| {
            (dx[0], dx[1]) = (0.0, 2.5e307);
            Ok(())
        });
        let mut drive = started(method, &mut model, &[0.0, 0.0], 0);
        let stopped = drive.to(&mut model, &Goal::end(0.0, 10.0), &mut PLENTY.clone()).unwrap_err();
        assert!(matches!(stopped, Stopped::NotFinite { answer: Answer::State(1), .. }), "{stopped:?}");
        assert!(stopped.to_string().contains("state 1 is not finite"), "{stopped}");
        assert!(drive.time() > 6.0 && drive.states()[1].is_finite(), "{} {:?}", drive.time(), drive.states());
    }
}

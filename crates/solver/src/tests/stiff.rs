//! Methods for stiff equations: how much they ask for the same error, and what a Jacobian costs.

use super::oracle::foretold;
use super::*;
use crate::{SquareMatrix, Structure};
use ivp::prelude::Method as Oracle;

type Derivatives<'a> = &'a dyn Fn(f64, &[f64], &mut [f64]);

/// A problem, and what CVode needs for it: how often it asks for derivatives in all, and the largest error relative to the size of each
/// state, at tolerances of 1e-3, 1e-4, and so on. By hand, in November 2026: SUNDIALS 7.5.0 as it is in FMPy 0.3.32, BDF, a dense
/// Jacobian by differences, the absolute tolerances that are ours.
struct Measured<'a> {
    name: &'a str,
    f: Derivatives<'a>,
    x: &'a [f64],
    nominals: &'a [f64],
    times: Vec<f64>,
    exact: Vec<Vec<f64>>,
    cvode: [(f64, f64); 7],
}

fn equally_spaced(from: f64, to: f64) -> Vec<f64> {
    (0..20).map(|i| from + (to - from) * f64::from(i) / 19.0).collect()
}

fn roberts(_: f64, x: &[f64], dx: &mut [f64]) {
    let first = -0.04 * x[0] + 1e4 * x[1] * x[2];
    let third = 3e7 * x[1] * x[1];
    dx.copy_from_slice(&[first, -first - third, third]);
}

fn relaxation(_: f64, x: &[f64], dx: &mut [f64]) {
    (dx[0], dx[1]) = (x[1], 1000.0 * (1.0 - x[0] * x[0]) * x[1] - x[0]);
}

fn roundabout(_: f64, x: &[f64], dx: &mut [f64]) {
    (dx[0], dx[1]) = (x[1], -x[0]);
}

/// The states at some times, as another method has them at a tight tolerance.
fn exact(f: Derivatives, x: &[f64], times: &[f64], method: Oracle, tolerance: (f64, f64)) -> Vec<Vec<f64>> {
    let (mut from, mut x) = (0.0, x.to_vec());
    times
        .iter()
        .map(|&until| {
            // The oracle's problem begins at 0; none of these knows the time.
            x = foretold(f, &x, until - from, method, tolerance).0;
            from = until;
            x.clone()
        })
        .collect()
}

fn problems() -> [Measured<'static>; 4] {
    let (short, long, round) = (equally_spaced(1.0, 20.0), equally_spaced(100.0, 2000.0), equally_spaced(2.5, 50.0));
    let decades: Vec<f64> = (-5..9).map(|power| 4.0 * 10f64.powi(power)).collect();
    [
        Measured {
            name: "Van der Pol, mu = 1",
            f: &oracle::van_der_pol_1,
            x: &[2.0, 0.0],
            nominals: &[1.0, 1.0],
            exact: exact(&oracle::van_der_pol_1, &[2.0, 0.0], &short, Oracle::DOP853, (1e-13, 1e-15)),
            times: short,
            cvode: [
                (352.0, 1.04e-02),
                (431.0, 1.90e-03),
                (539.0, 3.10e-04),
                (766.0, 2.96e-05),
                (1101.0, 3.71e-06),
                (1517.0, 2.79e-07),
                (2164.0, 1.10e-07),
            ],
        },
        Measured {
            name: "Van der Pol, mu = 1000",
            f: &relaxation,
            x: &[2.0, 0.0],
            nominals: &[1.0, 1000.0],
            exact: exact(&relaxation, &[2.0, 0.0], &long, Oracle::RADAU, (1e-11, 1e-13)),
            times: long,
            cvode: [
                (289.0, 1.59e+00),
                (732.0, 1.73e+00),
                (865.0, 5.28e-03),
                (1348.0, 2.79e-03),
                (1861.0, 4.81e-04),
                (2557.0, 9.02e-05),
                (3832.0, 1.84e-05),
            ],
        },
        Measured {
            name: "Roberts",
            f: &roberts,
            x: &[1.0, 0.0, 0.0],
            nominals: &[1.0, 1e-4, 1e-2],
            exact: exact(&roberts, &[1.0, 0.0, 0.0], &decades, Oracle::RADAU, (1e-11, 1e-19)),
            times: decades,
            cvode: [
                (1025.0, 1.59e+05),
                (621.0, 1.12e-04),
                (850.0, 1.84e-05),
                (1273.0, 1.69e-06),
                (1750.0, 2.81e-07),
                (2322.0, 7.04e-08),
                (2848.0, 3.70e-09),
            ],
        },
        Measured {
            name: "oscillation",
            f: &roundabout,
            x: &[0.0, 1.0],
            nominals: &[1.0, 1.0],
            exact: round.iter().map(|t| vec![t.sin(), t.cos()]).collect(),
            times: round,
            cvode: [
                (318.0, 9.10e-02),
                (339.0, 3.31e-03),
                (379.0, 9.16e-04),
                (582.0, 1.07e-04),
                (936.0, 5.09e-06),
                (1205.0, 1.63e-06),
                (1676.0, 2.86e-07),
            ],
        },
    ]
}

/// The largest error at the problem's times, relative to the size of each state, and what was worked for it.
fn measure(problem: &Measured, method: Method) -> (f64, WorkCounts) {
    let mut model = smooth(|t, x, dx| {
        (problem.f)(t, x, dx);
        Ok(())
    });
    let mut drive = Drive::new(method, problem.x.len(), 0);
    drive.states_mut().copy_from_slice(problem.x);
    drive.set_nominals(problem.nominals);
    drive.restart(&mut model, 0.0).unwrap();
    let mut error = 0f64;
    for (&until, exact) in problem.times.iter().zip(&problem.exact) {
        let goal = Goal { limit: f64::INFINITY, ..Goal::end(0.0, until) };
        drive.to(&mut model, &goal, &mut PLENTY.clone()).unwrap();
        for (i, (x, exact)) in drive.states().iter().zip(exact).enumerate() {
            let size = problem.exact.iter().map(|row| row[i].abs()).fold(0.0, f64::max);
            error = error.max((x - exact).abs() / size);
        }
    }
    (error, drive.counts())
}

/// What CVode would need for an error, on straight lines between its own in logarithms. `None` beyond its errors.
fn cvode_needs(measured: &[(f64, f64)], error: f64) -> Option<f64> {
    let pair = measured.windows(2).find(|pair| pair[0].1 >= error && error >= pair[1].1)?;
    let [(more_count, more), (less_count, less)] = [pair[0], pair[1]];
    let share = (more / error).ln() / (more / less).ln();
    Some(more_count * (less_count / more_count).powf(share))
}

#[test]
fn bdf_asks_little_more_than_cvode_for_the_same_error() {
    for problem in problems() {
        let mut compared = 0;
        for digits in 4..=8 {
            let (error, counts) = measure(&problem, Method::Bdf { tolerance: 10f64.powi(-digits) });
            let own = counts.right_hand_sides as f64;
            // An error of half of a period says nothing.
            let Some(theirs) = cvode_needs(&problem.cvode, error).filter(|_| error < 0.01) else { continue };
            println!(
                "{} at 1e-{digits}: error {error:.1e} with {own}, CVode {theirs:.0}, {:.2}",
                problem.name,
                own / theirs
            );
            assert!(own <= 1.2 * theirs, "{} at 1e-{digits}: {own} instead of {theirs:.0}", problem.name);
            compared += 1;
        }
        assert!(compared >= 3, "{}", problem.name);
    }
}

#[test]
fn auto_is_dopri5_until_the_equations_are_stiff_and_then_bdf() {
    let [smooth, relaxation, roberts, oscillation] = problems();
    for problem in [smooth, oscillation] {
        let auto = measure(&problem, Method::Auto { tolerance: 1e-6 });
        assert_eq!(auto, measure(&problem, Method::Dopri5 { tolerance: 1e-6 }), "{}", problem.name);
    }
    for problem in [relaxation, roberts] {
        let (error, counts) = measure(&problem, Method::Auto { tolerance: 1e-6 });
        let (_, bdf) = measure(&problem, Method::Bdf { tolerance: 1e-6 });
        assert!(counts.right_hand_sides < 2 * bdf.right_hand_sides, "{}: {counts:?}, {bdf:?}", problem.name);
        assert!(error < 0.01 && counts.jacobians > 0, "{}: {error}", problem.name);
    }
}

#[test]
fn after_an_event_auto_goes_on_with_bdf() {
    // Stiff before the event, and not after it.
    let is_stiff = std::cell::Cell::new(true);
    let f = |t: f64, x: &[f64], dx: &mut [f64]| {
        dx[0] = if is_stiff.get() { -1e4 * (x[0] - t.cos()) } else { -x[0] };
        Ok(())
    };
    let mut model = with_indicators(f, |t, _, z| {
        z[0] = t - 1.0;
        Ok(())
    });
    let mut drive = started(Method::Auto { tolerance: 1e-6 }, &mut model, &[1.0], 1);
    let goal = Goal::end(0.0, 2.0);
    assert_eq!(drive.to(&mut model, &goal, &mut PLENTY.clone()), Ok(Reached::Event { located: true }));
    assert!(
        (drive.states()[0] - 1f64.cos()).abs() < 1e-3 && drive.counts().right_hand_sides < 400,
        "{:?}",
        drive.counts()
    );
    is_stiff.set(false);
    let (now, x, jacobians) = (drive.time(), drive.states()[0], drive.counts().jacobians);
    drive.restart(&mut model, now).unwrap();
    assert_eq!(drive.to(&mut model, &goal, &mut PLENTY.clone()), Ok(Reached::Until { step_ended: true }));
    assert!((drive.states()[0] - x * (now - 2.0).exp()).abs() < 1e-5);
    assert!(drive.counts().jacobians > jacobians);
}

/// A rod whose ends are cold: each state follows its neighbours.
fn rod(_: f64, x: &[f64], dx: &mut [f64]) -> Answered {
    for i in 0..x.len() {
        let (before, after) = (if i > 0 { x[i - 1] } else { 0.0 }, x.get(i + 1).copied().unwrap_or(0.0));
        dx[i] = 500.0 * (before - 2.0 * x[i] + after) - x[i].powi(3);
    }
    Ok(())
}

#[test]
fn states_that_have_no_derivative_in_common_are_moved_together() {
    let states = 40;
    let dependencies: Vec<(usize, usize)> =
        (0..states).flat_map(|i| [(i, i), (i, usize::saturating_sub(i, 1)), (i, (i + 1).min(states - 1))]).collect();
    let structure = Structure::sparse(states, &dependencies);
    assert_eq!(structure.groups().len(), 3);
    let solve = |structure: Option<Structure>| {
        let mut model = smooth(rod);
        let mut drive = Drive::new(Method::Bdf { tolerance: 1e-6 }, states, 0);
        drive.states_mut().fill(1.0);
        if let Some(structure) = structure {
            drive.set_structure(structure);
        }
        drive.restart(&mut model, 0.0).unwrap();
        drive.to(&mut model, &Goal::end(0.0, 1.0), &mut PLENTY.clone()).unwrap();
        (drive.states().to_vec(), drive.counts())
    };
    let (dense, dense_counts) = solve(None);
    let (sparse, counts) = solve(Some(structure));
    assert_eq!(dense, sparse);
    assert_eq!(dense_counts.right_hand_sides - counts.right_hand_sides, 37 * counts.jacobians);
}

/// A linear model that gives its Jacobian.
struct Linear {
    matrix: [[f64; 3]; 3],
    x: [f64; 3],
    is_given: bool,
}

impl Equations for Linear {
    type Failure = &'static str;

    fn tell(&mut self, _: f64, x: &[f64]) -> Answered {
        self.x.copy_from_slice(x);
        Ok(())
    }

    fn derivatives(&mut self, dx: &mut [f64]) -> Answered {
        for (dx, row) in dx.iter_mut().zip(&self.matrix) {
            *dx = row.iter().zip(&self.x).map(|(element, x)| element * x).sum();
        }
        Ok(())
    }

    fn jacobian(&mut self, matrix: &mut SquareMatrix) -> Result<bool, ModelError<&'static str>> {
        for (row, elements) in self.matrix.iter().enumerate().filter(|_| self.is_given) {
            matrix.row_mut(row).copy_from_slice(elements);
        }
        Ok(self.is_given)
    }
}

impl Indicators for Linear {
    fn indicators(&mut self, _: &mut [f64]) -> Answered {
        unreachable!("it has none")
    }
}

#[test]
fn a_jacobian_that_the_model_gives_costs_no_derivatives() {
    let run = |is_given: bool| {
        let matrix = [[-1000.0, 1.0, 0.0], [0.0, -1.0, 2.0], [0.0, -2.0, -1.0]];
        let mut model = Linear { matrix, x: [0.0; 3], is_given };
        solved(Method::Bdf { tolerance: 1e-6 }, &mut model, &[1.0, 1.0, 0.0], 3.0)
    };
    let (given, found) = (run(true), run(false));
    for (given, found) in given.states().iter().zip(found.states()) {
        assert!((given - found).abs() < 1e-6);
    }
    let (given, found) = (given.counts(), found.counts());
    assert!(given.jacobians >= 1 && given.right_hand_sides + 3 <= found.right_hand_sides, "{given:?}, {found:?}");
}

#[test]
fn goals_that_cut_each_step_leave_the_order_high() {
    // With communication steps that are a few internal ones long, these are made equal.
    let [_, _, _, oscillation] = problems();
    let mut model = smooth(|t, x, dx| {
        (oscillation.f)(t, x, dx);
        Ok(())
    });
    let mut drive = started(Method::Bdf { tolerance: 1e-6 }, &mut model, &[0.0, 1.0], 0);
    for number in 0..200 {
        let (from, until) = (0.25 * f64::from(number), 0.25 * f64::from(number + 1));
        drive.to(&mut model, &Goal::end(from, until), &mut PLENTY.clone()).unwrap();
    }
    assert!((drive.states()[0] - 50f64.sin()).abs() < 1e-3, "{:?}", drive.states());
    assert!(drive.counts().right_hand_sides < 1600, "{:?}", drive.counts());
}

#[test]
fn goals_that_are_hardly_apart_do_no_harm() {
    for gap in [1e-6, 1e-9, 1e-12] {
        let mut model = smooth(oscillation);
        let mut drive = started(Method::Bdf { tolerance: 1e-6 }, &mut model, &[0.0, 1.0], 0);
        for number in 1..=10 {
            for until in [f64::from(number), f64::from(number) + gap] {
                drive.to(&mut model, &Goal::end(0.0, until), &mut PLENTY.clone()).unwrap();
            }
        }
        let error = (drive.states()[0] - (10.0 + gap).sin()).abs();
        assert!(error < 1e-3 && drive.counts().right_hand_sides < 600, "{gap}: {error}, {:?}", drive.counts());
    }
}

/// A state that is drawn to 1 + 0.3 sin(t / 10) by so much: that is its solution, too, if it begins there.
fn drawn(l: f64, t: f64, x: &[f64], dx: &mut [f64]) -> Answered {
    let (slow, g) = (0.1 * t, 1.0 + 0.3 * (0.1 * t).sin());
    dx[0] = -l * (x[0] - g) + 0.03 * slow.cos();
    Ok(())
}

#[test]
fn a_jacobian_is_made_anew_when_stiffness_fades_away() {
    // Goals that are equally far apart keep the length of steps, and so the matrix.
    for tolerance in [1e-4, 1e-6] {
        let mut model = smooth(|t, x, dx| drawn(1e6 * (-3.0 * t).exp(), t, x, dx));
        let mut drive = started(Method::Bdf { tolerance }, &mut model, &[1.0], 0);
        for number in 0..40 {
            let (from, until) = (0.5 * f64::from(number), 0.5 * f64::from(number + 1));
            drive.to(&mut model, &Goal::end(from, until), &mut PLENTY.clone()).unwrap();
            let error = (drive.states()[0] - 1.0 - 0.3 * (0.1 * until).sin()).abs();
            assert!(error < 10.0 * tolerance, "{tolerance}: {error} at {until}");
        }
        assert!(drive.counts().right_hand_sides < 300, "{tolerance}: {:?}", drive.counts());
    }
}

#[test]
fn a_jacobian_is_made_anew_when_inputs_have_changed_it() {
    for method in [Method::Bdf { tolerance: 1e-7 }, Method::Auto { tolerance: 1e-7 }] {
        let l = std::cell::Cell::new(8e5);
        let mut model = smooth(|t, x, dx| drawn(l.get(), t, x, dx));
        let mut drive = started(method, &mut model, &[1.0], 0);
        for number in 0..40 {
            l.set(if number < 20 { 8e5 } else { 0.2 });
            assert_eq!(drive.after_inputs(&mut model), Ok(false));
            let (from, until) = (f64::from(number), f64::from(number + 1));
            drive.to(&mut model, &Goal::end(from, until), &mut PLENTY.clone()).unwrap();
            let error = (drive.states()[0] - 1.0 - 0.3 * (0.1 * until).sin()).abs();
            assert!(error < 1e-6, "{method:?}: {error} at {until}");
        }
    }
}

#[test]
fn inputs_that_turn_the_solution_sharply_begin_it_anew() {
    // x' = l (u - x): with the history from before, steps would have to be shorter than time can tell until one is good.
    for method in [Method::Bdf { tolerance: 1e-8 }, Method::Auto { tolerance: 1e-8 }] {
        let (l, u) = (std::cell::Cell::new(1e4), std::cell::Cell::new(1.0));
        let mut model = smooth(|_, x, dx| {
            dx[0] = l.get() * (u.get() - x[0]);
            Ok(())
        });
        let mut drive = started(method, &mut model, &[0.0], 0);
        drive.to(&mut model, &Goal::end(0.0, 20.0), &mut PLENTY.clone()).unwrap();
        l.set(1e7);
        u.set(2.0);
        assert_eq!(drive.after_inputs(&mut model), Ok(false));
        let reached = drive.to(&mut model, &Goal::end(20.0, 21.0), &mut PLENTY.clone());
        assert_eq!(reached, Ok(Reached::Until { step_ended: true }), "{method:?}");
        assert!((drive.states()[0] - 2.0).abs() < 1e-7, "{method:?}: {:?}", drive.states());
    }
}

#[test]
fn a_bend_is_seen_behind_a_matrix_that_was_too_stiff_for_it() {
    // What is drawn along a sine, firmly, is let go of: the matrix of before makes nothing of the bend.
    for (w, last) in (1..10).flat_map(|w| (1..12).map(move |last| (0.1 * f64::from(w), last))) {
        let firm = std::cell::Cell::new(true);
        let g = |t: f64| 0.9 + 0.94 * (w * t).sin();
        let mut model = smooth(|t, x, dx| {
            dx[0] = if firm.get() { 2e5 * (g(t) - x[0]) + 0.94 * w * (w * t).cos() } else { 0.03 * (0.7 - x[0]) };
            Ok(())
        });
        let mut drive = started(Method::Bdf { tolerance: 2e-4 }, &mut model, &[0.9], 0);
        let free = 0.5 * f64::from(last);
        for number in 0..20 {
            if number == last {
                firm.set(false);
                assert_eq!(drive.after_inputs(&mut model), Ok(false));
            }
            let (from, until) = (0.5 * f64::from(number), 0.5 * f64::from(number + 1));
            drive.to(&mut model, &Goal::end(from, until), &mut PLENTY.clone()).unwrap();
            let exact = if firm.get() { g(until) } else { 0.7 + (g(free) - 0.7) * (0.03 * (free - until)).exp() };
            let error = (drive.states()[0] - exact).abs();
            assert!(error < 4e-3, "{w}, let go of at {free}: {error} at {until}");
        }
    }
}

#[test]
fn inputs_that_change_nothing_cost_one_right_hand_side_and_leave_the_steps_as_they_are() {
    let run = |sets: bool| {
        let mut model = smooth(van_der_pol(10.0));
        let mut drive = started(Method::Bdf { tolerance: 1e-5 }, &mut model, &[2.0, 0.0], 0);
        for number in 0..100 {
            if sets && number > 0 {
                assert_eq!(drive.after_inputs(&mut model), Ok(false));
            }
            let (from, until) = (0.1 * f64::from(number), 0.1 * f64::from(number + 1));
            drive.to(&mut model, &Goal::end(from, until), &mut PLENTY.clone()).unwrap();
        }
        (drive.states().to_vec(), drive.counts())
    };
    let ((states, counts), (same, more)) = (run(false), run(true));
    assert_eq!((states, counts.steps), (same, more.steps));
    assert_eq!(more.right_hand_sides, counts.right_hand_sides + 99);
}

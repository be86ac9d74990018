//! The error of states in parts of the tolerance, at loose and tight tolerances, beside that of CVode.

use super::oracle::{foretold, van_der_pol_1};
use super::*;
use ivp::prelude::Method as Oracle;

type Derivatives = fn(f64, &[f64], &mut [f64]);

/// A problem, the states at two hundred times up to its end, and what is held of it.
struct TestProblem {
    name: &'static str,
    f: Derivatives,
    until: f64,
    exact: Vec<Vec<f64>>,
    /// At any tolerance an error is at most so many times as large.
    most: f64,
    /// The errors of CVode, in parts of the tolerance, at 1e-4, 1e-6, 1e-8, 1e-10 and 1e-12. By hand, in November 2026: SUNDIALS 7.1.1, BDF, a dense Jacobian by
    /// differences, the absolute tolerances that are ours.
    cvode: [f64; 5],
}

const ROWS: u32 = 200;

fn time(until: f64, row: u32) -> f64 {
    until * f64::from(row) / f64::from(ROWS)
}

fn oscillator(_: f64, x: &[f64], dx: &mut [f64]) {
    (dx[0], dx[1]) = (x[1], -x[0]);
}

fn damped(_: f64, x: &[f64], dx: &mut [f64]) {
    (dx[0], dx[1]) = (x[1], -x[0] - 0.1 * x[1]);
}

/// An oscillator, and a state that follows it a hundred thousand times as fast.
fn followed(_: f64, x: &[f64], dx: &mut [f64]) {
    dx.copy_from_slice(&[x[1], -x[0], FAST * (x[0] - x[2])]);
}

const FAST: f64 = 1e5;

fn brusselator(_: f64, x: &[f64], dx: &mut [f64]) {
    let made = x[0] * x[0] * x[1];
    (dx[0], dx[1]) = (1.0 + made - 4.0 * x[0], 3.0 * x[0] - made);
}

fn decline(_: f64, x: &[f64], dx: &mut [f64]) {
    dx[0] = -x[0];
}

/// States of a solution in a closed form.
fn closed(until: f64, at: impl Fn(f64) -> Vec<f64>) -> Vec<Vec<f64>> {
    (0..=ROWS).map(|row| at(time(until, row))).collect()
}

/// States as a method of order 8 has them.
fn other(f: Derivatives, x: &[f64], until: f64) -> Vec<Vec<f64>> {
    let length = time(until, 1);
    let next = |x: &Vec<f64>| Some(foretold(f, x, length, Oracle::DOP853, (3e-14, 1e-16)).0);
    std::iter::successors(Some(x.to_vec()), next).take(ROWS as usize + 1).collect()
}

fn problems() -> [TestProblem; 7] {
    let round = |t: f64| vec![t.sin(), t.cos()];
    let w = (1.0f64 - 0.05 * 0.05).sqrt();
    let fading = move |t: f64| {
        let (sine, envelope) = ((w * t).sin() / w, (-0.05 * t).exp());
        vec![envelope * ((w * t).cos() + 0.05 * sine), -envelope * sine]
    };
    let behind = |t: f64| FAST * (FAST * t.sin() - t.cos()) / (FAST * FAST + 1.0);
    let held = |name, f, until, exact, most, cvode| TestProblem { name, f, until, exact, most, cvode };
    [
        held("oscillator, 20 s", oscillator, 20.0, closed(20.0, round), 15.0, [26.9, 28.4, 66.0, 250.6, 204.9]),
        held("oscillator, 100 s", oscillator, 100.0, closed(100.0, round), 80.0, [59.7, 150.7, 153.8, 360.2, 3311.9]),
        held("damped", damped, 40.0, closed(40.0, fading), 6.0, [6.5, 11.0, 22.6, 32.3, 105.6]),
        held(
            "followed",
            followed,
            20.0,
            closed(20.0, |t| vec![t.sin(), t.cos(), behind(t)]),
            15.0,
            [104.9, 32.7, 151.3, 86.1, 701.7],
        ),
        held("decline", decline, 10.0, closed(10.0, |t| vec![(-t).exp()]), 1.5, [2.6, 3.1, 4.2, 15.8, 9.7]),
        held(
            "Van der Pol, mu = 1",
            van_der_pol_1,
            20.0,
            other(van_der_pol_1, &[2.0, 0.0], 20.0),
            10.0,
            [8.1, 15.5, 108.9, 63.9, 372.6],
        ),
        held(
            "Brusselator",
            brusselator,
            20.0,
            other(brusselator, &[1.5, 3.0], 20.0),
            60.0,
            [77.4, 88.0, 399.5, 1032.8, 2357.2],
        ),
    ]
}

/// The largest error of a state at any row, relative to the largest value of that state, in parts of the tolerance.
fn error(problem: &TestProblem, method: Method, tolerance: f64) -> f64 {
    let mut model = smooth(|t, x, dx| {
        (problem.f)(t, x, dx);
        Ok(())
    });
    let mut drive = started(method, &mut model, &problem.exact[0], 0);
    let largest = |state: usize| problem.exact.iter().map(|row| row[state].abs()).fold(0.0, f64::max);
    let sizes: Vec<f64> = (0..problem.exact[0].len()).map(largest).collect();
    let mut most = 0f64;
    for row in 1..=ROWS {
        let goal = Goal { limit: f64::INFINITY, ..Goal::end(0.0, time(problem.until, row)) };
        drive.to(&mut model, &goal, &mut PLENTY.clone()).unwrap();
        for ((x, exact), size) in drive.states().iter().zip(&problem.exact[row as usize]).zip(&sizes) {
            most = most.max((x - exact).abs() / size);
        }
    }
    most / tolerance
}

#[test]
fn bdf_is_as_many_times_its_tolerance_off_at_tight_ones_as_at_loose_ones() {
    for problem in problems() {
        let factors: Vec<f64> = (4..=12)
            .map(|digits| {
                let tolerance = 10f64.powi(-digits);
                error(&problem, Method::Bdf { tolerance }, tolerance)
            })
            .collect();
        println!("{}: {factors:.1?} times the tolerance", problem.name);
        assert!(factors.iter().all(|&factor| factor < problem.most), "{}: {factors:.1?}", problem.name);
        // At the loosest one both are a matter of luck.
        let theirs = problem.cvode.iter().zip(factors.iter().step_by(2)).skip(1);
        assert!(theirs.clone().all(|(cvode, own)| own < cvode), "{}: {factors:.1?}", problem.name);
    }
}

/// What a solver that changes to bdf says of its tolerance is what bdf says of it.
#[test]
fn auto_keeps_to_its_tolerance_where_it_has_chosen_bdf() {
    let problem = problems().into_iter().find(|problem| problem.name == "followed").unwrap();
    for digits in 4..=12 {
        let tolerance = 10f64.powi(-digits);
        let factor = error(&problem, Method::Auto { tolerance }, tolerance);
        assert!(factor < problem.most, "1e-{digits}: {factor}");
    }
}

/// Rounding is more than these tolerances. Work is not wasted on what it hides, and the states are as near as at the tightest one that is
/// kept.
#[test]
fn tolerances_below_rounding_cost_no_more_than_rounding_does() {
    for problem in problems() {
        let run = |tolerance: f64| {
            let mut model = smooth(|t, x, dx| {
                (problem.f)(t, x, dx);
                Ok(())
            });
            let drive = solved(Method::Bdf { tolerance }, &mut model, &problem.exact[0], problem.until);
            drive.counts().right_hand_sides as f64
        };
        let kept = run(1e-12);
        for tolerance in [1e-13, 1e-14, 1e-15] {
            assert!(run(tolerance) < 1.4 * kept, "{}: {} instead of {kept}", problem.name, run(tolerance));
            let off = error(&problem, Method::Bdf { tolerance }, tolerance) * tolerance;
            assert!(off < 1e-12 * problem.most, "{}: {off:e}", problem.name);
        }
    }
}

//! The crate ivp, which has the same methods: the same problems at the same tolerance.

use super::*;
use ivp::prelude as oracle;
use std::cell::Cell;

/// A problem for the oracle. What it asks is counted here, whatever for.
struct Foreign<F> {
    f: F,
    asked: Cell<u64>,
}

impl<F: Fn(f64, &[f64], &mut [f64])> oracle::FirstOrderSystem for Foreign<F> {
    fn derivative(&self, t: f64, x: &[f64], dx: &mut [f64]) {
        self.asked.set(self.asked.get() + 1);
        (self.f)(t, x, dx);
    }
}

/// The oracle's states at a time, and how often it asked for derivatives.
pub fn foretold(
    f: impl Fn(f64, &[f64], &mut [f64]),
    x: &[f64],
    until: f64,
    method: oracle::Method,
    (relative, absolute): (f64, f64),
) -> (Vec<f64>, u64) {
    let system = Foreign { f, asked: Cell::new(0) };
    let solver = oracle::Ivp::first_order(&system, 0.0, until, x).method(method);
    let solution = solver.rtol(relative).atol(absolute).solve().unwrap();
    (solution.y.last().unwrap().clone(), system.asked.get())
}

pub fn van_der_pol_1(_: f64, x: &[f64], dx: &mut [f64]) {
    (dx[0], dx[1]) = (x[1], (1.0 - x[0] * x[0]) * x[1] - x[0]);
}

fn pendulum(_: f64, x: &[f64], dx: &mut [f64]) {
    (dx[0], dx[1]) = (x[1], -9.81 * x[0].sin());
}

fn distance(x: &[f64], other: &[f64]) -> f64 {
    x.iter().zip(other).map(|(x, other)| (x - other).abs()).fold(0.0, f64::max)
}

#[test]
fn dopri5_is_as_good_and_as_cheap_at_the_same_tolerance() {
    for (f, x, until) in
        [(van_der_pol_1 as fn(f64, &[f64], &mut [f64]), [2.0, 0.0], 12.0), (pendulum, [1.5, 0.0], 10.0)]
    {
        let (exact, _) = foretold(f, &x, until, oracle::Method::DOP853, (1e-13, 1e-15));
        for digits in [4, 6, 8, 10] {
            let tolerance = 10f64.powi(-digits);
            let mut model = smooth(|t, x, dx| {
                f(t, x, dx);
                Ok(())
            });
            let drive = solved(Method::Dopri5 { tolerance }, &mut model, &x, until);
            let (theirs, asked) = foretold(f, &x, until, oracle::Method::DOPRI5, (tolerance, 0.01 * tolerance));
            let (error, their_error) = (distance(drive.states(), &exact), distance(&theirs, &exact));
            let own = drive.counts().right_hand_sides;
            println!("1e-{digits}: error {error:.1e} with {own} right-hand sides, ivp {their_error:.1e} with {asked}");
            assert!(error < 2.0 * their_error, "1e-{digits}: {error} instead of {their_error}");
            assert!(own as f64 <= 1.05 * asked as f64, "1e-{digits}: {own} instead of {asked}");
        }
    }
}

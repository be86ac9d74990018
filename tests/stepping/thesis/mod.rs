//! The models with which C. Andersson's thesis on FMI for Model Exchange (Lund, 2010) compares simulators: FMUs of our own with the same
//! structure (`fmus/`), integrated by the program as the thesis does (relative tolerance 1e-10, absolute 1e-12), against solutions that
//! are computed here in another way. They differ by no more than the thesis's simulators do from each other: 1e-8 for the clutches,
//! 1e-7 for the pendulum and the 36 states of a robot, 1e-6 for the mechanics. Nor are more right-hand sides computed than by those of
//! its simulators that take most.
//!
//! Its model of an algebraic loop, Feedback, is a group of a rig, which `vecud simulate` has none of: see `tests/stepping/masters/loops.rs`.

mod ball;
mod chain;
mod clutches;
mod counter;
mod loading;
mod mechanics;
mod pendulum;
use crate::simulated;

use simulated::{Simulated, fmu, simulate};

/// Simulates an FMU; `arguments` are further ones.
fn integrated(name: &str, solver: &str, tolerance: &str, arguments: &[&str]) -> Simulated {
    let own = ["--solver", solver, "--tolerance", tolerance, "--show-stats"];
    simulate(fmu(name), &[&own[..], arguments].concat()).exits(0)
}

/// How often a function was called, by `--show-stats`.
fn calls(simulated: &Simulated, function: &str) -> u64 {
    let line = simulated.stderr.lines().find(|line| line.split_whitespace().next() == Some(function));
    line.map_or(0, |line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
}

/// How many right-hand sides were computed.
fn right_hand_sides(simulated: &Simulated) -> u64 {
    calls(simulated, "fmi3GetContinuousStateDerivatives")
}

/// The largest distance of a column from what it should be in each row, by the row's time.
fn deviation(simulated: &Simulated, name: &str, right: impl Fn(f64) -> f64) -> f64 {
    let (times, values) = (simulated.column("time"), simulated.column(name));
    assert!(times.len() > 100, "{} rows", times.len());
    let off = times.iter().zip(values).map(|(t, value)| (value - right(*t)).abs());
    off.fold(0.0, |most: f64, off| if off <= most { most } else { off })
}

//! Against the series of the exponential of its matrix.

use super::{Simulated, deviation, integrated, right_hand_sides};
use crate::thesis::simulated::{Place, fmu};
use std::f64::consts::PI;
use std::fmt::Write as _;

/// phi1, w1, phi2, w2, then what the torque on the motor is made of: as much of its own, and one on lines, with its rate.
type Vector = [f64; 8];

const STATES: [&str; 4] = ["phi1", "w1", "phi2", "w2"];
/// rad/s, of the torque.
const W: f64 = 4.0 * PI;
/// s, between two rows.
const INTERVAL: f64 = 0.01;

/// The derivative, with a sine and a cosine as two states more.
fn slope(v: &Vector) -> Vector {
    let [phi1, w1, phi2, w2, sine, cosine, fed, rate] = *v;
    let (j1, j2, n, c, d, d1, d2) = (0.05, 2.0, 10.0, 1000.0, 5.0, 0.02, 0.5);
    let m = c * (phi1 / n - phi2) + d * (w1 / n - w2);
    [w1, (sine + fed - d1 * w1 - m / n) / j1, w2, (m - d2 * w2) / j2, W * cosine, -W * sine, rate, 0.0]
}

/// The solution of the linear system `h` later, by as many terms of its series as change anything.
fn later(v: &Vector, h: f64) -> Vector {
    let (mut term, mut sum) = (*v, *v);
    for k in 1..40 {
        term = slope(&term).map(|part| part * h / f64::from(k));
        sum.iter_mut().zip(term).for_each(|(sum, term)| *sum += term);
    }
    sum
}

/// At all rows from the rest on; `before` has what is changed at a row before it goes on from there.
fn course(begin: Vector, rows: usize, mut before: impl FnMut(usize, &mut Vector)) -> Vec<Vector> {
    let mut all = vec![begin];
    while all.len() < rows {
        let mut now = all[all.len() - 1];
        before(all.len() - 1, &mut now);
        // Parts so small that no term of the series is larger than the sum.
        all.push((0..4).fold(now, |now, _| later(&now, INTERVAL / 4.0)));
    }
    all
}

fn off(simulated: &Simulated, course: &[Vector]) -> f64 {
    let row = |t: f64| course[(t / INTERVAL).round() as usize];
    let of = |(number, name): (usize, &&str)| deviation(simulated, name, |t| row(t)[number]);
    STATES.iter().enumerate().map(of).fold(0.0, f64::max)
}

/// The thesis: up to 1e-6, and 22,234 to 42,968 right-hand sides.
#[test]
fn the_mechanics_follow_their_matrix_exponential() {
    let course = course([0.0, 0.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0], 1001, |_, _| ());
    for (solver, tolerance, most) in [("auto", "1e-10", 28_400), ("dopri5", "1e-10", 28_400), ("bdf", "1e-9", 7_090)] {
        let simulated = integrated("mechanics", solver, tolerance, &[]);
        let (off, count) = (off(&simulated, &course), right_hand_sides(&simulated));
        println!("{solver}, {tolerance}: {off:e} off, {count} right-hand sides");
        assert!(off < 1e-6, "{solver}: {off:e}");
        assert!(count <= most, "{solver}: {count}");
    }
}

/// A torque from a file is on the lines between its rows, and as exactly integrated there.
#[test]
fn a_torque_from_a_file_is_followed_on_its_lines() {
    let torque = |row: usize| 10.0 * (W * row as f64 * INTERVAL).sin();
    let mut text = "time,torque\n".to_owned();
    for row in 0..=1000 {
        writeln!(text, "{},{}", row as f64 / 100.0, torque(row)).unwrap();
    }
    let place = Place::new().with("in.csv", &text);
    let rate = |row: usize| (torque(row + 1) - torque(row)) / INTERVAL;
    let course = course([0.0; 8], 1001, |row, now| (now[6], now[7]) = (torque(row), rate(row)));
    // Each corner is a new begin, which is where backward differentiation has the low orders.
    for (solver, limit) in [("auto", 1e-8), ("dopri5", 1e-8), ("bdf", 1e-5)] {
        let arguments =
            ["--solver", solver, "--tolerance", "1e-10", "--input-file", "in.csv", "--start-value", "amplitude=0"];
        let simulated = place.simulate(fmu("mechanics"), &arguments).exits(0);
        let off = off(&simulated, &course);
        println!("{solver}: {off:e} off");
        assert!(off < limit, "{solver}: {off:e}");
    }
}

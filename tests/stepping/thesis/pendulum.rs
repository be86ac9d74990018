//! Against the elliptic functions that solve the equation of its angle.

use super::{calls, deviation, integrated, right_hand_sides};

/// sn, cn and dn of Jacobi, by the arithmetic-geometric mean.
fn jacobi(u: f64, m: f64) -> [f64; 3] {
    let (mut a, mut b, mut c) = (1.0_f64, (1.0 - m).sqrt(), m.sqrt());
    let mut ratios = Vec::new();
    while c.abs() > 1e-16 {
        (a, b, c) = ((a + b) / 2.0, (a * b).sqrt(), (a - b) / 2.0);
        ratios.push(c / a);
    }
    let mut amplitude = f64::powi(2.0, ratios.len() as i32) * a * u;
    for ratio in ratios.iter().rev() {
        amplitude = (amplitude + (ratio * amplitude.sin()).asin()) / 2.0;
    }
    let sine = amplitude.sin();
    [sine, amplitude.cos(), (1.0 - m * sine * sine).sqrt()]
}

/// Angle and angular velocity of a pendulum of 1 m that is released at 2.5 rad from the lowest point: sin(a / 2) = k cd(w t, k^2).
fn swings(t: f64) -> [f64; 2] {
    let (k, w) = (1.25_f64.sin(), 9.81_f64.sqrt());
    let [sn, cn, dn] = jacobi(w * t, k * k);
    [2.0 * (k * cn / dn).asin(), -2.0 * k * w * (1.0 - k * k).sqrt() * sn / dn]
}

/// What is taken for the truth solves the equation.
#[test]
fn the_reference_solves_the_equation_of_the_angle() {
    assert_eq!(swings(0.0), [2.5, 0.0]);
    for step in 1..100 {
        let (t, h) = (f64::from(step) / 10.0, 1e-4);
        let [before, now, after] = [t - h, t, t + h].map(swings);
        let slope = |number: usize| (after[number] - before[number]) / (2.0 * h);
        assert!((slope(0) - now[1]).abs() < 1e-6, "{t}");
        assert!((slope(1) + 9.81 * now[0].sin()).abs() < 1e-6, "{t}");
    }
}

/// Its states are exchanged for others more than twenty times on the way. The thesis, of x: some 1e-7, and 4,733 to 9,587 right-hand sides.
#[test]
fn the_pendulum_is_where_its_angle_says() {
    for (solver, most) in [("auto", 9_240), ("dopri5", 9_240), ("bdf", 6_920)] {
        let simulated = integrated("pendulum", solver, "1e-10", &[]);
        let x = deviation(&simulated, "x", |t| swings(t)[0].sin());
        let y = deviation(&simulated, "y", |t| -swings(t)[0].cos());
        let count = right_hand_sides(&simulated);
        println!("{solver}: x {x:e} off, y {y:e} off, {count} right-hand sides");
        assert!(x < 1e-7 && y < 1e-7, "{solver}: {x:e}, {y:e}");
        assert!(count <= most, "{solver}: {count}");
        assert!(calls(&simulated, "fmi3CompletedIntegratorStep") >= 1001, "it needs them");
        assert!(simulated.column("changes").last().is_some_and(|changes| *changes >= 20.0), "{solver}");
    }
}

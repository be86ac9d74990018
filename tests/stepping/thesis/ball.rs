//! Against the parabolas of its flights.

use crate::thesis::simulated::{fmu, simulate};

/// m/s².
const G: f64 = 9.81;

/// The flights of a ball that is dropped from 1 m and keeps 0.7 of its speed at each bounce: when each begins, and its speed then, m/s.
/// The first one began half of itself before the start.
fn flights(count: usize) -> Vec<(f64, f64)> {
    let mut all = vec![(-(2.0 / G).sqrt(), (2.0 * G).sqrt())];
    while all.len() < count {
        let (begin, speed) = all[all.len() - 1];
        all.push((begin + 2.0 * speed / G, 0.7 * speed));
    }
    all
}

/// The thesis's tolerances, in the version of that time and in this one. Heights are those of the closed form, which has its last bounce
/// at 2.5587 s; when flights have become shorter than a step of the solver, the ball falls through the floor, as the thesis says.
#[test]
fn the_ball_flies_its_parabolas_and_ends_below_the_floor() {
    let all = flights(100);
    for name in ["ball", "ball_fmi1"] {
        for (solver, tolerance) in [("dopri5", "1e-10"), ("dopri5", "1e-12"), ("bdf", "1e-10"), ("auto", "1e-12")] {
            let arguments = ["--solver", solver, "--tolerance", tolerance, "--output-interval", "0.01"];
            let simulated = simulate(fmu(name), &arguments).exits(0);
            let [times, heights, bounces] = ["time", "h", "bounces"].map(|name| simulated.column(name));
            let last = *bounces.last().unwrap() as usize;
            let mut most = 0.0_f64;
            for ((t, h), bounced) in times.iter().zip(&heights).zip(&bounces).filter(|((t, _), _)| **t < 2.5) {
                let (begin, speed) = all[*bounced as usize];
                let flown = t - begin;
                most = most.max((h - flown * (speed - G * flown / 2.0)).abs());
            }
            println!("{name}, {solver}, {tolerance}: {most:e} off, {last} bounces");
            assert!(most < 1e-8, "{name}, {solver}, {tolerance}: {most:e}");
            assert!(last >= 10 && *heights.last().unwrap() < -1.0, "{name}, {solver}, {tolerance}: {last} bounces");
        }
    }
}

//! How many right-hand sides an error costs, beside CVode.

use super::*;
use crate::SquareMatrix;

/// Van der Pol's oscillator with mu = 1, which gives its Jacobian itself.
struct Oscillator([f64; 2]);

impl Equations for Oscillator {
    type Failure = ();

    fn tell(&mut self, _: f64, x: &[f64]) -> Result<(), ModelError<()>> {
        self.0.copy_from_slice(x);
        Ok(())
    }

    fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), ModelError<()>> {
        let [x, v] = self.0;
        (dx[0], dx[1]) = (v, (1.0 - x * x) * v - x);
        Ok(())
    }

    fn jacobian(&mut self, matrix: &mut SquareMatrix) -> Result<bool, ModelError<()>> {
        let [x, v] = self.0;
        (matrix[(0, 0)], matrix[(0, 1)]) = (0.0, 1.0);
        (matrix[(1, 0)], matrix[(1, 1)]) = (-2.0 * x * v - 1.0, 1.0 - x * x);
        Ok(true)
    }
}

impl Indicators for Oscillator {
    fn indicators(&mut self, _: &mut [f64]) -> Result<(), ModelError<()>> {
        Ok(())
    }
}

/// The largest deviation in parts of the largest value, and the right-hand sides, of CVode by FMPy 0.3.32 at tolerances from 1e-3 to 1e-11
/// (`VanDerPol` of the Reference FMUs, FMI 3.0; 20 s, a row each 0.01 s; as `bench/steps/cvode` measures it).
const CVODE: [(f64, f64); 9] = [
    (2.848e-2, 271.0),
    (2.938e-3, 383.0),
    (4.454e-4, 461.0),
    (4.453e-5, 636.0),
    (1.299e-5, 888.0),
    (2.160e-6, 1226.0),
    (3.157e-7, 1683.0),
    (4.953e-8, 2475.0),
    (8.853e-9, 3594.0),
];

/// How many CVode asks for with an error, on lines in the logarithms.
fn cvode(error: f64) -> f64 {
    let pair = CVODE.windows(2).find(|pair| error >= pair[1].0).expect("no error as small is known");
    let part = (error / pair[0].0).ln() / (pair[1].0 / pair[0].0).ln();
    pair[0].1 * (pair[1].1 / pair[0].1).powf(part)
}

/// The states at all rows, and the right-hand sides.
fn rows(method: Method) -> (Vec<[f64; 2]>, u64) {
    let mut model = Oscillator([0.0; 2]);
    let mut drive = started(method, &mut model, &[2.0, 0.0], 0);
    let row = |number: u32| 0.01 * f64::from(number);
    let rows = (0..2000).map(|number| {
        let goal = Goal { limit: 20.0, ..Goal::end(row(number), row(number + 1)) };
        drive.to(&mut model, &goal, &mut PLENTY.clone()).unwrap();
        [drive.states()[0], drive.states()[1]]
    });
    (rows.collect(), drive.counts().right_hand_sides)
}

#[test]
fn bdf_asks_for_no_more_right_hand_sides_than_cvode_for_the_same_error() {
    let (exact, _) = rows(Method::Dopri5 { tolerance: 1e-12 });
    let largest = [0, 1].map(|state| exact.iter().map(|row| row[state].abs()).fold(0.0, f64::max));
    let ratios: Vec<f64> = (0..=40)
        .map(|tenths| {
            let (own, asked) = rows(Method::Bdf { tolerance: 10f64.powf(-4.0 - 0.1 * f64::from(tenths)) });
            let off = |state: usize| own.iter().zip(&exact).map(move |(own, exact)| (own[state] - exact[state]).abs());
            let error = [0, 1].map(|state| off(state).fold(0.0, f64::max) / largest[state]);
            asked as f64 / cvode(error[0].max(error[1]))
        })
        .collect();
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    println!("{mean:.2} times as many in the mean; for each tolerance {ratios:.2?}");
    assert!(mean < 1.0, "{mean}");
    assert!(ratios.iter().all(|&ratio| ratio <= 1.2), "{ratios:?}");
}

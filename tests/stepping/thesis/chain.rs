//! Equations of the sizes of the thesis's robot (36 states, 98 event indicators) and of its refrigeration plant TwinEvap (130 and 1,090),
//! against the sum of a chain's modes.

use super::{integrated, right_hand_sides};
use crate::thesis::simulated::{Place, Simulated, fmu};
use std::f64::consts::PI;

/// A chain of masses between two walls, whose first one begins at 1 m.
struct Chain {
    masses: usize,
    /// Of each mode: rad/s, and its part in the motion of each mass.
    modes: Vec<(f64, Vec<f64>)>,
}

impl Chain {
    fn new(masses: usize) -> Chain {
        let angle = |mode: usize| PI * mode as f64 / (masses + 1) as f64;
        let part = |mode: usize, mass: usize| {
            2.0 / (masses + 1) as f64 * angle(mode).sin() * (angle(mode) * mass as f64).sin()
        };
        let mode = |mode: usize| {
            let own = (1..=masses).map(|mass| part(mode, mass)).collect();
            (20.0 * (angle(mode) / 2.0).sin(), own)
        };
        Chain { masses, modes: (1..=masses).map(mode).collect() }
    }

    /// Where a mass is, counted from 0.
    fn place(&self, mass: usize, t: f64) -> f64 {
        self.modes.iter().map(|(w, parts)| parts[mass] * (w * t).cos()).sum()
    }

    fn off(&self, simulated: &Simulated) -> f64 {
        let masses = 0..self.masses;
        masses
            .map(|mass| super::deviation(simulated, &format!("x[{}]", mass + 1), |t| self.place(mass, t)))
            .fold(0.0, f64::max)
    }
}

const COLUMNS: [&str; 8] =
    ["--output-variable", "x", "--output-variable", "energy", "--output-variable", "crossings", "--stop-time", "1.8"];

/// The thesis: some 1e-7 for the robot, over 1.8 s.
#[test]
fn thirty_six_states_move_as_the_sum_of_their_modes() {
    for (solver, most) in [("auto", 13_400), ("bdf", 12_800)] {
        let simulated = integrated("scale", solver, "1e-10", &COLUMNS);
        let (off, count) = (Chain::new(18).off(&simulated), right_hand_sides(&simulated));
        println!(
            "{solver}: {off:e} off, {count} right-hand sides, {:?} crossings",
            simulated.column("crossings").last()
        );
        assert!(off < 1e-7, "{solver}: {off:e}");
        assert!(count <= most, "{solver}: {count}");
        assert!(simulated.column("energy").iter().all(|energy| (energy - 100.0).abs() < 1e-5), "{solver}");
    }
}

/// The thesis only says how long TwinEvap takes.
#[test]
fn a_hundred_and_thirty_states_move_as_the_sum_of_their_modes() {
    let simulated = integrated("scale_large", "auto", "1e-10", &COLUMNS);
    let (off, count) = (Chain::new(65).off(&simulated), right_hand_sides(&simulated));
    println!("{off:e} off, {count} right-hand sides, {:?} crossings", simulated.column("crossings").last());
    assert!(off < 1e-7, "{off:e}");
    assert!(count <= 21_800, "{count}");
}

/// Structural parameters, which are set before anything else, change how many there are. There are no chains with an odd number of
/// states: what the instance says then is not what the description comes to, and it is refused.
#[test]
fn numbers_of_states_and_indicators_are_those_of_structural_parameters() {
    let sized = |states: &str, columns: &[&str]| {
        let sizes = ["--start-value", states, "--start-value", "indicators=5"];
        integrated("scale", "auto", "1e-10", &[columns, &sizes].concat())
    };
    let simulated = sized("states=8", &COLUMNS);
    assert!(simulated.header().contains(",x[8],") && !simulated.header().contains("x[9]"), "{}", simulated.header());
    let off = Chain::new(4).off(&simulated);
    assert!(off < 1e-7, "{off:e}");
    let refused = Place::new().simulate(fmu("scale"), &["--start-value", "states=9"]).exits(2);
    let told = "fmi3GetNumberOfContinuousStates says 8, and by its modelDescription.xml it has 9";
    assert!(refused.stderr.contains(told), "{}", refused.stderr);
}

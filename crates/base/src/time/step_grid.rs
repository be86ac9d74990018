//! The instants at which an FMU's steps begin, and the times that are such an instant but for rounding (semantics S22).

use super::{Fraction, Instant};
use serde::{Deserialize, Serialize};

/// The share of a step that counts as rounding.
pub const ROUNDING: f64 = 1e-9;
/// The units in the last place of a time that count as rounding.
const ULPS: f64 = 4.0;

/// Whether a time is a point but for rounding: a billionth of a step, or four units in the last place. All three are in one unit.
pub fn is_same(time: f64, point: f64, step: f64) -> bool {
    let ulp = point.abs().next_up() - point.abs();
    (time - point).abs() <= (step * ROUNDING).max(ULPS * ulp)
}

/// The instants `origin + k step`, for k from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepGrid {
    /// The first instant.
    pub origin: Instant,
    /// Duration from one instant to the next.
    pub step: Fraction,
}

impl StepGrid {
    /// The instant of one of these grids that a time, s, is but for rounding; else the time itself. `None`: the time is no
    /// number.
    pub fn point(grids: &[StepGrid], time: f64) -> Option<Instant> {
        grids.iter().find_map(|grid| grid.near(time)).or_else(|| Instant::from_f64(time))
    }

    /// The instant that a time, s, is but for rounding; `None`: it lies between two instants.
    pub fn near(&self, time: f64) -> Option<Instant> {
        let steps = ((time - self.origin.seconds()) / self.step.seconds()).round();
        if !(0.0..u64::MAX as f64).contains(&steps) {
            return None;
        }
        let instant = self.origin.after_many(self.step, steps as u64);
        is_same(time, instant.seconds(), self.step.seconds()).then_some(instant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_an_instant_but_for_rounding_is_that_instant() {
        let grid = |origin: f64, n, d| StepGrid {
            origin: Instant::from_f64(origin).unwrap(),
            step: Fraction::new(n, d).unwrap(),
        };
        let tenths = grid(0.0, 1, 10);
        let third = grid(0.0, 1, 10).origin.after_many(Fraction::new(1, 10).unwrap(), 3);
        for time in [0.1 + 0.2, 0.3, 0.29999999999999993] {
            assert_eq!(tenths.near(time), Some(third), "{time}");
        }
        assert_eq!(grid(0.0, 1, 3).near(0.333333333333333), Some(Instant::ZERO.after(Fraction::new(1, 3).unwrap())));
        assert_eq!(grid(0.0, 1, 3).near(5.0 / 3.0), Some(Instant::ZERO.after(Fraction::new(5, 3).unwrap())));
        assert_eq!(grid(-0.3, 1, 10).near(-1e-17), Some(Instant::ZERO));
        let apart = [0.3000001, 0.25, -0.1, f64::NAN, f64::INFINITY];
        assert!(apart.iter().all(|time| tenths.near(*time).is_none()));
        // Late times have long units in the last place.
        let late = 1e9_f64;
        assert_eq!(tenths.near(late.next_up()), Instant::from_f64(late));
    }
}

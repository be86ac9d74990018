//! The common part of methods that choose the length of their steps.

use super::Equations;
use super::asked::{MeteredModel, Tried, Trouble};
use super::fixed::Step;
use super::weights::Weights;

/// The result of a step with an estimated error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AdaptiveStep {
    /// The error is tolerable.
    Good {
        /// Length of the next step, in seconds.
        next: f64,
        /// Whether that follows from the error. Else it is only as far as a step may grow at once.
        is_estimate: bool,
    },
    /// The step must be repeated.
    Bad {
        /// Length of the repeated step, in seconds.
        next: f64,
    },
}

/// The root of the mean of squares: what a norm of errors is here, so that more states do not mean more error.
pub(super) fn rms(states: usize, of: impl Fn(usize) -> f64) -> f64 {
    let sum: f64 = (0..states).map(|i| of(i).powi(2)).sum();
    (sum / states as f64).sqrt()
}

/// A length for a first step whose error grows with some power of its length (Hairer, Nørsett, Wanner, II.4): one right-hand side, at
/// a point that is a small step from `x0` along `f0`. `x1` and `f1` are overwritten.
pub(super) fn first_length<E: Equations>(
    asked: &mut MeteredModel<'_, E>,
    weights: &Weights,
    step: &mut Step,
    longest: f64,
    power: f64,
) -> Tried<E, f64> {
    let states = step.x0.len();
    let tolerable = |i: usize| weights.tolerable(i, step.x0[i].abs());
    let size = rms(states, |i| step.x0[i] / tolerable(i));
    let slope = rms(states, |i| step.f0[i] / tolerable(i));
    let small = if size < 1e-5 || slope < 1e-5 { 1e-6 } else { 0.01 * size / slope };
    let small = small.min(longest);
    for (i, x1) in step.x1.iter_mut().enumerate() {
        *x1 = step.x0[i] + small * step.f0[i];
    }
    let tried = match asked.tell(step.from + small, &step.x1) {
        Ok(()) => asked.derivatives(&mut step.f1),
        refused => refused,
    };
    match tried {
        Ok(()) => {}
        // Nothing is known beyond: what is small will be tried.
        Err(Trouble::Smaller(_)) => return Ok(small),
        Err(stop) => return Err(stop),
    }
    let bend = rms(states, |i| (step.f1[i] - step.f0[i]) / tolerable(i)) / small;
    let steepest = slope.max(bend);
    let length = if steepest <= 1e-15 { (small * 1e-3).max(1e-6) } else { (0.01 / steepest).powf(1.0 / power) };
    Ok(length.min(100.0 * small).min(longest))
}

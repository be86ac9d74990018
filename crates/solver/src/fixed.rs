//! One step of a length that was chosen beforehand: the explicit Euler method, and the classical method of Runge and Kutta.

use super::Equations;
use super::asked::{MeteredModel, Tried};

/// A step under way: from a point that is final to one that may still be moved to an event.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) from: f64,
    pub(super) to: f64,
    /// Length of the integration: `to - from`, or the exact value that both are rounded from.
    pub(super) length: f64,
    pub(super) x0: Vec<f64>,
    /// The derivatives at `x0`.
    pub(super) f0: Vec<f64>,
    pub(super) x1: Vec<f64>,
    /// The derivatives at `x1`, where the method has come to know them.
    pub(super) f1: Vec<f64>,
}

impl Step {
    pub(super) fn new(states: usize) -> Step {
        let none = vec![0.0; states];
        Step { from: 0.0, to: 0.0, length: 0.0, x0: none.clone(), f0: none.clone(), x1: none.clone(), f1: none }
    }
}

/// Euler: x1 = x0 + h·f0. The operations are those that an FMU does with this method inside, so that bits can be compared.
pub(super) fn euler(step: &mut Step) {
    for ((x1, &x0), &f0) in step.x1.iter_mut().zip(&step.x0).zip(&step.f0) {
        *x1 = x0 + step.length * f0;
    }
}

/// Interpolates linearly, as Euler's method does, at a time within the step, or a little beyond.
pub(super) fn on_line(step: &Step, t: f64, x: &mut [f64]) {
    for ((x, &x0), &f0) in x.iter_mut().zip(&step.x0).zip(&step.f0) {
        *x = x0 + (t - step.from) * f0;
    }
}

/// Work vectors of the method of Runge and Kutta.
#[derive(Clone, Debug)]
pub(super) struct Rk4 {
    stage: Vec<f64>,
    slope: Vec<f64>,
    sum: Vec<f64>,
}

impl Rk4 {
    pub(super) fn new(states: usize) -> Rk4 {
        let none = vec![0.0; states];
        Rk4 { stage: none.clone(), slope: none.clone(), sum: none }
    }

    /// Computes `x1` from `x0` and `f0`: three right-hand sides.
    pub(super) fn advance<E: Equations>(&mut self, asked: &mut MeteredModel<'_, E>, step: &mut Step) -> Tried<E> {
        let h = step.length;
        self.sum.copy_from_slice(&step.f0);
        self.slope.copy_from_slice(&step.f0);
        for (part, share) in [(0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            for ((stage, &x0), &slope) in self.stage.iter_mut().zip(&step.x0).zip(&self.slope) {
                *stage = x0 + part * h * slope;
            }
            let t = if part == 1.0 { step.to } else { step.from + part * h };
            asked.tell(t, &self.stage)?;
            asked.derivatives(&mut self.slope)?;
            for (sum, &slope) in self.sum.iter_mut().zip(&self.slope) {
                *sum += share * slope;
            }
        }
        for ((x1, &x0), &sum) in step.x1.iter_mut().zip(&step.x0).zip(&self.sum) {
            *x1 = x0 + h / 6.0 * sum;
        }
        Ok(())
    }
}

/// Interpolates on the parabola through both ends of the step with the slope at its beginning: no derivatives are
/// needed where an event may have made them unusable. Near `x1` it is as accurate as the method.
pub(super) fn on_parabola(step: &Step, t: f64, x: &mut [f64]) {
    let share = (t - step.from) / (step.to - step.from);
    for (((x, &x0), &f0), &x1) in x.iter_mut().zip(&step.x0).zip(&step.f0).zip(&step.x1) {
        let straight = step.length * f0;
        *x = x0 + share * (straight + share * (x1 - x0 - straight));
    }
}

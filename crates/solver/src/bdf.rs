//! Numerical differentiation formulas of order 1 to 5, for stiff equations (Shampine, Reichelt: The MATLAB ODE Suite, 1997; the error
//! and the orders beside as in Byrne, Hindmarsh: A Polyalgorithm for the Numerical Solution of ODEs, 1975).
//!
//! The last steps are kept as backward differences of states that are one length of step apart: another length means other differences
//! of the same polynomial. That polynomial is also the solution between the steps.

use super::adaptive::{AdaptiveStep, rms};
use super::asked::{MeteredModel, Tried};
use super::dense::{Factors, SquareMatrix};
use super::fixed::Step;
use super::jacobian::{Point, jacobian};
use super::weights::Weights;
use super::{Equations, Structure};
use std::ops::RangeInclusive;

const MAX_ORDER: usize = 5;
/// The shift of each order's formula from the backward differentiation formula to a smaller error.
const LEANING: [f64; MAX_ORDER + 1] = [0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0];
/// 1 + 1/2 + ... + 1/k.
const SUMS: [f64; MAX_ORDER + 1] = [0.0, 1.0, 1.5, 11.0 / 6.0, 25.0 / 12.0, 137.0 / 60.0];

/// The most iterations of the corrector before its matrix, or the length of the step, is to blame.
const ITERATIONS: u32 = 4;
/// The part of the tolerable error that the iteration's error may have.
const ITERATED: f64 = 0.15;
/// However much closer the last iterations have come, a first one is not trusted to come closer than this.
const SMALLEST_RATE: f64 = 0.04;
/// Iterations that come closer by less than this with one matrix say nothing of how they will with the next one.
const TELLING_RATE: f64 = 0.3;
/// With each iteration that comes closer, this part of the worse rates before is remembered.
const REMEMBERED: f64 = 0.5;
const SAFETY: f64 = 0.75;
/// Down to this tolerance a single step may make all of the tolerable error ([`share_of_a_step`]).
const WHOLE_SHARE: f64 = 1e-4;
/// The least error of a step, relative to a state, at which differences of states still say more than their rounding.
const ROUNDING: f64 = 1e-14;
/// The least and the most by which one step is longer than the one before.
const SHRINKS_TO: f64 = 0.2;
const GROWS_TO: f64 = 10.0;
/// A step that might grow by less than this stays as it is: another length means another matrix, and a history that has to settle.
const WORTHWHILE: f64 = 1.2;
/// Ratios of step lengths for which a history is of use: beyond them, remains of rounding and of the corrector would be scaled up
/// with the power of the order.
const COMPARABLE: RangeInclusive<f64> = 0.01..=100.0;
/// Lengths that differ by less than this are those of goals that are equally far apart, up to rounding.
const SAME_LENGTH: f64 = 1e-11;

type Transformation = [[f64; MAX_ORDER + 1]; MAX_ORDER + 1];

/// The history, the corrector's matrix, and work vectors.
#[derive(Clone, Debug)]
pub(super) struct Bdf {
    /// The share of the tolerable error that a single step may make.
    share: f64,
    structure: Structure,
    /// Whether there is a history.
    has_begun: bool,
    order: usize,
    /// The length of step that the history is in, in seconds.
    length: f64,
    /// Number of steps for which the history has had this length and order.
    equal_steps: usize,
    /// The states at the end of the history and their backward differences.
    differences: [Vec<f64>; MAX_ORDER + 3],
    /// Whether the step that was tried last was made, and the history is in its length.
    is_made: bool,
    /// Whether the equations may be others since: then `doubt` is by how much the history misses the derivatives that they have at its
    /// end, as the corrector would see it.
    is_in_doubt: bool,
    doubt: Vec<f64>,
    /// The order of the polynomial of the step that was made last, and the time of its end, in seconds.
    made: (usize, f64),
    jacobian: SquareMatrix,
    has_jacobian: bool,
    /// Whether the Jacobian belongs to the step that is tried.
    is_jacobian_new: bool,
    matrix: SquareMatrix,
    factors: Factors,
    /// The share of the Jacobian in the matrix that was taken apart; 0 where none was.
    factored: f64,
    /// The rate at which the last iterations have come closer, if it is known for this matrix.
    rate: Option<f64>,
    predicted: Vec<f64>,
    /// The derivatives at the predicted states.
    predicted_f: Vec<f64>,
    history: Vec<f64>,
    /// The corrector's addition to the prediction.
    correction: Vec<f64>,
    change: Vec<f64>,
    /// The residual of the formula before that change.
    residual: Vec<f64>,
    f: Vec<f64>,
    moved: Vec<f64>,
}

impl Bdf {
    pub(super) fn new(states: usize, tolerance: f64) -> Bdf {
        let none = vec![0.0; states];
        Bdf {
            share: share_of_a_step(tolerance),
            structure: Structure::dense(states),
            has_begun: false,
            order: 1,
            length: 0.0,
            equal_steps: 0,
            differences: std::array::from_fn(|_| none.clone()),
            is_made: false,
            is_in_doubt: false,
            doubt: none.clone(),
            made: (1, 0.0),
            jacobian: SquareMatrix::new(states),
            has_jacobian: false,
            is_jacobian_new: false,
            matrix: SquareMatrix::new(states),
            factors: Factors::new(states),
            factored: 0.0,
            rate: None,
            predicted: none.clone(),
            predicted_f: none.clone(),
            history: none.clone(),
            correction: none.clone(),
            change: none.clone(),
            residual: none.clone(),
            f: none.clone(),
            moved: none,
        }
    }

    pub(super) fn set_structure(&mut self, structure: Structure) {
        self.structure = structure;
    }

    /// Other equations begin: the history is none any more. The Jacobian may still be near enough.
    pub(super) fn restart(&mut self) {
        self.has_begun = false;
    }

    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether these derivatives at the end of the history are those that its last step has come to, as far as a step of that length can
    /// tell. Else it leads elsewhere than the states go from there.
    pub(super) fn leads_on(&mut self, weights: &Weights, x: &[f64], f: &[f64]) -> bool {
        if !self.is_made {
            return false;
        }
        let (order, _) = self.made;
        let leaning = LEANING[order] * SUMS[order];
        for (state, doubt) in self.doubt.iter_mut().enumerate() {
            let known: f64 = (1..=order).map(|number| self.differences[number][state] / number as f64).sum();
            let reached = known - leaning * self.differences[order + 1][state];
            *doubt = (self.length * f[state] - reached) / (SUMS[order] - leaning);
        }
        self.is_in_doubt = true;
        self.is_within_doubt(weights, x)
    }

    /// Whether the corrector would change these states at the end of the history by less than is tolerable.
    fn is_within_doubt(&mut self, weights: &Weights, x: &[f64]) -> bool {
        self.change.copy_from_slice(&self.doubt);
        self.factors.solve(&mut self.change);
        self.size(weights, &self.change, x) < 1.0
    }

    /// The size of an error of these states, in units of the tolerable error of a step.
    fn size(&self, weights: &Weights, error: &[f64], x: &[f64]) -> f64 {
        rms(x.len(), |i| error[i] / weights.tolerable(i, x[i].abs())) / self.share
    }

    /// Tries a step, and says how long the next one should be.
    pub(super) fn attempt<E: Equations>(
        &mut self,
        asked: &mut MeteredModel<'_, E>,
        weights: &Weights,
        step: &mut Step,
    ) -> Tried<E, AdaptiveStep> {
        if self.has_begun && !COMPARABLE.contains(&(step.length / self.length)) {
            asked.tell(step.from, &step.x0)?;
            asked.derivatives(&mut step.f0)?;
            asked.begin_step();
            self.has_begun = false;
        }
        self.is_made = false;
        if !self.has_begun {
            self.begin(step);
        }
        let factor = step.length / self.length;
        if (factor - 1.0).abs() > SAME_LENGTH {
            self.rescale(factor);
            self.length = step.length;
            self.equal_steps = 0;
        }
        let h = self.length;
        let order = self.order;
        self.is_jacobian_new = false;
        self.predict();
        let is_in_doubt = std::mem::take(&mut self.is_in_doubt);
        let corrected = self.correct(asked, weights, step)?;
        if is_in_doubt && self.is_jacobian_new && !self.is_within_doubt(weights, &step.x0) {
            // They are others. A matrix that was too stiff for them has hidden that the history leads elsewhere.
            self.has_begun = false;
            return Ok(AdaptiveStep::Bad { next: h });
        }
        let Some(iterations) = corrected else {
            return Ok(AdaptiveStep::Bad { next: 0.5 * h });
        };
        let safety = SAFETY * f64::from(2 * ITERATIONS + 1) / f64::from(2 * ITERATIONS + iterations);
        let error = error_constant(order) * self.size(weights, &self.correction, &step.x1);
        if error.is_nan() || error > 1.0 {
            let factor = safety * error.powf(-1.0 / (order as f64 + 1.0));
            return Ok(AdaptiveStep::Bad { next: h * factor.max(SHRINKS_TO) });
        }
        self.take(step.to);
        if self.equal_steps <= order {
            return Ok(AdaptiveStep::Good { next: h, is_estimate: false });
        }
        // Which order would allow the longest step?
        let mut best = (order, error.powf(-1.0 / (order as f64 + 1.0)));
        if order > 1 {
            let lower = error_constant(order - 1) * self.size(weights, &self.differences[order], &step.x1);
            let factor = lower.powf(-1.0 / order as f64);
            if factor > best.1 {
                best = (order - 1, factor);
            }
        }
        if order < MAX_ORDER {
            let higher = error_constant(order + 1) * self.size(weights, &self.differences[order + 2], &step.x1);
            let factor = higher.powf(-1.0 / (order as f64 + 2.0));
            if factor > best.1 {
                best = (order + 1, factor);
            }
        }
        let factor = (safety * best.1).clamp(SHRINKS_TO, GROWS_TO);
        if factor > 1.0 && factor < WORTHWHILE {
            return Ok(AdaptiveStep::Good { next: h, is_estimate: false });
        }
        self.order = best.0;
        self.equal_steps = 0;
        Ok(AdaptiveStep::Good { next: h * factor, is_estimate: factor < GROWS_TO })
    }

    fn begin(&mut self, step: &Step) {
        self.has_begun = true;
        self.order = 1;
        self.equal_steps = 0;
        self.length = step.length;
        self.differences[0].copy_from_slice(&step.x0);
        for (difference, &f0) in self.differences[1].iter_mut().zip(&step.f0) {
            *difference = step.length * f0;
        }
        self.differences[2].fill(0.0);
    }

    /// The differences of the same polynomial for steps that are `factor` times as long.
    #[expect(clippy::needless_range_loop, reason = "the numbers are those of the formulas")]
    fn rescale(&mut self, factor: f64) {
        let (whole, scaled) = (transformation(self.order, 1.0), transformation(self.order, factor));
        let mut both: Transformation = [[0.0; MAX_ORDER + 1]; MAX_ORDER + 1];
        for row in 1..=self.order {
            for column in 1..=self.order {
                both[row][column] = (1..=self.order).map(|i| scaled[row][i] * whole[i][column]).sum();
            }
        }
        for state in 0..self.differences[0].len() {
            let mut old = [0.0; MAX_ORDER + 1];
            for row in 1..=self.order {
                old[row] = self.differences[row][state];
            }
            for column in 1..=self.order {
                self.differences[column][state] = (1..=self.order).map(|row| both[row][column] * old[row]).sum();
            }
        }
    }

    /// The end of the history's polynomial, and the known part of the formula.
    #[expect(clippy::needless_range_loop, reason = "the numbers are those of the formulas")]
    fn predict(&mut self) {
        self.predicted.copy_from_slice(&self.differences[0]);
        self.history.fill(0.0);
        for number in 1..=self.order {
            for (state, &difference) in self.differences[number].iter().enumerate() {
                self.predicted[state] += difference;
                self.history[state] += SUMS[number] * difference;
            }
        }
    }

    /// Solves the formula for the states at the end of the step, which become `x1`. Returns the number of iterations; `None` if the
    /// step must be shorter.
    fn correct<E: Equations>(
        &mut self,
        asked: &mut MeteredModel<'_, E>,
        weights: &Weights,
        step: &mut Step,
    ) -> Tried<E, Option<u32>> {
        asked.tell(step.to, &self.predicted)?;
        asked.derivatives(&mut self.predicted_f)?;
        let alpha = (1.0 - LEANING[self.order]) * SUMS[self.order];
        let share = self.length / alpha;
        loop {
            if !self.has_jacobian {
                jacobian(
                    asked,
                    &self.structure,
                    weights.nominals(),
                    Point { t: step.to, x: &self.predicted, f: &self.predicted_f },
                    (&mut self.moved, &mut self.f),
                    &mut self.jacobian,
                )?;
                self.has_jacobian = true;
                self.is_jacobian_new = true;
                self.factored = 0.0;
            }
            if self.factored != share {
                asked.counts.factorisations += 1;
                self.expect_of_matrix(share);
                self.factored = share;
                for row in 0..self.jacobian.size() {
                    for (element, &j) in self.matrix.row_mut(row).iter_mut().zip(self.jacobian.row(row)) {
                        *element = -share * j;
                    }
                    self.matrix[(row, row)] += 1.0;
                }
                if self.factors.set(&self.matrix).is_err() {
                    self.factored = 0.0;
                    return Ok(None);
                }
            }
            let iterations = self.iterate(asked, weights, step, alpha, share)?;
            if iterations.is_some() || self.is_jacobian_new {
                return Ok(iterations);
            }
            self.has_jacobian = false;
        }
    }

    /// Estimates the rate of iterations with another matrix of the same Jacobian: its error counts by its share, so that a smaller one
    /// is taken to be no better. Nothing is known of a new Jacobian.
    fn expect_of_matrix(&mut self, share: f64) {
        let worse = (share / self.factored).max(1.0);
        self.rate = if self.is_jacobian_new {
            None
        } else {
            self.rate.map(|rate| worse * rate).filter(|&rate| rate < TELLING_RATE)
        };
    }

    /// Simplified Newton iterations from the predicted states. `None` if they do not come close.
    fn iterate<E: Equations>(
        &mut self,
        asked: &mut MeteredModel<'_, E>,
        weights: &Weights,
        step: &mut Step,
        alpha: f64,
        share: f64,
    ) -> Tried<E, Option<u32>> {
        step.x1.copy_from_slice(&self.predicted);
        self.correction.fill(0.0);
        self.f.copy_from_slice(&self.predicted_f);
        let mut last = 0.0;
        for iteration in 1..=ITERATIONS {
            if iteration > 1 {
                asked.tell(step.to, &step.x1)?;
                asked.derivatives(&mut self.f)?;
            }
            for (state, change) in self.change.iter_mut().enumerate() {
                *change = share * self.f[state] - self.history[state] / alpha - self.correction[state];
            }
            self.residual.copy_from_slice(&self.change);
            self.factors.solve(&mut self.change);
            let size = self.size(weights, &self.change, &self.predicted);
            for (state, &change) in self.change.iter().enumerate() {
                step.x1[state] += change;
                self.correction[state] += change;
            }
            if size.is_nan() {
                return Ok(None);
            }
            if iteration > 1 {
                let rate: f64 = size / last;
                let left = (ITERATIONS - iteration) as i32;
                if rate >= 1.0 || rate.powi(left) / (1.0 - rate) * size > ITERATED {
                    return Ok(None);
                }
                self.rate = Some(self.rate.map_or(rate, |before| rate.max(REMEMBERED * before)).max(SMALLEST_RATE));
            }
            if size == 0.0
                || (iteration > 1 || self.is_first_trusted(weights, size))
                    && self.rate.is_some_and(|rate| rate / (1.0 - rate) * size < ITERATED)
            {
                return Ok(Some(iteration));
            }
            last = size;
        }
        Ok(None)
    }

    /// Whether the rate of earlier iterations tells how close the first one of this step has come, whose change is this large. If the
    /// matrix makes a change small that would be large without it, either that is right, or the equations are no longer as stiff as the
    /// matrix. Only another iteration tells one from the other: the error of the step is estimated from the changes, too.
    fn is_first_trusted(&self, weights: &Weights, size: f64) -> bool {
        let damped = |i: usize| (self.residual[i] - self.change[i]).abs() / self.share;
        (0..self.change.len()).all(|i| damped(i) <= size * weights.tolerable(i, self.predicted[i].abs()))
    }

    /// The step is good: its end joins the history.
    fn take(&mut self, to: f64) {
        let order = self.order;
        for state in 0..self.correction.len() {
            let correction = self.correction[state];
            self.differences[order + 2][state] = correction - self.differences[order + 1][state];
            self.differences[order + 1][state] = correction;
            for number in (0..=order).rev() {
                self.differences[number][state] += self.differences[number + 1][state];
            }
        }
        self.equal_steps += 1;
        self.is_made = true;
        self.made = (order, to);
    }

    /// The states within the step that was made last.
    pub(super) fn between(&self, t: f64, x: &mut [f64]) {
        let (order, to) = self.made;
        x.copy_from_slice(&self.differences[0]);
        let mut share = 1.0;
        for number in 1..=order {
            let back = (number - 1) as f64 * self.length;
            share *= (t - to + back) / (number as f64 * self.length);
            for (x, &difference) in x.iter_mut().zip(&self.differences[number]) {
                *x += share * difference;
            }
        }
    }
}

/// The share of the tolerable error that a single step may make, so that the error of all steps together shrinks with the tolerance.
///
/// Steps of order p whose errors are e are as long as e^(1/(p+1)); there are more of them the smaller e is, and their errors add up to
/// e^(p/(p+1)). With e = tolerance^((p+1)/p) that is the tolerance. Tight tolerances are steps of the highest order.
fn share_of_a_step(tolerance: f64) -> f64 {
    let share = (tolerance / WHOLE_SHARE).powf(1.0 / MAX_ORDER as f64).min(1.0);
    share.max(ROUNDING / tolerance)
}

/// The factor of a step's error to the correction, or to the difference of the same order.
fn error_constant(order: usize) -> f64 {
    LEANING[order] * SUMS[order] + 1.0 / (order as f64 + 1.0)
}

/// Turns differences into the polynomial's values at points that are `factor` lengths apart, and back (with a factor of 1).
#[expect(clippy::needless_range_loop, reason = "the numbers are those of the formulas")]
fn transformation(order: usize, factor: f64) -> Transformation {
    let mut matrix = [[0.0; MAX_ORDER + 1]; MAX_ORDER + 1];
    for column in 1..=order {
        let mut product = 1.0;
        for row in 1..=order {
            product *= ((row - 1) as f64 - factor * column as f64) / row as f64;
            matrix[row][column] = product;
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::super::{ModelError, WorkBudget, WorkCounts};
    use super::*;

    /// x' = -x, with its Jacobian.
    struct Decay(f64);

    impl Equations for Decay {
        type Failure = ();

        fn tell(&mut self, _: f64, x: &[f64]) -> Result<(), ModelError<()>> {
            self.0 = x[0];
            Ok(())
        }

        fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), ModelError<()>> {
            dx[0] = -self.0;
            Ok(())
        }

        fn jacobian(&mut self, matrix: &mut SquareMatrix) -> Result<bool, ModelError<()>> {
            matrix[(0, 0)] = -1.0;
            Ok(true)
        }
    }

    /// The error at time 1 of steps of one order and length that begin with the exact history.
    fn error(order: usize, steps: u32) -> f64 {
        let h = 1.0 / f64::from(steps);
        let mut bdf = Bdf::new(1, 1.0);
        (bdf.has_begun, bdf.order, bdf.length) = (true, order, h);
        let mut values: Vec<f64> = (0..=order).map(|back| (back as f64 * h).exp()).collect();
        for number in 0..=order {
            bdf.differences[number][0] = values[0];
            values = values.windows(2).map(|pair| pair[0] - pair[1]).collect();
        }
        let mut bound = WorkBudget { events: 0, right_hand_sides: u64::MAX };
        let mut decay = Decay(0.0);
        let mut asked = MeteredModel::new(&mut decay, WorkCounts::default(), &mut bound);
        let mut step = Step::new(1);
        for number in 0..steps {
            (step.from, step.to, step.length) = (f64::from(number) * h, f64::from(number + 1) * h, h);
            let attempt = bdf.attempt(&mut asked, &Weights::new(1.0, 1), &mut step);
            assert!(matches!(attempt, Ok(AdaptiveStep::Good { .. })));
            (bdf.order, bdf.equal_steps) = (order, 0);
        }
        (step.x1[0] - (-1f64).exp()).abs()
    }

    #[test]
    fn each_order_is_what_it_says() {
        for order in 1..=MAX_ORDER {
            let steps = if order < 4 { 100 } else { 50 };
            let slope = (error(order, steps) / error(order, 2 * steps)).log2();
            assert!((slope - order as f64).abs() < 0.1, "{slope} instead of {order}");
        }
    }

    #[test]
    fn another_length_of_step_is_the_same_polynomial() {
        let mut bdf = Bdf::new(1, 1.0);
        (bdf.order, bdf.length, bdf.made) = (4, 0.5, (4, 1.0));
        for (number, value) in [3.0, -1.0, 0.5, 2.0, -0.25].into_iter().enumerate() {
            bdf.differences[number][0] = value;
        }
        let at = |bdf: &Bdf, t: f64| {
            let mut x = [0.0];
            bdf.between(t, &mut x);
            x[0]
        };
        let before = [0.2, 0.7, 1.0, 1.1].map(|t| at(&bdf, t));
        bdf.rescale(0.3);
        bdf.length *= 0.3;
        let after = [0.2, 0.7, 1.0, 1.1].map(|t| at(&bdf, t));
        assert!(before.iter().zip(after).all(|(before, after)| (before - after).abs() < 1e-12), "{before:?} {after:?}");
    }
}

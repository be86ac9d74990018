//! The method of Dormand and Prince, order 5, with an estimate of its error, an interpolation of order 4, and a test for stiffness
//! (Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, II.4 to II.6, and II, IV.2).

use super::Equations;
use super::adaptive::{AdaptiveStep, rms};
use super::asked::{MeteredModel, Tried};
use super::fixed::Step;
use super::weights::Weights;

/// The places of the stages 2 to 6 in the step.
const NODES: [f64; 5] = [0.2, 0.3, 0.8, 8.0 / 9.0, 1.0];
/// The weights of the stages 2 to 6: shares of the slopes before them.
const STAGES: [[f64; 5]; 5] = [
    [0.2, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
];
/// The end of the step: shares of the slopes 1 to 6.
const END: [f64; 6] = [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0];
/// The estimated error: shares of the slopes 1 to 7.
const ERROR: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];
/// The further term of the interpolation beside both ends and their slopes: shares of the slopes 1 to 7.
const BETWEEN: [f64; 7] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

/// The least and the most by which one step is longer than the one before.
const SHRINKS_TO: f64 = 0.2;
const GROWS_TO: f64 = 10.0;
const SAFETY: f64 = 0.9;
/// The weight of the last step's error in the choice of the next length.
const BETA: f64 = 0.04;
/// An error that counts as that of a step before where there is none, and the least that is remembered.
const SMALLEST_ERROR: f64 = 1e-4;

/// The equations are stiff if stability rather than accuracy limits the length of this number of steps, without this number of others
/// among them.
const STIFF_STEPS: u32 = 15;
const OTHER_STEPS: u32 = 6;
/// The length of a step times the largest eigenvalue at which the method is about to become unstable.
const STABLE: f64 = 3.25;

/// Work vectors, and the memory from step to step.
#[derive(Clone, Debug)]
pub(super) struct Dopri5 {
    /// The slopes 2 to 6; 1 and 7 are the step's own.
    slopes: [Vec<f64>; 5],
    stage: Vec<f64>,
    /// The error of the last step, in units of the tolerable error.
    last_error: f64,
    was_rejected: bool,
    stiff_steps: u32,
    other_steps: u32,
}

impl Dopri5 {
    pub(super) fn new(states: usize) -> Dopri5 {
        Dopri5 {
            slopes: std::array::from_fn(|_| vec![0.0; states]),
            stage: vec![0.0; states],
            last_error: SMALLEST_ERROR,
            was_rejected: false,
            stiff_steps: 0,
            other_steps: 0,
        }
    }

    /// Other equations begin.
    pub(super) fn restart(&mut self) {
        self.last_error = SMALLEST_ERROR;
        self.was_rejected = false;
        self.stiff_steps = 0;
        self.other_steps = 0;
    }

    /// The error of the step before, which the choice of the next one depends on.
    pub(super) fn last_error(&self) -> f64 {
        self.last_error
    }

    pub(super) fn set_last_error(&mut self, error: f64) {
        self.last_error = error;
    }

    /// Whether stability has limited the last steps.
    pub(super) fn is_stiff(&self) -> bool {
        self.stiff_steps >= STIFF_STEPS
    }

    /// Computes `x1` and `f1` at the step's end from `x0` and `f0`: six right-hand sides.
    pub(super) fn advance<E: Equations>(&mut self, asked: &mut MeteredModel<'_, E>, step: &mut Step) -> Tried<E> {
        let h = step.length;
        for (number, (shares, node)) in STAGES.iter().zip(NODES).enumerate() {
            for (i, (stage, &x0)) in self.stage.iter_mut().zip(&step.x0).enumerate() {
                let mut slope = shares[0] * step.f0[i];
                for (share, before) in shares[1..].iter().zip(&self.slopes[..number]) {
                    slope += share * before[i];
                }
                *stage = x0 + h * slope;
            }
            let t = if node == 1.0 { step.to } else { step.from + node * h };
            asked.tell(t, &self.stage)?;
            asked.derivatives(&mut self.slopes[number])?;
        }
        for (i, (x1, &x0)) in step.x1.iter_mut().zip(&step.x0).enumerate() {
            let mut slope = END[0] * step.f0[i];
            for (share, of_stage) in END[1..].iter().zip(&self.slopes) {
                slope += share * of_stage[i];
            }
            *x1 = x0 + h * slope;
        }
        asked.tell_end(step.to, &step.x1)?;
        asked.derivatives(&mut step.f1)
    }

    /// Tries a step, and says how long the next one should be.
    pub(super) fn attempt<E: Equations>(
        &mut self,
        asked: &mut MeteredModel<'_, E>,
        weights: &Weights,
        step: &mut Step,
    ) -> Tried<E, AdaptiveStep> {
        self.advance(asked, step)?;
        let error = self.error(weights, step);
        let shrunk = error.powf(0.2 - 0.75 * BETA);
        if error.is_nan() || error > 1.0 {
            self.was_rejected = true;
            return Ok(AdaptiveStep::Bad { next: step.length * (SAFETY / shrunk).max(SHRINKS_TO) });
        }
        let wanted = SAFETY * self.last_error.powf(BETA) / shrunk;
        let most = if self.was_rejected { 1.0 } else { GROWS_TO };
        self.last_error = error.max(SMALLEST_ERROR);
        self.was_rejected = false;
        self.watch_stiffness(step);
        let next = step.length * wanted.clamp(SHRINKS_TO, most);
        Ok(AdaptiveStep::Good { next, is_estimate: wanted < most })
    }

    /// The estimated error of the computed step, in units of the tolerable error.
    fn error(&self, weights: &Weights, step: &Step) -> f64 {
        rms(step.x1.len(), |i| {
            let mut error = ERROR[0] * step.f0[i] + ERROR[6] * step.f1[i];
            for (share, slope) in ERROR[1..6].iter().zip(&self.slopes) {
                error += share * slope[i];
            }
            step.length * error / weights.tolerable(i, step.x0[i].abs().max(step.x1[i].abs()))
        })
    }

    fn watch_stiffness(&mut self, step: &Step) {
        let (mut slopes, mut states) = (0.0, 0.0);
        for (i, &stage) in self.stage.iter().enumerate() {
            slopes += (step.f1[i] - self.slopes[4][i]).powi(2);
            states += (step.x1[i] - stage).powi(2);
        }
        if states > 0.0 && step.length * (slopes / states).sqrt() > STABLE {
            self.stiff_steps += 1;
            self.other_steps = 0;
        } else if self.stiff_steps > 0 {
            self.other_steps += 1;
            if self.other_steps == OTHER_STEPS {
                self.stiff_steps = 0;
            }
        }
    }

    /// The states within the step that was computed last.
    pub(super) fn between(&self, step: &Step, t: f64, x: &mut [f64]) {
        let h = step.length;
        let share = (t - step.from) / (step.to - step.from);
        let rest = 1.0 - share;
        for (i, x) in x.iter_mut().enumerate() {
            let whole = step.x1[i] - step.x0[i];
            let first = h * step.f0[i] - whole;
            let last = whole - h * step.f1[i] - first;
            let mut bent = BETWEEN[0] * step.f0[i] + BETWEEN[6] * step.f1[i];
            for (share, slope) in BETWEEN[1..6].iter().zip(&self.slopes) {
                bent += share * slope[i];
            }
            *x = step.x0[i] + share * (whole + rest * (first + share * (last + rest * h * bent)));
        }
    }
}

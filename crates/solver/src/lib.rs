//! Integration of Model Exchange FMUs; in [`master`], the algorithms that step a group of FMUs.
//!
//! Integrates what Model Exchange FMUs tell of themselves: derivatives of their states, and indicators whose change of sign is an event.
//!
//! Guaranteed, whatever the method:
//! - The model is the caller's, behind [`Equations`] and [`Indicators`]; nothing here knows of FMUs, clocks or files.
//! - [`Drive::to`] never comes beyond [`Goal::until`], and whenever it returns without an error, the last point that the model was
//!   told ([`Equations::tell`]) is the one at which the drive stands: outputs that are read then belong to [`Drive::time`].
//! - An event is located on its right side: at the returned time an indicator *has* changed its domain (z > 0 or z ≤ 0), and a few
//!   units in the last place of time before it, none had.
//! - What is between the ends of an internal step is not looked at: an indicator that changes its domain and changes back within one
//!   has done nothing. [`Goal::limit`] and internal steps bound how much that may hide.
//! - What the model refuses ([`ModelError::Discard`], or a number that is none) is tried again with a smaller step.
//! - Nothing is allocated after [`Drive::new`], and [`WorkBudget`] limits the work of a call.
//! - The same calls give the same bits.
//!
//! # How a run calls it
//!
//! ```
//! use vecud_solver::{Drive, Equations, Goal, Indicators, Method, ModelError, Reached, WorkBudget};
//!
//! /// A ball that falls from a height of one metre.
//! struct Ball { x: [f64; 2] }
//! impl Equations for Ball {
//!     type Failure = String;
//!     fn tell(&mut self, _: f64, x: &[f64]) -> Result<(), ModelError<String>> {
//!         self.x.copy_from_slice(x);
//!         Ok(())
//!     }
//!     fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), ModelError<String>> {
//!         dx.copy_from_slice(&[self.x[1], -9.81]);
//!         Ok(())
//!     }
//! }
//! impl Indicators for Ball {
//!     fn indicators(&mut self, z: &mut [f64]) -> Result<(), ModelError<String>> {
//!         z[0] = self.x[0];
//!         Ok(())
//!     }
//! }
//!
//! let mut ball = Ball { x: [1.0, 0.0] };
//! // Once, before the run: two states, one indicator.
//! let mut drive = Drive::new(Method::Rk4 { internal_step: 0.01 }, 2, 1);
//! // After Event Mode has been left, also for the first time: states and nominals as the model has them now.
//! drive.states_mut().copy_from_slice(&ball.x);
//! drive.set_nominals(&[1.0, 1.0]);
//! drive.restart(&mut ball, 0.0).unwrap();
//! // For each communication step: to its end, with what may be worked in it.
//! let goal = Goal::end(0.0, 1.0);
//! let mut bound = WorkBudget { events: 100, right_hand_sides: 1_000_000 };
//! let mut bounces = 0;
//! loop {
//!     match drive.to(&mut ball, &goal, &mut bound).unwrap() {
//!         Reached::Until { .. } => break,
//!         Reached::Step => unreachable!("not asked for"),
//!         Reached::Event { .. } => {
//!             // Event Mode: here the ball turns round. Then restart, and on to the same goal.
//!             bounces += 1;
//!             let speed = drive.states()[1];
//!             drive.states_mut().copy_from_slice(&[f64::MIN_POSITIVE, -0.7 * speed]);
//!             let now = drive.time();
//!             drive.restart(&mut ball, now).unwrap();
//!         }
//!     }
//! }
//! assert_eq!((drive.time(), bounces), (1.0, 1));
//! ```
//!
//! `CompletedIntegratorStep` is the caller's: an internal step is complete at [`Reached::Step`] (which comes only where
//! [`Goal::steps`] asks for it), at [`Reached::Event`], and at [`Reached::Until`] with `step_ended`. The model has been told that point
//! just before. If the answer is an event, it is handled as any other: Event Mode, then [`Drive::restart`]. If not, the next
//! [`Drive::to`] goes on; nothing goes back over a point that was returned.
//!
//! At a communication point the caller may set inputs. Then the model answers otherwise, and the drive must hear of it:
//! [`Drive::after_inputs`] says whether that alone is an event.

#![forbid(unsafe_code)]

mod adaptive;
mod asked;
mod bdf;
mod dense;
mod dopri5;
mod drive;
mod fixed;
mod jacobian;
mod locate;
pub mod master;
mod method;
mod roots;
mod structure;
#[cfg(test)]
mod tests;
mod weights;

pub use dense::{Factors, SquareMatrix};
pub use drive::{Drive, Goal, Pace, Reached};
pub use method::Method;
pub use structure::Structure;

use std::fmt;

/// Ordinary differential equations x' = f(t, x), asked for in two steps: the point is told, then the answer is read.
pub trait Equations {
    /// What the caller's model says where it fails, or refuses to the end.
    type Failure;

    /// Time and continuous states for all that is asked until the next call: `SetTime` and `SetContinuousStates`, and whatever of
    /// continuous inputs depends on time or on other states.
    fn tell(&mut self, t: f64, x: &[f64]) -> Result<(), ModelError<Self::Failure>>;

    /// The derivatives of all states at the point last told. Not asked for where there are no states.
    fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), ModelError<Self::Failure>>;

    /// The derivatives of the derivatives at the point last told: row by derivative, column by state. All elements are to be written.
    /// `false` where the model has none to give; then they are found by differences. Only methods for stiff equations ask.
    fn jacobian(&mut self, matrix: &mut SquareMatrix) -> Result<bool, ModelError<Self::Failure>> {
        let _ = matrix;
        Ok(false)
    }
}

/// Equations whose solution has events: an indicator z that changes between z > 0 and z ≤ 0.
pub trait Indicators: Equations {
    /// All indicators at the point last told. Not asked for where there are none.
    fn indicators(&mut self, z: &mut [f64]) -> Result<(), ModelError<Self::Failure>>;
}

/// Why the model gave no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModelError<F> {
    /// Not at this point: a smaller step may mend it. The failure is what is said if it does not.
    Discard(F),
    /// At all.
    Failed(F),
}

/// Why a drive did not reach its goal. It stands where it stood after its last complete step; the model may have been told another point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stopped<F> {
    /// The model failed.
    Failed {
        /// The time that it had been told, in seconds.
        t: f64,
        /// The model's error.
        failure: F,
    },
    /// The model refused ([`ModelError::Discard`]), however small the step was made.
    Refused {
        /// The time of the last attempt, in seconds.
        t: f64,
        /// The model's last error.
        failure: F,
    },
    /// The model answered with what is no number (a derivative may not be infinite either), however small the step was made.
    NotFinite {
        /// The time of the last attempt, in seconds.
        t: f64,
        /// The answer that is no number.
        answer: Answer,
    },
    /// The error is too large however small a step is: the solution has no bounds there, or the tolerance is below rounding.
    StepTooSmall {
        /// The time at which the drive stands, in seconds.
        t: f64,
    },
    /// [`WorkBudget::right_hand_sides`] is used up.
    NoWorkLeft {
        /// The time that the model had been told last, in seconds.
        t: f64,
    },
}

/// One number of a model's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The derivative of the state with this number.
    Derivative(usize),
    /// Where the derivatives of the state with this number lead, which are finite.
    State(usize),
    /// The event indicator with this number.
    Indicator(usize),
}

impl<F: fmt::Display> fmt::Display for Stopped<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Failed { t, failure } => write!(f, "at {t} s: {failure}"),
            Stopped::Refused { t, failure } => {
                write!(f, "at {t} s, with steps made smaller again and again: {failure}")
            }
            Stopped::NotFinite { t, answer: Answer::Derivative(number) } => {
                write!(f, "at {t} s the derivative of state {number} is not finite, however small the step is made")
            }
            Stopped::NotFinite { t, answer: Answer::State(number) } => {
                write!(f, "at {t} s state {number} is not finite, however small the step is made")
            }
            Stopped::NotFinite { t, answer: Answer::Indicator(number) } => {
                write!(f, "at {t} s event indicator {number} is not a number, however small the step is made")
            }
            Stopped::StepTooSmall { t } => {
                write!(f, "at {t} s the error is larger than the tolerance allows, however small the step is made")
            }
            Stopped::NoWorkLeft { t } => {
                write!(f, "at {t} s the derivatives have been computed as often as is allowed in one step")
            }
        }
    }
}

/// What may still be worked. The caller fills it for each communication step; the drive takes from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkBudget {
    /// State events that are still located. With 0, what happens until the goal is looked at there and only there, so that a drive
    /// with a method of fixed steps comes to its goal in any case.
    pub events: u32,
    /// Greatest number of further requests for derivatives.
    pub right_hand_sides: u64,
}

/// Work since [`Drive::new`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    /// Internal steps, those that end in an event among them.
    pub steps: u64,
    /// Attempts at a step that were made smaller since their error was too large.
    pub rejected: u64,
    /// Attempts at a step that were made smaller since the model refused.
    pub discarded: u64,
    /// How often derivatives were asked for, whatever for.
    pub right_hand_sides: u64,
    /// How often the derivatives of the derivatives were wanted.
    pub jacobians: u64,
    /// How often a corrector's matrix was taken apart.
    pub factorisations: u64,
    /// How often event indicators were asked for.
    pub indicators: u64,
    /// State events.
    pub events: u64,
    /// Nominals that were no positive finite numbers, and were taken for 1.
    pub nominals_mended: u64,
}

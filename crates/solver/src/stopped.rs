//! Reasons for which a drive does not reach its goal.

use std::fmt;

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
    /// The model refused ([`ModelError::Discard`](super::ModelError::Discard)), however small the step was made.
    Refused {
        /// The time of the last attempt, in seconds.
        t: f64,
        /// The model's last error.
        failure: F,
    },
    /// The model answered with a value that is no number (a derivative may not be infinite either), however small the step was
    /// made.
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
    /// [`WorkBudget::right_hand_sides`](super::WorkBudget::right_hand_sides) is used up.
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
    /// The step's end for the state with this number, from derivatives that are finite.
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

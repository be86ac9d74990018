//! The model as the methods ask it: each question is counted and held to the bound, and each answer looked at.

use super::dense::SquareMatrix;
use super::{Answer, Equations, Indicators, ModelError, Stopped, WorkBudget, WorkCounts};

/// Why a step came to nothing.
pub(super) enum Trouble<F> {
    /// A smaller step may succeed; if none does, this is the failure.
    Smaller(Stopped<F>),
    /// No other step succeeds.
    Stop(Stopped<F>),
}

impl<F> Trouble<F> {
    /// The error of the last attempt, if no smaller step will be tried.
    pub(super) fn stopped(self) -> Stopped<F> {
        match self {
            Trouble::Smaller(stopped) | Trouble::Stop(stopped) => stopped,
        }
    }
}

pub(super) type Tried<E, T = ()> = Result<T, Trouble<<E as Equations>::Failure>>;

/// A model for the length of one call of the drive.
pub(super) struct MeteredModel<'a, E> {
    pub(super) equations: &'a mut E,
    pub(super) counts: WorkCounts,
    pub(super) bound: &'a mut WorkBudget,
    /// The time last told, in seconds.
    t: f64,
    /// Whether the point last told is the end of the step under way.
    at_end: bool,
    /// Whether the model was asked anything at the point last told.
    pub(super) has_answered: bool,
}

impl<'a, E: Equations> MeteredModel<'a, E> {
    pub(super) fn new(equations: &'a mut E, counts: WorkCounts, bound: &'a mut WorkBudget) -> MeteredModel<'a, E> {
        MeteredModel { equations, counts, bound, t: f64::NAN, at_end: false, has_answered: false }
    }

    /// A step begins: what was told so far is not its end.
    pub(super) fn begin_step(&mut self) {
        self.at_end = false;
    }

    /// Tells a point in the midst of a step, or beyond what will be its end.
    pub(super) fn tell(&mut self, t: f64, x: &[f64]) -> Tried<E> {
        self.t = t;
        (self.at_end, self.has_answered) = (false, false);
        self.equations.tell(t, x).map_err(|refused| trouble(t, refused))
    }

    /// Tells the point at which the step under way ends, if that is not the one told last.
    pub(super) fn tell_end(&mut self, t: f64, x: &[f64]) -> Tried<E> {
        if !self.at_end {
            self.tell(t, x)?;
            self.at_end = true;
        }
        Ok(())
    }

    pub(super) fn derivatives(&mut self, dx: &mut [f64]) -> Tried<E> {
        let t = self.t;
        let Some(left) = self.bound.right_hand_sides.checked_sub(1) else {
            return Err(Trouble::Stop(Stopped::NoWorkLeft { t }));
        };
        self.bound.right_hand_sides = left;
        self.counts.right_hand_sides += 1;
        self.has_answered = true;
        self.equations.derivatives(dx).map_err(|refused| trouble(t, refused))?;
        match dx.iter().position(|derivative| !derivative.is_finite()) {
            None => Ok(()),
            Some(number) => Err(Trouble::Smaller(Stopped::NotFinite { t, answer: Answer::Derivative(number) })),
        }
    }
}

impl<E: Equations> MeteredModel<'_, E> {
    /// Whether the model gives its Jacobian itself.
    pub(super) fn jacobian(&mut self, matrix: &mut SquareMatrix) -> Tried<E, bool> {
        let t = self.t;
        self.equations.jacobian(matrix).map_err(|refused| trouble(t, refused))
    }
}

impl<E: Indicators> MeteredModel<'_, E> {
    pub(super) fn indicators(&mut self, z: &mut [f64]) -> Tried<E> {
        let t = self.t;
        self.counts.indicators += 1;
        self.has_answered = true;
        self.equations.indicators(z).map_err(|refused| trouble(t, refused))?;
        // One that never changes may well be infinite.
        match z.iter().position(|indicator| indicator.is_nan()) {
            None => Ok(()),
            Some(number) => Err(Trouble::Smaller(Stopped::NotFinite { t, answer: Answer::Indicator(number) })),
        }
    }
}

fn trouble<F>(t: f64, refused: ModelError<F>) -> Trouble<F> {
    match refused {
        ModelError::Discard(failure) => Trouble::Smaller(Stopped::Refused { t, failure }),
        ModelError::Failed(failure) => Trouble::Stop(Stopped::Failed { t, failure }),
    }
}

//! The model, as its caller lends it: its equations, and its event indicators.

use super::dense::SquareMatrix;

/// Ordinary differential equations x' = f(t, x), asked for in two steps: the point is told, then the answer is read.
pub trait Equations {
    /// The failure of the caller's model.
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
    /// All indicators at the point last told. Not called if there are none.
    fn indicators(&mut self, z: &mut [f64]) -> Result<(), ModelError<Self::Failure>>;
}

/// Why the model gave no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModelError<F> {
    /// The model refuses this point: a smaller step may succeed. If it does not, this is the failure.
    Discard(F),
    /// The model fails.
    Failed(F),
}

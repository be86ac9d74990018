//! The tolerable error of each state.

/// Tolerances of the states: relative ones, and absolute ones that follow the nominals (0.01 · tolerance · nominal, as the standard
/// recommends).
#[derive(Clone, Debug)]
pub(super) struct Weights {
    relative: f64,
    /// The absolute tolerance of each state, in its unit.
    absolute: Vec<f64>,
    /// The size of each state: its nominal, or 1 where that cannot be.
    nominals: Vec<f64>,
}

impl Weights {
    /// Weights of `states` states, with nominals of 1.
    pub(super) fn new(relative: f64, states: usize) -> Weights {
        Weights { relative, absolute: vec![0.01 * relative; states], nominals: vec![1.0; states] }
    }

    /// The error that is tolerable in a state of some size.
    pub(super) fn tolerable(&self, state: usize, size: f64) -> f64 {
        self.absolute[state] + self.relative * size
    }

    /// The size of each state.
    pub(super) fn nominals(&self) -> &[f64] {
        &self.nominals
    }

    /// Takes other nominals, and returns the number of those that count as 1: zero, negative ones, and those that are not finite.
    pub(super) fn set_nominals(&mut self, nominals: &[f64]) -> u64 {
        let mut mended = 0;
        for ((absolute, own), &nominal) in self.absolute.iter_mut().zip(&mut self.nominals).zip(nominals) {
            let usable = nominal.is_finite() && nominal > 0.0;
            *own = if usable { nominal } else { 1.0 };
            *absolute = 0.01 * self.relative * *own;
            mended += u64::from(!usable);
        }
        mended
    }
}

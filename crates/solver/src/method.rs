//! The methods, as a drive uses them.

use super::adaptive::AdaptiveStep;
use super::asked::{MeteredModel, Tried, Trouble};
use super::bdf::Bdf;
use super::dopri5::Dopri5;
use super::fixed::{Rk4, Step, euler, on_line, on_parabola};
use super::weights::Weights;
use super::{Answer, Equations, Stopped, Structure};

/// The integration method of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The explicit Euler method, order 1.
    Euler {
        /// The length of an internal step, in seconds.
        internal_step: f64,
    },
    /// The classical method of Runge and Kutta, order 4.
    Rk4 {
        /// The length of an internal step, in seconds.
        internal_step: f64,
    },
    /// The method of Dormand and Prince, order 5, which chooses its steps.
    Dopri5 {
        /// The relative tolerance; the absolute one of a state is a hundredth of it times the state's nominal.
        tolerance: f64,
    },
    /// Numerical differentiation formulas of order 1 to 5, for stiff equations, which choose order and steps.
    Bdf {
        /// The tolerance, as for Dopri5.
        tolerance: f64,
    },
    /// Dopri5 until stability limits its steps rather than accuracy, then Bdf. That goes on after events, too: what Dopri5 leaves of a
    /// stiff solution would cross indicators again and again.
    Auto {
        /// The tolerance, as for Dopri5.
        tolerance: f64,
    },
}

impl Method {
    /// The length of internal steps, in seconds, where the method does not choose it.
    pub(super) fn internal_step(&self) -> Option<f64> {
        match *self {
            Method::Euler { internal_step } | Method::Rk4 { internal_step } => Some(internal_step),
            Method::Dopri5 { .. } | Method::Bdf { .. } | Method::Auto { .. } => None,
        }
    }

    /// The relative tolerance, where the method chooses its steps by one.
    pub(super) fn tolerance(&self) -> Option<f64> {
        match *self {
            Method::Euler { .. } | Method::Rk4 { .. } => None,
            Method::Dopri5 { tolerance } | Method::Bdf { tolerance } | Method::Auto { tolerance } => Some(tolerance),
        }
    }
}

/// A method with its work memory.
#[derive(Clone, Debug)]
pub(super) enum Integrator {
    Euler,
    Rk4(Rk4),
    Dopri5(Dopri5),
    Bdf(Bdf),
    Auto {
        dopri5: Dopri5,
        bdf: Bdf,
        /// Whether it is Bdf's turn.
        is_stiff: bool,
    },
}

impl Integrator {
    pub(super) fn new(method: Method, states: usize) -> Integrator {
        match method {
            Method::Euler { .. } => Integrator::Euler,
            Method::Rk4 { .. } => Integrator::Rk4(Rk4::new(states)),
            Method::Dopri5 { .. } => Integrator::Dopri5(Dopri5::new(states)),
            Method::Bdf { tolerance } => Integrator::Bdf(Bdf::new(states, tolerance)),
            Method::Auto { tolerance } => {
                Integrator::Auto { dopri5: Dopri5::new(states), bdf: Bdf::new(states, tolerance), is_stiff: false }
            }
        }
    }

    /// The explicit method of steps that are chosen, if it is its turn.
    fn dopri5(&self) -> Option<&Dopri5> {
        match self {
            Integrator::Dopri5(dopri5) | Integrator::Auto { dopri5, is_stiff: false, .. } => Some(dopri5),
            _ => None,
        }
    }

    /// The method for stiff equations, if it is its turn.
    fn bdf(&self) -> Option<&Bdf> {
        match self {
            Integrator::Bdf(bdf) | Integrator::Auto { bdf, is_stiff: true, .. } => Some(bdf),
            _ => None,
        }
    }

    /// Tells the method for stiff equations which derivatives depend on which states.
    pub(super) fn set_structure(&mut self, structure: Structure) {
        if let Integrator::Bdf(bdf) | Integrator::Auto { bdf, .. } = self {
            bdf.set_structure(structure);
        }
    }

    /// Other equations begin: an event was handled.
    pub(super) fn restart(&mut self) {
        match self {
            Integrator::Euler | Integrator::Rk4(_) => {}
            Integrator::Dopri5(dopri5) => dopri5.restart(),
            Integrator::Bdf(bdf) => bdf.restart(),
            Integrator::Auto { dopri5, bdf, .. } => {
                dopri5.restart();
                bdf.restart();
            }
        }
    }

    /// The model refuses: what was computed from its answers so far is not to be built upon. The equations are the same.
    pub(super) fn forget(&mut self) {
        if let Integrator::Bdf(bdf) | Integrator::Auto { bdf, .. } = self {
            bdf.restart();
        }
    }

    /// Whether the next step is built upon those before.
    pub(super) fn looks_back(&self) -> bool {
        self.bdf().is_some_and(Bdf::has_begun)
    }

    /// Whether these derivatives are those that the steps before lead to.
    pub(super) fn leads_on(&mut self, weights: &Weights, x: &[f64], f: &[f64]) -> bool {
        match self {
            Integrator::Bdf(bdf) | Integrator::Auto { bdf, is_stiff: true, .. } => bdf.leads_on(weights, x, f),
            _ => true,
        }
    }

    /// The power of its length with which the estimated error of a first step grows.
    pub(super) fn first_power(&self) -> f64 {
        if self.bdf().is_some() { 2.0 } else { 5.0 }
    }

    /// The memory of the last error for the choice of the next step; 0: there is none.
    pub(super) fn last_error(&self) -> f64 {
        self.dopri5().map_or(0.0, Dopri5::last_error)
    }

    pub(super) fn set_last_error(&mut self, error: f64) {
        if let Integrator::Dopri5(dopri5) | Integrator::Auto { dopri5, is_stiff: false, .. } = self {
            dopri5.set_last_error(error);
        }
    }

    /// Whether a step needs the derivatives at its beginning.
    pub(super) fn needs_derivatives(&self) -> bool {
        self.bdf().is_none_or(|bdf| !bdf.has_begun())
    }

    /// Whether a step that has not ended at an event leaves the derivatives at its end in `f1`.
    pub(super) fn leaves_derivatives(&self) -> bool {
        self.bdf().is_none_or(|bdf| !bdf.has_begun())
    }

    /// Computes `x1` at the step's end from `x0` and `f0`.
    pub(super) fn advance<E: Equations>(&mut self, asked: &mut MeteredModel<'_, E>, step: &mut Step) -> Tried<E> {
        match self {
            Integrator::Euler => euler(step),
            Integrator::Rk4(rk4) => rk4.advance(asked, step)?,
            Integrator::Dopri5(dopri5) | Integrator::Auto { dopri5, .. } => dopri5.advance(asked, step)?,
            Integrator::Bdf(_) => unreachable!("what is between its steps is exact"),
        }
        // A model may have finite derivatives anywhere: nobody else estimates an error of a fixed step.
        match step.x1.iter().position(|state| !state.is_finite()) {
            None => Ok(()),
            Some(number) => Err(Trouble::Smaller(Stopped::NotFinite { t: step.to, answer: Answer::State(number) })),
        }
    }

    /// Tries a step of a length that the method, or the goal, has chosen.
    pub(super) fn attempt<E: Equations>(
        &mut self,
        asked: &mut MeteredModel<'_, E>,
        weights: &Weights,
        step: &mut Step,
    ) -> Tried<E, AdaptiveStep> {
        match self {
            Integrator::Dopri5(dopri5) | Integrator::Auto { dopri5, is_stiff: false, .. } => {
                dopri5.attempt(asked, weights, step)
            }
            Integrator::Bdf(bdf) | Integrator::Auto { bdf, .. } => bdf.attempt(asked, weights, step),
            Integrator::Euler | Integrator::Rk4(_) => unreachable!("their steps are fixed"),
        }
    }

    /// A step has ended without an event. Says whether another method makes the next one, whose length is not known yet.
    pub(super) fn changes(&mut self) -> bool {
        match self {
            Integrator::Auto { dopri5, is_stiff, .. } if !*is_stiff && dopri5.is_stiff() => {
                *is_stiff = true;
                true
            }
            _ => false,
        }
    }

    /// The states at a time within the step that was computed last, or a little beyond its end.
    pub(super) fn between(&self, step: &Step, t: f64, x: &mut [f64]) {
        match self {
            Integrator::Euler => on_line(step, t, x),
            Integrator::Rk4(_) => on_parabola(step, t, x),
            Integrator::Dopri5(dopri5) | Integrator::Auto { dopri5, is_stiff: false, .. } => dopri5.between(step, t, x),
            Integrator::Bdf(bdf) | Integrator::Auto { bdf, .. } => bdf.between(t, x),
        }
    }

    /// Whether the states between the ends are the method's own solution, and no approximation of it.
    pub(super) fn is_exact_between(&self) -> bool {
        matches!(self, Integrator::Euler) || self.bdf().is_some()
    }
}

//! Problems with known solutions, and drives over them.

use crate::{Drive, Equations, Goal, Indicators, Method, ModelError, Reached, WorkBudget};

/// Enough for any test that is not about bounds.
pub const PLENTY: WorkBudget = WorkBudget { events: u32::MAX, right_hand_sides: u64::MAX };

pub type Answered = Result<(), ModelError<&'static str>>;

/// A model of closures over the point that it has been told.
pub struct Problem<F, Z> {
    pub t: f64,
    pub x: Vec<f64>,
    f: F,
    z: Z,
}

/// A model without indicators.
pub fn smooth<F>(f: F) -> Problem<F, impl FnMut(f64, &[f64], &mut [f64]) -> Answered>
where
    F: FnMut(f64, &[f64], &mut [f64]) -> Answered,
{
    with_indicators(f, |_, _, _| unreachable!("it has no indicators"))
}

pub fn with_indicators<F, Z>(f: F, z: Z) -> Problem<F, Z>
where
    F: FnMut(f64, &[f64], &mut [f64]) -> Answered,
    Z: FnMut(f64, &[f64], &mut [f64]) -> Answered,
{
    Problem { t: f64::NAN, x: Vec::new(), f, z }
}

impl<F, Z> Equations for Problem<F, Z>
where
    F: FnMut(f64, &[f64], &mut [f64]) -> Answered,
{
    type Failure = &'static str;

    fn tell(&mut self, t: f64, x: &[f64]) -> Answered {
        self.t = t;
        self.x.clear();
        self.x.extend_from_slice(x);
        Ok(())
    }

    fn derivatives(&mut self, dx: &mut [f64]) -> Answered {
        (self.f)(self.t, &self.x, dx)
    }
}

impl<F, Z> Indicators for Problem<F, Z>
where
    F: FnMut(f64, &[f64], &mut [f64]) -> Answered,
    Z: FnMut(f64, &[f64], &mut [f64]) -> Answered,
{
    fn indicators(&mut self, z: &mut [f64]) -> Answered {
        (self.z)(self.t, &self.x, z)
    }
}

/// A drive that stands at time 0.
pub fn started<E: Indicators>(method: Method, model: &mut E, x: &[f64], indicators: usize) -> Drive
where
    E::Failure: std::fmt::Debug,
{
    let mut drive = Drive::new(method, x.len(), indicators);
    drive.states_mut().copy_from_slice(x);
    drive.restart(model, 0.0).unwrap();
    drive
}

/// The states at a time, of a model without events that starts at 0.
pub fn solved<E: Indicators>(method: Method, model: &mut E, x: &[f64], until: f64) -> Drive
where
    E::Failure: std::fmt::Debug,
{
    let mut drive = started(method, model, x, 0);
    let reached = drive.to(model, &Goal::end(0.0, until), &mut PLENTY.clone()).unwrap();
    assert_eq!(reached, Reached::Until { step_ended: true });
    assert_eq!(drive.time(), until);
    drive
}

/// x' = 1.
pub fn clock(_: f64, _: &[f64], dx: &mut [f64]) -> Answered {
    dx.fill(1.0);
    Ok(())
}

/// x' = -x.
pub fn decay(_: f64, x: &[f64], dx: &mut [f64]) -> Answered {
    dx[0] = -x[0];
    Ok(())
}

/// A body in free fall: height and speed.
pub fn fall(_: f64, x: &[f64], dx: &mut [f64]) -> Answered {
    dx[0] = x[1];
    dx[1] = -9.81;
    Ok(())
}

/// Van der Pol's oscillator: x'' = mu (1 - x²) x' - x.
pub fn van_der_pol(mu: f64) -> impl FnMut(f64, &[f64], &mut [f64]) -> Answered {
    move |_, x, dx| {
        dx[0] = x[1];
        dx[1] = mu * (1.0 - x[0] * x[0]) * x[1] - x[0];
        Ok(())
    }
}

/// By how much the error shrinks when a step is halved, as a power of two.
pub fn order(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect()
}

/// x'' = -x, as position and speed.
pub fn oscillation(_: f64, x: &[f64], dx: &mut [f64]) -> Answered {
    (dx[0], dx[1]) = (x[1], -x[0]);
    Ok(())
}

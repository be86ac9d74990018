//! The coupled system: the FMUs of an integration as one system of equations. Each call of the solver goes to each of them, in
//! its own unit of time.

use super::engine::Engine;
use super::exchange::{Exchange, is_discard};
use super::group::{Failed, Group};
use super::member::NO_MODE;
use crate::activation_error::ActivationError;
use crate::integration_buffers::{CoupledFmu, PatternRead};
use vecud_base::time::{Instant, TimeUnit};
use vecud_fmi::{Attempt, ContinuousTime, DerivativeError, Failure, Function, Outcome, Status};
use vecud_record::unusable::Unusable;
use vecud_solver::{Answer, Equations, Indicators, ModelError, SquareMatrix, Stopped};

/// The FMUs as one system of equations.
pub struct CoupledSystem<'g, 'w, 'p> {
    pub group: &'g mut Group<'w>,
    /// The values between the FMUs of a group with a master.
    pub exchange: Option<&'g mut Exchange>,
    pub parts: &'p mut [CoupledFmu],
    /// Two communication points in seconds and as instants, between which all times are; each FMU is told them rounded once in
    /// its unit.
    pub between: [(f64, &'p Instant); 2],
}

impl CoupledSystem<'_, '_, '_> {
    /// Makes a call to one FMU that the FMU may refuse at the present point.
    fn ask(
        &mut self,
        part: usize,
        ask: impl FnOnce(&mut ContinuousTime) -> Result<Attempt, Failure>,
    ) -> Result<(), ModelError<Failed>> {
        let number = self.parts[part].member;
        let attempt = self.group.with(number, |member, calls, _, _| {
            let Engine::Equations(model) = &mut member.engine else { return Ok(Attempt::Done(Outcome::Ok)) };
            let attempt = ask(&mut model.continuous_time().ok_or(NO_MODE)?)?;
            if let Attempt::Done(outcome) = attempt {
                calls.allow(outcome)?;
            }
            Ok(attempt)
        });
        answered(number, attempt)
    }

    /// Brings the inputs of one FMU to where they are on their lines at this time.
    fn follow_lines(&mut self, part: usize, t: f64) -> Result<(), ModelError<Failed>> {
        let number = self.parts[part].member;
        let attempt = self.group.with(number, |member, calls, _, _| {
            let Engine::Equations(model) = &mut member.engine else { return Ok(Attempt::Done(Outcome::Ok)) };
            let mut now = model.continuous_time().ok_or(NO_MODE)?;
            let attempt = calls.set_on_lines(t, |batch| now.set(batch))?;
            if let Attempt::Done(outcome) = attempt {
                calls.allow(outcome)?;
            }
            Ok(attempt)
        });
        answered(number, attempt)
    }
}

/// The result of a call that the FMU may refuse at the present point.
fn answered(member: usize, attempt: Result<Attempt, Failed>) -> Result<(), ModelError<Failed>> {
    match attempt.map_err(ModelError::Failed)? {
        Attempt::Done(_) => Ok(()),
        Attempt::Discarded(failure) => {
            Err(ModelError::Discard(Failed { member, error: ActivationError::Call(failure) }))
        }
    }
}

impl Equations for CoupledSystem<'_, '_, '_> {
    type Failure = Failed;

    fn tell(&mut self, t: f64, x: &[f64]) -> Result<(), ModelError<Failed>> {
        for part in 0..self.parts.len() {
            let CoupledFmu { time_unit: unit, member, ref states, .. } = self.parts[part];
            let states = &x[states.clone()];
            let time = if unit.is_second() { t } else { in_unit(t, unit, &self.between) };
            let time = self.group.member(member).0.stepping.value_between(t, time);
            self.ask(part, |now| match now.set_time(time)? {
                Attempt::Done(outcome) => match now.set_states(states)? {
                    Attempt::Done(other) => Ok(Attempt::Done(outcome.or(other))),
                    discarded => Ok(discarded),
                },
                discarded => Ok(discarded),
            })?;
            if self.parts[part].is_on_lines {
                self.follow_lines(part, t)?;
            }
        }
        let time = *self.between[0].1;
        let Some(exchange) = &mut self.exchange else { return Ok(()) };
        exchange.evaluate(self.group, time).map_err(|failed| match is_discard(&failed) {
            true => ModelError::Discard(failed),
            false => ModelError::Failed(failed),
        })
    }

    fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), ModelError<Failed>> {
        for part in 0..self.parts.len() {
            let CoupledFmu { time_unit: unit, ref states, .. } = self.parts[part];
            let own = &mut dx[states.clone()];
            self.ask(part, |now| now.derivatives(own))?;
            if !unit.is_second() {
                let seconds = unit.seconds().seconds();
                own.iter_mut().for_each(|derivative| *derivative /= seconds);
            }
        }
        Ok(())
    }

    fn jacobian(&mut self, matrix: &mut SquareMatrix) -> Result<bool, ModelError<Failed>> {
        if self.parts.iter().any(|part| part.pattern.is_none() && !part.states.is_empty()) {
            return Ok(false);
        }
        matrix.fill(0.0);
        for CoupledFmu { member, states, time_unit: unit, pattern, .. } in self.parts.iter_mut() {
            let Some(PatternRead { pattern, values }) = pattern else { continue };
            let number = *member;
            let read = self.group.with(number, |member, calls, _, _| {
                let Engine::Equations(model) = &mut member.engine else { return Ok(Ok(())) };
                match pattern.read(&mut model.continuous_time().ok_or(NO_MODE)?, values) {
                    Ok(outcome) => calls.allow(outcome).map(Ok),
                    Err(DerivativeError::Failed(failure)) if failure.status == Status::Discard => {
                        Ok(Err(Some(failure)))
                    }
                    Err(DerivativeError::Failed(failure)) => Err(failure.into()),
                    // Differences replace derivatives that cannot be called.
                    Err(_) => Ok(Err(None)),
                }
            });
            match read.map_err(ModelError::Failed)? {
                Ok(()) => (),
                Err(None) => return Ok(false),
                Err(Some(failure)) => {
                    return Err(ModelError::Discard(Failed { member: number, error: ActivationError::Call(failure) }));
                }
            }
            for (value, &(row, column)) in values.iter().zip(pattern.places()) {
                matrix[(states.start + row, states.start + column)] = value / unit.seconds().seconds();
            }
        }
        Ok(true)
    }
}

impl Indicators for CoupledSystem<'_, '_, '_> {
    fn indicators(&mut self, z: &mut [f64]) -> Result<(), ModelError<Failed>> {
        for part in 0..self.parts.len() {
            let own = &mut z[self.parts[part].indicators.clone()];
            self.ask(part, |now| now.indicators(own))?;
        }
        Ok(())
    }
}

/// A time in seconds in another unit, such that it is on the same side of the communication points `between`, or beyond them,
/// where a solver looks ahead.
fn in_unit(t: f64, unit: TimeUnit, between: &[(f64, &Instant); 2]) -> f64 {
    let [from, to] = between.map(|(_, point)| unit.value(*point));
    match between.iter().position(|(seconds, _)| *seconds == t) {
        Some(0) => from,
        Some(_) => to,
        None if t > between[1].0 => (t / unit.seconds().seconds()).max(to),
        None => (t / unit.seconds().seconds()).max(from).min(to.max(from)),
    }
}

/// The failure that ended the integration, with the member that caused it.
pub fn failed(stopped: Stopped<Failed>, parts: &[CoupledFmu], group: &mut Group) -> Failed {
    match stopped {
        Stopped::Failed { failure, .. } | Stopped::Refused { failure, .. } => failure,
        Stopped::NotFinite { t, answer } => {
            let (function, number) = match answer {
                Answer::Derivative(number) => (Function::GetContinuousStateDerivatives, number),
                Answer::State(number) => (Function::SetContinuousStates, number),
                Answer::Indicator(number) => (Function::GetEventIndicators, number),
            };
            let range = |part: &CoupledFmu| match answer {
                Answer::Derivative(_) | Answer::State(_) => part.states.clone(),
                Answer::Indicator(_) => part.indicators.clone(),
            };
            let part = parts.iter().find(|part| range(part).contains(&number)).expect("it is of one of them");
            let reading = Unusable::Element((number - range(part).start) as u64);
            let (host, unit) = (group.host(part.member), group.unit(part.member));
            let time = Instant::not_before(t).unwrap_or(Instant::ZERO);
            Failed { member: part.member, error: host.fail_reading(function, unit, time, reading) }
        }
        Stopped::StepTooSmall { t } => {
            let member = parts.first().map_or(0, |part| part.member);
            let (function, time) =
                (Function::GetContinuousStateDerivatives, Instant::not_before(t).unwrap_or(Instant::ZERO));
            let (host, unit) = (group.host(member), group.unit(member));
            Failed { member, error: host.fail_reading(function, unit, time, Unusable::NoStep) }
        }
        Stopped::NoWorkLeft { .. } => unreachable!("it is gone on with"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vecud_base::time::Fraction;

    /// A solver may look ahead of the communication point that it goes to.
    #[test]
    fn a_time_in_minutes_is_between_its_communication_points_or_beyond_them() {
        let minute = TimeUnit::new(Fraction::parse("60").unwrap()).unwrap();
        let [from, to] = [1.0, 2.0].map(|time| Instant::from_f64(time).unwrap());
        let between = [(1.0, &from), (2.0, &to)];
        let told = [1.0, 1.5, 2.0, 3.0].map(|t| in_unit(t, minute, &between));
        assert_eq!(told, [1.0 / 60.0, 0.025, 2.0 / 60.0, 0.05]);
    }
}

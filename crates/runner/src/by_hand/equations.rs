//! Requests for Model Exchange: the equations of an instance, their implicit form, and their size.

use super::instance::{Caller, LiveInstance, Result};
use super::protocol::{ReplyContent, Request, RequestFailure};
use vecud_description::{Causality, ModelDescription, Variable};
use vecud_fmi::{Attempt, Function, ImplicitForm, Numbers};

impl Caller {
    /// Asks the instance for its numbers of states and event indicators. A difference to the description is noted.
    fn ask_numbers(&mut self) -> Result<Numbers> {
        let LiveInstance::Equations(_, model) = &mut self.instance else { return Err(RequestFailure::NotHere) };
        let numbers = model.numbers();
        let numbers = numbers.map_err(|failure| self.failed(failure))?;
        (self.numbers, self.has_told_numbers) = (numbers, true);
        // With them sizes change, and the numbers of the description are not the last word.
        let is_structural = |own: &Variable| own.causality == Causality::StructuralParameter;
        if !self.description.variables.iter().any(is_structural) {
            let Numbers { states, event_indicators } = self.described;
            for (function, told, described) in [
                (Function::GetNumberOfContinuousStates, numbers.states, states),
                (Function::GetNumberOfEventIndicators, numbers.event_indicators, event_indicators),
            ] {
                if told != described {
                    let function = self.word(function);
                    self.channel
                        .note(format!("{function} says {told}, and by its modelDescription.xml it has {described}"));
                }
            }
        }
        Ok(numbers)
    }

    /// Notes that nothing is called where the FMU has no states (or event indicators). The instance is asked for its numbers
    /// first, where it has the function for it.
    fn tell_of_none(&mut self, request: &Request) -> Result<()> {
        let (what, of): (_, fn(&Numbers) -> usize) = match request {
            Request::SetContinuousStates { .. }
            | Request::GetContinuousStates
            | Request::GetContinuousStateDerivatives
            | Request::GetNominalsOfContinuousStates => ("continuous states", |numbers| numbers.states),
            Request::GetEventIndicators => ("event indicators", |numbers| numbers.event_indicators),
            _ => return Ok(()),
        };
        if of(&self.numbers) == 0 && !self.has_told_numbers {
            self.ask_numbers()?;
        }
        if of(&self.numbers) == 0 {
            self.channel.note(format!("nothing is called: the FMU has no {what}"));
        }
        Ok(())
    }

    /// Carries out a request that only Model Exchange has.
    pub(super) fn equations(&mut self, request: Request) -> Result<ReplyContent> {
        self.tell_of_none(&request)?;
        let Numbers { states, event_indicators } = match request {
            Request::GetNumbers => {
                let Numbers { states, event_indicators } = self.ask_numbers()?;
                return Ok(ReplyContent::Numbers { states, event_indicators });
            }
            _ => self.numbers,
        };
        let LiveInstance::Equations(_, model) = &mut self.instance else { return Err(RequestFailure::NotHere) };
        if request == Request::GetStateValueReferences {
            let mut references = vec![0; states];
            let done = model.state_references(&mut references);
            self.nothing(done)?;
            return Ok(ReplyContent::References(references));
        }
        let mut continuous = model.continuous_time().ok_or(RequestFailure::NotHere)?;
        let vector = |length: usize| vec![0.0; length];
        let (attempt, given) = match request {
            Request::SetTime { time } => {
                let attempt = continuous.set_time(time);
                if let Ok(Attempt::Done(_)) = attempt {
                    self.time = time;
                }
                (attempt, ReplyContent::Nothing)
            }
            Request::SetContinuousStates { states: values } => {
                if values.len() != states {
                    let words = format!("the instance has {states} continuous states, not {}", values.len());
                    return Err(RequestFailure::Refused(words));
                }
                (continuous.set_states(&values), ReplyContent::Nothing)
            }
            Request::GetContinuousStates => {
                let mut values = vector(states);
                (continuous.states(&mut values).map(Attempt::Done), ReplyContent::Vector(values))
            }
            Request::GetNominalsOfContinuousStates => {
                let mut values = vector(states);
                (continuous.nominals(&mut values).map(Attempt::Done), ReplyContent::Vector(values))
            }
            Request::GetContinuousStateDerivatives => {
                let mut values = vector(states);
                (continuous.derivatives(&mut values), ReplyContent::Vector(values))
            }
            Request::GetEventIndicators => {
                let mut values = vector(event_indicators);
                (continuous.indicators(&mut values), ReplyContent::Vector(values))
            }
            Request::CompletedIntegratorStep { no_set_fmu_state_prior_to_current_point } => {
                let completed = continuous.completed_integrator_step(no_set_fmu_state_prior_to_current_point);
                let said = completed.map_err(|failure| self.failed(failure))?;
                return Ok(ReplyContent::Completed {
                    enter_event_mode: said.enter_event_mode,
                    terminate_simulation: said.terminate_simulation,
                });
            }
            Request::Residual { derivatives } => {
                let form = form(&self.description)?;
                if derivatives.len() != form.states() {
                    let words = format!("there are {} continuous states, not {}", form.states(), derivatives.len());
                    return Err(RequestFailure::Refused(words));
                }
                let mut values = vector(form.states());
                (form.residual(&mut continuous, &derivatives, &mut values), ReplyContent::Vector(values))
            }
            Request::Jacobian { by_differences } => {
                let form = form(&self.description)?;
                let mut form = if by_differences { form.by_differences() } else { form };
                let (rows, columns, calls) = (form.rows(), form.states(), form.calls());
                let mut elements = vector(rows * columns);
                let done = form.jacobian(&mut continuous, &mut elements);
                let attempt = self.derived(done)?;
                self.attempted(Ok(attempt))?;
                return Ok(ReplyContent::Matrix { rows, columns, elements, calls });
            }
            _ => return Err(RequestFailure::NotHere),
        };
        self.attempted(attempt)?;
        Ok(given)
    }
}

fn form(description: &ModelDescription) -> Result<ImplicitForm> {
    ImplicitForm::of(description).map_err(|error| RequestFailure::Refused(error.to_string()))
}

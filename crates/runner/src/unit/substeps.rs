//! The substeps from one communication point to another: a step that is discarded is halved, and an FMU that makes no progress is
//! stopped (semantics S23). [`Retry`] says from where a discarded step is tried again.

use super::stepping::Stepping;
use crate::calls::Calls;
use vecud_base::time::{Fraction, Instant};
use vecud_fmi::{AfterStep, BeforeStep, Failure, Function, NoStep, Outcome, Status, StepResult};
use vecud_plan::Retry;

/// How often a step that is discarded is made shorter (semantics S23).
const MAX_HALVINGS: u32 = 10;

/// Early returns within one communication step that make no progress, and are no events.
const MAX_STALLS: u32 = 1;

/// The result of a call for a step.
pub type Stepped<'a> = Result<AfterStep<'a>, NoStep<'a>>;

/// Progress of one communication step through its substeps and retries.
pub struct Substeps {
    at: Instant,
    /// The greatest length of further steps of this communication step, after a Discard.
    limit: Option<Fraction>,
    /// The limit is for the next step alone: the FMU has reported how far it comes.
    limits_one: bool,
    /// The next step is in place of the last one.
    replaces_last: bool,
    halvings: u32,
    stalls: u32,
    outcome: Outcome,
}

/// A step as it is asked for.
#[derive(Clone, Copy)]
pub struct NextStep {
    /// Its end.
    pub to: Instant,
    /// Its communication point, as the FMU is told.
    pub point: f64,
    /// Its size, as the FMU is told.
    pub size: f64,
}

/// The result of a substep.
pub enum SubstepResult<'a> {
    /// No progress: another substep has to follow.
    NoProgress(BeforeStep<'a>),
    /// The substep was made.
    Progress(AfterStep<'a>, StepResult),
}

impl Substeps {
    /// Begins a communication step.
    pub fn from(at: Instant) -> Substeps {
        Substeps {
            at,
            limit: None,
            limits_one: false,
            replaces_last: false,
            halvings: 0,
            stalls: 0,
            outcome: Outcome::Ok,
        }
    }

    /// The time that was reached.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// How its steps went.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The next substep; it ends at `whole` if none was discarded.
    pub fn next_step(&self, stepping: &Stepping, whole: Instant) -> NextStep {
        let to = self.limit.map_or(whole, |limit| self.at.after(limit).min(whole));
        let (point, size) = stepping.step_args(self.at, to);
        NextStep { to, point, size }
    }

    /// Sets inputs on curves for the begin of a further substep, or of a step that makes up for missed ones. They were set for
    /// `time`.
    pub fn move_inputs(
        &mut self,
        stepping: &Stepping,
        before: &mut BeforeStep,
        calls: &mut Calls,
        time: Instant,
    ) -> Result<(), Failure> {
        let later = stepping.value(self.at) - stepping.value(time);
        let outcome = calls
            .set_moved(later, |values, derivatives| Ok(before.set(values)?.or(before.set_derivatives(derivatives)?)))?;
        self.outcome = self.outcome.or(outcome);
        Ok(())
    }

    /// Makes the step with this point and size, after saving the state where a discarded step is tried again from it.
    pub fn step<'a>(
        &mut self,
        stepping: &Stepping,
        mut before: BeforeStep<'a>,
        NextStep { point, size, .. }: NextStep,
    ) -> Result<Stepped<'a>, Failure> {
        if std::mem::take(&mut self.replaces_last) {
            return Ok(before.step_instead(point, size));
        }
        if stepping.retry == Retry::FromState {
            let _warning_is_counted = before.remember()?;
        }
        Ok(before.step(point, size))
    }

    /// Evaluates the result of a step.
    pub fn evaluate<'a>(
        &mut self,
        stepping: &mut Stepping,
        stepped: Stepped<'a>,
        NextStep { to, point, size }: NextStep,
    ) -> Result<SubstepResult<'a>, Failure> {
        let after = match stepped {
            Ok(after) => after,
            Err(no_step) if no_step.failure.status == Status::Discard => {
                stepping.figures.rejected();
                if matches!(stepping.retry, Retry::Never | Retry::Unwanted) || self.halvings == MAX_HALVINGS {
                    return Err(no_step.failure);
                }
                self.halvings += 1;
                let reported = reported(stepping, &no_step, (self.at, to));
                (self.limit, self.limits_one) = (reported.or_else(|| half(self.at, to)), reported.is_some());
                self.replaces_last = stepping.retry == Retry::Instead;
                return Ok(SubstepResult::NoProgress(match stepping.retry {
                    Retry::FromState => no_step.go_back()?,
                    _ => no_step.again(),
                }));
            }
            Err(no_step) => return Err(no_step.failure),
        };
        if std::mem::take(&mut self.limits_one) {
            self.limit = None;
        }
        stepping.figures.step();
        self.outcome = self.outcome.or(after.outcome());
        let said = after.said();
        let reached = stepping.come_to(&said, (self.at, to), point + size);
        let has_event = stepping.handles_events && said.event_handling_needed;
        if said.early_return && reached == self.at && !has_event && !stepping.is_over() {
            self.stalls += 1;
            return if self.stalls > MAX_STALLS {
                Err(stuck(point))
            } else {
                Ok(SubstepResult::NoProgress(after.again()))
            };
        }
        self.at = reached;
        Ok(SubstepResult::Progress(after, said))
    }
}

/// The last successful time of a step over this interval that an FMU of FMI 2.0 or 1.0 has discarded, as a length from its begin.
fn reported(stepping: &Stepping, no_step: &NoStep, (from, to): (Instant, Instant)) -> Option<Fraction> {
    let reached = stepping.time_unit.instant(no_step.reached).filter(|_| stepping.retry != Retry::Again)?;
    let is_within = from < reached && reached < to && !stepping.is_same(reached, from);
    is_within.then(|| reached.minus(from)).flatten()
}

/// Half of the time between two instants.
fn half(from: Instant, to: Instant) -> Option<Fraction> {
    let Some(length) = to.minus(from) else { return Fraction::from_f64((to.seconds() - from.seconds()) / 2.0).ok() };
    Fraction::new(length.counter(), length.resolution().checked_mul(2)?).ok()
}

/// The failure of an FMU that makes no progress, at this time as it was told.
#[cold]
pub fn stuck(time: f64) -> Failure {
    Failure {
        function: Function::DoStep,
        status: Status::Error,
        clock: None,
        time: Some(time),
        answer: None,
        refused: false,
    }
}

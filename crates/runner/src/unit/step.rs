//! The steps of a Co-Simulation FMU without Event Mode: `fmi3DoStep`, `fmi2DoStep`, `fmiDoStep` from its release to the next one
//! (semantics S19 to S21, S23).
//!
//! The time of the FMU has no holes: missed steps are made up first, by one longer step where the FMU can vary its steps, else
//! one by one. The outputs of a step are valid at its end. So the row of a release has the inputs of that time and the outputs of
//! the step before.

use super::fast_path::FastPathSteps;
use super::stepping::{Stepping, is_wrong};
use super::substeps::{NextStep, Stepped, SubstepResult, Substeps};
use crate::activation_error::ActivationError;
use crate::calls::{Calls, FastStepResult, Getting, Recorded, Setting};
use crate::exchange::Stamp;
use crate::inbox::Settable;
use crate::run_state::{Ending, RunState};
use crate::slopes::CarriedDerivatives;
use crate::task_telemetry::TaskTelemetry;
use crate::thread_host::{PartitionHost, gives_state};
use std::time::Duration;
use vecud_base::time::{Fraction, Instant};
use vecud_fmi::{AfterStep, Batch, BeforeStep, Failure, FastPathExit, Outcome, Stepper};
use vecud_plan::schedule::Due;
use vecud_plan::{OnError, Retry, StepPlan, UnitId};
use vecud_record::findings::{FindingKind, Occurrence};

/// How long a step may be pending in a run of this plan.
pub fn patience(run: &RunState) -> Duration {
    Duration::from_nanos(run.plan.shutdown_timeout.0.try_into().unwrap_or(0))
}

/// The steps of an instance.
pub struct StepUnit {
    stepper: Stepper,
    stepping: Stepping,
    recorded: Option<Recorded>,
}

impl StepUnit {
    /// The steps of this task, `plan`, each over `step`.
    pub fn new(run: &RunState, unit: UnitId, mut plan: StepPlan, step: Fraction, mut stepper: Stepper) -> StepUnit {
        if plan.retry == Retry::FromState {
            // The FMU takes the memory for it now.
            let given = stepper.remember();
            if !gives_state(run, unit, given, stepper.is_healthy()) && stepper.is_healthy() {
                plan.retry = Retry::Never;
            }
        }
        let stepping = Stepping::new(run, unit, plan, step);
        StepUnit { stepper, stepping, recorded: Recorded::of(run, unit) }
    }

    /// Fetches the memory that its next call reads first into the processor's cache.
    #[inline]
    pub fn prefetch(&self) {
        self.stepper.prefetch();
    }

    /// Marks the instance as failed: nothing calls it any more.
    pub fn fail(&self) {
        self.stepper.fail();
    }

    /// Whether the FMU has asked for the end of the run: it comes when its next step would begin, or, where the others go on
    /// without an FMU that fails, for this FMU alone. Nothing is called any more.
    #[inline]
    pub fn is_over(&self, run: &RunState, host: &PartitionHost) -> bool {
        if self.stepping.is_over() {
            end(run, host, &self.stepping);
        }
        self.stepping.is_over()
    }

    /// Reads, before the first step, the outputs for the row of its release. In a run that goes on from a saved state the steps
    /// before have computed them; else some FMUs compute their first outputs only when they leave Initialization Mode.
    #[inline]
    pub fn read_first_outputs(&mut self, calls: &mut Calls) -> Result<(), ActivationError> {
        if self.stepping.reached.is_none() && self.recorded.is_some() {
            return calls.read(|batch| self.stepper.get(batch));
        }
        Ok(())
    }

    /// Starts the work of a release. Calls nothing.
    #[inline]
    pub fn begin(&mut self) -> impl Setting {
        let StepUnit { stepper, stepping, recorded } = self;
        Before { before: stepper.begin(), stepping, recorded: recorded.as_ref() }
    }

    /// Whether its releases are nothing but steps that the fast path can make.
    pub fn can_batch(&self) -> bool {
        let steps_alone = self.stepping.retry != Retry::FromState && self.stepping.time_unit.is_second();
        self.recorded.is_none() && steps_alone && self.stepper.makes_only_regular_steps()
    }

    /// Whether all releases from `time` on are regular, but for the last one of the run.
    #[inline]
    pub fn is_regular_from(&self, time: Instant) -> bool {
        self.stepping.is_regular_from(time) && self.stepper.is_healthy()
    }

    /// The fast path for its regular steps, served by `host` and counted in `telemetry`; `None`: there is none now.
    pub fn fast_path(
        &mut self,
        host: &'static PartitionHost,
        telemetry: &'static TaskTelemetry,
    ) -> Option<FastPathSteps<'_>> {
        FastPathSteps::new(&mut self.stepper, &mut self.stepping, host, telemetry)
    }

    /// Makes the regular step of the release `due`, whose time is `seconds`, to its `end`.
    #[inline(always)] // in the one loop there is
    pub fn fast_step(&mut self, due: &Due, seconds: f64, end: Instant) -> FastStepResult {
        let StepUnit { stepper, stepping, .. } = self;
        stepping.note();
        let outcome = make_regular(stepper.begin(), stepping, None, due, seconds, end)?.outcome;
        Ok((outcome, !stepping.stays_regular()))
    }

    /// Completes a release whose step the [fast path](StepUnit::fast_path) has made and left by `exit`.
    #[cold]
    pub fn finish_irregular_step(
        &mut self,
        exit: FastPathExit,
        due: &Due,
        seconds: f64,
        end: Instant,
    ) -> FastStepResult {
        let StepUnit { stepper, stepping, .. } = self;
        let (point, size) = stepping.regular_step_args(&due.time, seconds, &end);
        let outcome = go_on_from(stepper.settle(exit), stepping, None, due, NextStep { to: end, point, size })?.outcome;
        Ok((outcome, !stepping.stays_regular()))
    }

    /// Takes the release beside the grid that an early return or an event has made, if there is one.
    #[inline]
    pub fn take_point(&mut self) -> Option<Instant> {
        self.stepping.take_point()
    }

    /// The outputs of the last step were read. Where inputs jump, the row before the jump is recorded.
    #[inline]
    pub fn is_read(&mut self, calls: &Calls, run: &RunState, host: &PartitionHost) {
        if self.recorded.is_some() {
            self.stepping.is_read(self.stepping.reached);
        }
        if self.stepping.shows_events() {
            self.stepping.show_before(false, self.recorded.as_ref(), calls, run, host);
            let _is_set_at_the_next_release = self.stepping.has_jumped();
        }
    }

    /// Records the outputs of the last step, at its end, but not before `least`, the time that others have reached.
    pub fn record_last(&mut self, calls: &Calls, run: &RunState, host: &PartitionHost, least: Instant) {
        self.stepping.record_last(self.recorded.as_ref(), calls, run, host, least);
    }

    /// There is no further step in this run.
    pub fn finish(&mut self, calls: &Calls, run: &RunState, host: &PartitionHost) {
        self.stepping.note();
        self.record_last(calls, run, host, run.begin);
    }

    /// Gives the stepper back, so that the instance can be ended.
    pub fn into_stepper(self) -> Stepper {
        self.stepper
    }
}

/// An FMU has asked for the end of the run.
#[cold]
pub fn end(run: &RunState, host: &PartitionHost, stepping: &Stepping) {
    let findings = run.board.fmu(host.fmu()).findings();
    if findings.count(FindingKind::AskedForEnd) == 0 {
        let seen = Occurrence { unit: Some(stepping.unit()), time: stepping.reached, ..Occurrence::default() };
        findings.note(FindingKind::AskedForEnd, seen);
    }
    if run.plan.on_error == OnError::Stop {
        run.end(Ending::Discard);
    }
}

/// Before the step.
struct Before<'a> {
    before: BeforeStep<'a>,
    stepping: &'a mut Stepping,
    recorded: Option<&'a Recorded>,
}

/// The step was made.
struct After<'a> {
    after: AfterStep<'a>,
    outcome: Outcome,
    stepping: &'a Stepping,
}

impl Settable for Before<'_> {
    #[inline(always)] // as what it calls
    fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        self.before.set(batch)
    }

    /// No interval depends on parameters: the step is the rig's.
    fn follow_parameters(&mut self, _host: &PartitionHost, _time: Instant) -> Result<(), ActivationError> {
        Ok(())
    }
}

impl<'a> Setting for Before<'a> {
    type Getting = After<'a>;

    fn set_slopes(
        &mut self,
        host: &PartitionHost,
        time: Instant,
        batch: &Batch,
        slopes: &CarriedDerivatives,
    ) -> Result<Outcome, Failure> {
        if host.follow_curves(time, batch, slopes) {
            return Ok(Outcome::Ok);
        }
        self.before.set_derivatives(slopes.derivatives())
    }

    #[inline(always)] // it is the same time
    fn looks_at(&self, due: &Due) -> Instant {
        self.stepping.looks_at(due.time)
    }

    #[inline(always)] // mostly there is nothing to do
    fn ready(&mut self, calls: &Calls, run: &RunState, host: &PartitionHost, due: &Due) {
        self.stepping.note();
        if let Some(recorded) = self.recorded {
            self.stepping.record_release(recorded, calls, run, host, due.time);
        }
    }

    #[inline(always)] // as what it calls
    fn compute(self, calls: &mut Calls, due: &Due, seconds: f64) -> Result<After<'a>, Failure> {
        let Before { before, stepping, .. } = self;
        match stepping.regular_end(due) {
            Some(end) => make_regular(before, stepping, Some(calls), due, seconds, end),
            None => make(before, stepping, calls, due),
        }
    }
}

/// Makes the regular step of a release, to its `end`. `calls` have set its inputs; `None`: it has none.
#[inline(always)] // as what it calls
fn make_regular<'a>(
    before: BeforeStep<'a>,
    stepping: &'a mut Stepping,
    calls: Option<&mut Calls>,
    due: &Due,
    seconds: f64,
    end: Instant,
) -> Result<After<'a>, Failure> {
    let (point, size) = stepping.regular_step_args(&due.time, seconds, &end);
    go_on_from(before.step(point, size), stepping, calls, due, NextStep { to: end, point, size })
}

/// Continues after a step to `next`, the regular one of a release.
#[inline(always)] // as what it calls
fn go_on_from<'a>(
    stepped: Stepped<'a>,
    stepping: &'a mut Stepping,
    calls: Option<&mut Calls>,
    due: &Due,
    next: NextStep,
) -> Result<After<'a>, Failure> {
    let NextStep { to: end, point, size } = next;
    match stepped {
        Ok(after) if !after.said().early_return => {
            stepping.figures.step();
            stepping.arrive(&after.said(), end, point + size);
            Ok(After { outcome: after.outcome(), after, stepping })
        }
        stepped => continue_release(Substeps::from(due.time), stepped, next, stepping, calls, due, end),
    }
}

/// Makes the steps of a release that is not regular.
#[inline(never)] // most are
fn make<'a>(
    mut before: BeforeStep<'a>,
    stepping: &'a mut Stepping,
    calls: &mut Calls,
    due: &Due,
) -> Result<After<'a>, Failure> {
    let mut substeps = Substeps::from(stepping.reached.filter(|_| !is_wrong("hole")).unwrap_or(due.time));
    let target = stepping.target(due);
    let next = substeps.next_step(stepping, stepping.next(substeps.at(), target));
    if substeps.at() != due.time {
        substeps.move_inputs(stepping, &mut before, calls, due.time)?;
    }
    let stepped = substeps.step(stepping, before, next)?;
    continue_release(substeps, stepped, next, stepping, Some(calls), due, target)
}

/// Continues after a step that was to come to `next`, until the work of a release is done, which ends at `target`.
#[inline(never)] // most steps are regular
fn continue_release<'a>(
    mut substeps: Substeps,
    mut stepped: Stepped<'a>,
    mut next: NextStep,
    stepping: &'a mut Stepping,
    mut calls: Option<&mut Calls>,
    due: &Due,
    target: Instant,
) -> Result<After<'a>, Failure> {
    loop {
        let mut before = match substeps.evaluate(stepping, stepped, next)? {
            SubstepResult::NoProgress(before) => before,
            SubstepResult::Progress(after, said) => {
                let reached = substeps.at();
                let is_point = said.early_return && reached > due.time && reached < target;
                if is_point {
                    // An early return is a communication point (semantics S23).
                    stepping.go_on_at(reached);
                }
                if is_point || reached >= target || stepping.is_over() {
                    return Ok(After { after, outcome: substeps.outcome(), stepping });
                }
                after.again()
            }
        };
        next = substeps.next_step(stepping, stepping.next(substeps.at(), target));
        if let Some(calls) = &mut calls {
            substeps.move_inputs(stepping, &mut before, calls, due.time)?;
        }
        stepped = substeps.step(stepping, before, next)?;
    }
}

impl Getting for After<'_> {
    #[inline]
    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn ask(&mut self, _host: &PartitionHost, _due: &Due) -> Result<(), ActivationError> {
        Ok(())
    }

    /// At the end of the step.
    fn valid_from(&self, due: &Due) -> Instant {
        self.stepping.reached.unwrap_or(due.time)
    }

    /// Visible at the end of the step (semantics S20).
    fn stamp(&mut self, _run: &RunState, due: &Due) -> Option<Stamp> {
        let visible = if is_wrong("early") { due.time } else { self.valid_from(due) };
        Some(Stamp { visible, activation: due.time })
    }

    #[inline(always)] // as what it calls
    fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure> {
        self.after.get(batch)
    }

    fn get_slopes(&mut self, slopes: &mut CarriedDerivatives) -> Result<Outcome, Failure> {
        self.after.get_derivatives(slopes.derivatives_mut())
    }
}

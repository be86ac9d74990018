//! The steps of a Co-Simulation FMU: `fmi3DoStep`, `fmi2DoStep`, `fmiDoStep` from its release to the next one (semantics S19 to
//! S23).
//!
//! The time of the FMU has no holes: what was missed is made up first, by one longer step where the FMU can vary its steps,
//! else by as many as were missed. What a step has computed is valid at its end. So the row that is recorded at a release has
//! what is set then and what the step before has computed.

use super::{Getting, Setting};
use crate::exchange::Stamp;
use crate::ffi::{AfterStep, Batch, BeforeStep, EventMode, Failure, Function, Outcome, Said, Status, Stepper};
use crate::plan::{Mode, OnError, Overrun, StepPlan, TaskId};
use crate::record::board::TaskWord;
use crate::record::findings::{Finding, Occurrence};
use crate::runner::activation::{Calls, Recorded};
use crate::runner::halt::Halt;
use crate::runner::thread_host::PartitionHost;
use crate::runner::world::{Ending, World};
use crate::schedule::Due;
use crate::time::{Fraction, Instant, TimeUnit};
use std::time::Duration;

/// How often a step that is discarded is halved (semantics S23).
const HALVINGS: u32 = 10;

/// Iterations of an event (semantics S22).
const ITERATIONS: u32 = 100;

/// What counts as rounding, of a step.
const ROUNDING: f64 = 1e-9;

/// Early returns in a release that get nowhere, and are no events.
const STUCK: u32 = 1;

/// The instance is in no mode any more, since changing it has failed.
const NO_MODE: Failure =
    Failure { function: Function::DoStep, status: Status::Error, clock: None, time: None, refused: true };

/// The FMU does not get on: at this time, as it was told.
#[cold]
fn failure(function: Function, time: f64) -> Failure {
    Failure { function, status: Status::Error, clock: None, time: Some(time), refused: false }
}

/// What makes the steps of an instance, and what the host knows of them.
pub struct StepUnit {
    stepper: Stepper,
    stepping: Stepping,
    recorded: Option<Recorded>,
}

/// An instance before its step.
enum InMode<'a> {
    Step(BeforeStep<'a>),
    Event(EventMode<'a>),
}

/// How far an instance is, and how it goes on.
struct Stepping {
    task: TaskId,
    /// How far one step goes.
    step: Fraction,
    /// The same in the FMU's unit of time, as it is told.
    size: f64,
    /// What was missed is made up by one longer step, not by one after the other.
    is_variable: bool,
    /// How often a step that is discarded may be halved.
    halvings: u32,
    unit: TimeUnit,
    /// The time that no step goes beyond.
    stop: Option<Instant>,
    /// The run is taken up again: its next part has the row of the time at which this one's steps end.
    saves: bool,
    /// The run goes on from a saved state.
    is_resumed: bool,
    /// The communication point that the FMU has come to; `None`: it has made no step in this run.
    reached: Option<Instant>,
    /// The communication point whose values were read.
    read: Option<Instant>,
    /// The last row that was recorded.
    row: Option<Instant>,
    /// How far a step may be from its point: the FMU's internal step, else a hundredth of one.
    tolerance: f64,
    /// The FMU can make steps of any size.
    varies: bool,
    /// Events are handled in Event Mode.
    events: bool,
    /// An event is recorded as two rows of its time, also at the stop time.
    shows: Option<Box<Shows>>,
    /// It is in Event Mode since its initialisation.
    is_initial: bool,
    /// When the FMU has an event by its own word.
    next_event: Option<Instant>,
    /// The FMU has asked for the end of the run.
    is_over: bool,
    /// Its last row is recorded.
    is_ended: bool,
    /// What the last step has reached by its own word, if that is another time than it was to.
    off: Option<f64>,
}

/// How an FMU that is simulated by itself is recorded: an event has two rows of its time.
struct Shows {
    /// Inputs have events at these times: what feeds them jumps, or changes something discrete.
    input_events: Box<[Instant]>,
    /// How many of them are over.
    past: usize,
    /// One row is recorded for so many releases.
    releases_per_row: u32,
    /// Releases since the last one that had a row.
    unrecorded: u32,
    /// Rows that were recorded.
    rows: u64,
}

impl Shows {
    fn new(world: &World, plan: &StepPlan) -> Shows {
        Shows {
            input_events: world.plan.input_events.clone().into(),
            past: world.plan.input_events.partition_point(|event| *event <= world.begin),
            releases_per_row: plan.steps_per_row,
            unrecorded: 0,
            rows: 0,
        }
    }

    /// Whether the row of a release is left out: not each has one.
    fn leaves_out(&mut self, is_first: bool) -> bool {
        self.unrecorded += 1;
        let leaves_out = self.unrecorded < self.releases_per_row && !is_first;
        if !leaves_out {
            self.unrecorded = 0;
        }
        leaves_out
    }
}

impl StepUnit {
    /// The steps of this task, `plan`, each over `step`.
    pub fn new(world: &World, task: TaskId, plan: StepPlan, step: Fraction, stepper: Stepper) -> StepUnit {
        let own = &world.plan.tasks[task.0];
        let unit = world.plan.fmus[own.fmu.0].time_unit;
        let (is_resumed, has_state) =
            (world.begin > world.plan.start, world.plan.fmus[own.fmu.0].initial_state.is_some());
        let patience = Duration::from_nanos(world.plan.shutdown_timeout.0.try_into().unwrap_or(0));
        let stepping = Stepping {
            task,
            step,
            size: unit.amount(step).unwrap_or(step).seconds(),
            is_variable: plan.is_variable && own.overrun != Overrun::Queue,
            halvings: if plan.retries { HALVINGS } else { 0 },
            unit,
            // A run that is taken up again goes on from where its steps end.
            stop: world.plan.stop.filter(|_| !world.saves),
            saves: world.saves,
            is_resumed: is_resumed || has_state,
            reached: None,
            read: None,
            row: None,
            tolerance: plan.internal_step.unwrap_or(unit.amount(step).unwrap_or(step).seconds() / 100.0),
            varies: plan.is_variable,
            events: plan.handles_events,
            shows: plan.rows_of_events.then(|| Box::new(Shows::new(world, &plan))),
            // A state that it was given has it in Step Mode, where steps end.
            is_initial: plan.handles_events && !is_resumed && !has_state,
            next_event: world.instances[own.fmu.0].next_event().filter(|_| is_resumed),
            is_over: false,
            is_ended: false,
            off: None,
        };
        StepUnit { stepper: stepper.with_patience(patience), stepping, recorded: Recorded::of(world, task) }
    }

    /// [`super::Unit::prefetch`].
    #[inline]
    pub fn prefetch(&self) {
        self.stepper.prefetch();
    }

    /// [`super::Unit::fail`].
    pub fn fail(&self) {
        self.stepper.fail();
    }

    /// Whether the FMU has asked for the end of the run: it comes when its next step would begin, or, where the others go on
    /// without an FMU that fails, for this FMU alone. Nothing is called any more.
    #[inline]
    pub fn is_over(&self, world: &World, host: &PartitionHost) -> bool {
        if self.stepping.is_over {
            self.end(world, host);
        }
        self.stepping.is_over
    }

    #[cold]
    fn end(&self, world: &World, host: &PartitionHost) {
        let findings = world.board.fmu(host.fmu()).findings();
        if findings.count(Finding::AskedForEnd) == 0 {
            let seen =
                Occurrence { task: Some(self.stepping.task), time: self.stepping.reached, ..Occurrence::default() };
            findings.note(Finding::AskedForEnd, seen);
        }
        if world.plan.on_error == OnError::Stop {
            world.end(Ending::Discard);
        }
    }

    /// In a run that goes on from a saved state, before its first step: reads what the steps before have computed, which the row
    /// of its release is to have.
    #[inline]
    pub fn take_up(&mut self, calls: &mut Calls) -> Result<(), Halt> {
        if self.stepping.is_resumed && self.stepping.reached.is_none() && self.recorded.is_some() {
            return calls.read(|batch| self.stepper.get(batch));
        }
        Ok(())
    }

    /// Starts the work of the release `due`. Calls nothing.
    #[inline]
    pub fn begin(&mut self, due: &Due) -> impl Setting {
        let StepUnit { stepper, stepping, recorded } = self;
        let mode = match std::mem::take(&mut stepping.is_initial) {
            false => InMode::Step(stepper.begin()),
            true => InMode::Event(stepper.initial_event_mode(stepping.unit.value(due.time))),
        };
        Before { mode: Some(mode), time: due.time, stepping, recorded: recorded.as_ref() }
    }

    /// What the last step has computed was read.
    #[inline]
    pub fn is_read(&mut self) {
        self.stepping.read = self.stepping.reached;
    }

    /// Records what the last step has computed, at its end, but not before `least`, which others have come to.
    pub fn record_last(&mut self, calls: &Calls, world: &World, host: &PartitionHost, least: Instant) {
        if self.stepping.is_ended {
            return;
        }
        self.stepping.is_ended = self.stepping.is_over;
        if let (Some(recorded), Some(read), false) = (&self.recorded, self.stepping.read, self.stepping.saves) {
            self.stepping.record(recorded, calls, world, host, read.max(least));
        }
    }

    /// There is no further step in this run.
    pub fn finish(&mut self, calls: &Calls, world: &World, host: &PartitionHost) {
        self.stepping.note(world, host);
        self.record_last(calls, world, host, world.begin);
        world.instances[host.fmu().0].expect_event(self.stepping.next_event);
    }

    /// Gives back what makes the steps, so that the instance can be ended.
    pub fn into_stepper(self) -> Stepper {
        self.stepper
    }
}

impl Stepping {
    /// Appends the row of this time, unless it is there already. In virtual time nothing is lost: waits for the supervisor to
    /// read.
    fn record(&mut self, recorded: &Recorded, calls: &Calls, world: &World, host: &PartitionHost, time: Instant) {
        if self.row.is_some_and(|row| row >= time) {
            return;
        }
        self.row = Some(time);
        // No other task has these columns, so that no order is needed but among rows of one time.
        let order = self.shows.as_mut().map_or(0, |shows| {
            shows.rows += 1;
            shows.rows
        });
        while !recorded.append(calls, world, host, order, time) {
            if world.plan.mode == Mode::RealTime {
                world.board.task(self.task).count(TaskWord::SamplesDropped, 1);
                return;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// [`Stepping::record`] at the beginning of a release, of which not each has a row.
    #[inline]
    fn record_release(
        &mut self,
        recorded: &Recorded,
        calls: &Calls,
        world: &World,
        host: &PartitionHost,
        time: Instant,
    ) {
        let is_first = self.row.is_none();
        if !self.shows.as_mut().is_some_and(|shows| shows.leaves_out(is_first)) {
            self.record(recorded, calls, world, host, time);
        }
    }

    /// Records what there was before an event, at its time, of which another row follows.
    #[cold]
    fn record_before(
        &mut self,
        recorded: &Recorded,
        calls: &Calls,
        world: &World,
        host: &PartitionHost,
        time: Instant,
    ) {
        self.record(recorded, calls, world, host, time);
        self.row = None;
    }

    /// Notes what the last step was not to do.
    #[inline]
    fn note(&mut self, world: &World, host: &PartitionHost) {
        if let Some(off) = self.off.take() {
            let seen = Occurrence { task: Some(self.task), reference: None, time: self.reached, value: off.to_bits() };
            world.board.fmu(host.fmu()).findings().note(Finding::OffThePoint, seen);
        }
    }

    /// Whether the work of the release at this time is one step on the grid to `end`: nothing was missed, no event is known, and
    /// the stop time is beyond.
    #[inline]
    fn is_usual(&self, time: Instant, end: Instant) -> bool {
        self.next_event.is_none()
            && self.input_event().is_none_or(|event| event > end)
            && self.stop.is_none_or(|stop| end < stop)
            && self.reached.is_none_or(|reached| reached == time)
    }

    /// A time that is so many `seconds`, as the FMU is told it.
    #[inline]
    fn point(&self, time: Instant, seconds: f64) -> f64 {
        if self.unit.is_second() { seconds } else { self.unit.value(time) }
    }

    /// The communication point that is to be reached next, from this one on, where the work of a release ends at `target`, and the
    /// step there as it is told. Since steps were discarded it is not further than this part of one away.
    #[inline(never)] // most steps are usual ones
    fn next(&self, from: Instant, target: Instant, part: Option<Fraction>) -> (Instant, f64, f64) {
        let whole = if self.is_variable { target } else { from.after(self.step).min(target) };
        let whole = part.map_or(whole, |part| from.after(part).min(whole));
        let ahead = |event: &Instant| self.varies && *event > from && *event < whole;
        let own = self.next_event.filter(ahead).filter(|event| !self.is_now(whole, *event));
        let to = own.into_iter().chain(self.input_event().filter(ahead)).min().unwrap_or(whole);
        let (point, size) = self.told(from, to);
        (to, point, size)
    }

    /// Not each release has a row.
    fn leaves_rows_out(&self) -> bool {
        self.shows.as_ref().is_some_and(|shows| shows.releases_per_row > 1)
    }

    /// When inputs have their next event.
    #[inline]
    fn input_event(&self) -> Option<Instant> {
        self.shows.as_ref().and_then(|shows| shows.input_events.get(shows.past).copied())
    }

    /// Whether inputs have had events since this was asked last, up to `reached`.
    #[inline]
    fn passes_input_event(&mut self, reached: Instant) -> bool {
        let Some(shows) = &mut self.shows else { return false };
        let before = shows.past;
        shows.past += shows.input_events[before..].partition_point(|event| *event <= reached);
        shows.past > before
    }

    /// Whether an event is at a time, but for what an FMU may have lost by rounding.
    fn is_now(&self, event: Instant, time: Instant) -> bool {
        event <= time || self.unit.value(event) - self.unit.value(time) <= self.size * ROUNDING
    }

    /// The time that a step over this interval has reached, which was to come to `point`. Off that point without an early return
    /// is worth a note, and the grid stays.
    #[inline]
    fn reached(&mut self, said: &Said, (from, to): (Instant, Instant), point: f64) -> Instant {
        let off = (said.reached - point).abs();
        if !said.early_return {
            self.off = (off > self.tolerance).then_some(said.reached);
            return to;
        }
        // Where only rounding is missing nothing is left to be stepped.
        match self.unit.instant(said.reached) {
            Some(reached) if off > self.size * ROUNDING => reached.max(from).min(to),
            _ => to,
        }
    }

    /// Whether Event Mode comes next: at the stop time, after which nothing follows, only where that would be recorded.
    #[inline]
    fn has_event(&self, said: &Said, reached: Instant) -> bool {
        if !self.events {
            return false;
        }
        let timed = self.next_event.is_some_and(|event| self.is_now(event, reached));
        (said.event_handling_needed || timed) && !self.is_over && self.may_end_with_an_event(reached)
    }

    #[inline]
    fn may_end_with_an_event(&self, reached: Instant) -> bool {
        self.shows.is_some() || self.stop != Some(reached)
    }

    /// Iterates in Event Mode until the FMU needs no more, and leaves it.
    #[cold]
    fn settle<'a>(&mut self, mut event: EventMode<'a>, time: Instant) -> Result<AfterStep<'a>, Failure> {
        for _ in 0..ITERATIONS {
            let update = event.update()?;
            self.is_over |= update.terminate_simulation;
            let next = update.next_event_time.and_then(|next| self.unit.instant(next));
            self.next_event = next.filter(|next| *next > time);
            if !update.needs_update || self.is_over {
                return event.enter_step_mode();
            }
        }
        Err(failure(Function::UpdateDiscreteStates, self.unit.value(time)))
    }

    /// The communication point and the step size as they are told: what they come to is not beyond the stop time, which FMUs
    /// may refuse to pass.
    fn told(&self, from: Instant, to: Instant) -> (f64, f64) {
        let point = self.unit.value(from);
        let mut size = match from.after(self.step) == to {
            true => self.size,
            false => to.minus(from).map_or(0.0, |rest| self.unit.amount(rest).unwrap_or(rest).seconds()),
        };
        if self.stop == Some(to) {
            let stop = self.unit.value(to);
            while point + size > stop {
                size = size.next_down();
            }
        }
        (point, size)
    }
}

/// Half of the time between two instants.
#[cold]
fn half(from: Instant, to: Instant) -> Option<Fraction> {
    let length = to.minus(from)?;
    Fraction::new(length.counter(), length.resolution().checked_mul(2)?).ok()
}

/// Before the step.
struct Before<'a> {
    /// `None`: a change of the mode has failed.
    mode: Option<InMode<'a>>,
    /// Of the release.
    time: Instant,
    stepping: &'a mut Stepping,
    recorded: Option<&'a Recorded>,
}

/// The step was made.
struct After<'a> {
    after: AfterStep<'a>,
    outcome: Outcome,
    /// How far it has come.
    reached: Instant,
}

impl<'a> Setting for Before<'a> {
    type Getting = After<'a>;

    #[inline(always)] // as what it calls
    fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        match &mut self.mode {
            Some(InMode::Step(before)) => before.set(batch),
            Some(InMode::Event(event)) => event.set(batch),
            None => Err(NO_MODE),
        }
    }

    fn set_discrete(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        if !self.stepping.events {
            return self.set(batch);
        }
        let event = match self.mode.take().ok_or(NO_MODE)? {
            InMode::Step(before) => before.enter_event_mode(self.stepping.unit.value(self.time))?,
            InMode::Event(event) => event,
        };
        self.mode = Some(InMode::Event(event));
        self.set(batch)
    }

    /// No interval depends on parameters: the step is the rig's.
    fn follow_parameters(&mut self, _host: &PartitionHost, _due: &Due) -> Result<(), Halt> {
        Ok(())
    }

    fn ready(&mut self, calls: &Calls, world: &World, host: &PartitionHost, due: &Due) {
        self.stepping.note(world, host);
        if let Some(recorded) = self.recorded {
            // What it starts with has its row after its first Event Mode.
            if !(self.stepping.shows.is_some() && matches!(self.mode, Some(InMode::Event(_)))) {
                self.stepping.record_release(recorded, calls, world, host, due.time);
            }
        }
    }

    #[inline(always)] // as what it calls
    fn compute(
        self,
        calls: &mut Calls,
        world: &World,
        host: &PartitionHost,
        due: &Due,
        seconds: f64,
    ) -> Result<After<'a>, Failure> {
        let Before { mode, stepping, recorded, .. } = self;
        let (mut outcome, mut part, mut halved, mut stuck) = (Outcome::Ok, None, 0, 0);
        let mut from = stepping.reached.filter(|_| !is_wrong("hole")).unwrap_or(due.time);
        let mut before = match mode.ok_or(NO_MODE)? {
            InMode::Step(before) => before,
            InMode::Event(event) => {
                let mut after = stepping.settle(event, from)?;
                outcome = after.outcome();
                if let Some(recorded) = recorded.filter(|_| stepping.shows.is_some()) {
                    outcome = outcome.or(calls.look(|batch| after.get(batch))?);
                    stepping.record_release(recorded, calls, world, host, from);
                }
                if stepping.is_over {
                    return Ok(After { after, outcome, reached: from });
                }
                after.again()
            }
        };
        let end = due.time.after(stepping.step);
        let mut usual = stepping.is_usual(due.time, end).then(|| stepping.point(due.time, seconds));
        let target = if usual.is_some() { end } else { stepping.stop.map_or(end, |stop| end.min(stop)) };
        loop {
            let (to, point, size) = match usual.take() {
                Some(point) => (target, point, stepping.size),
                None => stepping.next(from, target, part),
            };
            let mut after = match before.step(point, size) {
                Ok(after) => after,
                Err(no_step) if no_step.failure.status == Status::Discard && halved < stepping.halvings => {
                    halved += 1;
                    part = half(from, to);
                    before = no_step.again();
                    continue;
                }
                Err(no_step) => return Err(no_step.failure),
            };
            outcome = outcome.or(after.outcome());
            let said = *after.said();
            let reached = stepping.reached(&said, (from, to), point + size);
            stepping.is_over |= said.terminate_simulation;
            stepping.reached = Some(reached);
            let (is_fed, has_event) = (stepping.passes_input_event(reached), stepping.has_event(&said, reached));
            if (has_event || is_fed) && stepping.shows.is_some() {
                let scene = Scene { calls, world, host, recorded, is_fed, goes_on: reached < target };
                let shown;
                (after, shown) = scene.show(stepping, after, reached)?;
                outcome = outcome.or(shown);
            } else if has_event {
                let event = after.enter_event_mode(stepping.unit.value(reached))?;
                after = stepping.settle(event, reached)?;
                outcome = outcome.or(after.outcome());
            } else if reached == from {
                stuck += 1;
                if stuck > STUCK {
                    return Err(failure(Function::DoStep, point));
                }
            }
            from = reached;
            if reached >= target || stepping.is_over {
                return Ok(After { after, outcome, reached });
            }
            before = after.again();
            if is_fed && !stepping.events {
                outcome = outcome.or(calls.set_at_event(|batch| before.set(batch))?);
            }
        }
    }
}

/// An event of which both sides are recorded.
struct Scene<'s> {
    calls: &'s mut Calls,
    world: &'s World,
    host: &'s PartitionHost,
    recorded: Option<&'s Recorded>,
    /// Inputs have it.
    is_fed: bool,
    /// The work of the release goes on after it.
    goes_on: bool,
}

impl Scene<'_> {
    /// Handles the event at the end of a step that has `reached` it, where the FMU has Event Mode. The row from after it comes with
    /// the next release, if that is at once.
    #[cold]
    fn show<'a>(
        self,
        stepping: &mut Stepping,
        mut after: AfterStep<'a>,
        reached: Instant,
    ) -> Result<(AfterStep<'a>, Outcome), Failure> {
        let Scene { calls, world, host, recorded, is_fed, goes_on } = self;
        let mut outcome = calls.look(|batch| after.get(batch))?;
        if let Some(recorded) = recorded {
            stepping.record_before(recorded, calls, world, host, reached);
        }
        if is_fed {
            // Where they cannot be read any more the run ends after this release.
            let _has_come = calls.stimulate_between(world, reached);
        }
        if stepping.events {
            let mut event = after.enter_event_mode(stepping.unit.value(reached))?;
            if is_fed {
                outcome = outcome.or(calls.set_at_event(|batch| event.set(batch))?);
            }
            after = stepping.settle(event, reached)?;
            outcome = outcome.or(after.outcome());
            outcome = outcome.or(calls.look(|batch| after.get(batch))?);
        }
        if let Some(recorded) = recorded.filter(|_| goes_on || stepping.leaves_rows_out()) {
            stepping.record(recorded, calls, world, host, reached);
        }
        Ok((after, outcome))
    }
}

impl Getting for After<'_> {
    #[inline]
    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn ask(&mut self, _host: &PartitionHost, _due: &Due) -> Result<(), Halt> {
        Ok(())
    }

    /// Visible at the end of the step (semantics S20).
    fn stamp(&mut self, _world: &World, due: &Due) -> Option<Stamp> {
        let visible = if is_wrong("early") { due.time } else { self.reached };
        Some(Stamp { visible, activation: due.time })
    }

    #[inline(always)] // as what it calls
    fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure> {
        self.after.get(batch)
    }
}

/// Hosts that are known to be wrong, for tests that are to notice them: "hole" leaves out what was missed, "early" shows what a
/// step has computed from its begin on.
#[cfg(feature = "wrong_exchange")]
#[cold]
fn is_wrong(how: &str) -> bool {
    std::env::var("VECUD_WRONG_STEP").is_ok_and(|wrong| wrong == how)
}

#[cfg(not(feature = "wrong_exchange"))]
#[inline(always)] // nothing is
fn is_wrong(_how: &str) -> bool {
    false
}

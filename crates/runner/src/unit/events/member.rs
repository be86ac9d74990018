//! One FMU with Event Mode, as it is between two calls: its communication point, its pending events, and the variables that are
//! set and read in each mode (semantics S22).

use super::clocks::StepClocks;
use super::engine::Engine;
use crate::activation_error::ActivationError;
use crate::calls::{Calls, Recorded};
use crate::exchange::Stamp;
use crate::inbox::Settable;
use crate::run_state::RunState;
use crate::stimuli::Stimulated;
use crate::thread_host::{PartitionHost, gives_state};
use crate::unit::stepping::Stepping;
use crate::unit::substeps::{SubstepResult, Substeps};
use crate::values::Publishing;
use vecud_base::time::{Fraction, Instant};
use vecud_fmi::{Batch, ComputeHandle, EventMode, Failure, Function, Outcome, Reasons, Status};
use vecud_plan::schedule::{Due, Learned};
use vecud_plan::snapshot::BetweenSteps;
use vecud_plan::{Retry, StepEngine, StepPlan, UnitId};
use vecud_solver::master::WayBack;

/// One FMU with Event Mode.
pub struct Member {
    pub engine: Engine,
    pub stepping: Stepping,
    recorded: Option<Recorded>,
    pub clocks: StepClocks,
    /// The FMU wants Event Mode at the communication point that it has reached: by its last step, or since it was just
    /// initialised.
    wants_event: bool,
    /// For an FMU for Model Exchange: the values to be read again before it is integrated further.
    pub anew: Anew,
    /// Its last integrator step wants an event.
    step_event: bool,
    /// `rootsFound` of the state event that is handled next, by event indicator; all are 0 if there is none.
    roots: Vec<i32>,
    /// When it has an event by its own word.
    next_event: Option<Instant>,
    /// The communication point at which Event Mode was entered once more, since the FMU announced its next event for the same
    /// time.
    repeated: Option<Instant>,
    /// How often in a row the FMU has announced a next event whose time is, but for rounding, that of the event under way.
    crept: u32,
    /// Where the lines of a file end that inputs are on since the last release; `None`: they are on none.
    input_row: Option<Instant>,
    /// The next row of a file that changes values of held inputs since the last release; `None`: there is none within the step,
    /// or the step does not end there.
    held_row: Option<Instant>,
    /// The communication point before this one.
    before: Option<Instant>,
    /// Its steps may return early.
    pub may_return_early: bool,
    /// A step of it can be taken back.
    goes_back: bool,
    /// The communication point that it had come to before its last step.
    from: Option<Instant>,
    /// The largest next step by its own word: its end, and its size in the FMU's unit of time.
    largest: Option<(Instant, f64)>,
    /// Its last step is rejected: the next one is in its place (`newStep`).
    steps_instead: bool,
    /// A master makes its steps.
    is_mastered: bool,
    /// An input has jumped: all are set in the Event Mode that comes (FMI 3.0.2, 4.1.1).
    has_jump: bool,
    /// The inputs that jumped were set, at the present communication point.
    is_set: bool,
}

/// Something of it failed that an instance has in one of its modes alone.
pub const NO_MODE: Failure = Failure {
    function: Function::UpdateDiscreteStates,
    status: Status::Error,
    clock: None,
    time: None,
    answer: None,
    refused: true,
};

/// The most events in a row, each announced for the time of the one before but for rounding, that are handled each at its time
/// (semantics S22).
const CREEPING: u32 = 1000;

/// The values that an event of an integrated FMU may have changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anew {
    /// The values of its states.
    pub states: bool,
    /// Their nominal values.
    pub nominals: bool,
}

impl Anew {
    /// All of it, as at the begin.
    pub const ALL: Anew = Anew { states: true, nominals: true };
}

impl Member {
    /// The FMU whose steps `unit` makes; `learned`: the intervals of its clocks, by their places.
    pub fn new(
        run: &RunState,
        unit: UnitId,
        mut plan: StepPlan,
        step: Fraction,
        mut engine: Engine,
        learned: &[Learned],
    ) -> Member {
        let fmu = run.plan.units[unit.0].fmu;
        let is_resumed = run.begin > run.plan.start;
        // A state that it was given has it in Step Mode, where steps end.
        let has_state = run.plan.fmus[fmu.0].initial_state.is_some();
        // The FMU takes the memory for it now.
        let mut remembers = || {
            let given = engine.remember();
            gives_state(run, unit, given, engine.is_healthy())
        };
        let goes_back = plan.goes_back && remembers();
        if plan.retry == Retry::FromState && !remembers() && engine.is_healthy() {
            plan.retry = Retry::Never;
        }
        if !is_resumed && !has_state && plan.engine != StepEngine::Steps {
            engine.is_in_initial_event_mode(run.plan.fmus[fmu.0].time_unit.value(run.plan.start));
        }
        let left = is_resumed.then(|| run.instances[fmu.0].between_steps());
        let mut stepping = Stepping::new(run, unit, plan, step);
        stepping.reached = left.as_ref().and_then(|left| left.ahead);
        let point = stepping.reached.unwrap_or(run.begin);
        stepping.aim(point, point, left.as_ref().and_then(|left| left.next_event));
        Member {
            engine,
            stepping,
            recorded: Recorded::of(run, unit),
            clocks: StepClocks::new(run, unit, learned, left.as_ref()),
            // A saved state lacks the next time event, which an integrated FMU announces in Event Mode alone.
            wants_event: left.as_ref().map_or_else(
                || match plan.engine {
                    StepEngine::Steps => false,
                    StepEngine::StepsAndEvents => !has_state,
                    StepEngine::Equations(_) => true,
                },
                |left| left.wants_event,
            ),
            next_event: left.as_ref().and_then(|left| left.next_event),
            repeated: None,
            crept: left.as_ref().map_or(0, |left| left.crept),
            anew: Anew::ALL,
            step_event: false,
            roots: vec![0; run.described_now(fmu).event_indicators],
            input_row: None,
            held_row: None,
            before: None,
            may_return_early: plan.may_return_early,
            goes_back,
            from: None,
            largest: None,
            steps_instead: false,
            is_mastered: plan.membership.is_mastered(),
            has_jump: left.as_ref().is_some_and(|left| left.has_jump),
            is_set: false,
        }
    }

    /// [`crate::unit::Unit::prefetch`].
    pub fn prefetch(&self) {
        self.engine.prefetch();
    }

    /// [`crate::unit::Unit::fail`].
    pub fn fail(&self) {
        self.engine.fail();
    }

    /// Reads, before the first step of a run that goes on from a saved state, the outputs of the steps before.
    pub fn load(&mut self, calls: &mut Calls) -> Result<(), ActivationError> {
        // Without Event Mode, some FMUs compute their first outputs only when they leave Initialization Mode.
        if (self.stepping.is_resumed() || !self.stepping.handles_events)
            && self.stepping.reached.is_none()
            && self.recorded.is_some()
        {
            return calls.read(|batch| self.engine.get(batch));
        }
        Ok(())
    }

    /// Takes over the next rows of the stimuli that were fetched for a release.
    pub fn follow_rows(&mut self, stimuli: &[Stimulated]) {
        self.input_row = stimuli.iter().filter_map(Stimulated::next_row).min();
        self.held_row = stimuli.iter().filter_map(Stimulated::next_change).min();
    }

    /// Fetches the ticks of stimuli before the release `due` is over. `false`: they cannot be read, and the run ends.
    pub fn take_fed(&mut self, run: &RunState, due: &Due) -> bool {
        self.clocks.take_fed(run, (due.time, self.stepping.end_of(due)))
    }

    /// Whether it has something to be handled in Event Mode at this communication point, which it is at.
    pub fn has_event(&mut self, run: &RunState, point: Instant) -> bool {
        let before = self.before.replace(point).filter(|before| *before < point);
        let timed = self.next_event.is_some_and(|event| self.stepping.is_due(event, point));
        let has_row = self.stepping.has_jumped();
        self.note_jump(has_row);
        self.clocks.is_due(run, point, before) | self.wants_event | timed | has_row | self.has_jump
    }

    /// Notes a jump of a source. For an FMU that makes steps it is an event; equations show by themselves whether it is one.
    pub fn note_jump(&mut self, has_jumped: bool) {
        self.has_jump |= has_jumped && self.stepping.handles_events && !self.is_integrated();
    }

    /// Before an event: reads outputs that may jump in it, unless they were read at this communication point.
    pub fn look_before_event(&mut self, calls: &mut Calls) -> Result<(), ActivationError> {
        match self.stepping.handles_events && !self.stepping.is_read_here() {
            true => calls.look_before_event(|batch| self.engine.get(batch)),
            false => Ok(()),
        }
    }

    /// Where the release `due` ends, if it is one whole step, and there is no event here nor until then, but for ticks of clocks.
    #[inline(always)] // the instant stays in registers
    pub fn quiet_until(&mut self, due: &Due) -> Option<Instant> {
        let Member { stepping, next_event, .. } = self;
        if self.wants_event || self.input_row.is_some() || !stepping.is_regular_from(due.time) {
            return None;
        }
        let end = stepping.regular_end(due)?;
        let is_until = |event: &Instant| *event <= end || stepping.is_same(*event, end);
        (!next_event.as_ref().is_some_and(is_until)).then_some(end)
    }

    /// Whether it wants Event Mode at the communication point that it has reached.
    pub fn wants_event(&self) -> bool {
        self.wants_event
    }

    /// Whether it wants Event Mode once more at the point where it has just left it.
    pub fn wants_event_again(&self) -> bool {
        self.wants_event && self.stepping.handles_events
    }

    /// The time of its next event after this communication point, as the FMU announced it; `None`: it announced none, or so many
    /// in a row that time has hardly advanced, and the event is handled at the next communication point.
    pub fn time_event(&self, point: Instant) -> Option<Instant> {
        self.next_event.filter(|next| self.crept <= CREEPING && *next > point && !self.stepping.is_due(*next, point))
    }

    /// The next communication point after this one that it needs beside [`Member::time_event`], as far as that is known.
    pub fn next_point(&self, point: Instant) -> Option<Instant> {
        // In a rig an input keeps its value of the row from there on: a step may span any number of rows.
        let row = self.input_row.filter(|_| self.stepping.shows_events());
        let known = [self.clocks.next(), self.stepping.input_event(point), row, self.held_row];
        known.into_iter().flatten().filter(|next| *next > point).min()
    }

    /// The member goes from one communication point to another.
    pub fn aim(&mut self, from: Instant, to: Instant) {
        self.stepping.aim(from, to, self.next_event);
    }

    /// Whether the host integrates it.
    pub fn is_integrated(&self) -> bool {
        matches!(self.engine, Engine::Equations(_))
    }

    /// Whether the instance is in Event Mode.
    pub fn is_in_event_mode(&mut self) -> bool {
        self.engine.event_mode().is_some()
    }

    /// Enters Event Mode at this point, unless it is there, or has none.
    pub fn enter_event_mode(&mut self, point: Instant) -> Result<Outcome, Failure> {
        if !self.stepping.handles_events {
            return Ok(Outcome::Ok);
        }
        self.wants_event = false;
        if !self.is_in_event_mode() {
            self.stepping.figures.event();
            self.is_set = false;
        }
        let time_event = self.next_event.is_some_and(|event| self.stepping.is_due(event, point));
        let reasons =
            Reasons { step_event: std::mem::take(&mut self.step_event), roots_found: &self.roots, time_event };
        let outcome = self.engine.enter_event_mode(self.stepping.value(point), &reasons);
        self.roots.fill(0);
        outcome
    }

    /// Leaves it.
    pub fn leave_event_mode(&mut self) -> Result<Outcome, Failure> {
        self.has_jump = false;
        self.engine.leave_event_mode()
    }

    /// A step of the integrator is complete, and the FMU wants an event or not.
    pub fn note_step_event(&mut self, is_wanted: bool) {
        self.step_event |= is_wanted;
        self.wants_event |= is_wanted;
    }

    /// Swaps in a buffer of zeros, one for each event indicator that it has now; `zeros` gets the old buffer.
    pub fn take_roots(&mut self, zeros: &mut Vec<i32>) {
        std::mem::swap(&mut self.roots, zeros);
    }

    /// There is a state event, with these `rootsFound`.
    pub fn note_roots(&mut self, roots: &[i32]) {
        self.roots.copy_from_slice(roots);
        self.wants_event = true;
    }

    fn event_mode(&mut self) -> Result<EventMode<'_>, Failure> {
        self.engine.event_mode().ok_or(NO_MODE)
    }

    /// First half of an iteration: clocks tick, discrete inputs are set.
    pub fn set_in_event_mode(&mut self, calls: &mut Calls) -> Result<(), ActivationError> {
        if !self.stepping.handles_events {
            return Ok(());
        }
        let mut event = self.engine.event_mode().ok_or(NO_MODE)?;
        self.clocks.set(&mut event)?;
        if self.has_jump {
            calls.set_continuous(|batch, _| event.set(batch))?;
            self.is_set = true;
        }
        let clocks = &self.clocks;
        calls.set_discrete(|ticked| clocks.is_one_active(ticked), |batch| event.set(batch))
    }

    /// Reads the active output clocks and the outputs of Event Mode, and publishes these.
    pub fn get_in_event_mode(
        &mut self,
        calls: &mut Calls,
        run: &RunState,
        host: &PartitionHost,
        point: Instant,
    ) -> Result<(), ActivationError> {
        if !self.stepping.handles_events {
            return Ok(());
        }
        let now = self.publishing(point, point, true);
        let mut event = self.engine.event_mode().ok_or(NO_MODE)?;
        self.clocks.get(run, &mut event, point)?;
        let state = &run.tasks[self.stepping.unit().0];
        self.clocks.active().for_each(|clock| state.note_ticked(clock));
        let clocks = &self.clocks;
        let is_read = |ticked: &[usize]| ticked.is_empty() || clocks.is_one_active(ticked);
        calls.get_discrete(is_read, run, host, now, |batch| event.get(batch))
    }

    /// Second half of an iteration. Whether it needs another one.
    pub fn update(&mut self, calls: &Calls, point: Instant) -> Result<bool, ActivationError> {
        if !self.stepping.handles_events {
            return Ok(false);
        }
        let update = self.event_mode()?.update()?;
        calls.allow(update.outcome)?;
        self.stepping.request_end(update.terminate_simulation);
        self.anew.states |= update.values_of_continuous_states_changed;
        self.anew.nominals |= update.nominals_of_continuous_states_changed;
        let next = update.next_event_time.and_then(|next| self.stepping.time_unit.instant(next));
        let is_settled = !update.needs_update;
        let is_later = |next: &Instant| *next > point && !self.stepping.is_due(*next, point);
        let over = next.filter(|next| is_settled && !is_later(next));
        // An event at the same time follows at once. One that is still announced then is stale.
        let is_now = over.is_some_and(|next| self.stepping.is_same(next, point));
        let follows = is_now && self.repeated.replace(point) != Some(point);
        self.wants_event |= follows;
        if let Some(over) = over.filter(|_| !follows) {
            self.stepping.figures.event_is_over(point, over);
        }
        if is_settled {
            let creeps = next.is_some_and(|next| is_later(&next) && self.stepping.is_same(next, point));
            self.crept = if creeps || follows { self.crept.saturating_add(creeps.into()) } else { 0 };
            if creeps && self.crept > CREEPING {
                self.stepping.figures.time_creeps(point, CREEPING);
            }
        }
        // An event that is over is handled at the next communication point, where the FMU announces the one after it.
        self.next_event = next;
        Ok(update.needs_update)
    }

    /// Asks for the intervals of clocks after an iteration. Whether one of them ticks again at once.
    pub fn ask(&mut self, run: &RunState, point: Instant) -> Result<bool, ActivationError> {
        if !self.stepping.handles_events {
            return Ok(false);
        }
        let mut event = self.engine.event_mode().ok_or(NO_MODE)?;
        self.clocks.ask(run, &mut event, point)?;
        Ok(self.clocks.is_pending())
    }

    /// Sets continuous inputs, as they are at this time, unless they were in an event.
    pub fn set(&mut self, calls: &mut Calls, host: &PartitionHost, time: Instant) -> Result<(), ActivationError> {
        let is_set = std::mem::take(&mut self.is_set) && !self.is_mastered;
        let engine = &mut self.engine;
        calls.set_continuous(|batch, slopes| {
            let outcome = if is_set { Outcome::Ok } else { engine.set(batch)? };
            match slopes.filter(|slopes| !host.follow_curves(time, batch, slopes)) {
                Some(slopes) => Ok(outcome.or(engine.set_slopes(slopes)?)),
                None => Ok(outcome),
            }
        })
    }

    /// Reads the outputs that depend on the continuous inputs just set, for the row of this time: equations follow at once,
    /// unlike steps. Other tasks see the outputs from the end of the step before.
    pub fn follow_inputs(&mut self, calls: &mut Calls) -> Result<(), ActivationError> {
        if self.is_integrated() && self.recorded.is_some() && calls.sets_between_events() {
            return calls.read(|batch| self.engine.get(batch));
        }
        Ok(())
    }

    /// Whether it is recorded, and not yet at this time.
    pub fn lacks_row(&self, time: Instant) -> bool {
        self.recorded.is_some() && self.stepping.lacks_row(time)
    }

    /// Records the inputs of this time, and the outputs that were read last.
    pub fn record(&mut self, calls: &Calls, run: &RunState, host: &PartitionHost, time: Instant) {
        self.stepping.note();
        if let Some(recorded) = &self.recorded {
            self.stepping.record_release(recorded, calls, run, host, time);
        }
    }

    /// Records the values before an event at the communication point that it has reached, if events are shown.
    pub fn show_before(&mut self, calls: &Calls, run: &RunState, host: &PartitionHost) {
        let reached = self.stepping.reached;
        let is_due = |event: Instant| reached.is_some_and(|reached| self.stepping.is_due(event, reached));
        let has_event = self.wants_event || self.next_event.is_some_and(is_due);
        self.stepping.show_before(has_event, self.recorded.as_ref(), calls, run, host);
        if !has_event && reached.is_some() && reached == self.input_row {
            self.stepping.leave_row_out();
        }
    }

    /// Remembers the communication point that it is at, to which its next step may have to be taken back.
    pub fn remember(&mut self) -> Result<(), Failure> {
        self.from = self.stepping.reached;
        if self.goes_back {
            let _warning_is_counted = self.engine.remember()?;
        }
        Ok(())
    }

    /// Takes the last step back, where the FMU can. Whether it can.
    pub fn take_back(&mut self) -> Result<bool, Failure> {
        if !self.goes_back {
            return Ok(false);
        }
        let Some(went_back) = self.engine.go_back() else { return Ok(false) };
        let _warning_is_counted = went_back?;
        self.stepping.take_back(self.from);
        Ok(true)
    }

    /// Remembers the communication point that it is at, for [`Member::go_back_to_point`]; with its state, if it is taken back by that.
    pub fn remember_point(&mut self, by_state: bool) -> Result<Outcome, Failure> {
        self.from = self.stepping.reached;
        if by_state { self.engine.remember() } else { Ok(Outcome::Ok) }
    }

    /// Is at the communication point that it was to remember. Of a step that is rejected the FMU hears with its next one.
    pub fn go_back_to_point(&mut self, way_back: Option<WayBack>) -> Result<Outcome, Failure> {
        self.steps_instead = way_back == Some(WayBack::RejectedStep);
        (self.wants_event, self.step_event) = (false, false);
        self.roots.fill(0);
        self.stepping.take_back(self.from);
        match way_back {
            Some(WayBack::State | WayBack::StatesOfModels) => self.engine.go_back().unwrap_or(Err(NO_MODE)),
            _ => Ok(Outcome::Ok),
        }
    }

    /// Steps from one communication point to another, or as far as the FMU gets. `rejects`: the FMU can be taken back, so that a
    /// discarded step ends at the time that the FMU reports.
    pub fn step(&mut self, from: Instant, to: Instant, rejects: bool) -> Result<(Outcome, Instant), Failure> {
        self.step_with(None, from, to, rejects)
    }

    /// [`Member::step`] with inputs that these calls have set for a time: inputs on curves are set again for a step that begins
    /// at another time, and for each part of a step.
    pub fn step_with(
        &mut self,
        mut set: Option<(&mut Calls, Instant)>,
        from: Instant,
        to: Instant,
        rejects: bool,
    ) -> Result<(Outcome, Instant), Failure> {
        let Member {
            engine: Engine::Steps(stepper),
            stepping,
            wants_event,
            steps_instead,
            is_mastered,
            next_event,
            largest,
            ..
        } = self
        else {
            unreachable!("its equations are integrated together with those of others");
        };
        let largest = largest.take();
        let is_event = |event: &Instant| stepping.is_same(*event, to);
        // The step of the group is none that something makes it end at.
        let foretold = largest.filter(|(_, size)| *size != stepping.size).map(|(until, _)| until);
        stepping.aim(from, to, next_event.filter(is_event).or(foretold));
        if to > from && stepping.value(to) <= stepping.value(from) {
            stepping.reached = Some(to);
            return Ok((Outcome::Ok, to));
        }
        let (mut substeps, mut is_part) = (Substeps::from(from), false);
        loop {
            let mut next = substeps.next_step(stepping, to);
            next.size = largest.map_or(next.size, |(_, size)| next.size.min(size));
            let mut before = stepper.begin();
            if let Some((calls, time)) = set.as_mut().filter(|(_, time)| is_part || from != *time) {
                substeps.move_inputs(stepping, &mut before, calls, *time)?;
            }
            is_part = true;
            let stepped = match std::mem::take(steps_instead) {
                true => before.step_instead(next.point, next.size),
                false => substeps.step(stepping, before, next)?,
            };
            if let Err(no_step) = &stepped
                && rejects
                && no_step.failure.status == Status::Discard
                && let Some(reached) = stepping.time_unit.instant(no_step.reached)
                && reached > from
                && reached < to
            {
                stepping.reject(reached);
                return Ok((Outcome::Ok, reached));
            }
            if let SubstepResult::Progress(_, said) = substeps.evaluate(stepping, stepped, next)? {
                *wants_event = said.event_handling_needed;
                if substeps.at() >= to || said.early_return || stepping.is_over() {
                    // An early return beyond the end is none, and is reported as it is; to a master any step that passes its end.
                    let passes = said.early_return || *is_mastered && stepping.is_off();
                    let beyond = stepping.time_unit.instant(said.reached).filter(|_| passes);
                    let beyond = beyond.filter(|beyond| *beyond > to && !stepping.is_same(*beyond, to));
                    return Ok((substeps.outcome(), beyond.unwrap_or(substeps.at())));
                }
            }
        }
    }

    /// The largest step that it reports from this point, and its end as an instant; `None`: no limit.
    pub fn max_step(&mut self, from: Instant) -> Result<(Outcome, f64, Option<Instant>), Failure> {
        let Member { engine: Engine::Steps(stepper), stepping, .. } = self else {
            unreachable!("its equations are integrated together with those of others");
        };
        let point = stepping.value(from);
        let (size, outcome) = stepper.max_step_size(point)?;
        let until = stepping.time_unit.instant(point + size);
        self.largest = until.map(|until| (until, size));
        Ok((outcome, size, until))
    }

    /// Reads the outputs that are valid between steps, for the release at `time`, and publishes them: those of a step, or,
    /// `in_event`, those of an event at its end.
    pub fn get(
        &mut self,
        calls: &mut Calls,
        run: &RunState,
        host: &PartitionHost,
        time: Instant,
        in_event: bool,
    ) -> Result<(), ActivationError> {
        let reached = self.stepping.reached.unwrap_or(time);
        let now = self.publishing(reached, time, in_event);
        let engine = &mut self.engine;
        calls.get(run, host, now, |batch, slopes| {
            let read = engine.get(batch)?;
            let Some(slopes) = slopes else { return Ok(read) };
            Ok(read.or(engine.get_slopes(slopes)?))
        })?;
        self.stepping.is_read(Some(reached));
        Ok(())
    }

    fn publishing(&self, visible: Instant, activation: Instant, in_event: bool) -> Publishing {
        let (unit, stamp) = (self.stepping.unit(), Some(Stamp { visible, activation }));
        Publishing { unit, time: activation, stamp, in_event }
    }

    /// There is no further step in this run, in which all have come to `point`.
    pub fn finish(&mut self, calls: &Calls, run: &RunState, host: &PartitionHost, point: Option<Instant>) {
        self.stepping.note();
        run.tasks[self.stepping.unit().0].forget_ticked();
        self.record_last(calls, run, host, run.begin);
        // Ticks may still come until all threads have left (`RunState::leave_ticks`).
        let (clocks, ticks) = (self.clocks.timelines(), Vec::new());
        let ahead = self.stepping.reached.filter(|reached| Some(*reached) != point);
        let Member { next_event, crept, wants_event, has_jump, .. } = *self;
        run.instances[host.fmu().0].expect(BetweenSteps {
            next_event,
            crept,
            wants_event,
            ahead,
            clocks,
            ticks,
            seen: calls.seen(run),
            has_jump: has_jump || calls.has_jump(),
            jumps: calls.jumps(),
        });
    }

    /// Records the outputs of the last step, at its end, but not before `least`, the time that others have reached.
    pub fn record_last(&mut self, calls: &Calls, run: &RunState, host: &PartitionHost, least: Instant) {
        self.stepping.record_last(self.recorded.as_ref(), calls, run, host, least);
    }

    /// Gives back its part of the instance, so that this can be ended.
    pub fn into_part(self) -> ComputeHandle {
        self.engine.into()
    }
}

/// Sets variables by commands, between two steps.
pub struct Commanded<'a> {
    pub member: &'a mut Member,
    /// In Event Mode at this communication point, which it enters for that; `None`: in Step Mode.
    pub point: Option<Instant>,
}

impl Settable for Commanded<'_> {
    fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        match self.point {
            Some(point) => {
                self.member.enter_event_mode(point)?;
                self.member.event_mode()?.set(batch)
            }
            None => self.member.engine.set(batch),
        }
    }

    /// No interval of a step depends on parameters.
    fn follow_parameters(&mut self, _host: &PartitionHost, _time: Instant) -> Result<(), ActivationError> {
        Ok(())
    }
}

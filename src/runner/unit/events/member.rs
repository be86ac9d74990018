//! One FMU with Event Mode, as it is between two calls: where it is, whether it has an event, and what is set and read in
//! which mode (semantics S22).

use super::clocks::StepClocks;
use crate::exchange::Stamp;
use crate::ffi::{Batch, EventMode, Failure, Function, Outcome, Status, Stepper};
use crate::plan::{StepPlan, TaskId};
use crate::runner::activation::{Calls, Recorded};
use crate::runner::halt::Halt;
use crate::runner::slopes::Slopes;
use crate::runner::thread_host::PartitionHost;
use crate::runner::unit::Settable;
use crate::runner::unit::step::patience;
use crate::runner::unit::stepping::Stepping;
use crate::runner::unit::way::{Came, Way};
use crate::runner::values::Publishing;
use crate::runner::world::World;
use crate::schedule::{Due, Learned};
use crate::snapshot::BetweenSteps;
use crate::time::{Fraction, Instant};

/// One FMU with Event Mode.
pub struct Member {
    stepper: Stepper,
    pub stepping: Stepping,
    recorded: Option<Recorded>,
    pub clocks: StepClocks,
    /// It wants Event Mode at the communication point that it has reached: its last step says so, or it was just initialised.
    wants_event: bool,
    /// When it has an event by its own word.
    next_event: Option<Instant>,
    /// The communication point before this one.
    before: Option<Instant>,
    /// Its steps may return early.
    pub may_return_early: bool,
    /// A step of it can be taken back.
    goes_back: bool,
    /// The communication point that it had come to before its last step.
    from: Option<Instant>,
}

/// Something of it failed that an instance has in one of its modes alone.
const NO_MODE: Failure =
    Failure { function: Function::UpdateDiscreteStates, status: Status::Error, clock: None, time: None, refused: true };

impl Member {
    /// The FMU whose steps `task` makes; `learned`: what it has said of its clocks, by their places.
    pub fn new(
        world: &World,
        task: TaskId,
        plan: StepPlan,
        step: Fraction,
        mut stepper: Stepper,
        learned: &[Learned],
    ) -> Member {
        let fmu = world.plan.tasks[task.0].fmu;
        let is_resumed = world.begin > world.plan.start;
        // A state that it was given has it in Step Mode, where steps end.
        let has_state = world.plan.fmus[fmu.0].initial_state.is_some();
        // The FMU takes the memory for it now.
        let goes_back = plan.goes_back && stepper.remember().is_ok();
        if !is_resumed && !has_state {
            stepper.is_in_initial_event_mode(world.plan.fmus[fmu.0].time_unit.value(world.plan.start));
        }
        let left = is_resumed.then(|| world.instances[fmu.0].between_steps());
        let mut stepping = Stepping::new(world, task, plan, step);
        stepping.reached = left.as_ref().and_then(|left| left.ahead);
        Member {
            stepper: stepper.with_patience(patience(world)),
            stepping,
            recorded: Recorded::of(world, task),
            clocks: StepClocks::new(world, task, learned, left.as_ref()),
            wants_event: left.as_ref().map_or(!has_state, |left| left.wants_event),
            next_event: left.as_ref().and_then(|left| left.next_event),
            before: None,
            may_return_early: plan.may_return_early,
            goes_back,
            from: None,
        }
    }

    /// [`crate::runner::unit::Unit::prefetch`].
    pub fn prefetch(&self) {
        self.stepper.prefetch();
    }

    /// [`crate::runner::unit::Unit::fail`].
    pub fn fail(&self) {
        self.stepper.fail();
    }

    /// In a run that goes on from a saved state, before its first step: reads what the steps before have computed.
    pub fn take_up(&mut self, calls: &mut Calls) -> Result<(), Halt> {
        if self.stepping.is_resumed && self.stepping.reached.is_none() && self.recorded.is_some() {
            return calls.read(|batch| self.stepper.get(batch));
        }
        Ok(())
    }

    /// Brings what stimuli tick before the release `due` is over. `false`: that cannot be read, and the run ends.
    pub fn take_fed(&mut self, world: &World, due: &Due) -> bool {
        self.clocks.take_fed(world, (due.time, self.stepping.end_of(due)))
    }

    /// Whether it has something to be handled in Event Mode at this communication point, which it is at.
    pub fn has_event(&mut self, world: &World, point: Instant) -> bool {
        let before = self.before.replace(point).filter(|before| *before < point);
        let timed = self.next_event.is_some_and(|event| self.stepping.is_now(event, point));
        self.clocks.is_due(world, point, before) | self.wants_event | timed | self.stepping.has_jumped()
    }

    /// Whether it wants Event Mode at the communication point that it has reached.
    pub fn wants_event(&self) -> bool {
        self.wants_event
    }

    /// The next communication point after this one that it has to have, as far as it knows.
    pub fn next_point(&self, point: Instant) -> Option<Instant> {
        let known = [self.next_event, self.clocks.next(), self.stepping.input_event(point)];
        known.into_iter().flatten().filter(|next| *next > point).min()
    }

    /// Whether the instance is in Event Mode.
    pub fn is_in_event_mode(&mut self) -> bool {
        self.stepper.event_mode().is_some()
    }

    /// Enters Event Mode at this point, unless it is there.
    pub fn enter_event_mode(&mut self, point: Instant) -> Result<Outcome, Failure> {
        self.wants_event = false;
        if !self.is_in_event_mode() {
            self.stepping.figures.event();
        }
        self.stepper.enter_event_mode(self.stepping.unit.value(point))
    }

    /// Leaves it.
    pub fn enter_step_mode(&mut self) -> Result<Outcome, Failure> {
        self.stepper.enter_step_mode()
    }

    fn event_mode(&mut self) -> Result<EventMode<'_>, Failure> {
        self.stepper.event_mode().ok_or(NO_MODE)
    }

    /// First half of an iteration: clocks tick, discrete inputs are set.
    pub fn set_in_event_mode(&mut self, calls: &mut Calls) -> Result<(), Halt> {
        let mut event = self.stepper.event_mode().ok_or(NO_MODE)?;
        self.clocks.set(&mut event)?;
        let clocks = &self.clocks;
        calls.set_discrete(|ticked| clocks.is_one_active(ticked), |batch| event.set(batch))
    }

    /// Reads which output clocks are active, and what is read in Event Mode, and publishes it.
    pub fn get_in_event_mode(
        &mut self,
        calls: &mut Calls,
        world: &World,
        host: &PartitionHost,
        point: Instant,
    ) -> Result<(), Halt> {
        let now = self.publishing(point, point, true);
        let mut event = self.stepper.event_mode().ok_or(NO_MODE)?;
        self.clocks.get(&mut event)?;
        let state = &world.tasks[self.stepping.task().0];
        self.clocks.active().for_each(|clock| state.note_ticked(clock));
        let clocks = &self.clocks;
        let is_read = |ticked: &[usize]| ticked.is_empty() || clocks.is_one_active(ticked);
        calls.get_discrete(is_read, world, host, now, |batch| event.get(batch))
    }

    /// Second half of an iteration. Whether it needs another one.
    pub fn update(&mut self, calls: &Calls, point: Instant) -> Result<bool, Halt> {
        let update = self.event_mode()?.update()?;
        calls.allow(update.outcome)?;
        self.stepping.is_over |= update.terminate_simulation;
        let next = update.next_event_time.and_then(|next| self.stepping.unit.instant(next));
        self.next_event = next.filter(|next| *next > point);
        Ok(update.needs_update)
    }

    /// Asks for the intervals of clocks after an iteration. Whether one of them ticks again at once.
    pub fn ask(&mut self, world: &World, point: Instant) -> Result<bool, Halt> {
        let mut event = self.stepper.event_mode().ok_or(NO_MODE)?;
        self.clocks.ask(world, &mut event, point)?;
        Ok(self.clocks.is_pending())
    }

    /// Sets continuous inputs, as they are at this time.
    pub fn set(&mut self, calls: &mut Calls, host: &PartitionHost, time: Instant) -> Result<(), Halt> {
        let mut before = self.stepper.begin();
        let follow = |batch: &Batch, slopes: &Slopes| {
            // Only FMI 3.0 has Event Mode, where nothing but curves can be handed over.
            let _is_on_curves = host.follow_curves(time, batch, slopes);
        };
        calls.set_continuous(|batch| before.set(batch), follow)
    }

    /// Records what is set at this time, and what was read last.
    pub fn record(&mut self, calls: &Calls, world: &World, host: &PartitionHost, time: Instant) {
        self.stepping.note();
        if let Some(recorded) = &self.recorded {
            self.stepping.record_release(recorded, calls, world, host, time);
        }
    }

    /// Records what there was before the event that it has at the communication point that it has reached, if that is to be shown.
    pub fn show_before(&mut self, calls: &Calls, world: &World, host: &PartitionHost) {
        let reached = self.stepping.reached;
        let is_now = |event: Instant| reached.is_some_and(|reached| self.stepping.is_now(event, reached));
        let has_event = self.wants_event || self.next_event.is_some_and(is_now);
        self.stepping.show_before(has_event, self.recorded.as_ref(), calls, world, host);
    }

    /// Remembers the communication point that it is at, to which its next step may have to be taken back.
    pub fn remember(&mut self) -> Result<(), Failure> {
        self.from = self.stepping.reached;
        if self.goes_back {
            let _warning_is_counted = self.stepper.remember()?;
        }
        Ok(())
    }

    /// Takes the last step back, where the FMU can. Whether it can.
    pub fn take_back(&mut self) -> Result<bool, Failure> {
        if !self.goes_back {
            return Ok(false);
        }
        let Some(went_back) = self.stepper.go_back() else { return Ok(false) };
        let _warning_is_counted = went_back?;
        self.stepping.take_back(self.from);
        Ok(true)
    }

    /// Steps from one communication point to another, or as far as the FMU gets.
    pub fn step(&mut self, from: Instant, to: Instant) -> Result<(Outcome, Instant), Failure> {
        let Member { stepper, stepping, wants_event, .. } = self;
        let mut way = Way::from(from);
        loop {
            let next = way.next(stepping, to);
            let stepped = stepper.begin().step(next.1, next.2);
            if let Came::Further(_, said) = way.follow(stepping, stepped, next)? {
                *wants_event = said.event_handling_needed;
                if way.at() >= to || said.early_return || stepping.is_over {
                    return Ok((way.outcome(), way.at()));
                }
            }
        }
    }

    /// Reads what is valid between steps, for the release at `time`, and publishes it: what a step has computed, or, `in_event`,
    /// what an event has changed at its end.
    pub fn get(
        &mut self,
        calls: &mut Calls,
        world: &World,
        host: &PartitionHost,
        time: Instant,
        in_event: bool,
    ) -> Result<(), Halt> {
        let reached = self.stepping.reached.unwrap_or(time);
        let now = self.publishing(reached, time, in_event);
        let stepper = &mut self.stepper;
        calls.get(world, host, now, |batch, slopes| {
            let read = stepper.get(batch)?;
            let Some(slopes) = slopes else { return Ok(read) };
            Ok(read.or(stepper.get_derivatives(slopes.derivatives_mut())?))
        })?;
        self.stepping.read = Some(reached);
        Ok(())
    }

    fn publishing(&self, visible: Instant, activation: Instant, in_event: bool) -> Publishing {
        let (task, stamp) = (self.stepping.task(), Some(Stamp { visible, activation }));
        Publishing { task, time: activation, stamp, in_event }
    }

    /// There is no further step in this run, in which all have come to `point`.
    pub fn finish(&mut self, calls: &Calls, world: &World, host: &PartitionHost, point: Option<Instant>) {
        self.stepping.note();
        world.tasks[self.stepping.task().0].forget_ticked();
        self.record_last(calls, world, host, world.begin);
        // Ticks may still come until all threads have left (`World::leave_ticks`).
        let (clocks, ticks) = (self.clocks.timelines(), Vec::new());
        let ahead = self.stepping.reached.filter(|reached| Some(*reached) != point);
        let Member { next_event, wants_event, .. } = *self;
        world.instances[host.fmu().0].expect(BetweenSteps { next_event, wants_event, ahead, clocks, ticks });
    }

    /// Records what the last step has computed, at its end, but not before `least`, which others have come to.
    pub fn record_last(&mut self, calls: &Calls, world: &World, host: &PartitionHost, least: Instant) {
        self.stepping.record_last(self.recorded.as_ref(), calls, world, host, least);
    }

    /// Gives back what makes the steps, so that the instance can be ended.
    pub fn into_stepper(self) -> Stepper {
        self.stepper
    }
}

/// Sets what somebody wants to have set between two steps.
pub struct Commanded<'a> {
    pub member: &'a mut Member,
    /// In Event Mode at this communication point, which it enters for that; `None`: in Step Mode, where it is.
    pub point: Option<Instant>,
}

impl Settable for Commanded<'_> {
    fn set(&mut self, batch: &Batch) -> Result<Outcome, Failure> {
        match self.point {
            Some(point) => {
                self.member.enter_event_mode(point)?;
                self.member.event_mode()?.set(batch)
            }
            None => self.member.stepper.begin().set(batch),
        }
    }

    /// No interval of a step depends on parameters.
    fn follow_parameters(&mut self, _host: &PartitionHost, _time: Instant) -> Result<(), Halt> {
        Ok(())
    }
}

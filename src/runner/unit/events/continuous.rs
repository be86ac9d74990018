//! The FMUs for Model Exchange of a unit, integrated together from one communication point to the next (semantics S25).
//!
//! What the FMUs are told last is always where they stand: outputs that are read at a communication point belong to it. Events are
//! located here and handled by [`Group`]; after them, the states are read again of those FMUs alone that have changed them.

use super::engine::Engine;
use super::exchange::is_discard;
use super::group::{Failed, Group};
use super::member::{Anew, NO_MODE};
use crate::ffi::{
    Attempt, ContinuousTime, DerivativeError, Failure, Function, Jacobian, Numbers, Outcome, Pattern, Provides, Status,
};
use crate::plan::{FmuId, FmuPlan, IntegrationPlan, JacobianPlan, Mode, ModelExchangePlan, Plan, Solver, TaskId};
use crate::record::findings::{Finding, Occurrence};
use crate::record::unusable::Unusable;
use crate::runner::halt::Halt;
use crate::runner::stimuli::Lines;
use crate::runner::unit::figures::IntegrationFigures;
use crate::runner::world::World;
use crate::solver::{
    Answer, Bound, Dense, Drive, Equations, Goal, Indicators, Method, Pace, Reached, Refused, Stopped, Structure,
};
use crate::time::{Instant, TimeUnit};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many right-hand sides are computed until it is looked whether somebody has asked for the end of the run.
const STRETCH: u64 = 1000;

/// Events of an FMU that is simulated by itself come together if they are no further apart than this, of their time or of a second.
const TOGETHER: f64 = 1e-9;

/// All that is integrated in one unit.
pub struct Continuous {
    integration: IntegrationPlan,
    /// The FMU whose task makes the steps of all.
    leader: FmuId,
    drive: Drive,
    parts: Vec<Part>,
    nominals: Vec<f64>,
    figures: IntegrationFigures,
    /// Each step of the solver is stopped at: some FMU is to be told that it is complete.
    stops_at_steps: bool,
    /// Events were handled since it has gone on.
    was_event: bool,
    /// From here internal steps are counted: the begin of a step of the grid.
    from: Instant,
    /// Where that step ends; `None`: none has begun.
    target: Option<Instant>,
    /// Events that may still be handled before.
    events: u32,
    /// Of an FMU that is simulated by itself: the time of the first of the events that count together, s.
    counted_from: f64,
    /// Events of all kinds are bounded, those at the begin of a step left aside. Else only state events are that come together
    /// ([`TOGETHER`]): each event has rows of its own, for which nobody waits.
    bounds_all: bool,
    /// The event that comes to be handled is taken from `events` already, or is not to be: a clock ticks there, which cannot be put off.
    is_counted: bool,
    /// It is told that more events have come in this step.
    is_told: bool,
    /// A step of the solver may go on beyond a communication point: nobody else knows of what lies ahead, nor changes it.
    looks_ahead: bool,
    /// Besides, there is one FMU alone, without clocks.
    is_by_itself: bool,
    /// May be taken back with their states (`fmi3SetFMUState`).
    goes_back: bool,
    saved: Saved,
    /// It was looked at the point where all stand now what inputs have made of it, and whether that is a state event.
    settled: Option<bool>,
}

/// All that is as large as there are states and event indicators.
pub struct Room {
    drive: Drive,
    parts: Vec<Part>,
    nominals: Vec<f64>,
    saved: Saved,
}

/// [`Room`] on its way from where memory may be taken to the thread that integrates, and back to where it may be given up. Each of both
/// looks while the other one is at rest, so that nobody waits.
#[derive(Default)]
pub struct Handover(Mutex<Hands>);

#[derive(Default)]
struct Hands {
    ready: Option<Box<Room>>,
    over: Option<Box<Room>>,
}

impl Handover {
    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for the numbers that the FMUs whose steps `task` makes have by now. Takes memory.
    pub fn make(&self, world: &World, task: TaskId) {
        let ready = Room::of(world, task).map(Box::new);
        *self.hands() = Hands { ready, over: None };
    }
}

/// A communication point to which all may have to be taken back.
struct Saved {
    time: f64,
    states: Vec<f64>,
    pace: Pace,
}

/// One FMU of them.
struct Part {
    /// Its number in the unit.
    member: usize,
    fmu: FmuId,
    /// How often its structural parameters had changed when its numbers were these.
    seen: u64,
    states: Range<usize>,
    indicators: Range<usize>,
    /// A 0 for each indicator, which the member takes once it has so many.
    roots: Vec<i32>,
    needs_completed_steps: bool,
    /// Inputs of it are on the lines of a file.
    is_on_lines: bool,
    /// Its unit of time.
    unit: TimeUnit,
    /// What is known of how its derivatives depend on its states.
    jacobian: Option<JacobianPlan>,
    /// Computes that; `None`: the FMU does not.
    pattern: Option<PatternRead>,
}

/// The elements of an FMU's Jacobian that may be other than 0, read by directional derivatives.
struct PatternRead {
    pattern: Pattern,
    values: Vec<f64>,
}

impl PatternRead {
    fn new(plan: &JacobianPlan) -> PatternRead {
        let provides = Provides { directional: true, ..Provides::default() };
        let pattern = Pattern::new(Jacobian::new(provides, &plan.derivatives, &plan.states), plan.places.clone());
        PatternRead { values: vec![0.0; pattern.places().len()], pattern }
    }
}

/// How many states and event indicators an instance has by its description.
pub fn described(fmu: &FmuPlan) -> Numbers {
    let numbers = |own: &ModelExchangePlan| Numbers { states: own.states, event_indicators: own.indicators };
    fmu.model_exchange().map(numbers).unwrap_or_default()
}

/// How many it has with the structural parameters that it has now.
pub fn described_now(world: &World, fmu: FmuId) -> Numbers {
    let size = |size: usize| world.instances[fmu.0].sizes[size].load(Relaxed);
    let own = world.plan.fmus[fmu.0].model_exchange();
    let numbers = own.map(|own| own.numbers(size)).unwrap_or_default();
    Numbers { states: numbers.0, event_indicators: numbers.1 }
}

/// The FMUs of the unit of this task, and how they are integrated; `None`: none is.
fn integrated(plan: &Plan, task: TaskId) -> Option<(Vec<TaskId>, IntegrationPlan)> {
    let members: Vec<TaskId> = [task].into_iter().chain(plan.led_by(task)).collect();
    let integration = members.iter().find_map(|member| plan.tasks[member.0].integration())?;
    Some((members, integration))
}

impl Room {
    /// For the numbers that the FMUs of the unit of this task have now; `None`: nothing is integrated.
    fn of(world: &World, task: TaskId) -> Option<Room> {
        let plan = &world.plan;
        let (members, integration) = integrated(plan, task)?;
        let mut parts = Vec::new();
        let (mut states, mut indicators) = (0, 0);
        for (member, task) in members.iter().enumerate() {
            let id = plan.tasks[task.0].fmu;
            let fmu = &plan.fmus[id.0];
            let Some(own) = fmu.model_exchange() else { continue };
            let now = described_now(world, id);
            // The dependencies of elements are known for the planned numbers alone.
            let jacobian = own.jacobian.as_ref().filter(|_| now == described(fmu));
            parts.push(Part {
                member,
                fmu: id,
                seen: 0,
                states: states..states + now.states,
                indicators: indicators..indicators + now.event_indicators,
                roots: vec![0; now.event_indicators],
                needs_completed_steps: own.needs_completed_step,
                is_on_lines: Lines::are_for(plan, *task),
                unit: fmu.time_unit,
                pattern: jacobian.filter(|jacobian| jacobian.is_provided).map(PatternRead::new),
                jacobian: jacobian.cloned(),
            });
            (states, indicators) = (states + now.states, indicators + now.event_indicators);
        }
        let drive = drive(integration, &parts, states, indicators);
        let saved = Saved { time: 0.0, states: vec![0.0; states], pace: drive.pace() };
        Some(Room { drive, parts, nominals: vec![1.0; states], saved })
    }
}

impl Continuous {
    /// What is integrated in the unit of this task; `None`: there is nothing.
    pub fn of(world: &World, task: TaskId) -> Option<Continuous> {
        let plan = &world.plan;
        let (members, integration) = integrated(plan, task)?;
        let Room { drive, parts, nominals, saved } = Room::of(world, task)?;
        let looks_ahead = is_alone(world, &members);
        Some(Continuous {
            integration,
            leader: plan.tasks[task.0].fmu,
            stops_at_steps: stops_at_steps(&parts),
            drive,
            figures: IntegrationFigures::new(world, members[parts.first().map_or(0, |part| part.member)]),
            parts,
            nominals,
            was_event: true,
            from: plan.start,
            target: None,
            events: integration.max_events,
            counted_from: f64::NEG_INFINITY,
            bounds_all: !members.iter().any(|task| plan.tasks[task.0].shows_events()),
            is_counted: false,
            is_told: false,
            looks_ahead,
            is_by_itself: looks_ahead && members.len() == 1 && is_by_itself(plan, task),
            goes_back: members.iter().any(|task| plan.tasks[task.0].goes_back()),
            saved,
            settled: None,
        })
    }

    /// Events were handled at this communication point.
    pub fn note_event(&mut self, point: Instant) {
        (self.was_event, self.settled) = (true, None);
        if !std::mem::take(&mut self.is_counted) && self.bounds_all && point > self.from {
            self.events = self.events.saturating_sub(1);
        }
    }

    /// A clock ticks at the communication point whose events come to be handled.
    pub fn note_tick(&mut self) {
        self.is_counted = true;
    }

    /// Whether nothing has come about since it has gone on, and nobody else can do anything.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.is_by_itself && !self.was_event
    }

    /// Where nobody waits for events, only those count that come together.
    fn count_anew(&mut self) {
        let now = self.drive.time();
        if !self.bounds_all && now - self.counted_from > TOGETHER * now.abs().max(1.0) {
            (self.events, self.counted_from) = (self.integration.max_events, now);
        }
    }

    /// Whether what comes up to the end of the step is handled there alone, also time events.
    pub fn is_restless(&self) -> bool {
        self.bounds_all && self.events == 0
    }

    /// A release goes from this communication point to `target` at most, where the step of the grid ends.
    pub fn begin(&mut self, point: Instant, target: Instant) {
        if self.target.is_none_or(|before| before <= point) {
            (self.from, self.is_told) = (point, false);
            if self.bounds_all {
                self.events = self.integration.max_events;
            }
        }
        (self.target, self.settled) = (Some(target), None);
        self.figures.begin();
    }

    /// Events at this communication point are over, if there were any: goes on with what they have left.
    pub fn leave_event(&mut self, group: &mut Group, point: Instant) -> Result<(), Failed> {
        if std::mem::take(&mut self.was_event) {
            self.restart(group, point)?;
        }
        Ok(())
    }

    /// All that is set at this communication point is set: the FMUs are told where they stand. Whether inputs have made a state event
    /// of it.
    pub fn settle(&mut self, group: &mut Group, point: Instant) -> Result<bool, Failed> {
        if self.settled.is_none() {
            self.settled = Some(self.look(group, point)?);
        }
        Ok(self.settled == Some(true))
    }

    fn look(&mut self, group: &mut Group, point: Instant) -> Result<bool, Failed> {
        self.leave_event(group, point)?;
        if !self.parts.iter().any(|part| group.member(part.member).1.sets_between_events()) {
            return Ok(false);
        }
        let Continuous { drive, parts, .. } = self;
        let mut joint = Joint { group, parts, between: [(drive.time(), point); 2] };
        let has_event = drive.after_inputs(&mut joint).map_err(|stopped| failed(stopped, parts, group))?;
        if has_event && self.events == 0 {
            self.too_many(group, point);
            self.restart(group, point)?;
            return Ok(false);
        }
        if has_event {
            (self.events, self.is_counted) = (self.events - 1, true);
            self.tell_roots(group);
        }
        Ok(has_event)
    }

    /// Follows FMUs whose structural parameters have changed: all is asked for again, and there is room for it.
    fn follow_sizes(&mut self, group: &mut Group) {
        let instances = &group.world.instances;
        let mut has_changed = false;
        for part in &mut self.parts {
            let resized = instances[part.fmu.0].resized.load(Relaxed);
            if std::mem::replace(&mut part.seen, resized) != resized {
                group.member(part.member).0.anew = Anew::ALL;
                has_changed = true;
            }
        }
        if has_changed {
            self.move_to(group, &instances[self.leader.0].room);
        }
    }

    /// Goes on with other numbers, if there is room for them. What was not changed is as before.
    #[cold]
    fn move_to(&mut self, group: &mut Group, handover: &Handover) {
        let mut hands = handover.hands();
        let Some(mut room) = hands.ready.take() else { return };
        let Room { drive, parts, nominals, saved } = &mut *room;
        for (new, old) in parts.iter_mut().zip(&self.parts).filter(|(new, old)| new.states.len() == old.states.len()) {
            drive.states_mut()[new.states.clone()].copy_from_slice(&self.drive.states()[old.states.clone()]);
            nominals[new.states.clone()].copy_from_slice(&self.nominals[old.states.clone()]);
        }
        parts.iter_mut().zip(&self.parts).for_each(|(new, old)| new.seen = old.seen);
        drive.follow(&self.drive);
        std::mem::swap(drive, &mut self.drive);
        std::mem::swap(parts, &mut self.parts);
        std::mem::swap(nominals, &mut self.nominals);
        std::mem::swap(saved, &mut self.saved);
        self.stops_at_steps = stops_at_steps(&self.parts);
        self.parts.iter_mut().for_each(|part| group.member(part.member).0.take_roots(&mut part.roots));
        // Its memory is not given up here.
        hands.over = Some(room);
    }

    /// Goes on after events, with what the FMUs have now.
    fn restart(&mut self, group: &mut Group, point: Instant) -> Result<(), Failed> {
        self.follow_sizes(group);
        let Continuous { drive, parts, nominals, .. } = self;
        let mut has_nominals = false;
        for part in parts.iter() {
            let (states, nominals) = (&mut drive.states_mut()[part.states.clone()], &mut nominals[part.states.clone()]);
            group.with(part.member, |member, calls, _, _| {
                let anew = std::mem::take(&mut member.anew);
                let Engine::Equations(model) = &mut member.engine else { return Ok(()) };
                let mut now = model.continuous_time().ok_or(NO_MODE)?;
                if anew.states {
                    calls.allow(now.states(states)?)?;
                }
                if anew.nominals {
                    calls.allow(now.nominals(nominals)?)?;
                    has_nominals = true;
                }
                Ok(())
            })?;
        }
        if has_nominals {
            drive.set_nominals(nominals);
        }
        let now = self.now(point);
        let Continuous { drive, parts, .. } = self;
        drive
            .restart(&mut Joint { group, parts, between: [(now, point); 2] }, now)
            .map_err(|stopped| failed(stopped, parts, group))
    }

    /// A communication point in seconds: that at which an event was located is where the drive stands.
    fn now(&self, point: Instant) -> f64 {
        let stands = self.drive.time();
        if Instant::not_before(stands) == Some(point) { stands } else { point.seconds() }
    }

    /// Integrates `from` a communication point on, at which all FMUs stand, `to` another one or to the first event on the way. Before `known`
    /// nobody else changes anything; `None`: at no time.
    pub fn go(
        &mut self,
        group: &mut Group,
        (from, to): (Instant, Instant),
        known: Option<Instant>,
    ) -> Result<Instant, Failed> {
        self.settled = None;
        self.count_anew();
        let between = [(self.drive.time(), from), (to.seconds(), to)];
        self.parts.iter().for_each(|part| group.member(part.member).1.computes());
        let until = to.seconds();
        let limit = match self.looks_ahead {
            true => known.map_or(f64::INFINITY, |known| known.seconds()),
            false => until,
        };
        let goal = Goal { point: self.from.seconds(), until, limit, steps: self.stops_at_steps };
        loop {
            // One step may need a few for each state.
            let right_hand_sides = STRETCH + 10 * self.nominals.len() as u64;
            let mut bound = Bound { events: self.events, right_hand_sides };
            let Continuous { drive, parts, .. } = self;
            let reached = drive.to(&mut Joint { group, parts, between }, &goal, &mut bound);
            self.events = bound.events;
            let reached = match reached {
                Err(Stopped::NoWorkLeft { .. }) if !group.is_stopped() => {
                    // So that nobody takes it for one that hangs.
                    self.figures.note(self.drive.counts());
                    continue;
                }
                Err(Stopped::NoWorkLeft { .. }) => return self.leave(group, to, between),
                reached => reached.map_err(|stopped| failed(stopped, parts, group))?,
            };
            let (is_complete, is_event) = match reached {
                Reached::Until { step_ended } => (step_ended, false),
                Reached::Step => (true, false),
                Reached::Event { .. } => (true, true),
            };
            let wants_event = is_complete && self.complete(group)?;
            if is_event {
                self.tell_roots(group);
            }
            let at = self.at(to);
            let is_late = matches!(reached, Reached::Event { located: false });
            self.is_counted = is_event && !is_late;
            if is_late || (wants_event && self.is_restless()) {
                self.too_many(group, at);
            }
            let stops = is_event || (wants_event && !self.is_restless()) || self.is_over(group);
            if at == to || stops || group.is_stopped() {
                self.arrive(group, at);
                return Ok(at);
            }
        }
    }

    /// Keeps the communication point at which all stand, [settled](Continuous::settle).
    pub fn save(&mut self) {
        self.saved.time = self.drive.time();
        self.saved.states.copy_from_slice(self.drive.states());
        self.saved.pace = self.drive.pace();
    }

    /// Takes all back to the communication point that was kept, at which each of them is by its own word already. No event was handled
    /// since.
    pub fn restore(&mut self, group: &mut Group) -> Result<(), Failed> {
        self.settled = Some(false);
        let Continuous { drive, parts, saved, .. } = self;
        drive.states_mut().copy_from_slice(&saved.states);
        let point = Instant::not_before(saved.time).unwrap_or(Instant::ZERO);
        drive
            .restart(&mut Joint { group, parts, between: [(saved.time, point); 2] }, saved.time)
            .map_err(|stopped| failed(stopped, parts, group))?;
        drive.set_pace(saved.pace);
        Ok(())
    }

    /// The instant at which the drive stands on its way `to` there.
    fn at(&self, to: Instant) -> Instant {
        match self.drive.time() >= to.seconds() {
            true => to,
            false => Instant::not_before(self.drive.time()).unwrap_or(to).min(to),
        }
    }

    fn arrive(&mut self, group: &mut Group, at: Instant) {
        self.figures.note(self.drive.counts());
        for part in &self.parts {
            group.member(part.member).0.stepping.integrated(at);
        }
    }

    /// Somebody has asked for the end of the run in the midst of a long way: it ends where the drive stands.
    #[cold]
    fn leave(&mut self, group: &mut Group, to: Instant, between: [(f64, Instant); 2]) -> Result<Instant, Failed> {
        let Continuous { drive, parts, .. } = self;
        // What the FMUs were told last may be another point.
        let told = drive.after_inputs(&mut Joint { group, parts, between });
        let _nothing_follows = told.map_err(|stopped| failed(stopped, parts, group))?;
        let at = self.at(to);
        self.arrive(group, at);
        Ok(at)
    }

    /// Whether one of the FMUs has asked for the end of the run.
    fn is_over(&self, group: &mut Group) -> bool {
        self.parts.iter().any(|part| group.member(part.member).0.stepping.is_over)
    }

    /// Says that an internal step is complete to those that want to hear of it. Whether one wants an event.
    fn complete(&self, group: &mut Group) -> Result<bool, Failed> {
        let (mut wants_event, is_final) = (false, !self.goes_back);
        for part in self.parts.iter().filter(|part| part.needs_completed_steps) {
            wants_event |= group.with(part.member, |member, calls, _, _| {
                let Engine::Equations(model) = &mut member.engine else { return Ok(false) };
                let completed = model.continuous_time().ok_or(NO_MODE)?.completed_integrator_step(is_final)?;
                calls.allow(completed.outcome)?;
                member.note_step_event(completed.enter_event_mode);
                member.stepping.is_over |= completed.terminate_simulation;
                Ok(completed.enter_event_mode)
            })?;
        }
        Ok(wants_event)
    }

    /// Tells each FMU which of its indicators have changed.
    fn tell_roots(&self, group: &mut Group) {
        for part in &self.parts {
            group.member(part.member).0.note_roots(&self.drive.roots()[part.indicators.clone()]);
        }
    }

    /// More events have come in a step than may be handled within it; told once of each.
    #[cold]
    pub fn too_many(&mut self, group: &mut Group, time: Instant) {
        let Some(part) = self.parts.first().filter(|_| !self.is_told) else { return };
        self.is_told = true;
        let (task, fmu) = (group.task(part.member), group.host(part.member).fmu());
        let value = u64::from(self.integration.max_events);
        let seen = Occurrence { task: Some(task), reference: None, time: Some(time), value };
        group.world.board.fmu(fmu).findings().note(Finding::TooManyEvents, seen);
    }
}

/// Whether each step of the solver is stopped at: some FMU is to be told, or there are no states, so no right-hand sides after which it is
/// looked whether the run is to end.
fn stops_at_steps(parts: &[Part]) -> bool {
    parts.iter().all(|part| part.states.is_empty()) || parts.iter().any(|part| part.needs_completed_steps)
}

/// Whether nobody else is told what these tasks compute, and nothing is set in them.
fn is_alone(world: &World, members: &[TaskId]) -> bool {
    let plan = &world.plan;
    let is_set = |task: &TaskId| !plan.tasks[task.0].set.is_empty();
    let is_controlled = plan.fmus.iter().any(|fmu| !fmu.control.variables.is_empty());
    plan.mode == Mode::Virtual
        && plan.connections.is_empty()
        && !members.iter().any(is_set)
        && !is_controlled
        && !world.saves
}

/// Whether the FMU of this task has no clocks, and no master makes its steps.
fn is_by_itself(plan: &Plan, task: TaskId) -> bool {
    plan.fmus[plan.tasks[task.0].fmu.0].output_clocks.is_empty() && plan.master_of(task).is_none()
}

fn drive(integration: IntegrationPlan, parts: &[Part], states: usize, indicators: usize) -> Drive {
    let IntegrationPlan { tolerance, internal_step, .. } = integration;
    let internal_step = internal_step.seconds();
    let method = match integration.solver {
        Solver::Euler => Method::Euler { internal_step },
        Solver::Rk4 => Method::Rk4 { internal_step },
        Solver::Dopri5 => Method::Dopri5 { tolerance },
        Solver::Bdf => Method::Bdf { tolerance },
        Solver::Auto => Method::Auto { tolerance },
    };
    let mut drive = Drive::new(method, states, indicators);
    if parts.iter().all(|part| part.jacobian.is_some()) {
        let of_part = |part: &Part| {
            let begin = part.states.start;
            let places = part.jacobian.iter().flat_map(|jacobian| &jacobian.places);
            places.map(move |(row, column)| (begin + row, begin + column)).collect::<Vec<_>>()
        };
        let places: Vec<(usize, usize)> = parts.iter().flat_map(of_part).collect();
        drive.set_structure(Structure::sparse(states, &places));
    }
    drive
}

/// A time in seconds as an FMU with another unit is told it, never beyond the communication points `between` which it is.
fn in_unit(t: f64, unit: TimeUnit, between: &[(f64, Instant); 2]) -> f64 {
    let [from, to] = between.map(|(_, point)| unit.value(point));
    match between.iter().position(|(seconds, _)| *seconds == t) {
        Some(0) => from,
        Some(_) => to,
        None => (t / unit.seconds().seconds()).max(from).min(to.max(from)),
    }
}

/// In whose name the integration has ended.
fn failed(stopped: Stopped<Failed>, parts: &[Part], group: &mut Group) -> Failed {
    match stopped {
        Stopped::Failed { failure, .. } | Stopped::Refused { failure, .. } => failure,
        Stopped::NotFinite { t, answer } => {
            let (function, number) = match answer {
                Answer::Derivative(number) => (Function::GetContinuousStateDerivatives, number),
                Answer::Indicator(number) => (Function::GetEventIndicators, number),
            };
            let range = |part: &Part| match answer {
                Answer::Derivative(_) => part.states.clone(),
                Answer::Indicator(_) => part.indicators.clone(),
            };
            let part = parts.iter().find(|part| range(part).contains(&number)).expect("it is of one of them");
            let reading = Unusable::Element((number - range(part).start) as u64);
            let (host, task) = (group.host(part.member), group.task(part.member));
            let time = Instant::not_before(t).unwrap_or(Instant::ZERO);
            Failed { member: part.member, halt: host.fail_reading(function, task, time, reading) }
        }
        Stopped::StepTooSmall { t } => {
            let member = parts.first().map_or(0, |part| part.member);
            let (function, time) =
                (Function::GetContinuousStateDerivatives, Instant::not_before(t).unwrap_or(Instant::ZERO));
            let (host, task) = (group.host(member), group.task(member));
            Failed { member, halt: host.fail_reading(function, task, time, Unusable::NoStep) }
        }
        Stopped::NoWorkLeft { .. } => unreachable!("it is gone on with"),
    }
}

/// The FMUs as one system of equations.
struct Joint<'g, 'w, 'p> {
    group: &'g mut Group<'w>,
    parts: &'p mut [Part],
    /// Two communication points in seconds and as instants, between which all times are; each FMU is told them rounded once in its unit.
    between: [(f64, Instant); 2],
}

impl Joint<'_, '_, '_> {
    /// Asks one FMU something that it may refuse for where it was asked.
    fn ask(
        &mut self,
        part: usize,
        ask: impl FnOnce(&mut ContinuousTime) -> Result<Attempt, Failure>,
    ) -> Result<(), Refused<Failed>> {
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
    fn follow_lines(&mut self, part: usize, t: f64) -> Result<(), Refused<Failed>> {
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

/// What an FMU has answered that may refuse for where it was asked.
fn answered(member: usize, attempt: Result<Attempt, Failed>) -> Result<(), Refused<Failed>> {
    match attempt.map_err(Refused::Failed)? {
        Attempt::Done(_) => Ok(()),
        Attempt::Discarded(failure) => Err(Refused::Discard(Failed { member, halt: Halt::Call(failure) })),
    }
}

impl Equations for Joint<'_, '_, '_> {
    type Failure = Failed;

    fn tell(&mut self, t: f64, x: &[f64]) -> Result<(), Refused<Failed>> {
        for part in 0..self.parts.len() {
            let Part { unit, ref states, .. } = self.parts[part];
            let states = &x[states.clone()];
            let time = if unit.is_second() { t } else { in_unit(t, unit, &self.between) };
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
        let time = self.between[0].1;
        self.group.exchanging(|exchange, group| exchange.follow(group, time)).map_err(|failed| {
            match is_discard(&failed) {
                true => Refused::Discard(failed),
                false => Refused::Failed(failed),
            }
        })
    }

    fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), Refused<Failed>> {
        for part in 0..self.parts.len() {
            let Part { unit, ref states, .. } = self.parts[part];
            let own = &mut dx[states.clone()];
            self.ask(part, |now| now.derivatives(own))?;
            if !unit.is_second() {
                let seconds = unit.seconds().seconds();
                own.iter_mut().for_each(|derivative| *derivative /= seconds);
            }
        }
        Ok(())
    }

    fn jacobian(&mut self, matrix: &mut Dense) -> Result<bool, Refused<Failed>> {
        if self.parts.iter().any(|part| part.pattern.is_none() && !part.states.is_empty()) {
            return Ok(false);
        }
        matrix.fill(0.0);
        for Part { member, states, unit, pattern, .. } in self.parts.iter_mut() {
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
                    // What cannot be called is not, and differences do.
                    Err(_) => Ok(Err(None)),
                }
            });
            match read.map_err(Refused::Failed)? {
                Ok(()) => (),
                Err(None) => return Ok(false),
                Err(Some(failure)) => {
                    return Err(Refused::Discard(Failed { member: number, halt: Halt::Call(failure) }));
                }
            }
            for (value, &(row, column)) in values.iter().zip(pattern.places()) {
                matrix[(states.start + row, states.start + column)] = value / unit.seconds().seconds();
            }
        }
        Ok(true)
    }
}

impl Indicators for Joint<'_, '_, '_> {
    fn indicators(&mut self, z: &mut [f64]) -> Result<(), Refused<Failed>> {
        for part in 0..self.parts.len() {
            let own = &mut z[self.parts[part].indicators.clone()];
            self.ask(part, |now| now.indicators(own))?;
        }
        Ok(())
    }
}

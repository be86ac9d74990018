//! The FMUs for Model Exchange of a unit, integrated together from one communication point to the next (semantics S25).
//!
//! The time and states that the FMUs were told last are always the reached ones: outputs that are read at a communication point
//! belong to it. Events are located here and handled by the [release](super::release::EventRelease); after them, the states of
//! the FMUs that have changed theirs are read again.

use super::coupled_system::{CoupledSystem, failed};
use super::engine::Engine;
use super::event_limit::EventLimit;
use super::exchange::Exchange;
use super::group::{Failed, Group};
use super::member::{Anew, NO_MODE};
use crate::integration_buffers::{BufferSwap, CoupledFmu, IntegrationBuffers, integrated};
use crate::run_state::RunState;
use crate::unit::figures::IntegrationFigures;
use std::sync::atomic::Ordering::Relaxed;
use vecud_base::time::Instant;
use vecud_plan::{FmuId, IntegrationPlan, Mode, Plan, UnitId};
use vecud_record::findings::{FindingKind, Occurrence};
use vecud_solver::{Goal, Reached, Stopped, WorkBudget};

/// Right-hand sides between two looks at requests for the end of the run.
const BETWEEN_LOOKS: u64 = 1000;

/// The isolation of an integration from the rest of the rig.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Isolation {
    /// Other tasks, commands or a saved state see its results, or change something.
    Shared,
    /// No one else does: a step of the solver may go on beyond a communication point.
    Alone,
    /// No one else does, and it is of one FMU without clocks.
    Single,
}

/// All that is integrated in one unit.
pub struct Continuous {
    integration: IntegrationPlan,
    /// The FMU of the unit's first member.
    first: FmuId,
    buffers: IntegrationBuffers,
    figures: IntegrationFigures,
    /// The integration stops at each step of the solver: some FMU needs `fmi3CompletedIntegratorStep`.
    stops_at_steps: bool,
    /// Events were handled since it has gone on.
    was_event: bool,
    /// From here internal steps are counted: the begin of a step of the grid.
    from: Instant,
    /// Where that step ends; `None`: none has begun.
    target: Option<Instant>,
    /// Events that may still be handled before.
    events: EventLimit,
    isolation: Isolation,
    /// May be taken back with their states (`fmi3SetFMUState`).
    goes_back: bool,
    /// The result of [`Continuous::settle`] at the present communication point: whether inputs have caused a state event there;
    /// `None`: not looked yet.
    settled: Option<bool>,
}

impl Continuous {
    /// The integration of the unit of this task; `None`: it has no FMU for Model Exchange.
    pub fn of(run: &RunState, unit: UnitId) -> Option<Continuous> {
        let plan = &run.plan;
        let (members, integration) = integrated(plan, unit)?;
        let buffers = IntegrationBuffers::of(plan, unit, |fmu| run.described_now(fmu))?;
        Some(Continuous {
            integration,
            first: plan.units[unit.0].fmu,
            stops_at_steps: stops_at_steps(&buffers.parts),
            figures: IntegrationFigures::new(run, members[buffers.parts.first().map_or(0, |part| part.member)]),
            buffers,
            was_event: true,
            from: plan.start,
            target: None,
            events: EventLimit::new(
                integration.max_events,
                members.iter().any(|unit| plan.units[unit.0].shows_events()),
            ),
            isolation: match is_alone(run, &members) {
                true if members.len() == 1 && is_by_itself(plan, unit) => Isolation::Single,
                true => Isolation::Alone,
                false => Isolation::Shared,
            },
            goes_back: members.iter().any(|unit| plan.units[unit.0].goes_back()),
            settled: None,
        })
    }

    /// Events were handled at this communication point.
    pub fn note_event(&mut self, point: Instant) {
        (self.was_event, self.settled) = (true, None);
        self.events.note_event(point > self.from);
    }

    /// [`EventLimit::note_tick`].
    pub fn note_tick(&mut self) {
        self.events.note_tick();
    }

    /// Whether no event has happened since the last step, and no one else can cause one.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.isolation == Isolation::Single && !self.was_event
    }

    fn count_anew(&mut self) {
        let row = self.target.map_or(0.0, |target| target.seconds() - self.from.seconds());
        self.events.go_on(self.buffers.drive.time(), row);
    }

    /// [`EventLimit::is_exhausted`].
    pub fn is_exhausted(&self) -> bool {
        self.events.is_exhausted()
    }

    /// A release goes from this communication point to `target` at most, where the step of the grid ends.
    pub fn begin(&mut self, point: Instant, target: Instant) {
        if self.target.is_none_or(|before| before <= point) {
            self.from = point;
            self.events.begin_step();
        }
        (self.target, self.settled) = (Some(target), None);
        self.figures.begin();
    }

    /// Restarts the integration if events at this communication point have been handled.
    pub fn leave_event(
        &mut self,
        group: &mut Group,
        exchange: Option<&mut Exchange>,
        point: Instant,
    ) -> Result<(), Failed> {
        if std::mem::take(&mut self.was_event) {
            self.restart(group, exchange, point)?;
        }
        Ok(())
    }

    /// Tells the FMUs the present time and states after all inputs of this communication point were set. Returns whether inputs
    /// have caused a state event.
    pub fn settle(
        &mut self,
        group: &mut Group,
        exchange: Option<&mut Exchange>,
        point: Instant,
    ) -> Result<bool, Failed> {
        if self.settled.is_none() {
            self.settled = Some(self.look(group, exchange, point)?);
        }
        Ok(self.settled == Some(true))
    }

    fn look(&mut self, group: &mut Group, mut exchange: Option<&mut Exchange>, point: Instant) -> Result<bool, Failed> {
        self.leave_event(group, exchange.as_deref_mut(), point)?;
        self.count_anew();
        if !self.buffers.parts.iter().any(|part| group.member(part.member).1.sets_between_events()) {
            return Ok(false);
        }
        let IntegrationBuffers { drive, parts, .. } = &mut self.buffers;
        let between = [(drive.time(), &point); 2];
        let mut system = CoupledSystem { group, exchange: exchange.as_deref_mut(), parts, between };
        let has_event = drive.after_inputs(&mut system).map_err(|stopped| failed(stopped, parts, group))?;
        if has_event && !self.events.take() {
            self.too_many(group, point);
            self.restart(group, exchange, point)?;
            return Ok(false);
        }
        if has_event {
            self.tell_roots(group);
        }
        Ok(has_event)
    }

    /// Follows changes of structural parameters: everything is read again from these FMUs, and buffers are swapped.
    fn follow_sizes(&mut self, group: &mut Group) {
        let instances = &group.run.instances;
        let mut has_changed = false;
        for part in &mut self.buffers.parts {
            let resized = instances[part.fmu.0].resized.load(Relaxed);
            if std::mem::replace(&mut part.seen, resized) != resized {
                group.member(part.member).0.anew = Anew::ALL;
                has_changed = true;
            }
        }
        if has_changed {
            self.move_to(group, &instances[self.first.0].buffer_swap);
        }
    }

    /// Swaps in buffers for other numbers, if there are any. States of unchanged FMUs are kept.
    #[cold]
    fn move_to(&mut self, group: &mut Group, handover: &BufferSwap) {
        let is_replaced = handover.replace(&mut self.buffers, |new, old| {
            let IntegrationBuffers { drive, parts, nominals, .. } = new;
            for (own, before) in parts.iter_mut().zip(&old.parts) {
                own.seen = before.seen;
                if own.states.len() == before.states.len() {
                    drive.states_mut()[own.states.clone()].copy_from_slice(&old.drive.states()[before.states.clone()]);
                    nominals[own.states.clone()].copy_from_slice(&old.nominals[before.states.clone()]);
                }
            }
            drive.follow(&old.drive);
        });
        if is_replaced {
            self.stops_at_steps = stops_at_steps(&self.buffers.parts);
            self.buffers.parts.iter_mut().for_each(|part| group.member(part.member).0.take_roots(&mut part.roots));
        }
    }

    /// Restarts after events, with the FMUs' present states.
    fn restart(&mut self, group: &mut Group, exchange: Option<&mut Exchange>, point: Instant) -> Result<(), Failed> {
        self.follow_sizes(group);
        let IntegrationBuffers { drive, parts, nominals, .. } = &mut self.buffers;
        let mut has_nominals = false;
        for part in parts.iter() {
            let (states, nominals) = (&mut drive.states_mut()[part.states.clone()], &mut nominals[part.states.clone()]);
            let unit = group.unit(part.member);
            group.with(part.member, |member, calls, run, host| {
                let anew = std::mem::take(&mut member.anew);
                let Engine::Equations(model) = &mut member.engine else { return Ok(()) };
                let mut now = model.continuous_time().ok_or(NO_MODE)?;
                if anew.states {
                    calls.allow(now.states(states)?)?;
                }
                if anew.nominals {
                    calls.allow(now.nominals(nominals)?)?;
                    has_nominals = true;
                    for nominal in nominals.iter().filter(|nominal| nominal.is_nan() || **nominal <= 0.0) {
                        let (unit, time, value) = (Some(unit), Some(point), nominal.to_bits());
                        let seen = Occurrence { unit, reference: None, time, value };
                        run.board.fmu(host.fmu()).findings().note(FindingKind::IllegalNominal, seen);
                    }
                }
                Ok(())
            })?;
        }
        if has_nominals {
            drive.set_nominals(nominals);
        }
        let now = self.now(point);
        let IntegrationBuffers { drive, parts, .. } = &mut self.buffers;
        drive
            .restart(&mut CoupledSystem { group, exchange, parts, between: [(now, &point); 2] }, now)
            .map_err(|stopped| failed(stopped, parts, group))
    }

    /// A communication point in seconds: that at which an event was located is where the drive stands.
    fn now(&self, point: Instant) -> f64 {
        let stands = self.buffers.drive.time();
        if Instant::not_before(stands) == Some(point) { stands } else { point.seconds() }
    }

    /// Integrates from the communication point `from`, at which all FMUs are, to `to` or to the first event on the way. Nothing
    /// else changes anything before `known`; `None`: ever.
    pub fn go(
        &mut self,
        group: &mut Group,
        mut exchange: Option<&mut Exchange>,
        (from, to): (&Instant, &Instant),
        known: Option<&Instant>,
    ) -> Result<Instant, Failed> {
        self.settled = None;
        self.count_anew();
        let until = to.seconds();
        let between = [(self.buffers.drive.time(), from), (until, to)];
        for part in &self.buffers.parts {
            let (member, calls) = group.member(part.member);
            member.aim(*from, *to);
            calls.computes();
        }
        let limit = match self.isolation {
            Isolation::Shared => until,
            Isolation::Alone | Isolation::Single => {
                known.map_or(f64::INFINITY, |known| self.point_of(group, known, to))
            }
        };
        // Fixed steps alone are counted from there.
        let point = if self.integration.solver.is_adaptive() { until } else { self.from.seconds() };
        let event = self.known_event(group, (from, to));
        let goal = Goal { point, until, limit, event, steps: self.stops_at_steps };
        loop {
            // One step may need a few for each state.
            let right_hand_sides = BETWEEN_LOOKS + 10 * self.buffers.nominals.len() as u64;
            let mut bound = WorkBudget { events: self.events.left(), right_hand_sides };
            let IntegrationBuffers { drive, parts, .. } = &mut self.buffers;
            let reached = drive.to(
                &mut CoupledSystem { group, exchange: exchange.as_deref_mut(), parts, between },
                &goal,
                &mut bound,
            );
            self.events.set_left(bound.events);
            let reached = match reached {
                Err(Stopped::NoWorkLeft { .. }) if !group.is_stopped() => {
                    // Counted now, so that no watchdog takes this for a hang.
                    self.figures.note(self.buffers.drive.counts());
                    continue;
                }
                Err(Stopped::NoWorkLeft { .. }) => return self.leave(group, exchange, *to, between),
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
            let at = if self.buffers.drive.time() >= until { *to } else { self.at(*to) };
            let is_late = matches!(reached, Reached::Event { located: false });
            self.events.note_stop(is_event && !is_late);
            if is_late || (wants_event && self.is_exhausted()) {
                self.too_many(group, at);
            }
            let stops = is_event || (wants_event && !self.is_exhausted()) || self.is_over(group);
            if at == *to || stops || group.is_stopped() {
                self.arrive(group, at);
                return Ok(at);
            }
        }
    }

    /// The time of the next event that an FMU of the group has announced, s; infinite: there is none, or no FMU has state events.
    fn known_event(&self, group: &mut Group, (from, to): (&Instant, &Instant)) -> f64 {
        if self.buffers.parts.iter().all(|part| part.indicators.is_empty()) {
            return f64::INFINITY;
        }
        let known = |group: &mut Group, number| {
            let member = group.member(number).0;
            [member.time_event(*from), member.next_point(*from)].into_iter().flatten().min()
        };
        let first = (0..group.len()).filter_map(|number| known(group, number)).min();
        first.map_or(f64::INFINITY, |first| self.point_of(group, &first, to))
    }

    /// The communication point of an announced time, s: the end of the step, or a later instant of the grid, where that is the
    /// same but for rounding. So a step of the solver ends there, and is complete before an event is handled.
    fn point_of(&self, group: &Group, known: &Instant, to: &Instant) -> f64 {
        let stepping = &group.first.0.stepping;
        let grid = stepping.on_grid(self.from, known.seconds());
        let point = [to, &grid].into_iter().find(|point| stepping.is_same(*known, **point)).unwrap_or(known);
        point.seconds().max(to.seconds())
    }

    /// Keeps the communication point at which all stand, [settled](Continuous::settle).
    pub fn save(&mut self) {
        let IntegrationBuffers { drive, saved, .. } = &mut self.buffers;
        (saved.time, saved.pace) = (drive.time(), drive.pace());
        saved.states.copy_from_slice(drive.states());
    }

    /// Takes all back to the communication point that was kept, at which each of them is by its own word already. No event was handled
    /// since.
    pub fn restore(&mut self, group: &mut Group, exchange: Option<&mut Exchange>) -> Result<(), Failed> {
        self.settled = Some(false);
        let IntegrationBuffers { drive, parts, saved, .. } = &mut self.buffers;
        drive.states_mut().copy_from_slice(&saved.states);
        let point = Instant::not_before(saved.time).unwrap_or(Instant::ZERO);
        drive
            .restart(&mut CoupledSystem { group, exchange, parts, between: [(saved.time, &point); 2] }, saved.time)
            .map_err(|stopped| failed(stopped, parts, group))?;
        drive.set_pace(saved.pace);
        Ok(())
    }

    /// The instant that the drive has reached on its way to `to`.
    fn at(&self, to: Instant) -> Instant {
        match self.buffers.drive.time() >= to.seconds() {
            true => to,
            false => Instant::not_before(self.buffers.drive.time()).unwrap_or(to).min(to),
        }
    }

    fn arrive(&mut self, group: &mut Group, at: Instant) {
        self.figures.note(self.buffers.drive.counts());
        for part in &self.buffers.parts {
            group.member(part.member).0.stepping.integrated(at);
        }
    }

    /// Ends a long integration where the drive is, after a request for the end of the run.
    #[cold]
    fn leave(
        &mut self,
        group: &mut Group,
        exchange: Option<&mut Exchange>,
        to: Instant,
        between: [(f64, &Instant); 2],
    ) -> Result<Instant, Failed> {
        let IntegrationBuffers { drive, parts, .. } = &mut self.buffers;
        // The FMUs may have been told another point last.
        let told = drive.after_inputs(&mut CoupledSystem { group, exchange, parts, between });
        let _nothing_follows = told.map_err(|stopped| failed(stopped, parts, group))?;
        let at = self.at(to);
        self.arrive(group, at);
        Ok(at)
    }

    /// Whether one of the FMUs has asked for the end of the run.
    fn is_over(&self, group: &mut Group) -> bool {
        self.buffers.parts.iter().any(|part| group.member(part.member).0.stepping.is_over())
    }

    /// Calls `fmi3CompletedIntegratorStep` for the FMUs that need it. Returns whether one wants an event.
    fn complete(&self, group: &mut Group) -> Result<bool, Failed> {
        let (mut wants_event, is_final) = (false, !self.goes_back);
        for part in self.buffers.parts.iter().filter(|part| part.needs_completed_steps) {
            wants_event |= group.with(part.member, |member, calls, _, _| {
                let Engine::Equations(model) = &mut member.engine else { return Ok(false) };
                let completed = model.continuous_time().ok_or(NO_MODE)?.completed_integrator_step(is_final)?;
                calls.allow(completed.outcome)?;
                member.note_step_event(completed.enter_event_mode);
                member.stepping.request_end(completed.terminate_simulation);
                Ok(completed.enter_event_mode)
            })?;
        }
        Ok(wants_event)
    }

    /// Tells each FMU which of its indicators have changed.
    fn tell_roots(&self, group: &mut Group) {
        for part in &self.buffers.parts {
            group.member(part.member).0.note_roots(&self.buffers.drive.roots()[part.indicators.clone()]);
        }
    }

    /// Notes, once per step, that there are more events than may be handled within it.
    #[cold]
    pub fn too_many(&mut self, group: &mut Group, time: Instant) {
        let Some(part) = self.buffers.parts.first().filter(|_| self.events.exceeds()) else { return };
        let (unit, fmu) = (group.unit(part.member), group.host(part.member).fmu());
        let value = u64::from(self.integration.max_events);
        let seen = Occurrence { unit: Some(unit), reference: None, time: Some(time), value };
        group.run.board.fmu(fmu).findings().note(FindingKind::TooManyEvents, seen);
    }
}

/// Whether each step of the solver stops: some FMU needs to be told, or there are no states, so no right-hand sides after which
/// requests for the end of the run are looked for.
fn stops_at_steps(parts: &[CoupledFmu]) -> bool {
    parts.iter().all(|part| part.states.is_empty()) || parts.iter().any(|part| part.needs_completed_steps)
}

/// Whether the results of these tasks go nowhere, and nothing is set in them.
fn is_alone(run: &RunState, members: &[UnitId]) -> bool {
    let plan = &run.plan;
    let is_set = |unit: &UnitId| !plan.units[unit.0].set.is_empty();
    let is_controlled = plan.fmus.iter().any(|fmu| !fmu.control.variables.is_empty());
    plan.mode == Mode::Virtual
        && plan.connections.is_empty()
        && !members.iter().any(is_set)
        && !is_controlled
        && !run.saves
}

/// Whether the FMU of this task has no clocks, and no master makes its steps.
fn is_by_itself(plan: &Plan, unit: UnitId) -> bool {
    plan.fmus[plan.units[unit.0].fmu.0].output_clocks.is_empty() && plan.master_of(unit).is_none()
}

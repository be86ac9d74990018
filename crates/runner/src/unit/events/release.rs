//! One release of an [`EventUnit`](super::EventUnit): the events at a communication point, and the step to the next one, of all FMUs
//! that make their steps together.

use super::continuous::Continuous;
use super::exchange::Exchange;
use super::group::{Failed, Group};
use super::member::Commanded;
use crate::activation_error::ActivationError;
use crate::calls::Meter;
use crate::inbox::Turn;
use crate::unit::{step, substeps};
use vecud_base::time::Instant;
use vecud_fmi::Function;
use vecud_plan::StepClock;
use vecud_plan::schedule::Due;
use vecud_record::board::TaskWord;
use vecud_record::unusable::Unusable;

/// Iterations of an event (semantics S22).
const ITERATIONS: u32 = 100;

/// The members that have stepped, a bit by number; those beyond 64 are not taken back.
#[derive(Clone, Copy, Default)]
struct Stepped(u64);

impl Stepped {
    fn note(&mut self, number: usize) {
        self.0 |= 1u64.checked_shl(number as u32).unwrap_or(0);
    }

    fn has(self, number: usize) -> bool {
        self.0 & 1u64.checked_shl(number as u32).unwrap_or(0) != 0
    }
}

/// One release: the FMUs of a unit, and the parts that they share.
pub struct EventRelease<'a> {
    pub group: Group<'a>,
    /// The integration of those for Model Exchange.
    pub continuous: Option<&'a mut Continuous>,
    /// The values between members with a master.
    pub exchange: Option<&'a mut Exchange>,
    /// One of them has asked for the end of the run, and all have had their last row: no step follows.
    pub is_over: bool,
}

impl EventRelease<'_> {
    /// Whether one of them has asked for the end of the run, which comes now.
    pub fn is_over(&mut self, time: Instant) -> bool {
        let group = &mut self.group;
        let Some(over) = (0..group.len()).find(|number| group.member(*number).0.stepping.is_over()) else {
            return false;
        };
        let (run, host) = (group.run, group.host(over));
        step::end(run, host, &group.member(over).0.stepping);
        let Ok(()) = group.each(|member, calls, run, host| {
            member.stepping.request_end(true);
            member.record_last(calls, run, host, time);
            Ok(())
        }) else {
            unreachable!("nothing is called")
        };
        self.is_over = true;
        true
    }

    /// Fetches the inputs of each member for the release `due`. Returns the end of its work.
    pub fn fetch(&mut self, due: &Due) -> Result<Instant, Failed> {
        let (first, time) = (&self.group.first.0.stepping, due.time);
        let target = first.bounded(first.end_of(due));
        let goes_on = self.exchange.as_ref().is_some_and(|exchange| exchange.is_within_step(time));
        self.group.each(|member, calls, run, host| {
            calls.begin();
            calls.follow_sizes(run, host);
            member.load(calls)?;
            if !goes_on {
                calls.fetch(run, host, member.stepping.looks_at(time));
            }
            Ok(())
        })?;
        let point = self.group.point(time);
        if let Some(continuous) = &mut self.continuous {
            continuous.begin(point, target);
        }
        if let Some(exchange) = &mut self.exchange {
            exchange.begin(target);
        }
        Ok(target)
    }

    /// Handles events at this communication point, and commands, in a release at `time`. `false`: an FMU has ended the run.
    pub fn come_to_rest(&mut self, point: Instant, time: Instant) -> Result<bool, Failed> {
        let mut again = false;
        loop {
            self.handle_events(point, time, Turn::EventMode { again })?;
            if self.group.has_end() {
                return Ok(false);
            }
            // Before inputs are set outside of the event, so that their effect is seen.
            self.integrate(|continuous, group, exchange| continuous.leave_event(group, exchange, point))?;
            again = self.carry_out_in_step_mode(point, time)?;
            if !again {
                return Ok(true);
            }
        }
    }

    /// The work of the release `due`.
    pub fn release(&mut self, due: &Due, meter: &mut impl Meter) -> Result<(), Failed> {
        let time = due.time;
        if let Some(target) = self.quiet_until(due) {
            self.pass(time, target, meter)?;
            return match self.is_done(time, time, target)? {
                true => self.publish(time),
                false => self.go_on((time, target), false, meter),
            };
        }
        let target = self.fetch(due)?;
        self.go_on((time, target), true, meter)
    }

    /// The end of the step of the release `due`, if it does nothing else: one integrated FMU, unconnected, without an event here
    /// or announced for the step.
    #[inline(always)] // the instant stays in registers, in the one place
    fn quiet_until(&mut self, due: &Due) -> Option<Instant> {
        let continuous = self.continuous.as_ref().filter(|continuous| continuous.is_quiet())?;
        let target = self.group.first.0.quiet_until(due)?;
        (!continuous.is_exhausted()).then_some(target)
    }

    /// Makes the step of a [quiet](EventRelease::quiet_until) release.
    #[inline(always)] // in the one place
    fn pass(&mut self, time: Instant, target: Instant, meter: &mut impl Meter) -> Result<(), Failed> {
        let (member, calls) = (&mut *self.group.first.0, &mut *self.group.first.1);
        calls.begin();
        member.record(calls, self.group.run, self.group.host, time);
        let known = earlier(member.stepping.stop, member.time_event(time));
        meter.enter();
        let passed = self.integrate(|continuous, group, exchange| {
            continuous.begin(time, target);
            continuous.go(group, exchange, (&time, &target), known.as_ref())
        });
        meter.leave();
        passed.map(drop)
    }

    /// Does the work of a release at `time`, or the rest of it, up to `target`. `is_first`: nothing was done yet, and the release
    /// has no row.
    fn go_on(
        &mut self,
        (time, target): (Instant, Instant),
        mut is_first: bool,
        meter: &mut impl Meter,
    ) -> Result<(), Failed> {
        loop {
            let point = self.group.point(time);
            if !self.come_to_rest(point, time)? {
                self.group.record(time)?;
                self.is_over(time);
                return Ok(());
            }
            for number in 0..self.group.len() {
                if self.group.is_at(number, point) {
                    self.group.with(number, |member, calls, _, host| member.set(calls, host, time))?;
                }
            }
            if self.integrate(|continuous, group, exchange| continuous.settle(group, exchange, point))?.unwrap_or(false)
            {
                continue;
            }
            if std::mem::take(&mut is_first) {
                self.group.each(|member, calls, _, _| member.follow_inputs(calls))?;
                self.group.record(time)?;
            }
            meter.enter();
            let stepped = self.step(point, target);
            meter.leave();
            stepped?;
            if self.is_done(point, time, target)? {
                return self.publish(time);
            }
        }
    }

    /// Whether nothing more is stepped in the release at `time` to `target`, after a step from `point` on.
    fn is_done(&mut self, point: Instant, time: Instant, target: Instant) -> Result<bool, Failed> {
        let reached = self.group.point(time);
        if reached >= target || self.group.has_end() {
            return Ok(true);
        }
        if reached > time && (self.group.is_stopped() || !self.goes_on_within()) {
            self.group.first.0.stepping.go_on_at(reached);
            return Ok(true);
        }
        if reached == point && !self.group.wants_event() {
            let failure = substeps::stuck(self.group.first.0.stepping.value(point));
            return Err(Failed { member: 0, error: ActivationError::Call(failure) });
        }
        Ok(false)
    }

    /// Reads and publishes the outputs of the release at `time`.
    pub fn publish(&mut self, time: Instant) -> Result<(), Failed> {
        self.group.each(|member, calls, run, host| {
            member.get(calls, run, host, time, false)?;
            member.show_before(calls, run, host);
            Ok(())
        })?;
        if let Some(exchange) = &mut self.exchange {
            exchange.were_read();
        }
        match self.group.first.0.stepping.ends_with_events() && !self.group.has_end() {
            true => {
                let stop = self.group.point(time);
                self.handle_events(stop, stop, Turn::EventMode { again: false })
            }
            false => Ok(()),
        }
    }

    /// Steps all that are at this communication point to the next one, which is `target` at most.
    fn step(&mut self, point: Instant, target: Instant) -> Result<(), Failed> {
        let vary = (0..self.group.len()).all(|number| self.group.member(number).0.stepping.varies());
        let mut to = self.group.first.0.stepping.next(point, target);
        let mut all_known = self.group.first.0.stepping.stop;
        if vary {
            for number in 0..self.group.len() {
                let (member, _) = self.group.member(number);
                let ahead = member.stepping.reached.filter(|reached| *reached > point);
                let known = earlier(member.next_point(point), ahead);
                all_known = earlier(all_known, known);
                to = self.group.first.0.stepping.ends_before(to, known);
            }
            let is_exhausted = self.continuous.as_ref().is_some_and(|continuous| continuous.is_exhausted());
            for number in 0..self.group.len() {
                let (member, _) = self.group.member(number);
                let mut timed = member.time_event(point);
                if is_exhausted && member.is_integrated() && timed.take().is_some_and(|event| event < target) {
                    self.integrate(|continuous, group, _| {
                        continuous.too_many(group, point);
                        Ok(())
                    })?;
                }
                all_known = earlier(all_known, timed);
                to = self.group.first.0.stepping.ends_before(to, timed);
            }
        }
        // Members that may return early come first, so that the others need not be taken back. The integration ends at its
        // events.
        let mut stepped = Stepped::default();
        for early in [true, false] {
            if !early {
                let reached = self.integrate(|continuous, group, exchange| {
                    continuous.go(group, exchange, (&point, &to), all_known.as_ref())
                })?;
                to = to.min(reached.unwrap_or(to));
            }
            for number in 0..self.group.len() {
                let member = self.group.member(number).0;
                let is_next = member.may_return_early == early && !member.is_integrated();
                if is_next && self.group.is_at(number, point) {
                    stepped.note(number);
                    to = to.min(self.step_one(number, point, to)?);
                }
            }
        }
        self.take_back(point, stepped)
    }

    /// One of them steps.
    fn step_one(&mut self, number: usize, point: Instant, to: Instant) -> Result<Instant, Failed> {
        self.group.with(number, |member, calls, _, _| {
            calls.computes();
            member.remember()?;
            let (outcome, reached) = member.step(point, to, false)?;
            calls.allow(outcome)?;
            Ok(reached)
        })
    }

    /// Lets FMUs that have passed the point of another one's early return step to that point instead, where they can be taken
    /// back: the others are ahead, and take part in its events at their own point.
    fn take_back(&mut self, point: Instant, stepped: Stepped) -> Result<(), Failed> {
        for _ in 0..self.group.len() {
            let reached = self.group.point(point);
            let mut again = false;
            for number in (0..self.group.len()).filter(|number| stepped.has(*number)) {
                let is_ahead = self.group.member(number).0.stepping.reached.is_some_and(|own| own > reached);
                if is_ahead && self.group.with(number, |member, _, _, _| Ok(member.take_back()?))? {
                    again |= self.step_one(number, point, reached)? < reached;
                }
            }
            if !again {
                break;
            }
        }
        Ok(())
    }

    /// Carries out the commands of Step Mode before the step. Returns whether more are due that want Event Mode.
    fn carry_out_in_step_mode(&mut self, point: Instant, time: Instant) -> Result<bool, Failed> {
        let mut wants_event_mode = false;
        for number in 0..self.group.len() {
            if self.group.is_at(number, point) {
                wants_event_mode |= self.group.with(number, |member, calls, run, host| {
                    let setting = &mut Commanded { member, point: None };
                    Ok(calls.carry_out(run, host, setting, time, Turn::StepMode)?.wants_event_mode)
                })?;
            }
        }
        Ok(wants_event_mode)
    }

    /// Handles the events at this communication point in a release at `time`, if there are any, after the commands of this turn.
    pub fn handle_events(&mut self, point: Instant, time: Instant, turn: Turn) -> Result<(), Failed> {
        self.handle_event(point, time, turn)?;
        // An FMU may announce its next event for the same time, once (semantics S22).
        let recurs = |group: &mut Group| {
            (0..group.len()).any(|number| group.is_at(number, point) && group.member(number).0.wants_event_again())
        };
        while !self.group.has_end() && recurs(&mut self.group) {
            self.handle_event(point, time, Turn::EventMode { again: true })?;
        }
        Ok(())
    }

    fn handle_event(&mut self, point: Instant, time: Instant, turn: Turn) -> Result<(), Failed> {
        let mut is_event = false;
        for number in 0..self.group.len() {
            if !self.group.is_at(number, point) {
                continue;
            }
            self.exchanging(|exchange, group| exchange.carry_to_event(group, number, point))?;
            let mut has_jumped = false;
            self.exchanging(|exchange, group| {
                has_jumped = exchange.has_jump(group, number, point);
                Ok(())
            })?;
            is_event |= self.group.with(number, |member, calls, run, host| {
                member.note_jump(calls.take_jump() | has_jumped);
                let has_event = member.has_event(run, point);
                let setting = &mut Commanded { member, point: Some(point) };
                let _it_is_in_event_mode_then = calls.carry_out(run, host, setting, time, turn)?;
                Ok(has_event | member.is_in_event_mode() | calls.has_changed())
            })?;
        }
        if !is_event {
            return Ok(());
        }
        let has_tick = (0..self.group.len()).any(|number| self.group.member(number).0.clocks.is_pending());
        if let Some(continuous) = self.continuous.as_mut().filter(|_| has_tick) {
            continuous.note_tick();
        }
        self.group.at_point(point, |member, calls, _, _| {
            member.look_before_event(calls)?;
            calls.allow(member.enter_event_mode(point)?)
        })?;
        let (mut restless, mut by_others) = (0, false);
        for iteration in 0..ITERATIONS {
            self.exchanging(|exchange, group| exchange.evaluate(group, point))?;
            for number in 0..self.group.len() {
                if !self.group.is_at(number, point) {
                    continue;
                }
                // Carries the values that members before it have computed in this iteration.
                let is_mastered = self.exchange.is_some();
                self.exchanging(|exchange, group| exchange.carry_to_event(group, number, point))?;
                self.exchanging(|exchange, group| exchange.carry_jumps(group, number, point))?;
                self.exchanging(|exchange, group| exchange.set_in_event(group, number, point))?;
                self.group.with(number, |member, calls, run, host| {
                    if !is_mastered && (iteration > 0 || number > 0) {
                        calls.fetch(run, host, time);
                    }
                    member.note_jump(calls.take_jump());
                    calls.has_changed();
                    if !is_mastered && member.is_integrated() {
                        member.set(calls, host, time)?;
                    }
                    member.set_in_event_mode(calls)?;
                    member.get_in_event_mode(calls, run, host, point)
                })?;
                if let Some(exchange) = &mut self.exchange {
                    exchange.has_computed(number);
                }
                self.hand_out(number, point);
            }
            self.exchanging(|exchange, group| exchange.remember(group, point))?;
            let mut again = None;
            for number in 0..self.group.len() {
                let group = &mut self.group;
                if group.is_at(number, point)
                    && group.with(number, |member, calls, _, _| member.update(calls, point))?
                {
                    again = Some(number);
                }
            }
            if self.group.has_end() {
                return self.leave(point, time);
            }
            for number in 0..self.group.len() {
                let group = &mut self.group;
                if group.is_at(number, point) && group.with(number, |member, _, run, _| member.ask(run, point))? {
                    again = Some(number);
                }
            }
            if let Some(exchange) = &mut self.exchange {
                exchange.have_computed();
            }
            by_others = again.is_none();
            match again.or(self.has_news(point)?) {
                Some(number) => restless = number,
                None => return self.leave(point, time),
            }
        }
        let (host, unit) = (self.group.host(restless), self.group.unit(restless));
        let reading = Unusable::Restless(ITERATIONS.into(), by_others.into());
        Err(Failed { member: restless, error: host.fail_reading(Function::UpdateDiscreteStates, unit, point, reading) })
    }

    /// The member, if there is one, whose inputs an iteration of an event has changed: those that it takes in Event Mode or, if
    /// it is integrated, any.
    fn has_news(&mut self, point: Instant) -> Result<Option<usize>, Failed> {
        if self.exchange.is_none() {
            return Ok(None);
        }
        let mut news = None;
        for number in 0..self.group.len() {
            if self.group.is_at(number, point) {
                self.exchanging(|exchange, group| exchange.carry_to_event(group, number, point))?;
                if self.group.member(number).1.has_changed() {
                    news = Some(number);
                }
            }
        }
        self.exchanging(|exchange, group| {
            news = news.or(exchange.has_news(group, point)?);
            Ok(())
        })?;
        Ok(news)
    }

    /// Leaves Event Mode, and reads the outputs that it has changed. After `terminateSimulation` all stay in Event Mode until
    /// they are terminated.
    fn leave(&mut self, point: Instant, time: Instant) -> Result<(), Failed> {
        let is_over = self.group.has_end();
        self.group.at_point(point, |member, calls, run, host| {
            if !is_over {
                calls.allow(member.leave_event_mode()?)?;
            }
            member.get(calls, run, host, time, true)
        })?;
        if let Some(continuous) = &mut self.continuous {
            continuous.note_event(point);
        }
        if let Some(exchange) = &mut self.exchange {
            exchange.have_computed();
        }
        Ok(())
    }

    /// Does something with the integration, if there is one.
    pub fn integrate<T>(
        &mut self,
        body: impl FnOnce(&mut Continuous, &mut Group, Option<&mut Exchange>) -> Result<T, Failed>,
    ) -> Result<Option<T>, Failed> {
        let Some(continuous) = &mut self.continuous else { return Ok(None) };
        body(continuous, &mut self.group, self.exchange.as_deref_mut()).map(Some)
    }

    /// Does something with the values between the members, if a master steps them.
    pub fn exchanging(
        &mut self,
        body: impl FnOnce(&mut Exchange, &mut Group) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let Some(exchange) = &mut self.exchange else { return Ok(()) };
        body(exchange, &mut self.group)
    }

    /// Whether a release continues by itself after a step has ended early, since no other task takes part in the event: all
    /// members are integrated, have no clocks, and events have no rows.
    fn goes_on_within(&mut self) -> bool {
        let group = &mut self.group;
        (0..group.len()).all(|number| {
            let clocks = &group.run.plan.fmus[group.host(number).fmu().0].output_clocks;
            let member = group.member(number).0;
            member.is_integrated() && clocks.is_empty() && !member.stepping.shows_events()
        })
    }

    /// Hands the ticks of a member's clocks to their targets: to tasks at once, to clocks of the group in its next iteration, or,
    /// in the draft, after a delay.
    fn hand_out(&mut self, number: usize, point: Instant) {
        let group = &mut self.group;
        let (run, host) = (group.run, group.host(number));
        let clocks = &run.plan.fmus[host.fmu().0].output_clocks;
        for (place, planned) in clocks.iter().enumerate() {
            if !group.member(number).0.clocks.is_one_active(&[place]) {
                continue;
            }
            let delay = group.member(number).0.clocks.delay(place);
            let time = if delay.is_zero() { point } else { point.after(delay) };
            host.ticked_in_event_mode(place, time);
            for StepClock { fmu, clock } in &planned.clocks {
                let is_it = |group: &mut Group, number: &usize| group.host(*number).fmu() == *fmu;
                let Some(target) = (0..group.len()).find(|number| is_it(group, number)) else { continue };
                let member = group.member(target).0;
                member.clocks.tick(run, *clock, point, time);
                if member.stepping.reached.is_some_and(|reached| reached > time) {
                    let unit = group.unit(target);
                    run.board.task(unit).count(TaskWord::Deferred, 1);
                }
            }
        }
    }
}

/// The earlier one of two instants, as far as there are any. Without a list of both, since this is done for each step.
#[inline]
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

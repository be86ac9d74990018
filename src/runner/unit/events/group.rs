//! One release of an [`EventUnit`](super::EventUnit): the events at a communication point, and the step to the next one, of all FMUs
//! that make their steps together.

use super::member::{Commanded, Member};
use crate::ffi::{Failure, Function, Status, set_thread_host};
use crate::plan::{StepClock, TaskId};
use crate::record::board::TaskWord;
use crate::runner::activation::{Activation, Calls, Meter};
use crate::runner::halt::Halt;
use crate::runner::inbox::Turn;
use crate::runner::thread_host::PartitionHost;
use crate::runner::unit::{step, way};
use crate::runner::world::World;
use crate::schedule::Due;
use crate::time::Instant;

/// Iterations of an event (semantics S22).
const ITERATIONS: u32 = 100;

/// Who has stepped, by number; of more than there is room for nobody is taken back.
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

/// One of them has failed, by its number.
pub struct Failed {
    pub member: usize,
    pub halt: Halt,
}

/// The FMUs of a unit in a release, by their numbers: 0 is the one that leads.
pub struct Group<'a> {
    pub world: &'static World,
    pub host: &'static PartitionHost,
    pub leader: (&'a mut Member, &'a mut Calls),
    pub followers: &'a mut [Activation],
}

impl Group<'_> {
    fn len(&self) -> usize {
        1 + self.followers.len()
    }

    fn member(&mut self, number: usize) -> (&mut Member, &mut Calls) {
        match number.checked_sub(1) {
            None => (&mut *self.leader.0, &mut *self.leader.1),
            Some(follower) => self.followers[follower].member().expect("it has Event Mode"),
        }
    }

    fn task(&mut self, number: usize) -> TaskId {
        self.member(number).1.task()
    }

    /// What serves the FMU of that number.
    pub fn host(&mut self, number: usize) -> &'static PartitionHost {
        let task = self.task(number);
        self.host.of(self.world.plan.tasks[task.0].fmu)
    }

    /// Does something with one of them, whose calls come back to what serves it.
    fn with<T>(
        &mut self,
        number: usize,
        body: impl FnOnce(&mut Member, &mut Calls, &'static World, &'static PartitionHost) -> Result<T, Halt>,
    ) -> Result<T, Failed> {
        let (world, host) = (self.world, self.host(number));
        let is_other = number > 0;
        if is_other {
            set_thread_host(Some(host));
        }
        let (member, calls) = self.member(number);
        let result = body(member, calls, world, host);
        host.returned_from_fmu();
        if is_other {
            set_thread_host(Some(self.host));
        }
        result.map_err(|halt| Failed { member: number, halt })
    }

    /// Does something with each of them.
    fn each(
        &mut self,
        mut body: impl FnMut(&mut Member, &mut Calls, &'static World, &'static PartitionHost) -> Result<(), Halt>,
    ) -> Result<(), Failed> {
        (0..self.len()).try_for_each(|number| self.with(number, &mut body))
    }

    /// Whether one of them has asked for the end of the run, which comes now.
    pub fn is_over(&mut self, time: Instant) -> bool {
        let Some(over) = (0..self.len()).find(|number| self.member(*number).0.stepping.is_over) else { return false };
        let (world, host) = (self.world, self.host(over));
        step::end(world, host, &self.member(over).0.stepping);
        let Ok(()) = self.each(|member, calls, world, host| {
            member.stepping.is_over = true;
            member.record_last(calls, world, host, time);
            Ok(())
        }) else {
            unreachable!("nothing is called")
        };
        true
    }

    /// The others begin in the name of their own tasks.
    pub fn begin(&mut self, due: &Due) {
        for number in 1..self.len() {
            let (world, host, task) = (self.world, self.host(number), self.task(number));
            host.begin(&world.sites[task.0], due);
        }
    }

    pub fn end(&mut self, is_done: bool) {
        for number in 1..self.len() {
            let (host, task) = (self.host(number), self.task(number));
            host.end();
            let cells = self.world.board.task(task);
            match is_done {
                true => cells.count(TaskWord::Activations, 1),
                // What comes from outside for the same task is counted by another thread.
                false => cells.count_shared(TaskWord::Discarded, 1),
            }
        }
    }

    /// The communication point that the group has come to: one that is ahead waits for the others there.
    fn point(&mut self, time: Instant) -> Instant {
        let reached = |group: &mut Self, number| group.member(number).0.stepping.reached.unwrap_or(time);
        (0..self.len()).map(|number| reached(self, number)).min().unwrap_or(time)
    }

    fn is_at(&mut self, number: usize, point: Instant) -> bool {
        self.member(number).0.stepping.reached.is_none_or(|reached| reached == point)
    }

    /// The work of the release `due`.
    pub fn release(&mut self, due: &Due, meter: &mut impl Meter) -> Result<(), Failed> {
        let (leader, time) = (&self.leader.0.stepping, due.time);
        let end = leader.end_of(due);
        let target = leader.stop.map_or(end, |stop| end.min(stop));
        self.each(|member, calls, world, host| {
            calls.begin();
            member.take_up(calls)?;
            calls.fetch(world, host, member.stepping.looks_at(time));
            Ok(())
        })?;
        let mut is_first = true;
        loop {
            let point = self.point(time);
            let mut again = false;
            loop {
                self.handle_events(point, time, Turn::EventMode { again })?;
                if (0..self.len()).any(|number| self.member(number).0.stepping.is_over) {
                    self.record(time)?;
                    self.is_over(time);
                    return Ok(());
                }
                again = self.carry_out_in_step_mode(point, time)?;
                if !again {
                    break;
                }
            }
            for number in 0..self.len() {
                if self.is_at(number, point) {
                    self.with(number, |member, calls, _, host| member.set(calls, host, time))?;
                }
            }
            if std::mem::take(&mut is_first) {
                self.record(time)?;
            }
            meter.enter();
            let stepped = self.step(point, target);
            meter.leave();
            stepped?;
            let reached = self.point(time);
            let is_over = (0..self.len()).any(|number| self.member(number).0.stepping.is_over);
            if reached >= target || is_over {
                break;
            }
            if reached > time {
                self.leader.0.stepping.go_on_at(reached);
                break;
            }
            if reached == point && !(0..self.len()).any(|number| self.member(number).0.wants_event()) {
                let failure = way::stuck(self.leader.0.stepping.unit.value(point));
                return Err(Failed { member: 0, halt: Halt::Call(failure) });
            }
        }
        self.each(|member, calls, world, host| {
            member.get(calls, world, host, time, false)?;
            member.show_before(calls, world, host);
            Ok(())
        })?;
        match self.leader.0.stepping.ends_with_events() {
            true => {
                let stop = self.point(time);
                self.handle_events(stop, stop, Turn::EventMode { again: false })
            }
            false => Ok(()),
        }
    }

    /// Records what is set at this time, and what was read last.
    fn record(&mut self, time: Instant) -> Result<(), Failed> {
        self.each(|member, calls, world, host| {
            member.record(calls, world, host, time);
            Ok(())
        })
    }

    /// Steps all that are at this communication point to the next one, which is `target` at most.
    fn step(&mut self, point: Instant, target: Instant) -> Result<(), Failed> {
        let vary = (0..self.len()).all(|number| self.member(number).0.stepping.varies);
        let mut to = self.leader.0.stepping.next(point, target);
        if vary {
            for number in 0..self.len() {
                let (member, _) = self.member(number);
                let ahead = member.stepping.reached.filter(|reached| *reached > point);
                let known = [member.next_point(point), ahead].into_iter().flatten().min();
                let known = known.filter(|known| !self.leader.0.stepping.is_now(to, *known));
                to = known.map_or(to, |known| known.min(to));
            }
        }
        // Those that may return early first: the others need not be taken back then.
        let mut stepped = Stepped::default();
        for early in [true, false] {
            for number in 0..self.len() {
                if self.member(number).0.may_return_early == early && self.is_at(number, point) {
                    stepped.note(number);
                    to = to.min(self.step_one(number, point, to)?);
                }
            }
        }
        self.take_back(point, stepped)
    }

    /// One of them steps.
    fn step_one(&mut self, number: usize, point: Instant, to: Instant) -> Result<Instant, Failed> {
        self.with(number, |member, calls, _, _| {
            calls.computes();
            member.remember()?;
            let (outcome, reached) = member.step(point, to)?;
            calls.allow(outcome)?;
            Ok(reached)
        })
    }

    /// FMUs that have passed the point at which another one has returned early step to that point instead, where they can be
    /// taken back: the others are ahead, and take part in what happens there at their own point.
    fn take_back(&mut self, point: Instant, stepped: Stepped) -> Result<(), Failed> {
        for _ in 0..self.len() {
            let reached = self.point(point);
            let mut again = false;
            for number in (0..self.len()).filter(|number| stepped.has(*number)) {
                let is_ahead = self.member(number).0.stepping.reached.is_some_and(|own| own > reached);
                if is_ahead && self.with(number, |member, _, _, _| Ok(member.take_back()?))? {
                    again |= self.step_one(number, point, reached)? < reached;
                }
            }
            if !again {
                break;
            }
        }
        Ok(())
    }

    /// Sets in Step Mode what somebody wants to have set there before the step. Whether more is due that wants Event Mode.
    fn carry_out_in_step_mode(&mut self, point: Instant, time: Instant) -> Result<bool, Failed> {
        let mut wants_event_mode = false;
        for number in 0..self.len() {
            if self.is_at(number, point) {
                wants_event_mode |= self.with(number, |member, calls, world, host| {
                    let setting = &mut Commanded { member, point: None };
                    Ok(calls.carry_out(world, host, setting, time, Turn::StepMode)?.wants_event_mode)
                })?;
            }
        }
        Ok(wants_event_mode)
    }

    /// Handles the events at this communication point in a release at `time`, if there are any, after what somebody wants to have set
    /// in this turn.
    fn handle_events(&mut self, point: Instant, time: Instant, turn: Turn) -> Result<(), Failed> {
        let mut is_event = false;
        for number in 0..self.len() {
            if !self.is_at(number, point) {
                continue;
            }
            is_event |= self.with(number, |member, calls, world, host| {
                let has_event = member.has_event(world, point);
                let setting = &mut Commanded { member, point: Some(point) };
                let _it_is_in_event_mode_then = calls.carry_out(world, host, setting, time, turn)?;
                Ok(has_event | member.is_in_event_mode() | calls.has_changed())
            })?;
        }
        if !is_event {
            return Ok(());
        }
        self.at_point(point, |member, calls, _, _| calls.allow(member.enter_event_mode(point)?))?;
        let mut restless = 0;
        for iteration in 0..ITERATIONS {
            for number in 0..self.len() {
                if !self.is_at(number, point) {
                    continue;
                }
                self.with(number, |member, calls, world, host| {
                    // What those before it have published in this iteration.
                    if iteration > 0 || number > 0 {
                        calls.fetch(world, host, point.max(time));
                        calls.has_changed();
                    }
                    member.set_in_event_mode(calls)?;
                    member.get_in_event_mode(calls, world, host, point)
                })?;
                self.hand_out(number, point);
            }
            let mut again = None;
            for number in 0..self.len() {
                if self.is_at(number, point) && self.with(number, |member, calls, _, _| member.update(calls, point))? {
                    again = Some(number);
                }
            }
            if (0..self.len()).any(|number| self.member(number).0.stepping.is_over) {
                return self.leave(point, time);
            }
            for number in 0..self.len() {
                if self.is_at(number, point) && self.with(number, |member, _, world, _| member.ask(world, point))? {
                    again = Some(number);
                }
            }
            match again {
                Some(number) => restless = number,
                None => return self.leave(point, time),
            }
        }
        let at = Some(self.member(restless).0.stepping.unit.value(point));
        let (function, status) = (Function::UpdateDiscreteStates, Status::Error);
        let failure = Failure { function, status, clock: None, time: at, refused: false };
        Err(Failed { member: restless, halt: Halt::Call(failure) })
    }

    /// Leaves Event Mode, and reads what it has changed.
    fn leave(&mut self, point: Instant, time: Instant) -> Result<(), Failed> {
        self.at_point(point, |member, calls, world, host| {
            calls.allow(member.enter_step_mode()?)?;
            member.get(calls, world, host, time, true)
        })
    }

    /// Does something with each of them that is at this communication point.
    fn at_point(
        &mut self,
        point: Instant,
        mut body: impl FnMut(&mut Member, &mut Calls, &'static World, &'static PartitionHost) -> Result<(), Halt>,
    ) -> Result<(), Failed> {
        for number in 0..self.len() {
            if self.is_at(number, point) {
                self.with(number, &mut body)?;
            }
        }
        Ok(())
    }

    /// Hands the ticks of the clocks of one of them to what they trigger: tasks at once, clocks of the group in its next iteration.
    fn hand_out(&mut self, number: usize, point: Instant) {
        let (world, host) = (self.world, self.host(number));
        let clocks = &world.plan.fmus[host.fmu().0].output_clocks;
        for (place, planned) in clocks.iter().enumerate() {
            if !self.member(number).0.clocks.is_one_active(&[place]) {
                continue;
            }
            host.ticked_in_event_mode(place, point);
            for StepClock { fmu, clock } in &planned.clocks {
                let is_it = |group: &mut Self, number: &usize| group.host(*number).fmu() == *fmu;
                let Some(target) = (0..self.len()).find(|number| is_it(self, number)) else { continue };
                self.member(target).0.clocks.tick(*clock);
                if !self.is_at(target, point) {
                    let task = self.task(target);
                    world.board.task(task).count(TaskWord::Deferred, 1);
                }
            }
        }
    }
}

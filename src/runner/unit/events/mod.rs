//! The steps of FMUs with Event Mode: of one, or of several whose clocks are connected, which make their steps together
//! (semantics S19 to S23).
//!
//! A release at a communication point handles the events there, sets continuous inputs, records, and makes one step to the next
//! communication point: the next instant of the grid, or an earlier time that is known, or that at which one of them returns
//! early. What it was told of in between, such as ticks, waits for that point. A communication point of one is one of all.

mod clocks;
mod member;

pub use self::member::Member;

use self::member::Commanded;
use super::step;
use crate::ffi::{Failure, Function, Status, Stepper, set_thread_host};
use crate::plan::{StepClock, StepPlan, TaskId};
use crate::record::board::TaskWord;
use crate::runner::activation::{Activation, Calls, Meter};
use crate::runner::halt::Halt;
use crate::runner::thread_host::PartitionHost;
use crate::runner::world::World;
use crate::schedule::{Due, Learned};
use crate::time::{Fraction, Instant};

/// Iterations of an event (semantics S22).
const ITERATIONS: u32 = 100;

/// What makes the steps of an FMU, and of those that make them together with it.
pub struct EventUnit {
    member: Member,
    /// The FMUs that make their steps together with it.
    followers: Vec<Activation>,
    /// One of them has failed: no step follows.
    failed: Option<usize>,
}

/// One of them has failed, by its number.
struct Failed {
    member: usize,
    halt: Halt,
}

impl EventUnit {
    /// The steps of this task, `plan`, each over `step`; `learned`: what the FMU has said of its clocks, by their places.
    pub fn new(
        world: &World,
        task: TaskId,
        plan: StepPlan,
        step: Fraction,
        stepper: Stepper,
        learned: &[Learned],
    ) -> EventUnit {
        let member = Member::new(world, task, plan, step, stepper, learned);
        EventUnit { member, followers: Vec::new(), failed: None }
    }

    /// The FMU of this activation makes its steps together with its own.
    pub fn lead(&mut self, follower: Activation) {
        self.followers.push(follower);
    }

    /// Whether there are such.
    pub fn has_followers(&self) -> bool {
        !self.followers.is_empty()
    }

    /// Those that make their steps together with it.
    pub fn followers(&mut self) -> &mut [Activation] {
        &mut self.followers
    }

    /// Without them from now on.
    pub fn leave(&mut self) -> Vec<Activation> {
        std::mem::take(&mut self.followers)
    }

    /// [`super::Unit::prefetch`].
    pub fn prefetch(&self) {
        self.member.prefetch();
        self.followers.iter().for_each(Activation::prefetch);
    }

    /// Treats the instance as failed that has failed.
    pub fn fail(&self) {
        if let Some(Some(follower)) = self.failed.map(|failed| failed.checked_sub(1)) {
            self.followers[follower].fail();
        } else {
            self.member.fail();
        }
    }

    /// [`super::Unit::take_point`].
    pub fn take_point(&mut self) -> Option<Instant> {
        self.member.stepping.take_point()
    }

    /// Makes the calls of the release `due`.
    pub fn run(
        &mut self,
        calls: &mut Calls,
        world: &'static World,
        host: &'static PartitionHost,
        due: &Due,
        meter: &mut impl Meter,
    ) -> Result<(), Halt> {
        let EventUnit { member, followers, failed } = self;
        let mut group = Group { world, host, leader: (member, calls), followers };
        if failed.is_some() || group.is_over(due.time) {
            calls.leave_out();
            return Ok(());
        }
        group.begin(due);
        let result = group.release(due.time, meter);
        let result = result.map_err(|Failed { member, halt }| {
            *failed = Some(member);
            if member == 0 {
                return halt;
            }
            // Not in the name of the first one.
            halt.note(group.host(member));
            Halt::Other
        });
        group.end(result.is_ok());
        result
    }

    /// There is no further step in this run.
    pub fn finish(&mut self, calls: &Calls, world: &World, host: &'static PartitionHost) {
        self.member.finish(calls, world, host);
        for follower in &mut self.followers {
            let (member, calls) = follower.member().expect("it has Event Mode");
            member.finish(calls, world, host.of(world.plan.tasks[calls.task().0].fmu));
        }
    }

    /// The one FMU whose steps it makes, for whoever makes them together with others.
    pub fn member(&mut self) -> &mut Member {
        &mut self.member
    }

    /// Gives back what makes the steps, so that the instance can be ended.
    pub fn into_stepper(self) -> Stepper {
        self.member.into_stepper()
    }
}

/// The FMUs of a unit in a release, by their numbers: 0 is the one that leads.
struct Group<'a> {
    world: &'static World,
    host: &'static PartitionHost,
    leader: (&'a mut Member, &'a mut Calls),
    followers: &'a mut [Activation],
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
    fn host(&mut self, number: usize) -> &'static PartitionHost {
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
    fn is_over(&mut self, time: Instant) -> bool {
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
    fn begin(&mut self, due: &Due) {
        for number in 1..self.len() {
            let (world, host, task) = (self.world, self.host(number), self.task(number));
            host.begin(&world.sites[task.0], due);
        }
    }

    fn end(&mut self, is_done: bool) {
        for number in 1..self.len() {
            let (host, task) = (self.host(number), self.task(number));
            host.end();
            let counted = if is_done { TaskWord::Activations } else { TaskWord::Discarded };
            self.world.board.task(task).count(counted, 1);
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

    /// The work of the release at `time`.
    fn release(&mut self, time: Instant, meter: &mut impl Meter) -> Result<(), Failed> {
        let leader = &mut self.leader.0.stepping;
        let end = leader.end_of(time);
        leader.is_released();
        let target = leader.stop.map_or(end, |stop| end.min(stop));
        self.each(|member, calls, world, host| {
            calls.begin();
            member.take_up(calls)?;
            calls.fetch(world, host, time);
            Ok(())
        })?;
        let mut is_first = true;
        loop {
            let point = self.point(time);
            self.handle_events(point, time)?;
            if (0..self.len()).any(|number| self.member(number).0.stepping.is_over) {
                self.each(|member, calls, world, host| Ok(member.record(calls, world, host, time)))?;
                self.is_over(time);
                return Ok(());
            }
            for number in 0..self.len() {
                if self.is_at(number, point) {
                    self.with(number, |member, calls, _, _| member.set(calls))?;
                }
            }
            if std::mem::take(&mut is_first) {
                self.each(|member, calls, world, host| Ok(member.record(calls, world, host, time)))?;
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
                self.leader.0.stepping.go_on_at(reached, end);
                break;
            }
            if reached == point && !(0..self.len()).any(|number| self.member(number).0.wants_event()) {
                let failure = step::stuck(self.leader.0.stepping.unit.value(point));
                return Err(Failed { member: 0, halt: Halt::Call(failure) });
            }
        }
        self.each(|member, calls, world, host| member.get(calls, world, host, time, false))
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
        for number in 0..self.len() {
            if !self.is_at(number, point) {
                continue;
            }
            let reached = self.with(number, |member, calls, _, _| {
                calls.computes();
                let (outcome, reached) = member.step(point, to)?;
                calls.allow(outcome)?;
                Ok(reached)
            })?;
            // The others go no further, those that have not stepped yet.
            to = to.min(reached);
        }
        Ok(())
    }

    /// Handles the events at this communication point in a release at `time`, if there are any.
    fn handle_events(&mut self, point: Instant, time: Instant) -> Result<(), Failed> {
        let mut is_event = false;
        for number in 0..self.len() {
            if !self.is_at(number, point) {
                continue;
            }
            is_event |= self.with(number, |member, calls, world, host| {
                let has_event = member.has_event(world, point);
                let commanded = calls.carry_out(world, host, &mut Commanded { member, point }, time)?;
                Ok(has_event | commanded | member.is_in_event_mode() | calls.has_changed())
            })?;
        }
        if !is_event {
            return Ok(());
        }
        self.at_point(point, |member, calls, _, _| calls.allow(member.enter_event_mode(point)?))?;
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
            let (mut again, mut is_over) = (false, false);
            self.at_point(point, |member, calls, _, _| {
                again |= member.update(calls, point)?;
                is_over |= member.stepping.is_over;
                Ok(())
            })?;
            if is_over {
                return self.leave(point, time);
            }
            self.at_point(point, |member, _, world, _| {
                again |= member.ask(world, point)?;
                Ok(())
            })?;
            if !again {
                return self.leave(point, time);
            }
        }
        let at = Some(self.leader.0.stepping.unit.value(point));
        let (function, status) = (Function::UpdateDiscreteStates, Status::Error);
        let failure = Failure { function, status, clock: None, time: at, refused: false };
        Err(Failed { member: 0, halt: Halt::Call(failure) })
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
        for place in 0..clocks.len() {
            if !self.member(number).0.clocks.is_one_active(&[place]) {
                continue;
            }
            host.ticked_in_event_mode(place, point);
            for StepClock { fmu, clock } in &clocks[place].clocks {
                let is_it = |group: &mut Self, number: &usize| group.host(*number).fmu() == *fmu;
                if let Some(target) = (0..self.len()).find(|number| is_it(self, number)) {
                    self.member(target).0.clocks.tick(*clock);
                }
            }
        }
    }
}

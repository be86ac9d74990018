//! The steps of an FMU with Event Mode, or of a group: the members, their integration, their master.

use super::continuous::Continuous;
use super::engine::Engine;
use super::exchange::Exchange;
use super::group::{Failed, Group, GroupMember};
use super::master::Master;
use super::member::Member;
use super::release::EventRelease;
use crate::activation_error::ActivationError;
use crate::calls::{Calls, Meter};
use crate::run_state::RunState;
use crate::thread_host::PartitionHost;
use vecud_base::time::{Fraction, Instant};
use vecud_fmi::ComputeHandle;
use vecud_plan::schedule::{Due, Learned};
use vecud_plan::{StepPlan, UnitId};

/// The steps of an FMU, or of a group.
pub struct EventUnit {
    member: Member,
    /// The other members of the group, but for `member`.
    others: Vec<GroupMember>,
    /// The integration of the members for Model Exchange; `None`: there are none.
    continuous: Option<Continuous>,
    /// The algorithm that decides which member steps when; `None`: all step to each communication point of any of them.
    master: Option<(Master, Exchange)>,
    /// One of them has failed: no step follows.
    failed: Option<usize>,
    /// One of them has asked for the end of the run: no step follows.
    is_over: bool,
}

impl EventUnit {
    /// The steps of this task, `plan`, each over `step`; `learned`: the intervals of its clocks, by their places.
    pub fn new(
        run: &RunState,
        unit: UnitId,
        plan: StepPlan,
        step: Fraction,
        engine: Engine,
        learned: &[Learned],
    ) -> EventUnit {
        let member = Member::new(run, unit, plan, step, engine, learned);
        let is_first = run.plan.is_first(unit);
        let continuous = if is_first { Continuous::of(run, unit) } else { None };
        let master = if is_first { Master::of(run, unit) } else { None };
        EventUnit { continuous, master, ..EventUnit::from(member) }
    }

    /// That is another member of the group.
    pub fn join(&mut self, other: GroupMember) {
        self.others.push(other);
    }

    /// Whether there are several members.
    pub fn is_group(&self) -> bool {
        !self.others.is_empty()
    }

    /// [`crate::unit::Unit::holds_inputs`].
    pub fn holds_inputs(&self, time: Instant) -> bool {
        self.master.as_ref().is_some_and(|(_, exchange)| exchange.is_within_step(time))
    }

    /// Whether stimuli tick clocks of its own FMU.
    pub fn is_fed(&self) -> bool {
        self.member.clocks.is_fed()
    }

    /// [`crate::unit::Unit::stimulate_others`].
    pub fn stimulate_others(&mut self, run: &RunState, due: &Due, is_held: bool) -> bool {
        self.others.iter_mut().all(|other| other.stimulate(run, due, is_held))
    }

    /// Without the other members from now on.
    pub fn leave(&mut self) -> Vec<GroupMember> {
        std::mem::take(&mut self.others)
    }

    /// [`crate::unit::Unit::prefetch`].
    pub fn prefetch(&self) {
        self.member.prefetch();
        self.others.iter().for_each(GroupMember::prefetch);
    }

    /// Treats the instance as failed that has failed.
    pub fn fail(&self) {
        if let Some(Some(other)) = self.failed.map(|failed| failed.checked_sub(1)) {
            self.others[other].member.fail();
        } else {
            self.member.fail();
        }
    }

    /// [`crate::unit::Unit::take_point`].
    pub fn take_point(&mut self) -> Option<Instant> {
        self.member.stepping.take_point()
    }

    /// Makes the calls of the release `due`.
    pub fn run(
        &mut self,
        calls: &mut Calls,
        run: &'static RunState,
        host: &'static PartitionHost,
        due: &Due,
        meter: &mut impl Meter,
    ) -> Result<(), ActivationError> {
        let EventUnit { member, others, continuous, master, failed, is_over } = self;
        let (master, exchange) = master.as_mut().map(|(master, exchange)| (&*master, exchange)).unzip();
        let continuous = continuous.as_mut();
        let group = Group { run, host, first: (member, calls), others };
        let mut release = EventRelease { group, continuous, exchange, is_over: *is_over };
        if failed.is_some() || release.is_over || release.is_over(due.time) {
            *is_over = release.is_over;
            calls.leave_out();
            return Ok(());
        }
        release.group.begin(due);
        let result = match master {
            Some(master) => master.release(&mut release, due, meter),
            None => release.release(due, meter),
        };
        let result = result.map_err(|Failed { member, error }| {
            *failed = Some(member);
            if member == 0 {
                return error;
            }
            // Not in the name of the first one.
            error.note(release.group.host(member));
            ActivationError::Other
        });
        release.group.end(result.is_ok());
        *is_over = release.is_over;
        result
    }

    /// There is no further step in this run.
    pub fn finish(&mut self, calls: &Calls, run: &RunState, host: &'static PartitionHost) {
        let others = self.others.iter().filter_map(|other| other.member.stepping.reached);
        let point = others.chain(self.member.stepping.reached).min();
        let keeps_jump = |number| self.master.as_ref().is_some_and(|(_, exchange)| exchange.keeps_jump(number));
        self.member.note_jump(keeps_jump(0));
        self.member.finish(calls, run, host, point);
        for (place, GroupMember { member, calls, .. }) in self.others.iter_mut().enumerate() {
            member.note_jump(keeps_jump(place + 1));
            member.finish(calls, run, host.of(run.plan.units[calls.unit().0].fmu), point);
        }
    }

    /// The FMU of this unit, or the first member of its group.
    pub fn member(&mut self) -> &mut Member {
        &mut self.member
    }

    /// Gives back its own FMU's part of the instance, so that this can be ended.
    pub fn into_part(self) -> ComputeHandle {
        self.member.into_part()
    }

    /// The FMU of this unit, for a group that it joins.
    pub fn into_member(self) -> Member {
        self.member
    }
}

impl From<Member> for EventUnit {
    fn from(member: Member) -> EventUnit {
        EventUnit { member, others: Vec::new(), continuous: None, master: None, failed: None, is_over: false }
    }
}

//! Which outputs of the members are read, which inputs wait, and how one wire is carried.

use super::super::group::{Failed, Group};
use super::super::wires::Wire;
use super::algebraic_loop::AlgebraicLoop;
use vecud_base::time::Instant;
use vecud_plan::{MasterPlan, Plan, UnitId};
use vecud_solver::master;

/// The values between the FMUs of a group.
pub struct Exchange {
    pub(super) wires: Vec<Wire>,
    /// The exchange among integrated FMUs, before a step and at each time of the integration. Its loops have the order of `loops`.
    pub(super) inner: Vec<master::ExchangeStep>,
    pub(super) loops: Vec<AlgebraicLoop>,
    pub(super) members: Vec<MemberState>,
    /// Wires whose inputs change in Event Mode alone.
    pub(super) discrete: Vec<usize>,
    /// Wires of FMUs for Co-Simulation whose inputs are set in Event Mode where they jump.
    pub(super) jumping: Vec<usize>,
    /// The wires of `inner`.
    pub(super) flowing: Vec<usize>,
    /// The end of the step of the grid that has begun.
    until: Option<Instant>,
}

/// One FMU of the group.
#[derive(Clone, Copy)]
pub(super) struct MemberState {
    /// The present outputs were read.
    pub(super) is_read: bool,
    /// Inputs wait to be set.
    pub(super) is_pending: bool,
    pub(super) is_integrated: bool,
}

impl Exchange {
    /// The exchange of the group whose FMUs are `members`, by their numbers in the unit.
    pub fn new(plan: &Plan, master: &MasterPlan, members: &[UnitId]) -> Exchange {
        let number = |unit| members.iter().position(|own| *own == unit).expect("a wire is between its FMUs");
        let wires: Vec<Wire> = master.wires.iter().map(|wire| Wire::new(plan, wire, number)).collect();
        let discrete = master.wires.iter().enumerate().filter(|(_, wire)| wire.in_event_mode);
        let jumping = master.wires.iter().enumerate().filter(|(_, wire)| wire.takes_jumps);
        let loops = master.exchanges.iter().filter_map(|exchange| match exchange {
            master::ExchangeStep::Loop(own) => Some(own.clone()),
            master::ExchangeStep::Connection(_) => None,
        });
        let is_integrated = |unit: &UnitId| plan.units[unit.0].integration().is_some();
        let state = |unit| MemberState { is_read: false, is_pending: true, is_integrated: is_integrated(unit) };
        let of_inner = |exchange: &master::ExchangeStep| match exchange {
            master::ExchangeStep::Connection(wire) => vec![*wire],
            master::ExchangeStep::Loop(wires) => wires.clone(),
        };
        Exchange {
            flowing: master.inner.iter().flat_map(of_inner).collect(),
            inner: master.inner.clone(),
            loops: loops.map(|own| AlgebraicLoop::new(master, &wires, own)).collect(),
            members: members.iter().map(state).collect(),
            discrete: discrete.map(|(wire, _)| wire).collect(),
            jumping: jumping.map(|(wire, _)| wire).collect(),
            until: None,
            wires,
        }
    }

    /// Whether a release at this time lies inside of a step of the grid, over which inputs from outside are held.
    pub fn is_within_step(&self, time: Instant) -> bool {
        self.until.is_some_and(|until| time < until)
    }

    /// Begins a release whose work ends at `target`; inputs from outside of the group have been fetched for all members.
    pub fn begin(&mut self, target: Instant) {
        self.until = Some(target);
        self.members.iter_mut().for_each(|member| member.is_pending = true);
    }

    /// An FMU has computed: by a step, in an event, or at another time.
    pub fn has_computed(&mut self, member: usize) {
        self.members[member].is_read = false;
    }

    /// All may have computed.
    pub fn have_computed(&mut self) {
        self.members.iter_mut().for_each(|member| member.is_read = false);
    }

    /// All present outputs were read.
    pub fn were_read(&mut self) {
        self.members.iter_mut().for_each(|member| member.is_read = true);
    }

    /// Reads the outputs of an FMU, unless that was done.
    pub fn read(&mut self, group: &mut Group, member: usize, time: Instant) -> Result<(), Failed> {
        if self.members[member].is_integrated {
            self.set(group, member, time)?;
        }
        if !self.members[member].is_read {
            group.with(member, |own, calls, _, _| calls.read(|batch| own.engine.get(batch)))?;
            self.members[member].is_read = true;
        }
        Ok(())
    }

    /// Sets the inputs of an FMU that wait for it.
    pub fn set(&mut self, group: &mut Group, member: usize, time: Instant) -> Result<(), Failed> {
        let state = &mut self.members[member];
        if std::mem::take(&mut state.is_pending) {
            state.is_read &= !state.is_integrated;
            group.with(member, |own, calls, _, host| own.set(calls, host, time))?;
        }
        Ok(())
    }

    /// `u := P(u)` for one wire. A step before a jump is made with the value from before it.
    pub fn carry(&mut self, group: &mut Group, wire: usize, time: Instant) -> Result<(), Failed> {
        let (from, to, has_jumped) = (self.wires[wire].from, self.wires[wire].to, self.wires[wire].has_jumped);
        if !has_jumped {
            self.read(group, from, time)?;
        }
        let wire = &mut self.wires[wire];
        match has_jumped {
            true => wire.load_before_jump(),
            false => wire.load(group.member(from).1),
        }
        wire.hand_over(group.member(to).1);
        self.members[to].is_pending = true;
        Ok(())
    }
}

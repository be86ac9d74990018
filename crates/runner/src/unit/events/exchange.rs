//! Values between the FMUs of a group: whose outputs were read since they have changed, and whose inputs wait to be set
//! (semantics S24).
//!
//! An FMU for Co-Simulation computes outputs in its steps alone, so that they are read before its inputs are set. Those of an FMU that is
//! integrated follow its inputs at once, and are read after these are set. Algebraic loops among such FMUs are solved.

use super::group::{Failed, Group};
use super::slopes::Slopes;
use super::wires::Wire;
use crate::activation_error::ActivationError;
use vecud_base::time::Instant;
use vecud_fmi::{Failure, Function, Status};
use vecud_plan::{MasterPlan, Plan, UnitId};
use vecud_record::unusable::Unusable;
use vecud_solver::master::{self, Circle, LuMatrix, Newton, TOLERANCE};

/// The values between the FMUs of a group.
pub struct Exchange {
    wires: Vec<Wire>,
    /// The exchange before a step, and at each time of the integration.
    inner: Vec<master::ExchangeStep>,
    loops: Vec<Loop>,
    members: Vec<State>,
    /// Wires whose inputs change in Event Mode alone.
    discrete: Vec<usize>,
    /// Wires of FMUs for Co-Simulation whose inputs are set in Event Mode where they jump.
    jumping: Vec<usize>,
    /// All others between FMUs that are integrated.
    flowing: Vec<usize>,
    /// Where the step of the grid ends that has begun.
    until: Option<Instant>,
}

/// One FMU of the group.
#[derive(Clone, Copy)]
struct State {
    /// The present outputs were read.
    is_read: bool,
    /// Inputs wait to be set.
    is_pending: bool,
    is_integrated: bool,
}

/// An algebraic loop.
struct Loop {
    wires: Vec<usize>,
    newton: Newton,
    /// Its inputs, where they were found last.
    inputs: Vec<f64>,
    /// The derivatives of its FMUs; empty: they provide none, and differences replace them.
    slopes: Vec<Slopes>,
}

/// Whether a call was refused for where the FMUs stand, and not for good.
pub fn is_discard(failed: &Failed) -> bool {
    matches!(&failed.error, ActivationError::Call(Failure { status: Status::Discard, .. }))
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
        let newton = |own: Vec<usize>| {
            let nominals: Vec<f64> =
                own.iter().flat_map(|wire| vec![master.wires[*wire].nominal; wires[*wire].len()]).collect();
            let tell = own.iter().all(|wire| master.wires[*wire].has_derivatives);
            Loop {
                newton: Newton::new(&nominals, TOLERANCE),
                inputs: vec![0.0; nominals.len()],
                slopes: if tell { Slopes::of(&wires, &own).unwrap_or_default() } else { Vec::new() },
                wires: own,
            }
        };
        let is_integrated = |unit: &UnitId| plan.units[unit.0].integration().is_some();
        let state = |unit| State { is_read: false, is_pending: true, is_integrated: is_integrated(unit) };
        let of_inner = |exchange: &master::ExchangeStep| match exchange {
            master::ExchangeStep::Connection(wire) => vec![*wire],
            master::ExchangeStep::Loop(wires) => wires.clone(),
        };
        Exchange {
            flowing: master.inner.iter().flat_map(of_inner).collect(),
            inner: master.inner.clone(),
            loops: loops.map(newton).collect(),
            members: members.iter().map(state).collect(),
            discrete: discrete.map(|(wire, _)| wire).collect(),
            jumping: jumping.map(|(wire, _)| wire).collect(),
            until: None,
            wires,
        }
    }

    /// Whether a release at this time goes on with a step of the grid, over which inputs from outside are held.
    pub fn goes_on(&self, time: Instant) -> bool {
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
            true => wire.take_up_left(),
            false => wire.take_up(group.member(from).1),
        }
        wire.hand_over(group.member(to).1);
        self.members[to].is_pending = true;
        Ok(())
    }

    /// Carries the inputs that an FMU takes in Event Mode from those FMUs that are at the same communication point.
    pub fn carry_to_event(&mut self, group: &mut Group, member: usize, point: Instant) -> Result<(), Failed> {
        for number in 0..self.discrete.len() {
            let wire = self.discrete[number];
            let from = self.wires[wire].from;
            if self.wires[wire].to == member && group.is_at(from, point) {
                self.read(group, from, point)?;
                let wire = &mut self.wires[wire];
                wire.take_up(group.member(from).1);
                wire.hand_over(group.member(member).1);
            }
        }
        Ok(())
    }

    /// Carries the other inputs of an FMU for Co-Simulation in Event Mode, from those FMUs that are at the same communication
    /// point: they may jump there.
    pub fn carry_jumps(&mut self, group: &mut Group, member: usize, point: Instant) -> Result<(), Failed> {
        for number in 0..self.jumping.len() {
            let wire = self.jumping[number];
            if self.wires[wire].to == member && group.is_at(self.wires[wire].from, point) {
                self.wires[wire].has_jumped = false;
                self.carry(group, wire, point)?;
            }
        }
        Ok(())
    }

    /// Whether something that feeds an FMU has jumped that has come to this communication point, too.
    pub fn has_jump(&self, group: &mut Group, member: usize, point: Instant) -> bool {
        let mut jumped = self.jumping.iter().map(|wire| &self.wires[*wire]).filter(|wire| wire.has_jumped);
        jumped.any(|wire| wire.to == member && group.is_at(wire.from, point))
    }

    /// Whether an input of an FMU has jumped, and the FMU has not taken the jump yet.
    pub fn keeps_jump(&self, member: usize) -> bool {
        self.wires.iter().any(|wire| wire.to == member && wire.has_jumped)
    }

    /// Sets the pending inputs of an FMU in Event Mode: the result of an event may depend on them.
    pub fn set_in_event(&mut self, group: &mut Group, member: usize, point: Instant) -> Result<(), Failed> {
        let jumps = self.jumping.iter().any(|wire| self.wires[*wire].to == member);
        if self.members[member].is_integrated || jumps { self.set(group, member, point) } else { Ok(()) }
    }

    /// Remembers the values between integrated FMUs before an iteration of an event.
    pub fn remember(&mut self, group: &mut Group, point: Instant) -> Result<(), Failed> {
        for number in 0..self.flowing.len() {
            let wire = self.flowing[number];
            let from = self.wires[wire].from;
            self.read(group, from, point)?;
            self.wires[wire].remember(group.member(from).1);
        }
        for number in 0..self.jumping.len() {
            let wire = self.jumping[number];
            let from = self.wires[wire].from;
            if group.is_at(from, point) {
                self.read(group, from, point)?;
                self.wires[wire].remember(group.member(from).1);
            }
        }
        Ok(())
    }

    /// An FMU that is integrated and to which another one hands something else since that iteration; `None`: there is none. Values of a loop
    /// that is not solved are no news as long as the FMUs that hand them have not changed.
    pub fn has_news(&mut self, group: &mut Group, point: Instant) -> Result<Option<usize>, Failed> {
        let mut jump = None;
        for number in 0..self.jumping.len() {
            let wire = self.jumping[number];
            let (from, to) = (self.wires[wire].from, self.wires[wire].to);
            if !group.is_at(from, point) {
                continue;
            }
            self.read(group, from, point)?;
            if self.wires[wire].has_changed(group.member(from).1) {
                match group.is_at(to, point) {
                    true => jump = Some(to),
                    false => self.wires[wire].note_jump(),
                }
            }
        }
        if jump.is_some() {
            return Ok(jump);
        }
        for number in 0..self.flowing.len() {
            let wire = self.flowing[number];
            let from = self.wires[wire].from;
            self.read(group, from, point)?;
            if self.wires[wire].has_changed(group.member(from).1) {
                return Ok(Some(self.wires[wire].to));
            }
        }
        Ok(None)
    }

    /// Updates the values between integrated FMUs: after another time or other states were told, and in the midst of an event.
    pub fn follow(&mut self, group: &mut Group, time: Instant) -> Result<(), Failed> {
        self.members.iter_mut().filter(|member| member.is_integrated).for_each(|member| member.is_read = false);
        if self.inner.is_empty() {
            return Ok(());
        }
        let mut loops = 0;
        for place in 0..self.inner.len() {
            match self.inner[place] {
                master::ExchangeStep::Connection(wire) => self.carry(group, wire, time)?,
                master::ExchangeStep::Loop(_) => {
                    self.solve(group, loops, time)?;
                    loops += 1;
                }
            }
        }
        for member in 0..self.members.len() {
            if self.members[member].is_integrated {
                self.set(group, member, time)?;
            }
        }
        Ok(())
    }

    /// Solves an algebraic loop, and hands its values over.
    pub fn solve(&mut self, group: &mut Group, number: usize, time: Instant) -> Result<(), Failed> {
        // Taken out instead of borrowed; the replacement allocates nothing.
        let mut own = std::mem::replace(
            &mut self.loops[number],
            Loop { wires: Vec::new(), newton: Newton::new(&[], TOLERANCE), inputs: Vec::new(), slopes: Vec::new() },
        );
        let result = self.solve_with(group, &mut own, time);
        self.loops[number] = own;
        result
    }

    fn solve_with(&mut self, group: &mut Group, own: &mut Loop, time: Instant) -> Result<(), Failed> {
        let Loop { wires, newton, inputs, slopes } = own;
        // The search begins at the response to the present inputs: a resumed run begins there, too.
        let mut first = 0;
        for &wire in wires.iter() {
            let from = self.wires[wire].from;
            self.read(group, from, time)?;
            let wire = &mut self.wires[wire];
            wire.take_up(group.member(from).1);
            for (input, back) in inputs[first..].iter_mut().zip(wire.doubles()).filter(|(_, back)| back.is_finite()) {
                *input = back;
            }
            first += wire.len();
        }
        let mut around = Around { exchange: self, group, wires, slopes, time };
        let unsolved = match newton.solve(&mut around, inputs) {
            Ok(_) => {
                around.put(inputs);
                return Ok(());
            }
            Err(unsolved) => unsolved,
        };
        let wire = around.wire_of(unsolved.variable()?);
        let member = self.wires[wire].to;
        let (host, task) = (group.host(member), group.unit(member));
        let connection = self.wires[wire].connection.0 as u64;
        let error = host.fail_reading(Function::SetFloat64, task, time, Unusable::Loop(connection));
        Err(Failed { member, error })
    }
}

/// An algebraic loop, as Newton's method sees it.
struct Around<'a, 'g> {
    exchange: &'a mut Exchange,
    group: &'a mut Group<'g>,
    wires: &'a [usize],
    slopes: &'a mut [Slopes],
    time: Instant,
}

impl Around<'_, '_> {
    /// Hands these inputs over.
    fn put(&mut self, mut inputs: &[f64]) {
        for &wire in self.wires {
            let own = &mut self.exchange.wires[wire];
            let (these, others) = inputs.split_at(own.len());
            inputs = others;
            own.take(these);
            own.hand_over(self.group.member(own.to).1);
            self.exchange.members[own.to].is_pending = true;
        }
    }

    /// The wire that has this input.
    fn wire_of(&self, mut input: usize) -> usize {
        for &wire in self.wires {
            match input.checked_sub(self.exchange.wires[wire].len()) {
                Some(others) => input = others,
                None => return wire,
            }
        }
        self.wires[0]
    }
}

impl Circle for Around<'_, '_> {
    type Failure = Failed;

    fn evaluate(&mut self, u: &[f64], back: &mut [f64]) -> Result<(), master::LoopError<Failed>> {
        self.put(u);
        let refused = |failed: Failed| match is_discard(&failed) {
            true => master::LoopError::Discard,
            false => master::LoopError::Failed(failed),
        };
        for &wire in self.wires {
            self.exchange.set(self.group, self.exchange.wires[wire].to, self.time).map_err(refused)?;
        }
        let mut first = 0;
        for &wire in self.wires {
            let from = self.exchange.wires[wire].from;
            self.exchange.read(self.group, from, self.time).map_err(refused)?;
            let own = &mut self.exchange.wires[wire];
            own.take_up(self.group.member(from).1);
            back[first..].iter_mut().zip(own.doubles()).for_each(|(place, double)| *place = double);
            first += own.len();
        }
        Ok(())
    }

    fn jacobian(&mut self, jacobian: &mut LuMatrix) -> Result<bool, master::LoopError<Failed>> {
        for own in self.slopes.iter_mut() {
            if !own.read(self.group, &self.exchange.wires, jacobian)? {
                return Ok(false);
            }
        }
        Ok(!self.slopes.is_empty())
    }
}

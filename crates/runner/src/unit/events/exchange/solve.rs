//! Evaluates all values between integrated FMUs, algebraic loops among them by Newton's method.

use super::super::group::{Failed, Group};
use super::super::slopes::Slopes;
use super::algebraic_loop::AlgebraicLoop;
use super::values::Exchange;
use crate::activation_error::ActivationError;
use vecud_base::time::Instant;
use vecud_fmi::{Failure, Function, Status};
use vecud_record::unusable::Unusable;
use vecud_solver::master::{self, Circle, LuMatrix};

/// Whether a call was refused for where the FMUs stand, and not for good.
pub fn is_discard(failed: &Failed) -> bool {
    matches!(&failed.error, ActivationError::Call(Failure { status: Status::Discard, .. }))
}

impl Exchange {
    /// Updates the values between integrated FMUs: after another time or other states were told, and in the midst of an event.
    pub fn evaluate(&mut self, group: &mut Group, time: Instant) -> Result<(), Failed> {
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
        let mut own = std::mem::replace(&mut self.loops[number], AlgebraicLoop::empty());
        let result = self.solve_taken(group, &mut own, time);
        self.loops[number] = own;
        result
    }

    fn solve_taken(&mut self, group: &mut Group, own: &mut AlgebraicLoop, time: Instant) -> Result<(), Failed> {
        let AlgebraicLoop { wires, newton, inputs, slopes } = own;
        // The search begins at the response to the present inputs: a resumed run begins there, too.
        let mut first = 0;
        for &wire in wires.iter() {
            let from = self.wires[wire].from;
            self.read(group, from, time)?;
            let wire = &mut self.wires[wire];
            wire.load(group.member(from).1);
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
        let (host, unit) = (group.host(member), group.unit(member));
        let connection = self.wires[wire].connection.0 as u64;
        let error = host.fail_reading(Function::SetFloat64, unit, time, Unusable::Loop(connection));
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
            own.set(these);
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
            own.load(self.group.member(from).1);
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

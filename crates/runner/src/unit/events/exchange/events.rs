//! Values in the midst of an event: inputs that change in Event Mode alone, jumps of others, and whether an iteration has changed any.

use super::super::group::{Failed, Group};
use super::values::Exchange;
use vecud_base::time::Instant;

impl Exchange {
    /// Carries the inputs that an FMU takes in Event Mode from those FMUs that are at the same communication point. They are not marked as
    /// pending: the member sets them itself in Event Mode.
    pub fn carry_to_event(&mut self, group: &mut Group, member: usize, point: Instant) -> Result<(), Failed> {
        for number in 0..self.discrete.len() {
            let wire = self.discrete[number];
            let from = self.wires[wire].from;
            if self.wires[wire].to == member && group.is_at(from, point) {
                self.read(group, from, point)?;
                let wire = &mut self.wires[wire];
                wire.load(group.member(from).1);
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
        let may_jump = self.jumping.iter().any(|wire| self.wires[*wire].to == member);
        if self.members[member].is_integrated || may_jump { self.set(group, member, point) } else { Ok(()) }
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
}

//! The commands to the FMUs of one run, and tickets for their outcomes.

use super::check;
use super::error::ControlError;
use super::hub::{AcceptedValue, Applied, Hub, Slot};
use crate::shared::SharedRig;
use std::sync::Arc;
use std::time::Duration;
use vecud_base::time::Instant;
use vecud_description::Values;
use vecud_record::signals::Set;

/// Polling interval of a waiting ticket.
const LOOK: Duration = Duration::from_micros(500);

/// Sets values in the FMUs of one run. Cheap to clone, for any number of threads; refuses all commands once the run has
/// ended.
#[derive(Clone)]
pub struct Control {
    hub: Arc<Hub>,
}

/// A sent command. Dropping the ticket does not cancel the command.
pub struct Ticket {
    hub: Arc<Hub>,
    fmu: usize,
    slot: Slot,
}

impl Control {
    pub(crate) fn new(shared: Arc<SharedRig>) -> Control {
        Control { hub: Arc::new(Hub::new(shared)) }
    }

    /// Sets one variable before the next activation of a partition that may set it: any partition of the instance, or,
    /// for a variable with clocks, one of theirs. Arrays in row-major order; enumerations are `Int64`.
    pub fn set(&self, fmu: &str, variable: &str, values: Values) -> Result<Ticket, ControlError> {
        self.set_together(fmu, &[(variable, values)], None)
    }

    /// Sets variables of the same clocks before one activation: the next one whose activation time is not before `at`,
    /// if that is given. Precondition: for each set of clocks, times do not decrease while commands wait for theirs.
    pub fn set_together(
        &self,
        fmu: &str,
        values: &[(&str, Values)],
        at: Option<Instant>,
    ) -> Result<Ticket, ControlError> {
        let command = check::values(self.hub.plan(), fmu, values, |fmu| self.hub.sizes(fmu))?;
        self.send_one(command, at)
    }

    /// The values that the variable `fmu.variable` accepts.
    pub fn settable(&self, name: &str) -> Result<AcceptedValue, ControlError> {
        let (fmu, variable) = check::variable(self.hub.plan(), name)?;
        Ok(self.hub.settable(fmu, variable))
    }

    /// Sets variables of any FMUs, by `fmu.variable`: those of the same clocks together, structural parameters in Reconfiguration Mode.
    /// All are checked before anything is sent. Returns a ticket for each command, with the indices of its variables.
    pub fn set_all(&self, values: &[(&str, Values)]) -> Result<Vec<(Ticket, Vec<usize>)>, ControlError> {
        let commands = check::all(self.hub.plan(), values, |fmu| self.hub.sizes(fmu))?;
        let (commands, places): (Vec<check::CheckedCommand>, Vec<Vec<usize>>) = commands.into_iter().unzip();
        Ok(self.send(commands, None)?.into_iter().zip(places).collect())
    }

    /// Sets tunable structural parameters in Reconfiguration Mode, not before the simulation time `at` if that is
    /// given: waits for the active partitions, and none begins until it is over. Arrays can shrink below their size at
    /// the start of the run, even to nothing, and grow back to it; they cannot exceed it, and connected arrays keep
    /// their size.
    pub fn reconfigure(
        &self,
        fmu: &str,
        values: &[(&str, Values)],
        at: Option<Instant>,
    ) -> Result<Ticket, ControlError> {
        let command = check::structure(self.hub.plan(), fmu, values)?;
        self.send_one(command, at)
    }

    /// Ticks `fmu.clock`, a triggered input clock without any other source of ticks. The tick's time is, in real time,
    /// the time at which the runner finds the request, and in virtual time the next instant; two ticks at one instant
    /// are one activation (semantics S3). During a pause the tick gets its time as soon as the run continues.
    pub fn tick(&self, clock: &str) -> Result<Ticket, ControlError> {
        let number = check::requested(self.hub.plan(), clock)?;
        let fmu = self.hub.plan().units[self.hub.plan().requests[number].target.unit.0].fmu.0;
        Ok(Ticket { slot: self.hub.tick(number)?, hub: self.hub.clone(), fmu })
    }

    /// Requests the end of the run, as SIGINT does.
    pub fn end(&self) {
        self.hub.end();
    }

    fn send_one(&self, command: check::CheckedCommand, at: Option<Instant>) -> Result<Ticket, ControlError> {
        Ok(self.send(vec![command], at)?.remove(0))
    }

    fn send(&self, commands: Vec<check::CheckedCommand>, at: Option<Instant>) -> Result<Vec<Ticket>, ControlError> {
        let fmus: Vec<usize> = commands.iter().map(|command| command.fmu).collect();
        let slots = self.hub.send(commands, at)?;
        let ticket = |(slot, fmu)| Ticket { hub: self.hub.clone(), fmu, slot };
        Ok(slots.into_iter().zip(fmus).map(ticket).collect())
    }

    /// Resets the state for the next run with new instances.
    pub(crate) fn next_run(&self) {
        self.hub.next_run();
    }

    /// Marks all runs as over.
    pub(crate) fn close(&self) {
        self.hub.close();
    }

    /// Takes the values set in recorded columns since the last call.
    pub(crate) fn take_changes(&self) -> Vec<(Instant, Vec<Set>)> {
        self.hub.take_changes()
    }
}

impl Ticket {
    /// Outcome of the command, if it is known.
    pub fn poll(&self) -> Option<Result<Applied, ControlError>> {
        self.hub.look(self.fmu, &self.slot)
    }

    /// Waits for the outcome. After a timeout the command may still be executed.
    pub fn wait(&self, timeout: Duration) -> Result<Applied, ControlError> {
        let began = std::time::Instant::now();
        loop {
            if let Some(result) = self.poll() {
                return result;
            }
            if began.elapsed() >= timeout {
                return Err(ControlError::Timeout(timeout));
            }
            std::thread::sleep(LOOK);
        }
    }
}

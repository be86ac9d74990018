//! Solves algebraic loops in Initialization Mode (semantics S11), by setting and reading their variables again and again.
//!
//! Values travel as all initial ones do: the unknowns are in the cells of the connections that close the loop, and the results
//! are read from there. A call that fails ends the search, also one that returns Discard.

use super::refusal::Refusal;
use super::run_state::RunState;
use super::thread_host::PartitionHost;
use vecud_fmi::Function;
use vecud_plan::{ClosingConnection, InitialLoop, InitialStep, UnitId};
use vecud_record::unusable::Unusable;
use vecud_solver::master::{Circle, LoopError, Newton, TOLERANCE};

/// Sets the inputs of a loop to values that come back. Without such the FMU of an input has failed that is named by its connection.
/// `take` takes a step of the initialisation.
pub fn solve(
    run: &RunState,
    hosts: &[&'static PartitionHost],
    own: &InitialLoop,
    take: impl FnMut(&InitialStep) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let nominals: Vec<f64> =
        own.closing.iter().flat_map(|closing| vec![closing.nominal; closing.start.len()]).collect();
    let mut inputs: Vec<f64> = own.closing.iter().flat_map(|closing| closing.start.iter().copied()).collect();
    let mut around = Around { take, run, own };
    let unsolved = match Newton::new(&nominals, TOLERANCE).solve(&mut around, &mut inputs) {
        // The search was near them last, not at them.
        Ok(_) => return around.go(&inputs),
        Err(unsolved) => unsolved,
    };
    let ClosingConnection { connection, fmu, .. } = around.closing(unsolved.variable()?);
    let unit = run.plan.units.iter().position(|unit| unit.fmu == *fmu).map_or(UnitId(0), UnitId);
    let reading = Unusable::Loop(connection.0 as u64);
    let _halt_is_noted = hosts[fmu.0].fail_reading(Function::SetFloat64, unit, run.plan.start, reading);
    Err(Refusal::Failed)
}

/// A loop as Newton's method sees it.
struct Around<'a, F> {
    take: F,
    run: &'a RunState,
    own: &'a InitialLoop,
}

impl<F: FnMut(&InitialStep) -> Result<(), Refusal>> Around<'_, F> {
    /// Sets these inputs, and all that follows.
    fn go(&mut self, mut inputs: &[f64]) -> Result<(), Refusal> {
        for closing in &self.own.closing {
            let (these, others) = inputs.split_at(closing.start.len());
            inputs = others;
            self.run.cells[closing.connection.0].write(|element| these[element].to_bits());
        }
        self.own.steps.iter().try_for_each(&mut self.take)
    }

    /// The connection of this input.
    fn closing(&self, mut input: usize) -> &ClosingConnection {
        for closing in &self.own.closing {
            match input.checked_sub(closing.start.len()) {
                Some(others) => input = others,
                None => return closing,
            }
        }
        &self.own.closing[0]
    }
}

impl<F: FnMut(&InitialStep) -> Result<(), Refusal>> Circle for Around<'_, F> {
    type Failure = Refusal;

    fn evaluate(&mut self, u: &[f64], back: &mut [f64]) -> Result<(), LoopError<Refusal>> {
        self.go(u).map_err(LoopError::Failed)?;
        let mut first = 0;
        for closing in &self.own.closing {
            self.run.cells[closing.connection.0].read(|element, word| back[first + element] = f64::from_bits(word));
            first += closing.start.len();
        }
        match back.iter().all(|value| value.is_finite()) {
            true => Ok(()),
            false => Err(LoopError::Discard),
        }
    }
}

//! Which functions of an FMU a plan calls, beyond those that every FMU must have: libraries of the draft need not have more.

use crate::ffi::{Function, get_function, set_function};
use crate::plan::{Batch, Extrapolation, FmuId, GetIntervals, Plan};

/// The functions that a run of this plan calls on that instance, depending on its variables and clocks.
pub fn functions(plan: &Plan, fmu: FmuId) -> Vec<Function> {
    let own = &plan.fmus[fmu.0];
    let tasks = || plan.tasks.iter().filter(|task| task.fmu == fmu);
    let start = own.start_values.iter().map(|value| value.variable_type);
    let written = own.initial_writes.iter().chain(tasks().flat_map(|task| &task.set)).map(|batch| batch.variable_type);
    let read = own.initial_reads.iter().chain(tasks().flat_map(|task| &task.get)).map(|batch| batch.variable_type);
    let read = read.chain(own.on_ticks().iter().map(|on_tick| on_tick.batch.variable_type));
    let own_intervals = own.scheduled_execution().map_or(&[][..], |plan| &plan.draft_intervals);
    let set_intervals = own_intervals.iter().map(|clock| match clock.fraction {
        true => Function::SetIntervalFraction,
        false => Function::SetIntervalDecimal,
    });
    let asked = own.output_clocks.iter().any(|clock| clock.aperiodic);
    let get_intervals = match own.scheduled_execution().map_or(GetIntervals::Never, |plan| plan.get_intervals) {
        GetIntervals::Decimal if asked => Some(Function::GetIntervalDecimal),
        GetIntervals::Fraction if asked => Some(Function::GetIntervalFraction),
        _ => None,
    };
    let carries = |batch: &Batch| {
        let mut connections = batch.items.iter().flat_map(|item| &item.connections);
        connections.any(|connection| plan.connections[connection.0].extrapolation != Extrapolation::Hold)
    };
    let gives = tasks().flat_map(|task| &task.get).any(carries).then_some(Function::GetOutputDerivatives);
    let takes = tasks().flat_map(|task| &task.set).any(carries) && own.abi.has_input_derivatives();
    let takes = takes.then_some(Function::SetRealInputDerivatives);
    let mut all: Vec<Function> = start.chain(written).map(set_function).collect();
    all.extend(read.map(get_function).chain(set_intervals).chain(get_intervals).chain(gives).chain(takes));
    all
}

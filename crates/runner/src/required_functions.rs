//! The functions of an FMU that a plan calls beyond the mandatory ones: libraries of the draft need not have more.

use vecud_fmi::{Function, get_function, set_function};
use vecud_plan::{BatchPlan, Extrapolation, FmuId, GetIntervals, InitialStep, ModelExchangePlan, OutputClock, Plan};

/// The functions that a run of this plan calls on that instance, depending on its variables and clocks.
pub fn functions(plan: &Plan, fmu: FmuId) -> Vec<Function> {
    let own = &plan.fmus[fmu.0];
    let units = || plan.units.iter().filter(|unit| unit.fmu == fmu);
    let start = own.start_values.iter().map(|value| value.variable_type);
    let initial = || plan.initialisation.iter().flat_map(InitialStep::parts);
    let written = initial().filter_map(|step| step.sets(fmu)).chain(units().flat_map(|unit| &unit.set));
    let written = written.map(|batch| batch.variable_type);
    let read = initial().filter_map(|step| step.gets(fmu)).chain(units().flat_map(|unit| &unit.get));
    let read = read.map(|batch| batch.variable_type);
    let read = read.chain(own.on_ticks().iter().map(|on_tick| on_tick.batch.variable_type));
    let clocks = own.draft_clocks.as_ref();
    let set_intervals = clocks.into_iter().flat_map(|clocks| &clocks.intervals).map(|clock| match clock.fraction {
        true => Function::SetIntervalFraction,
        false => Function::SetIntervalDecimal,
    });
    let has_clock = |is_meant: fn(&OutputClock) -> bool| own.output_clocks.iter().any(is_meant);
    let get_clock = has_clock(|clock| clock.input.is_none()).then_some(Function::GetClock);
    let set_clock = has_clock(|clock| clock.input.is_some()).then_some(Function::SetClock);
    let asked = has_clock(|clock| clock.input.is_none() && clock.aperiodic);
    let get_intervals = match clocks.map_or(GetIntervals::Never, |clocks| clocks.get_intervals) {
        GetIntervals::Decimal if asked => Some(Function::GetIntervalDecimal),
        GetIntervals::Fraction if asked => Some(Function::GetIntervalFraction),
        _ => None,
    };
    let carries = |batch: &BatchPlan| {
        let mut connections = batch.items.iter().flat_map(|item| &item.connections);
        connections.any(|connection| plan.connections[connection.0].extrapolation != Extrapolation::Hold)
    };
    let gives = units().flat_map(|unit| &unit.get).any(carries).then_some(Function::GetOutputDerivatives);
    let takes = units().flat_map(|unit| &unit.set).any(carries) && own.abi.has_input_derivatives();
    let takes = takes.then_some(Function::SetRealInputDerivatives);
    let mut all: Vec<Function> = start.chain(written).map(set_function).collect();
    all.extend(read.map(get_function).chain(set_clock).chain(get_clock).chain(set_intervals).chain(get_intervals));
    all.extend(gives.into_iter().chain(takes));
    all.extend(own.model_exchange().into_iter().flat_map(of_equations));
    all
}

/// The functions by which an FMU is integrated.
fn of_equations(own: &ModelExchangePlan) -> impl Iterator<Item = Function> + use<> {
    let ModelExchangePlan { states, indicators, needs_completed_step, .. } = *own;
    let of_states = [
        Function::SetContinuousStates,
        Function::GetContinuousStates,
        Function::GetContinuousStateDerivatives,
        Function::GetNominalsOfContinuousStates,
    ];
    let of_states = of_states.into_iter().filter(move |_| states > 0);
    let of_indicators = Some(Function::GetEventIndicators).filter(|_| indicators > 0);
    let of_steps = Some(Function::CompletedIntegratorStep).filter(|_| needs_completed_step);
    let always = [Function::SetTime, Function::UpdateDiscreteStates];
    always.into_iter().chain(of_states).chain(of_indicators).chain(of_steps)
}

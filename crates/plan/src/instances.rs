//! The plans of the instances: files, values to set before the run, clocks, variables to set during the run.

use super::clocks::{TickSource, candidates};
use super::priorities::PriorityOrder;
use super::resolved::Resolved;
use super::tasks::{self, batches};
use super::timetable::Timetable;
use super::{
    CallWatch, CoSimulationPlan, FmuId, FmuPlan, InterfacePlan, OutputClock, Release, ScheduledExecutionPlan,
    StepClock, StepClockPlan, UnitId, UnitPlan, control, dialect, integration, intermediate, logging, sizes,
};
use vecud_base::time::{Instant, StepGrid};
use vecud_description::{InterfaceOffer, IntervalVariability};

/// The plans of all instances, in rig order. `cpus`: the core of each.
pub(super) fn plans(
    resolved: &Resolved,
    order: &PriorityOrder,
    cpus: &[usize],
    planned: &[UnitPlan],
    times: &Timetable,
) -> Vec<FmuPlan> {
    let mut units = vec![Vec::new(); cpus.len()];
    planned.iter().enumerate().for_each(|(id, unit)| units[unit.fmu.0].push(UnitId(id)));
    let own = cpus.iter().zip(&units).enumerate();
    own.map(|(fmu, (&cpu, units))| plan(resolved, order, (fmu, cpu, units), planned, times)).collect()
}

/// The plan of one instance: of an FMU, with its core and its tasks.
fn plan(
    resolved: &Resolved,
    order: &PriorityOrder,
    (fmu, cpu, tasks_of_fmu): (usize, usize, &[UnitId]),
    planned: &[UnitPlan],
    times: &Timetable,
) -> FmuPlan {
    let described = &resolved.fmus[fmu];
    let description = described.input.description;
    let abi = described.abi();
    let own = || tasks_of_fmu.iter().copied();
    let grids: Vec<StepGrid> = own().flat_map(|id| planned[id.0].steps_on(times.start, times.stop)).collect();
    let output_clock = |source: &TickSource| {
        let v = &described.variables()[source.variable];
        OutputClock {
            reference: v.value_reference,
            name: candidates::element_name(&v.name, source.element),
            aperiodic: v.clock.as_ref().is_some_and(|c| c.interval_variability == IntervalVariability::Triggered),
            ticked_by: order.units(&source.ticked_by),
            targets: order.units(&source.targets),
            clocks: source.step_targets.iter().map(|&(fmu, clock)| StepClock { fmu: FmuId(fmu), clock }).collect(),
            input: source.step_clock.as_ref().and_then(|input| {
                let clock = tasks::input_clock(described, input.clock?);
                Some(StepClockPlan { clock, release: between_steps(&input.release, &grids) })
            }),
        }
    };
    let interface = match described.offer {
        Some(InterfaceOffer::ModelExchange(own)) => {
            InterfacePlan::ModelExchange(integration::of_interface(described, own))
        }
        Some(InterfaceOffer::CoSimulation(_)) => InterfacePlan::CoSimulation(CoSimulationPlan {
            event_mode_used: described.handles_events(),
            early_return_allowed: described.rig.wishes.early_return_allowed.unwrap_or(true) && abi.may_step_again(),
            intermediate: intermediate::plan(resolved, fmu),
        }),
        Some(InterfaceOffer::ScheduledExecution(_)) | None => {
            InterfacePlan::ScheduledExecution(ScheduledExecutionPlan {
                countdowns: own().filter(|id| planned[id.0].release == Release::Countdown).collect(),
                on_ticks: batches::on_ticks(resolved, fmu),
            })
        }
    };
    let offer = described.offer.map(InterfaceOffer::common);
    FmuPlan {
        name: described.name().to_owned(),
        // For people only; a plan travels as UTF-8.
        path: described.input.path.to_string_lossy().into_owned().into(),
        library: described.input.library.clone(),
        preload: Vec::new(),
        abi,
        resources: dialect::resources(abi, &described.input.folder, described.input.resources.as_deref()),
        token: description.instantiation_token.clone(),
        time_unit: description.time.unit(),
        cpu,
        on_warning: described.rig.on_warning,
        log: logging::categories(described.rig.log.as_ref(), described.input.description),
        start_values: resolved.starts[fmu].values().cloned().collect(),
        structural_values: described.structure.values().cloned().collect(),
        sizes: sizes::sizes(described),
        control: control::plan(resolved, fmu, order),
        output_clocks: resolved.clocks.tick_sources[fmu].iter().map(output_clock).collect(),
        draft_clocks: dialect::clocks(described, fmu, &resolved.clocks),
        levels: own().map(|id| planned[id.0].level + 1).max().unwrap_or(0),
        interface,
        tolerance: integration::told_tolerance(described),
        can_get_and_set_state: offer.is_some_and(|offer| offer.can_get_and_set_fmu_state),
        can_serialize_state: offer.is_some_and(|offer| offer.can_serialize_fmu_state),
        watch: CallWatch { times: resolved.rig.report.call_times, logs: false },
        initial_state: None,
        keeps_final_state: false,
        tries_state: false,
        changes_process: false,
    }
}

/// The release of a clock between steps: a time that is an instant of the steps but for rounding is that instant.
fn between_steps(release: &Release, grids: &[StepGrid]) -> Release {
    let Release::At(times) = release else { return release.clone() };
    let near = |time: &Instant| grids.iter().find_map(|grid| grid.near(time.seconds())).unwrap_or(*time);
    let mut points: Vec<Instant> = times.iter().map(near).collect();
    points.dedup();
    Release::At(points)
}

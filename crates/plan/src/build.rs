//! From a rig and its model descriptions to the plan.

use super::clocks::{endpoints, requests, waiting};
use super::described::DescribedFmu;
use super::findings::Findings;
use super::inputs::start_values;
use super::priorities::PriorityOrder;
use super::resolved::Resolved;
use super::timetable::timetable;
use super::{
    FmuInput, HostFacts, HostFigures, HostPlan, Plan, PlanError, StimulusInput, TracePlan, connected, host,
    initialisation, instances, interfaces, intermediate, logging, masters, memory_estimate, priorities, running_rigs,
    steps, tasks,
};
use crate::rig::Rig;

/// Resolves a rig. `inputs` has one entry for each of the rig's FMUs, in the same order, and `stimuli` one for each of its
/// stimuli; a stimulus without an open file feeds nothing.
///
/// # Panics
///
/// If `inputs` and the rig have different numbers of FMUs.
pub fn build(
    rig: &Rig,
    inputs: &[FmuInput],
    stimuli: &[StimulusInput],
    machine: &HostFacts,
) -> Result<Plan, PlanError> {
    assert_eq!(rig.fmus.len(), inputs.len(), "one input for each FMU of the rig");
    let mut findings = Findings::new(rig);
    let fmus = DescribedFmu::all(rig, inputs, start_values::structure, &mut findings);
    memory_estimate::check_instances(rig, &fmus, &mut findings)?;
    interfaces::check(&fmus, rig.mode, &mut findings);
    for described in &fmus {
        let unknown = logging::unknown(described.name(), described.rig.log.as_ref(), described.input.description);
        unknown.into_iter().for_each(|(place, message)| findings.rig(place, message));
    }
    let times = timetable(rig, &fmus, &mut findings);
    let cpus = host::cores(rig, &fmus, machine, &mut findings);
    let resolved = Resolved::new(rig, &fmus, stimuli, &times, &mut findings);
    memory_estimate::check_accesses(&resolved, &mut findings)?;
    let cpus = steps::cores(&resolved.clocks, &fmus, cpus);
    running_rigs::check(rig, &fmus, &cpus, machine, &mut findings);
    intermediate::check(&resolved, &mut findings);
    let order = priorities::order(&resolved, &cpus, machine, &mut findings);
    let initialisation = initialisation::plan(&resolved, &mut findings);
    findings.refuse()?;

    let (mut tasks, units) = tasks::plans(&resolved, &order);
    masters::join(&resolved, &mut tasks, &units, &mut findings);
    let instances = instances::plans(&resolved, &order, &cpus, &units, &times);
    let connections = connected::plans(&resolved, &tasks, &units, &instances, &mut findings);
    let serials = tasks::serial::plans(rig, &fmus, &units, &mut findings);
    waiting::check(&tasks, &units, rig, &mut findings);
    host::without_effect(rig, &mut findings);
    findings.notes.extend(TracePlan::note(rig, &tasks).map(str::to_owned));
    findings.refuse()?;

    let endpoints = endpoints::plans(rig, &units, &instances);
    let requests = requests::clocks(&units, &instances);
    let stimuli = resolved.stimuli.plans(&units, &instances, &times);
    Ok(Plan {
        rig: rig.name.clone(),
        mode: rig.mode,
        start: times.start,
        stop: times.stop,
        on_error: rig.on_error,
        overrun: rig.overrun,
        nan: rig.nan,
        trigger_time: rig.trigger_time,
        shutdown_timeout: rig.shutdown_timeout,
        call_timeout: rig.call_timeout,
        host: HostPlan::of(rig, &order, &fmus),
        fmus: instances,
        initialisation,
        receiver: endpoints::receiver(rig.mode, &endpoints, &tasks, &units, machine),
        tasks,
        units,
        serials,
        libraries: Vec::new(),
        connections,
        stimuli,
        input_events: Vec::new(),
        // A simulation without anything to read still has a row for each communication point.
        rows_of_time: rig.record.as_ref().is_some_and(|own| own.formats.is_empty())
            && resolved.columns.signals.is_empty(),
        signals: resolved.columns.signals,
        watched: resolved.columns.watched,
        formats: rig.record.iter().flat_map(|record| &record.formats).map(|format| format.value).collect(),
        rotation: rig.record.as_ref().map(|record| record.rotation).unwrap_or_default(),
        endpoints,
        requests,
        report: rig.report,
        trace: TracePlan::of(rig),
        notes: findings.notes,
    })
}

impl HostPlan {
    fn of(rig: &Rig, order: &PriorityOrder, fmus: &[DescribedFmu]) -> HostPlan {
        let host = &rig.host;
        HostPlan {
            fifo_band: order.band,
            fifo_asked: host.fifo_priorities.value,
            cooperative: order.cooperative.map(|narrow| {
                let (name, needed) = (fmus[narrow.fmu].name(), narrow.needed);
                format!("fmu `{name}` alone needs {needed} priority levels")
            }),
            exclusive: host.exclusive.is_some(),
            lock_memory: host.lock_memory,
            clock: host.clock,
            spin: host.spin.value,
            phase: host.phase,
            stack_kib: host.stack_kib,
            memory_limit_mib: host.memory_limit_mib,
            log_limit_mib: host.log_limit_mib,
            environment: rig
                .fmus
                .iter()
                .flat_map(|fmu| &fmu.env)
                .map(|(name, value)| (name.value.clone(), value.clone()))
                .collect(),
            figures: HostFigures { wakeup: host.wakeup, overhead: host.overhead },
        }
    }
}

//! From a rig and its model descriptions to the plan.

use super::clocks::candidates::timetable;
use super::clocks::{datagrams, requests, waiting};
use super::connections::links;
use super::described::DescribedFmu;
use super::findings::Findings;
use super::resolved::Resolved;
use super::{
    HostFacts, HostPlan, Plan, TracePlan, beside, host, initialisation, instances, interfaces, intermediate, logging,
    masters, priorities, steps, tasks,
};
use crate::rig::{At, Problem, Rig};
use std::fmt;
use std::path::PathBuf;
use vecud_base::time::Instant;
use vecud_description::ModelDescription;

/// An FMU as opening it gave it, at the same index as in [`Rig::fmus`].
#[derive(Clone, Debug)]
pub struct FmuInput<'a> {
    /// What its `modelDescription.xml` says.
    pub description: &'a ModelDescription,
    /// The shared library.
    pub library: PathBuf,
    /// The folder that it is unpacked in.
    pub folder: String,
    /// `resourcePath`; `None` when the FMU has none.
    pub resources: Option<String>,
    /// What the user named.
    pub path: PathBuf,
    /// Its library exports a function that tells how far the FMU can step (`fmi2GetMaxStepSize`).
    pub tells_max_step: bool,
}

/// A file of a stimulus as opening it gave it, at the same index as in [`Rig::stimuli`].
#[derive(Clone, Debug, PartialEq)]
pub struct StimulusInput {
    /// The file that was opened: of a recording the first one that there is.
    pub file: PathBuf,
    /// Names of the columns after the time, with their places in that file.
    pub columns: Vec<At<String>>,
    /// Rows per second of simulation time, as the first rows have it.
    pub rate: f64,
    /// For each column what it has at the start time, with its place; `None`: nothing yet.
    pub start: Vec<Option<At<String>>>,
}

/// Start and stop of a run.
pub(super) struct Timetable {
    pub start: Instant,
    pub stop: Option<Instant>,
}

/// Why there is no plan: everything that is wrong, each with its place. Displayed one per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// Never empty.
    pub problems: Vec<Problem>,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::rig::write_lines(&self.problems, f)
    }
}

impl std::error::Error for PlanError {}

/// Resolves a rig. `inputs` has one entry for each of the rig's FMUs, in the same order, and `stimuli` one for each of its
/// stimuli; of a stimulus that nobody has opened nothing is fed.
///
/// # Panics
///
/// When `inputs` has another number of entries.
pub fn build(
    rig: &Rig,
    inputs: &[FmuInput],
    stimuli: &[StimulusInput],
    machine: &HostFacts,
) -> Result<Plan, PlanError> {
    assert_eq!(rig.fmus.len(), inputs.len(), "one input for each FMU of the rig");
    let mut findings = Findings::new(rig);
    let fmus = DescribedFmu::all(rig, inputs, &mut findings);
    interfaces::check(&fmus, rig.mode, &mut findings);
    for described in &fmus {
        let unknown = logging::unknown(described.name(), described.rig.log.as_ref(), described.input.description);
        unknown.into_iter().for_each(|(place, message)| findings.rig(place, message));
    }
    let times = timetable(rig, &fmus, &mut findings);
    let cpus = host::cores(rig, &fmus, machine, &mut findings);
    let resolved = Resolved::new(rig, &fmus, stimuli, &times, &mut findings);
    let cpus = steps::cores(&resolved.clocks, &fmus, cpus);
    beside::check(rig, &fmus, &cpus, machine, &mut findings);
    intermediate::check(&resolved, &mut findings);
    let order = priorities::order(&resolved, &cpus, machine, &mut findings);
    let initialisation = initialisation::plan(&resolved, &mut findings);
    findings.refuse()?;

    let tasks = tasks::plans(&resolved, &order);
    let masters = masters::plans(&resolved, &tasks, &mut findings);
    let instances = instances::plans(&resolved, &order, &cpus, &tasks, &times);
    let connections = links::plans(&resolved, &tasks, &instances, &mut findings);
    let serials = tasks::serial::plans(rig, &fmus, &tasks, &mut findings);
    waiting::check(&tasks, rig, &mut findings);
    host::without_effect(rig, &mut findings);
    findings.notes.extend(TracePlan::note(rig, &tasks).map(str::to_owned));
    findings.refuse()?;

    let datagrams = datagrams::sources(rig, &tasks, &instances);
    let requests = requests::clocks(&tasks, &instances);
    let stimuli = resolved.stimuli.plans(&tasks, &instances, &times);
    Ok(Plan {
        rig: rig.name.clone(),
        mode: rig.mode,
        start: times.start,
        stop: times.stop,
        on_error: rig.on_error,
        nan: rig.nan,
        trigger_time: rig.trigger_time,
        shutdown_timeout: rig.shutdown_timeout,
        call_timeout: rig.call_timeout,
        host: HostPlan::of(rig, &order, &fmus),
        fmus: instances,
        initialisation,
        receiver: datagrams::receiver(rig.mode, &datagrams, &tasks, machine),
        tasks,
        masters,
        serials,
        libraries: Vec::new(),
        connections,
        stimuli,
        input_events: Vec::new(),
        // A simulation without anything to read has a row for each communication point all the same.
        rows_of_time: rig.record.as_ref().is_some_and(|own| own.formats.is_empty())
            && resolved.columns.signals.is_empty(),
        signals: resolved.columns.signals,
        watched: resolved.columns.watched,
        formats: rig.record.iter().flat_map(|record| &record.formats).map(|format| format.value).collect(),
        rotation: rig.record.as_ref().map(|record| record.rotation).unwrap_or_default(),
        datagrams,
        requests,
        report: rig.report,
        trace: TracePlan::of(rig),
        notes: findings.notes,
    })
}

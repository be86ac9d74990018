//! From a rig and its model descriptions to the plan.

use super::clocks::drafts::{self, Draft};
use super::clocks::triggers::{self, Output};
use super::clocks::{causes, clocked_clocks, datagrams, waiting};
use super::connections::delays;
use super::connections::links::Links;
use super::connections::resolve::{self};
use super::findings::{Findings, Unit};
use super::inputs::start_values::{self, Starts};
use super::inputs::{control, initial, stimuli};
use super::priorities::band::{Order, Placement, place, width};
use super::priorities::merge::{Class, Merged};
use super::schedulability::HostFigures;
use super::tasks::batches;
use super::tasks::names;
use super::tasks::owners::Owners;
use super::{
    ControlPlan, FmuId, FmuPlan, HostPlan, InterfacePlan, OutputClock, PartitionPlan, Plan, Release,
    ScheduledExecutionPlan, TaskId, TaskPlan, Timing, TracePlan, Work, cores, dialect, record,
};
use crate::fmu::description::{Interface, InterfaceOffer, IntervalVariability, ModelDescription};
use crate::priority::FifoPriority;
use crate::rig::{Mode, Problem, Rig};
use crate::time::{Instant, Nanos};
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

/// An FMU as opening it gave it, at the same index as in [`Rig::fmus`].
#[derive(Clone, Debug)]
pub struct FmuInput<'a> {
    /// What its `modelDescription.xml` says.
    pub description: &'a ModelDescription,
    /// The shared library.
    pub library: PathBuf,
    /// `resourcePath`; `None` when the FMU has none.
    pub resources: Option<String>,
    /// What the user named.
    pub path: PathBuf,
}

/// What a plan has to know of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// The process's affinity mask.
    pub allowed_cpus: Vec<usize>,
    /// Cores that the kernel keeps free of other work and that this process may use, though its mask hides them.
    pub isolated_cpus: Vec<usize>,
    /// The FIFO priorities that this process gets.
    pub fifo: FifoReach,
}

/// How far a process may go with FIFO priorities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FifoReach {
    /// As far as rigs ask.
    #[default]
    All,
    /// Up to this one.
    UpTo(FifoPriority),
    /// Not at all: the run will be cooperative.
    Nothing,
}

impl HostFacts {
    /// Allowed or isolated, sorted.
    pub(super) fn usable(&self) -> Vec<usize> {
        let all: BTreeSet<usize> = self.allowed_cpus.iter().chain(&self.isolated_cpus).copied().collect();
        all.into_iter().collect()
    }

    /// The cores of a rig that names none: the isolated ones, else the last one.
    pub fn default_cores(&self) -> Vec<usize> {
        match self.isolated_cpus.as_slice() {
            [] => vec![self.usable().last().copied().unwrap_or(0)],
            isolated => isolated.to_vec(),
        }
    }
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

/// Resolves a rig. `fmus` has one entry for each of the rig's FMUs, in the same order.
///
/// # Panics
///
/// When it has another number of entries.
pub fn build(rig: &Rig, fmus: &[FmuInput], host: &HostFacts) -> Result<Plan, PlanError> {
    assert_eq!(rig.fmus.len(), fmus.len(), "one input for each FMU of the rig");
    let mut findings = Findings::new(rig);
    let mut units: Vec<Unit> = rig.fmus.iter().zip(fmus).map(|(rig, input)| Unit::new(rig, input)).collect();
    for unit in &mut units {
        unit.rig_controlled = rig.controlled;
        unit.structure = start_values::structure(unit, &mut findings);
    }
    check_interfaces(&units, &mut findings);
    check_time_units(&units, rig.mode, &mut findings);
    let times = drafts::timetable(rig, &units, &mut findings);
    let cpus = cores::assign(rig, &units, host, &mut findings);
    let mut drafts = drafts::drafts(rig, &units, &mut findings);
    let stimuli = stimuli::resolve(rig, &units, &mut drafts, &mut findings);
    let mut outputs = triggers::outputs(&units, &drafts);
    triggers::connect(&rig.triggers, &units, &mut drafts, &mut outputs, &times, rig.mode, &mut findings);
    findings.notes.extend(clocked_clocks::notes(&units, &drafts, &outputs, &times));
    let starts: Vec<Starts> = units.iter().map(|unit| start_values::resolve(unit, &mut findings)).collect();
    let links = resolve::resolve(rig, &units, &starts, &mut findings);
    let columns = record::columns(rig, &units, &starts, &mut findings);
    stimuli.check_parts(rig, &units, &links, &starts, &mut findings);
    let mut wanted = batches::wanted(&units, &links, &columns);
    stimuli.want(&mut wanted);
    let classes = classes(&drafts, &cpus);
    let owners = Owners::new(&units, &drafts);
    let feeds = feeds(rig, &classes, drafts.len(), &owners, &links);
    let asked = rig.host.fifo_priorities.value;
    let watched = drafts.iter().any(|draft| draft.limits.max_execution.is_some());
    let ticks = ticks(&classes, width(asked), &drafts, &units, &outputs);
    let order = Order { classes: &classes, feeds: &feeds, ticks: &ticks };
    let Placement { merged, band, cooperative } = match place(order, asked, rig.mode, host.fifo, watched) {
        Ok(placement) => placement,
        Err(narrow) => {
            let (low, high) = asked;
            let levels = levels(&classes, narrow.fmu);
            let message = format!(
                "{} has {levels} priority levels, which need {} FIFO priorities, but fifo_priorities = [{}, {}] has {}: a triggered \
                 level shares none with one that may tick it; make it wider (at most [1, 99]), or say in the model description \
                 (clocks of the output clocks and of the countdown clocks) which partitions tick them",
                units[narrow.fmu].name(),
                narrow.needed,
                low.get(),
                high.get(),
                width(asked)
            );
            findings.rig(rig.host.fifo_priorities.place, message);
            let merged = Merged { order: Vec::new(), disordered: Vec::new() };
            Placement { merged, band: asked, cooperative: None }
        }
    };
    strict(rig, &units, &classes, host, &mut findings);
    for cpu in &merged.disordered {
        findings.note(format!(
            "the band of FIFO priorities is so narrow that on core {cpu} a partition may run above one of another FMU that has a \
             shorter period"
        ));
    }
    let initial = initial::plan(&units, &wanted, &links, &starts, &columns, &mut findings);
    if !findings.problems.is_empty() {
        let mut problems = findings.problems;
        problems.sort();
        problems.dedup();
        return Err(PlanError { problems });
    }
    let sorted = Sorted::new(&classes, &merged, drafts.len());
    let batches = batches::of_tasks(&units, &drafts, &outputs, &owners, &wanted, &links, &starts, &columns);
    let mut tasks = tasks(&sorted, &merged, &classes, &drafts, &units, batches);
    for (task, &draft) in tasks.iter_mut().zip(&sorted.drafts) {
        task.caused_by = sorted.ids(&causes::of(draft, &drafts, &units, &outputs));
    }
    let fmus: Vec<FmuPlan> = (0..units.len())
        .map(|fmu| FmuPlan {
            start_values: starts[fmu].values().cloned().collect(),
            structural_values: units[fmu].structure.values().cloned().collect(),
            sizes: control::sizes(&units[fmu]),
            control: control::plan(&units[fmu], fmu, &owners, |draft| sorted.id_of[draft], &links, &stimuli, &columns),
            initial_reads: initial.reads[fmu].clone(),
            initial_writes: initial.writes[fmu].clone(),
            interface: InterfacePlan::ScheduledExecution(ScheduledExecutionPlan {
                countdowns: countdowns(fmu, &tasks),
                draft_intervals: dialect::intervals(&units[fmu], fmu, &drafts),
                on_ticks: batches::on_ticks(&units, fmu, &outputs[fmu], &wanted[fmu], &links, &columns),
                get_intervals: units[fmu].rig.get_intervals.as_ref().map(|at| at.value).unwrap_or_default(),
            }),
            ..fmu_plan(&units[fmu], fmu, cpus[fmu], &outputs[fmu], &sorted, &tasks)
        })
        .collect();
    let mut connections = resolve::plans(rig, &units, &links);
    let mut problems = delays::complete(&mut connections, &tasks, &fmus, rig);
    match waiting::share(&tasks, rig) {
        Ok(notes) => findings.notes.extend(notes),
        Err(problem) => problems.push(problem),
    }
    if !problems.is_empty() {
        return Err(PlanError { problems });
    }
    let datagrams = datagrams::sources(rig, &tasks);
    let stimuli = stimuli.complete(&units, &links, &starts, |draft| sorted.id_of[draft], &mut tasks);
    Ok(Plan {
        receiver: datagrams::receiver(rig.mode, &datagrams, &tasks, host),
        datagrams,
        rig: rig.name.clone(),
        mode: rig.mode,
        start: times.start,
        stop: times.stop,
        on_error: rig.on_error,
        trigger_time: rig.trigger_time,
        shutdown_timeout: rig.shutdown_timeout,
        call_timeout: rig.call_timeout,
        host: HostPlan {
            fifo_band: band,
            fifo_asked: asked,
            cooperative: cooperative.map(|narrow| {
                let (name, needed) = (units[narrow.fmu].name(), narrow.needed);
                format!("fmu `{name}` alone needs {needed} priority levels")
            }),
            lock_memory: rig.host.lock_memory,
            clock: rig.host.clock,
            spin: rig.host.spin.value,
            phase: rig.host.phase,
            stack_kib: rig.host.stack_kib,
            memory_limit_mib: rig.host.memory_limit_mib,
            log_limit_mib: rig.host.log_limit_mib,
            figures: HostFigures { wakeup: rig.host.wakeup, overhead: rig.host.overhead },
        },
        fmus,
        initial_order: initial.order.into_iter().map(FmuId).collect(),
        tasks,
        connections,
        stimuli,
        signals: columns.signals,
        formats: rig.record.as_ref().map(|record| record.formats).unwrap_or_default(),
        trace: TracePlan::of(rig),
        notes: findings.notes,
    })
}

/// Warnings of one description that are worth a note in the plan.
const WARNINGS: usize = 5;

/// Scheduled Execution is there, usable, and instantiated no more often than it allows.
/// Real time needs to know how long an FMU's unit of time is. In virtual time, and where the rig insists, it counts as 1 s.
fn check_time_units(units: &[Unit], mode: Mode, findings: &mut Findings) {
    for unit in units {
        let time = &unit.input.description.time;
        let (Err(why), Some(name)) = (time.unit, &time.name) else { continue };
        let fmu = unit.name();
        let what = format!("{fmu} counts time in {name:?}, which is no unit of time that is known: {why}");
        if mode == Mode::Virtual || unit.rig.lenient {
            findings.note(format!("{what}; one of it is 1 s of the run"));
        } else {
            let message = format!(
                "{what}; it can run in virtual time (--mode virtual), or with lenient = true in [fmu.{fmu}] of a rig file, \
                 where one of it is 1 s"
            );
            findings.rig(unit.rig.path.place, message);
        }
    }
}

fn check_interfaces(units: &[Unit], findings: &mut Findings) {
    for (i, unit) in units.iter().enumerate() {
        dialect::check(unit, findings);
        let description = unit.input.description;
        let place = unit.rig.path.place;
        // The place of a finding names the FMU already when there is no rig file.
        let subject = match findings.is_rig(&unit.input.path) {
            true => "the FMU".to_owned(),
            false => unit.input.path.display().to_string(),
        };
        for warning in description.warnings.iter().take(WARNINGS) {
            findings.note(format!("{}: {warning}", unit.name()));
        }
        if let Some(more @ 1..) = description.warnings.len().checked_sub(WARNINGS) {
            findings.note(format!("{}: {more} more of this kind; vecud inspect shows them", unit.name()));
        }
        let Some(interface) = description.scheduled_execution() else {
            let others = other_interfaces(description);
            let offer = if others.is_empty() { "no interface at all".to_owned() } else { others.join(" and ") };
            // Scheduled Execution came with FMI 3.0.
            let (version, export) = match description.abi.has_scheduled_execution() {
                true => (String::new(), "export it"),
                false => (format!(" of {}", description.abi.name()), "export it as FMI 3.0"),
            };
            findings.rig(
                place,
                format!(
                    "{subject} has no Scheduled Execution interface (it offers {offer}{version}), and vecud runs no other one \
                     yet: {export} for Scheduled Execution"
                ),
            );
            continue;
        };
        // It also has the tasks that other interfaces hide (requirements FD-09).
        let others = other_interfaces(description);
        if !others.is_empty() {
            let (name, others) = (unit.name(), others.join(" and "));
            findings.note(format!("{name} offers {others} as well: it runs with Scheduled Execution"));
        }
        if interface.needs_execution_tool {
            let tool = match description.generation_tool.as_deref().map(str::trim).filter(|tool| !tool.is_empty()) {
                Some(tool) => format!("the tool that made it, {tool}"),
                None => "the tool that made it, which it does not name".to_owned(),
            };
            findings.note(format!(
                "{} needs a tool on this machine, probably {tool} (needsExecutionTool): its documentation says which, and how \
                 long a call takes is that tool's affair",
                unit.name()
            ));
        }
        let twin = units[..i].iter().find(|other| other.input.library == unit.input.library);
        if let (true, Some(twin)) = (interface.can_be_instantiated_only_once_per_process, twin) {
            let message = format!(
                "{} and {} are the same FMU, which can be instantiated only once per process \
                 (canBeInstantiatedOnlyOncePerProcess), and vecud runs all of a rig in one: keep one of them",
                twin.name(),
                unit.name()
            );
            findings.rig(place, message);
        }
    }
}

/// What an FMU offers besides Scheduled Execution.
fn other_interfaces(description: &ModelDescription) -> Vec<&'static str> {
    let all = description.interfaces.iter().map(InterfaceOffer::interface);
    all.filter(|&other| other != Interface::ScheduledExecution).map(Interface::name).collect()
}

/// FMUs in rig order, most urgent class first.
fn classes(drafts: &[Draft], cpus: &[usize]) -> Vec<Class> {
    let mut sorted: Vec<usize> = (0..drafts.len()).collect();
    sorted.sort_by_key(|&d| (drafts[d].fmu, drafts[d].priority.most_urgent_first()));
    let equal = |&a: &usize, &b: &usize| drafts[a].fmu == drafts[b].fmu && drafts[a].priority == drafts[b].priority;
    let class = |members: &[usize]| {
        let fmu = drafts[members[0]].fmu;
        let period = members.iter().filter_map(|&d| drafts[d].period).min();
        let mut executions = members.iter().map(|&d| drafts[d].figures.execution);
        let execution = executions.try_fold(Nanos(0), |all, one| Some(all.plus(one?)));
        Class { fmu, cpu: cpus[fmu], period, execution, members: members.to_vec() }
    };
    sorted.chunk_by(equal).map(class).collect()
}

/// How many priority levels an FMU has.
fn levels(classes: &[Class], fmu: usize) -> usize {
    classes.iter().filter(|class| class.fmu == fmu).count()
}

/// Which classes of an FMU with more than `width` of them may tick which others of it, directly or through others, as pairs
/// that have no direction.
fn ticks(
    classes: &[Class],
    width: usize,
    drafts: &[Draft],
    units: &[Unit],
    outputs: &[Vec<Output>],
) -> Vec<(usize, usize)> {
    if classes.chunk_by(|a, b| a.fmu == b.fmu).all(|own| own.len() <= width) {
        return Vec::new();
    }
    let causes: Vec<Vec<usize>> = (0..drafts.len()).map(|draft| causes::of(draft, drafts, units, outputs)).collect();
    let mut class_of = vec![0; drafts.len()];
    for (class, members) in classes.iter().map(|class| &class.members).enumerate() {
        members.iter().for_each(|&draft| class_of[draft] = class);
    }
    let mut pairs = BTreeSet::new();
    for draft in 0..drafts.len() {
        let mut seen = vec![false; drafts.len()];
        let mut open = causes[draft].clone();
        while let Some(cause) = open.pop() {
            if !std::mem::replace(&mut seen[cause], true) {
                open.extend(causes[cause].iter().copied().filter(|&other| !seen[other]));
            }
        }
        let own = class_of[draft];
        let earlier = (0..drafts.len()).filter(|&cause| seen[cause]).map(|cause| class_of[cause]);
        let of_fmu = earlier.filter(|&other| other != own && classes[other].fmu == classes[own].fmu);
        pairs.extend(of_fmu.map(|other| (own.min(other), own.max(other))));
    }
    pairs.into_iter().collect()
}

/// `strict_priorities` refuses to let levels of an FMU share FIFO priorities; where there are none, none are shared.
fn strict(rig: &Rig, units: &[Unit], classes: &[Class], host: &HostFacts, findings: &mut Findings) {
    let (low, high) = rig.host.fifo_priorities.value;
    let width = width((low, high));
    let Some(place) = rig.host.strict_priorities.filter(|_| rig.mode == Mode::RealTime) else { return };
    for own in classes.chunk_by(|a, b| a.fmu == b.fmu).filter(|own| own.len() > width) {
        let (levels, unit) = (own.len(), &units[own[0].fmu]);
        let message = format!(
            "strict_priorities = true: {} has {levels} priority levels, but fifo_priorities = [{}, {}] has {width}, so that some \
             would share a FIFO priority: make it wider (at most [1, 99]), or allow that by leaving strict_priorities out",
            unit.name(),
            low.get(),
            high.get()
        );
        match host.fifo {
            FifoReach::Nothing => findings.note(format!("{message}. Here there are no FIFO priorities at all")),
            _ => findings.rig(place, message),
        }
    }
}

/// Which class produces what which class consumes at the same time: by an immediate connection.
fn feeds(rig: &Rig, classes: &[Class], drafts: usize, owners: &Owners, links: &Links) -> Vec<(usize, usize)> {
    let mut class_of = vec![0; drafts];
    for (class, members) in classes.iter().map(|class| &class.members).enumerate() {
        members.iter().for_each(|&draft| class_of[draft] = class);
    }
    let of = |drafts: Vec<usize>| drafts.into_iter().map(|draft| class_of[draft]).collect::<BTreeSet<usize>>();
    let mut feeds = BTreeSet::new();
    // Where a connection of the rig has no link there is no plan.
    let immediate = links.iter().zip(&rig.connects).filter(|(_, connect)| connect.timing == Timing::Immediate);
    for (link, _) in immediate {
        let producers = of(owners.getting(link.source.0, link.source.1));
        let consumers = of(owners.setting(link.target.0, link.target.1));
        feeds.extend(producers.iter().flat_map(|&p| consumers.iter().map(move |&c| (p, c))));
    }
    feeds.into_iter().collect()
}

/// Drafts in their final order.
struct Sorted {
    /// Drafts, most urgent first.
    drafts: Vec<usize>,
    /// By draft: its place above.
    id_of: Vec<TaskId>,
}

impl Sorted {
    fn new(classes: &[Class], merged: &Merged, count: usize) -> Sorted {
        let drafts: Vec<usize> =
            merged.order.iter().flat_map(|placed| classes[placed.class].members.iter().copied()).collect();
        let mut id_of = vec![TaskId(0); count];
        for (id, &draft) in drafts.iter().enumerate() {
            id_of[draft] = TaskId(id);
        }
        Sorted { drafts, id_of }
    }

    /// Ids of these drafts, most urgent first.
    fn ids(&self, drafts: &[usize]) -> Vec<TaskId> {
        let mut ids: Vec<TaskId> = drafts.iter().map(|&d| self.id_of[d]).collect();
        ids.sort_unstable();
        ids
    }
}

fn tasks(
    sorted: &Sorted,
    merged: &Merged,
    classes: &[Class],
    drafts: &[Draft],
    units: &[Unit],
    mut batches: Vec<(Vec<super::Batch>, Vec<super::Batch>)>,
) -> Vec<TaskPlan> {
    let clock = |d: usize| &units[drafts[d].fmu].variables()[drafts[d].variable];
    let clock_names: Vec<String> = sorted.drafts.iter().map(|&d| drafts[d].name(&units[drafts[d].fmu])).collect();
    let fmu_names = sorted.drafts.iter().map(|&d| units[drafts[d].fmu].name());
    let threads = names::threads(fmu_names.zip(clock_names.iter().map(String::as_str)));
    let mut threads = threads.into_iter();
    let mut tasks = Vec::with_capacity(drafts.len());
    for placed in &merged.order {
        let class = &classes[placed.class];
        let level = classes[..placed.class].iter().filter(|other| other.fmu == class.fmu).count();
        for &d in &class.members {
            let (draft, variable) = (&drafts[d], clock(d));
            let (set, get) = std::mem::take(&mut batches[d]);
            tasks.push(TaskPlan {
                fmu: FmuId(draft.fmu),
                name: draft.name(&units[draft.fmu]),
                work: Work::Partition(PartitionPlan {
                    clock: variable.value_reference,
                    element: draft.element,
                    kind: variable.clock.as_ref().map_or(IntervalVariability::Triggered, |c| c.interval_variability),
                    write_interval: draft.write_interval,
                    write_shift: draft.write_shift,
                    supports_fraction: variable.clock.as_ref().is_some_and(|c| c.supports_fraction),
                }),
                release: draft.release.clone(),
                caused_by: Vec::new(),
                urgency: Some(draft.priority),
                level,
                fifo: placed.fifo,
                cpu: class.cpu,
                thread: threads.next().unwrap_or_default(),
                overrun: draft.overrun,
                limits: draft.limits,
                figures: draft.figures,
                set,
                get,
            });
        }
    }
    tasks
}

/// The tasks of an instance whose clocks count down.
fn countdowns(fmu: usize, tasks: &[TaskPlan]) -> Vec<TaskId> {
    let counts_down = |task: &TaskPlan| task.fmu == FmuId(fmu) && task.release == Release::Countdown;
    (0..tasks.len()).map(TaskId).filter(|id| counts_down(&tasks[id.0])).collect()
}

/// Everything but the values that are set and read before the run, and what depends on the interface type.
fn fmu_plan(unit: &Unit, fmu: usize, cpu: usize, outputs: &[Output], sorted: &Sorted, tasks: &[TaskPlan]) -> FmuPlan {
    let abi = unit.abi();
    let own = |&id: &TaskId| tasks[id.0].fmu == FmuId(fmu);
    let own = (0..tasks.len()).map(TaskId).filter(own);
    let output = |output: &Output| {
        let v = &unit.variables()[output.variable];
        OutputClock {
            reference: v.value_reference,
            name: drafts::element_name(&v.name, output.element),
            aperiodic: v.clock.as_ref().is_some_and(|c| c.interval_variability == IntervalVariability::Triggered),
            ticked_by: sorted.ids(&output.ticked_by),
            targets: sorted.ids(&output.targets),
        }
    };
    let interface = unit.input.description.scheduled_execution();
    FmuPlan {
        name: unit.name().to_owned(),
        // For people only; a plan travels as UTF-8.
        path: unit.input.path.to_string_lossy().into_owned().into(),
        library: unit.input.library.clone(),
        abi,
        resources: unit.input.resources.as_deref().map(|path| dialect::resources(abi, path)),
        token: unit.input.description.instantiation_token.clone(),
        time_unit: unit.input.description.time.unit(),
        cpu,
        on_warning: unit.rig.on_warning,
        log_categories: unit.input.description.log_categories.iter().map(|category| category.name.clone()).collect(),
        start_values: Vec::new(),
        structural_values: Vec::new(),
        sizes: Vec::new(),
        control: ControlPlan::default(),
        initial_reads: Vec::new(),
        initial_writes: Vec::new(),
        output_clocks: outputs.iter().map(output).collect(),
        levels: own.map(|id| tasks[id.0].level + 1).max().unwrap_or(0),
        interface: InterfacePlan::ScheduledExecution(ScheduledExecutionPlan::default()),
        can_get_and_set_state: interface.is_some_and(|interface| interface.can_get_and_set_fmu_state),
        can_serialize_state: interface.is_some_and(|interface| interface.can_serialize_fmu_state),
    }
}

//! FMUs of which one at a time makes steps (semantics S34), since their code shares something.
//!
//! Instances of one library share its static variables, and FMI 3.0 (2.2.1) promises parallel calls only across processes. So they take
//! turns, unless `parallel = true` leaves one out; `serialise` makes others take turns. FMUs that take turns with the same FMU take turns
//! with each other: a task has one turn at most, and no two tasks can wait for each other.

use crate::plan::described::DescribedFmu;
use crate::plan::findings::Findings;
use crate::plan::{FmuId, Plan, SerialPlan, TaskId, TaskPlan};
use crate::rig::Rig;
use std::collections::BTreeSet;

/// The FMUs that take turns.
pub(in crate::plan) fn plans(
    rig: &Rig,
    fmus: &[DescribedFmu],
    tasks: &[TaskPlan],
    findings: &mut Findings,
) -> Vec<SerialPlan> {
    check(rig, fmus, findings);
    // The thread that makes the steps of an FMU: those of one thread need no turns.
    let threads: Vec<Option<TaskId>> = (0..fmus.len()).map(|fmu| thread(tasks, FmuId(fmu))).collect();
    let is_parallel = |fmu: usize| fmus[fmu].rig.parallel.as_ref().is_some_and(|own| own.value);
    let is_named = |fmu: usize| rig.serialise.iter().any(|name| name.value == fmus[fmu].name());
    let is_one = |a: usize, b: usize| {
        let is_of_library = fmus[a].input.library == fmus[b].input.library && !is_parallel(a) && !is_parallel(b);
        is_of_library || (is_named(a) && is_named(b))
    };
    let mut groups: Vec<BTreeSet<usize>> = Vec::new();
    for fmu in (0..fmus.len()).filter(|fmu| threads[*fmu].is_some()) {
        let meets =
            |group: &BTreeSet<usize>| group.iter().any(|other| is_one(*other, fmu) || threads[*other] == threads[fmu]);
        let (met, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        groups = others;
        groups.push(met.into_iter().flatten().chain([fmu]).collect());
    }
    groups.sort();
    let serial = |group: BTreeSet<usize>| {
        let has_reason =
            |fmu: &usize| group.iter().any(|other| threads[*other] != threads[*fmu] && is_one(*other, *fmu));
        let of_group: Vec<usize> = group.iter().copied().filter(has_reason).collect();
        let is_said = of_group.iter().any(|fmu| is_named(*fmu));
        SerialPlan { fmus: of_group.into_iter().map(FmuId).collect(), is_said }
    };
    groups.into_iter().map(serial).filter(|serial| serial.fmus.len() > 1).collect()
}

/// The task on whose thread the steps of an FMU are made; `None`: it makes none.
fn thread(tasks: &[TaskPlan], fmu: FmuId) -> Option<TaskId> {
    let own = tasks.iter().position(|task| task.fmu == fmu && task.is_contiguous())?;
    Some(tasks[own].leader().unwrap_or(TaskId(own)))
}

/// Refuses FMUs that cannot take turns, and keys that contradict each other.
fn check(rig: &Rig, fmus: &[DescribedFmu], findings: &mut Findings) {
    for name in &rig.serialise {
        let Some(fmu) = fmus.iter().find(|fmu| fmu.name() == name.value) else { continue };
        let name_of_fmu = fmu.name();
        if fmu.is_scheduled() {
            let message = format!(
                "serialise: {name_of_fmu} runs with Scheduled Execution, whose partitions preempt each other, and takes no turns: give \
                 it a rig of its own, which is a process of its own, or another interface if it offers one"
            );
            findings.rig(name.place, message);
        } else if fmu.rig.parallel.as_ref().is_some_and(|own| own.value) {
            let message = format!(
                "serialise: {name_of_fmu} is to take turns, and [fmu.{name_of_fmu}] says parallel = true: leave one of the two out"
            );
            findings.rig(name.place, message);
        }
    }
    for fmu in fmus.iter().filter(|fmu| fmu.is_scheduled()) {
        if let Some(own) = &fmu.rig.parallel {
            let name = fmu.name();
            let message = format!(
                "parallel in [fmu.{name}] is for steps: partitions of Scheduled Execution take no turns; leave it out"
            );
            findings.rig(own.place, message);
        }
    }
}

impl Plan {
    /// The turn of the steps that a task makes: an index into [`Plan::serials`]. `None`: they may be made at any time.
    pub fn serial_of(&self, task: TaskId) -> Option<usize> {
        let leader = self.tasks[task.0].leader().unwrap_or(task);
        self.serials.iter().position(|serial| serial.fmus.iter().any(|fmu| thread(&self.tasks, *fmu) == Some(leader)))
    }

    /// Whether the FMUs of a turn are on several cores.
    pub fn is_over_cores(&self, serial: usize) -> bool {
        let cores: BTreeSet<usize> = self.serials[serial].fmus.iter().map(|fmu| self.fmus[fmu.0].cpu).collect();
        cores.len() > 1
    }

    /// Whether these take turns with each other.
    pub(in crate::plan) fn take_turns(&self, fmus: &[FmuId]) -> bool {
        self.serials.iter().any(|serial| fmus.iter().all(|fmu| serial.fmus.contains(fmu)))
    }

    /// Instances of one library, wherever there are several.
    pub(in crate::plan) fn instances(&self) -> Vec<Vec<FmuId>> {
        let mut all: Vec<Vec<FmuId>> = Vec::new();
        for fmu in (0..self.fmus.len()).map(FmuId) {
            let library = |other: FmuId| &self.fmus[other.0].library;
            match all.iter_mut().find(|known| library(known[0]) == library(fmu)) {
                Some(known) => known.push(fmu),
                None => all.push(vec![fmu]),
            }
        }
        all.retain(|instances| instances.len() > 1);
        all
    }

    /// `a, b and c`, by their names.
    pub(in crate::plan) fn names(&self, fmus: &[FmuId]) -> String {
        let names: Vec<&str> = fmus.iter().map(|fmu| self.fmus[fmu.0].name.as_str()).collect();
        match names.as_slice() {
            [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            names => names.concat(),
        }
    }
}

/// The turns, and the instances of one library that take none, for `vecud check`.
pub(in crate::plan) fn lines(plan: &Plan) -> Vec<String> {
    let turns = |serial: &SerialPlan| {
        let names = plan.names(&serial.fmus);
        let first = &plan.fmus[serial.fmus[0].0].name;
        match serial.is_said {
            true => format!("{names} make their steps one at a time (serialise)"),
            false => format!(
                "{names} make their steps one at a time: they are instances of one library, and FMI promises parallel calls only across \
                 processes; parallel = true in [fmu.{first}] lets it step beside the others"
            ),
        }
    };
    // Instances whose steps are made on one thread are never in each other's way.
    let is_apart = |instances: &&Vec<FmuId>| {
        let is_alone = |fmu: &FmuId| thread(&plan.tasks, *fmu).is_none() || plan.threads_of(instances).len() > 1;
        !plan.take_turns(instances) && instances.iter().any(is_alone)
    };
    let apart = |instances: &Vec<FmuId>| {
        let is_scheduled = instances.iter().any(|fmu| thread(&plan.tasks, *fmu).is_none());
        let why = match is_scheduled {
            true => "partitions take no turns, and lockPreemption holds for each instance alone",
            false => "parallel = true",
        };
        format!(
            "{}, which are instances of one library, run beside each other ({why}): memory that they share, such as static variables, is \
             not guarded; FMUs of two rigs share none",
            plan.names(instances)
        )
    };
    plan.serials.iter().map(turns).chain(plan.instances().iter().filter(is_apart).map(apart)).collect()
}

impl Plan {
    fn threads_of(&self, fmus: &[FmuId]) -> BTreeSet<TaskId> {
        fmus.iter().filter_map(|fmu| thread(&self.tasks, *fmu)).collect()
    }
}

//! Sets of FMUs that step one at a time (semantics S34), since their code shares something.
//!
//! Instances of one library share its static variables, and FMI 3.0 (2.2.1) promises parallel calls only across processes. So they take
//! turns, unless `parallel = true` leaves one out; `serialise` makes others take turns. FMUs that take turns with the same FMU take turns
//! with each other: a task has one turn at most, and no two tasks can wait for each other.

use crate::described::DescribedFmu;
use crate::findings::Findings;
use crate::rig::Rig;
use crate::{FmuId, Plan, SerialPlan, TaskId, UnitId, UnitPlan};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// A thing that FMUs which take turns share.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Common<'a> {
    /// The task that makes their steps: no reason by itself, but both have the other's reasons.
    Task(TaskId),
    Library(&'a Path),
    /// `serialise` names both.
    Key,
}

/// The FMUs that take turns.
pub(crate) fn plans(rig: &Rig, fmus: &[DescribedFmu], units: &[UnitPlan], findings: &mut Findings) -> Vec<SerialPlan> {
    check(rig, fmus, findings);
    // The threads that make the steps: FMUs on one thread need no turns.
    let threads = threads(units);
    let is_parallel = |fmu: usize| fmus[fmu].rig.parallel.as_ref().is_some_and(|own| own.value);
    let names: HashSet<&str> = rig.serialise.iter().map(|name| name.value.as_str()).collect();
    let is_named = |fmu: usize| names.contains(fmus[fmu].name());
    let reasons = |fmu: usize| {
        let library = (!is_parallel(fmu)).then(|| Common::Library(&fmus[fmu].input.library));
        library.into_iter().chain(is_named(fmu).then_some(Common::Key))
    };
    // For each shared thing the first FMU that has it, and the threads of all FMUs that have it.
    let mut first_of: HashMap<Common, usize> = HashMap::new();
    let mut threads_of: HashMap<Common, BTreeSet<TaskId>> = HashMap::new();
    let mut group_of: Vec<usize> = (0..fmus.len()).collect();
    for (&fmu, &thread) in &threads {
        for common in reasons(fmu.0).chain([Common::Task(thread)]) {
            let (one, other) = (group(&mut group_of, fmu.0), *first_of.entry(common).or_insert(fmu.0));
            let other = group(&mut group_of, other);
            group_of[one.max(other)] = one.min(other);
            threads_of.entry(common).or_default().insert(thread);
        }
    }
    let mut groups: BTreeMap<usize, SerialPlan> = BTreeMap::new();
    for fmu in threads.keys().filter(|fmu| reasons(fmu.0).any(|reason| threads_of[&reason].len() > 1)) {
        let serial = groups.entry(group(&mut group_of, fmu.0)).or_default();
        serial.fmus.push(*fmu);
        serial.is_said |= is_named(fmu.0);
    }
    groups.into_values().filter(|serial| serial.fmus.len() > 1).collect()
}

/// The set of an FMU, by its smallest FMU.
fn group(group_of: &mut [usize], mut fmu: usize) -> usize {
    while group_of[fmu] != fmu {
        group_of[fmu] = group_of[group_of[fmu]];
        fmu = group_of[fmu];
    }
    fmu
}

/// The FMUs that make steps, each with [its thread](thread).
fn threads(units: &[UnitPlan]) -> BTreeMap<FmuId, TaskId> {
    let mut threads = BTreeMap::new();
    for unit in units.iter().filter(|unit| unit.is_contiguous()) {
        threads.entry(unit.fmu).or_insert(unit.task);
    }
    threads
}

/// The task whose thread makes the steps of an FMU; `None`: the FMU makes none.
fn thread(units: &[UnitPlan], fmu: FmuId) -> Option<TaskId> {
    units.iter().find(|unit| unit.fmu == fmu && unit.is_contiguous()).map(|unit| unit.task)
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
    /// The turn of the steps of a unit: an index into [`Plan::serials`]. `None`: they may be made at any time.
    pub fn serial_of(&self, unit: UnitId) -> Option<usize> {
        let own = Some(self.units[unit.0].task);
        self.serials.iter().position(|serial| serial.fmus.iter().any(|fmu| thread(&self.units, *fmu) == own))
    }

    /// [`Plan::serial_of`] of all units, in one pass.
    pub(crate) fn turns(&self) -> Vec<Option<usize>> {
        let threads = threads(&self.units);
        let of_fmus =
            self.serials.iter().enumerate().flat_map(|(turn, own)| own.fmus.iter().map(move |fmu| (turn, fmu)));
        let turn_of: HashMap<TaskId, usize> =
            of_fmus.filter_map(|(turn, fmu)| Some((*threads.get(fmu)?, turn))).collect();
        self.units.iter().map(|own| turn_of.get(&own.task).copied()).collect()
    }

    /// Whether the FMUs of a turn are on several cores.
    pub fn is_over_cores(&self, serial: usize) -> bool {
        let cores: BTreeSet<usize> = self.serials[serial].fmus.iter().map(|fmu| self.fmus[fmu.0].cpu).collect();
        cores.len() > 1
    }

    /// Whether these take turns with each other.
    pub(crate) fn take_turns(&self, fmus: &[FmuId]) -> bool {
        self.serials.iter().any(|serial| fmus.iter().all(|fmu| serial.fmus.binary_search(fmu).is_ok()))
    }

    /// Instances of one library, wherever there are several.
    pub(crate) fn instances(&self) -> Vec<Vec<FmuId>> {
        let (mut all, mut place_of) = (Vec::<Vec<FmuId>>::new(), HashMap::new());
        for fmu in (0..self.fmus.len()).map(FmuId) {
            let place = *place_of.entry(&self.fmus[fmu.0].library).or_insert(all.len());
            match all.get_mut(place) {
                Some(known) => known.push(fmu),
                None => all.push(vec![fmu]),
            }
        }
        all.retain(|instances| instances.len() > 1);
        all
    }

    /// `a, b and c`, by their names.
    pub(crate) fn names(&self, fmus: &[FmuId]) -> String {
        let names: Vec<&str> = fmus.iter().map(|fmu| self.fmus[fmu.0].name.as_str()).collect();
        match names.as_slice() {
            [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            names => names.concat(),
        }
    }
}

/// The turns, and the instances of one library that take none, for `vecud check`.
pub(crate) fn lines(plan: &Plan) -> Vec<String> {
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
    let threads = threads(&plan.units);
    // Instances whose steps are made on one thread never overlap.
    let is_apart = |instances: &&Vec<FmuId>| {
        let own: BTreeSet<TaskId> = instances.iter().filter_map(|fmu| threads.get(fmu).copied()).collect();
        let is_alone = |fmu: &FmuId| !threads.contains_key(fmu) || own.len() > 1;
        !plan.take_turns(instances) && instances.iter().any(is_alone)
    };
    let apart = |instances: &Vec<FmuId>| {
        let is_scheduled = instances.iter().any(|fmu| !threads.contains_key(fmu));
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

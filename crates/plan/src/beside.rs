//! Rigs that run already, beside which another one is planned (semantics S26).
//!
//! Guarantees: what they hold of the machine stays as it is. The planned rig takes cores that nobody has, as long as there are some;
//! on a core that it shares its levels get FIFO priorities that are left there (`priorities::rungs`), and a note names whom it shares
//! with. A rig that is `exclusive` shares the cores of its partitions with nobody, whoever came first.

use super::described::DescribedFmu;
use super::findings::Findings;
use super::priorities::rungs::Held;
use super::{HostFacts, Mode, Plan};
use crate::rig::{Place, Rig};
use std::collections::BTreeSet;
use vecud_base::priority::FifoPriority;

/// A rig that runs, and what it holds of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningRig {
    /// What it is called.
    pub name: String,
    /// The process that runs it, if it is another one: only its cores are known then. 0: another process without a number. `None`: this one.
    pub process: Option<u32>,
    /// The cores of its partitions are its alone.
    pub exclusive: bool,
    /// Its threads that have a core; in virtual time it has none.
    pub threads: Vec<RunningThread>,
}

/// A thread of a rig that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningThread {
    /// The core that it is bound to.
    pub cpu: usize,
    /// Its priority; `None`: the partitions of its rig take turns without `SCHED_FIFO`.
    pub fifo: Option<FifoPriority>,
    /// It is that of a task: the thread that receives datagrams is none.
    pub is_task: bool,
}

impl RunningRig {
    /// The rig of this plan, called so.
    pub fn of(name: &str, plan: &Plan) -> RunningRig {
        let mut threads = Vec::new();
        if plan.mode == Mode::RealTime {
            let fifo = |fifo| plan.host.cooperative.is_none().then_some(fifo);
            let task = |cpu, own| RunningThread { cpu, fifo: fifo(own), is_task: true };
            threads.extend(plan.tasks.iter().map(|own| task(own.cpu, own.fifo)));
            let receiver = |cpu, own| RunningThread { cpu, fifo: fifo(own), is_task: false };
            threads.extend(plan.receiver.map(|own| receiver(own.cpu, own.fifo)));
        }
        RunningRig { name: name.to_owned(), process: None, exclusive: plan.host.exclusive, threads }
    }

    /// The cores of its tasks.
    pub fn cores(&self) -> BTreeSet<usize> {
        self.threads.iter().filter(|thread| thread.is_task).map(|thread| thread.cpu).collect()
    }

    /// What people call it.
    fn told(&self) -> String {
        match self.process {
            None => format!("rig `{}`", self.name),
            Some(0) => "a run of another process".to_owned(),
            Some(process) => format!("the run of process {process}"),
        }
    }

    fn is_on(&self, cpu: usize) -> bool {
        self.threads.iter().any(|thread| thread.cpu == cpu)
    }

    /// The priorities of its threads on this core.
    fn fifo_on(&self, cpu: usize) -> BTreeSet<u8> {
        let own = self.threads.iter().filter(|thread| thread.cpu == cpu);
        own.filter_map(|thread| thread.fifo).map(FifoPriority::get).collect()
    }
}

impl HostFacts {
    /// The rigs that have threads on this core.
    fn on(&self, cpu: usize) -> impl Iterator<Item = &RunningRig> {
        self.beside.iter().filter(move |rig| rig.is_on(cpu))
    }

    /// How much of a core others have, as a sort key that puts a free core first, and one that may not be shared last.
    pub(super) fn taken(&self, cpu: usize) -> (bool, usize) {
        let threads = self.beside.iter().flat_map(|rig| &rig.threads);
        let is_closed = self.beside.iter().any(|rig| rig.exclusive && rig.cores().contains(&cpu));
        (is_closed, threads.filter(|thread| thread.cpu == cpu).count())
    }

    /// Nobody has a thread on this core.
    pub(super) fn is_free(&self, cpu: usize) -> bool {
        self.on(cpu).next().is_none()
    }

    /// This machine without the runs of other processes.
    pub(super) fn without_processes(&self) -> HostFacts {
        let beside = self.beside.iter().filter(|rig| rig.process.is_none()).cloned().collect();
        HostFacts { beside, ..self.clone() }
    }

    /// The runs of other processes on this core, in words.
    pub(super) fn processes_on(&self, cpu: usize) -> Vec<String> {
        self.on(cpu).filter(|rig| rig.process.is_some()).map(RunningRig::told).collect()
    }

    /// The FIFO priorities that others hold.
    pub(super) fn held(&self) -> Held {
        let mut held = Held::new();
        for thread in self.beside.iter().flat_map(|rig| &rig.threads) {
            held.entry(thread.cpu).or_default().extend(thread.fifo.map(FifoPriority::get));
        }
        held
    }

    /// The rigs on this core, in words; `fifo`: those of them that hold this priority.
    pub(super) fn names_on(&self, cpu: usize, fifo: Option<FifoPriority>) -> String {
        let has = |rig: &RunningRig| fifo.is_none_or(|fifo| rig.fifo_on(cpu).contains(&fifo.get()));
        let is_meant = |rig: &&RunningRig| rig.process.is_none() && has(rig);
        let names: Vec<String> = self.on(cpu).filter(is_meant).map(|rig| format!("`{}`", rig.name)).collect();
        let s = if names.len() == 1 { "" } else { "s" };
        format!("rig{s} {}", names.join(", "))
    }

    /// What each rig on this core holds there, as words of a note.
    pub(super) fn notes_on(&self, cpu: usize) -> impl Iterator<Item = String> {
        self.on(cpu).map(move |rig| {
            let fifo = rig.fifo_on(cpu);
            let how = match (fifo.first(), fifo.last()) {
                (Some(low), Some(high)) if low < high => format!("FIFO {high} to {low}"),
                (Some(one), _) => format!("FIFO {one}"),
                _ if rig.process.is_some() => "at priorities of its own".to_owned(),
                _ => "without SCHED_FIFO".to_owned(),
            };
            let told = rig.told();
            format!(
                "core {cpu} is shared with {told}, which runs there already ({how}): what that takes of the core is in the \
                 latencies of this rig, but not in its analysis"
            )
        })
    }
}

/// Refuses to share a core of an exclusive rig. `cpus`: the core of each FMU.
pub(super) fn check(rig: &Rig, fmus: &[DescribedFmu], cpus: &[usize], host: &HostFacts, findings: &mut Findings) {
    if rig.mode == Mode::Virtual {
        return;
    }
    let mut seen = BTreeSet::new();
    for (fmu, cpu) in fmus.iter().zip(cpus.iter().copied()).filter(|(_, cpu)| seen.insert(*cpu)) {
        for other in host.on(cpu).filter(|other| other.process.is_none()) {
            let name = &other.name;
            if let Some(place) = rig.host.exclusive {
                let message = format!(
                    "exclusive: rig `{name}` runs on core {cpu} already; name a core that is free (cpus in [host], cpu of an FMU), stop \
                     that rig, or share the core by leaving exclusive out"
                );
                findings.rig(place, message);
            } else if other.exclusive && other.cores().contains(&cpu) {
                let message = format!(
                    "core {cpu} is that of rig `{name}` alone ({name}: exclusive = true in [host]); name another core (cpus in [host], \
                     cpu of an FMU), stop that rig, or have it share its cores"
                );
                findings.rig(place_of(rig, fmu, cpu), message);
            }
        }
    }
}

/// What in the rig says that this FMU goes to that core, if something does.
fn place_of(rig: &Rig, fmu: &DescribedFmu, cpu: usize) -> Place {
    let of_rig = || rig.host.cpus.iter().find(|given| given.value == cpu);
    fmu.cpu().or_else(of_rig).map_or(Place::default(), |given| given.place)
}

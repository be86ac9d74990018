//! The machine: its facts for a plan, the rigs that are running there, and the core of each FMU.

use super::described::DescribedFmu;
use super::findings::Findings;
use super::{Mode, Plan};
use crate::rig::{At, Rig};
use std::collections::{BTreeMap, BTreeSet};
use vecud_base::priority::FifoPriority;

/// The facts about the machine that a plan depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// The process's affinity mask.
    pub allowed_cpus: Vec<usize>,
    /// Cores that the kernel keeps free of other work and that this process may use, though its mask hides them.
    pub isolated_cpus: Vec<usize>,
    /// The FIFO priorities that this process gets.
    pub fifo: FifoReach,
    /// The rigs that run already.
    pub beside: Vec<RunningRig>,
}

/// The FIFO priorities that a process may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FifoReach {
    /// Every priority that a rig can ask for.
    #[default]
    All,
    /// Up to this one.
    UpTo(FifoPriority),
    /// None: the run will be cooperative.
    Nothing,
}

impl HostFacts {
    /// Allowed or isolated, sorted.
    pub(super) fn usable(&self) -> Vec<usize> {
        let all: BTreeSet<usize> = self.allowed_cpus.iter().chain(&self.isolated_cpus).copied().collect();
        all.into_iter().collect()
    }

    /// The cores of a rig that names none: the free isolated ones, else the last free one, else the one with the least load of
    /// others.
    pub fn default_cores(&self) -> Vec<usize> {
        let is_free = |cpu: &usize| self.is_free(*cpu);
        let isolated: Vec<usize> = self.isolated_cpus.iter().copied().filter(is_free).collect();
        if !isolated.is_empty() {
            return isolated;
        }
        let least = self.usable().into_iter().rev().min_by_key(|cpu| self.taken(*cpu));
        vec![least.unwrap_or(0)]
    }
}

/// The FIFO priorities that other rigs hold, by core.
pub type Held = BTreeMap<usize, BTreeSet<u8>>;

/// A running rig, with its cores and priorities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningRig {
    /// The name of the rig.
    pub name: String,
    /// The process that runs it, if it is another one: only its cores are known then. 0: another process without a number. `None`: this one.
    pub process: Option<u32>,
    /// The cores of its partitions are its alone.
    pub exclusive: bool,
    /// The rig's threads that have a core; in virtual time it has none.
    pub threads: Vec<RunningThread>,
}

/// A thread of a rig that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningThread {
    /// The core that it is bound to.
    pub cpu: usize,
    /// Priority of the thread; `None`: the partitions of its rig take turns without `SCHED_FIFO`.
    pub fifo: Option<FifoPriority>,
    /// A task's thread; else the one that receives datagrams.
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

    /// Whether a thread of this one has a core that one of the other has.
    pub fn meets(&self, other: &RunningRig) -> bool {
        self.threads.iter().any(|thread| other.is_on(thread.cpu))
    }

    /// The name in messages.
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
    pub(super) fn on(&self, cpu: usize) -> impl Iterator<Item = &RunningRig> {
        self.beside.iter().filter(move |rig| rig.is_on(cpu))
    }

    /// The share of a core that other rigs have, as a sort key: a free core comes first, and one that may not be shared last.
    pub(super) fn taken(&self, cpu: usize) -> (bool, usize) {
        let threads = self.beside.iter().flat_map(|rig| &rig.threads);
        let is_closed = self.beside.iter().any(|rig| rig.exclusive && rig.cores().contains(&cpu));
        (is_closed, threads.filter(|thread| thread.cpu == cpu).count())
    }

    /// Whether no running rig has a thread on this core.
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

    /// The names of the rigs on this core, in a message; `fifo`: only rigs that hold this priority.
    pub(super) fn names_on(&self, cpu: usize, fifo: Option<FifoPriority>) -> String {
        let has = |rig: &RunningRig| fifo.is_none_or(|fifo| rig.fifo_on(cpu).contains(&fifo.get()));
        let is_meant = |rig: &&RunningRig| rig.process.is_none() && has(rig);
        let names: Vec<String> = self.on(cpu).filter(is_meant).map(|rig| format!("`{}`", rig.name)).collect();
        let s = if names.len() == 1 { "" } else { "s" };
        format!("rig{s} {}", names.join(", "))
    }

    /// A note for each rig on this core, with the priorities that it holds there.
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

/// The core of each FMU, on which all of its partitions run (semantics S6). FMUs without `cpu` take the rig's cores in turn,
/// those with the least load of others first.
pub(super) fn cores(rig: &Rig, fmus: &[DescribedFmu], host: &HostFacts, findings: &mut Findings) -> Vec<usize> {
    let usable = host.usable();
    for cpu in &rig.host.cpus {
        check(rig, cpu, &usable, "cpus", findings);
    }
    let pool_on = |host: &HostFacts| -> Vec<usize> {
        let mut pool: Vec<usize> = match rig.host.cpus.as_slice() {
            [] => host.default_cores(),
            given => given.iter().map(|cpu| cpu.value).collect(),
        };
        if rig.mode == Mode::RealTime {
            pool.sort_by_key(|cpu| host.taken(*cpu));
        }
        pool
    };
    let pool = pool_on(host);
    if rig.mode == Mode::RealTime && fmus.iter().any(|fmu| fmu.cpu().is_none()) {
        let alone = pool_on(&host.without_processes());
        for (cpu, taken) in pool.iter().zip(&alone).filter(|(cpu, taken)| cpu != taken) {
            let who = host.processes_on(*taken);
            if !who.is_empty() {
                let uses = if who.len() == 1 { "uses" } else { "use" };
                findings.note(format!("{} {uses} core {taken}, so this run uses core {cpu}", who.join(" and ")));
            }
        }
    }
    let mut turn = pool.iter().cycle();
    let mut core_of = |described: &DescribedFmu| match described.cpu() {
        Some(cpu) => {
            check(rig, cpu, &usable, "cpu", findings);
            cpu.value
        }
        None => *turn.next().expect("the pool is never empty"),
    };
    fmus.iter().map(&mut core_of).collect()
}

fn check(rig: &Rig, cpu: &At<usize>, usable: &[usize], key: &str, findings: &mut Findings) {
    if usable.contains(&cpu.value) {
        return;
    }
    let known: Vec<String> = usable.iter().map(usize::to_string).collect();
    let message = format!(
        "{key}: core {} does not exist on this machine or is not open to this process; usable are {}",
        cpu.value,
        known.join(", ")
    );
    // In virtual time cores mean nothing: a rig for a larger machine can be tried anywhere.
    if rig.mode == Mode::Virtual { findings.note(message) } else { findings.rig(cpu.place, message) }
}

/// Variables of the environment that are read when a process begins, and have no effect on FMUs of a rig.
pub(super) fn without_effect(rig: &Rig, findings: &mut Findings) {
    let is_read_before =
        |name: &str| name.starts_with("LD_") || name.starts_with("MALLOC_") || name == "GLIBC_TUNABLES";
    for fmu in &rig.fmus {
        for (name, _) in fmu.env.iter().filter(|(name, _)| is_read_before(&name.value)) {
            let (fmu, name) = (&fmu.name.value, &name.value);
            findings.note(format!(
                "fmu `{fmu}`: {name} in env has no effect, as it is read when a process begins: set it for vecud, or for its daemon, itself"
            ));
        }
    }
}

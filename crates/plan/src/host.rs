//! The machine: what a plan has to know of it, which core runs which FMU, and how the runner's process is set up.

use super::described::DescribedFmu;
use super::findings::Findings;
use super::priorities::Order;
use super::schedulability::HostFigures;
use super::{HostPlan, Mode, RunningRig};
use crate::rig::{At, Rig};
use std::collections::BTreeSet;
use vecud_base::priority::FifoPriority;

/// What a plan has to know of the machine.
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

    /// The cores of a rig that names none: the isolated ones that nobody has, else the last one that nobody has, else the one
    /// of which others have least.
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

/// The core of each FMU, on which all of its partitions run (semantics S6). FMUs without `cpu` take the rig's cores in turn, first those
/// of which others have least.
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

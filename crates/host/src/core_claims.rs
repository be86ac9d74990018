//! Runs in real time of other processes of this machine: they are seen by the cores that they claim, and a run that is about to begin
//! takes others, as sessions of one process do (semantics S26).
//!
//! Claims of others are not trusted: they move a rig to another core, but neither refuse it nor take priorities from it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use vecud_linux::core_claims::{CoreClaim, claimed};
use vecud_plan::{HostFacts, Mode, Plan, RunningRig, RunningThread};

/// The environment variable with the name under which runs see each other; empty: they do not.
const NAME: &str = "VECUD_CORES";
/// The name for rigs without one.
const MACHINE: &str = "machine";

/// The cores that a run has claimed, for all that know of the run.
#[derive(Clone, Debug, Default)]
pub struct Claims(Arc<Mutex<Vec<CoreClaim>>>);

impl Claims {
    /// The run is over.
    pub fn release(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The runs of other processes, by the cores that this one may use.
pub fn others(facts: &HostFacts) -> Vec<RunningRig> {
    let Some(name) = name() else { return Vec::new() };
    let cpus: BTreeSet<usize> = facts.allowed_cpus.iter().chain(&facts.isolated_cpus).copied().collect();
    let mut rigs: Vec<RunningRig> = Vec::new();
    for (cpu, process) in cpus.into_iter().flat_map(|cpu| claimed(&name, cpu).into_iter().map(move |own| (cpu, own))) {
        let thread = RunningThread { cpu, fifo: None, is_task: true };
        match rigs.iter_mut().find(|rig| rig.process == Some(process)) {
            Some(rig) => rig.threads.push(thread),
            None => rigs.push(RunningRig { process: Some(process), threads: vec![thread], ..RunningRig::default() }),
        }
    }
    rigs
}

/// Claims the cores of a plan in real time, and tells whether somebody has claimed one meanwhile on which the plan counts nobody
/// (`facts`).
pub fn take(plan: &Plan, facts: &HostFacts) -> (Claims, bool) {
    let Some(name) = name().filter(|_| plan.mode == Mode::RealTime) else { return (Claims::default(), false) };
    let cpus: BTreeSet<usize> = plan.cores().into_iter().collect();
    // Where there is no such socket nobody sees anybody, and no line has room for more than can be told.
    let claims: Vec<CoreClaim> =
        cpus.into_iter().filter_map(|cpu| CoreClaim::take(&name, cpu).ok().flatten()).collect();
    let is_new =
        |claim: &CoreClaim| !claim.is_first() && !facts.beside.iter().any(|rig| rig.cores().contains(&claim.cpu()));
    let is_shared = claims.iter().any(is_new);
    (Claims(Arc::new(Mutex::new(claims))), is_shared)
}

fn name() -> Option<String> {
    let name = std::env::var_os(NAME).map_or_else(|| MACHINE.to_owned(), |name| name.to_string_lossy().into_owned());
    Some(name).filter(|name| !name.is_empty())
}

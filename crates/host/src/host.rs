//! Resources of this machine for sessions: cores, and FIFO priorities, which are found by trying.

use super::Error;
use std::collections::BTreeSet;
use vecud_base::priority::FifoPriority;
use vecud_linux::{SysError, affinity, memory, scheduling};
use vecud_plan::{FifoReach, HostFacts, Plan, RunningRig};

/// Cores and FIFO priorities for a session, with the shares of other sessions.
#[derive(Clone, Debug)]
pub struct HostResources {
    /// Cores that threads of this process may run on.
    pub cpus: BTreeSet<usize>,
    /// Cores that the kernel keeps free of other work, whatever the process's affinity mask says.
    pub isolated: BTreeSet<usize>,
    /// The FIFO priorities that are granted.
    pub fifo: FifoReach,
    /// Rigs that run already.
    beside: Vec<RunningRig>,
    /// Reason why the highest tried priority is refused.
    refused: Option<SysError>,
}

impl HostResources {
    /// Determines the cores and FIFO priorities, up to `highest`, of a thread started here; `None`: virtual time, which
    /// needs no priority.
    pub fn look(highest: Option<FifoPriority>) -> Result<HostResources, Error> {
        let cpus = affinity::allowed_cpus().map_err(|error| Error::System(error.to_string()))?;
        let (granted, refused) = highest.map_or((None, None), |highest| scheduling::highest_fifo(highest.get()));
        let fifo = match (&refused, granted.and_then(FifoPriority::new)) {
            (None, _) => FifoReach::All,
            (Some(_), Some(highest)) => FifoReach::UpTo(highest),
            (Some(_), None) => FifoReach::Nothing,
        };
        Ok(HostResources { cpus, isolated: affinity::isolated_cpus(), fifo, beside: Vec::new(), refused })
    }

    /// Adds a running rig, which keeps its resources.
    pub fn beside(mut self, rig: RunningRig) -> HostResources {
        self.beside.push(rig);
        self
    }

    /// Facts for making a plan.
    pub fn facts(&self) -> HostFacts {
        HostFacts {
            allowed_cpus: self.cpus.iter().copied().collect(),
            isolated_cpus: self.isolated.iter().copied().collect(),
            fifo: self.fifo,
            beside: self.beside.clone(),
        }
    }

    /// Describes how the partitions of a plan would be scheduled, and whether memory can be locked.
    pub fn lines(&self, plan: &Plan) -> [String; 2] {
        [self.scheduling(plan), memory_text(plan)]
    }

    fn scheduling(&self, plan: &Plan) -> String {
        let used = || plan.tasks.iter().map(|task| task.fifo.get());
        let (low, high) = (used().min().unwrap_or(0), used().max().unwrap_or(0));
        let asked = format!("{} to {}", plan.host.fifo_asked.0.get(), plan.host.fifo_asked.1.get());
        let why = self.refused.as_ref().map_or_else(String::new, |error| format!("{}; {}", error.cause(), error.fix));
        match (self.fifo, &plan.host.cooperative) {
            (FifoReach::All, _) => format!("SCHED_FIFO {low} to {high} of {asked}"),
            (FifoReach::UpTo(highest), None) => format!(
                "SCHED_FIFO {low} to {high}, since it ends at {} and the rig asks for {asked}: {why}",
                highest.get()
            ),
            (FifoReach::UpTo(highest), Some(reason)) => {
                format!("cooperative, since SCHED_FIFO ends at {} and {reason}: {why}", highest.get())
            }
            (FifoReach::Nothing, _) => format!("cooperative, without SCHED_FIFO: {why}"),
        }
    }
}

fn memory_text(plan: &Plan) -> String {
    match (plan.host.lock_memory, memory::limit_that_counts()) {
        (false, _) => "memory stays unlocked: lock_memory = false in the rig".to_owned(),
        (true, None) => "memory can be locked".to_owned(),
        (true, Some((limit, _))) => {
            format!("memory can be locked up to {} KiB (RLIMIT_MEMLOCK): {}", limit / 1024, memory::memlock_fix())
        }
    }
}

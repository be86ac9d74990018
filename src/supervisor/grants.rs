//! What this machine gives this user, found by trying: for the plan, and in two lines for `vecud check`.

use crate::plan::{FifoReach, Plan};
use crate::priority::FifoPriority;
use crate::sys::{SysError, memory, scheduling};

/// How far FIFO priorities go, up to the highest that a rig asks for, and the refusal where that is not far enough.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    /// For the plan.
    pub fifo: FifoReach,
    /// Of the highest priority that the rig asks for.
    refused: Option<SysError>,
}

impl Grants {
    /// Tries.
    pub fn try_up_to(asked: FifoPriority) -> Grants {
        let (highest, refused) = scheduling::highest_fifo(asked.get());
        let fifo = match (&refused, highest.and_then(FifoPriority::new)) {
            (None, _) => FifoReach::All,
            (Some(_), Some(highest)) => FifoReach::UpTo(highest),
            (Some(_), None) => FifoReach::Nothing,
        };
        Grants { fifo, refused }
    }

    /// Two lines: how partitions would be scheduled, and what becomes of memory.
    pub fn text(&self, plan: &Plan) -> String {
        format!("\nThis machine, for this user\n  {}\n  {}\n", self.scheduling(plan), memory_text(plan))
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

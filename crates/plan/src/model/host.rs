//! The settings of the runner's process.

use super::HostFigures;
use crate::rig::HostClock;
use serde::{Deserialize, Serialize};
use vecud_base::priority::FifoPriority;
use vecud_base::time::Nanos;

/// The settings of the runner's process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostPlan {
    /// FIFO priorities that partitions use: lowest and highest. Below those of the rig where this process does not get them.
    pub fifo_band: (FifoPriority, FifoPriority),
    /// FIFO priorities of the rig.
    pub fifo_asked: (FifoPriority, FifoPriority),
    /// Why the few priorities that this process gets are of no use, so that partitions run in turns (semantics S8).
    pub cooperative: Option<String>,
    /// The cores of its tasks are the rig's alone, among those of a daemon.
    pub exclusive: bool,
    /// Whether memory is locked.
    pub lock_memory: bool,
    /// The clock of releases.
    pub clock: HostClock,
    /// Time before a release at which its thread wakes up and begins to poll the clock; 0: the thread sleeps until the
    /// release.
    pub spin: Nanos,
    /// The start of the run, counted from a whole 10 ms of the clock of releases.
    pub phase: Nanos,
    /// KiB of a partition thread's stack that are locked and touched before the start.
    pub stack_kib: usize,
    /// Memory of its own that the runner may have, MiB; `None`: three quarters of the machine's.
    pub memory_limit_mib: Option<u64>,
    /// The limit of prints and log of FMU code together, MiB.
    pub log_limit_mib: u64,
    /// Variables of the environment that the process has before any library is loaded, beside those that it inherits.
    pub environment: Vec<(String, String)>,
    /// The rig's figures for the host, if it has them.
    pub figures: HostFigures,
}

impl HostPlan {
    /// The largest size of `run.log`, and of its older part, in bytes: together they are the rig's limit.
    pub fn log_file_limit(&self) -> u64 {
        (self.log_limit_mib << 20) / 2
    }
}

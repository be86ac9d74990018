//! The facts of a run that are not in its shared memory: with them that memory becomes its report.

use super::hangs::Hangs;
use super::machine::Machine;
use super::memory::Memory;
use super::offspring::Left;
use super::process::Killed;
use super::stimuli::Fault;
use super::threads::ThreadWatcher;
use super::under_way::OngoingActivation;
use std::process::ExitStatus;
use std::time::SystemTime;
use vecud_plan::UnitId;
use vecud_record::board::Phase;
use vecud_report::{CoreCounts, DoctorResult, Pauses};

/// The facts of a run that are not in its shared memory.
pub struct RunFacts {
    /// The run goes on: how it ends, nobody knows yet.
    pub goes_on: bool,
    /// What FMUs log is in `run.log`.
    pub has_run_log: bool,
    /// How the runner's process ended.
    pub status: ExitStatus,
    /// Why we have ended it, if we have.
    pub killed: Option<Killed>,
    /// When the run began.
    pub started: SystemTime,
    /// The load of the machine before that.
    pub load_at_start: Option<[f64; 3]>,
    /// What doctor said of it then.
    pub doctor: Option<DoctorResult>,
    /// When the runner was seen to have ended, CLOCK_MONOTONIC in ns.
    pub gone: i64,
    /// How far it was then.
    pub phase: Phase,
    /// Whether offences against the standard fail the run.
    pub strict: bool,
    /// Samples that came after their row.
    pub late_samples: u64,
    /// For each task that datagrams activate: how many of them the kernel has thrown away.
    pub dropped: Vec<(UnitId, u64)>,
    /// When the run has paused.
    pub pauses: Pauses,
    /// With several runs: which it is.
    pub repetition: Option<u32>,
    /// For each stimulus: what is wrong with its file.
    pub stimuli: Vec<Fault>,
    /// The machine.
    pub machine: Machine,
    /// What the kernel counted for the cores of partitions.
    pub cores: Vec<CoreCounts>,
    /// What has become of the runner's threads.
    pub threads: ThreadWatcher,
    /// What was seen of activations that did not return.
    pub hangs: Hangs,
    /// For each task: the activation that had not returned when the run was over, which has ended because of that.
    pub unreturned: Vec<Option<OngoingActivation>>,
    /// Who has said how long a call may take.
    pub call_limit: &'static str,
    /// Processes that FMU code has left behind.
    pub left: Vec<Left>,
    /// The runner's memory.
    pub memory: Memory,
    /// Whether all of them could be ended.
    pub none_left: bool,
}

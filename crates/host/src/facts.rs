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
    /// Whether the run continues: its end is unknown.
    pub run_continues: bool,
    /// Whether messages of FMUs are in `run.log`.
    pub has_run_log: bool,
    /// Exit status of the runner's process.
    pub exit_status: ExitStatus,
    /// Reason why the supervisor ended the runner, if it did.
    pub killed: Option<Killed>,
    /// Start of the run.
    pub started: SystemTime,
    /// Load of the machine before the start.
    pub load_at_start: Option<[f64; 3]>,
    /// Result of doctor at that time.
    pub doctor: Option<DoctorResult>,
    /// Time at which the runner was seen to have ended, CLOCK_MONOTONIC in ns.
    pub runner_ended: i64,
    /// Phase of the runner at that time.
    pub phase: Phase,
    /// Whether offences against the standard fail the run.
    pub strict: bool,
    /// Number of samples that arrived after their row was written.
    pub late_samples: u64,
    /// Number of datagrams that the kernel dropped, for each task that datagrams activate.
    pub dropped_datagrams: Vec<(UnitId, u64)>,
    /// Pauses of the run.
    pub pauses: Pauses,
    /// Number of this run among several.
    pub repetition: Option<u32>,
    /// Faults of the stimulus files, for each stimulus.
    pub stimulus_faults: Vec<Fault>,
    /// The machine.
    pub machine: Machine,
    /// Kernel counters for the cores of partitions.
    pub core_counts: Vec<CoreCounts>,
    /// Observations of the runner's threads.
    pub threads: ThreadWatcher,
    /// Observations of activations that did not return.
    pub hangs: Hangs,
    /// For each task: the activation that had not returned at the end of the run, and ended because of it.
    pub unreturned: Vec<Option<OngoingActivation>>,
    /// Origin of the time limit for calls.
    pub call_limit: &'static str,
    /// Processes left behind by FMU code.
    pub left_processes: Vec<Left>,
    /// The runner's memory.
    pub memory: Memory,
    /// Whether all processes left behind could be ended.
    pub left_processes_ended: bool,
}

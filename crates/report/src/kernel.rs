//! The kernel's data on a run: counts for the cores of partitions, and its own trace.

use super::layout::{a_line_each, is_default};
use serde::{Deserialize, Serialize};

/// Kernel counts for a core during the run; in `report.json` in this form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreCounts {
    /// The number of the core.
    pub cpu: usize,
    /// Interrupts by their source, the most frequent first: a device's name, or the kernel's letters (`LOC`, `RES`).
    #[serde(serialize_with = "a_line_each")]
    pub interrupts: Vec<Served>,
    /// Softirqs by their kind, the most frequent first: `TIMER`, `NET_RX`.
    #[serde(serialize_with = "a_line_each")]
    pub softirqs: Vec<Served>,
    /// Time in which a hypervisor had the core although somebody here wanted it, ms, in steps of 10; `None`: not known.
    pub steal_ms: Option<u64>,
    /// System management interrupts, in which firmware has the core; `None`: the processor does not say (MSR 0x34).
    pub smis: Option<u64>,
    /// Number of times that the processor was slowed down because of heat or power; `None`: it does not say.
    pub throttled: Option<u64>,
}

/// Something that a core has served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// Name of the source.
    pub name: String,
    /// Number of occurrences.
    pub count: u64,
}

/// The kernel's own trace of a run (`[trace] kernel = true`); in `report.json` as it is here. Instants are those of
/// CLOCK_MONOTONIC, ns, which is the clock of that trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelTrace {
    /// The name of the file in the output folder; `None`: nothing was kept.
    pub file: Option<String>,
    /// Reason for the end of the trace, or for the missing file.
    pub why: String,
    /// Time of an exceeded limit; `None`: none was exceeded, or the time is not known.
    pub incident_monotonic_ns: Option<i64>,
    /// Time at which the kernel's trace was stopped.
    pub stopped_monotonic_ns: Option<i64>,
    /// The first and the last event in the file.
    pub from_monotonic_ns: Option<i64>,
    /// (continued)
    pub to_monotonic_ns: Option<i64>,
    /// Events that the kernel lost in the interval of the file.
    pub lost: u64,
}

/// Something that ran on a core in the stretch of an activation, as the kernel's trace has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelWork {
    /// The kind of work: `softirq NET_RX`, `interrupt eth0`, `thread kworker/1:0`, or `idle`.
    pub what: String,
    /// Time that it had the core, ns, to the microsecond.
    pub ns: u64,
    /// The thread is one of the rig's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rig: bool,
}

//! A finished run as data. Everything that the report shows is in here.

use super::causes::{Causes, PartsResult};
use super::end::{End, Ended, FmuStatus};
use super::layout::{is_default, on_one_line};
use super::step_counts::StepCounts;
use super::stimuli::first_starved;
use super::words::word;
use super::{
    CoreCounts, Distribution, DoctorResult, FindingResult, Kind, Pauses, Problem, Schedulability, Subject, TraceResult,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use vecud_base::priority::{FifoPriority, FmiPriority};
use vecud_plan::{Interpolation, Mode, SignalPlan, TaskKind};
pub use vecud_record::board::Scheduling;
use vecud_record::recording::envelope::Overview;
use vecud_record::recording::series::Files;

/// A finished run.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "the fields of a report")]
pub struct Run {
    /// Name of the rig.
    pub rig: String,
    /// Version of vecud.
    pub version: String,
    /// Mode of the run: real time or virtual time.
    #[serde(with = "word")]
    pub mode: Mode,
    /// The command line that started it, its program first; empty: it is not known, or another program's session.
    #[serde(default)]
    pub command: Vec<String>,
    /// Start of the run: RFC 3339, UTC.
    pub started: String,
    /// The common start instant, CLOCK_MONOTONIC, ns: to lay a kernel trace beside the run. 0: it never started.
    pub start_monotonic_ns: i64,
    /// Simulation time reached, s.
    pub start_time: f64,
    /// Simulation time at which it ended, s.
    pub end_time: f64,
    /// Wall-clock time of the run itself, s.
    pub wall_seconds: f64,
    /// Cause of the end.
    #[serde(with = "word")]
    pub end: End,
    /// Whether it has ended.
    #[serde(default, with = "word")]
    pub ended: Ended,
    /// Problems, most important first; empty if all is well.
    pub problems: Vec<Problem>,
    /// Notes for the user that are no problems.
    pub notes: Vec<String>,
    /// Pauses of the run.
    #[serde(default)]
    pub pauses: Pauses,
    /// The machine.
    pub host: HostResult,
    /// The instances, in rig order.
    pub fmus: Vec<FmuResult>,
    /// The clocks, in merged order.
    pub clocks: Vec<ClockResult>,
    /// The connections of variables, in rig order.
    #[serde(default)]
    pub connections: Vec<ConnectionResult>,
    /// Whether it recorded what virtual time would have.
    pub promise: PromiseResult,
    /// The stimuli, in rig order.
    #[serde(default)]
    pub stimuli: Vec<StimulusResult>,
    /// With `--repeat`: the number of the run, counted from 1.
    pub repetition: Option<u32>,
    /// Samples that could not be recorded.
    pub samples_dropped: u64,
    /// Log messages that could not be kept.
    pub log_dropped: u64,
    /// Number of rotations of `run.log`; only the previous file is kept, as `run-earlier.log`.
    #[serde(default)]
    pub log_rotations: u64,
    /// The trace: a timeline of the tasks.
    #[serde(default)]
    pub trace: TraceResult,
    /// The recorded columns.
    #[serde(default)]
    pub signals: Vec<SignalResult>,
    /// The files of the recording, for each format.
    #[serde(default)]
    pub recordings: Vec<Files>,
    /// Overview of the recording for drawing; `None`: nothing is drawn. Not in `report.json`: the recording has it.
    #[serde(skip)]
    pub overview: Option<Overview>,
}

impl Run {
    /// The report of a run that has not ended, or whose end is unknown: its only failure says so.
    pub fn unfinished(self, goes_on: bool) -> Run {
        let ended = if goes_on { Ended::Running } else { Ended::CutOff };
        let kind = Kind::Unfinished { goes_on, after_s: self.wall_seconds };
        let mut problems = vec![Problem::failure(Subject::Run, kind)];
        // A report says it already, as it was then.
        problems.extend(self.problems.into_iter().filter(|own| !matches!(own.kind, Kind::Unfinished { .. })));
        Run { ended, end: End::Failure, problems, ..self }
    }

    /// Whether it has FMUs that make steps (Co-Simulation, Model Exchange).
    pub fn has_steps(&self) -> bool {
        self.clocks.iter().any(|clock| clock.kind.makes_steps())
    }
}

/// A recorded column; in `report.json` as it is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalResult {
    /// `fmu.variable`, with the element of an array.
    pub name: String,
    /// The unit of its values; empty: it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// The type of its values, as FMI 3.0 calls it; empty: the report is older than that.
    #[serde(default, rename = "type", skip_serializing_if = "String::is_empty")]
    pub variable_type: String,
}

impl SignalResult {
    /// A column of a plan.
    pub fn of(signal: &SignalPlan) -> SignalResult {
        let variable_type = signal.variable_type.name().to_owned();
        SignalResult { name: signal.name.clone(), unit: signal.unit.clone(), variable_type }
    }
}

/// Result of a stimulus; in `report.json` in this form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StimulusResult {
    /// The file of the stimulus.
    pub file: String,
    /// The interpolation between two rows.
    #[serde(with = "word")]
    pub interpolation: Interpolation,
    /// Columns that were used.
    pub columns: usize,
    /// Columns that were not.
    pub columns_left_out: usize,
    /// Rows that were read.
    pub rows: u64,
    /// Activations that came before their row was read, and got an older one.
    pub starved: u64,
    /// The first starved activation: clock and activation time, s.
    #[serde(default, with = "first_starved")]
    pub first_starved: Option<(String, f64)>,
}

/// Facts about the machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct HostResult {
    /// `uname -r -v`.
    pub kernel: String,
    /// The kernel is a PREEMPT_RT one.
    pub preempt_rt: bool,
    /// The scheduling of threads.
    #[serde(with = "word")]
    pub scheduling: Scheduling,
    /// FIFO priorities that the rig asks for: lowest and highest.
    pub fifo_band_asked: (FifoPriority, FifoPriority),
    /// FIFO priorities that partitions had; `None`: they had none.
    pub fifo_band_used: Option<(FifoPriority, FifoPriority)>,
    /// Whether all memory was locked.
    pub memory_locked: bool,
    /// Bytes of locked memory.
    pub memory_locked_bytes: u64,
    /// Bytes that were to be locked when the run began; 0: no locking was requested.
    pub memory_wanted_bytes: u64,
    /// The machine's memory that the process of the FMUs used while the run went on; `None`: it was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_over_time: Option<MemoryOverTime>,
    /// `/dev/cpu_dma_latency` was held at 0.
    pub dma_latency_held: bool,
    /// The clock that releases are instants of.
    pub clock: String,
    /// Time before each release in which its thread polled the clock instead of sleeping, µs.
    pub spin_us: f64,
    /// Model name of the processor.
    pub cpu_model: String,
    /// Cores online.
    pub cpus_online: usize,
    /// Cores isolated from the scheduler.
    pub isolated_cpus: Vec<usize>,
    /// Number of threads of the whole machine that wanted a core before the run began: means of 1, 5 and 15 minutes; `None`:
    /// unknown.
    #[serde(default)]
    pub load_at_start: Option<[f64; 3]>,
    /// Load average at the end of the run, including its own threads; for a run that was not [`Ended::Finished`], at
    /// the time of the report.
    #[serde(default)]
    pub load_at_end: Option<[f64; 3]>,
    /// Result of doctor; in real time only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doctor: Option<DoctorResult>,
    /// Further facts, in display order.
    pub facts: Vec<Fact>,
    /// The kernel's counters for each core of partitions while the run went on; empty in virtual time.
    #[serde(default)]
    pub cores: Vec<CoreCounts>,
}

/// Memory of the process of the FMUs (`VmRSS`), from the start of the run to its end.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct MemoryOverTime {
    /// Length of an interval, s.
    pub interval_s: f64,
    /// The most of each interval, KiB.
    pub resident_kib: Vec<u64>,
}

/// A fact about the machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Fact {
    /// Name of the fact.
    pub name: String,
    /// Value of the fact.
    pub value: String,
}

impl HostResult {
    /// Partitions ran below the priorities that the rig asks for.
    pub fn is_limited(&self) -> bool {
        // Partitions fill the band from its top.
        self.fifo_band_used.is_some_and(|(_, high)| high.get() < self.fifo_band_asked.1.get())
    }
}

/// Result of one instance.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FmuResult {
    /// Name in the rig.
    pub name: String,
    /// The path as the user named it.
    pub path: String,
    /// Final status of the instance.
    #[serde(with = "word")]
    pub status: FmuStatus,
    /// The preemption lock.
    pub lock: LockResult,
    /// Offences against the standard, one entry for each kind.
    pub findings: Vec<FindingResult>,
    /// The last log messages of the FMU, oldest first.
    pub log: Vec<String>,
    /// The functions of the FMU that were called: what took longest comes first, else what was called most.
    #[serde(default)]
    pub calls: Vec<CallResult>,
}

/// Figures of the calls of one function; in `report.json` in this form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// Name of the function in C, in the FMU's version of FMI.
    pub function: Cow<'static, str>,
    /// Number of calls, from the first instance of the FMU to the last.
    pub calls: u64,
    /// Duration of all calls; `None`: it was not measured.
    pub total_ns: Option<u64>,
}

/// The preemption lock of an instance.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct LockResult {
    /// Outermost acquisitions.
    pub acquisitions: u64,
    /// Locks taken again by their owner.
    pub nested: u64,
    /// Still held when a partition returned.
    pub leaked: u64,
    /// Unlocks without a lock.
    pub unbalanced: u64,
    /// Time from lock to unlock.
    pub hold: Distribution,
    /// Time from the request to the acquisition, if another thread held the lock.
    pub wait: Distribution,
}

/// Result of one task: the partition of an input clock, or the steps of an FMU.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ClockResult {
    /// Name of the instance in the rig.
    pub fmu: String,
    /// Name of the clock, or of the task that makes steps.
    pub clock: String,
    /// The kind of the clock, or that it makes steps.
    #[serde(with = "word")]
    pub kind: TaskKind,
    /// Interval of a periodic clock, s.
    pub interval_s: Option<f64>,
    /// The source of its activations, for people: `every 10 ms`, `plant.crank_tooth`.
    pub activated_by: String,
    /// `priority` in the XML; `None`: a task without a clock.
    #[serde(deserialize_with = "Option::deserialize")] // one that is missing is an error
    pub fmi_priority: Option<FmiPriority>,
    /// The thread's; `None` when it did not run under SCHED_FIFO.
    pub fifo_priority: Option<FifoPriority>,
    /// The core that the task runs on.
    pub cpu: usize,
    /// Name of its thread.
    pub thread: String,
    /// Releases of a periodic clock from the start of the run to its end, from its grid alone: activations, skipped and discarded
    /// make this sum. `None`: the clock has no grid, or not all of them are of this run.
    #[serde(default)]
    pub releases: Option<u64>,
    /// Activations that ran.
    pub activations: u64,
    /// Releases (periodic) or ticks (others, full queue) that found the clock still busy.
    pub overruns: u64,
    /// Releases left out.
    pub skipped: u64,
    /// Ticks at the time of one pending or activated.
    pub coalesced: u64,
    /// Ticks that came too late for their time.
    pub retimed: u64,
    /// Ticks and releases that the end of the run has thrown away: they waited, had not begun, or had not returned.
    pub discarded: u64,
    /// Datagrams for a clock that they activate, in real time.
    #[serde(flatten, with = "counts_or_nulls")]
    pub datagrams: Option<DatagramCounts>,
    /// The counts of a task that makes steps; `None`: it makes none.
    #[serde(flatten)]
    pub steps: Option<StepCounts>,
    /// Limits of the rig, ns.
    pub max_latency: Option<u64>,
    /// Computed worst response, and the input of the computation.
    #[serde(flatten)]
    pub schedulability: Schedulability,
    /// Release → first instruction after the sleep.
    pub wakeup_latency: Distribution,
    /// Release → first FMI call.
    pub start_latency: Distribution,
    /// Change of the start interval against the release interval.
    pub start_jitter: Distribution,
    /// First FMI call → last get done, less preemption.
    pub execution: Distribution,
    /// Release → last get done.
    pub response: Distribution,
    /// Arrival of the datagram → first FMI call of its activation; of a clock that datagrams activate, in real time.
    pub arrival_latency: Option<Distribution>,
    /// The longest of both in the course of the run; in real time only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
    /// Parts of the response.
    #[serde(default, skip_serializing_if = "PartsResult::is_empty")]
    pub parts: PartsResult,
    /// Single activations, and the thread.
    #[serde(default, skip_serializing_if = "is_default")]
    pub causes: Causes,
}

impl ClockResult {
    /// The machine's part of the wake-up latencies: the whole latencies in a run that did not tell it from the rig's part.
    pub fn wakeup_machine(&self) -> &Distribution {
        match self.parts.wakeup_machine.is_empty() {
            true => &self.wakeup_latency,
            false => &self.parts.wakeup_machine,
        }
    }
}

/// The longest values of a clock in each interval of the run, ns, to a bucket's width; `None`: it had none there. In `report.json`
/// as it is here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverTime {
    /// Length of an interval, s; the first one begins when the run does, the last one may be shorter.
    pub interval_s: f64,
    /// The precision of its instants, s; 0: they are unknown, in older reports.
    #[serde(default)]
    pub resolution_s: f64,
    /// Release → first FMI call.
    #[serde(serialize_with = "on_one_line")]
    pub start_latency: Vec<Option<u64>>,
    /// Release → last get done.
    #[serde(serialize_with = "on_one_line")]
    pub response: Vec<Option<u64>>,
    /// The time within its interval of each of these start latencies.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_latency_peaks: Peaks,
    /// The time within its interval of each of these responses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub response_peaks: Peaks,
}

/// The time within its interval of each of the longest values. Empty where an interval is as short as the precision of instants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peaks {
    /// Time from the run's start to the begin of the instant of the longest value, s; the instant lasts for
    /// [`OverTime::resolution_s`].
    #[serde(serialize_with = "on_one_line")]
    pub at_s: Vec<Option<f64>>,
    /// The longest value of the rest of the interval, ns; `None`: there was no other.
    #[serde(serialize_with = "on_one_line")]
    pub otherwise: Vec<Option<u64>>,
}

/// Result of a connection; in `report.json` in this form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionResult {
    /// `fmu.variable` of the producer.
    pub from: String,
    /// `fmu.variable` of the consumer.
    pub to: String,
    /// `immediate` or `delayed`.
    pub timing: String,
    /// The meaning of the delay here, in words.
    pub delay: String,
    /// Values that were not there yet when they were to be seen.
    pub missed: u64,
    /// Values that were overwritten before they were seen.
    pub overwritten: u64,
}

/// Whether columns have the bytes that virtual time would record; in `report.json` as it is here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PromiseResult {
    /// Whether no value came too late for that.
    pub holds: bool,
    /// Number of columns that the promise covers.
    pub covered: usize,
    /// Number of all columns.
    pub columns: usize,
    /// Simulation time from which on they may differ, s; `None`: they do not, or nobody knows.
    pub until_s: Option<f64>,
    /// The late activation that broke it.
    pub broken_by: Option<String>,
}

/// Counts of the datagrams for a clock. Each datagram is in exactly one of: activations, overruns, discarded,
/// rate-limited, dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramCounts {
    /// Number of all datagrams.
    pub received: u64,
    /// Beyond the rig's `max_rate`.
    pub rate_limited: u64,
    /// Thrown away by the kernel, since they came faster than they were taken in.
    pub dropped: u64,
}

/// The counts of datagrams as `report.json` has them: of a clock that has none, each is null.
mod counts_or_nulls {
    use super::{DatagramCounts, Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Default, Deserialize, Serialize)]
    struct Counts {
        received: Option<u64>,
        rate_limited: Option<u64>,
        kernel_dropped: Option<u64>,
    }

    pub fn serialize<S: Serializer>(counts: &Option<DatagramCounts>, serializer: S) -> Result<S::Ok, S::Error> {
        let some = |&DatagramCounts { received, rate_limited, dropped }: &DatagramCounts| Counts {
            received: Some(received),
            rate_limited: Some(rate_limited),
            kernel_dropped: Some(dropped),
        };
        counts.as_ref().map(some).unwrap_or_default().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DatagramCounts>, D::Error> {
        let Counts { received, rate_limited, kernel_dropped } = Counts::deserialize(deserializer)?;
        Ok(received.map(|received| DatagramCounts {
            received,
            rate_limited: rate_limited.unwrap_or(0),
            dropped: kernel_dropped.unwrap_or(0),
        }))
    }
}

//! What a plan consists of.

use crate::fmu::description::{IntervalVariability, ValueReference, Values, VariableType};
use crate::priority::{FifoPriority, FmiPriority};
use crate::time::{Fraction, Instant, Nanos};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use crate::rig::{Limits, Mode, OnError, OnWarning, Overrun, Timing, TriggerTime};

/// Index into [`Plan::fmus`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FmuId(pub usize);

/// Index into [`Plan::tasks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskId(pub usize);

/// Index into [`Plan::connections`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ConnectionId(pub usize);

/// Index into [`Plan::signals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SignalId(pub usize);

/// Everything that a run needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the rig.
    pub rig: String,
    /// Who drives time.
    pub mode: Mode,
    /// Activations happen at times in [start, stop).
    pub start: Instant,
    /// `None`: until stopped.
    pub stop: Option<Instant>,
    /// What to do with the other FMUs when one fails.
    pub on_error: OnError,
    /// Where the activation time of a tick comes from.
    pub trigger_time: TriggerTime,
    /// How long an activation may take to return after the run was stopped.
    pub shutdown_timeout: Nanos,
    /// How the process is set up.
    pub host: HostPlan,
    /// The instances, in rig order.
    pub fmus: Vec<FmuPlan>,
    /// All instances in the order in which their initial outputs are read: an [`FmuPlan::initial_writes`] never takes
    /// its value from a later instance, nor from its own.
    pub initial_order: Vec<FmuId>,
    /// All tasks in merged order: most urgent first; ties in virtual time are broken by this order.
    pub tasks: Vec<TaskPlan>,
    /// All variable connections.
    pub connections: Vec<ConnectionPlan>,
    /// What is recorded, in column order.
    pub signals: Vec<SignalPlan>,
    /// What the user should know although the rig is valid.
    pub notes: Vec<String>,
}

/// How the runner's process is set up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostPlan {
    /// FIFO priorities that partitions may use: lowest and highest.
    pub fifo_band: (FifoPriority, FifoPriority),
    /// Whether memory is locked.
    pub lock_memory: bool,
    /// Busy-wait this long before a release.
    pub spin: Nanos,
    /// Stack of a partition thread, KiB.
    pub stack_kib: usize,
}

/// One instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FmuPlan {
    /// Name in the rig, and instance name.
    pub name: String,
    /// What the user named.
    pub path: PathBuf,
    /// The shared library.
    pub library: PathBuf,
    /// `resourcePath`: absolute, ending in `/`; `None` when the FMU has none.
    pub resources: Option<String>,
    /// `instantiationToken`.
    pub token: String,
    /// The core of all its partitions (design S6).
    pub cpu: usize,
    /// What a warning does.
    pub on_warning: OnWarning,
    /// All categories of `<LogCategories>`.
    pub log_categories: Vec<String>,
    /// Values to set in Instantiated, in document order: the rig's, where they differ from the XML.
    pub start_values: Vec<StartValue>,
    /// Variables to read in Initialization Mode for connections and recordings: those without clocks whose initial value
    /// the FMU computes or keeps.
    pub initial_reads: Vec<Batch>,
    /// Inputs without clocks to set in Initialization Mode, when their source has an initial value.
    pub initial_writes: Vec<Batch>,
    /// All output clocks.
    pub output_clocks: Vec<OutputClock>,
    /// Tasks of this instance whose clocks count down: their intervals are fetched at every clock update.
    pub countdowns: Vec<TaskId>,
    /// Number of different priorities among its tasks.
    pub levels: usize,
}

/// A value to set before initialisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartValue {
    /// Which variable.
    pub reference: ValueReference,
    /// Its name, for messages.
    pub name: String,
    /// Its type (enumerations are not integers).
    pub variable_type: VariableType,
    /// All its elements.
    pub values: Values,
}

/// An output clock and where its ticks go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputClock {
    /// Which variable.
    pub reference: ValueReference,
    /// Its name.
    pub name: String,
    /// The partitions that may tick it (its `clocks`); empty: not said.
    pub ticked_by: Vec<TaskId>,
    /// The tasks that it triggers, in this and in other FMUs, most urgent first.
    pub targets: Vec<TaskId>,
}

/// How a task comes to be activated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Release {
    /// At `start + shift + k · interval`.
    Periodic {
        /// First tick after the start of the run.
        shift: Fraction,
        /// Never zero.
        interval: Fraction,
    },
    /// At each tick of an output clock.
    Triggered {
        /// Whose clock.
        fmu: FmuId,
        /// Index into that FMU's [`FmuPlan::output_clocks`].
        output_clock: usize,
    },
    /// At listed times, strictly increasing.
    At(Vec<Instant>),
    /// When the FMU has armed it and the interval is over.
    Countdown,
    /// Nothing in the rig activates it.
    Never,
}

/// A task: the model partition of one input clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskPlan {
    /// Whose.
    pub fmu: FmuId,
    /// Name of the clock.
    pub clock: String,
    /// The clock's value reference.
    pub reference: ValueReference,
    /// The clock's kind in the XML.
    pub kind: IntervalVariability,
    /// What activates it.
    pub release: Release,
    /// The interval and shift to be written in Initialization Mode (fixed and tunable clocks).
    pub write_interval: bool,
    /// `fmi3GetIntervalFraction` may be used.
    pub supports_fraction: bool,
    /// As in the XML.
    pub fmi_priority: FmiPriority,
    /// Priority level within the instance: 0 is the most urgent, equal levels never preempt each other.
    pub level: usize,
    /// Priority of the thread.
    pub fifo: FifoPriority,
    /// The instance's core.
    pub cpu: usize,
    /// Name of the thread: at most 15 bytes, unique.
    pub thread: String,
    /// Overrun policy.
    pub overrun: Overrun,
    /// Limits.
    pub limits: Limits,
    /// Set before the activation: one entry per variable type.
    pub set: Vec<Batch>,
    /// Read after it: one entry per variable type.
    pub get: Vec<Batch>,
}

/// Variables of one type that travel in one FMI call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Their common type.
    pub variable_type: VariableType,
    /// In call order.
    pub items: Vec<BatchItem>,
}

/// One variable of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchItem {
    /// Which variable.
    pub reference: ValueReference,
    /// Its name.
    pub name: String,
    /// Number of elements; 1 for a scalar.
    pub elements: usize,
    /// For a variable that is set: where its value comes from. For one that is read: where it goes.
    pub connections: Vec<ConnectionId>,
    /// Recorded as these columns (one per element).
    pub signals: Vec<SignalId>,
}

/// One variable feeding one or more inputs: a producer's cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionPlan {
    /// `fmu.variable` of the producer.
    pub from: String,
    /// `fmu.variable` of the consumer.
    pub to: String,
    /// When it becomes visible.
    pub timing: Timing,
    /// Type on both sides.
    pub variable_type: VariableType,
    /// Number of elements; 1 for a scalar.
    pub elements: usize,
}

/// A recorded column: one scalar, or one element of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalPlan {
    /// Column header: `fmu.variable`, with `[i]` (1-based, row-major) for an element of an array.
    pub name: String,
    /// Type of its values.
    pub variable_type: VariableType,
    /// Value before it is first computed, as 64 bits (see `exchange`); `None`: it has none, the cell stays empty.
    pub start: Option<u64>,
}

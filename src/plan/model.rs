//! What a plan consists of.

use super::connections::conversion::Conversion;
use super::control;
use super::initialisation::InitialStep;
use super::masters::MasterPlan;
use super::schedulability::{Figures, HostFigures};
use crate::exchange::bytes;
use crate::fmu::description::{Abi, Interface, IntervalVariability, ValueReference, Values, VariableType};
use crate::priority::{FifoPriority, FmiPriority};
use crate::rig::{Rig, RigReport, RigTrace};
use crate::time::{Fraction, Instant, Nanos, TimeUnit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

pub use crate::rig::{
    Extrapolation, Format, GetIntervals, HostClock, Interpolation, Limits, MessageEncoding, Mode, OnError, OnNan,
    OnWarning, Overrun, Rotation, Rule, Solver, Timing, TraceMode, TriggerTime,
};

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
    /// Whether real time or virtual time passes.
    pub mode: Mode,
    /// Activations happen at times in [start, stop).
    pub start: Instant,
    /// `None`: until stopped.
    pub stop: Option<Instant>,
    /// What to do with the other FMUs when one fails.
    pub on_error: OnError,
    /// What happens when a number that is read from an FMU is none.
    pub nan: OnNan,
    /// Where the activation time of a tick comes from.
    pub trigger_time: TriggerTime,
    /// How long an activation may take to return after the run was stopped.
    pub shutdown_timeout: Nanos,
    /// How long a call may take that is no activation in real time; `None`: no limit.
    pub call_timeout: Option<Nanos>,
    /// How the process is set up.
    pub host: HostPlan,
    /// The instances, in rig order.
    pub fmus: Vec<FmuPlan>,
    /// How all instances are initialised, step by step: each enters once.
    pub initialisation: Vec<InitialStep>,
    /// All tasks in merged order: most urgent first; ties in virtual time are broken by this order.
    pub tasks: Vec<TaskPlan>,
    /// The groups of FMUs that make their steps together by an algorithm (`[master.NAME]`).
    pub masters: Vec<MasterPlan>,
    /// All variable connections.
    pub connections: Vec<ConnectionPlan>,
    /// Files that feed inputs and tick clocks, in the order of the rig.
    pub stimuli: Vec<StimulusPlan>,
    /// When the inputs of an FMU that is simulated by itself jump, or change something discrete, in the order of time: its steps end
    /// there where they may.
    pub input_events: Vec<Instant>,
    /// What is recorded, in column order.
    pub signals: Vec<SignalPlan>,
    /// What is read like that for whoever looks on, and not recorded: columns whose numbers come after those that are. Empty unless the
    /// run can be controlled.
    pub watched: Vec<SignalPlan>,
    /// What the files are that they are recorded in.
    pub formats: Vec<Format>,
    /// When the recording goes on in further ones.
    pub rotation: Rotation,
    /// Where external events come from, in the order of the rig's triggers.
    pub datagrams: Vec<DatagramSource>,
    /// What whoever controls the run may tick; empty unless it can be controlled.
    pub requests: Vec<RequestedClock>,
    /// The thread that receives datagrams; `None`: there are no datagrams, or time is virtual.
    pub receiver: Option<ReceiverPlan>,
    /// What is kept of a run, beside what it records.
    pub report: RigReport,
    /// What is kept of who ran when.
    pub trace: TracePlan,
    /// What the user should know although the rig is valid.
    pub notes: Vec<String>,
}

impl Plan {
    /// The tasks that `leader` does together with its own: of a group by a master by the names of their FMUs, on which the order of
    /// everything depends there.
    pub fn led_by(&self, leader: TaskId) -> Vec<TaskId> {
        let is_its = |other: &TaskId| self.tasks[other.0].leader() == Some(leader);
        let mut led: Vec<TaskId> = (0..self.tasks.len()).map(TaskId).filter(is_its).collect();
        if self.master_of(leader).is_some() {
            led.sort_by_key(|task| &self.fmus[self.tasks[task.0].fmu.0].name);
        }
        led
    }

    /// The group whose steps this task makes.
    pub fn master_of(&self, leader: TaskId) -> Option<&MasterPlan> {
        self.masters.iter().find(|master| master.leader == leader)
    }

    /// The name of a task among all of the rig, `fmu.name`.
    pub fn full_name(&self, task: &TaskPlan) -> String {
        format!("{}.{}", self.fmus[task.fmu.0].name, task.name)
    }

    /// A task in a sentence: `clock ecu.fast`, but `plant.step`, since steps have no clock.
    pub fn told_name(&self, task: &TaskPlan) -> String {
        let what = if task.clock().is_some() { "clock " } else { "" };
        what.to_owned() + &self.full_name(task)
    }

    /// The name of an input clock that ticks between steps among all of the rig, `fmu.clock`.
    pub fn clock_name(&self, StepClock { fmu, clock }: StepClock) -> String {
        let fmu = &self.fmus[fmu.0];
        format!("{}.{}", fmu.name, fmu.output_clocks[clock].name)
    }

    /// The core of each task.
    pub fn cores(&self) -> Vec<usize> {
        self.tasks.iter().map(|task| task.cpu).collect()
    }
}

/// How the runner's process is set up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostPlan {
    /// FIFO priorities that partitions use: lowest and highest. Not those that the rig asks for where this process does
    /// not get them.
    pub fifo_band: (FifoPriority, FifoPriority),
    /// FIFO priorities that the rig asks for.
    pub fifo_asked: (FifoPriority, FifoPriority),
    /// Why the few priorities that this process gets are of no use, so that partitions run in turns (semantics S8).
    pub cooperative: Option<String>,
    /// The cores of its tasks are the rig's alone, among those of a daemon.
    pub exclusive: bool,
    /// Whether memory is locked.
    pub lock_memory: bool,
    /// The clock of releases.
    pub clock: HostClock,
    /// How long before a release its thread wakes up and begins to look at the clock; 0: the thread sleeps until the
    /// release.
    pub spin: Nanos,
    /// The start of the run, counted from a whole 10 ms of the clock of releases.
    pub phase: Nanos,
    /// Stack of a partition thread, KiB.
    pub stack_kib: usize,
    /// Memory of its own that the runner may have, MiB; `None`: three quarters of the machine's.
    pub memory_limit_mib: Option<u64>,
    /// What FMU code may print and what may be logged, together, MiB.
    pub log_limit_mib: u64,
    /// The rig's figures for the host, if it has them.
    pub figures: HostFigures,
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
    /// The C interface that the library must speak.
    pub abi: Abi,
    /// `resourcePath`, absolute, ending in `/`; in the draft `resourceLocation`, a URI. `None` when the FMU has none.
    pub resources: Option<String>,
    /// `instantiationToken`.
    pub token: String,
    /// In what it counts time; everything in a plan is in seconds.
    pub time_unit: TimeUnit,
    /// The core of all its partitions (semantics S6).
    pub cpu: usize,
    /// What a warning does.
    pub on_warning: OnWarning,
    /// Structural parameters to set in Configuration Mode before anything else, in document order: the rig's.
    pub structural_values: Vec<StartValue>,
    /// Tunable structural parameters that sizes of arrays depend on; empty unless the run can be controlled.
    pub sizes: Vec<SizePlan>,
    /// What can be set while it runs; nothing unless the run can be controlled.
    pub control: ControlPlan,
    /// All categories of `<LogCategories>`.
    pub log_categories: Vec<String>,
    /// Values to set before Initialization Mode, or in it where [`StartValue::clocked`], in document order: the rig's.
    pub start_values: Vec<StartValue>,
    /// All output clocks; of array clocks all elements, one after the other in row-major order. Where events are handled
    /// between steps, its input clocks stand after them: those tick others too.
    pub output_clocks: Vec<OutputClock>,
    /// Number of different priorities among its tasks.
    pub levels: usize,
    /// The interface type that it runs with, and what only that has.
    pub interface: InterfacePlan,
    /// The relative tolerance that it is told for its own solver.
    pub tolerance: Option<f64>,
    /// `canGetAndSetFMUState`.
    pub can_get_and_set_state: bool,
    /// `canSerializeFMUState`.
    pub can_serialize_state: bool,
    /// What somebody wants to know of each call of its functions.
    pub watch: CallWatch,
    /// A serialised state of the FMU alone, which it is given after its initialisation; `None`: it stays as that has left it.
    pub initial_state: Option<Vec<u8>>,
    /// Its state at the end of the run is handed back, serialised.
    pub keeps_final_state: bool,
    /// At the end of the run its state is taken and given back, serialised where it can be, to see whether that works.
    pub tries_state: bool,
}

/// What is kept of the calls of an FMU's functions beside their number. By default nothing is, and nothing is spent on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWatch {
    /// How long they take, for each function.
    pub times: bool,
    /// A line of the log for each.
    pub logs: bool,
}

/// The interface type that an instance runs with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum InterfacePlan {
    /// `<ScheduledExecution>`.
    ScheduledExecution(ScheduledExecutionPlan),
    /// `<CoSimulation>`.
    CoSimulation(CoSimulationPlan),
    /// `<ModelExchange>`.
    ModelExchange(ModelExchangePlan),
}

/// What only an instance with Model Exchange has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelExchangePlan {
    /// Continuous states at the start, by the description.
    pub states: usize,
    /// Event indicators likewise.
    pub indicators: usize,
    /// What their numbers come from, while the run goes on; `None`: they stay as they are.
    pub resizable: Option<ResizableEquations>,
    /// It is told of each step of the solver that is complete (`needsCompletedIntegratorStep`).
    pub needs_completed_step: bool,
    /// What is known of how its derivatives depend on its states; `None`: any may depend on any.
    pub jacobian: Option<JacobianPlan>,
}

/// The lengths of variables whose elements are states and event indicators, by [`FmuPlan::sizes`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResizableEquations {
    /// Of each that is a state.
    pub states: Vec<Vec<Length>>,
    /// Of each that is an event indicator.
    pub indicators: Vec<Vec<Length>>,
}

impl ModelExchangePlan {
    /// How many states and event indicators there are with these [`FmuPlan::sizes`].
    pub fn numbers(&self, size: impl Fn(usize) -> u64) -> (usize, usize) {
        let count = |all: &[Vec<Length>]| all.iter().map(|lengths| control::elements(lengths, &size)).sum();
        match &self.resizable {
            Some(resizable) => (count(&resizable.states), count(&resizable.indicators)),
            None => (self.states, self.indicators),
        }
    }
}

/// How the derivatives of the states of an FMU depend on these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JacobianPlan {
    /// The FMU computes products with it (`providesDirectionalDerivatives`).
    pub is_provided: bool,
    /// The derivatives, in the order of the states, each with its number of elements.
    pub derivatives: Vec<(ValueReference, usize)>,
    /// The states likewise.
    pub states: Vec<(ValueReference, usize)>,
    /// Elements of derivatives and states, by their numbers, where one depends on the other: the places that may be other than 0.
    pub places: Vec<(usize, usize)>,
}

/// What only an instance with Scheduled Execution has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScheduledExecutionPlan {
    /// Tasks of this instance whose clocks count down: their intervals are fetched at every clock update.
    pub countdowns: Vec<TaskId>,
    /// Draft: intervals to set in Instantiated.
    pub draft_intervals: Vec<DraftIntervals>,
    /// Draft: what is read in the callback in which output clocks have ticked.
    pub on_ticks: Vec<OnTick>,
    /// Draft: whether the intervals of output clocks that have ticked are asked for.
    pub get_intervals: GetIntervals,
}

/// What only an instance with Co-Simulation has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoSimulationPlan {
    /// `eventModeUsed`.
    pub event_mode_used: bool,
    /// `earlyReturnAllowed`.
    pub early_return_allowed: bool,
    /// What is done in the midst of its steps; `None`: nothing.
    pub intermediate: Option<IntermediatePlan>,
}

/// What is done in the midst of the steps of an instance (intermediate update).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IntermediatePlan {
    /// Inputs that are on lines, which are set where the FMU asks for it: `Float64`, with their numbers of elements.
    pub inputs: Vec<(ValueReference, usize)>,
    /// What is read and recorded at the end of each internal step; no connection begins here.
    pub recorded: Vec<Batch>,
}

impl IntermediatePlan {
    /// `requiredIntermediateVariables`.
    pub fn variables(&self) -> Vec<ValueReference> {
        let read = self.recorded.iter().flat_map(|batch| &batch.items).map(|item| item.reference);
        self.inputs.iter().map(|(reference, _)| *reference).chain(read).collect()
    }
}

impl FmuPlan {
    /// The interface type that it runs with, as its model description names it.
    pub fn interface_type(&self) -> &'static str {
        self.runs_as().element()
    }

    /// The interface type that it runs with.
    pub fn runs_as(&self) -> Interface {
        match &self.interface {
            InterfacePlan::ScheduledExecution(_) => Interface::ScheduledExecution,
            InterfacePlan::CoSimulation(_) => Interface::CoSimulation,
            InterfacePlan::ModelExchange(_) => Interface::ModelExchange,
        }
    }

    /// What it has for Scheduled Execution; `None`: it runs with another interface type.
    pub fn scheduled_execution(&self) -> Option<&ScheduledExecutionPlan> {
        match &self.interface {
            InterfacePlan::ScheduledExecution(plan) => Some(plan),
            InterfacePlan::CoSimulation(_) | InterfacePlan::ModelExchange(_) => None,
        }
    }

    /// What it has for Model Exchange; `None`: it runs with another interface type.
    pub fn model_exchange(&self) -> Option<&ModelExchangePlan> {
        match &self.interface {
            InterfacePlan::ModelExchange(plan) => Some(plan),
            InterfacePlan::ScheduledExecution(_) | InterfacePlan::CoSimulation(_) => None,
        }
    }

    /// What is done in the midst of its steps.
    pub fn intermediate(&self) -> Option<&IntermediatePlan> {
        match &self.interface {
            InterfacePlan::ScheduledExecution(_) | InterfacePlan::ModelExchange(_) => None,
            InterfacePlan::CoSimulation(plan) => plan.intermediate.as_ref(),
        }
    }

    /// Whether recordings have rows at its internal steps.
    pub fn records_internal_steps(&self) -> bool {
        self.intermediate().is_some_and(|own| !own.recorded.is_empty())
    }

    /// The tasks of this instance whose clocks count down; see [`ScheduledExecutionPlan::countdowns`].
    pub fn countdowns(&self) -> &[TaskId] {
        self.scheduled_execution().map_or(&[], |plan| &plan.countdowns)
    }

    /// What is read when output clocks tick; see [`ScheduledExecutionPlan::on_ticks`].
    pub fn on_ticks(&self) -> &[OnTick] {
        self.scheduled_execution().map_or(&[], |plan| &plan.on_ticks)
    }
}

/// A parameter that says how long dimensions of arrays are, and that may change at run time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizePlan {
    /// The value reference of the parameter.
    pub reference: ValueReference,
    /// The value of the parameter at the start, which is also the largest that it may get: buffers are made for it.
    pub start: u64,
}

/// The length of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Length {
    /// Always this.
    Fixed(usize),
    /// The value of this entry of [`FmuPlan::sizes`].
    By(usize),
}

/// What can be set in an instance while it runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ControlPlan {
    /// Each by its place here.
    pub variables: Vec<ControlVariable>,
    /// The tasks that may set the variables, in groups.
    pub lanes: Vec<LanePlan>,
    /// Connected arrays whose size depends on [`FmuPlan::sizes`], which must not change it therefore.
    pub connected: Vec<(String, Vec<Length>)>,
    /// All names and aliases: the place among the variables, or why it cannot be set. For the supervisor only.
    #[serde(skip)]
    pub names: BTreeMap<String, Result<usize, String>>,
}

/// Tasks that may set the same variables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LanePlan {
    /// Never empty, most urgent first.
    pub tasks: Vec<TaskId>,
}

/// A variable that can be set while the instance runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlVariable {
    /// The variable's value reference.
    pub reference: ValueReference,
    /// The variable's name.
    pub name: String,
    /// The variable's type.
    pub variable_type: VariableType,
    /// The length of each dimension; empty for a scalar.
    pub lengths: Vec<Length>,
    /// Bytes that each string or binary may have; `None` for other types.
    pub bytes: Option<usize>,
    /// How it is set.
    pub kind: ControlKind,
    /// `min`; a single value.
    pub min: Option<Values>,
    /// `max`; a single value.
    pub max: Option<Values>,
    /// Values that an enumeration may have; empty: not said.
    pub items: Vec<i64>,
    /// Recorded as these columns (one per element, planned size).
    pub signals: Vec<SignalId>,
}

/// How a variable is set while the instance runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ControlKind {
    /// Before an activation of a task of this lane.
    Value {
        /// Index into [`ControlPlan::lanes`].
        lane: usize,
        /// A tunable parameter, on which intervals of tunable clocks may depend.
        tunable: bool,
        /// Its FMU handles events between steps, and takes it in Event Mode alone; the others are set in Step Mode.
        in_event_mode: bool,
    },
    /// In Reconfiguration Mode.
    Structural {
        /// The place of the parameter among [`FmuPlan::sizes`], if it is a size.
        size: Option<usize>,
    },
}

/// A value to set before initialisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartValue {
    /// The variable's value reference.
    pub reference: ValueReference,
    /// The variable's name, for messages.
    pub name: String,
    /// The variable's type (enumerations are not integers).
    pub variable_type: VariableType,
    /// All its elements.
    pub values: Values,
    /// The variable belongs to a clock, so it may be set in Initialization Mode and not before (FMI 3.0.2, 2.2.7.2 and
    /// 2.3.2).
    pub clocked: bool,
}

/// The intervals of a periodic clock of the draft that is not strict, where the rig changes or adds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DraftIntervals {
    /// The clock's value reference.
    pub reference: ValueReference,
    /// Set as fractions, since its description gives a resolution; else as decimals.
    pub fraction: bool,
    /// One for each element.
    pub intervals: Vec<Fraction>,
}

/// An output clock, or an element of one, and where its ticks go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputClock {
    /// The clock's value reference.
    pub reference: ValueReference,
    /// The clock's name, with `[i]` for an element.
    pub name: String,
    /// The clock ticks at no fixed interval, so in the draft each tick has a delay of its own.
    pub aperiodic: bool,
    /// The partitions that may tick it (its `clocks`); empty: not said.
    pub ticked_by: Vec<TaskId>,
    /// The tasks that it triggers, in this and in other FMUs, most urgent first.
    pub targets: Vec<TaskId>,
    /// The input clocks of FMUs that make steps which it triggers.
    pub clocks: Vec<StepClock>,
    /// It is an input clock of an FMU that makes steps, which ticks between two of them; `None`: it is an output clock.
    pub input: Option<StepClockPlan>,
}

/// An input clock of an FMU that makes steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepClock {
    /// The FMU.
    pub fmu: FmuId,
    /// Index into its [`FmuPlan::output_clocks`].
    pub clock: usize,
}

/// What is known of an input clock of an FMU that makes steps: it ticks in Event Mode (semantics S22).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepClockPlan {
    /// The clock.
    pub clock: InputClockPlan,
    /// What makes it tick.
    pub release: Release,
}

/// Variables that belong to an output clock, and are read while it is active.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnTick {
    /// Indices into [`FmuPlan::output_clocks`]: the clock, or the elements of an array clock, any of which counts.
    pub clocks: Vec<usize>,
    /// The variables.
    pub batch: Batch,
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
    /// At `start + shift + k · interval`, where the FMU says both in Initialization Mode: a fixed or tunable clock without
    /// `intervalDecimal`.
    Asked,
    /// First by the interval that the FMU says in Initialization Mode, then by the one that each activation says.
    Changing,
    /// At each tick of an output clock.
    Triggered {
        /// The instance that the output clock belongs to.
        fmu: FmuId,
        /// Index into that FMU's [`FmuPlan::output_clocks`].
        output_clock: usize,
    },
    /// At listed times, strictly increasing.
    At(Vec<Instant>),
    /// At each datagram that comes from outside.
    Datagram {
        /// Index into [`Plan::datagrams`].
        source: usize,
    },
    /// At each tick that a column of a stimulus has.
    Stimulus {
        /// Index into [`Plan::stimuli`].
        stimulus: usize,
        /// Index into [`StimulusPlan::ticks`].
        tick: usize,
    },
    /// When the FMU has armed it and the interval is over.
    Countdown,
    /// At each request of whoever controls the run, since nothing in the rig activates it ([`Plan::requests`]).
    Request,
    /// Nothing activates it.
    Never,
}

/// A clock that whoever controls the run may tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedClock {
    /// `fmu.clock`, with `[2]` behind it for an element of an array clock.
    pub name: String,
    /// The task that it activates, or that makes the steps of its FMU.
    pub task: TaskId,
    /// The clock itself, where it ticks between the steps of its FMU; `None`: it activates the task.
    pub clock: Option<StepClock>,
}

/// A socket whose datagrams tick a task, or a clock between steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatagramSource {
    /// The socket's address, for people: `udp 127.0.0.1:5005`. The supervisor makes the socket.
    pub name: String,
    /// What it ticks, or what makes the steps of the FMU whose clock it ticks.
    pub task: TaskId,
    /// The clock that it ticks between the steps of its FMU; `None`: it ticks the task itself.
    pub clock: Option<StepClock>,
    /// Events per second that are accepted, beyond a short burst.
    pub max_rate: f64,
}

/// The thread that receives datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverPlan {
    /// The core that the thread runs on.
    pub cpu: usize,
    /// The priority of the thread.
    pub fifo: FifoPriority,
}

/// A task: what the schedule releases. Nothing but [`TaskPlan::work`] depends on what kind of task it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskPlan {
    /// The instance that it belongs to.
    pub fmu: FmuId,
    /// Unique name within the instance: of a partition its clock's, with `[i]` for an element of an array clock.
    pub name: String,
    /// What it does when it is released.
    pub work: Work,
    /// What releases it.
    pub release: Release,
    /// The tasks that may tick a triggered clock, or arm a countdown clock; empty for other clocks.
    pub caused_by: Vec<TaskId>,
    /// `priority` of the clock that it belongs to; `None`: it belongs to none.
    pub urgency: Option<FmiPriority>,
    /// Priority level within the instance: 0 is the most urgent, equal levels never preempt each other.
    pub level: usize,
    /// Priority of the thread. Several levels of an instance may [share](super::priorities::shared) one.
    pub fifo: FifoPriority,
    /// The instance's core.
    pub cpu: usize,
    /// Name of the thread: at most 15 bytes, unique.
    pub thread: String,
    /// Overrun policy.
    pub overrun: Overrun,
    /// Limits.
    pub limits: Limits,
    /// The rig's figures, for [`super::schedulability`].
    pub figures: Figures,
    /// Set before the activation: one entry per variable type.
    pub set: Vec<Batch>,
    /// Read after it: one entry per variable type.
    pub get: Vec<Batch>,
    /// The recorded clocks that its activations may tick, its own first.
    pub ticks: Vec<RecordedClock>,
}

/// What a task does when it is released, with what only tasks of that kind have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Work {
    /// Activates a model partition (Scheduled Execution).
    Partition(InputClockPlan),
    /// Makes the steps of an FMU (Co-Simulation, Model Exchange).
    Step(StepPlan),
}

/// The steps of one FMU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepPlan {
    /// The task that makes these steps together with its own, since clocks connect the two FMUs (semantics S22): this one has
    /// neither a thread nor releases. `None`: it makes them itself.
    pub leader: Option<TaskId>,
    /// `canHandleVariableCommunicationStepSize`: what was missed is made up by one longer step, and the last one may be
    /// shorter.
    pub is_variable: bool,
    /// It belongs to a [`MasterPlan`], whose algorithm says who steps when.
    pub is_grouped: bool,
    /// Events are handled in Event Mode.
    pub handles_events: bool,
    /// An event, also one at the stop time, is recorded as two rows of its time, one from before and one from after it.
    pub rows_of_events: bool,
    /// One row is recorded for so many steps; above 0.
    pub steps_per_row: u32,
    /// `mightReturnEarlyFromDoStep`.
    pub may_return_early: bool,
    /// A step is taken back where another FMU of the same task has returned early, and made anew to where that has come
    /// (`canGetAndSetFMUState`).
    pub goes_back: bool,
    /// A step that is discarded is tried in parts: the FMU can vary its steps, and is as it was.
    pub retries: bool,
    /// `fixedInternalStepSize`, in the FMU's unit of time.
    pub internal_step: Option<f64>,
    /// What integrates the FMU over its steps; `None`: it does that itself (Co-Simulation).
    pub integration: Option<IntegrationPlan>,
}

/// How Model Exchange FMUs are integrated (semantics S25).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntegrationPlan {
    /// The method.
    pub solver: Solver,
    /// The step of a method with a fixed one.
    pub internal_step: Fraction,
    /// Relative; of a method that makes as many steps as it asks for.
    pub tolerance: f64,
    /// State events that are located within a step at most.
    pub max_events: u32,
}

/// One input clock, or one element of an array clock, whose model partition a task activates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputClockPlan {
    /// The clock's value reference.
    pub clock: ValueReference,
    /// `clockElementIndex`: 0 for a scalar, else the element's number from 1 in row-major order (draft).
    pub element: usize,
    /// The clock's kind in the XML.
    pub kind: IntervalVariability,
    /// The interval is written in Initialization Mode (fixed and tunable clocks).
    pub write_interval: bool,
    /// The shift, which is the rig's, is written in Initialization Mode.
    pub write_shift: bool,
    /// `fmi3GetIntervalFraction` and its kind may be used.
    pub supports_fraction: bool,
}

/// What a task is, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// The partition of a clock of this kind.
    Clock(IntervalVariability),
    /// The steps of an FMU.
    Step,
    /// The steps of several FMUs, as a master makes them.
    Group,
}

impl TaskKind {
    /// Whether it makes steps.
    pub fn makes_steps(self) -> bool {
        match self {
            TaskKind::Clock(_) => false,
            TaskKind::Step | TaskKind::Group => true,
        }
    }
}

impl TaskPlan {
    /// What it is.
    pub fn kind(&self) -> TaskKind {
        match &self.work {
            Work::Partition(partition) => TaskKind::Clock(partition.kind),
            Work::Step(step) if step.is_grouped && step.leader.is_none() => TaskKind::Group,
            Work::Step(_) => TaskKind::Step,
        }
    }

    /// Whether the rig sets it a limit that may be exceeded.
    pub fn has_limit(&self) -> bool {
        let Limits { max_latency, max_execution, max_overruns } = self.limits;
        max_latency.is_some() || max_execution.is_some() || max_overruns.is_some() || self.overrun == Overrun::Stop
    }

    /// The model partition that it activates; `None`: it is another kind of task.
    pub fn partition(&self) -> Option<&InputClockPlan> {
        match &self.work {
            Work::Partition(partition) => Some(partition),
            Work::Step(_) => None,
        }
    }

    /// The task that does its work together with its own; `None`: it does it itself.
    pub fn leader(&self) -> Option<TaskId> {
        match &self.work {
            Work::Step(step) => step.leader,
            Work::Partition(_) => None,
        }
    }

    /// Whether it makes steps.
    pub fn makes_steps(&self) -> bool {
        self.kind().makes_steps()
    }

    /// Whether the FMU whose steps it makes handles events in Event Mode.
    pub fn handles_events(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.handles_events)
    }

    /// Whether its FMU may be taken back to the beginning of a step by a state of its own.
    pub fn goes_back(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.goes_back)
    }

    /// Whether each event of its steps has rows of its own.
    pub fn shows_events(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.rows_of_events)
    }

    /// What integrates its FMU; `None`: it does not.
    pub fn integration(&self) -> Option<IntegrationPlan> {
        match &self.work {
            Work::Step(step) => step.integration,
            Work::Partition(_) => None,
        }
    }

    /// Whether it is released at other instants than its grid has: communication points where an event is, or where a step
    /// has returned early.
    pub fn leaves_its_grid(&self) -> bool {
        matches!(&self.work, Work::Step(step) if step.handles_events || step.may_return_early || step.is_grouped)
    }

    /// Whether what it does has no holes in time: what was missed is made up (semantics S21).
    pub fn is_contiguous(&self) -> bool {
        matches!(self.work, Work::Step(_))
    }

    /// The clock that it belongs to; `None`: it belongs to none.
    pub fn clock(&self) -> Option<ValueReference> {
        Some(self.partition()?.clock)
    }

    /// Whether it belongs to a clock of this kind.
    pub fn has_clock(&self, kind: IntervalVariability) -> bool {
        self.partition().is_some_and(|partition| partition.kind == kind)
    }
}

/// Variables of one type that travel in one FMI call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Their common type.
    pub variable_type: VariableType,
    /// In call order.
    pub items: Vec<BatchItem>,
    /// Given when the only item's size may change while the instance runs: the length of each of its dimensions.
    pub resizable: Option<Vec<Length>>,
    /// The variables, which are set, may be so in Event Mode alone: the host enters it where one of them has changed. Such that
    /// are read are so in Event Mode too.
    pub in_event_mode: bool,
    /// The output clocks to which alone the variables belong, by their places in [`FmuPlan::output_clocks`]: these
    /// variables are read after an activation in which one of them has ticked, and after no other; in Event Mode they are also
    /// set only then. Empty: after every activation.
    pub ticked: Vec<usize>,
}

/// One variable of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchItem {
    /// The variable's value reference.
    pub reference: ValueReference,
    /// The variable's name.
    pub name: String,
    /// Number of elements; 1 for a scalar.
    pub elements: usize,
    /// Bytes that an element may have, for strings and binaries; else 0.
    pub capacity: usize,
    /// For a variable that is set: where its elements come from. For one that is read: where they go.
    pub connections: Vec<ConnectionId>,
    /// For a variable that is set: the elements that stimuli feed.
    pub stimuli: Vec<FedElement>,
    /// For an array that is set of which connections feed parts: what the other elements keep, and what those start with
    /// whose source has no value yet. All its elements.
    pub start: Option<Values>,
    /// Recorded as these columns (one per element).
    pub signals: Vec<SignalId>,
}

/// A variable, or some of its elements, feeding as many elements of an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionPlan {
    /// `fmu.variable` of the producer, with the elements if not all are meant.
    pub from: String,
    /// `fmu.variable` of the consumer.
    pub to: String,
    /// When it becomes visible.
    pub timing: Timing,
    /// Both FMUs make their steps together, or are one that does: the value is there as soon as it is read, in the one order that
    /// there is.
    pub is_inside: bool,
    /// What a delayed connection needs; `None` for an immediate one.
    pub delay: Option<DelayPlan>,
    /// Type of the producer's variable.
    pub from_type: VariableType,
    /// Type of the consumer's variable; values travel as such.
    pub variable_type: VariableType,
    /// What happens to each element on its way.
    pub conversion: Conversion,
    /// The units between which it converts, as written; `None`: it does not.
    pub units: Option<(String, String)>,
    /// Number of elements; 1 for a scalar.
    pub elements: usize,
    /// The producer's elements, by row-major number from 0.
    pub from_elements: Vec<Range<usize>>,
    /// The consumer's elements, in the same order.
    pub to_elements: Vec<Range<usize>>,
    /// Bytes that an element may have, for strings and binaries; else 0. Longer values are not passed on.
    pub capacity: usize,
    /// What the input gets between two values. What is not held travels with its [derivatives](Extrapolation::orders).
    pub extrapolation: Extrapolation,
}

/// The tasks at the ends of a delayed connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayPlan {
    /// The tasks that publish.
    pub producers: Vec<ProducerPlan>,
    /// The tasks that read.
    pub consumers: Vec<TaskId>,
    /// All consumers are periodic and stay on their grids, so that only versions are kept which an instant of these
    /// selects.
    pub by_release: bool,
    /// What is read in Event Mode goes with a tick, and is visible at its very time; else a nanosecond later (semantics S20).
    pub with_tick: bool,
}

/// A producer of a delayed connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProducerPlan {
    /// The task that publishes.
    pub task: TaskId,
    /// How many of its versions are kept.
    pub versions: usize,
}

/// A recorded clock, or an element of one, in the samples of a task that may tick it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedClock {
    /// Its column: 1 where it has ticked.
    pub signal: SignalId,
    /// Index into [`FmuPlan::output_clocks`]; `None`: the clock of the task itself, which has ticked whenever the task is activated.
    pub output: Option<usize>,
}

/// A recorded column: one scalar, or one element of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalPlan {
    /// Column header: `fmu.variable`, with `[i]` (1-based, row-major) for an element of an array.
    pub name: String,
    /// Type of its values.
    pub variable_type: VariableType,
    /// Unit of its values, in which the FMU computes; empty: it has none.
    pub unit: String,
    /// Bytes that its values may have, of a string or binary; a longer value is not recorded. `None` for other types.
    pub capacity: Option<usize>,
    /// Value before it is first computed, as words: of a number one, of a string or binary as `exchange::bytes` has it. `None`: it
    /// has none, the cell stays empty.
    pub start: Option<Vec<u64>>,
    /// The rule by which samples are kept.
    pub rule: Rule,
}

impl Plan {
    /// The column of this number, recorded or watched.
    pub fn column(&self, signal: SignalId) -> &SignalPlan {
        self.signals.get(signal.0).unwrap_or_else(|| &self.watched[signal.0 - self.signals.len()])
    }

    /// All columns in the order of their numbers: those that are recorded, then those that are watched.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &SignalPlan> + use<'_> {
        (0..self.signals.len() + self.watched.len()).map(|place| self.column(SignalId(place)))
    }

    /// Whether a column is recorded, and not only watched.
    pub fn is_recorded(&self, signal: SignalId) -> bool {
        signal.0 < self.signals.len()
    }
}

impl SignalPlan {
    /// Words that a value takes among the samples.
    pub fn words(&self) -> usize {
        self.capacity.map_or(1, bytes::words)
    }

    /// Bytes of a value, given as words as [`SignalPlan::start`] has them, if it is longer than the room there is for it.
    pub fn too_long(&self, value: &[u64]) -> Option<u64> {
        let size = value.first().copied().filter(|size| *size != bytes::NOTHING)?;
        self.capacity.filter(|capacity| size > *capacity as u64).map(|_| size)
    }
}

/// A file whose rows feed inputs and tick clocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StimulusPlan {
    /// The file, for people.
    pub file: String,
    /// What inputs get between two rows.
    pub interpolation: Interpolation,
    /// Cells of a row, that of the time included.
    pub cells: usize,
    /// Columns whose values inputs get.
    pub values: Vec<FedValue>,
    /// Columns that tick clocks: those of tasks first, then those that tick between steps.
    pub ticks: Vec<FedClock>,
    /// Columns that feed nothing.
    pub left_out: usize,
    /// Rows that are read ahead at most: two seconds of them, as the first rows have it, within limits.
    pub rows: usize,
}

/// A column whose values an element of an input gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FedValue {
    /// The place of the column's cell in a row; the time is cell 0.
    pub cell: usize,
    /// Name of the column.
    pub column: String,
    /// `fmu.variable`, with the element of an array.
    pub to: String,
    /// The type of the input.
    pub variable_type: VariableType,
    /// Names and values of an enumeration's items.
    pub items: Vec<(String, i64)>,
    /// Bytes that a string or binary may have; `None` for numbers.
    pub capacity: Option<usize>,
    /// The place of its first word among those of a row.
    pub first: usize,
}

impl FedValue {
    /// Its words in a row: one of a number, those of a string or binary as they are exchanged.
    pub fn words(&self) -> Range<usize> {
        self.first..self.first + self.capacity.map_or(1, bytes::words)
    }
}

impl StimulusPlan {
    /// Words that the values of a row take.
    pub fn words(&self) -> usize {
        self.values.last().map_or(0, |last| last.words().end)
    }
}

/// A column that ticks a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FedClock {
    /// The place of the column's cell in a row; the time is cell 0.
    pub cell: usize,
    /// Name of the column.
    pub column: String,
    /// What it ticks, or what makes the steps of the FMU whose clock it ticks.
    pub task: TaskId,
    /// The clock that it ticks between the steps of its FMU; `None`: it ticks the task itself.
    pub clock: Option<StepClock>,
}

impl FedClock {
    /// So far ahead of every activation the ticks of a clock between steps have to be known, s: two steps, of which one is for what
    /// is lost by rounding. `None`: it ticks a task.
    pub fn ahead(&self, tasks: &[TaskPlan]) -> Option<f64> {
        let step = tasks[self.clock.and(Some(self.task))?.0].release.shortest_known()?;
        Some(2.0 * step.seconds())
    }
}

/// An element of an input that a stimulus feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FedElement {
    /// Index into [`crate::plan::Plan::stimuli`].
    pub stimulus: usize,
    /// Index into [`StimulusPlan::values`].
    pub value: usize,
    /// Row-major number of the element within its variable.
    pub element: usize,
}

/// How much of who ran when is kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePlan {
    /// How much.
    pub mode: TraceMode,
    /// How far the flight recorder reaches back.
    pub seconds: Nanos,
    /// So many incidents of each clock have a file.
    pub worst: usize,
    /// Bytes that a file may have.
    pub limit: u64,
    /// The kernel traces the cores of partitions as well; in real time only.
    pub kernel: bool,
}

impl TracePlan {
    /// The trace that the rig asks for. Virtual time is for speed, and has no overruns: what is not asked for is not traced
    /// there.
    pub(super) fn of(rig: &Rig) -> TracePlan {
        let default = match rig.mode {
            Mode::RealTime => TraceMode::Flight,
            Mode::Virtual => TraceMode::Off,
        };
        let mode = rig.trace.mode.unwrap_or(default);
        let RigTrace { seconds, worst, limit, kernel, .. } = rig.trace;
        TracePlan { mode, seconds, worst, limit, kernel: kernel && rig.mode == Mode::RealTime }
    }

    /// What is to be known of the kernel's trace that the rig asks for.
    pub(super) fn note(rig: &Rig, tasks: &[TaskPlan]) -> Option<&'static str> {
        match (rig.trace.kernel, rig.mode) {
            (false, _) => None,
            (true, Mode::Virtual) => Some("[trace] kernel = true: the kernel is traced in real time only"),
            (true, Mode::RealTime) if tasks.iter().any(TaskPlan::has_limit) => None,
            (true, Mode::RealTime) => Some(
                "[trace] kernel = true: no clock has a limit (max_latency_us, max_execution_us, max_overruns, overrun = \"stop\"), so \
                 nothing stops the kernel's trace, and the end of the run is kept",
            ),
        }
    }
}

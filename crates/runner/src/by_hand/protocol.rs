//! The messages between the two processes: frames, each a length of four bytes and that many bytes of `postcard`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use vecud_description::{Abi, Interface, ValueReference, Values, VariableType};

/// The first message to the process: the FMU of which it makes instances.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadRequest {
    /// `modelDescription.xml`.
    pub description: String,
    /// As which it is read.
    pub abi: Abi,
    /// The interface of its instances.
    pub interface: Interface,
    /// The shared library, as bytes.
    pub library: Vec<u8>,
    /// Paths of libraries that are loaded before it, as bytes.
    pub preload: Vec<Vec<u8>>,
    /// The resource location that the instance is given.
    pub resources: Option<String>,
    /// Errors in the description are overlooked that leave a meaning to the rest.
    pub lenient: bool,
    /// The process that sends requests.
    pub supervisor: u32,
}

/// The state of an instance: the standard's states, as far as importers tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // the standard's words
pub enum FmiState {
    NoInstance,
    Instantiated,
    ConfigurationMode,
    InitializationMode,
    ClockActivationMode,
    /// In Clock Activation Mode, after a model partition was activated: its outputs can be read.
    PartitionActivated,
    StepMode,
    EventMode,
    ContinuousTimeMode,
    Terminated,
    /// A call has returned Error, or in Scheduled Execution Discard.
    Failed,
    /// A call has returned Fatal.
    Fatal,
}

impl FmiState {
    /// All of them.
    pub const ALL: [FmiState; 12] = [
        FmiState::NoInstance,
        FmiState::Instantiated,
        FmiState::ConfigurationMode,
        FmiState::InitializationMode,
        FmiState::ClockActivationMode,
        FmiState::PartitionActivated,
        FmiState::StepMode,
        FmiState::EventMode,
        FmiState::ContinuousTimeMode,
        FmiState::Terminated,
        FmiState::Failed,
        FmiState::Fatal,
    ];

    /// How people call it.
    pub fn name(self) -> &'static str {
        match self {
            FmiState::NoInstance => "no instance",
            FmiState::Instantiated => "Instantiated",
            FmiState::ConfigurationMode => "Configuration Mode",
            FmiState::InitializationMode => "Initialization Mode",
            FmiState::ClockActivationMode => "Clock Activation Mode",
            FmiState::PartitionActivated => "Partition Activated",
            FmiState::StepMode => "Step Mode",
            FmiState::EventMode => "Event Mode",
            FmiState::ContinuousTimeMode => "Continuous-Time Mode",
            FmiState::Terminated => "Terminated",
            FmiState::Failed => "failed",
            FmiState::Fatal => "fatal",
        }
    }
}

/// The kinds of requests, without their arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // the standard's names
pub enum Verb {
    Instantiate,
    SetDebugLogging,
    GetVersion,
    EnterConfigurationMode,
    ExitConfigurationMode,
    EnterInitializationMode,
    ExitInitializationMode,
    Set,
    Get,
    SetClock,
    GetClock,
    GetInterval,
    SetInterval,
    GetShift,
    SetShift,
    ActivateModelPartition,
    DoStep,
    EnterEventMode,
    UpdateDiscreteStates,
    EnterStepMode,
    EnterContinuousTimeMode,
    SetTime,
    SetContinuousStates,
    GetContinuousStates,
    GetContinuousStateDerivatives,
    GetEventIndicators,
    GetNominalsOfContinuousStates,
    GetNumbers,
    GetStateValueReferences,
    CompletedIntegratorStep,
    GetDirectionalDerivative,
    GetAdjointDerivative,
    Residual,
    Jacobian,
    GetFmuState,
    SetFmuState,
    FreeFmuState,
    SerializeFmuState,
    DeserializeFmuState,
    Terminate,
    Reset,
    FreeInstance,
}

impl Verb {
    /// The states in which it can be asked for.
    pub fn states(self) -> &'static [FmiState] {
        use FmiState::*;
        match self {
            Verb::Instantiate => &[NoInstance],
            Verb::GetVersion => &FmiState::ALL,
            Verb::EnterConfigurationMode | Verb::EnterInitializationMode => &[Instantiated],
            Verb::ExitConfigurationMode => &[ConfigurationMode],
            Verb::ExitInitializationMode | Verb::SetInterval | Verb::GetShift | Verb::SetShift => &[InitializationMode],
            Verb::Set => &[
                Instantiated,
                ConfigurationMode,
                InitializationMode,
                ClockActivationMode,
                PartitionActivated,
                StepMode,
                EventMode,
                ContinuousTimeMode,
            ],
            Verb::Get => {
                &[Instantiated, InitializationMode, PartitionActivated, StepMode, EventMode, ContinuousTimeMode]
            }
            Verb::SetClock | Verb::GetClock | Verb::UpdateDiscreteStates => &[EventMode],
            Verb::GetInterval => &[InitializationMode, PartitionActivated, EventMode],
            Verb::ActivateModelPartition => &[ClockActivationMode, PartitionActivated],
            Verb::DoStep => &[StepMode],
            Verb::EnterEventMode => &[StepMode, ContinuousTimeMode],
            Verb::EnterStepMode | Verb::EnterContinuousTimeMode => &[EventMode],
            Verb::SetTime
            | Verb::SetContinuousStates
            | Verb::GetContinuousStates
            | Verb::GetContinuousStateDerivatives
            | Verb::GetEventIndicators
            | Verb::GetNominalsOfContinuousStates
            | Verb::CompletedIntegratorStep
            | Verb::Residual
            | Verb::Jacobian => &[ContinuousTimeMode],
            Verb::GetNumbers | Verb::GetStateValueReferences => &[EventMode, ContinuousTimeMode],
            Verb::GetDirectionalDerivative | Verb::GetAdjointDerivative => {
                &[InitializationMode, PartitionActivated, EventMode, ContinuousTimeMode]
            }
            Verb::Terminate => &[ClockActivationMode, PartitionActivated, StepMode, EventMode, ContinuousTimeMode],
            Verb::SetDebugLogging | Verb::GetFmuState => &[
                Instantiated,
                ConfigurationMode,
                InitializationMode,
                ClockActivationMode,
                PartitionActivated,
                StepMode,
                EventMode,
                ContinuousTimeMode,
            ],
            Verb::FreeFmuState | Verb::SerializeFmuState => &[
                Instantiated,
                ConfigurationMode,
                InitializationMode,
                ClockActivationMode,
                PartitionActivated,
                StepMode,
                EventMode,
                ContinuousTimeMode,
                Terminated,
            ],
            Verb::DeserializeFmuState | Verb::SetFmuState | Verb::Reset => &[
                Instantiated,
                ConfigurationMode,
                InitializationMode,
                ClockActivationMode,
                PartitionActivated,
                StepMode,
                EventMode,
                ContinuousTimeMode,
                Terminated,
                Failed,
            ],
            Verb::FreeInstance => &FmiState::ALL[1..],
        }
    }
}

/// An interval or a shift of a clock: in the FMU's unit of time, or counter and resolution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the standard's words
pub enum IntervalValue {
    Decimal(f64),
    Fraction { counter: u64, resolution: u64 },
}

/// A variable of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableHandle {
    /// The value reference of the variable.
    pub reference: ValueReference,
    /// The type that its get and set functions are for.
    pub variable_type: VariableType,
    /// How many elements it has.
    pub elements: usize,
}

/// A request: one call, or several that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the standard's names
pub enum Request {
    Instantiate {
        name: String,
        logging_on: bool,
        event_mode_used: bool,
        early_return_allowed: bool,
    },
    SetDebugLogging {
        on: bool,
        categories: Vec<String>,
    },
    GetVersion,
    EnterConfigurationMode,
    ExitConfigurationMode,
    EnterInitializationMode {
        start: f64,
        stop: Option<f64>,
        tolerance: Option<f64>,
    },
    ExitInitializationMode,
    Set {
        place: VariableHandle,
        values: Values,
    },
    Get {
        place: VariableHandle,
    },
    SetClock {
        clocks: Vec<u32>,
    },
    GetClock {
        clocks: Vec<u32>,
    },
    GetInterval {
        clock: ValueReference,
        fraction: bool,
    },
    SetInterval {
        clock: ValueReference,
        interval: IntervalValue,
    },
    GetShift {
        clock: ValueReference,
        fraction: bool,
    },
    SetShift {
        clock: ValueReference,
        shift: IntervalValue,
    },
    ActivateModelPartition {
        clock: ValueReference,
        time: f64,
    },
    /// `point`: by default the time that the instance has come to.
    DoStep {
        point: Option<f64>,
        size: f64,
    },
    EnterEventMode {
        step_event: bool,
        time_event: bool,
    },
    UpdateDiscreteStates,
    EnterStepMode,
    EnterContinuousTimeMode,
    SetTime {
        time: f64,
    },
    SetContinuousStates {
        states: Vec<f64>,
    },
    GetContinuousStates,
    GetContinuousStateDerivatives,
    GetEventIndicators,
    GetNominalsOfContinuousStates,
    GetNumbers,
    GetStateValueReferences,
    CompletedIntegratorStep {
        no_set_fmu_state_prior_to_current_point: bool,
    },
    GetDerivative {
        adjoint: bool,
        unknowns: Vec<VariableHandle>,
        knowns: Vec<VariableHandle>,
        seed: Vec<f64>,
    },
    Residual {
        derivatives: Vec<f64>,
    },
    Jacobian {
        by_differences: bool,
    },
    GetFmuState {
        slot: String,
    },
    SetFmuState {
        slot: String,
    },
    FreeFmuState {
        slot: String,
    },
    SerializeFmuState {
        slot: String,
    },
    DeserializeFmuState {
        slot: String,
    },
    Terminate,
    Reset,
    FreeInstance,
}

impl Request {
    /// The kind of the request.
    pub fn verb(&self) -> Verb {
        match self {
            Request::Instantiate { .. } => Verb::Instantiate,
            Request::SetDebugLogging { .. } => Verb::SetDebugLogging,
            Request::GetVersion => Verb::GetVersion,
            Request::EnterConfigurationMode => Verb::EnterConfigurationMode,
            Request::ExitConfigurationMode => Verb::ExitConfigurationMode,
            Request::EnterInitializationMode { .. } => Verb::EnterInitializationMode,
            Request::ExitInitializationMode => Verb::ExitInitializationMode,
            Request::Set { .. } => Verb::Set,
            Request::Get { .. } => Verb::Get,
            Request::SetClock { .. } => Verb::SetClock,
            Request::GetClock { .. } => Verb::GetClock,
            Request::GetInterval { .. } => Verb::GetInterval,
            Request::SetInterval { .. } => Verb::SetInterval,
            Request::GetShift { .. } => Verb::GetShift,
            Request::SetShift { .. } => Verb::SetShift,
            Request::ActivateModelPartition { .. } => Verb::ActivateModelPartition,
            Request::DoStep { .. } => Verb::DoStep,
            Request::EnterEventMode { .. } => Verb::EnterEventMode,
            Request::UpdateDiscreteStates => Verb::UpdateDiscreteStates,
            Request::EnterStepMode => Verb::EnterStepMode,
            Request::EnterContinuousTimeMode => Verb::EnterContinuousTimeMode,
            Request::SetTime { .. } => Verb::SetTime,
            Request::SetContinuousStates { .. } => Verb::SetContinuousStates,
            Request::GetContinuousStates => Verb::GetContinuousStates,
            Request::GetContinuousStateDerivatives => Verb::GetContinuousStateDerivatives,
            Request::GetEventIndicators => Verb::GetEventIndicators,
            Request::GetNominalsOfContinuousStates => Verb::GetNominalsOfContinuousStates,
            Request::GetNumbers => Verb::GetNumbers,
            Request::GetStateValueReferences => Verb::GetStateValueReferences,
            Request::CompletedIntegratorStep { .. } => Verb::CompletedIntegratorStep,
            Request::GetDerivative { adjoint: false, .. } => Verb::GetDirectionalDerivative,
            Request::GetDerivative { adjoint: true, .. } => Verb::GetAdjointDerivative,
            Request::Residual { .. } => Verb::Residual,
            Request::Jacobian { .. } => Verb::Jacobian,
            Request::GetFmuState { .. } => Verb::GetFmuState,
            Request::SetFmuState { .. } => Verb::SetFmuState,
            Request::FreeFmuState { .. } => Verb::FreeFmuState,
            Request::SerializeFmuState { .. } => Verb::SerializeFmuState,
            Request::DeserializeFmuState { .. } => Verb::DeserializeFmuState,
            Request::Terminate => Verb::Terminate,
            Request::Reset => Verb::Reset,
            Request::FreeInstance => Verb::FreeInstance,
        }
    }
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the standard's names
pub enum ReplyContent {
    Nothing,
    Text(String),
    Values(Values),
    Clocks(Vec<bool>),
    /// `qualifier`: as C has it; none of a shift.
    Interval {
        length: IntervalValue,
        qualifier: Option<i32>,
    },
    Numbers {
        states: usize,
        event_indicators: usize,
    },
    Vector(Vec<f64>),
    References(Vec<u32>),
    Step {
        reached: f64,
        early_return: bool,
        event_handling_needed: bool,
        terminate_simulation: bool,
    },
    Update {
        needs_update: bool,
        terminate_simulation: bool,
        nominals_changed: bool,
        values_changed: bool,
        next_event_time: Option<f64>,
    },
    Completed {
        enter_event_mode: bool,
        terminate_simulation: bool,
    },
    Matrix {
        rows: usize,
        columns: usize,
        elements: Vec<f64>,
        calls: usize,
    },
    /// Bytes of a serialised state.
    Bytes(usize),
}

/// Why a request has given nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RequestFailure {
    /// This state does not allow the request; nothing was called.
    NotHere,
    /// The request cannot be carried out, for this reason; nothing was called.
    Refused(String),
    /// A call has failed, in words.
    Failed(String),
    /// The library cannot be loaded, or no instance be made, in words.
    Invalid(String),
}

/// The end of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Where the instance stands now.
    pub state: FmiState,
    /// The time that it has come to, in its unit of time.
    pub time: f64,
    /// The result of the request.
    pub result: Result<ReplyContent, RequestFailure>,
}

/// A call of FMU code that has returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The name of the function in C.
    pub function: String,
    /// The arguments and results of the call, as text.
    pub arguments: String,
    /// The returned status, as text; `None`: the function returns no status.
    pub status: Option<String>,
    /// How long it took, ns.
    pub nanos: u64,
}

/// The messages from the process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// A function was called.
    Called(Call),
    /// The FMU logs.
    Logged {
        /// The status, in words.
        status: String,
        /// The category.
        category: String,
        /// The message.
        message: String,
    },
    /// The FMU has called back, in words.
    CalledBack(String),
    /// A note beside a result.
    Noted(String),
    /// The request is over.
    Over(Reply),
}

/// Longer frames are refused: this is none.
const LONGEST: u32 = 1 << 30;

/// Writes a frame.
pub fn send(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_stdvec(what).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("longer than a frame may be"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)
}

/// The length of a frame that begins so.
pub fn length(bytes: [u8; 4]) -> io::Result<usize> {
    match u32::from_le_bytes(bytes) {
        length if length <= LONGEST => Ok(length as usize),
        length => Err(io::Error::other(format!("no frame is {length} bytes long"))),
    }
}

/// Reads the content of a frame.
pub fn read<T: DeserializeOwned>(frame: &[u8]) -> io::Result<T> {
    postcard::from_bytes(frame).map_err(io::Error::other)
}

/// Reads a frame; `None`: there will be none any more.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut begin = [0; 4];
    match from.read_exact(&mut begin) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut frame = vec![0; length(begin)?];
    from.read_exact(&mut frame)?;
    read(&frame).map(Some)
}

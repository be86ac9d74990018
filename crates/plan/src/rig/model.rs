//! Content of a rig file, before any FMU has been opened.

use super::{
    At, Integration, MasterClass, Overrun, Place, RigDaemon, RigEndpoint, RigMaster, RigRecord, RigReport, RigTask,
    RigTrace,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use vecud_base::priority::FifoPriority;
use vecud_base::time::{Fraction, Instant, Nanos};
use vecud_description::{Abi, Interface};

/// Mode of a run: real time or virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// The wall clock; one thread per task.
    RealTime,
    /// The schedule itself, as fast as possible, in one thread (semantics S15).
    Virtual,
}

/// The consequence for the rig when one FMU fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnError {
    /// The whole run ends.
    Stop,
    /// The other FMUs go on.
    Continue,
}

/// The consequence of a NaN that is read from an FMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnNan {
    /// The value is counted, and the place of the first one is reported.
    Note,
    /// The run ends as well: exit code 1.
    Stop,
}

/// The treatment of FMUs that bring different libraries of one name: a process loads only one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SharedLibraries {
    /// The rig is refused.
    Refuse,
    /// All FMUs get the first library, with a note.
    Trust,
}

/// Activation time of a triggered clock (semantics S4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TriggerTime {
    /// The activation time of the partition that ticked.
    Source,
    /// The wall clock.
    Now,
}

/// The consequence of `fmi3Warning`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnWarning {
    /// Nothing happens.
    Ignore,
    /// Count it and show the FMU's messages.
    Log,
    /// Treat it like `fmi3Error`.
    Error,
}

/// Whether the interval of an output clock that has ticked is read, which delays its targets (draft only).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum GetIntervals {
    /// No: its targets are activated at the time of the tick.
    Never,
    /// The host calls `fmi3GetIntervalDecimal`.
    #[default]
    Decimal,
    /// The host calls `fmi3GetIntervalFraction`.
    Fraction,
}

/// The instant at which a consumer sees a new value (semantics S11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timing {
    /// The consumer sees it as soon as the producer has returned.
    Immediate,
    /// The consumer sees it from an instant that the producer's clock determines, whatever its execution time (logical execution
    /// time).
    Delayed,
}

/// The step size that an FMU for Co-Simulation is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepSize {
    /// The difference of the communication points that it is told, so that each is the sum of the one before and the step.
    Difference,
    /// The length of the step, rounded once: the same for all steps.
    Nominal,
}

impl StepSize {
    /// The words in a rig.
    pub const WORDS: [(&'static str, StepSize); 2] =
        [("difference", StepSize::Difference), ("nominal", StepSize::Nominal)];
}

/// The values of an input between two rows of its stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interpolation {
    /// The value of the row before.
    Hold,
    /// On the line from the row before to the row after.
    Linear,
}

/// The values of an input between two values of its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extrapolation {
    /// The last value.
    #[default]
    Hold,
    /// The line through the last value, with the slope that the FMU gives (output derivatives).
    Linear,
    /// The parabola through the last value, with the first and the second derivative that the FMU gives.
    Quadratic,
}

impl Extrapolation {
    /// The words in a rig.
    pub const WORDS: [(&'static str, Extrapolation); 3] =
        [("hold", Extrapolation::Hold), ("linear", Extrapolation::Linear), ("quadratic", Extrapolation::Quadratic)];

    /// The word in a rig.
    pub fn word(self) -> &'static str {
        Extrapolation::WORDS.into_iter().find(|(_, own)| *own == self).map_or("", |(word, _)| word)
    }

    /// The derivatives with respect to time that travel with a value: all up to this order.
    pub fn orders(self) -> usize {
        match self {
            Extrapolation::Hold => 0,
            Extrapolation::Linear => 1,
            Extrapolation::Quadratic => 2,
        }
    }
}

/// `fmu.variable`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableName {
    /// Name of the FMU in the rig.
    pub fmu: String,
    /// Name of the variable, which may contain dots.
    pub variable: String,
}

impl std::fmt::Display for VariableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.fmu, self.variable)
    }
}

/// A rig file.
#[derive(Clone, Debug, PartialEq)]
pub struct Rig {
    /// For messages: the rig file, or the FMU of a rig made for it.
    pub file: PathBuf,
    /// For a rig made for an FMU, the file of its start values; places with a line are in this file.
    pub start_file: Option<PathBuf>,
    /// Options of the command line that have added something: their words, for messages.
    pub options: Vec<PathBuf>,
    /// `name`.
    pub name: String,
    /// `mode`.
    pub mode: Mode,
    /// `start_time`; `None`: zero, or the FMU's (see `experiment_of_fmu`).
    pub start_time: Option<At<Instant>>,
    /// `stop_time`; `None`: until stopped, or the FMU's.
    pub stop_time: Option<At<Instant>>,
    /// Values can be set during the run: chosen by its caller, not by the rig.
    pub controlled: bool,
    /// The run may have no stop time in virtual time either, since its caller requests the end.
    pub endless: bool,
    /// Bytes that its plan may take, by a rough reckoning, and its recorded columns in them: chosen by its caller.
    pub room: Option<usize>,
    /// Times that are not given come from the (only) FMU's `<DefaultExperiment>`.
    pub experiment_of_fmu: bool,
    /// `step`, s: the step of FMUs without one in their table or description.
    pub step: Option<At<Fraction>>,
    /// `overrun`.
    pub overrun: Overrun,
    /// `on_error`.
    pub on_error: OnError,
    /// `nan`.
    pub nan: OnNan,
    /// `shared_libraries`.
    pub shared_libraries: SharedLibraries,
    /// `serialise`: FMUs of the rig that take turns with each other. Empty, or at least two different ones.
    pub serialise: Vec<At<String>>,
    /// `trigger_time`.
    pub trigger_time: TriggerTime,
    /// `shutdown_timeout`.
    pub shutdown_timeout: Nanos,
    /// `call_timeout`; `None`: no limit.
    pub call_timeout: Option<Nanos>,
    /// `[host]`.
    pub host: RigHost,
    /// `[fmu.NAME]`, in the order of the file.
    pub fmus: Vec<RigFmu>,
    /// `[master.NAME]`, in the order of the file.
    pub masters: Vec<RigMaster>,
    /// `[[connect]]`.
    pub connects: Vec<RigConnect>,
    /// `[[trigger]]`.
    pub triggers: Vec<RigTrigger>,
    /// `[[stimulus]]`.
    pub stimuli: Vec<RigStimulus>,
    /// `[record]`; `None`: nothing is recorded.
    pub record: Option<RigRecord>,
    /// `[report]`.
    pub report: RigReport,
    /// `[daemon]`.
    pub daemon: RigDaemon,
    /// `watch` of `[daemon]`: patterns over `fmu.variable` of signals that a daemon shows beside the recorded ones.
    pub watch: Vec<At<String>>,
    /// `[trace]`.
    pub trace: RigTrace,
}

/// The clock that real time is kept by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostClock {
    /// `CLOCK_MONOTONIC`.
    #[default]
    Monotonic,
    /// `CLOCK_TAI`.
    Tai,
}

/// `[host]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RigHost {
    /// `fifo_priorities`: lowest and highest.
    pub fifo_priorities: At<(FifoPriority, FifoPriority)>,
    /// `strict_priorities = true` stands here: no two levels of an FMU share a FIFO priority.
    pub strict_priorities: Option<Place>,
    /// `cpus`; empty: chosen by the plan.
    pub cpus: Vec<At<usize>>,
    /// The place of `exclusive = true`: the cores of its partitions are the rig's alone, among those of a daemon.
    pub exclusive: Option<Place>,
    /// `lock_memory`.
    pub lock_memory: bool,
    /// `clock`.
    pub clock: HostClock,
    /// `spin_us`.
    pub spin: At<Nanos>,
    /// `phase_us`.
    pub phase: Nanos,
    /// `stack_kib`: the part of each partition's stack that is locked and touched.
    pub stack_kib: usize,
    /// `memory_limit`: memory of its own that the process with FMU code may have; `None`: by the size of the machine.
    pub memory_limit_mib: Option<u64>,
    /// `log_limit`: the size of prints and log of FMU code.
    pub log_limit_mib: u64,
    /// `wakeup_us`: the worst wake-up latency that is reckoned with.
    pub wakeup: Option<Nanos>,
    /// `overhead_us`: processor time of an activation outside of FMU code that is reckoned with.
    pub overhead: Option<Nanos>,
}

impl Default for RigHost {
    fn default() -> RigHost {
        let priority = |value| FifoPriority::new(value).expect("51 and 89 are FIFO priorities");
        RigHost {
            fifo_priorities: At::unplaced((priority(51), priority(89))),
            strict_priorities: None,
            cpus: Vec::new(),
            exclusive: None,
            lock_memory: true,
            clock: HostClock::Monotonic,
            spin: At::unplaced(Nanos(0)),
            phase: Nanos(0),
            stack_kib: 1024,
            memory_limit_mib: None,
            log_limit_mib: 256,
            wakeup: None,
            overhead: None,
        }
    }
}

/// `[fmu.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RigFmu {
    /// NAME: letters, digits, `_` and `-`; it becomes part of file names.
    pub name: At<String>,
    /// `path`, relative to the working directory.
    pub path: At<PathBuf>,
    /// `cpu`.
    pub cpu: Option<At<usize>>,
    /// `dialect`; `None`: by the description.
    pub dialect: Option<At<Abi>>,
    /// `lenient`.
    pub lenient: bool,
    /// `on_warning`.
    pub on_warning: OnWarning,
    /// `log`; `None`: by the command line, else nothing.
    pub log: Option<Logging>,
    /// `preload`: files, relative to the working directory, or names without a folder, which are loaded before its library.
    pub preload: Vec<PathBuf>,
    /// `get_intervals`.
    pub get_intervals: Option<At<GetIntervals>>,
    /// `compiler_options = "trust"`: sources are built with whatever options, and may include whatever files, they name.
    pub trusts_compiler_options: bool,
    /// `define`: names of macros and their values (`None`: left out), in the order of the file.
    pub define: Vec<(At<String>, Option<String>)>,
    /// `env`: names of variables of the environment and their values, in the order of the file; two FMUs cannot give one variable
    /// different values.
    pub env: Vec<(At<String>, String)>,
    /// `start`: names and values, in the order of the file; then those of the command line, which come before them.
    pub start: Vec<(At<String>, At<RigValue>)>,
    /// `[fmu.NAME.clock.CLOCK]`.
    pub clocks: Vec<RigClock>,
    /// `interface`; `None`: the first that the FMU offers and that can be run.
    pub interface: Option<At<Interface>>,
    /// `step`, s: the length of each step; `None`: by the description.
    pub step: Option<At<Fraction>>,
    /// `step_size`; `None`: the difference where the FMU can vary its steps.
    pub step_size: Option<At<StepSize>>,
    /// `retry_steps`; `None`: where the FMU can, and where that costs nothing while nothing is discarded.
    pub retry_steps: Option<At<bool>>,
    /// `internal_steps = true` stands here: recordings have rows at the internal steps of Co-Simulation.
    pub internal_steps: Option<Place>,
    /// `class`: its capability for the master of its group; `None`: by its description.
    pub class: Option<At<MasterClass>>,
    /// `max_step`, s: the largest step of its group that it accepts.
    pub max_step: Option<At<Fraction>>,
    /// `parallel`: whether its steps may overlap those of other instances of its library; `None`: they may not.
    pub parallel: Option<At<bool>>,
    /// Settings of its integration; other FMUs are told the tolerance for a solver of their own.
    pub integration: Integration,
    /// Settings of its step task, with the place of the first key.
    pub task: Option<At<RigTask>>,
    /// Settings for an FMU that runs alone; a rig file has no keys for them.
    pub wishes: StepWishes,
}

/// The log categories of an FMU beside warnings and errors.
#[derive(Clone, Debug, PartialEq)]
pub enum Logging {
    /// Debug logging is off.
    Off,
    /// All categories are logged.
    All,
    /// These categories of the FMU's `<LogCategories>` are logged; never empty.
    Categories(Vec<At<String>>),
}

/// Settings of `vecud simulate` for the steps of an FMU.
#[derive(Clone, Debug, PartialEq)]
pub struct StepWishes {
    /// `eventModeUsed`; `None`: where the FMU has Event Mode.
    pub event_mode_used: Option<bool>,
    /// `earlyReturnAllowed`; `None`: where the interface has it.
    pub early_return_allowed: Option<bool>,
    /// An event is recorded as two rows of its time, one from before and one from after it.
    pub rows_of_events: bool,
    /// The number of steps from one row to the next; above 0.
    pub steps_per_row: u32,
}

impl Default for StepWishes {
    fn default() -> StepWishes {
        let (event_mode_used, early_return_allowed) = (None, None);
        StepWishes { event_mode_used, early_return_allowed, rows_of_events: false, steps_per_row: 1 }
    }
}

/// A start value as written.
#[derive(Clone, Debug, PartialEq)]
pub enum RigValue {
    /// A TOML integer.
    Integer(i64),
    /// A TOML float.
    Float(f64),
    /// A TOML boolean.
    Boolean(bool),
    /// A TOML string.
    String(String),
    /// A TOML array, nested ones flattened in row-major order.
    Array(Vec<At<RigValue>>),
}

/// `[fmu.NAME.clock.CLOCK]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RigClock {
    /// CLOCK.
    pub name: At<String>,
    /// `interval`.
    pub interval: Option<At<Fraction>>,
    /// `shift`, s.
    pub shift: Option<At<Fraction>>,
    /// Settings of the clock's task.
    pub task: RigTask,
}

/// `[[connect]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RigConnect {
    /// `from`.
    pub from: At<VariableName>,
    /// `to`.
    pub to: At<VariableName>,
    /// `timing`; `None`: delayed from and to steps, else immediate.
    pub timing: Option<Timing>,
    /// `max_size`: bytes that an element of a String or Binary may have.
    pub max_size: Option<At<usize>>,
    /// `units`.
    pub units: UnitsOfConnection,
    /// `extrapolation`.
    pub extrapolation: At<Extrapolation>,
}

/// `units` of a `[[connect]]`: the treatment of numbers whose units at both ends differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnitsOfConnection {
    /// Values are converted where the units have equal exponents, else the connection is refused.
    #[default]
    Convert,
    /// Values pass unchanged, whatever the units are.
    AsIs,
}

/// `[[trigger]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RigTrigger {
    /// `clock`.
    pub clock: At<VariableName>,
    /// The source of its ticks.
    pub source: TriggerSource,
}

/// The source of a triggered clock's ticks.
#[derive(Clone, Debug, PartialEq)]
pub enum TriggerSource {
    /// `from`: an output clock.
    OutputClock(At<VariableName>),
    /// `at`: strictly increasing simulation times.
    Times(Vec<At<Instant>>),
    /// Each item of an endpoint is a tick.
    Endpoint(RigEndpoint),
}

/// `[[stimulus]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RigStimulus {
    /// `file`, or `signals.csv` in the folder that `recording` names, which stands for any files of a recording there; relative
    /// to the working directory.
    pub file: At<PathBuf>,
    /// The file is the recording of an earlier run: columns without an input in this rig are ignored.
    pub recording: bool,
    /// Two rows may have one time: their inputs jump there. A rig file has no key for it.
    pub jumps: bool,
    /// `interpolation`.
    pub interpolation: Interpolation,
    /// `max_size`: bytes that a String or Binary may have.
    pub max_size: Option<At<usize>>,
    /// `columns`: targets and the names of their columns; `None`: columns have the names of their targets.
    pub columns: Option<Vec<(At<VariableName>, At<String>)>>,
}

impl Rig {
    /// The rig of `vecud run FILE.fmu`: that FMU alone, its default experiment, everything recorded.
    pub fn for_fmu(path: &Path) -> Rig {
        let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let name: String =
            stem.chars().map(|c| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect();
        let name = if name.is_empty() { "fmu".to_owned() } else { name };
        Rig {
            file: path.to_owned(),
            name: name.clone(),
            fmus: vec![RigFmu {
                name: At::unplaced(name),
                path: At::unplaced(path.to_owned()),
                cpu: None,
                dialect: None,
                lenient: false,
                on_warning: OnWarning::Log,
                log: None,
                preload: Vec::new(),
                get_intervals: None,
                trusts_compiler_options: false,
                define: Vec::new(),
                env: Vec::new(),
                start: Vec::new(),
                clocks: Vec::new(),
                interface: None,
                step: None,
                step_size: None,
                retry_steps: None,
                internal_steps: None,
                class: None,
                max_step: None,
                parallel: None,
                integration: Integration::default(),
                task: None,
                wishes: StepWishes::default(),
            }],
            record: Some(RigRecord::everything(Place::default())),
            experiment_of_fmu: true,
            ..Rig::empty()
        }
    }

    /// The group that an FMU is in by `[master.NAME]`.
    pub fn master_of(&self, fmu: &str) -> Option<&RigMaster> {
        self.masters.iter().find(|master| master.has(fmu))
    }

    /// Lets all FMUs log everything (`--log`), but for those with a setting in the rig.
    pub fn log_all(&mut self) {
        for fmu in &mut self.fmus {
            fmu.log.get_or_insert(Logging::All);
        }
    }

    /// Has errors in all descriptions overlooked that leave a meaning to the rest (`--lenient`).
    pub fn read_leniently(&mut self) {
        self.fmus.iter_mut().for_each(|fmu| fmu.lenient = true);
    }

    /// Adds libraries to be loaded before those of all FMUs (`--preload`).
    pub fn preload(&mut self, files: &[PathBuf]) {
        for fmu in &mut self.fmus {
            fmu.preload.extend_from_slice(files);
        }
    }

    /// The place of a setting from an option of the command line.
    pub fn add_option(&mut self, words: String) -> Place {
        self.options.push(words.into());
        Place { line: 0, column: self.options.len() as u32 }
    }

    /// The origin of a place: the rig file, a file of start values, or an option of the command line.
    pub fn origin(&self, place: Place) -> &Path {
        let said = match place.option() {
            Some(option) => self.options.get(option),
            None if place.line > 0 => self.start_file.as_ref(),
            None => None,
        };
        said.unwrap_or(&self.file)
    }

    /// A rig without FMUs where everything has its default.
    pub fn empty() -> Rig {
        Rig {
            file: PathBuf::new(),
            start_file: None,
            options: Vec::new(),
            name: String::new(),
            mode: Mode::RealTime,
            start_time: None,
            stop_time: None,
            controlled: false,
            endless: false,
            room: None,
            experiment_of_fmu: false,
            step: None,
            overrun: Overrun::Skip,
            on_error: OnError::Stop,
            nan: OnNan::Note,
            shared_libraries: SharedLibraries::Refuse,
            serialise: Vec::new(),
            trigger_time: TriggerTime::Source,
            shutdown_timeout: Nanos::from_seconds(2.0),
            call_timeout: Some(Nanos::from_seconds(600.0)),
            host: RigHost::default(),
            fmus: Vec::new(),
            masters: Vec::new(),
            connects: Vec::new(),
            triggers: Vec::new(),
            stimuli: Vec::new(),
            record: None,
            report: RigReport::default(),
            daemon: RigDaemon::default(),
            watch: Vec::new(),
            trace: RigTrace::default(),
        }
    }
}

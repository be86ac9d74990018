//! Problems of a run, as data. Terminal, page, JUnit and exit code go by kind, subject and severity, never by the
//! [words](Problem::message).

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use vecud_base::plain::plain;
use vecud_plan::TaskKind;

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Effect on the exit code.
    pub severity: Severity,
    /// The instance, clock or run that the problem is about.
    pub subject: Subject,
    /// The kind of problem, with its figures.
    pub kind: Kind,
}

/// Effect of a problem on the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The run failed: exit code 1.
    Failure,
    /// A limit was exceeded: exit code 3.
    Limit,
    /// An FMU did something that the standard forbids; the verdict stays "pass" unless the user wants otherwise.
    Finding,
    /// Worth knowing; the verdict stays "pass".
    Warning,
}

impl Severity {
    /// The begin of a line for people.
    pub fn prefix(self) -> &'static str {
        if self == Severity::Failure { "error" } else { "warning" }
    }
}

/// Whom a problem is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The run as a whole, the host, or a file.
    Run,
    /// An instance, by its name in the rig.
    Fmu(String),
    /// The task of an input clock.
    Clock {
        /// Name of the instance in the rig.
        fmu: String,
        /// Name of the clock.
        clock: String,
    },
    /// The task that makes the steps of an instance, or of a group that it leads: it has no clock.
    Steps {
        /// Name of the instance in the rig.
        fmu: String,
        /// Name of the task.
        task: String,
    },
    /// A connection, as the rig's arrow.
    Connection(String),
    /// A stimulus, by its file.
    Stimulus(String),
}

impl Subject {
    /// A task of an instance.
    pub fn task(fmu: &str, task: &str, kind: TaskKind) -> Subject {
        let (fmu, task) = (fmu.to_owned(), task.to_owned());
        match kind.makes_steps() {
            true => Subject::Steps { fmu, task },
            false => Subject::Clock { fmu, clock: task },
        }
    }

    /// The instance that it is or belongs to.
    pub fn fmu(&self) -> Option<&str> {
        match self {
            Subject::Fmu(fmu) | Subject::Clock { fmu, .. } | Subject::Steps { fmu, .. } => Some(fmu),
            Subject::Run | Subject::Connection(_) | Subject::Stimulus(_) => None,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Run => f.write_str("the run"),
            Subject::Fmu(fmu) => write!(f, "fmu `{fmu}`"),
            Subject::Clock { fmu, clock } => write!(f, "clock {}", plain(&format!("{fmu}.{clock}"))),
            Subject::Steps { fmu, task } => f.write_str(&plain(&format!("{fmu}.{task}"))),
            Subject::Connection(arrow) => write!(f, "connection {arrow}"),
            Subject::Stimulus(file) => write!(f, "stimulus {file}"),
        }
    }
}

/// The kinds of problems; in `report.json` with these names in snake case. Times without a unit in their name are ns; those that end in
/// `_s` are simulation time. A kind with a `text` gets its words where it is found: by a file system, by the runner, or by a reader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// An activation began later than the rig's `max_latency_us` allows.
    LatencyLimit {
        /// The longest start latency.
        reached: u64,
        /// The limit.
        limit: u64,
    },
    /// More overruns than the rig's `max_overruns`.
    OverrunLimit {
        /// Number of occurrences.
        count: u64,
        /// The limit for that number.
        limit: u64,
    },
    /// An activation ran for longer than the rig's `max_execution_us`.
    ExecutionLimit {
        /// The longest execution.
        longest: u64,
        /// The limit.
        limit: u64,
        /// The watchdog took its priority.
        demoted: bool,
        /// For an activation beyond the limit that had not returned at the end of the run: the time since its begin.
        running: Option<u64>,
    },
    /// An overrun ended the run, as the rig says.
    StoppedByOverrun {
        /// Time at which the activation was due, s.
        due_s: f64,
        /// Delay of the activation.
        late: u64,
        /// Ticks of the clock wait in a queue, which was full.
        queues: bool,
    },
    /// There were overruns.
    Overruns {
        /// Number of occurrences.
        count: u64,
        /// Ticks of the clock wait in a queue, which was full.
        queues: bool,
    },
    /// Ticks came too late for their own time.
    Retimed {
        /// Number of occurrences.
        count: u64,
    },
    /// Datagrams came faster than the rig allows.
    RateLimited {
        /// Number of items beyond the rate.
        count: u64,
        /// The address that received them.
        address: String,
        /// The accepted number in a second.
        max_rate: f64,
    },
    /// The kernel has dropped datagrams.
    KernelDropped {
        /// Number of occurrences.
        count: u64,
        /// The address that received them.
        address: String,
    },
    /// The operating system has refused to raise the priority of locked sections.
    LockUnprotected {
        /// Number of occurrences.
        count: u64,
    },
    /// Activations ran on another core than planned.
    OtherCore {
        /// Number of occurrences.
        count: u64,
        /// The core that was planned.
        planned: usize,
    },
    /// Calls returned a warning.
    Warnings {
        /// Number of occurrences.
        count: u64,
        /// Name of the status: `fmi3Warning`.
        status: String,
        /// Whether `run.log` has the messages of the instance; else they were told to the caller.
        in_run_log: bool,
    },
    /// A call failed.
    CallFailed {
        /// Name of the function.
        function: String,
        /// The outcome of the call and its place: `returned fmi3Error for clock a at 0.5 s`.
        outcome: String,
        /// The rig's keys that bear on the failure.
        keys: Vec<FailureKey>,
        /// The last lines that the instance has logged.
        last_words: Vec<String>,
    },
    /// The runner's process did not leave of its own accord.
    Died {
        /// FMU code has done it, as far as can be told.
        by_fmu_code: bool,
        /// The dead process, the cause, and its place at that time.
        text: String,
    },
    /// An activation was not back in time after the end of the run, or a limit, had asked for it.
    Hung {
        /// Name of the function that it was in.
        function: String,
        /// The activation time, s.
        time_s: f64,
        /// Time of its first FMI call, s.
        since_s: f64,
        /// Time since then.
        running: u64,
        /// The limit that asked for its end; `None`: the end of the run.
        over: Option<LimitKey>,
        /// Time in which it must return then (`shutdown_timeout`), s.
        timeout_s: f64,
        /// Time from which on recordings waited for it, s; `None`: nothing is recorded.
        recorded_s: Option<f64>,
    },
    /// At the time of a report of a run without an end, an activation had lasted for long: the other clocks go on, and it may
    /// never return.
    Lasts {
        /// Name of the function that it is in.
        function: String,
        /// The activation time, s.
        time_s: f64,
        /// Time since its first FMI call.
        running: u64,
        /// Releases of its clock that found it still running.
        found: u64,
        /// Time from which on recordings wait for it, s; `None`: nothing is recorded.
        recorded_s: Option<f64>,
    },
    /// An instance did something that the standard forbids.
    Offence {
        /// Which offence, as findings of an instance have it.
        offence: Cow<'static, str>,
        /// Number of occurrences.
        count: u64,
        /// The sentence, with the first occurrence.
        text: String,
    },
    /// Something is missing in a file of the run.
    FileIncomplete {
        /// The missing part, and the reason.
        text: String,
    },
    /// The trace is complete as far as it goes, and does not go as far as it should.
    TraceShortened {
        /// The file, and the reason.
        text: String,
    },
    /// There is no whole trace.
    TraceIncomplete {
        /// Why.
        reason: String,
    },
    /// A stimulus cannot be read any further.
    StimulusBroken {
        /// Where, and why.
        words: String,
        /// The effect on the run.
        effect: Broken,
    },
    /// A stimulus feeds numbers that are none.
    StimulusNan {
        /// The place of the first one, and the variable that gets it.
        words: String,
        /// Number of such cells, as far as the stimulus was read.
        count: u64,
    },
    /// Somebody has changed a stimulus while it was read.
    StimulusChanged {
        /// Description of the change.
        text: String,
    },
    /// Activations came before their row of a stimulus was read.
    Starved {
        /// Number of occurrences.
        count: u64,
        /// The clock of the first one.
        clock: String,
        /// Time of the first one, s.
        first_s: f64,
    },
    /// Values of a delayed connection were not there when they were to be seen.
    Missed {
        /// Number of occurrences.
        count: u64,
        /// The clock that was to see them.
        consumer: String,
        /// The clock that produced the first one.
        producer: String,
        /// Time at which it should have been visible, s.
        visible_s: f64,
    },
    /// Values of a delayed connection were overwritten before they were seen.
    Overwritten {
        /// Number of occurrences.
        count: u64,
        /// The clock that was to see them.
        consumer: String,
        /// Time at which the first one was due, s.
        first_s: f64,
    },
    /// Recorded columns may differ from those of virtual time.
    MayDiffer {
        /// Number of columns that may differ.
        columns: usize,
        /// Time from which on they may differ, s.
        from_s: Option<f64>,
        /// Why.
        cause: String,
        /// An overrun is why.
        by_overrun: bool,
    },
    /// Calls of FMU code that vecud could not tell whose they are.
    ForeignCalls {
        /// Number of occurrences.
        count: u64,
    },
    /// A callback of vecud's own has panicked.
    Panicked,
    /// Log messages came too fast to be kept.
    LogDropped {
        /// Number of occurrences.
        count: u64,
    },
    /// Samples could not be recorded.
    SamplesDropped {
        /// Number of occurrences.
        count: u64,
    },
    /// Samples came after their row was written.
    SamplesLate {
        /// Number of occurrences.
        count: u64,
    },
    /// A run failed that had hardly any memory left.
    MemoryShort {
        /// The most memory that the runner had, MiB.
        most_mib: u64,
        /// Limit of the runner's memory, MiB.
        limit_mib: u64,
        /// The FMU has asked for more and did not get it.
        refused: bool,
    },
    /// `run.log` has come to its limit.
    LogCut {
        /// The limit, MiB.
        limit_mib: u64,
    },
    /// The counters of a periodic clock do not make the sum of its releases.
    Unaccounted {
        /// Releases up to the end of the run.
        releases: u64,
        /// Releases that became activations.
        activations: u64,
        /// Releases that were left out.
        skipped: u64,
        /// Releases that the end of the run has thrown away.
        discarded: u64,
    },
    /// FMU code has written over what was measured.
    MemoryOverwritten {
        /// Names of the values that are impossible.
        names: Vec<String>,
    },
    /// After one of several runs the next one could not begin.
    NoFurtherRun {
        /// Why.
        reason: String,
    },
    /// The state was not saved.
    StateNotSaved {
        /// Which file that was for, and why.
        text: String,
    },
    /// Files of the report could not be written.
    ReportIncomplete {
        /// The files that are missing, and why.
        text: String,
    },
    /// The run is not known to have ended.
    Unfinished {
        /// The run appears to continue; otherwise it was cut off.
        goes_on: bool,
        /// Duration until the result was known, s.
        after_s: f64,
    },
    /// Levels of an FMU share FIFO priorities.
    SharedPriorities {
        /// The levels and the cost of sharing, in the words of `vecud check`.
        text: String,
    },
    /// The operating system refuses priorities, cores or punctual wake-ups that real time needs.
    NotRealTime {
        /// The refusal of the system, its consequence and the way out.
        text: String,
    },
    /// Memory is not locked, or not all of it.
    MemoryNotLocked {
        /// Amount that is not locked, its consequence and the way out.
        text: String,
    },
    /// The clock that releases go by is not set.
    ClockNotSet {
        /// Symptom, and the way out.
        text: String,
    },
    /// Something is missing that keeps harm from FMU code within bounds, or explains it.
    Unprotected {
        /// Possible harm, and its cause.
        text: String,
    },
    /// A thread of vecud did not start, or not with its priority.
    NotStarted {
        /// Name or purpose of the thread, and the cause.
        text: String,
    },
    /// An instance does not log what it is asked for.
    LoggingRefused {
        /// Answer of the instance.
        text: String,
    },
    /// Only the text is known: the problem is of a report of format 1, or of a kind that came after this version.
    Other {
        /// The subject in a report of format 1.
        #[serde(default)]
        topic: Topic,
        /// The sentence.
        text: String,
    },
}

/// A limit that the rig sets, by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKey {
    /// `max_latency_us`.
    Latency,
    /// `max_overruns`.
    Overruns,
    /// `max_execution_us`.
    Execution,
}

impl LimitKey {
    /// The key in the rig.
    pub fn key(self) -> &'static str {
        match self {
            LimitKey::Latency => "max_latency_us",
            LimitKey::Overruns => "max_overruns",
            LimitKey::Execution => "max_execution_us",
        }
    }
}

/// A key of the rig that bears on a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKey {
    /// The FMU has returned a warning, and `on_warning` makes that an error.
    OnWarning,
    /// The FMU was asked for the interval of an output clock that ticked, which `get_intervals` can turn off.
    GetIntervals,
    /// The FMU has discarded a step, which can be tried in parts, from a state before it, with `retry_steps`.
    RetrySteps,
    /// The FMU gave no state, which is taken before each step unless `retry_steps` turns that off.
    TakesStates,
    /// The FMU was not asked for debug logging (`log`), and has said nothing.
    Log,
}

/// The consequence of a stimulus that cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Broken {
    /// The recording has ended there, like one that is complete.
    Ended,
    /// The run has ended.
    EndedTheRun,
    /// The run was over first.
    NotNeeded,
}

/// The topic by which reports sort problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// The limit on start latency.
    LatencyLimit,
    /// The limit on overruns, or one that has ended the run.
    OverrunLimit,
    /// The limit on execution.
    ExecutionLimit,
    /// Overruns that no limit is about.
    Overruns,
    /// FMU code has crashed, ended the process, or does not return.
    FmuCode,
    /// An offence against the standard.
    Offence,
    /// Anything else.
    #[default]
    Other,
}

impl Kind {
    /// The topic by which reports sort the problem.
    pub fn topic(&self) -> Topic {
        match self {
            Kind::LatencyLimit { .. } => Topic::LatencyLimit,
            Kind::OverrunLimit { .. } | Kind::StoppedByOverrun { .. } => Topic::OverrunLimit,
            Kind::ExecutionLimit { .. } => Topic::ExecutionLimit,
            Kind::Overruns { .. } | Kind::MayDiffer { by_overrun: true, .. } => Topic::Overruns,
            Kind::Died { by_fmu_code: true, .. } | Kind::Hung { .. } | Kind::Lasts { .. } => Topic::FmuCode,
            Kind::Offence { .. } => Topic::Offence,
            Kind::Other { topic, .. } => *topic,
            _ => Topic::Other,
        }
    }
}

impl Problem {
    /// A problem that fails the run.
    pub fn failure(subject: Subject, kind: Kind) -> Problem {
        Problem { severity: Severity::Failure, subject, kind }
    }

    /// A problem that is only worth knowing.
    pub fn warning(subject: Subject, kind: Kind) -> Problem {
        Problem { severity: Severity::Warning, subject, kind }
    }

    /// A problem that is known by its text alone.
    pub fn other(severity: Severity, text: impl Into<String>) -> Problem {
        Problem { severity, subject: Subject::Run, kind: Kind::Other { topic: Topic::Other, text: text.into() } }
    }
}

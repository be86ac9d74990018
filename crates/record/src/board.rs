//! The layout of the shared memory: both processes derive it from the plan.
//!
//! Every word has one writer at a time (the thread of its task, or the runner's main thread) unless said otherwise, so
//! plain loads and stores suffice; readers need each word whole, not several words at one instant.

use super::LINE;
use super::commands::{self, ControlLayout};
use super::findings::{self, FindingCells};
use super::histogram;
use super::log::LogRing;
use super::log::overflow::{self, Overflow};
use super::samples::SampleRing;
use super::unusable::Unusable;
use crate::control::{CommandPlace, CommandRing};
use crate::ring::{Ring, RingPlace};
use crate::stimulus::Shape;
use crate::trace::notes;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering, Ordering::Relaxed, Ordering::SeqCst};
use vecud_base::time::Instant;
use vecud_plan::{FmuId, Mode, Plan, Release, SignalId, SignalPlan, UnitId, UnitPlan};

mod call_counts;
mod calls;
pub mod causes;
mod damage;
mod named;
mod next_run;
mod phase;
pub mod promise;
mod stimuli;
mod threads;

pub use call_counts::{CallTimes, FunctionCalls};
pub use calls::OutsideCall;
pub use damage::SupervisorView;
pub use phase::Phase;
pub use threads::ThreadsState;

/// Words of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Global {
    /// [`Phase`] of the runner.
    Phase,
    /// Written by the supervisor: 1 asks for an end.
    StopRequest,
    /// Written by the supervisor: 1 asks for a pause, until it is 0 again.
    PauseRequest,
    /// The runner's answer to [`Global::PauseRequest`] ([`Pause`]).
    Pause,
    /// 1 + the simulation time (ns from where the run begins) after which releases wait; 0: none waits.
    HeldAt,
    /// Total shift of simulation time against [`Global::Start`] because of pauses, ns.
    Shifted,
    /// The calls that are no activations: whose they are, and the function ([`OutsideCall`]).
    OutsideCall,
    /// The simulation's start by the clock of the run, ns.
    Start,
    /// The start of the run on CLOCK_MONOTONIC.
    StartMonotonic,
    /// All activations before this simulation time (ns from the start) are complete; their samples are in the rings.
    Complete,
    /// Simulation time reached, ns from the start.
    Reached,
    /// [`Scheduling`] plus one; 0 while it is not known.
    Scheduling,
    /// All memory is locked.
    MemoryLocked,
    /// Bytes of memory that are locked.
    MemoryLockedBytes,
    /// Bytes of memory that there are to be locked.
    MemoryWantedBytes,
    /// `/dev/cpu_dma_latency` is held at 0.
    DmaLatency,
    /// Signal number of a crash; 0 none.
    CrashSignal,
    /// 1 + index of the task on whose thread the crash happened; 0 none.
    CrashTask,
    /// 1: the crash, or the call of `exit`, was on a thread that FMU code has made.
    CrashForeign,
    /// 1 + the process that sent the signal, when another one did; 0: none.
    CrashSender,
    /// 1 + index of the first FMU whose library's code was running when the crash happened, or when the process was asked for
    /// it; 0: not known.
    CrashCode,
    /// The stack that has overflown in the crash, KiB; 0: none has.
    CrashStack,
    /// FMU code called `exit`: 1.
    ExitCalled,
    /// 1 + index of a task that did not return in time.
    HungTask,
    /// 1 + index of a task that was not through in time, since its thread got no core.
    StarvedTask,
    /// 1 + index of an FMU whose reconfiguration did not return in time.
    HungFmu,
    /// 1 + index of the task whose overrun has ended the run (`overrun = "stop"`); 0 none. Claimed by compare-and-swap.
    OverrunTask,
    /// Time of the release that found its clock busy, or of the tick that found its queue full, three words.
    OverrunTime,
    /// (continued)
    OverrunTime1,
    /// (continued)
    OverrunTime2,
    /// How late that was seen, ns.
    OverrunLate,
    /// Written by the supervisor: 1 + index of the task of which a release has passed while its activation runs, and of which the rig
    /// says that this ends the run (`overrun = "stop"`); 0 none.
    OverdueTask,
    /// Callbacks that no instance could be told of (`vecud_fmi::foreign_calls`), in this run.
    ForeignCalls,
    /// A callback of ours panicked (our defect).
    Panicked,
    /// CLOCK_MONOTONIC at the end of the simulation, ns.
    Ended,
    /// A call of the C library had been refused memory before a crash: 1.
    OutOfMemory,
    /// What FMU code printed was too much, and the rest goes nowhere: 1.
    LogCut,
    /// Written by the supervisor: how often `run.log` was begun anew.
    LogNumber,
    /// The number to which the runner has followed: it prints to the file that was begun then.
    LogFollowed,
    /// The last report on the runner's threads ([`ThreadsState`]).
    Threads,
    /// Kernel's id of the thread that receives datagrams; 0: there is none.
    ReceiverTid,
    /// Kernel's id of a watchdog that has to run above all partitions; 0: there is none.
    WatchdogTid,
    /// In virtual time: counts up with everything that a trace notes.
    TraceOrder,
    /// Number of words; keep last.
    Count,
}

/// The runner's answer to a request to pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Pause {
    /// The run continues.
    None = 0,
    /// All released activations have completed, and no others are released.
    Paused = 1,
    /// An activation did not return in time: the run continues.
    Refused = 2,
}

/// How threads are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Scheduling {
    /// `SCHED_FIFO`.
    Fifo = 0,
    /// Without real-time privileges (semantics S8).
    Cooperative = 1,
    /// Virtual time.
    Virtual = 2,
}

/// A call that has failed, as the board has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedCall {
    /// The status that it counts as.
    pub status: u64,
    /// The number of the function.
    pub function: u64,
    /// The returned value, if it is no status.
    pub answer: Option<i32>,
}

/// Words of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum FmuWord {
    /// 0 alive, 1 terminated and freed, 2 freed without Terminate, 3 left alone (fatal or hung).
    End,
    /// Status of its first failure (2 discard, 3 error, 4 fatal), 0 none; claimed by compare-and-swap.
    FailureStatus,
    /// The returned value, if it is no status: 1 + the bits of the number; else 0.
    FailureAnswer,
    /// Function of that failure, plus one.
    FailureFunction,
    /// 1 + index of the task; 0 when it was no partition.
    FailureTask,
    /// Activation time of that failure, three words.
    FailureTime,
    /// (continued)
    FailureTime1,
    /// (continued)
    FailureTime2,
    /// Defect of the interval or shift that was read, if that is the failure ([`Unusable`]); else 0.
    FailureReading,
    /// The value read: bits of an `f64`, a counter, or a qualifier.
    FailureValue,
    /// The resolution.
    FailureValue1,
    /// Calls that returned fmi3Warning.
    Warnings,
    /// As [`TaskWord::LockNested`], for calls that are no activations.
    LockNested,
    /// As [`TaskWord::LockLeaked`].
    LockLeaked,
    /// As [`TaskWord::LockUnbalanced`].
    LockUnbalanced,
    /// Written by the supervisor: commands sent to this instance.
    Commands,
    /// Written by the supervisor: 1 + index of the task whose activation was not back within the rig's `shutdown_timeout` after a
    /// limit, so that the instance is given up; 0 none.
    GivenUp,
    /// Number of words; keep last.
    Count,
}

/// Words of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum TaskWord {
    /// Activations that ran.
    Activations,
    /// 1 + the FMI function that the task is in; 0: not in FMU code.
    Function,
    /// Activation time of the current or last activation, three words.
    Time,
    /// (continued)
    Time1,
    /// (continued)
    Time2,
    /// An activation is under way.
    Active,
    /// Wall clock of the current activation's first FMI call, ns.
    StartedAt,
    /// Wall clock of the last activation's last get, ns; in real time. Up to here is what every activation writes: one cache
    /// line.
    FinishedAt,
    /// Releases that found the clock busy, ticks that found a full queue.
    Overruns,
    /// Releases left out.
    Skipped,
    /// Ticks at the time of one pending or activated.
    Coalesced,
    /// Ticks that came too late.
    Retimed,
    /// Ticks from outside that were handled at the next communication point of a step.
    Deferred,
    /// Pending ticks, and releases that have not begun or not returned at the end of the run, thrown away.
    Discarded,
    /// Overruns of a task that makes steps because a tick from outside found 16 waiting for a communication point.
    RefusedTicks,
    /// Discarded ticks from outside, and datagrams for them.
    DiscardedTicks,
    /// Kernel's id of the thread.
    Tid,
    /// Activations on another core than planned.
    WrongCore,
    /// Locked sections of which the operating system has refused to raise the priority.
    RaiseRefused,
    /// Set by the watchdog: it took longer than `max_execution` and lost its priority.
    Demoted,
    /// Samples that found the ring full.
    SamplesDropped,
    /// Locks by FMU code that held the lock already.
    LockNested,
    /// Locks still held when the partition returned.
    LockLeaked,
    /// Unlocks without a lock.
    LockUnbalanced,
    /// The longest locked section of the host's own (callbacks, and reading what others read as well), ns.
    LongestOwnLock,
    /// The shortest time between two releases of a clock that is not periodic, ns, plus one; 0: there were no two.
    ShortestInterval,
    /// Calls that returned fmi3Warning.
    Warnings,
    /// The interval that a periodic clock's FMU was asked for: counter.
    AskedCounter,
    /// The resolution of the interval that was asked for; 0 when none was.
    AskedResolution,
    /// The interval of a periodic clock, as its thread has it between two activations: counter.
    IntervalCounter,
    /// The resolution of that interval; 0: the clock has no period.
    IntervalResolution,
    /// An instant of its grid, as its thread has it.
    Origin,
    /// Further words of it.
    Origin1,
    /// Further words of it.
    Origin2,
    /// Its thread has left: nothing of it is released any more.
    Left,
    /// Datagrams that were taken out of the task's socket.
    Received,
    /// Datagrams that came faster than the rig allows.
    RateLimited,
    /// Datagrams that got a later time than that of their arrival, since that was recorded as complete already.
    LateEvents,
    /// Calls that made a step (`fmi3DoStep`, `fmi2DoStep`, `fmiDoStep`).
    Steps,
    /// Steps that stopped short of their communication point.
    EarlyReturns,
    /// Steps that the FMU discarded.
    RejectedSteps,
    /// Steps that were taken back to their begin since another FMU of the group has stopped earlier, or it has itself.
    TakenBack,
    /// How often Event Mode was entered after a step, or before one.
    Events,
    /// The furthest that a step without early return was away from its communication point by the FMU's word, s, as the bits of an
    /// `f64`.
    Deviation,
    /// Steps of the solver that has integrated the FMU.
    SolverSteps,
    /// Steps of it that were made smaller, by their error or since the FMU has discarded them.
    SolverRejected,
    /// How often it has asked for derivatives.
    RightHandSides,
    /// The most of these in one release.
    MostRightHandSides,
    /// Jacobian matrices that it has computed.
    Jacobians,
    /// State events that were located.
    StateEvents,
    /// 2^32 plus the number of datagrams (modulo 2^32) that the kernel had thrown away when the socket was no longer read;
    /// 0: that is not known.
    DroppedAtEnd,
    /// Number of words; keep last.
    Count,
}

/// Histograms of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Metric {
    /// Release → first instruction after the sleep.
    Wakeup,
    /// Release → first FMI call; of a clock that datagrams tick, its release is the arrival.
    Start,
    /// Change of start intervals against release intervals.
    Jitter,
    /// First FMI call → last get done, less preemption.
    Execution,
    /// Release → last get done.
    Response,
    /// Preemption lock: from having it to giving it back.
    LockHold,
    /// Preemption lock: from asking for it to having it, when somebody else had it.
    LockWait,
    /// Number of histograms; keep last.
    Count,
}

const LOG_WORDS: usize = super::log::WORDS;
const FMU_HISTOGRAMS: usize = 2;
const FMU_FINDINGS: usize = FmuWord::Count as usize + FMU_HISTOGRAMS * histogram::WORDS;
const FMU_OVERFLOW: usize = FMU_FINDINGS + findings::WORDS;
const FMU_WORDS: usize = FMU_OVERFLOW + overflow::WORDS;
/// Whole cache lines.
const TASK_WORDS: usize = (TaskWord::Count as usize).next_multiple_of(LINE);
const TASK_HISTOGRAMS: usize = Metric::Count as usize * histogram::WORDS;

/// Where everything lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    fmus: usize,
    /// Where those of samples and notes begin, up to the promise.
    rings: usize,
    /// Per task: the ring of its samples, and words of each; `None`: it records nothing.
    samples: Vec<Option<(RingPlace, usize)>>,
    /// Per task: the ring of its notes; `None`: it makes none.
    notes: Vec<Option<RingPlace>>,
    /// Where those begin, to the end.
    commands: usize,
    /// Per instance: the rings of its lanes, two each (at once, timed), and that of its structural parameters.
    control: Vec<ControlLayout>,
    /// The ring of requests for ticks.
    requests: Option<CommandPlace>,
    /// The first word of each stimulus, and its shape.
    stimuli: Vec<(usize, Shape)>,
    /// Per task: where its time went.
    causes: Option<usize>,
    /// Per instance: how long calls of its functions took; empty where nobody wants to know.
    call_times: Vec<Range<usize>>,
    /// The words of all tasks are side by side, their histograms apart: every activation writes the words of its task, and
    /// with many tasks these would each be on a page of their own otherwise.
    tasks: usize,
    histograms: usize,
    /// How often functions were called: by each task, then outside of them, for each instance.
    calls: usize,
    log: usize,
    promise: promise::Region,
    /// Where those of `starts` begin.
    initial: usize,
    /// Per signal: a word that says whether a value was set or read during initialisation, and those of that value.
    starts: Vec<Range<usize>>,
    total: usize,
}

impl Layout {
    /// The layout for a plan.
    pub fn of(plan: &Plan) -> Layout {
        let fmus = Global::Count as usize;
        let tasks = (fmus + plan.fmus.len() * FMU_WORDS).next_multiple_of(LINE);
        let histograms = tasks + plan.units.len() * TASK_WORDS;
        let calls = (histograms + plan.units.len() * TASK_HISTOGRAMS).next_multiple_of(LINE);
        let log = calls + (plan.units.len() + plan.fmus.len()) * call_counts::WORDS;
        let initial = log + LOG_WORDS;
        let mut next = initial;
        let start = |signal: &SignalPlan| {
            let begin = next;
            next += 1 + signal.words();
            begin..next
        };
        let starts = plan.columns().map(start).collect();
        // Of inputs alone that nobody sets nothing is ever read, and their recording has its rows.
        let has_values = plan.units.iter().any(|task| plan.sample_words(task) > 0);
        let has_rows_of_time = plan.rows_of_time || !plan.signals.is_empty() && !has_values;
        let rings = next;
        let samples = |task: &UnitPlan| {
            let values = plan.sample_words(task);
            let length = SampleRing::length(values);
            let place = || RingPlace::after(&mut next, sample_words(plan, &task.release, 1 + length), length);
            (values > 0 || has_rows_of_time).then(place).map(|place| (place, length))
        };
        let samples = plan.units.iter().map(samples).collect();
        let notes = plan.units.iter().map(|task| notes::place(plan, task, &mut next)).collect();
        let promise = promise::Region::of(plan, &mut next);
        let causes = causes::region(plan, &mut next);
        let call_times = call_counts::times(plan, &mut next);
        let begin_of_commands = next;
        let control = plan.fmus.iter().map(|fmu| ControlLayout::of(fmu, &mut next)).collect();
        let requests = commands::requests(plan, &mut next);
        let stimuli = stimuli::places(plan, &mut next);
        Layout {
            fmus,
            tasks,
            histograms,
            calls,
            log,
            promise,
            initial,
            starts,
            rings,
            samples,
            notes,
            causes,
            call_times,
            commands: begin_of_commands,
            control,
            requests,
            stimuli,
            total: next,
        }
    }

    /// Size of the shared memory.
    pub fn words(&self) -> usize {
        self.total
    }
}

/// Words for two seconds of records, for at least 64 of them and at most half a mebibyte. In virtual time, where intervals are no
/// measure of how fast they come, for 4096, as long as all tasks together have no more than 64 MiB.
fn sample_words(plan: &Plan, release: &Release, record: usize) -> usize {
    const AT_MOST: usize = (1 << 19) / 8;
    const ALL: usize = (64 << 20) / 8;
    const MANY: usize = 4096;
    let wanted = match release {
        Release::Periodic { interval, .. } => {
            let seconds = (2.0 / interval.seconds()).ceil() as usize;
            let share = if plan.mode == Mode::Virtual { ALL / plan.units.len() / record } else { 0 };
            seconds.max(share.min(MANY))
        }
        _ => MANY,
    };
    wanted.saturating_mul(record).clamp(64 * record, AT_MOST.max(64 * record))
}

/// The shared memory, seen through its layout.
#[derive(Clone, Copy)]
pub struct Board<'a> {
    words: &'a [AtomicU64],
    layout: &'a Layout,
}

impl<'a> Board<'a> {
    /// The board in `words`.
    ///
    /// # Panics
    /// When there are fewer words than the layout needs.
    pub fn new(words: &'a [AtomicU64], layout: &'a Layout) -> Board<'a> {
        assert!(words.len() >= layout.total, "the shared memory is too small for the plan");
        Board { words, layout }
    }

    /// A word of the run.
    pub fn global(&self, word: Global) -> &'a AtomicU64 {
        &self.words[word as usize]
    }

    /// What the runner is doing.
    pub fn phase(&self) -> Phase {
        Phase::from_word(self.global(Global::Phase).load(SeqCst))
    }

    /// The runner enters a phase.
    pub fn set_phase(&self, phase: Phase) {
        self.global(Global::Phase).store(phase as u64, SeqCst);
    }

    /// The words of an instance.
    pub fn fmu(&self, fmu: FmuId) -> FmuCells<'a> {
        let start = self.layout.fmus + fmu.0 * FMU_WORDS;
        FmuCells { words: &self.words[start..start + FMU_WORDS] }
    }

    /// The words of a task.
    pub fn task(&self, task: UnitId) -> TaskCells<'a> {
        let words = self.layout.tasks + task.0 * TASK_WORDS;
        let histograms = self.layout.histograms + task.0 * TASK_HISTOGRAMS;
        TaskCells {
            words: self.words[words..words + TASK_WORDS].try_into().expect("as many words"),
            histograms: &self.words[histograms..histograms + TASK_HISTOGRAMS],
        }
    }

    /// The log.
    pub fn log(&self) -> LogRing<'a> {
        LogRing::new(&self.words[self.layout.log..self.layout.log + LOG_WORDS])
    }

    /// Notes the words of a value that was set or read during initialisation, or that a column had when the run was left that
    /// this one goes on with.
    pub fn set_initial(&self, signal: SignalId, value: impl IntoIterator<Item = u64>) {
        let own = &self.words[self.layout.starts[signal.0].clone()];
        own[1..].iter().zip(value).for_each(|(place, word)| place.store(word, Relaxed));
        own[0].store(1, SeqCst);
    }

    /// The words of [that value](Board::set_initial), if there is one, and what room is left behind it.
    pub fn initial(&self, signal: SignalId) -> Option<impl Iterator<Item = u64> + use<'a>> {
        let words: &'a [AtomicU64] = &self.words[self.layout.starts[signal.0].clone()];
        (words[0].load(SeqCst) == 1).then(|| words[1..].iter().map(|word| word.load(Relaxed)))
    }

    /// The commands of a lane: those for at once, and those with a time.
    pub fn lane(&self, fmu: FmuId, lane: usize) -> [CommandRing<'a>; 2] {
        self.layout.control[fmu.0].lanes[lane].map(|place| place.ring(self.words))
    }

    /// The commands for structural parameters; `None` when there are none that can be set.
    pub fn structure(&self, fmu: FmuId) -> Option<CommandRing<'a>> {
        self.layout.control[fmu.0].structure.map(|place| place.ring(self.words))
    }

    /// The requests for ticks; `None`: nothing ticks on request.
    pub fn requests(&self) -> Option<CommandRing<'a>> {
        self.layout.requests.map(|place| place.ring(self.words))
    }

    /// The samples of a task; `None`: it records nothing.
    pub fn samples(&self, task: UnitId) -> Option<SampleRing<'a>> {
        self.layout.samples[task.0].map(|(place, length)| SampleRing { ring: place.ring(self.words), length })
    }

    /// The notes of a task; `None` in virtual time when nothing is traced.
    pub fn notes(&self, task: UnitId) -> Option<Ring<'a>> {
        self.layout.notes[task.0].map(|place| place.ring(self.words))
    }

    /// In virtual time: the number of the next thing that is noted. One thread at a time.
    pub fn next_in_order(&self) -> u64 {
        let order = self.global(Global::TraceOrder);
        let number = order.load(Relaxed).wrapping_add(1);
        order.store(number, Relaxed);
        number
    }
}

/// The words of an instance.
#[derive(Clone, Copy)]
pub struct FmuCells<'a> {
    words: &'a [AtomicU64],
}

impl<'a> FmuCells<'a> {
    /// One of them.
    pub fn word(&self, word: FmuWord) -> &'a AtomicU64 {
        &self.words[word as usize]
    }

    /// Adds to a counter that several threads write.
    pub fn count(&self, word: FmuWord, amount: u64) {
        self.word(word).fetch_add(amount, Relaxed);
    }

    /// Lock hold times outside of activations.
    pub fn hold(&self) -> histogram::HistogramWriter<'a> {
        histogram::HistogramWriter::new(&self.words[FmuWord::Count as usize..])
    }

    /// Lock wait times outside of activations.
    pub fn wait(&self) -> histogram::HistogramWriter<'a> {
        histogram::HistogramWriter::new(&self.words[FmuWord::Count as usize + histogram::WORDS..])
    }

    /// Offences of the instance against the standard.
    pub fn findings(&self) -> FindingCells<'a> {
        FindingCells::new(&self.words[FMU_FINDINGS..])
    }

    /// The newest lines of an FMU for which the log had no room.
    pub fn overflow(&self) -> Overflow<'a> {
        Overflow::new(&self.words[FMU_OVERFLOW..])
    }

    /// Notes a failure, if it is the first one of this instance. `reading`: the call itself went well, but what it gave is
    /// of no use.
    pub fn fail(&self, failed: FailedCall, task: Option<UnitId>, time: Instant, reading: Option<Unusable>) {
        let FailedCall { status, function, answer } = failed;
        if self.word(FmuWord::FailureStatus).compare_exchange(0, status, SeqCst, SeqCst).is_ok() {
            let set = |word: FmuWord, value: u64| self.word(word).store(value, Relaxed);
            set(FmuWord::FailureAnswer, answer.map_or(0, |answer| u64::from(answer as u32) + 1));
            set(FmuWord::FailureFunction, function + 1);
            set(FmuWord::FailureTask, task.map_or(0, |task| task.0 as u64 + 1));
            let times = [FmuWord::FailureTime, FmuWord::FailureTime1, FmuWord::FailureTime2];
            times.into_iter().zip(time.to_words()).for_each(|(word, value)| set(word, value));
            let readings = [FmuWord::FailureReading, FmuWord::FailureValue, FmuWord::FailureValue1];
            let words = reading.map_or([0; 3], Unusable::to_words);
            readings.into_iter().zip(words).for_each(|(word, value)| set(word, value));
        }
    }

    /// The value returned by the failed call, if it is no status.
    pub fn failed_answer(&self) -> Option<i32> {
        let word = self.word(FmuWord::FailureAnswer).load(SeqCst);
        word.checked_sub(1).map(|bits| bits as u32 as i32)
    }

    /// The reading that is the failure, if that is one.
    pub fn failed_reading(&self) -> Option<Unusable> {
        let words = [FmuWord::FailureReading, FmuWord::FailureValue, FmuWord::FailureValue1];
        Unusable::from_words(words.map(|word| self.word(word).load(SeqCst)))
    }
}

/// The words of a task.
#[derive(Clone, Copy)]
pub struct TaskCells<'a> {
    words: &'a [AtomicU64; TASK_WORDS],
    histograms: &'a [AtomicU64],
}

impl<'a> TaskCells<'a> {
    /// One of them.
    #[inline]
    pub fn word(&self, word: TaskWord) -> &'a AtomicU64 {
        &self.words[word as usize]
    }

    /// The value of a word of the task.
    pub fn get(&self, word: TaskWord) -> u64 {
        self.word(word).load(Relaxed)
    }

    /// Adds to a counter; its task's thread only.
    pub fn count(&self, word: TaskWord, amount: u64) {
        let word = self.word(word);
        word.store(word.load(Relaxed).wrapping_add(amount), Relaxed);
    }

    /// Adds to a counter that other threads write as well. Who reads the new count with `Acquire` sees what was written before.
    pub fn count_shared(&self, word: TaskWord, amount: u64) {
        self.word(word).fetch_add(amount, Ordering::Release);
    }

    /// One of its histograms.
    pub fn histogram(&self, metric: Metric) -> histogram::HistogramWriter<'a> {
        let start = metric as usize * histogram::WORDS;
        histogram::HistogramWriter::new(&self.histograms[start..start + histogram::WORDS])
    }

    /// The activation time of the current or last activation.
    pub fn time(&self) -> Instant {
        Instant::from_words([self.get(TaskWord::Time), self.get(TaskWord::Time1), self.get(TaskWord::Time2)])
    }

    /// Sets it.
    #[inline]
    pub fn set_time(&self, time: &Instant) {
        for (place, word) in [TaskWord::Time, TaskWord::Time1, TaskWord::Time2].into_iter().zip(time.to_words()) {
            self.word(place).store(word, Relaxed);
        }
    }
}

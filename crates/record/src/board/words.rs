//! The words of the shared memory: of the run, of each instance, of each task.

/// Words of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Global {
    /// [`Phase`](super::Phase) of the runner.
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
    /// The calls that are no activations: whose they are, and the function ([`OutsideCall`](super::OutsideCall)).
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
    /// 1 + index of the task on whose thread the crash happened; 0: none.
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
    /// The delay at which the overrun was seen, ns.
    OverrunLate,
    /// Written by the supervisor: 1 + index of the task that has overrun and whose overrun ends the run (`overrun = "stop"`); 0:
    /// none.
    OverdueTask,
    /// Callbacks that no instance could be told of (`vecud_fmi::foreign_calls`), in this run.
    ForeignCalls,
    /// A callback of ours panicked (our defect).
    Panicked,
    /// CLOCK_MONOTONIC at the end of the simulation, ns.
    Ended,
    /// A call of the C library had been refused memory before a crash: 1.
    OutOfMemory,
    /// 1: FMU code printed too much, and the rest is discarded.
    LogCut,
    /// Written by the supervisor: the number of times that `run.log` was restarted.
    LogNumber,
    /// The number to which the runner has followed: it prints to the file that was begun then.
    LogFollowed,
    /// The last report on the runner's threads ([`ThreadsState`](super::ThreadsState)).
    Threads,
    /// Kernel's id of the thread that receives datagrams; 0: there is none.
    ReceiverTid,
    /// Kernel's id of a watchdog that has to run above all partitions; 0: there is none.
    WatchdogTid,
    /// In virtual time: counts all events that a trace notes.
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

/// The scheduling of threads.
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
    /// Defect of the interval or shift that was read, if that is the failure ([`Unusable`](crate::unusable::Unusable)); else 0.
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
    /// Wall clock of the last activation's last get, ns; in real time. Every activation writes the words up to here: one
    /// cache line.
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
    /// Number of locked sections whose priority the operating system has refused to raise.
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
    /// Further words of the origin.
    Origin1,
    /// Further words of the origin.
    Origin2,
    /// The task's thread has left: it releases nothing any more.
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
    /// The number of entries into Event Mode after a step, or before one.
    Events,
    /// The furthest that a step without early return was away from its communication point by the FMU's word, s, as the bits of an
    /// `f64`.
    Deviation,
    /// Steps of the solver that has integrated the FMU.
    SolverSteps,
    /// Number of steps of the solver that were made smaller, for their error or because the FMU has discarded them.
    SolverRejected,
    /// Number of evaluations of derivatives.
    RightHandSides,
    /// The most evaluations of derivatives in one release.
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

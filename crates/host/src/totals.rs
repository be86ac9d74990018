//! Shared memory → what a run has counted so far, for whoever asks again and again.
//!
//! Guarantees: it only reads, and what it reads is some thousand words of each clock, whatever these hold. Of two looks at the same run
//! the later one has no smaller figure: counters and the buckets of histograms only grow. FMU code can write anywhere, also over them;
//! whatever they hold then, no sum overflows. The words are not of one instant: an activation that ends meanwhile may be in its
//! clock's counter and not in its histograms yet.

use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::Nanos;
use vecud_plan::{FmuId, Mode, Plan, UnitId};
use vecud_record::board::{Board, Global, Metric, TaskWord};
use vecud_record::histogram::{HistogramWriter, SparseHistogram};
use vecud_report::Scheduling;

/// What a run has counted so far.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Who drives time.
    pub mode: Mode,
    /// How threads are scheduled.
    pub scheduling: Scheduling,
    /// Simulation time that has passed since the start of the run, s.
    pub simulated_s: f64,
    /// The figures of each task, in merged order.
    pub clocks: Vec<ClockTotals>,
    /// What the preemption lock of each instance has counted, in rig order.
    pub locks: Vec<LockTotals>,
    /// How much was recorded.
    pub recorded: RecordedTotals,
}

/// How much was recorded so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedTotals {
    /// Rows that have come to the files.
    pub rows: u64,
    /// Bytes that were written to them.
    pub bytes: u64,
    /// Samples that came too late for their row.
    pub late: u64,
    /// Files that ended early, or could not be written at all: `run.log` too.
    pub broken: u64,
}

/// What a task has counted so far.
#[derive(Clone, Debug)]
pub struct ClockTotals {
    /// Name of the instance in the rig.
    pub fmu: String,
    /// Name of the clock, or of the task that makes steps.
    pub clock: String,
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
    /// Pending ticks that were thrown away.
    pub discarded: u64,
    /// Samples for which there was no room.
    pub samples_dropped: u64,
    /// How long what took; `None` in virtual time, where nothing is late.
    pub latencies: Option<Latencies>,
}

/// How long activations of a task took, and what came before them.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// Release → first instruction after the sleep.
    pub wakeup: Durations,
    /// Release → first FMI call.
    pub start: Durations,
    /// First FMI call → last get done, less preemption.
    pub execution: Durations,
    /// Release → last get done.
    pub response: Durations,
}

/// What the preemption lock of an instance has counted so far.
#[derive(Clone, Debug)]
pub struct LockTotals {
    /// Name of the instance in the rig.
    pub fmu: String,
    /// From lock to unlock, once for each outermost acquisition.
    pub hold: Durations,
    /// From asking for it to having it, when somebody else had it.
    pub wait: Durations,
}

/// Durations, in buckets.
#[derive(Clone, Debug)]
pub struct Durations {
    counts: SparseHistogram,
    sum: u64,
}

impl Durations {
    fn of(histogram: HistogramWriter) -> Durations {
        // The sum first: what comes meanwhile is in the buckets alone, as if it had taken no time.
        let sum = histogram.sum();
        Durations { counts: histogram.counts(), sum }
    }

    fn add(&mut self, other: &Durations) {
        self.counts.add(&other.counts);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.counts.total()
    }

    /// All of them together, s.
    pub fn sum_s(&self) -> f64 {
        self.sum as f64 / 1e9
    }

    /// How many there are up to each bound, ns, and beyond the one before; last, how many beyond all bounds. None that exceeds a bound
    /// is counted below it; one that is less than 1/128 below it may be counted beyond.
    pub fn between(&self, bounds: &[u64]) -> Vec<u64> {
        self.counts.between(bounds)
    }
}

/// What the run has counted so far. `overruns`: those of each task; `recorded`: how much was recorded by the last look.
pub fn totals(plan: &Plan, board: Board, overruns: &[u64], recorded: RecordedTotals) -> Totals {
    Totals {
        mode: plan.mode,
        scheduling: scheduling(board),
        simulated_s: Nanos(board.global(Global::Reached).load(SeqCst) as i64).seconds(),
        clocks: overruns.iter().enumerate().map(|(task, own)| clock(plan, board, UnitId(task), *own)).collect(),
        locks: (0..plan.fmus.len()).map(|fmu| lock(plan, board, FmuId(fmu))).collect(),
        recorded,
    }
}

fn clock(plan: &Plan, board: Board, task: UnitId, overruns: u64) -> ClockTotals {
    let (planned, cells) = (&plan.units[task.0], board.task(task));
    let durations = |metric| Durations::of(cells.histogram(metric));
    let latencies = || Latencies {
        wakeup: durations(Metric::Wakeup),
        start: durations(Metric::Start),
        execution: durations(Metric::Execution),
        response: durations(Metric::Response),
    };
    ClockTotals {
        fmu: plan.fmus[planned.fmu.0].name.clone(),
        clock: planned.name.clone(),
        activations: cells.get(TaskWord::Activations),
        overruns,
        skipped: cells.get(TaskWord::Skipped),
        coalesced: cells.get(TaskWord::Coalesced),
        retimed: cells.get(TaskWord::Retimed).saturating_add(cells.get(TaskWord::LateEvents)),
        discarded: cells.get(TaskWord::Discarded),
        samples_dropped: cells.get(TaskWord::SamplesDropped),
        latencies: (plan.mode == Mode::RealTime).then(latencies),
    }
}

fn lock(plan: &Plan, board: Board, fmu: FmuId) -> LockTotals {
    let words = board.fmu(fmu);
    let (mut hold, mut wait) = (Durations::of(words.hold()), Durations::of(words.wait()));
    for task in (0..plan.units.len()).map(UnitId).filter(|task| plan.units[task.0].fmu == fmu) {
        let cells = board.task(task);
        hold.add(&Durations::of(cells.histogram(Metric::LockHold)));
        wait.add(&Durations::of(cells.histogram(Metric::LockWait)));
    }
    LockTotals { fmu: plan.fmus[fmu.0].name.clone(), hold, wait }
}

/// How the runner schedules.
pub fn scheduling(board: Board) -> Scheduling {
    match board.global(Global::Scheduling).load(SeqCst) {
        1 => Scheduling::Fifo,
        3 => Scheduling::Virtual,
        _ => Scheduling::Cooperative,
    }
}

//! Counts of a run so far, read from shared memory, for frequent requests.
//!
//! Guarantees: it only reads, some thousand words for each clock, whatever they contain. Of two readings of the same
//! run the later one has no smaller figure: counters and the buckets of histograms only grow. FMU code can overwrite
//! them; even then no sum overflows. The words are not of one instant: an activation that ends during the reading may
//! be in its clock's counter and not in its histograms yet.

use std::sync::atomic::Ordering::SeqCst;
use vecud_base::time::Nanos;
use vecud_plan::{FmuId, Mode, Plan, UnitId};
use vecud_record::board::{Board, Global, Metric, TaskWord};
use vecud_record::histogram::{HistogramWriter, SparseHistogram};
use vecud_report::Scheduling;

/// Counts of a run so far.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Mode of the run: real time or virtual time.
    pub mode: Mode,
    /// Scheduling of the threads.
    pub scheduling: Scheduling,
    /// Simulation time that has passed since the start of the run, s.
    pub simulated_s: f64,
    /// The figures of each task, in merged order.
    pub clocks: Vec<ClockTotals>,
    /// Figures of each instance's preemption lock, in rig order.
    pub locks: Vec<LockTotals>,
    /// Amount of recorded data.
    pub recorded: RecordedTotals,
}

/// Amount of recorded data so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedTotals {
    /// Rows written to the files.
    pub rows: u64,
    /// Bytes written to the files.
    pub bytes: u64,
    /// Samples that arrived after their row was written.
    pub late: u64,
    /// Files that ended early, or could not be written at all: `run.log` too.
    pub broken: u64,
}

/// Counts of a task so far.
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
    /// Number of pending ticks that were discarded.
    pub discarded: u64,
    /// Number of samples without room.
    pub samples_dropped: u64,
    /// Durations; `None` in virtual time, where nothing is late.
    pub latencies: Option<Latencies>,
}

/// Durations of a task's activations, and of the delays before them.
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

/// Figures of an instance's preemption lock so far.
#[derive(Clone, Debug)]
pub struct LockTotals {
    /// Name of the instance in the rig.
    pub fmu: String,
    /// Time from lock to unlock, once for each outermost acquisition.
    pub hold: Durations,
    /// Time from request to acquisition, if another task held it.
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
        // The sum is read first: later values are then only in the buckets, as if they were zero.
        let sum = histogram.sum();
        Durations { counts: histogram.counts(), sum }
    }

    fn add(&mut self, other: &Durations) {
        self.counts.add(&other.counts);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.counts.total()
    }

    /// Sum of all durations, s.
    pub fn sum_s(&self) -> f64 {
        self.sum as f64 / 1e9
    }

    /// Counts between consecutive bounds, ns, and last, the count beyond all bounds. A value above a bound is never
    /// counted below it; a value less than 1/128 below a bound may be counted above it.
    pub fn between(&self, bounds: &[u64]) -> Vec<u64> {
        self.counts.between(bounds)
    }
}

/// Counts of the run so far. `overruns`: those of each task; `recorded`: amount of recorded data at the last check.
pub fn totals(plan: &Plan, board: Board, overruns: &[u64], recorded: RecordedTotals) -> Totals {
    Totals {
        mode: plan.mode,
        scheduling: scheduling(board),
        simulated_s: Nanos(board.global(Global::Reached).load(SeqCst) as i64).seconds(),
        clocks: overruns.iter().enumerate().map(|(unit, own)| clock(plan, board, UnitId(unit), *own)).collect(),
        locks: (0..plan.fmus.len()).map(|fmu| lock(plan, board, FmuId(fmu))).collect(),
        recorded,
    }
}

fn clock(plan: &Plan, board: Board, unit: UnitId, overruns: u64) -> ClockTotals {
    let (planned, cells) = (&plan.units[unit.0], board.task(unit));
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
    for unit in (0..plan.units.len()).map(UnitId).filter(|unit| plan.units[unit.0].fmu == fmu) {
        let cells = board.task(unit);
        hold.add(&Durations::of(cells.histogram(Metric::LockHold)));
        wait.add(&Durations::of(cells.histogram(Metric::LockWait)));
    }
    LockTotals { fmu: plan.fmus[fmu.0].name.clone(), hold, wait }
}

/// Scheduling of the runner.
pub fn scheduling(board: Board) -> Scheduling {
    match board.global(Global::Scheduling).load(SeqCst) {
        1 => Scheduling::Fifo,
        3 => Scheduling::Virtual,
        _ => Scheduling::Cooperative,
    }
}

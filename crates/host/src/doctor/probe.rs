//! Wake-up latency of a thread on each core, without any FMU: measured like cyclictest, with the sleep that partitions
//! use.
//!
//! One thread per core, pinned, at the highest priority of the band that is granted (else an ordinary thread, and the
//! result says so), sleeps to absolute instants 1 ms apart. All cores at once: a rig uses them at once, so their mutual
//! cost (shared caches, a hypervisor that gives its cores away) belongs to the answer; their instants are spread over
//! the period, so that they do not all wake together. Every instant counts, also those that were slept through.

use super::facts::Interrupts;
use super::{Target, Tree};
use nix::sys::resource::{UsageWho, getrusage};
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use vecud_linux::stop::StopToken;
use vecud_linux::wake::{WakeWord, Wakening, monotonic_now};
use vecud_linux::{SysError, affinity, memory, scheduling, thread};
use vecud_record::histogram::{Histogram, HistogramWriter, WORDS};

/// Interval between two instants, ns.
pub const PERIOD: i64 = 1_000_000;
/// Instants before the measurement: they bring code and stack into memory.
const WARM_UP: i64 = 10;
const STACK: usize = 256 * 1024;
/// Probes are compared by their parts: the greatest number of parts, and the least number of instants in a part.
const MOST_PARTS: usize = 10;
const SHORTEST_PART: i64 = 100;

/// Result of a probe.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Duration, s.
    pub seconds: f64,
    /// The user ended the probe early.
    pub cut_short: bool,
    /// Result of each core.
    pub cores: Vec<CoreProbe>,
    /// Counts of interrupts at the end of the probe; the facts have those at the beginning.
    pub interrupts: Interrupts,
}

/// Result of one core.
#[derive(Clone, Debug)]
pub struct CoreProbe {
    /// The number of the core.
    pub cpu: usize,
    /// The `SCHED_FIFO` priority; `None`: an ordinary thread.
    pub priority: Option<u8>,
    /// Wake-up latencies, ns; empty if the thread could not run on the core.
    pub latency: Histogram,
    /// Figures of the parts of the probe in order, without the parts in which the thread never woke.
    pub parts: Vec<ProbePart>,
    /// Page faults of the thread, small and large.
    pub faults: u64,
    /// Number of preemptions of the thread.
    pub preempted: u64,
    /// Reason why the thread could not run on the core.
    pub refused: Option<String>,
}

/// A part of a core's probe, ns.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub struct ProbePart {
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Maximum.
    pub max_ns: u64,
}

/// Progress of a running probe.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Elapsed time, s.
    pub elapsed: f64,
    /// Greatest latency so far, ns, by core.
    pub worst: Vec<(usize, u64)>,
}

/// Measures for a duration, or until the user asks for the end. `tell` is called a few times per second.
pub fn run(
    target: &Target,
    fifo: Option<u8>,
    length: Duration,
    tree: &Tree,
    stop: &StopToken,
    mut tell: impl FnMut(&Progress),
) -> Result<Probe, SysError> {
    // Moves this thread off the measured cores. Where there is no other core it stays, with an ordinary priority.
    let _as_far_as_it_goes = affinity::keep_off(&target.cpus);
    let priority = fifo.map(|highest| highest.min(target.band.1));
    let begin = monotonic_now() + 20 * PERIOD;
    let end = begin + i64::try_from(length.as_nanos()).unwrap_or(i64::MAX / 2);
    let mut threads = Vec::new();
    for (index, &cpu) in target.cpus.iter().enumerate() {
        let shared = Arc::new((WakeWord::new(), AtomicU64::new(0)));
        let theirs = Arc::clone(&shared);
        let first = begin + PERIOD * index as i64 / target.cpus.len() as i64;
        let thread = thread::spawn("vecud.probe", STACK, move || probe(cpu, priority, first, end, &theirs))?;
        threads.push((cpu, shared, thread));
    }
    let mut cut_short = false;
    while !cut_short && monotonic_now() < end {
        let left = Duration::from_nanos((end - monotonic_now()).max(0) as u64);
        std::thread::sleep(left.min(Duration::from_millis(100)));
        cut_short = stop.is_asked();
        let worst = threads.iter().map(|(cpu, shared, _)| (*cpu, shared.1.load(Relaxed))).collect();
        tell(&Progress { elapsed: (monotonic_now() - begin).max(0) as f64 / 1e9, worst });
    }
    let ended = monotonic_now().min(end);
    if cut_short {
        threads.iter().for_each(|(_, shared, _)| shared.0.wake());
    }
    let cores = threads.into_iter().map(|(cpu, _, thread)| {
        thread.join().unwrap_or_else(|_| CoreProbe {
            refused: Some("its thread has ended early".to_owned()),
            ..CoreProbe::nothing(cpu)
        })
    });
    Ok(Probe {
        cores: cores.collect(),
        seconds: (ended - begin).max(0) as f64 / 1e9,
        cut_short,
        interrupts: Interrupts::read(tree),
    })
}

impl CoreProbe {
    /// Makes a result without a measurement.
    pub fn nothing(cpu: usize) -> CoreProbe {
        CoreProbe {
            cpu,
            priority: None,
            latency: Histogram::default(),
            parts: Vec::new(),
            faults: 0,
            preempted: 0,
            refused: None,
        }
    }
}

fn probe(cpu: usize, priority: Option<u8>, first: i64, end: i64, shared: &(WakeWord, AtomicU64)) -> CoreProbe {
    let mut result = CoreProbe::nothing(cpu);
    // Set before the thread becomes FIFO, a policy under which some kernels hide the slack.
    let _as_far_as_it_goes = thread::minimize_timer_slack().and_then(|()| thread::block_signals());
    if let Err(error) = affinity::pin_to(cpu) {
        result.refused = Some(error.cause());
        return result;
    }
    result.priority = priority.filter(|priority| scheduling::set_fifo(*priority).is_ok());
    memory::prefault_stack(STACK / 4);
    let parts = usize::try_from((end - first) / (SHORTEST_PART * PERIOD)).unwrap_or(0).clamp(1, MOST_PARTS);
    let words: Vec<Vec<AtomicU64>> = (0..parts).map(|_| (0..WORDS).map(|_| AtomicU64::new(0)).collect()).collect();
    let warm: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
    cycle(&shared.0, first - WARM_UP * PERIOD, first, &HistogramWriter::new(&warm), &AtomicU64::new(0));
    let before = usage();
    let mut next = first;
    for (part, words) in words.iter().enumerate() {
        let end_of_part = first + (end - first) * (part as i64 + 1) / parts as i64;
        next = cycle(&shared.0, next, end_of_part, &HistogramWriter::new(words), &shared.1);
    }
    let after = usage();
    (result.faults, result.preempted) = (after.0.saturating_sub(before.0), after.1.saturating_sub(before.1));
    for words in &words {
        let part = HistogramWriter::new(words).read();
        if part.count() > 0 {
            let [p50_ns, p99_ns] = [0.5, 0.99].map(|part_of| part.quantile(part_of));
            result.parts.push(ProbePart { p50_ns, p99_ns, max_ns: part.max() });
        }
        result.latency.add(&part);
    }
    result
}

/// Wakes at each instant from `next` to before `end`, or until it is woken; returns the next instant. Allocates
/// nothing.
fn cycle(word: &WakeWord, mut next: i64, end: i64, recorder: &HistogramWriter, worst: &AtomicU64) -> i64 {
    while next < end && word.wait_until(0, Some(next)) == Wakening::TimedOut {
        let late = monotonic_now() - next;
        recorder.record(late);
        worst.fetch_max(late.max(0) as u64, Relaxed);
        next += PERIOD;
    }
    next
}

/// Counts of this thread: page faults, and preemptions.
fn usage() -> (u64, u64) {
    getrusage(UsageWho::RUSAGE_THREAD).map_or((0, 0), |usage| {
        let faults = usage.minor_page_faults() + usage.major_page_faults();
        (faults as u64, usage.involuntary_context_switches() as u64)
    })
}

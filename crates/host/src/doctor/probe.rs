//! How late a thread wakes on each core, without any FMU: what cyclictest measures, by the sleep that partitions use.
//!
//! One thread per core, pinned, at the highest priority of the band that is granted (else an ordinary thread, which says
//! so), sleeps to absolute instants 1 ms apart. All cores at once: a rig uses them at once, so what they cost each other
//! (shared caches, a hypervisor that gives its cores away) belongs to the answer; their instants are spread over the
//! period, so that they do not all wake together. Every instant counts, also those that were slept through.

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

/// Between two instants, ns.
pub const PERIOD: i64 = 1_000_000;
/// Instants before those that count: code and stack are there afterwards.
const WARM_UP: i64 = 10;
const STACK: usize = 256 * 1024;
/// A probe is compared by its parts: so many at most, each of so many instants at least.
const MOST_PARTS: usize = 10;
const SHORTEST_PART: i64 = 100;

/// What was measured.
#[derive(Clone, Debug)]
pub struct Probe {
    /// How long, s.
    pub seconds: f64,
    /// Somebody ended it early.
    pub cut_short: bool,
    /// What was measured on each core.
    pub cores: Vec<CoreProbe>,
    /// The interrupts at its end; those at its beginning are in the facts.
    pub interrupts: Interrupts,
}

/// One core.
#[derive(Clone, Debug)]
pub struct CoreProbe {
    /// The number of the core.
    pub cpu: usize,
    /// The `SCHED_FIFO` priority; `None`: an ordinary thread.
    pub priority: Option<u8>,
    /// How late it woke, ns; no value at all where it could not be there.
    pub latency: Histogram,
    /// Figures of the parts of the probe, one after the other, without those in which the thread never woke.
    pub parts: Vec<ProbePart>,
    /// Page faults of the thread, small and large.
    pub faults: u64,
    /// How often something else took the core away from it.
    pub preempted: u64,
    /// Why it could not run there.
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

/// What is going on.
#[derive(Clone, Debug)]
pub struct Progress {
    /// s.
    pub elapsed: f64,
    /// The latest wake-up so far, ns, by core.
    pub worst: Vec<(usize, u64)>,
}

/// Measures for so long, or until somebody asks for the end. `tell` is called a few times per second.
pub fn run(
    target: &Target,
    fifo: Option<u8>,
    length: Duration,
    tree: &Tree,
    stop: &StopToken,
    mut tell: impl FnMut(&Progress),
) -> Result<Probe, SysError> {
    // This thread has other work. Where there is no other core it stays, with an ordinary priority.
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
    /// No measurement.
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
    // Before it becomes FIFO, which hides the slack from some kernels.
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

/// Wakes at each instant from `next` to before `end`, or until somebody wakes it; returns the instant that is next. Allocates nothing.
fn cycle(word: &WakeWord, mut next: i64, end: i64, recorder: &HistogramWriter, worst: &AtomicU64) -> i64 {
    while next < end && word.wait_until(0, Some(next)) == Wakening::TimedOut {
        let late = monotonic_now() - next;
        recorder.record(late);
        worst.fetch_max(late.max(0) as u64, Relaxed);
        next += PERIOD;
    }
    next
}

/// Page faults, and how often the core was taken away.
fn usage() -> (u64, u64) {
    getrusage(UsageWho::RUSAGE_THREAD).map_or((0, 0), |usage| {
        let faults = usage.minor_page_faults() + usage.major_page_faults();
        (faults as u64, usage.involuntary_context_switches() as u64)
    })
}

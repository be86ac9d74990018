//! `report.json` and `histograms.hlog` → the [`Run`] that they were written of.
//!
//! `report.json` alone has every figure and the summary of each histogram: enough to compare runs. The histograms
//! themselves, from which figures are drawn, are in the log; both must be of the same run. A run that was written and read
//! back gives the same page, byte for byte.
//!
//! A field that is missing is an error that says which version wrote the file.

use super::file::{self, ClockFile, Figures, FmuFile, HostFile, ReportFile};
use super::hlog::tag;
use super::{
    ClockResult, DatagramResult, End, FmuResult, FmuStatus, Host, LockResult, Problem, Run, Scheduling, Severity,
    status,
};
use crate::fmu::description::IntervalVariability as Kind;
use crate::plan::Mode;
use crate::plan::words::kind_name;
use crate::priority::{FifoPriority, FmiPriority};
use crate::record::histogram::Histogram;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use std::fmt;
use std::io::Read;

/// Why a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Line and column, where there is one.
    pub place: Option<(usize, usize)>,
    /// What is wrong, and what to do.
    pub message: String,
    /// The log has it, not the report.
    pub in_log: bool,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl ReportFile {
    /// Reads `report.json`.
    ///
    /// # Errors
    /// It is no JSON, no report of vecud, or one of a version with other fields.
    pub fn parse(text: &str) -> Result<ReportFile, ReadError> {
        serde_json::from_str(text).map_err(|error| {
            let place = (error.line() > 0).then(|| (error.line(), error.column()));
            let message = error.to_string();
            let what = message.split(" at line ").next().unwrap_or(&message);
            let ours = env!("CARGO_PKG_VERSION");
            let version = serde_json::from_str::<serde_json::Value>(text).ok().map(|value| value["version"].clone());
            let message = match version.as_ref().map(|version| version.as_str()) {
                None => format!("{what}: this file is damaged or no report.json; take another copy, or run the rig again"),
                Some(None) => format!("{what}: this is no report.json of vecud"),
                Some(Some(theirs)) if theirs != ours => format!(
                    "{what}: vecud {theirs} wrote this report, this is vecud {ours}; read it with that version, or run the \
                     rig again"
                ),
                Some(Some(_)) => format!("{what}: this report was changed or damaged; run the rig again"),
            };
            ReadError { place, message, in_log: false }
        })
    }

    /// The verdict: "pass" or "fail".
    pub fn verdict(&self) -> &str {
        &self.verdict
    }

    /// Simulation time at which the run ended, s.
    pub fn end_time(&self) -> f64 {
        self.end_time
    }

    /// Whether there are histograms, so that [`ReportFile::rebuild`] needs the log.
    pub fn has_histograms(&self) -> bool {
        self.histograms().any(|figures| figures.count > 0)
    }

    fn histograms(&self) -> impl Iterator<Item = &Figures> {
        let clocks = self.clocks.iter().flat_map(|clock| {
            let all = [&clock.wakeup_latency, &clock.start_latency, &clock.start_jitter];
            let all = all.into_iter().chain([&clock.execution, &clock.response]).chain(clock.parts.figures());
            all.chain(&clock.arrival_latency)
        });
        clocks.chain(self.fmus.iter().flat_map(|fmu| [&fmu.lock.hold, &fmu.lock.wait]))
    }

    /// The run, with the histograms of this `histograms.hlog`.
    ///
    /// # Errors
    /// The log is damaged or of another run ([`ReadError::in_log`]), or the report has words that this version does not know.
    pub fn rebuild(&self, log: &str) -> Result<Run, ReadError> {
        let mut log = Log { lines: IntervalLogIterator::new(log.as_bytes()) };
        let clocks: Vec<ClockResult> =
            self.clocks.iter().map(|clock| clock.rebuild(&mut log)).collect::<Result<_, _>>()?;
        let fmus: Vec<FmuResult> = self.fmus.iter().map(|fmu| fmu.rebuild(&mut log)).collect::<Result<_, _>>()?;
        let problems = self.problems.iter().zip(&self.problem_severities).map(|(message, word)| {
            let all = [Severity::Failure, Severity::Limit, Severity::Finding, Severity::Warning];
            Ok(Problem::told(known("severity", &all, file::severity, word)?, message.as_str(), &fmus, &clocks))
        });
        let problems = problems.collect::<Result<_, ReadError>>()?;
        Ok(Run {
            rig: self.rig.clone(),
            version: self.version.clone(),
            mode: known("mode", &[Mode::RealTime, Mode::Virtual], file::mode, &self.mode)?,
            started: self.started.clone(),
            start_monotonic_ns: self.start_monotonic_ns,
            start_time: self.start_time,
            end_time: self.end_time,
            wall_seconds: self.wall_seconds,
            end: known("end", &[End::StopTime, End::Overrun, End::Signal, End::Failure], file::end, &self.end)?,
            problems,
            notes: self.notes.clone(),
            host: self.host.rebuild()?,
            fmus,
            clocks,
            connections: self.connections.clone(),
            promise: self.promise.clone(),
            stimuli: self.stimuli.clone(),
            trace: self.trace.clone(),
            repetition: self.repetition,
            samples_dropped: self.samples_dropped,
            log_dropped: self.log_dropped,
        })
    }
}

impl HostFile {
    fn rebuild(&self) -> Result<Host, ReadError> {
        let all = [Scheduling::Fifo, Scheduling::Cooperative, Scheduling::Virtual];
        let band = |[low, high]: [u8; 2]| Ok::<_, ReadError>((fifo(low)?, fifo(high)?));
        Ok(Host {
            kernel: self.kernel.clone(),
            preempt_rt: self.preempt_rt,
            scheduling: known("scheduling", &all, file::scheduling, &self.scheduling)?,
            fifo_band_asked: band(self.fifo_band_asked)?,
            fifo_band_used: self.fifo_band_used.map(band).transpose()?,
            memory_locked: self.memory_locked,
            memory_locked_bytes: self.memory_locked_bytes,
            memory_wanted_bytes: self.memory_wanted_bytes,
            dma_latency_held: self.dma_latency_held,
            clock: self.clock.clone(),
            spin_us: self.spin_us,
            cpu_model: self.cpu_model.clone(),
            cpus_online: self.cpus_online,
            isolated_cpus: self.isolated_cpus.clone(),
            facts: self.facts.iter().map(|fact| (fact.name.clone(), fact.value.clone())).collect(),
        })
    }
}

impl FmuFile {
    fn rebuild(&self, log: &mut Log) -> Result<FmuResult, ReadError> {
        use FmuStatus::*;
        Ok(FmuResult {
            name: self.name.clone(),
            path: self.path.clone(),
            status: known("status", &[Terminated, Error, Fatal, Aborted, Crashed, Hung], status, &self.status)?,
            lock: LockResult {
                acquisitions: self.lock.acquisitions,
                nested: self.lock.nested,
                leaked: self.lock.leaked,
                unbalanced: self.lock.unbalanced,
                hold: log.take(&format!("{}.lock.hold", self.name), &self.lock.hold)?,
                wait: log.take(&format!("{}.lock.wait", self.name), &self.lock.wait)?,
            },
            findings: self.findings.clone(),
            log: self.log.clone(),
        })
    }
}

impl ClockFile {
    fn rebuild(&self, log: &mut Log) -> Result<ClockResult, ReadError> {
        use Kind::*;
        let all = [Constant, Fixed, Tunable, Changing, Countdown, Triggered];
        let kind = |word: &str| known("kind", &all, kind_name, word);
        let mut take =
            |metric: &str, figures: &Figures| log.take(&format!("{}.{}.{metric}", self.fmu, self.clock), figures);
        Ok(ClockResult {
            fmu: self.fmu.clone(),
            clock: self.clock.clone(),
            kind: self.kind.as_deref().map(kind).transpose()?,
            interval_s: self.interval_s,
            activated_by: self.activated_by.clone(),
            fmi_priority: self.fmi_priority.map(FmiPriority),
            fifo_priority: self.fifo_priority.map(fifo).transpose()?,
            cpu: self.cpu,
            thread: self.thread.clone(),
            activations: self.activations,
            overruns: self.overruns,
            skipped: self.skipped,
            coalesced: self.coalesced,
            retimed: self.retimed,
            discarded: self.discarded,
            max_latency: self.max_latency,
            schedulability: self.schedulability,
            // In the order of the log.
            wakeup_latency: take("wakeup_latency", &self.wakeup_latency)?,
            start_latency: take("start_latency", &self.start_latency)?,
            start_jitter: take("start_jitter", &self.start_jitter)?,
            execution: take("execution", &self.execution)?,
            response: take("response", &self.response)?,
            parts: self.parts.rebuild(&mut take)?,
            causes: self.causes.clone(),
            datagrams: match (self.received, &self.arrival_latency) {
                (Some(received), Some(figures)) => Some(DatagramResult {
                    received,
                    rate_limited: self.rate_limited.unwrap_or(0),
                    dropped: self.kernel_dropped.unwrap_or(0),
                    arrival_latency: take("arrival_latency", figures)?,
                }),
                _ => None,
            },
            over_time: self.over_time.clone(),
        })
    }
}

/// The lines of the log, which come in the order of the report.
struct Log<'a> {
    lines: IntervalLogIterator<'a>,
}

impl Log<'_> {
    /// The histogram that the report has these figures of.
    fn take(&mut self, name: &str, figures: &Figures) -> Result<Histogram, ReadError> {
        if figures.count == 0 {
            return Ok(Histogram::default());
        }
        let wrong = |what: &str| {
            let message = format!(
                "{what} the histogram {name} of report.json; the two files are not of the same run, or this one is damaged or \
                 from another version of vecud: put the right one beside report.json, or run the rig again"
            );
            Err(ReadError { place: None, message, in_log: true })
        };
        let line = loop {
            match self.lines.next() {
                None => return wrong("ends before"),
                Some(Ok(LogEntry::Interval(line))) => break line,
                Some(Ok(_)) => {}
                Some(Err(_)) => return wrong("has a line that cannot be read instead of"),
            }
        };
        if line.tag().map(|tag| tag.as_str()) != Some(&tag(name)) {
            return wrong("has something else instead of");
        }
        let read = base64(line.encoded_histogram()).and_then(|bytes| histogram(&bytes));
        let own = |read: Hdr<u64>| Histogram::from_parts(&read, figures.count, figures.min, figures.max, figures.mean);
        match read.and_then(own) {
            Some(histogram) => Ok(histogram),
            None => wrong("has other values than"),
        }
    }
}

/// What a histogram of ours takes at most in HdrHistogram's form V2, with as much again (bytes).
const LONGEST_HISTOGRAM: u64 = 1 << 17;

/// A histogram in HdrHistogram's compressed form V2; `None`: it is none.
fn histogram(bytes: &[u8]) -> Option<Hdr<u64>> {
    // Mark and length of what is compressed; then mark and length again, before the counts.
    let (_, packed) = bytes.split_at_checked(8)?;
    let mut plain = Vec::new();
    ZlibDecoder::new(packed).take(LONGEST_HISTOGRAM).read_to_end(&mut plain).ok()?;
    let (head, counts) = plain.split_at_checked(40)?;
    // Its reader makes room for as many counts as are stated, before it looks for them.
    let stated = u32::from_be_bytes(head[4..8].try_into().ok()?);
    (stated as usize == counts.len()).then(|| Deserializer::new().deserialize(&mut &plain[..]).ok()).flatten()
}

/// The variant of a word.
fn known<T: Copy>(what: &str, all: &[T], name: fn(T) -> &'static str, word: &str) -> Result<T, ReadError> {
    all.iter().copied().find(|variant| name(*variant) == word).ok_or_else(|| ReadError {
        place: None,
        message: format!("the {what} \"{word}\" is not known to vecud {}; read it with the version that wrote it", {
            env!("CARGO_PKG_VERSION")
        }),
        in_log: false,
    })
}

fn fifo(value: u8) -> Result<FifoPriority, ReadError> {
    let message = || format!("{value} is no FIFO priority, those are 1 to 99; run the rig again");
    FifoPriority::new(value).ok_or_else(|| ReadError { place: None, message: message(), in_log: false })
}

/// Bytes of base64; `None`: it is none.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests;

//! `report.json` and `histograms.hlog` → the [`Run`] that they were written of.
//!
//! `report.json` alone has every figure and the summary of each histogram: enough to compare runs. The histograms
//! themselves, from which figures are drawn, are in the log; both must be of the same run. A run that was written and read
//! back gives the same page, byte for byte.
//!
//! A field that is missing is an error that says which version wrote the file; so is a format that is newer than this program.

use super::file::FORMAT_VERSION;
use super::hlog::tag;
use super::{ClockResult, Distribution, Ended, METRICS, ProbeResult, Run, Slice, metrics};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogHistogram, IntervalLogIterator, LogEntry};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::io::Read;
use std::time::Duration;
use vecud_record::histogram::{Histogram, SparseHistogram};

/// Why a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Line and column, where there is one.
    pub place: Option<(usize, usize)>,
    /// The error and its remedy.
    pub message: String,
    /// The error is in the log, not in the report.
    pub in_log: bool,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

/// A `report.json` that was read: the run, of which histograms have their figures only.
#[derive(Clone, Debug)]
pub struct ReportFile {
    pub(super) run: Run,
    /// `histograms.hlog`, if it is in there: in a `checkpoint.json`.
    histograms: Option<String>,
}

/// Header of a report: its format, and the fields beside those of the run.
#[derive(Default, Deserialize)]
struct ReportHead {
    /// Reports of before it was written have none.
    format_version: Option<u64>,
    version: Option<String>,
    verdict: Option<String>,
    /// Format 1 has it.
    problem_severities: Option<IgnoredAny>,
    /// Only a `checkpoint.json` has it.
    histograms: Option<String>,
}

impl ReportFile {
    /// Reads `report.json`.
    ///
    /// # Errors
    /// The text is no JSON, no report of vecud, or one of a version with other fields.
    pub fn parse(text: &str) -> Result<ReportFile, ReadError> {
        // What is no report at all is told by whoever reads all of it.
        let head: ReportHead = serde_json::from_str(text).unwrap_or_default();
        head.refuse_newer()?;
        let read = match head.problem_severities {
            None => serde_json::from_str(text),
            Some(_) => serde_json::from_str(text).and_then(|report| Run::deserialize(of_format_1(report))),
        };
        let mut run: Run = read.map_err(|error| {
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
        })?;
        // By what that is decided a later version knows.
        if head.verdict.as_deref() == Some("degraded") {
            run.notes.push(format!("vecud {} calls this run degraded: it passed, with losses", run.version));
        }
        Ok(ReportFile { run, histograms: head.histograms })
    }

    /// The run, of which histograms have their figures only.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Simulation time at which the run ended, s.
    pub fn end_time(&self) -> f64 {
        self.run.end_time
    }

    /// Units of the recorded columns that have one, by their names.
    pub fn units(&self) -> HashMap<String, String> {
        let with_unit = self.run.signals.iter().filter(|signal| !signal.unit.is_empty());
        with_unit.map(|signal| (signal.name.clone(), signal.unit.clone())).collect()
    }

    /// The recorded columns that are clocks, as far as the report says the types of columns.
    pub fn recorded_clocks(&self) -> HashSet<String> {
        let clocks = self.run.signals.iter().filter(|signal| signal.variable_type == "Clock");
        clocks.map(|signal| signal.name.clone()).collect()
    }

    /// When clocks have overrun, as far as that was kept: the FMU, and the time in s.
    pub fn overruns(&self) -> Vec<(String, f64)> {
        let of = |clock: &ClockResult| -> Vec<(String, f64)> {
            clock.causes.overran.iter().map(|own| (clock.fmu.clone(), own.release_s)).collect()
        };
        self.run.clocks.iter().flat_map(of).collect()
    }

    /// Whether the run is known to have ended.
    pub fn is_finished(&self) -> bool {
        self.run.ended == Ended::Finished
    }

    /// Whether nobody has seen the run's end, though it does not go on.
    pub fn is_cut_off(&self) -> bool {
        self.run.ended == Ended::CutOff
    }

    /// Updates a report of a running run, now that it is known whether the run still continues.
    pub fn judged(self, goes_on: bool) -> ReportFile {
        if self.run.ended != Ended::Running {
            return self;
        }
        ReportFile { run: self.run.unfinished(goes_on), ..self }
    }

    /// The run of a `checkpoint.json` with its histograms; `None`: this is none, or the run has ended.
    ///
    /// # Errors
    /// The histograms are damaged ([`ReadError::in_log`]).
    pub fn of_checkpoint(&self) -> Option<Result<Run, ReadError>> {
        let histograms = self.histograms.as_deref().filter(|_| !self.is_finished())?;
        Some(self.rebuild(histograms))
    }

    /// Whether there are histograms, so that [`ReportFile::rebuild`] needs the log.
    pub fn has_histograms(&self) -> bool {
        let clocks = self.run.clocks.iter().flat_map(metrics).map(|(_, values)| values);
        let locks = self.run.fmus.iter().flat_map(|fmu| [&fmu.lock.hold, &fmu.lock.wait]);
        let probe = self.run.host.doctor.iter().flat_map(|doctor| &doctor.probe).map(|probe| &probe.latency);
        clocks.chain(locks).chain(probe).any(|values| values.figures.count > 0)
    }

    /// The run, with the histograms of this `histograms.hlog`.
    ///
    /// # Errors
    /// The log is damaged or of another run ([`ReadError::in_log`]).
    pub fn rebuild(&self, log: &str) -> Result<Run, ReadError> {
        let whole = Duration::try_from_secs_f64(self.run.wall_seconds).unwrap_or_default();
        let mut log = Log::of(log, whole);
        let mut run = self.run.clone();
        for clock in &mut run.clocks {
            let (fmu, name) = (clock.fmu.clone(), clock.clock.clone());
            for (metric, values) in METRICS.into_iter().zip(clock.distributions()) {
                log.fill(&format!("{fmu}.{name}.{metric}"), values)?;
            }
        }
        for fmu in &mut run.fmus {
            log.fill(&format!("{}.lock.hold", fmu.name), &mut fmu.lock.hold)?;
            log.fill(&format!("{}.lock.wait", fmu.name), &mut fmu.lock.wait)?;
        }
        if let Some(probe) = run.host.doctor.as_mut().and_then(|doctor| doctor.probe.as_mut()) {
            log.fill(ProbeResult::TAG, &mut probe.latency)?;
        }
        Ok(run)
    }
}

impl ReportHead {
    /// Refuses a report of a format that came after this program: what it has may mean something else.
    fn refuse_newer(&self) -> Result<(), ReadError> {
        let Some(format_version) = self.format_version.filter(|version| *version > FORMAT_VERSION) else {
            return Ok(());
        };
        let ours = env!("CARGO_PKG_VERSION");
        let theirs =
            self.version.as_ref().map_or_else(|| "a newer vecud".to_owned(), |version| format!("vecud {version}"));
        let message = format!(
            "the report has format version {format_version}, and vecud {ours} reads up to {FORMAT_VERSION}; read it with {theirs}, \
             which wrote it, or a newer one"
        );
        Err(ReadError { place: None, message, in_log: false })
    }
}

/// A report of format 1 with its problems as objects: there they are texts, and two lists beside them have what the texts mean.
fn of_format_1(mut report: Value) -> Value {
    let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let (severities, topics) = (list("problem_severities"), list("problem_topics"));
    let problems = report.get_mut("problems").and_then(Value::as_array_mut);
    for (at, problem) in problems.into_iter().flatten().enumerate() {
        let topic = topics.get(at).and_then(Value::as_str).unwrap_or("other").to_lowercase().replace(' ', "_");
        *problem = json!({ "kind": "other", "severity": severities.get(at), "text": problem, "topic": topic });
    }
    report
}

impl ClockResult {
    /// In the order of `report.json`, parts of the response after the others; arrivals, where there are some, last.
    pub fn distributions(&mut self) -> impl Iterator<Item = &mut Distribution> {
        let ClockResult { wakeup_latency, start_latency, start_jitter, execution, response, parts, .. } = self;
        let own = [wakeup_latency, start_latency, start_jitter, execution, response];
        let parts =
            [&mut parts.preempted, &mut parts.blocked, &mut parts.set_get, &mut parts.host, &mut parts.wakeup_machine];
        own.into_iter().chain(parts).chain(&mut self.arrival_latency)
    }
}

/// The entries of the log: one for each interval in which a histogram had values, in their order; of older versions one for each histogram.
struct Log<'a> {
    entries: HashMap<String, VecDeque<IntervalLogHistogram<'a>>>,
    /// There is a line that is none.
    is_damaged: bool,
    /// How long the run was.
    whole: Duration,
}

impl<'a> Log<'a> {
    fn of(text: &'a str, whole: Duration) -> Log<'a> {
        let (mut entries, mut is_damaged) = (HashMap::<String, VecDeque<_>>::new(), false);
        for entry in IntervalLogIterator::new(text.as_bytes()) {
            match entry {
                Ok(LogEntry::Interval(line)) => {
                    let tag = line.tag().map_or_else(String::new, |tag| tag.as_str().to_owned());
                    entries.entry(tag).or_default().push_back(line);
                }
                Ok(_) => {}
                Err(_) => {
                    is_damaged = true;
                    break;
                }
            }
        }
        Log { entries, is_damaged, whole }
    }

    /// Puts the values in that the report has these figures of.
    fn fill(&mut self, name: &str, distribution: &mut Distribution) -> Result<(), ReadError> {
        let figures = distribution.figures;
        if figures.count == 0 {
            return Ok(());
        }
        let wrong = |what: &str| {
            let message = format!(
                "{what} the histogram {name} of report.json; the two files are not of the same run, or this one is damaged or \
                 from another version of vecud: put the right one beside report.json, or run the rig again"
            );
            Err(ReadError { place: None, message, in_log: true })
        };
        if self.is_damaged {
            return wrong("has a line that cannot be read instead of");
        }
        let Some(entries) = self.entries.get_mut(&tag(name)).filter(|entries| !entries.is_empty()) else {
            return wrong("has no line of");
        };
        let (mut all, mut slices) = (Histogram::default().buckets().clone(), Vec::new());
        // Names with dots can have the same tag: each histogram has the next ones that are its own.
        while all.len() < figures.count {
            let Some(line) = entries.pop_front() else { break };
            let read = base64(line.encoded_histogram()).and_then(|bytes| histogram(&bytes));
            let Some(read) = read.filter(|read| all.add(read).is_ok()) else { return wrong("has other values than") };
            slices.push(Slice {
                begin: line.start_timestamp(),
                length: line.duration(),
                counts: SparseHistogram::of(&read),
            });
        }
        // One entry over the whole run says nothing of when its values came.
        slices.retain(|slice| slice.length.abs_diff(self.whole) > Duration::from_millis(1));
        match Histogram::from_parts(&all, figures.count, figures.min, figures.max, figures.mean) {
            Some(values) => {
                distribution.fill(values, slices);
                Ok(())
            }
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

/// Bytes of base64; `None`: it is none.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests;

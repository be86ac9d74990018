//! A `report.json` that was read, with the histograms where they are asked for.

use super::error::ReadError;
use super::log::HistogramLog;
use crate::file::FORMAT_VERSION;
use crate::metrics::{METRICS, metrics};
use crate::{ClockResult, Ended, ProbeResult, Run};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// A `report.json` that was read: the run; its histograms have their figures only.
#[derive(Clone, Debug)]
pub struct ReportFile {
    pub(crate) run: Run,
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
    /// The histograms of a `checkpoint.json`; other reports have none.
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

    /// The run; its histograms have their figures only.
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

    /// The overruns of clocks, as far as they were kept: the FMU, and the time in s.
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
        let mut log = HistogramLog::of(log, whole);
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

/// A report of format 1 with its problems as objects: in that format they are texts, and two lists beside them have their
/// meanings.
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

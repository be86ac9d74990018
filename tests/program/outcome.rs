//! What a run has left behind.

use super::Trace;
use super::schema::Schema;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// What the problems of a report say.
pub fn problem_texts(report: &Value) -> Vec<String> {
    let text = |problem: &Value| problem["text"].as_str().unwrap().to_owned();
    report["problems"].as_array().unwrap().iter().map(text).collect()
}

pub struct Outcome {
    pub code: i32,
    pub took: Duration,
    pub stdout: String,
    pub stderr: String,
    pub out: PathBuf,
    /// `signals.csv`, which the next run of the same rig replaces.
    signals: Option<String>,
    _folder: Arc<TempDir>,
    traces: BTreeMap<String, PathBuf>,
    report_read: Read<Value>,
    signals_read: Read<Signals>,
}

/// What was made of a text the last time: tests ask again and again for the same.
struct Read<T>(Mutex<Option<(String, Arc<T>)>>);

impl<T> Read<T> {
    fn of(&self, text: String, make: impl FnOnce(&str) -> T) -> Arc<T> {
        let mut last = self.0.lock().unwrap();
        if let Some((_, made)) = last.as_ref().filter(|(known, _)| *known == text) {
            return made.clone();
        }
        let made = Arc::new(make(&text));
        *last = Some((text, made.clone()));
        made
    }
}

impl Outcome {
    pub(super) fn new(
        status: ExitStatus,
        took: Duration,
        stdout: String,
        stderr: String,
        folder: Arc<TempDir>,
        traces: BTreeMap<String, PathBuf>,
    ) -> Outcome {
        let code = status.code().unwrap_or_else(|| -status.signal().unwrap());
        let out = folder.path().join("out");
        let signals = std::fs::read_to_string(out.join("signals.csv")).ok();
        let (report_read, signals_read) = (Read(Mutex::default()), Read(Mutex::default()));
        Outcome { code, took, stdout, stderr, out, signals, _folder: folder, traces, report_read, signals_read }
    }

    /// Panics unless this was the exit code, and every release of a periodic clock has become something (semantics S12).
    #[track_caller]
    pub fn exits(self, code: i32) -> Outcome {
        assert_eq!(self.code, code, "exit code; stderr:\n{}\nstdout:\n{}", self.stderr, self.stdout);
        let said = [&self.stdout, &self.stderr].map(|text| text.contains("a bug in vecud"));
        assert_eq!(said, [false, false], "{}{}", self.stdout, self.stderr);
        self
    }

    /// A file in the output folder; the signals are those of this run, whatever has run since.
    pub fn file(&self, name: &str) -> String {
        if let ("signals.csv", Some(signals)) = (name, &self.signals) {
            return signals.clone();
        }
        let path = self.out.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}; stderr:\n{}", self.stderr))
    }

    /// `report.json`, which is what docs/report.schema.json says.
    #[track_caller]
    pub fn report(&self) -> Arc<Value> {
        static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::of("report.schema.json"));
        self.report_read.of(self.file("report.json"), |text| {
            let report = serde_json::from_str(text).unwrap();
            SCHEMA.holds(&report);
            report
        })
    }

    /// What the problems say.
    pub fn problems(&self) -> Vec<String> {
        problem_texts(&self.report())
    }

    /// The problem that contains all of these words.
    #[track_caller]
    pub fn problem(&self, words: &[&str]) -> String {
        let problems = self.problems();
        let found = problems.iter().find(|problem| words.iter().all(|word| problem.contains(word)));
        found.unwrap_or_else(|| panic!("no problem has {words:?}: {problems:#?}")).clone()
    }

    /// What the report says of an instance.
    #[track_caller]
    pub fn fmu(&self, name: &str) -> Value {
        let report = self.report();
        report["fmus"].as_array().unwrap().iter().find(|fmu| fmu["name"] == name).expect("reported").clone()
    }

    /// How often an instance did this against the standard; `None`: never.
    pub fn finding(&self, fmu: &str, kind: &str) -> Option<u64> {
        let findings = self.fmu(fmu)["findings"].as_array().expect("a list").clone();
        findings.iter().find(|finding| finding["kind"] == kind).map(|finding| finding["count"].as_u64().unwrap())
    }

    pub fn status(&self, fmu: &str) -> String {
        self.fmu(fmu)["status"].as_str().unwrap().to_owned()
    }

    /// What the report says of a clock.
    #[track_caller]
    pub fn clock(&self, fmu: &str, clock: &str) -> Value {
        let report = self.report();
        let mut clocks = report["clocks"].as_array().unwrap().iter();
        clocks.find(|c| c["fmu"] == fmu && c["clock"] == clock).expect("reported").clone()
    }

    /// A number that the report says of a clock.
    #[track_caller]
    pub fn count(&self, fmu: &str, clock: &str, what: &str) -> u64 {
        self.clock(fmu, clock)[what].as_u64().unwrap_or_else(|| panic!("{what} of {fmu}.{clock} is no number"))
    }

    pub fn signals(&self) -> Arc<Signals> {
        self.signals_read.of(self.file("signals.csv"), Signals::parse)
    }

    /// The trace of a tracer; panics when it left none.
    #[track_caller]
    pub fn trace(&self, fmu: &str) -> Trace {
        let path = &self.traces[fmu];
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("trace of {fmu}: {e}\n{}", self.stderr));
        Trace::parse(fmu, &text)
    }

    pub fn has_trace(&self, fmu: &str) -> bool {
        self.traces[fmu].exists()
    }
}

/// `signals.csv`.
pub struct Signals {
    pub names: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Signals {
    fn parse(text: &str) -> Signals {
        assert!(text.ends_with('\n'), "the last row is whole");
        let mut lines = text.lines().map(cells);
        let names = lines.next().expect("a header");
        let rows: Vec<Vec<String>> = lines.collect();
        assert!(rows.iter().all(|row| row.len() == names.len()), "every row has every column");
        Signals { names, rows }
    }

    #[track_caller]
    pub fn column(&self, name: &str) -> Vec<&str> {
        let index = self.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no column {name}"));
        self.rows.iter().map(|row| row[index].as_str()).collect()
    }

    #[track_caller]
    pub fn last(&self, name: &str) -> u64 {
        self.column(name).last().filter(|value| !value.is_empty()).map_or(0, |value| value.parse().unwrap())
    }

    pub fn times(&self) -> Vec<f64> {
        self.column("time").into_iter().map(|time| time.parse().unwrap()).collect()
    }
}

/// The cells of a row; quoted ones (names of elements of matrices) may have commas.
fn cells(line: &str) -> Vec<String> {
    if !line.contains('"') {
        return line.split(',').map(str::to_owned).collect();
    }
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

//! What a report says of the trace.

use crate::plan::TraceMode;
use crate::record::trace::Item;
use serde::{Deserialize, Serialize};

/// The trace of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceResult {
    /// How much was traced; `None`: not known.
    pub mode: Option<TraceMode>,
    /// Events that came faster than they could be kept.
    pub dropped: u64,
    /// The files, in the order in which they were written.
    pub files: Vec<TraceFile>,
    /// Stretches of it to be drawn.
    pub pictures: Vec<Picture>,
}

/// A file in the output folder.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceFile {
    /// Its name.
    pub name: String,
    /// Why it was written.
    pub why: Vec<String>,
    /// What it shows, ns from the start of the run.
    pub from: i64,
    /// (continued)
    pub to: i64,
    /// Activations that are in it.
    pub activations: u64,
}

impl TraceFile {
    /// An empty one.
    pub fn new(name: &str) -> TraceFile {
        TraceFile { name: name.to_owned(), why: Vec::new(), from: 0, to: 0, activations: 0 }
    }

    /// Counts an item that is in it; items come by their ends.
    pub fn count(&mut self, item: &Item) {
        if self.to == 0 {
            self.from = item.at();
        }
        self.to = self.to.max(item.at());
        if let Item::Activated(activated) = item {
            self.from = self.from.min(activated.start);
            self.activations += 1;
        }
    }
}

/// A stretch of the trace to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What happened in it; `None`: it is the first of the run.
    pub why: Option<String>,
    /// From and to, ns from the start of the run.
    pub from: i64,
    /// (continued)
    pub to: i64,
    /// What is in it, by the ends.
    pub items: Vec<Item>,
}

fn word(mode: TraceMode) -> &'static str {
    match mode {
        TraceMode::Off => "off",
        TraceMode::All => "all",
        TraceMode::Flight => "flight",
    }
}

/// In `report.json`.
#[derive(Serialize)]
pub(super) struct TraceJson<'a> {
    mode: Option<&'static str>,
    dropped: u64,
    files: Vec<FileJson<'a>>,
}

#[derive(Serialize)]
struct FileJson<'a> {
    name: &'a str,
    why: &'a [String],
    from_s: f64,
    to_s: f64,
    activations: u64,
}

impl<'a> TraceJson<'a> {
    pub(super) fn of(trace: &'a TraceResult) -> Self {
        let seconds = |ns: i64| ns as f64 / 1e9;
        let file = |file: &'a TraceFile| FileJson {
            name: &file.name,
            why: &file.why,
            from_s: seconds(file.from),
            to_s: seconds(file.to),
            activations: file.activations,
        };
        let mode = trace.mode.map(word);
        TraceJson { mode, dropped: trace.dropped, files: trace.files.iter().map(file).collect() }
    }
}

/// What `report.json` tells of it; pictures are not in there. Reports from before there were traces have none.
#[derive(Debug, Default, Deserialize)]
pub(super) struct TraceRead {
    mode: Option<String>,
    dropped: u64,
    files: Vec<FileRead>,
}

#[derive(Debug, Deserialize)]
struct FileRead {
    name: String,
    why: Vec<String>,
    from_s: f64,
    to_s: f64,
    activations: u64,
}

impl TraceRead {
    /// The result, without pictures.
    pub(super) fn rebuild(&self) -> TraceResult {
        let nanos = |seconds: f64| (seconds * 1e9).round() as i64;
        let file = |file: &FileRead| TraceFile {
            name: file.name.clone(),
            why: file.why.clone(),
            from: nanos(file.from_s),
            to: nanos(file.to_s),
            activations: file.activations,
        };
        let modes = [TraceMode::Off, TraceMode::All, TraceMode::Flight];
        TraceResult {
            mode: self.mode.as_deref().and_then(|mode| modes.into_iter().find(|known| word(*known) == mode)),
            dropped: self.dropped,
            files: self.files.iter().map(file).collect(),
            pictures: Vec::new(),
        }
    }
}

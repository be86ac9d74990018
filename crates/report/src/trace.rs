//! The trace in a report.

use super::KernelTrace;
use super::words::word_or_null;
use serde::{Deserialize, Serialize};
use vecud_plan::TraceMode;
use vecud_record::trace::TraceItem;

/// The trace of a run; in `report.json` as it is here, without the pictures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceResult {
    /// The amount of tracing; `None`: unknown.
    #[serde(default, with = "word_or_null")]
    pub mode: Option<TraceMode>,
    /// Events that came faster than they could be kept.
    pub dropped: u64,
    /// The files, in the order in which they were written.
    pub files: Vec<TraceFile>,
    /// The kernel's trace; `None`: the rig does not ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelTrace>,
    /// Spans of the trace that are drawn.
    #[serde(skip)]
    pub pictures: Vec<Picture>,
}

/// A file in the output folder; in `report.json` as it is here, with its times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceFile {
    /// The name of the file.
    pub name: String,
    /// Why it was written.
    pub why: Vec<String>,
    /// Begin of the part of the run that it shows, ns from its start.
    #[serde(rename = "from_s", with = "in_seconds")]
    pub from: i64,
    /// End of the part of the run that it shows, ns from its start.
    #[serde(rename = "to_s", with = "in_seconds")]
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
    pub fn count(&mut self, item: &TraceItem) {
        if self.to == 0 {
            self.from = item.at();
        }
        self.to = self.to.max(item.at());
        if let TraceItem::Activated(activated) = item {
            self.from = self.from.min(activated.start);
            self.activations += 1;
        }
    }
}

/// A stretch of the trace to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The event that it shows; `None`: it is the first span of the run.
    pub why: Option<String>,
    /// The span that the picture shows, ns from the start of the run: from and to.
    pub from: i64,
    /// (continued)
    pub to: i64,
    /// Items in the span, by their ends.
    pub items: Vec<TraceItem>,
}

/// Times of the trace as `report.json` has them.
mod in_seconds {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(nanos: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(*nanos as f64 / 1e9)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        Ok((f64::deserialize(deserializer)? * 1e9).round() as i64)
    }
}

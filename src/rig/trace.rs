//! `[trace]`: how much is kept of who ran when.

use super::document::{Meaning, Section, number};
use crate::time::Nanos;
use serde::{Deserialize, Serialize};
use toml_edit::Item;

const TRACE: &[&str] = &["mode", "seconds", "limit_mib"];

/// How much of a run is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceMode {
    /// Nothing.
    Off,
    /// Everything, until the file is as large as it may be.
    All,
    /// The last seconds, written at the end and when a limit is exceeded or an overrun happens.
    Flight,
}

/// `[trace]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigTrace {
    /// `mode`; `None`: [`TraceMode::Flight`] in real time, nothing in virtual time.
    pub mode: Option<TraceMode>,
    /// `seconds`: how far the flight recorder reaches back.
    pub seconds: Nanos,
    /// `limit_mib`, as bytes: how large each file may get.
    pub limit: u64,
}

impl Default for RigTrace {
    fn default() -> RigTrace {
        RigTrace { mode: None, seconds: Nanos::from_seconds(2.0), limit: 256 << 20 }
    }
}

pub(super) fn read(section: Section) -> RigTrace {
    use Meaning::Is;
    let section = section.only(TRACE);
    let words = [("off", Is(TraceMode::Off)), ("all", Is(TraceMode::All)), ("flight", Is(TraceMode::Flight))];
    let default = RigTrace::default();
    let seconds = |item: &Item| number(item).filter(|seconds| (0.01..=60.0).contains(seconds));
    let limit =
        |item: &Item| item.as_integer().and_then(|mib| u64::try_from(mib).ok()).filter(|mib| (1..=65536).contains(mib));
    RigTrace {
        mode: section.choice("mode", &words),
        seconds: section
            .read("seconds", "a number of seconds from 0.01 to 60", seconds)
            .map_or(default.seconds, |seconds| Nanos::from_seconds(seconds.value)),
        limit: section
            .read("limit_mib", "a whole number of MiB from 1 to 65536", limit)
            .map_or(default.limit, |mib| mib.value << 20),
    }
}

//! `[trace]`: the extent of the trace of activations.

use super::document::{TableReader, number};
use serde::{Deserialize, Serialize};
use toml_edit::Item;
use vecud_base::time::Nanos;

const TRACE: &[&str] = &["mode", "seconds", "worst", "limit_mib", "kernel"];

/// The amount of tracing of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceMode {
    /// Nothing is traced.
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
    /// `seconds`: the time that the flight recorder reaches back.
    pub seconds: Nanos,
    /// `worst`: the number of incidents of each clock with a file of their own.
    pub worst: usize,
    /// `limit_mib`, as bytes: how large each file may get.
    pub limit: u64,
    /// `kernel`: the kernel traces the cores of partitions as well, until a limit is exceeded.
    pub kernel: bool,
}

impl Default for RigTrace {
    fn default() -> RigTrace {
        RigTrace { mode: None, seconds: Nanos::from_seconds(2.0), worst: 2, limit: 256 << 20, kernel: false }
    }
}

pub(super) fn read(section: TableReader) -> RigTrace {
    let section = section.only(TRACE);
    let words = [("off", TraceMode::Off), ("all", TraceMode::All), ("flight", TraceMode::Flight)];
    let default = RigTrace::default();
    let seconds = |item: &Item| number(item).filter(|seconds| (0.01..=60.0).contains(seconds));
    let worst = |item: &Item| item.as_integer().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 16);
    let limit =
        |item: &Item| item.as_integer().and_then(|mib| u64::try_from(mib).ok()).filter(|mib| (1..=65536).contains(mib));
    RigTrace {
        mode: section.choice("mode", &words),
        seconds: section
            .read("seconds", "a number of seconds from 0.01 to 60", seconds)
            .map_or(default.seconds, |seconds| Nanos::from_seconds(seconds.value)),
        worst: section.read("worst", "a whole number from 0 to 16", worst).map_or(default.worst, |worst| worst.value),
        limit: section
            .read("limit_mib", "a whole number of MiB from 1 to 65536", limit)
            .map_or(default.limit, |mib| mib.value << 20),
        kernel: section.boolean("kernel").unwrap_or(default.kernel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::parse;
    use std::path::Path;

    fn trace(keys: &str) -> Result<RigTrace, String> {
        let text = format!("[fmu.a]\npath = \"a\"\n[trace]\n{keys}\n");
        parse(&text, Path::new("rig.toml")).map(|rig| rig.trace).map_err(|error| error.to_string())
    }

    #[test]
    fn a_trace_has_a_mode_a_length_and_a_limit() {
        assert_eq!(trace(""), Ok(RigTrace::default()));
        let wanted = RigTrace {
            mode: Some(TraceMode::All),
            seconds: Nanos(500_000_000),
            worst: 0,
            limit: 1 << 20,
            kernel: true,
        };
        assert_eq!(trace("mode = \"all\"\nseconds = 0.5\nworst = 0\nlimit_mib = 1\nkernel = true"), Ok(wanted));
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_place() {
        for (keys, message) in [
            ("mode = \"some\"", "rig.toml:4:8: mode must be \"off\" or \"all\" or \"flight\", not \"some\""),
            ("seconds = 0", "rig.toml:4:11: seconds must be a number of seconds from 0.01 to 60, not 0"),
            ("worst = 17", "rig.toml:4:9: worst must be a whole number from 0 to 16, not 17"),
            ("kernel = 1", "rig.toml:4:10: kernel must be true or false, not 1"),
            ("limit_mib = 0", "rig.toml:4:13: limit_mib must be a whole number of MiB from 1 to 65536, not 0"),
        ] {
            assert_eq!(trace(keys).unwrap_err(), message);
        }
        assert!(trace("second = 1").unwrap_err().contains("unknown key \"second\" in [trace]"));
    }
}

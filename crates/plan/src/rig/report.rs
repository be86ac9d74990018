//! `[report]`: results of a run that are kept beside its recording.

use super::document::{TableReader, number};
use serde::{Deserialize, Serialize};
use toml_edit::Item;
use vecud_base::time::Nanos;

const REPORT: &[&str] = &["checkpoint", "keep_runs", "call_times"];

/// `[report]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RigReport {
    /// `checkpoint`: the period at which the report of a run is written while it goes on; `None`: never.
    pub checkpoint: Option<Nanos>,
    /// `keep_runs`: how many earlier runs stay in the output folder; 0: the files of the one before are replaced.
    pub keep_runs: usize,
    /// `call_times`: how long the calls of each function of an FMU take is measured.
    pub call_times: bool,
}

impl Default for RigReport {
    fn default() -> RigReport {
        RigReport { checkpoint: Some(Nanos::from_seconds(10.0)), keep_runs: 10, call_times: false }
    }
}

pub(super) fn read(section: TableReader) -> RigReport {
    let section = section.only(REPORT);
    let default = RigReport::default();
    let runs =
        |item: &Item| item.as_integer().and_then(|runs| usize::try_from(runs).ok()).filter(|runs| *runs <= 10_000);
    let seconds = |item: &Item| number(item).filter(|seconds| *seconds == 0.0 || (1.0..=86400.0).contains(seconds));
    RigReport {
        checkpoint: section
            .read("checkpoint", "a number of seconds from 1 to 86400, or 0 (none)", seconds)
            .map_or(default.checkpoint, |seconds| Some(Nanos::from_seconds(seconds.value)).filter(|own| own.0 > 0)),
        keep_runs: section
            .read("keep_runs", "a whole number from 0 (none) to 10000", runs)
            .map_or(default.keep_runs, |runs| runs.value),
        call_times: section.boolean("call_times").unwrap_or(default.call_times),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::parse;
    use std::path::Path;

    fn report(keys: &str) -> Result<RigReport, String> {
        let text = format!("[fmu.a]\npath = \"a\"\n[report]\n{keys}\n");
        parse(&text, Path::new("rig.toml")).map(|rig| rig.report).map_err(|error| error.to_string())
    }

    #[test]
    fn a_report_has_a_period_and_a_number_of_runs() {
        let default = RigReport::default();
        assert_eq!((default.checkpoint, default.keep_runs), (Some(Nanos(10_000_000_000)), 10));
        assert_eq!(report(""), Ok(default));
        assert_eq!(
            report("keep_runs = 0\ncheckpoint = 0"),
            Ok(RigReport { checkpoint: None, keep_runs: 0, ..default })
        );
        assert_eq!(report("checkpoint = 1.5"), Ok(RigReport { checkpoint: Some(Nanos(1_500_000_000)), ..default }));
        assert_eq!(report("call_times = true"), Ok(RigReport { call_times: true, ..default }));
        for (key, message) in [
            ("call_times = 1", "4:14: call_times must be true or false, not 1"),
            ("keep_runs = -1", "4:13: keep_runs must be a whole number from 0 (none) to 10000, not -1"),
            ("checkpoint = 0.5", "4:14: checkpoint must be a number of seconds from 1 to 86400, or 0 (none), not 0.5"),
        ] {
            assert_eq!(report(key).unwrap_err(), format!("rig.toml:{message}"));
        }
        assert!(report("keep_run = 1").unwrap_err().contains("unknown key \"keep_run\" in [report]"));
    }
}

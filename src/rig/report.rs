//! `[report]`: what is kept of a run, beside what it records.

use super::document::Section;
use serde::{Deserialize, Serialize};
use toml_edit::Item;

const REPORT: &[&str] = &["keep_runs"];

/// `[report]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RigReport {
    /// `keep_runs`: how many earlier runs stay in the output folder; 0: the files of the one before are replaced.
    pub keep_runs: usize,
}

impl Default for RigReport {
    fn default() -> RigReport {
        RigReport { keep_runs: 10 }
    }
}

pub(super) fn read(section: Section) -> RigReport {
    let section = section.only(REPORT);
    let default = RigReport::default();
    let runs =
        |item: &Item| item.as_integer().and_then(|runs| usize::try_from(runs).ok()).filter(|runs| *runs <= 10_000);
    RigReport {
        keep_runs: section
            .read("keep_runs", "a whole number from 0 (none) to 10000", runs)
            .map_or(default.keep_runs, |runs| runs.value),
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
    fn so_many_runs_are_kept() {
        assert_eq!(report(""), Ok(RigReport { keep_runs: 10 }));
        assert_eq!(report("keep_runs = 0"), Ok(RigReport { keep_runs: 0 }));
        assert_eq!(
            report("keep_runs = -1").unwrap_err(),
            "rig.toml:4:13: keep_runs must be a whole number from 0 (none) to 10000, not -1"
        );
        assert!(report("keep_run = 1").unwrap_err().contains("unknown key \"keep_run\" in [report]"));
    }
}

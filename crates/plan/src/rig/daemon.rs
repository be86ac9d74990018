//! `[daemon]`: settings of `vecud daemon` for this rig, beside running it.

use super::At;
use super::document::{TableReader, elements, number};
use serde::{Deserialize, Serialize};
use toml_edit::Item;
use vecud_base::time::Nanos;

pub(super) const DAEMON: &[&str] = &["restart", "restart_delay", "max_restarts", "watch"];

/// `[daemon]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RigDaemon {
    /// `restart = "on-failure"`: the daemon restarts the rig after a run that has failed.
    pub restarts: bool,
    /// `restart_delay`: the time between a failure and the restart; doubled with each further failure.
    pub delay: Nanos,
    /// `max_restarts`: so often one after the other.
    pub most: u32,
}

impl Default for RigDaemon {
    fn default() -> RigDaemon {
        RigDaemon { restarts: false, delay: Nanos::from_seconds(1.0), most: 5 }
    }
}

/// Reads the table.
pub(super) fn read(section: &TableReader) -> RigDaemon {
    let default = RigDaemon::default();
    let most = |item: &Item| item.as_integer().and_then(|most| u32::try_from(most).ok()).filter(|most| *most > 0);
    let seconds = |item: &Item| number(item).filter(|seconds| (0.1..=3600.0).contains(seconds));
    RigDaemon {
        restarts: section.choice("restart", &[("never", false), ("on-failure", true)]).unwrap_or(default.restarts),
        delay: section
            .read("restart_delay", "a number of seconds from 0.1 to 3600", seconds)
            .map_or(default.delay, |seconds| Nanos::from_seconds(seconds.value)),
        most: section
            .read("max_restarts", "a whole number from 1 to 4294967295", most)
            .map_or(default.most, |most| most.value),
    }
}

/// Reads `watch` of the table: patterns over `fmu.variable`, which a daemon shows beside the recorded signals.
pub(super) fn read_watch(section: &TableReader) -> Vec<At<String>> {
    let mut patterns = Vec::new();
    for pattern in elements(section, "watch").unwrap_or_default() {
        match pattern.value.as_str() {
            Some(text) => patterns.push(At { value: text.to_owned(), place: pattern.place }),
            None => section.document.problem(pattern.place, "watch must be a list of patterns, as [\"ecu.*\"]"),
        }
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use std::path::Path;

    fn daemon(keys: &str) -> Result<RigDaemon, String> {
        let text = format!("[fmu.a]\npath = \"a\"\n[daemon]\n{keys}\n");
        parse(&text, Path::new("rig.toml")).map(|rig| rig.daemon).map_err(|error| error.to_string())
    }

    #[test]
    fn a_restart_has_a_delay_and_a_limit() {
        let default = RigDaemon::default();
        assert_eq!(daemon(""), Ok(default));
        assert_eq!(
            daemon("restart = \"on-failure\"\nrestart_delay = 0.5\nmax_restarts = 3"),
            Ok(RigDaemon { restarts: true, delay: Nanos(500_000_000), most: 3 })
        );
        for (key, message) in [
            ("restart_delay = 0", "4:17: restart_delay must be a number of seconds from 0.1 to 3600, not 0"),
            ("max_restarts = 0", "4:16: max_restarts must be a whole number from 1 to 4294967295, not 0"),
        ] {
            assert_eq!(daemon(key).unwrap_err(), format!("rig.toml:{message}"));
        }
        assert!(daemon("restart = \"always\"").unwrap_err().contains("restart must be"));
    }

    #[test]
    fn patterns_have_their_places() {
        let parsed = |watch: &str| {
            let text = format!("[fmu.a]\npath = \"a\"\n[daemon]\nwatch = {watch}\n");
            parse(&text, Path::new("rig.toml")).map(|rig| rig.watch).map_err(|error| error.to_string())
        };
        let watched = parsed("[\"a.x\", \"*.y\"]").unwrap();
        let places: Vec<_> = watched.iter().map(|at| (at.value.as_str(), at.place.line, at.place.column)).collect();
        assert_eq!(places, [("a.x", 4, 10), ("*.y", 4, 17)]);
        assert_eq!(
            parsed("[\"a.x\", 3]").unwrap_err(),
            "rig.toml:4:17: watch must be a list of patterns, as [\"ecu.*\"]"
        );
        assert!(parsed("\"a.x\"").unwrap_err().contains("watch must be a list"));
    }
}

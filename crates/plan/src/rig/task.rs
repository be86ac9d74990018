//! Settings of a task in a rig: of a clock as well as of an FMU, or a group of them, that makes steps.

use super::RigFigures;
use super::document::{TableReader, number};
use super::figures;
use serde::{Deserialize, Serialize};
use toml_edit::Item;
use vecud_base::time::Nanos;

/// Keys of a task, of a clock as well as of an FMU that makes steps.
pub(super) const KEYS: [&str; 4] = ["overrun", "max_latency_us", "max_execution_us", "max_overruns"];

/// The policy for a release whose predecessor still runs (semantics S12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Overrun {
    /// Leave it out, stay on the grid.
    Skip,
    /// Up to 16 missed releases are kept, each at its own time; the rest is left out.
    Queue,
    /// End the run: exit code 3.
    Stop,
}

/// Limits of one clock; none by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// On start latency: exit code 3 when exceeded.
    pub max_latency: Option<Nanos>,
    /// Beyond: demoted by the watchdog, exit code 1.
    pub max_execution: Option<Nanos>,
    /// Exit code 3 when exceeded.
    pub max_overruns: Option<u64>,
}

/// A rig's settings of one task: the partition of a clock, or the step of an FMU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigTask {
    /// `overrun`; `None`: the rig's.
    pub overrun: Option<Overrun>,
    /// `max_latency_us`, `max_execution_us`, `max_overruns`.
    pub limits: Limits,
    /// `execution_us`, `lock_us`, `min_interval_us`, `deadline_us`.
    pub figures: RigFigures,
}

/// The overrun policy of a table.
pub(super) fn overrun(section: &TableReader) -> Option<Overrun> {
    section.choice("overrun", &[("skip", Overrun::Skip), ("queue", Overrun::Queue), ("stop", Overrun::Stop)])
}

/// Reads the settings of a task.
pub(super) fn read(section: &TableReader) -> RigTask {
    let micros = |key| {
        let positive = |item: &Item| number(item).filter(|&us| us > 0.0 && us <= 1e12);
        section
            .read(key, "a number of microseconds above 0, at most 1e12", positive)
            .map(|us| Nanos((us.value * 1e3).round() as i64))
    };
    let whole = |item: &Item| item.as_integer().and_then(|i| u64::try_from(i).ok());
    RigTask {
        overrun: overrun(section),
        limits: Limits {
            max_latency: micros("max_latency_us"),
            max_execution: micros("max_execution_us"),
            max_overruns: section.read("max_overruns", "a whole number from 0 on", whole).map(|n| n.value),
        },
        figures: figures::read(section),
    }
}

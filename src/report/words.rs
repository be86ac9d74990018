//! What has a fixed set of values is one word in `report.json`: written and read here, for every such type.

use super::{End, FmuStatus, Severity};
use crate::fmu::description::IntervalVariability;
use crate::plan::{Interpolation, Mode, TraceMode};
use crate::record::board::Scheduling;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A type whose values are words of `report.json`.
pub(super) trait Word: Copy + 'static {
    /// What the type means, for messages.
    const WHAT: &'static str;
    /// All values of the type.
    const ALL: &'static [Self];

    /// The word of a value.
    fn word(self) -> &'static str;
}

/// `#[serde(with = "word")]` of a field that is a [`Word`].
pub(super) mod word {
    use super::*;

    pub fn serialize<T: Word, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.word().serialize(serializer)
    }

    pub fn deserialize<'de, T: Word, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        of(&String::deserialize(deserializer)?)
    }
}

/// `#[serde(with = "word_or_null")]` of a field that may be `null`, and must be there.
pub(super) mod word_or_null {
    use super::*;

    pub fn serialize<T: Word, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(T::word).serialize(serializer)
    }

    pub fn deserialize<'de, T: Word, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        Option::<String>::deserialize(deserializer)?.as_deref().map(of).transpose()
    }
}

/// The value of a word; one that no value has is an error that says what it should be.
pub(super) fn of<T: Word, E: Error>(word: &str) -> Result<T, E> {
    let value = T::ALL.iter().copied().find(|value| value.word() == word);
    let ours = env!("CARGO_PKG_VERSION");
    value.ok_or_else(|| E::custom(format_args!("the {} \"{word}\" is not known to vecud {ours}", T::WHAT)))
}

impl Word for Mode {
    const WHAT: &'static str = "mode";
    const ALL: &'static [Mode] = &[Mode::RealTime, Mode::Virtual];

    fn word(self) -> &'static str {
        match self {
            Mode::RealTime => "realtime",
            Mode::Virtual => "virtual",
        }
    }
}

impl Word for End {
    const WHAT: &'static str = "end";
    const ALL: &'static [End] = &[End::StopTime, End::Overrun, End::Signal, End::Failure];

    fn word(self) -> &'static str {
        match self {
            End::StopTime => "stop_time",
            End::Overrun => "overrun",
            End::Signal => "signal",
            End::Failure => "failure",
        }
    }
}

impl Word for Scheduling {
    const WHAT: &'static str = "scheduling";
    const ALL: &'static [Scheduling] = &[Scheduling::Fifo, Scheduling::Cooperative, Scheduling::Virtual];

    fn word(self) -> &'static str {
        match self {
            Scheduling::Fifo => "fifo",
            Scheduling::Cooperative => "cooperative",
            Scheduling::Virtual => "virtual",
        }
    }
}

impl Word for Severity {
    const WHAT: &'static str = "severity";
    const ALL: &'static [Severity] = &[Severity::Failure, Severity::Limit, Severity::Finding, Severity::Warning];

    fn word(self) -> &'static str {
        match self {
            Severity::Failure => "failure",
            Severity::Limit => "limit",
            Severity::Finding => "finding",
            Severity::Warning => "warning",
        }
    }
}

impl Word for FmuStatus {
    const WHAT: &'static str = "status";
    const ALL: &'static [FmuStatus] = &[
        FmuStatus::Terminated,
        FmuStatus::Error,
        FmuStatus::Fatal,
        FmuStatus::Aborted,
        FmuStatus::Crashed,
        FmuStatus::Hung,
    ];

    fn word(self) -> &'static str {
        match self {
            FmuStatus::Terminated => "terminated",
            FmuStatus::Error => "error",
            FmuStatus::Fatal => "fatal",
            FmuStatus::Aborted => "aborted",
            FmuStatus::Crashed => "crashed",
            FmuStatus::Hung => "hung",
        }
    }
}

impl Word for IntervalVariability {
    const WHAT: &'static str = "kind";
    const ALL: &'static [IntervalVariability] = &[
        IntervalVariability::Constant,
        IntervalVariability::Fixed,
        IntervalVariability::Tunable,
        IntervalVariability::Changing,
        IntervalVariability::Countdown,
        IntervalVariability::Triggered,
    ];

    fn word(self) -> &'static str {
        self.name()
    }
}

impl Word for Interpolation {
    const WHAT: &'static str = "interpolation";
    const ALL: &'static [Interpolation] = &[Interpolation::Hold, Interpolation::Linear];

    fn word(self) -> &'static str {
        match self {
            Interpolation::Hold => "hold",
            Interpolation::Linear => "linear",
        }
    }
}

impl Word for TraceMode {
    const WHAT: &'static str = "mode of the trace";
    const ALL: &'static [TraceMode] = &[TraceMode::Off, TraceMode::All, TraceMode::Flight];

    fn word(self) -> &'static str {
        match self {
            TraceMode::Off => "off",
            TraceMode::All => "all",
            TraceMode::Flight => "flight",
        }
    }
}

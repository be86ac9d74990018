//! Writes and reads types with a fixed set of values as single words of `report.json`.

use super::{End, Ended, FmuStatus};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use vecud_description::IntervalVariability;
use vecud_plan::{Interpolation, Mode, OnError, Overrun, TaskKind, Timing, TraceMode};
use vecud_record::board::Scheduling;

/// A type whose values are words of `report.json`.
pub(super) trait Word: Copy + 'static {
    /// The meaning of the type, for messages.
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

/// `#[serde(with = "word_or_null")]` for a field that must be present and may be `null`.
pub(super) mod word_or_null {
    use super::*;

    pub fn serialize<T: Word, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(T::word).serialize(serializer)
    }

    pub fn deserialize<'de, T: Word, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        Option::<String>::deserialize(deserializer)?.as_deref().map(of).transpose()
    }
}

/// The value of a word; for an unknown word an error with the possible ones.
pub(super) fn of<T: Word, E: Error>(word: &str) -> Result<T, E> {
    let ours = env!("CARGO_PKG_VERSION");
    let known = T::ALL.iter().copied().find(|value| value.word() == word);
    known.ok_or_else(|| E::custom(format_args!("the {} \"{word}\" is not known to vecud {ours}", T::WHAT)))
}

/// Says the words of types.
macro_rules! words {
    ($($type:ident, $what:literal: $($variant:ident $word:literal)*;)*) => {$(
        impl Word for $type {
            const WHAT: &'static str = $what;
            const ALL: &'static [$type] = &[$($type::$variant),*];

            fn word(self) -> &'static str {
                match self {
                    $($type::$variant => $word,)*
                }
            }
        }
    )*};
}

words! {
    Mode, "mode": RealTime "realtime" Virtual "virtual";
    End, "end": StopTime "stop_time" Overrun "overrun" Signal "signal" Failure "failure";
    Ended, "word on its end": Finished "finished" Running "running" CutOff "cut off";
    Scheduling, "scheduling": Fifo "fifo" Cooperative "cooperative" Virtual "virtual";
    FmuStatus, "status": Terminated "terminated" Error "error" Fatal "fatal" Aborted "aborted" Crashed "crashed" Hung "hung"
        Running "running";
    IntervalVariability, "kind": Constant "constant" Fixed "fixed" Tunable "tunable" Changing "changing" Countdown "countdown"
        Triggered "triggered";
    Interpolation, "interpolation": Hold "hold" Linear "linear";
    OnError, "policy on errors": Stop "stop" Continue "continue";
    Overrun, "policy on overruns": Skip "skip" Queue "queue" Stop "stop";
    Timing, "timing": Immediate "immediate" Delayed "delayed";
    TraceMode, "mode of the trace": Off "off" All "all" Flight "flight";
}

impl Word for TaskKind {
    const WHAT: &'static str = "kind";
    const ALL: &'static [TaskKind] = &[
        TaskKind::Clock(IntervalVariability::Constant),
        TaskKind::Clock(IntervalVariability::Fixed),
        TaskKind::Clock(IntervalVariability::Tunable),
        TaskKind::Clock(IntervalVariability::Changing),
        TaskKind::Clock(IntervalVariability::Countdown),
        TaskKind::Clock(IntervalVariability::Triggered),
        TaskKind::Step,
        TaskKind::Group,
    ];

    fn word(self) -> &'static str {
        match self {
            TaskKind::Clock(kind) => kind.word(),
            TaskKind::Step => "step",
            TaskKind::Group => "group",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// A schema of docs/ has all words of a type at this place, and `null` where the field may be so.
    fn has<T: Word>(schema: &Value, place: &str) {
        let listed = schema.pointer(place).unwrap_or_else(|| panic!("no {place}"))["enum"].as_array().unwrap();
        let listed: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
        let ours: Vec<&str> = T::ALL.iter().map(|value| value.word()).collect();
        assert_eq!(listed, ours, "{place}");
    }

    #[test]
    fn the_schema_has_these_words() {
        let schema = serde_json::from_str(include_str!("../../../docs/report.schema.json")).unwrap();
        has::<Mode>(&schema, "/properties/mode");
        has::<End>(&schema, "/properties/end");
        has::<Ended>(&schema, "/properties/ended");
        has::<Scheduling>(&schema, "/definitions/host/properties/scheduling");
        has::<FmuStatus>(&schema, "/definitions/fmu/properties/status");
        has::<TaskKind>(&schema, "/definitions/clock/properties/kind");
        has::<Interpolation>(&schema, "/definitions/stimulus/properties/interpolation");
        has::<TraceMode>(&schema, "/definitions/trace/properties/mode");
        let schema = serde_json::from_str(include_str!("../../../docs/check.schema.json")).unwrap();
        has::<Mode>(&schema, "/definitions/plan/properties/mode");
        has::<OnError>(&schema, "/definitions/plan/properties/on_error");
        has::<Timing>(&schema, "/definitions/plan/properties/connections/items/properties/timing");
        has::<Overrun>(&schema, "/definitions/task/properties/overrun");
        has::<TaskKind>(&schema, "/definitions/task/properties/kind");
    }
}

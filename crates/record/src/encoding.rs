//! Messages are encoded one way or another, and each belongs to a topic.

use super::sample_sink::{Change, Sample};
use std::collections::BTreeSet;
use vecud_base::time::Instant;
use vecud_plan::SignalId;

/// The form of messages.
pub(super) trait Encoding {
    /// The file's words for the kind of schema, and for the kind of messages.
    fn names(&self) -> [&'static str; 2];

    /// Whether chunks are compressed.
    fn is_compressed(&self) -> bool;

    /// Name and content of a topic's schema.
    fn schema(&self, topic: &MessageChannel) -> (String, Vec<u8>);

    /// Appends a message of a task, or of an FMU, whose number is behind those of the tasks.
    fn message(&self, out: &mut Vec<u8>, source: usize, time: Instant, values: Sample);
}

/// The source of messages about the same unit.
pub(super) struct MessageChannel {
    /// `/<fmu>/<clock>` or `/<fmu>`.
    pub(super) topic: String,
    pub(super) fmu: String,
    pub(super) columns: BTreeSet<SignalId>,
    /// Whether one message may have several values of one column.
    pub(super) repeats: bool,
    /// Elements of arrays may be none, and so may strings and binaries.
    pub(super) partial: bool,
    pub(super) channel: Option<u16>,
    pub(super) messages: u32,
}

impl MessageChannel {
    pub(super) fn new(topic: String, fmu: &str, columns: BTreeSet<SignalId>, repeats: bool) -> MessageChannel {
        MessageChannel { topic, fmu: fmu.to_owned(), columns, repeats, partial: true, channel: None, messages: 0 }
    }

    /// Selects the values of the topic's columns; of several values for one column at once, the last one.
    pub(super) fn own(&self, values: &[Change]) -> Vec<Change> {
        let later = |place: usize, column: SignalId| values[place + 1..].iter().any(|(other, _)| *other == column);
        let own = |(place, (column, _)): &(usize, &Change)| {
            self.columns.contains(column) && !(self.repeats && later(*place, *column))
        };
        values.iter().enumerate().filter(own).map(|(_, value)| *value).collect()
    }
}

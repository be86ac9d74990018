//! Waits for conditions, as watchers of each row of a run.

use super::condition::Condition;
use tokio::sync::oneshot;
use vecud_base::time::Instant;
use vecud_description::Values;
use vecud_description::word;
use vecud_record::RowWatcher;

/// Waits of one rig at a time.
pub const WAITS: usize = 64;

/// A row in which a condition held.
#[derive(Debug)]
pub struct MatchingRow {
    /// The time of the row.
    pub time: Instant,
    /// The values of the condition's signals in the row, by name; `None`: no value.
    pub values: Vec<(String, Option<Values>)>,
}

/// A condition that is looked at in each row until it holds, or nobody waits any more.
pub struct Wait {
    condition: Condition,
    /// `None`: it has held.
    answer: Option<oneshot::Sender<MatchingRow>>,
}

impl Wait {
    /// A wait, and where its answer comes; that is closed when there are no further rows.
    pub fn begin(condition: Condition) -> (Box<dyn RowWatcher>, oneshot::Receiver<MatchingRow>) {
        let (sender, receiver) = oneshot::channel();
        (Box::new(Wait { condition, answer: Some(sender) }), receiver)
    }
}

impl RowWatcher for Wait {
    fn row(&mut self, time: Instant, words: &[Option<u64>]) -> bool {
        if !self.condition.holds(words) {
            return true;
        }
        let value = |column: usize, variable_type| word::values(&[words[column]?], variable_type);
        let signals = self.condition.signals().iter();
        let values =
            signals.map(|(name, signal)| (name.clone(), value(signal.column.0, signal.variable_type))).collect();
        if let Some(answer) = self.answer.take() {
            let _nobody_waits_any_more = answer.send(MatchingRow { time, values });
        }
        false
    }

    fn is_wanted(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| !answer.is_closed())
    }
}

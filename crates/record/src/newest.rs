//! The last value of each column, with its time, for observers of a running run: of every sample, whatever rules keep and files show;
//! also of columns that are only watched.
//!
//! Rows come in the order of time, each once, when all activations of its time are complete. Of several values for one column at
//! one time the one that was completed last counts. A clock is 1 in the rows in which it ticks, and 0 in the others.

use vecud_base::time::Instant;
use vecud_description::VariableType;
use vecud_plan::{Plan, SignalId};

/// An observer of each row.
pub trait RowWatcher: Send {
    /// A row is there, in which columns have these words. Whether another one is wanted.
    fn row(&mut self, time: Instant, words: &[Option<u64>]) -> bool;

    /// Whether rows are still wanted, asked every so often between them.
    fn is_wanted(&self) -> bool;
}

/// The columns, by number.
#[derive(Default)]
pub(super) struct Newest {
    words: Vec<Option<u64>>,
    /// The time of each value; `None`: not in this run yet.
    times: Vec<Option<Instant>>,
    is_clock: Vec<bool>,
    /// The clocks that tick in the newest row.
    ticked: Vec<SignalId>,
    row: Option<Instant>,
    watchers: Vec<Box<dyn RowWatcher>>,
}

impl Newest {
    /// The columns of a plan, which have no value yet.
    pub(super) fn of(plan: &Plan) -> Newest {
        let is_clock: Vec<bool> = plan.columns().map(|own| own.variable_type == VariableType::Clock).collect();
        let columns = is_clock.len();
        Newest { words: vec![None; columns], times: vec![None; columns], is_clock, ..Newest::default() }
    }

    /// The value of a column, and its time; of a string or binary the number that stands for it.
    pub(super) fn of_column(&self, signal: SignalId) -> (Option<u64>, Option<Instant>) {
        (self.words[signal.0], self.times[signal.0])
    }

    /// The values of all columns.
    pub(super) fn words(&self) -> &[Option<u64>] {
        &self.words
    }

    /// Sets the value of a column before it is computed.
    pub(super) fn start(&mut self, signal: SignalId, word: Option<u64>) {
        if self.times[signal.0].is_none() {
            self.words[signal.0] = word;
        }
    }

    /// A row begins.
    pub(super) fn begin_row(&mut self, time: Instant) {
        self.row = Some(time);
        self.ticked.drain(..).for_each(|clock| self.words[clock.0] = Some(0));
    }

    /// A column has had this since then.
    pub(super) fn set(&mut self, signal: SignalId, word: Option<u64>, time: Instant) {
        if self.is_clock[signal.0] {
            // A clock that one activation has ticked has ticked, whatever others say.
            match word {
                Some(0) if self.ticked.contains(&signal) => return,
                Some(0) => (),
                _ => self.ticked.push(signal),
            }
        }
        (self.words[signal.0], self.times[signal.0]) = (word, Some(time));
    }

    /// The row is whole.
    pub(super) fn end_row(&mut self) {
        let (Some(time), false) = (self.row, self.watchers.is_empty()) else { return };
        let words = &self.words;
        self.watchers.retain_mut(|watcher| watcher.row(time, words));
    }

    /// Somebody looks at the newest row, if there is one, and then at each further one.
    pub(super) fn watch(&mut self, mut watcher: Box<dyn RowWatcher>) {
        let goes_on = self.row.is_none_or(|time| watcher.row(time, &self.words));
        if goes_on {
            self.watchers.push(watcher);
        }
    }

    /// There is no further row.
    pub(super) fn end(&mut self) {
        self.watchers.clear();
    }

    /// Drops watchers that want no more rows.
    pub(super) fn forget_unwanted(&mut self) {
        self.watchers.retain(|watcher| watcher.is_wanted());
    }
}

//! The present values of a recording's columns, and the columns that differ from the row before.
//!
//! A clock shows 1 where it has ticked, by whichever activation of that time, and keeps nothing: in the next row it shows 0 again.

use super::sample_sink::{Change, Sample};
use vecud_description::VariableType;
use vecud_plan::{SignalId, SignalPlan};

/// The columns, by number.
#[derive(Default)]
pub(super) struct Cells {
    now: Vec<Option<u64>>,
    /// Columns that show something else than in the row before; of clocks those that tick in this row, also if they
    /// did in the one before: that they show 0 again is no change.
    changed: Vec<usize>,
    /// For each column whether it is a clock; empty: none is.
    clocks: Vec<bool>,
    /// The clocks that show a tick.
    ticked: Vec<SignalId>,
}

impl Cells {
    /// Cells of these columns, without values.
    pub(super) fn new(signals: &[SignalPlan]) -> Cells {
        let mut clocks: Vec<bool> = signals.iter().map(|own| own.variable_type == VariableType::Clock).collect();
        if !clocks.contains(&true) {
            clocks.clear();
        }
        Cells { now: vec![None; signals.len()], changed: Vec::new(), clocks, ticked: Vec::new() }
    }

    /// The values of all columns.
    pub(super) fn all(&self) -> &[Option<u64>] {
        &self.now
    }

    /// The value of a column.
    pub(super) fn of(&self, signal: SignalId) -> Option<u64> {
        self.now[signal.0]
    }

    /// Sets the value of a column before the first row.
    pub(super) fn start(&mut self, signal: SignalId, value: Option<u64>) {
        self.now[signal.0] = value;
    }

    /// Columns that show something else than in the row before; of clocks those that tick in this row, also if they did in the one
    /// before: that they show 0 again is no change.
    pub(super) fn changed(&self) -> &[usize] {
        &self.changed
    }

    /// Begins another row.
    pub(super) fn next_row(&mut self) {
        self.changed.clear();
        self.ticked.drain(..).for_each(|clock| self.now[clock.0] = Some(0));
    }

    /// Whether it is a clock, whose ticks of one time are one.
    pub(super) fn is_clock(&self, signal: SignalId) -> bool {
        self.clocks.get(signal.0).is_some_and(|is_clock| *is_clock)
    }

    /// The columns show what a sample has from now on. Where there is no clock, that is all it costs.
    pub(super) fn apply(&mut self, sample: Sample) {
        if !self.clocks.is_empty() {
            return sample.changes().for_each(|change| self.show_or_tick(change));
        }
        match sample {
            Sample::All(signals, words) => {
                signals.iter().zip(words).for_each(|(signal, word)| self.show(*signal, Some(*word)));
            }
            Sample::Some(changes) => changes.iter().for_each(|(signal, value)| self.show(*signal, *value)),
        }
    }

    /// A clock that one activation has ticked has ticked, whatever others say.
    fn show_or_tick(&mut self, (signal, value): Change) {
        if self.is_clock(signal) {
            if value == Some(0) {
                return;
            }
            self.ticked.push(signal);
        }
        self.show(signal, value);
    }

    fn show(&mut self, signal: SignalId, value: Option<u64>) {
        let cell = &mut self.now[signal.0];
        if *cell != value {
            *cell = value;
            self.changed.push(signal.0);
        }
    }
}

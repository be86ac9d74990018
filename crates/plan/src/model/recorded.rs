//! The columns of a recording, and the content of a task's sample: its columns in their order, its words.

use super::{BatchItem, BatchPlan, FmuPlan, Plan, SignalId, SignalPlan, UnitPlan};

fn columns<'p>(batches: impl Iterator<Item = &'p BatchPlan>) -> impl Iterator<Item = SignalId> {
    batches.flat_map(|batch| &batch.items).flat_map(|item| item.signals.iter().copied())
}

impl UnitPlan {
    /// The columns, by their indices in [`UnitPlan::recorded`], that an activation may leave unchanged, each with its output
    /// clocks: a new value comes only if one of them ticks. Arrays of variable size are not among them.
    pub fn recorded_when_ticked(&self) -> impl Iterator<Item = (usize, &[usize])> {
        let mut column = 0;
        self.set.iter().chain(&self.get).flat_map(move |batch| {
            let first = column;
            column += batch.items.iter().map(|item| item.signals.len()).sum::<usize>();
            let conditional = !batch.ticked.is_empty() && batch.resizable.is_none();
            (first..column).filter(move |_| conditional).map(|column| (column, batch.ticked.as_slice()))
        })
    }

    /// The columns of the inputs of an activation of this task, then those of the outputs that are read when its partition has
    /// returned.
    pub fn recorded(&self) -> impl Iterator<Item = SignalId> {
        columns(self.set.iter().chain(&self.get))
    }
}

impl FmuPlan {
    /// The columns of variables that callbacks read.
    pub fn recorded_on_ticks(&self) -> impl Iterator<Item = SignalId> {
        columns(self.on_ticks().iter().map(|on_tick| &on_tick.batch))
    }
}

impl Plan {
    /// The column of this number, recorded or watched.
    pub fn column(&self, signal: SignalId) -> &SignalPlan {
        self.signals.get(signal.0).unwrap_or_else(|| &self.watched[signal.0 - self.signals.len()])
    }

    /// All columns in the order of their numbers: the recorded ones, then the watched ones.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &SignalPlan> + use<'_> {
        (0..self.signals.len() + self.watched.len()).map(|place| self.column(SignalId(place)))
    }

    /// Whether a column is recorded, and not only watched.
    pub fn is_recorded(&self, signal: SignalId) -> bool {
        signal.0 < self.signals.len()
    }

    /// The columns of a sample of this task, in its order: its own, those of variables that callbacks of its FMU read, and those
    /// of the clocks that it may tick.
    pub fn recorded(&self, unit: &UnitPlan) -> impl Iterator<Item = SignalId> {
        let clocks = unit.ticks.iter().map(|clock| clock.signal);
        unit.recorded().chain(self.fmus[unit.fmu.0].recorded_on_ticks()).chain(clocks)
    }

    /// The columns of a sample of this task that are recorded.
    pub fn written(&self, unit: &UnitPlan) -> impl Iterator<Item = SignalId> {
        self.recorded(unit).filter(|signal| self.is_recorded(*signal))
    }

    /// Whether all connections of a variable take a value of this many bytes: where one does not, that is noted when the value is
    /// passed on.
    pub fn publishes(&self, item: &BatchItem, bytes: usize) -> bool {
        item.connections.iter().all(|connection| bytes <= self.connections[connection.0].capacity)
    }

    /// Words of a sample of this task.
    pub fn sample_words(&self, unit: &UnitPlan) -> usize {
        let values = self.recorded(unit).map(|signal| self.column(signal).words());
        values.sum::<usize>() + self.presence_words(unit)
    }

    /// Words at the end of a sample with a bit for each of its values: whether there is one. None when all always are.
    pub fn presence_words(&self, unit: &UnitPlan) -> usize {
        let varies = unit.get.iter().any(|batch| batch.resizable.is_some() || !batch.ticked.is_empty());
        let fmu = &self.fmus[unit.fmu.0];
        match varies || fmu.records_internal_steps() || fmu.recorded_on_ticks().next().is_some() {
            true => self.recorded(unit).count().div_ceil(64),
            false => 0,
        }
    }
}

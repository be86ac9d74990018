//! Samples → `signals.csv`: one row per activation time, in the order of time whatever the order of completion.
//!
//! A row is written when every activation before and at its time is known to be complete, so a late low-priority partition
//! still lands in its own row. Between rows a column keeps its last value; before the first it shows its start value.
//! Repeatable: rows depend on activation times and values only; of several values for one cell at one time the one that
//! was completed last counts.

use super::samples::Sample;
use crate::exchange::word;
use crate::fmu::description::VariableType;
use crate::plan::{Plan, SignalId, SignalPlan, TaskId};
use crate::time::Instant;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A column gets this value, or none any more.
pub type Change = (SignalId, Option<u64>);

/// Collects samples of all tasks and writes rows in order.
pub struct SignalWriter<W> {
    out: W,
    signals: Vec<SignalPlan>,
    /// Per task: the columns of its samples, and how many of them keep no value when a sample has none. The others,
    /// which only callbacks read, keep the one before.
    columns: Vec<(Vec<SignalId>, usize)>,
    waiting: BTreeMap<Instant, Vec<(u64, TaskId, Vec<u64>)>>,
    changes: BTreeMap<Instant, Vec<Change>>,
    now: Vec<Option<u64>>,
    line: String,
    written: Option<Instant>,
    late: u64,
}

impl<W: Write> SignalWriter<W> {
    /// Writes the header.
    pub fn new(plan: &Plan, mut out: W) -> io::Result<Self> {
        write!(out, "time")?;
        for signal in &plan.signals {
            write!(out, ",{}", quoted(&signal.name))?;
        }
        writeln!(out)?;
        Ok(SignalWriter {
            out,
            signals: plan.signals.clone(),
            columns: plan.tasks.iter().map(|task| (plan.recorded(task).collect(), task.recorded().count())).collect(),
            waiting: BTreeMap::new(),
            changes: BTreeMap::new(),
            now: plan.signals.iter().map(|signal| signal.start).collect(),
            line: String::new(),
            written: None,
            late: 0,
        })
    }

    /// Takes a sample.
    pub fn add(&mut self, task: TaskId, sample: Sample) {
        if self.written.is_some_and(|written| sample.time <= written) {
            self.late += 1;
            return;
        }
        self.waiting.entry(sample.time).or_default().push((sample.order, task, sample.values));
    }

    /// Takes what was set by request at `time`: before what activations of that time have computed.
    pub fn change(&mut self, time: Instant, changes: Vec<Change>) {
        // A reconfiguration is no activation; its row may have been written already, and later ones show it.
        if self.written.is_some_and(|written| time <= written) {
            self.apply(changes);
            return;
        }
        self.changes.entry(time).or_default().extend(changes);
    }

    fn apply(&mut self, changes: impl IntoIterator<Item = Change>) {
        for (signal, value) in changes {
            self.now[signal.0] = value;
        }
    }

    /// A value read while the FMU was initialised: what the column shows before it is computed.
    pub fn start_value(&mut self, signal: SignalId, value: u64) {
        self.now[signal.0] = Some(value);
    }

    /// Writes the rows of all times before `complete`.
    pub fn write_before(&mut self, complete: Instant) -> io::Result<()> {
        loop {
            let next = self.waiting.keys().next().into_iter().chain(self.changes.keys().next()).min().copied();
            let Some(time) = next.filter(|time| *time < complete) else { break };
            let changes = self.changes.remove(&time).unwrap_or_default();
            self.apply(changes);
            let mut samples = self.waiting.remove(&time).unwrap_or_default();
            samples.sort_by_key(|(order, task, _)| (*order, *task));
            for (_, task, values) in &samples {
                let (columns, own) = &self.columns[task.0];
                let (values, presence) = values.split_at(columns.len());
                for (place, (signal, value)) in columns.iter().zip(values).enumerate() {
                    let there = presence.is_empty() || presence[place / 64] >> (place % 64) & 1 == 1;
                    if there || place < *own {
                        self.now[signal.0] = there.then_some(*value);
                    }
                }
            }
            self.row(time)?;
            self.written = Some(time);
        }
        Ok(())
    }

    fn row(&mut self, time: Instant) -> io::Result<()> {
        self.line.clear();
        word::write(&mut self.line, time.seconds().to_bits(), VariableType::Float64).expect("strings take everything");
        for (signal, value) in self.signals.iter().zip(&self.now) {
            self.line.push(',');
            if let Some(value) = value {
                word::write(&mut self.line, *value, signal.variable_type).expect("strings take everything");
            }
        }
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())
    }

    /// Writes what is left and flushes.
    pub fn finish(&mut self) -> io::Result<()> {
        self.write_before(Instant::MAX)?;
        self.out.flush()
    }

    /// Flushes what was written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// What the columns show now.
    pub fn values(&self) -> &[Option<u64>] {
        &self.now
    }

    /// Samples that came after their row was written; a defect of the host, never of an FMU.
    pub fn late(&self) -> u64 {
        self.late
    }
}

/// A CSV header cell.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}

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

/// Collects samples of all tasks and writes rows in order.
pub struct SignalWriter<W> {
    out: W,
    signals: Vec<SignalPlan>,
    columns: Vec<Vec<SignalId>>,
    waiting: BTreeMap<Instant, Vec<(u64, TaskId, Vec<u64>)>>,
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
            columns: plan.tasks.iter().map(|task| task.recorded().collect()).collect(),
            waiting: BTreeMap::new(),
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

    /// A value read while the FMU was initialised: what the column shows before it is computed.
    pub fn start_value(&mut self, signal: SignalId, value: u64) {
        self.now[signal.0] = Some(value);
    }

    /// Writes the rows of all times before `complete`.
    pub fn write_before(&mut self, complete: Instant) -> io::Result<()> {
        while let Some(entry) = self.waiting.first_entry() {
            if *entry.key() >= complete {
                break;
            }
            let (time, mut samples) = entry.remove_entry();
            samples.sort_by_key(|(order, task, _)| (*order, *task));
            for (_, task, values) in &samples {
                for (signal, value) in self.columns[task.0].iter().zip(values) {
                    self.now[signal.0] = Some(*value);
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

    /// Samples that came after their row was written; a defect of the host, never of an FMU.
    pub fn late(&self) -> u64 {
        self.late
    }
}

/// A CSV header cell.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}

//! Sinks of samples: each file of a recording, and its stream, gets samples in the order of time, and the rows that they make.

use super::written::Written;
use std::io;
use vecud_base::time::Instant;
use vecud_plan::{SignalId, UnitId};

/// A column changes to this value, or to none. A string or binary is represented by its number.
pub(super) type Change = (SignalId, Option<u64>);

/// Values of one activation to keep, or values set by request.
#[derive(Clone, Copy)]
pub(super) enum Sample<'a> {
    /// All columns of the task have these words: no value is missing, or a string or binary.
    All(&'a [SignalId], &'a [u64]),
    /// These changes.
    Some(&'a [Change]),
}

impl<'a> Sample<'a> {
    /// Column by column.
    pub(super) fn changes(self) -> impl Iterator<Item = Change> + use<'a> {
        let (signals, words, some): (&[SignalId], &[u64], &[Change]) = match self {
            Sample::All(signals, words) => (signals, words, &[]),
            Sample::Some(changes) => (&[], &[], changes),
        };
        let all = signals.iter().zip(words).map(|(signal, word)| (*signal, Some(*word)));
        all.chain(some.iter().copied())
    }
}

/// A file, or a stream.
pub(super) trait SampleSink {
    /// Receives the values of the columns before the first time.
    fn begin(&mut self, _values: &[Option<u64>]) -> io::Result<()> {
        Ok(())
    }

    /// Receives values set by request, before the activations of that time.
    fn request(&mut self, _time: Instant, _values: &[Change]) -> io::Result<()> {
        Ok(())
    }

    /// Receives the values of one activation to keep, in the order of time, then of the tasks.
    fn activation(&mut self, _unit: UnitId, _time: Instant, _values: Sample) -> io::Result<()> {
        Ok(())
    }

    /// Receives the final values of columns that differ from those of the last activation: another one was completed
    /// later.
    fn settled(&mut self, _time: Instant, _values: &[Change]) -> io::Result<()> {
        Ok(())
    }

    /// Takes a row: the values of the columns after all samples of a time.
    fn row(&mut self, _time: Instant, _values: &[Option<u64>]) -> io::Result<()> {
        Ok(())
    }

    /// Makes sure that a killed process loses little of the data so far: nothing, if `all` is set.
    fn flush(&mut self, all: bool) -> io::Result<()>;

    /// Writes the last data, and returns the file, if the sink is one.
    fn close(self: Box<Self>) -> io::Result<Option<Written>>;

    /// The last time that is in the file.
    fn reached(&self) -> Option<Instant>;

    /// Bytes that were written to the file; of one that is none, 0. It only grows.
    fn written(&self) -> u64 {
        0
    }

    /// Whether the file has at least this number of bytes; data that waits for being written counts before compression.
    fn has(&mut self, bytes: u64) -> bool;
}

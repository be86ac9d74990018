//! Writes rows to the file, batch after batch.

use super::columns::{column, schema};
use super::stream::ArrowStream;
use crate::sample_sink::SampleSink;
use crate::texts::Texts;
use crate::written::Written;
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::MetadataVersion;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::SchemaRef;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Error};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use vecud_base::time::Instant;
use vecud_description::VariableType;
use vecud_linux::files;
use vecud_plan::Plan;

/// A batch is written after this time ...
const BATCH_TIME: Duration = Duration::from_millis(250);
/// ... or when its rows take this number of bytes in the file.
const BATCH_SIZE: usize = 1 << 20;
/// Buffers in a batch begin at multiples of this number of bytes. pyarrow writes such streams, too; with a larger number, short
/// batches would consist of padding.
const ALIGNMENT: usize = 8;

/// The file.
pub(crate) struct Arrow {
    file: ArrowStream<File>,
    /// Makes messages of batches.
    writer: StreamWriter<Vec<u8>>,
    schema: SchemaRef,
    /// Types of the columns, that of the time left out.
    types: Vec<VariableType>,
    /// Places of the columns that are strings or binaries.
    text_columns: Vec<usize>,
    texts: Texts,
    waiting: Waiting,
    /// There are rows that are not written, since then.
    since: Option<std::time::Instant>,
    last: Option<Instant>,
    reached: Option<Instant>,
}

/// Rows that are not written yet.
#[derive(Default)]
struct Waiting {
    /// The time of each, s.
    times: Vec<f64>,
    /// The cells of one after the other, without the time.
    cells: Vec<Option<u64>>,
    /// The strings and binaries among them, by their numbers: nobody else may need them any more when they are written.
    texts: HashMap<u64, Rc<[u8]>>,
    /// Bytes that all of that takes in the file, about.
    size: usize,
}

impl Arrow {
    /// Begins the file with its schema. It has its name when that is there.
    pub(crate) fn create(path: &Path, plan: &Plan, texts: &Texts) -> io::Result<Arrow> {
        let schema = SchemaRef::new(schema(plan));
        let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5).map_err(Error::other)?;
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options).map_err(Error::other)?;
        let file = files::create_begun(path, |file| {
            let mut file = ArrowStream::new(file);
            file.append(writer.get_mut())?;
            Ok(file)
        })?;
        let is_text = |column: &usize| plan.signals[*column].capacity.is_some();
        Ok(Arrow {
            file,
            writer,
            schema,
            types: plan.signals.iter().map(|signal| signal.variable_type).collect(),
            text_columns: (0..plan.signals.len()).filter(is_text).collect(),
            texts: texts.clone(),
            waiting: Waiting::default(),
            since: None,
            last: None,
            reached: None,
        })
    }

    /// Writes the waiting rows as a batch.
    fn batch(&mut self) -> io::Result<()> {
        if self.waiting.times.is_empty() {
            return Ok(());
        }
        let Waiting { times, cells, texts, .. } = &mut self.waiting;
        let mut columns: Vec<ArrayRef> = vec![Arc::new(Float64Array::from_iter_values(times.drain(..)))];
        for (place, variable_type) in self.types.iter().enumerate() {
            let cells = cells[place..].iter().step_by(self.types.len()).copied();
            columns.push(column(cells, *variable_type, texts));
        }
        cells.clear();
        texts.clear();
        self.waiting.size = 0;
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(Error::other)?;
        self.writer.write(&batch).map_err(Error::other)?;
        self.file.append(self.writer.get_mut())?;
        self.since = None;
        self.reached = self.last;
        Ok(())
    }
}

impl SampleSink for Arrow {
    fn row(&mut self, time: Instant, values: &[Option<u64>]) -> io::Result<()> {
        let waiting = &mut self.waiting;
        waiting.times.push(time.seconds());
        waiting.cells.extend_from_slice(values);
        waiting.size += 8 + 8 * values.len();
        for number in self.text_columns.iter().filter_map(|column| values[*column]) {
            waiting.size += waiting.texts.entry(number).or_insert_with(|| self.texts.value(number)).len();
        }
        self.last = Some(time);
        if self.since.is_none() {
            self.since = Some(std::time::Instant::now());
        }
        if self.waiting.size >= BATCH_SIZE { self.batch() } else { Ok(()) }
    }

    fn flush(&mut self, all: bool) -> io::Result<()> {
        let is_due = || self.since.is_some_and(|since| since.elapsed() >= BATCH_TIME);
        if all || is_due() { self.batch() } else { Ok(()) }
    }

    /// The stream has its end already.
    fn close(self: Box<Self>) -> io::Result<Option<Written>> {
        Ok(Some(self.file.into_written()))
    }

    fn reached(&self) -> Option<Instant> {
        self.reached
    }

    fn written(&self) -> u64 {
        self.file.length()
    }

    fn has(&mut self, bytes: u64) -> bool {
        self.file.length() + self.waiting.size as u64 >= bytes
    }
}

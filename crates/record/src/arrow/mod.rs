//! `signals.arrows`: the rows of `signals.csv` as columns, an Arrow IPC stream, for pandas, polars and DuckDB.
//!
//! * The first column is `time`, s, as `Float64`. The others have the FMI type of their variable: numbers as they are, booleans and
//!   clocks as `Bool`, strings as `Utf8`, binaries as `Binary`, enumerations as `Int64`. Where a row of `signals.csv` has an empty
//!   cell there is null.
//! * A field has `unit`, where its variable has one, and `fmi_type`; the schema has `rig`, `mode`, `version` and `start_time`, and in
//!   `fmus` a list in JSON of what is known of each FMU.
//!
//! Rows wait in memory until a batch is written: after a quarter of a second, or when they have about a mebibyte. After each batch the
//! file is a whole stream (module `stream`).
//!
//! What a stream is made of: <https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format>.

mod stream;

use super::sample_sink::SampleSink;
use super::texts::Texts;
use super::written::Written;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, Float64Array, PrimitiveArray, RecordBatch, StringArray};
use arrow_ipc::MetadataVersion;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde_json::json;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Error};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use stream::ArrowStream;
use vecud_base::time::Instant;
use vecud_description::VariableType;
use vecud_linux::files;
use vecud_plan::{Mode, Plan};

/// A batch is written after so long ...
const BATCH_TIME: Duration = Duration::from_millis(250);
/// ... or when its rows take so many bytes in the file.
const BATCH_SIZE: usize = 1 << 20;
/// Buffers in a batch begin at multiples of so many bytes. pyarrow writes such streams, too; with more, short batches would be padding.
const ALIGNMENT: usize = 8;

/// The file.
pub(super) struct Arrow {
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
    pub(super) fn create(path: &Path, plan: &Plan, texts: &Texts) -> io::Result<Arrow> {
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

    /// Writes what waits as a batch.
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

/// The columns, and what is known of them and of the run.
fn schema(plan: &Plan) -> Schema {
    let time = Field::new("time", DataType::Float64, false).with_metadata([("unit", "s")]);
    let columns = plan.signals.iter().map(|signal| {
        let unit = Some(("unit", signal.unit.as_str())).filter(|(_, unit)| !unit.is_empty());
        let fmi_type = ("fmi_type", signal.variable_type.name());
        let metadata: Vec<(&str, &str)> = unit.into_iter().chain([fmi_type]).collect();
        let metadata: arrow_schema::Metadata = metadata.into_iter().collect();
        Field::new(&signal.name, data_type(signal.variable_type), true).with_metadata(metadata)
    });
    let mode = match plan.mode {
        Mode::RealTime => "realtime",
        Mode::Virtual => "virtual",
    };
    let fmus: Vec<_> = plan
        .fmus
        .iter()
        .map(|fmu| {
            json!({
                "name": fmu.name,
                "path": fmu.path.display().to_string(),
                "instantiationToken": fmu.token,
                "dialect": fmu.abi.dialect(),
                "interface": fmu.interface_type(),
            })
        })
        .collect();
    let start = plan.start.seconds().to_string();
    let fmus = json!(fmus).to_string();
    let fields: Vec<Field> = std::iter::once(time).chain(columns).collect();
    Schema::new(fields).with_metadata([
        ("rig", plan.rig.as_str()),
        ("mode", mode),
        ("version", env!("CARGO_PKG_VERSION")),
        ("start_time", &start),
        ("fmus", &fmus),
    ])
}

/// The type of a column with values of this type.
fn data_type(variable_type: VariableType) -> DataType {
    match variable_type {
        VariableType::Float32 => DataType::Float32,
        VariableType::Float64 => DataType::Float64,
        VariableType::Int8 => DataType::Int8,
        VariableType::UInt8 => DataType::UInt8,
        VariableType::Int16 => DataType::Int16,
        VariableType::UInt16 => DataType::UInt16,
        VariableType::Int32 => DataType::Int32,
        VariableType::UInt32 => DataType::UInt32,
        VariableType::Int64 | VariableType::Enumeration => DataType::Int64,
        VariableType::UInt64 => DataType::UInt64,
        VariableType::Boolean | VariableType::Clock => DataType::Boolean,
        VariableType::String => DataType::Utf8,
        VariableType::Binary => DataType::Binary,
    }
}

/// The column of these words; a string or binary has its number, by which `texts` has its bytes.
fn column(
    cells: impl Iterator<Item = Option<u64>>,
    variable_type: VariableType,
    texts: &HashMap<u64, Rc<[u8]>>,
) -> ArrayRef {
    fn of<T: ArrowPrimitiveType>(
        cells: impl Iterator<Item = Option<u64>>,
        value: impl Fn(u64) -> T::Native,
    ) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::from_iter(cells.map(|cell| cell.map(&value))))
    }
    let bytes = |number: u64| texts.get(&number).map_or(&[][..], |bytes| bytes);
    match variable_type {
        VariableType::Float32 => of::<Float32Type>(cells, |word| f32::from_bits(word as u32)),
        VariableType::Float64 => of::<Float64Type>(cells, f64::from_bits),
        VariableType::Int8 => of::<Int8Type>(cells, |word| word as i8),
        VariableType::UInt8 => of::<UInt8Type>(cells, |word| word as u8),
        VariableType::Int16 => of::<Int16Type>(cells, |word| word as i16),
        VariableType::UInt16 => of::<UInt16Type>(cells, |word| word as u16),
        VariableType::Int32 => of::<Int32Type>(cells, |word| word as i32),
        VariableType::UInt32 => of::<UInt32Type>(cells, |word| word as u32),
        VariableType::Int64 | VariableType::Enumeration => of::<Int64Type>(cells, |word| word as i64),
        VariableType::UInt64 => of::<UInt64Type>(cells, |word| word),
        VariableType::Boolean | VariableType::Clock => {
            Arc::new(BooleanArray::from_iter(cells.map(|cell| cell.map(|word| word != 0))))
        }
        VariableType::String => Arc::new(StringArray::from_iter(
            cells.map(|cell| cell.map(|number| String::from_utf8_lossy(bytes(number)))),
        )),
        VariableType::Binary => Arc::new(BinaryArray::from_iter(cells.map(|cell| cell.map(bytes)))),
    }
}

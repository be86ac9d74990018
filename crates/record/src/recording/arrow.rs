//! `signals.arrows`, an Arrow IPC stream, message by message: one batch is in memory. Streams of others are read as well, whose columns
//! are numbers, booleans, strings and binaries.
//!
//! A stream that breaks off is read as far as its batches are whole; bytes behind the mark of its end do not count. The description
//! of a batch is compared with the batch before anything is read by it. The reader of the crate arrow-ipc panics where a batch says
//! that a column reaches beyond its end; its descriptions of messages are checked, so this reader uses them.

use super::row::{RecordingError, Row};
use super::row_reader::{ARROW, RowReader};
use super::text;
use arrow_ipc::{Field, Message, Precision, Type};
use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::mem;
use std::ops::Range;
use vecud_description::VariableType;
use vecud_description::word;

/// A continuation and a length.
const HEAD: usize = 8;
/// Longer messages are no recording's: vecud's have about a mebibyte.
const LONGEST: u64 = 1 << 28;

/// The rows of a file.
pub(super) struct ArrowReader<R> {
    file: Messages<R>,
    /// The types of all columns, that of the time included.
    types: Vec<VariableType>,
    /// Units of the columns, that of the time left out.
    units: Vec<String>,
    /// Whether columns are clocks, that of the time left out.
    clocks: Vec<bool>,
    /// The place of each column's cells in the body of the batch.
    columns: Vec<Column>,
    /// Rows of the batch that were not read yet.
    rows: Range<usize>,
}

/// The messages of a file.
struct Messages<R> {
    input: R,
    /// The description of the last message that was read, and its kind.
    description: Vec<u8>,
    body: Vec<u8>,
    /// The place in the file at which it begins.
    begin: u64,
    end: u64,
    broke_off: bool,
}

/// The place of a column's parts in the body of a batch.
struct Column {
    /// A bit for each row: whether there is a value; `None`: there always is.
    valid: Option<Range<usize>>,
    /// For strings and binaries: the offsets in `values` at which each begins, and at which the last one ends.
    offsets: Range<usize>,
    values: Range<usize>,
}

impl<R: BufRead> ArrowReader<R> {
    /// Reads the schema. Puts the names of the columns into `header`.
    pub(super) fn new(input: R, header: &mut Row) -> Result<ArrowReader<R>, RecordingError> {
        let mut file =
            Messages { input, description: Vec::new(), body: Vec::new(), begin: 0, end: 0, broke_off: false };
        let missing = "ends before it names its columns, or is no Arrow stream, although it begins like one";
        if !file.next()? {
            return Err(RecordingError::of_file(missing));
        }
        let message = file.message()?;
        let schema = message.header_as_schema().ok_or_else(|| RecordingError::of_file(missing))?;
        let fields = schema.fields().ok_or_else(|| RecordingError::of_file(missing))?;
        let (mut types, mut names) = (Vec::new(), HashSet::new());
        let (mut units, mut clocks) = (Vec::new(), Vec::new());
        for field in fields {
            let name = field.name().unwrap_or_default();
            if !names.insert(name) {
                return Err(RecordingError::of_file(format!("is damaged: it has two columns \"{name}\"")));
            }
            types.push(variable_type(&field).ok_or_else(|| {
                let what = field.type_type().variant_name().unwrap_or("unknown");
                RecordingError::of_file(format!(
                    "the column \"{name}\" is of type {what}: numbers, booleans, strings and binaries are read, as vecud writes them"
                ))
            })?);
            units.push(about(&field, "unit").to_owned());
            clocks.push(about(&field, "fmi_type") == VariableType::Clock.name());
            header.append(name);
        }
        if types.is_empty() {
            return Err(RecordingError::of_file("has no columns: its first one has to be the time"));
        }
        header.undouble();
        units.remove(0);
        clocks.remove(0);
        Ok(ArrowReader { file, types, units, clocks, columns: Vec::new(), rows: 0..0 })
    }

    /// Reads the next batch; `false`: there is none.
    fn read_batch(&mut self) -> Result<bool, RecordingError> {
        if !self.file.next()? {
            return Ok(false);
        }
        let message = self.file.message()?;
        let Some(batch) = message.header_as_record_batch() else {
            return Err(self.file.damaged("a message is no batch of rows"));
        };
        if batch.compression().is_some() {
            return Err(RecordingError::of_file("is compressed, which no recording of vecud's is"));
        }
        let rows = usize::try_from(batch.length()).unwrap_or(usize::MAX);
        let mut nodes = batch.nodes().into_iter().flatten();
        let mut buffers = batch.buffers().into_iter().flatten();
        let body = self.file.body.len();
        // The next part of the body, at least so many bytes.
        let mut part = |least: Option<usize>| {
            let buffer = buffers.next()?;
            let begin = usize::try_from(buffer.offset()).ok()?;
            let end = begin.checked_add(usize::try_from(buffer.length()).ok()?)?;
            (end <= body && end - begin >= least?).then_some(begin..end)
        };
        let mut column = |variable_type: &VariableType| {
            let node = nodes.next()?;
            let has_nulls = node.null_count() != 0;
            let valid = part(Some(if has_nulls { rows.div_ceil(8) } else { 0 }))?;
            let (offsets, least) = match width(*variable_type) {
                Width::Bytes(bytes) => (0..0, rows.checked_mul(bytes)),
                Width::Bit => (0..0, Some(rows.div_ceil(8))),
                // A column without rows may have no offset at all.
                Width::Any if rows == 0 => (part(Some(0))?, Some(0)),
                Width::Any => (part(rows.checked_add(1)?.checked_mul(4))?, Some(0)),
            };
            let values = part(least)?;
            Some(Column { valid: has_nulls.then_some(valid), offsets, values })
        };
        self.columns.clear();
        for variable_type in &self.types {
            match column(variable_type) {
                Some(column) => self.columns.push(column),
                None => return Err(self.file.damaged("a batch says more of its columns than there is")),
            }
        }
        self.rows = 0..rows;
        Ok(true)
    }

    /// Appends a cell as `signals.csv` has it; `None`: the batch is damaged.
    fn write_cell(&self, column: usize, row: usize, out: &mut String) -> Option<()> {
        let Column { valid, offsets, values } = &self.columns[column];
        let variable_type = self.types[column];
        let bit = |range: &Range<usize>| self.file.body[range.clone()].get(row / 8).map(|byte| byte >> (row % 8) & 1);
        if valid.as_ref().is_some_and(|valid| bit(valid) != Some(1)) {
            return Some(());
        }
        let values_bytes = &self.file.body[values.clone()];
        let word = match width(variable_type) {
            Width::Bit => u64::from(bit(values)?),
            Width::Bytes(bytes) => extended(values_bytes.get(row * bytes..)?.get(..bytes)?, variable_type),
            Width::Any => {
                let (all, _) = self.file.body[offsets.clone()].as_chunks::<4>();
                let place = |row: usize| usize::try_from(i32::from_le_bytes(*all.get(row)?)).ok();
                let bytes = values_bytes.get(place(row)?..place(row + 1)?)?;
                text::write_bytes(out, bytes, variable_type == VariableType::String);
                return Some(());
            }
        };
        word::write(out, word, variable_type).ok()
    }
}

impl<R: BufRead> RowReader for ArrowReader<R> {
    fn read(&mut self, row: &mut Row) -> Result<bool, RecordingError> {
        while self.rows.is_empty() {
            if !self.read_batch()? {
                return Ok(false);
            }
        }
        let place = self.rows.start;
        self.rows.start += 1;
        row.restart();
        let mut cell = String::new();
        for column in 0..self.types.len() {
            cell.clear();
            if self.write_cell(column, place, &mut cell).is_none() {
                return Err(self.file.damaged("a value lies beyond the end of its column"));
            }
            row.append(&cell);
        }
        row.undouble();
        row.read_time()?;
        Ok(true)
    }

    fn broke_off(&self) -> bool {
        self.file.broke_off
    }

    fn units(&self) -> &[String] {
        &self.units
    }

    fn is_clock(&self, column: usize) -> bool {
        self.clocks.get(column).is_some_and(|is_clock| *is_clock)
    }
}

impl<R: BufRead> Messages<R> {
    /// Reads the next message; `false`: there is none.
    fn next(&mut self) -> Result<bool, RecordingError> {
        self.begin = self.end;
        // Whoever has written the file has ended it with a mark.
        self.broke_off = true;
        let mut bytes = mem::take(&mut self.description);
        let is_there = self.fill(&mut bytes, HEAD as u64)?;
        let head = bytes.first_chunk::<HEAD>().copied();
        let Some([a, b, c, d, length @ ..]) = head.filter(|_| is_there) else { return Ok(false) };
        if [a, b, c, d] != ARROW {
            return Err(self.damaged("a message begins otherwise"));
        }
        let length = u32::from_le_bytes(length);
        if length == 0 {
            self.broke_off = false;
            return Ok(false);
        }
        if u64::from(length) > LONGEST {
            return Err(self.damaged(&format!("there is no message with {length} bytes")));
        }
        if !self.fill(&mut bytes, length.into())? {
            return Ok(false);
        }
        self.description = bytes;
        let length = self.message()?.bodyLength();
        let Some(length) = u64::try_from(length).ok().filter(|length| *length <= LONGEST) else {
            return Err(self.damaged(&format!("there is no message about {length} bytes")));
        };
        let mut body = mem::take(&mut self.body);
        let is_whole = self.fill(&mut body, length)?;
        self.body = body;
        self.broke_off = !is_whole;
        Ok(is_whole)
    }

    /// Reads `length` bytes into `out`; `false`: there are fewer.
    fn fill(&mut self, out: &mut Vec<u8>, length: u64) -> Result<bool, RecordingError> {
        out.clear();
        let read = (&mut self.input).take(length).read_to_end(out);
        let read = read.map_err(|error| RecordingError::of_file(format!("cannot be read: {error}")))? as u64;
        self.end += read;
        Ok(read == length)
    }

    /// The message that was read last.
    fn message(&self) -> Result<Message<'_>, RecordingError> {
        arrow_ipc::root_as_message(&self.description).map_err(|_| self.damaged("a message is none"))
    }

    fn damaged(&self, what: &str) -> RecordingError {
        RecordingError::of_file(format!("is damaged at byte {}: {what}", self.begin))
    }
}

/// The width of a value in its column.
enum Width {
    Bit,
    Bytes(usize),
    /// The offsets give the number of bytes.
    Any,
}

fn width(variable_type: VariableType) -> Width {
    match variable_type {
        VariableType::Boolean | VariableType::Clock => Width::Bit,
        VariableType::Int8 | VariableType::UInt8 => Width::Bytes(1),
        VariableType::Int16 | VariableType::UInt16 => Width::Bytes(2),
        VariableType::Float32 | VariableType::Int32 | VariableType::UInt32 => Width::Bytes(4),
        VariableType::Float64 | VariableType::Int64 | VariableType::UInt64 | VariableType::Enumeration => {
            Width::Bytes(8)
        }
        VariableType::String | VariableType::Binary => Width::Any,
    }
}

/// The word of a number with these bytes, the least significant one first.
fn extended(bytes: &[u8], variable_type: VariableType) -> u64 {
    let is_signed = matches!(variable_type, VariableType::Int8 | VariableType::Int16 | VariableType::Int32);
    let is_negative = bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut word = [if is_signed && is_negative { 0xFF } else { 0 }; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The type of a column's values; `None`: it is none of an FMU's. Enumerations are whole numbers.
fn variable_type(field: &Field) -> Option<VariableType> {
    if field.dictionary().is_some() {
        return None;
    }
    Some(match field.type_type() {
        Type::FloatingPoint => match field.type_as_floating_point()?.precision() {
            Precision::SINGLE => VariableType::Float32,
            Precision::DOUBLE => VariableType::Float64,
            _ => return None,
        },
        Type::Int => {
            let int = field.type_as_int()?;
            match (int.is_signed(), int.bitWidth()) {
                (true, 8) => VariableType::Int8,
                (true, 16) => VariableType::Int16,
                (true, 32) => VariableType::Int32,
                (true, 64) => VariableType::Int64,
                (false, 8) => VariableType::UInt8,
                (false, 16) => VariableType::UInt16,
                (false, 32) => VariableType::UInt32,
                (false, 64) => VariableType::UInt64,
                _ => return None,
            }
        }
        Type::Bool => VariableType::Boolean,
        Type::Utf8 => VariableType::String,
        Type::Binary => VariableType::Binary,
        _ => return None,
    })
}

/// The text under this key in the metadata of a field; empty: there is none.
fn about<'a>(field: &Field<'a>, key: &str) -> &'a str {
    let metadata = field.custom_metadata().into_iter().flatten();
    metadata.filter(|entry| entry.key() == Some(key)).find_map(|entry| entry.value()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Recording;
    use arrow_array::{ArrayRef, BinaryArray, BooleanArray, Float64Array, Int16Array, RecordBatch, StringArray};
    use arrow_ipc::writer::StreamWriter;
    use arrow_schema::{DataType, Field, Schema};
    use std::sync::Arc;

    /// A stream of two batches of two rows.
    fn stream() -> Vec<u8> {
        let field = |name: &str, data_type| Field::new(name, data_type, true);
        let schema = Arc::new(Schema::new(vec![
            field("time", DataType::Float64),
            field("a.on", DataType::Boolean).with_metadata([("fmi_type", "Clock")]),
            field("a.n", DataType::Int16).with_metadata([("unit", "rpm")]),
            field("a.text", DataType::Utf8),
            field("a.blob", DataType::Binary),
        ]));
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
        for time in [0.0, 1.0] {
            let columns: Vec<ArrayRef> = vec![
                Arc::new(Float64Array::from(vec![time, time + 0.5])),
                Arc::new(BooleanArray::from(vec![Some(true), None])),
                Arc::new(Int16Array::from(vec![None, Some(-2)])),
                Arc::new(StringArray::from(vec![Some("say \"hi\","), Some("")])),
                Arc::new(BinaryArray::from(vec![None, Some(&b"\0\xff"[..])])),
            ];
            writer.write(&RecordBatch::try_new(schema.clone(), columns).unwrap()).unwrap();
        }
        writer.into_inner().unwrap()
    }

    /// All rows as text, whether the file broke off, and why reading ended if it did not end well.
    fn read(bytes: &[u8]) -> (Vec<String>, bool, Option<String>) {
        let mut recording = match Recording::new(bytes) {
            Ok(recording) => recording,
            Err(error) => return (Vec::new(), false, Some(error.to_string())),
        };
        let (mut rows, mut row) = (Vec::new(), Row::default());
        loop {
            match recording.read(&mut row) {
                Ok(true) => rows.push(row.text().to_owned()),
                Ok(false) => return (rows, recording.broke_off(), None),
                Err(error) => return (rows, false, Some(error.to_string())),
            }
        }
    }

    const ROWS: [&str; 4] =
        ["0.0,1,,\"say \"\"hi\"\",\",", "0.5,,-2,\"\",0x00ff", "1.0,1,,\"say \"\"hi\"\",\",", "1.5,,-2,\"\",0x00ff"];

    #[test]
    fn columns_are_read_as_rows_and_units_with_them() {
        let bytes = stream();
        assert_eq!(read(&bytes), (ROWS.map(str::to_owned).to_vec(), false, None));
        let recording = Recording::new(&bytes[..]).unwrap();
        assert_eq!(recording.names(), ["a.on", "a.n", "a.text", "a.blob"]);
        assert_eq!(recording.units(), [("a.n".to_owned(), "rpm".to_owned())].into());
        assert_eq!([0, 1, 2, 3].map(|column| recording.is_clock(column)), [true, false, false, false]);
        // Behind its end nothing counts.
        let more = [&bytes[..], &[0xFF; 100]].concat();
        assert_eq!(read(&more), read(&bytes));
    }

    #[test]
    fn of_a_stream_that_breaks_off_every_whole_batch_is_read() {
        let bytes = stream();
        let mut seen = 0;
        for length in 4..bytes.len() {
            let (rows, broke_off, error) = read(&bytes[..length]);
            match error {
                Some(error) => {
                    assert!(rows.is_empty() && error.starts_with("ends before it names"), "{length}: {error}")
                }
                None => assert!(broke_off && [0, 2, 4].contains(&rows.len()) && rows == ROWS[..rows.len()]),
            }
            assert!(rows.len() >= seen);
            seen = rows.len();
        }
        assert_eq!(seen, 4);
    }

    #[test]
    fn what_it_cannot_read_is_named() {
        let schema = Arc::new(Schema::new(vec![
            Field::new("time", DataType::Float64, false),
            Field::new("day", DataType::Date32, false),
        ]));
        let bytes = StreamWriter::try_new(Vec::new(), &schema).unwrap().into_inner().unwrap();
        let error = read(&bytes).2.unwrap();
        assert!(error.starts_with("the column \"day\" is of type Date: "), "{error}");
        let twice = Arc::new(Schema::new(vec![Field::new("time", DataType::Float64, false); 2]));
        let bytes = StreamWriter::try_new(Vec::new(), &twice).unwrap().into_inner().unwrap();
        assert_eq!(read(&bytes).2.as_deref(), Some("is damaged: it has two columns \"time\""));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]
        /// Neither does it ask for room that the file does not fill.
        #[test]
        fn no_bytes_make_it_panic(
            changes in proptest::collection::vec((0usize..4096, proptest::prelude::any::<u8>()), 1..4),
            cut in 0usize..4096,
        ) {
            let mut bytes = stream();
            for (at, byte) in changes {
                let length = bytes.len();
                bytes[at % length] = byte;
            }
            let _ = read(&bytes);
            let _ = read(&bytes[..cut.min(bytes.len())]);
        }
    }
}

//! `signals.mcap`, record by record: the messages of one time make a row. No more than one chunk is in memory.
//!
//! A file that breaks off (of a process that was killed, of a copy that was not finished) is read as far as its records are
//! whole; a chunk is one record. What is inside of records is checked as far as the file allows: chunks by their checksums,
//! messages by their sequence, so that none is missing unseen. Lengths inside of a record are compared with the record before
//! anything gets room for them. Messages are in protobuf or in JSON; chunks may be compressed (LZ4).

use super::names::{NAMES, SIGNALS, START, TYPES, UNITS, keys, split};
use super::protobuf::{self, Field, Fields, Value, read_schema, take_varint};
use super::row::{RecordingError, Row};
use super::row_reader::RowReader;
use super::text;
use lz4_flex::frame::FrameDecoder;
use mcap::records::{Channel, MessageHeader, Record, op};
use serde::Deserialize;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Read};
use std::ops::Range;
use std::{fmt, mem};
use vecud_description::{VariableType, word};

/// The first of the magic bytes; no text begins with it.
pub(super) const FIRST_BYTE: u8 = 0x89;
/// The longest record of a recording, bytes: 4096 columns need less.
const LONGEST: u64 = 1 << 28;

/// Bytes before the content of a record: its opcode, and its length in 8 bytes.
const HEAD: usize = 9;
/// The bytes of a chunk before its content, without the name of its compression: times, size, checksum, the length of that
/// name, and the size of the content.
const CHUNK_HEAD: usize = 40;
/// LZ4 shrinks data at most by this factor.
const DENSEST: u64 = 256;

/// The rows of a file.
pub(super) struct McapReader<R> {
    file: Records<R>,
    /// Unread rest of the last chunk.
    chunk: Range<usize>,
    content: Content,
    /// Present values of the columns.
    cells: Vec<String>,
    /// The present message of the row that is read; `next` is the message after it.
    message: Message,
    next: Message,
    has_next: bool,
}

/// The records of a file.
struct Records<R> {
    input: R,
    /// Content of the last record.
    data: Vec<u8>,
    /// The place in the file at which the record begins.
    begin: u64,
    end: u64,
    broke_off: bool,
}

/// The metadata of the file that was read so far.
#[derive(Default)]
struct Content {
    /// Names of the columns, their values before the first message, and their units; `None`: not read yet.
    columns: Option<[Vec<String>; 3]>,
    /// The columns of strings.
    strings: HashSet<usize>,
    /// The columns of clocks.
    clocks: HashSet<usize>,
    /// By FMU: the index of each column by its name in messages.
    keys: HashMap<String, HashMap<String, usize>>,
    /// By schema in protobuf: its fields, by their numbers.
    schemas: HashMap<u16, HashMap<u32, Field>>,
    channels: HashMap<u16, Topic>,
}

/// State of a channel.
struct Topic {
    topic: String,
    /// The sequence number of its last message.
    last: u32,
    form: Form,
}

/// The form of a channel's messages.
enum Form {
    Json,
    /// The fields of this schema.
    Protobuf(u16),
}

/// The content of a message, as text.
#[derive(Default)]
struct Message {
    log_time: u64,
    time: f64,
    text: String,
    time_text: Range<usize>,
    values: Vec<(usize, Range<usize>)>,
}

impl<R: BufRead> McapReader<R> {
    /// Reads a file up to its first message. Puts the names of the columns into `header`.
    pub(super) fn new(input: R, header: &mut Row) -> Result<McapReader<R>, RecordingError> {
        let mut rows = McapReader {
            file: Records { input, data: Vec::new(), begin: 0, end: 0, broke_off: false },
            chunk: 0..0,
            content: Content::default(),
            cells: Vec::new(),
            message: Message::default(),
            next: Message::default(),
            has_next: false,
        };
        rows.file.magic()?;
        rows.read_message()?;
        let Some([names, start, _]) = &rows.content.columns else {
            return Err(RecordingError::of_file(
                "ends before it names its columns: its run was killed before its first values, or it is no recording of vecud's",
            ));
        };
        std::iter::once("time").chain(names.iter().map(String::as_str)).for_each(|name| header.append(name));
        header.undouble();
        rows.cells = start.clone();
        Ok(rows)
    }

    /// Reads up to the next message.
    fn read_message(&mut self) -> Result<(), RecordingError> {
        self.has_next = false;
        while !self.has_next {
            if self.chunk.is_empty() {
                let Some(opcode) = self.file.next()? else { return Ok(()) };
                if opcode == op::CHUNK {
                    self.chunk = self.file.chunk()?;
                } else {
                    self.has_next = self.content.take(opcode, &self.file.data, &mut self.next)?;
                }
                continue;
            }
            let Some((opcode, data)) = inner_record(&self.file.data[self.chunk.clone()]) else {
                return Err(self.file.damaged("a record reaches beyond the end of its chunk"));
            };
            self.chunk.start += HEAD + data.len();
            self.has_next = self.content.take(opcode, data, &mut self.next)?;
        }
        Ok(())
    }
}

impl<R: BufRead> RowReader for McapReader<R> {
    fn units(&self) -> &[String] {
        self.content.columns.as_ref().map_or(&[], |[_, _, units]| units)
    }

    fn is_clock(&self, column: usize) -> bool {
        self.content.clocks.contains(&column)
    }

    fn broke_off(&self) -> bool {
        self.file.broke_off
    }

    fn read(&mut self, row: &mut Row) -> Result<bool, RecordingError> {
        if !self.has_next {
            return Ok(false);
        }
        row.restart();
        row.time = self.next.time;
        row.append(&self.next.text[self.next.time_text.clone()]);
        let moment = (self.next.log_time, self.next.time);
        for clock in &self.content.clocks {
            self.cells[*clock].clear();
            self.cells[*clock].push('0');
        }
        while self.has_next && (self.next.log_time, self.next.time) == moment {
            mem::swap(&mut self.message, &mut self.next);
            for (column, value) in &self.message.values {
                // A clock ticks in the row if one activation ticks it.
                if &self.message.text[value.clone()] == "0" && self.content.clocks.contains(column) {
                    continue;
                }
                let cell = &mut self.cells[*column];
                cell.clear();
                cell.push_str(&self.message.text[value.clone()]);
            }
            self.read_message()?;
        }
        self.cells.iter().for_each(|cell| row.append(cell));
        row.undouble();
        Ok(true)
    }
}

impl<R: BufRead> Records<R> {
    fn magic(&mut self) -> Result<(), RecordingError> {
        match self.fill(mcap::MAGIC.len() as u64)? && self.data == mcap::MAGIC {
            true => Ok(()),
            false => Err(RecordingError::of_file("is no MCAP file, although it begins like one")),
        }
    }

    /// Reads `length` bytes into `data`; `false`: there are fewer.
    fn fill(&mut self, length: u64) -> Result<bool, RecordingError> {
        self.data.clear();
        let read = (&mut self.input).take(length).read_to_end(&mut self.data);
        let read = read.map_err(|error| RecordingError::of_file(format!("cannot be read: {error}")))? as u64;
        self.end += read;
        Ok(read == length)
    }

    /// Reads the next record into `data`, and returns its opcode; `None`: there is none.
    fn next(&mut self) -> Result<Option<u8>, RecordingError> {
        self.begin = self.end;
        let mut whole = self.fill(HEAD as u64)?;
        let mut opcode = 0;
        if let Some((first, length)) = self.data.split_first_chunk::<1>().filter(|_| whole) {
            opcode = first[0];
            let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
            if opcode == 0 || length > LONGEST {
                return Err(self.damaged(&format!("there is no record of type {opcode} with {length} bytes")));
            }
            whole = self.fill(length)?;
            if !whole && self.data.ends_with(mcap::MAGIC) {
                return Err(self.damaged("a record reaches beyond the end of the file"));
            }
        }
        self.broke_off = !whole;
        match opcode {
            _ if !whole => Ok(None),
            // The summary after it repeats earlier records.
            op::DATA_END if self.data.len() == 4 => Ok(None),
            op::DATA_END => Err(self.damaged("the end of the data is none")),
            opcode => Ok(Some(opcode)),
        }
    }

    /// The range of a chunk's records in `data`, after decompression.
    fn chunk(&mut self) -> Result<Range<usize>, RecordingError> {
        let (header, data) = match parse(op::CHUNK, &self.data) {
            Ok(Record::Chunk { header, data }) => (header, data),
            Ok(_) => return Err(self.damaged("a chunk is none")),
            Err(what) => return Err(self.damaged(&what)),
        };
        let (start, size) = (header.message_start_time, header.uncompressed_size);
        if CHUNK_HEAD + header.compression.len() + data.len() != self.data.len() {
            return Err(self.damaged("a chunk has another length than it says"));
        }
        let unpacked = match header.compression.as_str() {
            "" => None,
            "lz4" if size <= LONGEST.min(data.len() as u64 * DENSEST) => match unpack(&data, size) {
                Some(unpacked) => Some(unpacked),
                None => {
                    let what = format!("the chunk from log_time {start} on has another checksum than it says");
                    return Err(self.damaged(&format!("{what}, or is none that LZ4 has made")));
                }
            },
            "lz4" => return Err(self.damaged("a chunk has another length than it says")),
            other => {
                let what = format!(
                    "the chunk from log_time {start} on is compressed by \"{other}\", which no recording of vecud's is"
                );
                return Err(RecordingError::of_file(what));
            }
        };
        let data = unpacked.as_deref().unwrap_or(&data);
        if size != data.len() as u64 {
            return Err(self.damaged("a chunk has another length than it says"));
        }
        if ![0, crc32fast::hash(data)].contains(&header.uncompressed_crc) {
            return Err(self.damaged(&format!("the chunk from log_time {start} on has another checksum than it says")));
        }
        let length = data.len();
        let Some(unpacked) = unpacked else { return Ok(CHUNK_HEAD..CHUNK_HEAD + length) };
        self.data = unpacked;
        Ok(0..length)
    }

    fn damaged(&self, what: &str) -> RecordingError {
        RecordingError::of_file(format!("is damaged at byte {}: {what}", self.begin))
    }
}

/// Unpacks data that LZ4 has packed and that has this size; `None`: the data is not that.
fn unpack(packed: &[u8], size: u64) -> Option<Vec<u8>> {
    let mut unpacked = Vec::with_capacity(usize::try_from(size).ok()?);
    // One more byte shows that there are too many.
    FrameDecoder::new(packed).take(size + 1).read_to_end(&mut unpacked).ok()?;
    (unpacked.len() as u64 == size).then_some(unpacked)
}

/// Opcode and content of the first record of a chunk.
fn inner_record(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (&opcode, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk()?;
    Some((opcode, rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)?))
}

/// A record, or a description of its error. The crate would allocate as much memory as the length before a text says, up to
/// 4 GiB, before it finds that there is less.
fn parse(opcode: u8, data: &[u8]) -> Result<Record<'_>, String> {
    if skip_texts(opcode, data).is_none() {
        return Err("a text reaches beyond the end of its record".to_owned());
    }
    mcap::parse_record(opcode, data).map_err(|error| error.to_string())
}

/// The bytes after the texts of a record; `None`: a text is not completely inside.
fn skip_texts(opcode: u8, data: &[u8]) -> Option<&[u8]> {
    // Bytes before the texts, the number of texts, and whether a list of pairs of texts follows.
    let (before, texts, pairs) = match opcode {
        op::CHUNK => (28, 1, false),
        // The third one is the schema itself.
        op::SCHEMA => (2, 3, false),
        op::CHANNEL => (4, 2, true),
        op::METADATA => (0, 1, true),
        _ => return Some(data),
    };
    fn length(data: &mut &[u8]) -> Option<usize> {
        let (length, rest) = data.split_first_chunk()?;
        *data = rest;
        usize::try_from(u32::from_le_bytes(*length)).ok()
    }
    fn skip(data: &mut &[u8]) -> Option<()> {
        let length = length(data)?;
        *data = data.get(length..)?;
        Some(())
    }
    let mut data = data.get(before..)?;
    for _ in 0..texts {
        skip(&mut data)?;
    }
    if pairs {
        let bytes = length(&mut data)?;
        let end = data.len().checked_sub(bytes)?;
        while data.len() > end {
            skip(&mut data)?;
            skip(&mut data)?;
        }
    }
    Some(data)
}

impl Content {
    /// Takes a record. Returns whether it was a message, which is then in `message`.
    fn take(&mut self, opcode: u8, data: &[u8], message: &mut Message) -> Result<bool, RecordingError> {
        if ![op::METADATA, op::SCHEMA, op::CHANNEL, op::MESSAGE].contains(&opcode) {
            return Ok(false);
        }
        match parse(opcode, data).map_err(|what| RecordingError::of_file(format!("is damaged: {what}")))? {
            // Only the first one: rows have as many cells as it has columns.
            Record::Metadata(record) if record.name == SIGNALS && self.columns.is_none() => {
                let list = |key| {
                    let text: Option<&String> = record.metadata.get(key);
                    let list = text.and_then(|text| serde_json::from_str::<Vec<String>>(text).ok());
                    list.ok_or_else(|| RecordingError::of_file(format!("metadata {SIGNALS} has no list \"{key}\"")))
                };
                let (names, mut start) = (list(NAMES)?, list(START)?);
                let mut seen = HashSet::new();
                if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
                    return Err(RecordingError::of_file(format!("is damaged: it has two columns \"{twice}\"")));
                }
                start.resize(names.len(), String::new());
                // Older recordings have no units.
                let mut units = list(UNITS).unwrap_or_default();
                units.resize(names.len(), String::new());
                for (column, (name, key)) in names.iter().zip(keys(&names)).enumerate() {
                    self.keys.entry(split(name).0.to_owned()).or_default().insert(key, column);
                }
                // Older recordings have no such list, and no strings.
                let types = list(TYPES).unwrap_or_default();
                let of_type = |wanted: VariableType| {
                    let own =
                        types.iter().take(names.len()).enumerate().filter(move |(_, name)| *name == wanted.name());
                    own.map(|(column, _)| column)
                };
                self.strings = of_type(VariableType::String).collect();
                self.clocks = of_type(VariableType::Clock).collect();
                self.columns = Some([names, start, units]);
            }
            Record::Schema { header, data } if header.encoding == "protobuf" => {
                let fields = read_schema(&data).map_err(|_| {
                    RecordingError::of_file(format!("is damaged: the schema {} is none of a recording", header.name))
                })?;
                let fields = fields.into_iter().map(|field| (field.number, field)).collect();
                self.schemas.entry(header.id).or_insert(fields);
            }
            Record::Channel(Channel { id, topic, schema_id, message_encoding, .. }) => {
                let form = if message_encoding == "protobuf" { Form::Protobuf(schema_id) } else { Form::Json };
                self.channels.entry(id).or_insert(Topic { topic, last: 0, form });
            }
            Record::Message { header, data } => {
                self.check(&header)?;
                let channel = self.channels.get(&header.channel_id);
                let columns = channel.and_then(|channel| self.keys.get(fmu(&channel.topic)));
                message.begin(header.log_time);
                let read = match channel.map(|channel| &channel.form) {
                    Some(Form::Protobuf(schema)) => message.read_protobuf(&data, self.schemas.get(schema), columns),
                    Some(Form::Json) | None => message.read_json(&data, columns, &self.strings),
                };
                read.and_then(|()| message.parse_time()).map_err(|what| {
                    RecordingError::of_file(format!("the message of log_time {} {what}", header.log_time))
                })?;
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }

    /// Checks that a message is one of vecud's, and that it follows the one before it on its channel.
    fn check(&mut self, header: &MessageHeader) -> Result<(), RecordingError> {
        if self.columns.is_none() {
            let what = format!("no recording of vecud's: it has no metadata \"{SIGNALS}\"");
            return Err(RecordingError::of_file(what));
        }
        let Some(Topic { topic, last, .. }) = self.channels.get_mut(&header.channel_id) else { return Ok(()) };
        let before = mem::replace(last, header.sequence);
        // 0 means that a message has no number.
        if before == 0 || header.sequence == 0 || header.sequence == before.wrapping_add(1) {
            return Ok(());
        }
        let (now, time) = (header.sequence, header.log_time);
        let what = format!("message {before} of {topic} is followed by message {now}, at log_time {time}");
        Err(RecordingError::of_file(format!("is damaged: {what}")))
    }
}

/// The FMU of a topic.
fn fmu(topic: &str) -> &str {
    topic.trim_start_matches('/').split('/').next().unwrap_or_default()
}

impl Message {
    /// Empties the message.
    fn begin(&mut self, log_time: u64) {
        (self.log_time, self.time, self.time_text) = (log_time, f64::NAN, 0..0);
        self.text.clear();
        self.values.clear();
    }

    /// Reads a message in JSON. An error of this function, and of the next ones, completes "the message …".
    fn read_json(
        &mut self,
        data: &[u8],
        columns: Option<&HashMap<String, usize>>,
        strings: &HashSet<usize>,
    ) -> Result<(), String> {
        let mut unknown = None;
        let fields = JsonFields { message: self, columns, strings, unknown: &mut unknown };
        let mut json = serde_json::Deserializer::from_slice(data);
        json.deserialize_map(fields).and_then(|()| json.end()).map_err(|error| format!("is no JSON: {error}"))?;
        unknown.map_or(Ok(()), |key| Err(is_no_column(&key)))
    }

    /// Reads a message in protobuf.
    fn read_protobuf(
        &mut self,
        data: &[u8],
        schema: Option<&HashMap<u32, Field>>,
        columns: Option<&HashMap<String, usize>>,
    ) -> Result<(), String> {
        let schema = schema.ok_or("has no schema")?;
        let column = |number: u32| {
            let field =
                schema.get(&number).ok_or_else(|| format!("has a field {number}, which is not in its schema"))?;
            let column = columns.and_then(|columns| columns.get(&field.json_name));
            Ok::<_, String>((field, *column.ok_or_else(|| is_no_column(&field.json_name))?))
        };
        for field in Fields(data) {
            let (number, value) = field.map_err(|_| "is no message in protobuf")?;
            match (number, value) {
                (protobuf::TIME, Value::Eight(bits)) => {
                    self.time_text = self.append_word(VariableType::Float64, bits);
                }
                (protobuf::ABSENT, Value::Bytes(mut numbers)) => {
                    while !numbers.is_empty() {
                        let number = take_varint(&mut numbers).and_then(|number| u32::try_from(number).ok());
                        let (_, column) = column(number.ok_or("is no message in protobuf")?)?;
                        self.values.push((column, 0..0));
                    }
                }
                (number, value) => {
                    let (field, column) = column(number)?;
                    let begin = self.text.len();
                    field.write(&mut self.text, value).ok_or_else(|| {
                        format!("has a value \"{}\" of another type than its schema", field.json_name)
                    })?;
                    self.values.push((column, begin..self.text.len()));
                }
            }
        }
        Ok(())
    }

    /// Parses the text of the time.
    fn parse_time(&mut self) -> Result<(), String> {
        if self.time_text.is_empty() {
            return Err("has no time".to_owned());
        }
        self.time = self.text[self.time_text.clone()].parse().unwrap_or(f64::NAN);
        if self.time.is_finite() { Ok(()) } else { Err("has no number as its time".to_owned()) }
    }

    /// Appends a value in the form of `signals.csv`.
    fn append_word(&mut self, variable_type: VariableType, word: u64) -> Range<usize> {
        let begin = self.text.len();
        word::write(&mut self.text, word, variable_type).expect("strings take everything");
        begin..self.text.len()
    }

    /// Appends a value in JSON in the form of `signals.csv`.
    fn append_json(&mut self, json: &str) -> Range<usize> {
        let begin = self.text.len();
        self.text += match json {
            "true" => "1",
            "false" => "0",
            "null" => "",
            "\"NaN\"" => "NaN",
            "\"Infinity\"" => "inf",
            "\"-Infinity\"" => "-inf",
            // The digits of a binary.
            text if text.starts_with("\"0x") => text.trim_matches('"'),
            number => number,
        };
        begin..self.text.len()
    }

    /// Appends a string in JSON, or null, in the form of `signals.csv`.
    fn append_json_string(&mut self, json: &str) -> Result<Range<usize>, serde_json::Error> {
        let begin = self.text.len();
        if let Some(Key(string)) = serde_json::from_str(json)? {
            text::write_string(&mut self.text, &string);
        }
        Ok(begin..self.text.len())
    }
}

fn is_no_column(key: &str) -> String {
    format!("has a value \"{key}\", which is no column")
}

/// Takes the fields of a message in JSON as they come.
struct JsonFields<'a> {
    message: &'a mut Message,
    columns: Option<&'a HashMap<String, usize>>,
    strings: &'a HashSet<usize>,
    /// A name that is no column's.
    unknown: &'a mut Option<String>,
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for JsonFields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            match self.columns.and_then(|columns| columns.get(&*key)) {
                _ if key == "time" => self.message.time_text = self.message.append_json(value.get()),
                Some(&column) => {
                    let value = match self.strings.contains(&column) {
                        true => self.message.append_json_string(value.get()).map_err(serde::de::Error::custom)?,
                        false => self.message.append_json(value.get()),
                    };
                    self.message.values.push((column, value));
                }
                None => *self.unknown = Some(key.into_owned()),
            }
        }
        Ok(())
    }
}

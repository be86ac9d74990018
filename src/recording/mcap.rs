//! `signals.mcap`, message by message: those of one time make a row.

use super::ReadError;
use super::names::{NAMES, SIGNALS, START, keys, split};
use mcap::McapError;
use mcap::records::{Channel, Record};
use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::BufRead;

/// Of the magic bytes, and of no text.
pub const FIRST_BYTE: u8 = 0x89;
/// Longer records are no recording's: 4096 columns need less.
const LONGEST: usize = 1 << 28;

/// The rows of a file.
pub struct Rows<R> {
    input: R,
    reader: LinearReader,
    content: Content,
    /// Messages of the last chunk that were not asked for yet.
    chunk: VecDeque<Message>,
    /// The first message of the next row.
    next: Option<Message>,
}

/// What the file has told of its messages.
#[derive(Default)]
struct Content {
    names: Vec<String>,
    /// What the columns show before the first message.
    start: Vec<String>,
    /// By FMU: what its columns are called in messages.
    columns: HashMap<String, HashMap<String, usize>>,
    /// By channel: its FMU.
    channels: HashMap<u16, String>,
}

struct Message {
    log_time: u64,
    time: f64,
    values: Vec<(usize, String)>,
}

impl<R: BufRead> Rows<R> {
    /// Reads up to the first message.
    pub fn new(input: R) -> Result<Rows<R>, ReadError> {
        // Chunks are opened here: the reader would subtract too much where a record is longer than its chunk.
        let options = LinearReaderOptions::default().with_emit_chunks(true).with_record_length_limit(LONGEST);
        let mut rows = Rows {
            input,
            reader: LinearReader::new_with_options(options),
            content: Content::default(),
            chunk: VecDeque::new(),
            next: None,
        };
        rows.next = rows.message()?;
        Ok(rows)
    }

    /// The columns.
    pub fn names(&self) -> &[String] {
        &self.content.names
    }

    /// What they show before the first row.
    pub fn start(&self) -> &[String] {
        &self.content.start
    }

    /// Puts the next row into `cells`, and gives its time.
    pub fn next(&mut self, cells: &mut [String]) -> Result<Option<f64>, ReadError> {
        let Some(first) = self.next.take() else { return Ok(None) };
        let (log_time, time) = (first.log_time, first.time);
        let mut message = Some(first);
        while let Some(same) = message.filter(|message| (message.log_time, message.time) == (log_time, time)) {
            for (column, value) in same.values {
                cells[column] = value;
            }
            message = self.message()?;
            if message.as_ref().is_some_and(|next| (next.log_time, next.time) != (log_time, time)) {
                self.next = message;
                break;
            }
        }
        Ok(Some(time))
    }

    fn message(&mut self) -> Result<Option<Message>, ReadError> {
        loop {
            if let Some(message) = self.chunk.pop_front() {
                return Ok(Some(message));
            }
            let Some(event) = self.reader.next_event() else { return Ok(None) };
            match event.map_err(content)? {
                LinearReadEvent::ReadRequest(wanted) => {
                    let read = self.input.read(self.reader.insert(wanted))?;
                    self.reader.notify_read(read);
                }
                LinearReadEvent::Record { opcode, data } => match mcap::parse_record(opcode, data).map_err(content)? {
                    Record::Chunk { header, data } => {
                        let right = [0, crc32fast::hash(&data)].contains(&header.uncompressed_crc);
                        if !header.compression.is_empty() || !right {
                            let start = header.message_start_time;
                            let what = if right { "is compressed" } else { "has another checksum than it says" };
                            return Err(broken(&format!("the chunk from log_time {start} on {what}")));
                        }
                        let mut rest = &*data;
                        while let Some((opcode, data, behind)) = record(rest) {
                            self.content.take(mcap::parse_record(opcode, data).map_err(content)?, &mut self.chunk)?;
                            rest = behind;
                        }
                    }
                    // The summary repeats channels.
                    Record::DataEnd(_) => return Ok(None),
                    record => self.content.take(record, &mut self.chunk)?,
                },
            }
        }
    }
}

/// Opcode and content of the first record, and what is behind it.
fn record(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&opcode, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (data, behind) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some((opcode, data, behind))
}

impl Content {
    /// Takes a record; messages go to the end of `messages`.
    fn take(&mut self, record: Record, messages: &mut VecDeque<Message>) -> Result<(), ReadError> {
        match record {
            // Once: rows have as many cells as there were then.
            Record::Metadata(record) if record.name == SIGNALS && self.names.is_empty() => {
                let list = |key| {
                    let text: Option<&String> = record.metadata.get(key);
                    let list = text.and_then(|text| serde_json::from_str::<Vec<String>>(text).ok());
                    list.ok_or_else(|| broken(&format!("metadata {SIGNALS} has no list \"{key}\"")))
                };
                (self.names, self.start) = (list(NAMES)?, list(START)?);
                self.start.resize(self.names.len(), String::new());
                for (column, (name, key)) in self.names.iter().zip(keys(&self.names)).enumerate() {
                    self.columns.entry(split(name).0.to_owned()).or_default().insert(key, column);
                }
            }
            Record::Channel(Channel { id, topic, .. }) => {
                let fmu = topic.trim_start_matches('/').split('/').next().unwrap_or_default();
                self.channels.insert(id, fmu.to_owned());
            }
            Record::Message { .. } if self.names.is_empty() => {
                return Err(broken(&format!("no recording of vecud's: it has no metadata \"{SIGNALS}\"")));
            }
            Record::Message { header, data } => {
                let fmu = self.channels.get(&header.channel_id);
                let columns = fmu.and_then(|fmu| self.columns.get(fmu));
                messages.push_back(values(columns, header.log_time, &data)?);
            }
            _ => {}
        }
        Ok(())
    }
}

fn values(columns: Option<&HashMap<String, usize>>, log_time: u64, data: &[u8]) -> Result<Message, ReadError> {
    let at = |what: &str| broken(&format!("the message of log_time {log_time} {what}"));
    let fields: BTreeMap<String, &RawValue> =
        serde_json::from_slice(data).map_err(|error| at(&format!("is no JSON: {error}")))?;
    let mut message = Message { log_time, time: f64::NAN, values: Vec::with_capacity(fields.len()) };
    for (key, value) in fields {
        let text = text(value.get());
        match columns.and_then(|columns| columns.get(&key)) {
            _ if key == "time" => message.time = text.parse().map_err(|_| at("has no number as its time"))?,
            Some(&column) => message.values.push((column, text.to_owned())),
            None => return Err(at(&format!("has a value \"{key}\", which is no column"))),
        }
    }
    if message.time.is_nan() { Err(at("has no time")) } else { Ok(message) }
}

/// A value as `signals.csv` has it.
fn text(json: &str) -> &str {
    match json {
        "true" => "1",
        "false" => "0",
        "null" => "",
        "\"NaN\"" => "NaN",
        "\"Infinity\"" => "inf",
        "\"-Infinity\"" => "-inf",
        number => number,
    }
}

fn broken(what: &str) -> ReadError {
    ReadError::Content(what.to_owned())
}

fn content(error: McapError) -> ReadError {
    match error {
        McapError::Io(error) => ReadError::Io(error),
        other => ReadError::Content(other.to_string()),
    }
}

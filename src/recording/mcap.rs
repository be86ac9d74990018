//! `signals.mcap`, message by message: those of one time make a row.

use super::ReadError;
use super::names::{NAMES, SIGNALS, START, keys, split};
use mcap::McapError;
use mcap::records::{Channel, Record};
use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

/// Of the magic bytes, and of no text.
pub const FIRST_BYTE: u8 = 0x89;
/// Longer records are no recording's: 4096 columns need less.
const LONGEST: usize = 1 << 28;

/// The rows of a file.
pub struct Rows<R> {
    input: R,
    reader: LinearReader,
    pub names: Vec<String>,
    pub start: Vec<String>,
    /// By FMU: what its columns are called in messages.
    columns: HashMap<String, HashMap<String, usize>>,
    /// By channel: its FMU.
    channels: HashMap<u16, String>,
    /// The first message of the next row.
    next: Option<Message>,
}

struct Message {
    log_time: u64,
    time: f64,
    values: Vec<(usize, String)>,
}

impl<R: BufRead> Rows<R> {
    /// Reads up to the first message.
    pub fn new(input: R) -> Result<Rows<R>, ReadError> {
        // Files that have not been ended regularly have no checksums; those that have were checked by nobody until now.
        let options = LinearReaderOptions::default().with_validate_chunk_crcs(true).with_record_length_limit(LONGEST);
        let mut rows = Rows {
            input,
            reader: LinearReader::new_with_options(options),
            names: Vec::new(),
            start: Vec::new(),
            columns: HashMap::new(),
            channels: HashMap::new(),
            next: None,
        };
        rows.next = rows.message()?;
        if rows.next.is_some() && rows.names.is_empty() {
            return Err(ReadError::Content(format!("no recording of vecud's: it has no metadata \"{SIGNALS}\"")));
        }
        Ok(rows)
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
        while let Some(event) = self.reader.next_event() {
            match event.map_err(content)? {
                LinearReadEvent::ReadRequest(wanted) => {
                    let read = self.input.read(self.reader.insert(wanted))?;
                    self.reader.notify_read(read);
                }
                LinearReadEvent::Record { opcode, data } => {
                    match mcap::parse_record(opcode, data).map_err(content)? {
                        Record::Metadata(record) if record.name == SIGNALS => {
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
                        Record::Message { header, data } => {
                            let fmu = self.channels.get(&header.channel_id);
                            let columns = fmu.and_then(|fmu| self.columns.get(fmu));
                            return Ok(Some(values(columns, header.log_time, &data)?));
                        }
                        // The summary repeats channels.
                        Record::DataEnd(_) => return Ok(None),
                        _ => {}
                    }
                }
            }
        }
        Ok(None)
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

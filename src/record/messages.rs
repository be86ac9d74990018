//! `signals.mcap`: a channel per input clock, a JSON message per activation, for Foxglove's tools and every MCAP reader.
//!
//! * The topic is `/<fmu>/<clock>`; values set by request have `/<fmu>`. The schema (module `schema`) names all columns of the
//!   clock.
//! * Where several activations of one time have values of one column, and the last message is not that of the one that was
//!   completed last, `/<fmu>` says behind them what the column shows. So messages give the rows of `signals.csv`.
//! * A message has `time` (s) and the values that the activation has set and read, by the names of their variables, without
//!   the FMU's. Numbers read back exactly; `"NaN"`, `"Infinity"` and `"-Infinity"` stand for what JSON cannot write, null for
//!   an element that the array has not at that time.
//! * `log_time` and `publish_time` are simulation time in ns, from the start of a run that starts before 0. No wall clock:
//!   in the order of time, then of the plan's tasks, messages are those of virtual time.
//! * The metadata `vecud` has rig, mode, version and start time, `signals` the columns of `signals.csv` and their values
//!   before the first message.
//!
//! What was flushed stays readable (module `tail`). A quarter of a second is one chunk. Their index is in memory until
//! the end: some 250 bytes for each, more with more than 11 channels (docs/rig.md says how much in an hour). The crate's writer
//! keeps it even where it is not to be written; without it viewers would have to read the whole file to find a time.

use super::schema;
use super::signals::{Change, Sheet};
use super::tail::Tailed;
use super::written::Written;
use crate::exchange::word;
use crate::files;
use crate::fmu::description::VariableType;
use crate::plan::{Mode, Plan, SignalId, TaskId};
use crate::recording::names::{NAMES, SIGNALS, START, keys, split};
use crate::time::{Instant, Nanos};
use mcap::McapError;
use mcap::records::{MessageHeader, Metadata};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Error};
use std::path::Path;
use std::time::Duration;

/// A chunk is written after so long ...
const CHUNK_TIME: Duration = Duration::from_millis(250);
/// ... or when it has so many bytes.
const CHUNK_SIZE: usize = 1 << 20;

/// The file.
pub(super) struct Messages {
    writer: mcap::Writer<Tailed<File>>,
    names: Vec<String>,
    types: Vec<VariableType>,
    /// What the values of each column are called, and that as it stands before them.
    keys: Vec<String>,
    labels: Vec<String>,
    /// Topics and columns: of the tasks, then of the FMUs.
    sources: Vec<Topic>,
    tasks: usize,
    /// Simulation time at which `log_time` is 0.
    zero: Nanos,
    text: String,
    /// How many bytes of messages are not written yet.
    waiting: usize,
    since: std::time::Instant,
    last: Option<Instant>,
    reached: Option<Instant>,
}

struct Topic {
    topic: String,
    fmu: String,
    columns: BTreeSet<SignalId>,
    /// One message may have several values of one column.
    repeats: bool,
    /// Elements of arrays may be none.
    partial: bool,
    channel: Option<u16>,
    messages: u32,
}

impl Messages {
    /// Begins the file. It has its name when it is a valid one.
    pub(super) fn create(path: &Path, plan: &Plan) -> io::Result<Messages> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".part");
        let options = mcap::WriteOptions::new()
            .library(concat!("vecud ", env!("CARGO_PKG_VERSION")))
            .compression(None)
            .chunk_size(None)
            .disable_seeking(true);
        let zero = plan.start.nanos().min(Nanos(0));
        let mut writer = options.create(Tailed::new(files::create(Path::new(&partial))?)).map_err(io_error)?;
        let mode = match plan.mode {
            Mode::RealTime => "realtime",
            Mode::Virtual => "virtual",
        };
        let about = [
            ("rig", plan.rig.clone()),
            ("mode", mode.to_owned()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("start_time", plan.start.seconds().to_string()),
            ("time_of_log_time_0", zero.seconds().to_string()),
        ];
        let about = about.map(|(key, value)| (key.to_owned(), value)).into();
        writer.write_metadata(&Metadata { name: "vecud".to_owned(), metadata: about }).map_err(io_error)?;
        writer.flush().map_err(io_error)?;
        std::fs::rename(&partial, path)?;
        let names: Vec<String> = plan.signals.iter().map(|signal| signal.name.clone()).collect();
        let keys = keys(&names);
        let mut sources: Vec<Topic> = plan
            .tasks
            .iter()
            .map(|task| {
                let fmu = &plan.fmus[task.fmu.0].name;
                let columns: BTreeSet<SignalId> = plan.recorded(task).collect();
                let partial = plan.presence_words(task) > 0;
                Topic { partial, ..Topic::new(format!("/{fmu}/{}", task.name), fmu, columns, false) }
            })
            .collect();
        sources.extend(plan.fmus.iter().map(|fmu| {
            let columns = (0..names.len()).filter(|&i| split(&names[i]).0 == fmu.name).map(SignalId).collect();
            Topic::new(format!("/{}", fmu.name), &fmu.name, columns, true)
        }));
        Ok(Messages {
            writer,
            types: plan.signals.iter().map(|signal| signal.variable_type).collect(),
            labels: keys.iter().map(|key| format!(",{}:", json!(key))).collect(),
            names,
            keys,
            sources,
            tasks: plan.tasks.len(),
            zero,
            text: String::new(),
            waiting: 0,
            since: std::time::Instant::now(),
            last: None,
            reached: None,
        })
    }

    /// The channel of a source, which is written at its first use.
    fn channel(&mut self, source: usize) -> io::Result<u16> {
        if let Some(channel) = self.sources[source].channel {
            return Ok(channel);
        }
        let Topic { topic, fmu, columns, partial, .. } = &self.sources[source];
        let properties = columns.iter().map(|&SignalId(column)| {
            let property = schema::property(self.types[column], *partial, &self.names[column]);
            (self.keys[column].clone(), property)
        });
        let schema = schema::message(properties);
        let name = topic[1..].replace('/', ".");
        let schema = self.writer.add_schema(&name, "jsonschema", schema.to_string().as_bytes()).map_err(io_error)?;
        let about = BTreeMap::from([("fmu".to_owned(), fmu.clone())]);
        let channel = self.writer.add_channel(schema, topic, "json", &about).map_err(io_error)?;
        self.sources[source].channel = Some(channel);
        Ok(channel)
    }

    fn message(&mut self, source: usize, time: Instant, values: &[Change]) -> io::Result<()> {
        const WRITES: &str = "strings take everything";
        let channel_id = self.channel(source)?;
        let repeats = self.sources[source].repeats;
        self.text.clear();
        self.text.push_str("{\"time\":");
        word::write(&mut self.text, time.seconds().to_bits(), VariableType::Float64).expect(WRITES);
        for (place, &(SignalId(column), value)) in values.iter().enumerate() {
            // What was set twice at once has its last value.
            if repeats && values[place + 1..].iter().any(|(later, _)| later.0 == column) {
                continue;
            }
            self.text.push_str(&self.labels[column]);
            match value {
                Some(value) => number(&mut self.text, value, self.types[column]),
                None => self.text.push_str("null"),
            }
        }
        self.text.push('}');
        let source = &mut self.sources[source];
        source.messages = source.messages.wrapping_add(1);
        let log_time = time.nanos().minus(self.zero).0.max(0) as u64;
        let header = MessageHeader { channel_id, sequence: source.messages, log_time, publish_time: log_time };
        self.writer.write_to_known_channel(&header, self.text.as_bytes()).map_err(io_error)?;
        if self.waiting == 0 {
            self.since = std::time::Instant::now();
        }
        self.waiting += self.text.len();
        self.last = Some(time);
        Ok(())
    }

    fn chunk(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(io_error)?;
        self.waiting = 0;
        self.reached = self.last;
        Ok(())
    }
}

impl Topic {
    fn new(topic: String, fmu: &str, columns: BTreeSet<SignalId>, repeats: bool) -> Topic {
        Topic { topic, fmu: fmu.to_owned(), columns, repeats, partial: true, channel: None, messages: 0 }
    }
}

impl Sheet for Messages {
    fn begin(&mut self, values: &[Option<u64>]) -> io::Result<()> {
        let text = |(value, kind): (&Option<u64>, &VariableType)| value.map_or(String::new(), |v| word::text(v, *kind));
        let start: Vec<String> = values.iter().zip(&self.types).map(text).collect();
        let about = [(NAMES, json!(self.names)), (START, json!(start))];
        let about = about.map(|(key, value)| (key.to_owned(), value.to_string())).into();
        self.writer.write_metadata(&Metadata { name: SIGNALS.to_owned(), metadata: about }).map_err(io_error)?;
        for task in 0..self.tasks {
            if !self.sources[task].columns.is_empty() {
                self.channel(task)?;
            }
        }
        Ok(())
    }

    fn activation(&mut self, task: TaskId, time: Instant, values: &[Change]) -> io::Result<()> {
        self.message(task.0, time, values)
    }

    fn request(&mut self, time: Instant, values: &[Change]) -> io::Result<()> {
        for fmu in self.tasks..self.sources.len() {
            let own: Vec<Change> =
                values.iter().filter(|(column, _)| self.sources[fmu].columns.contains(column)).copied().collect();
            if !own.is_empty() {
                self.message(fmu, time, &own)?;
            }
        }
        Ok(())
    }

    fn settled(&mut self, time: Instant, values: &[Change]) -> io::Result<()> {
        self.request(time, values)
    }

    /// A chunk ends with a time: what a killed process leaves has no half a row. Also where much waits that was recorded while
    /// nobody wrote, a chunk is due in time.
    fn row(&mut self, _: Instant, _: &[Option<u64>]) -> io::Result<()> {
        if self.waiting >= CHUNK_SIZE { self.chunk() } else { self.flush(false) }
    }

    fn flush(&mut self, all: bool) -> io::Result<()> {
        let due = all || self.since.elapsed() >= CHUNK_TIME;
        if self.waiting > 0 && due { self.chunk() } else { Ok(()) }
    }

    /// Writes the summary: statistics and indexes.
    fn close(mut self: Box<Self>) -> io::Result<Written> {
        self.writer.finish().map_err(io_error)?;
        Ok(self.writer.into_inner().into_written())
    }

    fn reached(&self) -> Option<Instant> {
        self.reached
    }
}

/// A value as JSON.
fn number(text: &mut String, value: u64, variable_type: VariableType) {
    let float = match variable_type {
        VariableType::Float32 => f64::from(f32::from_bits(value as u32)),
        VariableType::Float64 => f64::from_bits(value),
        VariableType::Boolean => return text.push_str(if value != 0 { "true" } else { "false" }),
        _ => 0.0,
    };
    match float {
        f64::INFINITY => text.push_str("\"Infinity\""),
        f64::NEG_INFINITY => text.push_str("\"-Infinity\""),
        float if float.is_nan() => text.push_str("\"NaN\""),
        _ => word::write(text, value, variable_type).expect("strings take everything"),
    }
}

/// The error of the file, which is the only kind that a writer of messages makes.
fn io_error(error: McapError) -> Error {
    match error {
        McapError::Io(error) => error,
        other => Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_value_is_json_and_reads_back_exactly() {
        use VariableType::{Boolean, Float32, Float64, Int8, UInt64};
        for (value, variable_type, expected) in [
            (0.1f64.to_bits(), Float64, "0.1"),
            ((-0.0f64).to_bits(), Float64, "-0.0"),
            (1e300f64.to_bits(), Float64, "1e300"),
            (5e-324f64.to_bits(), Float64, "5e-324"),
            (f64::NAN.to_bits(), Float64, "\"NaN\""),
            (f64::INFINITY.to_bits(), Float64, "\"Infinity\""),
            (u64::from(f32::NEG_INFINITY.to_bits()), Float32, "\"-Infinity\""),
            (u64::from(0.1f32.to_bits()), Float32, "0.1"),
            (u64::MAX, UInt64, "18446744073709551615"),
            (-128i64 as u64, Int8, "-128"),
            (1, Boolean, "true"),
            (0, Boolean, "false"),
        ] {
            let mut text = String::new();
            number(&mut text, value, variable_type);
            assert_eq!(text, expected);
            serde_json::from_str::<Value>(&text).unwrap();
        }
    }

    /// What waits for a supervisor that comes late is much: to be killed in the midst of it costs no more than ever.
    #[test]
    fn chunks_are_written_in_the_midst_of_much_that_waits() {
        let plan = crate::plan::tests::ecu_and_plant("[record]\nformat = \"mcap\"\n");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("signals.mcap");
        let mut messages = Messages::create(&path, &plan).unwrap();
        messages.begin(&vec![None; plan.signals.len()]).unwrap();
        let recorded = |task: usize| Some((TaskId(task), plan.recorded(&plan.tasks[task]).next()?));
        let (task, column) = (0..plan.tasks.len()).find_map(recorded).unwrap();
        let mut write = |time: i64| {
            let time = Instant::from_nanos(Nanos(time));
            messages.activation(task, time, &[(column, Some(0))]).unwrap();
            messages.row(time, &[]).unwrap();
            mcap::MessageStream::new(&std::fs::read(&path).unwrap()).unwrap().count()
        };
        assert_eq!(write(0), 0);
        std::thread::sleep(CHUNK_TIME);
        assert_eq!(write(1), 2);
    }
}

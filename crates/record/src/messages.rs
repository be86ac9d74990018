//! `signals.mcap`: a channel per input clock, a message per activation, for Foxglove's tools and every MCAP reader.
//!
//! * The topic is `/<fmu>/<clock>`; values set by request have `/<fmu>`. The schema names all columns of the clock. Messages are in
//!   protobuf (module `protobuf`), or in JSON (module `json`).
//! * Where several activations of one time have values of one column, and the last message is not that of the one that was
//!   completed last, `/<fmu>` says behind them what the column shows. So messages give the rows of `signals.csv`.
//! * `log_time` and `publish_time` are simulation time in ns, from the start of a run that starts before 0. No wall clock:
//!   in the order of time, then of the plan's tasks, messages are those of virtual time.
//! * The metadata `vecud` has rig, mode, version and start time, `signals` the columns of `signals.csv`, their values
//!   before the first message, their types and units; a channel has the units of its own columns.
//!
//! Flushed data stays readable (module `tail`). A quarter of a second is one chunk. The index of the chunks is in
//! memory until the end: some 76 bytes for each, and 10 for each of its channels (docs/rig.md gives the amount per
//! hour); without it viewers would have to read the whole file to find a time.

use super::chunk::MessageHead;
use super::container::{ChannelAbout, Container};
use super::encoding::{Encoding, MessageChannel};
use super::json::Json;
use super::protobuf::Protobuf;
use super::sample_sink::{Change, Sample, SampleSink};
use super::texts::Texts;
use super::written::Written;
use crate::recording::names::{NAMES, SIGNALS, START, TYPES, UNITS, keys, split};
use crate::recording::text;
use serde_json::json;
use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;
use vecud_base::time::{Instant, Nanos, ToNanos};
use vecud_description::VariableType;
use vecud_description::word;
use vecud_linux::files;
use vecud_plan::{MessageEncoding, Mode, Plan, SignalId, UnitId};

/// Age at which a chunk is written ...
const CHUNK_TIME: Duration = Duration::from_millis(250);
/// ... or size at which it is, bytes.
const CHUNK_SIZE: usize = 1 << 20;
/// Number of bytes written between two checks of the clock: a check takes as long as a short message.
const BETWEEN_LOOKS: usize = 1 << 14;

/// The file.
pub(super) struct Messages {
    file: Container<File>,
    encoding: Box<dyn Encoding>,
    names: Vec<String>,
    /// Names of the columns in messages.
    keys: Vec<String>,
    units: Vec<String>,
    types: Vec<VariableType>,
    texts: Texts,
    /// Topics and columns: of the tasks, then of the FMUs.
    sources: Vec<MessageChannel>,
    tasks: usize,
    /// Simulation time at which `log_time` is 0.
    zero: Nanos,
    /// There are messages that are not written, since then.
    since: Option<std::time::Instant>,
    /// When this number of bytes waits, the time of the last writing is examined.
    look_at: usize,
    last: Option<Instant>,
    /// The last times of chunks that are not known to be written, in their order.
    ends: VecDeque<Option<Instant>>,
    reached: Option<Instant>,
    nanos: ToNanos,
}

impl Messages {
    /// Begins the file. It has its name when it is a valid one.
    pub(super) fn create(path: &Path, plan: &Plan, encoding: MessageEncoding, texts: &Texts) -> io::Result<Messages> {
        let names: Vec<String> = plan.signals.iter().map(|signal| signal.name.clone()).collect();
        let keys = keys(&names);
        let encoding: Box<dyn Encoding> = match encoding {
            MessageEncoding::Protobuf => Box::new(Protobuf::new(plan, keys.clone(), texts)),
            MessageEncoding::Json => Box::new(Json::new(plan, keys.clone(), texts)),
        };
        let zero = plan.start.nanos().min(Nanos(0));
        let mode = match plan.mode {
            Mode::RealTime => "realtime",
            Mode::Virtual => "virtual",
        };
        let about = [
            ("rig", plan.rig.as_str()),
            ("mode", mode),
            ("version", env!("CARGO_PKG_VERSION")),
            ("start_time", &plan.start.seconds().to_string()),
            ("time_of_log_time_0", &zero.seconds().to_string()),
        ];
        let file = files::create_begun(path, |file| {
            let mut file = Container::new(file, encoding.is_compressed())?;
            file.metadata("vecud", &about)?;
            file.flush()?;
            Ok(file)
        })?;
        let mut sources: Vec<MessageChannel> = plan
            .units
            .iter()
            .map(|unit| {
                let fmu = &plan.fmus[unit.fmu.0].name;
                let columns: BTreeSet<SignalId> = plan.written(unit).collect();
                let may_be_none = |column: &SignalId| plan.signals[column.0].capacity.is_some();
                let partial = plan.presence_words(unit) > 0 || columns.iter().any(may_be_none);
                MessageChannel { partial, ..MessageChannel::new(format!("/{fmu}/{}", unit.name), fmu, columns, false) }
            })
            .collect();
        sources.extend(plan.fmus.iter().map(|fmu| {
            let columns = (0..names.len()).filter(|&i| split(&names[i]).0 == fmu.name).map(SignalId).collect();
            MessageChannel::new(format!("/{}", fmu.name), &fmu.name, columns, true)
        }));
        Ok(Messages {
            encoding,
            types: plan.signals.iter().map(|signal| signal.variable_type).collect(),
            texts: texts.clone(),
            units: plan.signals.iter().map(|signal| signal.unit.clone()).collect(),
            keys,
            names,
            sources,
            tasks: plan.units.len(),
            zero,
            since: None,
            look_at: BETWEEN_LOOKS,
            last: None,
            ends: VecDeque::new(),
            reached: None,
            nanos: ToNanos::default(),
            file,
        })
    }

    /// The channel of a source, which is written at its first use.
    fn channel(&mut self, source: usize) -> io::Result<u16> {
        let topic = &mut self.sources[source];
        if let Some(channel) = topic.channel {
            return Ok(channel);
        }
        let (name, schema) = self.encoding.schema(topic);
        let [schema_encoding, message_encoding] = self.encoding.names();
        let with_unit = topic.columns.iter().filter(|column| !self.units[column.0].is_empty());
        let units = with_unit.map(|column| (self.keys[column.0].clone(), json!(self.units[column.0]))).collect();
        let units = serde_json::Value::Object(units).to_string();
        let channel = self.file.channel(&ChannelAbout {
            topic: &topic.topic,
            schema: &name,
            schema_encoding,
            schema_data: &schema,
            message_encoding,
            metadata: &[("fmu", &topic.fmu), (UNITS, &units)],
        })?;
        topic.channel = Some(channel);
        Ok(channel)
    }

    fn message(&mut self, source: usize, time: Instant, values: Sample) -> io::Result<()> {
        let channel = self.channel(source)?;
        let topic = &mut self.sources[source];
        topic.messages = topic.messages.wrapping_add(1);
        let log_time = self.nanos.of(&time).minus(self.zero).0.max(0) as u64;
        let head = MessageHead { channel, sequence: topic.messages, time: log_time };
        self.file.message(head, |out| self.encoding.message(out, source, time, values));
        if self.since.is_none() {
            self.since = Some(std::time::Instant::now());
        }
        self.last = Some(time);
        Ok(())
    }

    /// Ends the chunk.
    fn chunk(&mut self) -> io::Result<()> {
        self.ends.push_back(self.last);
        let ended = self.file.flush();
        (self.since, self.look_at) = (None, BETWEEN_LOOKS);
        self.note_written();
        ended
    }

    /// Notes the chunks that are written by now.
    fn note_written(&mut self) {
        let written = self.ends.len().saturating_sub(self.file.unwritten());
        if let Some(end) = self.ends.drain(..written).next_back() {
            self.reached = end;
        }
    }

    /// Checks whether all chunks could be written; `all`: waits for pending ones.
    fn look(&mut self, all: bool) -> io::Result<()> {
        if all {
            self.file.settle();
        }
        let looked = self.file.look();
        self.note_written();
        looked
    }
}

impl SampleSink for Messages {
    fn begin(&mut self, values: &[Option<u64>]) -> io::Result<()> {
        let text = |(value, kind): (&Option<u64>, &VariableType)| {
            let mut text = String::new();
            match (value, kind) {
                (None, _) => (),
                (Some(value), VariableType::String) => text::write_bytes(&mut text, &self.texts.value(*value), true),
                (Some(value), VariableType::Binary) => text::write_bytes(&mut text, &self.texts.value(*value), false),
                (Some(value), kind) => text = word::text(*value, *kind),
            }
            text
        };
        let start: Vec<String> = values.iter().zip(&self.types).map(text).collect();
        let types: Vec<&str> = self.types.iter().map(|own| own.name()).collect();
        let lists = [json!(self.names), json!(start), json!(self.units), json!(types)].map(|list| list.to_string());
        let [names, start, units, types] = &lists;
        self.file.metadata(SIGNALS, &[(NAMES, names), (START, start), (UNITS, units), (TYPES, types)])?;
        for unit in 0..self.tasks {
            if !self.sources[unit].columns.is_empty() {
                self.channel(unit)?;
            }
        }
        Ok(())
    }

    fn activation(&mut self, unit: UnitId, time: Instant, values: Sample) -> io::Result<()> {
        self.message(unit.0, time, values)
    }

    fn request(&mut self, time: Instant, values: &[Change]) -> io::Result<()> {
        for fmu in self.tasks..self.sources.len() {
            let own = self.sources[fmu].own(values);
            if !own.is_empty() {
                self.message(fmu, time, Sample::Some(&own))?;
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
        let waiting = self.file.waiting();
        if waiting >= CHUNK_SIZE {
            return self.chunk();
        }
        if waiting < self.look_at {
            return Ok(());
        }
        self.look_at = waiting + BETWEEN_LOOKS;
        self.flush(false)
    }

    fn flush(&mut self, all: bool) -> io::Result<()> {
        let is_due = || self.since.is_some_and(|since| since.elapsed() >= CHUNK_TIME);
        if all || is_due() {
            self.chunk()?;
        }
        self.look(all)
    }

    /// Writes the summary: statistics and indexes.
    fn close(self: Box<Self>) -> io::Result<Option<Written>> {
        Ok(Some(self.file.finish()?.into_written()))
    }

    fn reached(&self) -> Option<Instant> {
        self.reached
    }

    fn written(&self) -> u64 {
        self.file.written()
    }

    fn has(&mut self, bytes: u64) -> bool {
        if self.file.size() >= bytes {
            // What is compressed when it is written is less then.
            self.file.settle();
        }
        self.file.size() >= bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Recording, Row};
    use std::path::PathBuf;
    use vecud_plan::{FmuInput, HostFacts};

    /// All rows of a recording as text, and why reading ended if it did not end well.
    fn rows(bytes: &[u8]) -> (Vec<String>, Option<String>) {
        let (mut rows, mut row) = (Vec::new(), Row::default());
        let mut recording = match Recording::new(bytes) {
            Ok(recording) => recording,
            Err(error) => return (rows, Some(error.to_string())),
        };
        loop {
            match recording.read(&mut row) {
                Ok(true) => rows.push(row.text().to_owned()),
                Ok(false) => return (rows, None),
                Err(error) => return (rows, Some(error.to_string())),
            }
        }
    }

    /// A plan with a task of 10 ms and one of 1 ms, each of which reads an output.
    fn ecu_and_plant() -> Plan {
        let description = |variables: &str| {
            let xml = format!(
                "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">\
                 <ScheduledExecution modelIdentifier=\"m\"/><ModelVariables>{variables}</ModelVariables><ModelStructure/>\
                 </fmiModelDescription>"
            );
            vecud_description::parse(&xml).unwrap()
        };
        let clock = |interval: &str| {
            format!(
                "<Clock name=\"step\" valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\" \
                 intervalDecimal=\"{interval}\" priority=\"1\"/>"
            )
        };
        let output = |name: &str| {
            format!(
                "<Float64 name=\"{name}\" valueReference=\"2\" causality=\"output\" variability=\"discrete\" clocks=\"1\"/>"
            )
        };
        let ecu = description(&(clock("0.01") + &output("throttle")));
        let plant = description(&(clock("0.001") + &output("speed")));
        let text = "[fmu.ecu]\npath = \"ecu\"\n[fmu.plant]\npath = \"plant\"\n[record]\nformat = \"mcap\"\n";
        let rig = vecud_plan::rig::parse(text, Path::new("rig.toml")).unwrap();
        let input = |(name, description)| FmuInput {
            description,
            library: PathBuf::from(format!("/cache/{name}.so")),
            folder: String::new(),
            resources: None,
            path: PathBuf::from(name),
            tells_max_step: false,
        };
        let inputs: Vec<FmuInput> = [("ecu", &ecu), ("plant", &plant)].into_iter().map(input).collect();
        let host = HostFacts { allowed_cpus: vec![0, 1], ..HostFacts::default() };
        vecud_plan::build(&rig, &inputs, &[], &host).unwrap()
    }

    #[test]
    fn of_chunks_that_are_compressed_none_is_missing_or_damaged_unseen() {
        let plan = ecu_and_plant();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("signals.mcap");
        let mut messages =
            Box::new(Messages::create(&path, &plan, MessageEncoding::Protobuf, &Texts::default()).unwrap());
        messages.begin(&vec![None; plan.signals.len()]).unwrap();
        let recorded = |unit: usize| Some((UnitId(unit), plan.recorded(&plan.units[unit]).next()?));
        let (unit, column) = (0..plan.units.len()).find_map(recorded).unwrap();
        for ms in 0..8 {
            let (time, value) = (Instant::from_nanos(Nanos(ms * 1_000_000)), Some((0.5 * ms as f64).to_bits()));
            messages.activation(unit, time, Sample::Some(&[(column, value)])).unwrap();
            messages.flush(true).unwrap();
        }
        messages.close().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let (expected, error) = rows(&bytes);
        assert_eq!((expected.len(), error), (8, None));
        let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
        assert_eq!(summary.chunk_indexes.len(), 8);
        for chunk in &summary.chunk_indexes[1..3] {
            let begin = chunk.chunk_start_offset as usize;
            // Its times are for those who seek.
            for at in (begin..begin + chunk.chunk_length as usize).filter(|at| !(begin + 9..begin + 25).contains(at)) {
                for bit in 0..8 {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 1 << bit;
                    // LZ4 can say the same in several ways.
                    let (rows, error) = rows(&damaged);
                    let harmless = error.is_none() && rows == expected && at >= begin + 9 + 43;
                    assert!(harmless || error.is_some() && rows.len() < 8, "byte {} bit {bit}", at - begin);
                }
            }
        }
    }

    #[test]
    fn channels_and_metadata_have_the_units_of_columns() {
        let mut plan = ecu_and_plant();
        let speed = plan.signals.iter().position(|signal| signal.name == "plant.speed").unwrap();
        plan.signals.iter_mut().for_each(|signal| signal.unit.clear());
        plan.signals[speed].unit = "rad/s".to_owned();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("signals.mcap");
        for encoding in [MessageEncoding::Protobuf, MessageEncoding::Json] {
            let mut messages = Box::new(Messages::create(&path, &plan, encoding, &Texts::default()).unwrap());
            messages.begin(&vec![None; plan.signals.len()]).unwrap();
            messages.close().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
            let index = summary.metadata_indexes.iter().find(|index| index.name == SIGNALS).unwrap();
            let all: Vec<String> =
                serde_json::from_str(&mcap::read::metadata(&bytes, index).unwrap().metadata[UNITS]).unwrap();
            assert!(all.iter().enumerate().all(|(place, unit)| unit == if place == speed { "rad/s" } else { "" }));
            let of_channels: Vec<&String> = summary.channels.values().map(|channel| &channel.metadata[UNITS]).collect();
            assert!(of_channels.iter().any(|units| *units == "{\"speed\":\"rad/s\"}"), "{of_channels:?}");
            assert!(of_channels.iter().any(|units| *units == "{}"), "{of_channels:?}");
        }
    }

    /// What waits for a supervisor that comes late is much: to be killed in the midst of it costs no more than ever.
    #[test]
    fn chunks_are_written_in_the_midst_of_much_that_waits() {
        let plan = ecu_and_plant();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("signals.mcap");
        let mut messages = Messages::create(&path, &plan, MessageEncoding::Json, &Texts::default()).unwrap();
        messages.begin(&vec![None; plan.signals.len()]).unwrap();
        let recorded = |unit: usize| Some((UnitId(unit), plan.recorded(&plan.units[unit]).next()?));
        let (unit, column) = (0..plan.units.len()).find_map(recorded).unwrap();
        let mut write = |time: i64| {
            let time = Instant::from_nanos(Nanos(time));
            messages.activation(unit, time, Sample::Some(&[(column, Some(0))])).unwrap();
            messages.row(time, &[]).unwrap();
            mcap::MessageStream::new(&std::fs::read(&path).unwrap()).unwrap().count()
        };
        // No look at the clock for each message: for a few of them, at the latest.
        let mut read = write(0);
        std::thread::sleep(CHUNK_TIME);
        let messages = (1..).take_while(|time| {
            read = write(*time);
            read == 0
        });
        let last = messages.last().unwrap_or(0);
        assert!(read as i64 == last + 2 && read * 30 < 2 * BETWEEN_LOOKS, "{read} messages");
    }
}

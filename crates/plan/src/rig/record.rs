//! `[record]`: the recorded signals, the formats of the files, and the rules for samples.

use super::document::{TableReader, describe, elements, number};
use super::{At, Place};
use bytesize::ByteSize;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use toml_edit::{Item, Value};
use vecud_base::time::Nanos;

const RECORD: &[&str] = &["signals", "format", "mcap", "text_size", "clocks", "rule", "rotate", "max_size", "keep"];
/// The largest `text_size`, bytes.
const LARGEST_TEXT: usize = 1 << 16;
const RULE: &[&str] = &["signals", "every", "change"];

/// `[record]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RigRecord {
    /// `signals`: patterns over `fmu.variable`; default `["*"]`.
    pub signals: Vec<At<String>>,
    /// `format`: the files that are written, each format once, in the order of [`Format::ALL`].
    pub formats: Vec<At<Format>>,
    /// `text_size`: the longest recorded string or binary, bytes; `None`: strings and binaries are not recorded.
    pub text_size: Option<usize>,
    /// `clocks`: patterns match clocks as well, whose ticks are then recorded.
    pub clocks: bool,
    /// `[[record.rule]]`, in the order of the file: the last rule that matches a signal counts.
    pub rules: Vec<RigRule>,
    /// `rotate`, `max_size` and `keep`.
    pub rotation: Rotation,
}

impl RigRecord {
    /// Everything, in the default format.
    pub fn everything(place: Place) -> RigRecord {
        RigRecord {
            signals: vec![At { value: "*".to_owned(), place }],
            formats: vec![At { value: Format::Csv, place }],
            text_size: None,
            clocks: false,
            rules: Vec::new(),
            rotation: Rotation::default(),
        }
    }
}

/// A word of `format`: the format of a recording's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Format {
    /// `"csv"`: `signals.csv`, a row for each time.
    Csv,
    /// `"mcap"`: `signals.mcap`, a message for each activation, in this encoding.
    Mcap(MessageEncoding),
    /// `"arrow"`: `signals.arrows`, the rows as columns.
    Arrow,
}

impl Format {
    /// All formats, `"mcap"` with messages as they are by default.
    pub const ALL: &[Format] = &[Format::Csv, Format::Mcap(MessageEncoding::Protobuf), Format::Arrow];

    /// The format's word in a rig.
    pub fn word(self) -> &'static str {
        self.names()[0]
    }

    /// The extension of its files, without the dot.
    pub fn extension(self) -> &'static str {
        self.names()[1]
    }

    fn names(self) -> [&'static str; 2] {
        match self {
            Format::Csv => ["csv", "csv"],
            Format::Mcap(_) => ["mcap", "mcap"],
            // The Arrow project's extension for files with a stream.
            Format::Arrow => ["arrow", "arrows"],
        }
    }
}

/// `mcap`: how the messages of `signals.mcap` are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MessageEncoding {
    /// `"protobuf"`: binary, in compressed chunks.
    Protobuf,
    /// `"json"`: text, not compressed.
    Json,
}

/// The rotation of a recording: the size of one file, and the number of files that stay. Without any of it there is one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// `rotate`: the simulation time of one file, ns; above 0.
    pub every: Option<Nanos>,
    /// `max_size`: bytes after which a file ends, at the end of an instant.
    pub max_size: Option<u64>,
    /// `keep`: the number of newest files of each format that stay; above 0. `None`: all files stay.
    pub keep: Option<u32>,
}

impl Rotation {
    /// Whether there may be more than one file.
    pub fn is_wanted(&self) -> bool {
        self.every.is_some() || self.max_size.is_some()
    }
}

/// The shortest `rotate`, ns: 1 ms.
const SHORTEST_ROTATION: i64 = 1_000_000;
/// The smallest `max_size`, bytes.
const SMALLEST_SIZE: u64 = 1 << 16;

/// `[[record.rule]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RigRule {
    /// `signals`: patterns over `fmu.variable`, or `fmu.variable[1]` for an element of an array.
    pub signals: Vec<At<String>>,
    /// Rule for these signals.
    pub rule: Rule,
}

/// Selects the samples of a signal that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// `every` = n: each n-th sample of the signal's clock, the first included; never 0.
    pub every: u32,
    /// `change`: of these samples, only those that differ from the last kept one by more than this; 0: that differ at all.
    pub change: Option<f64>,
}

impl Rule {
    /// Every sample.
    pub const ALL: Rule = Rule { every: 1, change: None };
}

/// Reads the table.
pub(super) fn read_record(section: TableReader) -> RigRecord {
    let section = section.only(RECORD);
    let rules = section.tables("rule", "[[record.rule]]");
    let size = |item: &Item| {
        item.as_integer().and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=LARGEST_TEXT).contains(n))
    };
    let text_size = section.read("text_size", "a whole number of bytes from 1 to 65536", size);
    RigRecord {
        signals: patterns(&section).unwrap_or_else(|| RigRecord::everything(section.place).signals),
        formats: read_formats(&section),
        text_size: text_size.map(|at| at.value),
        clocks: section.boolean("clocks").unwrap_or(false),
        rules: rules.into_iter().filter_map(|rule| read_rule(&rule.only(RULE))).collect(),
        rotation: read_rotation(&section),
    }
}

fn read_rotation(section: &TableReader) -> Rotation {
    let duration = |item: &Item| {
        let duration: SignedDuration = item.as_str()?.parse().ok()?;
        i64::try_from(duration.as_nanos()).ok().filter(|nanos| *nanos >= SHORTEST_ROTATION).map(Nanos)
    };
    let size = |item: &Item| {
        let size: ByteSize = item.as_str()?.parse().ok()?;
        Some(size.as_u64()).filter(|bytes| *bytes >= SMALLEST_SIZE)
    };
    let count = |item: &Item| item.as_integer().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    let every = section.read("rotate", "a duration of at least 1 ms, as \"1h\", \"10min\" or \"90s\"", duration);
    let max_size = section.read("max_size", "a size of at least 64 KiB, as \"1GiB\" or \"500MB\"", size);
    let keep = section.read("keep", "a whole number from 1 to 4294967295", count);
    let rotation = Rotation {
        every: every.map(|at| at.value),
        max_size: max_size.map(|at| at.value),
        keep: keep.as_ref().map(|at| at.value),
    };
    let says_when = section.get("rotate").is_some() || section.get("max_size").is_some();
    if let Some(keep) = keep.filter(|_| !says_when) {
        let message =
            "keep says how many files of a recording stay, but neither rotate nor max_size says when one ends";
        section.document.problem(keep.place, message);
    }
    rotation
}

fn patterns(section: &TableReader) -> Option<Vec<At<String>>> {
    let mut signals = Vec::new();
    for pattern in elements(section, "signals")? {
        match pattern.value.as_str() {
            Some(text) => signals.push(At { value: text.to_owned(), place: pattern.place }),
            None => section.document.problem(pattern.place, "signals must be a list of patterns, as [\"ecu.*\"]"),
        }
    }
    Some(signals)
}

/// Reads `format`, and `mcap` for its messages.
fn read_formats(section: &TableReader) -> Vec<At<Format>> {
    let mut formats = read_format(section);
    let encoding = |item: &Item| match item.as_str() {
        Some("protobuf") => Some(MessageEncoding::Protobuf),
        Some("json") => Some(MessageEncoding::Json),
        _ => None,
    };
    let encoding = section.read("mcap", "\"protobuf\" or \"json\"", encoding);
    let Some(encoding) = encoding else { return formats };
    match formats.iter_mut().find(|format| matches!(format.value, Format::Mcap(_))) {
        Some(mcap) => mcap.value = Format::Mcap(encoding.value),
        None => {
            let message = "mcap says how signals.mcap is written, but format has no \"mcap\"";
            section.document.problem(encoding.place, message);
        }
    }
    formats
}

/// Reads `format`: a word or a list of words.
fn read_format(section: &TableReader) -> Vec<At<Format>> {
    let Some(item) = section.get("format") else { return vec![At { value: Format::Csv, place: section.place }] };
    let place = section.place_of(item);
    let mut formats: Vec<At<Format>> = Vec::new();
    let refuse = |place, what: &str| {
        let message = format!("format must be \"csv\", \"mcap\", \"arrow\" or a list of these, not {what}");
        section.document.problem(place, message);
    };
    let mut read = |place, word: &str| match Format::ALL.iter().copied().find(|format| format.word() == word) {
        Some(format) if formats.iter().any(|own| own.value == format) => {
            section.document.problem(place, format!("format names \"{word}\" twice"));
        }
        Some(value) => formats.push(At { value, place }),
        None if ["mf4", "mdf4", "mdf", "parquet"].contains(&word) => {
            section.not_yet(place, &format!("format = \"{word}\""));
        }
        None => refuse(place, &format!("\"{word}\"")),
    };
    match item {
        Item::Value(Value::String(word)) => read(place, word.value()),
        Item::Value(Value::Array(words)) if !words.is_empty() => {
            for word in words {
                let place = section.document.place(word.span());
                match word.as_str() {
                    Some(text) => read(place, text),
                    None => refuse(place, &describe(&Item::Value(word.clone()))),
                }
            }
        }
        Item::Value(Value::Array(_)) => refuse(place, "an empty list"),
        other => refuse(place, &describe(other)),
    }
    formats.sort_by_key(|format| format.value);
    formats
}

fn read_rule(section: &TableReader) -> Option<RigRule> {
    let every = |item: &Item| item.as_integer().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    let change = |item: &Item| match item.as_bool() {
        Some(any) => any.then_some(0.0),
        None => number(item).filter(|&band| band > 0.0 && band.is_finite()),
    };
    if section.get("every").is_none() && section.get("change").is_none() {
        section.document.problem(section.place, "[[record.rule]] has neither every nor change");
    }
    if section.get("signals").is_none() {
        section.missing("signals");
    }
    let signals = patterns(section)?;
    if signals.is_empty() {
        let place = section.get("signals").map_or(section.place, |item| section.place_of(item));
        section.document.problem(place, "[[record.rule]] is for no signals: name some, as [\"ecu.*\"]");
    }
    let rule = Rule {
        every: section.read("every", "a whole number from 1 to 4294967295", every).map_or(1, |at| at.value),
        change: section.read("change", "true or a number above 0", change).map(|at| at.value),
    };
    Some(RigRule { signals, rule })
}

#[cfg(test)]
mod tests {
    use super::super::{Place, parse};
    use super::*;
    use std::path::Path;

    /// `record` begins in line 4, in the table `[record]` behind an FMU.
    fn read(record: &str) -> Result<RigRecord, String> {
        let text = format!("[fmu.ecu]\npath = \"ecu\"\n[record]\n{record}");
        parse(&text, Path::new("rig.toml")).map(|rig| rig.record.unwrap()).map_err(|error| error.to_string())
    }

    fn words(record: &str) -> Vec<Format> {
        read(record).unwrap().formats.iter().map(|format| format.value).collect()
    }

    #[test]
    fn formats_are_a_word_or_several() {
        let csv = Format::Csv;
        let [protobuf, json] = [MessageEncoding::Protobuf, MessageEncoding::Json].map(Format::Mcap);
        for (record, formats) in [
            ("", &[csv][..]),
            ("format = \"csv\"", &[csv]),
            ("format = \"mcap\"", &[protobuf]),
            ("format = [\"mcap\", \"csv\"]", &[csv, protobuf]),
            ("format = [\"mcap\", \"csv\"]\nmcap = \"json\"", &[csv, json]),
            ("mcap = \"protobuf\"\nformat = \"mcap\"", &[protobuf]),
        ] {
            assert_eq!(words(record), formats, "{record}");
        }
    }
    #[test]
    fn arrow_may_be_beside_other_formats() {
        assert_eq!(words("format = \"arrow\""), [Format::Arrow]);
        assert_eq!(words("format = [\"arrow\", \"csv\"]"), [Format::Csv, Format::Arrow]);
    }

    #[test]
    fn a_recording_goes_on_in_further_files_by_time_or_size() {
        let rotation = |record: &str| read(record).unwrap().rotation;
        assert!(!rotation("").is_wanted());
        let hour = Some(Nanos(3_600_000_000_000));
        assert_eq!(rotation("rotate = \"1h\"\nkeep = 24"), Rotation { every: hour, max_size: None, keep: Some(24) });
        for text in ["60min", "3600s", "60 m", "3600000ms"] {
            assert_eq!(rotation(&format!("rotate = \"{text}\"")).every, hour, "{text}");
        }
        for (text, bytes) in [("1GiB", 1 << 30), ("500MB", 500_000_000), ("64 KiB", 1 << 16), ("100000", 100_000)] {
            assert_eq!(rotation(&format!("max_size = \"{text}\"")).max_size, Some(bytes), "{text}");
        }
    }

    #[test]
    fn rules_stand_in_the_order_of_the_file() {
        let record = read(
            "[[record.rule]]\nsignals = [\"plant.*\", \"ecu.a\"]\nevery = 10\nchange = 0.5\n\
             [[record.rule]]\nsignals = [\"plant.x\"]\nchange = true\n",
        )
        .unwrap();
        let rules: Vec<Rule> = record.rules.iter().map(|rule| rule.rule).collect();
        assert_eq!(rules, [Rule { every: 10, change: Some(0.5) }, Rule { every: 1, change: Some(0.0) }]);
        let second = &record.rules[0].signals[1];
        assert_eq!((second.value.as_str(), second.place), ("ecu.a", Place { line: 5, column: 23 }));
        assert_eq!(record.signals[0].value, "*");
    }

    #[test]
    fn what_makes_no_sense_has_its_place() {
        let later = "is not supported yet by this version of vecud";
        let formats = "format must be \"csv\", \"mcap\", \"arrow\" or a list of these, not";
        for (record, message) in [
            ("format = \"mf4\"", format!("4:10: format = \"mf4\" {later}")),
            ("format = [\"csv\", \"parquet\"]", format!("4:18: format = \"parquet\" {later}")),
            ("format = \"mcpa\"", format!("4:10: {formats} \"mcpa\"")),
            ("format = []", format!("4:10: {formats} an empty list")),
            ("format = [\"csv\", 1]", format!("4:18: {formats} 1")),
            ("text_size = 0", "4:13: text_size must be a whole number of bytes from 1 to 65536, not 0".to_owned()),
            ("text_size = 1e3", "4:13: text_size must be a whole number of bytes from 1 to 65536, not 1000".to_owned()),
            ("format = true", format!("4:10: {formats} true")),
            ("format = [\"csv\", \"csv\"]", "4:18: format names \"csv\" twice".to_owned()),
            ("mcap = \"json\"", "4:8: mcap says how signals.mcap is written, but format has no \"mcap\"".to_owned()),
            (
                "rotate = 3600",
                "4:10: rotate must be a duration of at least 1 ms, as \"1h\", \"10min\" or \"90s\", not 3600".to_owned(),
            ),
            (
                "rotate = \"0s\"",
                "4:10: rotate must be a duration of at least 1 ms, as \"1h\", \"10min\" or \"90s\", not the string \"0s\""
                    .to_owned(),
            ),
            (
                "max_size = \"1k\"",
                "4:12: max_size must be a size of at least 64 KiB, as \"1GiB\" or \"500MB\", not the string \"1k\"".to_owned(),
            ),
            (
                "rotate = \"1h\"\nkeep = 0",
                "5:8: keep must be a whole number from 1 to 4294967295, not 0".to_owned(),
            ),
            (
                "keep = 3",
                "4:8: keep says how many files of a recording stay, but neither rotate nor max_size says when one ends".to_owned(),
            ),
            (
                "format = \"mcap\"\nmcap = \"xml\"",
                "5:8: mcap must be \"protobuf\" or \"json\", not the string \"xml\"".to_owned(),
            ),
        ] {
            assert_eq!(read(record).unwrap_err(), format!("rig.toml:{message}"));
        }
        for (rule, message) in [
            ("every = 2", "4:1: [[record.rule]] has no signals"),
            ("signals = [\"*\"]", "4:1: [[record.rule]] has neither every nor change"),
            ("signals = \"*\"\nevery = 1", "5:11: signals must be a list, not the string \"*\""),
            ("signals = [\"*\"]\nevery = 0", "6:9: every must be a whole number from 1 to 4294967295, not 0"),
            ("signals = [\"*\"]\nevery = 1.5", "6:9: every must be a whole number from 1 to 4294967295, not 1.5"),
            (
                "signals = [\"*\"]\nevery = 4294967296",
                "6:9: every must be a whole number from 1 to 4294967295, not 4294967296",
            ),
            ("signals = []\nevery = 2", "5:11: [[record.rule]] is for no signals: name some, as [\"ecu.*\"]"),
            ("signals = [\"*\"]\nchange = false", "6:10: change must be true or a number above 0, not false"),
            ("signals = [\"*\"]\nchange = -1", "6:10: change must be true or a number above 0, not -1"),
            ("signals = [\"*\"]\nchange = inf", "6:10: change must be true or a number above 0, not inf"),
            (
                "signals = [\"*\"]\never = 1",
                "4:1: [[record.rule]] has neither every nor change\n\
                 rig.toml:6:1: unknown key \"ever\" in [[record.rule]]; did you mean \"every\"?",
            ),
        ] {
            let error = read(&format!("[[record.rule]]\n{rule}")).unwrap_err();
            assert_eq!(error, format!("rig.toml:{message}"));
        }
    }
}

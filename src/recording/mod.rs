//! Reads what a run has recorded, `signals.csv` or `signals.mcap`: row after row, in the order of time, however long it is.
//!
//! Both give the same rows: the time, and what each column shows then, as text that reads back exactly (`NaN`, `inf`,
//! `-inf`, booleans as 0 and 1, an empty text where there is no value). A recording of a process that was killed is read as
//! far as it goes; half a row at its end is none.
//!
//! Pure: it reads from what it is given.

#![forbid(unsafe_code)]

mod csv;
mod mcap;
pub mod names;

use std::fmt;
use std::io::{self, BufRead};

/// A recording, at some row.
pub struct Recording<R> {
    rows: Rows<R>,
    time: f64,
    cells: Vec<String>,
}

enum Rows<R> {
    Csv(csv::Rows<R>),
    Mcap(Box<mcap::Rows<R>>),
}

/// What the columns show at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// Activation time, s.
    pub time: f64,
    /// A text for each of [`Recording::names`].
    pub cells: &'a [String],
}

/// Why a recording cannot be read, or not any further.
#[derive(Debug)]
pub enum ReadError {
    /// The file.
    Io(io::Error),
    /// What is in it, and where.
    Content(String),
}

impl<R: BufRead> Recording<R> {
    /// Begins to read. Which format it is says its first byte.
    pub fn new(mut input: R) -> Result<Recording<R>, ReadError> {
        let rows = match input.fill_buf()?.first() {
            Some(&mcap::FIRST_BYTE) => Rows::Mcap(Box::new(mcap::Rows::new(input)?)),
            _ => Rows::Csv(csv::Rows::new(input)?),
        };
        let cells = match &rows {
            Rows::Csv(rows) => vec![String::new(); rows.names.len()],
            Rows::Mcap(rows) => rows.start().to_vec(),
        };
        Ok(Recording { rows, time: f64::NAN, cells })
    }

    /// The columns, `fmu.variable`, without the time.
    pub fn names(&self) -> &[String] {
        match &self.rows {
            Rows::Csv(rows) => &rows.names,
            Rows::Mcap(rows) => rows.names(),
        }
    }

    /// The next row; `None`: there is none.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>, ReadError> {
        let time = match &mut self.rows {
            Rows::Csv(rows) => rows.next(&mut self.cells)?,
            Rows::Mcap(rows) => rows.next(&mut self.cells)?,
        };
        self.time = time.unwrap_or(self.time);
        Ok(time.map(|time| Row { time, cells: &self.cells }))
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Io(error)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => write!(f, "{error}"),
            ReadError::Content(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ReadError {}

#[cfg(test)]
mod tests {
    use super::*;
    use ::mcap as mcap_writer;
    use std::collections::BTreeMap;

    /// All rows as text, then why reading ended if it did not end well.
    fn read(bytes: &[u8]) -> (Vec<String>, Vec<String>, Option<String>) {
        let mut recording = match Recording::new(bytes) {
            Ok(recording) => recording,
            Err(error) => return (Vec::new(), Vec::new(), Some(error.to_string())),
        };
        let names = recording.names().to_vec();
        let mut rows = Vec::new();
        loop {
            match recording.next_row() {
                Ok(Some(row)) => rows.push(format!("{} {}", row.time, row.cells.join(" "))),
                Ok(None) => return (names, rows, None),
                Err(error) => return (names, rows, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn csv_is_read_line_by_line_and_half_a_row_is_none() {
        let (names, rows, error) =
            read(b"time,a.x,\"a.m[1,2]\",\"a.q\"\"\n\"\n0.0,1.5,,7\n0.5,NaN,-inf,1\n1.0,2.25,3,1");
        assert_eq!((names, error), (["a.x", "a.m[1,2]", "a.q\"\n"].map(str::to_owned).to_vec(), None));
        assert_eq!(rows, ["0 1.5  7", "0.5 NaN -inf 1"]);
        assert_eq!(read(b"time,a.x\r\n0,1\r\n").1, ["0 1"]);
    }

    #[test]
    fn what_is_no_recording_says_where() {
        for (text, message) in [
            ("", "there is no header"),
            ("time,a.x", "there is no header"),
            ("t,a.x\n", "line 1: the first column is not \"time\""),
            ("time,a.x\n0,1\n1\n", "line 3: 1 cells, but 2 columns"),
            ("time,a.x\n0,1,2\n", "line 2: 3 cells, but 2 columns"),
            ("time,a.x\nnow,1\n", "line 2: \"now\" is no time"),
        ] {
            assert_eq!(read(text.as_bytes()).2.as_deref(), Some(message), "{text:?}");
        }
        let mut damaged = file(true, &MESSAGES);
        let place = damaged.windows(3).position(|bytes| bytes == b"0.5").unwrap();
        damaged[place] = b'1';
        let message = "the chunk from log_time 0 on has another checksum than it says";
        assert_eq!(read(&damaged).2.as_deref(), Some(message));
        assert!(read(b"\x89PNG\r\n\x1a\n--------").2.is_some());
    }

    fn file(metadata: bool, messages: &[(u64, &str, &str)]) -> Vec<u8> {
        let options = mcap_writer::WriteOptions::new().compression(None);
        let mut writer = options.create(std::io::Cursor::new(Vec::new())).unwrap();
        if metadata {
            let lists = [(names::NAMES, "[\"a.x\",\"a.time\",\"b.x\"]"), (names::START, "[\"0.0\",\"\",\"1\"]")];
            let metadata = lists.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
            let record = mcap_writer::records::Metadata { name: names::SIGNALS.to_owned(), metadata };
            writer.write_metadata(&record).unwrap();
        }
        for (log_time, topic, text) in messages {
            let channel_id = writer.add_channel(0, topic, "json", &BTreeMap::new()).unwrap();
            let (sequence, log_time) = (0, *log_time);
            let header = mcap_writer::records::MessageHeader { channel_id, sequence, log_time, publish_time: log_time };
            writer.write_to_known_channel(&header, text.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
        writer.into_inner().into_inner()
    }

    const MESSAGES: [(u64, &str, &str); 4] = [
        (0, "/a/slow", "{\"time\":0.0,\"x\":0.5,\"a.time\":null}"),
        (0, "/b/fast", "{\"time\":0.0,\"x\":\"-Infinity\"}"),
        (5, "/b/fast", "{\"time\":5e-9,\"x\":true}"),
        (7, "/a", "{\"time\":7e-9,\"a.time\":\"NaN\"}"),
    ];

    #[test]
    fn messages_of_one_time_make_a_row_and_columns_keep_their_values() {
        let (names, rows, error) = read(&file(true, &MESSAGES));
        assert_eq!((names.join(" "), error), ("a.x a.time b.x".to_owned(), None));
        assert_eq!(rows, ["0 0.5  -inf", "0.000000005 0.5  1", "0.000000007 0.5 NaN 1"]);
        assert_eq!(read(&file(true, &[])).1.len(), 0);
    }

    #[test]
    fn messages_of_others_are_refused() {
        let no_recording = "no recording of vecud's: it has no metadata \"signals\"";
        assert_eq!(read(&file(false, &[(0, "/a", "{\"time\":0}")])).2.as_deref(), Some(no_recording));
        for (text, message) in [
            ("{\"x\":1}", "the message of log_time 3 has no time"),
            ("{\"time\":\"now\"}", "the message of log_time 3 has no number as its time"),
            ("{\"time\":1,\"y\":2}", "the message of log_time 3 has a value \"y\", which is no column"),
        ] {
            assert_eq!(read(&file(true, &[(3, "/a/c", text)])).2.as_deref(), Some(message));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(at in 0usize..700, byte in proptest::prelude::any::<u8>(), cut in 0usize..900) {
            let mut bytes = file(true, &MESSAGES);
            let length = bytes.len();
            bytes[at % length] = byte;
            let _ = read(&bytes);
            let _ = read(&bytes[..cut.min(length)]);
        }
    }
}

//! The formats that every vecud reads.

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
    let (mut rows, mut row) = (Vec::new(), Row::default());
    loop {
        match recording.read(&mut row) {
            Ok(true) => rows.push(format!("{} {}", row.time, row.values().collect::<Vec<_>>().join(" "))),
            Ok(false) => return (names, rows, None),
            Err(error) => return (names, rows, Some(error.to_string())),
        }
    }
}

#[test]
fn csv_is_read_line_by_line_and_half_a_row_is_none() {
    let (names, rows, error) = read(b"time,a.x,\"a.m[1,2]\",\"a.q\"\"\n\"\n0.0,1.5,,7\n0.5,NaN,-inf,1\n1.0,2.25,3,1");
    assert_eq!((names, error), (["a.x", "a.m[1,2]", "a.q\"\n"].map(str::to_owned).to_vec(), None));
    assert_eq!(rows, ["0 1.5  7", "0.5 NaN -inf 1"]);
    assert_eq!(read(b"time,a.x\r\n0,1\r\n").1, ["0 1"]);
}

#[test]
fn what_is_no_recording_says_where() {
    for (text, message) in [
        ("", "is empty: its first line has to name the columns, time first"),
        ("time,a.x", "is empty: its first line has to name the columns, time first"),
        ("t,a.x\n", "line 1, column 1: the first column is not \"time\""),
        (
            "time,\"a.\rx\",b\r0,1,2\r",
            "line 1, column 14: lines end in a carriage return alone: convert the file, they have to end in a line feed",
        ),
        ("time,a.x\n0,1\n1\n", "line 3: this row has 1 cell, and the header has 2"),
        ("time,a.x\n0,1,2\n", "line 2, column 5: this row has 3 cells, and the header has 2"),
        (
            "time,a.x\n0,1, \n",
            "line 2, column 4: this row has 3 cells, and the header has 2: leave out the ',' at its end",
        ),
        ("time,a.x\nnow,1\n", "line 2, column 1: \"now\" is no time in s; it should be a number like 0.25"),
    ] {
        assert_eq!(read(text.as_bytes()).2.as_deref(), Some(message), "{text:?}");
    }
    let mut damaged = file(true, &MESSAGES);
    let place = damaged.windows(3).position(|bytes| bytes == b"0.5").unwrap();
    damaged[place] = b'1';
    let message = read(&damaged).2.unwrap();
    let expected = ": the chunk from log_time 0 on has another checksum than it says";
    assert!(message.starts_with("is damaged at byte ") && message.ends_with(expected), "{message}");
    assert!(read(b"\x89PNG\r\n\x1a\n--------").2.is_some());
}

#[test]
fn cells_have_places_that_count_characters_and_lines_inside_of_quotes() {
    let text = "time,\"a\nä\" ,\tb\n0,\"é\"\"\" , x \r\n";
    let mut recording = Recording::in_dialect(text.as_bytes(), Dialect::STIMULUS).unwrap();
    let header = recording.header();
    assert!(header.places().eq([(1, 1), (1, 7), (2, 6)]));
    let mut row = Row::default();
    assert!(recording.read(&mut row).unwrap());
    assert_eq!((row.len(), row.cell(1), row.cell(2), row.text()), (3, "é\"", "x", "0,\"é\"\"\" , x "));
    assert!(row.places().eq([(3, 1), (3, 4), (3, 11)]));
    assert!(!recording.read(&mut row).unwrap());
}

#[test]
fn what_a_last_line_without_end_is_depends_on_who_wrote_the_file() {
    for (text, end, rows, broke_off) in [
        ("time,a\n0,1\n1,2", LastLine::Half, 1, true),
        ("time,a\n0,1\n1,\"2", LastLine::Half, 1, true),
        ("time,a\n0,1\n1,2", LastLine::HalfIfShort, 2, false),
        ("time,a\n0,1\n1", LastLine::HalfIfShort, 1, true),
        ("time,a\n0,1\n1,2", LastLine::Row, 2, false),
        ("time,a\n0,1\n", LastLine::Half, 1, false),
    ] {
        let dialect = Dialect { end, ..Dialect::FOREIGN };
        let mut recording = Recording::in_dialect(text.as_bytes(), dialect).unwrap();
        let mut row = Row::default();
        let read = std::iter::from_fn(|| recording.read(&mut row).unwrap().then_some(())).count();
        assert_eq!((read, recording.broke_off()), (rows, broke_off), "{text:?} {end:?}");
    }
    let short = Recording::in_dialect(&b"time,a\n0"[..], Dialect::STIMULUS).unwrap().read(&mut Row::default());
    assert_eq!(short.unwrap_err().to_string(), "line 2: this row has 1 cell, and the header has 2");
}

#[test]
fn a_quote_that_nobody_closes_and_a_long_line_take_no_more_memory_than_a_row_may() {
    let dialect = Dialect { longest: 20, ..Dialect::FOREIGN };
    for (text, message) in [
        ("time,a\n0,\"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n", "line 2, column 3: a quoted cell has no closing quote"),
        (
            "time,a\n0,1234567890123456789\n",
            "line 2, column 1: this line has more than 20 bytes, the most that a row may have",
        ),
    ] {
        let mut recording = Recording::in_dialect(text.as_bytes(), dialect).unwrap();
        assert_eq!(recording.read(&mut Row::default()).unwrap_err().to_string(), message);
    }
}

fn file(metadata: bool, messages: &[(u64, &str, &str)]) -> Vec<u8> {
    chunked(metadata, messages, std::iter::repeat(0))
}

/// A file with a chunk for each message. They have these numbers.
fn chunked(metadata: bool, messages: &[(u64, &str, &str)], mut numbers: impl Iterator<Item = u32>) -> Vec<u8> {
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
        let (sequence, log_time) = (numbers.next().unwrap(), *log_time);
        let header = mcap_writer::records::MessageHeader { channel_id, sequence, log_time, publish_time: log_time };
        writer.write_to_known_channel(&header, text.as_bytes()).unwrap();
        writer.flush().unwrap();
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

#[test]
fn of_a_file_that_breaks_off_everything_whole_is_read() {
    let bytes = file(true, &MESSAGES);
    let all = read(&bytes).1;
    let mut most = 0;
    for length in 8..bytes.len() {
        let mut recording = match Recording::new(&bytes[..length]) {
            Ok(recording) => recording,
            Err(error) => {
                assert!(error.message.starts_with("ends before it names its columns: "), "{length}: {error}");
                continue;
            }
        };
        let (_, rows, error) = read(&bytes[..length]);
        assert_eq!(error, None, "{length}");
        // Of the last row there may be only some messages.
        let whole = rows.len().saturating_sub(1);
        assert!(rows.len() >= most && rows[..whole] == all[..whole], "{length}");
        most = rows.len();
        let mut row = Row::default();
        while recording.read(&mut row).unwrap() {}
        // Up to the end of the data.
        let summary = mcap_writer::read::footer(&bytes).unwrap().summary_start as usize;
        assert_eq!(recording.broke_off(), length < summary, "{length}");
    }
    assert_eq!(most, all.len());
}

#[test]
fn no_chunk_is_missing_or_damaged_unseen() {
    let messages: Vec<(u64, &str, &str)> = (0..20).map(|i| (i, "/a/slow", "{\"time\":1.5,\"x\":0.5}")).collect();
    let bytes = chunked(true, &messages, 1..);
    let expected = read(&bytes);
    let summary = mcap_writer::Summary::read(&bytes).unwrap().unwrap();
    let inner = &summary.chunk_indexes[1..19];
    assert_eq!((expected.1.len(), inner.len()), (20, 18));
    for chunk in inner {
        let begin = chunk.chunk_start_offset as usize;
        for at in (begin..begin + chunk.chunk_length as usize).filter(|at| !(begin + 9..begin + 25).contains(at)) {
            // Its times are for those who seek.
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let (names, rows, error) = read(&damaged);
                assert!(error.is_some() && rows.len() < 20 && names == expected.0, "byte {} bit {bit}", at - begin);
            }
        }
    }
}

/// Room is made for what the file holds, not for what a length in it says.
#[test]
fn a_length_that_is_damaged_asks_for_no_memory() {
    let whole = file(true, &MESSAGES);
    let mut refused = 0;
    for at in 8..whole.len() - 4 {
        let mut bytes = whole.clone();
        bytes[at..at + 4].fill(0xFF);
        let error = read(&bytes).2;
        refused +=
            usize::from(error.is_some_and(|error| error.contains("a text reaches beyond the end of its record")));
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn a_column_that_is_there_twice_is_damage() {
    let bytes = file(true, &MESSAGES);
    let at = bytes.windows(5).position(|bytes| bytes == b"\"b.x\"").unwrap();
    let mut twice = bytes.clone();
    twice[at + 1] = b'a';
    assert_eq!(read(&twice).2.as_deref(), Some("is damaged: it has two columns \"a.x\""));
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

//! A recording that is compared: vecud's, or a CSV file of another tool.
//!
//! The first column is the time in seconds and never decreases; of rows with the same time the last one counts. A cell
//! without text is a signal without value. How files are read is the concern of [`vecud_record::recording`].

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::mem;
use vecud_record::recording::{Dialect, Recording, RecordingError, Row};

/// A file that is being read: the row of the time reached, and the one after it.
pub struct ComparedTable<R> {
    recording: Recording<R>,
    now: Row,
    next: Row,
    has_next: bool,
}

impl<R: BufRead> ComparedTable<R> {
    /// Reads the header and the first row of a recording of vecud, in one file or in several after each other.
    ///
    /// # Errors
    /// The file is something else.
    pub fn of_run(
        input: R,
        further: impl Iterator<Item = io::Result<R>> + Send + 'static,
    ) -> Result<ComparedTable<R>, RecordingError> {
        ComparedTable::new(Recording::new(input)?.and(further))
    }

    /// Reads the header and the first row of a file of any tool.
    ///
    /// # Errors
    /// The file is empty, has no time column, names a column twice, or its first row is none.
    pub fn of_tool(input: R) -> Result<ComparedTable<R>, RecordingError> {
        ComparedTable::new(Recording::in_dialect(input, Dialect::FOREIGN)?)
    }

    fn new(recording: Recording<R>) -> Result<ComparedTable<R>, RecordingError> {
        check(recording.header())?;
        let mut table = ComparedTable { recording, now: Row::default(), next: Row::default(), has_next: false };
        table.read_next()?;
        Ok(table)
    }

    /// Names of the signals, without the time; the name of a column that has none is empty.
    pub fn columns(&self) -> &[String] {
        self.recording.names()
    }

    /// The units of signals that have one, by their names, as far as the recording says them.
    pub fn units(&self) -> HashMap<String, String> {
        self.recording.units()
    }

    /// Whether the column at this place is a clock, as far as the recording says it.
    pub fn is_clock(&self, place: usize) -> bool {
        self.recording.is_clock(place)
    }

    /// Time of the next row; `None`: there is none.
    pub fn next_time(&self) -> Option<f64> {
        self.has_next.then_some(self.next.time)
    }

    /// Time of the row reached; `None`: before the first one.
    pub fn time(&self) -> Option<f64> {
        (!self.now.is_empty()).then_some(self.now.time)
    }

    /// A signal's text at the time reached, without blanks around it.
    pub fn cell(&self, column: usize) -> &str {
        self.now.cell(column + 1)
    }

    /// The whole row reached, as it is in a CSV file.
    pub fn row(&self) -> &str {
        self.now.text()
    }

    /// The last row broke off and was left out.
    pub fn broken_off(&self) -> bool {
        self.recording.broke_off()
    }

    /// Goes on to the next row; of rows with the same time, to the last one.
    ///
    /// # Errors
    /// The row after it is none.
    pub fn advance(&mut self) -> Result<(), RecordingError> {
        let time = self.next_time();
        while time.is_some() && self.next_time() == time {
            mem::swap(&mut self.now, &mut self.next);
            self.read_next()?;
        }
        Ok(())
    }

    fn read_next(&mut self) -> Result<(), RecordingError> {
        let before = self.time();
        self.has_next = self.recording.read(&mut self.next)?;
        let time = self.next.time;
        match before.filter(|before| self.has_next && time < *before) {
            Some(before) => Err(self
                .next
                .wrong_row(format!("time goes back, from {before} s to {time} s; rows must be in the order of time"))),
            None => Ok(()),
        }
    }
}

/// Whether the first column is the time, and no column is there twice.
fn check(header: &Row) -> Result<(), RecordingError> {
    if !is_time(header.cell(0)) {
        let first: String = header.cell(0).chars().take(40).collect();
        return Err(header.wrong_row(format!(
            "the first column is \"{first}\" and should be the time: name it `time`, and have seconds in it"
        )));
    }
    let mut sorted: Vec<&str> = header.values().filter(|name| !name.is_empty()).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(header.wrong_row(format!("there are two columns {}; one of them has to go", twice[0]))),
        None => Ok(()),
    }
}

/// Whether a column of this name has the time in seconds.
fn is_time(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["time", "t"].iter().any(|word| {
        let unit = name.strip_prefix(word).map(|rest| rest.trim_start_matches([' ', '_', '/']));
        unit.is_some_and(|unit| matches!(unit, "" | "s" | "[s]" | "(s)") && name != "ts")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn rows(text: &str) -> Result<Vec<(f64, Vec<String>)>, RecordingError> {
        let mut table = ComparedTable::of_tool(text.as_bytes())?;
        let mut rows = Vec::new();
        while table.next_time().is_some() {
            table.advance()?;
            let cells = (0..table.columns().len()).map(|column| table.cell(column).to_owned());
            rows.push((table.time().unwrap(), cells.collect()));
        }
        Ok(rows)
    }

    fn row(time: f64, cells: &[&str]) -> (f64, Vec<String>) {
        (time, cells.iter().map(|&cell| cell.to_owned()).collect())
    }

    #[test]
    fn rows_are_those_of_the_file_whoever_wrote_it() {
        let expected = vec![row(0.0, &["1", ""]), row(0.5, &["-2.5e-3", "x"])];
        for text in [
            "time,a,b\n0.0,1,\n0.5,-2.5e-3,x\n",
            "\u{feff}Time [s];a;b\r\n0;1;\r\n5e-1;-2.5e-3;x",
            "t\ta\tb\n\n0.0\t 1\t\n 0.5 \t-2.5e-3\tx\n\n",
            "\"time\",\"a\",b\n0.0,\"1\", \n\"0.5\" , -2.5e-3,\"x\"\n",
        ] {
            assert_eq!(rows(text).unwrap(), expected, "{text}");
        }
        assert_eq!(rows("time,a\n").unwrap(), []);
        assert_eq!(rows("time\n1\n").unwrap(), [row(1.0, &[])]);
    }

    #[test]
    fn quotes_keep_separators_lines_and_quotes() {
        let mut table = ComparedTable::of_tool("time,\"a,\"\"b\"\"\nc\"\n0,\"x\n,\"\n".as_bytes()).unwrap();
        assert_eq!(table.columns(), ["a,\"b\"\nc"]);
        table.advance().unwrap();
        assert_eq!(table.cell(0), "x\n,");
        assert!(rows("time,a\n0,\"1\n2,3\n").unwrap_err().message.contains("no closing quote"));
        assert!(
            rows("time,a\n0,\"1\"2\n")
                .unwrap_err()
                .message
                .contains("something between a closing quote and the next comma")
        );
    }

    #[test]
    fn of_rows_with_the_same_time_the_last_one_counts() {
        assert_eq!(rows("time,a\n1,1\n1,2\n1.0,3\n2,4\n").unwrap(), [row(1.0, &["3"]), row(2.0, &["4"])]);
    }

    #[test]
    fn a_row_that_broke_off_is_left_out_only_at_the_very_end() {
        let mut table = ComparedTable::of_tool("time,a,b\n1,2,3\n2,3".as_bytes()).unwrap();
        assert!(!table.broken_off());
        table.advance().unwrap();
        assert!(table.broken_off() && table.next_time().is_none());
        assert_eq!(rows("time,a,b\n1,2,3\n2,3\n").unwrap_err().line, 3);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, line, message) in [
            ("", 0, "is empty: its first line has to name the columns, time first"),
            ("a,b\n", 1, "the first column is \"a\" and should be the time"),
            ("0.0,1\n", 1, "the first column is \"0.0\""),
            ("time [ms],b\n", 1, "should be the time"),
            ("ts,b\n", 1, "should be the time"),
            ("time,a,b,a\n", 1, "there are two columns a;"),
            ("time,a\n0,1\n0.1,2,3\n", 3, "this row has 3 cells, and the header has 2"),
            ("time,a\n0,1\n0.1\n", 3, "this row has 1 cell, and the header has 2"),
            ("time,a\n0,1\n\n2,2\n1e-3,2\n", 5, "time goes back, from 2 s to 0.001 s"),
            ("time,a\n0,1\nx,2\n", 3, "\"x\" is no time"),
            ("time;a\n0;1\n0,1;2\n", 3, "\"0,1\" is no time in s; it should be a number like 0.25"),
            ("time,a\nnan,2\n", 2, "\"nan\" is no time"),
            ("time,a\n,2\n", 2, "\"\" is no time"),
        ] {
            let error = rows(text).unwrap_err();
            assert!(error.line == line && error.message.contains(message), "{text:?}: {error:?}");
        }
        let error = ComparedTable::of_tool(&b"time,a\n0,\xff\n"[..]).err().unwrap();
        assert!((error.line, error.column) == (2, 3) && error.message.contains("UTF-8"), "{error:?}");
        let error = ComparedTable::of_tool(io::BufReader::new(io::repeat(b'0'))).err().unwrap();
        assert!(error.message.contains("more than 67108864 bytes"), "{error:?}");
    }
}

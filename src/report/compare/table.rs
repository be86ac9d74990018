//! A recording as CSV, read row by row: it may be larger than memory.
//!
//! The first row names the columns. The first column is the time in seconds and never decreases; of rows with the same time
//! the last one counts. Cells are separated by commas, semicolons or tabs (whichever the header has), may be quoted, and may
//! have blanks around them. Lines end in LF or CRLF. A cell without text is a signal without value. A last row that breaks
//! off before its end, as a program that was killed leaves it, is left out.

use std::io::{self, BufRead, Read};
use std::mem;

/// No row of a recording is longer; whatever is, is no recording.
const LONGEST: u64 = 64 << 20;

/// What is wrong with a file, and in which line.
#[derive(Debug, PartialEq, Eq)]
pub struct TableError {
    /// Counted from 1.
    pub line: u64,
    /// What is wrong.
    pub message: String,
}

/// A file that is being read: the row of the time reached, and the one after it.
pub struct Table<R> {
    input: R,
    separator: u8,
    columns: Vec<String>,
    /// Lines read.
    line: u64,
    now: Row,
    next: Row,
    raw: Vec<u8>,
    broken_off: bool,
}

#[derive(Default)]
struct Row {
    /// `None`: there is no row.
    time: Option<f64>,
    text: String,
    /// Where cells begin and end, the time included.
    cells: Vec<(usize, usize)>,
}

impl<R: BufRead> Table<R> {
    /// Reads the header and the first row.
    ///
    /// # Errors
    /// The file is empty, has no time column, names a column twice, or its first row is none.
    pub fn new(input: R) -> Result<Table<R>, TableError> {
        let mut table = Table {
            input,
            separator: b',',
            columns: Vec::new(),
            line: 0,
            now: Row::default(),
            next: Row::default(),
            raw: Vec::new(),
            broken_off: false,
        };
        table.header()?;
        table.read_next()?;
        Ok(table)
    }

    /// Names of the signals, without the time; the name of a column that has none is empty.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Time of the next row; `None`: there is none.
    pub fn next_time(&self) -> Option<f64> {
        self.next.time
    }

    /// Time of the row reached; `None`: before the first one.
    pub fn time(&self) -> Option<f64> {
        self.now.time
    }

    /// A signal's text at the time reached, without blanks around it.
    pub fn cell(&self, column: usize) -> &str {
        let (begin, end) = self.now.cells[column + 1];
        &self.now.text[begin..end]
    }

    /// The whole row reached, as it is in the file (but for quotes).
    pub fn row(&self) -> &str {
        &self.now.text
    }

    /// The last row broke off and was left out.
    pub fn broken_off(&self) -> bool {
        self.broken_off
    }

    /// Goes on to the next row; of rows with the same time, to the last one.
    ///
    /// # Errors
    /// The row after it is none.
    pub fn advance(&mut self) -> Result<(), TableError> {
        let time = self.next.time;
        while self.next.time.is_some() && self.next.time == time {
            mem::swap(&mut self.now, &mut self.next);
            self.read_next()?;
        }
        Ok(())
    }

    fn header(&mut self) -> Result<(), TableError> {
        if !self.read_line()? {
            return self.wrong("the file is empty; its first line should name the columns: time,fmu.variable,…");
        }
        if self.raw.starts_with(b"\xef\xbb\xbf") {
            self.raw.drain(..3);
        }
        let found = [b',', b';', b'\t'].into_iter().find(|separator| self.raw.contains(separator));
        self.separator = found.unwrap_or(b',');
        let mut header = Row::default();
        self.split(&mut header)?;
        let names: Vec<&str> = header.cells.iter().map(|&(begin, end)| &header.text[begin..end]).collect();
        if !is_time(names[0]) {
            let first: String = names[0].chars().take(40).collect();
            return self.wrong(&format!(
                "the first column is \"{first}\" and should be the time: name it `time`, and have seconds in it"
            ));
        }
        let columns: Vec<String> = names[1..].iter().map(|&name| name.to_owned()).collect();
        let mut sorted: Vec<&String> = columns.iter().filter(|name| !name.is_empty()).collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return self.wrong(&format!("there are two columns {}; one of them has to go", twice[0]));
        }
        self.columns = columns;
        Ok(())
    }

    fn read_next(&mut self) -> Result<(), TableError> {
        self.next.time = None;
        loop {
            if !self.read_line()? {
                return Ok(());
            }
            if !self.raw.trim_ascii().is_empty() {
                break;
            }
        }
        let whole = self.raw.ends_with(b"\n");
        let mut row = mem::take(&mut self.next);
        self.split(&mut row)?;
        let (has, wants) = (row.cells.len(), self.columns.len() + 1);
        if has != wants {
            if !whole && has < wants {
                self.broken_off = true;
                return Ok(());
            }
            return self.wrong(&format!("there are {has} cells here, but {wants} columns in the header"));
        }
        let (begin, end) = row.cells[0];
        let cell = &row.text[begin..end];
        let Some(time) = cell.parse::<f64>().ok().filter(|time| time.is_finite()) else {
            let cell: String = cell.chars().take(40).collect();
            return self.wrong(&format!("\"{cell}\" is no time; it should be a number of seconds, like 0.25"));
        };
        if let Some(before) = self.now.time.filter(|before| time < *before) {
            return self
                .wrong(&format!("time goes back, from {before} s to {time} s; rows must be in the order of time"));
        }
        row.time = Some(time);
        self.next = row;
        Ok(())
    }

    /// Reads a line, or several when a quoted cell goes on; false: there is none.
    fn read_line(&mut self) -> Result<bool, TableError> {
        self.raw.clear();
        loop {
            self.line += 1;
            let room = LONGEST - self.raw.len() as u64;
            let begin = self.raw.len();
            let read = match self.input.by_ref().take(room).read_until(b'\n', &mut self.raw) {
                Ok(read) => read,
                Err(error) => return self.wrong(&unreadable(&error)),
            };
            if self.raw.len() as u64 == LONGEST {
                return self.wrong("this line is longer than 64 MiB; this is no recording");
            }
            let open = !self.raw.iter().filter(|byte| **byte == b'"').count().is_multiple_of(2);
            if !open {
                return Ok(!self.raw.is_empty());
            }
            if self.raw.len() == begin || read == 0 {
                return self.wrong("a quoted cell has no closing quote");
            }
        }
    }

    /// The cells of the line read.
    fn split(&self, row: &mut Row) -> Result<(), TableError> {
        row.text.clear();
        row.cells.clear();
        let Ok(line) = std::str::from_utf8(&self.raw) else {
            return self.wrong("this line is no text in UTF-8; is it a CSV file?");
        };
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let separator = char::from(self.separator);
        if line.contains('"') {
            return self.split_quoted(line, row);
        }
        row.text.push_str(line);
        let mut begin = 0;
        for cell in line.split(separator) {
            let blanks = cell.len() - cell.trim_start().len();
            row.cells.push((begin + blanks, begin + blanks + cell.trim().len()));
            begin += cell.len() + 1;
        }
        Ok(())
    }

    fn split_quoted(&self, line: &str, row: &mut Row) -> Result<(), TableError> {
        let mut rest = Some(line);
        while let Some(text) = rest {
            let begin = row.text.len();
            let text = text.trim_start_matches(' ');
            rest = match text.strip_prefix('"') {
                None => {
                    let (cell, rest) = cut(text, self.separator);
                    row.text.push_str(cell.trim());
                    rest
                }
                Some(mut text) => loop {
                    let Some((part, after)) = text.split_once('"') else {
                        return self.wrong("a quoted cell has no closing quote");
                    };
                    row.text.push_str(part);
                    match after.strip_prefix('"') {
                        Some(after) => {
                            row.text.push('"');
                            text = after;
                        }
                        None => {
                            let (between, rest) = cut(after, self.separator);
                            if !between.trim().is_empty() {
                                return self.wrong("a cell goes on after its closing quote");
                            }
                            break rest;
                        }
                    }
                },
            };
            row.cells.push((begin, row.text.len()));
            row.text.push(char::from(self.separator));
        }
        Ok(())
    }

    fn wrong<T>(&self, message: &str) -> Result<T, TableError> {
        Err(TableError { line: self.line, message: message.to_owned() })
    }
}

/// Text up to a separator, and what is behind it.
fn cut(text: &str, separator: u8) -> (&str, Option<&str>) {
    match text.split_once(char::from(separator)) {
        Some((cell, rest)) => (cell, Some(rest)),
        None => (text, None),
    }
}

fn unreadable(error: &io::Error) -> String {
    format!("it cannot be read: {error}")
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

    fn rows(text: &str) -> Result<Vec<(f64, Vec<String>)>, TableError> {
        let mut table = Table::new(text.as_bytes())?;
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
        let mut table = Table::new("time,\"a,\"\"b\"\"\nc\"\n0,\"x\n,\"\n".as_bytes()).unwrap();
        assert_eq!(table.columns(), ["a,\"b\"\nc"]);
        table.advance().unwrap();
        assert_eq!(table.cell(0), "x\n,");
        assert!(rows("time,a\n0,\"1\n2,3\n").unwrap_err().message.contains("no closing quote"));
        assert!(rows("time,a\n0,\"1\"2\n").unwrap_err().message.contains("goes on after its closing quote"));
    }

    #[test]
    fn of_rows_with_the_same_time_the_last_one_counts() {
        assert_eq!(rows("time,a\n1,1\n1,2\n1.0,3\n2,4\n").unwrap(), [row(1.0, &["3"]), row(2.0, &["4"])]);
    }

    #[test]
    fn a_row_that_broke_off_is_left_out_only_at_the_very_end() {
        let mut table = Table::new("time,a,b\n1,2,3\n2,3".as_bytes()).unwrap();
        assert!(!table.broken_off());
        table.advance().unwrap();
        assert!(table.broken_off() && table.next_time().is_none());
        assert_eq!(rows("time,a,b\n1,2,3\n2,3\n").unwrap_err().line, 3);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, line, message) in [
            ("", 1, "the file is empty"),
            ("a,b\n", 1, "the first column is \"a\" and should be the time"),
            ("0.0,1\n", 1, "the first column is \"0.0\""),
            ("time [ms],b\n", 1, "should be the time"),
            ("ts,b\n", 1, "should be the time"),
            ("time,a,b,a\n", 1, "there are two columns a;"),
            ("time,a\n0,1\n0.1,2,3\n", 3, "there are 3 cells here, but 2 columns in the header"),
            ("time,a\n0,1\n0.1\n", 3, "there are 1 cells here, but 2 columns in the header"),
            ("time,a\n0,1\n\n2,2\n1e-3,2\n", 5, "time goes back, from 2 s to 0.001 s"),
            ("time,a\n0,1\nx,2\n", 3, "\"x\" is no time"),
            ("time;a\n0;1\n0,1;2\n", 3, "\"0,1\" is no time; it should be a number of seconds, like 0.25"),
            ("time,a\nnan,2\n", 2, "\"nan\" is no time"),
            ("time,a\n,2\n", 2, "\"\" is no time"),
        ] {
            let error = rows(text).unwrap_err();
            assert!(error.line == line && error.message.contains(message), "{text:?}: {error:?}");
        }
        let error = Table::new(&b"time,a\n0,\xff\n"[..]).err().unwrap();
        assert!(error.line == 2 && error.message.contains("UTF-8"), "{error:?}");
        let error = Table::new(io::BufReader::new(io::repeat(b'0'))).err().unwrap();
        assert!(error.message.contains("longer than 64 MiB"), "{error:?}");
    }
}

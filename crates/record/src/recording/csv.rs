//! Rows of a CSV file, line by line: the one reader for recordings, stimuli and files of other tools.
//!
//! The separator of the header's cells separates all cells. Cells may be quoted (separators, line ends and doubled quotes
//! inside), and may have blanks around them. Lines end in LF or CRLF; empty ones are passed over, and so is a byte order
//! mark. A row takes no more memory than [`Dialect::longest`] says.
//!
//! The crate csv-core reads quickly and without allocation, but takes everything: `"1"2` is 12, a quote that nobody closes
//! swallows the rest of the file, a quoted cell with a blank before it is text with quotes. It tells neither a cell's place
//! nor whether the last line was whole. A stimulus must be refused rather than guessed at, and a row that a killed program
//! has left must be seen as one.

use super::row::{Quotes, RecordingError, Row, after};
use super::row_reader::RowReader;
use std::io::{BufRead, Read};

/// The form of a file.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The first of these characters that the header has outside of quotes separates cells.
    pub separators: &'static [u8],
    /// Bytes that a row may have.
    pub longest: usize,
    /// The meaning of a last line without an end.
    pub end: LastLine,
}

/// The meaning of a last line without a line feed at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastLine {
    /// Half a row, and none: whoever wrote the file ends every row.
    Half,
    /// Half a row if cells are missing, or if the header is one as vecud writes it: that ends every row, and half a number
    /// is a number, too.
    HalfIfShort,
    /// A row.
    Row,
}

impl Dialect {
    /// `signals.csv`.
    pub const RECORDING: Dialect = Dialect { separators: b",", longest: 64 << 20, end: LastLine::Half };
    /// Recordings of other tools.
    pub const FOREIGN: Dialect = Dialect { separators: b",;\t", longest: 64 << 20, end: LastLine::HalfIfShort };
    /// Files that are written for vecud, by hand or by scripts.
    pub const STIMULUS: Dialect = Dialect { separators: b",", longest: 1 << 20, end: LastLine::Row };
}

/// The rows of a file. The first is the header.
pub(super) struct CsvReader<R> {
    input: R,
    dialect: Dialect,
    separator: u8,
    /// Lines read.
    line: u64,
    /// Cells of the header; 0 before it.
    width: usize,
    broke_off: bool,
}

impl<R: BufRead> RowReader for CsvReader<R> {
    fn read(&mut self, row: &mut Row) -> Result<bool, RecordingError> {
        if !self.read_line(row)? {
            return Ok(false);
        }
        row.read_time()?;
        Ok(true)
    }

    fn broke_off(&self) -> bool {
        self.broke_off
    }
}

impl<R: BufRead> CsvReader<R> {
    pub(super) fn new(input: R, dialect: Dialect) -> CsvReader<R> {
        let separator = dialect.separators[0];
        CsvReader { input, dialect, separator, line: 0, width: 0, broke_off: false }
    }

    /// Reads the next line that is not empty, but not what its time means; `false`: there is none.
    pub(super) fn read_line(&mut self, row: &mut Row) -> Result<bool, RecordingError> {
        let mut bytes = row.restart();
        while bytes.trim_ascii().is_empty() {
            bytes.clear();
            if !self.append_line(&mut bytes)? {
                return Ok(false);
            }
            if bytes.len() > self.dialect.longest {
                let most = self.dialect.longest;
                let what = format!("this line has more than {most} bytes, the most that a row may have");
                return Err(wrong(&[], self.line, what));
            }
            if self.line == 1 && bytes.starts_with(b"\xEF\xBB\xBF") {
                bytes.drain(..3);
            }
        }
        let line = self.line;
        if self.width == 0 {
            if let Some(line_end) = lone_return(&bytes) {
                let what = "lines end in a carriage return alone: convert the file, they have to end in a line feed";
                return Err(wrong(&bytes[..line_end], line, what));
            }
            self.separator = self.separator_of(&bytes);
        }
        let closed = self.split(&mut bytes, row)?;
        let half = match self.dialect.end {
            _ if closed && bytes.ends_with(b"\n") => false,
            LastLine::Half => true,
            LastLine::HalfIfShort => row.len() < self.width,
            LastLine::Row => false,
        };
        if half {
            self.broke_off = true;
            return Ok(false);
        }
        let length = without_end(&bytes);
        let one_byte_ends_it = length + 1 == bytes.len();
        match String::from_utf8(bytes) {
            Ok(text) => row.fill(text, length, line),
            Err(error) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                return Err(wrong(valid, line, "is not UTF-8: convert the file"));
            }
        }
        if self.width == 0 {
            self.width = row.len();
            if self.dialect.end == LastLine::HalfIfShort && one_byte_ends_it && is_of_vecud(row) {
                self.dialect.end = LastLine::Half;
            }
        } else if row.len() != self.width {
            return Err(row.wrong_length(self.width));
        }
        Ok(true)
    }

    /// Appends the next line, and at most a byte more than a row may have; `false`: there is none.
    fn append_line(&mut self, bytes: &mut Vec<u8>) -> Result<bool, RecordingError> {
        let room = (self.dialect.longest + 1).saturating_sub(bytes.len()) as u64;
        match (&mut self.input).take(room).read_until(b'\n', bytes) {
            Ok(read) => {
                self.line += u64::from(read > 0);
                Ok(read > 0)
            }
            Err(error) => Err(wrong(&[], self.line + 1, format!("cannot be read: {error}"))),
        }
    }

    /// The separator of the cells of a header.
    fn separator_of(&self, header: &[u8]) -> u8 {
        let mut quoted = false;
        let first = header.iter().find(|&byte| {
            quoted ^= *byte == b'"';
            !quoted && self.dialect.separators.contains(byte)
        });
        *first.unwrap_or(&self.separator)
    }

    /// Finds the cells of a line, and reads on while a quoted one does. `false`: the file ends in one.
    fn split(&mut self, bytes: &mut Vec<u8>, row: &mut Row) -> Result<bool, RecordingError> {
        let (separator, line) = (self.separator, self.line);
        let is_blank = |byte: &&u8| **byte == b' ' || **byte == b'\t' && separator != b'\t';
        let mut at = 0;
        loop {
            let begin = at + bytes[at..].iter().take_while(is_blank).count();
            if bytes.get(begin) == Some(&b'"') {
                let mut quotes = Quotes::Around;
                let mut close = begin + 1;
                loop {
                    let quote = bytes[close..].iter().position(|byte| *byte == b'"').map(|quote| close + quote);
                    match quote {
                        // Two quotes stand for one.
                        Some(quote) if bytes.get(quote + 1) == Some(&b'"') => {
                            (quotes, close) = (Quotes::Doubled, quote + 2)
                        }
                        Some(quote) => {
                            close = quote;
                            break;
                        }
                        None => close = bytes.len(),
                    }
                    let goes_on = quote.is_some() || self.append_line(bytes)?;
                    if !goes_on && self.dialect.end == LastLine::Half {
                        return Ok(false);
                    }
                    if !goes_on || bytes.len() > self.dialect.longest {
                        return Err(wrong(&bytes[..begin], line, "a quoted cell has no closing quote"));
                    }
                }
                at = end_of_cell(bytes, close + 1, separator);
                if !bytes[close + 1..at].trim_ascii().is_empty() {
                    let next = match separator {
                        b';' => "semicolon",
                        b'\t' => "tabulator",
                        _ => "comma",
                    };
                    let what = format!("there is something between a closing quote and the next {next}");
                    return Err(wrong(&bytes[..close + 1], line, what));
                }
                row.note(begin + 1, close, quotes);
            } else {
                at = end_of_cell(bytes, begin, separator);
                row.note(begin, begin + bytes[begin..at].trim_ascii_end().len(), Quotes::None);
            }
            if at == without_end(bytes) {
                return Ok(true);
            }
            at += 1;
        }
    }
}

fn end_of_cell(bytes: &[u8], from: usize, separator: u8) -> usize {
    let end = without_end(bytes);
    bytes[from..end].iter().position(|byte| *byte == separator).map_or(end, |length| from + length)
}

/// Whether vecud writes such a header; a program that recorded the same variables may do so, too.
fn is_of_vecud(header: &Row) -> bool {
    header.text().starts_with("time,") && header.values().all(|name| name.contains('.'))
}

/// The place of a carriage return in a header that is outside of quotes and not at its end.
fn lone_return(header: &[u8]) -> Option<usize> {
    let mut quoted = false;
    header[..without_end(header)].iter().position(|byte| {
        quoted ^= *byte == b'"';
        !quoted && *byte == b'\r'
    })
}

/// Length of a line without its end.
fn without_end(line: &[u8]) -> usize {
    let mut line = line.strip_suffix(b"\n").unwrap_or(line);
    while let Some(shorter) = line.strip_suffix(b"\r") {
        line = shorter;
    }
    line.len()
}

/// Makes an error at the place after these bytes, which begin in `line`.
fn wrong(before: &[u8], line: u64, message: impl Into<String>) -> RecordingError {
    let (line, column) = after((line, 1), before);
    RecordingError { file: 0, line, column, message: message.into() }
}

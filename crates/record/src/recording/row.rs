//! A row: its cells as text, and where they stand in a file.

use std::fmt;
use std::mem;

/// The content of a recording at one time: the cells of a line, the first of which is the time.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// s; of a header no number.
    pub time: f64,
    /// The line, without its end; behind it, cells that do not stand in the line in this form (`""` is one quote).
    text: String,
    length: usize,
    cells: Vec<Cell>,
    /// Counted from 1; 0: the file has none.
    line: u64,
    /// Of several files one after the other: the index of the row's file.
    pub(super) file: u32,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    begin: usize,
    end: usize,
    /// The place of the cell in the line.
    at: usize,
    quotes: Quotes,
}

/// The quotes of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// There are none.
    None,
    /// Quotes stand around the cell.
    Around,
    /// Quotes stand around the cell, and two quotes inside of it are one.
    Doubled,
}

impl Row {
    /// The number of cells, that of the time included.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is not even a time: no row has been read.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The text of a cell, without quotes and blanks around it; the time is cell 0.
    ///
    /// # Panics
    /// If there are fewer cells.
    pub fn cell(&self, cell: usize) -> &str {
        let Cell { begin, end, .. } = self.cells[cell];
        &self.text[begin..end]
    }

    /// Whether a cell stands in quotes, which tells an empty string from none.
    ///
    /// # Panics
    /// If there are fewer cells.
    pub fn is_quoted(&self, cell: usize) -> bool {
        self.cells[cell].quotes != Quotes::None
    }

    /// All cells but the time.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> {
        self.cells.get(1..).unwrap_or_default().iter().map(|cell| &self.text[cell.begin..cell.end])
    }

    /// The whole line, as it is in a CSV file.
    pub fn text(&self) -> &str {
        &self.text[..self.length]
    }

    /// Line and column of each cell in a file of lines, counted from 1; else zeros. The text is gone through once.
    pub fn places(&self) -> impl Iterator<Item = (u64, u32)> {
        let (mut seen, mut place) = (0, (self.line, 1));
        self.cells.iter().map(move |cell| {
            if self.line == 0 {
                return (0, 0);
            }
            place = after(place, &self.text.as_bytes()[seen..cell.at]);
            seen = cell.at;
            place
        })
    }

    /// Makes an error about a cell.
    pub fn wrong_cell(&self, cell: usize, message: impl fmt::Display) -> RecordingError {
        let (line, column) = self.places().nth(cell).unwrap_or((self.line, 0));
        self.wrong(line, column, message)
    }

    /// Makes an error about the row.
    pub fn wrong_row(&self, message: impl fmt::Display) -> RecordingError {
        self.wrong(self.line, 0, message)
    }

    /// The fault of a row that has more or fewer cells than the header. Of more, its place is the first cell too many.
    pub(super) fn wrong_length(&self, header: usize) -> RecordingError {
        let s = if self.len() == 1 { "" } else { "s" };
        let what = format!("this row has {} cell{s}, and the header has {header}", self.len());
        match self.len() > header {
            true if self.len() == header + 1 && self.ends_with_nothing() => self.wrong_end(what),
            true => self.wrong_cell(header, what),
            false => self.wrong_row(what),
        }
    }

    /// Whether nothing stands behind the last separator.
    pub fn ends_with_nothing(&self) -> bool {
        let last = self.len().checked_sub(1);
        last.is_some_and(|last| self.cell(last).is_empty() && !self.is_quoted(last))
    }

    /// The fault of a separator at the end of a row that [ends with nothing](Row::ends_with_nothing).
    pub fn wrong_end(&self, message: impl fmt::Display) -> RecordingError {
        let (before, separator) = self.text().trim_end_matches(' ').char_indices().last().unwrap_or_default();
        let (line, column) = after((self.line, 1), &self.text().as_bytes()[..before]);
        self.wrong(line, column, format!("{message}: leave out the {separator:?} at its end"))
    }

    /// Takes the first cell for the time.
    pub(super) fn read_time(&mut self) -> Result<(), RecordingError> {
        match self.cell(0).parse::<f64>() {
            Ok(time) if time.is_finite() => {
                self.time = time;
                Ok(())
            }
            _ => Err(self.no_time()),
        }
    }

    /// The error of a row whose first cell is no time that anybody can use.
    pub fn no_time(&self) -> RecordingError {
        let shown: String = self.cell(0).chars().take(40).collect();
        self.wrong_cell(0, format!("\"{shown}\" is no time in s; it should be a number like 0.25"))
    }

    fn wrong(&self, line: u64, column: u32, message: impl fmt::Display) -> RecordingError {
        let message = match line {
            // Where there are no lines, the time is the place; a header has none.
            0 if !self.time.is_nan() => format!("at {} s: {message}", self.time),
            _ => message.to_string(),
        };
        RecordingError { file: self.file, line, column, message }
    }

    /// A row for a header.
    pub(super) fn header() -> Row {
        Row { time: f64::NAN, ..Row::default() }
    }

    /// Empties the row, without a line number, and gives its buffer to the caller.
    pub(super) fn restart(&mut self) -> Vec<u8> {
        (self.line, self.length) = (0, 0);
        self.cells.clear();
        let mut room = mem::take(&mut self.text).into_bytes();
        room.clear();
        room
    }

    /// A cell stands there in the line, between its quotes.
    pub(super) fn note(&mut self, begin: usize, end: usize, quotes: Quotes) {
        self.cells.push(Cell { begin, end, at: begin, quotes });
    }

    /// Gets the text in which the cells stand. What is behind `length` is the line's end.
    pub(super) fn fill(&mut self, text: String, length: usize, line: u64) {
        (self.text, self.length, self.line) = (text, length, line);
        self.undouble();
    }

    /// Says of the cells with two quotes for one what they are.
    pub(super) fn undouble(&mut self) {
        for cell in self.cells.iter_mut().filter(|cell| cell.quotes == Quotes::Doubled) {
            let single = self.text[cell.begin..cell.end].replace("\"\"", "\"");
            cell.begin = self.text.len();
            self.text += &single;
            cell.end = self.text.len();
        }
    }

    /// Appends a cell, as it is in a CSV file, to a row that is in no file of lines. Behind the last one comes [`Row::undouble`].
    pub(super) fn append(&mut self, text: &str) {
        if !self.cells.is_empty() {
            self.text.push(',');
        }
        let begin = self.text.len();
        self.text += text;
        self.length = self.text.len();
        match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(inside) if inside.contains('"') => self.note(begin + 1, self.length - 1, Quotes::Doubled),
            Some(_) => self.note(begin + 1, self.length - 1, Quotes::Around),
            None => self.note(begin, self.length, Quotes::None),
        }
    }
}

/// Line and column behind these bytes, which begin at `place`. Characters are counted.
pub(super) fn after(place: (u64, u32), bytes: &[u8]) -> (u64, u32) {
    bytes.iter().fold(place, |(line, column), byte| match byte {
        b'\n' => (line + 1, 1),
        // Continuation bytes of UTF-8 begin no character.
        0x80..=0xBF => (line, column),
        _ => (line, column.saturating_add(1)),
    })
}

/// Why a file cannot be read, or not any further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingError {
    /// Of several files one after the other: the index of the file, counted from 0.
    pub file: u32,
    /// Line, counted from 1; 0: the error is about the file, or about a place that the message names.
    pub line: u64,
    /// Column, counted from 1 in characters; 0: the error is about the whole line.
    pub column: u32,
    /// The error and, where there is one, its remedy.
    pub message: String,
}

impl RecordingError {
    /// An error of the file as a whole.
    pub fn of_file(message: impl Into<String>) -> RecordingError {
        RecordingError { file: 0, line: 0, column: 0, message: message.into() }
    }

    /// The error, of this one of several files.
    pub(super) fn in_file(self, file: u32) -> RecordingError {
        RecordingError { file, ..self }
    }
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}", self.line)?;
            if self.column > 0 {
                write!(f, ", column {}", self.column)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for RecordingError {}

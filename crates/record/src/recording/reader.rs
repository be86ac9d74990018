//! Reads a recording, whichever format it has, and however many files it is in.

#[cfg(feature = "arrow")]
use super::arrow;
use super::csv::{self, Dialect};
use super::mcap;
use super::row::{RecordingError, Row};
use super::row_reader::{ARROW, RowReader};
use std::collections::HashMap;
use std::io::{self, BufRead};

/// A recording, at some row.
pub struct Recording<R> {
    format: Format<R>,
    dialect: Dialect,
    header: Row,
    names: Vec<String>,
    /// The files that come after the one that is read.
    further: Option<Further<R>>,
    /// Index of that file among all files, counted from 0.
    file: u32,
    /// Whether a file before it has broken off.
    broke_off: bool,
}

/// Opens one file after the other.
type Further<R> = Box<dyn Iterator<Item = io::Result<R>> + Send>;

enum Format<R> {
    Csv(csv::CsvReader<R>),
    Mcap(Box<mcap::McapReader<R>>),
    #[cfg(feature = "arrow")]
    Arrow(Box<arrow::ArrowReader<R>>),
}

/// The reason why a program without the feature refuses [`Format::Arrow`](vecud_plan::Format), and the way out.
pub const WITHOUT_ARROW: &str = "this vecud was built without the feature arrow: cargo install --features arrow";

impl<R: BufRead> Recording<R> {
    /// Begins to read what vecud has written. Which format it is says its first byte.
    ///
    /// # Errors
    /// The file is something else.
    pub fn new(input: R) -> Result<Recording<R>, RecordingError> {
        let recording = Recording::in_dialect(input, Dialect::RECORDING)?;
        match recording.header.cell(0) {
            "time" => Ok(recording),
            _ => Err(recording.header.wrong_cell(0, "the first column is not \"time\"")),
        }
    }

    /// Begins to read a file of another tool; it may be MCAP, too, if vecud has written it. The caller judges the name of
    /// the first column, the time.
    ///
    /// # Errors
    /// The file has no header.
    pub fn in_dialect(input: R, dialect: Dialect) -> Result<Recording<R>, RecordingError> {
        let (format, header) = Format::begin(input, dialect)?;
        let names = header.values().map(str::to_owned).collect();
        Ok(Recording { format, dialect, header, names, further: None, file: 0, broke_off: false })
    }

    /// Goes on in these files when the first one ends.
    pub fn and(self, further: impl Iterator<Item = io::Result<R>> + Send + 'static) -> Recording<R> {
        Recording { further: Some(Box::new(further)), ..self }
    }

    /// The columns, `fmu.variable`, without the time.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The units of columns that have one, by their names. A CSV file says none.
    pub fn units(&self) -> HashMap<String, String> {
        let all = self.names.iter().cloned().zip(self.format.rows().units().iter().cloned());
        all.filter(|(_, unit)| !unit.is_empty()).collect()
    }

    /// Whether the column at this place is a clock. A CSV file says so of none.
    pub fn is_clock(&self, place: usize) -> bool {
        self.format.rows().is_clock(place)
    }

    /// The names of all columns, that of the time first, and where they stand.
    pub fn header(&self) -> &Row {
        &self.header
    }

    /// Reads the next row; `false`: there is none.
    ///
    /// # Errors
    /// The next row is invalid, or a further file has other columns. The caller judges whether times are in order.
    pub fn read(&mut self, row: &mut Row) -> Result<bool, RecordingError> {
        row.file = self.file;
        while !self.format.rows_mut().read(row).map_err(|error| error.in_file(self.file))? {
            if !self.go_on()? {
                return Ok(false);
            }
            row.file = self.file;
        }
        Ok(true)
    }

    /// Begins the next file, if there is one.
    fn go_on(&mut self) -> Result<bool, RecordingError> {
        let Some(input) = self.further.as_mut().and_then(Iterator::next) else { return Ok(false) };
        self.broke_off |= self.format.rows().broke_off();
        self.file += 1;
        let in_file = |error: RecordingError| error.in_file(self.file);
        let input = input.map_err(|error| in_file(RecordingError::of_file(error.to_string())))?;
        let (format, header) = Format::begin(input, self.dialect).map_err(in_file)?;
        if !header.values().eq(self.header.values()) {
            return Err(in_file(RecordingError::of_file(
                "has other columns than the file before it: they are of two recordings",
            )));
        }
        self.format = format;
        Ok(true)
    }

    /// Whether reading has ended in the middle of a row, or of a chunk, which was left out: the writer of the file was
    /// killed, or a copy was not finished.
    pub fn broke_off(&self) -> bool {
        self.broke_off || self.format.rows().broke_off()
    }
}

impl<R: BufRead> Format<R> {
    /// Begins to read a file, and reads its header.
    fn begin(mut input: R, dialect: Dialect) -> Result<(Format<R>, Row), RecordingError> {
        let begin = input.fill_buf().map_err(|error| RecordingError::of_file(format!("cannot be read: {error}")))?;
        let mut header = Row::header();
        let format = match begin {
            [mcap::FIRST_BYTE, ..] => Format::Mcap(Box::new(mcap::McapReader::new(input, &mut header)?)),
            _ if begin.starts_with(&ARROW) => Format::arrow(input, &mut header)?,
            _ => {
                let mut rows = csv::CsvReader::new(input, dialect);
                if !rows.read_line(&mut header)? {
                    let what = "is empty: its first line has to name the columns, time first";
                    return Err(RecordingError::of_file(what));
                }
                Format::Csv(rows)
            }
        };
        Ok((format, header))
    }

    #[cfg(feature = "arrow")]
    fn arrow(input: R, header: &mut Row) -> Result<Format<R>, RecordingError> {
        Ok(Format::Arrow(Box::new(arrow::ArrowReader::new(input, header)?)))
    }

    #[cfg(not(feature = "arrow"))]
    fn arrow(_: R, _: &mut Row) -> Result<Format<R>, RecordingError> {
        Err(RecordingError::of_file(format!("is an Arrow stream, and {WITHOUT_ARROW}")))
    }

    fn rows(&self) -> &dyn RowReader {
        match self {
            Format::Csv(rows) => rows,
            Format::Mcap(rows) => rows.as_ref(),
            #[cfg(feature = "arrow")]
            Format::Arrow(rows) => rows.as_ref(),
        }
    }

    fn rows_mut(&mut self) -> &mut dyn RowReader {
        match self {
            Format::Csv(rows) => rows,
            Format::Mcap(rows) => rows.as_mut(),
            #[cfg(feature = "arrow")]
            Format::Arrow(rows) => rows.as_mut(),
        }
    }
}

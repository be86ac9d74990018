//! Rows as text. All CSV that vecud writes comes from here: a header, then a row for each time, with all columns. The text of
//! changed cells is made anew; the rest is copied from the row before.
//!
//! Rows go to a file, `signals.csv`, or into a stream that another program reads (a pipe, a terminal, any file). Whole rows are
//! handed to the kernel at once, so that the output of a killed process ends with a row; if the kernel cuts the last write short, a
//! reader sees it by the missing line feed. If a file has no space, it is cut off behind its last row.

use super::sample_sink::SampleSink;
use super::texts::Texts;
use super::written::{self, Written};
use crate::recording::text;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use vecud_base::time::Instant;
use vecud_description::VariableType;
use vecud_description::word;
use vecud_linux::files;
use vecud_plan::Plan;

/// Rows are written when they have this number of bytes.
const ENOUGH: usize = 1 << 16;

/// Rows that are not written yet, as text: whole ones.
struct Rows {
    types: Vec<VariableType>,
    texts: Texts,
    text: String,
    /// The begin of each row.
    begin: String,
    last: Row,
}

/// The cells of a row, but for the time.
struct Row {
    values: Vec<Option<u64>>,
    /// A comma and a value for each.
    text: String,
    /// Bytes of that which are each cell's.
    lengths: Vec<usize>,
}

impl Rows {
    /// The header alone.
    fn new(plan: &Plan, texts: &Texts) -> Rows {
        let names = std::iter::once("time").chain(plan.signals.iter().map(|signal| signal.name.as_str()));
        let text = header(names);
        let columns = plan.signals.len();
        let nothing = Row { values: vec![None; columns], text: ",".repeat(columns), lengths: vec![1; columns] };
        let types = plan.signals.iter().map(|signal| signal.variable_type).collect();
        Rows { types, texts: texts.clone(), text, begin: String::new(), last: nothing }
    }

    /// Appends a row.
    fn add(&mut self, time: Instant, values: &[Option<u64>]) {
        const WRITES: &str = "strings take everything";
        self.text.push_str(&self.begin);
        word::write(&mut self.text, time.seconds().to_bits(), VariableType::Float64).expect(WRITES);
        let begin = self.text.len();
        let Row { values: before, text, lengths } = &mut self.last;
        // Bytes of the row before that were passed, and those that are in this one or have no place in it.
        let (mut passed, mut done) = (0, 0);
        for (((new, old), length), variable_type) in values.iter().zip(before).zip(lengths).zip(&self.types) {
            let cell = passed;
            passed += *length;
            if new == old {
                continue;
            }
            self.text.push_str(&text[done..cell]);
            done = passed;
            let begin = self.text.len();
            self.text.push(',');
            if let Some(value) = new {
                match variable_type {
                    VariableType::String => text::write_bytes(&mut self.text, &self.texts.value(*value), true),
                    VariableType::Binary => text::write_bytes(&mut self.text, &self.texts.value(*value), false),
                    _ => word::write(&mut self.text, *value, *variable_type).expect(WRITES),
                }
            }
            (*old, *length) = (*new, self.text.len() - begin);
        }
        self.text.push_str(&text[done..]);
        text.clear();
        text.push_str(&self.text[begin..]);
        self.text.push('\n');
    }
}

/// A file.
pub(super) struct Csv {
    file: File,
    /// Bytes that are written.
    end: u64,
    rows: Rows,
    /// The ends of rows that are not written yet, and their times.
    ends: Vec<(usize, Instant)>,
    reached: Option<Instant>,
}

impl Csv {
    /// Begins the file with its header. It has its name when that is there.
    pub(super) fn create(path: &Path, plan: &Plan, texts: &Texts) -> io::Result<Csv> {
        files::create_begun(path, |file| {
            let mut csv = Csv { file, end: 0, rows: Rows::new(plan, texts), ends: Vec::new(), reached: None };
            csv.write()?;
            Ok(csv)
        })
    }

    fn write(&mut self) -> io::Result<()> {
        written::is_whole(&self.file, self.end)?;
        let text = &mut self.rows.text;
        if let Err(error) = self.file.write_all_at(text.as_bytes(), self.end) {
            self.end_with_a_row();
            return Err(error);
        }
        self.end += text.len() as u64;
        self.reached = self.ends.last().map(|(_, time)| *time).or(self.reached);
        text.clear();
        self.ends.clear();
        Ok(())
    }

    /// Cuts off the row that had no space any more, as far as that works: programs that read the file choke on half a row.
    fn end_with_a_row(&mut self) {
        let length = self.file.metadata().map_or(self.end, |metadata| metadata.len());
        let there = length.saturating_sub(self.end).min(self.rows.text.len() as u64) as usize;
        let whole = self.ends.iter().take_while(|(end, _)| *end <= there).last().copied();
        self.reached = whole.map(|(_, time)| time).or(self.reached);
        let _as_far_as_it_works = self.file.set_len(self.end + whole.map_or(0, |(end, _)| end as u64));
    }
}

impl SampleSink for Csv {
    fn row(&mut self, time: Instant, values: &[Option<u64>]) -> io::Result<()> {
        self.rows.add(time, values);
        self.ends.push((self.rows.text.len(), time));
        if self.rows.text.len() >= ENOUGH { self.write() } else { Ok(()) }
    }

    fn flush(&mut self, _: bool) -> io::Result<()> {
        if self.rows.text.is_empty() { Ok(()) } else { self.write() }
    }

    fn close(self: Box<Self>) -> io::Result<Option<Written>> {
        Ok(Some(Written { file: self.file, length: self.end }))
    }

    fn reached(&self) -> Option<Instant> {
        self.reached
    }

    fn written(&self) -> u64 {
        self.end
    }

    fn has(&mut self, bytes: u64) -> bool {
        self.end + self.rows.text.len() as u64 >= bytes
    }
}

/// A stream: what is written cannot be taken back.
pub(super) struct CsvStream {
    out: Box<dyn Write + Send>,
    /// `false`: no text is made of rows, since nobody reads them.
    are_read: bool,
    rows: Rows,
    /// The time of the last row, and that of the last one that is written.
    last: Option<Instant>,
    reached: Option<Instant>,
}

impl CsvStream {
    /// Writes rows to `out`, after their header.
    pub(super) fn new(out: Box<dyn Write + Send>, plan: &Plan, texts: &Texts) -> CsvStream {
        CsvStream { out, are_read: true, rows: Rows::new(plan, texts), last: None, reached: None }
    }

    /// Turns the stream into a part without a header, whose rows each begin with these cells.
    pub(super) fn into_part(mut self, begin: String) -> CsvStream {
        self.rows.text.clear();
        self.rows.begin = begin;
        self
    }

    /// Marks the rows as discarded.
    pub(super) fn unread(self) -> CsvStream {
        CsvStream { are_read: false, ..self }
    }

    /// Writes the header, if it waits to be written.
    pub(super) fn head(&mut self) -> io::Result<()> {
        if self.rows.text.is_empty() { Ok(()) } else { self.write().and_then(|()| self.out.flush()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.out.write_all(self.rows.text.as_bytes())?;
        self.rows.text.clear();
        self.reached = self.last;
        Ok(())
    }
}

impl SampleSink for CsvStream {
    fn row(&mut self, time: Instant, values: &[Option<u64>]) -> io::Result<()> {
        self.last = Some(time);
        if !self.are_read {
            self.reached = self.last;
            return Ok(());
        }
        self.rows.add(time, values);
        if self.rows.text.len() >= ENOUGH { self.write() } else { Ok(()) }
    }

    /// A header waits for the first row: of a run that is refused there is nothing.
    fn flush(&mut self, _: bool) -> io::Result<()> {
        if self.last.is_none() { Ok(()) } else { self.head() }
    }

    fn close(self: Box<Self>) -> io::Result<Option<Written>> {
        Ok(None)
    }

    fn reached(&self) -> Option<Instant> {
        self.reached
    }

    fn has(&mut self, _: u64) -> bool {
        false
    }
}

/// A header with these names.
pub fn header<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(cell).collect::<Vec<_>>().join(",") + "\n"
}

/// A name as a cell.
pub fn cell(name: &str) -> String {
    if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}

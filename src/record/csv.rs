//! `signals.csv`: a header, then a row for each time, all columns in each. Text is made of what has changed since the row before;
//! the rest of that is copied.
//!
//! Whole rows are handed to the kernel at once, so that what a killed process leaves ends with a row; should the kernel cut
//! the last write short, a reader tells by the missing line feed. What finds no space is cut off behind its last row.

use super::signals::Sheet;
use super::texts::Texts;
use super::written::{self, Written};
use crate::exchange::word;
use crate::files;
use crate::fmu::description::VariableType;
use crate::plan::Plan;
use crate::recording::text;
use crate::time::Instant;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Rows are written when there is so much of them.
const ENOUGH: usize = 1 << 16;

/// The file.
pub(super) struct Csv {
    file: File,
    types: Vec<VariableType>,
    texts: Texts,
    /// Bytes that are written.
    end: u64,
    /// Rows that are not written yet: whole ones.
    rows: String,
    /// Where they end, and their times.
    ends: Vec<(usize, Instant)>,
    reached: Option<Instant>,
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

impl Csv {
    /// Begins the file with its header. It has its name when that is there.
    pub(super) fn create(path: &Path, plan: &Plan, texts: &Texts) -> io::Result<Csv> {
        let mut rows = "time".to_owned();
        for signal in &plan.signals {
            rows.push(',');
            rows += &quoted(&signal.name);
        }
        rows.push('\n');
        let types = plan.signals.iter().map(|signal| signal.variable_type).collect();
        let mut partial = path.as_os_str().to_owned();
        partial.push(".part");
        let file = files::create(Path::new(&partial))?;
        let nothing = Row {
            values: vec![None; plan.signals.len()],
            text: ",".repeat(plan.signals.len()),
            lengths: vec![1; plan.signals.len()],
        };
        let mut csv =
            Csv { file, types, texts: texts.clone(), end: 0, rows, ends: Vec::new(), reached: None, last: nothing };
        csv.write()?;
        fs::rename(&partial, path)?;
        Ok(csv)
    }

    fn write(&mut self) -> io::Result<()> {
        written::is_whole(&self.file, self.end)?;
        if let Err(error) = self.file.write_all_at(self.rows.as_bytes(), self.end) {
            self.end_with_a_row();
            return Err(error);
        }
        self.end += self.rows.len() as u64;
        self.reached = self.ends.last().map(|(_, time)| *time).or(self.reached);
        self.rows.clear();
        self.ends.clear();
        Ok(())
    }

    /// Cuts off the row that had no space any more, as far as that works: programs that read the file choke on half a row.
    fn end_with_a_row(&mut self) {
        let length = self.file.metadata().map_or(self.end, |metadata| metadata.len());
        let there = length.saturating_sub(self.end).min(self.rows.len() as u64) as usize;
        let whole = self.ends.iter().take_while(|(end, _)| *end <= there).last().copied();
        self.reached = whole.map(|(_, time)| time).or(self.reached);
        let _as_far_as_it_works = self.file.set_len(self.end + whole.map_or(0, |(end, _)| end as u64));
    }
}

impl Sheet for Csv {
    fn row(&mut self, time: Instant, values: &[Option<u64>]) -> io::Result<()> {
        const WRITES: &str = "strings take everything";
        word::write(&mut self.rows, time.seconds().to_bits(), VariableType::Float64).expect(WRITES);
        let begin = self.rows.len();
        let Row { values: before, text, lengths } = &mut self.last;
        // Bytes of the row before that were passed, and those that are in this one or have no place in it.
        let (mut passed, mut done) = (0, 0);
        for (((new, old), length), variable_type) in values.iter().zip(before).zip(lengths).zip(&self.types) {
            let cell = passed;
            passed += *length;
            if new == old {
                continue;
            }
            self.rows.push_str(&text[done..cell]);
            done = passed;
            let begin = self.rows.len();
            self.rows.push(',');
            if let Some(value) = new {
                match variable_type {
                    VariableType::String => text::write_bytes(&mut self.rows, &self.texts.value(*value), true),
                    VariableType::Binary => text::write_bytes(&mut self.rows, &self.texts.value(*value), false),
                    _ => word::write(&mut self.rows, *value, *variable_type).expect(WRITES),
                }
            }
            (*old, *length) = (*new, self.rows.len() - begin);
        }
        self.rows.push_str(&text[done..]);
        text.clear();
        text.push_str(&self.rows[begin..]);
        self.rows.push('\n');
        self.ends.push((self.rows.len(), time));
        if self.rows.len() >= ENOUGH { self.write() } else { Ok(()) }
    }

    fn flush(&mut self, _: bool) -> io::Result<()> {
        if self.rows.is_empty() { Ok(()) } else { self.write() }
    }

    fn close(self: Box<Self>) -> io::Result<Written> {
        Ok(Written { file: self.file, length: self.end })
    }

    fn reached(&self) -> Option<Instant> {
        self.reached
    }

    fn has(&mut self, bytes: u64) -> bool {
        self.end + self.rows.len() as u64 >= bytes
    }
}

/// A header cell.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}

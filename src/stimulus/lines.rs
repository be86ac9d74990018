//! Lines of a CSV file and their cells: separated by commas, quoted where they like.
//!
//! A byte order mark, carriage returns before line feeds, and a last line without its end are nothing special; empty lines
//! are passed over. No line takes more memory than [`LONGEST`].

use crate::plan::StimulusPlan;
use crate::rig::{Place, Problem};
use std::io::{BufRead, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes that a line may have: much more than [`crate::plan`] lets a recording have.
pub(super) const LONGEST: usize = 1 << 20;

/// The lines of a file.
pub(super) struct Lines<R> {
    input: R,
    file: PathBuf,
    line: Vec<u8>,
    /// Counted from 1; 0 before the first.
    number: u64,
    /// Of each cell what is between its quotes, if it has any.
    cells: Vec<Range<usize>>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, file: &Path) -> Lines<R> {
        Lines { input, file: file.to_owned(), line: Vec::new(), number: 0, cells: Vec::new() }
    }

    /// Goes to the next line that is not empty. `false`: there is none.
    pub(super) fn advance(&mut self) -> Result<bool, Problem> {
        loop {
            self.line.clear();
            self.number += 1;
            let mut limited = (&mut self.input).take(LONGEST as u64 + 1);
            match limited.read_until(b'\n', &mut self.line) {
                Ok(0) => return Ok(false),
                Ok(_) => (),
                Err(error) => return Err(self.problem(0, format!("cannot be read: {error}"))),
            }
            if self.line.len() > LONGEST {
                return Err(
                    self.problem(0, format!("this line has more than {LONGEST} bytes, the most that a row may have"))
                );
            }
            if self.number == 1 && self.line.starts_with(b"\xEF\xBB\xBF") {
                self.line.drain(..3);
            }
            while matches!(self.line.last(), Some(b'\n' | b'\r')) {
                self.line.pop();
            }
            if !self.line.trim_ascii().is_empty() {
                self.split()?;
                return Ok(true);
            }
        }
    }

    /// Finds the cells.
    fn split(&mut self) -> Result<(), Problem> {
        self.cells.clear();
        let line = &self.line;
        let mut at = 0;
        loop {
            let end = |from: usize| line[from..].iter().position(|byte| *byte == b',').map_or(line.len(), |i| from + i);
            let begin = at + line[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if line.get(begin) == Some(&b'"') {
                let mut close = begin + 1;
                // Two quotes stand for one.
                loop {
                    match line[close..].iter().position(|byte| *byte == b'"') {
                        None => return Err(self.problem(begin, "a quoted cell has no closing quote in its line")),
                        Some(i) if line.get(close + i + 1) == Some(&b'"') => close += i + 2,
                        Some(i) => {
                            close += i;
                            break;
                        }
                    }
                }
                at = end(close + 1);
                if !line[close + 1..at].trim_ascii().is_empty() {
                    return Err(
                        self.problem(close + 1, "there is something between a closing quote and the next comma")
                    );
                }
                self.cells.push(begin + 1..close);
            } else {
                at = end(begin);
                let length = line[begin..at].trim_ascii_end().len();
                self.cells.push(begin..begin + length);
            }
            if at == line.len() {
                return Ok(());
            }
            at += 1;
        }
    }

    /// Number of cells of the line.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The text of a cell.
    pub(super) fn cell(&self, cell: usize) -> Result<&str, Problem> {
        let range = self.cells[cell].clone();
        str::from_utf8(&self.line[range.clone()])
            .map_err(|_| self.problem(range.start, "is not UTF-8, the encoding of stimuli; convert the file"))
    }

    /// Where a cell begins.
    pub(super) fn place(&self, cell: usize) -> Place {
        self.place_of(self.cells[cell].start)
    }

    fn place_of(&self, byte: usize) -> Place {
        let before = self.line.get(..byte).unwrap_or_default();
        // Continuation bytes of UTF-8 begin no character.
        let column = 1 + before.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u32;
        Place { line: u32::try_from(self.number).unwrap_or(u32::MAX), column }
    }

    fn problem(&self, byte: usize, message: impl Into<String>) -> Problem {
        Problem::new(&self.file, self.place_of(byte), message)
    }

    /// A problem of a cell.
    pub(super) fn problem_of(&self, cell: usize, message: impl Into<String>) -> Problem {
        Problem::new(&self.file, self.place(cell), message)
    }

    /// A problem of the whole line.
    pub(super) fn problem_here(&self, message: impl Into<String>) -> Problem {
        Problem::new(&self.file, Place { column: 0, ..self.place_of(0) }, message)
    }

    /// A problem of the file.
    pub(super) fn problem_of_file(&self, message: impl Into<String>) -> Problem {
        Problem::new(&self.file, Place::default(), message)
    }

    /// Whether the line has as many cells as the header.
    pub(super) fn check_width(&self, plan: &StimulusPlan) -> Result<(), Problem> {
        if self.len() == plan.cells {
            return Ok(());
        }
        let s = if self.len() == 1 { "" } else { "s" };
        Err(self.problem_here(format!("this row has {} cell{s}, and the header has {}", self.len(), plan.cells)))
    }
}

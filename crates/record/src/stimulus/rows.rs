//! Rows of a stimulus: their times increase, and their cells fit the variables that they feed.
//!
//! A run records instants that are apart by less than a 64-bit float tells (1/3 s and 0.3333333333333333 s) as rows of the
//! same time. Such rows of a recording are one: of each column the last value counts.

use super::cell;
use crate::recording::{self, Dialect, Recording, RecordingError};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use vecud_base::time::StepGrid;
use vecud_plan::StimulusInput;
use vecud_plan::StimulusPlan;
use vecud_plan::rig::{At, Diagnostic, Interpolation, Place};

/// Name of the first column.
const TIME: &str = "time";
/// Rows from which the rate of a file is told.
const SAMPLE: u32 = 4096;

/// Format of a stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StimulusKind {
    /// A CSV file that was written as a stimulus.
    File,
    /// A CSV file in which two rows may have the same time: the fed values jump there.
    Trajectory,
    /// A recording of an earlier run, in either format.
    Recording,
}

/// Reads the beginning of a file.
pub fn header(input: impl BufRead, file: &Path, kind: StimulusKind) -> Result<StimulusInput, Diagnostic> {
    let problem = |error| problem(file, error);
    let mut recording = open(input, kind).map_err(problem)?;
    let header = recording.header();
    let first = header.cell(0);
    if first != TIME {
        let hint = match first {
            _ if first.contains(';') => ": columns are separated by commas, not by semicolons",
            _ if first.contains('\t') => ": columns are separated by commas, not by tabulators",
            _ => "",
        };
        let shown: String = first.chars().take(60).collect();
        let what = format!("the first column must be \"{TIME}\" (in s), not \"{shown}\"{hint}");
        return Err(problem(header.wrong_cell(0, what)));
    }
    let column = |(name, at): (&str, _)| At { value: name.to_owned(), place: place(at) };
    let columns: Vec<At<String>> = header.values().zip(header.places().skip(1)).map(column).collect();
    if columns.is_empty() {
        return Err(problem(header.wrong_row("there is no column beside the time")));
    }
    if let Some(nameless) = columns.iter().position(|column| column.value.is_empty()) {
        let what = format!("column {} has no name", nameless + 2);
        let is_last = nameless + 1 == columns.len() && header.ends_with_nothing();
        let wrong = if is_last { header.wrong_end(what) } else { header.wrong_cell(nameless + 1, what) };
        return Err(problem(wrong));
    }
    let mut row = recording::Row::default();
    let (mut first, mut last, mut rows) = (None, 0.0, 0);
    // What is wrong with one of them is told when they are read to be used.
    while rows < SAMPLE {
        match recording.read(&mut row) {
            Ok(true) => {
                first.get_or_insert(row.time);
                (last, rows) = (row.time, rows + 1);
            }
            Ok(false) if rows == 0 => return Err(problem(RecordingError::of_file("names columns but has no row"))),
            _ => break,
        }
    }
    let rate = (f64::from(rows) - 1.0) / (last - first.unwrap_or(0.0));
    let rate = if rate.is_finite() && rate > 0.0 { rate } else { 0.0 };
    Ok(StimulusInput { file: file.to_owned(), columns, rate, start: Vec::new() })
}

fn open<R: BufRead>(input: R, kind: StimulusKind) -> Result<Recording<R>, RecordingError> {
    match kind {
        StimulusKind::File | StimulusKind::Trajectory => Recording::in_dialect(input, Dialect::STIMULUS),
        StimulusKind::Recording => Recording::in_dialect(input, Dialect::RECORDING),
    }
}

fn place((line, column): (u64, u32)) -> Place {
    Place { line: u32::try_from(line).unwrap_or(u32::MAX), column }
}

fn problem(file: &Path, error: RecordingError) -> Diagnostic {
    Diagnostic::new(file, place((error.line, error.column)), error.message)
}

/// Value of a trajectory's column between two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Linear interpolation.
    Line,
    /// The value of the row before; a change is an event.
    Held,
    /// The text of the row before; an empty one in quotes is a value.
    Text,
    /// No value: the column ticks, which is an event of its own.
    Ticks,
}

/// Properties of a trajectory, determined before it is followed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrajectorySummary {
    /// Times of jumps, of changes in held columns, and of the first value of any column, s.
    pub events: Vec<f64>,
    /// Length of the longest cell, bytes.
    pub longest: usize,
}

/// The value of each column at the time `start`: the text of its newest cell, or with [`Interpolation::Linear`] the number on the line to
/// the next row, with the place of that cell. `None`: there is none yet. Rows are read up to the first invalid one: the reader that feeds
/// them reports it.
pub fn at_start(
    input: impl BufRead,
    file: &Path,
    kind: StimulusKind,
    start: f64,
    interpolation: Interpolation,
) -> Result<Vec<Option<At<String>>>, Diagnostic> {
    let mut recording = open(input, kind).map_err(|error| problem(file, error))?;
    let mut now: Vec<Option<At<String>>> = vec![None; recording.header().values().len()];
    let (mut row, mut last) = (recording::Row::default(), None);
    while matches!(recording.read(&mut row), Ok(true)) {
        if row.time > start {
            let share =
                last.filter(|_| interpolation == Interpolation::Linear).map(|last| (start - last) / (row.time - last));
            for (cell, shown) in row.values().zip(&mut now).filter_map(|(cell, shown)| Some((cell, shown.as_mut()?))) {
                shown.value = at_share(&shown.value, cell, share.unwrap_or(0.0));
            }
            break;
        }
        for (cell, (shown, at)) in now.iter_mut().zip(row.places().skip(1)).enumerate() {
            let text = row.cell(cell + 1);
            if !text.is_empty() || row.is_quoted(cell + 1) {
                *shown = Some(At { value: text.to_owned(), place: place(at) });
            }
        }
        last = Some(row.time);
    }
    Ok(now)
}

/// Follows a trajectory of a run that starts at `start`. What is wrong with a row ends it there: whoever feeds it tells.
pub fn course(
    input: impl BufRead,
    file: &Path,
    start: f64,
    column: impl Fn(&str) -> Column,
) -> Result<TrajectorySummary, Diagnostic> {
    let mut recording = open(input, StimulusKind::Trajectory).map_err(|error| problem(file, error))?;
    let columns: Vec<Column> = recording.header().values().map(column).collect();
    let mut now: Vec<Option<String>> = vec![None; columns.len()];
    let mut course = TrajectorySummary::default();
    let (mut row, mut before) = (recording::Row::default(), None);
    while matches!(recording.read(&mut row), Ok(true)) {
        let mut is_event = before == Some(row.time);
        for (column, shown) in now.iter_mut().enumerate() {
            let text = row.cell(column + 1);
            course.longest = course.longest.max(text.len());
            let is_value = !text.is_empty() || columns[column] == Column::Text && row.is_quoted(column + 1);
            if is_value && shown.as_deref() != Some(text) {
                // Before its first value an input has its start value.
                let is_first = shown.is_none() && row.time > start;
                is_event |= match columns[column] {
                    Column::Held | Column::Text => is_first || before.is_some(),
                    Column::Line => is_first,
                    Column::Ticks => false,
                };
                *shown = Some(text.to_owned());
            }
        }
        if is_event && course.events.last() != Some(&row.time) {
            course.events.push(row.time);
        }
        before = Some(row.time);
    }
    Ok(course)
}

/// The value of a column between two rows.
fn at_share(before: &str, after: &str, share: f64) -> String {
    match (before.parse::<f64>(), after.parse::<f64>()) {
        (Ok(before), Ok(after)) if share > 0.0 && before != after => format!("{:?}", before + (after - before) * share),
        _ => before.to_owned(),
    }
}

/// The content of one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StimulusRow {
    /// The time of the row, s.
    pub time: f64,
    /// Another row of this time may follow.
    pub may_jump: bool,
    /// For each of [`StimulusPlan::values`] its words; `None`: the cell is empty, or the word is no part of a string or binary.
    pub values: Vec<Option<u64>>,
    /// For each of [`StimulusPlan::ticks`] whether it ticks.
    pub ticks: Vec<bool>,
}

impl StimulusRow {
    /// Up to which time everything is known with this row, s. Where another row of the same time may follow, what there is at that
    /// time is known with a later one.
    pub fn known_until(&self) -> f64 {
        if self.may_jump { self.time.next_down() } else { self.time }
    }
}

/// The rows of a file.
pub struct StimulusReader<R> {
    recording: Recording<R>,
    /// The file, or those of a recording that was rotated.
    files: Vec<PathBuf>,
    plan: StimulusPlan,
    /// Rows of one time are one.
    joins: bool,
    /// The cells as text.
    cells: recording::Row,
    /// The result of reading the row in `cells`, if it was not examined yet.
    ahead: Option<Result<bool, RecordingError>>,
    last: Option<f64>,
    row: StimulusRow,
    /// The first cell that feeds NaN, as a message, the time from which on it feeds, and the number of such cells.
    nan: Option<(RecordingError, f64, u64)>,
}

/// Cells that feed what is no number.
#[derive(Clone, Debug)]
pub struct Nan {
    /// The first such cell.
    pub first: Diagnostic,
    /// The time from which on it feeds, s.
    pub from: f64,
    /// Number of such cells that were read.
    pub count: u64,
}

impl<R: BufRead> StimulusReader<R> {
    /// The rows of a file that has such columns. Its header is passed over.
    pub fn new(
        input: R,
        file: &Path,
        kind: StimulusKind,
        plan: &StimulusPlan,
    ) -> Result<StimulusReader<R>, Diagnostic> {
        let recording = open(input, kind).map_err(|error| problem(file, error))?;
        // The file may be another one than when its header was read.
        if recording.header().len() != plan.cells {
            let what = format!("the header has {} columns, and had {}", recording.header().len(), plan.cells);
            return Err(problem(file, recording.header().wrong_row(what)));
        }
        let (files, plan, joins) = (vec![file.to_owned()], plan.clone(), kind == StimulusKind::Recording);
        let (cells, row) = (
            recording::Row::default(),
            StimulusRow { may_jump: kind == StimulusKind::Trajectory, ..StimulusRow::default() },
        );
        Ok(StimulusReader { recording, files, plan, joins, cells, ahead: None, last: None, row, nan: None })
    }

    /// Goes on in these files, whose names are known, when the first one ends.
    pub fn and(
        mut self,
        names: impl IntoIterator<Item = PathBuf>,
        further: impl Iterator<Item = io::Result<R>> + Send + 'static,
    ) -> StimulusReader<R> {
        self.files.extend(names);
        StimulusReader { recording: self.recording.and(further), ..self }
    }

    /// The next row; `None`: there is none.
    pub fn read(&mut self) -> Result<Option<&StimulusRow>, Diagnostic> {
        match self.next() {
            Ok(true) => Ok(Some(&self.row)),
            Ok(false) => Ok(None),
            Err(error) => Err(problem(&self.files[error.file as usize], error)),
        }
    }

    /// After the last row: what is to be known of a file that ends in the middle of something.
    pub fn broken_off(&self) -> Option<Diagnostic> {
        let what = "breaks off in the middle of a row, as runs that are killed and copies that are not finished do: what is whole \
                    was read, and inputs keep their last values";
        let file = self.files.last().expect("the first one");
        self.recording.broke_off().then(|| problem(file, RecordingError::of_file(what)))
    }

    /// The cells so far that feed what is no number; `None`: there were none.
    pub fn nan(&self) -> Option<Nan> {
        let (first, from, count) = self.nan.as_ref()?;
        Some(Nan { first: problem(&self.files[first.file as usize], first.clone()), from: *from, count: *count })
    }

    fn next(&mut self) -> Result<bool, RecordingError> {
        if !self.ahead.take().unwrap_or_else(|| self.recording.read(&mut self.cells))? {
            return Ok(false);
        }
        let time = self.cells.time;
        if time.abs() >= 1e12 {
            return Err(self.cells.no_time());
        }
        let may_jump = self.row.may_jump;
        if let Some(before) = self.last.filter(|before| time < *before || !may_jump && time == *before) {
            let (not, must) = match may_jump {
                true => ("before", "must not decrease"),
                false => ("not after", "must increase strictly"),
            };
            let message = format!("the time {time:?} s is {not} that of the row before, {before:?} s: times {must}");
            return Err(self.cells.wrong_cell(0, message));
        }
        let before = self.last.replace(time);
        // On a line towards a row its values count from the row before on.
        let from = before.filter(|_| self.plan.interpolation == Interpolation::Linear).unwrap_or(time);
        // Of other rows that are at that instant but for rounding the last one counts.
        let at = StepGrid::point(&self.plan.grids, time).map_or(time, |instant| instant.seconds());
        self.row.time = before.map_or(at, |_| at.max(self.row.time));
        self.row.values.clear();
        self.row.values.resize(self.plan.words(), None);
        self.row.ticks.clear();
        self.row.ticks.resize(self.plan.ticks.len(), false);
        self.take_cells(from)?;
        while self.joins {
            let read = self.recording.read(&mut self.cells);
            if read != Ok(true) || self.cells.time != time {
                self.ahead = Some(read);
                break;
            }
            self.take_cells(from)?;
        }
        Ok(true)
    }

    /// Adds the cells to the row, which counts from `from` on.
    fn take_cells(&mut self, from: f64) -> Result<(), RecordingError> {
        let StimulusReader { plan, cells, row, nan, .. } = self;
        for fed in &plan.values {
            let (text, quoted) = (cells.cell(fed.cell), cells.is_quoted(fed.cell));
            let of_cell = |message: String| {
                cells.wrong_cell(fed.cell, format!("column {} (\"{}\"): {message}", fed.cell + 1, fed.column))
            };
            let words = &mut row.values[fed.words()];
            cell::read(text, quoted, fed, words).map_err(of_cell)?;
            if words.iter().flatten().any(|word| cell::is_nan(*word, fed.variable_type)) {
                let first = || (of_cell(format!("NaN is no number, and is what {} gets", fed.to)), from, 0);
                nan.get_or_insert_with(first).2 += 1;
            }
        }
        let ticks = plan.ticks.iter().zip(&mut row.ticks);
        ticks.for_each(|(fed, ticks)| *ticks |= cell::is_tick(cells.cell(fed.cell)));
        Ok(())
    }
}

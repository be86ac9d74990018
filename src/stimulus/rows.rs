//! Rows of a stimulus: their times increase, and what is in their cells fits what it feeds.

use super::cell;
use super::lines::Lines;
use crate::plan::StimulusPlan;
use crate::rig::{At, Problem, StimulusHeader};
use std::io::BufRead;
use std::path::Path;

/// Name of the first column.
const TIME: &str = "time";
/// Rows from which the rate of a file is told.
const SAMPLE: usize = 4096;

/// What the beginning of a file says.
pub fn header(input: impl BufRead, file: &Path) -> Result<StimulusHeader, Problem> {
    let mut lines = Lines::new(input, file);
    if !lines.advance()? {
        return Err(lines.problem_of_file("is empty: its first line has to name the columns, time first"));
    }
    let first = lines.cell(0)?;
    if first != TIME {
        let hint = match first {
            _ if first.contains(';') => ": columns are separated by commas, not by semicolons",
            _ if first.contains('\t') => ": columns are separated by commas, not by tabulators",
            _ => "",
        };
        let shown: String = first.chars().take(60).collect();
        return Err(lines.problem_of(0, format!("the first column must be \"{TIME}\" (in s), not \"{shown}\"{hint}")));
    }
    let mut columns = Vec::new();
    for number in 1..lines.len() {
        let name = lines.cell(number)?.replace("\"\"", "\"");
        columns.push(At { value: name, place: lines.place(number) });
    }
    if columns.is_empty() {
        return Err(lines.problem_here("there is no column beside the time"));
    }
    let (mut first, mut last, mut rows, mut any) = (None, 0.0, 0, false);
    while rows < SAMPLE && lines.advance()? {
        any = true;
        // Whether they are in order, and everything else about them, is told when they are read.
        let Ok(time) = lines.cell(0)?.parse::<f64>() else { break };
        first.get_or_insert(time);
        (last, rows) = (time, rows + 1);
    }
    if !any {
        return Err(lines.problem_of_file("names columns but has no row"));
    }
    let rate = (rows as f64 - 1.0) / (last - first.unwrap_or(0.0));
    Ok(StimulusHeader { columns, rate: if rate.is_finite() && rate > 0.0 { rate } else { 0.0 } })
}

/// What one row says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its time, s.
    pub time: f64,
    /// For each of [`StimulusPlan::values`] its word; `None`: the cell is empty.
    pub values: Vec<Option<u64>>,
    /// For each of [`StimulusPlan::ticks`] whether it ticks.
    pub ticks: Vec<bool>,
}

/// The rows of a file.
pub struct Rows<R> {
    lines: Lines<R>,
    plan: StimulusPlan,
    last: Option<f64>,
    row: Row,
}

impl<R: BufRead> Rows<R> {
    /// The rows of a file that has such columns. Its header is passed over.
    pub fn new(input: R, file: &Path, plan: &StimulusPlan) -> Result<Rows<R>, Problem> {
        let mut lines = Lines::new(input, file);
        if lines.advance()? {
            // The file may be another one than when its header was read.
            lines.check_width(plan)?;
        }
        Ok(Rows { lines, plan: plan.clone(), last: None, row: Row::default() })
    }

    /// The next row; `None`: there is none.
    pub fn read(&mut self) -> Result<Option<&Row>, Problem> {
        let Rows { lines, plan, last, row } = self;
        if !lines.advance()? {
            return Ok(None);
        }
        lines.check_width(plan)?;
        let text = lines.cell(0)?;
        let Some(time) = text.parse::<f64>().ok().filter(|time| time.is_finite() && time.abs() < 1e12) else {
            let shown: String = text.chars().take(40).collect();
            return Err(lines.problem_of(0, format!("\"{shown}\" is no time in s")));
        };
        if let Some(before) = last.filter(|before| time <= *before) {
            let message = format!("the time {time:?} s is not after that of the row before, {before:?} s");
            return Err(lines.problem_of(0, format!("{message}: times must increase strictly")));
        }
        *last = Some(time);
        row.time = time;
        row.values.clear();
        for fed in &plan.values {
            let text = lines.cell(fed.cell)?;
            let word = match text.is_empty() {
                true => None,
                false => Some(cell::word(text, fed).map_err(|message| {
                    lines.problem_of(fed.cell, format!("column {} (\"{}\"): {message}", fed.cell + 1, fed.column))
                })?),
            };
            row.values.push(word);
        }
        row.ticks.clear();
        for fed in &plan.ticks {
            row.ticks.push(cell::is_tick(lines.cell(fed.cell)?));
        }
        Ok(Some(row))
    }
}

//! `signals.csv`, line by line.

use super::ReadError;
use std::io::BufRead;

/// The rows of a file.
pub struct Rows<R> {
    input: R,
    pub names: Vec<String>,
    line: String,
    number: u64,
}

impl<R: BufRead> Rows<R> {
    /// Reads the header.
    pub fn new(input: R) -> Result<Rows<R>, ReadError> {
        let mut rows = Rows { input, names: Vec::new(), line: String::new(), number: 0 };
        if !rows.read_line()? {
            return Err(ReadError::Content("there is no header".to_owned()));
        }
        let mut names = cells(&rows.line);
        if names.next().as_deref() != Some("time") {
            return Err(ReadError::Content("line 1: the first column is not \"time\"".to_owned()));
        }
        rows.names = names.collect();
        Ok(rows)
    }

    /// The next whole line, without its line feed; a quoted cell may have some inside.
    fn read_line(&mut self) -> Result<bool, ReadError> {
        self.line.clear();
        loop {
            self.input.read_line(&mut self.line)?;
            self.number += 1;
            if !self.line.ends_with('\n') {
                return Ok(false);
            }
            if self.line.bytes().filter(|&byte| byte == b'"').count().is_multiple_of(2) {
                let end = self.line.trim_end_matches(['\n', '\r']).len();
                self.line.truncate(end);
                return Ok(true);
            }
        }
    }

    /// Puts the next row into `cells`, and gives its time.
    pub fn next(&mut self, into: &mut [String]) -> Result<Option<f64>, ReadError> {
        if !self.read_line()? {
            return Ok(None);
        }
        let at = |what: String| ReadError::Content(format!("line {}: {what}", self.number));
        let mut row = cells(&self.line);
        let time = row.next().unwrap_or_default();
        let seconds = time.parse().map_err(|_| at(format!("\"{time}\" is no time")))?;
        let mut count = 0;
        for cell in row {
            if let Some(place) = into.get_mut(count) {
                place.clear();
                place.push_str(&cell);
            }
            count += 1;
        }
        if count != into.len() {
            return Err(at(format!("{} cells, but {} columns", count + 1, into.len() + 1)));
        }
        Ok(Some(seconds))
    }
}

/// The cells of a line; in quotes, commas are text and two quotes are one.
fn cells(line: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut quoted = false;
        let end = text.find(|c| {
            quoted ^= c == '"';
            c == ',' && !quoted
        });
        rest = end.map(|end| &text[end + 1..]);
        let cell = &text[..end.unwrap_or(text.len())];
        Some(match cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')) {
            Some(inside) => inside.replace("\"\"", "\""),
            None => cell.to_owned(),
        })
    })
}

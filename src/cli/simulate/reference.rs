//! `--reference-file`: compares a simulation's rows with a reference, wherever both have one.

use super::super::report::ComparisonInput;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use vecud_host::Error;
use vecud_report::compare::{self, ComparedTimes, NamedTolerance, SignalsComparison, Tolerances};

/// The rows once more, to be compared when they are complete.
pub struct Copied {
    /// `None`: they go to a file anyway.
    copy: Option<NamedTempFile>,
    rows: PathBuf,
}

impl Copied {
    /// The rows that go to this `file`; `None`: to nowhere that can be read again.
    pub fn of(file: Option<&Path>) -> Result<Copied, Error> {
        let is_readable = |file: &&Path| file.metadata().is_ok_and(|metadata| metadata.is_file());
        if let Some(file) = file.filter(is_readable) {
            return Ok(Copied { copy: None, rows: file.to_owned() });
        }
        let copy = NamedTempFile::new().map_err(|error| Error::System(format!("no temporary file: {error}")))?;
        let rows = copy.path().to_owned();
        Ok(Copied { copy: Some(copy), rows })
    }

    /// Writes to `out`, and to the copy.
    pub fn beside(&self, out: impl Write + Send + 'static) -> io::Result<Box<dyn Write + Send>> {
        Ok(match &self.copy {
            None => Box::new(out),
            Some(copy) => Box::new(Both(out, copy.reopen()?)),
        })
    }
}

struct Both<A, B>(A, B);

impl<A: Write, B: Write> Write for Both<A, B> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.write_all(bytes)?;
        self.0.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A reference can be read, and has a column in common with what is to be computed.
pub fn check(reference: &Path, names: &[String]) -> Result<(), Error> {
    let refused = |what: &str| Error::Report(reference.to_owned(), None, what.to_owned());
    // Some file is asked for, while elsewhere the output folder of a run is.
    if let Err(error) = reference.metadata() {
        return Err(match error.kind() {
            io::ErrorKind::NotFound => refused("there is no such file"),
            _ => refused(&error.to_string()),
        });
    }
    let input = ComparisonInput::of(reference)?;
    let signals = input.signals.as_ref().ok_or_else(|| refused("there is no recording"))?;
    let table = signals.open()?;
    let common = table.columns().iter().any(|column| names.contains(column));
    let some: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
    match common {
        true => Ok(()),
        false => Err(refused(&format!("no column is named as one that is computed: {}", some.join(", ")))),
    }
}

/// Deviations beyond the tolerance, a line for each signal; empty: none.
pub fn deviations(rows: &Copied, reference: &Path, tolerance: Option<&NamedTolerance>) -> Result<Vec<String>, Error> {
    let (own, other) = (ComparisonInput::of(&rows.rows)?, ComparisonInput::of(reference)?);
    let (Some(own), Some(other)) = (&own.signals, &other.signals) else { return Ok(Vec::new()) };
    let tolerances = Tolerances::of_a_reference(tolerance);
    let compared = compare::signals(&mut own.open()?, &mut other.open()?, &ComparedTimes::OF_A_REFERENCE, &tolerances)
        .map_err(|(side, error)| if side == compare::Side::B { other.broken(error) } else { own.broken(error) })?;
    told(&compared, reference)
}

fn told(compared: &SignalsComparison, reference: &Path) -> Result<Vec<String>, Error> {
    let name = reference.display().to_string();
    if compared.span.moments == 0 {
        let what =
            "there is no time at which it and the simulation both have a row: try its interval (--output-interval)";
        return Err(Error::Report(reference.to_owned(), None, what.to_owned()));
    }
    Ok(compared.different.iter().filter_map(|signal| signal.deviation_from(&name)).collect())
}

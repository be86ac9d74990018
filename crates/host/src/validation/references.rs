//! Checks the results that an FMU carries (FMI-LS-REF) against a simulation.
//!
//! The layered standard identifies results, but not their origin: a result is taken for that of the default experiment
//! with the start values of the description, at the communication points of its rows. Columns of inputs feed these.
//! FMUs with Event Mode are tried without it first, then with it: either may have been used.

use super::life::{self, Lived, compared};
use super::subject::{DESCRIPTION, ExaminedFmu};
use crate::Error;
use crate::simulation::SimulationOptions;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;
use tempfile::NamedTempFile;
use vecud_base::time::Fraction;
use vecud_description::{Causality, Interface, ModelDescription, Variable, VariableType};
use vecud_fmu::related::{self, Home, Manifest, Related};
use vecud_linux::files;
use vecud_record::csv;
use vecud_record::recording::text::write_string;
use vecud_record::recording::{Dialect, Recording, RecordingError, Row};
use vecud_report::compare::Tolerances;
use vecud_report::{Check, CheckOutcome, End, Remark};

/// Name of the check if there is nothing to compare.
const NAME: &str = "reference results";

/// Checks the manifest and each result; `lives`: the results of the lives so far.
pub fn checks(subject: &ExaminedFmu, lives: &[Check]) -> Result<Vec<Check>, Error> {
    let path = subject.unpacked.root.join(related::MANIFEST);
    if !path.is_file() {
        return Ok(vec![Check::not_tried(NAME, "it carries none (FMI-LS-REF)")]);
    }
    let text = files::read_to_string(&path).map_err(Error::file(&path))?;
    let manifest = match related::parse(&text) {
        Ok(manifest) => manifest,
        Err(error) => {
            let remark = Remark::finding(error.message).in_file(related::MANIFEST).at(error.at.0, error.at.1);
            return Ok(vec![Check::done(NAME, "", vec![remark])]);
        }
    };
    let mut all = vec![of_manifest(subject, &manifest)];
    for related in manifest.files.iter().filter(|file| file.is_result() || file.is_experiment()) {
        let name = format!("reference {}", related.source);
        let Home::Inside(home) = related.home() else {
            all.push(Check::not_tried(name, "it does not lie in the FMU"));
            continue;
        };
        all.push(match obstacle(subject, related, &home, lives) {
            Err(why) => Check::not_tried(name, why),
            Ok(interface) => {
                let work = || result(subject, interface, &home, name);
                subject.meanwhile(format!("simulating what {} is to be compared with", home.display()), work)?
            }
        });
    }
    Ok(all)
}

fn of_manifest(subject: &ExaminedFmu, manifest: &Manifest) -> Check {
    let remark = |error: &related::ManifestError| {
        let message = error.message.clone();
        let remark = if error.is_formal { Remark::warning(message) } else { Remark::finding(message) };
        remark.in_file(related::MANIFEST).at(error.at.0, error.at.1)
    };
    let mut remarks: Vec<Remark> = manifest.remarks.iter().map(remark).collect();
    for file in &manifest.files {
        if let Home::Inside(home) = file.home()
            && !subject.unpacked.root.join(&home).is_file()
        {
            let what = format!("{} is not there", home.display());
            remarks.push(Remark::warning(what).in_file(related::MANIFEST).at(file.at.0, file.at.1));
        }
    }
    let results = manifest.files.iter().filter(|file| file.is_result()).count();
    let plural = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let seen = format!("FMI-LS-REF: {}, {} of them", plural(manifest.files.len(), "file"), plural(results, "result"));
    Check::done(NAME, seen, remarks)
}

/// The interface type whose results are compared, or the reason why none are.
fn obstacle(subject: &ExaminedFmu, related: &Related, home: &Path, lives: &[Check]) -> Result<Interface, String> {
    if related.is_experiment() {
        return Err("vecud performs no experiments that are described (MA-HS-Experiments)".to_owned());
    }
    if !related.is_csv() {
        return Err(format!("{} is no CSV", related.mime_type));
    }
    if !subject.unpacked.root.join(home).is_file() {
        return Err("the file is not there".to_owned());
    }
    let interfaces = [Interface::CoSimulation, Interface::ModelExchange, Interface::ScheduledExecution];
    let is_offered = |own: &Interface| subject.description.interfaces.iter().any(|offer| offer.interface() == *own);
    let Some(interface) = interfaces.into_iter().find(is_offered) else {
        return Err("it has no interface type".to_owned());
    };
    let lives = lives.iter().find(|check| check.name == interface.name());
    match lives.is_some_and(|life| life.outcome() == CheckOutcome::Sound) {
        true => Ok(interface),
        false => Err(format!("it does not live ({})", interface.name())),
    }
}

/// Simulates and compares one result.
fn result(subject: &ExaminedFmu, interface: Interface, home: &Path, name: String) -> Result<Check, Error> {
    let wrong = |error: &RecordingError| {
        let remark = Remark::finding(error.message.clone()).in_file(home.display().to_string());
        remark.at(u32::try_from(error.line).unwrap_or(0), error.column)
    };
    let reference = match Reference::open(subject, home) {
        Ok(Ok(reference)) => reference,
        Ok(Err(remark)) => return Ok(Check::done(name, "", vec![remark.in_file(home.display().to_string())])),
        Err(error) => return Ok(Check::done(name, "", vec![wrong(&error)])),
    };
    let inputs = match reference.inputs() {
        Ok(inputs) => inputs,
        Err(error) => return Ok(Check::done(name, "", vec![wrong(&error)])),
    };
    let inputs = inputs.map(|text| temporary(&text)).transpose()?;
    let tolerances = Tolerances::of_a_reference(subject.wanted.tolerance.as_ref());
    let mut remarks: Vec<Remark> =
        reference.strange().map(|remark| remark.in_file(home.display().to_string())).into_iter().collect();
    let mut first: Option<Vec<Remark>> = None;
    for event_mode_used in [false, true] {
        let wanted = SimulationOptions {
            file: subject.wanted.file.clone(),
            interface: Some(interface),
            output_variables: reference.variables.iter().map(|variable| variable.name.clone()).collect(),
            output_interval: (interface != Interface::ScheduledExecution).then(|| reference.interval()).flatten(),
            input_file: inputs.as_ref().map(|file| file.path().to_owned()),
            event_mode_used: (interface == Interface::CoSimulation).then_some(event_mode_used),
            ..SimulationOptions::default()
        };
        let lived = match life::live(subject, &wanted, |_| ())? {
            Ok(lived) => lived,
            Err(wrong) => return Ok(Check::done(name, "", wrong)),
        };
        if lived.run.end == End::Signal {
            let end = lived.run.end_time;
            return Ok(Check::not_tried(
                name,
                format!("it takes longer than --timeout allows: {end} s of it were simulated"),
            ));
        }
        let own = match lived.is_whole() {
            true => apart(&reference, &lived, home, &tolerances)?,
            false => Compared { times: 0, remarks: lived.remarks.clone() },
        };
        if own.remarks.is_empty() {
            let columns = lived.prepared.plan.signals.len();
            let end = lived.run.end_time;
            return Ok(Check::done(
                name,
                format!("the same at {} times to {end} s, {columns} columns", own.times),
                remarks,
            ));
        }
        first.get_or_insert(own.remarks);
        let has_event_mode = subject.description.co_simulation().is_some_and(|own| own.has_event_mode);
        if interface != Interface::CoSimulation || !has_event_mode {
            break;
        }
    }
    remarks.extend(first.unwrap_or_default());
    Ok(Check::done(name, "", remarks))
}

/// Result of a comparison.
struct Compared {
    times: u64,
    remarks: Vec<Remark>,
}

fn apart(reference: &Reference, lived: &Lived, home: &Path, tolerances: &Tolerances) -> Result<Compared, Error> {
    let names: Vec<&str> = lived.prepared.plan.signals.iter().map(|signal| signal.name.as_str()).collect();
    let rows = match reference.rows(&names) {
        Ok(rows) => rows,
        Err(error) => {
            let remark = Remark::finding(error.message).in_file(home.display().to_string());
            let remark = remark.at(u32::try_from(error.line).unwrap_or(0), error.column);
            return Ok(Compared { times: 0, remarks: vec![remark] });
        }
    };
    let (deviations, times) = compared(&lived.rows, &rows, "the reference", tolerances, None)?;
    let mut remarks: Vec<Remark> =
        deviations.into_iter().map(|what| Remark::finding(what).in_file(home.display().to_string())).collect();
    if times == 0 {
        let what = "has no row at a time at which the simulation has one";
        remarks.push(Remark::finding(what).in_file(home.display().to_string()));
    }
    Ok(Compared { times, remarks })
}

fn temporary(text: &str) -> Result<NamedTempFile, Error> {
    let failed = |error: std::io::Error| Error::System(format!("no temporary file: {error}"));
    let mut file = NamedTempFile::with_suffix(".csv").map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    Ok(file)
}

/// A result that an FMU carries.
struct Reference<'a> {
    path: std::path::PathBuf,
    /// Names of the columns except the time.
    columns: Vec<String>,
    /// Variables with a column.
    variables: Vec<&'a Variable>,
    description: &'a ModelDescription,
    /// The first two times, s.
    times: Vec<f64>,
}

impl<'a> Reference<'a> {
    /// Reads its header and first rows. `Ok(Err)`: the file does not fit this FMU.
    fn open(subject: &'a ExaminedFmu, home: &Path) -> Result<Result<Reference<'a>, Remark>, RecordingError> {
        let path = subject.unpacked.root.join(home);
        let mut recording = recording(&path)?;
        let columns = recording.names().to_vec();
        let (mut times, mut row) = (Vec::new(), Row::default());
        while times.len() < 2 && recording.read(&mut row)? {
            if times.last() != Some(&row.time) {
                times.push(row.time);
            }
        }
        let description = &subject.description;
        let has_values = |v: &&Variable| v.clock.is_none() && v.causality != Causality::Independent;
        let variables: Vec<&Variable> =
            columns.iter().filter_map(|column| variable_of(description, column)).filter(has_values).collect();
        if variables.is_empty() {
            return Ok(Err(Remark::finding(format!("has no column that is named as a variable of {DESCRIPTION}"))));
        }
        if times.is_empty() {
            return Ok(Err(Remark::finding("has no rows")));
        }
        Ok(Ok(Reference { path, columns, variables, description, times }))
    }

    /// Interval between its rows, if the default experiment has no step size.
    fn interval(&self) -> Option<Fraction> {
        let [first, second] = self.times[..] else { return None };
        match self.description.default_experiment.step_size {
            Some(_) => None,
            None => Fraction::from_f64(second - first).ok().filter(|interval| !interval.is_zero()),
        }
    }

    /// Remark about columns that are no variables, if there are any.
    fn strange(&self) -> Option<Remark> {
        let is_strange = |column: &&String| variable_of(self.description, column).is_none() && !column.is_empty();
        let columns: Vec<&str> = self.columns.iter().filter(is_strange).map(String::as_str).collect();
        let names = columns.join(", ");
        (!columns.is_empty()).then(|| Remark::warning(format!("has columns that are no variables: {names}")))
    }

    /// The columns of inputs of a reference recording, as CSV; `None`: there are none.
    fn inputs(&self) -> Result<Option<String>, RecordingError> {
        let is_input = |column: &str| {
            variable_of(self.description, column).is_some_and(|v| {
                let is_fed = !matches!(v.variable_type, VariableType::String | VariableType::Binary);
                v.causality == Causality::Input && is_fed && v.dimensions.is_empty() && v.name == column
            })
        };
        let places: Vec<usize> = (0..self.columns.len()).filter(|place| is_input(&self.columns[*place])).collect();
        if places.is_empty() {
            return Ok(None);
        }
        let names = places.iter().map(|place| self.columns[*place].as_str());
        let mut text = csv::header(std::iter::once("time").chain(names));
        self.each(|row| {
            text += row.cell(0);
            places.iter().for_each(|place| text += &format!(",{}", row.cell(place + 1)));
            text.push('\n');
        })?;
        Ok(Some(text))
    }

    /// The rows of a reference recording in the format of a simulation with these columns: an array has one for each element.
    fn rows(&self, names: &[&str]) -> Result<Vec<u8>, RecordingError> {
        let columns: Vec<Column> =
            self.columns.iter().map(|column| Column::of(self.description, column, names)).collect();
        let header = columns.iter().flat_map(|column| column.names.iter().copied());
        let mut text = csv::header(std::iter::once("time").chain(header));
        self.each(|row| {
            text += row.cell(0);
            for (cell, column) in columns.iter().enumerate() {
                column.write(row.cell(cell + 1), &mut text);
            }
            text.push('\n');
        })?;
        Ok(text.into_bytes())
    }

    fn each(&self, mut visit: impl FnMut(&Row)) -> Result<(), RecordingError> {
        let (mut recording, mut row) = (recording(&self.path)?, Row::default());
        while recording.read(&mut row)? {
            visit(&row);
        }
        Ok(())
    }
}

/// A column of a reference.
struct Column<'n> {
    /// The column's name in a simulation, or the names of its elements; empty: the simulation has no such column.
    names: Vec<&'n str>,
    variable_type: VariableType,
}

impl<'n> Column<'n> {
    fn of(description: &ModelDescription, column: &str, names: &[&'n str]) -> Column<'n> {
        let variable = variable_of(description, column);
        let variable_type = variable.map_or(VariableType::Float64, |variable| variable.variable_type);
        let is_own = |name: &&&'n str| {
            **name == column
                || name.strip_prefix(column).is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']'))
        };
        Column { names: names.iter().filter(is_own).copied().collect(), variable_type }
    }

    /// Writes the values of a cell for each element, each behind a comma.
    fn write(&self, cell: &str, out: &mut String) {
        let elements: Vec<&str> = match self.names.len() {
            1 => vec![cell],
            _ => cell.split_whitespace().collect(),
        };
        for place in 0..self.names.len() {
            out.push(',');
            let Some(value) = elements.get(place) else { continue };
            match self.variable_type {
                VariableType::String => write_string(out, value),
                VariableType::Binary if !value.starts_with("0x") => {
                    out.push_str("0x");
                    out.push_str(&value.to_ascii_lowercase());
                }
                _ => out.push_str(value),
            }
        }
    }
}

/// The variable of a column: by its name, or by the name of an array with that element.
fn variable_of<'a>(description: &'a ModelDescription, column: &str) -> Option<&'a Variable> {
    let of_element = || description.variable(column.rsplit_once('[')?.0);
    description.variable(column).or_else(of_element)
}

fn recording(path: &Path) -> Result<Recording<BufReader<File>>, RecordingError> {
    let file = files::open(path).map_err(|error| RecordingError {
        file: 0,
        line: 0,
        column: 0,
        message: error.to_string(),
    })?;
    Recording::in_dialect(BufReader::new(file), Dialect::FOREIGN)
}

//! Validates an FMU: its archive, its description, its library, a short life of each interface type that it has, and
//! the results that it carries, one after the other.
//!
//! FMU code runs in separate runners, as in every simulation: its failures are findings, and validation continues.
//! Checks that are impossible because of a finding are reported as not tried.

mod binary;
mod life;
mod references;

use crate::{Error, EventSink, Options, SessionEvent};
use std::path::PathBuf;
use std::time::Duration;
use vecud_description::{DescriptionError, ModelDescription};
use vecud_fmu::archive::{Cache, Oddity, Unpacked, extent};
use vecud_linux::files;
use vecud_linux::stop::StopToken;
use vecud_report::compare::NamedTolerance;
use vecud_report::{Check, Remark, Validation};

/// Path of the description in an FMU.
const DESCRIPTION: &str = "modelDescription.xml";

/// Path of the terminals and their variables in an FMU.
const TERMINALS: &str = "terminalsAndIcons/terminalsAndIcons.xml";
/// Limit for the size of that file, bytes.
const LONGEST: u64 = 64 << 20;

/// Settings of a validation.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The `.fmu` file, or the folder of an FMU.
    pub file: PathBuf,
    /// Time limit for a life, and for each call in it.
    pub timeout: Duration,
    /// Tolerance of results against those that the FMU carries; `None`: the tolerance of simulations against their
    /// reference.
    pub tolerance: Option<NamedTolerance>,
    /// Request for the end.
    pub stop: StopToken,
    /// This process adopts orphans: processes that FMU code leaves behind are ended.
    pub adopts: bool,
    /// Libraries to load before the FMU's library.
    pub preload: Vec<PathBuf>,
    /// Errors of the description that leave the rest meaningful are findings, and the FMU is tried all the same.
    pub lenient: bool,
}

/// An FMU whose description was read.
struct Subject<'a> {
    wanted: &'a Examination,
    unpacked: Unpacked,
    cache: Cache,
    description: ModelDescription,
    events: &'a EventSink,
}

impl Subject<'_> {
    /// Options for simulations of the FMU.
    fn options(&self) -> Options {
        let Examination { timeout, stop, adopts, preload, lenient, .. } = self.wanted;
        Options {
            stop: stop.clone(),
            preload: preload.clone(),
            lenient: *lenient,
            at_most: Some(*timeout),
            adopts: *adopts,
            ..Options::default()
        }
    }

    /// Reports long work while it is done.
    fn meanwhile<T>(&self, what: String, work: impl FnOnce() -> T) -> T {
        self.events.tell(SessionEvent::Begun(what));
        let done = work();
        self.events.tell(SessionEvent::Over);
        done
    }
}

/// Validates an FMU.
///
/// # Errors
/// Returned if there is no FMU, or if something unrelated to it prevents the validation.
pub fn validate(wanted: &Examination, events: &EventSink) -> Result<Validation, Error> {
    let cache = Cache::user().map_err(Error::NoCache)?.until(wanted.stop.clone());
    cache.note().into_iter().for_each(|note| events.say(format!("note: {note}")));
    let mut found = Validation { file: wanted.file.display().to_string(), ..Validation::default() };
    let unpacked = match Unpacked::open(&wanted.file, &cache) {
        Ok(unpacked) => unpacked,
        Err(error) if error.is_of_the_fmu() => {
            found.checks.push(Check::done("archive", "", vec![Remark::finding(error.to_string())]));
            let why = "the archive cannot be unpacked";
            found.checks.extend(["description", "binary"].map(|name| Check::not_tried(name, why)));
            return Ok(found);
        }
        Err(error) => return Err(Error::Archive(error)),
    };
    let text = match unpacked.model_description() {
        Ok(text) => text,
        Err(error) if error.is_of_the_fmu() => {
            let remark = Remark::finding(error.to_string()).in_file(DESCRIPTION);
            return Ok(undescribed(found, &unpacked, vec![remark]));
        }
        Err(error) => return Err(Error::Archive(error)),
    };
    let read =
        if wanted.lenient { vecud_description::parse_leniently(&text, None) } else { vecud_description::parse(&text) };
    let description = match read {
        Ok(description) => description,
        Err(_) => {
            let remarks = vecud_description::errors(&text).iter().map(of_description).collect();
            return Ok(undescribed(found, &unpacked, remarks));
        }
    };
    found.fmi_version = Some(description.fmi_version.clone());
    found.model_name = Some(description.model_name.clone());
    let subject = Subject { wanted, unpacked, cache, description, events };
    found.checks.push(archive(&subject)?);
    found.checks.push(of_reading(&subject, &text)?);
    let libraries =
        subject.meanwhile("looking at the library, building it if need be".to_owned(), || binary::look(&subject));
    let libraries = libraries?;
    found.checks.push(libraries.check);
    for (offer, obstacle) in subject.description.interfaces.iter().zip(libraries.obstacles) {
        found.checks.extend(life::of(&subject, offer.interface(), obstacle.as_deref())?);
        if wanted.stop.is_asked() {
            return Err(Error::Interrupted);
        }
    }
    found.checks.extend(references::checks(&subject, &found.checks)?);
    Ok(found)
}

/// Result for an FMU whose description cannot be read.
fn undescribed(mut found: Validation, unpacked: &Unpacked, remarks: Vec<Remark>) -> Validation {
    found.checks = vec![
        Check::done("archive", seen_of(unpacked), Vec::new()),
        Check::done("description", "", remarks),
        Check::not_tried("binary", "the description, which says what it is called, cannot be read"),
    ];
    found
}

/// Number and size of an FMU's files, in words.
fn seen_of(unpacked: &Unpacked) -> String {
    let Ok((files, bytes)) = extent(&unpacked.root) else { return String::new() };
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    match bytes {
        0..1024 => format!("{files}, {bytes} bytes"),
        1024..1_048_576 => format!("{files}, {:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{files}, {:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

fn archive(subject: &Subject) -> Result<Check, Error> {
    let oddities = subject.unpacked.oddities(&subject.description).map_err(Error::Archive)?;
    let remark = |odd: Oddity| {
        let remark = if odd.is_breach { Remark::finding(odd.what) } else { Remark::warning(odd.what) };
        if odd.entry.is_empty() { remark } else { remark.in_file(odd.entry) }
    };
    Ok(Check::done("archive", seen_of(&subject.unpacked), oddities.into_iter().map(remark).collect()))
}

fn of_description(error: &DescriptionError) -> Remark {
    Remark::finding(error.message.clone()).in_file(DESCRIPTION).at(error.line, error.column)
}

/// Result of reading the description, with its offences against the standard: those that the reader tolerates, and
/// those that it does not look for.
fn of_reading(subject: &Subject, text: &str) -> Result<Check, Error> {
    let description = &subject.description;
    let breaches = [description.breaches(), vecud_description::breaches_of_schema(text, description)].concat();
    let mut remarks: Vec<Remark> = description.tolerated.iter().chain(&breaches).map(of_description).collect();
    remarks.sort_by_key(|remark| remark.at);
    remarks.extend(terminals(subject)?);
    // With very many warnings, the last one states the number of further ones.
    let more = description.warnings.get(description.tolerated.len());
    remarks.extend(more.map(|more| Remark::finding(more.clone())));
    let interfaces: Vec<&str> = description.interfaces.iter().map(|offer| offer.interface().name()).collect();
    let variables = match description.variables.len() {
        1 => "1 variable".to_owned(),
        number => format!("{number} variables"),
    };
    let seen = format!("FMI {}, {}, {variables}", description.fmi_version, interfaces.join(" and "));
    Ok(Check::done("description", seen, remarks))
}

/// Findings about names in terminals that do not exist in the description.
fn terminals(subject: &Subject) -> Result<Vec<Remark>, Error> {
    let path = subject.unpacked.root.join(TERMINALS);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let finding = |words: String| vec![Remark::finding(words).in_file(TERMINALS)];
    let text = match files::read_at_most(&path, LONGEST).map_err(Error::file(&path))?.map(String::from_utf8) {
        Some(Ok(text)) => text,
        Some(Err(_)) => return Ok(finding("is not UTF-8".to_owned())),
        None => return Ok(finding(format!("is longer than {LONGEST} bytes: its terminals are not looked at"))),
    };
    let unknown = vecud_description::unknown_in_terminals(&text, &subject.description).into_iter();
    Ok(unknown.map(|error| Remark::finding(error.message).in_file(TERMINALS).at(error.line, error.column)).collect())
}

//! The check of the description, and of the terminals that name its variables.

use super::subject::{DESCRIPTION, ExaminedFmu};
use crate::Error;
use vecud_description::DescriptionError;
use vecud_linux::files;
use vecud_report::{Check, Remark};

/// Path of the terminals and their variables in an FMU.
const TERMINALS: &str = "terminalsAndIcons/terminalsAndIcons.xml";
/// Limit for the size of that file, bytes.
const LONGEST: u64 = 64 << 20;

pub(super) fn of_description(error: &DescriptionError) -> Remark {
    Remark::finding(error.message.clone()).in_file(DESCRIPTION).at(error.line, error.column)
}

/// Result of reading the description, with its offences against the standard: those that the reader tolerates, and
/// those that it does not look for.
pub(super) fn of_reading(subject: &ExaminedFmu, text: &str) -> Result<Check, Error> {
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
fn terminals(subject: &ExaminedFmu) -> Result<Vec<Remark>, Error> {
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

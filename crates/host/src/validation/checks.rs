//! All checks, in their order.

use super::archive::{archive, seen_of};
use super::description::{of_description, of_reading};
use super::subject::{DESCRIPTION, Examination, ExaminedFmu};
use super::{binary, life, references};
use crate::{Error, EventSink};
use vecud_fmu::archive::{Cache, Unpacked};
use vecud_report::{Check, Remark, Validation};

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
    let subject = ExaminedFmu { wanted, unpacked, cache, description, events };
    found.checks.push(archive(&subject)?);
    found.checks.push(of_reading(&subject, &text)?);
    let libraries =
        subject.meanwhile("looking at the library, building it if need be".to_owned(), || binary::look(&subject));
    let libraries = libraries?;
    found.checks.push(libraries.check);
    for (offer, obstacle) in subject.description.interfaces.iter().zip(libraries.obstacles) {
        found.checks.extend(life::of(&subject, offer.interface(), obstacle.as_deref())?);
        Error::if_asked(&wanted.stop)?;
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

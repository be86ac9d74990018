//! Reads a document by the reader of its version, with its warnings, or with all of its errors.

use super::sections::ROOT;
use super::{fmi1, fmi2, fmi3};
use crate::model::{Abi, DescriptionError, ModelDescription};
use crate::xml::{self, Attribute, Strictness, XmlDocument};
use vecud_base::places::LineIndex;

/// Reads a description, of FMI 3.0 as the given dialect where one is given.
pub(crate) fn read(
    text: &str,
    dialect: Option<Abi>,
    strictness: Strictness,
) -> Result<ModelDescription, DescriptionError> {
    let places = LineIndex::new(text);
    let document = xml::document(&places)?;
    let source = xml::XmlDocument::new(places, &document, strictness);
    let mut description = read_from(&source, dialect)?;
    let (tolerated, more) = source.into_warnings();
    description.warnings = tolerated.iter().map(ToString::to_string).collect();
    if more > 0 {
        description.warnings.push(format!("modelDescription.xml: {more} more warnings"));
    }
    description.tolerated = tolerated;
    Ok(description)
}

/// All errors of a description, in the order of the text, as far as one does not hide others.
pub(crate) fn errors(text: &str) -> Vec<DescriptionError> {
    let places = LineIndex::new(text);
    let document = match xml::document(&places) {
        Ok(document) => document,
        Err(error) => return vec![error],
    };
    let source = xml::XmlDocument::new(places, &document, Strictness::EveryError);
    let last = read_from(&source, None).err();
    let mut all = source.into_errors();
    all.extend(last);
    all.sort_by_key(|error| (error.line, error.column));
    all.dedup();
    all
}

/// The description without its warnings, which the document keeps.
fn read_from(source: &XmlDocument<'_>, dialect: Option<Abi>) -> Result<ModelDescription, DescriptionError> {
    let root = source.root(&fmi3::RELEASED);
    let version = root.attribute("fmiVersion").filter(|_| root.name() == ROOT);
    match version.and_then(|version| earlier(version.value)) {
        Some((abi, version)) => {
            if let (Some(dialect), Some(attribute)) = (dialect, root.attribute("fmiVersion")) {
                return Err(no_dialect(attribute, dialect));
            }
            match abi {
                Abi::Fmi1 => fmi1::read(root.in_words_of(&fmi1::VOCABULARY), version),
                Abi::Fmi2 => fmi2::read(root.in_words_of(&fmi2::VOCABULARY), version),
                Abi::Fmi3 | Abi::Draft => unreachable!("an earlier version is 1 or 2"),
            }
        }
        None => fmi3::read(root, dialect),
    }
}

/// The version before FMI 3.0 of an `fmiVersion`: 1.0 or 2.0, or a patch release of it.
fn earlier(version: &str) -> Option<(Abi, &str)> {
    let version = version.trim_ascii();
    let numbers: Vec<&str> = version.split('.').collect();
    let is_number = |patch: &str| !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit());
    match numbers[..] {
        ["1", "0"] => Some((Abi::Fmi1, version)),
        ["2", "0"] => Some((Abi::Fmi2, version)),
        ["1", "0", patch] if is_number(patch) => Some((Abi::Fmi1, version)),
        ["2", "0", patch] if is_number(patch) => Some((Abi::Fmi2, version)),
        _ => None,
    }
}

/// A dialect of FMI 3.0 was asked for, and the description is of another version.
fn no_dialect(version: Attribute<'_>, dialect: Abi) -> DescriptionError {
    version.error(format!("is not FMI 3.0, so that it cannot be read as {}", dialect.name()))
}

//! One reader for each text of the standard; the root element says which.

mod draft;
mod fmi3;

use super::model::{Abi, DescriptionError, ModelDescription};
use super::xml;
use crate::places::Places;

/// Reads a description, of FMI 3.0 as the given dialect where one is given.
pub(super) fn read(text: &str, dialect: Option<Abi>) -> Result<ModelDescription, DescriptionError> {
    let places = Places::new(text);
    let document = xml::document(&places)?;
    let source = xml::Source::new(places, &document);
    let mut description = fmi3::read(source.root(&fmi3::RELEASED), dialect)?;
    description.warnings = source.into_warnings();
    Ok(description)
}

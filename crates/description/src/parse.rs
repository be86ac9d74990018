//! Reads a description, strictly or leniently; or all of its errors.

use super::model::*;
use super::read;
use super::xml::Strictness;

/// Reads a `modelDescription.xml` of FMI 1.0, 2.0 or 3.0, the latter of the released dialect (3.0, 3.0.1, 3.0.2) or of the
/// draft, whichever its own words say.
///
/// Never panics, whatever the text; its time grows linearly with the text's length.
pub fn parse(xml: &str) -> Result<ModelDescription, DescriptionError> {
    parse_as(xml, None)
}

/// Reads a description, one of FMI 3.0 as the given dialect where one is given: what belongs to the other one is then
/// ignored with a warning.
pub fn parse_as(xml: &str, dialect: Option<Abi>) -> Result<ModelDescription, DescriptionError> {
    read::read(xml, dialect, Strictness::Strict)
}

/// As [`parse_as`], but errors that leave a meaning to the rest are warnings: names and types that are defined twice or not at all,
/// optional attributes with no value of their type, start values that are missing or not allowed.
pub fn parse_leniently(xml: &str, dialect: Option<Abi>) -> Result<ModelDescription, DescriptionError> {
    read::read(xml, dialect, Strictness::Lenient)
}

/// All errors for which [`parse`] refuses a description; [`parse`] itself tells the first one. Parts that depend on unreadable types or
/// variables are not examined.
pub fn errors(xml: &str) -> Vec<DescriptionError> {
    read::errors(xml)
}

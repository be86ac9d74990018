//! `modelDescription.xml` as data: [`parse`] turns the text into a [`ModelDescription`].
//!
//! All versions end in the same data: FMI 1.0, 2.0, 3.0 and the draft of FMI 3.0, each read by its own reader in `read`,
//! whose documentation says what of its words is what here.
//!
//! Pure: no files, no threads, no clock. What is returned is complete and checked against the rules of the standard
//! (FMI 3.0, 2.4); what is wrong carries line and column. Rules that real FMUs break without harm are
//! [`ModelDescription::warnings`] instead of errors.
//!
//! Values of all types travel as words ([`word`]) or, of strings and binaries, as bytes in words ([`bytes`]).

#![forbid(unsafe_code)]

mod breaches;
pub mod bytes;
pub mod guard;
mod lexical;
mod model;
mod read;
mod rules;
mod schema;
mod states;
mod units;
mod values;
pub mod word;
mod xml;

pub use model::*;
pub use rules::{is_word_of_c, names_file};
pub use schema::{breaches_of_schema, unknown_in_terminals};
pub use states::{ContinuousState, ContinuousStates};
use xml::Strictness;

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

/// As [`parse_as`], but errors that leave a meaning to the rest are warnings: names and types that are defined twice or not at all, attributes
/// with no value of their type that need not be there, start values that are missing or must not be there.
pub fn parse_leniently(xml: &str, dialect: Option<Abi>) -> Result<ModelDescription, DescriptionError> {
    read::read(xml, dialect, Strictness::Lenient)
}

/// All errors for which [`parse`] refuses a description, of which it tells the first one. What depends on types or variables that cannot be
/// read themselves is not looked at.
pub fn errors(xml: &str) -> Vec<DescriptionError> {
    read::errors(xml)
}

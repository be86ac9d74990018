//! `modelDescription.xml` as data: [`parse`] turns the text into a [`ModelDescription`].
//!
//! Pure: no files, no threads, no clock. What is returned is complete and checked against the rules of the standard
//! (FMI 3.0, 2.4); what is wrong carries line and column. Rules that real FMUs break without harm are
//! [`ModelDescription::warnings`] instead of errors.

#![forbid(unsafe_code)]

mod clocks;
mod guard;
mod index;
mod interface;
mod model;
mod references;
mod root;
mod rules;
mod structure;
mod types;
mod units;
mod values;
mod variables;
mod xml;

pub use index::Index;
pub use model::*;

use crate::places::Places;

/// Reads a `modelDescription.xml` of the released dialect (FMI 3.0, 3.0.1, 3.0.2).
///
/// Never panics, whatever the text; its time grows linearly with the text's length.
pub fn parse(xml: &str) -> Result<ModelDescription, DescriptionError> {
    let places = Places::new(xml);
    let document = xml::document(&places)?;
    let source = xml::Source::new(places, &document);
    let mut description = root::read(source.root())?;
    description.warnings = source.into_warnings();
    Ok(description)
}

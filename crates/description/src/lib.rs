//! `modelDescription.xml` as data: [`parse`] turns the text into a [`ModelDescription`].
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! All versions end in the same data: FMI 1.0, 2.0, 3.0 and the draft of FMI 3.0, each read by its own reader in `read`,
//! whose documentation maps its words to this data.
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
mod parse;
mod read;
mod rules;
mod schema;
mod states;
mod units;
mod values;
pub mod word;
mod xml;

pub use model::*;
pub use parse::{errors, parse, parse_as, parse_leniently};
pub use rules::{is_word_of_c, names_file};
pub use schema::{breaches_of_schema, unknown_in_terminals};
pub use states::{ContinuousState, ContinuousStates};

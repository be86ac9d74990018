//! `modelDescription.xml` as data: [`parse`] turns the text into a [`ModelDescription`].
//!
//! Pure: no files, no threads, no clock. What is returned is complete and checked against the rules of the standard
//! (FMI 3.0, 2.4); what is wrong carries line and column.

#![forbid(unsafe_code)]

mod model;

pub use model::*;

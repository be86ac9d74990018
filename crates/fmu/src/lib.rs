//! FMUs as files: archives and the cache they are unpacked to ([`archive`], [`cache`]), source builds ([`build`]), what a library
//! exports and needs before any of its code runs ([`binary`], [`linking`], [`python`]).
//!
//! The glossary of vecud's words is on the page of the crate `vecud` (`src/lib.rs`, "Words").
//!
//! Guarantees: nothing is written outside of the cache, no FMU code runs, and a compiler reads no more than the FMU's
//! files and the system's.

#![forbid(unsafe_code)]

pub mod archive;
pub mod binary;
pub mod build;
pub mod cache;
pub mod linking;
pub mod platform;
pub mod python;
pub mod related;

//! FMU archives: unpacking, model descriptions, source builds.

#![forbid(unsafe_code)]

pub mod archive;
pub mod binary;
pub mod build;
pub mod cache;
pub mod description;
mod guard;
pub mod linking;
pub mod platform;
pub mod python;
pub mod related;

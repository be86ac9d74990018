//! FMU archives: unpacking, model descriptions, source builds.

pub mod archive;
pub mod build;
pub mod cache;
pub mod description;
pub mod platform;

//! FMU archives: unpacking, model descriptions, source builds.

pub mod archive;
pub mod build;
pub mod description;

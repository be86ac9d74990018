//! FMUs as files: unpacking, the cache, libraries, source builds.

mod bad_input;
mod bench;
mod builds;
mod dialects;
mod earlier;
pub mod raw_zip;
mod trust;
mod unpacking;

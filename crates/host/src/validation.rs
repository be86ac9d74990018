//! Validates an FMU: its archive, its description, its library, a short life of each interface type that it has, and
//! the results that it carries, one after the other.
//!
//! FMU code runs in separate runners, as in every simulation: its failures are findings, and validation continues.
//! Checks that are impossible because of a finding are reported as not tried.

mod archive;
mod binary;
mod checks;
mod description;
mod life;
mod references;
mod subject;

pub use checks::validate;
pub use subject::Examination;

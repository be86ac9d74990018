//! Recording → report: pure functions from a finished [`Run`] to the files that people and tools read.

#![forbid(unsafe_code)]

mod run;

pub use run::*;

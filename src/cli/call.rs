//! `vecud call`: single calls of an FMU's functions, typed by a user or read from a script. Reads lines and shows their
//! results.

mod command;
mod input;
mod shown;

pub use command::{Arguments, run};

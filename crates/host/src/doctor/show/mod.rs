//! Findings for people ([`text`]), for programs ([`json`]), and as a script that changes the machine ([`script`]).
//!
//! Pure: no screen, no files.

#![forbid(unsafe_code)]

mod counts;
mod json;
mod script;
mod text;

pub use json::json;
pub use script::script;
pub use text::{TextStyle, text};

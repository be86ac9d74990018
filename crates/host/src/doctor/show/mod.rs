//! Findings for people ([`text`]), for programs ([`json`]), and as a script that changes the machine ([`script`]).
//!
//! Pure: no screen, no files.

#![forbid(unsafe_code)]

mod json;
mod script;
mod text;

pub use json::json;
pub use script::script;
pub use text::{TextStyle, text};

use super::{Finding, Level};

/// How many findings there are of a level.
fn number(findings: &[Finding], level: Level) -> u64 {
    findings.iter().filter(|finding| finding.level == level).count() as u64
}

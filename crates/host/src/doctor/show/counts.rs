//! How many findings there are.

use crate::doctor::{Finding, Level};

/// How many findings there are of a level.
pub(super) fn number(findings: &[Finding], level: Level) -> u64 {
    findings.iter().filter(|finding| finding.level == level).count() as u64
}

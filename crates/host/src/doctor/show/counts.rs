//! Numbers of findings.

use crate::doctor::{Finding, Level};

/// The number of findings of a level.
pub(super) fn number(findings: &[Finding], level: Level) -> u64 {
    findings.iter().filter(|finding| finding.level == level).count() as u64
}

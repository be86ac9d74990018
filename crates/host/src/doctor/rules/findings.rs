//! The findings of all rules, problems first.

use super::{cores, grants, interrupts, kernel, probe, settings, threads, time};
use crate::doctor::{Case, Finding};

/// All findings, problems first; among equals in the order of the [module](super).
pub fn findings(case: &Case) -> Vec<Finding> {
    const RULES: [fn(&Case) -> Vec<Finding>; 8] = [
        probe::findings,
        kernel::findings,
        grants::findings,
        time::findings,
        cores::findings,
        interrupts::findings,
        threads::findings,
        settings::findings,
    ];
    by(&RULES, case)
}

/// The findings from the machine's files alone, in the same order, without trials and measurements.
pub fn of_facts(case: &Case) -> Vec<Finding> {
    const RULES: [fn(&Case) -> Vec<Finding>; 6] = [
        kernel::findings,
        time::findings,
        cores::findings,
        interrupts::findings,
        threads::findings,
        settings::findings,
    ];
    by(&RULES, case)
}

/// Findings of these rules, problems first.
fn by(rules: &[fn(&Case) -> Vec<Finding>], case: &Case) -> Vec<Finding> {
    let mut findings: Vec<Finding> = rules.iter().flat_map(|rule| rule(case)).collect();
    findings.sort_by_key(|finding| finding.level);
    findings
}

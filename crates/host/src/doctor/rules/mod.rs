//! Derives findings from the case. Pure: the same case gives the same findings, in this order.
//!
//! | module | looks at |
//! |---|---|
//! | `kernel` | PREEMPT_RT, the command line, virtual machine, clock source |
//! | `grants` | FIFO priorities, locked memory, sleep states, cores and timer slack, as tried |
//! | `time` | what takes time away from real-time threads: throttling, fair server, control groups |
//! | `cores` | isolation, SMT, governor, idle states |
//! | `interrupts` | devices' interrupts and those between cores |
//! | `threads` | who else runs in the rig's band |
//! | `settings` | switches of `/proc/sys`, huge pages, swap |
//! | `probe` | how late the probe woke |

#![forbid(unsafe_code)]

mod cores;
mod grants;
mod interrupts;
mod kernel;
mod probe;
pub mod settings;
mod threads;
mod time;

pub(super) use probe::verdict;

use super::{Case, Finding};
use vecud_report::format;

/// All findings, problems first; among equals in the order of the [module](self).
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

/// Cores in the notation of the kernel: `2-3,5`.
fn list(cpus: &[usize]) -> String {
    format::cores(cpus).replace(", ", ",")
}

/// Cores for people: `core 2`, `cores 2-3, 5`.
pub(super) fn named(cpus: &[usize]) -> String {
    format!("core{} {}", if cpus.len() == 1 { "" } else { "s" }, format::cores(cpus))
}

/// The first few of a list, and how many more there are.
fn few(items: &[String], most: usize) -> String {
    let shown = items[..items.len().min(most)].join(", ");
    match items.len() {
        count if count > most => format!("{shown} and {} more", count - most),
        _ => shown,
    }
}

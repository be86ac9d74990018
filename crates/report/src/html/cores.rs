//! Kernel counts for the cores of partitions during the run.

use super::table::{Cell, Table, cells};
use crate::format::count;
use crate::{CoreCounts, Served};

/// Number of interrupts and softirqs that are named; the others are counted together.
const NAMED: usize = 8;

/// A table; nothing where nothing was counted.
pub fn table(cores: &[CoreCounts]) -> String {
    if cores.is_empty() {
        return String::new();
    }
    let known = |value: Option<u64>, unit: &str| {
        value.map_or("not known".to_owned(), |value| format!("{}{unit}", count(value)))
    };
    let rows = cores.iter().map(|core| {
        let [smis, throttled] = [core.smis, core.throttled].map(|value| Cell::from(known(value, "")));
        let [interrupts, softirqs] = [&core.interrupts, &core.softirqs].map(|all| Cell::from(served(all)));
        cells![core.cpu, known(core.steal_ms, " ms"), smis, throttled, interrupts, softirqs]
    });
    // Long text comes last: in a narrow window the rest is visible without scrolling.
    format!(
        "<h3>What the kernel counted for these cores</h3>\n<p>From the start of the run to its end. LOC is the timer that wakes \
         threads, RES, CAL and TLB come from other cores; steal is time that a hypervisor had, SMI an interrupt of firmware.</p>\n{}",
        Table::new("Core|Steal|SMI|Throttled|~Interrupts|~Softirqs").rows(rows)
    )
}

fn served(all: &[Served]) -> String {
    let mut named: Vec<String> =
        all.iter().take(NAMED).map(|served| format!("{} {}", served.name, count(served.count))).collect();
    if let Some(others @ [_, ..]) = all.get(NAMED..) {
        named.push(format!("{} others {}", others.len(), count(others.iter().map(|served| served.count).sum())));
    }
    if named.is_empty() { "none".to_owned() } else { named.join(", ") }
}

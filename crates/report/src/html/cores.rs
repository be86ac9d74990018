//! Kernel counts for the cores of partitions during the run.

use super::escape;
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
    let rows: String = cores
        .iter()
        .map(|core| {
            format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"served\">{}</td>\
                 <td class=\"served\">{}</td></tr>\n",
                core.cpu,
                known(core.steal_ms, " ms"),
                known(core.smis, ""),
                known(core.throttled, ""),
                served(&core.interrupts),
                served(&core.softirqs)
            )
        })
        .collect();
    // Long text comes last: in a narrow window the rest is visible without scrolling.
    format!(
        "<h3>What the kernel counted for these cores</h3>\n<p>From the start of the run to its end. LOC is the timer that wakes \
         threads, RES, CAL and TLB come from other cores; steal is time that a hypervisor had, SMI an interrupt of firmware.</p>\n\
         <div class=\"scroll\"><table>\n<thead><tr><th>Core</th><th>Steal</th><th>SMI</th><th>Throttled</th>\
         <th>Interrupts</th><th>Softirqs</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn served(all: &[Served]) -> String {
    let mut named: Vec<String> =
        all.iter().take(NAMED).map(|served| format!("{} {}", escape(&served.name), count(served.count))).collect();
    if let Some(others @ [_, ..]) = all.get(NAMED..) {
        named.push(format!("{} others {}", others.len(), count(others.iter().map(|served| served.count).sum())));
    }
    if named.is_empty() { "none".to_owned() } else { named.join(", ") }
}

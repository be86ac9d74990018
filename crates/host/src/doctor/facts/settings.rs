//! Switches of the kernel: `/proc/sys`, huge pages, the clock, the fair server, swap.

use super::kernel::chosen;
use crate::doctor::{Reading, Tree};
use std::collections::BTreeMap;

/// Settings of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The settings of `/proc/sys` that exist, by their path in it (`vm/swappiness`).
    pub values: BTreeMap<&'static str, String>,
    /// The setting of transparent huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
    /// Clock source in use.
    pub clock_source: Option<String>,
    /// Clock sources available.
    pub clock_sources: Vec<String>,
    /// Fair servers of the cores in use.
    pub fair_server: FairServer,
    /// Swap files and devices in use.
    pub swaps: Vec<String>,
    /// Number of NUMA nodes.
    pub nodes: usize,
}

/// Time that ordinary threads get from real-time threads that leave none (kernels from 6.12).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FairServer {
    /// Unknown: debugfs is not mounted.
    #[default]
    NoDebugFs,
    /// Access denied, to this user or, in a locked-down kernel, to all.
    Refused,
    /// This kernel has no fair server.
    None,
    /// Runtime and period of each core's server, ns. A core whose runtime is no number is left out.
    Of(BTreeMap<usize, (u64, u64)>),
}

/// The settings of `/proc/sys` to read.
const VALUES: [&str; 10] = [
    "kernel/sched_rt_runtime_us",
    "kernel/sched_rt_period_us",
    "kernel/timer_migration",
    "kernel/numa_balancing",
    "kernel/nmi_watchdog",
    "vm/compact_unevictable_allowed",
    "vm/compaction_proactiveness",
    "vm/stat_interval",
    "vm/swappiness",
    "kernel/sched_autogroup_enabled",
];

impl Settings {
    /// Reads all settings, and the fair servers of these cores.
    pub fn read(tree: &Tree, cpus: &[usize]) -> Settings {
        const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0";
        let value = |key: &'static str| Some((key, tree.text(&format!("/proc/sys/{key}"))?));
        let clock = |name| tree.text(&format!("{CLOCK}/{name}")).filter(|text| !text.is_empty());
        let swaps = tree.text("/proc/swaps").unwrap_or_default();
        let huge_pages = tree.text("/sys/kernel/mm/transparent_hugepage/enabled");
        Settings {
            values: VALUES.into_iter().filter_map(value).collect(),
            huge_pages: huge_pages.and_then(|modes| chosen(&modes, ('[', ']'))),
            clock_source: clock("current_clocksource"),
            clock_sources: clock("available_clocksource")
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            fair_server: fair_server(tree, cpus),
            swaps: swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect(),
            nodes: tree.numbered("/sys/devices/system/node", "node").len(),
        }
    }

    /// Value of a setting of `/proc/sys` as a number.
    pub fn number(&self, key: &str) -> Option<i64> {
        self.values.get(key)?.parse().ok()
    }
}

fn fair_server(tree: &Tree, cpus: &[usize]) -> FairServer {
    const FOLDER: &str = "/sys/kernel/debug/sched/fair_server";
    match tree.names(FOLDER) {
        Reading::Refused => return FairServer::Refused,
        Reading::Missing => {
            return match tree.names("/sys/kernel/debug") {
                Reading::Refused => FairServer::Refused,
                Reading::Is(names) if names.iter().any(|name| name == "sched") => FairServer::None,
                _ => FairServer::NoDebugFs,
            };
        }
        Reading::Is(_) => (),
    }
    let mut cores = BTreeMap::new();
    for cpu in cpus {
        let number = |name| tree.read(&format!("{FOLDER}/cpu{cpu}/{name}"));
        match number("runtime") {
            // A locked-down kernel shows the folder as empty.
            Reading::Refused => return FairServer::Refused,
            runtime => {
                let runtime = runtime.get().and_then(|text| text.parse::<u64>().ok());
                let period = number("period").get().and_then(|text| text.parse().ok()).unwrap_or(1_000_000_000);
                cores.extend(runtime.map(|runtime| (*cpu, (runtime, period))));
            }
        }
    }
    FairServer::Of(cores)
}

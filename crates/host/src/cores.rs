//! Kernel counters for the cores of partitions, from the start of a run to its end: interrupts and softirqs, time taken
//! by a hypervisor, interrupts of firmware, throttling.
//!
//! The counters are read from the kernel's files at the start, at the end, and for each checkpoint, on the supervisor's
//! cores: never on the path of an activation. A counter that this user may not read is left out silently.

use crate::doctor::Tree;
use crate::doctor::facts::Interrupts;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use vecud_plan::{Mode, Plan};
use vecud_record::board::Phase;
use vecud_report::{CoreCounts, Served};

/// Register of Intel processors that counts system management interrupts, in its lower half.
const MSR_SMI_COUNT: u64 = 0x34;
/// The length of a tick in `/proc/stat`, ms (USER_HZ is 100 on every machine that vecud runs on).
const TICK_MS: u64 = 10;

/// Counters of one core since the machine was started.
#[derive(Clone, Debug, Default, PartialEq)]
struct Total {
    interrupts: BTreeMap<String, u64>,
    softirqs: BTreeMap<String, u64>,
    steal_ms: Option<u64>,
    smis: Option<u64>,
    throttled: Option<u64>,
}

type Totals = BTreeMap<usize, Total>;

/// The cores of one run in real time.
#[derive(Clone, Debug, Default)]
pub struct CoreUsage {
    /// Empty in virtual time, where the machine does not matter.
    cpus: Vec<usize>,
    start: Option<Totals>,
    end: Option<Totals>,
}

impl CoreUsage {
    /// Prepares the counters for a run that has not begun.
    pub fn new(plan: &Plan) -> CoreUsage {
        let cpus = if plan.mode == Mode::RealTime { plan.cores() } else { Vec::new() };
        CoreUsage { cpus, ..CoreUsage::default() }
    }

    /// Reads the counters when the run begins, and when it is over; does nothing in between.
    pub fn look(&mut self, phase: Phase) {
        let wanted = match phase {
            Phase::Running if self.start.is_none() => &mut self.start,
            Phase::Stopping | Phase::Between | Phase::Done if self.start.is_some() && self.end.is_none() => {
                &mut self.end
            }
            _ => return,
        };
        if !self.cpus.is_empty() {
            *wanted = Some(totals(&Tree::of_this_machine(), &self.cpus));
        }
    }

    /// Differences since the start: up to the end, or to now. Empty for a run that never began.
    pub fn counts(&self) -> Vec<CoreCounts> {
        let Some(start) = &self.start else { return Vec::new() };
        let now = if self.end.is_none() { totals(&Tree::of_this_machine(), &self.cpus) } else { Totals::new() };
        between(start, self.end.as_ref().unwrap_or(&now))
    }
}

/// Differences between two readings.
fn between(start: &Totals, end: &Totals) -> Vec<CoreCounts> {
    let counts = |(cpu, end): (&usize, &Total)| {
        let start = start.get(cpu)?;
        let since = |end: Option<u64>, start: Option<u64>| Some(end?.saturating_sub(start?));
        Some(CoreCounts {
            cpu: *cpu,
            interrupts: served(&start.interrupts, &end.interrupts),
            softirqs: served(&start.softirqs, &end.softirqs),
            steal_ms: since(end.steal_ms, start.steal_ms),
            // The counter has 32 bits.
            smis: end.smis.zip(start.smis).map(|(end, start)| u64::from((end as u32).wrapping_sub(start as u32))),
            throttled: since(end.throttled, start.throttled),
        })
    };
    end.iter().filter_map(counts).collect()
}

/// Increments of each source, the most frequent first. A source that is missing in `start` counts from 0.
fn served(start: &BTreeMap<String, u64>, end: &BTreeMap<String, u64>) -> Vec<Served> {
    let since = |(name, end): (&String, &u64)| Served {
        name: name.clone(),
        count: end.saturating_sub(start.get(name).copied().unwrap_or(0)),
    };
    let mut all: Vec<Served> = end.iter().map(since).filter(|served| served.count > 0).collect();
    all.sort_by_key(|served| std::cmp::Reverse(served.count));
    all
}

fn totals(tree: &Tree, cpus: &[usize]) -> Totals {
    let text = |path: &str| tree.text(path).unwrap_or_default();
    let interrupts = Interrupts::counts(&text("/proc/interrupts"));
    let softirqs = Interrupts::counts(&text("/proc/softirqs")).internal;
    let steal = steal(&text("/proc/stat"));
    let total = |cpu: usize| {
        let of = |counts: &BTreeMap<usize, u64>| counts.get(&cpu).copied().filter(|count| *count > 0);
        let mut all: BTreeMap<String, u64> = BTreeMap::new();
        for device in &interrupts.devices {
            if let Some(count) = of(&device.counts) {
                *all.entry(device.name.clone()).or_default() += count;
            }
        }
        all.extend(interrupts.internal.iter().filter_map(|(name, counts)| Some((name.clone(), of(counts)?))));
        Total {
            interrupts: all,
            softirqs: softirqs.iter().filter_map(|(name, counts)| Some((name.clone(), of(counts)?))).collect(),
            steal_ms: steal.get(&cpu).copied(),
            smis: smis(tree, cpu),
            throttled: throttled(tree, cpu),
        }
    };
    cpus.iter().map(|cpu| (*cpu, total(*cpu))).collect()
}

/// Steal time of each core, ms, from the text of `/proc/stat`: the eighth figure of its line.
fn steal(stat: &str) -> BTreeMap<usize, u64> {
    let of_line = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
        let ticks: u64 = words.nth(7)?.parse().ok()?;
        Some((cpu, ticks.saturating_mul(TICK_MS)))
    };
    stat.lines().filter_map(of_line).collect()
}

/// Count of system management interrupts: needs root and the module `msr`, on processors that have the register.
fn smis(tree: &Tree, cpu: usize) -> Option<u64> {
    let mut value = [0; 8];
    let register = File::open(tree.path(&format!("/dev/cpu/{cpu}/msr"))).ok()?;
    register.read_exact_at(&mut value, MSR_SMI_COUNT).ok()?;
    Some(u64::from_le_bytes(value) & u64::from(u32::MAX))
}

/// Throttling events of the core and of its whole processor.
fn throttled(tree: &Tree, cpu: usize) -> Option<u64> {
    let count = |whose: &str| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{whose}_throttle_count");
        tree.number(&path).and_then(|count| u64::try_from(count).ok())
    };
    match (count("core"), count("package")) {
        (None, None) => None,
        (core, package) => Some(core.unwrap_or(0).saturating_add(package.unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn named(served: &[Served]) -> Vec<(&str, u64)> {
        served.iter().map(|served| (served.name.as_str(), served.count)).collect()
    }

    /// A machine with cores 0 and 2 (1 is offline), `n` times as long after its start.
    fn machine(root: &Path, n: u64) {
        let interrupts = format!(
            "            CPU0       CPU2       \n 24:          1          {n}  IO-APIC   5-edge      ACPI:Ged\n \
             130:   0   {eth} IR-PCI-MSIX-0000:00:1f.6    0-edge      eth0\n 131:   0   {eth} IR-PCI-MSIX-0000:00:1f.6    \
             1-edge      eth0\nNMI:          0          0   Non-maskable interrupts\nLOC:      26342      {loc}   Local \
             timer interrupts\nERR:          7\nMIS:          9\n",
            eth = 10 * n,
            loc = 1000 * n
        );
        write(root, "proc/interrupts", interrupts);
        let softirqs = format!(
            "                    CPU0       CPU2       \n          HI:          0          0\n      NET_RX:        734   {}\n",
            20 * n
        );
        write(root, "proc/softirqs", softirqs);
        write(
            root,
            "proc/stat",
            format!("cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu2 1 2 3 4 5 6 7 {n} 0 0\nintr 1 0\n"),
        );
        let mut registers = vec![0; MSR_SMI_COUNT as usize];
        registers.extend((u64::from(u32::MAX) + n).to_le_bytes());
        write(root, "dev/cpu/2/msr", registers);
        let throttled = "sys/devices/system/cpu/cpu2/thermal_throttle";
        write(root, &format!("{throttled}/core_throttle_count"), format!("{n}\n"));
        write(root, &format!("{throttled}/package_throttle_count"), "5\n");
    }

    /// Counted is what came to a core between two looks; vectors of a device count together, and what is no core's (`ERR`) is
    /// nobody's.
    #[test]
    fn what_came_to_a_core_meanwhile_is_counted_by_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::at(folder.path());
        machine(folder.path(), 1);
        let start = totals(&tree, &[0, 2]);
        machine(folder.path(), 3);
        let counts = between(&start, &totals(&tree, &[0, 2]));
        let [first, second] = &counts[..] else { panic!("{counts:?}") };
        assert_eq!(first, &CoreCounts { cpu: 0, steal_ms: Some(0), ..CoreCounts::default() });
        assert_eq!(named(&second.interrupts), [("LOC", 2000), ("eth0", 40), ("ACPI:Ged", 2)]);
        assert_eq!(named(&second.softirqs), [("NET_RX", 40)]);
        let CoreCounts { cpu, steal_ms, smis, throttled, .. } = *second;
        assert_eq!((cpu, steal_ms, smis, throttled), (2, Some(20), Some(2), Some(2)), "the register has gone round");
    }

    #[test]
    fn a_machine_that_says_nothing_has_no_counts() {
        let folder = tempfile::tempdir().unwrap();
        let nothing = totals(&Tree::at(folder.path()), &[3]);
        assert_eq!(between(&nothing, &nothing), [CoreCounts { cpu: 3, ..CoreCounts::default() }]);
        assert_eq!(between(&nothing, &Totals::new()), []);
    }
}

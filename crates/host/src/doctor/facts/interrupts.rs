//! Interrupts: to which cores devices may send theirs, and how many each core has had.

use crate::doctor::Tree;
use std::collections::{BTreeMap, BTreeSet};
use vecud_linux::affinity;

/// The interrupts of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interrupts {
    /// The interrupts of devices.
    pub devices: Vec<Interrupt>,
    /// Interrupts that cores send to each other or themselves, by their three letters (`CAL`, `TLB`), by core.
    pub internal: BTreeMap<String, BTreeMap<usize, u64>>,
}

/// One interrupt of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// The number of the interrupt.
    pub number: usize,
    /// The device that raises it.
    pub name: String,
    /// The cores that get the interrupt; empty: unknown.
    pub cpus: BTreeSet<usize>,
    /// Number of interrupts, by core.
    pub counts: BTreeMap<usize, u64>,
}

impl Interrupt {
    /// The number of interrupts of a core.
    pub fn count(&self, cpu: usize) -> u64 {
        self.counts.get(&cpu).copied().unwrap_or(0)
    }
}

impl Interrupts {
    /// Reads them.
    pub fn read(tree: &Tree) -> Interrupts {
        let mut interrupts = Interrupts::counts(&tree.text("/proc/interrupts").unwrap_or_default());
        interrupts.devices.iter_mut().for_each(|device| device.cpus = destination(tree, device.number));
        interrupts
    }

    /// The counts in the text of `/proc/interrupts`, or of `/proc/softirqs`; without the cores that devices may send to. A line
    /// that has no figure for each core (`ERR`, `MIS`) is of no core.
    pub fn counts(text: &str) -> Interrupts {
        const OF_NO_CORE: [&str; 2] = ["ERR", "MIS"];
        let mut lines = text.lines();
        // The columns are the cores that are online: CPU0 CPU2.
        let cores: Vec<usize> = lines
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("CPU")?.parse().ok())
            .collect();
        let mut interrupts = Interrupts::default();
        for line in lines {
            let Some((label, rest)) = line.split_once(':') else { continue };
            let label = label.trim();
            let mut words = rest.split_whitespace().peekable();
            let mut counts = BTreeMap::new();
            for core in &cores {
                let Some(count) = words.peek().and_then(|word| word.parse().ok()) else { break };
                counts.insert(*core, count);
                words.next();
            }
            if counts.len() < cores.len() || OF_NO_CORE.contains(&label.to_uppercase().as_str()) {
                continue;
            }
            match label.parse() {
                Ok(number) => {
                    let words: Vec<&str> = words.collect();
                    interrupts.devices.push(Interrupt { number, name: name(&words), cpus: BTreeSet::new(), counts });
                }
                Err(_) => {
                    interrupts.internal.insert(label.to_owned(), counts);
                }
            }
        }
        interrupts
    }

    /// The number of interrupts of a core with these letters.
    pub fn internal(&self, letters: &str, cpu: usize) -> u64 {
        self.internal.get(letters).and_then(|counts| counts.get(&cpu)).copied().unwrap_or(0)
    }
}

/// `IO-APIC 5-edge ACPI:Ged` → `ACPI:Ged`: the words after the line's number and trigger.
fn name(words: &[&str]) -> String {
    let triggers = ["-edge", "-fasteoi", "-level", "-hierarchy"];
    let trigger = words
        .iter()
        .position(|word| triggers.iter().any(|trigger| word.ends_with(trigger)) || ["Edge", "Level"].contains(word));
    let name = trigger.map_or(words, |at| &words[at + 1..]);
    if name.is_empty() { words.join(" ") } else { name.join(" ") }
}

fn destination(tree: &Tree, number: usize) -> BTreeSet<usize> {
    let list = |name| tree.text(&format!("/proc/irq/{number}/{name}")).filter(|text| !text.is_empty());
    let cpus = list("effective_affinity_list").or_else(|| list("smp_affinity_list"));
    affinity::parse_list(&cpus.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_stands_after_the_trigger() {
        assert_eq!(name(&["IO-APIC", "5-edge", "ACPI:Ged"]), "ACPI:Ged");
        assert_eq!(name(&["PCI-MSIX-0000:00:02.0", "1-edge", "virtio1-req.0"]), "virtio1-req.0");
        assert_eq!(name(&["GICv3", "27", "Level", "arch_timer"]), "arch_timer");
        assert_eq!(name(&["nonsense"]), "nonsense");
        assert_eq!(name(&[]), "");
    }
}

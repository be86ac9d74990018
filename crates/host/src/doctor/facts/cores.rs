//! Cores: their number, isolation, power saving and sharing of those in use.

use crate::doctor::Tree;
use std::collections::BTreeSet;
use vecud_linux::affinity;

/// All cores, and those in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreFacts {
    /// Cores that are online.
    pub online: BTreeSet<usize>,
    /// Cores isolated by `isolcpus=`.
    pub isolated_at_boot: BTreeSet<usize>,
    /// Cores isolated by a partition of the control group cpuset.
    pub isolated_by_group: BTreeSet<usize>,
    /// Cores without a timer tick while a single thread occupies them.
    pub tickless: BTreeSet<usize>,
    /// Cores in use.
    pub used: Vec<Core>,
}

impl CoreFacts {
    /// Reads the facts of these cores.
    pub fn read(tree: &Tree, cpus: &[usize]) -> CoreFacts {
        let list = |path| affinity::parse_list(&tree.text(path).unwrap_or_default());
        CoreFacts {
            online: list(affinity::ONLINE),
            isolated_at_boot: list(affinity::ISOLATED_AT_BOOT),
            isolated_by_group: list(affinity::ISOLATED_BY_GROUP),
            tickless: list("/sys/devices/system/cpu/nohz_full"),
            used: cpus.iter().map(|cpu| Core::read(tree, *cpu)).collect(),
        }
    }

    /// Cores isolated in either way.
    pub fn isolated(&self) -> BTreeSet<usize> {
        self.isolated_at_boot.union(&self.isolated_by_group).copied().collect()
    }

    /// Numbers of the cores in use.
    pub fn numbers(&self) -> Vec<usize> {
        self.used.iter().map(|core| core.number).collect()
    }

    /// Cores that are online, not in use and not isolated: the place for everything else.
    pub fn others(&self) -> Vec<usize> {
        let isolated = self.isolated();
        let used = self.numbers();
        self.online.iter().copied().filter(|cpu| !used.contains(cpu) && !isolated.contains(cpu)).collect()
    }
}

/// One core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Core {
    /// The number of the core.
    pub number: usize,
    /// Governor of the core's frequency; `None`: none on this machine.
    pub governor: Option<String>,
    /// Sleep states of the core.
    pub idle: Vec<IdleState>,
    /// The other cores that share units with this one.
    pub siblings: BTreeSet<usize>,
}

/// A sleep state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleState {
    /// The number of the state in sysfs.
    pub number: usize,
    /// `C6`.
    pub name: String,
    /// Time to leave the state, µs.
    pub latency_us: u64,
    /// The state is disabled.
    pub disabled: bool,
}

impl Core {
    /// Reads the facts of one core.
    pub fn read(tree: &Tree, number: usize) -> Core {
        let folder = format!("/sys/devices/system/cpu/cpu{number}");
        let idle = format!("{folder}/cpuidle");
        let state = |number: usize| {
            let of = |name| tree.text(&format!("{idle}/state{number}/{name}"));
            Some(IdleState {
                number,
                name: of("name")?,
                latency_us: of("latency")?.parse().ok()?,
                disabled: of("disable").is_some_and(|disabled| disabled != "0"),
            })
        };
        let siblings = tree.text(&format!("{folder}/topology/thread_siblings_list")).unwrap_or_default();
        let mut siblings = affinity::parse_list(&siblings);
        siblings.remove(&number);
        Core {
            number,
            governor: tree.text(&format!("{folder}/cpufreq/scaling_governor")).filter(|name| !name.is_empty()),
            idle: tree.numbered(&idle, "state").into_iter().filter_map(state).collect(),
            siblings,
        }
    }

    /// The enabled sleep state that takes longest to leave.
    pub fn deepest(&self) -> Option<&IdleState> {
        self.idle.iter().filter(|state| !state.disabled).max_by_key(|state| state.latency_us)
    }
}

//! The kernel and the processor.

use crate::doctor::Tree;

/// The kernel and its command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelFacts {
    /// `6.18.0`.
    pub release: String,
    /// `#1 SMP PREEMPT_RT ...`.
    pub version: String,
    /// The kernel is a PREEMPT_RT one.
    pub preempt_rt: bool,
    /// Present preemption mode, where the kernel can choose (`full`, `voluntary`, `lazy`, `none`).
    pub preemption: Option<String>,
    /// Command line at boot.
    pub command_line: String,
}

impl KernelFacts {
    /// Reads the facts of the kernel.
    pub fn read(tree: &Tree) -> KernelFacts {
        let text = |path| tree.text(path).unwrap_or_default();
        let version = text("/proc/sys/kernel/version");
        KernelFacts {
            release: text("/proc/sys/kernel/osrelease"),
            preempt_rt: tree.text("/sys/kernel/realtime").as_deref() == Some("1") || version.contains("PREEMPT_RT"),
            preemption: tree.text("/sys/kernel/debug/sched/preempt").and_then(|modes| chosen(&modes, ('(', ')'))),
            version,
            command_line: text("/proc/cmdline"),
        }
    }

    /// Whether the release is at least this one; `None` if it cannot be parsed.
    pub fn at_least(&self, major: u32, minor: u32) -> Option<bool> {
        let mut numbers = self.release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        let own = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        Some(own >= (major, minor))
    }

    /// The value of an option, the last one if it is given several times; empty for one without a value.
    pub fn option(&self, name: &str) -> Option<&str> {
        let words = self.command_line.split_whitespace().rev();
        words.filter_map(|word| word.strip_prefix(name)).find_map(|rest| match rest {
            "" => Some(""),
            _ => rest.strip_prefix('='),
        })
    }

    /// The options of the command line that matter for latency, and no others: the rest may contain secrets.
    pub fn real_time_options(&self) -> Vec<&str> {
        const WORDS: [&str; 18] = [
            "isolcpus",
            "nohz",
            "rcu_nocb",
            "irqaffinity",
            "preempt",
            "threadirqs",
            "idle",
            "intel_idle",
            "intel_pstate",
            "amd_pstate",
            "processor.max_cstate",
            "nosmt",
            "mitigations",
            "tsc",
            "clocksource",
            "skew_tick",
            "transparent_hugepage",
            "cpufreq.default_governor",
        ];
        let matters = |option: &&str| {
            let name = option.split('=').next().unwrap_or_default();
            WORDS.iter().any(|word| name.starts_with(word))
        };
        self.command_line.split_whitespace().filter(matters).collect()
    }
}

/// The alternative that stands in brackets: `none voluntary (full)`, `always [madvise] never`.
pub(super) fn chosen(alternatives: &str, brackets: (char, char)) -> Option<String> {
    let inside = alternatives.split_whitespace().find_map(|word| {
        let word = word.strip_prefix(brackets.0)?;
        word.strip_suffix(brackets.1)
    });
    inside.map(str::to_owned)
}

/// The processor, and whether it is virtual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// The name of the processor.
    pub model: Option<String>,
    /// The virtual machine, by the name of its source; `None`: a physical processor.
    pub virtual_machine: Option<String>,
}

impl Processor {
    /// Reads the facts of the processor.
    pub fn read(tree: &Tree) -> Processor {
        let cpu_info = tree.text("/proc/cpuinfo").unwrap_or_default();
        let field = |names: &[&str]| {
            let line = cpu_info.lines().find(|line| names.iter().any(|name| line.starts_with(name)));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
        };
        let flagged = cpu_info
            .lines()
            .any(|line| line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "hypervisor"));
        let product = tree.text("/sys/class/dmi/id/product_name").filter(|name| {
            ["KVM", "QEMU", "VirtualBox", "VMware", "Virtual Machine", "Bochs"].iter().any(|known| name.contains(known))
        });
        let virtual_machine = tree
            .text("/sys/hypervisor/type")
            .filter(|name| !name.is_empty())
            .or(product)
            .or(flagged.then(|| "the processor's flags".to_owned()));
        Processor { model: field(&["model name", "Model", "Hardware"]), virtual_machine }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_options_that_matter_are_shown() {
        let line = "root=/dev/sda1 isolcpus=2,3 quiet nohz_full=2,3 token=secret processor.max_cstate=1";
        let kernel = KernelFacts { command_line: line.into(), ..KernelFacts::default() };
        assert_eq!(kernel.real_time_options(), ["isolcpus=2,3", "nohz_full=2,3", "processor.max_cstate=1"]);
        assert_eq!(kernel.option("isolcpus"), Some("2,3"));
        assert_eq!((kernel.option("quiet"), kernel.option("nohz")), (Some(""), None));
        assert!(KernelFacts { command_line: "quiet".into(), ..KernelFacts::default() }.real_time_options().is_empty());
    }

    #[test]
    fn releases_are_compared_by_number() {
        let at_least =
            |release: &str| KernelFacts { release: release.into(), ..KernelFacts::default() }.at_least(6, 12);
        assert_eq!(["6.12.0", "6.9.1-rt", "7.0", "5.10"].map(at_least), [true, false, true, false].map(Some));
        assert_eq!(["", "x.y", "6", "99999999999.1"].map(at_least), [None; 4]);
    }

    #[test]
    fn the_chosen_alternative_is_found() {
        assert_eq!(chosen("none voluntary (full)", ('(', ')')).as_deref(), Some("full"));
        assert_eq!(chosen("always [madvise] never", ('[', ']')).as_deref(), Some("madvise"));
        assert_eq!(chosen("", ('[', ']')), None);
    }
}

//! Switches of the kernel that cost latency. The table has the settings of `rt-config/sysctl.d`; a test compares the two.

use super::lists::few;
use crate::doctor::finding::{GRUB, Needs, SYSCTL, TUNED};
use crate::doctor::{Case, Finding, Fix};

/// One switch of `/proc/sys`.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// The path of the setting in `/proc/sys`; what follows its last slash names the finding's check.
    pub key: &'static str,
    /// The least acceptable value.
    pub from: i64,
    /// The greatest acceptable value.
    pub to: i64,
    /// The recommended value.
    pub good: i64,
    /// Effect of other values on latency.
    pub why: &'static str,
}

/// All switches.
pub const SWITCHES: [Switch; 6] = [
    Switch {
        key: "vm/compact_unevictable_allowed",
        from: 0,
        to: 0,
        good: 0,
        why: "compaction moves locked pages, too: a partition that touches one meanwhile waits in a page fault, tens of \
              microseconds",
    },
    Switch {
        key: "vm/compaction_proactiveness",
        from: 0,
        to: 0,
        good: 0,
        why: "a kernel thread moves pages in advance, and each move interrupts all cores that have seen the page",
    },
    Switch {
        key: "kernel/numa_balancing",
        from: 0,
        to: 0,
        good: 0,
        why: "pages are unmapped to see who touches them: page faults in threads that must have none, microseconds each",
    },
    Switch {
        key: "vm/stat_interval",
        from: 10,
        to: i64::MAX,
        good: 10,
        why: "a kernel worker folds statistics on each core as often as that (s): some microseconds of the core each time",
    },
    Switch {
        key: "kernel/nmi_watchdog",
        from: 0,
        to: 0,
        good: 0,
        why: "the hard-lockup detector interrupts every core, isolated ones too, with an interrupt that nothing masks",
    },
    Switch {
        key: "kernel/timer_migration",
        from: 0,
        to: 0,
        good: 0,
        why: "timers move to other cores while their own is idle: a sleep may then end by a message from a core that is busy, \
              some microseconds later",
    },
];

pub(super) fn findings(case: &Case) -> Vec<Finding> {
    let mut findings: Vec<Finding> = SWITCHES.iter().filter_map(|switch| of_switch(case, switch)).collect();
    findings.push(huge_pages(case));
    findings.push(swap(case));
    findings
}

fn of_switch(case: &Case, switch: &Switch) -> Option<Finding> {
    let text = case.facts.settings.values.get(switch.key)?;
    let check = switch.key.rsplit('/').next()?;
    let name = switch.key.replace('/', ".");
    match text.parse::<i64>() {
        Ok(value) if (switch.from..=switch.to).contains(&value) => {
            Some(Finding::ok(check, format!("{name} = {value}")))
        }
        // Some settings have one number per part, and nonsense is possible: the text lets a person judge.
        _ => Some(
            Finding::advice(check, format!("{name} = {text}"), switch.why)
                .fixed_by(Fix::write(switch.good, format!("/proc/sys/{}", switch.key)).lasting(SYSCTL)),
        ),
    }
}

fn huge_pages(case: &Case) -> Finding {
    match case.facts.settings.huge_pages.as_deref() {
        Some("always") => Finding::advice(
            "huge_pages",
            "transparent huge pages for everything (always)",
            "a kernel thread merges pages behind the rig's back, locked ones too: a partition that touches them meanwhile \
             waits, up to some hundred microseconds",
        )
        .fixed_by(
            Fix::write("never", "/sys/kernel/mm/transparent_hugepage/enabled")
                .lasting(TUNED)
                .and(format!("or transparent_hugepage=never on the kernel command line ({GRUB})")),
        ),
        Some(mode) => Finding::ok("huge_pages", format!("transparent huge pages: {mode}")),
        None => Finding::ok("huge_pages", "no transparent huge pages"),
    }
}

fn swap(case: &Case) -> Finding {
    let settings = &case.facts.settings;
    if settings.swaps.is_empty() {
        return Finding::ok("swap", "no swap in use");
    }
    let swappiness = settings.number("vm/swappiness");
    let found = format!("swap on {}", few(&settings.swaps, 3));
    if case.trials.memory_refused.is_some() {
        return Finding::problem(
            "swap",
            format!("{found}, and memory cannot be locked"),
            "a partition whose pages were written to the disk waits until they are back: milliseconds",
        )
        .fixed_by(Fix {
            now: vec![crate::doctor::Action::Run("swapoff -a".to_owned())],
            file: None,
            words: "or let memory be locked".to_owned(),
            needs: Needs::Nothing,
        });
    }
    match swappiness {
        Some(value) if value > 10 => Finding::advice(
            "swap",
            format!("{found}, vm.swappiness = {value}"),
            "a rig's own memory is locked; but when that of others goes to the disk, its interrupts and the kernel's \
             workers disturb the cores",
        )
        .fixed_by(Fix::write(10, "/proc/sys/vm/swappiness").lasting(SYSCTL)),
        _ => Finding::ok("swap", format!("{found}, little used")),
    }
}

//! The kernel: its command line, the hypervisor, and the source of its time.

use super::lists::{list, named};
use crate::doctor::finding::{Action, GRUB, Needs};
use crate::doctor::{Case, Finding, Fix};
use vecud_linux::affinity::parse_list;

pub(super) fn findings(case: &Case) -> Vec<Finding> {
    [Some(kernel(case)), command_line(case), machine(case), Some(clock_source(case))].into_iter().flatten().collect()
}

fn kernel(case: &Case) -> Finding {
    let kernel = &case.facts.kernel;
    if kernel.preempt_rt {
        return Finding::ok("kernel", format!("PREEMPT_RT ({})", kernel.release));
    }
    if kernel.version.is_empty() {
        let found = "whether the kernel is a PREEMPT_RT one is not known: no /proc/sys/kernel/version";
        let why = "the worst case of an ordinary kernel is milliseconds under load, whatever else is set";
        return Finding::advice("kernel", found, why).fixed_by(Fix::words("mount -t proc proc /proc", Needs::Nothing));
    }
    let package = if cfg!(target_arch = "aarch64") { "linux-image-rt-arm64" } else { "linux-image-rt-amd64" };
    let why = "an ordinary kernel has sections that nothing preempts: under load its worst case is milliseconds, whatever \
               else is set";
    let full = kernel.preemption.as_deref() == Some("full");
    let mut fix = Fix::words(format!("on Debian: apt install {package}, and reboot into it"), Needs::Reboot);
    if kernel.version.contains("PREEMPT_DYNAMIC") && !full {
        fix.now.push(Action::mount_debugfs());
        fix.now.push(Action::write("full", "/sys/kernel/debug/sched/preempt"));
        fix = fix.lasting(GRUB);
        fix.words += ". Until then the next best is preempt=full";
    }
    let mode = kernel.preemption.as_deref().map_or_else(String::new, |mode| format!(", preempt={mode}"));
    Finding::problem("kernel", format!("no PREEMPT_RT kernel ({}{mode})", kernel.release), why).fixed_by(fix)
}

/// Settings that only the command line gives. (Isolation has a finding of its own.)
fn command_line(case: &Case) -> Option<Finding> {
    let (kernel, cores) = (&case.facts.kernel, &case.facts.cores);
    let covers = |option: &str| {
        let given = parse_list(kernel.option(option).unwrap_or_default());
        kernel.option(option).is_some() && case.target.cpus.iter().all(|cpu| given.contains(cpu))
    };
    let options = kernel.real_time_options();
    let shown = if options.is_empty() { "no option for real time".to_owned() } else { options.join(" ") };
    // nohz_full implies rcu_nocbs; `rcu_nocbs` without a list, or `all`, means every core.
    let everywhere = matches!(kernel.option("rcu_nocbs"), Some("" | "all"));
    if everywhere || covers("rcu_nocbs") || covers("nohz_full") {
        return Some(Finding::ok("command_line", format!("command line: {shown}")));
    }
    let here = named(&case.target.cpus);
    let why = format!(
        "the kernel's deferred work (RCU callbacks) runs on {here}, in a softirq that can hold up a partition for tens of \
         microseconds"
    );
    let found = format!("rcu_nocbs= does not cover {here} (on the command line: {shown})");
    let finding = Finding::advice("command_line", found, why);
    Some(match cores.others().is_empty() {
        true => finding,
        false => finding.fixed_by(by_command_line(case)),
    })
}

/// The snippet for the boot loader with these cores.
pub(super) fn by_command_line(case: &Case) -> Fix {
    let cores = list(&case.target.cpus);
    Fix::file(GRUB, Needs::Reboot).and(format!("sh rt-config/install --cores {cores} grub, and reboot"))
}

fn machine(case: &Case) -> Option<Finding> {
    let Some(sign) = &case.facts.processor.virtual_machine else {
        return Some(Finding::ok("virtual_machine", "no virtual machine"));
    };
    let why = "the host may take a core away for milliseconds at any time: medians and p90 mean something here, maxima are \
               the host's";
    let words =
        "only the host can change that: pin the vCPUs to isolated cores of its own (rt-config/README.md, section 6)";
    Some(
        Finding::advice("virtual_machine", format!("a virtual machine ({sign})"), why)
            .fixed_by(Fix::words(words, Needs::Host)),
    )
}

fn clock_source(case: &Case) -> Finding {
    const FILE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let settings = &case.facts.settings;
    let better = ["tsc", "arch_sys_counter"].into_iter().find(|good| settings.clock_sources.iter().any(|s| s == good));
    let Some(name) = settings.clock_source.as_deref() else {
        return Finding::ok("clock_source", "clock source not known");
    };
    let finding = match name {
        "hpet" | "acpi_pm" | "pit" => Finding::advice(
            "clock_source",
            format!("clock source {name}"),
            "each look at the clock is a system call and a slow access to a device: microseconds, several times per \
             activation",
        ),
        name if name.ends_with("jiffies") => Finding::problem(
            "clock_source",
            format!("clock source {name}"),
            "the clock advances with the timer tick only: every sleep is late by up to 1 to 10 ms",
        ),
        name => return Finding::ok("clock_source", format!("clock source {name}")),
    };
    let words =
        "the kernel distrusts the processor's counter: dmesg says why (`dmesg | grep -i -e tsc -e clocksource`)";
    finding.fixed_by(match better {
        Some(better) => Fix::write(better, FILE).and(words),
        None => Fix::words(format!("{words}; tsc=reliable on the kernel command line overrules it"), Needs::Reboot),
    })
}

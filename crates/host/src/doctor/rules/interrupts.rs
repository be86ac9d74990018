//! Interrupts towards the cores in use.

use super::kernel::by_command_line;
use super::lists::{few, list, named};
use crate::doctor::facts::Interrupt;
use crate::doctor::finding::{Action, IRQ_AFFINITY, Needs};
use crate::doctor::{Case, Finding, Fix};

/// Per core and second; fewer calls between cores are not worth a word.
const MANY_CALLS: f64 = 10.0;

pub(super) fn findings(case: &Case) -> Vec<Finding> {
    [Some(devices(case)), calls(case)].into_iter().flatten().collect()
}

/// An interrupt that may come to the cores in use, and how often it did during the probe.
struct Towards<'a> {
    device: &'a Interrupt,
    came: u64,
}

fn devices(case: &Case) -> Finding {
    let cpus = &case.target.cpus;
    let after = case.probe.as_ref().map(|probe| &probe.interrupts);
    let came = |device: &Interrupt| {
        let later = after.and_then(|after| after.devices.iter().find(|other| other.number == device.number));
        let rise = |cpu: &usize| later.map_or(0, |later| later.count(*cpu).saturating_sub(device.count(*cpu)));
        cpus.iter().map(rise).sum()
    };
    let mut towards: Vec<Towards> = case
        .facts
        .interrupts
        .devices
        .iter()
        .map(|device| Towards { device, came: came(device) })
        .filter(|one| one.came > 0 || cpus.iter().any(|cpu| one.device.cpus.contains(cpu)))
        .collect();
    if towards.is_empty() {
        return Finding::ok("irq_affinity", format!("no device interrupts {}", named(cpus)));
    }
    towards.sort_by_key(|one| (std::cmp::Reverse(one.came), one.device.number));
    let describe = |one: &Towards| match one.came {
        0 => format!("{} {}", one.device.number, one.device.name),
        came => format!("{} {} ({came}×)", one.device.number, one.device.name),
    };
    let shown: Vec<String> = towards.iter().map(describe).collect();
    let many =
        if towards.len() == 1 { "1 interrupt goes".to_owned() } else { format!("{} interrupts go", towards.len()) };
    let measured = match (towards.iter().filter(|one| one.came > 0).count(), after) {
        (_, None) => String::new(),
        (0, _) => ", none came during the probe".to_owned(),
        (came, _) => format!(", {came} of them came during the probe"),
    };
    let found = format!("{many} to {}{measured}: {}", named(cpus), few(&shown, 5));
    let active = towards.iter().any(|one| one.came > 0);
    let finding = match active && !case.facts.kernel.preempt_rt {
        true => Finding::problem(
            "irq_affinity",
            found,
            "each one preempts partitions, and its deferred work (softirq) may keep the core for milliseconds on a kernel \
             without PREEMPT_RT",
        ),
        false => Finding::advice("irq_affinity", found, "each one preempts partitions for some microseconds"),
    };
    finding.fixed_by(elsewhere(case, &towards))
}

fn elsewhere(case: &Case, towards: &[Towards]) -> Fix {
    let others = case.facts.cores.others();
    if others.is_empty() {
        return Fix::words("no other core could take them: let the rig use fewer", Needs::Nothing);
    }
    let moved =
        |one: &Towards| Action::write(list(&others), format!("/proc/irq/{}/smp_affinity_list", one.device.number));
    let mut words = format!(
        "sh rt-config/irq-affinity {} does that for all, and its service at each boot. An interrupt that refuses is \
         managed by its driver: isolcpus=managed_irq keeps those away",
        list(&case.target.cpus)
    );
    if case.facts.kernel.option("isolcpus").is_some_and(|value| value.contains("managed_irq")) {
        words.truncate(words.find(". An").unwrap_or(words.len()));
    }
    Fix::now(towards.iter().map(moved).collect()).lasting(IRQ_AFFINITY).and(words)
}

/// Calls from other cores to those in use.
fn calls(case: &Case) -> Option<Finding> {
    let probe = case.probe.as_ref().filter(|probe| probe.seconds > 0.0)?;
    let before = &case.facts.interrupts;
    let rate = |letters: &str| {
        let rise =
            |cpu: &usize| probe.interrupts.internal(letters, *cpu).saturating_sub(before.internal(letters, *cpu));
        case.target.cpus.iter().map(rise).max().unwrap_or(0) as f64 / probe.seconds
    };
    let words = [("CAL", "function calls"), ("TLB", "TLB shootdowns"), ("NMI", "non-maskable interrupts")];
    let seen: Vec<String> = words
        .into_iter()
        .map(|(letters, what)| (what, rate(letters)))
        .filter(|(_, rate)| *rate >= MANY_CALLS)
        .map(|(what, rate)| format!("{rate:.0} {what} per second"))
        .collect();
    if seen.is_empty() {
        return Some(Finding::ok("ipi", "few interrupts between cores"));
    }
    let found = format!("other cores interrupt {}: {}", named(&case.target.cpus), seen.join(", "));
    let why = "each one costs a partition a microsecond or two; they come from threads that ran there, and from memory and \
               code that the kernel changes";
    let finding = Finding::advice("ipi", found, why);
    let isolated = case.facts.cores.isolated();
    Some(match case.target.cpus.iter().all(|cpu| isolated.contains(cpu)) || case.facts.cores.others().is_empty() {
        true => finding,
        false => finding.fixed_by(by_command_line(case)),
    })
}

//! The cores in use: what else the kernel puts there, who shares their units, and how they save power.

use super::kernel::by_command_line;
use super::lists::{few, list, named};
use crate::doctor::facts::Core;
use crate::doctor::finding::{Action, Needs, TUNED};
use crate::doctor::{Case, Finding, Fix};
use std::collections::BTreeSet;

/// A sleep state that takes longer to leave counts, µs.
const SHALLOW_US: u64 = 2;

pub(super) fn findings(case: &Case) -> Vec<Finding> {
    vec![isolation(case), siblings(case), governor(case), idle_states(case)]
}

fn isolation(case: &Case) -> Finding {
    let cores = &case.facts.cores;
    let isolated = cores.isolated();
    let open: Vec<usize> = case.target.cpus.iter().copied().filter(|cpu| !isolated.contains(cpu)).collect();
    let how = |all: &BTreeSet<usize>, how| (!all.is_empty()).then(|| format!("{} by {how}", list(&sorted(all))));
    let both = [how(&cores.isolated_at_boot, "isolcpus="), how(&cores.isolated_by_group, "a cpuset partition")];
    let both: Vec<String> = both.into_iter().flatten().collect();
    let both = if both.is_empty() { "none is".to_owned() } else { format!("isolated: {}", both.join(", ")) };
    if open.is_empty() {
        return Finding::ok("isolation", format!("{}; in use: {}", both, list(&case.target.cpus)));
    }
    let verb = if open.len() == 1 { "is" } else { "are" };
    let finding = Finding::advice(
        "isolation",
        format!("{} {verb} not isolated ({both})", named(&open)),
        "other programs and the kernel's workers run there between activations: cold caches and sections that cannot be \
         preempted, tens of microseconds at a wake-up",
    );
    if cores.online.len() < 2 {
        return finding.fixed_by(Fix::words("this machine has one core: everything runs on it", Needs::Host));
    }
    if cores.others().is_empty() {
        let words = "no core is left for everything else: let the rig use fewer (cpus in [host], cpu of FMUs)";
        return finding.fixed_by(Fix::words(words, Needs::Nothing));
    }
    finding.fixed_by(by_command_line(case))
}

fn sorted(cpus: &BTreeSet<usize>) -> Vec<usize> {
    cpus.iter().copied().collect()
}

fn siblings(case: &Case) -> Finding {
    let cores = &case.facts.cores;
    let isolated = cores.isolated();
    let others: BTreeSet<usize> = cores.used.iter().flat_map(|core| core.siblings.iter().copied()).collect();
    let used = &case.target.cpus;
    let busy: Vec<usize> =
        others.into_iter().filter(|cpu| cores.online.contains(cpu)).filter(|cpu| !isolated.contains(cpu)).collect();
    let twice = cores.used.iter().any(|core| core.siblings.iter().any(|sibling| used.contains(sibling)));
    if busy.is_empty() && !twice {
        return Finding::ok("smt", "no core in use shares its units with others");
    }
    let whom = if busy.is_empty() { named(used) } else { named(&busy) };
    let found = format!("{} share their units with {whom} (SMT)", named(used));
    let why = "two threads of one core share caches and units: execution times vary by a factor of up to two with what the \
               other one does";
    let idle: Vec<Action> = busy
        .iter()
        .filter(|cpu| !used.contains(cpu) && **cpu != 0)
        .map(|cpu| Action::write(0, format!("/sys/devices/system/cpu/cpu{cpu}/online")))
        .collect();
    let words = "for all cores: nosmt on the kernel command line, or off in the BIOS; or isolate both and use one";
    let fix = match idle.is_empty() {
        true => Fix::words(words, Needs::Reboot),
        false => Fix::now(idle).and(words),
    };
    Finding::advice("smt", found, why).fixed_by(fix)
}

fn governor(case: &Case) -> Finding {
    let cores = &case.facts.cores.used;
    let governed: Vec<&Core> = cores.iter().filter(|core| core.governor.is_some()).collect();
    let slow: Vec<&&Core> = governed.iter().filter(|core| core.governor.as_deref() != Some("performance")).collect();
    if governed.is_empty() {
        return Finding::ok("governor", "no frequency governor here");
    }
    if slow.is_empty() {
        return Finding::ok("governor", "governor performance");
    }
    let numbers: Vec<usize> = slow.iter().map(|core| core.number).collect();
    let names: BTreeSet<&str> = slow.iter().filter_map(|core| core.governor.as_deref()).collect();
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let write = |cpu: &usize| {
        Action::write("performance", format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"))
    };
    Finding::advice(
        "governor",
        format!("governor {} on {}", few(&names, 3), named(&numbers)),
        "a core that was idle runs slowly at first: executions take several times as long until the frequency is up, and \
         changing it costs tens of microseconds",
    )
    .fixed_by(Fix::now(numbers.iter().map(write).collect()).lasting(TUNED))
}

fn idle_states(case: &Case) -> Finding {
    let cores = &case.facts.cores.used;
    let Some(deepest) = cores.iter().filter_map(|core| core.deepest()).max_by_key(|state| state.latency_us) else {
        return Finding::ok("idle_states", "no sleep states to choose from");
    };
    let found = format!("deepest sleep state {} ({} µs to leave)", deepest.name, deepest.latency_us);
    if deepest.latency_us <= SHALLOW_US {
        return Finding::ok("idle_states", found);
    }
    if case.trials.sleep_refused.is_none() {
        return Finding::ok("idle_states", format!("{found}, kept off during a run by /dev/cpu_dma_latency"));
    }
    let off = cores.iter().flat_map(|core| {
        let deep = core.idle.iter().filter(|state| !state.disabled && state.latency_us > SHALLOW_US);
        deep.map(|state| {
            Action::write(
                1,
                format!("/sys/devices/system/cpu/cpu{}/cpuidle/state{}/disable", core.number, state.number),
            )
        })
    });
    let why = format!("each wake-up of a core that sleeps so deeply is late by up to {} µs", deepest.latency_us);
    let words = "or let vecud hold /dev/cpu_dma_latency; for always: processor.max_cstate=1 intel_idle.max_cstate=0 on the \
                 kernel command line, or the BIOS";
    Finding::advice("idle_states", found, why).fixed_by(Fix::now(off.collect()).and(words))
}

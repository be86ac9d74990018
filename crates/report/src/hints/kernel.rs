//! Hints from the kernel's data on the cores: counts of the whole run, and the work during the worst wake-ups where
//! they were traced.

use super::evidence::{NOTABLE, TIMES, name};
use crate::format::{count, duration, plural, seconds};
use crate::{ActivationResult, ClockResult, CoreCounts, KernelWork, Run, Served};

/// Interrupts of a device below this rate are not mentioned, 1/s.
const OFTEN: f64 = 10.0;
/// Steal time below this is one tick of the clock by which it is counted, ms.
const STOLEN_MS: u64 = 20;
/// Number of items that a hint names.
const NAMED: usize = 3;
/// Shorter work during a wake-up is not named, ns.
const SHORT: u64 = 2_000;

/// Adds hints from the counts of a core.
pub(super) fn core(run: &Run, core: &CoreCounts, hints: &mut Vec<String>) {
    let cpu = core.cpu;
    if let Some(steal) = core.steal_ms.filter(|steal| *steal >= STOLEN_MS) {
        hints.push(format!(
            "the hypervisor had core {cpu} for {} of {} although it was wanted here (steal time): the host of this virtual machine \
             runs something else on it",
            duration(steal * 1_000_000),
            seconds(run.wall_seconds)
        ));
    }
    if let Some(smis) = core.smis.filter(|smis| *smis > 0) {
        hints.push(format!(
            "firmware had core {cpu} {} during the run (SMI): neither the kernel nor vecud can keep it away, settings of the BIOS \
             may (USB legacy support, power management)",
            plural(smis, "time")
        ));
    }
    if let Some(throttled) = core.throttled.filter(|throttled| *throttled > 0) {
        hints.push(format!(
            "core {cpu} was slowed down {} during the run because of heat or power (thermal throttling)",
            plural(throttled, "time")
        ));
    }
    let often = |served: &&Served| served.count as f64 >= OFTEN * run.wall_seconds.max(1.0);
    let list = |served: Vec<&Served>| -> String {
        let of = |served: &&Served| format!("{} of {}", count(served.count), served.name);
        served.iter().take(NAMED).map(of).collect::<Vec<_>>().join(", ")
    };
    let devices: Vec<&Served> = core.interrupts.iter().filter(|served| is_device(&served.name)).filter(often).collect();
    if !devices.is_empty() {
        let work = ["NET_RX", "NET_TX", "BLOCK", "TASKLET"];
        let softirqs: Vec<&Served> =
            core.softirqs.iter().filter(|served| work.contains(&served.name.as_str())).filter(often).collect();
        let softirqs = if softirqs.is_empty() { String::new() } else { format!(", and softirqs {}", list(softirqs)) };
        hints.push(format!(
            "core {cpu} served interrupts of devices during the run, {}{softirqs}: `vecud doctor` says how to move them",
            list(devices)
        ));
    }
}

/// Whether an interrupt is of a device: the kernel's own sources have letters and digits alone, `LOC`, `IPI0`.
fn is_device(name: &str) -> bool {
    !(name.len() <= 5 && name.bytes().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit()))
}

/// Adds a hint on the work during the worst traced wake-up of a clock, if that was late.
pub(super) fn wakeup(clock: &ClockResult, hints: &mut Vec<String>) {
    let traced = clock.causes.worst_wakeups.iter().filter(|moment| !moment.kernel.is_empty());
    let Some(worst) = traced.max_by_key(|moment| moment.wakeup_machine()) else { return };
    let typical = clock.wakeup_machine().quantile(0.5);
    if worst.wakeup_machine() >= NOTABLE.max(typical.saturating_mul(TIMES)) {
        let wakeup = duration(worst.wakeup);
        hints.push(format!(
            "in the kernel's trace lies a wake-up of {} that took {wakeup} (at {} s); on core {} ran meanwhile {}",
            name(clock),
            worst.time_s,
            clock.cpu,
            ran(&worst.kernel)
        ));
    }
}

/// Adds a hint on the work during the longest traced response of a clock, if others than the rig had at least half of
/// that time.
pub(super) fn response(clock: &ClockResult, hints: &mut Vec<String>) {
    let others = |moment: &ActivationResult| -> u64 {
        let others = moment.kernel.iter().filter(|work| !work.rig && work.what != "idle");
        others.map(|work| work.ns).sum()
    };
    let late = |moment: &&ActivationResult| {
        let others = others(moment);
        // Work during the wake-up is covered by the hint on that.
        others >= NOTABLE && others >= moment.response / 2 && moment.wakeup_machine() < others / 2
    };
    if let Some(worst) = clock.causes.worst_responses.iter().filter(late).max_by_key(|moment| moment.response) {
        hints.push(format!(
            "in the kernel's trace lies a response of {} that took {} (at {} s); on core {} ran meanwhile {}",
            name(clock),
            duration(worst.response),
            worst.time_s,
            clock.cpu,
            ran(&worst.kernel)
        ));
    }
}

/// `softirq NET_RX for 132 µs, interrupt eth0 for 4.00 µs`
fn ran(work: &[KernelWork]) -> String {
    let told = |work: &KernelWork| {
        let time = duration(work.ns);
        match work.what.as_str() {
            "idle" => format!("nothing for {time} (no interrupt came: an idle state, firmware or a hypervisor)"),
            what => format!("{what} for {time}"),
        }
    };
    let notable = work.iter().enumerate().filter(|(place, work)| *place == 0 || work.ns >= SHORT);
    notable.take(NAMED + 1).map(|(_, work)| told(work)).collect::<Vec<_>>().join(", ")
}

//! Hints from the thread of a clock: its core, its page faults, its first activation.

use super::evidence::{NOTABLE, TIMES, name};
use crate::format::{count, duration, plural};
use crate::{ClockResult, Run, Scheduling};

/// Fewer involuntary switches than this are no evidence.
const SWITCHES: u64 = 3;

/// Adds hints from the kernel and the watchdog on the thread.
pub(super) fn thread(run: &Run, clock: &ClockResult, hints: &mut Vec<String>) {
    let (name, causes) = (name(clock), &clock.causes);
    if causes.demoted {
        hints.push(format!(
            "{name} was demoted by the watchdog (max_execution_us): from then on it ran as an ordinary thread, behind \
             everything else on core {}",
            clock.cpu
        ));
    }
    if causes.other_core > 0 {
        hints.push(format!(
            "{} of {name} ran on another core than {}: something else moves its thread",
            plural(causes.other_core, "activation"),
            clock.cpu
        ));
    }
    let Some(thread) = &causes.thread else { return };
    let faults = thread.later.minor_faults + thread.later.major_faults;
    // Those of a first activation are expected.
    if faults > 0 && thread.first.is_some() {
        let disk = match thread.later.major_faults {
            0 => String::new(),
            n => format!(", {} from disk", count(n)),
        };
        hints.push(format!(
            "{name} took {}{disk} after its first activation: its FMU's code touches memory for the first time while it \
             runs, or memory is not locked",
            plural(faults, "page fault")
        ));
    }
    if run.host.scheduling != Scheduling::Fifo {
        return;
    }
    let same_core = || run.clocks.iter().filter(|other| other.cpu == clock.cpu);
    let more_urgent =
        same_core().filter(|other| other.fifo_priority.map(|p| p.get()) > clock.fifo_priority.map(|p| p.get()));
    // Whoever takes the core has woken before, and each of its sleeps is a voluntary switch.
    let wakes = |other: &ClockResult| match &other.causes.thread {
        Some(thread) => {
            let first = thread.first.as_ref().map_or(0, |first| first.voluntary_switches);
            other.activations.max(first.saturating_add(thread.later.voluntary_switches))
        }
        None => other.activations,
    };
    let explained: u64 = more_urgent.map(wakes).sum();
    let involuntary = thread.later.involuntary_switches;
    if !causes.demoted && involuntary >= explained + SWITCHES {
        let most = match explained {
            0 => "although no clock of the rig is more urgent there".to_owned(),
            n => format!("more urgent clocks of the rig account for {} at most", count(n)),
        };
        hints.push(format!(
            "{name} lost core {} {}, {most}: other real-time threads or the kernel's own took it",
            clock.cpu,
            plural(involuntary, "time")
        ));
    }
}

/// A first activation that is by far the longest.
pub(super) fn first(clock: &ClockResult, hints: &mut Vec<String>) {
    let Some(worst) = clock.causes.worst_responses.first().filter(|worst| worst.first) else { return };
    let Some(first) = clock.causes.thread.as_ref().and_then(|thread| thread.first.as_ref()) else { return };
    let faults = first.minor_faults + first.major_faults;
    let typical = clock.response.quantile(0.5);
    if faults > 0
        && worst.response >= NOTABLE
        && worst.response >= typical.saturating_mul(TIMES)
        && clock.activations > 1
    {
        hints.push(format!(
            "the worst response of {}, {}, is its first activation, with {}; the median is {}",
            name(clock),
            duration(worst.response),
            plural(faults, "page fault"),
            duration(typical)
        ));
    }
}

//! The rights of this user, as tried.

use super::lists::named;
use crate::doctor::finding::{LIMITS, Needs, UDEV};
use crate::doctor::trials::TrialFailure;
use crate::doctor::{Case, Finding, Fix};

/// A sleep state that takes longer to leave counts, µs.
const SHALLOW_US: u64 = 2;

pub(super) fn findings(case: &Case) -> Vec<Finding> {
    let mut findings = vec![fifo(case), memory(case), sleep_states(case)];
    findings.extend(cores(case));
    findings.push(slack(case));
    findings
}

/// The refusal's own words, and the file for a group of people.
fn for_people(refusal: &TrialFailure) -> Fix {
    let words =
        format!("{}; for everybody in the group vecud: sh rt-config/install limits, and log in again", refusal.fix);
    Fix::words(words, Needs::Login).lasting(LIMITS)
}

fn fifo(case: &Case) -> Finding {
    let (low, high) = case.target.band;
    let Some(refusal) = &case.trials.fifo_refused else {
        let highest = case.trials.fifo.map_or_else(String::new, |highest| format!(", up to {highest}"));
        return Finding::ok("fifo", format!("SCHED_FIFO granted for {low} to {high}{highest}"));
    };
    let fix = for_people(refusal);
    match case.trials.fifo {
        Some(highest) if highest >= low => Finding::advice(
            "fifo",
            format!("SCHED_FIFO up to {highest}, of {low} to {high}: {}", refusal.cause),
            "partitions keep their order in a narrower band; interrupt threads (50) may come before them",
        ),
        Some(highest) => Finding::problem(
            "fifo",
            format!("SCHED_FIFO up to {highest}, of {low} to {high}: {}", refusal.cause),
            "partitions run below the kernel's interrupt threads (50), or without preemption where the levels do not \
             suffice: each burst of a device delays them",
        ),
        None => Finding::problem(
            "fifo",
            format!("no SCHED_FIFO: {}", refusal.cause),
            "partitions run in turns, as ordinary threads: every other program on the core delays them by milliseconds",
        ),
    }
    .fixed_by(fix)
}

fn memory(case: &Case) -> Finding {
    match &case.trials.memory_refused {
        None => Finding::ok("memory", "memory can be locked"),
        Some(refusal) => Finding::problem(
            "memory",
            &refusal.cause,
            "pages that are not locked can be taken away: a partition that touches one waits for the disk, milliseconds",
        )
        .fixed_by(for_people(refusal)),
    }
}

fn sleep_states(case: &Case) -> Finding {
    let deepest = case.facts.cores.used.iter().filter_map(|core| core.deepest()).max_by_key(|state| state.latency_us);
    let Some(refusal) = &case.trials.sleep_refused else {
        return Finding::ok("dma_latency", "/dev/cpu_dma_latency can be held during a run");
    };
    let deep = deepest.filter(|state| state.latency_us > SHALLOW_US);
    match deep {
        None if refusal.missing || !case.facts.cores.used.iter().all(|core| core.idle.is_empty()) => {
            Finding::ok("dma_latency", "/dev/cpu_dma_latency is not needed: no deep sleep states")
        }
        deep => {
            let cost = match deep {
                Some(state) => format!("leaving {} takes {} µs, at each wake-up", state.name, state.latency_us),
                None => "what sleep states a hypervisor or the firmware uses is not known; leaving them costs \
                         microseconds at each wake-up"
                    .to_owned(),
            };
            let words = format!("{}: sh rt-config/install udev", refusal.fix);
            Finding::advice("dma_latency", &refusal.cause, cost)
                .fixed_by(Fix::words(words, Needs::Nothing).lasting(UDEV))
        }
    }
}

fn cores(case: &Case) -> Vec<Finding> {
    let refused = &case.trials.pins_refused;
    if refused.is_empty() {
        return vec![Finding::ok("affinity", format!("threads can be pinned to {}", named(&case.target.cpus)))];
    }
    let one = |(cpu, refusal): &(usize, TrialFailure)| {
        let why = "partitions of that core cannot run there: a run is refused";
        Finding::problem("affinity", &refusal.cause, why).of(*cpu).fixed_by(Fix::words(&refusal.fix, Needs::Host))
    };
    refused.iter().map(one).collect()
}

fn slack(case: &Case) -> Finding {
    match &case.trials.slack_refused {
        None => Finding::ok("timer_slack", "timer slack of 1 ns"),
        Some(refusal) => Finding::advice(
            "timer_slack",
            &refusal.cause,
            "sleeps may end up to 50 µs late, so that the kernel can wake several threads at once",
        )
        .fixed_by(Fix::words(&refusal.fix, Needs::Host)),
    }
}

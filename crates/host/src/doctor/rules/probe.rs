//! The wake-up latencies of the probe.

use crate::doctor::finding::Needs;
use crate::doctor::probe::{CoreProbe, PERIOD};
use crate::doctor::{Case, Finding, Fix, Level};
use vecud_report::format::{count, duration, plural};

/// Up to here a wake-up is as it should be, ns: a tenth of a 1 ms task's period.
const GOOD: u64 = 100_000;

pub(super) fn findings(case: &Case) -> Vec<Finding> {
    let cores = case.probe.iter().flat_map(|probe| &probe.cores);
    cores.flat_map(|core| [Some(latency(core)), faults(core), preempted(core)]).flatten().collect()
}

/// The verdict on the latest wake-up; also for the table.
pub(crate) fn verdict(core: &CoreProbe) -> (Level, &'static str) {
    match core.latency.max() {
        _ if core.refused.is_some() => (Level::Problem, "not allowed there"),
        _ if core.latency.count() == 0 => (Level::Advice, "not measured"),
        max if max < GOOD => (Level::Ok, "good"),
        max if max < PERIOD as u64 => (Level::Advice, "late at times"),
        _ => (Level::Problem, "loses releases"),
    }
}

fn latency(core: &CoreProbe) -> Finding {
    let (level, _) = verdict(core);
    let how = core.priority.map_or("an ordinary thread".to_owned(), |priority| format!("a FIFO {priority} thread"));
    let found = match (&core.refused, core.latency.count()) {
        (Some(cause), _) => cause.clone(),
        (None, 0) => "the probe had no time to wake".to_owned(),
        (None, times) => format!(
            "{how} woke {} times, {} late at most (p99 {})",
            count(times),
            duration(core.latency.max()),
            duration(core.latency.quantile(0.99))
        ),
    };
    let why = match level {
        Level::Ok => return Finding::ok("probe", found).of(core.cpu),
        _ if core.refused.is_some() => "partitions cannot run there either",
        Level::Advice => "partitions wake as late as that now and then, before any FMU is involved",
        Level::Problem => {
            "a 1 ms task loses a release each time, before any FMU is involved; the other findings say why"
        }
    };
    let finding = if level == Level::Problem { Finding::problem } else { Finding::advice };
    finding("probe", found, why).of(core.cpu)
}

fn faults(core: &CoreProbe) -> Option<Finding> {
    (core.faults > 0).then(|| {
        let found = plural(core.faults, "page fault") + " of the probe's thread";
        let why = "memory that was there is gone: each one is microseconds, or milliseconds when the disk is asked";
        let words = "let memory be locked, and keep the kernel from moving it (the findings on memory)";
        Finding::advice("probe_faults", found, why).of(core.cpu).fixed_by(Fix::words(words, Needs::Nothing))
    })
}

fn preempted(core: &CoreProbe) -> Option<Finding> {
    // An ordinary thread is preempted as a matter of course.
    (core.preempted > 0 && core.priority.is_some()).then(|| {
        let found = format!("the probe's thread was preempted {}", plural(core.preempted, "time"));
        let why =
            "a thread of a higher priority took the core: the kernel's (migration, stop machine) or another program's";
        Finding::advice("probe_preempted", found, why).of(core.cpu)
    })
}

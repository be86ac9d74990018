//! Parts of the time of a clock's activations: the parts of a response that are not among the clock's other figures,
//! the worst activations, the overruns, and the kernel's counts for the thread.
//!
//! The parts of a response, which add up to it: [`ActivationResult::wakeup`], `gate`, `executing`, `preempted`, `blocked`, `set_get`.

use super::layout::{a_line_each, is_default};
use super::{Distribution, KernelWork};
use serde::{Deserialize, Serialize};

/// Parts of the response, each of every activation that has ended.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct PartsResult {
    /// Other partitions of the rig ran on that core, between the first FMI call and the last get.
    pub preempted: Distribution,
    /// Waiting for the preemption lock, all of an activation together.
    pub blocked: Distribution,
    /// Time in `fmi3Set…` and `fmi3Get…`, and in handing values on.
    pub set_get: Distribution,
    /// Time of vecud itself, which is no part of the response: from the thread's first instruction to its next sleep,
    /// including setting and getting; FMU code, waits and other partitions are not included.
    pub host: Distribution,
    /// The machine's share of the wake-up latency, no further part of the response: without the time in which
    /// partitions of the rig that are at least as urgent had the core. Empty in older reports.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub wakeup_machine: Distribution,
}

impl PartsResult {
    /// All parts, in the order of the log.
    pub(super) fn all(&self) -> [&Distribution; 5] {
        [&self.preempted, &self.blocked, &self.set_get, &self.host, &self.wakeup_machine]
    }

    /// Whether nothing was measured.
    pub(super) fn is_empty(&self) -> bool {
        self.all().iter().all(|part| part.is_empty())
    }
}

/// Single activations of a clock, and counts of its thread; in `report.json` in this form. Empty in virtual time, and
/// then omitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Causes {
    /// The activations with the longest responses, the longest first.
    #[serde(serialize_with = "a_line_each")]
    pub worst_responses: Vec<ActivationResult>,
    /// The activations with the longest wake-ups, the longest first: by the machine's share, where that is known.
    #[serde(serialize_with = "a_line_each")]
    pub worst_wakeups: Vec<ActivationResult>,
    /// Activations that were still running when the next one was due: the first ones and the last ones.
    #[serde(serialize_with = "a_line_each")]
    pub overran: Vec<OverrunResult>,
    /// Number of overruns, the listed ones included.
    pub overran_total: u64,
    /// Kernel counts of the thread; `None`: it could not report them.
    pub thread: Option<ThreadCounts>,
    /// Activations on another core than planned.
    pub other_core: u64,
    /// The watchdog took its priority.
    pub demoted: bool,
}

/// One activation; times in ns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActivationResult {
    /// The activation time, exactly, in seconds: `3/2000`.
    pub time: String,
    /// The activation time, rounded, s.
    pub time_s: f64,
    /// The release, CLOCK_MONOTONIC.
    pub release_monotonic_ns: i64,
    /// The time from the release to the last get: the sum of the next six.
    pub response: u64,
    /// Release → the thread's first instruction after its sleep, or after the activation before.
    pub wakeup: u64,
    /// The time from the thread's first instruction to the first FMI call: what has come for it, and the gate of the
    /// preemption lock.
    pub gate: u64,
    /// Time in the model partition, without the following parts.
    pub executing: u64,
    /// Other partitions of the rig ran on that core instead.
    pub preempted: u64,
    /// Waiting for the preemption lock, whoever ran meanwhile.
    pub blocked: u64,
    /// Setting and getting.
    pub set_get: u64,
    /// Part of the wake-up in which partitions of the rig that are at least as urgent had the core; the rest is the
    /// machine's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wakeup_rig: u64,
    /// The number of waits at the gate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gate_waits: u32,
    /// The activation before it had not ended at its release.
    #[serde(default, skip_serializing_if = "is_default")]
    pub follows: bool,
    /// The activation is the clock's first one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub first: bool,
    /// Clock that had the preemption lock when it waited for it last, if that was one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub blocked_by: Option<String>,
    /// Other clocks that were at work on its core between its release and its end (in a list of wake-ups: its wake-up), the
    /// longest first. Of each its last activation counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub others: Vec<OtherClock>,
    /// Number of further clocks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more_others: u32,
    /// Work on its core between its release and its end (in a list of wake-ups: its wake-up) by the kernel's own trace,
    /// the longest first; empty outside of the trace.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kernel: Vec<KernelWork>,
}

impl ActivationResult {
    /// Part of the wake-up that neither the rig nor the previous activation caused, ns.
    pub fn wakeup_machine(&self) -> u64 {
        self.wakeup.saturating_sub(self.wakeup_rig)
    }

    /// The parts with their names, in the order of time as far as they have one.
    pub fn parts(&self) -> [(&'static str, u64); 7] {
        [
            ("machine", self.wakeup_machine()),
            ("rig first", self.wakeup_rig),
            ("gate", self.gate),
            ("preempted", self.preempted),
            ("blocked", self.blocked),
            ("set/get", self.set_get),
            ("executing", self.executing),
        ]
    }
}

/// Another clock that was at work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherClock {
    /// The clock that was at work, as `fmu.clock`.
    pub clock: String,
    /// Time in which its activation was under way meanwhile, ns; if it was interrupted itself, only up to the wake-up.
    pub overlap: u64,
    /// The other activation had not ended by then: it was itself interrupted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub under_way: bool,
}

/// An activation that was still running when the next one was due.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverrunResult {
    /// The first release that found it running, exactly, in seconds.
    pub release: String,
    /// The release that found its predecessor still active, rounded, s.
    pub release_s: f64,
    /// Number of releases that found it running.
    pub releases: u64,
    /// Delay of the detection after that release, ns.
    pub late: u64,
    /// The time that it had, ns: the interval of its clock.
    pub budget: Option<u64>,
    /// Cause of the overrun, in words.
    pub cause: String,
    /// The activation that was still under way.
    pub predecessor: ActivationResult,
}

/// Kernel counts of a thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadCounts {
    /// The counters from the start to the end of its first activation; `None`: that ended after the start was measured.
    pub first: Option<KernelCounters>,
    /// The counters from then on, or from the start.
    pub later: KernelCounters,
}

/// The kernel's counters for a thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelCounters {
    /// Page faults that needed no disk.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// The number of times that the thread gave its core away.
    pub voluntary_switches: u64,
    /// The number of times that the thread's core was taken away.
    pub involuntary_switches: u64,
}

#[cfg(test)]
mod tests {
    use super::super::{ReportFile, hlog, html, json, sample};
    use super::*;

    #[test]
    fn causes_are_read_back_and_shown_again() {
        let mut run = sample(2);
        let blocker = ActivationResult {
            blocked: 70_000,
            blocked_by: Some("ecu.<b>".into()),
            follows: true,
            ..ActivationResult::default()
        };
        run.clocks[1].causes = Causes {
            worst_responses: vec![
                blocker.clone(),
                ActivationResult { first: true, more_others: 2, ..ActivationResult::default() },
            ],
            worst_wakeups: vec![],
            overran: vec![OverrunResult {
                release: "1/3".into(),
                budget: None,
                cause: "<itself>".into(),
                ..OverrunResult::default()
            }],
            overran_total: 9,
            thread: None,
            other_core: 1,
            demoted: true,
        };
        let read = ReportFile::parse(&json(&run)).unwrap().rebuild(&hlog(&run)).unwrap();
        assert!(read.clocks.iter().zip(&run.clocks).all(|(read, run)| read.causes == run.causes));
        assert!(read.clocks[0].parts.set_get == run.clocks[0].parts.set_get);
        let page = html(&read);
        assert!(page == html(&run), "the pages differ");
        for part in [
            "lock held by <span class=\"fmu\">ecu.</span>&lt;b&gt;",
            "&lt;itself&gt;",
            "1 of 9: of each",
            "was demoted",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn a_report_without_causes_is_read_too() {
        let mut run = sample(2);
        for clock in &mut run.clocks {
            (clock.parts, clock.causes) = Default::default();
        }
        let text = json(&run);
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(["parts", "causes"].iter().all(|key| report["clocks"][0].get(key).is_none()), "nothing was measured");
        let read = ReportFile::parse(&text).unwrap().rebuild(&hlog(&run)).unwrap();
        assert_eq!(json(&read), text);
    }
}

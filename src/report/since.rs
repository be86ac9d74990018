//! The figures of a clock from some instant of its run on.

use super::{Causes, ClockResult, DatagramCounts, PartsResult, StepCounts};

impl ClockResult {
    /// What was measured since the same clock of the same run had measured `earlier`: counts and distributions. Parts of responses,
    /// causes and the figures in the course of the run, which are of all of it, are left out. The largest deviation of steps is that of
    /// the run.
    pub fn since(self, earlier: &ClockResult) -> ClockResult {
        let less = |now: u64, before: u64| now.saturating_sub(before);
        let datagrams = |now: DatagramCounts, before: &DatagramCounts| DatagramCounts {
            received: less(now.received, before.received),
            rate_limited: less(now.rate_limited, before.rate_limited),
            dropped: less(now.dropped, before.dropped),
        };
        let steps = |now: StepCounts, before: &StepCounts| StepCounts {
            steps: less(now.steps, before.steps),
            early_returns: less(now.early_returns, before.early_returns),
            rejected_steps: less(now.rejected_steps, before.rejected_steps),
            events: less(now.events, before.events),
            deferred: less(now.deferred, before.deferred),
            refused_ticks: less(now.refused_ticks, before.refused_ticks),
            discarded_ticks: less(now.discarded_ticks, before.discarded_ticks),
            max_deviation_s: now.max_deviation_s,
        };
        ClockResult {
            activations: less(self.activations, earlier.activations),
            overruns: less(self.overruns, earlier.overruns),
            skipped: less(self.skipped, earlier.skipped),
            coalesced: less(self.coalesced, earlier.coalesced),
            retimed: less(self.retimed, earlier.retimed),
            discarded: less(self.discarded, earlier.discarded),
            datagrams: self.datagrams.zip(earlier.datagrams.as_ref()).map(|(now, before)| datagrams(now, before)),
            steps: self.steps.zip(earlier.steps.as_ref()).map(|(now, before)| steps(now, before)),
            wakeup_latency: self.wakeup_latency.since(&earlier.wakeup_latency),
            start_latency: self.start_latency.since(&earlier.start_latency),
            start_jitter: self.start_jitter.since(&earlier.start_jitter),
            execution: self.execution.since(&earlier.execution),
            response: self.response.since(&earlier.response),
            arrival_latency: self
                .arrival_latency
                .zip(earlier.arrival_latency.as_ref())
                .map(|(now, before)| now.since(before)),
            over_time: None,
            parts: PartsResult::default(),
            causes: Causes::default(),
            ..self
        }
    }
}

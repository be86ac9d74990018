//! The figures of a clock from some instant of its run on.

use super::{Causes, ClockResult, DatagramCounts, IntegrationCounts, PartsResult, StepCounts};

impl ClockResult {
    /// The counts and distributions since an `earlier` state of the same clock in the same run. Parts of responses,
    /// causes and the figures over time, which cover the whole run, are left out. The largest deviation of steps and
    /// the most right-hand sides of a release are those of the run.
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
            taken_back: less(now.taken_back, before.taken_back),
            events: less(now.events, before.events),
            deferred: less(now.deferred, before.deferred),
            refused_ticks: less(now.refused_ticks, before.refused_ticks),
            discarded_ticks: less(now.discarded_ticks, before.discarded_ticks),
            max_deviation_s: now.max_deviation_s,
            integration: now.integration.zip(before.integration).map(|(now, before)| IntegrationCounts {
                solver_steps: less(now.solver_steps, before.solver_steps),
                rejected_solver_steps: less(now.rejected_solver_steps, before.rejected_solver_steps),
                right_hand_sides: less(now.right_hand_sides, before.right_hand_sides),
                most_right_hand_sides: now.most_right_hand_sides,
                jacobians: less(now.jacobians, before.jacobians),
                state_events: less(now.state_events, before.state_events),
            }),
        };
        ClockResult {
            releases: self.releases.zip(earlier.releases).map(|(now, before)| less(now, before)),
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

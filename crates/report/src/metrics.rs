//! The metrics of each clock: their names and values.

use crate::{ClockResult, Distribution};

/// Metrics of each clock, by their names in `report.json`.
pub(crate) const METRICS: [&str; 11] = [
    "wakeup_latency",
    "start_latency",
    "start_jitter",
    "execution",
    "response",
    "preempted",
    "blocked",
    "set_get",
    "host",
    "wakeup_machine",
    "arrival_latency",
];

/// The values of a clock's [`METRICS`]; only clocks that datagrams activate have the last one.
pub(crate) fn metrics(clock: &ClockResult) -> Vec<(&'static str, &Distribution)> {
    let ClockResult { wakeup_latency, start_latency, start_jitter, execution, response, .. } = clock;
    let own = [wakeup_latency, start_latency, start_jitter, execution, response];
    METRICS.into_iter().zip(own.into_iter().chain(clock.parts.all()).chain(&clock.arrival_latency)).collect()
}

impl ClockResult {
    /// The distributions in the order of `report.json`, parts of the response after the others; arrivals, where there are some,
    /// last.
    pub fn distributions(&mut self) -> impl Iterator<Item = &mut Distribution> {
        let ClockResult { wakeup_latency, start_latency, start_jitter, execution, response, parts, .. } = self;
        let own = [wakeup_latency, start_latency, start_jitter, execution, response];
        let parts =
            [&mut parts.preempted, &mut parts.blocked, &mut parts.set_get, &mut parts.host, &mut parts.wakeup_machine];
        own.into_iter().chain(parts).chain(&mut self.arrival_latency)
    }
}

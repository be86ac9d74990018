//! Hints from the worst responses: waits for the lock, and the parts of a tight response.

use super::evidence::{NOTABLE, TIMES, of_the_worst};
use crate::format::duration;
use crate::{ActivationResult, ClockResult};
use std::collections::BTreeMap;

/// A part of the interval beyond which a response is tight, in per cent.
const TIGHT: u64 = 50;

/// Waits for the preemption lock.
pub(super) fn locks(clock: &ClockResult, hints: &mut Vec<String>) {
    let worst = &clock.causes.worst_responses;
    let waited = |part: u64, moment: &ActivationResult| part >= NOTABLE && part >= moment.response / 4;
    let mut by_holder = BTreeMap::<Option<&str>, Vec<u64>>::new();
    for moment in worst.iter().filter(|moment| waited(moment.blocked, moment)) {
        by_holder.entry(moment.blocked_by.as_deref()).or_default().push(moment.blocked);
    }
    let longest = |waits: &[u64]| duration(waits.iter().copied().max().unwrap_or(0));
    for (holder, waits) in by_holder {
        let holder = holder.map_or(String::new(), |holder| format!(" held by {holder}"));
        hints.push(format!(
            "{} waited for the preemption lock{holder}, up to {}",
            of_the_worst(waits.len(), worst.len(), "response", clock),
            longest(&waits)
        ));
    }
    let at_gate = worst.iter().filter(|moment| moment.gate_waits > 0 && waited(moment.gate, moment));
    let waits: Vec<u64> = at_gate.map(|moment| moment.gate).collect();
    if !waits.is_empty() {
        let meanwhile = match clock.kind.makes_steps() {
            true => "another FMU made steps that it takes turns with (vecud check says which)".to_owned(),
            false => format!("another partition of {} was in a locked section or asleep", clock.fmu),
        };
        hints.push(format!(
            "{} waited to begin, up to {}, while {meanwhile}",
            of_the_worst(waits.len(), worst.len(), "response", clock),
            longest(&waits)
        ));
    }
}

/// Adds a hint on the parts of a response that comes near its interval.
pub(super) fn budget(clock: &ClockResult, hints: &mut Vec<String>) {
    let Some(interval) = clock.interval_s.map(|seconds| (seconds * 1e9) as u64) else { return };
    let worst = &clock.causes.worst_responses;
    let longest = worst.first().map_or(0, |moment| moment.response);
    if interval == 0 || longest < NOTABLE || longest.saturating_mul(100) < interval.saturating_mul(TIGHT) {
        return;
    }
    let tight = || worst.iter().filter(|moment| moment.response.saturating_mul(100) >= interval.saturating_mul(TIGHT));
    let of_interval = |moments: &[&ActivationResult]| {
        let longest = moments.iter().map(|moment| moment.response).max().unwrap_or(0);
        format!("{} of an interval of {}", duration(longest), duration(interval))
    };
    let preempted: Vec<&ActivationResult> = tight().filter(|moment| moment.preempted >= moment.response / 2).collect();
    if !preempted.is_empty() {
        let by = |moment: &&ActivationResult| Some(moment.others.iter().find(|other| !other.under_way)?.clock.clone());
        let mut names = BTreeMap::<String, usize>::new();
        preempted.iter().filter_map(by).for_each(|name| *names.entry(name).or_default() += 1);
        let most = names.into_iter().max_by_key(|(_, number)| *number);
        hints.push(format!(
            "{}, up to {}, went to other partitions of core {} for the most part{}, up to {}",
            of_the_worst(preempted.len(), worst.len(), "response", clock),
            of_interval(&preempted),
            clock.cpu,
            most.map_or(String::new(), |(name, _)| format!(", {name} above all")),
            duration(preempted.iter().map(|moment| moment.preempted).max().unwrap_or(0))
        ));
    }
    let executing: Vec<&ActivationResult> = tight().filter(|moment| moment.executing >= moment.response / 2).collect();
    if !executing.is_empty() {
        let (longest, typical) = (executing.iter().map(|moment| moment.executing).max(), clock.execution.quantile(0.5));
        let longest = longest.unwrap_or(0);
        let unusual = match longest >= typical.saturating_mul(TIMES) {
            true => ": the code itself takes longer then, or the machine was away meanwhile",
            false => "",
        };
        hints.push(format!(
            "{}, up to {}, were spent in the FMU's own code for the most part, up to {}; the median of its execution is {}{unusual}",
            of_the_worst(executing.len(), worst.len(), "response", clock),
            of_interval(&executing),
            duration(longest),
            duration(typical)
        ));
    }
}

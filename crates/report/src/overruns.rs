//! Why an activation was still running when the next one was due, in words: a pure function of where its time went.

use super::causes::{ActivationResult, OverrunResult};
use super::format::duration;

/// Parts that are at least this share of the response are named, the largest first; of smaller ones only the largest.
pub const SHARE: u64 = 4;

/// The cause of an overrun: what the time of the activation before went to.
pub fn cause(overran: &OverrunResult) -> String {
    let moment = &overran.predecessor;
    let mut parts: Vec<(u64, String)> = vec![
        (
            moment.executing + moment.set_get,
            format!("its own execution, {}", duration(moment.executing + moment.set_get)),
        ),
        (moment.preempted, preempted(moment)),
        (moment.blocked, blocked(moment)),
        (moment.gate, format!("waited {} at the gate of its FMU", duration(moment.gate))),
        (moment.wakeup, woken(moment)),
    ];
    parts.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let named = parts.iter().filter(|(time, _)| *time >= moment.response / SHARE).count().max(1);
    parts.truncate(named);
    parts.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join("; ")
}

fn preempted(moment: &ActivationResult) -> String {
    let by = moment.others.iter().find(|other| !other.under_way);
    let by = by.map_or(String::new(), |other| format!(" by {}", other.clock));
    format!("preempted{by} for {}", duration(moment.preempted))
}

fn blocked(moment: &ActivationResult) -> String {
    let by = moment.blocked_by.as_ref().map_or(String::new(), |clock| format!(" held by {clock}"));
    format!("blocked for {} on the preemption lock{by}", duration(moment.blocked))
}

/// The causes of the time before a wake-up.
fn woken(moment: &ActivationResult) -> String {
    let late = duration(moment.wakeup);
    let before: u64 = ran_before(moment);
    match moment.others.iter().find(|other| !other.under_way) {
        _ if moment.follows => format!("began {late} late, after the activation before it"),
        Some(other) if before >= moment.wakeup / 2 => format!("woken {late} late, after {}", other.clock),
        _ => format!("woken {late} late by the machine"),
    }
}

/// Time in which other clocks were at work from beginning to end, as far as it lay before the wake-up: what is beyond the
/// time for which it was preempted.
fn ran_before(moment: &ActivationResult) -> u64 {
    let ran: u64 = moment.others.iter().filter(|other| !other.under_way).map(|other| other.overlap).sum();
    ran.saturating_sub(moment.preempted).min(moment.wakeup)
}

#[cfg(test)]
mod tests {
    use super::super::causes::OtherClock;
    use super::*;

    fn overran(moment: ActivationResult) -> OverrunResult {
        let response = moment.parts().iter().map(|(_, part)| part).sum();
        OverrunResult { predecessor: ActivationResult { response, ..moment }, ..OverrunResult::default() }
    }

    fn other(clock: &str, overlap: u64, under_way: bool) -> OtherClock {
        OtherClock { clock: clock.into(), overlap, under_way }
    }

    #[test]
    fn the_largest_parts_are_the_cause() {
        let moment = || ActivationResult { wakeup: 2_000, gate: 300, set_get: 1_000, ..ActivationResult::default() };
        for (moment, words) in [
            (ActivationResult { executing: 1_500_000, ..moment() }, "its own execution, 1.50 ms"),
            (
                ActivationResult {
                    executing: 400_000,
                    preempted: 900_000,
                    others: vec![other("ecu.slow", 2_000, true), other("plant.step", 900_000, false)],
                    ..moment()
                },
                "preempted by plant.step for 900 µs; its own execution, 401 µs",
            ),
            (
                ActivationResult {
                    executing: 100_000,
                    blocked: 950_000,
                    blocked_by: Some("ecu.slow".into()),
                    ..moment()
                },
                "blocked for 950 µs on the preemption lock held by ecu.slow",
            ),
            (ActivationResult { gate: 1_100_000, executing: 1, ..moment() }, "waited 1.10 ms at the gate of its FMU"),
            (
                ActivationResult { wakeup: 5_000_000, others: vec![other("ecu.slow", 5_000_000, true)], ..moment() },
                "woken 5.00 ms late by the machine",
            ),
            (
                ActivationResult { wakeup: 900_000, others: vec![other("plant.step", 800_000, false)], ..moment() },
                "woken 900 µs late, after plant.step",
            ),
            (
                ActivationResult { wakeup: 900_000, follows: true, ..moment() },
                "began 900 µs late, after the activation before it",
            ),
        ] {
            assert_eq!(cause(&overran(moment)), words);
        }
    }
}

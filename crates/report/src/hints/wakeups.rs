//! Hints from the worst wake-ups: which clock had the core, or that the machine had it, and whether that recurs.

use super::evidence::{NOTABLE, TIMES, name, of_the_worst};
use super::periods::{ARCS, Late, recurrence};
use crate::format::{duration, plural};
use crate::{ActivationResult, ClockResult, Run};
use std::collections::BTreeMap;

/// A clock is named if it was under way this many times as often as by chance.
const CHANCE: f64 = 3.0;

/// Late wake-ups of a clock during which the rig did little or nothing.
pub(super) struct Away {
    /// The words of a part of a sentence.
    words: String,
    /// The longest time for which the rig was at work in one of them, ns.
    rig: u64,
    /// The releases, if the clock is periodic: what has no period of its own says nothing of another one.
    late: Vec<Late>,
}

/// Late wake-ups of a core that are not the rig's.
pub(super) fn machine(run: &Run, cpu: usize, away: &[Away]) -> String {
    const NAMED: usize = 2;
    let mut named: Vec<String> = away.iter().take(NAMED).map(|one| one.words.clone()).collect();
    if away.len() > NAMED {
        named.push(format!("and some of {}", plural((away.len() - NAMED) as u64, "further clock")));
    }
    let rig = match away.iter().map(|one| one.rig).max().unwrap_or(0) {
        0 => "nothing of the rig was at work then".to_owned(),
        longest => format!("the rig was at work for {} of one of them at most", duration(longest)),
    };
    format!(
        "on core {cpu} the machine (kernel, interrupts, hypervisor) was away: {}; {rig}{}; `vecud doctor` says what to look at",
        named.join(", "),
        regularly(run, cpu, away)
    )
}

/// Whether late wake-ups of a core come in a period, as a part of a sentence.
fn regularly(run: &Run, cpu: usize, away: &[Away]) -> String {
    /// Points, and intervals of the rig, that are looked at: their number counts twice.
    const POINTS: usize = 256;
    const INTERVALS: usize = 16;
    const USUAL: [u64; 3] = [10_000_000, 100_000_000, 1_000_000_000];
    let late: Vec<Late> = away.iter().flat_map(|one| &one.late).copied().take(POINTS).collect();
    let of_core = run.clocks.iter().filter(|clock| clock.cpu == cpu).filter_map(interval);
    let mut tried: Vec<u64> = of_core.collect();
    tried.sort_unstable();
    tried.dedup();
    tried.truncate(INTERVALS);
    tried.extend(USUAL);
    let Some(found) = recurrence(&late, &tried) else { return String::new() };
    format!(
        "; {} of {} lie {} to {} after the beginning of each {}, counted from the start of the run: something comes as regularly",
        found.number,
        found.of,
        duration(found.phase),
        duration(found.phase + found.period / ARCS),
        duration(found.period)
    )
}

/// The interval of a periodic clock, ns.
fn interval(clock: &ClockResult) -> Option<u64> {
    clock.interval_s.map(|seconds| (seconds * 1e9).round() as u64).filter(|interval| *interval > 0)
}

/// Adds hints on clocks that coincide with late wake-ups; wake-ups that coincide with none go to `away`.
pub(super) fn wakeups(run: &Run, clock: &ClockResult, hints: &mut Vec<String>, away: &mut BTreeMap<usize, Vec<Away>>) {
    let all = clock.causes.worst_wakeups.len();
    let typical = clock.wakeup_machine().quantile(0.5);
    let least = NOTABLE.max(typical.saturating_mul(TIMES));
    let late: Vec<&ActivationResult> =
        clock.causes.worst_wakeups.iter().filter(|m| m.wakeup_machine() >= least).collect();
    let longest =
        |moments: &[&ActivationResult]| moments.iter().map(|moment| moment.wakeup_machine()).max().unwrap_or(0);
    let (own, rest): (Vec<&ActivationResult>, Vec<&ActivationResult>) =
        late.into_iter().partition(|moment| moment.follows);
    if !own.is_empty() {
        hints.push(format!(
            "{}, up to {}, waited for the activation before, which had not ended",
            of_the_worst(own.len(), all, "wake-up", clock),
            duration(longest(&own))
        ));
    }
    // Those that others filled for the most part, by who had the most of it.
    let (mut by_clock, mut machine) = (BTreeMap::<&str, Vec<&ActivationResult>>::new(), Vec::new());
    for moment in rest {
        let mut ran = moment.others.iter().filter(|other| !other.under_way);
        match moment.wakeup_rig == 0 && ran.clone().map(|other| other.overlap).sum::<u64>() >= moment.wakeup / 2 {
            true => by_clock.entry(&ran.next().expect("they ran").clock).or_default().push(moment),
            false => machine.push(moment),
        }
    }
    for (other, moments) in &by_clock {
        let overlap =
            |moment: &&ActivationResult| moment.others.iter().find(|o| o.clock == **other).map_or(0, |o| o.overlap);
        hints.push(format!(
            "{}, up to {}, coincide with activations of {other} on core {}, which took up to {} of that time",
            of_the_worst(moments.len(), all, "wake-up", clock),
            duration(longest(moments)),
            clock.cpu,
            duration(moments.iter().map(overlap).max().unwrap_or(0))
        ));
    }
    if machine.is_empty() {
        return;
    }
    let place =
        format!("{}, up to {},", of_the_worst(machine.len(), all, "wake-up", clock), duration(longest(&machine)));
    match suspect(run, clock, &machine) {
        Some((other, number, share)) => hints.push(format!(
            "{place} fall into activations of {other}, a less urgent clock of that core, {number} times, although it is under \
             way in only {share:.1} % of the time: something in it keeps the core, such as a system call"
        )),
        None => {
            let ran = |moment: &&ActivationResult| {
                moment.others.iter().filter(|other| !other.under_way).map(|other| other.overlap).sum::<u64>()
            };
            let rig = machine.iter().map(ran).max().unwrap_or(0);
            let words = place.trim_end_matches(',').to_owned();
            let since_start = |moment: &&ActivationResult| (moment.release_monotonic_ns - run.start_monotonic_ns).max(0) as u64;
            let late = |interval| machine.iter().map(since_start).map(|at| Late { at, interval }).collect();
            let late = interval(clock).map(late).unwrap_or_default();
            away.entry(clock.cpu).or_default().push(Away { words, rig, late });
        }
    }
}

/// A clock that is under way in these wake-ups far more often than chance would have it: how often, and its share of the
/// run's time in per cent.
fn suspect<'r>(run: &'r Run, clock: &ClockResult, moments: &[&ActivationResult]) -> Option<(String, usize, f64)> {
    let of_core = run.clocks.iter().filter(|other| other.cpu == clock.cpu);
    let found = of_core.filter_map(|other: &'r ClockResult| {
        let (own, share) = (name(other), other.response.mean() * other.activations as f64 / (run.wall_seconds * 1e9));
        let in_it = |moment: &&&ActivationResult| moment.others.iter().any(|o| o.under_way && o.clock == own);
        let number = moments.iter().filter(in_it).count();
        let by_far =
            number >= 3 && 2 * number > moments.len() && number as f64 >= CHANCE * share * moments.len() as f64;
        by_far.then_some((own, number, share * 100.0))
    });
    found.max_by_key(|(_, number, _)| *number)
}

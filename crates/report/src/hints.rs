//! What the figures of a run point at, in words: where lateness came from, as far as the run itself can tell.
//!
//! A pure function of the run. Each hint states its evidence in numbers; where there is none, nothing is said. Nothing here
//! changes the verdict. In virtual time nothing is late, and there are no hints of lateness.
//!
//! | hint | evidence |
//! |---|---|
//! | demoted | the watchdog took its priority |
//! | other core | activations were seen on another core than planned |
//! | page faults | the kernel counted some for the thread after its first activation, where that was at the start |
//! | switched away | the kernel took the core away [`SWITCHES`] times or more often than more urgent clocks of that core woke |
//! | first activation | it has the longest response, [`NOTABLE`] and [`TIMES`] times the median, and page faults |
//! | late wake-ups | of the worst, those of at least [`NOTABLE`] and [`TIMES`] times the median: who filled them, see below |
//! | waits for the lock | in the list of the worst, those with at least [`NOTABLE`] and a quarter of the response |
//! | the kernel's trace | of the worst wake-up in it, if that is late, and the worst response of which others than the rig had half: who had the core ([`kernel`]) |
//! | counts of a core | stolen time, interrupts of firmware, throttling; devices that interrupt it often ([`kernel`]) |
//! | growing memory | the process of the FMUs has [`GROWTH`] more at the end of the run than after its first quarter, and as steadily ([`memory`]); in virtual time, too |
//! | preemption, own code | the worst responses of [`TIGHT`] per cent of the interval or more: what took at least half of them |
//!
//! A late wake-up is put down to the clock that was at work for most of it, if others of the rig were for half of it; else
//! to a less urgent one that was under way in most of these, at least three times and three times as often as by chance; else
//! to the machine; of these it is told if they recur in a [period](periods).

mod kernel;
mod memory;
mod periods;

use self::periods::{Late, recurrence};
use super::causes::ActivationResult;
use super::format::{count, duration, plural};
use super::{ClockResult, Run, Scheduling};
use std::collections::BTreeMap;
use vecud_plan::Mode;

/// Nothing shorter is worth a word, ns.
pub const NOTABLE: u64 = 50_000;
/// Nothing that is not so many times the median is late.
pub const TIMES: u64 = 5;
/// A part of the interval beyond which a response is tight, in per cent.
pub const TIGHT: u64 = 50;
/// Fewer involuntary switches than this are no evidence.
pub const SWITCHES: u64 = 3;
/// How many times as often as by chance somebody has to be under way to be named.
const CHANCE: f64 = 3.0;

/// The hints, clock by clock in merged order, then core by core.
pub fn hints(run: &Run) -> Vec<String> {
    let (mut hints, mut away) = (Vec::new(), BTreeMap::new());
    if run.mode == Mode::RealTime {
        for clock in &run.clocks {
            thread(run, clock, &mut hints);
            first(clock, &mut hints);
            wakeups(run, clock, &mut hints, &mut away);
            locks(clock, &mut hints);
            budget(clock, &mut hints);
            kernel::wakeup(clock, &mut hints);
            kernel::response(clock, &mut hints);
        }
        hints.extend(away.iter().map(|(cpu, away)| machine(run, *cpu, away)));
        run.host.cores.iter().for_each(|core| kernel::core(run, core, &mut hints));
    }
    hints.extend(memory::growth(run));
    hints
}

fn name(clock: &ClockResult) -> String {
    format!("{}.{}", clock.fmu, clock.clock)
}

/// `3 of the 10 worst wake-ups of ecu.task_1ms`.
fn of_the_worst(number: usize, all: usize, what: &str, clock: &ClockResult) -> String {
    match all {
        1 => format!("the only {what} of {}", name(clock)),
        _ => format!("{number} of the {all} worst {what}s of {}", name(clock)),
    }
}

/// What the kernel and the watchdog have said of the thread.
fn thread(run: &Run, clock: &ClockResult, hints: &mut Vec<String>) {
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
fn first(clock: &ClockResult, hints: &mut Vec<String>) {
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

/// Late wake-ups of a clock during which the rig did little or nothing.
struct Away {
    /// As a part of a sentence.
    words: String,
    /// The most that the rig was at work in one of them, ns.
    rig: u64,
    /// The releases, if the clock is periodic: what has no period of its own says nothing of another one.
    late: Vec<Late>,
}

/// Late wake-ups of a core that are not the rig's.
fn machine(run: &Run, cpu: usize, away: &[Away]) -> String {
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
        duration(found.phase + found.period / periods::ARCS),
        duration(found.period)
    )
}

/// The interval of a periodic clock, ns.
fn interval(clock: &ClockResult) -> Option<u64> {
    clock.interval_s.map(|seconds| (seconds * 1e9).round() as u64).filter(|interval| *interval > 0)
}

/// What late wake-ups coincide with; those that coincide with nothing go to `away`.
fn wakeups(run: &Run, clock: &ClockResult, hints: &mut Vec<String>, away: &mut BTreeMap<usize, Vec<Away>>) {
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

/// Waits for the preemption lock.
fn locks(clock: &ClockResult, hints: &mut Vec<String>) {
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

/// What a response that comes near its interval is made of.
fn budget(clock: &ClockResult, hints: &mut Vec<String>) {
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

#[cfg(test)]
mod tests;

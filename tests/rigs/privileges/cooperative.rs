//! Random rigs as somebody without privileges: one partition of an instance at a time, the most urgent due one next, as
//! the tracer has noted it.

use crate::program::clock::{DELAYED, EQUAL_A, EQUAL_B, HIGH, LOW, NAMES, OUT_HIGH, OUT_LOW, PERIOD, PRIORITY, SLOW};
use crate::program::{
    Event, Kind, Outcome, Random, Rig, Seen, Trace, behaviour, check_threads, jail, shared_core, user,
};
use std::collections::BTreeMap;

const STOP_MS: u64 = 400;

fn random_rig(seed: u64) -> Rig {
    let mut random = Random(seed);
    // Asleep in FMU code, so that others' threads run: they must not have the turn.
    let (a, b) = (behaviour(&mut random, 400, 150), behaviour(&mut random, 400, 150));
    Rig::new(&format!("stop_time = {}", STOP_MS as f64 / 1000.0))
        .fmu("a", jail::fmu("tracer"), &a, "")
        .fmu("b", jail::fmu("tracer"), &b, "")
        .trigger("a.out_high", "a.high")
        .trigger("b.out_high", "b.high")
        .trigger("a.out_low", "b.low")
        .trigger("b.out_low", "a.low")
        .connect("a.out_f64", "b.in_f64")
        .more("[record]\nsignals = ['*.count_*', '*.violation*']")
}

/// When each activation became due, CLOCK_MONOTONIC in ns, by its place in the trace.
fn due(trace: &Trace, start: i64) -> BTreeMap<usize, i64> {
    let wall = |time: f64| start + (time * 1e9).round() as i64;
    let mut due = BTreeMap::new();
    let mut running: BTreeMap<u32, f64> = BTreeMap::new(); // thread → activation time
    let mut ticked: BTreeMap<i64, i64> = BTreeMap::new(); // tick of high at → handed over at
    let mut armed = 0;
    for (index, event) in trace.events.iter().enumerate() {
        if event.is("activate", "begin") {
            running.insert(event.tid, event.time);
            let at = match event.clock {
                HIGH => ticked.get(&wall(event.time)).copied(),
                DELAYED => Some(wall(event.time).max(armed)),
                clock if PERIOD[clock as usize] > 0 => Some(wall(event.time)),
                _ => None, // low: nobody is less urgent
            };
            due.extend(at.map(|at| (index, at)));
        } else if event.is("get_clock", "end") && event.hash >> OUT_HIGH & 1 == 1 {
            ticked.entry(wall(running[&event.tid])).or_insert(event.ns);
        } else if event.is("get_interval", "end") && event.hash == 2 {
            armed = event.ns;
        }
    }
    due
}

/// Nobody begins while one is due that has precedence. Gives how often one had to stand back.
fn check_precedence(trace: &Trace, start: i64) -> (u64, Vec<String>) {
    let due = due(trace, start);
    let mut broken = Vec::new();
    let (mut stood_back, mut free_since) = (0, 0);
    let order = |index: usize, event: &Event| (PRIORITY[event.clock as usize], due.get(&index), event.clock);
    for (index, event) in trace.events.iter().enumerate() {
        if event.is("activate", "end") {
            free_since = event.ns;
        }
        if !event.is("activate", "begin") {
            continue;
        }
        // The decision was not made before the turn was free, and not before this one was due.
        let decided = free_since.max(due.get(&index).copied().unwrap_or(0));
        let later = trace.events.iter().enumerate().skip(index + 1);
        // Activations are some ten milliseconds late at most; a second is far enough ahead.
        for (other, activation) in later.take_while(|(_, e)| e.ns < event.ns + 1_000_000_000) {
            let is_due = || due.get(&other).is_some_and(|at| *at <= decided);
            if activation.is("activate", "begin") && is_due() {
                if order(other, activation) < order(index, event) {
                    let [first, second] = [activation, event].map(|e| NAMES[e.clock as usize]);
                    broken.push(format!(
                        "{} #{}: {second} before {first} of {} s",
                        trace.fmu, event.seq, activation.time
                    ));
                }
                stood_back += 1;
            }
        }
    }
    (stood_back, broken)
}

fn check(run: &Outcome) -> (Seen, u64, Vec<String>) {
    let start = run.report()["start_monotonic_ns"].as_i64().unwrap();
    let (mut seen, mut stood_back, mut broken) = (Seen::default(), 0, Vec::new());
    for fmu in ["a", "b"] {
        let trace = run.trace(fmu);
        let (own, found) = trace.check(Kind::OneAtATime);
        seen += own;
        broken.extend(found);
        let (number, found) = check_precedence(&trace, start);
        stood_back += number;
        broken.extend(found);
        broken.extend(check_threads(&trace));
        broken.extend(run.check_counts(fmu, STOP_MS));
    }
    for (source, output, target, clock) in
        [("a", OUT_HIGH, "a", HIGH), ("b", OUT_HIGH, "b", HIGH), ("a", OUT_LOW, "b", LOW), ("b", OUT_LOW, "a", LOW)]
    {
        broken.extend(run.check_ticks(source, output, target, clock));
    }
    (seen, stood_back, broken)
}

#[test]
fn random_rigs_run_in_turns_the_most_urgent_due_one_next_as_this_user() {
    if !user::root("random_rigs_run_in_turns_the_most_urgent_due_one_next_as_this_user") {
        return;
    }
    shared_core(|| {
        let (mut total, mut stood_back) = (Seen::default(), 0);
        for seed in 1..=8 {
            let rig = random_rig(seed);
            let run = rig.finish(rig.start(jail::as_nobody(&rig, 1 << 20))).exits(0);
            assert_eq!(run.report()["host"]["scheduling"], "cooperative");
            let (seen, number, broken) = check(&run);
            println!("seed {seed}: {seen:?}, {number} stood back");
            let first = broken.iter().take(12).map(String::as_str).collect::<Vec<_>>().join("\n");
            assert!(broken.is_empty(), "seed {seed}: {} rules broken:\n{first}", broken.len());
            total += seen;
            stood_back += number;
        }
        assert_eq!(total.preemptions, 0);
        let enough = total.activations > 500 && total.high_ticks > 50 && total.locked_sections > 200;
        assert!(enough && stood_back > 50, "too little to be looked at: {total:?}, {stood_back}");
    });
}

#[test]
fn equal_partitions_have_their_turns_in_the_order_of_their_releases_as_this_user() {
    if !user::root("equal_partitions_have_their_turns_in_the_order_of_their_releases_as_this_user") {
        return;
    }
    shared_core(|| {
        // slow keeps the turn for 3.5 ms: meanwhile equal_a (2 ms) and equal_b (3 ms) become due, one before the other.
        let rig = Rig::new("stop_time = 0.4").fmu("a", jail::fmu("tracer"), "slow_burn_us = 3500", "");
        let run = rig.finish(rig.start(jail::as_nobody(&rig, 1 << 20))).exits(0);
        let trace = run.trace("a");
        let (_, broken) = check_precedence(&trace, run.report()["start_monotonic_ns"].as_i64().unwrap());
        assert!(broken.is_empty(), "{broken:#?}");
        let begins: Vec<&Event> = trace.events.iter().filter(|event| event.is("activate", "begin")).collect();
        let after_slow = begins.windows(2).filter(|pair| pair[0].clock == SLOW);
        assert!(after_slow.count() > 0);
        assert!(begins.iter().any(|event| event.clock == EQUAL_A) && begins.iter().any(|event| event.clock == EQUAL_B));
    });
}

//! Real time records the numbers of virtual time, to the byte, whatever the schedule makes of it (semantics S11, S15): for
//! signals that depend on delayed connections, known times and own state only.
//!
//! A run whose report says that something was too late proves nothing about the rest of it: what it recorded up to the time
//! that the report names is compared all the same, and the run is repeated, at most five times on a core of its own.

mod all_kinds;
mod closed_loop;
mod engine;
mod kinds;
mod pauses;
use crate::program;
mod report;
mod rigs;
#[cfg(debug_assertions)]
mod wrong;

use program::permit::has_own_core;
use program::{Outcome, Rig, real_time, real_time_on_own_core};
use serde_json::Value;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// How often a run is begun that something is too late in. Beside other rigs it is not again: the test is, on a core of its own.
fn trials() -> u32 {
    if has_own_core() { 5 } else { 1 }
}

/// Runs a rig in a mode.
fn run(rig: &Rig, mode: &str, more: &[(&str, &str)]) -> Outcome {
    let mut command = rig.command();
    command.args(["--mode", mode]).envs(more.iter().copied());
    rig.finish(rig.start(command)).exits(0)
}

/// Keeps all cores busy with other work while `body` runs: real-time threads always wake up a core that is busy. Tests that want
/// that at the same time share the work, and other tests come before it.
fn under_load<T>(body: impl FnOnce() -> T) -> T {
    static WANTED: AtomicUsize = AtomicUsize::new(0);
    if WANTED.fetch_add(1, SeqCst) == 0 {
        for _ in 0..3 {
            std::thread::spawn(|| {
                // SAFETY: takes three numbers; of Linux it is the calling thread's value.
                unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
                let mut x = 1u64;
                while WANTED.load(SeqCst) > 0 {
                    (0..10_000).for_each(|i| x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005) + i));
                }
            });
        }
    }
    let result = catch_unwind(AssertUnwindSafe(body));
    WANTED.fetch_sub(1, SeqCst);
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// The first line in which two recordings differ, among those before `until` (s).
fn difference(expected: &str, recorded: &str, until: Option<f64>) -> Option<String> {
    let early = |line: &&str| {
        let time = line.split(',').next().and_then(|time| time.parse::<f64>().ok());
        until.is_none_or(|until| time.is_none_or(|time| time < until))
    };
    let (mut a, mut b) = (expected.lines().filter(early), recorded.lines().filter(early));
    loop {
        match (a.next(), b.next()) {
            (None, None) => return None,
            (a, b) if a == b => (),
            (a, b) => return Some(format!("virtual time: {a:?}\nreal time:    {b:?}")),
        }
    }
}

/// How often a mixer began later than the next release of the mixer that it reads, at least: as far as the percentiles of
/// its start latency tell.
fn late_starts(report: &Value) -> u64 {
    let of = |end: &Value| {
        let fmu = end.as_str()?.split('.').next()?.to_owned();
        report["clocks"].as_array()?.iter().find(|clock| clock["fmu"] == *fmu && clock["clock"] == "step")
    };
    let late = |connection: &Value| {
        let (producer, consumer) = (of(&connection["from"])?, of(&connection["to"])?);
        let (period, latency) = (producer["interval_s"].as_f64()? * 1e9, &consumer["start_latency"]);
        let count = latency["count"].as_f64()?;
        let later = |(name, share): (&str, f64)| {
            let over = latency[name].as_f64().is_some_and(|latency| latency > period);
            over.then(|| ((count * share) as u64).max(1))
        };
        [("p50", 0.5), ("p90", 0.1), ("p99", 0.01), ("max", 0.0)].into_iter().find_map(later)
    };
    report["connections"].as_array().unwrap().iter().filter_map(late).sum()
}

/// What came of a comparison.
enum Judgement {
    /// With so many late starts.
    Same(u64),
    Different(String),
    /// Something was too late in every trial.
    Late(Value),
}

/// Compares a run in real time, under load, with what was recorded in virtual time, where all columns are promised.
fn judge(rig: &Rig, expected: &str, environment: &[(&str, &str)]) -> Judgement {
    let mut late = Value::Null;
    for _ in 0..trials() {
        let outcome = under_load(|| run(rig, "realtime", environment));
        let (recorded, report) = (outcome.file("signals.csv"), outcome.report());
        let promise = report["promise"].clone();
        assert_eq!(promise["covered"], promise["columns"], "all columns are promised");
        assert!(promise["columns"].as_u64() > Some(5), "{promise}");
        let holds = promise["holds"] == true;
        if let Some(different) = difference(expected, &recorded, promise["until_s"].as_f64().filter(|_| !holds)) {
            return Judgement::Different(format!("{promise}\n{different}"));
        }
        if holds {
            assert!(expected == recorded);
            return Judgement::Same(late_starts(&report));
        }
        let _ = writeln!(std::io::stderr(), "REPEATED: {promise}");
        late = promise;
    }
    Judgement::Late(late)
}

/// Runs a rig that hardly keeps its cores busy in both modes. Gives what virtual time has recorded.
fn is_the_same(name: &str, rig: &Rig) -> String {
    let expected = run(rig, "virtual", &[]).file("signals.csv");
    real_time(name, || {
        records(rig, &expected);
    });
    expected
}

/// Runs a rig that does keep its cores busy in both modes, and has `late` look at the number of late starts.
fn is_the_same_on_own_core(name: &str, rig: &Rig, late: impl Fn(u64) + Sync) {
    let expected = run(rig, "virtual", &[]).file("signals.csv");
    real_time_on_own_core(name, || late(records(rig, &expected)));
}

/// Runs a rig in real time, which has to record these bytes. Gives the number of late starts.
#[track_caller]
fn records(rig: &Rig, expected: &str) -> u64 {
    match judge(rig, expected, &[]) {
        Judgement::Same(late) => late,
        Judgement::Different(how) => panic!("real time recorded other bytes than virtual time: {how}"),
        Judgement::Late(promise) => panic!("something was too late in every trial: {promise}"),
    }
}

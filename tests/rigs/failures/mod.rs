//! FMUs that fail, and runs that are stopped: what the exit code, the report and the recording say, and what is called
//! afterwards.

mod activations;
mod calls;
mod findings;
mod floods;
mod hangs;
mod initialisation;
mod killed;
use crate::program;
mod stacks;
mod stops;
mod unreturned;

use nix::sys::signal::Signal;
use program::{Kind, Outcome, Rig, changed_tracer, real_time, runner_now, runner_of, send, shared_core, wait_until};
use std::time::Duration;

const ERROR: i32 = 1;
const DISCARD: i32 = 2;
const FATAL: i32 = 3;
const HANG_ASLEEP: i32 = 4;
const CRASH: i32 = 5;
const EXIT: i32 = 6;
const LEAK_LOCK: i32 = 7;
const UNLOCK_UNLOCKED: i32 = 8;
const WARNING: i32 = 9;
const HANG_BUSY: i32 = 10;
const ABORT: i32 = 11;

/// Instance `a` fails in the 51st activation of `fast`; `b` is all right.
fn in_activation(kind: i32, rig: &str) -> Rig {
    two(&format!("fail_kind = {kind}, fail_clock = 1, fail_at = 51"), rig, "")
}

/// Instance `a` fails in a function.
fn in_function(kind: i32, function: i32, at: i32) -> Rig {
    two(&format!("fail_kind = {kind}, fail_function = {function}, fail_at = {at}"), "", "")
}

fn two(start: &str, rig: &str, keys: &str) -> Rig {
    two_for(0.2, start, rig, keys)
}

/// Two instances, for so many seconds.
fn two_for(stop: f64, start: &str, rig: &str, keys: &str) -> Rig {
    Rig::new(&format!("stop_time = {stop}\nshutdown_timeout = 0.3\n{rig}"))
        .tracer_with("a", start, keys)
        .tracer("b", "")
        .trigger("a.out_low", "b.low")
        .trigger("b.out_low", "a.low")
        .trigger("a.out_high", "a.high")
        .trigger("b.out_high", "b.high")
        .connect("b.out_f64", "a.in_f64")
        .connect("a.out_i32", "b.in_i32")
        .more("[record]\nsignals = ['*.count_*', '*.violations', '*.out_f64', '*.out_i32']")
}

/// Runs it in real time and in virtual time.
fn in_both_modes(rig: impl Fn() -> Rig + Sync, check: impl Fn(&Outcome, bool) + Sync) {
    shared_core(|| check(&rig().run(), true));
    check(&rig().run_virtual(), false);
}

/// The report of a run that failed, with everything up to then.
#[track_caller]
fn failed(run: &Outcome, a: &str, b: &str) {
    assert_eq!(run.code, 1, "{}", run.stderr);
    let report = run.report();
    assert_eq!((report["verdict"].as_str(), report["end"].as_str()), (Some("fail"), Some("failure")));
    assert_eq!((run.status("a").as_str(), run.status("b").as_str()), (a, b), "{:#?}", run.problems());
    assert!(run.out.join("report.html").exists());
}

fn kind(run: &Outcome) -> Kind {
    if run.report()["host"]["scheduling"] == "fifo" { Kind::Preemptive } else { Kind::OneAtATime }
}

/// What was recorded before the failure at 0.05 s is there, and nothing of the failed activation.
#[track_caller]
fn recorded_up_to_the_failure(run: &Outcome, realtime: bool) {
    let signals = run.signals();
    let (count, skipped) = (signals.last("a.count_fast"), run.count("a", "fast", "skipped"));
    assert_eq!(count, 50, "the 51st fails");
    assert!(skipped == 0 || realtime);
    let last_of_b = signals.last("b.count_fast") + run.count("b", "fast", "skipped");
    assert!((50..=52).contains(&last_of_b) || realtime, "{last_of_b}");
}

/// When the 51st activation of `fast` is, which is 0.05 s if none was skipped, as the report has to say it.
#[track_caller]
fn time_of_failure(run: &Outcome) -> String {
    format!("at {} s", run.trace("a").activations(program::clock::FAST)[50])
}

/// Nothing is activated after the failure; what is called instead.
#[track_caller]
fn end_of_a(run: &Outcome, terminate: usize, free: usize) {
    let trace = run.trace("a");
    let failure = trace.events.iter().position(|event| event.is("fail", "note")).expect("it fails");
    let later = trace.events[failure..].iter().filter(|event| event.is("activate", "begin"));
    assert_eq!(later.count(), 0, "activations after the failure");
    assert_eq!((trace.count("terminate", "begin"), trace.count("free", "begin")), (terminate, free));
    assert_eq!(trace.violations(), 0, "{:?}", trace.summary);
}

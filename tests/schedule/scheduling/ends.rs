//! However a run ends: each release of a periodic clock up to there is an activation, skipped or discarded (semantics S12), and what has
//! waited until then is in the latencies.

use crate::program::clock::{INPUTS, NAMES};
use crate::program::random::seeds;
use crate::program::{Outcome, Random, Rig, behaviour, real_time, real_time_on_own_core, runner_of, send, unaccounted};
use nix::sys::signal::Signal::{self, SIGCONT, SIGINT, SIGKILL, SIGSTOP};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::sleep;
use std::time::Duration;
use vecud::sys::{affinity, scheduling};

/// Two tracers on one core; these are the limits of their fastest clock.
fn rig(mode: &str, limits: &str) -> Rig {
    let cpu = *affinity::allowed_cpus().unwrap().last().unwrap();
    let rig = Rig::new(&format!("mode = '{mode}'\nstop_time = 1000\nshutdown_timeout = 0.3"));
    let more = format!("cpu = {cpu}\nclock.fast = {{ {limits} }}");
    ["a", "b"].into_iter().fold(rig, |rig, name| rig.tracer_with(name, "", &more))
}

/// Runs that rig and ends it by what `end` does, so many milliseconds after its start.
fn ended(rig: &Rig, after: u64, end: impl FnOnce(i32)) -> Outcome {
    let child = rig.start(rig.command());
    rig.wait_until_it_runs();
    sleep(Duration::from_millis(after));
    end(child.id() as i32);
    rig.finish(child)
}

/// Keeps a core busy, more urgent than every partition, as long as `body` runs.
fn while_busy<T>(cpu: usize, body: impl FnOnce() -> T) -> T {
    /// Tells, whatever happens.
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let (busy, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let _over = Over(&over);
        scope.spawn(|| {
            affinity::pin_to(cpu).unwrap();
            scheduling::set_fifo(99).unwrap();
            busy.store(true, SeqCst);
            while !over.load(SeqCst) {
                std::hint::spin_loop();
            }
        });
        while !busy.load(SeqCst) {
            sleep(Duration::from_millis(1));
        }
        body()
    })
}

fn interrupted(mode: &str) {
    let mut random = Random(39);
    for _ in 0..6 {
        let after = 100 + random.below(150);
        let outcome = ended(&rig(mode, ""), after, |supervisor| send(supervisor, SIGINT)).exits(0);
        assert_eq!(
            [unaccounted(&outcome.report(), "a"), unaccounted(&outcome.report(), "b")].concat(),
            Vec::<String>::new()
        );
    }
}

#[test]
fn of_a_run_that_a_signal_ends_no_release_is_lost() {
    real_time("of_a_run_that_a_signal_ends_no_release_is_lost", || interrupted("realtime"));
}

#[test]
fn of_a_run_in_virtual_time_that_a_signal_ends_no_release_is_lost() {
    interrupted("virtual");
}

/// Somebody else has the core when the end is asked for, and gives it back before the runner gives up.
#[test]
fn a_stall_that_lasts_until_the_end_is_in_counts_latencies_and_limits() {
    real_time_on_own_core("a_stall_that_lasts_until_the_end_is_in_counts_latencies_and_limits", || {
        let cpu = *affinity::allowed_cpus().unwrap().last().unwrap();
        let rig = rig("realtime", "max_overruns = 100, max_latency_us = 100000");
        let outcome = ended(&rig, 100, |supervisor| {
            while_busy(cpu, || {
                sleep(Duration::from_millis(200));
                send(supervisor, SIGINT);
                sleep(Duration::from_millis(50));
            });
        });
        let outcome = outcome.exits(3);
        assert_eq!(
            [unaccounted(&outcome.report(), "a"), unaccounted(&outcome.report(), "b")].concat(),
            Vec::<String>::new()
        );
        assert!(outcome.count("a", "fast", "overruns") > 150, "{}", outcome.clock("a", "fast"));
        outcome.problem(&["a.fast", "max_overruns"]);
        outcome.problem(&["a.fast", "max_latency_us"]);
    });
}

/// The runner cannot say it any more: it gets no core until it gives up, stands still until it is ended, or is killed.
#[test]
fn of_a_runner_that_cannot_say_it_no_release_is_lost() {
    real_time_on_own_core("of_a_runner_that_cannot_say_it_no_release_is_lost", || {
        let cpu = *affinity::allowed_cpus().unwrap().last().unwrap();
        let twice = |supervisor: i32, first: Signal| {
            send(supervisor, first);
            sleep(Duration::from_millis(50));
            send(supervisor, first);
        };
        let starved = ended(&rig("realtime", ""), 100, |supervisor| {
            while_busy(cpu, || {
                sleep(Duration::from_millis(100));
                send(supervisor, SIGINT);
                sleep(Duration::from_millis(700));
            });
        });
        let stopped = rig("realtime", "");
        let child = stopped.start(stopped.command());
        stopped.wait_until_it_runs();
        sleep(Duration::from_millis(100));
        send(runner_of(&child), SIGSTOP);
        sleep(Duration::from_millis(150));
        twice(child.id() as i32, SIGINT);
        let stopped = stopped.finish(child);
        let killed = rig("realtime", "");
        let child = killed.start(killed.command());
        killed.wait_until_it_runs();
        sleep(Duration::from_millis(100));
        send(runner_of(&child), SIGKILL);
        let killed = killed.finish(child);
        for (how, outcome) in [("starved", starved), ("stopped", stopped), ("killed", killed)] {
            let outcome = outcome.exits(1);
            assert_eq!(
                [unaccounted(&outcome.report(), "a"), unaccounted(&outcome.report(), "b")].concat(),
                Vec::<String>::new(),
                "{how}"
            );
            let overruns = outcome.count("a", "fast", "overruns");
            assert!(overruns > 80 || how == "killed", "{how}: {}", outcome.clock("a", "fast"));
        }
    });
}

/// How a run comes to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// By its stop time.
    StopTime,
    /// By SIGINT.
    Signal,
    /// Its runner is killed.
    Killed,
    /// Its runner is stopped, and killed in the end.
    Stopped,
    /// Its runner is stopped, told to end, and goes on.
    Paused,
}

/// A random rig, which ends in a random way, and may be kept from its core before.
fn ends_at_random(seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let way = random.of(&[Way::StopTime, Way::Signal, Way::Signal, Way::Killed, Way::Stopped, Way::Paused]);
    let is_virtual = random.one_in(4);
    let mode = if is_virtual { "virtual" } else { "realtime" };
    let stop = match way {
        Way::StopTime => format!("0.{:03}", 50 + random.below(150)),
        _ => "1000".to_owned(),
    };
    let cpu = *affinity::allowed_cpus().unwrap().last().unwrap();
    let mut rig = Rig::new(&format!("mode = '{mode}'\nstop_time = {stop}\nshutdown_timeout = 0.3"));
    for name in ["a", "b"] {
        let overrun = random.of(&["skip", "queue"]);
        let start = behaviour(&mut random, 60, 0);
        rig = rig.tracer_with(name, &start, &format!("cpu = {cpu}\nclock.fast = {{ overrun = '{overrun}' }}"));
    }
    let (before, stall, after) = (10 + random.below(80), random.below(120), random.below(60));
    let stalls = !is_virtual && random.one_in(2);
    let millis = |millis| sleep(Duration::from_millis(millis));
    let child = rig.start(rig.command());
    rig.wait_until_it_runs();
    let (supervisor, runner) = (child.id() as i32, runner_of(&child));
    let end = || match way {
        Way::StopTime => (),
        Way::Signal => send(supervisor, SIGINT),
        Way::Killed => send(runner, SIGKILL),
        Way::Stopped => {
            send(runner, SIGSTOP);
            millis(after);
            send(supervisor, SIGINT);
            millis(20);
            send(supervisor, SIGINT);
        }
        Way::Paused => {
            send(runner, SIGSTOP);
            millis(after);
            send(supervisor, SIGINT);
            send(runner, SIGCONT);
        }
    };
    millis(before);
    match stalls {
        false => end(),
        // It ends within the stall, or after it.
        true if random.one_in(2) => while_busy(cpu, || {
            millis(stall);
            end();
            millis(after);
        }),
        true => {
            while_busy(cpu, || millis(stall));
            millis(after);
            end();
        }
    }
    let outcome = rig.finish(child);
    let mut wrong = [unaccounted(&outcome.report(), "a"), unaccounted(&outcome.report(), "b")].concat();
    for (fmu, clock) in ["a", "b"].into_iter().flat_map(|fmu| INPUTS.map(move |clock| (fmu, clock))) {
        let name = NAMES[clock as usize];
        let (counted, own) = (outcome.count(fmu, name, "activations"), own_count(&outcome, fmu, clock));
        // A runner may die between a return and its count.
        if own.is_some_and(|own| own < counted || own - counted > u64::from(outcome.code == 1)) {
            wrong.push(format!("{fmu}.{name}: {counted} activations, of which the FMU has seen {own:?}"));
        }
    }
    wrong.extend(outcome.stdout.contains("a bug in vecud").then(|| outcome.stdout.clone()));
    let how = format!("seed {seed}, {way:?}, {mode}, stalls: {stalls}");
    wrong.into_iter().map(|words| format!("{how}: {words}")).collect()
}

/// How many activations the FMU itself has counted that have returned; `None`: it was killed before it could say.
fn own_count(outcome: &Outcome, fmu: &str, clock: u32) -> Option<u64> {
    let trace = outcome.has_trace(fmu).then(|| outcome.trace(fmu))?;
    Some(trace.events.iter().filter(|event| event.is("activate", "end") && event.clock == clock).count() as u64)
}

/// `VECUD_SEED=1..1001` makes a thousand of them. Whatever the machine does meanwhile, it has to hold: nothing is repeated.
#[test]
fn however_a_run_ends_the_sum_of_each_clock_closes_and_the_fmu_has_counted_the_same() {
    let wrong = Mutex::new(Vec::new());
    real_time_on_own_core("however_a_run_ends_the_sum_of_each_clock_closes_and_the_fmu_has_counted_the_same", || {
        wrong.lock().unwrap().extend(seeds(8).into_iter().flat_map(ends_at_random));
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Steps that return early are released beside the grid as well, and so short ones are not counted by it: the sum is not asked for there,
/// and nobody is told that it does not close.
#[test]
fn of_clocks_whose_grid_does_not_tell_all_releases_no_sum_is_asked_for() {
    for (fmu, step) in [("rejecting", "0.01"), ("integrator", "1e-7")] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(fmu);
        let stop = if step == "0.01" { "0.1" } else { "1e-4" };
        let text = format!("[rig]\nstop_time = {stop}\n[fmu.m]\npath = '{}'\nstep = {step}\n", path.display());
        let outcome = Rig::of_text(&text).run_virtual().exits(0);
        assert!(outcome.count("m", "step", "activations") > 10, "{fmu}");
        assert_eq!(outcome.clock("m", "step")["releases"], serde_json::Value::Null, "{fmu}");
    }
}

//! How threads wait for their releases: `[host] spin_us` and `clock`. Neither changes what runs when.

use crate::program::clock::{FAST, HIGH, LOW};
use crate::program::{Kind, Outcome, PATIENCE, Rig, check_threads, real_time, runner_of, send, shared_core};
use nix::sys::signal::Signal;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Ticks of both kinds, and partitions that are preempted; what overruns waits and keeps its time.
fn rig(host: &str) -> Rig {
    Rig::new("stop_time = 0.5\noverrun = 'queue'")
        .tracer("a", "equal_a_burn_us = 40, equal_b_burn_us = 60, fast_tick_low_every = 4")
        .tracer("b", "equal_a_tick_low_every = 3")
        .trigger("a.out_high", "a.high")
        .trigger("b.out_high", "b.high")
        .trigger("a.out_low", "b.low")
        .trigger("b.out_low", "a.low")
        .more(&format!("[host]\n{host}\n"))
}

fn activated(run: &Outcome) -> Vec<Vec<f64>> {
    let clocks = [("a", FAST), ("b", FAST), ("b", HIGH), ("a", LOW)];
    clocks.iter().map(|(fmu, clock)| run.trace(fmu).activations(*clock)).collect()
}

const WAYS: [&str; 4] = ["", "spin_us = 50", "clock = 'tai'", "clock = 'tai'\nspin_us = 50"];

/// Whatever clock, and polled for or not: the same activations as in virtual time, by the same rules.
#[test]
fn how_a_thread_waits_changes_nothing_else() {
    let expected = activated(&rig("").run_virtual().exits(0));
    for way in WAYS {
        shared_core(|| {
            let run = rig(way).run().exits(0);
            let report = run.report();
            assert_eq!(activated(&run), expected, "{way}");
            let host = &report["host"];
            let kind = if host["scheduling"] == "fifo" { Kind::Preemptive } else { Kind::OneAtATime };
            for fmu in ["a", "b"] {
                let (_, broken) = run.trace(fmu).check(kind);
                assert!(broken.is_empty(), "{way}: {broken:?}");
                assert_eq!(check_threads(&run.trace(fmu)), Vec::<String>::new(), "{way}");
            }
            assert_eq!(host["clock"], if way.contains("tai") { "tai" } else { "monotonic" });
            assert_eq!(host["spin_us"], if way.contains("spin") { 50.0 } else { 0.0 });
            let clocks = report["clocks"].as_array().unwrap();
            let ran = clocks.iter().filter(|clock| clock["activations"].as_u64() > Some(0));
            let has_course = |clock: &serde_json::Value| clock["over_time"]["response"].is_array();
            assert!(ran.clone().count() > 0 && ran.clone().all(has_course), "{way}: latencies over time");
        });
    }
}

/// The engine with a clock of its own for releases: teeth are countdowns that each activation arms anew, so every one of
/// them is a signal to a thread that sleeps until a later instant.
#[test]
fn countdowns_are_armed_anew_by_signals() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("examples/engine.toml")).unwrap();
    let text = text.replace("../fmus", root.join("fmus").to_str().unwrap()).replace("[host]", "[host]\nclock = 'tai'");
    let text = if text.contains("clock = 'tai'") { text } else { format!("{text}\n[host]\nclock = 'tai'\n") };
    shared_core(|| {
        let rig = Rig::of_text(&text);
        let counts = |run: Outcome| {
            [("plant", "next_tooth"), ("ecu", "crank_isr"), ("ecu", "task_1ms")]
                .map(|(fmu, clock)| run.count(fmu, clock, "activations"))
        };
        let run = rig.run_with(&["--stop-time", "1"]).exits(0);
        assert_eq!(run.report()["host"]["clock"], "tai");
        let real = counts(run);
        let without = counts(rig.run_with(&["--stop-time", "1", "--mode", "virtual"]).exits(0));
        for (real, without) in real.into_iter().zip(without) {
            assert!(
                real > 0 && real.abs_diff(without) <= without / 10,
                "{real} activations, {without} in virtual time"
            );
        }
    });
}

/// A thread that sleeps for a minute is reached at once, by a stop; and only the signal for that is let through.
#[test]
fn a_stop_reaches_who_sleeps_on_tai() {
    real_time("a_stop_reaches_who_sleeps_on_tai", || {
        let more = "[host]\nclock = 'tai'\n[[trigger]]\nclock = 'a.low'\nat = [60.0]\n";
        let rig = Rig::new("").tracer("a", "").more(more);
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let runner = runner_of(&child);
        let blocked: Vec<u64> = fs::read_dir(format!("/proc/{runner}/task"))
            .unwrap()
            .map(|task| fs::read_to_string(task.unwrap().path().join("status")).unwrap())
            .filter(|status| status.starts_with("Name:\ta."))
            .map(|status| {
                let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
                u64::from_str_radix(line.trim(), 16).unwrap()
            })
            .collect();
        assert!(!blocked.is_empty());
        let lets_through = 1_u64 << (libc::SIGRTMIN() + 7 - 1);
        for mask in blocked {
            assert_eq!(mask & lets_through, 0);
            for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGUSR1, libc::SIGRTMIN() + 6] {
                assert_ne!(mask >> (signal - 1) & 1, 0, "{signal} is not for partitions");
            }
        }
        let asked = Instant::now();
        send(child.id() as i32, Signal::SIGINT);
        rig.finish(child).exits(0);
        assert!(asked.elapsed() < PATIENCE);
    });
}

/// Who polls without end lets nobody else run.
#[test]
fn polling_all_the_time_is_refused_and_much_of_it_noted() {
    let check = |spin: u32| {
        let rig = Rig::new("").tracer("a", "").more(&format!("[host]\nspin_us = {spin}\n"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        command.arg("check").arg(rig.file()).env("VECUD_CACHE", crate::program::cache()).output().unwrap()
    };
    let refused = check(600);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{message}");
    assert!(message.contains("spin_us = 600 would take") && message.contains("% of core"), "{message}");
    let noted = String::from_utf8(check(200).stdout).unwrap();
    assert!(noted.contains("spin_us = 200: polling for releases takes"), "{noted}");
    let little = check(20);
    assert!(little.status.success() && !String::from_utf8(little.stdout).unwrap().contains("spin_us"));
}

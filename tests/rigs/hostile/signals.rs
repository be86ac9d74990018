//! Runs that are interrupted at random instants, from the first instruction to the last.

use crate::hostile::judge;
use crate::program::{PATIENCE, Random, handles, send, shared_core, wait_until};
use nix::sys::signal::Signal::{self, SIGINT, SIGKILL, SIGTERM};
use std::process::Command;
use std::time::{Duration, Instant};

/// Sends a signal so long after the start, perhaps twice, and looks at what is left.
fn interrupt(mode: &str, seed: u64) {
    let mut random = Random(seed);
    let rig = crate::hostile::rig(mode);
    let mut command = rig.command();
    if random.one_in(2) {
        command.args(["--stop-time", "1000000"]);
    }
    let running = judge::start(&rig, command);
    let signal: Signal = random.of(&[SIGINT, SIGTERM]);
    let process = i32::try_from(running.child.id()).unwrap();
    // Before its first instruction the kernel ends it, and nothing was begun.
    wait_until("signals are handled", || handles(process, signal));
    std::thread::sleep(Duration::from_micros(random.below(200_000)));
    let what = format!("{signal} in {mode}, seed {seed}");
    // Its own process until it is waited for, so this number is nobody else's.
    send(process, signal);
    if random.one_in(4) {
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        send(process, signal);
    }
    let judged = running.end(&what);
    assert!(matches!(judged.code, Some(0..=2)), "{what}: {:?}\n{}", judged.code, judged.stderr);
    assert!(judged.report.is_some() || judged.code == Some(2), "{what}: no report\n{}", judged.stderr);
}

fn seeds(some: u64, all: u64) -> std::ops::Range<u64> {
    0..if crate::hostile::all() { all } else { some }
}

#[test]
fn a_signal_at_any_instant_leads_to_an_orderly_end_in_virtual_time() {
    seeds(40, 400).for_each(|seed| interrupt("virtual", seed));
}

#[test]
fn a_signal_at_any_instant_leads_to_an_orderly_end_in_real_time() {
    shared_core(|| seeds(30, 400).for_each(|seed| interrupt("realtime", 1000 + seed)));
}

/// With an empty cache the FMU has to be built first: whoever asks for the end meanwhile gets it at once, no compiler goes on,
/// and no temporary folder stays. The compiler needs far longer than the signal takes to come.
fn interrupt_a_build(subcommand: &str, seed: u64) {
    let mut random = Random(seed);
    let rig = crate::hostile::rig_of(&crate::hostile::SLOWLY_BUILT, "virtual");
    let cache = rig.folder().join("cache");
    let mut command = match subcommand {
        "run" => rig.command(),
        other => {
            let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
            command.arg(other).arg(rig.file());
            command
        }
    };
    command.env("VECUD_CACHE", &cache);
    let running = judge::start(&rig, command);
    let (signal, after): (Signal, _) = (random.of(&[SIGINT, SIGTERM]), Duration::from_micros(random.below(150_000)));
    let process = i32::try_from(running.child.id()).unwrap();
    wait_until("a compiler is at work", || running.has_started("cc1"));
    std::thread::sleep(after);
    send(process, signal);
    let asked = Instant::now();
    let what = format!("{signal} {after:?} after `vecud {subcommand}` began to build, seed {seed}");
    let judged = running.end(&what);
    assert!(asked.elapsed() < PATIENCE, "{what}: {:?}", asked.elapsed());
    let left: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{what}: {left:?}");
    assert_eq!(judged.code, Some(2), "{what}\n{}", judged.stderr);
    assert!(judged.stderr.contains("interrupted"), "{what}\n{}", judged.stderr);
    assert!(judged.report.is_none(), "{what}");
}

#[test]
fn a_signal_while_fmus_are_built_leaves_nothing() {
    seeds(6, 60).for_each(|seed| interrupt_a_build("run", 3000 + seed));
    seeds(4, 40).for_each(|seed| interrupt_a_build("check", 4000 + seed));
}

#[test]
fn a_supervisor_that_is_killed_leaves_no_process() {
    // What a compiler has begun it ends by itself.
    let rig = crate::hostile::rig("virtual");
    judge::start(&rig, rig.command()).judge("built");
    shared_core(|| {
        for seed in seeds(10, 100) {
            let mut random = Random(2000 + seed);
            let rig = crate::hostile::rig(random.of(&["virtual", "realtime"]));
            let mut command = rig.command();
            command.args(["--stop-time", "1000000"]);
            let running = judge::start(&rig, command);
            std::thread::sleep(Duration::from_micros(random.below(300_000)));
            send(i32::try_from(running.child.id()).unwrap(), SIGKILL);
            running.killed(&format!("SIGKILL of the supervisor, seed {seed}"));
        }
    });
}

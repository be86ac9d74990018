//! Resource limits of the surroundings: each is either no hindrance, or named, with the exit code for what the system refuses.

use crate::hostile::judge;
use crate::program::{cache, shared_core};
use std::process::Command;

/// Hardly more than what the loader needs for the program itself (2.0 MiB without optimization): there is nothing that it could say.
const LITTLE_DATA: u64 = if cfg!(debug_assertions) { 3 << 20 } else { 1 << 20 };

/// Limits that a shell, a container or a service manager may have set: what `prlimit` calls them, and values.
const LIMITS: &[(&str, &[u64])] = &[
    ("nofile", &[5, 8, 12, 16, 24, 40]),
    ("nproc", &[0, 1]),
    ("as", &[256 << 20, 1 << 30]),
    ("data", &[LITTLE_DATA, 16 << 20]),
    ("stack", &[256 << 10, 1 << 20]),
    ("memlock", &[0, 64 << 10, 8 << 20]),
    ("fsize", &[1000, 100_000]),
    ("rtprio", &[0]),
    ("sigpending", &[0]),
    ("core", &[0]),
];

/// Runs the rig under `prlimit`, and sees that it fails, if it does, with an exit code of docs/runs.md.
fn limited(mode: &str, limit: &str, value: u64) {
    let rig = crate::hostile::rig(mode);
    let plain = rig.command();
    let mut command = Command::new("prlimit");
    command.arg(format!("--{limit}={value}:{value}")).arg(plain.get_program()).args(plain.get_args());
    command.env("VECUD_CACHE", cache());
    let what = format!("{limit} = {value}, {mode}");
    let judged = judge::start(&rig, command).judge(&what);
    if judged.code != Some(0) {
        let told = judged.report.is_some_and(|report| report["problems"].as_array().is_some_and(|all| !all.is_empty()));
        assert!(told || !judged.stderr.trim().is_empty(), "{what}: exit code {:?} without a word", judged.code);
    }
}

fn limited_all(mode: &str) {
    // The FMU is built without them.
    let rig = crate::hostile::rig("virtual");
    judge::start(&rig, rig.command()).judge("without limits");
    for (limit, values) in LIMITS {
        values.iter().for_each(|value| limited(mode, limit, *value));
    }
}

#[test]
fn limits_in_virtual_time_as_this_user() {
    limited_all("virtual");
}

#[test]
fn limits_in_real_time_as_this_user() {
    shared_core(|| limited_all("realtime"));
}

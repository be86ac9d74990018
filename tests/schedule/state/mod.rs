//! Runs that are cut in two (`--save-state`, `--restore-state`), and runs again without reloading (`--repeat`).

mod cut;
mod failures;
mod files;
use crate::program;
mod repeat;
mod rules;

use program::{Outcome, Rig};
use std::path::{Path, PathBuf};

/// Two tracers with everything that a cut may go through: grids, ticks within and between them, a deadline that is nearly
/// always pending, and values in both
/// directions: arrays, strings, binaries, widened ones.
fn two(start: &str) -> Rig {
    Rig::new("mode = 'virtual'\nstop_time = 0.4")
        .tracer("a", &format!("count_up = true, arm_every = 2, arm_interval = 0.0187654321, {start}"))
        .tracer("b", "count_up = true, fast_tick_low_every = 3, slow_tick_low_every = 2, arm_interval = 0.0031")
        .trigger("a.out_low", "b.low")
        .trigger("b.out_low", "a.low")
        .trigger("a.out_high", "a.high")
        .trigger("b.out_high", "b.high")
        .connect("a.out_f64", "b.in_f64")
        .connect("b.out_i32", "a.in_i32")
        .connect("b.out_array", "a.in_array")
        .connect("a.out_u64", "b.in_u64")
        .connect("a.out_string", "b.in_string")
        .connect("a.out_binary", "b.in_binary")
        .connect("a.out_i16", "b.in_i32")
}

/// Runs it with further arguments.
fn run(rig: &Rig, arguments: &[&str]) -> Outcome {
    let mut command = rig.command();
    command.args(arguments);
    rig.finish(rig.start(command))
}

/// A name in the rig's folder.
fn state(rig: &Rig, name: &str) -> PathBuf {
    rig.folder().join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What is in the rig's folder beside what every run has.
fn left(rig: &Rig) -> Vec<String> {
    let names = std::fs::read_dir(rig.folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| !["test.toml", "stdout", "stderr"].contains(&name.as_str()) && !name.ends_with(".trace.csv"));
    names.sort();
    names
}

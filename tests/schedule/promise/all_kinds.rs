//! Producers of every kind of clock, and consumers of periods, shifts and cores that a seed chooses, in real and in virtual
//! time. One partition of `fmus/clock_kinds` ticks and arms, so that no other one comes in the midst of it.

use super::program::{Random, Rig};
use super::{is_the_same_on_own_core, run};
use std::fmt::Write as _;
use std::path::Path;

/// Kinds of clocks; the last two have one at the root that another one is too.
const KINDS: [&str; 8] = [
    "base",
    "fixed_given",
    "fixed_asked",
    "changing",
    "changing_fraction",
    "countdown",
    "countdown_fraction",
    "triggered",
];

/// Values and ticks.
const RECORD: &str = "clocks = true\nsignals = ['m*', 'busy.*', 'k?.time_*', 'k?.count_*', 'k?.base', 'k?.out', 'k?.triggered', \
    'k?.countdown', 'k?.changing', 'k?.fixed_asked']";

/// Two FMUs of all kinds on one core, whose countdowns end in the first half of a period of their root, and twelve mixers
/// on both whose three inputs are the times of any of their clocks or what another mixer made. On the other core one takes
/// 15 ms at a time, so that consumers there start late.
pub fn drawn(seed: u64) -> Rig {
    let mut random = Random(seed);
    let fmus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus");
    let fmus = fmus.display();
    // Two seconds: each kind ticks more than twenty times, whatever the seed draws.
    let start_time = [0.0, 1.0 / 3.0, -0.25, 1000.0][random.below(4) as usize];
    let mut text = format!("[rig]\nstart_time = {start_time}\nstop_time = {}\n", start_time + 2.0);
    text += "[record]\nsignals = ['*']\n";
    let mut source = |name: &str| {
        let mut number = |from: u64, to: u64| from + random.below(to - from);
        write!(
            text,
            "[fmu.{name}]\npath = '{fmus}/clock_kinds'\ncpu = 0\n\
             start = {{ arm_every = {}, tick_every = {}, countdown_interval = {}, countdown_step = 0.01, countdown_cycle = {}, \
             countdown_fraction_counter = {}, countdown_fraction_resolution = 3000, changing_interval = {}, \
             changing_step = {}, changing_cycle = {}, changing_fraction_counter = {}, changing_fraction_resolution = 300, \
             fixed_asked_interval = {}, fixed_asked_shift = {} }}\n\
             clock.fixed_given = {{ interval = '{}/1000', shift = '{}/7000' }}\n\
             [[trigger]]\nclock = '{name}.triggered'\nfrom = '{name}.out'\n",
            number(2, 6),
            number(1, 4),
            number(1, 40) as f64 * 1e-4,
            number(1, 3),
            number(1, 12),
            number(100, 400) as f64 * 1e-4,
            number(0, 50) as f64 * 1e-4,
            number(1, 5),
            number(3, 30),
            number(10, 60) as f64 * 1e-3,
            number(0, 20) as f64 * 1e-3,
            number(10, 60),
            number(0, 100),
        )
        .unwrap();
    };
    source("k0");
    source("k1");
    for i in 0..12 {
        let period = [20, 25, 30, 40, 70, 90][random.below(6) as usize];
        write!(
            text,
            "[fmu.m{i}]\npath = '{fmus}/mixer'\ncpu = {}\nstart = {{ salt = {i}, burn_us = {} }}\n\
             clock.step = {{ interval = '{period}/1000', shift = '{}/3000' }}\n",
            random.below(2),
            random.below(200),
            random.below(30),
        )
        .unwrap();
        for input in ["a", "b", "c"] {
            let from = match random.below(4) {
                0 => format!("m{}.x", random.below(12)),
                _ => format!("k{}.time_{}", random.below(2), KINDS[random.below(8) as usize]),
            };
            write!(text, "[[connect]]\nfrom = '{from}'\nto = 'm{i}.{input}'\ntiming = 'delayed'\n").unwrap();
        }
    }
    write!(
        text,
        "[fmu.busy]\npath = '{fmus}/mixer'\ncpu = 1\nstart = {{ burn_us = 15000 }}\nclock.step = {{ interval = '1/20' }}\n"
    )
    .unwrap();
    Rig::of_text(&text.replace("signals = ['*']", RECORD))
}

#[test]
fn each_kind_ticks_in_what_the_seeds_draw() {
    for seed in 1..=3 {
        let outcome = run(&drawn(seed), "virtual", &[]);
        let report = outcome.report();
        assert_eq!(report["promise"]["covered"], report["promise"]["columns"], "{}", report["promise"]);
        for fmu in ["k0", "k1"] {
            for kind in KINDS {
                assert!(outcome.count(fmu, kind, "activations") > 20, "{fmu}.{kind}, seed {seed}");
            }
        }
    }
}

fn seed(seed: u64) {
    is_the_same_on_own_core("producers of all kinds", &drawn(seed), |_| ());
}

#[test]
fn producers_of_all_kinds_record_the_bytes_of_virtual_time_seed_1() {
    seed(1);
}

#[test]
fn producers_of_all_kinds_record_the_bytes_of_virtual_time_seed_2() {
    seed(2);
}

#[test]
fn producers_of_all_kinds_record_the_bytes_of_virtual_time_seed_3() {
    seed(3);
}

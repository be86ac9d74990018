//! Rigs of 20 FMUs on two cores with random periods, each of which mixes what it gets from others.

use super::is_the_same_on_own_core;
use super::program::{Random, Rig};
use std::fmt::Write as _;
use std::path::Path;

/// 18 mixers, half with periods of 10 to 45 ms and half of 60 to 150 ms, nine on each core, whose inputs come from any of
/// them; and on each core one of 50 ms that takes 15 ms each time, so that the slow ones start only after the next release of
/// their fast producers.
pub fn twenty(seed: u64) -> Rig {
    mixed(seed, |_| false)
}

/// The same, with steps of Co-Simulation in the place of partitions where `steps` says so for a number.
pub fn mixed(seed: u64, steps: impl Fn(usize) -> bool) -> Rig {
    // Five seconds: the slowest ones have thirty instants.
    let mut random = Random(seed);
    let fmus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus");
    let mut text = "[rig]\nname = 'twenty'\nstop_time = 5\n[record]\nsignals = ['*']\n".to_owned();
    let mut fmu = |name: String, is_step: bool, cpu: u64, interval: String, shift: u64, burn: u64| {
        let path = fmus.join(if is_step { "stepper" } else { "mixer" });
        let release = match is_step {
            // They share nothing, and are to meet on two cores.
            true => format!("step = '{interval}'\nparallel = true"),
            false => format!("[fmu.{name}.clock.step]\ninterval = '{interval}'\nshift = '{shift}/1000'"),
        };
        writeln!(
            text,
            "[fmu.{name}]\npath = '{}'\ncpu = {cpu}\nstart = {{ salt = {seed}, burn_us = {burn} }}\n{release}",
            path.display()
        )
        .unwrap();
    };
    let mut connect = String::new();
    for i in 0..18 {
        let micros = if i % 4 < 2 { 10_000 + random.below(35_000) } else { 60_000 + random.below(90_000) };
        // Round ones that meet others, fractions that no decimal is, and anything.
        let interval = match random.below(3) {
            0 => format!("{}/1000", micros.div_ceil(10_000) * 10),
            1 => format!("1/{}", 1_000_000 / micros),
            _ => format!("{micros}/1000000"),
        };
        let shift = random.below(3) * 5;
        // Released together with what takes 15 ms, and so later than the next release of what they read.
        let (interval, shift) = match i {
            0 | 1 => ("1/100".to_owned(), 0),
            2 => ("1/10".to_owned(), 0),
            3 => ("3/20".to_owned(), 0),
            _ => (interval, shift),
        };
        fmu(format!("m{i}"), steps(i as usize), i % 2, interval, shift, random.below(200));
        for input in ["a", "b", "c"] {
            let from = if matches!((i, input), (2 | 3, "a")) { 3 - i } else { random.below(18) };
            writeln!(connect, "[[connect]]\nfrom = 'm{from}.x'\nto = 'm{i}.{input}'\ntiming = 'delayed'").unwrap();
        }
    }
    fmu("busy0".to_owned(), false, 0, "1/20".to_owned(), 0, 15_000);
    fmu("busy1".to_owned(), steps(19), 1, "1/20".to_owned(), 0, 15_000);
    Rig::of_text(&(text + &connect))
}

fn are_enough(late: u64) {
    println!("{late} consumers started after the next release of their producer");
    assert!(late > 10, "only {late} consumers started late enough to prove something");
}

fn seed(seed: u64) {
    is_the_same_on_own_core("twenty FMUs on two cores", &twenty(seed), are_enough);
}

#[test]
fn twenty_fmus_on_two_cores_record_the_bytes_of_virtual_time_seed_1() {
    seed(1);
}

#[test]
fn twenty_fmus_on_two_cores_record_the_bytes_of_virtual_time_seed_2() {
    seed(2);
}

#[test]
fn twenty_fmus_on_two_cores_record_the_bytes_of_virtual_time_seed_3() {
    seed(3);
}

/// Every other one makes steps, so that connections lead from partitions to steps, from steps to partitions, and from steps to steps.
fn with_steps(seed: u64) {
    let rig = mixed(seed, |number| number % 4 < 2 || number == 19);
    is_the_same_on_own_core("partitions and steps on two cores", &rig, are_enough);
}

#[test]
fn partitions_and_steps_record_the_bytes_of_virtual_time_seed_1() {
    with_steps(1);
}

#[test]
fn partitions_and_steps_record_the_bytes_of_virtual_time_seed_2() {
    with_steps(2);
}

//! The whole program under stress: two instances in one band on one core, equal priorities, ticks from callbacks with and
//! without the lock held, nested locks, FMU code that sleeps. The tracer counts what it finds; nothing is traced.
//!
//! `VECUD_STRESS_ACTIVATIONS=1000000 cargo test --release --test stress` is the long run. (What known-wrong mechanisms show is
//! in `preemption_real`, which takes the same variable.)

use crate::program;

use program::{Outcome, Rig, changed_tracer, real_time, runner_of, skipped};
use std::io::Write as _;
use std::path::PathBuf;

/// Of both instances together, over all runs; some 10,000 take a second.
fn activations() -> u64 {
    let given = std::env::var("VECUD_STRESS_ACTIVATIONS").ok();
    given.map_or(40_000, |number| number.parse().expect("VECUD_STRESS_ACTIVATIONS is a number"))
}

/// Two levels are shared by two and by three partitions each; `high` is alone at the top.
fn tracer(rig: &Rig) -> PathBuf {
    let clock = |priority: u32, interval: &str| {
        format!("priority=\"{priority}\" intervalVariability=\"constant\" intervalDecimal=\"{interval}\"")
    };
    let changes = [
        (clock(1, "0.001"), clock(1, "0.0007")),
        (clock(2, "0.002"), clock(2, "0.0011")),
        (clock(2, "0.003"), clock(2, "0.0013")),
        (clock(4, "0.01"), clock(3, "0.0019")),
        // low, as fast; delayed, as slow.
        ("priority=\"5\"".to_owned(), "priority=\"1\"".to_owned()),
    ];
    let changes: Vec<(&str, &str)> = changes.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    changed_tracer(rig.folder(), "../modelDescription.xml", &changes)
}

/// The parameters that say the same as the changed description.
const CLOCKS: &str = "fast_counter = 7, fast_resolution = 10000, equal_a_counter = 11, equal_a_resolution = 10000, \
    equal_b_counter = 13, equal_b_resolution = 10000, slow_counter = 19, slow_resolution = 10000, \
    slow_priority = 3, low_priority = 1";

/// What partitions do in one round: lengths differ from round to round, so that everything falls on everything.
fn rig(seconds: f64, round: u64, sleeps: bool) -> Rig {
    let start = |shift: u64| {
        let length = |base: u64, n: u64| base + (round * 7 + shift * 5 + n * 3) % 11;
        let mut start = format!(
            "{CLOCKS}, trace_capacity = 64, fast_burn_us = {}, equal_a_burn_us = {}, equal_b_burn_us = {}, \
             slow_burn_us = {}, slow_lock_us = {}, low_lock_us = {}, equal_b_lock_us = {}, arm_every = 1, \
             arm_interval = 0.0005, lock_in_get_clock = {}",
            length(2, 0),
            length(10, 1),
            length(15, 2),
            length(40, 3),
            length(30, 4),
            length(4, 5),
            length(10, 6),
            (round + shift).is_multiple_of(2)
        );
        start += ", fast_tick_high_every = 2, equal_a_tick_high_every = 1, equal_a_tick_in_lock = true, \
            equal_b_tick_low_every = 1, slow_tick_low_every = 1, slow_tick_in_lock = true, slow_lock_nested = true, \
            low_tick_high_every = 2, delayed_tick_high_every = 1, delayed_tick_in_lock = true, delayed_lock_nested = true, \
            high_lock_us = 3, equal_a_tick_low_every = 0";
        if sleeps {
            start += &format!(
                ", fast_sleep_every = 2, fast_sleep_us = {}, equal_a_sleep_every = 2, equal_a_sleep_us = {}, \
                 equal_b_sleep_every = 2, equal_b_sleep_us = {}, slow_lock_sleep_us = {}, high_sleep_every = 7, \
                 high_sleep_us = 20",
                length(20, 7),
                length(60, 8),
                length(150, 9),
                length(10, 10)
            );
        }
        start
    };
    let rig = Rig::new(&format!("stop_time = {seconds}\nshutdown_timeout = 10"));
    let fmu = tracer(&rig);
    rig.fmu("a", fmu.clone(), &start(0), "")
        .fmu("b", fmu, &start(1), "")
        .trigger("a.out_high", "a.high")
        .trigger("b.out_high", "b.high")
        .trigger("a.out_low", "b.low")
        .trigger("b.out_low", "a.low")
        .connect("a.out_f64", "b.in_f64")
        .more("[record]\nsignals = ['*.violations']")
}

/// What all runs together have shown.
#[derive(Debug, Default)]
struct Found {
    activations: u64,
    violations: u64,
    kinds: u64,
    /// In FMU code that sleeps, by no fault of the host: began beside a sleeper, went on beside a sleeper.
    entered_early: u64,
    resumed_early: u64,
    /// Waits for the preemption lock, of how many.
    waits: u64,
    acquisitions: u64,
}

impl Found {
    fn add(&mut self, run: &Outcome) {
        for clock in run.report()["clocks"].as_array().unwrap() {
            self.activations += clock["activations"].as_u64().unwrap();
        }
        for fmu in ["a", "b"] {
            let summary = run.trace(fmu).summary;
            let number = |name: &str| summary[name].parse::<u64>().unwrap();
            self.violations += number("violations");
            self.kinds |= u64::from_str_radix(&summary["kinds"][2..], 16).unwrap();
            self.entered_early += number("entered_early");
            self.resumed_early += number("resumed_early");
            let lock = &run.fmu(fmu)["lock"];
            self.acquisitions += lock["acquisitions"].as_u64().unwrap();
            self.waits += lock["wait"]["count"].as_u64().unwrap();
            assert_eq!(lock["violations"], 0, "{:#?}", run.problems());
        }
    }
}

fn say(what: &str, found: &Found) {
    // Past the test harness, which would keep it to itself.
    let _ = writeln!(std::io::stderr(), "STRESS: the whole program, {what}: {found:?}");
}

#[test]
fn two_instances_under_stress_keep_every_rule() {
    real_time("two_instances_under_stress_keep_every_rule", || {
        let wanted = activations();
        // Ten seconds where the count that is given is large: long enough that starting the program does not count, short enough for
        // different rounds.
        let seconds = (wanted as f64 / 100_000.0).clamp(1.0, 10.0);
        let mut found = [Found::default(), Found::default()];
        let mut round = 0;
        while found.iter().map(|found| found.activations).sum::<u64>() < wanted {
            let sleeps = round % 2 == 1;
            let rig = rig(seconds, round, sleeps);
            let run = rig.finish(rig.start(rig.command())).exits(0);
            found[usize::from(sleeps)].add(&run);
            round += 1;
            assert!(round < 1000, "too few activations: {found:?}");
        }
        let [awake, asleep] = &found;
        say("code that does not sleep", awake);
        say("code that sleeps", asleep);
        assert_eq!((awake.violations, asleep.violations), (0, 0), "{found:?}");
        assert_eq!((awake.entered_early, awake.resumed_early), (0, 0), "{awake:?}");
        // A few in 100,000; without the bitmap every fiftieth.
        assert!(asleep.entered_early * 200 < asleep.activations, "{asleep:?}");
        assert!(asleep.resumed_early > 0, "nobody has slept while others could go on: {asleep:?}");
    });
}

/// The counts above would not be 0 if rules were broken: here somebody else breaks the ground that they stand on.
#[test]
fn partitions_that_run_in_parallel_are_seen() {
    let test = "partitions_that_run_in_parallel_are_seen";
    real_time(test, || {
        let cpus = vecud::sys::affinity::allowed_cpus().unwrap();
        if cpus.len() < 2 {
            return skipped(test, &"there is but one core");
        }
        let rig = rig(1.0, 0, false);
        let child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let mut everywhere = nix::sched::CpuSet::new();
        cpus.iter().for_each(|cpu| everywhere.set(*cpu).unwrap());
        let threads = std::fs::read_dir(format!("/proc/{}/task", runner_of(&child))).unwrap();
        for thread in threads {
            let id = thread.unwrap().file_name().to_str().unwrap().parse().unwrap();
            nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(id), &everywhere).unwrap();
        }
        let run = rig.finish(child);
        let mut found = Found::default();
        found.add(&run);
        say("its threads on two cores", &found);
        // Bit 1: a partition went on while one of higher priority was active.
        assert!(found.violations > 0 && found.kinds & 2 > 0, "{found:?}");
    });
}

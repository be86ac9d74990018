//! Property: whatever a legal rig of partitions and steps asks for, `fmus/step_tracer` gets steps without holes, sets before them
//! and gets after them, and in each step what was visible at its begin. The FMU checks the order of its calls from inside; here
//! its trace is held against the grid and the connections of the rig, computed without a line of the program that is tested.
//!
//! A seed that fails is printed with the command that repeats it. `VECUD_SEED=17` runs one seed, `VECUD_SEED=100..400` many.

mod judge;
pub mod rigs;
#[cfg(debug_assertions)]
mod wrong;

use self::judge::{Seen, judge};
use self::rigs::Drawn;
use super::program::random::seeds;
use super::program::{Outcome, real_time};

fn run(drawn: &Drawn, mode: &str, environment: &[(&str, &str)]) -> Outcome {
    let mut command = drawn.rig.command();
    command.args(["--mode", mode]).envs(environment.iter().copied());
    drawn.rig.finish(drawn.rig.start(command))
}

/// Runs these seeds; gives what there was to be looked at.
#[track_caller]
fn keep_every_rule(test: &str, mode: &str, seeds: Vec<u64>) -> Seen {
    let mut all = Seen::default();
    for seed in seeds {
        let drawn = Drawn::new(seed, mode == "virtual");
        let outcome = run(&drawn, mode, &[]);
        let (seen, broken) = judge(&drawn, &outcome, mode == "virtual");
        let first: Vec<&String> = broken.iter().take(8).collect();
        assert!(
            broken.is_empty(),
            "{} rules broken (VECUD_SEED={seed} cargo test --test stepping {test}): {first:#?}",
            broken.len()
        );
        all += seen;
    }
    println!("{all:?}");
    all
}

#[test]
fn in_virtual_time_random_steps_keep_every_rule() {
    let seeds = seeds(40);
    let all = seeds.len() >= 40;
    let seen = keep_every_rule("in_virtual_time_random_steps_keep_every_rule", "virtual", seeds);
    if all {
        assert!(seen.steps > 5000 && seen.values > 3000 && seen.events > 500 && seen.early > 100, "{seen:?}");
    }
}

#[test]
fn in_real_time_random_steps_keep_every_rule_whatever_is_late() {
    let test = "in_real_time_random_steps_keep_every_rule_whatever_is_late";
    real_time(test, || {
        let seeds = seeds(8);
        let all = seeds.len() >= 8;
        let seen = keep_every_rule(test, "realtime", seeds);
        if all {
            assert!(seen.steps > 500 && seen.values > 100 && seen.late > 10, "{seen:?}");
        }
    });
}

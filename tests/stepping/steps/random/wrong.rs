//! The same judge over hosts that are known to be wrong, which builds with debug assertions have.

use super::super::program::real_time;
use super::judge::judge;
use super::rigs::Drawn;
use super::run;

/// Some rig of these shows it.
#[track_caller]
fn is_noticed(wrong: &str, mode: &str, words: &str) {
    let broken = |seed: u64| {
        let drawn = Drawn::new(seed, mode == "virtual");
        judge(&drawn, &run(&drawn, mode, &[("VECUD_WRONG_STEP", wrong)]), mode == "virtual").1
    };
    let found = (1..20).flat_map(broken).find(|broken| broken.contains(words));
    println!("{wrong}: {}", found.unwrap_or_else(|| panic!("{wrong} was not noticed")));
}

#[test]
fn a_host_that_samples_inputs_at_the_end_of_the_step_is_noticed() {
    is_noticed("end", "virtual", "is visible");
}

#[test]
fn a_host_that_sets_inputs_after_the_step_is_noticed() {
    is_noticed("after", "virtual", "is visible");
}

#[test]
fn a_host_that_shows_at_its_begin_what_a_step_computes_is_noticed() {
    is_noticed("early", "virtual", "is visible");
}

#[test]
fn a_host_that_leaves_a_hole_after_an_overrun_is_noticed() {
    real_time("a hole after an overrun", || is_noticed("hole", "realtime", "the FMU itself found"));
}

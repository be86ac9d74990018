//! Co-Simulation of the draft of FMI 3.0 (January 2021), without Event Mode: `fmus/draft_steps` refuses whatever is not as that text
//! has it.

use super::program::{Rig, real_time, send};
use super::{numbers, run};
use nix::sys::signal::Signal;
use std::path::Path;
use std::time::Duration;

fn fmu() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/draft_steps").display().to_string()
}

fn alone(stop: &str, start: &str) -> Rig {
    let path = fmu();
    Rig::of_text(&format!(
        "[rig]\nstop_time = {stop}\n[record]\n[fmu.d]\npath = '{path}'\nstep = '1/10'\nstart = {{ {start} }}\n"
    ))
}

#[test]
fn steps_of_the_draft_are_connected_and_recorded_in_both_modes() {
    let path = fmu();
    let rig = Rig::of_text(&format!(
        "[rig]\nstop_time = 1\n[record]\n[fmu.a]\npath = '{path}'\nstep = '1/10'\nstart = {{ gain = 2 }}\n\
         [fmu.b]\npath = '{path}'\nstep = '1/20'\n[[connect]]\nfrom = 'a.x'\nto = 'b.u'\n"
    ));
    let outcome = run(&rig, "virtual").exits(0);
    let a = numbers(&outcome, "a.x");
    assert!((a.last().unwrap() - 2.0).abs() < 1e-12, "{a:?}");
    // b has what a has computed up to the last tenth, which before the first one is the start value: 0.1 · (0 + 0.2 + ... + 1.8).
    let b = *numbers(&outcome, "b.x").last().unwrap();
    assert!((b - 0.9).abs() < 1e-12, "{b}");
    assert_eq!(outcome.signals().last("b.steps"), 20);
    assert_eq!(outcome.clock("b", "step")["steps"], 20);
    real_time("steps_of_the_draft_are_connected_and_recorded_in_both_modes", || {
        assert_eq!(run(&rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv"));
    });
}

#[test]
fn an_early_return_of_the_draft_is_a_communication_point() {
    let outcome = run(&alone("1", "early_at = 0.25"), "virtual").exits(0);
    assert_eq!(outcome.clock("d", "step")["early_returns"], 1);
    assert_eq!(outcome.signals().last("d.steps"), 11);
    assert!(outcome.signals().times().contains(&0.25));
    assert!((numbers(&outcome, "d.x").last().unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn an_fmu_of_the_draft_can_ask_for_the_end() {
    let outcome = run(&alone("5", "end_at = 0.45"), "virtual").exits(0);
    assert_eq!(outcome.signals().times().last(), Some(&0.5));
    assert_eq!(outcome.finding("d", "asked_for_end"), Some(1));
}

/// The draft's callback has nine arguments, the last but one of which says so.
#[test]
fn a_step_of_the_draft_is_asked_to_return_early_when_the_run_is_to_end() {
    let rig = alone("100", "slow = 300");
    let mut command = rig.command();
    command.args(["--mode", "virtual"]);
    let running = rig.start(command);
    rig.wait_until_it_runs();
    send(running.id().cast_signed(), Signal::SIGINT);
    let outcome = rig.finish(running, Duration::from_secs(60)).exits(0);
    let step = outcome.clock("d", "step");
    assert_eq!((&step["early_returns"], &step["steps"]), (&1.into(), &step["activations"]));
}

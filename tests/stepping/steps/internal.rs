//! What happens in the midst of a step (intermediate update, FMI 3.0): `fmus/internal_steps` makes a step in five internal ones, calls
//! back in the midst and at the end of each, and refuses what was not registered or not allowed there.

use super::program::{Rig, real_time, runner_of, send, wait_until};
use super::{numbers, run};
use nix::sys::signal::Signal;
use std::path::{Path, PathBuf};

fn fmu(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// The ball `b` with these keys, in a rig that records all.
fn ball(rig: &str, keys: &str, rest: &str) -> Rig {
    let path = fmu("internal_steps");
    Rig::of_text(&format!(
        "[rig]\n{rig}\n[record]\n[fmu.b]\npath = '{}'\nstep = '1/10'\n{keys}\n{rest}",
        path.display()
    ))
}

/// A ball that falls from 100 m.
fn height(time: f64) -> f64 {
    100.0 - 5.0 * time * time
}

#[test]
fn internal_steps_are_rows_with_what_may_be_read_there_in_both_modes() {
    let rig = ball("stop_time = 1", "internal_steps = true", "");
    let outcome = run(&rig, "virtual").exits(0);
    let times = outcome.signals().times();
    assert_eq!(times.len(), 51, "{times:?}");
    for (k, (time, h)) in times.iter().zip(numbers(&outcome, "b.h")).enumerate() {
        assert!((time - 0.02 * k as f64).abs() < 1e-12 && (h - height(*time)).abs() < 1e-9, "{k}: {time} {h}");
    }
    // What was not registered is not read there: it stays as it was at the communication point.
    let steps = numbers(&outcome, "b.steps");
    assert!(steps.iter().enumerate().all(|(k, steps)| *steps == (k / 5) as f64), "{steps:?}");
    // Without the key it is as ever.
    let ever = run(&ball("stop_time = 1", "", ""), "virtual").exits(0);
    assert_eq!(ever.signals().times().len(), 11);
    real_time("internal_steps_are_rows_with_what_may_be_read_there_in_both_modes", || {
        assert_eq!(run(&rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv"));
    });
}

/// u = 3 t in metres a second, which the parabola knows at tenths with its slope: within the ball's step it is right at each
/// midpoint, but for the first step, before which nothing had come.
#[test]
fn inputs_on_lines_are_set_where_the_fmu_asks_for_them() {
    let rest = format!(
        "[fmu.p]\npath = '{}'\n[[connect]]\nfrom = 'p.z'\nto = 'b.u'\nunits = 'as_is'\nextrapolation = 'linear'\n",
        fmu("parabola").display()
    );
    // Reading comes before setting, which the FMU looks at.
    let rig = ball("stop_time = 1", "internal_steps = true", &rest);
    let outcome = run(&rig, "virtual").exits(0);
    let integral = *numbers(&outcome, "b.integral").last().unwrap();
    assert!((integral - (1.5 - 0.015)).abs() < 1e-9, "{integral}");
    let held = run(&ball("stop_time = 1", "", &rest.replace("linear", "hold")), "virtual").exits(0);
    let held = *numbers(&held, "b.integral").last().unwrap();
    assert!((held - 1.35).abs() < 1e-9, "{held}");
    real_time("inputs_on_lines_are_set_where_the_fmu_asks_for_them", || {
        assert_eq!(run(&rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv"));
    });
}

/// u = t²: the parabola that an input is on is right wherever the FMU asks for it, so that the integral is off by what the ball's
/// midpoint rule leaves out alone, and by the first step, before which nothing had come; a line leaves out far more.
#[test]
fn inputs_on_parabolas_are_set_where_the_fmu_asks_for_them() {
    let rest = format!(
        "[fmu.p]\npath = '{}'\n[[connect]]\nfrom = 'p.y'\nto = 'b.u'\nextrapolation = 'quadratic'\n",
        fmu("parabola").display()
    );
    let integral = |how: &str| {
        let outcome = run(&ball("stop_time = 1", "", &rest.replace("quadratic", how)), "virtual").exits(0);
        *numbers(&outcome, "b.integral").last().unwrap()
    };
    let exact = 1.0 / 3.0 - 0.001 / 3.0;
    let [quadratic, linear] = ["quadratic", "linear"].map(|how| (integral(how) - exact).abs());
    assert!(quadratic < 1e-4 && linear > 20.0 * quadratic, "{quadratic} {linear}");
}

/// Whoever wants the end does not wait for the rest of a long step: one that would take minutes, so that the request comes in it.
#[test]
fn a_run_that_is_to_end_asks_the_step_to_return_early() {
    let rig = ball("stop_time = 100", "start = { slow = 300 }", "");
    let mut command = rig.command();
    command.args(["--mode", "virtual"]);
    let running = rig.start(command);
    rig.wait_until_it_runs();
    // Nothing but the step burns so much: 0.3 s.
    let stat = format!("/proc/{}/stat", runner_of(&running));
    let burnt = || {
        let stat = std::fs::read_to_string(&stat).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(11).unwrap().parse::<u64>().unwrap()
    };
    let before = burnt();
    wait_until("the step is under way", || burnt() >= before + 30);
    send(running.id().cast_signed(), Signal::SIGINT);
    let outcome = rig.finish(running).exits(0);
    let step = outcome.clock("b", "step");
    assert_eq!((&step["early_returns"], &step["steps"]), (&1.into(), &step["activations"]));
}

#[test]
fn an_intermediate_update_outside_of_a_step_is_refused_and_found() {
    let outcome = run(&ball("stop_time = 1", "internal_steps = true\nstart = { stray = 1 }", ""), "virtual").exits(0);
    assert_eq!(outcome.finding("b", "update_outside_step"), Some(1));
    outcome.problem(&["refused 1 intermediate update from a thread"]);
}

#[test]
fn internal_steps_are_refused_where_there_are_none() {
    let refused = |name: &str, record: &str, reason: &str| {
        let path = fmu(name).display().to_string();
        let rig = Rig::of_text(&format!(
            "[rig]\nmode = 'virtual'\nstop_time = 1\n{record}\n[fmu.x]\npath = '{path}'\ninternal_steps = true\n"
        ));
        let outcome = rig.run_virtual().exits(2);
        assert!(outcome.stderr.contains(&format!("internal_steps is not possible: x {reason}")), "{}", outcome.stderr);
    };
    refused("stepper", "[record]", "has no intermediate update");
    refused("engine_ecu", "[record]", "makes no steps");
    refused("internal_steps", "[record]\nsignals = ['x.steps']", "has no recorded output");
}

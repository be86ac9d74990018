//! FMUs of the draft of FMI 3.0 (January 2021) in the schedule: Co-Simulation without Event Mode, for which `fmus/draft_steps` refuses
//! whatever is not as that text has it, and Model Exchange, for which `fmus/reasons_draft` does.

use super::program::{Outcome, Rig, real_time, send};
use super::{numbers, run};
use nix::sys::signal::Signal;
use std::path::Path;

fn fmu() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/draft_steps").display().to_string()
}

fn model(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name).display().to_string()
}

/// A copy of an FMU of this project in the folder of a rig, with one thing in its description instead of another.
fn changed(rig: &Rig, name: &str, from: &str, to: &str) {
    let folder = rig.folder().join(name);
    std::fs::create_dir_all(folder.join("sources")).unwrap();
    for entry in Path::new(&model(name)).join("sources").read_dir().unwrap() {
        let entry = entry.unwrap();
        std::fs::write(folder.join("sources").join(entry.file_name()), std::fs::read(entry.path()).unwrap()).unwrap();
    }
    let xml = std::fs::read_to_string(Path::new(&model(name)).join("modelDescription.xml")).unwrap();
    assert!(xml.contains(from), "{from}");
    std::fs::write(folder.join("modelDescription.xml"), xml.replace(from, to)).unwrap();
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
    let outcome = rig.finish(running).exits(0);
    let step = outcome.clock("d", "step");
    assert_eq!((&step["early_returns"], &step["steps"]), (&1.into(), &step["activations"]));
}

/// An FMU with Event Mode is told that nobody uses it, and handles its events itself: this one refuses to be made for anything else.
#[test]
fn event_mode_of_steps_of_the_draft_is_not_used() {
    let rig = Rig::of_text("[rig]\nstop_time = 1\n[record]\n[fmu.d]\npath = 'draft_steps'\nstep = '1/10'\n");
    changed(&rig, "draft_steps", "<CoSimulation ", "<CoSimulation hasEventMode=\"true\" ");
    assert_eq!(run(&rig, "virtual").exits(0).signals().last("d.steps"), 10);
}

/// The equations of the ball are the same in both texts, and so is what is made of them: events in the midst of steps included.
#[test]
fn a_model_of_the_draft_is_integrated_as_the_released_one_is() {
    let rig = |name: &str| {
        let keys = "step = '1/100'\nsolver = 'rk4'\ninternal_step = '1/1000'";
        Rig::of_text(&format!("[rig]\nstop_time = 1\n[record]\n[fmu.ball]\npath = '{}'\n{keys}\n", model(name)))
    };
    let released = run(&rig("ball"), "virtual").exits(0).file("signals.csv");
    let draft = run(&rig("ball_draft"), "virtual").exits(0);
    assert_eq!(draft.signals().last("ball.bounces"), 1);
    assert_eq!(draft.file("signals.csv"), released);
    real_time("a_model_of_the_draft_is_integrated_as_the_released_one_is", || {
        assert_eq!(run(&rig("ball_draft"), "realtime").exits(0).file("signals.csv"), released);
    });
}

/// What `fmus/reasons_draft` has counted, each with the time of the last one.
fn reasons(outcome: &Outcome) -> Vec<(&'static str, u64, f64)> {
    let kinds = ["step", "time", "rising", "falling", "both", "none"];
    let last = |column: String| *numbers(outcome, &column).last().unwrap();
    kinds.map(|kind| (kind, last(format!("r.{kind}_events")) as u64, last(format!("r.last_{kind}")))).to_vec()
}

/// `others`: in so many events nothing was but events of others that it makes its steps together with.
fn check_reasons(outcome: &Outcome, others: u64) {
    let told = reasons(outcome);
    let counts: Vec<(&str, u64)> = told.iter().map(|(kind, count, _)| (*kind, *count)).collect();
    assert_eq!(counts, [("step", 1), ("time", 2), ("rising", 2), ("falling", 1), ("both", 1), ("none", 1 + others)]);
    // A completed step of 1 ms is the first one from 0.65 on; an input that changes at 0.72 does so for the step from 0.8 on.
    for ((kind, _, at), right) in told.iter().zip([0.65, 0.9, 0.9, 0.55, 0.9, 0.8]) {
        let slack = if *kind == "step" { 1.001e-3 } else { 1e-12 };
        assert!((at - right).abs() < slack, "{kind}: {at}");
    }
}

/// State events with the direction of each indicator, time events, step events, several at once, and none of them where an input changes:
/// an FMU that refuses any other reason than the right one comes to its end, alone and in a group with a ball whose events are none of
/// its own.
#[test]
fn an_fmu_of_the_draft_is_told_why_there_is_an_event() {
    let path = model("reasons_draft");
    let stimulus = "[[stimulus]]\nfile = 'in.csv'\ncolumns = { 'r.d' = 'd' }\n";
    let solver = "step = '1/10'\nsolver = 'rk4'\ninternal_step = '1/1000'\n";
    let alone = format!("[rig]\nstop_time = 1\n[record]\n[fmu.r]\npath = '{path}'\n{solver}{stimulus}");
    let group = format!(
        "[rig]\nstop_time = 1\n[record]\n[fmu.r]\npath = '{path}'\n[fmu.b]\npath = '{}'\n[master.g]\nfmus = ['b', 'r']\n{solver}{stimulus}",
        model("ball_draft")
    );
    // The ball bounces once up to then, and switches its domain twice.
    for (text, others) in [(alone, 0), (group, 2)] {
        let rig = Rig::of_text(&text);
        std::fs::write(rig.folder().join("in.csv"), "time,d\n0,0\n0.72,1\n").unwrap();
        let outcome = run(&rig, "virtual").exits(0);
        check_reasons(&outcome, others);
        real_time("an_fmu_of_the_draft_is_told_why_there_is_an_event", || {
            check_reasons(&run(&rig, "realtime").exits(0), others)
        });
    }
}

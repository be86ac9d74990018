//! The time of an FMU that makes steps has no holes (semantics S19, S21): `fmus/stepper` refuses a step that does not begin where
//! the one before has ended.

use super::earlier::integrator;
use super::program::{Rig, real_time};
use super::{alone, numbers, run, stepper};
use std::fs;

/// 20 ms of work in a step of 5 ms.
const LATE: &str = "fail_kind = 10, fail_at = 0.05";

#[test]
fn what_was_missed_is_made_up_by_one_longer_step() {
    real_time("what_was_missed_is_made_up_by_one_longer_step", || {
        let outcome = run(&alone("stop_time = 0.2", LATE, "step = '1/200'"), "realtime").exits(0);
        let overruns = outcome.count("s", "step", "overruns");
        assert!(overruns >= 3, "{overruns}");
        let (steps, longest) = (outcome.signals().last("s.n"), *numbers(&outcome, "s.longest").last().unwrap());
        // The last of those that were missed is not skipped: it is the one that makes up.
        assert_eq!(steps + outcome.count("s", "step", "skipped"), 40);
        assert!(longest > 0.009, "{longest}");
        assert_eq!(outcome.signals().times().last(), Some(&0.2));
    });
}

#[test]
fn what_waits_is_made_one_after_the_other() {
    real_time("what_waits_is_made_one_after_the_other", || {
        let outcome = run(&alone("stop_time = 0.2", LATE, "step = '1/200'\noverrun = 'queue'"), "realtime").exits(0);
        assert!(outcome.count("s", "step", "overruns") >= 3);
        assert_eq!((outcome.signals().last("s.n"), outcome.count("s", "step", "skipped")), (40, 0));
        let longest = *numbers(&outcome, "s.longest").last().unwrap();
        assert!((longest - 0.005).abs() < 1e-15, "{longest}, the difference of two points");
        assert_eq!(outcome.signals().times().len(), 41, "each at its own time");
    });
}

/// However many wait, none is left out, and those that wait at the stop time are made.
#[test]
fn a_backlog_is_made_up_to_the_stop_time() {
    real_time("a_backlog_is_made_up_to_the_stop_time", || {
        let rig = alone("stop_time = 0.2", "burn_us = 3000", "step = '1/1000'\noverrun = 'queue'");
        let outcome = run(&rig, "realtime").exits(0);
        assert_eq!((outcome.signals().last("s.n"), outcome.signals().times().last()), (200, Some(&0.2)));
        assert!(outcome.count("s", "step", "overruns") > 100);
    });
}

/// An FMU that cannot vary its steps makes as many as were missed.
#[test]
fn an_fmu_of_constant_steps_makes_as_many_as_were_missed() {
    real_time("an_fmu_of_constant_steps_makes_as_many_as_were_missed", || {
        let rig = alone("stop_time = 0.2", LATE, "step = '1/200'");
        let copy = rig.folder().join("constant");
        constant(&copy);
        let text = fs::read_to_string(rig.file()).unwrap().replace(&stepper().display().to_string(), "constant");
        fs::write(rig.file(), text).unwrap();
        let outcome = run(&rig, "realtime").exits(0);
        assert!(outcome.count("s", "step", "skipped") >= 2);
        assert_eq!(outcome.signals().last("s.n"), 40);
        assert_eq!(*numbers(&outcome, "s.longest").last().unwrap(), 0.005);
    });
}

/// A copy of the FMU that does not say that it can vary its steps.
fn constant(copy: &std::path::Path) {
    fs::create_dir_all(copy.join("sources")).unwrap();
    for file in fs::read_dir(stepper().join("sources")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), copy.join("sources").join(file.file_name())).unwrap();
    }
    let xml = fs::read_to_string(stepper().join("modelDescription.xml")).unwrap();
    let flag = "canHandleVariableCommunicationStepSize=\"true\" ";
    assert!(xml.contains(flag));
    fs::write(copy.join("modelDescription.xml"), xml.replace(flag, "")).unwrap();
}

#[test]
fn a_stop_time_off_the_grid_ends_with_a_shorter_step() {
    let outcome = run(&alone("stop_time = 0.025", "", ""), "virtual").exits(0);
    assert_eq!(outcome.signals().times(), [0.0, 0.01, 0.02, 0.025]);
    assert_eq!(outcome.signals().last("s.n"), 3);
}

/// Communication points are rounded once each: what an FMU adds up itself stays near them over many steps, and the last step does
/// not pass the stop time.
#[test]
fn a_third_of_a_millisecond_adds_up_to_the_stop_time() {
    let outcome = run(&alone("stop_time = 20", "", "step = '1/3000'"), "virtual").exits(0);
    let times = outcome.signals().times();
    assert_eq!((times.len(), times[1], times[60_000]), (60_001, 1.0 / 3000.0, 20.0));
}

/// A step that all but divides the run leaves none over for the end, which the last one comes to: in both modes, with steps that may vary and
/// those that may not, and in a group. (The step is a 10^11th shorter, or longer, than a tenth of the run.)
#[test]
fn what_rounding_leaves_over_before_the_stop_time_is_no_step() {
    real_time("what_rounding_leaves_over_before_the_stop_time_is_no_step", || {
        for (step, keys) in
            [("0.009999999999999", ""), ("0.010000000000001", ""), ("0.009999999999999", "overrun = 'queue'")]
        {
            let rig = alone("stop_time = 0.1", "", "");
            constant(&rig.folder().join("constant"));
            let text = fs::read_to_string(rig.file()).unwrap();
            let own = text.split_once("[fmu.s]").unwrap().1.split_once("start").unwrap().0.to_owned();
            let text = text.replace("start = {  }", &format!("step = {step}\n{keys}"));
            let more = format!(
                "[fmu.c]\npath = 'constant'\nstep = {step}\n{keys}\n[fmu.g]{own}[fmu.h]{own}[master.both]\nfmus = ['g', 'h']\nstep = {step}\n"
            );
            fs::write(rig.file(), text + &more).unwrap();
            for mode in ["virtual", "realtime"] {
                let outcome = run(&rig, mode).exits(0);
                assert_eq!(outcome.signals().times().last(), Some(&0.1), "{mode}, {step}");
                for (fmu, task) in [("s", "step"), ("c", "step"), ("g", "both")] {
                    assert_eq!(outcome.count(fmu, task, "activations"), 10, "{fmu}, {mode}, {step}");
                    let n: Vec<f64> = numbers(&outcome, &format!("{fmu}.n"));
                    assert_eq!(n.last(), Some(&10.0), "{fmu}, {mode}, {step}");
                }
            }
        }
    });
}

/// An FMU of this version that refuses to step where the sum of its steps is not, `m`, alone or in a group.
fn adding(version: u32, keys: &str, is_grouped: bool) -> Rig {
    let error = if version == 1 { "fmiError" } else { "fmi2Error" };
    let rig = integrator(version, &format!("static double at; if (time != at) return {error}; at = time + step;"), "");
    let text = fs::read_to_string(rig.file()).unwrap().replace("step = '1/100'", keys);
    let group = if is_grouped { "[master.g]\nfmus = ['m']\nstep = '1/25'\n" } else { "" };
    let text = text.replace("stop_time = 0.1", "stop_time = 2000").replace("[record]", "[record]\nsignals = ['m.x']");
    fs::write(rig.file(), text + group).unwrap();
    rig
}

/// t(i+1) = t(i) + h(i), in the doubles that the FMU gets, and what it computes of them is what any host gets that makes the same calls; with
/// the nominal length, which an FMU of constant steps is always told, the sum drifts.
#[test]
fn an_fmu_that_adds_up_its_steps_is_where_it_is_told_to_be() {
    let points: Vec<f64> = (0..=50_000).map(|k| f64::from(k) / 25.0).collect();
    let mut x = vec![1.0];
    x.extend(points.windows(2).scan(1.0, |x, pair| {
        *x += 1.0 * 2.0 * (pair[1] - pair[0]);
        Some(*x)
    }));
    for version in [1, 2] {
        for (keys, is_grouped) in [("step = '1/25'", false), ("", true)] {
            let outcome = run(&adding(version, keys, is_grouped), "virtual").exits(0);
            assert_eq!(outcome.signals().times(), points);
            assert_eq!(numbers(&outcome, "m.x"), x, "FMI {version}");
        }
        let nominal = run(&adding(version, "step = '1/25'\nstep_size = 'nominal'", false), "virtual").exits(1);
        nominal.problem(&["m", "DoStep returned"]);
        let rig = adding(version, "step = '1/25'", false);
        let file = rig.folder().join("m/modelDescription.xml");
        let varies = "canHandleVariableCommunicationStepSize=\"true\"";
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(varies));
        fs::write(&file, text.replace(varies, "")).unwrap();
        run(&rig, "virtual").exits(1);
        let text = fs::read_to_string(rig.file()).unwrap();
        fs::write(rig.file(), text.replace("step = '1/25'", "step = '1/25'\nstep_size = 'difference'")).unwrap();
        run(&rig, "virtual").exits(0);
        let simulate = |words: &[&str]| {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
            command.args(["simulate", "--stop-time", "60", "--output-interval", "0.04", "-o", "/dev/null"]).args(words);
            let output = command.arg(rig.folder().join("m")).env("VECUD_CACHE", super::program::cache()).output();
            output.unwrap().status.code()
        };
        assert_eq!(
            (simulate(&[]), simulate(&["--step-size", "difference"])),
            (Some(1), Some(0)),
            "it cannot vary its steps"
        );
        assert_eq!(simulate(&["--step-size", "nominal"]), Some(1));
    }
}

/// In real time too, also where steps are missed.
#[test]
fn steps_add_up_in_real_time() {
    real_time("steps_add_up_in_real_time", || {
        let rig = adding(2, "step = '1/1000'", false);
        let text = fs::read_to_string(rig.file()).unwrap().replace("stop_time = 2000", "stop_time = 0.9");
        fs::write(rig.file(), text).unwrap();
        run(&rig, "realtime").exits(0);
    });
}

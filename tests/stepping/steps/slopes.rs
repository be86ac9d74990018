//! Slopes of outputs travel with their values: an input is on the line through the last value of the output that feeds it, and FMUs
//! that interpolate their inputs get the slope for the step, or the second derivative too (semantics S20). `fmus/parabola` knows its derivatives exactly,
//! `fmus/follower` (FMI 2.0) refuses a slope without a value.

use super::program::{Rig, real_time};
use super::{numbers, run};
use std::path::{Path, PathBuf};

fn fmu(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// A parabola `p` with this step feeds a follower `f` with that one, by connections with these keys.
fn rig(steps: [&str; 2], keys: &str) -> Rig {
    let [p, f] = [fmu("parabola"), fmu("follower")];
    let connect = |from: &str, to: &str| format!("[[connect]]\nfrom = '{from}'\nto = '{to}'\n{keys}\n");
    Rig::of_text(&format!(
        "[rig]\nstop_time = 1\n[record]\n[fmu.p]\npath = '{}'\nstep = '{}'\n[fmu.f]\npath = '{}'\nstep = '{}'\n{}{}",
        p.display(),
        steps[0],
        f.display(),
        steps[1],
        connect("p.y", "f.u"),
        connect("p.z", "f.v")
    ))
}

#[track_caller]
fn near(actual: &[f64], expected: impl IntoIterator<Item = f64>) {
    let expected: Vec<f64> = expected.into_iter().collect();
    assert_eq!(actual.len(), expected.len());
    let wrong = actual.iter().zip(&expected).position(|(a, b)| (a - b).abs() > 1e-12);
    assert_eq!(wrong.map(|at| (at, actual[at], expected[at])), None);
}

/// y = t² is known at tenths, and so is its slope 2t; the follower is released twice in between. What the parabola starts with has
/// no slope.
#[test]
fn an_input_is_on_the_line_through_the_last_value_in_both_modes() {
    let rig = rig(["1/10", "1/20"], "extrapolation = 'linear'");
    let outcome = run(&rig, "virtual").exits(0);
    let line = |step: usize| {
        let (known, now) = ((step / 2) as f64 / 10.0, step as f64 / 20.0);
        (known * known + 2.0 * known * (now - known), 2.0 * known)
    };
    near(&numbers(&outcome, "f.u")[..20], (0..20).map(|step| line(step).0));
    // As the step before the row had it.
    near(&numbers(&outcome, "f.slope_u")[1..21], (0..20).map(|step| line(step).1));
    let area = |step| 0.05 * line(step).0 + 0.5 * line(step).1 * 0.05 * 0.05;
    near(&numbers(&outcome, "f.integral")[20..], [(0..20).map(area).sum::<f64>()]);
    // In kilometres, from metres.
    near(&numbers(&outcome, "f.v")[2..20], (2..20).map(|step| 0.003 * step as f64 / 20.0));
    near(&numbers(&outcome, "f.slope_v")[3..21], (3..21).map(|_| 0.003));
    // From the first value that a step has computed on.
    assert_eq!(outcome.signals().last("f.slopes"), 18);
    real_time("an_input_is_on_the_line_through_the_last_value_in_both_modes", || {
        assert_eq!(run(&rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv"));
    });
}

/// The follower's release is that of the parabola: the value is as it was computed, and its slope serves within the step.
#[test]
fn a_value_of_now_is_as_it_was_computed() {
    let outcome = run(&rig(["1/20", "1/10"], "extrapolation = 'linear'"), "virtual").exits(0);
    let u: Vec<f64> = numbers(&outcome, "f.u").into_iter().step_by(2).collect();
    near(&u[..10], (0..10).map(|step| (step as f64 / 10.0).powi(2)));
    let held = run(&rig(["1/20", "1/10"], ""), "virtual").exits(0);
    assert_eq!(held.signals().last("f.slopes"), 0);
    assert_eq!(numbers(&held, "f.u"), numbers(&outcome, "f.u"));
    // The area below the parabola is a third; without slopes the steps below it are far from that.
    let [with, without] = [&outcome, &held].map(|run| (numbers(run, "f.integral").last().unwrap() - 1.0 / 3.0).abs());
    assert!(with < 0.005 && without > 0.04, "{with} {without}");
}

/// y = t² and its derivatives 2 t and 2 say all of it: each value between two steps of the parabola is right, whatever the steps are, and
/// so is the integral, but for the first step, before which nothing had come. z = 3 t is given two derivatives as well.
#[test]
fn a_parabola_is_followed_exactly_with_both_derivatives_in_both_modes() {
    let rig = rig(["1/10", "1/40"], "extrapolation = 'quadratic'");
    let outcome = run(&rig, "virtual").exits(0);
    let t = |step: usize| step as f64 / 40.0;
    near(&numbers(&outcome, "f.u")[4..40], (4..40).map(|step| t(step).powi(2)));
    // As the step before the row had them.
    near(&numbers(&outcome, "f.slope_u")[5..41], (4..40).map(|step| 2.0 * t(step)));
    near(&numbers(&outcome, "f.curve_u")[5..41], (4..40).map(|_| 2.0));
    near(&numbers(&outcome, "f.slope_v")[5..41], (4..40).map(|_| 0.003));
    near(&numbers(&outcome, "f.integral")[40..], [(1.0 - 0.001) / 3.0]);
    let linear = self::rig(["1/10", "1/40"], "extrapolation = 'linear'");
    let linear = run(&linear, "virtual").exits(0);
    assert_eq!(numbers(&linear, "f.curve_u").iter().copied().fold(0.0, f64::max), 0.0, "it is not asked for");
    assert!((numbers(&linear, "f.integral")[40] - 0.333).abs() > 1e-3);
    real_time("a_parabola_is_followed_exactly_with_both_derivatives_in_both_modes", || {
        assert_eq!(run(&rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv"));
    });
}

/// A copy of the follower that discards steps longer than 30 ms, can be taken back, and has a slope for one step alone (FMI 2.0.5, 4.2.1).
fn discarding(rig: &Rig) {
    let copy = rig.folder().join("copy");
    crate::simulated::copy(&fmu("follower"), &copy);
    let change = |file: &str, changes: &[(&str, &str)]| {
        let text = std::fs::read_to_string(copy.join(file)).unwrap();
        let changed = changes.iter().fold(text, |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
        std::fs::write(copy.join(file), changed).unwrap();
    };
    let states = "fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
        {
            if (!*state) *state = malloc(sizeof(struct follower));
            return memcpy(*state, c, sizeof(struct follower)), fmi2OK;
        }
        fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
        {
            return memcpy(c, state, sizeof(struct follower)), fmi2OK;
        }
        fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
        {
            (void)c;
            return free(*state), *state = NULL, fmi2OK;
        }
        fmi2Status fmi2DoStep(";
    change(
        "sources/follower.c",
        &[
            ("fmi2Status fmi2DoStep(", states),
            (
                "    (void)point, (void)no_set_state;",
                "    (void)point, (void)no_set_state;\n    if (size > 0.03) return fmi2Discard;",
            ),
            (
                "    follower->values[SLOPE_U] = slope;",
                "    follower->values[SLOPE_U] = slope;\n    follower->slope[U] = follower->curve[U] = 0.0;",
            ),
        ],
    );
    change("modelDescription.xml", &[("canInterpolateInputs", "canGetAndSetFMUstate=\"true\" canInterpolateInputs")]);
    let text = std::fs::read_to_string(rig.file()).unwrap();
    std::fs::write(rig.file(), text.replace(&fmu("follower").display().to_string(), "copy")).unwrap();
}

/// Each part of a step that was discarded begins at a communication point of its own: its input is where its line or parabola is there, with
/// the derivatives of there. So the integral is that of whole steps. The row of the release has the input as it was then.
#[test]
fn each_part_of_a_discarded_step_has_the_input_of_its_begin() {
    for how in ["linear", "quadratic"] {
        let rig = || rig(["1/10", "1/10"], &format!("extrapolation = '{how}'"));
        let whole = run(&rig(), "virtual").exits(0);
        let (in_parts, in_group) = (rig(), rig());
        discarding(&in_parts);
        discarding(&in_group);
        let text = std::fs::read_to_string(in_group.file()).unwrap().replace("step = '1/10'\n[[", "[[");
        std::fs::write(in_group.file(), format!("{text}[master.g]\nfmus = ['f']\nstep = '1/10'\n")).unwrap();
        for rig in [in_parts, in_group] {
            let outcome = run(&rig, "virtual").exits(0);
            let task = if outcome.stdout.contains("f.g") { "g" } else { "step" };
            assert_eq!(outcome.count("f", task, "steps"), 40, "{how}");
            for column in ["f.integral", "f.u"] {
                near(&numbers(&outcome, column), numbers(&whole, column));
            }
        }
    }
}

/// One output feeds an input that is on a line, one that is on a parabola, and one that is held.
#[test]
fn connections_of_one_output_carry_as_many_derivatives_as_each_wants() {
    let [p, f] = [fmu("parabola"), fmu("follower")].map(|path| path.display().to_string());
    let mut text = format!("[rig]\nmode = 'virtual'\nstop_time = 1\n[record]\n[fmu.p]\npath = '{p}'\nstep = '1/10'\n");
    for (name, how) in [("held", "hold"), ("line", "linear"), ("curve", "quadratic")] {
        text += &format!(
            "[fmu.{name}]\npath = '{f}'\nstep = '1/20'\n[[connect]]\nfrom = 'p.y'\nto = '{name}.u'\nextrapolation = '{how}'\n"
        );
    }
    let outcome = Rig::of_text(&text).run_virtual().exits(0);
    let at = |name: &str, step: usize| numbers(&outcome, &format!("{name}.u"))[step];
    for step in (3..20).step_by(2) {
        let (known, now) = ((step - 1) as f64 / 20.0, step as f64 / 20.0);
        near(&[at("held", step)], [known * known]);
        near(&[at("line", step)], [known * known + 2.0 * known * 0.05]);
        near(&[at("curve", step)], [now * now]);
    }
}

/// An FMU of FMI 2.0 gives derivatives as well.
#[test]
fn the_derivative_of_an_output_of_fmi_2_travels_too() {
    let f = fmu("follower");
    let outcome = run(
        &Rig::of_text(&format!(
            "[rig]\nstop_time = 1\n[record]\n[fmu.a]\npath = '{0}'\nstep = '1/10'\nstart = {{ u = 2.0 }}\n[fmu.b]\npath = '{0}'\nstep = '1/10'\n\
             [[connect]]\nfrom = 'a.integral'\nto = 'b.u'\nextrapolation = 'linear'\n",
            f.display()
        )),
        "virtual",
    )
    .exits(0);
    near(&numbers(&outcome, "b.slope_u")[2..], (2..11).map(|_| 2.0));
    // The integral of 2 t, but for the first step, in which nothing had come yet.
    near(&numbers(&outcome, "b.integral")[10..], [1.0 - 0.01]);
}

#[test]
fn where_it_cannot_work_it_is_refused_with_the_reason() {
    let [p, f, s] = ["parabola", "follower", "stepper"].map(|name| fmu(name).display().to_string());
    let refused = |from: &str, to: &str, keys: &str, reason: &str| {
        let rig = Rig::of_text(&format!(
            "[rig]\nmode = 'virtual'\nstop_time = 1\n[fmu.p]\npath = '{p}'\n[fmu.f]\npath = '{f}'\n[fmu.s]\npath = '{s}'\n[fmu.e]\npath = '{}'\n\
             [[connect]]\nfrom = '{from}'\nto = '{to}'\n{keys}extrapolation = 'linear'\n",
            fmu("engine_ecu").display()
        ));
        let outcome = rig.run_virtual().exits(2);
        let message = &outcome.stderr;
        assert!(
            message.contains("extrapolation = \"linear\" is not possible: ") && message.contains(reason),
            "{message}"
        );
    };
    refused("p.y", "f.u", "timing = 'immediate'\n", "timing = \"delayed\"");
    refused("s.x", "f.u", "", "s has no output derivatives (maxOutputDerivativeOrder)");
    refused("p.y", "s.a", "", "s does not ask for s.a in the midst of a step");
    refused("p.d", "f.u", "", "p.d is no continuous Float64");
    refused("f.integral", "p.u", "", "p does not ask for p.u in the midst of a step");
    let rig = Rig::of_text(&format!(
        "[rig]\nmode = 'virtual'\nstop_time = 1\n[fmu.a]\npath = '{f}'\n[fmu.b]\npath = '{f}'\n\
         [[connect]]\nfrom = 'a.integral'\nto = 'b.u'\nextrapolation = 'quadratic'\n"
    ));
    let message = "extrapolation = \"quadratic\" is not possible: a has output derivatives up to order 1 (maxOutputDerivativeOrder)";
    let outcome = rig.run_virtual().exits(2);
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
}

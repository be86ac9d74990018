//! How far each algorithm steps, by FMUs that count their steps (`fmus/common/rejecting.c`): each integrates its input over steps that do
//! not go beyond its events.

use super::{last, numbers, rig, run, succeeds};
use crate::program::Outcome;
use crate::program::shared_core;

/// A group over one step of 1 s: `a` gets what `b` has computed, and has its event at 0.37 s; `more` are further FMUs, and their names.
fn group(algorithm: &str, more: &str, names: &str) -> String {
    format!(
        "[rig]\nstop_time = 1\n[record]\nsignals = ['*.y', '*.steps', '*.early', '*.events', '*.u']\n\
         [fmu.a]\npath = '@rejecting'\nstart = {{ first = 0.37, every = 10 }}\n\
         [fmu.b]\npath = '@rejecting'\nstart = {{ first = 5, every = 10, u = 1 }}\n{more}\
         [master.g]\nfmus = ['a', 'b'{names}]\nstep = 1\nalgorithm = '{algorithm}'\n\
         [[connect]]\nfrom = 'b.y'\nto = 'a.u'\n"
    )
}

/// Of `a` after 1 s, where all have stopped at these times: its input is what `b` had at the beginning of each step, which is the time.
fn held(stops: &[f64]) -> f64 {
    stops.windows(2).map(|pair| pair[0] * (pair[1] - pair[0])).sum()
}

fn assert_near(outcome: &Outcome, column: &str, expected: f64) {
    let value = last(outcome, column);
    assert!((value - expected).abs() < 1e-12, "{column} is {value}, not {expected}");
}

/// An FMU that rejects a step at 0.37 of it makes all step so far, by the FMUs' own count of what is left of their steps after going back.
#[test]
fn with_rollback_all_step_as_far_as_the_one_that_rejects() {
    let outcome = succeeds(&group("rollback", "", ""));
    assert_near(&outcome, "a.y", held(&[0.0, 0.37, 1.0]));
    assert_near(&outcome, "b.y", 1.0);
    for name in ["a", "b"] {
        assert_eq!(last(&outcome, &format!("{name}.steps")), 2.0, "to 0.37 s and to 1 s");
        assert_eq!(last(&outcome, &format!("{name}.early")), 0.0, "that step is as if it had not been");
    }
    assert_eq!(last(&outcome, "a.events"), 1.0);
}

/// In Algorithm 3 a legacy FMU steps once, after the others have agreed; what makes it stop early makes the others shorter, not it;
/// a predictable one says how far it goes and steps last.
#[test]
fn with_prediction_each_does_what_it_can() {
    let more = "[fmu.c]\npath = '@legacy'\nstart = { first = 0.55, every = 10, u = 1 }\n\
                [fmu.p]\npath = '@predicting'\nstart = { first = 0.8, every = 10, u = 1 }\n";
    let outcome = succeeds(&group("predictable", more, ", 'c', 'p'"));
    assert_near(&outcome, "a.y", held(&[0.0, 0.37, 0.55, 0.8, 1.0]));
    for name in ["a", "b", "c", "p"] {
        assert_eq!(last(&outcome, &format!("{name}.steps")), 4.0, "{name}");
    }
    let early = ["a", "b", "c", "p"].map(|name| last(&outcome, &format!("{name}.early")));
    assert_eq!(early, [0.0, 0.0, 1.0, 0.0], "nobody takes the legacy one back");
    assert_eq!(last(&outcome, "p.events"), 1.0);
    let said = &outcome.stderr;
    assert!(said.contains("c is legacy (nothing tells how far it can step"), "{said}");
    assert!(said.contains("p is predictable (its largest step is known from nextEventTime)"), "{said}");
}

/// Without a way back each goes on from where it has stopped: the others do not hear of it.
#[test]
fn jacobi_lets_each_go_to_the_end() {
    let outcome = succeeds(&group("jacobi", "", ""));
    assert_near(&outcome, "a.y", held(&[0.0, 1.0]));
    assert_eq!((last(&outcome, "a.steps"), last(&outcome, "b.steps")), (2.0, 1.0));
    assert_eq!(last(&outcome, "a.early"), 1.0);
}

/// Who is fed steps after who feeds it, and gets what that has at the end of the step.
#[test]
fn gauss_seidel_feeds_what_is_new() {
    let outcome = succeeds(&group("gauss-seidel", "", ""));
    assert_near(&outcome, "a.y", 1.0);
    assert_near(&outcome, "b.y", 1.0);
}

/// The same bytes whatever the order of the tables, of `fmus` and of the connections, by every algorithm; FMUs feed each other in a circle.
#[test]
fn the_order_in_the_rig_means_nothing() {
    let fmus = [
        "[fmu.a]\npath = '@rejecting'\nstart = { first = 0.37, every = 0.4 }\n",
        "[fmu.b]\npath = '@predicting'\nstart = { first = 0.21, every = 0.3, u = 1 }\n",
        "[fmu.c]\npath = '@rejecting'\nstart = { first = 0.5, every = 0.33 }\n",
    ];
    let names = ["'a'", "'b'", "'c'"];
    let connects = [
        "[[connect]]\nfrom = 'a.y'\nto = 'c.u'\n",
        "[[connect]]\nfrom = 'b.y'\nto = 'a.u'\n",
        "[[connect]]\nfrom = 'c.y'\nto = 'b.u'\n",
    ];
    for algorithm in ["jacobi", "gauss-seidel", "predictable"] {
        let of = |order: [usize; 3]| {
            let [fmus, names, connects] = [fmus, names, connects].map(|all| order.map(|at| all[at]));
            let text = format!(
                "[rig]\nstop_time = 2\n[record]\nsignals = ['a.y', 'a.u', 'b.y', 'b.u', 'c.y', 'c.u', 'a.steps']\n{}\
                 [master.g]\nfmus = [{}]\nstep = 0.25\nalgorithm = '{algorithm}'\n{}",
                fmus.concat(),
                names.join(", "),
                connects.concat()
            );
            let signals = succeeds(&text).signals();
            ["a.y", "a.u", "b.y", "b.u", "c.y", "c.u", "a.steps"].map(|column| signals.column(column).join(","))
        };
        let expected = of([0, 1, 2]);
        assert!(expected[0].split(',').count() == 9, "{expected:?}");
        for order in [[2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            assert_eq!(of(order), expected, "{algorithm}, {order:?}");
        }
    }
}

/// Whatever the events of the FMUs and how they feed each other, taking all back comes to what asking each does: all stop at the same
/// instants.
#[test]
fn rollback_and_prediction_come_to_the_same() {
    let mut seed = 7_u64;
    let mut next = |below: u64| {
        // A linear congruential generator, so that the rigs are always the same.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for round in 0..6 {
        let count = 2 + next(4) as usize;
        let mut text = String::new();
        for fmu in 0..count {
            let (first, every) = (0.01 + next(400) as f64 / 1000.0, 0.05 + next(500) as f64 / 1000.0);
            text += &format!(
                "[fmu.f{fmu}]\npath = '@rejecting'\nstart = {{ first = {first}, every = {every}, u = {} }}\n",
                1 + next(3)
            );
            let from = next(count as u64);
            if from != fmu as u64 {
                text += &format!("[[connect]]\nfrom = 'f{from}.y'\nto = 'f{fmu}.u'\n");
            }
        }
        let names: Vec<String> = (0..count).map(|fmu| format!("'f{fmu}'")).collect();
        let of = |algorithm: &str| {
            let text = format!(
                "[rig]\nstop_time = 1\n[record]\nsignals = ['*.y', '*.events', '*.steps']\n[master.g]\nfmus = [{}]\nstep = '1/4'\n\
                 algorithm = '{algorithm}'\n{text}",
                names.join(", ")
            );
            succeeds(&text).file("signals.csv")
        };
        let rollback = of("rollback");
        assert!(rollback.lines().count() == 6, "{rollback}");
        assert_eq!(rollback, of("predictable"), "round {round}");
    }
}

/// What contradicts the assumptions of the algorithms ends the run, in the name of the FMU; and where the step could be made all the same it is told.
#[test]
fn who_lies_is_named() {
    for (algorithm, kind, first, lie, words) in [
        ("rollback", "rejecting", 0.2, 1, "(A0)"),
        // Also where it says so of a step that has not ended early.
        ("rollback", "rejecting", 100.0, 1, "(A0)"),
        ("predictable", "rejecting", 100.0, 1, "(A0)"),
        ("predictable", "predicting", 100.0, 1, "(A0)"),
        ("jacobi", "rejecting", 100.0, 1, "(A0)"),
        ("rollback", "rejecting", 0.2, 2, "(A1)"),
        ("predictable", "rejecting", 0.2, 1, "(A0)"),
        ("predictable", "predicting", 0.2, 3, "(A4)"),
    ] {
        let more = format!("[fmu.liar]\npath = '@{kind}'\nstart = {{ first = {first:?}, every = 10, lie = {lie} }}\n");
        let outcome = run(&rig(&group(algorithm, &more, ", 'liar'")), "virtual");
        assert_ne!(outcome.code, 0, "{algorithm} {kind} {lie}: {}", outcome.stderr);
        let said = outcome.stdout.lines().find(|line| line.contains(words));
        let said = said.unwrap_or_else(|| panic!("{algorithm} {kind} {lie}: {} {}", outcome.stdout, outcome.stderr));
        assert!(said.contains("liar") && said.contains("fmi3DoStep"), "{said}");
    }
}

/// A group that never gets to the end of its step ends with an error that says how many times it has tried.
#[test]
fn too_many_steps_within_one_are_an_error() {
    let text = group("rollback", "", "").replace("every = 10 }\n[fmu.b]", "every = 0.001 }\n[fmu.b]");
    let text = text.replace("step = 1\n", "step = 1\nmax_events = 50\n");
    let outcome = run(&rig(&text), "virtual");
    assert_ne!(outcome.code, 0);
    assert!(outcome.stdout.contains("more than 50 steps within one of its group"), "{}", outcome.stdout);
}

/// One that asks for the end has it when the others have made their step: nobody lacks a row.
#[test]
fn the_end_comes_when_all_have_made_their_step() {
    for algorithm in ["jacobi", "rollback"] {
        let text = format!(
            "[rig]\nstop_time = 0.06\n[record]\nsignals = ['i.y', 'a.n']\n[fmu.a]\npath = '@stepper'\nstart = {{ fail_at = 0.02, fail_kind = 5 }}\n\
             [fmu.i]\npath = '@rejecting'\nstart = {{ first = 5, u = 1 }}\n[master.g]\nfmus = ['a', 'i']\nstep = '1/100'\nalgorithm = '{algorithm}'\n"
        );
        let outcome = succeeds(&text);
        let (times, y) = (numbers(&outcome, "time"), numbers(&outcome, "i.y"));
        assert!(times.len() >= 3 && *times.last().unwrap() < 0.04, "{algorithm}: {times:?}");
        for (time, y) in times.iter().zip(&y) {
            assert!((time - y).abs() < 1e-12, "{algorithm}: {times:?} {y}");
        }
        let asked = outcome.stdout.matches("asked for the end").count();
        assert_eq!(asked, 1, "{}", outcome.stdout);
        assert!(outcome.stdout.contains("fmu `a`: asked for the end"), "{}", outcome.stdout);
    }
}

/// An FMU that crashes is the one that is named, whoever makes its steps.
#[test]
fn a_crash_is_that_of_the_fmu_that_crashes() {
    let text = "[rig]\nstop_time = 0.06\n[fmu.a]\npath = '@stepper'\n[fmu.b]\npath = '@stepper'\nstart = { fail_at = 0.02, fail_kind = 7 }\n\
                [master.g]\nfmus = ['a', 'b']\nstep = '1/100'\n";
    let outcome = run(&rig(text), "virtual");
    assert_ne!(outcome.code, 0);
    let report = outcome.report();
    let status = |name: &str| {
        let fmus = report["fmus"].as_array().unwrap();
        fmus.iter().find(|fmu| fmu["name"] == name).unwrap()["status"].as_str().unwrap().to_owned()
    };
    assert_eq!((status("a").as_str(), status("b").as_str()), ("aborted", "crashed"), "{}", outcome.stdout);
}

/// A group is one task, on one thread: in real time it records what it does in virtual time.
#[test]
fn real_time_computes_the_same() {
    shared_core(|| {
        let text = "[rig]\nstop_time = 1\n[record]\nsignals = ['*.y', '*.u']\n\
                [fmu.a]\npath = '@rejecting'\nstart = { first = 0.0037, every = 0.01 }\n\
                [fmu.b]\npath = '@rejecting'\nstart = { first = 5, every = 10, u = 1 }\n\
                [master.g]\nfmus = ['a', 'b']\nstep = '1/100'\nalgorithm = 'rollback'\n\
                [[connect]]\nfrom = 'b.y'\nto = 'a.u'\n";
        let expected = succeeds(text).file("signals.csv");
        let outcome = run(&rig(text), "realtime");
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let seen = outcome.file("signals.csv");
        // A release that was missed on a shared machine has no row.
        let strange = seen.lines().find(|line| !expected.lines().any(|own| own == *line));
        assert_eq!(strange, None);
        let report = outcome.report();
        let clocks = report["clocks"].as_array().unwrap();
        let group = clocks.iter().find(|clock| clock["kind"] == "group").expect("one entry is the group's");
        assert_eq!((group["fmu"].as_str(), group["clock"].as_str()), (Some("a"), Some("g")));
        let threads: Vec<&str> = clocks.iter().filter_map(|clock| clock["thread"].as_str()).collect();
        assert_eq!(threads, [threads[0]; 2]);
    });
}

/// Whoever asks for the end in Event Mode (`terminateSimulation`) ends all: none is brought out of it, which `events` refuses, and none steps.
#[test]
fn an_end_that_is_asked_for_in_event_mode_is_that_of_all() {
    for algorithm in ["jacobi", "gauss-seidel", "rollback", "predictable"] {
        for start in ["every = 0.015, ends = 3", "early = 0.015, ends = 3", "every = 0.015, ends = 1"] {
            let text = format!(
                "[rig]\nstop_time = 0.1\n[record]\n\
                 [fmu.a]\npath = '@events'\nstart = {{ {start}, in_group = 1 }}\n\
                 [fmu.b]\npath = '@events'\nstart = {{ every = 0.015, in_group = 1 }}\n\
                 [fmu.c]\npath = '@spring'\n\
                 [master.g]\nfmus = ['a', 'b', 'c']\nstep = 0.01\nalgorithm = '{algorithm}'\n"
            );
            let outcome = succeeds(&text);
            let case = format!("{algorithm}, {start}");
            assert_eq!((outcome.finding("a", "asked_for_end"), outcome.finding("b", "asked_for_end")), (Some(1), None));
            assert_eq!(last(&outcome, "a.updates"), start[start.len() - 1..].parse::<f64>().unwrap(), "{case}");
        }
    }
}

//! FMUs of FMI 2.0 and 1.0 in groups. A step that they cannot make they discard, with the time that they have come to, and what they can be
//! taken back by is another thing in each version: a state in 2.0, a step that says that the last one does not count (`canRejectSteps`)
//! in 1.0, and of Model Exchange in 1.0 nothing.

use super::{Outcome, fmu, last, numbers, rig, run, succeeds};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// FMUs that discard a step over their events.
const DISCARDING: [&str; 2] = ["discarding_fmi2", "discarding_fmi1"];

/// A group over one step of 1 s: `a`, with an event at 0.37 s, gets what `b` has computed, which is the time. `keys`: of `a`.
fn group(algorithm: &str, a: &str, b: &str, keys: &str) -> String {
    format!(
        "[rig]\nstop_time = 1\n[record]\nsignals = ['*.y', '*.steps', '*.events']\n\
         [fmu.a]\npath = '{a}'\nstart = {{ first = 0.37, every = 10 }}\n{keys}\
         [fmu.b]\npath = '{b}'\nstart = {{ first = 5, every = 10, u = 1 }}\n\
         [master.g]\nfmus = ['a', 'b']\nstep = 1\nalgorithm = '{algorithm}'\n\
         [[connect]]\nfrom = 'b.y'\nto = 'a.u'\n"
    )
}

/// A copy of an FMU that says of itself that it cannot be taken back.
fn without_a_way_back(name: &str) -> TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for path in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
            let place = to.join(path.file_name().unwrap());
            match path.is_dir() {
                true => copy(&path, &place),
                false => assert!(fs::copy(&path, place).is_ok()),
            }
        }
    }
    let folder = crate::program::tempdir().unwrap();
    copy(&fmu(name), folder.path());
    let description = folder.path().join("modelDescription.xml");
    let text = fs::read_to_string(&description).unwrap();
    let changed = text.replace("canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"", "");
    let changed = changed.replace("canRejectSteps=\"true\"", "");
    assert_ne!(changed, text);
    fs::write(description, changed).unwrap();
    folder
}

fn path(folder: &TempDir) -> &str {
    folder.path().to_str().unwrap()
}

#[track_caller]
fn both_have_stopped_at_the_event(outcome: &Outcome, case: &str) {
    let y = last(outcome, "a.y");
    assert!((y - 0.37 * 0.63).abs() < 1e-12, "{case}: its input is 0 up to the event, and 0.37 after it: {y}");
    assert!((last(outcome, "b.y") - 1.0).abs() < 1e-12, "{case}");
    for name in ["a", "b"] {
        assert_eq!(last(outcome, &format!("{name}.steps")), 2.0, "{case}: to 0.37 s and to 1 s");
    }
    assert_eq!((last(outcome, "a.events"), last(outcome, "b.events")), (1.0, 0.0), "{case}");
}

/// Whoever discards the step, and whoever has made it beyond that, is taken back: each by what its version has for it.
#[test]
fn a_discarded_step_ends_that_of_all_in_every_version() {
    let way_back = |name: &str| match name {
        "discarding_fmi1" => "is rollback (its steps can be rejected (canRejectSteps))",
        _ => "is rollback (its state can be saved (canGetAndSetFMUState))",
    };
    for algorithm in ["rollback", "predictable"] {
        for (a, b) in [
            ("discarding_fmi2", "discarding_fmi1"),
            ("discarding_fmi1", "discarding_fmi2"),
            ("discarding_fmi2", "rejecting"),
            ("discarding_fmi1", "rejecting"),
            ("rejecting", "discarding_fmi2"),
            ("rejecting", "discarding_fmi1"),
        ] {
            let case = format!("{algorithm}, {a}, {b}");
            let outcome = succeeds(&group(algorithm, &format!("@{a}"), &format!("@{b}"), ""));
            both_have_stopped_at_the_event(&outcome, &case);
            let told = format!("a {}; b {}", way_back(a), way_back(b));
            assert!(outcome.stderr.contains(&told), "{case}: {}", outcome.stderr);
            // By the calls: who has discarded it and who has not, each once.
            let taken_back =
                ["g", "step"].map(|task| outcome.count(if task == "g" { "a" } else { "b" }, task, "taken_back"));
            assert_eq!(taken_back, [1, 1], "{case}");
        }
    }
}

/// What the user says of it is done by the way back that it has.
#[test]
fn one_that_is_to_be_rollback_is_taken_back_by_what_its_version_has() {
    for name in DISCARDING {
        let outcome = succeeds(&group("predictable", &format!("@{name}"), "@rejecting", "class = 'rollback'\n"));
        both_have_stopped_at_the_event(&outcome, name);
    }
}

/// Without a way back it is legacy, with the flag of its own version; a group has one at most, and it makes its step last, once.
#[test]
fn one_that_cannot_be_taken_back_is_legacy() {
    for (name, why) in [
        ("discarding_fmi2", "its state cannot be saved (canGetAndSetFMUState is not true)"),
        ("discarding_fmi1", "its steps cannot be rejected (canRejectSteps is not true)"),
    ] {
        let folder = without_a_way_back(name);
        let legacy = format!("legacy (nothing tells how far it can step, and {why})");
        let outcome = succeeds(&group("predictable", "@rejecting", path(&folder), ""));
        both_have_stopped_at_the_event(&outcome, name);
        assert!(outcome.stderr.contains(&format!("b is {legacy}")), "{}", outcome.stderr);
        assert_eq!(outcome.count("b", "step", "taken_back"), 0);

        for (algorithm, a, told) in [
            ("predictable", path(&folder), "2 of its FMUs can neither say how far they step nor go back"),
            ("rollback", "@rejecting", "algorithm = \"rollback\" takes all FMUs back, but not all can go: b: "),
        ] {
            let refused = run(&rig(&group(algorithm, a, path(&folder), "")), "virtual");
            assert_eq!(refused.code, 2, "{algorithm}: {}", refused.stderr);
            assert!(refused.stderr.contains(told) && refused.stderr.contains(why), "{algorithm}: {}", refused.stderr);
        }
        let text = group("predictable", path(&folder), "@rejecting", "class = 'rollback'\n");
        let refused = run(&rig(&text), "virtual");
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(&format!("a cannot be rollback: {why}")), "{}", refused.stderr);
    }
}

/// Where the algorithm takes nobody back, an FMU that can be taken back makes a step that it discards in parts of its own, and others see
/// nothing of that; for one that cannot the step has failed, as where the rig wants no retry: it is not told to go on from its midst.
#[test]
fn where_nobody_is_taken_back_a_discarded_step_is_made_in_parts() {
    // With Gauss-Seidel `b` is at the end of the step already.
    for (algorithm, y) in [("jacobi", 0.0), ("gauss-seidel", 1.0)] {
        for (name, function) in [
            ("discarding_fmi2", "fmi2DoStep returned fmi2Discard"),
            ("discarding_fmi1", "fmiDoStep returned fmiDiscard"),
        ] {
            let outcome = succeeds(&group(algorithm, &format!("@{name}"), "@rejecting", ""));
            assert!((last(&outcome, "a.y") - y).abs() < 1e-12, "{algorithm}, {name}: {}", last(&outcome, "a.y"));
            assert_eq!((last(&outcome, "a.steps"), last(&outcome, "a.events")), (2.0, 1.0), "{algorithm}, {name}");
            assert_eq!(last(&outcome, "b.steps"), 1.0, "{algorithm}, {name}");
            let stays = without_a_way_back(name);
            for (path, keys) in [(format!("@{name}"), "retry_steps = false\n"), (path(&stays).to_owned(), "")] {
                let outcome = run(&rig(&group(algorithm, &path, "@rejecting", keys)), "virtual");
                assert_eq!(outcome.code, 1, "{algorithm}: {}", outcome.stderr);
                outcome.problem(&["fmu `a`", &format!("{function} at 0 s")]);
                assert_eq!(outcome.status("b"), "terminated", "{algorithm}");
            }
        }
    }
    let refused = run(&rig(&group("rollback", "@discarding_fmi2", "@rejecting", "retry_steps = true\n")), "virtual");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("its group takes it back by itself: leave retry_steps out"), "{}", refused.stderr);
}

/// The height of a ball that falls from 1 m, by flights that are each `e` times as long as the one before.
fn height(time: f64) -> f64 {
    let (g, e) = (9.81, 0.7);
    let first = f64::sqrt(2.0 / g);
    if time <= first {
        return 1.0 - 0.5 * g * time * time;
    }
    let (mut begin, mut speed) = (first, e * g * first);
    while begin + 2.0 * speed / g < time {
        begin += 2.0 * speed / g;
        speed *= e;
    }
    let t = time - begin;
    speed * t - 0.5 * g * t * t
}

/// The angle of the spring: J = 1, c = 100, d = 2, from 1 rad at rest.
fn angle(time: f64) -> f64 {
    let w = f64::sqrt(99.0);
    (-time).exp() * ((w * time).cos() + (w * time).sin() / w)
}

/// FMUs for Model Exchange of FMI 3.0, 2.0 and 1.0 are integrated as one system: what each computes is its closed form, and that of two
/// versions of one model the same to the last bit, since events of one are events of all.
#[test]
fn equations_of_all_versions_are_one_system() {
    for algorithm in ["jacobi", "gauss-seidel", "predictable"] {
        let outcome = succeeds(&format!(
            "[rig]\nstop_time = 1.5\n[record]\nsignals = ['*.inertia1.phi', '*.h', '*.bounces']\n\
             [fmu.spring3]\npath = '@spring'\n[fmu.spring2]\npath = '@spring_fmi2'\n\
             [fmu.ball3]\npath = '@ball'\n[fmu.ball1]\npath = '@ball_fmi1'\n\
             [master.g]\nfmus = ['ball1', 'ball3', 'spring2', 'spring3']\nstep = '1/20'\nalgorithm = '{algorithm}'\n\
             solver = 'dopri5'\ntolerance = 1e-10\n"
        ));
        let times = numbers(&outcome, "time");
        let of = |column: &str| numbers(&outcome, column);
        assert_eq!(times.len(), 31, "{algorithm}");
        assert_eq!(of("spring2.inertia1.phi"), of("spring3.inertia1.phi"), "{algorithm}");
        for (columns, right) in [
            (["spring2.inertia1.phi", "spring3.inertia1.phi"], angle as fn(f64) -> f64),
            (["ball1.h", "ball3.h"], height),
        ] {
            for column in columns {
                for (time, value) in times.iter().zip(of(column)) {
                    let off = (value - right(*time)).abs();
                    assert!(off < 1e-7, "{algorithm}: {column} is {off} off at {time} s");
                }
            }
        }
        assert_eq!((last(&outcome, "ball1.bounces"), last(&outcome, "ball3.bounces")), (2.0, 2.0), "{algorithm}");
        if algorithm == "predictable" {
            // Completed steps of a bouncing ball of FMI 1.0 are not undone.
            let why = "legacy (nothing tells how far it can step, and its state cannot be saved (FMI 1.0 has no function for that))";
            assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
        }
    }
}

/// A spring that is cut in two computes what it does as a whole: an inertia of FMI 2.0, and what pulls at it, of FMI 3.0.
#[test]
fn parts_of_two_versions_compute_what_the_whole_does() {
    for algorithm in ["jacobi", "gauss-seidel", "rollback", "predictable"] {
        let outcome = succeeds(&format!(
            "[rig]\nstop_time = 3\n[record]\nsignals = ['inertia.inertia1.phi']\n\
             [fmu.inertia]\npath = '@spring_fmi2'\nstart = {{ \"spring1.c\" = 0, \"damper1.d\" = 0 }}\n\
             [fmu.pull]\npath = '@feedback'\nstart = {{ a = -100, b = -2 }}\n\
             [master.cut]\nfmus = ['inertia', 'pull']\nstep = '1/10'\nalgorithm = '{algorithm}'\nsolver = 'dopri5'\ntolerance = 1e-10\n\
             [[connect]]\nfrom = 'inertia.inertia1.phi'\nto = 'pull.u1'\n\
             [[connect]]\nfrom = 'inertia.inertia1.w'\nto = 'pull.u2'\n\
             [[connect]]\nfrom = 'pull.y'\nto = 'inertia.torque.tau'\n"
        ));
        let rows: Vec<(f64, f64)> =
            numbers(&outcome, "time").into_iter().zip(numbers(&outcome, "inertia.inertia1.phi")).collect();
        assert_eq!(rows.len(), 31, "{algorithm}");
        for (time, phi) in rows {
            assert!((phi - angle(time)).abs() < 1e-7, "{algorithm}: {phi} at {time} s, not {}", angle(time));
        }
    }
}

//! FMUs for Model Exchange in the schedule: integrated over their steps, with events in the midst of them (semantics S25).

use super::program::{Outcome, Rig, real_time, send, shared_core};
use super::{numbers, run};
use nix::sys::signal::Signal;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn fmu(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus").join(name)
}

/// A ball that bounces within steps, and a spring that is integrated in several parts of each step.
fn ball_and_spring(solver: &str) -> Rig {
    Rig::of_text(&format!(
        "[rig]\nstop_time = 1\n[record]\nsignals = ['ball.*']\n[fmu.ball]\npath = '{}'\nstep = '1/100'\n{solver}\n[fmu.spring]\npath = '{}'\nstep = '1/200'\n\
         solver = 'euler'\ninternal_step = '1/2000'\n",
        fmu("ball").display(),
        fmu("spring").display()
    ))
}

fn recorded(outcome: &Outcome) -> String {
    std::fs::read_to_string(outcome.out.join("signals.csv")).unwrap()
}

/// With a fixed step work is bounded, and real time records what virtual time does, events in the midst of steps included.
#[test]
fn real_time_integrates_to_the_same_bytes() {
    shared_core(|| {
        let rig = ball_and_spring("solver = 'rk4'");
        let virtual_time = run(&rig, "virtual");
        assert_eq!(virtual_time.code, 0, "{}", virtual_time.stderr);
        let expected = recorded(&virtual_time);
        assert_eq!(numbers(&virtual_time, "ball.bounces").last(), Some(&1.0));
        assert_eq!(numbers(&virtual_time, "ball.switches").last(), Some(&2.0));
        let rows = numbers(&virtual_time, "time").len();
        assert_eq!(rows, 101, "an event within a step has no row of its own");
        let real_time = run(&rig, "realtime");
        assert_eq!(real_time.code, 0, "{}", real_time.stderr);
        // What was missed on a shared machine has no row; one longer step makes up for it, in the same steps of the solver.
        let seen = recorded(&real_time);
        let strange = seen.lines().find(|line| !expected.lines().any(|own| own == *line));
        assert_eq!((strange, seen.lines().last()), (None, expected.lines().last()));
    });
}

/// As many steps as a tolerance asks for are for virtual time.
#[test]
fn unbounded_work_is_refused_in_real_time() {
    for solver in ["auto", "dopri5", "bdf"] {
        let rig = ball_and_spring(&format!("solver = '{solver}'\ntolerance = 1e-9"));
        let refused = run(&rig, "realtime");
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        let words = format!("nobody knows beforehand how many steps {solver} makes");
        assert!(refused.stderr.contains(&words), "{}", refused.stderr);
        let virtual_time = run(&rig, "virtual");
        assert_eq!(virtual_time.code, 0, "{}", virtual_time.stderr);
        assert_eq!(numbers(&virtual_time, "ball.bounces").last(), Some(&1.0), "{solver}");
    }
}

/// A copy of an example FMU whose source has one thing instead of another, in a folder of the rig.
pub fn changed(rig: &Rig, name: &str, changes: &[(&str, &str, &str)]) -> PathBuf {
    let folder = rig.folder().join(name);
    std::fs::create_dir_all(folder.join("sources")).unwrap();
    let copy = |file: &str| std::fs::copy(fmu(name).join(file), folder.join(file)).unwrap();
    copy("modelDescription.xml");
    for entry in fmu(name).join("sources").read_dir().unwrap() {
        copy(&format!("sources/{}", entry.unwrap().file_name().to_str().unwrap()));
    }
    for (file, from, to) in changes {
        let file = folder.join(file);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{from}");
        std::fs::write(&file, text.replace(from, to)).unwrap();
    }
    folder
}

/// Time events and step events of a step are counted as state events are: its work is bounded.
#[test]
fn events_of_all_kinds_are_bounded_in_a_step() {
    // Time events each millisecond; the FMU does not mind when they are late.
    let rig = Rig::of_text("[rig]\nstop_time = 3\n[record]\n[fmu.inc]\npath = 'inc'\nstep = 1\nmax_events = 20\n");
    changed(
        &rig,
        "inc",
        &[
            ("sources/inc.c", "inc->start + inc->seconds + 1;", "inc->instance.time + 0.001;"),
            ("sources/inc.c", "inc->start + inc->seconds + 1 - inc->instance.time < 1e-9", "true"),
            ("sources/inc.c", "inc->counter >= LAST", "false"),
            ("sources/equations.c", "return instance->has_next &&", "return false &&"),
        ],
    );
    let outcome = run(&rig, "virtual").exits(0);
    outcome.problem(&["fmu `inc`: had more than 20 events in 3 steps", "max_events", "at 0.02"]);
    // One at the begin of each step, and those within.
    assert_eq!(numbers(&outcome, "inc.counter").last(), Some(&(1.0 + 3.0 * 21.0)));
    // A completed step of the pendulum asks for an event when its states are to be others.
    let rig = Rig::of_text(&format!(
        "[rig]\nstop_time = 10\n[record]\n[fmu.pendulum]\npath = '{}'\nstep = 10\ninternal_step = '1/1000'\nmax_events = 3\n",
        fmu("pendulum").display()
    ));
    let outcome = run(&rig, "virtual");
    outcome.problem(&["fmu `pendulum`: had more than 3 events in 1 step", "max_events"]);
}

/// An FMU that says that its next time event is over already is told of, and goes on.
#[test]
fn a_time_event_that_is_over_when_it_is_told_is_a_finding() {
    let rig = Rig::of_text("[rig]\nstop_time = 3\n[record]\n[fmu.inc]\npath = 'inc'\nstep = '1/2'\n");
    let late = ("sources/inc.c", "inc->start + inc->seconds + 1;", "inc->instance.time;");
    changed(&rig, "inc", &[late, ("sources/equations.c", "return instance->has_next &&", "return false &&")]);
    let outcome = run(&rig, "virtual").exits(0);
    outcome.problem(&["fmu `inc`: told 6 time events that were over by then", "first", "at 0 s"]);
    assert_eq!(numbers(&outcome, "inc.counter").last(), Some(&3.0));
}

/// Which rows a rig records in parts.
fn rows(rig: &Rig, arguments: &[&str]) -> Vec<String> {
    let outcome = rig.run_with(&[&["--mode", "virtual"], arguments].concat()).exits(0);
    outcome.file("signals.csv").lines().skip(1).map(str::to_owned).collect()
}

/// What a stimulus has set before the cut is not set again: that would be an event that there was not.
#[test]
fn a_run_that_goes_on_has_no_event_of_an_input_that_has_not_changed() {
    for (name, input, column) in [("failing", "d", "events"), ("events", "d", "entered")] {
        let rig = Rig::of_text(&format!(
            "[rig]\n[record]\nsignals = ['f.{column}', 'f.{input}']\n[fmu.f]\npath = '{}'\nstep = '1/100'\n\
             [[stimulus]]\nfile = 'in.csv'\ncolumns = {{ 'f.{input}' = 'd' }}\n",
            fmu(name).display()
        ));
        std::fs::write(rig.folder().join("in.csv"), "time,d\n0,0\n0.105,1\n0.2,3\n0.3,4\n").unwrap();
        let state = rig.folder().join("state");
        let state = state.to_str().unwrap();
        let whole = rows(&rig, &["--stop-time", "0.4"]);
        // Where nothing changes, and where something does.
        for cut in ["0.15", "0.2"] {
            let mut parts = rows(&rig, &["--stop-time", cut, "--save-state", state]);
            parts.extend(rows(&rig, &["--stop-time", "0.4", "--restore-state", state]));
            assert_eq!(parts, whole, "{name}, cut at {cut} s");
        }
    }
}

/// A long step comes to its end when the run is asked to, and its state is saved there, however long that takes.
#[test]
fn a_long_step_ends_before_its_state_is_saved() {
    let rig = Rig::of_text(&format!(
        "[rig]\nmode = 'virtual'\nshutdown_timeout = 0.5\nstop_time = 1e6\n[record]\n[fmu.spring]\npath = '{}'\nstep = 20\n\
         solver = 'rk4'\ninternal_step = '1/20000'\n",
        fmu("spring").display()
    ));
    let state = rig.folder().join("state");
    let mut command = rig.command();
    command.args(["--save-state", state.to_str().unwrap()]);
    let child = rig.start(command);
    rig.wait_until_it_runs();
    std::thread::sleep(Duration::from_millis(100));
    send(child.id().cast_signed(), Signal::SIGINT);
    let outcome = rig.finish(child).exits(0);
    assert!(outcome.stderr.contains("the state at "), "{}", outcome.stderr);
    assert!(state.metadata().unwrap().len() > 0);
}

/// Inputs of a rig are on their lines within a step, up to the next row of the file, which is where the line ends: what depends on
/// the file and the time alone is the same in both modes.
#[test]
fn inputs_of_a_rig_are_on_their_lines_within_steps() {
    let rig = Rig::of_text(&format!(
        "[rig]\nstop_time = 1\n[record]\nsignals = ['f.x', 'f.u']\n[fmu.f]\npath = '{}'\nstep = '1/10'\nsolver = 'rk4'\ninternal_step = '1/20'\n\
         start = {{ gain = 0 }}\n[[stimulus]]\nfile = 'in.csv'\ninterpolation = 'linear'\ncolumns = {{ 'f.u' = 'u' }}\n",
        fmu("failing").display()
    ));
    // A row on the grid, and one in the midst of a step, after which the input keeps what it has there until the next release.
    std::fs::write(rig.folder().join("in.csv"), "time,u\n0,0\n0.3,0.6\n0.55,0.1\n2,0.1\n").unwrap();
    let outcome = run(&rig, "virtual").exits(0);
    let [times, x, u] = ["time", "f.x", "f.u"].map(|column| numbers(&outcome, column));
    let area = |time: f64| {
        let [first, second] = [time.min(0.3), (time.clamp(0.3, 0.55) - 0.3)];
        first * first + second * (0.6 - second) + (time.max(0.55) - 0.55) * 0.1
    };
    for row in 0..times.len() {
        assert!((x[row] - area(times[row])).abs() < 1e-9, "{} s: {} is not {}", times[row], x[row], area(times[row]));
    }
    assert_eq!((u[1], u[3]), (0.2, 0.6));
    real_time("inputs_of_a_rig_are_on_their_lines_within_steps", || {
        assert_eq!(run(&rig, "realtime").exits(0).file("signals.csv"), outcome.file("signals.csv"));
    });
}

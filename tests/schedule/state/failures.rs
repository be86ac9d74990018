//! FMUs that fail while their state is taken or set, and runs that fail before: what is reported, and what is left.

use super::program::{Rig, changed_tracer};
use super::{left, run, state, text, two};

const ERROR: i32 = 1;
const DISCARD: i32 = 2;
const FATAL: i32 = 3;
const WARNING: i32 = 9;
const CRASH: i32 = 5;

const GET: (i32, &str) = (9, "fmi3GetFMUState");
const SET: (i32, &str) = (10, "fmi3SetFMUState");
const SERIALIZE: (i32, &str) = (11, "fmi3SerializeFMUState");
const DESERIALIZE: (i32, &str) = (12, "fmi3DeserializeFMUState");
const SIZE: (i32, &str) = (14, "fmi3SerializedFMUStateSize");
const FREE: (i32, &str) = (15, "fmi3FreeFMUState");

fn failing(kind: i32, function: i32) -> Rig {
    two(&format!("fail_kind = {kind}, fail_function = {function}, fail_at = 1"))
}

#[test]
fn an_fmu_that_fails_when_its_state_is_taken_fails_the_run_and_the_old_file_stays() {
    for (kind, status, word) in
        [(ERROR, "fmi3Error", "error"), (DISCARD, "fmi3Discard", "error"), (FATAL, "fmi3Fatal", "fatal")]
    {
        for (function, name) in [GET, SIZE, SERIALIZE, FREE] {
            let rig = failing(kind, function);
            let file = state(&rig, "state");
            let old = "vecud state\nold";
            std::fs::write(&file, old).unwrap();
            let run = run(&rig, &["--save-state", text(&file)]).exits(1);
            run.problem(&["fmu `a`", name, status]);
            run.problem(&["the state is not saved to", "the run has failed before"]);
            // Of the same FMU, so Fatal is its end too.
            let other = if kind == FATAL { "aborted" } else { "terminated" };
            assert_eq!((run.status("a").as_str(), run.status("b").as_str()), (word, other), "{name}");
            assert_eq!(
                (left(&rig), std::fs::read_to_string(&file).unwrap().as_str()),
                (vec!["out".into(), "state".into()], old)
            );
            // The recording is that of the whole run.
            assert_eq!(run.signals().last("a.count_fast"), 400);
            assert_eq!(run.trace("a").count("terminate", "begin"), 0);
        }
    }
}

#[test]
fn an_fmu_that_crashes_when_its_state_is_taken_is_named() {
    let rig = failing(CRASH, SERIALIZE.0);
    let file = state(&rig, "state");
    let run = run(&rig, &["--save-state", text(&file)]).exits(1);
    run.problem(&["fmu `a` crashed", "in fmi3SerializeFMUState"]);
    assert_eq!(left(&rig), ["out"]);
}

#[test]
fn an_fmu_that_fails_when_its_state_is_set_fails_the_run() {
    for (kind, status) in [(ERROR, "fmi3Error"), (FATAL, "fmi3Fatal")] {
        for (function, name) in [DESERIALIZE, SET] {
            // The state is another instance's of the same rig: one that does not fail.
            let rig = two("fail_kind = 0");
            let file = state(&rig, "state");
            run(&rig, &["--stop-time", "0.1", "--save-state", text(&file)]).exits(0);
            let rig = failing(kind, function);
            let run = run(&rig, &["--restore-state", text(&file)]).exits(1);
            run.problem(&["fmu `a`", name, status]);
            assert_eq!(run.report()["clocks"][0]["activations"], 0, "{name}");
        }
    }
}

#[test]
fn a_warning_is_counted_and_does_no_harm_unless_the_rig_says_so() {
    let rig = failing(WARNING, GET.0);
    let file = state(&rig, "state");
    let outcome = run(&rig, &["--stop-time", "0.1", "--save-state", text(&file)]).exits(0);
    outcome.problem(&["fmu `a`", "1 call returned fmi3Warning"]);
    run(&rig, &["--restore-state", text(&file)]).exits(0);

    let start = format!("fail_kind = {WARNING}, fail_function = {}", GET.0);
    let rig = Rig::new("mode = 'virtual'\nstop_time = 0.1").tracer_with("a", &start, "on_warning = 'error'");
    let outcome = run(&rig, &["--save-state", text(&state(&rig, "state"))]).exits(1);
    outcome.problem(&["fmi3GetFMUState returned fmi3Warning"]);
    assert_eq!(left(&rig), ["out"]);
}

#[test]
fn of_a_run_that_failed_no_state_is_saved() {
    for on_error in ["stop", "continue"] {
        let rig = Rig::new(&format!("mode = 'virtual'\nstop_time = 0.2\non_error = '{on_error}'"))
            .tracer("a", "")
            .tracer("b", "fail_kind = 1, fail_clock = 1, fail_at = 51");
        let file = state(&rig, "state");
        let run = run(&rig, &["--save-state", text(&file)]).exits(1);
        run.problem(&["the state is not saved to", "the run has failed before"]);
        assert_eq!(left(&rig), ["out"]);
        assert_eq!(run.trace("a").count("get_state", "begin"), 0, "the sound one is not asked either");
    }
}

#[test]
fn an_fmu_that_does_not_know_its_own_bytes_again_fails_the_run() {
    // Another build of the same FMU, with a state of another form.
    let rig = two("");
    let file = state(&rig, "state");
    run(&rig, &["--stop-time", "0.1", "--save-state", text(&file)]).exits(0);
    let folder = crate::program::tempdir().unwrap();
    let path = changed_tracer(folder.path(), "states.c", &[("tracer-state-1", "tracer-state-2")]);
    let text_of_rig = std::fs::read_to_string(rig.file()).unwrap();
    let first = text_of_rig.lines().find(|line| line.starts_with("path = ")).unwrap();
    let toml = folder.path().join("test.toml");
    std::fs::write(&toml, text_of_rig.replacen(first, &format!("path = '{}'", path.display()), 1)).unwrap();
    let run = run(&Rig::of_file(text(&toml)), &["--restore-state", text(&file)]).exits(1);
    run.problem(&["fmu `a`: fmi3DeserializeFMUState returned fmi3Error", "These bytes are no state of this FMU."]);
}

#[test]
fn states_are_taken_before_terminate_and_set_after_initialization() {
    let rig = two("");
    let file = state(&rig, "state");
    let order = |run: &super::Outcome| -> Vec<String> {
        let trace = run.trace("a");
        let known = ["exit_init", "terminate", "free", "get_state", "set_state", "free_state"];
        let more = ["state_size", "serialize", "deserialize"];
        let calls = trace.events.iter().filter(|event| event.phase == "begin");
        let all = |what: &str| known.iter().chain(&more).any(|known| *known == what);
        calls.filter(|event| all(&event.what)).map(|event| event.what.clone()).collect()
    };
    let first = run(&rig, &["--stop-time", "0.1", "--save-state", text(&file)]).exits(0);
    let save = ["exit_init", "get_state", "state_size", "serialize", "free_state", "terminate", "free"];
    assert_eq!(order(&first), save);
    let taken = |run: &super::Outcome, what: &str| {
        let trace = run.trace("a");
        trace.events.iter().find(|event| event.is(what, "end")).map(|event| event.hash)
    };
    let hash = taken(&first, "serialize");
    let second = run(&rig, &["--restore-state", text(&file)]).exits(0);
    assert_eq!(order(&second), ["exit_init", "deserialize", "set_state", "free_state", "terminate", "free"]);
    assert_eq!(taken(&second, "set_state"), hash, "what is set is what was taken");
}

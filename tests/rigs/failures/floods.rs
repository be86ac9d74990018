//! The words of an FMU that fails stay, however much it has logged before them.

use super::*;
use std::path::PathBuf;

/// Twenty thousand trifles, a warning and an error.
const FLOOD: &str = "for (int i = 0; i < 20000; i++) fmu_log(&fmu->base, fmi3OK, \"Trifle %d.\", i);\n        \
                     fmu_log(&fmu->base, fmi3Warning, \"The oil is low.\");\n        \
                     return fmu_log(&fmu->base, fmi3Error, \"The bearing is hot.\");";
/// Twenty thousand errors of which the last one says most.
const ERRORS: &str = "for (int i = 0; i < 20000; i++) fmu_log(&fmu->base, fmi3Error, \"It is worse than %d.\", i);\n        \
                      return fmu_log(&fmu->base, fmi3Error, \"The bearing is hot.\");";

/// A tracer that does this where it fails with an error.
fn tracer(folder: &std::path::Path, code: &str) -> PathBuf {
    let before = "return fmu_log(&fmu->base, fmi3Error, \"An error, as asked for.\");";
    changed_tracer(folder, "failures.c", &[(before, code)])
}

/// A run in which it does that in its 51st activation of `fast`, or in a function.
fn flooded(code: &str, mode: &str, place: &str, keys: &str) -> Outcome {
    let rig = Rig::new(&format!("stop_time = 0.2\nmode = '{mode}'"));
    let path = tracer(rig.folder(), code);
    rig.fmu("a", path, &format!("fail_kind = {ERROR}, {place}"), keys).run().exits(1)
}

const IN_ACTIVATION: &str = "fail_clock = 1, fail_at = 51";
const IN_INITIALISATION: &str = "fail_function = 2, fail_at = 1";

#[track_caller]
fn has_its_words(run: &Outcome, words: &[&str]) {
    let (log, report) = (run.file("run.log"), run.fmu("a")["log"].to_string());
    for word in words {
        assert!(log.contains(word) && report.contains(word), "{word}: {report}");
        run.problem(&["fmu `a`: ", "returned fmi3Error", word]);
    }
}

/// A flood loses the least severe first. What somebody has asked for is no offence; in real time it is told that some of it is missing.
#[test]
fn an_error_behind_a_flood_is_told() {
    shared_core(|| {
        for place in [IN_ACTIVATION, IN_INITIALISATION] {
            let run = flooded(FLOOD, "realtime", place, "log = true");
            has_its_words(&run, &["warning: The oil is low.", "error: The bearing is hot."]);
            assert_eq!(run.finding("a", "log_flood"), None);
            let lost = run.report()["log_dropped"].as_u64().unwrap();
            let lines = run.file("run.log").lines().filter(|line| line.contains("Trifle")).count() as u64;
            assert_eq!(lines + lost, 20_000, "each is there, or counted");
            // Before activations begin nothing is in a hurry.
            assert!(place == IN_ACTIVATION || lost == 0);
        }
    });
}

/// Also where all are as severe.
#[test]
fn the_last_of_many_errors_is_told() {
    shared_core(|| {
        for mode in ["realtime", "virtual"] {
            has_its_words(&flooded(ERRORS, mode, IN_ACTIVATION, ""), &["error: The bearing is hot."]);
        }
    });
}

/// An FMU that logs faster than somebody reads waits.
#[test]
fn in_virtual_time_no_line_is_lost() {
    for (place, keys) in [(IN_ACTIVATION, "log = true"), (IN_INITIALISATION, "log = true"), (IN_ACTIVATION, "")] {
        let unasked = FLOOD.replacen(
            "fmu_log(&fmu->base, fmi3OK, \"Trifle %d.\", i)",
            "(void)i, fmu->base.log_message(fmu->base.environment, fmi3OK, \"\", \"Trifle\")",
            1,
        );
        let run = flooded(if keys.is_empty() { &unasked } else { FLOOD }, "virtual", place, keys);
        has_its_words(&run, &["warning: The oil is low.", "error: The bearing is hot."]);
        let lines = run.file("run.log").lines().filter(|line| line.contains("Trifle")).count();
        assert_eq!((lines, &run.report()["log_dropped"]), (20_000, &0.into()));
        assert_eq!(run.finding("a", "log_flood"), None);
    }
}

/// The last line of a traceback is what counts.
#[test]
fn a_message_of_some_thousand_letters_is_whole() {
    let code = "char text[3002]; memset(text, 'x', sizeof text); strcpy(text + 3000 - 5, \"hot.\");\n        \
                return fmu->base.log_message(fmu->base.environment, fmi3Error, \"\", text), fmi3Error;";
    let run = flooded(code, "virtual", IN_ACTIVATION, "");
    has_its_words(&run, &[&format!("{}hot.", "x".repeat(2995))]);
}

/// What `vecud simulate` shows goes through the same log.
#[test]
fn a_simulation_tells_the_error_and_loses_nothing() {
    let folder = crate::program::tempdir().unwrap();
    let path = tracer(folder.path(), FLOOD);
    for (arguments, trifles) in [(&[][..], 0), (&["--logging-on"], 20_000)] {
        let mut vecud = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
        let values = [format!("fail_kind={ERROR}"), "fail_clock=1".to_owned(), "fail_at=51".to_owned()];
        let values = values.iter().flat_map(|value| ["--start-value", value]);
        let done = vecud.arg("simulate").arg(&path).args(values).args(arguments).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{said}");
        for word in ["warning: The oil is low.", "error: The bearing is hot."] {
            assert!(said.contains(word), "{word}: {said}");
        }
        let lines = said.lines().filter(|line| line.contains("[logEvents] Trifle")).count();
        // The report of the failure shows some again.
        assert!((trifles..trifles + 10).contains(&lines), "{lines}");
        assert!(!said.contains("too fast"), "{said}");
    }
}

//! What FMUs are asked to log: nothing unless somebody wants it, then what is wanted; warnings and errors in any case.

use crate::loading::{copy, edit, ours};
use crate::program::{Outcome, Rig};
use std::path::{Path, PathBuf};

/// An FMU of each released version, the file that has its logging, the arguments of its `SetDebugLogging` that are not used there, and
/// its argument of `Instantiate`.
const VERSIONS: [(&str, &str, &str, &str); 3] = [
    ("stepper", "fmi3_base.c", "    if (!base) return fmi3Error;\n", "if (!name || !*name)"),
    (
        "spring_fmi2",
        "fmi2_equations.c",
        "    (void)nCategories, (void)wanted;\n",
        "if (!functions || !functions->logger) return NULL;",
    ),
    (
        "ball_fmi1",
        "fmi1_equations.c",
        "    enum answer answer = equations_called(MODEL(c), \"fmiSetDebugLogging\"",
        "if (!functions.logger || !instanceName) return NULL;",
    ),
];

/// A copy of one of [`VERSIONS`] in this folder, with code at the begin of its `SetDebugLogging` and of its `Instantiate`.
fn changed(
    (name, file, in_set, in_instantiate): (&str, &str, &str, &str),
    folder: &Path,
    set: &str,
    instantiate: &str,
) -> PathBuf {
    let fmu = folder.join(name);
    copy(&ours(name), &fmu);
    let source = fmu.join("sources").join(file);
    edit(&source, in_set, &format!("{set}\n{in_set}"));
    edit(&source, in_instantiate, &format!("{instantiate}\n    {in_instantiate}"));
    fmu
}

/// Runs the FMU for a moment, with these keys in its table.
fn run(fmu: impl Fn(&Path) -> PathBuf, keys: &str, arguments: &[&str]) -> Outcome {
    let rig = Rig::new("stop_time = 0.02\nmode = 'virtual'");
    let path = fmu(rig.folder());
    rig.more(&format!("[fmu.a]\npath = '{}'\nstep = 0.01\n{keys}", path.display())).run_with(arguments)
}

/// FMI 2.0, 2.1.5: `loggingOn` and `SetDebugLogging` are about debug logging, which costs time and which some FMUs cannot do.
#[test]
fn nobody_is_asked_to_log_unless_somebody_wants_it() {
    for version in VERSIONS {
        let logging_on = if version.0 == "stepper" { "logging_on" } else { "loggingOn" };
        let crash = format!("if ({logging_on}) abort();");
        let fmu = |folder: &Path| changed(version, folder, "    abort();", &crash);
        let outcome = run(fmu, "", &[]).exits(0);
        assert_eq!(outcome.status("a"), "terminated", "{}", version.0);
        let place = crate::program::tempdir().unwrap();
        let path = fmu(place.path());
        for command in ["simulate", "validate"] {
            let mut vecud = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
            let done = vecud.arg(command).arg(&path).output().unwrap();
            let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).join("\n");
            assert!(done.status.success() && !said.contains("SIGABRT"), "{command} {}: {said}", version.0);
        }
        run(fmu, "", &["--log"]).exits(1).problem(&["SIGABRT"]);
    }
}

/// What is asked for is what the rig says, else what the command line does: all categories that the description has.
#[test]
fn an_fmu_is_asked_for_what_somebody_wants() {
    let told = |keys: &str, arguments: &[&str]| {
        let fmu = |folder: &Path| {
            let note = "    fprintf(stderr, \"on %d:\", logging_on);\n    for (size_t i = 0; i < n_categories; i++) fprintf(stderr, \" %s\", categories[i]);\n    fprintf(stderr, \".\\n\");";
            changed(VERSIONS[0], folder, note, "fprintf(stderr, \"made %d, \", logging_on);")
        };
        let log = run(fmu, keys, arguments).exits(0).file("run.log");
        log.lines().find_map(|line| line.strip_prefix("made ")).map(str::to_owned).unwrap_or_else(|| panic!("{log}"))
    };
    let all = "1, on 1: logEvents logStatusWarning logStatusDiscard logStatusError logStatusFatal.";
    assert!(told("", &[]).starts_with("0, "));
    assert_eq!(told("log = true", &[]), all);
    assert_eq!(told("", &["--log"]), all);
    assert_eq!(told("log = ['logStatusError', 'logEvents']", &["--log"]), "1, on 1: logStatusError logEvents.");
    assert!(told("log = false", &["--log"]).starts_with("0, "));
}

/// A generated function without `return` gives whatever is in a register, and a stub an error: neither is the end of the run.
#[test]
fn debug_logging_that_fails_is_a_warning() {
    for (version, function) in
        VERSIONS.into_iter().zip(["fmi3SetDebugLogging", "fmi2SetDebugLogging", "fmiSetDebugLogging"])
    {
        for status in [77, 3, 2, -1] {
            let fmu = |folder: &Path| changed(version, folder, &format!("    return {status};"), "");
            let outcome = run(fmu, "", &["--log", "--strict"]).exits(0);
            assert_eq!(outcome.status("a"), "terminated");
            outcome.problem(&["fmu `a`", function, "it may log something else"]);
            let report = outcome.report();
            let problem = &report["problems"][0];
            assert_eq!((&report["verdict"], &problem["severity"]), (&"pass".into(), &"warning".into()));
            assert_eq!((&problem["kind"], &problem["subject"]["fmu"]), (&"logging_refused".into(), &"a".into()));
        }
        // No call after Fatal.
        let fmu = |folder: &Path| changed(version, folder, "    return 4;", "");
        run(fmu, "log = true", &[]).exits(1);
    }
}

#[test]
fn categories_that_an_fmu_does_not_have_are_refused_with_those_that_it_has() {
    let refused = |name: &str, keys: &str| run(|_: &Path| ours(name), keys, &[]).exits(2).stderr;
    let said = refused("stepper", "log = ['logEvents', 'logStatusWarnings']");
    assert!(
        said.contains(
            "test.toml:10:21: a has no log category \"logStatusWarnings\": it has logEvents, logStatusWarning, "
        ),
        "{said}"
    );
    assert!(said.contains("did you mean \"logStatusWarning\"?"), "{said}");
    let said = refused("ball_fmi1", "log = ['warnings']");
    assert!(said.contains("it names none (LogCategories); log = true asks for all that it can log"), "{said}");
    for (wrong, what) in [("'all'", "the string \"all\""), ("[]", "an empty list"), ("3", "3")] {
        let said = refused("stepper", &format!("log = {wrong}"));
        assert!(said.contains(&format!("log must be true, false or a list of log categories, not {what}")), "{said}");
    }
}

/// Without debug logging the words of an FMU that fails are there, and where it has none, the way to more.
#[test]
fn errors_come_without_being_asked_for() {
    let refuse = |how: &str| {
        let how = how.to_owned();
        move |folder: &Path| {
            let fmu = changed(VERSIONS[0], folder, "", "");
            edit(&fmu.join("sources/stepper.c"), "    stepper->time = step->reached;", &how);
            fmu
        }
    };
    let wordy = refuse("    return fmu_log(model, fmi3OK, \"a trifle\"), fmu_log(model, fmi3Error, \"no more oil\");");
    let outcome = run(&wordy, "", &[]).exits(1);
    outcome.problem(&["fmi3DoStep returned fmi3Error", "[logStatusError] error: no more oil"]);
    assert!(!outcome.file("run.log").contains("a trifle"));
    assert!(run(&wordy, "log = true", &[]).exits(1).file("run.log").contains("a trifle"));
    let silent = refuse("    return fmi3Error;");
    run(&silent, "", &[])
        .exits(1)
        .problem(&["it logged nothing, and was not asked to (`vecud run --log`, or log = true in its table"]);
    let mut asked = run(&silent, "", &["--log"]).exits(1).problem(&["it logged nothing"]);
    asked.truncate(200);
    assert!(!asked.contains("--log"), "{asked}");
    // Nor where no instance is made.
    let unborn = |folder: &Path| changed(VERSIONS[0], folder, "", "return false;");
    let said = run(unborn, "", &[]).exits(2).stderr;
    assert!(said.contains("it logged nothing, and was not asked to (`vecud run --log`, or log = true"), "{said}");
}

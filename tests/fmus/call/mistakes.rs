//! What is written wrongly: unknown names with their nearest, wrong arguments, files that are none. Exit code 2, and no FMU is called.

use super::{command, end, example, script};
use std::path::Path;

/// Each line alone, after an instance was made.
#[test]
fn a_line_that_is_wrong_says_why() {
    for (line, words) in [
        ("GetContinuousState", "there is no function GetContinuousState; did you mean \"fmi3GetContinuousStates\""),
        ("xyzzy", "there is no function xyzzy; `help` lists what there is"),
        ("a\u{1b}[31m", "there is no function"),
        ("DoStep 0.1", "fmi3DoStep is no function of Model Exchange in the released FMI 3.0"),
        ("GetOutputDerivatives", "is a function of FMI, but none that is called by hand"),
        ("get x[99]", "there is no variable x[99]; did you mean"),
        ("get", "it is written get NAME..."),
        ("get q*", "no variable matches q*"),
        ("set x[0]", "it is written set NAME VALUE"),
        ("set x[0] true", "x[0] must be a number, not true"),
        ("set x[0] 1 2", "x[0] is a scalar, but was given a list of 2"),
        ("set directional_derivatives 1.5", "must be a whole number"),
        ("SetInt32 x[0] 1", "x[0] is a Float64: its function is fmi3SetFloat64"),
        ("GetInt32 x[0]", "x[0] is a Float64: its function is fmi3GetFloat64"),
        ("SetTime", "it is written fmi3SetTime TIME"),
        ("SetTime soon", "soon is no number"),
        ("SetTime 1e999", "1e999 is no number"),
        ("SetTime(0.5", "the closing parenthesis is missing"),
        ("SetContinuousStates", "it is written fmi3SetContinuousStates X..."),
        ("GetContinuousStates now", "fmi3GetContinuousStates takes no arguments"),
        ("SetDebugLogging maybe", "maybe is neither true nor false"),
        ("GetDirectionalDerivative y[0] x[0]", "it is written fmi3GetDirectionalDerivative NAME,... NAME,... SEED,..."),
        ("GetDirectionalDerivative directional_derivatives x[0] 1", "is a Int32: it has no derivatives"),
        ("SetFMUState nowhere", "there is no state `nowhere`: fmi3GetFMUState takes one"),
        ("DeserializeFMUState nowhere", "no state was serialised as `nowhere`"),
        ("GetClock x[0]", "x[0] is no clock, but a Float64"),
        ("help nothing_like_it", "there is no function nothing_like_it"),
        ("variables q*", "no variable matches q*"),
    ] {
        let said = script(&example("linear"), &[], &["Instantiate", line]).exits(2);
        said.complains(&["line 2: ", words]);
        assert!(!said.stderr.contains('\u{1b}'), "{line}");
        assert_eq!(said.stdout.lines().filter(|line| line.starts_with("fmi3")).count(), 1, "{line}: {}", said.stdout);
    }
}

#[test]
fn options_of_an_instance_are_checked() {
    for (fmu, line, words) in [
        ("linear", "Instantiate cs", "the FMU does not offer Co-Simulation: it has Model Exchange"),
        ("linear", "Instantiate eventmode=1", "there is no eventmode"),
        ("linear", "Instantiate quickly", "quickly is none of loggingOn=..., "),
        ("rejecting", "Instantiate eventModeUsed=true", "the FMU has no Event Mode for Co-Simulation"),
        ("linear", "Instantiate loggingOn=yes", "yes is neither true nor false"),
    ] {
        script(&example(fmu), &[], &[line]).exits(2).complains(&["line 1: ", words]);
    }
    let lines = ["Instantiate", "EnterInitializationMode 0 1 1e-4 7"];
    script(&example("linear"), &[], &lines).exits(2).complains(&["it is written fmi3EnterInitializationMode [START"]);
    let lines = ["Instantiate", "EnterInitializationMode begin=1"];
    script(&example("linear"), &[], &lines).exits(2).complains(&["there is no begin"]);
}

#[test]
fn a_script_stops_at_the_first_line_that_fails_unless_it_is_to_go_on() {
    let lines = ["Instantiate", "nonsense", "EnterInitializationMode"];
    let said = script(&example("linear"), &[], &lines).exits(2);
    assert!(!said.stdout.contains("EnterInitializationMode"), "{}", said.stdout);
    let said = script(&example("linear"), &["--keep-going"], &lines).exits(2);
    said.shows(&["fmi3EnterInitializationMode(start 0.0) -> fmi3OK"]);
}

/// The first failure counts, whatever comes after it.
#[test]
fn calls_of_the_command_line_take_the_place_of_standard_input() {
    let options =
        ["-c", "Instantiate", "--command", "EnterInitializationMode", "-c", "nonsense", "-c", "quit", "-c", "more"];
    let said = end(command(&example("linear"), &options), b"FreeInstance\n").exits(2);
    said.shows(&["> Instantiate", "> EnterInitializationMode"]);
    said.complains(&["-c 3: there is no function nonsense"]);
    assert!(!said.stdout.contains("FreeInstance"), "{}", said.stdout);
}

#[test]
fn nothing_at_all_is_no_mistake() {
    for input in ["", "\n\n", "# a remark\n", "quit\nnonsense\n"] {
        let said = end(command(&example("linear"), &[]), input.as_bytes()).exits(0);
        assert!(!said.stdout.contains("fmi3") && said.stderr.is_empty(), "{}{}", said.stdout, said.stderr);
    }
    let not_utf8 = end(command(&example("linear"), &[]), b"\xff\xfe\n").exits(2);
    not_utf8.complains(&["line 1: there is no function"]);
    let endless = vec![b'x'; 3 << 20];
    end(command(&example("linear"), &[]), &endless).exits(2).complains(&["a line is longer than 1 MiB"]);
}

#[test]
fn what_is_no_fmu_is_told_before_anything_is_asked() {
    for (file, words) in
        [("nowhere.fmu", "No such file"), ("Cargo.lock", "not an FMU"), ("src", "modelDescription.xml")]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        script(&path, &[], &["Instantiate"]).exits(2).complains(&[words]);
    }
    let options = ["--interface-type", "se"];
    script(&example("linear"), &options, &[]).exits(2).complains(&["does not offer Scheduled Execution"]);
    for options in [&["--interface-type", "xx"][..], &["--timeout", "0"], &["--timeout", "x"], &["extra"], &["-c"]] {
        script(&example("linear"), options, &[]).exits(2);
    }
}

#[test]
fn programs_are_told_of_mistakes_in_the_same_form() {
    let (code, lines) =
        super::json(&example("linear"), &["--keep-going"], &["", "nonsense", "help DoStep", "fmi3GetVersion"]);
    assert_eq!(code, 2);
    assert_eq!(lines.len(), 3);
    assert_eq!((lines[0]["line"].as_u64(), lines[0]["outcome"].as_str()), (Some(2), Some("refused")));
    assert_eq!(lines[2]["results"][0]["text"].as_str(), Some("3.0"));
    assert_eq!(lines[2]["state"].as_str(), Some("no instance"));
}

/// As docs/runs.md has it: the FMU was called, so that this is no mistake in a line.
#[test]
fn results_that_cannot_be_written_are_exit_code_1() {
    for options in [&["-c", "instantiate"][..], &["-c", "instantiate", "--json"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command(&example("linear"), options).stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{options:?}: {told}");
        assert!(told.contains("cannot be written to standard output: No space left"), "{options:?}: {told}");
    }
}

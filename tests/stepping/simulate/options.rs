//! What a simulation computes, and what each option says.

use super::{Place, copy, fmu, simulate};
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::process::Stdio;

/// The default experiment has a second and steps of 10 ms; rows stand at communication points, the last one at the stop time.
#[test]
fn outputs_of_the_default_experiment_go_to_standard_output() {
    let simulated = simulate(fmu("stepper"), &[]).exits(0);
    assert_eq!(simulated.header(), "time,x,n,longest");
    let times = simulated.column("time");
    assert_eq!((times.len(), times[0], times[1], times[100]), (101, 0.0, 0.01, 1.0));
    assert_eq!(simulated.column("n"), (0..=100).map(f64::from).collect::<Vec<f64>>(), "steps made before each row");
    assert_eq!(simulated.stderr, "");
}

/// Two runs, and the same FMU in a rig, have the same numbers.
#[test]
fn it_computes_what_a_rig_does() {
    let place = Place::new();
    let own = place.simulate(fmu("stepper"), &["--start-value", "salt=7"]).exits(0);
    let rig = "[rig]\nstop_time = 1\nmode = \"virtual\"\n[record]\nsignals = [\"s.x\", \"s.n\", \"s.longest\"]\n";
    let path = fmu("stepper");
    let place = place.with("rig.toml", &format!("{rig}[fmu.s]\npath = '{}'\nstart = {{ salt = 7 }}\n", path.display()));
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
    let run = command.args(["run", "rig.toml", "--out", "out"]).current_dir(place.path("")).output().unwrap();
    assert!(run.status.success());
    let signals = std::fs::read_to_string(place.path("out/signals.csv")).unwrap();
    assert_eq!(signals.replace("s.", ""), own.stdout);
    assert_ne!(simulate(fmu("stepper"), &[]).stdout, own.stdout, "the start value counts");
}

#[test]
fn times_intervals_and_steps_are_those_that_are_asked_for() {
    let of = |arguments: &[&str]| {
        let simulated = simulate(fmu("stepper"), arguments).exits(0);
        (simulated.column("time"), simulated.column("n"), *simulated.column("longest").last().unwrap())
    };
    let (times, steps, _) = of(&["--start-time=-1", "--stop-time", "0.5", "--output-interval", "1/2"]);
    assert_eq!((times, steps), (vec![-1.0, -0.5, 0.0, 0.5], vec![0.0, 1.0, 2.0, 3.0]));
    let (times, ..) = of(&["--start-time", "-1e-3", "--stop-time", "-5e-4", "--output-interval", "1/4000"]);
    assert_eq!((times[0], times.len()), (-1e-3, 3));
    // Four steps from one row to the next.
    let (times, steps, _) = of(&["--fixed-step-size", "0.05", "--output-interval", "0.2", "--stop-time", "0.5"]);
    assert_eq!((times, steps), (vec![0.0, 0.2, 0.4, 0.5], vec![0.0, 4.0, 8.0, 10.0]));
    // The last step is shorter.
    let (times, _, longest) = of(&["--output-interval", "0.4"]);
    assert_eq!((times, longest), (vec![0.0, 0.4, 0.8, 1.0], 0.4));
}

/// The default experiment is in the FMU's unit of time, as everything of its description; rows are in seconds. A rig goes as far in a
/// step, and a rig that is written for the FMU says so.
#[test]
fn the_step_of_a_description_is_in_the_unit_of_its_time() {
    for (factor, stop, step, seconds) in [
        ("0.001", "1000", "100", 1.0),
        ("60", "10", "1", 600.0),
        ("3600", "0.5", "0.05", 1800.0),
        ("0.001", "1000", "16.666666666666668", 1.0),
    ] {
        let place = Place::new();
        copy(&fmu("stepper"), &place.path("stepper"));
        copy(&fmu("common"), &place.path("common"));
        let description = std::fs::read_to_string(place.path("stepper/modelDescription.xml")).unwrap();
        let unit = format!(
            "<UnitDefinitions><Unit name=\"t\"><BaseUnit s=\"1\" factor=\"{factor}\"/></Unit></UnitDefinitions>"
        );
        let changed = description
            .replace("  <LogCategories>", &format!("  {unit}\n  <LogCategories>"))
            .replace("stopTime=\"1\" stepSize=\"0.01\"", &format!("stopTime=\"{stop}\" stepSize=\"{step}\""))
            .replace("causality=\"independent\"", "causality=\"independent\" unit=\"t\"");
        let place = place.with("stepper/modelDescription.xml", &changed);
        let steps = if step.starts_with("16") { 60 } else { 10 };
        let simulated = place.simulate("stepper", &[]).exits(0);
        let (times, counts) = (simulated.column("time"), simulated.column("n"));
        assert_eq!((times.len(), *times.last().unwrap()), (steps + 1, seconds), "{step} of {factor} s");
        assert_eq!(*counts.last().unwrap(), steps as f64);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
        let written = command.args(["new", "rig", "rig", "stepper"]).current_dir(place.path("")).output().unwrap();
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
        let rig = std::fs::read_to_string(place.path("rig.toml")).unwrap();
        let own = if steps == 60 { "\"1/60\"".to_owned() } else { format!("{:?}", seconds / 10.0) };
        assert!(
            rig.contains(&format!("stop_time = {seconds:?} ")) && rig.contains(&format!("# step = {own} ")),
            "{rig}"
        );
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
        let run = command.args(["run", "rig.toml", "--mode", "virtual", "--out", "out"]).current_dir(place.path(""));
        assert!(run.output().unwrap().status.success());
        let report = std::fs::read_to_string(place.path("out/report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["clocks"][0]["activations"], steps);
    }
}

/// A step that was divided out to a decimal, and one that all but divides the run, leave no step of 1e-17 s over for the end: the last one
/// ends at the stop time.
#[test]
fn rounding_leaves_no_step_over() {
    for (interval, steps) in [
        ("0.016666666666666666", 60),
        ("0.0333333333333333", 30),
        ("0.14285714285714285", 7),
        ("0.09999999999999", 10),
        ("0.10000000000001", 10),
        ("0.0166666666666", 60),
    ] {
        let simulated = simulate(fmu("stepper"), &["--output-interval", interval]).exits(0);
        let (times, counts) = (simulated.column("time"), simulated.column("n"));
        assert_eq!((times.len(), *times.last().unwrap()), (steps + 1, 1.0), "{interval}");
        assert_eq!(*counts.last().unwrap(), steps as f64, "{interval}");
        let shortest = times.windows(2).map(|pair| pair[1] - pair[0]).fold(1.0, f64::min);
        assert!(shortest > 0.99 / steps as f64, "{shortest} in steps of {interval}");
        // What is integrated has the same rows.
        let integrated = simulate(fmu("spring"), &["--stop-time", "1", "--output-interval", interval]).exits(0);
        assert_eq!(integrated.column("time"), times, "{interval}");
    }
    // 1e-10 s are more than that.
    assert_eq!(simulate(fmu("stepper"), &["--output-interval", "0.0999999999"]).exits(0).column("time").len(), 12);
    let both = ["--fixed-step-size", "0.0166666666666", "--output-interval", "0.1"];
    assert_eq!(simulate(fmu("stepper"), &both).exits(0).column("time").len(), 11);
}

/// A vECU of Scheduled Execution, by its clocks; FMUs of both other versions are among the Reference FMUs.
#[test]
fn scheduled_execution_has_a_row_for_each_activation_time() {
    let simulated = simulate(fmu("three_input_clocks"), &["--stop-time", "0.05"]).exits(0);
    let times = simulated.column("time");
    assert!(times.len() >= 5 && times.is_sorted() && times.last().is_some_and(|last| *last < 0.05), "{times:?}");
    let refused = simulate(fmu("three_input_clocks"), &["--output-interval", "0.1"]).exits(2);
    assert!(
        refused.stderr.contains("--output-interval is for FMUs that run with Co-Simulation or Model Exchange"),
        "{}",
        refused.stderr
    );
}

#[test]
fn variables_that_are_asked_for_have_columns_and_rows_go_to_a_file() {
    let place = Place::new();
    let simulated =
        place.simulate(fmu("stepper"), &["--output-variable", "n", "--output-variable", "sal*", "-o", "a.csv"]);
    assert_eq!(simulated.exits(0).stdout, "");
    assert_eq!(place.names(), ["a.csv"]);
    let text = std::fs::read_to_string(place.path("a.csv")).unwrap();
    assert!(text.starts_with("time,n,salt\n0.0,0,0\n0.01,1,0\n") && text.ends_with("1.0,100,0\n"), "{text}");
}

/// No text is made of rows that nobody sees; what is simulated is the same.
#[test]
fn rows_that_go_to_the_null_device_leave_the_state_at_the_end_as_it_is() {
    let place = Place::new();
    let end = |place: &Place, name: &str| std::fs::read(place.path(name)).unwrap();
    place.simulate(fmu("own_state"), &["--final-fmu-state-file", "a", "-o", "a.csv"]).exits(0);
    let unseen = place.simulate(fmu("own_state"), &["--final-fmu-state-file", "b", "-o", "/dev/null"]);
    assert_eq!(unseen.exits(0).stdout, "");
    assert_eq!(end(&place, "a"), end(&place, "b"));
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

/// A reader that goes away has seen enough: `| head` ends quietly, and soon.
#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let place = Place::new();
    let mut command = place.command(&fmu("stepper"), &["--stop-time", "1e6"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), String::from_utf8(ended.stderr).unwrap().as_str()), (Some(0), ""));
}

#[test]
fn what_an_fmu_does_wrong_is_told_and_rows_up_to_then_are_there() {
    for (kind, words) in [(3, "fmi3DoStep returned fmi3Error"), (4, "fmi3Fatal"), (7, "SIGABRT")] {
        let start = format!("fail_kind={kind}");
        let failed = simulate(fmu("stepper"), &["--start-value", &start, "--start-value", "fail_at=0.5"]).exits(1);
        assert!(failed.stderr.contains(words), "{kind}: {}", failed.stderr);
        assert_eq!(failed.column("n").last(), Some(&50.0), "{kind}");
    }
}

/// Calls are counted per function, and each of them can be logged.
#[test]
fn calls_are_counted_and_logged() {
    let place = Place::new();
    let simulated = place.simulate(fmu("stepper"), &["--show-stats", "--log-fmi-calls", "--log-file", "log"]).exits(0);
    let row = |name: &str| {
        let line = simulated.stderr.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    assert_eq!((row("fmi3DoStep"), row("fmi3Terminate")), (100, 1));
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    assert_eq!(log.lines().filter(|line| line.contains("fmi3DoStep(") && line.ends_with("-> Ok")).count(), 100);
    assert!(log.contains("fmi3DoStep(0.99, 0.010000000000000009) -> Ok"), "{log}");
    assert!(!simulated.stderr.contains("-> Ok"));
}

/// The second part goes on with the state of the first one.
#[test]
fn a_simulation_goes_on_with_the_state_of_another_one() {
    let place = Place::new();
    let whole = place.simulate(fmu("stepper"), &[]).exits(0);
    let first = place.simulate(fmu("stepper"), &["--stop-time", "0.4", "--final-fmu-state-file", "state"]).exits(0);
    let second = place.simulate(fmu("stepper"), &["--start-time", "0.4", "--initial-fmu-state-file", "state"]).exits(0);
    let of_second = second.stdout.split_once('\n').unwrap().1.split_once('\n').unwrap();
    assert_eq!(first.stdout.lines().last(), Some(of_second.0), "it begins with what the state has computed");
    assert_eq!(first.stdout + of_second.1, whole.stdout);
}

#[test]
fn rows_are_compared_with_a_reference() {
    let place = Place::new();
    let own = place.simulate(fmu("stepper"), &["-o", "own.csv"]).exits(0);
    assert_eq!(own.stderr, "");
    place.simulate(fmu("stepper"), &["--reference-file", "own.csv"]).exits(0);
    let text = std::fs::read_to_string(place.path("own.csv")).unwrap().replace("\n0.5,", "\n0.5,1000");
    let place = place.with("other.csv", &text);
    let deviates = place.simulate(fmu("stepper"), &["--reference-file", "other.csv"]).exits(3);
    assert!(deviates.stderr.contains("x is ") && deviates.stderr.contains("at 0.5 s"), "{}", deviates.stderr);
    assert_eq!(deviates.rows().len(), 101);
    let arguments = ["--reference-file", "other.csv", "--reference-tolerance", "1e9"];
    place.simulate(fmu("stepper"), &arguments).exits(0);
    let place = place.with("foreign.csv", "time,y\n0,1\n");
    let refused = place.simulate(fmu("stepper"), &["--reference-file", "foreign.csv"]).exits(2);
    assert!(refused.stderr.contains("foreign.csv: no column is named"), "{}", refused.stderr);
}

#[test]
fn the_course_of_the_rows_can_be_drawn() {
    let place = Place::new();
    place.simulate(fmu("stepper"), &["--plot", "plot.html", "-o", "a.csv"]).exits(0);
    let page = std::fs::read_to_string(place.path("plot.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("longest"));
    let arguments = ["--plot", "plot.html", "--reference-file", "a.csv"];
    place.simulate(fmu("stepper"), &arguments).exits(0);
    assert!(std::fs::read_to_string(place.path("plot.html")).unwrap().contains("a.csv"));
}

/// Everything was simulated by then, and the rows are there.
#[test]
fn a_page_or_a_state_that_cannot_be_written_is_exit_code_1_and_named_by_its_option() {
    let place = Place::new().with("mine.txt", "no page");
    let failed = place.simulate(fmu("stepper"), &["--plot", "/dev/full"]).exits(1);
    let words = "/dev/full: the page cannot be written: No space left on device (os error 28); choose another place with --plot FILE";
    assert!(failed.stderr.contains(words), "{}", failed.stderr);
    assert_eq!(failed.rows().len(), 101);
    let refused = place.simulate(fmu("stepper"), &["--plot", "mine.txt"]).exits(2);
    assert!(refused.stderr.contains("that is no page; choose another place with --plot FILE"), "{}", refused.stderr);
    assert!(refused.rows().is_empty(), "{}", refused.stdout);
    let failed = place.simulate(fmu("stepper"), &["--final-fmu-state-file", "no/state"]).exits(1);
    assert!(failed.stderr.contains("no/state: "), "{}", failed.stderr);
    assert!(!failed.rows().is_empty(), "{}", failed.stderr);
}

/// Above the integers of TOML, however it is given.
#[test]
fn a_uint64_has_its_whole_range() {
    const LARGEST: &str = "18446744073709551615";
    let place = Place::new()
        .with("start.toml", &format!("d = \"{LARGEST}\"\n"))
        .with("in.csv", &format!("time,d\n0,{LARGEST}\n"));
    for (option, value) in [
        ("--start-value", format!("d={LARGEST}")),
        ("--start-value", format!("d = \"{LARGEST}\"")),
        ("--start", "start.toml".to_owned()),
        ("--input-file", "in.csv".to_owned()),
    ] {
        let arguments = [option, &value, "--stop-time=0.02", "--output-variable=d", "--output-variable=d_seen"];
        let simulated = place.simulate(fmu("events"), &arguments).exits(0);
        let is_it = |row: &Vec<&str>| row[1..] == [LARGEST, LARGEST];
        assert!(simulated.rows().iter().all(is_it), "{option} {value}: {}", simulated.stdout);
    }
    let arguments = ["--sweep", &format!("d=1,{LARGEST}"), "--stop-time=0.01", "--output-variable=d_seen"];
    let swept = place.simulate(fmu("events"), &arguments).exits(0);
    assert_eq!(swept.rows().iter().filter(|row| row[0] == LARGEST && row[2] == LARGEST).count(), 2, "{}", swept.stdout);
    let refused = place.simulate(fmu("events"), &["--start-value", "d=18446744073709551616"]).exits(2);
    assert!(refused.stderr.contains("is 18446744073709551616, but UInt64 holds 0 to"), "{}", refused.stderr);
}

/// With what each call was made, and what it has given.
#[test]
fn logged_calls_have_their_arguments() {
    let place = Place::new().with("in.csv", "time,u,d\n0,1,0\n0.01,2.5,0\n0.02,2.5,7\n");
    let arguments =
        ["--log-fmi-calls", "--log-file=log", "--input-file=in.csv", "--stop-time=0.03", "--tolerance=1e-4"];
    place.simulate(fmu("events"), &[&arguments[..], &["--start-value=iterations=2"]].concat()).exits(0);
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    for line in [
        "fmi3SetUInt64([32], [2]) -> Ok",
        "fmi3EnterInitializationMode(tolerance 0.0001, start 0.0, stop 0.03) -> Ok",
        "fmi3SetFloat64([10], [2.5]) -> Ok",
        "fmi3SetUInt64([11], [7]) -> Ok",
        "fmi3EnterEventMode(0.02) -> Ok",
        "fmi3DoStep(0.02, 0.009999999999999998) -> Ok",
        "fmi3GetUInt64([20, 21, 22, 23, 26, 27, 29, 41], [0, 0, 4, 7, 1, 0, 1, 0]) -> Ok",
    ] {
        assert!(log.lines().any(|own| own.ends_with(line)), "no {line}: {log}");
    }
}

/// Of Model Exchange an FMU is told the tolerance with which its states are integrated, whoever chose it; a method of fixed steps has none
/// of itself. An FMU for Co-Simulation, whose own solver nobody else knows, is told what somebody has said.
#[test]
fn an_fmu_is_told_the_tolerance_that_it_is_integrated_with() {
    let told = |name: &str, more: &[&str]| {
        let place = Place::new();
        let own = ["--log-fmi-calls", "--log-file=log", "--stop-time=0.02"];
        place.simulate(fmu(name), &[&own[..], more].concat()).exits(0);
        let log = std::fs::read_to_string(place.path("log")).unwrap();
        let entries = ["EnterInitializationMode(", "SetupExperiment(", "fmiInitialize("];
        let line = log.lines().find(|line| entries.iter().any(|entry| line.contains(entry))).unwrap();
        line.split_once("tolerance ").map(|(_, after)| after.split([',', ')']).next().unwrap().parse::<f64>().unwrap())
    };
    // Nobody says one of the relay; the descriptions of the others do.
    for (name, by_itself) in
        [("relay", 1e-4), ("spring", 1e-4), ("spring_fmi2", 1e-4), ("ball_fmi1", 1e-10), ("ball_draft", 1e-10)]
    {
        for solver in ["auto", "bdf", "dopri5"] {
            assert_eq!(told(name, &["--solver", solver]), Some(by_itself), "{name}, {solver}");
            assert_eq!(told(name, &["--solver", solver, "--tolerance=1e-6"]), Some(1e-6), "{name}, {solver}");
        }
        assert_eq!(told(name, &["--solver", "rk4"]), None, "{name}");
        assert_eq!(told(name, &["--solver", "rk4", "--tolerance=1e-6"]), Some(1e-6), "{name}");
    }
    assert_eq!((told("events", &[]), told("events", &["--tolerance=1e-6"])), (None, Some(1e-6)));
}

/// Texts and binaries are shown too, and all that is long is cut before the status.
#[test]
fn logged_calls_have_arguments_of_any_type_and_any_length() {
    let place = Place::new();
    let text = "x".repeat(1000);
    let arguments =
        ["--interface-type=se", "--log-fmi-calls", "--log-file=log", "--stop-time=0.01", "--output-variable=*"];
    let start = format!("text_in=\"{text}\"");
    let all = [
        &arguments[..],
        &["--start-value", &start, "--start-value=Boolean_in=true", "--start-value=Binary_in=[\"0x01\", \"0x0203\"]"],
    ]
    .concat();
    place.simulate(fmu("all_types"), &all).exits(0);
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    let has = |parts: &[&str]| {
        let line = |line: &&str| parts.iter().all(|part| line.contains(part)) && line.ends_with(" -> Ok");
        assert!(log.lines().any(|own| line(&own)), "no {parts:?}: {log}");
    };
    has(&["fmi3SetString([", &format!("\"{}…\"", &text[..40])]);
    has(&["fmi3SetBoolean([", "[true, true, true, true]"]);
    has(&["fmi3SetBinary([", "[0x01, 0x0203]"]);
    has(&["fmi3GetBinary([", "0x"]);
    has(&["fmi3GetString([", "\""]);
    has(&["fmi3GetBoolean([", "true"]);
    has(&["fmi3GetInt8([", "-128"]);
    has(&["fmi3ActivateModelPartition(", ", 0.009)"]);
}

/// Arrays that structural parameters resize have another size than their start values: what they start with is read from the FMU, an
/// input that nothing feeds included, and a note counts both sizes.
#[test]
fn resized_arrays_without_start_values_have_what_the_fmu_gives_them() {
    let columns = ["field", "table", "grid"].map(|name| format!("--output-variable={name}"));
    let with = |starts: &[&str]| {
        let mut arguments = vec!["--stop-time=0.003", "--start-value=n=3", "--start-value=rows=4"];
        arguments.extend(columns.iter().map(String::as_str));
        arguments.extend(starts);
        super::simulate(super::fmu("structural"), &arguments).exits(0)
    };
    let resized = with(&[]);
    assert!(resized.rows().iter().all(|row| row.len() == 1 + 3 + 4 * 3 + 4), "{}", resized.stdout);
    assert!(resized.rows().concat().iter().all(|cell| !cell.is_empty()), "{}", resized.stdout);
    let note = "note: structural: with these structural parameters start values of the description do not fit (table has 3 \
                elements, and 7 in its description; field has 4 elements, and 2 in its description): what they start with is up to \
                the FMU, unless they are given others";
    let notes = |simulated: &super::Simulated| {
        let notes = simulated.stderr.lines().filter(|line| line.starts_with("note: "));
        notes.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(notes(&resized), [note]);
    let given = with(&["--start-value=table=[1, 2, 3]", "--start-value=field=[1, 2, 3, 4]"]);
    assert_eq!(notes(&given), [""; 0]);
    assert_eq!(&given.rows()[0][16..], ["1.0", "2.0", "3.0", "4.0"]);
}

/// What never changes has rows, too, where there is nothing else: at the times at which other columns of the FMU have them.
#[test]
fn parameters_and_constants_alone_have_rows() {
    for (name, interface, columns, values) in [
        ("stepper", "cs", &["fail_at", "fail_kind"][..], &["0.0", "0"][..]),
        ("ball", "me", &["g", "e"], &["9.81", "0.7"]),
        ("structural", "se", &["constant"], &["3.0"]),
    ] {
        let interface = format!("--interface-type={interface}");
        let arguments = [interface.as_str(), "--stop-time=0.02"];
        let names = columns.iter().map(|column| format!("--output-variable={column}"));
        let names: Vec<String> = names.collect();
        let named: Vec<&str> = arguments.into_iter().chain(names.iter().map(String::as_str)).collect();
        let simulated = simulate(fmu(name), &named).exits(0);
        let others = simulate(fmu(name), &arguments).exits(0);
        assert_eq!(simulated.column("time"), others.column("time"), "{name}");
        assert!(simulated.rows().iter().all(|row| row[1..] == *values), "{}", simulated.stdout);
    }
}

/// A row stands at each communication point, whatever there is to be read: what inputs start with, and else the time alone.
#[test]
fn an_fmu_of_which_only_inputs_or_nothing_can_be_read_has_its_rows() {
    for (own, version) in [("stepper", 3), ("discarding_fmi2", 2)] {
        let description = std::fs::read_to_string(fmu(own).join("modelDescription.xml")).unwrap();
        let begin = description.find("<ModelVariables>").unwrap() + "<ModelVariables>".len();
        let structure = description.find("<ModelStructure>").unwrap();
        let end = description.find("</fmiModelDescription>").unwrap();
        let (time, input) = match version {
            3 => (
                "<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>",
                "<Float64 name=\"u\" valueReference=\"10\" causality=\"input\" start=\"0\"/>",
            ),
            _ => (
                "<ScalarVariable name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"><Real/></ScalarVariable>",
                "<ScalarVariable name=\"u\" valueReference=\"1\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>",
            ),
        };
        for (variables, header, row) in [(format!("{time}{input}"), "time,u", ",0.0"), (time.to_owned(), "time", "")] {
            let place = Place::new();
            copy(&fmu(own), &place.path("m"));
            copy(&fmu("common"), &place.path("common"));
            let changed = format!(
                "{}{variables}</ModelVariables><ModelStructure/>{}",
                &description[..begin],
                &description[end..]
            );
            assert!(begin < structure);
            let place = place.with("m/modelDescription.xml", &changed);
            let arguments = ["--output-interval", "0.001", "--stop-time", "0.003"];
            let simulated = place.simulate("m", &arguments).exits(0);
            let expected: String = [header]
                .into_iter()
                .map(|line| format!("{line}\n"))
                .chain((0..4).map(|n| format!("{:?}{row}\n", f64::from(n) / 1e3)))
                .collect();
            assert_eq!(simulated.stdout, expected, "FMI {version}");
        }
    }
}

/// Which steps an FMU takes is its word: it can vary them, or it cannot. The user's word counts as far as it goes, and what becomes of it is
/// told.
#[test]
fn an_interval_between_the_internal_steps_is_as_asked_or_raised_with_a_note() {
    let with = |flags: &str| {
        let place = Place::new();
        copy(&fmu("stepper"), &place.path("m"));
        copy(&fmu("common"), &place.path("common"));
        let description = std::fs::read_to_string(place.path("m/modelDescription.xml")).unwrap();
        let own = "canHandleVariableCommunicationStepSize=\"true\"";
        assert!(description.contains(own));
        place.with("m/modelDescription.xml", &description.replace(own, &format!("{flags} fixedInternalStepSize=\"1\"")))
    };
    let arguments = ["--output-interval", "0.5", "--stop-time", "2"];
    let varies = with("canHandleVariableCommunicationStepSize=\"true\"").simulate("m", &arguments).exits(0);
    assert_eq!(varies.column("time"), [0.0, 0.5, 1.0, 1.5, 2.0]);
    let note = "the step of m, 0.5 s, is no multiple of its internal step of 1 s (fixedInternalStepSize)";
    assert!(varies.stderr.contains(note), "{}", varies.stderr);
    let constant = with("").simulate("m", &arguments).exits(0);
    assert_eq!(constant.column("time"), [0.0, 1.0, 2.0]);
    let note = "note: steps and rows are 1 s apart instead of the 0.5 s of --output-interval: they are multiples of";
    assert!(constant.stderr.contains(note), "{}", constant.stderr);
    // Nobody has asked for anything.
    let by_itself = with("").simulate("m", &["--stop-time", "2"]).exits(0);
    assert_eq!((by_itself.column("time").as_slice(), by_itself.stderr.as_str()), (&[0.0, 1.0, 2.0][..], ""));
}

//! The command line: exit code 2 when it is wrong, 0 when it asks for help.

use crate::bad_input::bench::{Bench, finish, notes};

#[test]
fn nothing_and_nonsense() {
    let bench = Bench::new();
    for (arguments, words) in [
        ("", "Usage: vecud <COMMAND>"),
        ("frobnicate", "unrecognized subcommand 'frobnicate'"),
        ("rum x", "a similar subcommand exists: 'run'"),
        ("run", "not provided:\n  <FILE>"),
        ("check", "not provided:\n  <FILE>"),
        ("inspect", "not provided:\n  <FILE>"),
        ("report", "not provided:\n  <DIR>"),
        ("run a b", "unexpected argument 'b'"),
        ("run a --mode fast", "possible values: realtime, virtual"),
        ("run a --mode", "a value is required for '--mode <MODE>'"),
        ("inspect a --jsn", "a similar argument exists: '--json'"),
        ("run --stop-time 1", "not provided:\n  <FILE>"),
    ] {
        let outcome = bench.refused(bench.command(arguments.split_whitespace()));
        assert!(outcome.stderr.contains(words), "vecud {arguments}: {}", outcome.stderr);
    }
    let empty = bench.refused(bench.command(["run", "a", "--out", ""]));
    assert!(empty.stderr.contains("a value is required for '--out <DIR>'"), "{}", empty.stderr);
}

#[test]
fn help_and_version_are_results() {
    let bench = Bench::new();
    for arguments in ["help", "--help", "-h", "help run", "run --help", "check -h", "inspect --help", "report --help"] {
        let outcome = bench.run(arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "vecud {arguments}");
        assert!(outcome.stdout.contains("Usage: vecud"), "{}", outcome.stdout);
    }
    assert!(bench.run("help").stdout.contains("Exit codes:\n  0  Done\n  1  The run failed"));
    assert_eq!(bench.run("--version").stdout, format!("vecud {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn stop_times() {
    let bench = Bench::with_fmu("a");
    for (time, message) in [
        ("abc", "must be a number of seconds"),
        ("1,5", "must be a number of seconds"),
        ("nan", "must be a finite number of seconds, below 1e18"),
        ("inf", "must be a finite number of seconds, below 1e18"),
        ("1e300", "must be a finite number of seconds, below 1e18"),
    ] {
        bench.refuses(
            &format!("run a --stop-time {time}"),
            &format!(
                "error: invalid value '{time}' for '--stop-time <S>': {message}\n\nFor more information, try '--help'."
            ),
        );
    }
    for time in ["-1", "0", "-0.0", "1e-300"] {
        let words = bench.refused(bench.command(["run", "a", "--stop-time", time])).stderr;
        assert!(words.starts_with("a: the stop time, "), "{words}");
        assert!(words.ends_with("nothing would run; give a later --stop-time\n"), "{words}");
    }
    bench.edit("a/modelDescription.xml", "stopTime=\"1\"", "");
    bench.refuses(
        "run a --mode virtual",
        "a: virtual time needs a stop time: set stop_time in [rig], or use --stop-time",
    );
}

#[test]
fn an_fmu_alone_says_what_it_is_missing() {
    let bench = Bench::with_fmu("tracer");
    bench.pack("tracer", "My FMU.fmu");
    let outcome = finish(&mut bench.command(["run", "My FMU.fmu", "--stop-time", "0.05", "--mode", "virtual"]));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(outcome.stderr, notes("My_FMU"));
    assert!(outcome.stdout.ends_with("report: vecud-out/My_FMU/report.html\n"), "{}", outcome.stdout);
    assert!(bench.path("vecud-out/My_FMU/report.html").is_file());
    bench.no_process();
}

#[test]
fn inspect_speaks_json() {
    let bench = Bench::with_fmu("a");
    bench.edit("a/modelDescription.xml", "modelName=\"tracer\"", "modelName=\"a &quot;b&quot; \u{e4}\u{1f600}\"");
    let outcome = bench.run("inspect a --json");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["modelName"], "a \"b\" \u{e4}\u{1f600}");
    assert!(bench.run("inspect a").stdout.starts_with("a \"b\" \u{e4}\u{1f600} (FMI 3.0)\n"));
}

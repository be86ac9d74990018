//! `vecud report`: recordings that are not there, are damaged or of something else.

use std::fs;

use crate::bad_input::bench::Bench;

/// With two finished runs of the tracer, `one` and `two`.
fn with_runs() -> Bench {
    let bench = Bench::with_fmu("a");
    for out in ["one", "two"] {
        let outcome = bench.run(&format!("run a --mode virtual --stop-time 0.02 --quiet --out {out}"));
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
    bench
}

fn read(bench: &Bench, file: &str) -> String {
    fs::read_to_string(bench.path(file)).unwrap()
}

#[test]
fn there_is_no_run() {
    let bench = Bench::new();
    let none = "there is no such folder; name the output folder of a run (vecud run makes vecud-out/<rig>)";
    bench.refuses("report out", &format!("out: {none}"));
    bench.refuses("report out/report.json", &format!("out/report.json: {none}"));
    fs::create_dir_all(bench.path("empty")).unwrap();
    let unfinished = "there is none: no run has ended in this folder, and there is no checkpoint.json of one that goes on or was \
                      cut off; name another one, or run the rig again (--against takes a signals.csv by itself, too)";
    bench.refuses("report empty", &format!("empty/report.json: {unfinished}"));
    bench.refuses("report empty --against empty", &format!("empty/report.json: {unfinished}"));
    bench.write("film.mkv", "x");
    bench.refuses("report film.mkv", "film.mkv: this is neither the output folder of a run nor a report.json");
    bench.write("many/run-1/report.json", "{}");
    bench.refuses("report many", "many: this folder holds several runs; name one of them, like run-1 in it");
}

#[test]
fn reports_that_are_none() {
    let bench = with_runs();
    let whole = read(&bench, "one/report.json");
    let damaged = "this file is damaged or no report.json; take another copy, or run the rig again";
    for (text, message) in [
        ("", format!(":1: EOF while parsing a value: {damaged}")),
        ("{\n\"rig\": \n}", format!(":3: expected value: {damaged}")),
        ("{}", ":1: missing field `rig`: this is no report.json of vecud".to_owned()),
        ("[1, 2]", ":1: invalid type: integer `1`, expected a string: this is no report.json of vecud".to_owned()),
    ] {
        bench.write("one/report.json", text);
        bench.refuses("report one", &format!("one/report.json{message}"));
        bench.refuses("report two --against one", &format!("one/report.json{message}"));
    }
    bench.write("one/report.json", b"\xff\xfe".as_slice());
    bench.refuses("report one", "one/report.json: this is no text; take another copy, or run the rig again");
    let newer = whole.replace("\"version\": \"", "\"version\": \"9").replace("\"end_time\"", "\"until\"");
    bench.write("one/report.json", newer);
    let refused = bench.refused(bench.command(["report", "one"]));
    let version = env!("CARGO_PKG_VERSION");
    let words =
        format!("missing field `end_time`: vecud 9{version} wrote this report, this is vecud {version}; read it with");
    assert!(refused.stderr.contains(&words), "{}", refused.stderr);
    // Of a format that is newer nothing is taken for what it was.
    bench.write("one/report.json", whole.replace("\"format_version\": 2", "\"format_version\": 3"));
    let message = format!(
        "one/report.json: the report has format version 3, and vecud {version} reads up to 2; read it with vecud {version}, which \
         wrote it, or a newer one"
    );
    bench.refuses("report one", &message);
    bench.refuses("report two --against one", &message);
    // Reports of before formats had versions are read.
    bench.write("one/report.json", whole.replace("\"format_version\": 2,", ""));
    assert_eq!(bench.run("report one").code, Some(0));
}

#[test]
fn histograms_that_are_of_something_else() {
    let bench = with_runs();
    // The tracer takes its lock, whose times are measured in virtual time, too.
    let needed = "; the figures of report.html are drawn from this file: put it back beside report.json, or run the rig again \
                  (report.json alone is enough for --against)";
    bench.write("one/histograms.hlog", "nonsense\n");
    let wrong = "the histogram a.lock.hold of report.json; the two files are not of the same run, or this one is damaged or \
                 from another version of vecud: put the right one beside report.json, or run the rig again";
    bench.refuses("report one", &format!("one/histograms.hlog: has a line that cannot be read instead of {wrong}"));
    bench.write("one/histograms.hlog", "");
    bench.refuses("report one", &format!("one/histograms.hlog: has no line of {wrong}"));
    fs::remove_file(bench.path("one/histograms.hlog")).unwrap();
    bench.refuses("report one", &format!("one/histograms.hlog: No such file or directory (os error 2){needed}"));
}

#[test]
fn recordings_that_are_none() {
    let bench = with_runs();
    let header = "the first column is \"a\" and should be the time: name it `time`, and have seconds in it";
    for (text, message) in [
        ("", ": is empty: its first line has to name the columns, time first".to_owned()),
        ("a,b\n1,2\n", format!(":1: {header}")),
        ("time,a.x\n0,1\n1,2,3\n", ":3: this row has 3 cells, and the header has 2".to_owned()),
        (
            "time,a.x\n0,1\n2,1\n1,1\n",
            ":4: time goes back, from 2 s to 1 s; rows must be in the order of time".to_owned(),
        ),
        ("time,a.x\n0,1\nsoon,1\n", ":3: \"soon\" is no time in s; it should be a number like 0.25".to_owned()),
        ("time,a.x,a.x\n", ":1: there are two columns a.x; one of them has to go".to_owned()),
    ] {
        bench.write("bad.csv", text);
        bench.write("good.csv", "time,a.x\n0,1\n1,1\n");
        bench.refuses("report one --against bad.csv", &format!("bad.csv{message}"));
        bench.refuses("report bad.csv --against good.csv", &format!("bad.csv{message}"));
    }
    fs::File::create(bench.path("zeros.csv")).unwrap().set_len((64 << 20) + 1).unwrap();
    bench.refuses(
        "report one --against zeros.csv",
        "zeros.csv:1: this line has more than 67108864 bytes, the most that a row may have",
    );
    for (bytes, message) in [
        (&b"\x89PNG\r\n\x1a\n"[..], "is no MCAP file, although it begins like one"),
        (
            b"\x89MCAP0\r\n",
            "ends before it names its columns: its run was killed before its first values, or it is no recording of vecud's",
        ),
    ] {
        fs::write(bench.path("run.mcap"), bytes).unwrap();
        bench.refuses("report one --against run.mcap", &format!("run.mcap: {message}"));
    }
}

#[test]
fn runs_that_have_nothing_in_common() {
    let bench = with_runs();
    bench.write("other.csv", "time,speed\n0,1\n");
    let refused = bench.refused(bench.command(["report", "one", "--against", "other.csv"]));
    let words = "one: there is nothing to compare with other.csv: no column has the same name in both; columns are named \
                 fmu.variable, here a.";
    assert!(refused.stderr.starts_with(words) && refused.stderr.ends_with(", there speed\n"), "{}", refused.stderr);
    let refused = bench.refused(bench.command(["report", "one", "--against", "two", "--tolerance", "b.*=1"]));
    let words = "one/signals.csv: --tolerance 'b.*=…' names no signal that both recordings have; these have a.";
    assert!(refused.stderr.starts_with(words), "{}", refused.stderr);
    bench.refuses(
        "report one --against two --ratio 2",
        "one: --ratio: there are no latencies to judge; both sides have to be runs in real time with a report.json",
    );
    fs::remove_file(bench.path("two/signals.csv")).unwrap();
    bench.refuses(
        "report one --against two --abs 1",
        "one: tolerances of signals: signals were not compared: two has no recording (signals.csv, signals.mcap or signals.arrows); \
         [record] in its rig makes one",
    );
}

/// A text in the place of a value may be of any length.
#[test]
fn a_table_with_values_that_are_long_texts_is_as_wide_as_the_screen() {
    let bench = Bench::new();
    bench.write("one.csv", "time,a.x\n0,1\n");
    bench.write("two.csv", format!("time,a.x\n0,{}\n", "x".repeat(70_000)));
    let outcome = bench.run("report one.csv --against two.csv");
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.stdout.lines().take(2).all(|line| line.chars().count() <= 120), "{}", outcome.stdout);
}

#[test]
fn numbers_that_are_none() {
    let bench = Bench::new();
    for (option, value, message) in [
        ("--abs", "x", "must be a finite number, 0 or more"),
        ("--abs", "-1", "must be a finite number, 0 or more"),
        ("--rel", "nan", "must be a finite number, 0 or more"),
        ("--ratio", "0", "must be a finite number above 0, like 1.5"),
        ("--until", "inf", "must be a finite number"),
        ("--tolerance", "a", "must be PATTERN=TOL, like 'plant.*=1e-6' or 'plant.*=0.1%'"),
        ("--tolerance", "a=b", "\"b\" is no tolerance; it should be a number like 1e-6, a share like 0.1%, or inf"),
    ] {
        let refused = bench.refused(bench.command(["report", "a", "--against", "b", &format!("{option}={value}")]));
        assert!(
            refused.stderr.contains(&format!("error: invalid value '{value}' for '{option} <")),
            "{}",
            refused.stderr
        );
        assert!(refused.stderr.contains(&format!(": {message}\n")), "{}", refused.stderr);
    }
    let alone = bench.refused(bench.command(["report", "a", "--abs", "1"]));
    assert!(alone.stderr.contains("required arguments were not provided:\n  --against <B>"), "{}", alone.stderr);
}

#[test]
fn a_page_that_cannot_be_written() {
    let bench = with_runs();
    let refused = bench.refused(bench.command(["report", "one", "--out", "no/such/page.html"]));
    assert_eq!(
        refused.stderr,
        "no/such/page.html: the page cannot be written: No such file or directory (os error 2); choose another place with \
         --out FILE\n"
    );
}

//! FMUs that cannot be run: the list.

use crate::program::PATIENCE;
use std::fs;
use std::time::Instant;

use crate::bad_input::bench::{Bench, finish, library};
use crate::bad_input::raw_zip::{Entry, archive, stored, zeros};

const NO_ZIP: &str = "not an FMU (no ZIP archive); give a .fmu file or the folder of an unpacked FMU";

#[test]
fn not_a_zip() {
    let bench = Bench::new();
    bench.write("a.fmu", "hello");
    bench.refuses_to_open("a.fmu", &format!("a.fmu: {NO_ZIP}"));
    bench.write("a.fmu", "");
    bench.refuses_to_open("a.fmu", &format!("a.fmu: {NO_ZIP}"));
}

#[test]
fn a_truncated_zip() {
    let bench = Bench::with_fmu("tracer");
    bench.pack("tracer", "a.fmu");
    let whole = fs::read(bench.path("a.fmu")).unwrap();
    for length in [30, 1000, whole.len() / 2, whole.len() - 30] {
        bench.write("a.fmu", &whole[..length]);
        bench.refuses_to_open(
            "a.fmu",
            "a.fmu: the ZIP archive is cut off (its directory is missing); fetch or export the FMU again",
        );
    }
}

#[test]
fn no_model_description() {
    let none = "not an FMU (no modelDescription.xml)";
    let bench = Bench::with_fmu("tracer/inside");
    bench.pack("tracer", "a.fmu");
    bench.refuses_to_open(
        "a.fmu",
        &format!(
            "a.fmu: {none}; there is \"inside/modelDescription.xml\", so the folder above was packed: pack its contents \
             instead"
        ),
    );
    bench.refuses_to_open(
        "tracer",
        &format!("tracer: {none}; give a .fmu file, the folder of an unpacked FMU, or a rig file"),
    );
    fs::create_dir_all(bench.path("x/modelDescription.xml")).unwrap();
    bench.refuses_to_open("x", &format!("x: {none}; give a .fmu file, the folder of an unpacked FMU, or a rig file"));
}

#[test]
fn malformed_xml() {
    let bench = Bench::with_fmu("a");
    bench.edit("a/modelDescription.xml", "</ModelStructure>", "");
    let line = bench.line("a/modelDescription.xml", "</fmiModelDescription>");
    bench.refuses_to_open(
        "a",
        &format!(
            "a/modelDescription.xml:{line}:1: malformed XML: expected 'ModelStructure' tag, not 'fmiModelDescription'"
        ),
    );
    bench.pack("a", "a.fmu");
    bench.refuses_to_open(
        "a.fmu",
        &format!(
            "a.fmu/modelDescription.xml:{line}:1: malformed XML: expected 'ModelStructure' tag, not \
             'fmiModelDescription'"
        ),
    );
    bench.write("a/modelDescription.xml", "");
    bench.refuses_to_open("a", "a/modelDescription.xml:1:1: is empty; export the FMU again");
}

#[test]
fn xml_with_a_dtd() {
    let bench = Bench::with_fmu("a");
    bench.edit("a/modelDescription.xml", "<!-- The", "<!DOCTYPE x [<!ENTITY a \"b\">]>\n<!-- The");
    bench.refuses_to_open(
        "a",
        "a/modelDescription.xml:2:1: contains a DTD, which is refused: it can hide anything; remove the <!DOCTYPE ...>, \
         FMUs need none",
    );
}

#[test]
fn an_entry_that_points_outside() {
    let bench = Bench::new();
    bench.write("in/a.fmu", archive(&[stored("modelDescription.xml", "<x/>"), stored("../../x", "x")]));
    bench.refuses_to_open(
        "in/a.fmu",
        "in/a.fmu: entry \"../../x\" points outside of the archive; the file may be malicious",
    );
}

#[test]
fn ten_gibibytes_of_zeros() {
    let bench = Bench::new();
    let description = || stored("modelDescription.xml", "<x/>");
    let start = Instant::now();
    bench.write("a.fmu", archive(&[description(), Entry { size: 10 << 30, ..zeros("bomb", 1 << 20) }]));
    bench.refuses_to_open(
        "a.fmu",
        "a.fmu: entry \"bomb\" is 10 GiB when unpacked, and no more than 2 GiB are accepted; the file may be malicious",
    );
    let parts: Vec<Entry> = (0..10).map(|i| Entry { size: 1 << 30, ..zeros(&format!("{i}"), 100 << 10) }).collect();
    bench.write("a.fmu", archive(&[vec![description()], parts].concat()));
    bench.refuses_to_open(
        "a.fmu",
        "a.fmu: 10 GiB when unpacked, and no more than 512 MiB are accepted for its length; the file may be malicious (a \
         ZIP bomb); if you trust it, unpack it yourself and give the folder",
    );
    bench.write("a.fmu", archive(&[description(), Entry { size: 1000, ..zeros("bomb", 1 << 20) }]));
    bench.refuses_to_open(
        "a.fmu",
        "a.fmu: entry \"bomb\" holds more than the 1000 bytes that it states; the file may be malicious",
    );
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn neither_binary_nor_sources() {
    let bench = Bench::with_fmu("a");
    let arch = std::env::consts::ARCH;
    let before = if arch == "x86_64" { ", linux64" } else { "" };
    let machine = format!("({arch}-linux, {arch}-linux-gnu, {arch}-linux-elf{before})");
    fs::remove_dir_all(bench.path("a/binaries")).unwrap();
    bench.refuses_to_plan(
        "a",
        &format!(
            "a: no tracer.so for this machine {machine}; the FMU has neither binaries nor sources; ask for one that has"
        ),
    );
    bench.write("a/binaries/x86_64-windows/tracer.dll", "MZ");
    bench.write("a/binaries/aarch64-darwin/tracer.dylib", "x");
    bench.refuses_to_plan(
        "a",
        &format!(
            "a: no tracer.so for this machine {machine}; the FMU has binaries for aarch64-darwin, x86_64-windows and no \
             sources; ask for one with a binary for this machine or with sources"
        ),
    );
    assert_eq!(bench.run("inspect a").code, Some(0), "what is inside can be seen anywhere");
}

#[test]
fn sources_that_do_not_compile() {
    let bench = Bench::new();
    bench.source_fmu("a");
    bench.edit("a/sources/fmu.c", "#include", "int broken = ;\n#include");
    let line = bench.line("a/sources/fmu.c", "broken");
    for command in ["run a", "check a"] {
        let words = bench.refused(bench.command(command.split(' '))).stderr;
        let first = "a: sources/fmu.c does not build (exit status: 1); the compiler says:\n";
        assert!(words.starts_with(first), "{words}");
        assert!(
            words.contains(&format!("a/sources/fmu.c:{line}:14: error: expected expression before ';'")),
            "{words}"
        );
        assert!(words.contains("\ncommand: cc -fPIC"), "{words}");
    }
    let mut command = bench.command(["check", "a"]);
    let words = bench
        .refused({
            command.env("CC", "false");
            command
        })
        .stderr;
    assert!(words.contains("(exit status: 1); the compiler says nothing\ncommand: false"), "{words}");
    let mut command = bench.command(["check", "a"]);
    let words = bench
        .refused({
            command.env("CC", "no-such-compiler");
            command
        })
        .stderr;
    assert_eq!(
        words,
        "a: its sources need a C compiler, and `no-such-compiler` is not installed; install one (Debian, Ubuntu: apt \
         install gcc libc6-dev; Fedora: dnf install gcc), or set CC to yours\n"
    );
}

#[test]
fn build_descriptions_that_lead_nowhere() {
    let bench = Bench::new();
    bench.source_fmu("a");
    let xml = "a/sources/buildDescription.xml";
    let good = fs::read_to_string(bench.path(xml)).unwrap();
    bench.edit(xml, "\"trace.c\"", "\"nowhere.c\"");
    let line = bench.line(xml, "nowhere");
    bench.refuses_to_plan(
        "a",
        &format!(
            "a: sources/buildDescription.xml:{line}:7: sources/nowhere.c does not exist in the FMU; ask for one \
         with all of its sources"
        ),
    );
    bench.write(xml, good.replace("modelIdentifier=\"tracer\"", "modelIdentifier=\"other\""));
    let words = bench.refused(bench.command(["check", "a"])).stderr;
    assert!(words.contains("no BuildConfiguration for tracer") && words.contains("there is other"), "{words}");
    fs::remove_file(bench.path(xml)).unwrap();
    bench.refuses_to_plan(
        "a",
        "a: no binary for this machine, and sources/ has no buildDescription.xml that says how to build one; ask for an FMU \
         with either",
    );
}

#[test]
fn missing_symbols_are_listed_all_at_once() {
    let bench = Bench::with_fmu("a");
    bench.write("one.c", "int fmi3Reset(void) { return 0; }");
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(bench.path("a").join(library())).arg(bench.path("one.c"));
    assert_eq!(finish(&mut compiler).code, Some(0));
    let words = bench.refused(bench.command(["run", "a"])).stderr;
    assert_eq!(words.lines().count(), 1, "{words}");
    let (before, list) =
        words.trim_end().split_once(" functions missing that Scheduled Execution (FMI 3.0) needs: ").unwrap();
    let names: Vec<&str> = list.split(", ").collect();
    assert!(
        before.starts_with("fmu `a` (a): ") && before.ends_with(&format!("tracer.so: {}", names.len())),
        "{before}"
    );
    for name in ["fmi3GetVersion", "fmi3InstantiateScheduledExecution", "fmi3SetClock", "fmi3ActivateModelPartition"] {
        assert!(names.contains(&name), "{name} is not in {list}");
    }
    assert!(names.iter().all(|name| name.starts_with("fmi3")) && !names.contains(&"fmi3Reset"), "{list}");
}

#[test]
fn a_library_that_is_none() {
    let bench = Bench::with_fmu("a");
    for content in ["", "hello"] {
        bench.write(format!("a/{}", library()), content);
        let words = bench.refused(bench.command(["run", "a"])).stderr;
        assert!(words.starts_with("fmu `a` (a): ") && words.contains("tracer.so: cannot be loaded: "), "{words}");
        assert_eq!(words.lines().count(), 1, "{words}");
    }
}

/// What dlopen says of thread-local variables names no way out; the one that is named is one.
#[test]
fn thread_local_variables_that_do_not_fit_are_named_with_a_way_out() {
    let bench = Bench::with_fmu("a");
    let file = bench.path("a").join(library());
    bench.write("large.c", "static __thread char large[100000] __attribute__((tls_model(\"initial-exec\"))); int touch(void) { return large[0]++; }");
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&file).arg(bench.path("large.c"));
    assert_eq!(finish(&mut compiler).code, Some(0));
    let words = bench.refused(bench.command(["run", "a"])).stderr;
    let way_out = "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=200000";
    assert!(words.contains("static TLS block") && words.contains(way_out), "{words}");
    let mut command = bench.command(["run", "a"]);
    let (name, value) = way_out.split_once('=').unwrap();
    command.env(name, value);
    let words = bench.refused(command).stderr;
    assert!(words.contains("functions missing that Scheduled Execution (FMI 3.0) needs"), "{words}");
}

#[test]
fn an_instantiation_token_of_another_binary() {
    let bench = Bench::with_fmu("a");
    bench.edit("a/modelDescription.xml", "{vecud-tracer-1}", "{another}");
    for mode in ["realtime", "virtual"] {
        bench.refuses(
            &format!("run a --mode {mode}"),
            "fmu `a` (a): fmi3InstantiateScheduledExecution returned NULL: the instantiation token may not match the binary, \
             or the FMU lacks something that it needs; it says:\n    \
             a: [logStatusError] error: The instantiation token does not match: this binary belongs to another \
             modelDescription.xml.",
        );
    }
}

#[test]
fn an_interface_type_that_is_not_there() {
    let bench = Bench::with_fmu("a");
    bench.edit("a/modelDescription.xml", "<ScheduledExecution", "<ModelExchange");
    bench.write("rig.toml", "[fmu.ecu]\npath = \"a\"\ninterface = \"co-simulation\"\n");
    let message = "rig.toml:3:13: a (FMI 3.0) has no Co-Simulation: it offers Model Exchange";
    bench.refuses_to_plan("rig.toml", message);
    let interface =
        "<ModelExchange modelIdentifier=\"tracer\" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"/>";
    bench.edit("a/modelDescription.xml", interface, "");
    let root = bench.line("a/modelDescription.xml", "<fmiModelDescription");
    bench.refuses_to_open(
        "a",
        &format!("a/modelDescription.xml:{root}:1: has none of <ModelExchange>, <CoSimulation>, <ScheduledExecution>"),
    );
}

#[test]
fn other_versions_of_fmi() {
    let bench = Bench::with_fmu("a");
    let line = bench.line("a/modelDescription.xml", "fmiVersion");
    let what = "is no version of FMI that this build of vecud supports (1.0, 2.0 and 3)";
    for version in ["2.1", "4.0"] {
        let good = fs::read(bench.path("a/modelDescription.xml")).unwrap();
        bench.edit("a/modelDescription.xml", "fmiVersion=\"3.0\"", &format!("fmiVersion=\"{version}\""));
        bench.refuses_to_open(
            "a",
            &format!("a/modelDescription.xml:{line}:5: <fmiModelDescription>: fmiVersion=\"{version}\" {what}"),
        );
        bench.write("a/modelDescription.xml", good);
    }
}

#[test]
fn an_input_clock_without_priority() {
    let bench = Bench::with_fmu("a");
    bench.edit("a/modelDescription.xml", "priority=\"1\" ", "");
    let line = bench.line("a/modelDescription.xml", "<Clock name=\"fast\"");
    bench.refuses_to_plan(
        "a",
        &format!(
            "a/modelDescription.xml:{line}:5: the input clock \"fast\" has no priority, which Scheduled Execution requires; \
             with lenient = true in [fmu.a] of a rig file it runs with the lowest"
        ),
    );
    bench.write("rig.toml", "[rig]\nmode = \"virtual\"\nstop_time = 0.01\n[fmu.a]\npath = \"a\"\nlenient = true\n");
    let outcome = bench.run("run rig.toml");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("note: a.fast has no priority: it runs with the lowest"), "{}", outcome.stderr);
}

#[test]
fn an_interval_of_zero_or_less() {
    let bench = Bench::with_fmu("a");
    let xml = fs::read_to_string(bench.path("a/modelDescription.xml")).unwrap();
    let clock = "intervalDecimal=\"0.001\"";
    let line = bench.line("a/modelDescription.xml", clock);
    let column = 1 + xml.lines().nth(line - 1).unwrap().find(clock).unwrap();
    for (interval, what) in [
        ("0", "must be greater than 0"),
        ("0.0", "must be greater than 0"),
        ("-0.001", "is negative"),
        ("NaN", "is not finite"),
        ("INF", "is not finite"),
        ("soon", "is not a number"),
        ("", "is not a number"),
    ] {
        bench.write("a/modelDescription.xml", xml.replacen(clock, &format!("intervalDecimal=\"{interval}\""), 1));
        bench.refuses_to_open(
            "a",
            &format!("a/modelDescription.xml:{line}:{column}: <Clock> \"fast\": intervalDecimal=\"{interval}\" {what}"),
        );
    }
    bench.write("a/modelDescription.xml", xml.replacen(clock, "", 1));
    bench.refuses_to_open(
        "a",
        &format!(
            "a/modelDescription.xml:{line}:5: <Clock> \"fast\": a constant clock needs an interval (`intervalDecimal`, or \
             `intervalCounter` and `resolution`)"
        ),
    );
}

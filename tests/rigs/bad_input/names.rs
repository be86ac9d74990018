//! Names that a careless program would stumble over: spaces, umlauts, quotes, line feeds, bytes that are no text, and length.

use crate::program::PATIENCE;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::bad_input::bench::{Bench, finish, notes};

const SHORT: [&str; 5] = ["--mode", "virtual", "--stop-time", "0.02", "--quiet"];

#[test]
fn spaces_and_umlauts_everywhere() {
    let bench = Bench::new();
    bench.fmu("sp ace/\u{fc}ml\u{e4}ut \u{65e5}\u{672c}/a");
    let rig = "sp ace/\u{fc}ml\u{e4}ut \u{65e5}\u{672c}/my rig \u{fc}.toml";
    bench.write(rig, "[fmu.\"\u{e4}cu\"]\npath = \"a\"\n");
    let outcome =
        finish(bench.command([["run", rig].as_slice(), &SHORT].concat()).env("VECUD_CACHE", bench.path("c\u{e4} che")));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(bench.path("vecud-out/my rig \u{fc}/report.json").is_file());
    // Sources are built with such names, too.
    bench.source_fmu("sp ace/so\u{fc}rce '\" FMU");
    let outcome = finish(
        bench
            .command([["run", "sp ace/so\u{fc}rce '\" FMU"].as_slice(), &SHORT].concat())
            .env("VECUD_CACHE", bench.path("c\u{e4} che")),
    );
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn odd_file_names() {
    let bench = Bench::with_fmu("a");
    bench.pack("a", "a.fmu");
    let bytes = fs::read(bench.path("a.fmu")).unwrap();
    for (file, name) in [
        (&b"a b.c:d,e'f\"g.fmu"[..], "a_b_c_d_e_f_g"),
        (b"new\nline.fmu", "new_line"),
        (b"esc\x1b[31m.fmu", "esc__31m"),
        (b"lat\xe9in.fmu", "lat_in"),
        (b"./-dash.FMU", "-dash"),
    ] {
        let file = OsStr::from_bytes(file);
        bench.write(file, &bytes);
        let arguments: Vec<&OsStr> = [OsStr::new("run"), file].into_iter().chain(SHORT.map(OsStr::new)).collect();
        let outcome = finish(&mut bench.command(arguments));
        assert_eq!((outcome.code, outcome.stderr), (Some(0), notes(name)), "{file:?}");
        assert!(bench.path(format!("vecud-out/{name}/report.html")).is_file(), "{file:?}");
    }
    bench.write(OsStr::from_bytes(b"esc\x1b[31m.fmu"), "x");
    let words = bench.refused(bench.command(["check", "esc\x1b[31m.fmu"])).stderr;
    assert!(words.starts_with("esc\\u{1b}[31m.fmu: not an FMU"), "{words:?}");
}

#[test]
fn folders_that_are_no_utf_8() {
    // C code gets the paths of its resources as UTF-8: it is told those of a link.
    let bench = Bench::with_fmu("a");
    let folder = OsStr::from_bytes(b"f\xfc");
    fs::rename(bench.path("a"), bench.path(folder)).unwrap();
    let arguments: Vec<&OsStr> = [OsStr::new("run"), folder].into_iter().chain(SHORT.map(OsStr::new)).collect();
    let outcome = finish(&mut bench.command(arguments));
    assert_eq!((outcome.code, outcome.stderr), (Some(0), notes("f_")));
    // The output folder may have any name.
    bench.fmu("a");
    let mut arguments: Vec<&OsStr> = ["run", "a"].iter().chain(&SHORT).map(OsStr::new).collect();
    let out = OsStr::from_bytes(b"o\xfct");
    arguments.extend([OsStr::new("--out"), out]);
    let outcome = finish(&mut bench.command(arguments));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(bench.path(out).join("report.json").is_file());
}

#[test]
fn very_long_names() {
    let bench = Bench::with_fmu("a");
    let long = "x".repeat(240);
    bench.write(
        "rig.toml",
        format!("[rig]\nname = \"short\"\nstop_time = 0.05\n[fmu.{long}]\npath = \"a\"\n[record]\n"),
    );
    let outcome = bench.run("run rig.toml --mode realtime --quiet");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(bench.files("vecud-out/short").len() > 5);
    bench.write("rig.toml", format!("[rig]\nname = \"{long}{long}\"\nstop_time = 0.05\n[fmu.a]\npath = \"a\"\n"));
    let words = bench.refused(bench.command(["run", "rig.toml", "--mode", "virtual"])).stderr;
    let way_out =
        "the output folder cannot be used: File name too long (os error 36); choose another one with --out DIR\n";
    assert!(words.starts_with("vecud-out/xxx") && words.ends_with(way_out), "{words}");
    assert_eq!(bench.run("run rig.toml --mode virtual --out o").code, Some(0));
}

#[test]
fn hundreds_of_fmus() {
    let bench = Bench::with_fmu("a");
    let fmus: String = (0..100).map(|i| format!("[fmu.f{i}]\npath = \"a\"\n")).collect();
    bench.write("rig.toml", format!("[rig]\nmode = \"virtual\"\nstop_time = 0.01\n{fmus}"));
    let start = std::time::Instant::now();
    let outcome = bench.run("run rig.toml");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    let last = fmus.rfind("path").unwrap();
    bench.write("rig.toml", format!("{}pahh{}", &fmus[..last], &fmus[last + 4..]));
    bench.refuses_to_plan(
        "rig.toml",
        "rig.toml:199:6: [fmu.f99] has no path\nrig.toml:200:1: unknown key \"pahh\" in [fmu.f99]; did you mean \"path\"?",
    );
}

/// What XML lets a name hold: line feed, carriage return, tab, C1 control characters, and what turns the direction of writing.
const ODD: &str = "&#10;FORGED&#13;FORGED&#9;&#x85;&#x9b;31m&#x202e;";
/// The same as it is shown.
const SHOWN: &str = "\\nFORGED\\rFORGED\\t\\u{85}\\u{9b}31m\\u{202e}";
/// The same as a string of TOML.
const TOML: &str = "\\nFORGED\\rFORGED\\t\\u0085\\u009B31m\\u202E";

/// Whatever an FMU calls its clocks, variables and itself, each text that people read shows it within its line and no control
/// characters; programs get the exact name.
#[test]
fn names_with_control_characters_are_shown_and_obeyed_nowhere() {
    let bench = Bench::with_fmu("a");
    let xml = "a/modelDescription.xml";
    for name in ["fast", "high", "out_high", "slow", "out_f64", "count_fast"] {
        bench.edit(xml, &format!(" name=\"{name}\""), &format!(" name=\"{name}{ODD}\""));
    }
    bench.edit(xml, "modelName=\"", &format!("modelName=\"{ODD}"));
    let rig = |more: &str, start: &str| {
        bench.write(
            "rig.toml",
            format!(
                "[rig]\nstop_time = 0.1\n[fmu.a]\npath = \"a\"\nstart = {{ {start} }}\n[record]\nsignals = [\"*\"]\n\
                 [fmu.a.clock.\"fast{TOML}\"]\nmax_overruns = 1000000\n{more}"
            ),
        );
    };
    let says = |arguments: &str, code: i32| {
        let outcome = bench.run(arguments);
        assert_eq!(outcome.code, Some(code), "{arguments}: {outcome:?}");
        let text = outcome.stdout + &outcome.stderr;
        let odd = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!text.contains(odd), "{arguments}: {text:?}");
        let forged = text.lines().find(|line| line.trim_start().starts_with("FORGED"));
        assert_eq!(forged, None, "{arguments}: {text}");
        text
    };
    let shows = |arguments: &str, code: i32, name: &str| {
        let text = says(arguments, code);
        assert!(text.contains(&format!("{name}{SHOWN}")), "{arguments}: {text}");
    };
    rig("", "");
    shows("inspect a", 0, "fast");
    for mode in ["virtual", "realtime"] {
        bench.edit("rig.toml", "[rig]\n", &format!("[rig]\nmode = \"{mode}\"\n"));
        shows("check rig.toml", 0, "fast");
        rig("", "");
    }
    says("doctor rig.toml --seconds 0", 0);
    shows("run rig.toml --mode virtual --quiet --out one", 0, "high");
    shows("report one", 0, "fast");
    // The fourth value of slow is an error.
    rig("", "fail_kind = 1, fail_clock = 4, fail_at = 4");
    shows("run rig.toml --mode virtual --quiet --out two", 1, "for clock slow");
    // It ends earlier, so there is more than is allowed.
    shows("report two --against one", 3, "a.fast");
    rig(&format!("[[connect]]\nfrom = \"a.out_f64{TOML}\"\nto = \"a.in_i8\"\n"), "");
    shows("check rig.toml", 2, "out_f64");
    let json: serde_json::Value = serde_json::from_str(&bench.run("inspect --json a").stdout).unwrap();
    let exact = "fast\nFORGED\rFORGED\t\u{85}\u{9b}31m\u{202e}";
    assert!(json["variables"].as_array().unwrap().iter().any(|variable| variable["name"] == exact), "{json}");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(bench.path("one/report.json")).unwrap()).unwrap();
    assert!(report["clocks"].as_array().unwrap().iter().any(|clock| clock["clock"] == exact), "{report}");
    bench.edit(xml, "clocks=\"1\"", "clocks=\"999999\"");
    for command in ["inspect", "check"] {
        says(&format!("{command} a"), 2);
    }
}

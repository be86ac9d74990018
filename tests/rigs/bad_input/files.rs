//! Files that are not what they seem, or that nobody may read.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::bad_input::bench::{Bench, as_nobody, library};

#[test]
fn files_that_are_not_there() {
    let bench = Bench::new();
    for file in ["no.toml", "no.fmu", "no/such/thing"] {
        let folder = if file == "no/such/thing" { "; there is no folder no" } else { "" };
        bench.refuses_to_open(file, &format!("{file}: No such file or directory (os error 2){folder}"));
    }
    bench.write("engine.toml", "");
    bench.refuses_to_open(
        "engin.toml",
        "engin.toml: No such file or directory (os error 2); did you mean \"engine.toml\"?",
    );
    bench.write("file", "");
    bench.refuses_to_open("file/x.toml", "file/x.toml: Not a directory (os error 20)");
    bench.refuses("inspect /dev/null", "/dev/null: neither a .fmu file nor a folder");
    fs::create_dir(bench.path("folder.toml")).unwrap();
    bench.refuses_to_open(
        "folder.toml",
        "folder.toml: not an FMU (no modelDescription.xml); give a .fmu file, the folder of an unpacked FMU, or a rig file",
    );
}

#[test]
fn a_rig_without_an_end() {
    let bench = Bench::new();
    let kind = "is no ordinary file (but a pipe, a socket or a device), and only such are read";
    bench.refuses_to_plan("/dev/zero", &format!("/dev/zero: {kind}"));
    fs::File::create(bench.path("long.toml")).unwrap().set_len((64 << 20) + 1).unwrap();
    bench.refuses_to_plan(
        "long.toml",
        "long.toml: longer than 64 MiB, which no rig needs; give a rig file (TOML) or an FMU",
    );
}

#[test]
fn files_of_another_kind_are_recognised() {
    let bench = Bench::new();
    bench.write("empty.toml", " \n");
    bench.refuses_to_plan(
        "empty.toml",
        "empty.toml: the file is empty; a rig has at least one table [fmu.NAME] with a path (vecud new rig makes one)",
    );
    bench.write("model.c", "int main(void) { return 0; }\n");
    bench.refuses_to_plan(
        "model.c",
        "model.c: is a source file, and neither a rig (TOML text) nor an FMU; vecud new fmu NAME makes an FMU of C sources: put \
         it there",
    );
    bench.write("rig.toml", "[fmu.a]\npath = \"a\"\n");
    for command in ["simulate", "validate"] {
        bench.refuses(
            &format!("{command} rig.toml"),
            "rig.toml: is a rig by its name, and an FMU is wanted here; vecud run and vecud check take rigs",
        );
    }
}

#[test]
fn rigs_that_are_no_text() {
    let bench = Bench::with_fmu("a");
    let refuses = |content: &[u8], message: &str| {
        bench.write("rig.toml", content);
        bench.refuses_to_plan("rig.toml", &format!("rig.toml{message}"));
    };
    let encoding = "is not UTF-8, the encoding of rigs (TOML text); convert the file (iconv -f LATIN1 -t UTF-8, or -f UTF-16), \
                    or give an .fmu file";
    refuses(b"# x\n# \xc3\xa4 \xfc\n[fmu.a]\n", &format!(":2:5: {encoding}"));
    refuses(b"\xff\xfe[\0r\0i\0g\0]\0", &format!(":1:1: {encoding}"));
    refuses(b"\x7fELF\0\0\0", ": is neither a rig (TOML text) nor an FMU (name ending in .fmu)");
    bench.pack("a", "a.zip");
    let bytes = fs::read(bench.path("a.zip")).unwrap();
    refuses(&bytes, ": is neither a rig (TOML text) nor an FMU (name ending in .fmu)");
    refuses(b"[rig]\rmode = 1\r", ":1:7: carriage return must be followed by newline, expected newline");
    refuses(b"[fmu.a]\npath = \n", ":2:8: string values must be quoted, expected literal string");
    refuses(b"[fmu.a]\npath = a\n", ":2:8: string values must be quoted, expected literal string");
}

#[test]
fn byte_order_marks_and_carriage_returns() {
    let bench = Bench::with_fmu("a");
    let rig = "\u{feff}[rig]\r\nmode = \"virtual\"\r\nstop_time = 0.01\r\n[fmu.a]\r\npath = \"a\"\r\n";
    bench.write("rig.toml", rig);
    let xml = fs::read_to_string(bench.path("a/modelDescription.xml")).unwrap();
    bench.write("a/modelDescription.xml", format!("\u{feff}{}", xml.replace('\n', "\r\n")));
    let outcome = bench.run("run rig.toml");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    bench.write("bad.toml", rig.replace("stop_time", "stop_tiem"));
    bench.refuses_to_plan("bad.toml", "bad.toml:3:1: unknown key \"stop_tiem\" in [rig]; did you mean \"stop_time\"?");
    bench.edit("a/modelDescription.xml", "priority=\"1\"", "priority=\"high\"");
    let line = bench.line("a/modelDescription.xml", "\"high\"");
    let words = bench.refused(bench.command(["check", "rig.toml"])).stderr;
    assert!(words.starts_with(&format!("rig.toml:5:8: a/modelDescription.xml:{line}:")), "{words}");
}

#[test]
fn model_descriptions_that_are_no_text() {
    let bench = Bench::with_fmu("a");
    let xml = fs::read(bench.path("a/modelDescription.xml")).unwrap();
    let encoding = "not UTF-8, the encoding that FMI requires; convert the file (iconv -f LATIN1 -t UTF-8, if it is that), and \
                    its encoding=\"...\"";
    bench.write("a/modelDescription.xml", [&b"<!--\n \xfc -->"[..], &xml].concat());
    bench.refuses_to_open("a", &format!("a/modelDescription.xml:2:2: {encoding}"));
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(xml.iter().flat_map(|&byte| [byte, 0])).collect();
    bench.write("a/modelDescription.xml", wide);
    bench.refuses_to_open("a", &format!("a/modelDescription.xml:1:1: {encoding}"));
}

#[test]
fn files_that_may_not_be_read_as_this_user() {
    let Some(nobody) = as_nobody("files_that_may_not_be_read_as_this_user") else { return };
    let bench = Bench::with_fmu("a");
    bench.pack("a", "a.fmu");
    bench.write("rig.toml", "[fmu.a]\npath = \"a\"\n");
    let locked = |what: &str, file: &str, message: &str| {
        let path = bench.path(what);
        let mode = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
        let mut command = bench.wrapped(nobody, ["check", file]);
        // The bench is not writable for others.
        command.env("VECUD_CACHE", bench.path("cache-of-nobody"));
        let output = crate::bad_input::bench::finish(&mut command);
        fs::set_permissions(&path, mode).unwrap();
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{what}: {output:?}");
        assert_eq!(output.stderr.trim_end().replace(bench.path("").to_str().unwrap(), ""), message, "{what}");
    };
    locked("rig.toml", "rig.toml", "rig.toml: Permission denied (os error 13)");
    locked("a.fmu", "a.fmu", "a.fmu: Permission denied (os error 13)");
    for (what, file, message) in [
        ("a/modelDescription.xml", "a", "a/modelDescription.xml: Permission denied (os error 13)"),
        ("a/modelDescription.xml", "rig.toml", "rig.toml:2:8: a/modelDescription.xml: Permission denied (os error 13)"),
        ("a", "a", "a/modelDescription.xml: Permission denied (os error 13)"),
        ("a/binaries", "a", "a/binaries: Permission denied (os error 13)"),
    ] {
        locked(what, file, message);
    }
    let folder = library().rsplit_once('/').unwrap().0.to_owned();
    locked(&format!("a/{folder}"), "a", &format!("a/{}: Permission denied (os error 13)", library()));
}

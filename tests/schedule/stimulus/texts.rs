//! Strings and binaries of a file: as they stand in it, and as recordings show them.

use super::program::{Rig, shared_core};
use super::{drive, fed, run};
use std::path::{Path, PathBuf};

const TEXTS: &str =
    "[record]\ntext_size = 64\nsignals = ['*.in_string', '*.out_string', '*.in_binary', '*.out_binary', '*.in_u8']";

/// A tracer, whose outputs repeat its inputs each 10 ms, and what feeds it.
fn texts(stimulus: &str) -> Rig {
    Rig::new("mode = 'virtual'\nstop_time = 0.08\noverrun = 'queue'").tracer("a", "").more(stimulus).more(TEXTS)
}

/// What `fmus/tracer` gets of the rows, in both modes.
#[test]
fn strings_and_binaries_are_fed_as_numbers_are_in_both_modes() {
    let rig = texts("[[stimulus]]\nfile = 'drive.csv'");
    let rows = [
        "time,a.in_string,a.in_binary,a.in_u8",
        "0,  plain text ,0x00ff,1",
        "0.0155,,,2",
        "0.02,\"a \"\"b\"\", c\nü\",DEAD,",
        "0.035,\"\",0x,",
        "0.045,0,00,",
        "0.055,longer than eight bytes,0x000102030405060708,255",
    ];
    std::fs::write(drive(&rig), rows.join("\r\n") + "\n").unwrap();
    let outcome = run(&rig, &[]).exits(0);
    let signals = outcome.file("signals.csv");
    let expected = [
        (0.0, "\"plain text\"", "0x00ff", 1),
        (0.01, "\"plain text\"", "0x00ff", 1),
        (0.02, "\"a \"\"b\"\", c\nü\"", "0xdead", 2),
        (0.03, "\"a \"\"b\"\", c\nü\"", "0xdead", 2),
        (0.04, "\"\"", "0x", 2),
        (0.05, "\"0\"", "0x00", 2),
        (0.06, "\"longer than eight bytes\"", "0x000102030405060708", 255),
        (0.07, "\"longer than eight bytes\"", "0x000102030405060708", 255),
    ];
    for (time, string, binary, number) in expected {
        let row = format!("\n{time:?},{number},{string},{string},{binary},{binary}\n");
        assert!(signals.contains(&row), "{row:?} is not in\n{signals}");
    }
    shared_core(|| {
        let in_real_time = run(&rig, &["--mode", "realtime"]).exits(0);
        assert_eq!(in_real_time.report()["stimuli"][0]["starved"], 0);
        assert!(in_real_time.file("signals.csv") == signals, "real time has recorded something else");
    });
    // What was recorded, in each format, feeds the same.
    for format in ["csv", "mcap"] {
        let text = std::fs::read_to_string(rig.file()).unwrap();
        let recorded = Rig::of_text(&text.replace("[record]", &format!("[record]\nformat = '{format}'")));
        std::fs::copy(drive(&rig), drive(&recorded)).unwrap();
        drop(run(&recorded, &[]).exits(0));
        let replayed = run(&texts(&format!("[[stimulus]]\nrecording = '{}'", recorded.out().display())), &[]).exits(0);
        assert!(replayed.file("signals.csv") == signals, "{format}: {}", replayed.file("signals.csv"));
    }
}

/// Elements that no column feeds keep their start values.
#[test]
fn elements_of_arrays_are_fed_one_by_one() {
    let fmu = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/all_types");
    let rig = Rig::of_text(&format!(
        "[rig]\nmode = 'virtual'\nstop_time = 0.03\n[fmu.t]\npath = '{}'\n[[stimulus]]\nfile = 'drive.csv'\n\
         [record]\ntext_size = 40\nsignals = ['t.String_out', 't.Binary_out']\n",
        fmu.display()
    ));
    std::fs::write(drive(&rig), "time,t.String_in[2],t.Binary_in[1]\n0.01,second,0x1234\n0.02,,0x\n").unwrap();
    let signals = run(&rig, &[]).exits(0).file("signals.csv");
    for row in [
        "0.009,\"foo\",\"bar\",0x3c3f,0x686572",
        "0.01,\"foo\",\"second\",0x1234,0x686572",
        "0.02,\"foo\",\"second\",0x,0x686572",
    ] {
        assert!(signals.lines().any(|line| line == row), "{row} is not in\n{signals}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |stimulus: &str, text: &str, message: &str| {
        let outcome = run(&fed("0.1", stimulus, text), &[]).exits(2);
        assert!(outcome.stderr.contains(message), "{message}: {}", outcome.stderr);
    };
    let long = "x".repeat(5000);
    refused(
        "",
        &format!("time,a.in_string\n0,{long}\n"),
        "drive.csv:2:3: column 2 (\"a.in_string\"): a.in_string gets 4096 bytes at most, and this has 5000; max_size",
    );
    // With more room it comes to the FMU, which has none.
    let outcome = run(&fed("0.1", "max_size = 5000", &format!("time,a.in_string\n0,{long}\n")), &[]).exits(1);
    assert!(outcome.stderr.contains("fmi3SetString: the value of in_string is too long"), "{}", outcome.stderr);
    refused(
        "max_size = 100",
        &format!("time,a.in_binary\n0,0x{}\n", "00".repeat(65)),
        "a.in_binary gets 64 bytes at most, and this has 65",
    );
    refused(
        "",
        "time,a.in_binary\n0,0x123\n",
        "\"0x123\" does not fit a.in_binary, which is a Binary (two hexadecimal",
    );
    refused("", "time,a.in_string\n0,a\0b\n", "drive.csv:2:3: column 2 (\"a.in_string\"): there is a NUL in it");
    refused("max_size = 9", "time,a.in_f64\n0,1\n", "max_size is for strings and binaries, and ");
    refused(
        "max_size = 20_000_000",
        "time,a.in_string\n0,1\n",
        "drive.csv feeds may have more than 16777216 bytes in a row: give a smaller max_size",
    );
    refused(
        "interpolation = 'linear'",
        "time,a.in_string\n0,1\n",
        "interpolation = \"linear\" is for Float32 and Float64",
    );
}

/// A run that is cut goes on with the strings that it had.
#[test]
fn a_cut_run_has_the_strings_of_the_uncut_one() {
    let rig = texts("[[stimulus]]\nfile = 'drive.csv'");
    let file: PathBuf = drive(&rig);
    std::fs::write(file, "time,a.in_string,a.in_binary\n0,one,0x01\n0.03,two,\n0.06,,0x03\n").unwrap();
    let uncut = run(&rig, &[]).exits(0).file("signals.csv");
    let state = rig.folder().join("state");
    let state = state.to_str().unwrap();
    let one = run(&rig, &["--stop-time", "0.045", "--save-state", state]).exits(0).file("signals.csv");
    let two = run(&rig, &["--restore-state", state]).exits(0).file("signals.csv");
    assert_eq!(one + two.split_once('\n').unwrap().1, uncut);
}

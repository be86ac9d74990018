//! Files that are no stimuli, and columns that feed nothing: refused before anything runs, with file, line and column.

use super::program::Rig;
use super::{drive, fed, run};

/// What `vecud check` and `vecud run` say of a file, without the folder.
#[track_caller]
fn refused(rig: &Rig) -> String {
    let outcome = run(rig, &[]).exits(2);
    assert!(!rig.out().exists(), "nothing is left behind");
    let folder = rig.folder().display().to_string() + "/";
    outcome.stderr.replace(&folder, "")
}

#[track_caller]
fn refuses(stimulus: &str, file: &str, message: &str) {
    let error = refused(&fed("0.1", stimulus, file));
    let line = error.lines().find(|line| line.contains(message));
    assert!(line.is_some(), "{file:?}: no line of the message has {message:?}:\n{error}");
}

#[test]
fn files_that_are_none() {
    for (file, message) in [
        ("", "drive.csv: is empty: its first line has to name the columns, time first"),
        ("\n\r\n", "drive.csv: is empty"),
        ("time,a.in_f64\n", "drive.csv: names columns but has no row"),
        ("time\n0\n", "drive.csv:1: there is no column beside the time"),
        ("Time,a.in_f64\n0,1\n", "drive.csv:1:1: the first column must be \"time\" (in s), not \"Time\""),
        ("time;a.in_f64\n0;1\n", "not \"time;a.in_f64\": columns are separated by commas, not by semicolons"),
        ("time\ta.in_f64\n0\t1\n", "columns are separated by commas, not by tabulators"),
        ("time,a.in_f64\n0,1\n0,2\n", "drive.csv:3:1: the time 0.0 s is not after that of the row before, 0.0 s"),
        ("time,a.in_f64\n0.5,1\n0.25,2\n", "drive.csv:3:1: the time 0.25 s is not after"),
        ("time,a.in_f64\n,1\n", "drive.csv:2:1: \"\" is no time in s"),
        ("time,a.in_f64\nnan,1\n", "drive.csv:2:1: \"nan\" is no time in s"),
        ("time,a.in_f64\n1e300,1\n", "drive.csv:2:1: \"1e300\" is no time in s"),
        ("time,a.in_f64\n0\n", "drive.csv:2: this row has 1 cell, and the header has 2"),
        ("time,a.in_f64\n0,1\n\n1,2,3\n", "drive.csv:4:5: this row has 3 cells, and the header has 2"),
        (
            "time,a.in_f64\n0,1,\n",
            "drive.csv:2:4: this row has 3 cells, and the header has 2: leave out the ',' at its end",
        ),
        ("time,a.in_f64,\n0,1,\n", "drive.csv:1:14: column 3 has no name: leave out the ',' at its end"),
        ("time,,a.in_f64\n0,,1\n", "drive.csv:1:6: column 2 has no name"),
        ("time,\"a.in_f64\n0,1\n", "drive.csv:1:6: a quoted cell has no closing quote"),
        ("time,a.in_f64\n0,\"1\"2\n", "drive.csv:2:6: there is something between a closing quote and the next comma"),
    ] {
        refuses("", file, message);
    }
    let long = format!("time,a.in_f64\n0,{}\n", "1".repeat(1 << 20));
    refuses("", &long, "drive.csv:2:1: this line has more than 1048576 bytes");
    let rig = fed("0.1", "", "");
    std::fs::write(drive(&rig), b"time,a.in_f64\n0,\xff\n").unwrap();
    assert!(refused(&rig).contains("drive.csv:2:3: is not UTF-8"), "{}", refused(&rig));
}

#[test]
fn what_is_no_file() {
    let rig = fed("0.1", "", "");
    let says = |words: &str| {
        let error = refused(&rig);
        assert!(error.contains("test.toml:") && error.contains(words), "{error}");
    };
    std::fs::remove_file(drive(&rig)).unwrap();
    says("drive.csv: No such file or directory (os error 2); relative paths count from the rig file's folder");
    std::fs::create_dir(drive(&rig)).unwrap();
    says("drive.csv is a folder: file names a CSV file, recording the output folder of an earlier run");
    std::fs::remove_dir(drive(&rig)).unwrap();
    nix::unistd::mkfifo(&drive(&rig), nix::sys::stat::Mode::S_IRWXU).unwrap();
    says("drive.csv is no ordinary file");
    let rig = Rig::new("mode = 'virtual'\nstop_time = 0.1").tracer("a", "").more("[[stimulus]]\nrecording = '.'");
    assert!(refused(&rig).contains("that run has recorded no signals ([record] in its rig)"));
    std::fs::create_dir(rig.folder().join("run-1")).unwrap();
    let message = "several runs (--repeat) have a folder each, such as run-1 beside it";
    assert!(refused(&rig).contains(message), "{}", refused(&rig));
}

#[test]
fn values_that_do_not_fit() {
    for (column, value, message) in [
        (
            "a.in_u8",
            "300",
            "drive.csv:3:5: column 2 (\"a.in_u8\"): \"300\" does not fit a.in_u8, which is of type UInt8",
        ),
        ("a.in_i32", "NaN", "\"NaN\" does not fit a.in_i32, which is of type Int32"),
        ("a.in_f64", "fast", "\"fast\" does not fit a.in_f64, which is of type Float64"),
        ("a.in_bool", "2", "\"2\" does not fit a.in_bool, which is a Boolean (0, 1, false or true)"),
        ("a.in_enum", "99", "\"99\" does not fit a.in_enum, which is an item of the enumeration: "),
    ] {
        refuses("", &format!("time,{column}\n0,\n0.1,{value}\n"), message);
    }
}

#[test]
fn columns_that_feed_nothing() {
    for (column, message) in [
        ("a.in_f46", "drive.csv:1:6: column 2: a has no variable \"in_f46\"; did you mean \"in_f64\""),
        ("b.in_f64", "column 2: \"b.in_f64\" begins with no FMU of the rig; did you mean \"a.in_f64\""),
        ("in_f64", "column 2: \"in_f64\" begins with no FMU of the rig; did you mean \"a.in_f64\""),
        ("a.out_f64", "a.out_f64 is an output: a stimulus feeds inputs and triggered input clocks"),
        ("a.count_up", "a.count_up is a parameter: a stimulus feeds inputs"),
        ("a.in_array", "a.in_array has 64 elements: a column feeds one, such as a.in_array[1]"),
        ("a.in_array[65]", "\"65\" is out of range"),
        ("a.fast", "a.fast is a constant clock: a stimulus ticks only triggered clocks"),
        ("a.out_high", "a.out_high is no input clock: nothing can trigger it"),
    ] {
        refuses("", &format!("time,{column}\n0,1\n"), message);
    }
    refuses(
        "",
        "time,a.in_f64,a.in_f64\n0,1,2\n",
        "drive.csv:1:15: column 3: a.in_f64 is fed by column \"a.in_f64\" of",
    );
    refuses(
        "interpolation = 'linear'",
        "time,a.in_i32\n0,1\n",
        "interpolation = \"linear\" is for Float32 and Float64",
    );
    refuses(
        "columns = { 'a.in_f64' = 'sped' }",
        "time,speed\n0,1\n",
        "has no column \"sped\"; did you mean \"speed\"?",
    );
    refuses(
        "columns = { 'a.in_f64' = 'speed' }",
        "time,speed,gear,speed\n0,1,2,3\n",
        "drive.csv has 2 columns \"speed\" (2 and 4): nobody knows which one is meant",
    );
    // A file of others has many columns, and one message is enough.
    let foreign: Vec<String> = (0..500).map(|i| format!("x{i}")).collect();
    let error = refused(&fed("0.1", "", &format!("time,{}\n0{}\n", foreign.join(","), ",1".repeat(500))));
    assert!(error.lines().count() < 30 && error.contains("and 480 more columns of"), "{error}");
    refuses(
        "columns = { 'a.inf64' = 'speed' }",
        "time,speed\n0,1\n",
        "a has no variable \"inf64\"; did you mean \"in_f64\"",
    );
}

#[test]
fn inputs_and_clocks_have_one_source_and_both_places_are_told() {
    let text = "time,b.in_f64,b.high\n0,1,1\n";
    let rig = |more: &str| {
        let rig = fed("0.1", "", text).tracer("b", "");
        if more.is_empty() { rig } else { rig.more(more) }
    };
    run(&rig(""), &[]).exits(0);
    let error = refused(&rig("[[connect]]\nfrom = 'a.out_f64'\nto = 'b.in_f64'"));
    let message = "drive.csv:1:6: column 2: b.in_f64 has a source already, a connection (test.toml:";
    assert!(error.contains(message), "{error}");
    let error = refused(&rig("[[trigger]]\nclock = 'b.high'\nfrom = 'a.out_high'"));
    let message = "drive.csv:1:15: column 3: b.high has a trigger already, a [[trigger]] (test.toml:";
    assert!(error.contains(message), "{error}");
    let twice = rig("[[stimulus]]\nfile = 'drive.csv'");
    assert!(refused(&twice).contains("b.in_f64 is fed by column \"b.in_f64\" of"));
}

#[test]
fn check_shows_what_is_fed() {
    let rig = fed("0.1", "interpolation = 'linear'", "time,a.in_f64,a.high\n0,1,1\n");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("check").arg(rig.file()).env("VECUD_CACHE", super::program::cache());
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let words: Vec<String> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for expected in [
        "drive.csv a.in_f64 → a.in_f64 Float64, linear between rows",
        "drive.csv a.high → a.high ticks",
        "by a.high of drive.csv",
    ] {
        assert!(words.iter().any(|line| line.contains(expected)), "{expected} is not in\n{text}");
    }
}

#[test]
fn recordings_in_mcap_are_read_as_far_as_they_are_whole_and_damaged_ones_are_refused() {
    let recorded = Rig::new("mode = 'virtual'\nstop_time = 5")
        .tracer("a", "count_up = true")
        .more("[record]\nformat = 'mcap'\nsignals = ['a.in_*', 'a.out_*']");
    drop(run(&recorded, &[]).exits(0));
    let file = recorded.out().join("signals.mcap");
    let bytes = std::fs::read(&file).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    let replay = || {
        Rig::new("mode = 'virtual'\nstop_time = 5").tracer("a", "").more(&format!(
            "[[stimulus]]\nrecording = '{}'\ncolumns = {{ 'a.in_f64' = 'a.out_f64' }}\n[record]\nsignals = ['a.in_f64']",
            recorded.out().display()
        ))
    };
    let whole = run(&replay(), &[]).exits(0);
    let rows = whole.report()["stimuli"][0]["rows"].as_u64().unwrap();
    assert_eq!((rows, whole.signals().column("a.in_f64")[100]), (5000, "101.0"));
    // The file by itself.
    let text = std::fs::read_to_string(replay().file()).unwrap();
    let folder = recorded.out().display().to_string();
    let by_itself = Rig::of_text(&text.replace(&folder, file.to_str().unwrap()));
    assert_eq!(run(&by_itself, &[]).exits(0).report()["stimuli"][0]["rows"], 5000);
    // In the middle of its last chunk.
    let chunk = summary.chunk_indexes.last().unwrap();
    let half = (chunk.chunk_start_offset + chunk.chunk_length / 2) as usize;
    std::fs::write(&file, &bytes[..half]).unwrap();
    let part = run(&replay(), &[]).exits(0);
    let rows = part.report()["stimuli"][0]["rows"].as_u64().unwrap();
    assert!(summary.chunk_indexes.len() > 1 && (1000..5000).contains(&rows), "{rows}");
    part.problem(&["signals.mcap: breaks off in the middle of a row", "inputs keep their last values"]);
    for (bytes, message) in [
        (&bytes[..8], "signals.mcap: ends before it names its columns: its run was killed before its first values"),
        (b"\x89PNG", "signals.mcap: is no MCAP file, although it begins like one"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        assert!(refused(&replay()).contains(message), "{}", refused(&replay()));
    }
    let first = &summary.chunk_indexes[0];
    let mut damaged = bytes.clone();
    damaged[(first.chunk_start_offset + first.chunk_length / 2) as usize] ^= 1;
    std::fs::write(&file, damaged).unwrap();
    let message =
        format!("signals.mcap: is damaged at byte {}: the chunk from log_time 0 on", first.chunk_start_offset);
    assert!(refused(&replay()).contains(&message), "{}", refused(&replay()));
}

//! State files that cannot be read, written, or taken up: exit code 2 before anything runs, and nothing is left behind.

use super::program::{Rig, cache, changed_tracer, skipped, user};
use super::{left, run, state, text, two};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A rig with a state of it, saved at 0.1 s.
fn saved() -> (Rig, PathBuf) {
    let rig = two("");
    let file = state(&rig, "state");
    run(&rig, &["--stop-time", "0.1", "--save-state", text(&file)]).exits(0);
    std::fs::remove_dir_all(rig.out()).unwrap();
    for fmu in ["a", "b"] {
        std::fs::remove_file(rig.folder().join(format!("{fmu}.trace.csv"))).unwrap();
    }
    (rig, file)
}

/// Nothing runs, and the message has these words.
#[track_caller]
fn refused(rig: &Rig, arguments: &[&str], words: &[&str]) {
    let before = left(rig);
    let outcome = run(rig, arguments).exits(2);
    for word in words {
        assert!(outcome.stderr.contains(word), "{word:?} is missing: {}", outcome.stderr);
    }
    assert!(outcome.stdout.is_empty(), "{}", outcome.stdout);
    assert!(!outcome.has_trace("a"), "no FMU code has run");
    assert_eq!(left(rig), before);
}

#[test]
fn a_file_that_is_no_state_or_is_damaged_is_refused() {
    let (rig, file) = saved();
    let good = std::fs::read(&file).unwrap();
    let place = text(&file);
    let restore = ["--restore-state", place];
    let with = |bytes: &[u8], words: &[&str]| {
        std::fs::write(&file, bytes).unwrap();
        refused(&rig, &restore, &[&[place], words].concat());
    };
    with(b"", &["is no state that vecud has saved"]);
    with(b"[rig]\nname = 'not a state'\n", &["is no state that vecud has saved"]);
    for length in (1..good.len()).step_by(good.len() / 9) {
        with(&good[..length], &["is damaged", &length.to_string()]);
    }
    for index in [good.len() / 3, good.len() - 40, good.len() - 1] {
        let mut bytes = good.clone();
        bytes[index] ^= 1;
        with(&bytes, &["is damaged: its content is not what was written"]);
    }
    let mut bytes = good.clone();
    bytes[16..21].copy_from_slice(b"9.9.9");
    with(&bytes, &["was saved by vecud 9.9.9, and this is vecud "]);
    refused(&rig, &["--restore-state", "/nowhere/state"], &["/nowhere/state", "No such file"]);
    refused(&rig, &["--restore-state", text(rig.folder())], &["Is a directory"]);
    std::fs::write(&file, &good).unwrap();
    run(&rig, &restore).exits(0);
}

#[test]
fn a_state_of_another_rig_is_refused_with_the_difference() {
    let (rig, file) = saved();
    let text_of_rig = std::fs::read_to_string(rig.file()).unwrap();
    let changed = |changes: &[(&str, &str)], words: &[&str]| {
        let mut text_of_rig = text_of_rig.clone();
        for (before, after) in changes {
            assert!(text_of_rig.contains(before), "{before} in {text_of_rig}");
            text_of_rig = text_of_rig.replace(before, after);
        }
        let other = crate::program::tempdir().unwrap();
        let path = other.path().join("test.toml");
        std::fs::write(&path, text_of_rig).unwrap();
        let rig = Rig::of_file(text(&path));
        let outcome = run(&rig, &["--restore-state", text(&file)]).exits(2);
        let common = [text(&file), "does not fit this rig"];
        for word in common.iter().chain(words) {
            assert!(outcome.stderr.contains(word), "{word:?} is missing: {}", outcome.stderr);
        }
        assert!(!rig.out().exists());
    };
    changed(&[("[rig]", "[rig]\nname = 'other'")], &["it is of rig \"test\", this is rig \"other\""]);
    changed(&[("[rig]", "[rig]\nstart_time = 0.05")], &["its run began at 0 s, this rig says start_time = 0.05"]);
    changed(
        &[("[fmu.b]", "[fmu.c]"), ("\"b.", "\"c.")],
        &["it has FMU b, which this rig has not", "it has clock b.high"],
    );
    let ticks = ("clock = \"b.low\"\nfrom = \"a.out_low\"", "clock = \"b.low\"\nat = [0.0, 0.5]");
    changed(&[ticks], &["clock b.low is activated by a.out_low there, the times 0, 0.5 s in this rig"]);
    let connection =
        ("to = \"b.in_u64\"\n", "to = \"b.in_u64\"\n[[connect]]\nfrom = \"a.out_f32\"\nto = \"b.in_f32\"\n");
    changed(&[connection], &["it has no connection a.out_f32 → b.in_f32, which this rig has"]);
}

#[test]
fn a_state_of_another_fmu_is_refused() {
    let (rig, file) = saved();
    let token = ("{vecud-tracer-1}", "{vecud-tracer-2}");
    let folder = crate::program::tempdir().unwrap();
    let path = changed_tracer(folder.path(), "fmu.c", &[token]);
    changed_text(&path.join("modelDescription.xml"), token);
    let text_of_rig = std::fs::read_to_string(rig.file()).unwrap();
    let first = text_of_rig.lines().find(|line| line.starts_with("path = ")).unwrap();
    let other = text_of_rig.replacen(first, &format!("path = '{}'", path.display()), 1);
    let toml = folder.path().join("test.toml");
    std::fs::write(&toml, other).unwrap();
    let outcome = run(&Rig::of_file(text(&toml)), &["--restore-state", text(&file)]).exits(2);
    let words = "FMU a has the instantiation token {vecud-tracer-1} there, {vecud-tracer-2} in this rig";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
}

fn changed_text(file: &Path, (before, after): (&str, &str)) {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(before), "{text}");
    std::fs::write(file, text.replace(before, after)).unwrap();
}

#[test]
fn a_stop_time_that_has_passed_is_refused() {
    let (rig, file) = saved();
    for stop in ["0.1", "0.05"] {
        let arguments = ["--restore-state", text(&file), "--stop-time", stop];
        refused(&rig, &arguments, &["its run was left at 0.1 s", &format!("the stop time is {stop} s"), "--stop-time"]);
    }
}

#[test]
fn an_fmu_that_cannot_save_its_state_is_found_before_anything_runs() {
    for (before, after) in
        [("canSerializeFMUState=\"true\"", ""), ("canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"", "")]
    {
        let folder = crate::program::tempdir().unwrap();
        let path = changed_tracer(folder.path(), "../modelDescription.xml", &[(before, after)]);
        let rig = Rig::new("mode = 'virtual'\nstop_time = 0.1").tracer("a", "").fmu("simple", path, "", "");
        let file = state(&rig, "state");
        for option in ["--save-state", "--restore-state"] {
            let words = ["test.toml:", "fmu `simple` cannot save its state", "canSerializeFMUState=\"true\"", option];
            refused(&rig, &[option, text(&file)], &words);
        }
        run(&rig, &["--repeat", "2"]).exits(0);
    }
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_anything_runs() {
    let rig = two("");
    refused(&rig, &["--save-state", text(rig.folder())], &["is a folder; the state needs a file"]);
    let nowhere = state(&rig, "nowhere/state");
    refused(&rig, &["--save-state", text(&nowhere)], &[text(&nowhere), "cannot be saved there", "No such file"]);
    let under_a_file = state(&rig, "test.toml/state");
    refused(&rig, &["--save-state", text(&under_a_file)], &["cannot be saved there", "Not a directory"]);
}

#[test]
fn a_state_replaces_a_state_or_an_empty_file_and_nothing_else() {
    let rig = two("");
    let toml = text(&rig.file()).to_owned();
    let before = std::fs::read(&toml).unwrap();
    refused(&rig, &["--save-state", &toml], &[&toml, "is there already and is no state of vecud"]);
    assert_eq!(std::fs::read(&toml).unwrap(), before, "the rig file is what it was");

    // Stands for the devices of /dev, which root could replace. (A test must not try those.)
    let socket = state(&rig, "socket");
    let _listens = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    refused(&rig, &["--save-state", text(&socket)], &[text(&socket), "is no ordinary file"]);
    refused(&rig, &["--restore-state", text(&socket)], &[text(&socket), "is no ordinary file"]);

    let file = state(&rig, "state");
    std::fs::write(&file, "").unwrap();
    for _ in 0..2 {
        run(&rig, &["--stop-time", "0.1", "--save-state", text(&file)]).exits(0);
    }
}

#[test]
fn other_start_values_are_told_and_the_saved_ones_hold() {
    let (rig, file) = saved();
    let toml = rig.folder().join("other/test.toml");
    std::fs::create_dir(toml.parent().unwrap()).unwrap();
    let text_of_rig = std::fs::read_to_string(rig.file()).unwrap().replace("count_up = true, arm_every", "arm_every");
    std::fs::write(&toml, text_of_rig).unwrap();
    let outcome = run(&Rig::of_file(text(&toml)), &["--restore-state", text(&file)]).exits(0);
    assert!(outcome.stderr.contains("note: fmu `a`: its start values in the rig changed since "), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("fmu `b`: its start values"), "{}", outcome.stderr);
    assert_eq!(outcome.signals().column("a.out_f64")[0], "101.0", "count_up holds");
}

#[test]
fn a_disk_that_is_full_leaves_the_old_file_and_nothing_half_written_as_this_user() {
    let rig = two("");
    let folder = rig.folder().display().to_string();
    std::fs::create_dir(rig.folder().join("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=8k none '{folder}/disk' || exit 99; cd '{folder}'; echo 'vecud state' >disk/state
         '{}' run test.toml --save-state disk/state --out out; code=$?; ls -A disk; cat disk/state; exit $code",
        env!("CARGO_BIN_EXE_vecud")
    );
    rig.file();
    let mut command = Command::new("unshare");
    command.arg(if user::is_root() { "-m" } else { "-rm" }).args(["sh", "-c", &script]).env("VECUD_CACHE", cache());
    if Command::new("unshare").arg("--version").output().is_err() {
        return skipped(
            "a_disk_that_is_full_leaves_the_old_file_and_nothing_half_written_as_this_user",
            &"there is no unshare",
        );
    }
    let outcome = rig.finish(rig.start(command));
    if outcome.code == 99 || outcome.stderr.contains("unshare failed") {
        let why = "this user may not mount a small file system";
        return skipped("a_disk_that_is_full_leaves_the_old_file_and_nothing_half_written_as_this_user", &why);
    }
    let outcome = outcome.exits(1);
    outcome.problem(&["the state is not saved to disk/state", "No space left on device"]);
    assert!(outcome.stdout.ends_with("state\nvecud state\n"), "{}", outcome.stdout);
}

//! The whole program on this machine, whatever it is.

use crate::program::{PATIENCE, Rig, cache, handles, jail, send, shared_core, skipped, user, wait_until};
use nix::sys::signal::Signal::SIGINT;
use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("doctor").args(arguments).env("VECUD_CACHE", cache()).stdin(Stdio::null());
    command
}

fn doctor(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_page_for_people_as_this_user() {
    let output = shared_core(|| doctor(&["--seconds", "0.2"]));
    let page = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "silent in a pipe");
    assert!(page.starts_with("vecud's defaults: core") && page.contains("SCHED_FIFO 51 to 89"), "{page}");
    assert!(page.contains("Wake-up latency, every ms for 0.2 s"), "{page}");
    assert!(!page.contains('\x1b'), "{page}");
    // Problems first, then advice, then what is fine.
    let words = ["PROBLEM ", "advice ", "fine "];
    let order: Vec<usize> =
        page.lines().filter_map(|line| words.iter().position(|word| line.starts_with(word))).collect();
    assert!(order.is_sorted() && order.last() == Some(&2), "{page}");
}

/// What doctor has measured is in the report of the next run on its cores, and its values in the log beside it; a report anew has them, too.
#[test]
fn reports_have_what_was_measured_last() {
    shared_core(|| {
        let rig = Rig::new("stop_time = 0.02").tracer("a", "");
        let own = rig.folder().join("own");
        let file = rig.file().to_string_lossy().into_owned();
        let mut doctor = command(&[&file, "--json", "--seconds", "0.2"]);
        let measured = json(&doctor.env("VECUD_CACHE", &own).output().unwrap());
        let mut run = rig.command();
        let output = run.env("VECUD_CACHE", &own).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let read = |name: &str| fs::read_to_string(rig.out().join(name)).unwrap();
        let report: serde_json::Value = serde_json::from_str(&read("report.json")).unwrap();
        let doctor = &report["host"]["doctor"];
        let (probe, core) = (&doctor["probe"], &measured["probe"]["cores"][0]);
        assert_eq!((&probe["cpus"][0], &probe["fifo_priority"]), (&core["cpu"], &core["fifo_priority"]));
        for (own, theirs) in [("count", "count"), ("max", "max_ns"), ("p50", "p50_ns")] {
            assert_eq!(probe["latency"][own], core[theirs], "{own}");
        }
        assert!(doctor["findings"].as_array().is_some() && read("report.html").contains("doctor’s probe, 2"));
        assert_eq!(read("histograms.hlog").matches("Tag=doctor.probe,").count(), 1);
        let anew = Command::new(env!("CARGO_BIN_EXE_vecud")).arg("report").arg(rig.out()).output().unwrap();
        assert_eq!(anew.status.code(), Some(0), "{}", text(&anew.stderr));
        assert!(read("report.html").contains("doctor’s probe, 2"));
    });
}

/// Whoever has a cache that is not used, or none that can be made, is told so, with its path.
#[test]
fn a_cache_that_cannot_keep_what_was_measured_is_named_as_this_user() {
    use std::os::unix::fs::PermissionsExt;
    shared_core(|| {
        let folder = crate::program::tempdir().unwrap();
        let open = folder.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let said = |cache: &std::path::Path| {
            let mut doctor = command(&["--json", "--seconds", "0.1"]);
            let home = folder.path().join("home");
            text(&doctor.env("VECUD_CACHE", cache).env("XDG_CACHE_HOME", home).output().unwrap().stderr).to_owned()
        };
        let unused = said(&open);
        assert!(unused.contains(&format!("note: the cache {} is not used", open.display())), "{unused}");
        let none = said(std::path::Path::new("/proc/x"));
        assert!(
            none.contains("is not kept for reports: /proc/x/doctor.json: ") && none.contains("VECUD_CACHE"),
            "{none}"
        );
    });
}

#[test]
fn json_has_the_documented_fields_as_this_user() {
    let output = shared_core(|| doctor(&["--json", "--seconds", "0.2"]));
    let value = json(&output);
    let core = &value["probe"]["cores"][0];
    assert!((1..=200).contains(&core["count"].as_u64().unwrap()), "{core}");
    assert!(core["min_ns"].as_u64() <= core["p50_ns"].as_u64() && core["p50_ns"].as_u64() <= core["max_ns"].as_u64());
    assert_eq!(value["probe"]["period_ns"], 1_000_000);
    let findings = value["findings"].as_array().unwrap();
    assert!(findings.len() > 15);
    let documentation =
        fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/doctor.md")).unwrap();
    for finding in findings {
        let check = finding["check"].as_str().unwrap();
        assert!(documentation.contains(&format!("`{check}`")), "docs/doctor.md has no {check}");
        assert!(["problem", "advice", "ok"].contains(&finding["level"].as_str().unwrap()));
    }
    let problems = findings.iter().filter(|finding| finding["level"] == "problem").count();
    assert_eq!((value["problems"].as_u64(), value["fit"].as_bool()), (Some(problems as u64), Some(problems == 0)));
    fn fields(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(map) => {
                found.extend(map.keys().cloned());
                map.values().for_each(|value| fields(value, found));
            }
            serde_json::Value::Array(values) => values.iter().for_each(|value| fields(value, found)),
            _ => (),
        }
    }
    let mut names = Vec::new();
    fields(&value, &mut names);
    for name in names {
        assert!(documentation.contains(&format!("`{name}`")), "docs/doctor.md has no field {name}");
    }
}

/// An answer that was saved is what the next one is set against, for people and for programs; what is no such answer is refused.
#[test]
fn an_answer_is_set_against_a_saved_one() {
    let folder = crate::program::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    shared_core(|| {
        let saved = doctor(&["--json", "--seconds", "0.6"]);
        fs::write(file("saved.json"), &saved.stdout).unwrap();
        let value = json(&doctor(&["--json", "--seconds", "0.6", "--against", &file("saved.json")]));
        let (before, against) = (json(&saved), &value["against"]);
        for (core, then) in
            against["cores"].as_array().unwrap().iter().zip(before["probe"]["cores"].as_array().unwrap())
        {
            for figure in ["p50", "p99", "max"] {
                assert_eq!(core[figure]["then_ns"], then[format!("{figure}_ns")], "{core} {then}");
                assert_ne!(core[figure]["change"], "not comparable", "{core}");
            }
        }
        assert!(!against["cores"].as_array().unwrap().is_empty());
        // A machine that was a hundred times as good, and had a problem more.
        let mut better = before.clone();
        for core in better["probe"]["cores"].as_array_mut().unwrap() {
            for part in core["parts"].as_array_mut().unwrap() {
                part["p50_ns"] = 1.into();
            }
        }
        let finding = serde_json::json!({ "check": "coffee", "cpu": 0, "level": "problem", "found": "none is left" });
        better["findings"].as_array_mut().unwrap().push(finding);
        fs::write(file("better.json"), better.to_string()).unwrap();
        let page = text(&doctor(&["--seconds", "0.6", "--against", &file("better.json")]).stdout);
        assert!(
            page.contains("Against ") && page.lines().any(|line| line.contains(" p50 ") && line.ends_with("worse")),
            "{page}"
        );
        let gone = page.lines().find(|line| line.starts_with("gone "));
        assert!(gone.is_some_and(|line| line.contains("core 0: none is left")), "{page}");
    });
    fs::write(file("other.json"), "{\n\"machine\": 3}").unwrap();
    for (name, words) in
        [("other.json", "other.json:2: no answer of vecud doctor --json"), ("none.json", "none.json: ")]
    {
        let output = doctor(&["--seconds", "0", "--against", &file(name)]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    }
}

#[test]
fn the_script_is_one_that_shells_take_as_this_user() {
    let output = doctor(&["--fix", "--seconds", "0"]);
    assert_eq!(output.status.code(), Some(0));
    let mut shell = Command::new("sh").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(&output.stdout).unwrap();
    assert!(shell.wait().unwrap().success(), "{}", text(&output.stdout));
    assert!(output.stdout.starts_with(b"#!/bin/sh\n") && text(&output.stdout).contains("\nset -eu\n"));
}

#[test]
fn strict_is_for_ci() {
    let fit = json(&doctor(&["--json", "--seconds", "0"]))["fit"].as_bool().unwrap();
    let strict = doctor(&["--strict", "--seconds", "0"]).status.code();
    assert_eq!(strict, Some(if fit { 0 } else { 3 }));
}

#[test]
fn a_rig_says_which_cores_and_priorities() {
    let rig = Rig::new("mode = 'virtual'\n[host]\nfifo_priorities = [20, 30]\n").tracer_with("ecu", "", "cpu = 0");
    let file = rig.file();
    let value = json(&doctor(&["--json", "--seconds", "0", file.to_str().unwrap()]));
    assert_eq!(value["target"], serde_json::json!({ "rig": "test", "cpus": [0], "fifo_priorities": [20, 30] }));
    assert_eq!(value["probe"], serde_json::Value::Null);
}

#[test]
fn what_is_wrong_is_exit_code_2() {
    let folder = crate::program::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let syntax = file("syntax.toml", "[rig\n");
    let missing = file("missing.toml", "[fmu.ecu]\npath = 'nowhere.fmu'\n");
    let core =
        file("core.toml", &format!("[fmu.ecu]\npath = '{}/fmus/tracer'\ncpu = 5000\n", env!("CARGO_MANIFEST_DIR")));
    for (arguments, word) in [
        (&["nowhere.toml"][..], "nowhere.toml"),
        (&[&syntax], "syntax.toml:1"),
        (&[&missing], "nowhere.fmu"),
        (&[&core], "core 5000"),
        (&["--seconds", "-1"], "0 to 86400"),
        (&["--seconds", "nan"], "0 to 86400"),
        (&["--json", "--fix"], "--fix"),
        (&["--what"], "--what"),
    ] {
        let output = doctor(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(word) && output.stdout.is_empty(), "{arguments:?}: {said}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command(&["--seconds", "0.1"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

#[test]
fn ctrl_c_ends_the_probe_and_the_page_is_there() {
    let began = Instant::now();
    let child = command(&["--seconds", "600", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    // Before its handler is there, the signal would end it; the probe's thread comes after that.
    let process = child.id() as i32;
    let probes = || fs::read_dir(format!("/proc/{process}/task")).is_ok_and(|tasks| tasks.count() >= 2);
    wait_until("it probes, and catches the signal", || handles(process, SIGINT) && probes());
    std::thread::sleep(Duration::from_millis(500));
    send(process, SIGINT);
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < PATIENCE);
    assert_eq!(json(&output)["probe"]["cut_short"], true);
}

#[test]
fn an_ordinary_user_sees_what_is_refused_as_this_user() {
    if !user::is_root() {
        skipped("an_ordinary_user_sees_what_is_refused_as_this_user", &"only root can become somebody else");
        return;
    }
    let mut command = Command::new(jail::public().join("vecud"));
    command.args(["doctor", "--json", "--seconds", "0.1"]).stdin(Stdio::null());
    jail::become_nobody(&mut command, Some(0));
    let value = json(&command.output().unwrap());
    let findings = value["findings"].as_array().unwrap();
    for check in ["fifo", "memory"] {
        let finding = findings.iter().find(|finding| finding["check"] == check).unwrap();
        assert_eq!(finding["level"], "problem", "{finding}");
        assert_eq!(finding["fix"]["file"], "rt-config/limits.d/vecud.conf", "{finding}");
    }
    assert_eq!(value["probe"]["cores"][0]["fifo_priority"], serde_json::Value::Null);
    assert!(value["machine"]["highest_fifo"].is_null());
}

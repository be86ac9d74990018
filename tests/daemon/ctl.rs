//! `vecud ctl`: what it says, and its exit codes.

use super::client::{Daemon, tracer};
use super::program::{copied_tracer, send, shared_core, wait_until};
use super::tcp::{TOKEN, over_tcp};
use nix::sys::signal::Signal::SIGTERM;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What it has said, by an exit code.
struct Said {
    out: String,
    err: String,
}

fn said(output: &Output, code: i32) -> Said {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{out}{err}");
    // What is done says nothing beside its answer, and what is not says why.
    assert!(if code == 0 { err.is_empty() } else { !out.is_empty() || !err.is_empty() }, "{out}{err}");
    Said { out, err }
}

fn ctl(daemon: &Daemon) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.arg("ctl").arg("--socket").arg(daemon.socket()).stdin(Stdio::null());
    command
}

fn ask(daemon: &Daemon, arguments: &[&str], code: i32) -> Said {
    said(&ctl(daemon).args(arguments).output().unwrap(), code)
}

/// A rig file of this text.
fn file(daemon: &Daemon, name: &str, text: &str) -> String {
    let file = daemon.folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// `$VECUD_SOCKET` is where the daemon listens and where it is asked, `vecud.sock` in `$XDG_RUNTIME_DIR` where that names nothing.
#[test]
fn the_environment_says_where_the_daemon_is() {
    let folder = crate::program::tempdir().unwrap();
    let vecud = |name: &str, value: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        for other in ["VECUD_SOCKET", "RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"] {
            command.env_remove(other);
        }
        command.env(name, value).stdin(Stdio::null());
        command
    };
    for (name, value, socket) in [("VECUD_SOCKET", "own", "own"), ("XDG_RUNTIME_DIR", "", "vecud.sock")] {
        let (value, socket) = (folder.path().join(value), folder.path().join(socket));
        let mut daemon = vecud(name, &value);
        daemon.arg("daemon").arg("--state").arg(folder.path().join("state")).stderr(Stdio::null());
        let mut daemon = daemon.spawn().unwrap();
        let list = || vecud(name, &value).args(["ctl", "list"]).output().unwrap();
        wait_until("it answers", || list().status.success());
        send(daemon.id() as i32, SIGTERM);
        assert!(daemon.wait().unwrap().success());
        let gone = said(&list(), 1).err;
        assert!(gone.contains(&*socket.to_string_lossy()), "{gone}");
    }
}

#[test]
fn a_rig_is_put_started_looked_at_stopped_and_its_report_is_brought() {
    shared_core(|| {
        let daemon = Daemon::new();
        assert_eq!(ask(&daemon, &["list"], 0).out, "rig  state  since  last outcome  run\n");
        let rig = file(&daemon, "rig.toml", &tracer(""));
        assert_eq!(ask(&daemon, &["put", "a", &rig], 0).out, "a: idle\n");
        assert!(ask(&daemon, &["report", "a"], 2).err.contains("no run yet"));
        let running = ask(&daemon, &["start", "a"], 0).out;
        assert!(running.starts_with("a: running, run "), "{running}");
        let clocks = ask(&daemon, &["clocks", "a"], 0).out;
        assert!(clocks.starts_with("clock ") && clocks.contains("tracer."), "{clocks}");
        let clocks: serde_json::Value = serde_json::from_str(&ask(&daemon, &["clocks", "a", "--json"], 0).out).unwrap();
        assert!(clocks[0]["activations"].is_u64(), "{clocks}");
        assert_eq!(ask(&daemon, &["start", "a"], 2).err, "rig a is running: it runs already\n");
        assert!(ask(&daemon, &["pause", "a"], 0).out.starts_with("a: paused"));
        assert!(ask(&daemon, &["resume", "a"], 0).out.starts_with("a: running"));
        assert!(ask(&daemon, &["put", "a", &rig], 2).err.contains("running"));
        assert!(ask(&daemon, &["put", "a", &rig, "--reload"], 0).out.starts_with("a: "));
        wait_until("it runs anew", || daemon.state("a") == "running");
        let stopped = ask(&daemon, &["stop", "a"], 0).out;
        assert!(stopped.starts_with("a: idle, pass, run "), "{stopped}");
        assert!(ask(&daemon, &["stop", "a"], 2).err.contains("does not run"));
        let run = stopped.trim_end().rsplit(' ').next().unwrap();
        let list = ask(&daemon, &["list"], 0).out;
        assert!(list.contains("\na ") && list.contains(run) && list.contains("pass"), "{list}");
        let runs = ask(&daemon, &["runs", "a"], 0).out;
        assert_eq!(runs.lines().count(), 3, "{runs}");
        let newest = ask(&daemon, &["runs", "a", "--limit", "1"], 0).out;
        assert!(newest.ends_with(&format!("older runs: vecud ctl runs a --before {run}\n")), "{newest}");
        let older = ask(&daemon, &["runs", "a", "--before", run], 0).out;
        assert_eq!(older.lines().count(), 2, "{older}");
        assert!(!older.contains(run), "{older}");
        let show = ask(&daemon, &["show", "a"], 0).out;
        assert!(show.contains("last outcome  pass"), "{show}");

        let out = daemon.folder.path().join("brought");
        let to = out.display().to_string();
        let report = ask(&daemon, &["report", "a", "--out", &to], 0).out;
        assert!(report.contains("passed") && report.contains("tracer.") && report.contains("p99"), "{report}");
        let own = daemon.folder.path().join("state/rigs/a/runs").join(run);
        let names = std::fs::read_dir(&own).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        assert!(names.len() > 3, "{names:?}");
        for name in names {
            assert_eq!(std::fs::read(own.join(&name)).unwrap(), std::fs::read(out.join(&name)).unwrap(), "{name:?}");
        }
        assert!(ask(&daemon, &["report", "a", "--out", &to], 2).err.contains("there already"));
        let json: serde_json::Value =
            serde_json::from_str(&ask(&daemon, &["report", "a", run, "--json"], 0).out).unwrap();
        assert_eq!(json["verdict"], "pass");
        assert!(ask(&daemon, &["report", "a", "nope"], 2).err.contains("no run nope"));
        assert!(ask(&daemon, &["reset", "a"], 0).out.starts_with("a: idle"));
        ask(&daemon, &["delete", "a"], 0);
        assert_eq!(ask(&daemon, &["show", "a"], 2).err, "there is no rig a; GET /v1/rigs lists them\n");
        assert!(ask(&daemon, &["show", "a/b"], 2).err.contains("no rig is called that"));
    });
}

/// As `vecud check` tells them: with the file that somebody has written, wherever the daemon looks for it.
#[test]
fn mistakes_have_the_place_in_the_file_that_was_put() {
    let (daemon, port) = over_tcp(&[]);
    let rig = file(&daemon, "wrong.toml", &tracer("stop_tim = 1.0\nmode = 7"));
    let check = Command::new(env!("CARGO_BIN_EXE_vecud")).args(["check", &rig]).output().unwrap();
    let check = String::from_utf8(check.stderr).unwrap();
    assert!(check.contains("wrong.toml:2:1: ") && check.lines().count() == 2, "{check}");
    assert_eq!(ask(&daemon, &["put", "a", &rig], 2).err, check);
    let problem: serde_json::Value = serde_json::from_str(&ask(&daemon, &["put", "a", &rig, "--json"], 2).out).unwrap();
    assert_eq!((&problem["status"], &problem["mistakes"][0]["line"]), (&422.into(), &2.into()), "{problem}");
    let token = daemon.folder.path().join("token").display().to_string();
    let url = format!("http://127.0.0.1:{port}");
    let over = |arguments: &[&str], code: i32| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
        command.arg("ctl").args(arguments).args(["--url", &url]).stdin(Stdio::null());
        said(&command.output().unwrap(), code)
    };
    assert_eq!(over(&["put", "a", &rig, "--token-file", &token], 2).err, check);
    let right = file(&daemon, "right.toml", &tracer(""));
    assert_eq!(over(&["put", "a", &right, "--token-file", &token], 0).out, "a: idle\n");
    assert_eq!(over(&["list"], 2).err, "the daemon wants a token; name its file with --token-file F\n");
    let other = file(&daemon, "other", "another0another0another0another0");
    assert!(over(&["list", "--token-file", &other], 2).err.contains("chmod 600"));
    std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    assert!(over(&["list", "--token-file", &other], 2).err.contains("does not have the token"));
    assert!(!over(&["list", "--token-file", &token], 0).out.contains(TOKEN));
    let mut piped = ctl(&daemon);
    piped.args(["put", "b", "-"]).stdin(std::fs::File::open(&rig).unwrap());
    let piped = said(&piped.output().unwrap(), 2).err;
    assert_eq!(piped, check.replace(&rig, "standard input"));
}

/// The run's own exit code, of a run that has exceeded a limit, and of one that has failed.
#[test]
fn the_exit_code_of_a_run_is_that_of_its_report() {
    let daemon = Daemon::new();
    let late = format!("{}clock.fast = {{ max_latency_us = 1 }}\n", tracer("stop_time = 0.2"));
    shared_core(|| {
        daemon.put("late", &late);
        daemon.post("/v1/rigs/late/start", "").json(200);
        wait_until("it is over", || !["preparing", "running", "stopping"].contains(&daemon.state("late").as_str()));
        let report = ask(&daemon, &["report", "late"], 3).out;
        assert!(report.contains("limit exceeded"), "{report}");
    });
    let bad = format!("{}start = {{ fail_kind = 5, fail_at = 20 }}\n", tracer("mode = 'virtual'\nstop_time = 1.0"));
    daemon.put("bad", &bad).json(201);
    let _ = ctl(&daemon).args(["start", "bad"]).output().unwrap();
    wait_until("it has failed", || daemon.state("bad") == "failed");
    assert!(ask(&daemon, &["show", "bad"], 0).out.contains("fail (exit code 1)"));
    assert!(ask(&daemon, &["report", "bad"], 1).out.contains("failed"));
    let virtual_time = ["start", "late", "--mode", "virtual", "--stop-time", "0.1"];
    ask(&daemon, &virtual_time, 0);
    wait_until("it is over", || daemon.state("late") == "idle");
    let report: serde_json::Value = serde_json::from_str(&ask(&daemon, &["report", "late", "--json"], 0).out).unwrap();
    assert_eq!((&report["mode"], report["end_time"].as_f64()), (&"virtual".into(), Some(0.1)));
}

/// What a compiler says takes several lines, each of which is one.
#[test]
fn a_message_of_several_lines_is_shown_in_lines() {
    let daemon = Daemon::new();
    let fmu = copied_tracer(&daemon.folder.path().join("fmu"));
    let rig = format!("[rig]\nmode = 'virtual'\nstop_time = 1\n[fmu.a]\npath = '{}'\n", fmu.display());
    daemon.put("a", &rig).json(201);
    // From now on it does not build.
    std::fs::write(fmu.join("sources/fmu.c"), "#error nobody builds this\n").unwrap();
    let _it_fails = ctl(&daemon).args(["start", "a"]).output().unwrap();
    wait_until("it has failed", || daemon.state("a") == "failed");
    let show = ask(&daemon, &["show", "a"], 0).out;
    let line = |words: &str| show.lines().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{show}"));
    assert!(line("does not build") < line("#error nobody builds this"), "{show}");
    assert!(!show.contains("\\n"), "{show}");
}

#[test]
fn a_daemon_that_is_not_there_and_requests_that_are_none() {
    let mut daemon = Daemon::new();
    let usage = |arguments: &[&str], words: &str| {
        let err = ask(&daemon, arguments, 2).err;
        assert!(err.contains(words), "{arguments:?}: {err}");
    };
    usage(&[], "Usage");
    usage(&["list", "--url", "http://localhost:1"], "not at both");
    usage(&["list", "--token-file", "x"], "--url");
    usage(&["set", "a", "gain=1"], "FMU.NAME=VALUE");
    usage(&["set", "a", "ecu.mode=idle"], "double quotes");
    usage(&["start", "a", "--mode", "fast"], "realtime");
    usage(&["start", "a"], "no rig a");
    usage(&["put", "a", "nope.toml"], "nope.toml");
    daemon.end();
    let gone = ask(&daemon, &["list"], 1).err;
    assert!(gone.contains("no daemon can be reached") && gone.contains("--socket"), "{gone}");
    // Somebody else, who speaks no HTTP.
    let listener = std::os::unix::net::UnixListener::bind(daemon.socket()).unwrap();
    let other = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 100]);
        stream.write_all(b"220 ready\r\n").unwrap();
    });
    assert!(ask(&daemon, &["list"], 1).err.contains("ended before the answer"));
    other.join().unwrap();
}

/// Values of a run: shown, set and waited for; clocks ticked.
#[test]
fn a_run_is_looked_at_and_changed_while_it_goes_on() {
    shared_core(|| {
        let daemon = Daemon::new();
        let watch = "[record]\nsignals = ['tracer.count_fast']\n[daemon]\nwatch = ['tracer.in_*', 'tracer.out_f64']\n";
        daemon.put("a", &format!("{}{watch}", tracer(""))).json(201);
        assert!(ask(&daemon, &["signals", "a"], 2).err.contains("does not run"));
        ask(&daemon, &["start", "a"], 0);
        let held = ask(&daemon, &["wait", "a", "tracer.count_fast > 10"], 0).out;
        assert!(held.starts_with("it holds at ") && held.contains("tracer.count_fast = "), "{held}");
        let set = ask(&daemon, &["set", "a", "tracer.in_f64=2.5", "tracer.in_u64=18446744073709551615"], 0).out;
        assert!(set.starts_with("variable") && set.lines().count() == 3, "{set}");
        ask(&daemon, &["wait", "a", "tracer.in_f64 == 2.5"], 0);
        let signals = ask(&daemon, &["signals", "a", "tracer.in_f64", "tracer.in_u*"], 0).out;
        let has = |words: [&str; 3]| signals.lines().any(|line| words.iter().all(|word| line.contains(word)));
        assert!(has(["tracer.in_f64", "Float64", " 2.5 "]), "{signals}");
        assert!(has(["tracer.in_u64", "UInt64", " 18446744073709551615 "]), "{signals}");
        let json: serde_json::Value =
            serde_json::from_str(&ask(&daemon, &["signals", "a", "tracer.in_f64", "--json"], 0).out).unwrap();
        assert_eq!(json[0]["value"], 2.5);
        assert!(ask(&daemon, &["tick", "a", "tracer.low"], 0).out.starts_with("tracer.low ticks at "));
        let refused = |arguments: &[&str], words: &str| {
            let err = ask(&daemon, arguments, 2).err;
            assert!(err.contains(words), "{arguments:?}: {err}");
        };
        refused(&["signals", "a", "nope"], "nope");
        refused(&["set", "a", "tracer.nope=1"], "no such variable");
        refused(&["set", "a", "tracer.in_bool=7"], "true or false");
        refused(&["tick", "a", "tracer.fast"], "something else");
        refused(&["wait", "a", "tracer.count_fast >> 1"], "column");
        refused(&["wait", "a", "tracer.nope > 1"], "tracer.nope");
        let late = ask(&daemon, &["wait", "a", "tracer.count_fast < 0", "--timeout", "0.2"], 1).err;
        assert!(late.contains("not held"), "{late}");
        let waits = ctl(&daemon).args(["wait", "a", "tracer.count_fast < 0"]).stderr(Stdio::piped()).spawn().unwrap();
        let open = || std::fs::read_dir(format!("/proc/{}/fd", waits.id())).unwrap();
        let is_socket = |path: std::path::PathBuf| path.to_string_lossy().starts_with("socket:");
        wait_until("it is connected", || {
            open().filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()).any(is_socket)
        });
        std::thread::sleep(std::time::Duration::from_millis(200));
        ask(&daemon, &["stop", "a"], 0);
        let waited = said(&waits.wait_with_output().unwrap(), 1);
        assert!(waited.err.contains("ended"), "{}", waited.err);
    });
}

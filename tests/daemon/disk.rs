//! A state folder that is full: what cannot be kept is not done and is told, what is there stays, and rigs that run go on.

use super::client::{Daemon, kept_every_release, tracer};
use super::program::{own_core, skipped, wait_until};
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A daemon whose state is on a file system of 16 MiB; `None`: it cannot be made here.
fn on_a_small_disk(test: &str) -> Option<Daemon> {
    let folder = crate::program::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("state")).unwrap();
    let mounts = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !mounts.is_ok_and(|output| output.status.success()) {
        skipped(test, &"this user may not mount a small file system");
        return None;
    }
    let script = r#"mount -t tmpfs -o size=16m none "$1"; shift; exec "$@""#;
    let daemon = Daemon::command(folder.path());
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(folder.path().join("state"));
    command.arg(daemon.get_program()).args(daemon.get_args());
    command.envs(daemon.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stderr(File::create(folder.path().join("log")).unwrap());
    let daemon = Daemon::by(folder, command);
    wait_until("the daemon answers", || UnixStream::connect(daemon.socket()).is_ok());
    Some(daemon)
}

#[test]
fn a_full_disk_is_told_and_costs_a_rig_that_runs_no_release_as_this_user() {
    own_core(|| {
        let test = "a_full_disk_is_told_and_costs_a_rig_that_runs_no_release_as_this_user";
        let Some(daemon) = on_a_small_disk(test) else { return };
        let state = PathBuf::from(format!("/proc/{}/root", daemon.pid()))
            .join(daemon.folder.path().join("state").strip_prefix("/").unwrap());
        daemon.put("good", &tracer("overrun = 'queue'")).json(201);
        daemon.put("later", &tracer("")).json(201);
        daemon.put("unkept", &tracer("")).json(201);
        for name in ["good", "unkept"] {
            daemon.post(&format!("/v1/rigs/{name}/start"), "").json(200);
        }
        let filler = state.join("filler");
        let _no_space_left = std::fs::write(&filler, vec![0; 32 << 20]);
        assert_eq!(daemon.put("new", &tracer("")).json(507)["type"], "/problems/storage");
        assert_eq!(daemon.get("/v1/rigs/new").status, 404, "what is not kept is not there");
        assert_eq!(daemon.post("/v1/rigs/later/start", "").json(507)["type"], "/problems/storage");
        assert_eq!((daemon.state("later").as_str(), daemon.state("good").as_str()), ("idle", "running"));
        // Whoever wants a rig to stop is not told that there is no space for that.
        assert_eq!(daemon.post("/v1/rigs/good/pause", "").json(200)["state"], "paused");
        assert_eq!(daemon.post("/v1/rigs/good/resume", "").json(200)["state"], "running");
        assert_eq!(daemon.post("/v1/rigs/unkept/stop", "").json(200)["state"], "idle");
        assert!(daemon.log().contains("rig unkept: warning: that it is to stop cannot be written"), "{}", daemon.log());
        std::fs::remove_file(&filler).unwrap();
        daemon.post("/v1/rigs/later/start", "").json(200);
        wait_until("it runs", || daemon.state("later") == "running");
        for name in ["later", "good"] {
            assert_eq!(daemon.post(&format!("/v1/rigs/{name}/stop"), "").json(200)["state"], "idle");
        }
        let run = daemon.get("/v1/rigs/good").json(200)["run"].as_str().unwrap().to_owned();
        let report = daemon.get(&format!("/v1/rigs/good/runs/{run}")).json(200);
        kept_every_release(&report);
        assert_eq!(unfinished(&state), [""; 0], "nothing that could not be written is left in part");
    });
}

/// The files in a folder, and in those in it, that are not written to their end.
fn unfinished(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(unfinished(&path)),
            false => all.extend(path.to_str().filter(|path| path.ends_with(".part")).map(str::to_owned)),
        }
    }
    all
}

/// Nobody who starts a run chooses its folder: the way out is the daemon's.
#[test]
fn a_run_that_gets_no_folder_is_told_what_helps_a_daemon() {
    let daemon = Daemon::new();
    daemon.put("a", &tracer("mode = 'virtual'\nstop_time = 1")).json(201);
    let runs = daemon.folder.path().join("state/rigs/a/runs");
    let _there_may_be_none = std::fs::remove_dir(&runs);
    std::fs::write(&runs, "no folder").unwrap();
    daemon.post("/v1/rigs/a/start", "");
    wait_until("it has failed", || daemon.state("a") == "failed");
    let status = daemon.get("/v1/rigs/a").json(200);
    let message = status["problems"][0]["message"].as_str().unwrap();
    assert!(message.contains("the output folder cannot be used: "), "{message}");
    assert!(message.ends_with("(vecud daemon --state DIR)") && !message.contains("--out"), "{message}");
}

/// It could keep nothing that is put, and say nothing of a run.
#[test]
fn a_state_folder_that_cannot_be_written_is_refused_at_the_start_as_this_user() {
    let test = "a_state_folder_that_cannot_be_written_is_refused_at_the_start_as_this_user";
    let folder = crate::program::tempdir().unwrap();
    let state = folder.path().join("state");
    std::fs::create_dir_all(state.join("rigs")).unwrap();
    let daemon = Daemon::command(folder.path());
    let script = r#"mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 77; shift; exec "$@""#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(&state).arg(daemon.get_program()).args(daemon.get_args());
    command.envs(daemon.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = match command.stdin(Stdio::null()).output() {
        Ok(output)
            if output.status.code() != Some(77) && !String::from_utf8_lossy(&output.stderr).contains("unshare") =>
        {
            output
        }
        _ => return skipped(test, &"this user may not mount anything"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("this state folder cannot be used: "), "{said}");
    assert!(said.contains("Read-only file system") && said.contains("choose another one with --state DIR"), "{said}");
}

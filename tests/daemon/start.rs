//! A daemon that starts and ends: on a socket and a folder that are its own, with what it knew before.

use super::client::{Daemon, tracer};
use super::program::{runner_now, shared_core, skipped, user, wait_until};
use nix::sys::signal::Signal::SIGKILL;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;

fn refused(folder: &std::path::Path, words: &str) {
    let output = Daemon::command(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains(words), "{said}");
}

#[test]
fn its_group_may_speak_to_it_and_two_never_have_one_socket_or_folder() {
    let mut daemon = Daemon::new();
    // It gets its mode a moment after its name; until then nobody else may.
    let mode = || daemon.socket().metadata().unwrap().permissions().mode() & 0o777;
    wait_until("its group may speak to it", || mode() == 0o660);
    refused(daemon.folder.path(), "another daemon");
    assert_eq!(daemon.get("/healthz").status, 200, "the first one is there");
    daemon.end();
    assert!(!daemon.socket().exists());
    // One that was killed leaves its socket.
    drop(UnixListener::bind(daemon.socket()).unwrap());
    daemon.start();
    daemon.end();
    std::fs::write(daemon.socket(), "mine").unwrap();
    refused(daemon.folder.path(), "no socket");
    assert_eq!(std::fs::read_to_string(daemon.socket()).unwrap(), "mine");
}

/// No other process of its user, FMU code included, may read or change its memory, in which the token is: what /proc has of it is root's.
#[test]
fn its_memory_is_closed_as_this_user() {
    let folder = crate::program::tempdir().unwrap();
    let mut command = Daemon::command(folder.path());
    if user::is_root() {
        command.gid(user::NOBODY);
    }
    let daemon = Daemon::by(folder, command);
    wait_until("the daemon answers", || UnixStream::connect(daemon.socket()).is_ok());
    let memory = std::fs::metadata(format!("/proc/{}/mem", daemon.pid())).unwrap();
    assert_eq!((memory.uid(), memory.gid()), (0, 0));
}

#[test]
fn an_end_in_good_order_is_that_of_its_rigs_and_they_are_known_afterwards() {
    shared_core(|| {
        let mut daemon = Daemon::new();
        daemon.put("a", &tracer("")).json(201);
        daemon.put("b", &tracer("")).json(201);
        let run = daemon.post("/v1/rigs/a/start", "").json(200)["run"].as_str().unwrap().to_owned();
        daemon.end();
        let report = daemon.folder.path().join("state/rigs/a/runs").join(&run).join("report.json");
        let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
        assert_eq!((&report["verdict"], &report["ended"]), (&"pass".into(), &"finished".into()));
        daemon.start();
        assert_eq!(daemon.state("b"), "idle");
        wait_until("what was wanted runs again", || daemon.state("a") == "running");
        assert_ne!(daemon.get("/v1/rigs/a").json(200)["run"], run.as_str());
        daemon.post("/v1/rigs/a/stop", "").json(200);
        daemon.end();
        daemon.start();
        let status = daemon.get("/v1/rigs/a").json(200);
        assert_eq!(status["state"], "idle", "it was stopped");
        assert_eq!((&status["verdict"], &status["exit_code"]), (&"pass".into(), &0.into()), "as its report says");
    });
}

/// Its runners end with it; what was wanted is wanted still, and the run that was cut off has a report.
#[test]
fn a_daemon_that_is_killed_leaves_nothing_that_runs_and_comes_back_as_wished() {
    shared_core(|| {
        let mut daemon = Daemon::new();
        daemon.put("a", &format!("{}[report]\ncheckpoint = 1\n", tracer(""))).json(201);
        let run = daemon.post("/v1/rigs/a/start", "").json(200)["run"].as_str().unwrap().to_owned();
        let folder = daemon.folder.path().join("state/rigs/a/runs").join(&run);
        wait_until("there is a checkpoint", || folder.join("checkpoint.json").is_file());
        let runner = runner_now(daemon.child()).unwrap();
        daemon.end_by(SIGKILL);
        wait_until("the runner is gone", || !std::path::Path::new(&format!("/proc/{runner}")).exists());
        daemon.start();
        wait_until("what was wanted runs again", || daemon.state("a") == "running");
        let runs = daemon.get("/v1/rigs/a/runs").json(200);
        assert_eq!(
            (&runs[0]["run"], &runs[0]["ended"], &runs[0]["verdict"]),
            (&run.as_str().into(), &"cut off".into(), &"fail".into())
        );
        daemon.post("/v1/rigs/a/stop", "").json(200);
    });
}

/// What is no file of the daemon's is not read, whatever it is, and a link is not followed.
#[test]
fn what_somebody_has_put_into_the_state_folder_is_told_and_hurts_nobody() {
    let mut daemon = Daemon::new();
    for name in ["pipe", "long", "link", "b"] {
        daemon.put(name, &tracer("")).json(201);
    }
    daemon.end();
    let rigs = daemon.folder.path().join("state/rigs");
    let file = |name: &str| rigs.join(name).join("rig.json");
    std::fs::remove_file(file("pipe")).unwrap();
    nix::unistd::mkfifo(&file("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::fs::File::create(file("long")).unwrap().set_len(1 << 40).unwrap();
    let elsewhere = daemon.folder.path().join("elsewhere");
    std::fs::rename(rigs.join("link"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, rigs.join("link")).unwrap();
    daemon.start();
    for (name, why) in [("pipe", "no ordinary file"), ("long", "more than 64 MiB")] {
        let status = daemon.get(&format!("/v1/rigs/{name}")).json(200);
        assert!(status["problems"][0]["message"].as_str().unwrap().contains(why), "{status}");
        assert!(daemon.log().contains(&format!("rig {name}: ")), "{}", daemon.log());
    }
    assert!(daemon.put("link", &tracer("")).detail(507).contains("is a link, which is not followed"));
    assert_eq!(daemon.state("b"), "idle");
}

/// With the rights of root nothing is kept where somebody else may write.
#[test]
fn a_state_folder_that_others_may_change_is_refused_as_this_user() {
    let folder = crate::program::tempdir().unwrap();
    if !user::is_root() {
        return skipped(
            "a_state_folder_that_others_may_change_is_refused_as_this_user",
            &"only root is in such danger",
        );
    }
    let state = folder.path().join("state");
    std::fs::create_dir(&state).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    refused(folder.path(), "other users may write to");
}

/// Others are there all the same.
#[test]
fn a_rig_of_which_nothing_can_be_read_says_so_and_can_be_put_anew() {
    let mut daemon = Daemon::new();
    daemon.put("a", &tracer("")).json(201);
    daemon.put("b", &tracer("")).json(201);
    daemon.end();
    let file = daemon.folder.path().join("state/rigs/a/rig.json");
    std::fs::write(&file, "{\"source\": {\"te").unwrap();
    daemon.start();
    assert_eq!((daemon.state("a"), daemon.state("b")), ("failed".to_owned(), "idle".to_owned()));
    let status = daemon.get("/v1/rigs/a").json(200);
    let why = status["problems"][0]["message"].as_str().unwrap();
    assert!(why.contains("put the rig anew"), "{status}");
    assert!(
        daemon.log().contains(&format!("rig a: warning: what it is is not known any more, and it does not run: {why}"))
    );
    assert!(daemon.post("/v1/rigs/a/start", "").detail(409).contains("put it"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"source\": {\"te", "nobody has touched it");
    daemon.put("a", &tracer("")).json(200);
    assert_eq!(daemon.state("a"), "idle");
}

//! Earlier runs in the folder `runs`: each start moves the run before there, and nothing of a crash is lost by a restart.

use super::program::{Rig, cache, runner_of, send, shared_core, wait_until};
use nix::sys::signal::Signal::SIGKILL;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A rig in virtual time that keeps so many runs.
fn keeping(runs: &str) -> Rig {
    Rig::new("mode = \"virtual\"\nstop_time = 0.02").tracer("a", "").more(&format!("[report]\n{runs}\n"))
}

/// The runs that are kept, oldest first: names that differ in their number alone have the same length below ten.
fn kept(out: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(out.join("runs")).into_iter().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort_by_key(|path| path.to_string_lossy().replace('Z', ""));
    all
}

/// The names in a folder but `runs`, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| name != "runs").collect();
    names.sort();
    names
}

/// Marks the run in a folder, to know it again.
fn mark(folder: &Path, word: &str) {
    fs::write(folder.join("run.log"), word).unwrap();
}

fn marks(runs: &[PathBuf]) -> Vec<String> {
    runs.iter().map(|run| fs::read_to_string(run.join("run.log")).unwrap()).collect()
}

/// Runs a rig into the folder of another one.
fn into(out: &Path, rig: &Rig) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vecud"));
    command.env("VECUD_CACHE", cache()).arg("run").arg(rig.file()).arg("--out").arg(out).output().unwrap()
}

#[test]
fn the_newest_run_stays_where_it_is_and_as_many_as_the_rig_says_before_it() {
    for (keys, keep) in [("keep_runs = 0", 0), ("keep_runs = 1", 1), ("keep_runs = 3", 3), ("", 10)] {
        let rig = keeping(keys);
        let mut files = Vec::new();
        for run in 0..5 {
            let outcome = rig.run().exits(0);
            assert!(!outcome.stderr.contains("earlier"), "a restart is nothing to talk of: {}", outcome.stderr);
            let first = |count: usize| (run - count..run).map(|run: usize| run.to_string()).collect::<Vec<_>>();
            assert_eq!(marks(&kept(&rig.out())), first(keep.min(run)), "{keys}: {:?}", kept(&rig.out()));
            assert_eq!(rig.out().join("runs").exists(), keep > 0 && run > 0);
            // All of them are there, under their names.
            let now = names(&rig.out());
            assert!(run == 0 || now == files, "{now:?} instead of {files:?}");
            assert!(kept(&rig.out()).iter().all(|run| names(run) == now));
            files = now;
            mark(&rig.out(), &run.to_string());
        }
    }
}

/// Exactly what belongs to the run is moved: what somebody has put there stays, and so does a kept run that got another name.
#[test]
fn what_is_somebody_elses_stays_where_it_is() {
    let rig = keeping("keep_runs = 1");
    rig.run().exits(0);
    let out = rig.out();
    fs::write(out.join("notes.txt"), "mine").unwrap();
    fs::create_dir_all(out.join("pictures")).unwrap();
    rig.run().exits(0);
    let first = kept(&out).remove(0);
    fs::rename(&first, out.join("runs/incident")).unwrap();
    let inside = "2001-01-01T00-00-00Z";
    fs::create_dir(out.join("runs").join(inside)).unwrap();
    fs::write(out.join("runs").join(inside).join("notes.txt"), "mine, too").unwrap();
    fs::write(out.join("runs").join(inside).join("report.json"), "{}").unwrap();
    for _ in 0..3 {
        rig.run().exits(0);
    }
    let all: Vec<String> =
        kept(&out).iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all.contains(&"incident".to_owned()) && all.contains(&inside.to_owned()), "{all:?}");
    assert!(out.join("runs/incident/report.json").is_file());
    assert_eq!(names(&out.join("runs").join(inside)), ["notes.txt"], "what a run has left there goes with it");
    assert_eq!(fs::read_to_string(out.join("notes.txt")).unwrap(), "mine");
    assert!(out.join("pictures").is_dir());
}

/// The runs of a command with `--repeat` stay together.
#[test]
fn several_runs_of_one_command_are_one() {
    let rig = Rig::new("mode = \"virtual\"\nstop_time = 0.02").tracer("a", "");
    let first = rig.run_with(&["--repeat", "3"]).exits(0);
    let next = rig.run().exits(0);
    let all = kept(&rig.out());
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(names(&all[0]), ["run-1", "run-2", "run-3"]);
    let words = format!(" and 2 more folders is kept in {}\n", all[0].display());
    assert!(next.stderr.contains(&words), "no {words}: {}", next.stderr);
    assert!(all[0].join("run-3/report.html").is_file());
    assert_eq!(names(&first.out).iter().filter(|name| name.starts_with("run-")).count(), 0);
    // And the other way round.
    rig.run_with(&["--repeat", "1"]).exits(0);
    assert_eq!((kept(&rig.out()).len(), names(&rig.out())), (2, vec!["run-1".to_owned()]));
}

/// A start that is refused has moved nothing.
#[test]
fn what_is_refused_moves_nothing() {
    let rig = keeping("");
    rig.run().exits(0);
    let before = names(&rig.out());
    mark(&rig.out(), "whole");
    let broken = Rig::new("mode = \"virtual\"").tracer("a", "no_such_variable = 1");
    assert_eq!(into(&rig.out(), &broken).status.code(), Some(2));
    assert!(!rig.out().join("runs").exists());
    // What stands in the way of keeping it is found out before anything is started.
    for (make, what) in [(true, "is no folder"), (false, "is a link")] {
        let runs = rig.out().join("runs");
        match make {
            true => fs::write(&runs, "mine").unwrap(),
            false => std::os::unix::fs::symlink(rig.folder(), &runs).unwrap(),
        }
        let refused = rig.run().exits(2);
        assert!(refused.stderr.contains(what), "{}", refused.stderr);
        let none = keeping("keep_runs = 0");
        fs::create_dir(none.out()).unwrap();
        fs::rename(&runs, none.out().join("runs")).unwrap();
        assert_eq!(none.run().exits(0).code, 0);
        fs::rename(none.out().join("runs"), &runs).unwrap();
        fs::remove_file(&runs).unwrap();
    }
    assert_eq!(
        (names(&rig.out()), fs::read_to_string(rig.out().join("run.log")).unwrap()),
        (before, "whole".to_owned())
    );
}

/// A start that was killed while it moved files is gone on with: they all come to the same folder.
#[test]
fn what_a_killed_start_has_not_moved_the_next_one_does() {
    let rig = keeping("keep_runs = 3");
    rig.run().exits(0);
    let (out, before) = (rig.out(), names(&rig.out()));
    let moving = out.join("runs/.moving-2026-11-20T00-00-00Z");
    fs::create_dir_all(&moving).unwrap();
    for name in before.iter().filter(|name| *name < &"report.html".to_owned()) {
        fs::rename(out.join(name), moving.join(name)).unwrap();
    }
    rig.run().exits(0);
    let all = kept(&out);
    assert_eq!(all, [out.join("runs/2026-11-20T00-00-00Z")]);
    assert_eq!(names(&all[0]), before);
    // It was killed just before it gave the folder its name; the next run keeps nothing of its own.
    fs::rename(&all[0], &moving).unwrap();
    let output = into(&out, &keeping("keep_runs = 0"));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(all[0].join("report.json").is_file() && !moving.exists());
}

/// Whoever starts a rig again after it was killed finds what was recorded until then.
#[test]
fn a_restart_after_a_crash_keeps_the_evidence() {
    shared_core(|| {
        let rig = Rig::new("").tracer("a", "");
        let mut child = rig.start(rig.command());
        rig.wait_until_it_runs();
        let _runner = runner_of(&child);
        let recorded = || fs::read_to_string(rig.out().join("signals.csv")).unwrap().lines().count();
        wait_until("something is recorded", || recorded() > 1);
        send(child.id() as i32, SIGKILL);
        child.wait().unwrap();
        let recorded = fs::read(rig.out().join("signals.csv")).unwrap();
        assert!(!recorded.is_empty());
        let next = rig.run_with(&["--stop-time", "0.1"]).exits(0);
        let all = kept(&next.out);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(fs::read(all[0].join("signals.csv")).unwrap(), recorded);
        assert!(all[0].join("run.log").is_file());
        assert!(!names(&all[0]).iter().any(|name| name == "report.json.part"), "room is nothing to be kept");
    });
}

//! Processes that FMU code leaves behind, while several rigs run and one of them begins anew again and again.

use super::client::{Daemon, descendants, discarded_at_the_end_alone};
use super::program::forks::{Forks, OF_A_LIBRARY};
use super::program::{copied_tracer, runner_of, send, shared_core, tempdir, wait_until};
use nix::sys::signal::Signal::{SIGKILL, SIGSTOP};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde_json::Value;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// When it is loaded, starts two daemons, of which one becomes another program, one that ends soon, and a plain child.
const CODE: &str = r#"
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void daemon_that(int what)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            char *none[] = {NULL}, *sleep[] = {"sleep", "1000", NULL};
            dprintf(1, "started %d\n", getpid());
            close(0), close(1), close(2);
#ifdef LOWER
            struct rlimit limit = {1000, 1000};
            setrlimit(RLIMIT_LOCKS, &limit);
#endif
            if (what == 0) execve("/bin/sleep", sleep, none);
            if (what == 1) for (;;) pause();
            usleep(20000);
        }
        _exit(0);
    }
    wait(NULL);
}

__attribute__((constructor)) static void start(void)
{
    for (int what = 0; what < 3; what++) daemon_that(what);
    if (fork() == 0) for (;;) pause();
    fflush(stdout);
}
"#;
/// So many of these are there when the run is over.
const LEFT: u64 = 3;

/// A copy of the tracer that does that, with these lines before it.
fn fmu(folder: &Path, before: &str) -> PathBuf {
    let fmu = copied_tracer(folder);
    let file = fmu.join("sources/fmu.c");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("#define _GNU_SOURCE\n{before}\n{CODE}\n{text}\n")).unwrap();
    fmu
}

/// The daemons that a run has started.
fn started(daemon: &Daemon, rig: &str, run: &str) -> Vec<u32> {
    let log = daemon.get(&format!("/v1/rigs/{rig}/runs/{run}/run.log")).body;
    log.lines().filter_map(|line| line.strip_prefix("started ")?.parse().ok()).collect()
}

/// With this end the processes below a daemon, also those that hide from it: a trial that fails kills the daemon, and would leave them.
struct EndsAll<'d>(&'d Daemon);

impl Drop for EndsAll<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // It starts no further ones, and they stay its own until they are gone.
            send(self.0.pid(), SIGSTOP);
            descendants(self.0.pid()).into_iter().for_each(|pid| _ = kill(Pid::from_raw(pid), SIGKILL));
        }
    }
}

fn is_there(pid: &u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// The children of a process: name and state of each.
fn children(parent: i32) -> Vec<(String, String)> {
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let child = |pid: String| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (name, rest) = stat.rsplit_once(") ")?;
        let mut fields = rest.split(' ');
        let (state, own_parent) = (fields.next()?, fields.next()?);
        (own_parent == parent.to_string()).then(|| (name.to_owned(), state.to_owned()))
    };
    processes.filter_map(child).collect()
}

/// How many processes a report says were left behind and ended.
fn left(report: &Value) -> u64 {
    let findings = report["fmus"][0]["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["kind"] == "process_left").unwrap();
    assert!(finding["message"].as_str().unwrap().contains("ended by force"), "{finding}");
    finding["count"].as_u64().unwrap()
}

/// As SECURITY.md says: the process of its FMUs ends with a daemon that is killed, what their code has started goes on.
#[test]
fn what_fmu_code_has_started_outlives_a_daemon_that_is_killed() {
    shared_core(|| {
        let folder = tempdir().unwrap();
        let (forks, mut command) = (Forks::in_folder(folder.path()), Daemon::command(folder.path()));
        forks.noted(&mut command).stderr(Stdio::null());
        let mut daemon = Daemon::by(folder, command);
        wait_until("the daemon answers", || UnixStream::connect(daemon.socket()).is_ok());
        daemon.put("a", &format!("[rig]\n[fmu.a]\npath = '{}'\n", forks.fmu.display())).json(201);
        daemon.post("/v1/rigs/a/start", "").json(200);
        let (runner, started) = (runner_of(daemon.child()), forks.started());
        assert_eq!(started.len(), OF_A_LIBRARY);
        daemon.end_by(SIGKILL);
        wait_until("the runner is gone", || !is_there(&(runner as u32)));
        let left = forks.running();
        left.iter().for_each(|pid| send(*pid as i32, SIGKILL));
        assert_eq!(left, started);
    });
}

#[test]
fn what_fmu_code_leaves_behind_ends_with_its_own_rig_and_leaves_no_zombie() {
    shared_core(|| {
        let daemon = Daemon::new();
        let _all_end = EndsAll(&daemon);
        let folder = daemon.folder.path();
        let rig =
            |fmu: &Path, more: &str| format!("[rig]\noverrun = 'queue'\n[fmu.a]\npath = '{}'\n{more}\n", fmu.display());
        // The one that goes on hides its mark.
        let [hostile, hidden] =
            [("hostile", ""), ("hidden", "#define LOWER")].map(|(name, before)| fmu(&folder.join(name), before));
        daemon.put("early", &rig(&hostile, "")).json(201);
        let early = daemon.post("/v1/rigs/early/start", "").json(200)["run"].as_str().unwrap().to_owned();
        daemon.put("steady", &rig(&hidden, "")).json(201);
        let steady = daemon.post("/v1/rigs/steady/start", "").json(200)["run"].as_str().unwrap().to_owned();
        let of_steady: Vec<u32> = started(&daemon, "steady", &steady);
        assert_eq!(of_steady.len(), 3);
        wait_until("one has ended and is no zombie", || of_steady.iter().filter(|pid| is_there(pid)).count() == 2);

        // Those of the second one have begun later than the first one, and either may have started what hides its mark.
        daemon.post("/v1/rigs/early/stop", "").json(200);
        assert_eq!(left(&daemon.get(&format!("/v1/rigs/early/runs/{early}")).json(200)), LEFT);
        assert_eq!(of_steady.iter().filter(|pid| is_there(pid)).count(), 2);

        let crash = "start = { fail_kind = 5, fail_at = 20 }\n[daemon]\nrestart = 'on-failure'\nrestart_delay = 0.1\nmax_restarts = 4";
        daemon.put("bad", &rig(&hostile, crash)).json(201);
        daemon.post("/v1/rigs/bad/start", "").json(200);
        // Compilers are children of the daemon, too.
        for number in 0..2 {
            let other = copied_tracer(&folder.join(format!("other{number}")));
            std::fs::write(other.join("sources/fmu.c"), {
                let text = std::fs::read_to_string(other.join("sources/fmu.c")).unwrap();
                format!("/* {} {number} */\n{text}", folder.display())
            })
            .unwrap();
            daemon.put(&format!("other{number}"), &rig(&other, "")).json(201);
        }
        wait_until("it has failed for good", || {
            let status = daemon.get("/v1/rigs/bad").json(200);
            status["state"] == "failed" && status["restart_at"].is_null()
        });
        let runs = daemon.get("/v1/rigs/bad/runs").json(200);
        assert_eq!(runs.as_array().unwrap().len(), 5);
        for run in runs.as_array().unwrap() {
            let run = run["run"].as_str().unwrap();
            let report = daemon.get(&format!("/v1/rigs/bad/runs/{run}")).json(200);
            assert_eq!((&report["fmus"][0]["status"], left(&report)), (&"crashed".into(), LEFT));
            let of_bad = started(&daemon, "bad", run);
            assert_eq!(of_bad.len(), 3);
            wait_until("they are gone, not even zombies", || !of_bad.iter().any(is_there));
        }
        assert_eq!(of_steady.iter().filter(|pid| is_there(pid)).count(), 2, "those of the other one go on");
        wait_until("no zombie is left", || children(daemon.pid()).iter().all(|(_, state)| state != "Z"));

        daemon.post("/v1/rigs/steady/stop", "").json(200);
        let report = daemon.get(&format!("/v1/rigs/steady/runs/{steady}")).json(200);
        assert_eq!((&report["verdict"], left(&report)), (&"pass".into(), LEFT), "{:#}", report["problems"]);
        for clock in report["clocks"].as_array().unwrap() {
            discarded_at_the_end_alone(&report, clock);
        }
        wait_until("the daemon has no child", || children(daemon.pid()).is_empty());
        assert!(!of_steady.iter().any(is_there));
    });
}

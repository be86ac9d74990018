//! Processes that FMU code starts end with the run, and the report names them.

use crate::confinement::{run_as_nobody, tracer_with};
use crate::program::{Outcome, Rig, changed_tracer, send, shared_core, wait_until};
use nix::sys::signal::Signal;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// At load time starts a daemon that spins, one that execs a program with an empty environment, and a plain child; they have
/// nothing in common with the runner any more but their ancestors.
const CODE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Until then the process has the name of the one that it was forked from. */
static void wait_until_it_is_called(const char *name, pid_t child)
{
    char path[64], now[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", child);
    for (int i = 0; i < 10000 && strncmp(now, name, strlen(name)); i++) {
        FILE *file = fopen(path, "r");
        if (!file) return;
        if (!fgets(now, sizeof now, file)) *now = 0;
        fclose(file);
        usleep(1000);
    }
}

static void daemon_that(int what)
{
    int pipe_ends[2];
    if (pipe(pipe_ends)) return;
    if (fork() == 0) {
        setsid();
        pid_t child = fork();
        if (child == 0) {
            char *none[] = {NULL}, *sleep[] = {"sleep", "1000", NULL};
            struct rlimit limit = {1000, 1000};
            setrlimit(RLIMIT_LOCKS, &limit);
            close(0), close(1), close(2);
            prctl(PR_SET_NAME, "innocent");
            if (what == 1) execve("/bin/sleep", sleep, none);
            for (;;) if (what == 2) usleep(1000);
        }
        if (write(pipe_ends[1], &child, sizeof child) < 0) _exit(1);
        _exit(0);
    }
    pid_t child;
    if (read(pipe_ends[0], &child, sizeof child) > 0) {
        wait_until_it_is_called(what == 1 ? "sleep" : "innocent", child);
        printf("started %d\n", child);
    }
    wait(NULL);
}

__attribute__((constructor)) static void start(void)
{
    if (getenv("QUIET")) return;
    for (int what = 0; what < 3; what++) daemon_that(what);
    if (fork() == 0) for (;;) pause();
    fflush(stdout);
    if (getenv("REFUSE")) exit(2);
}
"#;

fn started(run: &Outcome) -> Vec<u32> {
    run.file("run.log").lines().filter_map(|line| line.strip_prefix("started ")?.parse().ok()).collect()
}

/// Whatever they have done to look like others: new sessions, no environment, another name, lowered limits.
#[test]
fn processes_that_fmu_code_starts_end_with_the_run_and_are_named_as_this_user() {
    let folder = crate::program::tempdir().unwrap();
    let fmu = tracer_with(folder.path(), CODE, "");
    for nobody in [false, true] {
        let rig = Rig::new("stop_time = 0.05").fmu("a", fmu.clone(), "", "");
        let run = if nobody { run_as_nobody(&rig, &["--mode", "virtual"], &[]) } else { rig.run_virtual() }.exits(0);
        let started = started(&run);
        assert_eq!(started.len(), 3, "{}", run.file("run.log"));
        assert!(started.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists()), "{started:?}");
        assert_eq!(run.finding("a", "process_left"), Some(4), "{:#?}", run.problems());
        let message =
            run.problem(&["fmu `a`: its code has left processes behind", "ended by force", "(innocent)", "(sleep)"]);
        assert!(started.iter().all(|pid| message.contains(&format!("{pid} ("))), "{message}");
    }
    let rig = Rig::new("stop_time = 0.05").fmu("a", fmu, "", "");
    rig.run_with(&["--mode", "virtual", "--strict"]).exits(1).problem(&["has left processes behind"]);
}

/// Its orphans come to vecud, which takes them off the table of processes when they have ended, long before the run has.
#[test]
fn processes_that_end_during_a_run_leave_nothing() {
    const ORPHANS: &str = r#"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void)
{
    for (int i = 0; i < 4; i++) {
        if (fork() != 0) continue;
        if (fork() == 0) dprintf(1, "started %d\n", getpid()), usleep(300000);
        _exit(0);
    }
    while (wait(NULL) > 0) ;
}
"#;
    let folder = crate::program::tempdir().unwrap();
    let fmu = tracer_with(folder.path(), ORPHANS, "");
    let rig = Rig::new("mode = 'virtual'\nstop_time = 1e6")
        .fmu("a", fmu, "", "")
        .more("[record]\nsignals = ['a.count_slow']");
    let child = rig.start(rig.command());
    rig.wait_until_it_runs();
    let log = std::fs::read_to_string(rig.out().join("run.log")).unwrap();
    let orphans: Vec<&str> = log.lines().filter_map(|line| line.strip_prefix("started ")).collect();
    assert_eq!(orphans.len(), 4, "{log}");
    wait_until("they are gone", || orphans.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists()));
    send(child.id() as i32, Signal::SIGINT);
    let run = rig.finish(child).exits(0);
    assert_eq!(run.finding("a", "process_left"), None, "{:#?}", run.problems());
}

/// A shell that becomes vecud hands over its children; they are nobody's finding and go on.
#[test]
fn children_that_vecud_has_inherited_are_left_alone() {
    shared_core(|| {
        let folder = crate::program::tempdir().unwrap();
        let fmu = tracer_with(folder.path(), CODE, "");
        let rig = Rig::new("stop_time = 1.0").fmu("a", fmu, "", "");
        let direct = rig.command();
        let mut shell = Command::new("/bin/sh");
        // The second one forks after the run has begun, and leaves its child to whoever adopts orphans.
        let script = "sleep 30 & echo $! > pids; (sleep 0.3; sleep 30 & echo $! >> pids) & exec \"$0\" \"$@\"";
        shell.arg("-c").arg(script).arg(direct.get_program()).args(direct.get_args());
        shell.envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("QUIET", "1");
        shell.current_dir(rig.folder()).process_group(0);
        let run = rig.finish(rig.start(shell)).exits(0);
        assert_eq!(run.finding("a", "process_left"), None, "{:#?}", run.problems());
        let pids: Vec<i32> = std::fs::read_to_string(rig.folder().join("pids"))
            .unwrap()
            .lines()
            .map(|line| line.parse().unwrap())
            .collect();
        assert_eq!(pids.len(), 2);
        for pid in pids {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            assert!(!state.contains(") Z"), "{state}");
            send(pid, Signal::SIGKILL);
        }
    });
}

/// `fork()` without an `exec` makes a second runner that goes on where the first one was: nothing that it does counts.
#[test]
fn a_copy_of_the_runner_that_fmu_code_makes_counts_nothing() {
    let folder = crate::program::tempdir().unwrap();
    let fork =
        [("for (;;) nanosleep(&day, NULL);", "fork(); (void)day;"), ("#include", "#include <unistd.h>\n#include")];
    let fmu = changed_tracer(folder.path(), "failures.c", &fork);
    let start = "fail_kind = 4, fail_clock = 1, fail_at = 51";
    let rig = Rig::new("mode = 'virtual'\nstop_time = 2.0").fmu("a", fmu, start, "");
    let run = rig.run().exits(0);
    assert_eq!(run.count("a", "fast", "activations"), 2000, "{}", run.stderr);
    assert_eq!(run.signals().last("a.count_fast"), 2000);
}

//! FMU code has no privilege that it does not need, in no thread and not after `exec` either, and cannot look into the
//! supervisor.

use crate::confinement::{run_as_nobody, tracer_with};
use crate::program::{Outcome, Rig, shared_core, skipped, user};
use rustix::thread::CapabilitySet;

/// Says at load time what it and a program that it starts may do.
const LOOK: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void say_status(const char *when)
{
    char line[256];
    FILE *file = fopen("/proc/thread-self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "Cap", 3) || !strncmp(line, "NoNewPrivs", 10)) printf("%s %s", when, line);
    if (file) fclose(file);
}

static void try_it(const char *what, long result) { printf("%s: %s\n", what, result >= 0 ? "done" : strerror(errno)); }

__attribute__((constructor)) static void look(void)
{
    char path[64], byte;
    pid_t parent = getppid();
    say_status("constructor");
    struct rlimit limit;
    getrlimit(RLIMIT_RTPRIO, &limit);
    printf("rtprio %llu of %llu\n", (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    snprintf(path, sizeof path, "/proc/%d/mem", parent);
    try_it("open for reading", open(path, O_RDONLY));
    try_it("open for writing", open(path, O_RDWR));
    snprintf(path, sizeof path, "/proc/%d/fd/0", parent);
    try_it("look at descriptors", open(path, O_RDONLY));
    struct iovec here = {&byte, 1}, there = {(void *)&look, 1};
    try_it("process_vm_readv", process_vm_readv(parent, &here, 1, &there, 1, 0));
    try_it("attach", ptrace(PTRACE_ATTACH, parent, 0, 0));
    fflush(stdout);
    if (fork() == 0) {
        execl("/bin/sh", "sh", "-c", "sed -n 's/^Cap/program Cap/p; s/^NoNew/program NoNew/p' /proc/self/status", (char *)0);
        _exit(1);
    }
    wait(NULL);
}
"#;

/// The set of that name in each line of the log that has it, with who said it.
fn sets<'a>(log: &'a str, name: &str) -> Vec<(&'a str, u64)> {
    let of = |line: &'a str| {
        let (who, rest) = line.split_once(' ')?;
        Some((who, u64::from_str_radix(rest.strip_prefix(name)?.strip_prefix(':')?.trim(), 16).ok()?))
    };
    log.lines().filter_map(of).collect()
}

fn check(run: &Outcome) {
    let log = run.file("run.log");
    let lock = CapabilitySet::IPC_LOCK.bits();
    let nice = CapabilitySet::SYS_NICE.bits();
    let realtime = run.report()["host"]["scheduling"] == "fifo";
    // The limit comes first; whoever cannot have it keeps the capability.
    let limited = log.contains("rtprio 89 of 89");
    let may = if realtime && !limited { lock | nice } else { lock };
    for name in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        let found = sets(&log, name);
        assert_eq!(found.iter().map(|(who, _)| *who).collect::<Vec<_>>(), ["constructor", "program"], "{log}");
        let bits = if matches!(name, "CapPrm" | "CapEff") { may } else { 0 };
        assert_eq!(found[0].1 & !bits, 0, "{name}: {log}");
        assert_eq!(found[1].1, 0, "a program that FMU code starts has none: {log}");
    }
    assert_eq!(log.matches("NoNewPrivs:\t1").count(), 2, "{log}");
    for (what, refused) in [
        ("open for reading", "Permission denied"),
        ("open for writing", "Permission denied"),
        ("look at descriptors", "Permission denied"),
        ("process_vm_readv", "Operation not permitted"),
        ("attach", "Operation not permitted"),
    ] {
        assert!(log.contains(&format!("{what}: {refused}")), "{what}: {log}");
    }
}

/// Before the first library is loaded, the runner gives away what it does not need, for good, and the supervisor's memory is
/// out of its reach: as root and as anybody else, in both modes.
#[test]
fn fmu_code_has_no_capability_and_cannot_open_the_supervisor_as_this_user() {
    shared_core(|| {
        let folder = crate::program::tempdir().unwrap();
        let fmu = tracer_with(folder.path(), LOOK, "");
        for mode in ["realtime", "virtual"] {
            let rig = Rig::new("stop_time = 0.05").fmu("a", fmu.clone(), "", "");
            check(&rig.run_with(&["--mode", mode]).exits(0));
            let rig = Rig::new("stop_time = 0.05").fmu("a", fmu.clone(), "", "");
            check(&run_as_nobody(&rig, &["--mode", mode], &[]).exits(0));
        }
    });
    if !user::may_raise_limits() {
        skipped(
            "fmu_code_has_no_capability_and_cannot_open_the_supervisor_as_this_user",
            &"in part: only CAP_SYS_RESOURCE raises RLIMIT_RTPRIO, so the runner has to keep CAP_SYS_NICE here",
        );
    }
}

//! FMU code that starts processes, and which of them are left.

use super::copied_tracer;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Loaded, it starts a daemon that becomes another program, and a plain child; each notes its number in the file that PIDS names.
const CODE: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void note(void)
{
    int file = open(getenv("PIDS"), O_WRONLY | O_APPEND);
    if (file >= 0) dprintf(file, "%d\n", getpid()), close(file);
}

__attribute__((constructor)) static void start_processes(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            char *none[] = {NULL}, *sleep[] = {"sleep", "1000", NULL};
            note();
            close(0), close(1), close(2);
            execve("/bin/sleep", sleep, none);
        }
        _exit(0);
    }
    wait(NULL);
    int ends[2], noted;
    if (pipe(ends)) return;
    if (fork() == 0) {
        note();
        if (write(ends[1], "", 1) < 0) _exit(1);
        for (;;) pause();
    }
    if (read(ends[0], &noted, 1) < 0) return;
    close(ends[0]), close(ends[1]);
}
"#;

/// How many processes each loading starts.
pub const OF_A_LIBRARY: usize = 2;

/// A tracer that starts processes when it is loaded, and the list of these.
pub struct Forks {
    /// The FMU.
    pub fmu: PathBuf,
    pids: PathBuf,
}

impl Forks {
    /// Makes it in a folder.
    pub fn in_folder(folder: &Path) -> Forks {
        let (fmu, pids) = (copied_tracer(&folder.join("forks")), folder.join("pids"));
        let source = fmu.join("sources/fmu.c");
        let text = std::fs::read_to_string(&source).unwrap();
        std::fs::write(&source, format!("{CODE}\n{text}")).unwrap();
        std::fs::write(&pids, "").unwrap();
        Forks { fmu, pids }
    }

    /// Has the FMUs of a command note what they start.
    pub fn noted<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("PIDS", &self.pids)
    }

    /// The processes that were started so far.
    pub fn started(&self) -> Vec<u32> {
        std::fs::read_to_string(&self.pids).unwrap().lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Those that still run. One that has ended and waits for its parent does not.
    pub fn running(&self) -> Vec<u32> {
        let runs = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with('Z'))
        };
        self.started().into_iter().filter(runs).collect()
    }
}

//! What has to hold after every run, however it went.

use crate::program::PATIENCE;
use crate::program::Rig;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// What no run may take, on a machine that is busy with other tests.
const LONGEST: Duration = PATIENCE;
/// What the command line's process may have in memory at most (kB).
const MOST_MEMORY: u64 = 1 << 20;
/// An environment variable that every process of a run inherits.
const MARK: &str = "VECUD_HOSTILE_MARK";

static RUNS: AtomicU64 = AtomicU64::new(0);

/// A run that is under way.
pub struct Running<'a> {
    rig: &'a Rig,
    /// The command line's process.
    pub child: Child,
    mark: String,
    began: Instant,
}

/// How a run has ended.
pub struct Judged {
    /// `None`: a signal has ended it.
    pub code: Option<i32>,
    pub stderr: String,
    /// Absent where nothing was run.
    pub report: Option<Value>,
}

/// Starts the run, so that all that it leaves behind can be found.
pub fn start<'a>(rig: &'a Rig, mut command: Command) -> Running<'a> {
    let mark = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, SeqCst));
    let temporary = rig.folder().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    command.env(MARK, &mark).env("TMPDIR", &temporary);
    Running { rig, child: rig.start(command), mark, began: Instant::now() }
}

impl Running<'_> {
    /// Waits for the end and checks what has to hold after any run. `what` names it in messages.
    #[track_caller]
    pub fn judge(self, what: &str) -> Judged {
        let judged = self.end(what);
        let Judged { code, stderr, report } = &judged;
        assert!(matches!(code, Some(0..=3)), "{what}: exit code {code:?}\n{stderr}");
        assert!(report.is_some() || *code == Some(2), "{what}: exit code {code:?} without a report\n{stderr}");
        if let Some(report) = report {
            let verdict = report["verdict"].as_str();
            assert_eq!(verdict == Some("pass"), *code == Some(0), "{what}: {code:?} {verdict:?}\n{stderr}");
        }
        judged
    }

    /// The same for a run that may be ended by a signal which nobody can handle: then there need not be a report.
    #[track_caller]
    pub fn end(mut self, what: &str) -> Judged {
        let mut memory = 0;
        let status = loop {
            memory = memory.max(most_memory(self.child.id()));
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if self.began.elapsed() > LONGEST {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                panic!("{what}: vecud has not ended after {LONGEST:?}\n{}", self.stderr());
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let stderr = self.stderr();
        assert!(memory < MOST_MEMORY, "{what}: {memory} kB");
        assert!(!stderr.contains("panicked at"), "{what}:\n{stderr}");
        self.nothing_is_left(what, &stderr);
        let report = fs::read(self.rig.out().join("report.json")).ok();
        let report = report.map(|bytes| serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{what}: {e}")));
        Judged { code: status.code(), stderr, report }
    }

    /// For a command line's process that has been killed: its processes end by themselves. Files may be left.
    #[track_caller]
    pub fn killed(mut self, what: &str) {
        self.child.wait().unwrap();
        self.no_process_is_left(what);
    }

    /// Whether a process of this name is there that belongs to the run.
    pub fn has_started(&self, name: &str) -> bool {
        processes(&self.mark).iter().any(|(_, found)| found.trim() == name)
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.rig.folder().join("stderr")).unwrap()).into_owned()
    }

    #[track_caller]
    fn no_process_is_left(&self, what: &str) {
        let began = Instant::now();
        let mut left = processes(&self.mark);
        // What was ended a moment ago may not be gone yet.
        while !left.is_empty() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
            left = processes(&self.mark);
        }
        for (process, _) in &left {
            let _gone_meanwhile =
                nix::sys::signal::kill(nix::unistd::Pid::from_raw(*process), nix::sys::signal::SIGKILL);
        }
        assert!(left.is_empty(), "{what}: processes {left:?} are left\n{}", self.stderr());
    }

    /// No process, no temporary file, no hidden file in the output folder.
    #[track_caller]
    fn nothing_is_left(&self, what: &str, stderr: &str) {
        self.no_process_is_left(what);
        let temporary = names(&self.rig.folder().join("tmp"));
        assert!(temporary.is_empty(), "{what}: {temporary:?} are left in TMPDIR\n{stderr}");
        let hidden: Vec<String> = names(&self.rig.out())
            .into_iter()
            .filter(|name| name.starts_with('.') || name.ends_with(".part"))
            .collect();
        assert!(hidden.is_empty(), "{what}: {hidden:?} are left in the output folder\n{stderr}");
    }
}

/// The most that a process has had in memory so far (kB); 0 when it is gone.
fn most_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Living processes of a run, with their names.
fn processes(mark: &str) -> Vec<(i32, String)> {
    let mark = format!("{MARK}={mark}\0");
    let numbers = names(Path::new("/proc")).into_iter().filter_map(|name| name.parse().ok());
    let ours = |process: &i32| {
        fs::read(format!("/proc/{process}/environ"))
            .is_ok_and(|bytes| bytes.windows(mark.len()).any(|window| window == mark.as_bytes()))
    };
    let name = |process| fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    numbers.filter(ours).map(|process| (process, name(process))).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

//! Runs the whole program on rigs of tracers (`fmus/tracer`) and looks at everything that it leaves behind.

#![allow(dead_code, reason = "each test program uses a part of it")]

mod clocks;
pub mod forks;
mod invariants;
pub mod jail;
mod outcome;
pub mod permit;

pub mod random;
pub mod schema;
mod scratch;
mod stalls;
mod trace;
pub mod user;

#[allow(unused_imports, reason = "each test program uses a part of it")]
pub use invariants::{Kind, Seen, check_threads, unaccounted};
pub use outcome::Outcome;
#[allow(unused_imports, reason = "each test program uses a part of it")]
pub use outcome::problem_texts;
pub use permit::{own_core, shared_core};
#[allow(unused_imports, reason = "each test program uses a part of it")]
pub use random::{Drawn, Random, behaviour, draw};
#[allow(unused_imports, reason = "each test program uses a part of it")]
pub use schema::Schema;
pub use scratch::tempdir;
#[allow(unused_imports, reason = "each test program uses a part of it")]
pub use trace::{End, Event, Trace, clock};
// What is the same for all users, whatever has to be done for that.
#[allow(unused_imports, reason = "each test program uses a part of it")]
pub use jail::without_real_time;
#[allow(unused_imports, reason = "each test program uses a part of it")]
pub use user::{limit_descriptors, limit_files, limit_memory};

use nix::sys::signal::SigHandler::SigDfl;
use nix::sys::signal::Signal::{self, SIGINT, SIGQUIT};
use nix::sys::signal::signal;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// [`shared_core`], or a visible word that this test needs a privilege that is not there.
pub fn real_time(name: &str, test: impl Fn() + Sync) {
    if has_real_time(name) {
        shared_core(test);
    }
}

/// [`own_core`], likewise.
pub fn real_time_on_own_core(name: &str, test: impl Fn() + Sync) {
    if has_real_time(name) {
        own_core(test);
    }
}

/// Whether there are real-time priorities, or a visible word that there are none.
pub fn has_real_time(name: &str) -> bool {
    user::may_have_fifo(89).map_err(|error| skipped(name, &error)).is_ok()
}

/// How long a test waits for what has to come, and for the end of what has to end: longer than any machine is that busy, and no part
/// of what is tested.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// Whether a process has a handler for this signal, or has ended already.
pub fn handles(process: i32, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_none_or(|mask| mask >> (signal as i32 - 1) & 1 == 1) || status.contains("State:\tZ")
}

/// Says past the test harness, which would keep it to itself, that a test was not run.
pub fn skipped(test: &str, why: &dyn std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
}

/// A rig in a folder of its own, which is gone with it.
pub struct Rig {
    folder: Arc<TempDir>,
    rig: String,
    fmus: Vec<(String, PathBuf, String, String)>,
    rest: String,
    file: Option<String>,
}

impl Rig {
    /// `rig` is what goes into the table `[rig]`.
    pub fn new(rig: &str) -> Rig {
        let folder = Arc::new(tempdir().unwrap());
        Rig { folder, rig: rig.to_owned(), fmus: Vec::new(), rest: String::new(), file: None }
    }

    /// A rig file that is there already, as it is.
    pub fn of_file(file: &str) -> Rig {
        Rig { file: Some(file.to_owned()), ..Rig::new("") }
    }

    /// A rig of this text, as it is.
    pub fn of_text(text: &str) -> Rig {
        let rig = Rig::new("");
        std::fs::write(rig.folder.path().join("test.toml"), text).unwrap();
        Rig { file: Some(rig.folder.path().join("test.toml").display().to_string()), ..rig }
    }

    /// Adds a tracer with these start values.
    pub fn tracer(self, name: &str, start: &str) -> Rig {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
        self.fmu(name, path, start, "")
    }

    /// Adds a tracer, with further keys and tables: `cpu = 0`, `clock.fast = { max_overruns = 0 }`.
    pub fn tracer_with(self, name: &str, start: &str, keys: &str) -> Rig {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
        self.fmu(name, path, start, keys)
    }

    /// Adds an FMU that has the tracer's parameters.
    pub fn fmu(mut self, name: &str, path: PathBuf, start: &str, keys: &str) -> Rig {
        self.fmus.push((name.to_owned(), path, start.to_owned(), keys.to_owned()));
        self
    }

    /// Ticks of output clock `from` activate `clock`.
    pub fn trigger(mut self, from: &str, clock: &str) -> Rig {
        writeln!(self.rest, "[[trigger]]\nclock = \"{clock}\"\nfrom = \"{from}\"").unwrap();
        self
    }

    /// Values of `from` go to `to`.
    pub fn connect(mut self, from: &str, to: &str) -> Rig {
        writeln!(self.rest, "[[connect]]\nfrom = \"{from}\"\nto = \"{to}\"").unwrap();
        self
    }

    /// Further tables, as text.
    pub fn more(mut self, text: &str) -> Rig {
        writeln!(self.rest, "{text}").unwrap();
        self
    }

    /// Where everything is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the report goes.
    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn trace_file(&self, fmu: &str) -> PathBuf {
        self.folder.path().join(format!("{fmu}.trace.csv"))
    }

    fn text(&self) -> String {
        // In virtual time tracers have much to write at their end, which takes long where much else is done.
        let has_patience =
            self.rig.contains("virtual") && !["shutdown_timeout", "["].iter().any(|own| self.rig.contains(own));
        let patience = if has_patience { "shutdown_timeout = 60\n" } else { "" };
        let mut text = format!("[rig]\n{}\n{patience}", self.rig);
        for (name, path, start, keys) in &self.fmus {
            let comma = if start.is_empty() { "" } else { ", " };
            let trace = self.trace_file(name);
            writeln!(text, "[fmu.{name}]\npath = '{}'\n{keys}", path.display()).unwrap();
            writeln!(text, "start = {{ trace_file = '{}'{comma}{start} }}", trace.display()).unwrap();
        }
        if !self.rest.contains("[record]") {
            text += "[record]\nsignals = ['*']\n";
        }
        text + &self.rest
    }

    /// The rig's file, written.
    pub fn file(&self) -> PathBuf {
        if let Some(file) = &self.file {
            return Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        }
        let file = self.folder.path().join("test.toml");
        std::fs::write(&file, self.text()).unwrap();
        file
    }

    /// `vecud run` with this rig, not started yet.
    pub fn command(&self) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_vecud")))
    }

    /// The same with another copy of the program.
    pub fn command_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.arg("run").arg(self.file()).arg("--out").arg(self.out());
        command.env("VECUD_CACHE", cache()).stdin(Stdio::null());
        command
    }

    /// Runs it to its end, in the mode that the rig says.
    pub fn run(&self) -> Outcome {
        self.finish(self.start(self.command()))
    }

    /// Runs it to its end in virtual time.
    pub fn run_virtual(&self) -> Outcome {
        self.run_with(&["--mode", "virtual"])
    }

    /// Runs it to its end with further arguments.
    pub fn run_with(&self, arguments: &[&str]) -> Outcome {
        let mut command = self.command();
        command.args(arguments);
        self.finish(self.start(command))
    }

    /// Starts it; [`Rig::finish`] waits for its end.
    pub fn start(&self, mut command: Command) -> Child {
        take_signals();
        // Files instead of pipes: nobody has to read them while the program runs.
        let file = |name: &str| std::fs::File::create(self.folder.path().join(name)).unwrap();
        command.stdout(file("stdout")).stderr(file("stderr")).spawn().unwrap()
    }

    /// Waits for the end.
    pub fn finish(&self, mut child: Child) -> Outcome {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > PATIENCE {
                // The runner goes with the supervisor.
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("vecud has not ended after {PATIENCE:?}; stderr:\n{}", self.read("stderr"));
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let traces = self.fmus.iter().map(|(name, ..)| (name.clone(), self.trace_file(name))).collect();
        let folder = Arc::clone(&self.folder);
        // So that no rig keeps others from their core whose tests know nothing of it.
        let in_real_time = self.read("out/report.json").contains("\"scheduling\": \"fifo\"");
        assert!(permit::is_permitted() || !in_real_time, "a rig in real time needs a permit");
        Outcome::new(status, began.elapsed(), self.read("stdout"), self.read("stderr"), folder, traces)
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.folder.path().join(name)).unwrap_or_default()).into_owned()
    }

    /// Waits until the run records, which it does once activations happen.
    pub fn wait_until_it_runs(&self) {
        wait_until("the run begins", || self.out().join("signals.csv").exists());
    }
}

/// One cache for all tests, so that each FMU is built once.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// A copy of the tracer's sources in `folder`, with some text replaced by other text.
pub fn changed_tracer(folder: &Path, file: &str, changes: &[(&str, &str)]) -> PathBuf {
    let to = copied_tracer(&folder.join("changed_tracer"));
    let changed = to.join("sources").join(file);
    let mut text = std::fs::read_to_string(&changed).unwrap();
    for (before, after) in changes {
        assert!(text.contains(before), "{file} has no {before}");
        text = text.replace(before, after);
    }
    std::fs::write(&changed, text).unwrap();
    to
}

/// A copy of the tracer's sources, to be changed.
pub fn copied_tracer(to: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fmus/tracer");
    std::fs::create_dir_all(to.join("sources")).unwrap();
    for part in [".", "sources"] {
        let files = std::fs::read_dir(from.join(part)).unwrap().map(|entry| entry.unwrap().path());
        for path in files.filter(|path| path.is_file()) {
            std::fs::copy(&path, to.join(part).join(path.file_name().unwrap())).unwrap();
        }
    }
    to.to_owned()
}

/// Programs that are started from here on take SIGINT and SIGQUIT as in a terminal's foreground: a shell that was told to run the
/// tests in its background has them ignore these, they hand that on, and `vecud check` leaves ignored signals ignored.
pub fn take_signals() {
    for which in [SIGINT, SIGQUIT] {
        // SAFETY: the default action runs no code of this process.
        unsafe { signal(which, SigDfl) }.unwrap();
    }
}

/// Waits for something that has to come.
pub fn wait_until(what: &str, mut come: impl FnMut() -> bool) {
    let began = Instant::now();
    while !come() {
        assert!(began.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The runner's process, when there is one.
pub fn runner_of(supervisor: &Child) -> i32 {
    let mut found = None;
    wait_until("there is a runner", || {
        found = runner_now(supervisor);
        found.is_some()
    });
    found.unwrap()
}

/// The runner's process, if there is one by now.
pub fn runner_now(supervisor: &Child) -> Option<i32> {
    runners_now(supervisor).first().copied()
}

/// The processes of runners that there are by now: children of the threads of sessions.
pub fn runners_now(supervisor: &Child) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{}/task", supervisor.id())).into_iter().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    let children: String = children.collect();
    let is_runner = |process: &&str| {
        let line = std::fs::read_to_string(format!("/proc/{process}/cmdline"));
        line.is_ok_and(|line| line.starts_with("vecud-runner"))
    };
    children.split_whitespace().filter(is_runner).filter_map(|process| process.parse().ok()).collect()
}

/// Sends a signal.
pub fn send(process: i32, signal: Signal) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), signal).unwrap();
}

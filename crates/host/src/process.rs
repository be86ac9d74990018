//! Processes that hold FMU code: starts them, waits for them, ends them with all processes that they leave behind.

use super::calls::CallLocation;
use super::offspring::{self as left_behind, Left};
use super::{Error, EventSink, Options};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use vecud_base::plain::Plain;
use vecud_linux::crash::ask_where_it_is;
use vecud_linux::offspring::{self, Offspring};
use vecud_linux::process;
use vecud_linux::wake::monotonic_now;
use vecud_plan::{FmuId, Plan};
use vecud_record::board::{Board, Global, OutsideCall};

/// Environment variables of the service manager, which are hidden from FMU code.
const OF_A_SERVICE: [&str; 6] =
    ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"];

/// Reason why the runner's process was ended by force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    /// The runner took too long to end.
    Late,
    /// The user asked twice.
    AskedTwice,
    /// A call, at this place, did not return within the rig's `call_timeout`.
    Overdue(CallLocation),
}

/// Time limit for a killed process to disappear.
const PATIENCE: Duration = Duration::from_secs(2);

/// A process that holds FMU code, and the processes that this code has started. It belongs to the thread that has
/// started it: the kernel ends it with that thread, and FMU code can make that thread its tracer. Both end with this
/// value in every case.
pub struct CodeProcess {
    child: Child,
    offspring: Offspring,
    /// Whether this process adopts orphans.
    adopts: bool,
    /// Whether both the process and its offspring have ended.
    is_over: bool,
}

impl CodeProcess {
    /// Starts `program`, or that of this process, with these files from descriptor 3 on. Its output goes to `log`. `adopts`: as
    /// [`Options::adopts`].
    pub fn start(
        program: Option<&Path>,
        arguments: &[&str],
        files: &[BorrowedFd],
        log: File,
        adopts: bool,
    ) -> Result<CodeProcess, Error> {
        let copy = log.try_clone().map_err(|error| Error::System(error.to_string()))?;
        let program = program.unwrap_or(Path::new("/proc/self/exe"));
        let mut command = Command::new(program);
        // Output of FMU code must neither mix with results nor ever block the code: it goes to a file.
        for name in OF_A_SERVICE {
            command.env_remove(name);
        }
        command.arg0("vecud-runner").args(arguments).stdin(Stdio::null()).stdout(log).stderr(copy);
        let (child, offspring) = offspring::begin(|mark| process::spawn_with(command, files, mark))
            .map_err(|error| Error::System(format!("cannot start the runner {}: {error}", program.display())))?;
        Ok(CodeProcess { child, offspring, adopts, is_over: false })
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Exit status of the process; `None`: it still runs.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        process::try_wait(&mut self.child)
    }

    /// Kills the process; [`try_wait`](Self::try_wait) tells when it has gone.
    pub fn kill(&mut self) {
        let _it_may_be_gone = self.child.kill();
    }

    /// Ends the processes left behind, if this process adopts them; `found` receives each one before that. Returns
    /// whether none is left.
    pub fn end_offspring(&mut self, found: impl FnMut(&offspring::Process)) -> bool {
        let none_left = !self.adopts || self.offspring.end(PATIENCE, found);
        self.is_over = matches!(self.try_wait(), Ok(Some(_)));
        none_left
    }
}

impl Drop for CodeProcess {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let until = Instant::now() + PATIENCE;
        self.kill();
        while matches!(self.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.end_offspring(|_| ());
    }
}

/// The runner's process.
pub struct RunnerProcess {
    process: CodeProcess,
    /// Start of the process, CLOCK_MONOTONIC in ns.
    pub began: i64,
    /// Processes that it has left behind.
    pub left: Vec<Left>,
    /// Whether all processes left behind could be ended.
    pub none_left: bool,
    /// Reason why it was ended by force, if it was.
    pub killed: Option<Killed>,
    /// Whether at the last check it had ended without a notification to this process.
    seemed_kept: bool,
}

impl RunnerProcess {
    /// Starts the runner with these files, from descriptor 3 on. Its output goes to `log`.
    pub fn start(options: &Options, files: &[BorrowedFd], log: File) -> Result<RunnerProcess, Error> {
        let process = CodeProcess::start(options.runner.as_deref(), &["runner"], files, log, options.adopts)?;
        let (began, left) = (monotonic_now(), Vec::new());
        Ok(RunnerProcess { process, began, left, none_left: true, killed: None, seemed_kept: false })
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Exit status of the runner; `None`: it still runs.
    pub fn try_wait(&mut self, plan: &Plan) -> Result<Option<ExitStatus>, Error> {
        let status = self.process.try_wait().map_err(|error| Error::System(error.to_string()))?;
        let seems_kept = status.is_none() && offspring::is_kept_by_a_tracer(self.id());
        // A process whose threads are just exiting looks like this once.
        if seems_kept && std::mem::replace(&mut self.seemed_kept, seems_kept) {
            // FMU code has made one of these its tracer, or this process.
            process::let_threads_go(self.id());
            self.end_offspring(plan);
        }
        Ok(status)
    }

    /// Ends a runner without results.
    pub fn end(&mut self, plan: &Plan) {
        self.process.kill();
        while matches!(self.try_wait(plan), Ok(None)) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends the processes that the runner has left behind.
    pub fn end_offspring(&mut self, plan: &Plan) {
        self.none_left = self.process.end_offspring(|process| self.left.push(Left::of(plan, process)));
    }

    /// Reports the processes left behind where no report file does.
    pub fn tell_of_the_left(&self, plan: &Plan, events: &EventSink) {
        let fmus = (0..plan.fmus.len()).map(|fmu| Some(FmuId(fmu))).chain([None]);
        let findings = fmus.filter_map(|fmu| left_behind::finding(plan, &self.left, self.none_left, fmu));
        findings.for_each(|finding| events.warn(format_args!("{}", Plain(&finding.message))));
    }

    /// Kills the runner. Only the process itself can tell in which library's destructor it is, so it is asked first.
    pub fn kill(&mut self, board: Board, reason: Killed) {
        /// A running process answers within microseconds; one that does not is stopped, or has blocked the signal.
        const PATIENCE: Duration = Duration::from_millis(100);
        if self.killed.is_none() && board.outside_call().function == OutsideCall::UNLOADING {
            ask_where_it_is(self.id());
            let asked = Instant::now();
            while board.global(Global::CrashCode).load(SeqCst) == 0 && asked.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.killed.get_or_insert(reason);
        self.process.kill();
    }
}

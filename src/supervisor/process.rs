//! The runner's process: started, waited for, ended with all that it leaves behind.

use super::calls::Place;
use super::offspring::Left;
use super::{Error, Options};
use crate::plan::Plan;
use crate::record::board::{Board, Global, OutsideCall};
use crate::sys::crash::ask_where_it_is;
use crate::sys::offspring::{self, Offspring};
use crate::sys::process;
use crate::sys::wake::monotonic_now;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// What a service manager tells the process that it has started: FMU code is none of its business.
const OF_A_SERVICE: [&str; 6] =
    ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"];

/// Why the runner's process was ended by force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    /// The runner took too long to come to its end.
    Late,
    /// The user has asked twice.
    AskedTwice,
    /// A call, at this place, did not return within the rig's `call_timeout`.
    Overdue(Place),
}

/// Starts a process that holds FMU code, with these files from descriptor 3 on: `program`, or that of this process. What it prints goes
/// to `log`.
pub(super) fn begin(
    program: Option<&Path>,
    arguments: &[&str],
    files: &[BorrowedFd],
    log: File,
) -> Result<(Child, Offspring), Error> {
    let copy = log.try_clone().map_err(|error| Error::System(error.to_string()))?;
    let program = program.unwrap_or(Path::new("/proc/self/exe"));
    let mut command = Command::new(program);
    // What FMU code prints must neither mix with results nor ever block it: it goes to a file.
    for name in OF_A_SERVICE {
        command.env_remove(name);
    }
    command.arg0("vecud-runner").args(arguments).stdin(Stdio::null()).stdout(log).stderr(copy);
    offspring::begin(|mark| process::spawn_with(command, files, mark))
        .map_err(|error| Error::System(format!("cannot start the runner {}: {error}", program.display())))
}

/// The runner's process. Belongs to the thread that has started it: the kernel ends it with that thread, and FMU code can make
/// that thread its tracer.
pub struct RunnerProcess {
    child: Child,
    /// When it was started, CLOCK_MONOTONIC in ns.
    pub began: i64,
    /// What it leaves behind.
    offspring: Offspring,
    /// That comes to this process.
    adopts: bool,
    /// What it has left behind.
    pub left: Vec<Left>,
    /// All of that could be ended.
    pub none_left: bool,
    /// Why it was ended by force, if it was.
    pub killed: Option<Killed>,
    /// At the last look it had ended without this process being told.
    seemed_kept: bool,
}

impl RunnerProcess {
    /// Starts it with these files, from descriptor 3 on. What it prints goes to `log`.
    pub fn start(options: &Options, files: &[BorrowedFd], log: File) -> Result<RunnerProcess, Error> {
        let (child, offspring) = begin(options.runner.as_deref(), &["runner"], files, log)?;
        let (adopts, began, left) = (options.adopts, monotonic_now(), Vec::new());
        Ok(RunnerProcess { child, began, offspring, adopts, left, none_left: true, killed: None, seemed_kept: false })
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it has ended, if it has.
    pub fn try_wait(&mut self, plan: &Plan) -> Result<Option<ExitStatus>, Error> {
        let status = process::try_wait(&mut self.child).map_err(|error| Error::System(error.to_string()))?;
        let seems_kept = status.is_none() && offspring::is_kept_by_a_tracer(self.id());
        // Whose threads are just leaving is seen like that once.
        if seems_kept && std::mem::replace(&mut self.seemed_kept, seems_kept) {
            // Only FMU code has made one of these its tracer, or this process.
            process::let_threads_go(self.id());
            self.end_offspring(plan);
        }
        Ok(status)
    }

    /// Ends it where there are no results of it.
    pub fn end(&mut self, plan: &Plan) {
        let _ = self.child.kill();
        while matches!(self.try_wait(plan), Ok(None)) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends what it has left behind.
    pub fn end_offspring(&mut self, plan: &Plan) {
        const PATIENCE: Duration = Duration::from_secs(2);
        if self.adopts {
            self.none_left = self.offspring.end(PATIENCE, |process| self.left.push(Left::of(plan, process)));
        }
    }

    /// Ends it the hard way. Of the destructors of several libraries only itself can tell in which one it is.
    pub fn kill(&mut self, board: Board, reason: Killed) {
        /// A process that runs answers within microseconds; one that does not is stopped, or has blocked the signal.
        const PATIENCE: Duration = Duration::from_millis(100);
        if self.killed.is_none() && board.outside_call().function == OutsideCall::UNLOADING {
            ask_where_it_is(self.id());
            let asked = Instant::now();
            while board.global(Global::CrashCode).load(SeqCst) == 0 && asked.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.killed.get_or_insert(reason);
        let _ = self.child.kill();
    }
}

//! Starts the runner and stays with it until it is gone.

use super::collect::{self, Facts};
use super::files::Output;
use super::machine;
use super::progress::Progress;
use super::recorder::Recorder;
use super::{Error, Options, Prepared};
use crate::plan::Mode;
use crate::record::board::{Board, Global, Layout, Phase};
use crate::report::{Run, Severity};
use crate::runner::{PLAN_FD, SHARED_MEMORY_FD};
use crate::sys::shared_memory::SharedMemory;
use crate::sys::wake::monotonic_now;
use crate::sys::{affinity, process};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, SystemTime};

/// How often the supervisor looks.
const LOOK: Duration = Duration::from_millis(20);
/// What the runner may take to come to its end, beyond the rig's `shutdown_timeout` for its partitions and as much again
/// for ending its FMUs.
const GRACE: i64 = 1_000_000_000;

/// Why the runner's process was ended by force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    /// It took too long to come to its end.
    Late,
    /// The user has asked twice.
    AskedTwice,
}

/// A run that came to an end, good or bad, and its report.
#[derive(Debug)]
pub struct Finished {
    /// Everything that is known of it.
    pub run: Run,
    /// Where the files are.
    pub out: PathBuf,
}

impl Finished {
    /// 0 done, 1 failed, 3 a limit was exceeded.
    pub fn exit_code(&self) -> u8 {
        let has = |severity| self.run.problems.iter().any(|problem| problem.severity == severity);
        match (has(Severity::Failure), has(Severity::Limit)) {
            (true, _) => 1,
            (false, true) => 3,
            (false, false) => 0,
        }
    }
}

/// Runs a plan. An error means that there was no run and nothing is left behind.
pub fn run(options: &Options, prepared: &Prepared, tell: &mut dyn FnMut(&str)) -> Result<Finished, Error> {
    let plan = &prepared.plan;
    let system = |error: &dyn std::fmt::Display| Error::System(error.to_string());
    let layout = Layout::of(plan);
    let shared = SharedMemory::create("vecud", layout.words() * 8).map_err(|e| system(&e))?;
    let board = Board::new(shared.words(), &layout);
    let bytes = postcard::to_stdvec(plan).map_err(|e| system(&e))?;
    let plan_file = process::memory_file("vecud-plan", &bytes).map_err(|e| system(&e))?;
    let out = options.out.clone().unwrap_or_else(|| Path::new("vecud-out").join(&plan.rig));
    let output = Output::create(&out)?;
    let log = out.join(format!(".run-{}.log", std::process::id()));
    // Appended to by both processes, under one name after the other.
    let child = File::options().append(true).create_new(true).open(&log).map_err(Error::file(&log)).and_then(|file| {
        process::count_stop_signals().map_err(|e| system(&e))?;
        let program = options.runner.clone().unwrap_or_else(|| PathBuf::from("/proc/self/exe"));
        let mut command = Command::new(&program);
        // What FMU code prints must neither mix with results nor ever block it: it goes to a file.
        let copy = file.try_clone().map_err(Error::file(&log))?;
        command.arg0("vecud-runner").arg("runner").stdin(Stdio::null()).stdout(file).stderr(copy);
        let files = [shared.file(), plan_file.as_fd()];
        debug_assert_eq!((SHARED_MEMORY_FD, PLAN_FD), (3, 4));
        process::spawn_with(command, &files)
            .map_err(|error| Error::System(format!("cannot start the runner {}: {error}", program.display())))
    });
    let child = match child {
        Ok(child) => child,
        Err(error) => {
            let _ = std::fs::remove_file(&log);
            output.undo();
            return Err(error);
        }
    };
    let cpus: Vec<usize> = plan.tasks.iter().map(|task| task.cpu).collect();
    if plan.mode == Mode::RealTime
        && let Err(error) = affinity::keep_off(&cpus)
    {
        tell(&error.to_string());
    }
    let mut recorder = Recorder::new(plan, &prepared.descriptions, board);
    let started = SystemTime::now();
    let (recording, killed) = (false, None);
    let mut supervision = Supervision { options, prepared, board, output, log, recording, child, killed, tell };
    let status = supervision.watch(&mut recorder);
    let gone = monotonic_now();
    let Supervision { output, recording, log, killed, .. } = supervision;
    let status = match status {
        Ok(status) => status,
        Err(error) => {
            let _ = std::fs::remove_file(&log);
            output.undo();
            return Err(error);
        }
    };
    for line in recorder.drain(true).into_iter().filter(|_| recording) {
        tell(&line.1);
    }
    // A runner that cannot even read its plan says so by its exit code; FMU code may call exit(2) as well.
    let exit_called = board.global(Global::ExitCalled).load(SeqCst) == 1;
    if board.phase() == Phase::Refused || (!recording && !exit_called && status.code() == Some(2)) {
        let printed = std::fs::read_to_string(&log).unwrap_or_default();
        let _ = std::fs::remove_file(&log);
        output.undo();
        return Err(Error::Refused(refusal(&recorder, &printed)));
    }
    if !recording {
        // It failed while it was initialised: that is a result, with a report.
        begin(&output, &log, &mut recorder, prepared, tell)?;
        recorder.drain(true);
    }
    let late = recorder.close();
    let facts = Facts { status, killed, started, gone, late_samples: late, machine: machine::look(&cpus) };
    let mut run = collect::collect(prepared, board, &recorder, &facts);
    if let Err(message) = output.write(&run) {
        run.problems.push(crate::report::Problem {
            severity: Severity::Failure,
            message: format!("the report is incomplete: {message}"),
        });
    }
    Ok(Finished { run, out })
}

/// The run begins: from here on there will be files.
fn begin(
    output: &Output,
    log: &Path,
    recorder: &mut Recorder,
    prepared: &Prepared,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    prepared.plan.notes.iter().for_each(|note| tell(&format!("note: {note}")));
    output.clear(log)?;
    output.reserve(prepared.plan.tasks.len());
    let name = output.path().join("run.log");
    std::fs::rename(log, &name).map_err(Error::file(&name))?;
    recorder.open(output.path());
    Ok(())
}

/// Why there was no run: the runner's reason, and below it what the FMUs have logged and printed.
fn refusal(recorder: &Recorder, printed: &str) -> Vec<String> {
    let errors = recorder.host_lines.iter().filter(|(status, _)| *status >= 3);
    let mut reason: String = errors.map(|(_, text)| text.trim_start_matches("vecud: error: ")).collect();
    let logged = recorder.last_lines.iter().flatten().map(String::as_str);
    let words: Vec<&str> = logged.chain(printed.lines()).collect();
    if reason.is_empty() {
        return words.into_iter().map(str::to_owned).collect();
    }
    if !words.is_empty() {
        reason += "; it says:";
    }
    std::iter::once(reason).chain(words.iter().map(|line| format!("    {line}"))).collect()
}

struct Supervision<'a> {
    options: &'a Options,
    prepared: &'a Prepared,
    board: Board<'a>,
    output: Output,
    log: PathBuf,
    recording: bool,
    child: Child,
    killed: Option<Killed>,
    tell: &'a mut dyn FnMut(&str),
}

impl Supervision<'_> {
    fn watch(&mut self, recorder: &mut Recorder) -> Result<ExitStatus, Error> {
        let mut progress = Progress::new(&self.prepared.plan, self.options.quiet);
        let mut deadline = None;
        let mut told_before_start = Vec::new();
        let status = loop {
            let status = self.child.try_wait().map_err(|error| Error::System(error.to_string()))?;
            if !self.recording && self.board.phase() >= Phase::Running && self.board.phase() != Phase::Refused {
                if let Err(error) = begin(&self.output, &self.log, recorder, self.prepared, self.tell) {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return Err(error);
                }
                self.recording = true;
                told_before_start.drain(..).for_each(|line: String| (self.tell)(&line));
            }
            for (_, line) in recorder.drain(false) {
                progress.clear();
                if self.recording { (self.tell)(&line) } else { told_before_start.push(line) }
            }
            if let Some(status) = status {
                break status;
            }
            self.end_it(&mut deadline);
            if self.recording {
                progress.draw(self.board);
            }
            std::thread::sleep(LOOK);
        };
        progress.clear();
        if self.board.phase() != Phase::Refused {
            told_before_start.drain(..).for_each(|line| (self.tell)(&line));
        }
        Ok(status)
    }

    /// SIGINT or SIGTERM ask the runner for an end; a second one, or too long a wait once it is ending, ends it the hard
    /// way.
    fn end_it(&mut self, deadline: &mut Option<i64>) {
        let signals = process::stop_signals();
        if signals > 0 {
            self.board.global(Global::StopRequest).store(1, SeqCst);
        }
        if signals == 0 && self.board.phase() != Phase::Stopping {
            return;
        }
        let timeout = self.prepared.plan.shutdown_timeout.0;
        let deadline = *deadline.get_or_insert(monotonic_now() + 2 * timeout + GRACE);
        let reason = match signals {
            0 | 1 if monotonic_now() <= deadline => return,
            0 | 1 => Killed::Late,
            _ => Killed::AskedTwice,
        };
        self.killed.get_or_insert(reason);
        let _ = self.child.kill();
    }
}

/// The signal that ended a process, for people.
pub(super) fn signal_name(status: ExitStatus) -> Option<String> {
    let signal = nix::sys::signal::Signal::try_from(status.signal()?);
    Some(signal.map_or_else(|_| format!("signal {}", status.signal().unwrap_or(0)), |signal| signal.to_string()))
}

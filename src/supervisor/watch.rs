//! Starts the runner and stays with it until it is gone; between several runs, tidies up for the next.

use super::calls::{Calls, Place, Verdict};
use super::collect::{self, Facts};
use super::death;
use super::earlier::Earlier;
use super::files::{Output, alone};
use super::machine;
use super::memory::Memory;
use super::offspring::Left;
use super::over_time::Watched;
use super::progress::Progress;
use super::recorder::Recorder;
use super::sockets::Sockets;
use super::stimuli::{self, Feeder};
use super::teller::{Teller, telling};
use super::threads::Threads;
use super::tracer::Tracer;
use super::{Control, Error, Options, Prepared, saved};
use crate::files;
use crate::plain::Plain;
use crate::plan::{Mode, Plan};
use crate::record::board::{Board, Global, Known, Layout, OutsideCall, Phase};
use crate::report::{self, Kind, Problem, Run, Subject};
use crate::runner::{FIRST_SOCKET_FD, JOB_FD, Job, SHARED_MEMORY_FD, STATE_FD};
use crate::snapshot::Snapshot;
use crate::sys::crash::ask_where_it_is;
use crate::sys::offspring::{self, Offspring};
use crate::sys::shared_memory::SharedMemory;
use crate::sys::wake::monotonic_now;
use crate::sys::{affinity, confine, process};
use std::fs::File;
use std::io::stderr;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant, SystemTime};

/// What the runner may take to come to its end, beyond the rig's `shutdown_timeout` for its partitions and as much again
/// for ending its FMUs.
const GRACE: i64 = 1_000_000_000;

/// The memory shared with the runner, and what says how it is laid out.
pub(super) struct Shared {
    /// The plan of the run.
    pub plan: Plan,
    memory: SharedMemory,
    layout: Layout,
    /// The end was asked for, whatever the memory says.
    stopped: AtomicBool,
}

impl Shared {
    fn create(plan: &Plan) -> Result<Arc<Shared>, Error> {
        let layout = Layout::of(plan);
        process::outlive_file_size_limit().map_err(|e| Error::System(e.to_string()))?;
        let memory = SharedMemory::create("vecud", layout.words() * 8).map_err(|e| Error::System(e.to_string()))?;
        Ok(Arc::new(Shared { plan: plan.clone(), memory, layout, stopped: AtomicBool::new(false) }))
    }

    /// The shared memory, seen through its layout.
    pub fn board(&self) -> Board<'_> {
        Board::new(self.memory.words(), &self.layout)
    }

    /// Asks the runner for the end.
    pub fn ask_to_stop(&self) {
        self.stopped.store(true, SeqCst);
        self.board().global(Global::StopRequest).store(1, SeqCst);
    }
}

/// Why the runner's process was ended by force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    /// It took too long to come to its end.
    Late,
    /// The user has asked twice.
    AskedTwice,
    /// A call, at this place, did not return within the rig's `call_timeout`.
    Overdue(Place),
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
        report::exit_code(&self.run)
    }
}

/// Who hears of what happens in a run, line by line, on another thread; who takes his time about it does not hold up the run.
pub type Tell<'a> = &'a mut (dyn FnMut(&str) + Send);

/// Runs a plan, once or as often as asked for. An error means that there was no run and nothing is left behind.
pub fn run(options: &Options, prepared: &Prepared, tell: Tell) -> Result<Vec<Finished>, Error> {
    run_with(options, prepared, tell, |_| ())
}

/// [`run`], and `begin` gets what sets values while the run goes on: before it starts, so what is sent then is set before
/// the first activation. The plan must be one for that ([`Options::control`]), or nothing can be set. Of several runs the
/// one that comes to it sets a value.
pub fn run_with(
    options: &Options,
    prepared: &Prepared,
    tell: Tell,
    begin: impl FnOnce(Control),
) -> Result<Vec<Finished>, Error> {
    let shared = Shared::create(&prepared.plan)?;
    let control = Control::new(shared.clone(), prepared.resumed.as_ref());
    begin(control.clone());
    let result = supervise(options, prepared, tell, &shared, &control);
    control.close();
    result
}

fn supervise(
    options: &Options,
    prepared: &Prepared,
    tell: Tell,
    shared: &Arc<Shared>,
    control: &Control,
) -> Result<Vec<Finished>, Error> {
    let plan = &prepared.plan;
    let system = |error: &dyn std::fmt::Display| Error::System(error.to_string());
    if let Some(file) = &options.save_state {
        saved::may_be_written(file)?;
    }
    // From here on there is something to be removed, whoever asks for the end.
    process::count_stop_signals().map_err(|e| system(&e))?;
    let sockets = Sockets::bind(prepared)?;
    let board = shared.board();
    let folder = options.out.clone().unwrap_or_else(|| Path::new("vecud-out").join(&plan.rig));
    stimuli::may_write(&folder, prepared)?;
    let out = match options.repeat {
        Some(_) => folder.join(Job::folder_of(1)),
        None => folder.clone(),
    };
    let job = Job {
        plan: plan.clone(),
        supervisor: std::process::id(),
        begin: prepared.begin(),
        runs: options.repeat.unwrap_or(1),
        folder: std::path::absolute(&folder).map_err(Error::file(&folder))?.into_os_string().into_encoded_bytes(),
        save_state: options.save_state.is_some(),
    };
    let bytes = postcard::to_stdvec(&job).map_err(|e| system(&e))?;
    let job_file = process::memory_file("vecud-job", &bytes).map_err(|e| system(&e))?;
    let resumed = prepared.resumed.as_ref().map(Snapshot::to_bytes).transpose().map_err(|e| system(&e))?;
    let state = process::memory_file("vecud-state", &resumed.unwrap_or_default()).map_err(|e| system(&e))?;
    // The runner finds the first rows there. Before anything is made, since it takes a while to find a late beginning.
    let feeder = Feeder::new(shared, prepared);
    let mut output = if out == folder { Output::create(&out)? } else { Output::create_inside(&out)? };
    // Several runs share a folder that is theirs alone, so that reports of two commands do not mix.
    let whole = options.repeat.map(|_| super::files::lock(&folder)).transpose();
    let ready = whole.and_then(|lock| {
        let earlier = Earlier::find(&folder, &out, &[])?;
        output.take_room(plan, earlier.size())?;
        Ok(lock)
    });
    let _whole = match ready {
        Ok(lock) => lock,
        Err(error) => {
            output.undo();
            return Err(error);
        }
    };
    let log = out.join(format!(".run-{}.log", std::process::id()));
    let mark = offspring::mark();
    let adopts = options.own_process.then(offspring::adopt);
    let open_to_others = if options.own_process { confine::close_memory().err() } else { None };
    // Appended to by both processes, under one name after the other.
    let child = File::options().append(true).create_new(true).open(&log).map_err(Error::file(&log)).and_then(|file| {
        let program = options.runner.clone().unwrap_or_else(|| PathBuf::from("/proc/self/exe"));
        let mut command = Command::new(&program);
        // What FMU code prints must neither mix with results nor ever block it: it goes to a file.
        let copy = file.try_clone().map_err(Error::file(&log))?;
        command.arg0("vecud-runner").arg("runner").stdin(Stdio::null()).stdout(file).stderr(copy);
        let mut files = vec![shared.memory.file(), job_file.as_fd(), state.as_fd()];
        files.extend(sockets.descriptors());
        debug_assert_eq!((SHARED_MEMORY_FD, JOB_FD, STATE_FD, FIRST_SOCKET_FD), (3, 4, 5, 6));
        process::spawn_with(command, &files, mark)
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
    let own = adopts.as_ref().is_some_and(Result::is_ok).then(|| Offspring::of(child.id(), mark));
    let cpus: Vec<usize> = plan.tasks.iter().map(|task| task.cpu).collect();
    if plan.mode == Mode::RealTime {
        // Whoever cannot choose his cores cannot choose those of partitions either, and the runner says that.
        let _said_by_the_runner = affinity::keep_off(&cpus);
    }
    let mut recorder = Recorder::new(plan, &prepared.descriptions, board, Some(control.clone()));
    if let Some(error) = open_to_others {
        recorder.say(1, format!("FMU CODE CAN READ AND CHANGE THE MEMORY OF VECUD, its reports included: {error}"));
    }
    if let Some(Err(error)) = adopts {
        recorder.say(1, format!("PROCESSES THAT FMU CODE STARTS MAY OUTLIVE THE RUN: {error}"));
    }
    let tracer = Tracer::new(plan, board, prepared.begin());
    let (started, state) = (SystemTime::now(), File::from(state));
    let (recording, killed, obstacle, began) = (false, None, None, monotonic_now());
    // From here on, so that the thread that tells is where this one is.
    telling(tell, &mut stderr(), |teller| {
        let supervision = Supervision {
            options,
            prepared,
            shared,
            feeder,
            board,
            control,
            folder,
            output,
            log,
            recording,
            phase: Phase::Loading,
            began,
            recorder,
            tracer,
            over_time: Watched::new(plan),
            started,
            threads: Threads::of(child.id()),
            memory: Memory::of(child.id(), plan),
            child,
            offspring: own,
            left: Vec::new(),
            none_left: true,
            sockets,
            told_of_the_process: Vec::new(),
            killed,
            obstacle,
            state,
            cpus,
            teller,
        };
        let result = supervision.runs();
        // Now, and not when everything was read.
        control.close();
        result
    })
}

/// The run begins: from here on there will be files.
fn begin(
    output: &mut Output,
    folder: &Path,
    log: &Path,
    recorder: &mut Recorder,
    prepared: &Prepared,
    teller: &Teller,
) -> Result<(), Error> {
    prepared.plan.notes.iter().for_each(|note| teller.say(&format!("note: {}", Plain(note))));
    clear(output, folder, log, |note| teller.say(note))?;
    output.take_room(&prepared.plan, 0)?;
    let name = output.path().join("run.log");
    std::fs::rename(log, &name).map_err(Error::file(&name))?;
    recorder.open(output.path());
    Ok(())
}

/// Removes what earlier commands have left in `folder`, but not what this run has made in it.
fn clear(output: &Output, folder: &Path, log: &Path, tell: impl FnOnce(&str)) -> Result<(), Error> {
    let made: Vec<PathBuf> = output.room().chain([log.to_owned()]).collect();
    let earlier = Earlier::find(folder, output.path(), &made)?;
    if let Some(note) = earlier.note() {
        tell(&note);
    }
    earlier.remove()
}

struct Supervision<'a> {
    options: &'a Options,
    prepared: &'a Prepared,
    shared: &'a Arc<Shared>,
    feeder: Feeder,
    board: Board<'a>,
    control: &'a Control,
    /// Of all runs.
    folder: PathBuf,
    /// Of this one.
    output: Output,
    log: PathBuf,
    recording: bool,
    /// How far the run is: only forwards, whatever the memory says.
    phase: Phase,
    /// When the process was started, CLOCK_MONOTONIC in ns.
    began: i64,
    recorder: Recorder<'a>,
    tracer: Tracer<'a>,
    over_time: Watched,
    started: SystemTime,
    child: Child,
    threads: Threads,
    memory: Memory,
    /// What the runner's process leaves behind, if that is ours to end.
    offspring: Option<Offspring>,
    left: Vec<Left>,
    none_left: bool,
    sockets: Sockets,
    /// What the runner has said before the first of several runs: true of the others too.
    told_of_the_process: Vec<(u8, String)>,
    killed: Option<Killed>,
    /// Why there is no further run although there should be.
    obstacle: Option<String>,
    state: File,
    cpus: Vec<usize>,
    teller: &'a Teller,
}

/// How watching a run ends.
enum Ended {
    /// The process has left.
    Process(ExitStatus),
    /// The process waits for the next run, whose output folder is ready.
    Run(Output),
}

impl<'a> Supervision<'a> {
    fn runs(mut self) -> Result<Vec<Finished>, Error> {
        let mut finished = Vec::new();
        self.start_feeding();
        loop {
            let ended = match self.watch(finished.len() as u32 + 1) {
                Ok(ended) => ended,
                Err(error) => {
                    self.end_offspring();
                    let _ = std::fs::remove_file(&self.log);
                    self.output.undo();
                    return Err(error);
                }
            };
            self.look_how_far_it_is(finished.len() as u32 + 1);
            let gone = monotonic_now();
            if matches!(ended, Ended::Process(_)) {
                self.end_offspring();
            }
            for line in self.recorder.drain(true).into_iter().filter(|_| self.recording) {
                self.teller.say(&line.1);
            }
            match ended {
                Ended::Process(status) => {
                    let (number, runs) = (finished.len() as u32 + 1, self.options.repeat.unwrap_or(1));
                    if number < runs && !self.shared.stopped.load(SeqCst) && self.obstacle.is_none() {
                        self.teller.say(&format!("no further run of {runs}, since run {number} has failed"));
                    }
                    finished.push(self.end(status, gone, number)?);
                    return Ok(finished);
                }
                Ended::Run(next) => {
                    let number = finished.len() as u32 + 1;
                    finished.push(self.collect(ExitStatus::from_raw(0), gone, number));
                    self.recorder = Recorder::new(
                        &self.prepared.plan,
                        &self.prepared.descriptions,
                        self.board,
                        Some(self.control.clone()),
                    );
                    self.output = next;
                    self.recorder.open(self.output.path());
                    self.tracer.open(self.output.path());
                    self.started = SystemTime::now();
                    self.control.next_run();
                    self.feeder = Feeder::new(self.shared, self.prepared);
                    self.start_feeding();
                    self.threads = Threads::of(self.child.id());
                    self.board.next_run();
                    self.phase = Phase::Initialising;
                }
            }
        }
    }

    /// Ends what the runner's process has left behind.
    fn end_offspring(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(2);
        let Some(offspring) = self.offspring else { return };
        self.none_left = offspring.end(PATIENCE, |process| self.left.push(Left::of(&self.prepared.plan, process)));
    }

    fn start_feeding(&mut self) {
        if let Err(error) = self.feeder.start() {
            self.teller.say(&format!(
                "warning: there is no thread for reading stimuli ({error}): they are read where rows and events are collected"
            ));
        }
    }

    /// The last run is over, and its process with it.
    fn end(mut self, status: ExitStatus, gone: i64, number: u32) -> Result<Finished, Error> {
        // A runner that cannot even read its job says so by its exit code; FMU code may call exit(2) as well.
        let exit_called = self.board.global(Global::ExitCalled).load(SeqCst) == 1;
        if self.phase == Phase::Refused || (!self.recording && !exit_called && status.code() == Some(2)) {
            let printed = files::read_to_string(&self.log).unwrap_or_default();
            let _ = std::fs::remove_file(&self.log);
            self.output.undo();
            return Err(Error::Refused(self.recorder.refusal(&printed)));
        }
        if !self.recording {
            // It failed while it was initialised: that is a result, with a report.
            begin(&mut self.output, &self.folder, &self.log, &mut self.recorder, self.prepared, self.teller)?;
            self.tracer.open(self.output.path());
            self.recorder.drain(true);
        }
        Ok(self.collect(status, gone, number))
    }

    /// What the run has left becomes its report.
    fn collect(&mut self, status: ExitStatus, gone: i64, number: u32) -> Finished {
        let late = self.recorder.close();
        self.tracer.look(&mut || ()); // figures of the last activations are still notes
        let (strict, machine) = (self.options.strict, machine::look(&self.cpus));
        let (killed, started) = (self.killed, self.started);
        let shared = Arc::clone(self.shared);
        // What is read of it is what was looked at, whoever goes on writing. Without memory for it, of what is there.
        let copy = SharedMemory::create("vecud-copy", shared.layout.words() * 8).ok();
        let board = copy.as_ref().map_or(self.board, |copy| Board::new(copy.words(), &shared.layout));
        if copy.is_some() {
            self.board.copy_to(board);
        }
        let known = Known {
            elapsed: gone.saturating_sub(self.began).max(1_000_000_000) as u64,
            phase: self.phase,
            stop_requested: shared.stopped.load(SeqCst),
        };
        let mut damage = board.examine(&self.prepared.plan, known);
        damage.extend(self.recorder.damage.iter().cloned());
        damage.extend(self.tracer.damage());
        let dropped = self.sockets.dropped(board);
        for line in &self.told_of_the_process {
            if !self.recorder.host_lines.contains(line) {
                self.recorder.host_lines.push(line.clone());
            }
        }
        let threads = std::mem::take(&mut self.threads);
        let (left, none_left) = (std::mem::take(&mut self.left), self.none_left);
        let (repetition, stimuli) = (self.options.repeat.map(|_| number), self.feeder.finish());
        let facts = Facts {
            status,
            killed,
            started,
            gone,
            strict,
            late_samples: late,
            dropped,
            stimuli,
            repetition,
            machine,
            threads,
            left,
            none_left,
            memory: self.memory,
        };
        let mut run = collect::collect(self.prepared, board, &self.recorder, &facts);
        let failed = |kind| Problem::failure(Subject::Run, kind);
        run.problems.extend((!damage.is_empty()).then(|| failed(Kind::MemoryOverwritten(damage))));
        let obstacle = self.obstacle.clone();
        run.problems.extend(obstacle.map(|reason| failed(Kind::NoFurtherRun { reason: reason.to_string() })));
        // Whatever comes of the rest, this is there.
        let first = self.output.write_json(&run);
        let next = Tracer::new(&self.prepared.plan, self.board, self.prepared.begin());
        let tracer = std::mem::replace(&mut self.tracer, next);
        match alone(|| tracer.finish(gone)) {
            Ok((trace, warnings, lost)) => {
                run.trace = trace;
                run.problems.extend(lost.into_iter().map(|words| failed(Kind::FileIncomplete { words })));
                let warning = |words| Problem::warning(Subject::Run, Kind::TraceShortened { words });
                run.problems.extend(warnings.into_iter().map(warning));
            }
            Err(reason) => run.problems.push(failed(Kind::TraceIncomplete { reason })),
        }
        run.clocks.iter_mut().zip(self.over_time.finish(self.board)).for_each(|(clock, own)| {
            // Of a histogram that was written over nothing is shown.
            let kept = own.filter(|_| clock.start_latency.count() > 0 && clock.response.count() > 0);
            clock.over_time = kept;
        });
        if let Some(file) = &self.options.save_state {
            saved::write(file, &mut self.state, &self.recorder, &mut run, self.teller);
        }
        self.output.write(&mut run, first);
        Finished { run, out: self.output.path().to_owned() }
    }

    /// The output folder of a further run, with an empty log.
    fn next_output(&self, number: u32) -> Result<Output, Error> {
        let path = self.folder.join(Job::folder_of(number));
        let mut output = Output::create_inside(&path)?;
        let log = path.join("run.log");
        // What others have put there since the first run began.
        let made = clear(&output, &path, &log, |_| ())
            .and_then(|()| output.take_room(&self.prepared.plan, 0))
            .and_then(|()| files::create(&log).map(drop).map_err(Error::file(&log)));
        if let Err(error) = made {
            output.undo();
            return Err(error);
        }
        Ok(output)
    }

    fn watch(&mut self, number: u32) -> Result<Ended, Error> {
        let mut progress = Progress::new(&self.prepared.plan, self.options.quiet);
        let mut deadline = None;
        let mut calls = Calls::new(&self.prepared.plan);
        let mut told_before_start = Vec::new();
        let ended = loop {
            let status = self.try_wait()?;
            let phase = self.look_how_far_it_is(number);
            if !self.recording && phase >= Phase::Running && phase != Phase::Refused {
                if let Err(error) =
                    begin(&mut self.output, &self.folder, &self.log, &mut self.recorder, self.prepared, self.teller)
                {
                    self.end_runner();
                    return Err(error);
                }
                self.recording = true;
                self.tracer.open(self.output.path());
                self.told_of_the_process = self.recorder.host_lines.clone();
                told_before_start.drain(..).for_each(|line: String| self.teller.say(&line));
            }
            let (mut lines, now) = (Vec::new(), monotonic_now()); // the tracer reads what was noted before
            for (status, message) in self.threads.look(&self.prepared.plan, self.board, now) {
                self.recorder.say(status, message);
            }
            self.tracer.look(&mut || lines.append(&mut self.recorder.drain(false)));
            lines.append(&mut self.recorder.drain(false));
            for (_, line) in lines {
                if self.recording { self.teller.say(&line) } else { told_before_start.push(line) }
            }
            self.memory.look(now);
            if self.offspring.is_some() {
                offspring::reap(self.child.id());
            }
            if let Some(status) = status {
                break Ended::Process(status);
            }
            if phase == Phase::Between {
                let next = if process::stop_signals() > 0 { None } else { Some(self.next_output(number + 1)) };
                match next {
                    Some(Ok(output)) => break Ended::Run(output),
                    Some(Err(error)) => self.obstacle = Some(error.to_string()),
                    None => (),
                }
                self.board.set_phase(Phase::Stopping);
                self.phase = Phase::Stopping;
            }
            self.end_it(&mut deadline);
            self.look_at_calls(&mut calls, now);
            self.feeder.read();
            if self.phase <= Phase::Running {
                self.sockets.look();
            }
            if self.recording {
                self.over_time.look(self.board, now);
                progress.draw(self.board, self.teller);
            }
            self.threads.pause(self.board, self.recorder.pace().pause(self.tracer.pace()));
        };
        self.teller.draw(String::new());
        if self.phase != Phase::Refused {
            told_before_start.drain(..).for_each(|line| self.teller.say(&line));
        }
        Ok(ended)
    }

    /// How the runner has ended, if it has.
    fn try_wait(&mut self) -> Result<Option<ExitStatus>, Error> {
        let status = process::try_wait(&mut self.child).map_err(|error| Error::System(error.to_string()))?;
        if status.is_none() && offspring::is_kept_by_a_tracer(self.child.id()) {
            // Only FMU code has made one of these its tracer, or this process.
            process::let_threads_go(self.child.id());
            self.end_offspring();
        }
        Ok(status)
    }

    /// Ends the runner, of which there are no results.
    fn end_runner(&mut self) {
        let _ = self.child.kill();
        while matches!(self.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The runner's word for it, where that is one that can follow what it was: FMU code can write anywhere.
    fn look_how_far_it_is(&mut self, number: u32) -> Phase {
        let (said, before) = (self.board.phase(), self.phase);
        let follows = match said {
            Phase::Refused => before <= Phase::Initialising,
            Phase::Between => before <= Phase::Stopping && number < self.options.repeat.unwrap_or(1),
            _ => said > before && before <= Phase::Stopping,
        };
        if follows {
            self.phase = said;
        }
        self.phase
    }

    /// SIGINT and the like ask the runner for an end; a second one, or too long a wait once it is ending, ends it the hard
    /// way.
    fn end_it(&mut self, deadline: &mut Option<i64>) {
        let signals = process::stop_signals();
        if signals > 0 {
            self.shared.ask_to_stop();
        }
        let ends = matches!(self.phase, Phase::Stopping | Phase::Done | Phase::Refused);
        if signals == 0 && !ends {
            return;
        }
        let timeout = self.prepared.plan.shutdown_timeout.0;
        let deadline = *deadline.get_or_insert(monotonic_now() + 2 * timeout + GRACE);
        let reason = match signals {
            0 | 1 if monotonic_now() <= deadline => return,
            0 | 1 => Killed::Late,
            _ => Killed::AskedTwice,
        };
        self.kill(reason);
    }

    /// Ends the runner the hard way. Of the destructors of several libraries only itself can tell in which one it is.
    fn kill(&mut self, reason: Killed) {
        /// A process that runs answers within microseconds; one that does not is stopped, or has blocked the signal.
        const PATIENCE: Duration = Duration::from_millis(100);
        if self.killed.is_none() && self.board.outside_call().function == OutsideCall::UNLOADING {
            ask_where_it_is(self.child.id());
            let asked = Instant::now();
            while self.board.global(Global::CrashCode).load(SeqCst) == 0 && asked.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.killed.get_or_insert(reason);
        let _ = self.child.kill();
    }

    /// A call that lasts is told of, and ended when the rig says so.
    fn look_at_calls(&mut self, calls: &mut Calls, now: i64) {
        let plan = &self.prepared.plan;
        match calls.look(plan, self.board, self.child.id(), now) {
            None => (),
            Some(Verdict::Tell(place, seconds)) => {
                let end = match plan.call_timeout {
                    Some(limit) => format!("; the run ends after {} s (rig: call_timeout)", limit.seconds()),
                    None => String::new(),
                };
                let what = death::has_been(plan, self.board, place);
                self.teller.say(&format!("warning: {what} for {seconds} s{end}"));
            }
            Some(Verdict::Over(place)) => self.kill(Killed::Overdue(place)),
        }
    }
}

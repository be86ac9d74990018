//! A session from beginning to end: starts the runner and watches it until it is gone; prepares the next of several
//! runs.

use super::calls::{self, CallLocation, CallWatcher};
use super::collect;
use super::cores::CoreUsage;
use super::death;
use super::earlier::PreviousRuns;
use super::facts::RunFacts;
use super::feeder::Feeder;
use super::files::{self, OutputFolder, alone};
use super::finished::Finished;
use super::hangs::{self, GivenUp, HangAction, Hangs, Overdue};
use super::keeper::{CheckpointResult, CheckpointWriter, Sight};
use super::kernel::{self, KernelTracer};
use super::machine;
use super::memory::Memory;
use super::over_time::IntervalMaxima;
use super::process::{Killed, RunnerProcess};
use super::recorder::Recorder;
use super::shared::SharedRig;
use super::slices::Slices;
use super::sockets::Sockets;
use super::threads::ThreadWatcher;
use super::tracer::Tracer;
use super::{Control, Error, EventSink, Options, Prepared, SessionEvent, SessionState};
use super::{releases, saved, stimuli, under_way};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Instant, SystemTime};
use vecud_base::plain::Plain;
use vecud_description::bytes;
use vecud_description::word;
use vecud_description::{Values, VariableType};
use vecud_linux::files::Folder;
use vecud_linux::wake::monotonic_now;
use vecud_linux::{affinity, process};
use vecud_plan::snapshot::Snapshot;
use vecud_plan::{Mode, OnError, Plan, SignalPlan};
use vecud_record::board::{Board, Global, Phase, SupervisorView};
use vecud_record::log::kind;
use vecud_record::recording::text;
use vecud_report::format::{significant, some};
use vecud_report::{DoctorResult, Kind, Live, LiveValue, Problem, Subject};
use vecud_runner::{FIRST_SOCKET_FD, FOLDER_FD, JOB_FD, Job, SHARED_MEMORY_FD, STATE_FD};

/// Additional time for the runner to end, beyond the rig's `shutdown_timeout` for its partitions and the same again for
/// ending its FMUs.
const GRACE: i64 = 1_000_000_000;

/// Does all work of a session. `started` is called as soon as there is a runner. If this thread belongs to the session,
/// it has left the cores of partitions by then. An error means that there was no run and nothing is left behind.
pub(super) fn supervise(
    shared: &Arc<SharedRig>,
    control: &Control,
    events: &EventSink,
    has_thread: bool,
    started: &dyn Fn(),
) -> Result<Vec<Finished>, Error> {
    let (prepared, plan, board) = (&shared.prepared, shared.plan(), shared.board());
    let options = &prepared.options;
    if let Some(file) = &options.save_state {
        saved::may_be_written(file)?;
    }
    let sockets = Sockets::bind(prepared)?;
    let folder = options.out.clone().unwrap_or_else(|| Path::new("vecud-out").join(&plan.rig));
    stimuli::may_write(&folder, &prepared.stimuli)?;
    let [job, state] = handed_over(prepared)?;
    // The runner finds the first rows there. Done before anything is made, since reading up to a late start time takes
    // a while.
    let feeder = Feeder::new(shared);
    let (output, folder, _whole) = first_output(options, plan, &folder)?;
    let log = output.folder().join(format!(".run-{}.log", std::process::id()));
    let mut files = vec![shared.file(), job.as_fd(), state.as_fd(), folder.as_fd()];
    files.extend(sockets.descriptors());
    debug_assert_eq!((SHARED_MEMORY_FD, JOB_FD, STATE_FD, FOLDER_FD, FIRST_SOCKET_FD), (3, 4, 5, 6, 7));
    let doctor = (plan.mode == Mode::RealTime).then(|| machine::examine(plan));
    // Both processes append to it, under changing names.
    let printed = File::options().append(true).create_new(true).open(&log);
    let printed = printed.map_err(Error::file(&output.folder().shown(&log)));
    let process = match printed.and_then(|printed| RunnerProcess::start(options, &files, printed)) {
        Ok(process) => process,
        Err(error) => {
            let _ = std::fs::remove_file(&log);
            output.undo();
            return Err(error);
        }
    };
    shared.set_runner(process.id());
    if has_thread && plan.mode == Mode::RealTime {
        // A process that cannot choose its cores cannot choose those of partitions either, which the runner reports.
        let _said_by_the_runner = affinity::keep_off(&plan.cores());
    }
    // From here on the owner of several sessions decides.
    started();
    let supervision = Supervision {
        shared,
        board,
        control,
        events,
        folder,
        log,
        memory: Memory::of(process.id(), plan),
        process,
        sockets,
        state: File::from(state),
        doctor,
        told_of_the_process: Vec::new(),
        obstacle: None,
    };
    if plan.mode == Mode::RealTime {
        for name in kernel::remove_stale() {
            events.say(format!("note: removed {name}, a trace of the kernel that a run which was killed has left"));
        }
    }
    let mut run = supervision.run(1, output, feeder);
    for warning in &options.warnings {
        run.recorder.say(1, kind::UNPROTECTED, warning.clone());
    }
    supervision.runs(run)
}

/// Files for the runner besides the shared memory: its job, and the state from which it continues.
fn handed_over(prepared: &Prepared) -> Result<[OwnedFd; 2], Error> {
    let system = |error: &dyn std::fmt::Display| Error::System(error.to_string());
    let job = Job {
        plan: prepared.plan.clone(),
        supervisor: std::process::id(),
        begin: prepared.begin(),
        runs: prepared.options.repeat.unwrap_or(1),
        has_folders: prepared.options.repeat.is_some(),
        save_state: prepared.options.save_state.is_some(),
        side_by_side: false,
        variants: Vec::new(),
    };
    let job = postcard::to_stdvec(&job).map_err(|e| system(&e))?;
    let resumed = prepared.resumed.as_ref().map(Snapshot::to_bytes).transpose().map_err(|e| system(&e))?;
    let file = |name, bytes: &[u8]| process::memory_file(name, bytes).map_err(|e| system(&e));
    Ok([file("vecud-job", &job)?, file("vecud-state", &resumed.unwrap_or_default())?])
}

/// Opens the folder of the (first) run and that of all runs, with the lock of the latter if it is another one, so that
/// reports of two commands do not mix.
fn first_output(options: &Options, plan: &Plan, path: &Path) -> Result<(OutputFolder, Folder, Option<File>), Error> {
    let (mut output, folder) = match options.repeat {
        Some(_) => OutputFolder::create_two(path, &Job::folder_of(1))?,
        None => {
            let output = OutputFolder::create(path, options.within.as_ref())?;
            let folder = output.folder().clone();
            (output, folder)
        }
    };
    let ready = options.repeat.map(|_| files::lock_held(&folder)).transpose().and_then(|lock| {
        let earlier = PreviousRuns::find(&folder, output.folder(), &[], plan.report.keep_runs)?;
        output.take_room(plan, earlier.size())?;
        earlier.make_room(&mut output)?;
        Ok(lock)
    });
    match ready {
        Ok(lock) => Ok((output, folder, lock)),
        Err(error) => {
            output.undo();
            Err(error)
        }
    }
}

/// Removes or moves the files of earlier commands in `folder`, except those made by this run. Returns notes for the
/// user.
fn clear(output: &OutputFolder, folder: &Folder, log: Option<&Path>, keep: usize) -> Result<Vec<String>, Error> {
    let made: Vec<PathBuf> = output.room().chain(log.map(Path::to_owned)).collect();
    PreviousRuns::find(folder, output.folder(), &made, keep)?.make_way()
}

/// State common to all runs of a session.
struct Supervision<'a> {
    shared: &'a Arc<SharedRig>,
    board: Board<'a>,
    control: &'a Control,
    events: &'a EventSink,
    /// The output folder of all runs.
    folder: Folder,
    /// File with the output of FMU code before the first run.
    log: PathBuf,
    process: RunnerProcess,
    memory: Memory,
    sockets: Sockets,
    /// File in which the runner leaves the state that it saves.
    state: File,
    /// Result of doctor before all runs; `None`: in virtual time.
    doctor: Option<DoctorResult>,
    /// Problems that the runner told of before the first of several runs: they apply to the others too.
    told_of_the_process: Vec<Problem>,
    /// Reason why a further run is impossible.
    obstacle: Option<String>,
}

/// One run of the rig.
struct OneRun<'a> {
    /// Number of the run, counted from 1.
    number: u32,
    started: SystemTime,
    /// Load of the machine before the start.
    load_at_start: Option<[f64; 3]>,
    /// Phase of the run: only increases, whatever the memory says.
    phase: Phase,
    /// The files of recording and trace are open.
    recording: bool,
    recorder: Recorder<'a>,
    tracer: Tracer<'a>,
    kernel: KernelTracer,
    over_time: IntervalMaxima,
    slices: Slices,
    feeder: Feeder,
    threads: ThreadWatcher,
    cores: CoreUsage,
    keeper: CheckpointWriter,
    hangs: Hangs,
    /// Last observed progress of an activation that must complete before the state is saved, CLOCK_MONOTONIC in ns.
    worked: i64,
    /// Dropped last: other fields hold paths into it.
    output: OutputFolder,
}

impl OneRun<'_> {
    /// Makes the files of recording and trace.
    fn open(&mut self) {
        let out = self.output.folder().way();
        self.recorder.open(&out);
        self.tracer.open(&out);
        self.recording = true;
    }
}

/// Result of watching a run.
enum Ended {
    /// The process has ended.
    Process(ExitStatus),
    /// The process waits for the next run, whose output folder is ready.
    Run(OutputFolder),
}

impl<'a> Supervision<'a> {
    fn options(&self) -> &'a Options {
        &self.shared.prepared.options
    }

    fn plan(&self) -> &'a Plan {
        self.shared.plan()
    }

    /// Number of runs.
    fn number_of_runs(&self) -> u32 {
        self.options().repeat.unwrap_or(1)
    }

    fn run(&self, number: u32, output: OutputFolder, feeder: Feeder) -> OneRun<'a> {
        let (prepared, plan) = (&self.shared.prepared, self.plan());
        let mut run = OneRun {
            number,
            output,
            started: SystemTime::now(),
            load_at_start: machine::load_now(),
            phase: if number == 1 { Phase::Loading } else { Phase::Initialising },
            recording: false,
            recorder: Recorder::new(plan, &prepared.descriptions, self.board, self.control.clone()),
            tracer: Tracer::new(plan, self.board, prepared.begin()),
            kernel: KernelTracer::new(plan),
            over_time: IntervalMaxima::new(plan),
            slices: Slices::new(plan),
            feeder,
            threads: ThreadWatcher::of(self.process.id()),
            cores: CoreUsage::new(plan),
            keeper: CheckpointWriter::new(plan.report.checkpoint),
            hangs: Hangs::new(plan),
            worked: 0,
        };
        if prepared.options.control {
            run.recorder = run.recorder.answering(&self.shared.questions);
        }
        if let Some(warning) = run.kernel.warning() {
            run.recorder.say(1, kind::TRACE_SHORTENED, warning);
        }
        run
    }

    fn runs(mut self, mut run: OneRun<'a>) -> Result<Vec<Finished>, Error> {
        let mut finished = Vec::new();
        loop {
            if let Err(error) = run.feeder.start() {
                self.events.warn(format_args!(
                    "there is no thread for reading stimuli ({error}): they are read where rows and events are collected"
                ));
            }
            let ended = match self.watch(&mut run) {
                Ok(ended) => ended,
                Err(error) => {
                    self.process.end_offspring(self.plan());
                    self.process.tell_of_the_left(self.plan(), self.events);
                    let _ = std::fs::remove_file(&self.log);
                    run.output.undo();
                    return Err(error);
                }
            };
            self.look_how_far_it_is(&mut run);
            let gone = monotonic_now();
            if matches!(ended, Ended::Process(_)) {
                self.process.end_offspring(self.plan());
            }
            for (status, line) in run.recorder.drain(run.phase, true).into_iter().filter(|_| run.recording) {
                self.events.say_as(status, line);
            }
            match ended {
                Ended::Process(status) => {
                    let (number, runs) = (run.number, self.number_of_runs());
                    if number < runs && !self.shared.is_stopped() && self.obstacle.is_none() {
                        self.events.say(format!("no further run of {runs}, since run {number} has failed"));
                    }
                    finished.push(self.end(run, status, gone)?);
                    return Ok(finished);
                }
                Ended::Run(next) => {
                    let number = run.number + 1;
                    finished.push(self.collect(run, ExitStatus::from_raw(0), gone));
                    self.control.next_run();
                    self.shared.forget_pauses();
                    run = self.run(number, next, Feeder::new(self.shared));
                    run.open();
                    self.board.next_run();
                }
            }
        }
    }

    /// Begins the run: from here on there are files.
    fn begin(&self, run: &mut OneRun) -> Result<(), Error> {
        for note in &self.plan().notes {
            self.events.say(format!("note: {}", Plain(note)));
        }
        for note in clear(&run.output, &self.folder, Some(&self.log), self.plan().report.keep_runs)? {
            self.events.say(note);
        }
        run.output.take_room(self.plan(), 0)?;
        let out = run.output.folder();
        let renamed = std::fs::rename(&self.log, out.join("run.log"));
        renamed.map_err(Error::file(&out.path().join("run.log")))?;
        run.open();
        Ok(())
    }

    /// Completes the last run, whose process has ended.
    fn end(&mut self, mut run: OneRun, status: ExitStatus, gone: i64) -> Result<Finished, Error> {
        // A runner that cannot even read its job reports that by its exit code; FMU code may call exit(2) as well.
        let exit_called = self.board.global(Global::ExitCalled).load(SeqCst) == 1;
        if run.phase == Phase::Refused || (!run.recording && !exit_called && status.code() == Some(2)) {
            let printed = vecud_linux::files::read_to_string(&self.log).unwrap_or_default();
            let _ = std::fs::remove_file(&self.log);
            run.output.undo();
            self.process.tell_of_the_left(self.plan(), self.events);
            return Err(Error::Refused(run.recorder.refusal(&printed)));
        }
        if !run.recording {
            // A failure during initialisation is a result, with a report.
            self.begin(&mut run)?;
            run.recorder.drain(run.phase, true);
        }
        Ok(self.collect(run, status, gone))
    }

    /// Makes the report of the run.
    fn collect(&mut self, mut run: OneRun, status: ExitStatus, gone: i64) -> Finished {
        let (shared, plan, options) = (self.shared, self.plan(), self.options());
        let kept = run.keeper.finish();
        self.tell_of(&mut run, kept);
        run.recorder.untold().into_iter().for_each(|(status, line)| self.events.say_as(status, line));
        let late_samples = run.recorder.close();
        run.tracer.look(&mut || ()); // figures of the last activations are still notes
        let first_over = || run.tracer.first_over(&run.hangs, gone);
        run.kernel.look(plan, &run.output.folder().way(), Phase::Done, first_over);
        // A copy is read, so that its content cannot change after the checks. Without memory for it, the original is
        // read.
        let copy = shared.another();
        let board = copy.as_ref().map_or(self.board, |copy| shared.seen(copy));
        if copy.is_some() {
            self.board.copy_to(board);
        }
        let known = SupervisorView {
            elapsed: gone.saturating_sub(self.process.began).max(1_000_000_000) as u64,
            phase: run.phase,
            stop_requested: shared.is_stopped(),
        };
        let mut damage = board.examine(plan, known);
        let did_not_return = self.process.killed.is_some()
            || [Global::HungTask, Global::StarvedTask].into_iter().any(|word| board.global(word).load(SeqCst) != 0);
        // A runner that is ended, or dies, has not reached the releases since its threads were seen last.
        let died = [Phase::Running, Phase::Stopping].contains(&board.phase())
            && board.global(Global::Ended).load(SeqCst) == 0
            && !did_not_return;
        let begin = shared.prepared.begin();
        if died {
            // The run has reached this point and no further.
            if board.phase() == Phase::Running {
                under_way::note_last_activation(plan, board, begin, gone);
            }
            board.set_phase(Phase::Stopping);
        }
        let mut unreturned = vec![None; plan.units.len()];
        if did_not_return || died {
            let all = under_way::count_discarded(plan, board, begin, gone);
            unreturned = if did_not_return { all } else { unreturned };
            releases::discard(plan, board);
        }
        run.hangs.record_overrun(board);
        damage.extend(run.recorder.damage.iter().cloned());
        damage.extend(run.tracer.damage());
        for problem in &self.told_of_the_process {
            if !run.recorder.problems.contains(problem) {
                run.recorder.problems.push(problem.clone());
            }
        }
        let facts = RunFacts {
            run_continues: false,
            has_run_log: true,
            exit_status: status,
            killed: self.process.killed,
            started: run.started,
            load_at_start: run.load_at_start,
            doctor: self.doctor.clone(),
            runner_ended: gone,
            phase: run.phase,
            strict: options.strict,
            late_samples,
            dropped_datagrams: self.sockets.dropped_at_end(board),
            pauses: shared.pauses(),
            repetition: options.repeat.map(|_| run.number),
            stimulus_faults: run.feeder.finish(),
            machine: machine::look(&plan.cores()),
            core_counts: run.cores.counts(),
            threads: run.threads,
            hangs: run.hangs,
            unreturned,
            call_limit: options.call_limit(),
            left_processes: std::mem::take(&mut self.process.left),
            memory: self.memory.clone(),
            left_processes_ended: self.process.none_left,
        };
        let mut report = collect::collect(&shared.prepared, board, &run.recorder.told(), &facts);
        let failed = |kind| Problem::failure(Subject::Run, kind);
        report.problems.extend((!damage.is_empty()).then(|| failed(Kind::MemoryOverwritten { names: damage })));
        let obstacle = self.obstacle.clone();
        report.problems.extend(obstacle.map(|reason| failed(Kind::NoFurtherRun { reason })));
        // This is on the disk even if the rest fails.
        let first = run.output.write_first(&report);
        match alone(|| run.tracer.finish(gone)) {
            Ok((trace, warnings, lost)) => {
                report.trace = trace;
                report.problems.extend(lost.into_iter().map(|text| failed(Kind::FileIncomplete { text })));
                let warning = |text| Problem::warning(Subject::Run, Kind::TraceShortened { text });
                report.problems.extend(warnings.into_iter().map(warning));
            }
            Err(reason) => report.problems.push(failed(Kind::TraceIncomplete { reason })),
        }
        match alone(|| run.kernel.finish(plan, &run.output.folder().way(), &mut report)) {
            Ok((warnings, lost)) => {
                report.problems.extend(lost.into_iter().map(|text| failed(Kind::FileIncomplete { text })));
                let warning = |text| Problem::warning(Subject::Run, Kind::TraceShortened { text });
                report.problems.extend(warnings.into_iter().map(warning));
            }
            Err(reason) => report.problems.push(failed(Kind::TraceIncomplete { reason })),
        }
        report.clocks.iter_mut().zip(run.over_time.finish(self.board)).for_each(|(clock, own)| {
            // An overwritten histogram is not shown.
            let kept = own.filter(|_| clock.start_latency.count() > 0 && clock.response.count() > 0);
            clock.over_time = kept;
        });
        run.slices.split(&mut report);
        if let Some(file) = &options.save_state {
            saved::write(file, &mut self.state, run.recorder.last_values(), &mut report, self.events);
        }
        report.overview = run.recorder.overview();
        run.output.write(&mut report, first, run.keeper.has_lasting());
        Finished { run: report, out: run.output.path().to_owned() }
    }

    /// Makes the output folder of a further run, with an empty log.
    fn next_output(&self, number: u32) -> Result<OutputFolder, Error> {
        let mut output = OutputFolder::create_inside(&self.folder, &Job::folder_of(number))?;
        let out = output.folder().clone();
        // Files that others have put there since the first run began.
        let made = clear(&output, &out, None, self.plan().report.keep_runs)
            .and_then(|_| output.take_room(self.plan(), 0))
            .and_then(|()| {
                vecud_linux::files::create(&out.join("run.log")).map_err(Error::file(&out.path().join("run.log")))
            });
        if let Err(error) = made {
            output.undo();
            return Err(error);
        }
        Ok(output)
    }

    fn watch(&mut self, run: &mut OneRun) -> Result<Ended, Error> {
        let plan = self.plan();
        let (mut ending, mut calls, mut shown) = (None, CallWatcher::new(plan), None);
        let mut told_before_start = Vec::new();
        let on_watch = self.shared.on_watch();
        let ended = loop {
            on_watch.look();
            let status = self.process.try_wait(plan)?;
            let phase = self.look_how_far_it_is(run);
            if !run.recording && phase >= Phase::Running && phase != Phase::Refused {
                if let Err(error) = self.begin(run) {
                    self.process.end(plan);
                    return Err(error);
                }
                self.told_of_the_process = run.recorder.problems.clone();
                told_before_start.drain(..).for_each(|(status, line)| self.events.say_as(status, line));
            }
            self.shared.set_state(state(phase, self.shared.is_paused()), self.events);
            run.cores.look(phase);
            let (mut lines, now) = (Vec::new(), monotonic_now()); // the tracer reads what was noted before
            for (status, kind, message) in run.threads.look(plan, self.board, now) {
                run.recorder.say(status, kind, message);
            }
            run.tracer.look(&mut || lines.append(&mut run.recorder.drain(phase, false)));
            lines.append(&mut run.recorder.drain(phase, false));
            for (status, line) in lines {
                if run.recording { self.events.say_as(status, line) } else { told_before_start.push((status, line)) }
            }
            self.shared.set_recorded(run.recorder.recorded());
            self.memory.look(self.board, now);
            if let Some(status) = status {
                break Ended::Process(status);
            }
            if phase == Phase::Between {
                let next = (!self.options().stop.is_asked()).then(|| self.next_output(run.number + 1));
                match next {
                    Some(Ok(output)) => break Ended::Run(output),
                    Some(Err(error)) => self.obstacle = Some(error.to_string()),
                    None => (),
                }
                self.board.set_phase(Phase::Stopping);
                run.phase = Phase::Stopping;
            }
            self.look_at_activations(run, now);
            let first_over = || run.tracer.first_over(&run.hangs, now);
            run.kernel.look(plan, &run.output.folder().way(), run.phase, first_over);
            self.end_it(run, &mut ending);
            self.look_at_calls(run.phase, &mut calls, now);
            run.feeder.read();
            if run.phase <= Phase::Running {
                self.shared.set_dropped(self.sockets.dropped(self.board));
            }
            if run.recording {
                run.over_time.look(self.board, now);
                run.slices.look(self.board, now);
                self.keep(run, now);
                self.show(&mut shown, &run.recorder);
            }
            let pause = run.recorder.pace().pause(run.tracer.pace());
            run.threads.pause(run.phase, self.board, self.shared.until_quiet(pause));
        };
        self.shared.set_state(SessionState::Over, self.events);
        if run.phase != Phase::Refused {
            told_before_start.drain(..).for_each(|(status, line)| self.events.say_as(status, line));
        }
        Ok(ended)
    }

    /// Takes the phase from the runner, if it can follow the known one: FMU code can overwrite it.
    fn look_how_far_it_is(&self, run: &mut OneRun) -> Phase {
        let (said, before) = (self.board.phase(), run.phase);
        let follows = match said {
            Phase::Refused => before <= Phase::Initialising,
            Phase::Between => before <= Phase::Stopping && run.number < self.number_of_runs(),
            _ => said > before && before <= Phase::Stopping,
        };
        if follows {
            run.phase = said;
        }
        run.phase
    }

    /// Writes a checkpoint, if it is due or requested.
    fn keep(&mut self, run: &mut OneRun, now: i64) {
        let kept = run.keeper.look();
        self.tell_of(run, kept);
        let is_report = self.shared.wants_report();
        if !run.keeper.is_due(now, is_report) {
            return;
        }
        self.shared.want_report(false);
        let sight = Sight {
            shared: self.shared.clone(),
            out: run.output.folder().clone(),
            told: run.recorder.told(),
            over_time: run.over_time.clone(),
            slices: run.slices.clone(),
            threads: run.threads.clone(),
            cores: run.cores.clone(),
            hangs: run.hangs.clone(),
            memory: self.memory.clone(),
            killed: self.process.killed,
            started: run.started,
            load_at_start: run.load_at_start,
            doctor: self.doctor.clone(),
            began: self.process.began,
            phase: run.phase,
            late_samples: run.recorder.late(),
            dropped: self.sockets.dropped(self.board),
            repetition: self.options().repeat.map(|_| run.number),
            is_report,
            lasts: run.keeper.is_lasting(),
            overview: if is_report { run.recorder.overview() } else { None },
        };
        if let Some(warning) = run.keeper.write(sight, now) {
            run.recorder.say(1, kind::FILE_INCOMPLETE, warning);
        }
    }

    /// Reports the result of a checkpoint.
    fn tell_of(&self, run: &mut OneRun, kept: Option<CheckpointResult>) {
        let Some(CheckpointResult { warning, report }) = kept else { return };
        if let Some(warning) = warning {
            run.recorder.say(1, kind::FILE_INCOMPLETE, warning);
        }
        let Some(failures) = report else { return };
        let out = run.output.path().display();
        self.events.say(match failures.as_slice() {
            [] => format!("the run goes on, its report so far: {out}/report.html"),
            failures => {
                format!("the run goes on; its report so far cannot be written to {out}: {}", failures.join("; "))
            }
        });
    }

    /// Reports the figures of the clocks, and watched values, when due.
    fn show(&self, shown: &mut Option<Instant>, recorder: &Recorder) {
        let Some(period) = self.options().figures else { return };
        if shown.is_none_or(|shown| shown.elapsed() >= period) {
            *shown = Some(Instant::now());
            let values = self.shared.prepared.watched.iter().map(|signal| {
                let SignalPlan { name, variable_type, .. } = &self.plan().signals[signal.0];
                let value = recorder.last_value(*signal);
                LiveValue { name: name.clone(), value: value.and_then(|value| live_text(&value, *variable_type)) }
            });
            self.events.tell(SessionEvent::Figures(Live { values: values.collect(), ..self.shared.live() }));
        }
    }

    /// Passes a request to end to the runner; kills the runner on a second request, or when ending takes too long.
    fn end_it(&mut self, run: &mut OneRun, ending: &mut Option<i64>) {
        let asked = self.options().stop.times();
        if asked > 0 {
            self.shared.ask_to_stop();
        }
        let ends = ending.is_some() || calls::is_ending(self.board, run.phase);
        if asked == 0 && !ends && !run.hangs.end_the_run(self.plan()) {
            return;
        }
        let now = monotonic_now();
        let (since, timeout) = (*ending.get_or_insert(now), self.plan().shutdown_timeout.0);
        // In virtual time the runner has no other thread besides the one that does not return.
        let no_progress_since = run.hangs.no_progress_since().filter(|_| run.phase == Phase::Running);
        let hung = no_progress_since.map_or(i64::MAX, |no_progress| no_progress.max(since) + timeout);
        // Activations under way complete before their state is saved, as long as they progress.
        let saves = self.options().save_state.is_some() && self.plan().mode == Mode::Virtual;
        if saves && run.phase == Phase::Running {
            run.worked = now;
        }
        let deadline = hung.min(since.max(run.worked) + 2 * timeout + GRACE);
        let reason = match asked {
            0 | 1 if now <= deadline => return,
            0 | 1 => Killed::Late,
            _ => Killed::AskedTwice,
        };
        self.process.kill(self.board, reason);
    }

    /// Reports activations that do not return; limits act while they run.
    fn look_at_activations(&self, run: &mut OneRun, now: i64) {
        let (plan, begin) = (self.plan(), self.shared.prepared.begin());
        let verdicts = run.hangs.look(plan, self.board, begin, run.phase, self.process.id(), now);
        self.shared.set_no_progress_since(run.hangs.no_progress_since());
        for verdict in verdicts {
            hangs::tell_the_runner(plan, self.board, &verdict);
            let place = |unit| death::has_been(plan, self.board, run.phase, CallLocation::Activation(unit));
            let line = match verdict {
                HangAction::Tell(unit, own, seconds) => {
                    let passed = own.passed.map_or(String::new(), |passed| {
                        format!("; {} of this clock found it still running", some(passed.count, "release"))
                    });
                    let recordings = match plan.signals.is_empty() {
                        true => String::new(),
                        false => format!("; recordings wait for it since {} s", own.time.seconds()),
                    };
                    format!("{} for {seconds} s{passed}{recordings}", place(unit))
                }
                HangAction::Overdue(Overdue { unit, time, .. }) => {
                    let (place, due) = (place(unit), time.seconds());
                    format!("{place} since before the next release, at {due} s: the run ends (rig: overrun = \"stop\")")
                }
                HangAction::GiveUp(GivenUp { unit, limit, .. }) => {
                    let end = match plan.on_error {
                        OnError::Stop => "the run ends",
                        OnError::Continue => "the others go on without it",
                    };
                    let (place, key, timeout) = (place(unit), limit.key(), plan.shutdown_timeout.seconds());
                    format!(
                        "{place} and did not return within {timeout} s after it was over {key}: {end} (rig: on_error)"
                    )
                }
            };
            self.events.warn(line);
        }
    }

    /// Reports a call that lasts, and ends it when the rig says so.
    fn look_at_calls(&mut self, phase: Phase, calls: &mut CallWatcher, now: i64) {
        let plan = self.plan();
        match calls.look(plan, self.board, phase, self.process.id(), now) {
            None => (),
            Some(calls::CallAction::Tell(place, seconds)) => {
                let end = match plan.call_timeout {
                    Some(limit) => format!("; the run ends after {} s (rig: call_timeout)", limit.seconds()),
                    None => String::new(),
                };
                let what = death::has_been(plan, self.board, phase, place);
                self.events.warn(format_args!("{what} for {seconds} s{end}"));
            }
            Some(calls::CallAction::Over(place)) => self.process.kill(self.board, Killed::Overdue(place)),
        }
    }
}

/// Formats a value, given as words, for live display; strings and binaries are cut to fit a line.
fn live_text(words: &[u64], variable_type: VariableType) -> Option<String> {
    const SHOWN: usize = 40;
    if let VariableType::String | VariableType::Binary = variable_type {
        let mut text = String::new();
        text::write_bytes(&mut text, &bytes::unpacked(words)?, variable_type == VariableType::String);
        let cut = if text.chars().count() > SHOWN { "…" } else { "" };
        let shown: String = text.chars().take(SHOWN).collect();
        return Some(format!("{}{cut}", Plain(&shown)));
    }
    let value = *words.first()?;
    Some(match word::values(&[value], variable_type) {
        Some(Values::Float64(v)) => significant(v[0]),
        Some(Values::Float32(v)) => significant(v[0].into()),
        _ => word::text(value, variable_type),
    })
}

/// State of a session with a run in this phase, which may pause.
fn state(phase: Phase, is_paused: bool) -> SessionState {
    match phase {
        Phase::Loading | Phase::Initialising | Phase::Refused => SessionState::Starting,
        Phase::Running if is_paused => SessionState::Paused,
        Phase::Running => SessionState::Running,
        Phase::Stopping | Phase::Done | Phase::Between => SessionState::Stopping,
    }
}

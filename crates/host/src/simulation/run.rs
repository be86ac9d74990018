//! A simulation from the start of its runner to its end.

use super::text::CsvText;
use crate::calls::{self, CallAction, CallWatcher};
use crate::collect;
use crate::cores::CoreUsage;
use crate::death;
use crate::facts::RunFacts;
use crate::feeder::Feeder;
use crate::hangs::Hangs;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::process::{Killed, RunnerProcess};
use crate::recorder::Recorder;
use crate::shared::SharedRig;
use crate::threads::ThreadWatcher;
use crate::under_way;
use crate::{Control, Error, EventSink, Prepared};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, SystemTime};
use vecud_base::plain::Plain;
use vecud_linux::process;
use vecud_linux::stop::StopToken;
use vecud_linux::wake::monotonic_now;
use vecud_plan::StartValue;
use vecud_record::board::{Board, Global, Phase, SupervisorView};
use vecud_record::signals::SignalWriter;
use vecud_report::{Pauses, Run};
use vecud_runner::{FOLDER_FD, JOB_FD, Job, SHARED_MEMORY_FD, STATE_FD};

/// Additional time for the runner to end, beyond twice the rig's `shutdown_timeout`, ns.
const GRACE: i64 = 1_000_000_000;
/// Interval between two checks of a young simulation, or of one whose rows come fast.
const SOON: Duration = Duration::from_micros(200);
/// Interval between two checks of other simulations.
const LATER: Duration = Duration::from_millis(2);
/// Age up to which a simulation is young, ns.
const YOUNG: i64 = 50_000_000;

/// Destinations of a simulation's output.
pub struct RowSink {
    /// Rows of CSV.
    pub out: Box<dyn Write + Send>,
    /// `false`: the rows are discarded (`/dev/null`).
    pub are_read: bool,
    /// Destination of the output that FMU code prints.
    pub printed: File,
    /// Destination of the FMU's log; `None`: events.
    pub log: Option<File>,
    /// Reports everything that FMUs log, not only warnings and errors.
    pub logging_on: bool,
    /// Keeps an overview of the rows for drawing.
    pub drawn: bool,
}

/// Result of a simulation.
pub struct Simulated {
    /// All facts of the run.
    pub run: Run,
    /// The error that stopped the writing of rows and ended the simulation early, if there was one.
    pub unwritten: Option<io::Error>,
    /// Serialised final state of the FMU; empty if it was not requested or not available.
    pub final_state: Vec<u8>,
}

/// Simulates. An error means that there was no run.
pub fn simulate(prepared: Prepared, rows: RowSink, events: &EventSink) -> Result<Simulated, Error> {
    prepared.plan.notes.iter().for_each(|note| events.say(format!("note: {}", Plain(note))));
    let shared = Arc::new(SharedRig::create(prepared)?);
    let plan = shared.plan();
    let mut signals = SignalWriter::to_stream(plan, rows.out);
    if !rows.are_read {
        signals = signals.unread();
    }
    if rows.drawn {
        signals = signals.drawn(plan);
    }
    let feeder = Feeder::new(&shared);
    let mut watching = Watching::start(&shared, rows.printed, &[], events)?.logging_to(rows.log);
    let run = watching.run(signals, feeder, rows.logging_on);
    Ok(watching.finish(run)?.0)
}

/// Simulates several times in one process, each time with new instances, and writes the rows to these texts in order.
/// There are fewer results if the process ends before the last round. An error means that there was no run.
pub fn rounds(
    prepared: Prepared,
    rows: Vec<CsvText>,
    printed: File,
    events: &EventSink,
) -> Result<Vec<Simulated>, Error> {
    let shared = Arc::new(SharedRig::create(prepared)?);
    let variants = vec![Vec::new(); rows.len()];
    let mut feeder = Feeder::new(&shared);
    let mut watching = Watching::start(&shared, printed, &variants, events)?;
    let mut all = Vec::new();
    for rows in rows {
        let run = watching.run(SignalWriter::to_stream(shared.plan(), Box::new(rows)), feeder, false);
        let (simulated, goes_on) = watching.finish(run)?;
        all.push(simulated);
        if !goes_on {
            break;
        }
        feeder = watching.next_run();
    }
    Ok(all)
}

/// Files for the runner besides the shared memory: its job, and space for a state.
fn handed_over(shared: &SharedRig, variants: &[Vec<StartValue>]) -> Result<[std::os::fd::OwnedFd; 2], Error> {
    let system = |error: &dyn std::fmt::Display| Error::System(error.to_string());
    let job = Job {
        plan: shared.plan().clone(),
        supervisor: std::process::id(),
        begin: shared.prepared.begin(),
        runs: variants.len().max(1) as u32,
        has_folders: false,
        save_state: false,
        side_by_side: shared.prepared.options.side_by_side,
        variants: variants.to_vec(),
    };
    let job = postcard::to_stdvec(&job).map_err(|error| system(&error))?;
    let file = |name, bytes: &[u8]| process::memory_file(name, bytes).map_err(|error| system(&error));
    Ok([file("vecud-job", &job)?, file("vecud-state", &[])?])
}

/// A runner's process with its consecutive simulations.
pub(super) struct Watching<'a> {
    shared: &'a Arc<SharedRig>,
    board: Board<'a>,
    control: Control,
    events: &'a EventSink,
    log: Option<File>,
    /// Requested when nobody wants the rows any more.
    over: StopToken,
    process: RunnerProcess,
    memory: Memory,
    /// File in which the runner leaves a state.
    state: File,
    /// Total number of simulations.
    number: usize,
    runs: usize,
}

/// A simulation in progress.
pub(super) struct OneRun<'a> {
    recorder: Recorder<'a>,
    feeder: Feeder,
    hangs: Hangs,
    phase: Phase,
    started: SystemTime,
    unwritten: Option<io::Error>,
    /// Errors of the host before the start: part of the refusal if one follows, otherwise reported separately.
    reasons: Vec<String>,
}

/// The end of watching a simulation.
enum Ended {
    /// The process has ended.
    Process(ExitStatus),
    /// The process waits for the next one.
    Run,
}

impl<'a> Watching<'a> {
    /// Starts the process. It makes one simulation for each variant of start values, or one without any.
    pub(super) fn start(
        shared: &'a Arc<SharedRig>,
        printed: File,
        variants: &[Vec<StartValue>],
        events: &'a EventSink,
    ) -> Result<Watching<'a>, Error> {
        let [job, state] = handed_over(shared, variants)?;
        // Simulations have no log that could be rotated.
        let nowhere = process::folder(Path::new("/")).map_err(|error| Error::System(error.to_string()))?;
        let descriptors = [shared.file(), job.as_fd(), state.as_fd(), nowhere.as_fd()];
        debug_assert_eq!((SHARED_MEMORY_FD, JOB_FD, STATE_FD, FOLDER_FD), (3, 4, 5, 6));
        let process = RunnerProcess::start(&shared.prepared.options, &descriptors, printed)?;
        shared.set_runner(process.id());
        let memory = Memory::of(process.id(), shared.plan());
        let (board, control, runs) = (shared.board(), Control::new(shared.clone()), variants.len().max(1));
        Ok(Watching {
            shared,
            board,
            control,
            events,
            log: None,
            over: StopToken::default(),
            process,
            memory,
            state: File::from(state),
            number: 0,
            runs,
        })
    }

    /// Sends messages of FMUs to a file.
    pub(super) fn logging_to(self, log: Option<File>) -> Watching<'a> {
        Watching { log, ..self }
    }

    /// Ends each simulation in good order when `over` is asked.
    pub(super) fn until(self, over: StopToken) -> Watching<'a> {
        Watching { over, ..self }
    }

    /// Begins the next simulation, whose rows go to `signals`.
    pub(super) fn run(&mut self, signals: SignalWriter<'a>, feeder: Feeder, logging_on: bool) -> OneRun<'a> {
        let (prepared, plan) = (&self.shared.prepared, self.shared.plan());
        // With several tasks, each has its own samples of an instant.
        let is_alone = plan.units.len() == 1;
        let signals = if is_alone { signals.with_a_row_for_each_sample() } else { signals };
        let mut recorder = Recorder::new(plan, &prepared.descriptions, self.board, self.control.clone());
        recorder.open_without_log(signals);
        if logging_on {
            recorder.tell_all();
        }
        self.number += 1;
        let phase = if self.number == 1 { Phase::Loading } else { Phase::Initialising };
        OneRun {
            recorder,
            feeder,
            hangs: Hangs::new(plan),
            phase,
            started: SystemTime::now(),
            unwritten: None,
            reasons: Vec::new(),
        }
    }

    /// Result of a simulation, and whether the process waits for the next one.
    pub(super) fn finish(&mut self, mut run: OneRun<'a>) -> Result<(Simulated, bool), Error> {
        let ended = self.watch(&mut run)?;
        let gone = monotonic_now();
        self.look_how_far_it_is(&mut run);
        if matches!(ended, Ended::Process(_)) {
            self.process.end_offspring(self.shared.plan());
        }
        self.drain(&mut run, true);
        let status = match ended {
            Ended::Process(status) => status,
            Ended::Run => {
                run.reasons.drain(..).for_each(|line| self.events.say(line));
                return Ok((self.collect(run, ExitStatus::default(), gone), true));
            }
        };
        // A runner that cannot even read its job reports that by its exit code; FMU code may call exit(2) as well.
        let exit_called = self.board.global(Global::ExitCalled).load(SeqCst) == 1;
        let nothing_ran = run.phase < Phase::Running && !exit_called && status.code() == Some(2);
        if run.phase == Phase::Refused || nothing_ran {
            self.process.tell_of_the_left(self.shared.plan(), self.events);
            return Err(Error::Refused(run.recorder.refusal("")));
        }
        run.reasons.drain(..).for_each(|line| self.events.say(line));
        Ok((self.collect(run, status, gone), false))
    }

    /// Tells the process to end: there are no further simulations.
    pub(super) fn stop(&self) {
        self.shared.ask_to_stop();
        self.board.set_phase(Phase::Stopping);
    }

    /// Starts the next simulation of the process, and returns the feeder of its inputs.
    pub(super) fn next_run(&self) -> Feeder {
        self.control.next_run();
        let feeder = Feeder::new(self.shared);
        self.board.next_run();
        feeder
    }

    fn watch(&mut self, run: &mut OneRun) -> Result<Ended, Error> {
        let began = monotonic_now();
        let mut calls = CallWatcher::new(self.shared.plan());
        let mut ending = None;
        // Without a thread for it, this one reads.
        let _has_thread = run.feeder.start();
        loop {
            let status = self.process.try_wait(self.shared.plan())?;
            self.look_how_far_it_is(run);
            self.drain(run, false);
            if let Some(status) = status {
                return Ok(Ended::Process(status));
            }
            if run.phase == Phase::Between {
                if !self.shared.is_stopped() {
                    return Ok(Ended::Run);
                }
                self.board.set_phase(Phase::Stopping);
                run.phase = Phase::Stopping;
            }
            let now = monotonic_now();
            self.memory.look(self.board, now);
            let begin = self.shared.prepared.begin();
            run.hangs.look(self.shared.plan(), self.board, begin, run.phase, self.process.id(), now);
            self.look_at_calls(run.phase, &mut calls, now);
            self.end_it(run, &mut ending, now);
            run.feeder.read();
            let pause = run.recorder.pace().pause(run.recorder.pace());
            std::thread::sleep(pause.min(if now - began < YOUNG { SOON } else { LATER }));
        }
    }

    /// Takes the phase from the runner, if it can follow the known one: FMU code can overwrite it.
    fn look_how_far_it_is(&self, run: &mut OneRun) {
        let (said, before) = (self.board.phase(), run.phase);
        let follows = match said {
            Phase::Refused => before <= Phase::Initialising,
            Phase::Between => before <= Phase::Stopping && self.number < self.runs,
            _ => said > before && before <= Phase::Stopping,
        };
        if follows {
            run.phase = said;
        }
    }

    fn drain(&mut self, run: &mut OneRun, after_the_end: bool) {
        let is_early = run.phase < Phase::Running || run.phase == Phase::Refused;
        for (status, line) in run.recorder.drain(run.phase, after_the_end) {
            if is_early && status >= 3 && line.starts_with("vecud: ") && self.log.is_none() {
                run.reasons.push(line);
                continue;
            }
            // Written in one piece: the simulations of a sweep share a file.
            match self.log.as_ref().map(|mut log| log.write_all(format!("{}\n", Plain(&line)).as_bytes())) {
                Some(Ok(())) => (),
                Some(Err(error)) => {
                    let words =
                        "no more can be written to the file of --log-file; what is to be logged goes here from now on";
                    self.events.warn(format_args!("{words}: {error}"));
                    self.events.say(line);
                    self.log = None;
                }
                None => self.events.say(line),
            }
        }
        if let Some(error) = run.recorder.take_stream_error() {
            run.unwritten = Some(error);
            self.shared.ask_to_stop();
        }
    }

    fn look_at_calls(&mut self, phase: Phase, calls: &mut CallWatcher, now: i64) {
        let plan = self.shared.plan();
        match calls.look(plan, self.board, phase, self.process.id(), now) {
            None => (),
            Some(CallAction::Tell(place, seconds)) => {
                let what = death::has_been(plan, self.board, phase, place);
                self.events.warn(format_args!("{what} for {seconds} s"));
            }
            Some(CallAction::Over(place)) => self.process.kill(self.board, Killed::Overdue(place)),
        }
    }

    /// Passes a request to end to the runner; kills the runner on a second request, or when ending takes too long.
    fn end_it(&mut self, run: &OneRun, ending: &mut Option<i64>, now: i64) {
        let at_most = self.shared.prepared.options.at_most;
        let is_too_long = at_most.is_some_and(|most| now - self.process.began > most.as_nanos() as i64);
        let asked = self.shared.prepared.options.stop.times();
        if asked > 0 || is_too_long || self.over.is_asked() {
            self.shared.ask_to_stop();
        }
        if !self.shared.is_stopped() && ending.is_none() && !calls::is_ending(self.board, run.phase) {
            return;
        }
        let since = *ending.get_or_insert(now);
        // Without a request to end, the limit for calls applies to a call that does not return.
        let timeout = match at_most.filter(|_| asked == 0) {
            Some(most) => most.as_nanos() as i64,
            None => self.shared.plan().shutdown_timeout.0,
        };
        let no_progress_since = run.hangs.no_progress_since().filter(|_| run.phase == Phase::Running);
        let hung = no_progress_since.map_or(i64::MAX, |no_progress| no_progress.max(since) + timeout);
        let reason = match asked {
            0 | 1 if now <= hung.min(since + 2 * timeout + GRACE) => return,
            0 | 1 => Killed::Late,
            _ => Killed::AskedTwice,
        };
        self.process.kill(self.board, reason);
    }

    /// Makes a run of the shared memory that the process has left.
    fn collect(&mut self, mut run: OneRun, status: ExitStatus, gone: i64) -> Simulated {
        let (shared, board) = (self.shared, self.board);
        let plan = shared.plan();
        let late_samples = run.recorder.close();
        run.unwritten = run.unwritten.or(run.recorder.take_stream_error());
        let known = SupervisorView {
            elapsed: gone.saturating_sub(self.process.began).max(1_000_000_000) as u64,
            phase: run.phase,
            stop_requested: shared.is_stopped(),
        };
        let _what_cannot_be_is_left_out = board.examine(plan, known);
        let did_not_return = self.process.killed.is_some()
            || [Global::HungTask, Global::StarvedTask].into_iter().any(|word| board.global(word).load(SeqCst) != 0);
        let unreturned = under_way::count_unreturned(plan, board, shared.prepared.begin(), gone, |_| did_not_return);
        run.hangs.record_overrun(board);
        let facts = RunFacts {
            run_continues: false,
            has_run_log: false,
            exit_status: status,
            killed: self.process.killed,
            started: run.started,
            load_at_start: None,
            doctor: None,
            runner_ended: gone,
            phase: run.phase,
            strict: shared.prepared.options.strict,
            late_samples,
            pauses: Pauses::default(),
            dropped_datagrams: Vec::new(),
            repetition: None,
            stimulus_faults: run.feeder.finish(),
            call_limit: shared.prepared.options.call_limit(),
            machine: Machine::unseen(),
            core_counts: CoreUsage::new(plan).counts(),
            threads: ThreadWatcher::default(),
            hangs: run.hangs,
            unreturned,
            left_processes: std::mem::take(&mut self.process.left),
            memory: self.memory.clone(),
            left_processes_ended: self.process.none_left,
        };
        let mut final_state = Vec::new();
        let read = self.state.rewind().and_then(|()| self.state.read_to_end(&mut final_state));
        if let Err(error) = read {
            self.events.warn(format_args!("the state of the FMU cannot be read: {error}"));
        }
        let mut collected = collect::collect(&shared.prepared, board, &run.recorder.told(), &facts);
        collected.overview = run.recorder.overview();
        Simulated { run: collected, unwritten: run.unwritten, final_state }
    }
}

//! A simulation from the start of its runner to its end.

use crate::plain::Plain;
use crate::plan::Plan;
use crate::record::board::{Board, Global, Known, Phase};
use crate::record::signals::SignalWriter;
use crate::report::Run;
use crate::runner::{JOB_FD, Job, SHARED_MEMORY_FD, STATE_FD};
use crate::supervisor::calls::{Calls, Verdict};
use crate::supervisor::collect::{self, Facts};
use crate::supervisor::cores::Cores;
use crate::supervisor::death;
use crate::supervisor::hangs::Hangs;
use crate::supervisor::machine::Machine;
use crate::supervisor::memory::Memory;
use crate::supervisor::process::{Killed, RunnerProcess};
use crate::supervisor::recorder::Recorder;
use crate::supervisor::shared::Shared;
use crate::supervisor::stimuli::Feeder;
use crate::supervisor::threads::Threads;
use crate::supervisor::under_way;
use crate::supervisor::{Control, Error, EventSink, Prepared};
use crate::sys::process;
use crate::sys::wake::monotonic_now;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, SystemTime};

/// What the runner may take to come to its end, beyond twice the rig's `shutdown_timeout`, ns.
const GRACE: i64 = 1_000_000_000;
/// Between two looks at a simulation that is young, or whose rows come fast.
const SOON: Duration = Duration::from_micros(200);
/// Between two looks at any other one.
const LATER: Duration = Duration::from_millis(2);
/// For so long a simulation is young, ns.
const YOUNG: i64 = 50_000_000;

/// Where what a simulation computes goes.
pub struct Rows {
    /// Rows of CSV.
    pub out: Box<dyn Write + Send>,
    /// What FMU code prints.
    pub printed: File,
    /// Everything that FMUs log is told, not warnings and errors alone.
    pub logging_on: bool,
    /// What can be drawn of the rows is kept as well.
    pub drawn: bool,
}

/// What has become of a simulation.
pub struct Simulated {
    /// Everything that is known of it.
    pub run: Run,
    /// Why rows could not be written any more, if that is so: then it has ended early.
    pub unwritten: Option<io::Error>,
}

/// Simulates. An error means that there was no run.
pub fn simulate(prepared: Prepared, rows: Rows, events: &EventSink) -> Result<Simulated, Error> {
    let shared = Arc::new(Shared::create(prepared)?);
    let (plan, board) = (shared.plan(), shared.board());
    let files = handed_over(&shared)?;
    let feeder = Feeder::new(&shared);
    let descriptors = [shared.file(), files[0].as_fd(), files[1].as_fd()];
    debug_assert_eq!((SHARED_MEMORY_FD, JOB_FD, STATE_FD), (3, 4, 5));
    let process = RunnerProcess::start(&shared.prepared.options, &descriptors, rows.printed)?;
    shared.set_runner(process.id());
    plan.notes.iter().for_each(|note| events.say(format!("note: {}", Plain(note))));
    let mut signals = SignalWriter::to_stream(plan, rows.out);
    if rows.drawn {
        signals = signals.drawn(plan);
    }
    // Of several tasks each has its own samples of one instant.
    if plan.tasks.len() == 1 {
        signals = signals.with_a_row_for_each_sample();
    }
    let mut recorder = Recorder::new(plan, &shared.prepared.descriptions, board, Control::new(shared.clone()));
    recorder.open_without_log(signals);
    if rows.logging_on {
        recorder.tell_all();
    }
    let watching = Watching {
        shared: &shared,
        board,
        events,
        memory: Memory::of(process.id(), plan),
        process,
        recorder,
        feeder,
        hangs: Hangs::new(plan),
        phase: Phase::Loading,
        started: SystemTime::now(),
        unwritten: None,
    };
    watching.to_its_end()
}

/// What the runner finds beside the shared memory: its job, and room for a state.
fn handed_over(shared: &Shared) -> Result<[std::os::fd::OwnedFd; 2], Error> {
    let system = |error: &dyn std::fmt::Display| Error::System(error.to_string());
    let job = Job {
        plan: shared.plan().clone(),
        supervisor: std::process::id(),
        begin: shared.prepared.begin(),
        runs: 1,
        folder: b".".to_vec(),
        has_folders: false,
        save_state: false,
    };
    let job = postcard::to_stdvec(&job).map_err(|error| system(&error))?;
    let file = |name, bytes: &[u8]| process::memory_file(name, bytes).map_err(|error| system(&error));
    Ok([file("vecud-job", &job)?, file("vecud-state", &[])?])
}

/// A simulation that goes on.
struct Watching<'a> {
    shared: &'a Arc<Shared>,
    board: Board<'a>,
    events: &'a EventSink,
    process: RunnerProcess,
    memory: Memory,
    recorder: Recorder<'a>,
    feeder: Feeder,
    hangs: Hangs,
    phase: Phase,
    started: SystemTime,
    unwritten: Option<io::Error>,
}

impl Watching<'_> {
    fn plan(&self) -> &Plan {
        self.shared.plan()
    }

    fn to_its_end(mut self) -> Result<Simulated, Error> {
        let status = self.watch()?;
        let gone = monotonic_now();
        self.look_how_far_it_is();
        self.process.end_offspring(self.shared.plan());
        self.drain(true);
        // A runner that cannot even read its job says so by its exit code; FMU code may call exit(2) as well.
        let exit_called = self.board.global(Global::ExitCalled).load(SeqCst) == 1;
        let nothing_ran = self.phase < Phase::Running && !exit_called && status.code() == Some(2);
        match self.phase == Phase::Refused || nothing_ran {
            true => Err(Error::Refused(self.recorder.refusal(""))),
            false => Ok(self.collect(status, gone)),
        }
    }

    fn watch(&mut self) -> Result<ExitStatus, Error> {
        let began = self.process.began;
        let mut calls = Calls::new(self.plan());
        let mut ending = None;
        self.feeder.start().or_else(|_| Ok::<(), Error>(self.feeder.read()))?;
        loop {
            let status = self.process.try_wait(self.shared.plan())?;
            self.look_how_far_it_is();
            self.drain(false);
            if let Some(status) = status {
                return Ok(status);
            }
            let now = monotonic_now();
            self.memory.look(now);
            self.hangs.look(
                self.shared.plan(),
                self.board,
                self.shared.prepared.begin(),
                self.phase,
                self.process.id(),
                now,
            );
            self.look_at_calls(&mut calls, now);
            self.end_it(&mut ending, now);
            self.feeder.read();
            let pause = self.recorder.pace().pause(self.recorder.pace());
            std::thread::sleep(pause.min(if now - began < YOUNG { SOON } else { LATER }));
        }
    }

    /// The runner's word for it, where that is one that can follow what it was: FMU code can write anywhere.
    fn look_how_far_it_is(&mut self) {
        let (said, before) = (self.board.phase(), self.phase);
        let follows = match said {
            Phase::Refused => before <= Phase::Initialising,
            Phase::Between => false,
            _ => said > before && before <= Phase::Stopping,
        };
        if follows {
            self.phase = said;
        }
    }

    fn drain(&mut self, after_the_end: bool) {
        for (_, line) in self.recorder.drain(self.phase, after_the_end) {
            self.events.say(line);
        }
        if let Some(error) = self.recorder.take_stream_error() {
            self.unwritten = Some(error);
            self.shared.ask_to_stop();
        }
    }

    fn look_at_calls(&mut self, calls: &mut Calls, now: i64) {
        let plan = self.shared.plan();
        match calls.look(plan, self.board, self.phase, self.process.id(), now) {
            None => (),
            Some(Verdict::Tell(place, seconds)) => {
                let what = death::has_been(plan, self.board, self.phase, place);
                self.events.say(format!("warning: {what} for {seconds} s"));
            }
            Some(Verdict::Over(place)) => self.process.kill(self.board, Killed::Overdue(place)),
        }
    }

    /// Who asks for the end gets it from the runner; who asks a second time, or too long a wait once it is ending, ends the
    /// runner the hard way.
    fn end_it(&mut self, ending: &mut Option<i64>, now: i64) {
        let asked = self.shared.prepared.options.stop.times();
        if asked > 0 {
            self.shared.ask_to_stop();
        }
        if !self.shared.is_stopped() && self.phase < Phase::Stopping {
            return;
        }
        let (since, timeout) = (*ending.get_or_insert(now), self.plan().shutdown_timeout.0);
        let stands = self.hangs.stands_since().filter(|_| self.phase == Phase::Running);
        let hung = stands.map_or(i64::MAX, |stands| stands.max(since) + timeout);
        let reason = match asked {
            0 | 1 if now <= hung.min(since + 2 * timeout + GRACE) => return,
            0 | 1 => Killed::Late,
            _ => Killed::AskedTwice,
        };
        self.process.kill(self.board, reason);
    }

    /// What it has left becomes a run.
    fn collect(mut self, status: ExitStatus, gone: i64) -> Simulated {
        let (shared, board) = (self.shared, self.board);
        let plan = shared.plan();
        let late_samples = self.recorder.close();
        let known = Known {
            elapsed: gone.saturating_sub(self.process.began).max(1_000_000_000) as u64,
            phase: self.phase,
            stop_requested: shared.is_stopped(),
        };
        let _what_cannot_be_is_left_out = board.examine(plan, known);
        let did_not_return = self.process.killed.is_some() || board.global(Global::HungTask).load(SeqCst) != 0;
        let unreturned = under_way::settle(plan, board, shared.prepared.begin(), gone, |_| did_not_return);
        self.hangs.settle(board);
        let facts = Facts {
            goes_on: false,
            status,
            killed: self.process.killed,
            started: self.started,
            load_at_start: None,
            doctor: None,
            gone,
            phase: self.phase,
            strict: shared.prepared.options.strict,
            late_samples,
            dropped: Vec::new(),
            repetition: None,
            stimuli: self.feeder.finish(),
            machine: Machine::unseen(),
            cores: Cores::new(plan).counts(),
            threads: Threads::default(),
            hangs: self.hangs,
            unreturned,
            left: std::mem::take(&mut self.process.left),
            memory: self.memory,
            none_left: self.process.none_left,
        };
        let mut run = collect::collect(&shared.prepared, board, &self.recorder.told(), &facts);
        run.overview = self.recorder.overview();
        Simulated { run, unwritten: self.unwritten }
    }
}

//! Drains the shared memory while the runner runs: samples go to the signal files, log lines to `run.log` and to memory.

use super::Control;
use super::last_lines::LastLines;
use super::pace::PollInterval;
use super::questions::{Question, Questions};
use super::references;
use super::run_log::RunLog;
use super::totals::RecordedTotals;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use vecud_base::plain::{self, Plain};
use vecud_base::time::{Instant, Nanos};
use vecud_description::{ModelDescription, VariableType};
use vecud_linux::wake::monotonic_now;
use vecud_plan::{FmuId, Plan, SignalId, UnitId};
use vecud_record::board::{Board, Global, Phase};
use vecud_record::log::{self, LogRecord};
use vecud_record::recording::envelope::Overview;
use vecud_record::recording::series::Files;
use vecud_record::signals::SignalWriter;

/// The end of a line of which only the beginning is there.
const CUT: &str = " … (cut)";

/// Drains one run.
pub struct Recorder<'a> {
    plan: &'a Plan,
    descriptions: &'a [ModelDescription],
    board: Board<'a>,
    control: Control,
    /// What others ask of who collects; `None`: nobody asks.
    questions: Option<&'a Questions>,
    log: Option<RunLog<'a>>,
    /// Lines from before the log was there.
    early: Vec<(u8, String)>,
    /// There was more to be written than the rig allows.
    is_cut: bool,
    /// [`RunLog::rotated`] of a log that was closed.
    rotated: (u64, u64),
    /// Whether the files have been opened.
    open: bool,
    signals: Option<SignalWriter<'a>>,
    initial_known: bool,
    /// Lines of this status and worse ones are returned.
    least_told: u8,
    /// Calls of the FMUs' functions are told of as well.
    tells_calls: bool,
    pace: PollInterval,
    /// The last lines of each FMU.
    pub last_lines: Vec<LastLines>,
    /// Lines of the host: status and message.
    pub host_lines: Vec<(u8, String)>,
    /// Lines of this process that nobody was told yet.
    own_lines: Vec<(u8, String)>,
    /// Why recording ended before the run, if it did.
    pub broken: Vec<String>,
    /// What FMU code has written over, by names.
    pub damage: BTreeSet<String>,
    /// All samples before this simulation time (ns from the start) are there.
    complete: i64,
}

/// What was said in a run, and what went wrong with its files.
#[derive(Clone, Debug)]
pub struct RecordingOutcome {
    /// The last lines of each FMU.
    pub last_lines: Vec<LastLines>,
    /// Lines of the host: status and message.
    pub host_lines: Vec<(u8, String)>,
    /// Why recording ended before the run, if it did.
    pub broken: Vec<String>,
    /// There was more to be written than the rig allows.
    pub is_cut: bool,
    /// [`RunLog::rotated`].
    pub rotated: (u64, u64),
    /// The files of the recording.
    pub recordings: Vec<Files>,
}

impl<'a> Recorder<'a> {
    /// Keeps everything in memory until [`Recorder::open`].
    pub fn new(plan: &'a Plan, descriptions: &'a [ModelDescription], board: Board<'a>, control: Control) -> Self {
        Recorder {
            plan,
            descriptions,
            board,
            control,
            questions: None,
            log: None,
            early: Vec::new(),
            is_cut: false,
            rotated: (0, 0),
            open: false,
            signals: None,
            initial_known: false,
            least_told: 1,
            tells_calls: plan.fmus.iter().any(|fmu| fmu.watch.logs),
            pace: PollInterval::new(plan),
            last_lines: vec![LastLines::default(); plan.fmus.len()],
            host_lines: Vec::new(),
            own_lines: Vec::new(),
            broken: Vec::new(),
            damage: BTreeSet::new(),
            complete: 0,
        }
    }

    /// Answers what is asked from [`Recorder::open`] on.
    pub fn answering(self, questions: &'a Questions) -> Self {
        Recorder { questions: Some(questions), ..self }
    }

    /// Starts the files in `out`: `run.log` is appended to, signal files begin anew.
    pub fn open(&mut self, out: &Path) {
        self.open = true;
        match RunLog::open(out, self.board, self.plan.host.log_file_limit()) {
            Ok(log) => self.log = Some(log),
            Err(error) => self.broken.push(format!("run.log is not written: {error}")),
        }
        let mut signals = SignalWriter::new(self.plan, out);
        self.broken.extend(signals.take_problems());
        if self.questions.is_some() {
            signals = signals.looked_at(self.plan);
        }
        self.signals = Some(signals);
        for (status, line) in std::mem::take(&mut self.early) {
            self.write_log(&line, status, false);
        }
    }

    /// Has rows go to `signals`. Nothing is logged.
    pub fn open_without_log(&mut self, signals: SignalWriter<'a>) {
        self.open = true;
        self.signals = Some(signals);
        self.early.clear();
    }

    /// Returns lines that are no warnings either.
    pub fn tell_all(&mut self) {
        self.least_told = 0;
    }

    /// [`SignalWriter::take_stream_error`].
    pub fn take_stream_error(&mut self) -> Option<std::io::Error> {
        self.signals.as_mut().and_then(SignalWriter::take_stream_error)
    }

    /// What was said so far.
    pub fn told(&self) -> RecordingOutcome {
        RecordingOutcome {
            last_lines: self.last_lines.clone(),
            host_lines: self.host_lines.clone(),
            broken: self.broken.clone(),
            is_cut: self.is_cut,
            rotated: self.log.as_ref().map_or(self.rotated, RunLog::rotated),
            recordings: self.signals.as_ref().map(SignalWriter::files).unwrap_or_default(),
        }
    }

    /// Samples that came too late for their row.
    pub fn late(&self) -> u64 {
        self.signals.as_ref().map_or(0, SignalWriter::late)
    }

    /// How much was recorded so far.
    pub fn recorded(&self) -> RecordedTotals {
        let signals = self.signals.as_ref();
        RecordedTotals {
            rows: signals.map_or(0, SignalWriter::rows),
            bytes: signals.map_or(0, SignalWriter::bytes),
            late: self.late(),
            broken: self.broken.len() as u64,
        }
    }

    /// How soon the next look should come.
    pub fn pace(&self) -> PollInterval {
        self.pace
    }

    /// Takes what there is, of a run in this phase. `after_the_end`: the runner is gone. Returns new lines of status 1 (warning) or
    /// worse.
    pub fn drain(&mut self, phase: Phase, after_the_end: bool) -> Vec<(u8, String)> {
        let mut told = Vec::new();
        if self.board.log().mend() {
            self.damage.insert("log lines".to_owned());
        }
        // Processes that the FMU has left behind may go on.
        let most = if after_the_end { log::SLOTS } else { usize::MAX };
        let mut taken = 0;
        while let Some(line) = self.board.log().pop(after_the_end).filter(|_| taken < most) {
            taken += 1;
            told.extend(self.take_logged(&line));
            // FMU code may log faster than this loop comes to its end.
            self.look_at_log(after_the_end);
        }
        // These have found no room among those.
        for fmu in (0..self.plan.fmus.len()).map(FmuId) {
            let lines = self.board.fmu(fmu).overflow().take();
            told.extend(
                lines.iter().filter_map(|line| self.take_logged(&LogRecord { fmu: Some(fmu.0), ..line.clone() })),
            );
        }
        self.look_at_log(after_the_end);
        told.append(&mut self.untold());
        // Read before the samples: whatever is complete by now has its samples in the rings.
        self.look_how_far_it_is(phase);
        self.pace.begin();
        self.take_samples(self.complete, after_the_end);
        self.pace.saw_log(taken);
        for message in self.signals.iter_mut().flat_map(SignalWriter::take_problems) {
            told.push((3, format!("vecud: error: {message}")));
            self.broken.push(message);
        }
        told
    }

    /// A line of the supervisor's own, of this status; [`Recorder::drain`] returns it with those of the runner.
    pub fn say(&mut self, status: u8, message: String) {
        let line = LogRecord { at: monotonic_now(), fmu: None, status, category: String::new(), message, cut: false };
        let told = self.take(&line);
        self.own_lines.extend(told);
    }

    /// Lines of the supervisor's own that [`Recorder::drain`] has not returned yet.
    pub fn untold(&mut self) -> Vec<(u8, String)> {
        std::mem::take(&mut self.own_lines)
    }

    /// [`Recorder::take`] of a line of shared memory, which FMU code can write to.
    fn take_logged(&mut self, line: &LogRecord) -> Option<(u8, String)> {
        if line.fmu.is_some_and(|fmu| fmu >= self.plan.fmus.len()) || line.status > 4 {
            self.damage.insert("log lines".to_owned());
            return None;
        }
        self.take(line)
    }

    /// Keeps a line where it belongs; returns it if somebody has to be told.
    fn take(&mut self, line: &LogRecord) -> Option<(u8, String)> {
        let text = self.text(line);
        let at = match self.board.global(Global::StartMonotonic).load(SeqCst) as i64 {
            start if start > 0 && line.at >= start => format!("{:11.6}", Nanos(line.at - start).seconds()),
            _ => "before start".to_owned(),
        };
        // Of these the report tells, each by itself.
        let is_reported = line.fmu.is_none() && line.status > 0;
        match self.open {
            true => self.write_log(&format!("{at} {text}"), line.status, is_reported),
            false => self.early.push((line.status, format!("{at} {text}"))),
        }
        match line.fmu.and_then(|fmu| self.last_lines.get_mut(fmu)) {
            Some(lines) => lines.push(line.at, line.status, text.clone()),
            None => {
                let cut = if line.cut { CUT } else { "" };
                self.host_lines.push((line.status, format!("{}{cut}", line.message)));
            }
        }
        let is_call = self.tells_calls && line.category.as_bytes() == log::CALL;
        (line.status >= self.least_told || is_call).then_some((line.status, text))
    }

    /// Why there was no run: the runner's reason, and below it what the FMUs have logged and printed.
    pub fn refusal(&self, printed: &str) -> Vec<String> {
        let errors = self.host_lines.iter().filter(|(status, _)| *status >= 3);
        let mut reason: String = errors.map(|(_, text)| text.as_str()).collect();
        let logged = self.last_lines.iter().flat_map(LastLines::iter);
        let words: Vec<&str> = logged.chain(printed.lines()).collect();
        if reason.is_empty() {
            return words.into_iter().map(str::to_owned).collect();
        }
        if !words.is_empty() {
            reason += "; it says:";
        }
        std::iter::once(reason).chain(words.iter().map(|line| format!("    {line}"))).collect()
    }

    /// Begins the log anew if it is long; `alone`: the runner is gone.
    fn look_at_log(&mut self, alone: bool) {
        self.broken.extend(self.log.as_mut().and_then(|log| log.look(alone)));
    }

    /// Writes a line to the log. One that the report has as well is no loss where the disk is full: nothing else may have been lost.
    fn write_log(&mut self, line: &str, status: u8, is_reported: bool) {
        let Some(log) = &mut self.log else { return };
        match log.write(line, status > 1) {
            Ok(written) => self.is_cut |= !written,
            Err(_) if is_reported => (),
            Err(error) => {
                self.broken.push(format!("run.log ends early, the run goes on: {error}"));
                self.rotated = log.rotated();
                self.log = None;
            }
        }
    }

    /// Time does not go backwards. Before the run has come to its end it is not beyond that either: where no task has anything left
    /// to do, the runner says that nothing at all will come.
    fn look_how_far_it_is(&mut self, phase: Phase) {
        let complete = self.board.global(Global::Complete).load(SeqCst) as i64;
        let end = self.plan.stop.map_or(i64::MAX - 1, |stop| stop.nanos().minus(self.plan.start.nanos()).0);
        let complete = if phase >= Phase::Stopping { complete } else { complete.min(end) };
        match complete >= self.complete {
            true => self.complete = complete,
            false => drop(self.damage.insert("how far the recordings are complete".to_owned())),
        }
    }

    fn take_samples(&mut self, complete: i64, after_the_end: bool) {
        if !self.open {
            return; // they wait in their rings
        }
        let Some(writer) = &mut self.signals else { return };
        for task in (0..self.plan.units.len()).map(UnitId) {
            let ring = self.board.samples(task);
            let (waiting, room) = ring.waiting();
            self.pace.saw((waiting, room));
            let broken = ring.mend();
            // What comes meanwhile waits: in virtual time it would never end.
            if !writer.take(task, ring, waiting) || broken {
                let task = &self.plan.units[task.0];
                self.damage.insert(format!("samples of {}", self.plan.told_name(task)));
            }
        }
        // After `complete` was read: a value is acknowledged before the activation that it was set for is complete.
        let changes = self.control.take_changes();
        if !self.initial_known && (writer.has_samples() || !changes.is_empty()) {
            self.initial_known = true;
            start_values(self.plan, self.board, writer);
        }
        for (time, changes) in changes {
            writer.change(time, changes);
        }
        for question in self.questions.iter().flat_map(|questions| questions.take()) {
            answer(question, self.plan, self.board, writer, self.initial_known);
        }
        if after_the_end {
            return writer.finish();
        }
        writer.write_before(Instant::from_nanos(self.plan.start.nanos().plus(Nanos(complete))));
        writer.flush();
        writer.forget_unwanted();
    }

    /// Writes what is buffered and tells how many samples came too late for their row.
    pub fn close(&mut self) -> u64 {
        if let Some(signals) = &mut self.signals {
            signals.head();
        }
        if let Some(log) = self.log.take() {
            self.rotated = log.rotated();
            let (is_cut, gone) = log.close();
            self.is_cut |= is_cut;
            self.broken.extend(gone);
        }
        self.late()
    }

    /// What can be drawn of the recording; `None`: there is none.
    pub fn overview(&self) -> Option<Overview> {
        let overview = self.signals.as_ref()?.overview()?;
        overview.times().is_some().then(|| overview.clone())
    }

    /// What the recorded columns have shown last, by name; without clocks, which show nothing between rows.
    pub fn last_values(&self) -> Vec<(String, Vec<u64>)> {
        let columns = self.plan.signals.iter().zip((0..).map(SignalId));
        let columns = columns.filter(|(signal, _)| signal.variable_type != VariableType::Clock);
        columns.filter_map(|(signal, id)| Some((signal.name.clone(), self.last_value(id)?))).collect()
    }

    /// What a recorded column has shown last, as words; `None`: nothing yet.
    pub fn last_value(&self, signal: SignalId) -> Option<Vec<u64>> {
        let initial = self.board.initial(signal).filter(|_| !self.initial_known);
        let shown = self.signals.as_ref()?;
        initial.map(Iterator::collect).or_else(|| shown.value(signal))
    }

    fn text(&self, line: &LogRecord) -> String {
        const STATUS: [&str; 5] = ["", "warning: ", "discard: ", "error: ", "fatal: "];
        let status = STATUS.get(usize::from(line.status)).copied().unwrap_or("");
        let cut = if line.cut { CUT } else { "" };
        let Some(fmu) = line.fmu.filter(|fmu| *fmu < self.plan.fmus.len()) else {
            return format!("vecud: {status}{}{cut}", line.message);
        };
        let category = if line.category.is_empty() { String::new() } else { format!("[{}] ", Plain(&line.category)) };
        let abi = self.plan.fmus[fmu].abi;
        let message = references::named(&line.message, abi, |key| {
            Some(self.descriptions.get(fmu)?.by_reference(key)?.name.as_str())
        });
        // No further line of a message can be taken for one that somebody else has said.
        let message = plain::message(&message).replace('\n', "\n    ");
        format!("{}: {category}{status}{message}{cut}", self.plan.fmus[fmu].name)
    }
}

/// What was set and read while the FMUs were initialised.
fn start_values(plan: &Plan, board: Board, writer: &mut SignalWriter) {
    for signal in (0..plan.columns().len()).map(SignalId) {
        if let Some(value) = board.initial(signal) {
            writer.start_value(signal, &value.collect::<Vec<u64>>());
        }
    }
}

fn answer(question: Question, plan: &Plan, board: Board, writer: &mut SignalWriter, initial_known: bool) {
    match question {
        Question::Newest(columns, answer) => {
            if !initial_known {
                // Nothing was computed yet: all that there is are these.
                start_values(plan, board, writer);
            }
            answer(columns.into_iter().map(|signal| writer.newest(signal)).collect());
        }
        Question::Rows(watcher) => writer.watch(watcher),
    }
}

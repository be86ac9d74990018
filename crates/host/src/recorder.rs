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
use std::sync::Arc;
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
use vecud_report::{Kind, Problem, Severity, Subject};

/// Marks a truncated line.
const CUT: &str = " … (cut)";

/// Drains the shared memory of one run.
pub struct Recorder<'a> {
    plan: &'a Plan,
    descriptions: &'a [Arc<ModelDescription>],
    board: Board<'a>,
    control: Control,
    /// Requests of other threads; `None`: there are none.
    questions: Option<&'a Questions>,
    log: Option<RunLog<'a>>,
    /// Lines from before the log was open.
    early: Vec<(u8, String)>,
    /// Output beyond the rig's limit was dropped.
    is_cut: bool,
    /// [`RunLog::rotated`] of a closed log.
    rotated: (u64, u64),
    /// Whether the files have been opened.
    open: bool,
    signals: Option<SignalWriter<'a>>,
    initial_known: bool,
    /// Lines of this status and worse ones are returned.
    least_told: u8,
    /// Calls of the FMUs' functions are returned as well.
    tells_calls: bool,
    pace: PollInterval,
    /// The last lines of each FMU.
    pub last_lines: Vec<LastLines>,
    /// Problems from lines of the host.
    pub problems: Vec<Problem>,
    /// Lines of this process that were not returned yet.
    own_lines: Vec<(u8, String)>,
    /// Reasons why recording ended before the run.
    pub broken: Vec<String>,
    /// Names of the structures that FMU code has overwritten.
    pub damage: BTreeSet<String>,
    /// All samples before this simulation time (ns from the start) have arrived.
    complete: i64,
}

/// Messages of a run, and failures of its files.
#[derive(Clone, Debug)]
pub struct RecordingOutcome {
    /// The last lines of each FMU.
    pub last_lines: Vec<LastLines>,
    /// Problems from lines of the host.
    pub problems: Vec<Problem>,
    /// Reasons why recording ended before the run.
    pub broken: Vec<String>,
    /// Output beyond the rig's limit was dropped.
    pub is_cut: bool,
    /// [`RunLog::rotated`].
    pub rotated: (u64, u64),
    /// The files of the recording.
    pub recordings: Vec<Files>,
}

impl<'a> Recorder<'a> {
    /// Keeps everything in memory until [`Recorder::open`].
    pub fn new(plan: &'a Plan, descriptions: &'a [Arc<ModelDescription>], board: Board<'a>, control: Control) -> Self {
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
            problems: Vec::new(),
            own_lines: Vec::new(),
            broken: Vec::new(),
            damage: BTreeSet::new(),
            complete: 0,
        }
    }

    /// Answers requests from [`Recorder::open`] on.
    pub fn answering(self, questions: &'a Questions) -> Self {
        Recorder { questions: Some(questions), ..self }
    }

    /// Starts the files in `out`: `run.log` is appended to, signal files are made anew.
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

    /// Sends rows to `signals`, without a log.
    pub fn open_without_log(&mut self, signals: SignalWriter<'a>) {
        self.open = true;
        self.signals = Some(signals);
        self.early.clear();
    }

    /// Returns all lines, including those that are no warnings.
    pub fn tell_all(&mut self) {
        self.least_told = 0;
    }

    /// Takes the error of [`SignalWriter::take_stream_error`].
    pub fn take_stream_error(&mut self) -> Option<std::io::Error> {
        self.signals.as_mut().and_then(SignalWriter::take_stream_error)
    }

    /// Copies the messages so far.
    pub fn told(&self) -> RecordingOutcome {
        RecordingOutcome {
            last_lines: self.last_lines.clone(),
            problems: self.problems.clone(),
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

    /// Amount of recorded data so far.
    pub fn recorded(&self) -> RecordedTotals {
        let signals = self.signals.as_ref();
        RecordedTotals {
            rows: signals.map_or(0, SignalWriter::rows),
            bytes: signals.map_or(0, SignalWriter::bytes),
            late: self.late(),
            broken: self.broken.len() as u64,
        }
    }

    /// Delay until the next check.
    pub fn pace(&self) -> PollInterval {
        self.pace
    }

    /// Takes everything from a run in this phase. `after_the_end`: the runner is gone. Returns new lines of status 1
    /// (warning) or worse.
    pub fn drain(&mut self, phase: Phase, after_the_end: bool) -> Vec<(u8, String)> {
        let mut told = Vec::new();
        if self.board.log().mend() {
            self.damage.insert("log lines".to_owned());
        }
        // Processes left behind by the FMU may continue to log.
        let most = if after_the_end { log::SLOTS } else { usize::MAX };
        let mut taken = 0;
        while let Some(line) = self.board.log().pop(after_the_end).filter(|_| taken < most) {
            taken += 1;
            told.extend(self.take_logged(&line));
            // FMU code may log faster than this loop ends.
            self.look_at_log(after_the_end);
        }
        // These lines found no room in the log.
        for fmu in (0..self.plan.fmus.len()).map(FmuId) {
            let lines = self.board.fmu(fmu).overflow().take();
            told.extend(
                lines.iter().filter_map(|line| self.take_logged(&LogRecord { fmu: Some(fmu.0), ..line.clone() })),
            );
        }
        self.look_at_log(after_the_end);
        told.append(&mut self.untold());
        // Read before the samples: all samples of completed activations are then in the rings.
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

    /// Adds a line of the supervisor with this status and [kind]; [`Recorder::drain`] returns it with those of the runner.
    pub fn say(&mut self, status: u8, kind: &str, message: String) {
        let line = LogRecord { at: monotonic_now(), fmu: None, status, category: kind.to_owned(), message, cut: false };
        let told = self.take(&line);
        self.own_lines.extend(told);
    }

    /// Lines of the supervisor that [`Recorder::drain`] has not returned yet.
    pub fn untold(&mut self) -> Vec<(u8, String)> {
        std::mem::take(&mut self.own_lines)
    }

    /// Calls [`Recorder::take`] for a line of shared memory, which FMU code can overwrite.
    fn take_logged(&mut self, line: &LogRecord) -> Option<(u8, String)> {
        if line.fmu.is_some_and(|fmu| fmu >= self.plan.fmus.len()) || line.status > 4 {
            self.damage.insert("log lines".to_owned());
            return None;
        }
        self.take(line)
    }

    /// Stores a line; returns it if it should be shown.
    fn take(&mut self, line: &LogRecord) -> Option<(u8, String)> {
        let text = self.text(line);
        let at = match self.board.global(Global::StartMonotonic).load(SeqCst) as i64 {
            start if start > 0 && line.at >= start => format!("{:11.6}", Nanos(line.at - start).seconds()),
            _ => "before start".to_owned(),
        };
        // The report lists these lines one by one.
        let is_reported = line.fmu.is_none() && line.status > 0;
        match self.open {
            true => self.write_log(&format!("{at} {text}"), line.status, is_reported),
            false => self.early.push((line.status, format!("{at} {text}"))),
        }
        match line.fmu.and_then(|fmu| self.last_lines.get_mut(fmu)) {
            Some(lines) => lines.push(line.at, line.status, text.clone()),
            None if is_reported => self.problems.push(self.problem(line)),
            None => (),
        }
        let is_call = self.tells_calls && line.category.as_bytes() == log::CALL;
        (line.status >= self.least_told || is_call).then_some((line.status, text))
    }

    /// The problem that a line of the host tells of.
    fn problem(&self, line: &LogRecord) -> Problem {
        let (kind, fmu) = line.category.split_once(' ').unwrap_or((&line.category, ""));
        let fmu = fmu.parse().ok().and_then(|fmu: usize| self.plan.fmus.get(fmu));
        let subject = fmu.map_or(Subject::Run, |fmu| Subject::Fmu(fmu.name.clone()));
        let severity = if line.status == 1 { Severity::Warning } else { Severity::Failure };
        let cut = if line.cut { CUT } else { "" };
        Problem { severity, subject, kind: Kind::of_text(kind, format!("{}{cut}", line.message)) }
    }

    /// Explains why there was no run: the runner's reason, followed by the log and the output of the FMUs.
    pub fn refusal(&self, printed: &str) -> Vec<String> {
        let errors = self.problems.iter().filter(|problem| problem.severity == Severity::Failure);
        let mut reason: String = errors.map(Problem::message).collect();
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

    /// Rotates the log if it is long; `alone`: the runner is gone.
    fn look_at_log(&mut self, alone: bool) {
        self.broken.extend(self.log.as_mut().and_then(|log| log.look(alone)));
    }

    /// Writes a line to the log. A line that the report has as well is no loss on a full disk.
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

    /// Updates the time up to which samples are complete. It never decreases. Before the end of the run it does not
    /// exceed the end either: where no task has anything left to do, the runner announces that nothing more will come.
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
        for unit in (0..self.plan.units.len()).map(UnitId) {
            let Some(ring) = self.board.samples(unit) else { continue };
            self.pace.saw(ring.ring.waiting());
            // New samples wait for the next round: in virtual time this loop would never end.
            if !writer.take(unit, ring) {
                let unit = &self.plan.units[unit.0];
                self.damage.insert(format!("samples of {}", self.plan.told_name(unit)));
            }
        }
        // Read after `complete`: a value is acknowledged before the activation that it was set for is complete.
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

    /// Writes buffered data and returns the number of samples that arrived too late for their row.
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

    /// Overview of the recording, for drawing; `None`: there is no recording.
    pub fn overview(&self) -> Option<Overview> {
        let overview = self.signals.as_ref()?.overview()?;
        overview.times().is_some().then(|| overview.clone())
    }

    /// Last values of the recorded columns, by name; without clocks, which have no value between rows.
    pub fn last_values(&self) -> Vec<(String, Vec<u64>)> {
        let columns = self.plan.signals.iter().zip((0..).map(SignalId));
        let columns = columns.filter(|(signal, _)| signal.variable_type != VariableType::Clock);
        columns.filter_map(|(signal, id)| Some((signal.name.clone(), self.last_value(id)?))).collect()
    }

    /// Last value of a recorded column, as words; `None`: none yet.
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
        // Further lines of a message are indented: they cannot imitate a line of another sender.
        let message = plain::message(&message).replace('\n', "\n    ");
        format!("{}: {category}{status}{message}{cut}", self.plan.fmus[fmu].name)
    }
}

/// Writes the values set and read during the FMUs' initialisation.
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
                // Only the initial values exist before the first computation.
                start_values(plan, board, writer);
            }
            answer(columns.into_iter().map(|signal| writer.newest(signal)).collect());
        }
        Question::Rows(watcher) => writer.watch(watcher),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_line_is_a_kind_of_problem() {
        for name in log::kind::ALL {
            assert!(!matches!(Kind::of_text(name, "x".into()), Kind::Other { .. }), "{name}");
        }
    }
}

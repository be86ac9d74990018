//! Checkpoints: a running run is written to disk at intervals, so that its report survives this process.
//!
//! A thread of its own copies the shared memory, makes a [`Run`] of the copy and writes it: the thread that collects
//! the data of partitions waits neither for that nor for the disk. Only one checkpoint is written at a time; while a
//! disk takes longer than the rig's `checkpoint`, there are fewer.

use super::collect::collect;
use super::cores::CoreUsage;
use super::facts::RunFacts;
use super::files::{self, CHECKPOINT, alone};
use super::hangs::Hangs;
use super::machine;
use super::memory::Memory;
use super::over_time::IntervalMaxima;
use super::process::Killed;
use super::recorder::RecordingOutcome;
use super::shared::SharedRig;
use super::slices::Slices;
use super::stimuli::Fault;
use super::threads::ThreadWatcher;
use super::under_way;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};
use std::time::SystemTime;
use vecud_base::time::Nanos;
use vecud_linux::files::Folder;
use vecud_linux::wake::monotonic_now;
use vecud_plan::{Mode, UnitId};
use vecud_record::board::{Global, Phase, SupervisorView};
use vecud_record::recording::envelope::Overview;
use vecud_report::{ClockResult, DoctorResult, Run};

/// Delay of the second checkpoint after the first, ns. The first is written as soon as the run has begun, and each
/// later delay doubles up to the rig's period: a run that is killed early has a report as well. The first one is not
/// forced to the disk, for which short runs would have to wait: it survives vecud, but not the machine.
const SECOND: i64 = 1_000_000_000;

/// State of a running run outside of its shared memory.
pub(super) struct Sight {
    pub shared: Arc<SharedRig>,
    /// Folder of the files.
    pub out: Folder,
    pub told: RecordingOutcome,
    pub over_time: IntervalMaxima,
    pub slices: Slices,
    pub threads: ThreadWatcher,
    pub cores: CoreUsage,
    pub hangs: Hangs,
    pub memory: Memory,
    pub killed: Option<Killed>,
    pub started: SystemTime,
    pub load_at_start: Option<[f64; 3]>,
    pub doctor: Option<DoctorResult>,
    /// Start of the runner, CLOCK_MONOTONIC in ns.
    pub began: i64,
    pub phase: Phase,
    pub late_samples: u64,
    pub dropped: Vec<(UnitId, u64)>,
    pub repetition: Option<u32>,
    /// A report was requested.
    pub is_report: bool,
    /// The checkpoint is forced to the disk.
    pub lasts: bool,
    /// Overview of the recording for the report's page.
    pub overview: Option<Overview>,
}

/// Result of writing a checkpoint.
pub(super) struct CheckpointResult {
    /// Reason for a missing checkpoint, if it should be reported.
    pub warning: Option<String>,
    /// Failures of a requested report: each file with its reason.
    pub report: Option<Vec<String>>,
}

/// Writes checkpoints of one run.
pub(super) struct CheckpointWriter {
    /// Interval, ns; `None`: the rig wants no checkpoints.
    period: Option<i64>,
    /// Due time of the next checkpoint, CLOCK_MONOTONIC in ns; 0: unknown.
    due: i64,
    /// Interval before the due time, ns; 0: the next checkpoint is the first one.
    distance: i64,
    /// A checkpoint was forced to the disk.
    lasts: bool,
    at_work: Option<JoinHandle<CheckpointResult>>,
    /// The user was told that checkpoints cannot be written.
    is_told: bool,
}

impl CheckpointWriter {
    pub(super) fn new(period: Option<Nanos>) -> CheckpointWriter {
        CheckpointWriter {
            period: period.map(|period| period.0),
            due: 0,
            distance: 0,
            lasts: false,
            at_work: None,
            is_told: false,
        }
    }

    /// Whether a checkpoint can be written, and is due or requested.
    pub(super) fn is_due(&mut self, now: i64, wanted: bool) -> bool {
        let Some(period) = self.period else { return wanted && self.at_work.is_none() };
        if self.due == 0 {
            self.due = now + self.distance.min(period);
        }
        self.at_work.is_none() && (wanted || now >= self.due)
    }

    /// Whether the next checkpoint is to be forced to the disk.
    pub(super) fn is_lasting(&self) -> bool {
        self.distance > 0
    }

    /// Whether a checkpoint was forced to the disk: its replacement must be forced to it as well.
    pub(super) fn has_lasting(&self) -> bool {
        self.lasts
    }

    /// Writes a checkpoint. Reports a failure once.
    pub(super) fn write(&mut self, sight: Sight, now: i64) -> Option<String> {
        self.lasts |= sight.lasts;
        self.goes_on(now);
        match thread::Builder::new().name("vecud.keeper".to_owned()).spawn(move || sight.write()) {
            Ok(thread) => {
                self.at_work = Some(thread);
                None
            }
            Err(error) => self.fails(format!("there is no thread for it: {error}")),
        }
    }

    /// Schedules the next checkpoint.
    fn goes_on(&mut self, now: i64) {
        if let Some(period) = self.period {
            self.distance = if self.distance == 0 { SECOND } else { 2 * self.distance }.min(period);
            self.due = now + self.distance;
        }
    }

    /// Result of the last checkpoint, once it is complete.
    pub(super) fn look(&mut self) -> Option<CheckpointResult> {
        self.at_work.as_ref().is_some_and(JoinHandle::is_finished).then(|| self.finish()).flatten()
    }

    /// Waits for the last checkpoint and returns its result.
    pub(super) fn finish(&mut self) -> Option<CheckpointResult> {
        let CheckpointResult { warning, report } = self.at_work.take()?.join().ok()?;
        let warning = match warning {
            Some(failure) => self.fails(failure),
            None => {
                self.is_told = false;
                None
            }
        };
        Some(CheckpointResult { warning, report })
    }

    fn fails(&mut self, why: String) -> Option<String> {
        let is_told = std::mem::replace(&mut self.is_told, true);
        let words = format!("{CHECKPOINT} cannot be written, the run goes on: {why}");
        (!is_told).then_some(words)
    }
}

impl Sight {
    fn write(self) -> CheckpointResult {
        match alone(|| self.run()) {
            Ok(Some(run)) => CheckpointResult {
                warning: files::write_checkpoint(&self.out.way(), &run, self.lasts).err(),
                report: self.is_report.then(|| files::write_unfinished(&self.out.way(), &run.unfinished(true))),
            },
            Ok(None) => self.nothing("there is no memory for a copy of what was measured"),
            Err(defect) => self.nothing(&defect),
        }
    }

    fn nothing(&self, why: &str) -> CheckpointResult {
        CheckpointResult { warning: Some(why.to_owned()), report: self.is_report.then(|| vec![why.to_owned()]) }
    }

    /// Copies the state of the run; `None`: there is no memory for it.
    fn run(&self) -> Option<Run> {
        let shared = &self.shared;
        let (prepared, plan) = (&shared.prepared, shared.plan());
        let copy = shared.another()?;
        let board = shared.seen(&copy);
        shared.board().copy_to(board);
        let now = monotonic_now();
        board.settle(plan);
        // Changes during the copying must not look like damage by FMU code, which is reported at the end.
        let known = SupervisorView {
            elapsed: now.saturating_sub(self.began).max(1_000_000_000) as u64,
            phase: board.phase(),
            stop_requested: board.global(Global::StopRequest).load(Relaxed) == 1,
        };
        let _what_cannot_be_is_left_out = board.examine(plan, known);
        let is_as_copied = |unit| under_way::is_as_copied(shared.board(), board, unit);
        let unreturned = under_way::count_unreturned(plan, board, prepared.begin(), now, is_as_copied);
        let facts = RunFacts {
            run_continues: true,
            has_run_log: true,
            exit_status: ExitStatus::from_raw(0),
            killed: self.killed,
            started: self.started,
            load_at_start: self.load_at_start,
            doctor: self.doctor.clone(),
            runner_ended: now,
            phase: self.phase,
            strict: prepared.options.strict,
            late_samples: self.late_samples,
            dropped_datagrams: self.dropped.clone(),
            pauses: shared.pauses(),
            repetition: self.repetition,
            stimulus_faults: vec![Fault { problem: None, nan: None, change: None }; plan.stimuli.len()],
            machine: machine::look(&plan.cores()),
            core_counts: self.cores.counts(),
            threads: self.threads.clone(),
            hangs: self.hangs.clone(),
            unreturned,
            call_limit: prepared.options.call_limit(),
            left_processes: Vec::new(),
            memory: self.memory.clone(),
            left_processes_ended: true,
        };
        let mut run = collect(prepared, board, &self.told, &facts);
        let courses = self.over_time.clone().finish(board);
        self.slices.split(&mut run);
        run.overview = self.overview.clone();
        run.clocks.iter_mut().zip(courses).for_each(|(clock, own)| clock.over_time = own);
        if plan.mode == Mode::RealTime {
            run.clocks.iter_mut().for_each(count);
        }
        Some(run)
    }
}

/// Takes the counts from the histograms, which have an entry for each activation and each skipped release, so that they
/// agree with each other: the separate counter words are a few activations older or younger.
fn count(clock: &mut ClockResult) {
    clock.activations = clock.execution.count();
    clock.skipped = clock.response.count().saturating_sub(clock.activations);
    clock.overruns = clock.overruns.max(clock.skipped);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds after its start at which a run with this period has checkpoints, in its first minute.
    fn seconds(period: i64) -> Vec<i64> {
        const SECOND: i64 = 1_000_000_000;
        let mut keeper = CheckpointWriter::new(Some(Nanos(period * SECOND)));
        let (mut due, start) = (Vec::new(), 77);
        for second in 0..60 {
            if keeper.is_due(start + second * SECOND, false) {
                due.push(second);
                keeper.goes_on(start + second * SECOND);
            }
        }
        due
    }

    #[test]
    fn the_first_checkpoints_come_sooner_than_the_others() {
        assert_eq!(seconds(10), [0, 1, 3, 7, 15, 25, 35, 45, 55]);
        assert_eq!(seconds(1)[..4], [0, 1, 2, 3]);
        let mut none = CheckpointWriter::new(None);
        assert!(!none.is_due(1, false) && none.is_due(1, true), "somebody wants one");
    }
}

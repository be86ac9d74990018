//! State shared by the threads of a session, and with the runner's process: the memory that both map.

use super::paused::Paused;
use super::questions::Questions;
use super::shown::{self, ShownVariable};
use super::time_base::TimeBase;
use super::totals::{self, RecordedTotals, Totals, scheduling};
use super::under_way::{TaskProgress, preempted_by, task_progress};
use super::{Error, EventSink, Prepared, SessionEvent, SessionState, tasks};
use crate::doctor::Tree;
use crate::doctor::facts::KernelFacts;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use vecud_base::time::Nanos;
use vecud_linux::memory::data_limit;
use vecud_linux::shared_memory::SharedMemory;
use vecud_linux::thread::{current_tid, waits_for_disk};
use vecud_linux::wake::monotonic_now;
use vecud_linux::zeroed::zeroed;
use vecud_plan::schedule::QuietPoint;
use vecud_plan::{Mode, Plan, UnitId};
use vecud_record::board::{Board, Global, Layout, Metric, Pause, TaskWord};
use vecud_report::{ClockResult, Live, LiveActivation, LiveRow};

/// A prepared rig, the memory shared with its runner, and the layout of that memory.
pub struct SharedRig {
    /// The rig.
    pub prepared: Prepared,
    memory: SharedMemory,
    layout: Layout,
    /// The end was requested, whatever the memory says.
    stopped: AtomicBool,
    state: AtomicU8,
    /// Id of the runner's process; 0: none yet.
    runner: AtomicU32,
    /// Id of the thread that watches a run; 0: none.
    watcher: AtomicU32,
    /// Number of its checks, from an arbitrary start.
    looks: AtomicU64,
    /// A report of the running run is requested.
    report_wanted: AtomicBool,
    /// In virtual time: first observation of the activation under way; `i64::MAX`: none.
    no_progress_since: AtomicI64,
    preempt_rt: bool,
    /// For each task that datagrams activate, the number that the kernel had dropped at the last check.
    dropped: Mutex<Vec<(UnitId, u64)>>,
    /// The pauses of the run.
    pub(super) paused: Paused,
    /// Amount of recorded data at the last check.
    recorded: Mutex<RecordedTotals>,
    /// Quiet points at which checks disturb nothing; `None`: any time.
    quiet_point: Option<QuietPoint>,
    /// Requests of other threads to the collector of samples.
    pub questions: Questions,
    /// The greatest number of overruns reported for each task.
    told_overruns: Vec<AtomicU64>,
    /// Figures of the clocks at the last reset; `None`: there was none.
    begun_anew: Mutex<Option<Vec<ClockResult>>>,
    /// The recorded and watched variables; computed on demand.
    shown: OnceLock<Vec<ShownVariable>>,
}

/// Shorter activations show only in the figures of their clock, ns.
const SHOWN: i64 = 500_000_000;

impl SharedRig {
    /// Allocates the memory for this rig.
    pub fn create(prepared: Prepared) -> Result<SharedRig, Error> {
        let layout = Layout::of(&prepared.plan);
        let (wanted, most) = (layout.words() as u64 * 8, data_limit(None).unwrap_or(u64::MAX));
        if wanted > most {
            return Err(Error::System(format!(
                "the samples of {} recorded columns take {} MiB of shared memory, and this machine has {} MiB for that: record fewer \
                 ([record] signals, or `vecud simulate --output-variable`)",
                prepared.plan.signals.len(),
                wanted >> 20,
                most >> 20
            )));
        }
        let memory = SharedMemory::create("vecud", layout.words() * 8).map_err(|e| Error::System(e.to_string()))?;
        let preempt_rt = KernelFacts::read(&Tree::of_this_machine()).preempt_rt;
        let (stopped, state, runner, watcher, looks, report_wanted) = Default::default();
        let (dropped, paused, recorded) = Default::default();
        let no_progress_since = AtomicI64::new(i64::MAX);
        let quiet_point = QuietPoint::of(&prepared.plan);
        let told_overruns = prepared.plan.units.iter().map(|_| AtomicU64::default()).collect();
        Ok(SharedRig {
            prepared,
            memory,
            layout,
            stopped,
            state,
            runner,
            watcher,
            looks,
            report_wanted,
            no_progress_since,
            preempt_rt,
            dropped,
            paused,
            recorded,
            quiet_point,
            questions: Questions::default(),
            told_overruns,
            begun_anew: Mutex::default(),
            shown: OnceLock::new(),
        })
    }

    /// The plan of the session.
    pub fn plan(&self) -> &Plan {
        &self.prepared.plan
    }

    /// The recorded and watched variables.
    pub fn shown(&self) -> &[ShownVariable] {
        self.shown.get_or_init(|| shown::variables(&self.prepared))
    }

    /// The shared memory, seen through its layout.
    pub fn board(&self) -> Board<'_> {
        Board::new(self.memory.words(), &self.layout)
    }

    /// The shared memory as a file.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.memory.file()
    }

    /// Allocates private memory of the same layout; `None`: there is none. Untouched parts occupy no physical memory.
    pub fn another(&self) -> Option<Box<[AtomicU64]>> {
        zeroed(self.layout.words())
    }

    /// Memory from [`SharedRig::another`], seen through the layout.
    pub fn seen<'a>(&'a self, memory: &'a [AtomicU64]) -> Board<'a> {
        Board::new(memory, &self.layout)
    }

    /// Extends a pause to the next quiet point, where a check does not disturb a release on the same core.
    pub fn until_quiet(&self, pause: Duration) -> Duration {
        let time_base = || TimeBase::now(self.plan(), self.board(), self.prepared.begin());
        let Some((quiet_point, time_base)) = self.quiet_point.and_then(|quiet_point| Some((quiet_point, time_base()?)))
        else {
            return pause;
        };
        Duration::from_nanos(quiet_point.pause(time_base.instant(), Nanos(pause.as_nanos() as i64)).0 as u64)
    }

    /// Asks the runner to end.
    pub fn ask_to_stop(&self) {
        self.stopped.store(true, SeqCst);
        self.board().global(Global::StopRequest).store(1, SeqCst);
    }

    /// Whether the runner was asked to end.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(SeqCst)
    }

    /// Sets or clears the request for a report of the running run.
    pub fn want_report(&self, wanted: bool) {
        self.report_wanted.store(wanted, SeqCst);
    }

    /// Whether a report of the running run is requested.
    pub fn wants_report(&self) -> bool {
        self.report_wanted.load(SeqCst)
    }

    /// The runner's process, if there is one.
    pub fn runner(&self) -> Option<u32> {
        Some(self.runner.load(SeqCst)).filter(|runner| *runner != 0)
    }

    /// Records the runner's process.
    pub fn set_runner(&self, process: u32) {
        self.runner.store(process, SeqCst);
    }

    /// Registers the calling thread as the watcher of a run until the returned value is dropped: until then it checks
    /// at intervals.
    pub fn on_watch(&self) -> OnWatch<'_> {
        self.watcher.store(current_tid(), SeqCst);
        OnWatch(self)
    }

    /// Activity of the thread that watches a run; `None`: there is none.
    pub fn looks(&self) -> Option<Looks> {
        let thread = Some(self.watcher.load(SeqCst)).filter(|thread| *thread != 0)?;
        Some(Looks { count: self.looks.load(SeqCst), waits_for_disk: waits_for_disk(thread) })
    }

    /// Whether the runner reports that the run pauses.
    pub fn is_paused(&self) -> bool {
        self.board().global(Global::Pause).load(SeqCst) == Pause::Paused as u64
    }

    /// Present state of the session. A pause shows at once, even before it is reported.
    pub fn state(&self) -> SessionState {
        match self.state.load(SeqCst) {
            0 => SessionState::Starting,
            1 | 2 if self.is_paused() => SessionState::Paused,
            1 | 2 => SessionState::Running,
            3 => SessionState::Stopping,
            _ => SessionState::Over,
        }
    }

    /// Sets the state of the session, and reports a change.
    pub fn set_state(&self, state: SessionState, events: &EventSink) {
        if self.state.swap(state as u8, SeqCst) != state as u8 {
            events.tell(SessionEvent::State(state));
        }
    }

    /// In virtual time: sets the first observation of the activation under way, CLOCK_MONOTONIC in ns; `None`: none.
    pub fn set_no_progress_since(&self, since: Option<i64>) {
        self.no_progress_since.store(since.unwrap_or(i64::MAX), SeqCst);
    }

    /// The activation of a task that has not returned for a while.
    fn running(&self, unit: UnitId, progress: &[TaskProgress]) -> Option<LiveActivation> {
        let (plan, board) = (self.plan(), self.board());
        let running = match plan.mode {
            Mode::RealTime => progress[unit.0].under_way?.running,
            Mode::Virtual => match board.task(unit).get(TaskWord::Active) {
                1 => monotonic_now().saturating_sub(self.no_progress_since.load(SeqCst)),
                _ => return None,
            },
        };
        let held_up = preempted_by(plan, board, progress, unit).is_some();
        (running >= SHOWN).then_some(LiveActivation { running: running as u64, held_up })
    }

    /// The measurements of the clocks so far, or since the last [`SharedRig::begin_anew`].
    pub fn clocks(&self) -> Vec<ClockResult> {
        let all = self.all_of_clocks();
        match &*self.begun_anew.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(before) => all.into_iter().zip(before).map(|(now, before)| now.since(before)).collect(),
            None => all,
        }
    }

    /// Restarts the measurements of [`SharedRig::clocks`]; the run keeps all of them.
    pub fn begin_anew(&self) {
        *self.begun_anew.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.all_of_clocks());
    }

    /// Figures of the clocks since the run began.
    fn all_of_clocks(&self) -> Vec<ClockResult> {
        let (plan, board) = (self.plan(), self.board());
        let dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let clock = |(unit, overruns)| {
            let own = tasks::clock(plan, board, UnitId(unit), scheduling(board), &dropped);
            ClockResult { overruns, ..own }
        };
        self.overruns().into_iter().enumerate().map(clock).collect()
    }

    /// Stores the number of datagrams that the kernel has dropped so far, for each task that they activate.
    pub fn set_dropped(&self, dropped: Vec<(UnitId, u64)>) {
        *self.dropped.lock().unwrap_or_else(PoisonError::into_inner) = dropped;
    }

    /// Stores the amount of recorded data so far.
    pub fn set_recorded(&self, recorded: RecordedTotals) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = recorded;
    }

    /// Counters of the run so far.
    pub fn totals(&self) -> Totals {
        let recorded = *self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        totals::totals(self.plan(), self.board(), &self.overruns(), recorded)
    }

    /// The present progress of each task.
    fn progress(&self) -> Vec<TaskProgress> {
        let (plan, board) = (self.plan(), self.board());
        let time_base = TimeBase::now(plan, board, self.prepared.begin());
        (0..plan.units.len()).map(|unit| task_progress(plan, board, time_base, UnitId(unit))).collect()
    }

    /// The overruns of each task, including those that the activation under way, or the overdue one, will find. The
    /// number never decreases, even while a thread is counting.
    fn overruns(&self) -> Vec<u64> {
        let progress = self.progress();
        let told = progress.iter().zip(&self.told_overruns);
        told.map(|(own, told)| own.overruns().max(told.fetch_max(own.overruns(), SeqCst))).collect()
    }

    /// Present state of the run, for display.
    pub fn live(&self) -> Live {
        let (plan, board) = (self.plan(), self.board());
        let progress = self.progress();
        let row = |(unit, planned)| {
            let cells = board.task(UnitId(unit));
            LiveRow {
                name: plan.full_name(planned),
                activations: cells.get(TaskWord::Activations),
                overruns: progress[unit].overruns(),
                under_way: self.running(UnitId(unit), &progress),
                wakeup: cells.histogram(Metric::Wakeup).read(),
                start: cells.histogram(Metric::Start).read(),
                execution: cells.histogram(Metric::Execution).read(),
                response: cells.histogram(Metric::Response).read(),
            }
        };
        Live {
            rig: plan.rig.clone(),
            elapsed: Nanos(board.global(Global::Reached).load(SeqCst) as i64).seconds(),
            stop: plan.stop.map(|stop| stop.nanos().minus(plan.start.nanos()).seconds()),
            scheduling: scheduling(board),
            preempt_rt: self.preempt_rt,
            clocks: plan.units.iter().enumerate().map(row).collect(),
            values: Vec::new(),
        }
    }
}

/// Activity of the thread that watches a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// Grows with each check. A constant number means that the thread is stuck.
    pub count: u64,
    /// The kernel makes the thread wait for a disk at the moment, during a check: nothing is wrong with the thread,
    /// however long that takes.
    pub waits_for_disk: bool,
}

/// Registration of a thread that watches a run.
#[must_use]
pub struct OnWatch<'a>(&'a SharedRig);

impl OnWatch<'_> {
    /// Counts a check.
    pub fn look(&self) {
        self.0.looks.fetch_add(1, SeqCst);
    }
}

impl Drop for OnWatch<'_> {
    fn drop(&mut self) {
        self.0.watcher.store(0, SeqCst);
    }
}

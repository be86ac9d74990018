//! What the threads of a session share with each other, and with the runner's process: the memory that both map.

use super::paused::Paused;
use super::questions::Questions;
use super::shown::{self, ShownVariable};
use super::time_base::TimeBase;
use super::totals::{self, RecordedTotals, Totals, scheduling};
use super::under_way::{TaskProgress, held_up_by, standing};
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

/// A rig that is prepared, the memory shared with its runner, and what says how that is laid out.
pub struct SharedRig {
    /// The rig.
    pub prepared: Prepared,
    memory: SharedMemory,
    layout: Layout,
    /// The end was asked for, whatever the memory says.
    stopped: AtomicBool,
    state: AtomicU8,
    /// The runner's process; 0: there was none yet.
    runner: AtomicU32,
    /// The thread that watches a run; 0: none does.
    watcher: AtomicU32,
    /// How often it has looked around, by whatever number.
    looks: AtomicU64,
    /// Somebody wants a report of the run that goes on.
    report_wanted: AtomicBool,
    /// In virtual time: since when the activation under way was seen; `i64::MAX`: there was none.
    stands: AtomicI64,
    preempt_rt: bool,
    /// For each task that datagrams activate, how many of them the kernel has thrown away by the last look.
    dropped: Mutex<Vec<(UnitId, u64)>>,
    /// The pauses of the run.
    pub(super) paused: Paused,
    /// How much was recorded by the last look.
    recorded: Mutex<RecordedTotals>,
    /// Where looks are in nobody's way; `None`: anywhere.
    lull: Option<QuietPoint>,
    /// What others ask of who collects samples.
    pub questions: Questions,
    /// The most overruns that were told of each task.
    told_overruns: Vec<AtomicU64>,
    /// What clocks had measured when their figures began anew for whoever asks; `None`: they did not.
    begun_anew: Mutex<Option<Vec<ClockResult>>>,
    /// The recorded and watched variables; found when somebody asks for them.
    shown: OnceLock<Vec<ShownVariable>>,
}

/// Activations that take less time show in the figures of their clock alone, ns.
const SHOWN: i64 = 500_000_000;

impl SharedRig {
    /// Memory for this rig.
    pub fn create(prepared: Prepared) -> Result<SharedRig, Error> {
        let layout = Layout::of(&prepared.plan);
        let (wanted, most) = (layout.words() as u64 * 8, data_limit(None).unwrap_or(u64::MAX));
        if wanted > most {
            return Err(Error::System(format!(
                "the samples of {} recorded columns take {} MiB of shared memory, and this machine has {} MiB for that: record fewer \
                 ([record] signals, --output-variable)",
                prepared.plan.signals.len(),
                wanted >> 20,
                most >> 20
            )));
        }
        let memory = SharedMemory::create("vecud", layout.words() * 8).map_err(|e| Error::System(e.to_string()))?;
        let preempt_rt = KernelFacts::read(&Tree::of_this_machine()).preempt_rt;
        let (stopped, state, runner, watcher, looks, report_wanted) = Default::default();
        let (dropped, paused, recorded) = Default::default();
        let stands = AtomicI64::new(i64::MAX);
        let lull = QuietPoint::of(&prepared.plan);
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
            stands,
            preempt_rt,
            dropped,
            paused,
            recorded,
            lull,
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

    /// Memory that is laid out in the same way, and that nobody else has; `None`: there is none. Where nothing is written to it
    /// takes none.
    pub fn another(&self) -> Option<Box<[AtomicU64]>> {
        zeroed(self.layout.words())
    }

    /// What [`SharedRig::another`] has given, seen through the layout.
    pub fn seen<'a>(&'a self, memory: &'a [AtomicU64]) -> Board<'a> {
        Board::new(memory, &self.layout)
    }

    /// A pause of at least that long, that ends where the look which comes then is not in the way of a release on the same core.
    pub fn on_to_a_lull(&self, pause: Duration) -> Duration {
        let time_base = || TimeBase::now(self.plan(), self.board(), self.prepared.begin());
        let Some((lull, time_base)) = self.lull.and_then(|lull| Some((lull, time_base()?))) else { return pause };
        Duration::from_nanos(lull.pause(time_base.instant(), Nanos(pause.as_nanos() as i64)).0 as u64)
    }

    /// Asks the runner for the end.
    pub fn ask_to_stop(&self) {
        self.stopped.store(true, SeqCst);
        self.board().global(Global::StopRequest).store(1, SeqCst);
    }

    /// Whether the runner was asked for the end.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(SeqCst)
    }

    /// Somebody wants a report of the run that goes on, or has it.
    pub fn want_report(&self, wanted: bool) {
        self.report_wanted.store(wanted, SeqCst);
    }

    /// Whether somebody wants a report of the run that goes on.
    pub fn wants_report(&self) -> bool {
        self.report_wanted.load(SeqCst)
    }

    /// The runner's process, when there is one.
    pub fn runner(&self) -> Option<u32> {
        Some(self.runner.load(SeqCst)).filter(|runner| *runner != 0)
    }

    /// The runner has been started.
    pub fn set_runner(&self, process: u32) {
        self.runner.store(process, SeqCst);
    }

    /// The calling thread watches a run until what is returned is dropped: in all that time it looks around every so often.
    pub fn on_watch(&self) -> OnWatch<'_> {
        self.watcher.store(current_tid(), SeqCst);
        OnWatch(self)
    }

    /// How the thread gets on that watches a run; `None`: none does.
    pub fn looks(&self) -> Option<Looks> {
        let thread = Some(self.watcher.load(SeqCst)).filter(|thread| *thread != 0)?;
        Some(Looks { count: self.looks.load(SeqCst), waits_for_disk: waits_for_disk(thread) })
    }

    /// Whether the runner says that the run pauses.
    pub fn is_paused(&self) -> bool {
        self.board().global(Global::Pause).load(SeqCst) == Pause::Paused as u64
    }

    /// How far the session is. Whether the run pauses is known at once, also where that was not reported yet.
    pub fn state(&self) -> SessionState {
        match self.state.load(SeqCst) {
            0 => SessionState::Starting,
            1 | 2 if self.is_paused() => SessionState::Paused,
            1 | 2 => SessionState::Running,
            3 => SessionState::Stopping,
            _ => SessionState::Over,
        }
    }

    /// The session is that far, which is reported where it is news.
    pub fn set_state(&self, state: SessionState, events: &EventSink) {
        if self.state.swap(state as u8, SeqCst) != state as u8 {
            events.tell(SessionEvent::State(state));
        }
    }

    /// In virtual time: an activation was seen to be under way since then, CLOCK_MONOTONIC in ns; `None`: none is.
    pub fn set_stands(&self, since: Option<i64>) {
        self.stands.store(since.unwrap_or(i64::MAX), SeqCst);
    }

    /// The activation of a task that has not returned for a while.
    fn running(&self, task: UnitId, standings: &[TaskProgress]) -> Option<LiveActivation> {
        let (plan, board) = (self.plan(), self.board());
        let running = match plan.mode {
            Mode::RealTime => standings[task.0].under_way?.running,
            Mode::Virtual => match board.task(task).get(TaskWord::Active) {
                1 => monotonic_now().saturating_sub(self.stands.load(SeqCst)),
                _ => return None,
            },
        };
        let held_up = held_up_by(plan, board, standings, task).is_some();
        (running >= SHOWN).then_some(LiveActivation { running: running as u64, held_up })
    }

    /// What the clocks have measured so far, or since the last [`SharedRig::begin_anew`].
    pub fn clocks(&self) -> Vec<ClockResult> {
        let all = self.all_of_clocks();
        match &*self.begun_anew.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(before) => all.into_iter().zip(before).map(|(now, before)| now.since(before)).collect(),
            None => all,
        }
    }

    /// What [`SharedRig::clocks`] tells begins anew; the run keeps all of it.
    pub fn begin_anew(&self) {
        *self.begun_anew.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.all_of_clocks());
    }

    /// What the clocks have measured since the run began.
    fn all_of_clocks(&self) -> Vec<ClockResult> {
        let (plan, board) = (self.plan(), self.board());
        let dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let clock = |(task, overruns)| {
            let own = tasks::clock(plan, board, UnitId(task), scheduling(board), &dropped);
            ClockResult { overruns, ..own }
        };
        self.overruns().into_iter().enumerate().map(clock).collect()
    }

    /// So many datagrams of each task that they activate were thrown away by the kernel so far.
    pub fn set_dropped(&self, dropped: Vec<(UnitId, u64)>) {
        *self.dropped.lock().unwrap_or_else(PoisonError::into_inner) = dropped;
    }

    /// So much was recorded so far.
    pub fn set_recorded(&self, recorded: RecordedTotals) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = recorded;
    }

    /// What the run has counted so far.
    pub fn totals(&self) -> Totals {
        let recorded = *self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        totals::totals(self.plan(), self.board(), &self.overruns(), recorded)
    }

    /// The standing of each task now.
    fn standings(&self) -> Vec<TaskProgress> {
        let (plan, board) = (self.plan(), self.board());
        let time_base = TimeBase::now(plan, board, self.prepared.begin());
        (0..plan.units.len()).map(|task| standing(plan, board, time_base, UnitId(task))).collect()
    }

    /// The overruns of each task, with those that the activation under way, or the one that is overdue, will have found. No look has fewer
    /// than one before, though a thread may just be counting.
    fn overruns(&self) -> Vec<u64> {
        let standings = self.standings();
        let told = standings.iter().zip(&self.told_overruns);
        told.map(|(own, told)| own.overruns().max(told.fetch_max(own.overruns(), SeqCst))).collect()
    }

    /// What is known of the run now.
    pub fn live(&self) -> Live {
        let (plan, board) = (self.plan(), self.board());
        let standings = self.standings();
        let row = |(task, planned)| {
            let cells = board.task(UnitId(task));
            LiveRow {
                name: plan.full_name(planned),
                activations: cells.get(TaskWord::Activations),
                overruns: standings[task].overruns(),
                under_way: self.running(UnitId(task), &standings),
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

/// How the thread gets on that watches a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// Grows with each look around. A thread whose number stays has not been around since.
    pub count: u64,
    /// Just now the kernel has it wait for a disk, in the midst of a look: however long that takes, nothing is wrong with the
    /// thread.
    pub waits_for_disk: bool,
}

/// A thread that watches a run.
#[must_use]
pub struct OnWatch<'a>(&'a SharedRig);

impl OnWatch<'_> {
    /// It looks around.
    pub fn look(&self) {
        self.0.looks.fetch_add(1, SeqCst);
    }
}

impl Drop for OnWatch<'_> {
    fn drop(&mut self) {
        self.0.watcher.store(0, SeqCst);
    }
}

//! Supervises the runner's threads from outside: sets their priorities, for which FMU code has no privilege, and checks
//! whether FMU code changes them.
//!
//! The runner announces its threads; that is only believed of threads of the runner's process. A check costs at most
//! [`AT_ONCE`] threads' worth of system calls, so that a thousand threads are checked in turns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use vecud_linux::scheduling::{self, Policy};
use vecud_linux::{SysError, affinity};
use vecud_plan::{FmuId, Plan, UnitId};
use vecud_record::board::{Board, Global, Phase, Scheduling, TaskWord, ThreadsState as Said};
use vecud_record::log::kind;
use vecud_report::FindingResult;

/// Interval between checks, ns.
const PERIOD: i64 = 100_000_000;
/// Number of threads in one check.
const AT_ONCE: usize = 128;

/// Scheduling of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    scheduling: scheduling::ThreadScheduling,
    cpus: BTreeSet<usize>,
}

impl State {
    fn of(tid: u32) -> Result<State, SysError> {
        Ok(State { scheduling: scheduling::scheduling_of(tid)?, cpus: affinity::allowed_cpus_of(tid)? })
    }

    fn words(&self) -> String {
        let scheduling::ThreadScheduling { policy, priority, nice, .. } = self.scheduling;
        let policy = match policy {
            Policy::Fifo => format!("SCHED_FIFO {priority}"),
            Policy::Other if nice == 0 => "SCHED_OTHER".to_owned(),
            Policy::Other => format!("SCHED_OTHER with the nice value {nice}"),
            Policy::Else(number) => format!("scheduling policy {number} with priority {priority}"),
        };
        let cpus: Vec<String> = self.cpus.iter().map(usize::to_string).collect();
        match cpus.as_slice() {
            [one] => format!("{policy} on core {one}"),
            several => format!("{policy} on cores {}", several.join(", ")),
        }
    }
}

#[derive(Clone)]
struct Watched {
    unit: UnitId,
    tid: u32,
    given: State,
    /// The highest priority of the instance, which the preemption lock gives to a holder during a section.
    ceiling: u8,
}

/// The threads of one run.
#[derive(Clone, Default)]
pub struct ThreadWatcher {
    /// Id of the runner's process.
    runner: u32,
    watched: Vec<Watched>,
    /// Whether all threads were given their planned priorities; `None`: the runner has not asked yet.
    are_scheduled: Option<bool>,
    /// Index at which the next check begins.
    next: usize,
    looked: i64,
    /// Changes by FMU code, by task.
    changed: BTreeMap<UnitId, String>,
}

/// The answer to the runner.
fn answer(are_scheduled: bool) -> Said {
    if are_scheduled { Said::Scheduled } else { Said::Refused }
}

/// Status (1 warning, 3 error), [kind] and text of a problem.
pub type Remark = (u8, &'static str, String);

impl ThreadWatcher {
    /// Supervises a process that has not announced threads yet.
    pub fn of(runner: u32) -> ThreadWatcher {
        ThreadWatcher { runner, ..ThreadWatcher::default() }
    }

    /// Sleeps, unless the runner waits for an answer, which it does in some phases.
    pub fn pause(&self, phase: Phase, board: Board, pause: Duration) {
        if !matches!(phase, Phase::Initialising | Phase::Stopping) {
            return std::thread::sleep(pause);
        }
        let mut left = pause;
        while !left.is_zero() && !matches!(board.threads(), Said::SetUp | Said::Leaving) {
            let slice = left.min(Duration::from_millis(1));
            std::thread::sleep(slice);
            left -= slice;
        }
    }

    /// Answers the runner, and checks its threads when due (`now`: CLOCK_MONOTONIC, ns).
    pub fn look(&mut self, plan: &Plan, board: Board, now: i64) -> Vec<Remark> {
        match board.threads() {
            // Once in a run, whatever FMU code writes there; the answer is repeated whenever the runner asks.
            Said::SetUp | Said::Scheduled if self.are_scheduled.is_none() => {
                let mut remarks = Vec::new();
                let all = self.schedule(plan, board, &mut remarks);
                self.are_scheduled = Some(all);
                board.set_threads(answer(all));
                return remarks;
            }
            Said::SetUp => board.set_threads(answer(self.are_scheduled == Some(true))),
            Said::Leaving => {
                self.look_at(board, 0..self.watched.len(), true);
                board.set_threads(Said::Seen);
            }
            Said::Scheduled if now - self.looked >= PERIOD => {
                self.looked = now;
                let end = (self.next + AT_ONCE).min(self.watched.len());
                self.look_at(board, self.next..end, false);
                self.next = if end == self.watched.len() { 0 } else { end };
            }
            _ => (),
        }
        Vec::new()
    }

    /// Changes by FMU code, as findings about an instance's tasks.
    pub fn findings(&self, plan: &Plan, fmu: FmuId) -> Option<FindingResult> {
        let mut own = self.changed.iter().filter(|(unit, _)| plan.units[unit.0].fmu == fmu);
        let count = own.clone().count() as u64;
        let (unit, what) = own.next()?;
        let planned = &plan.units[unit.0];
        let more = match count {
            1 => String::new(),
            _ => format!(", and so for {} more of its threads", count - 1),
        };
        let message = format!(
            "fmu `{}`: its code has changed how thread {} of {} is scheduled: {what}{more}",
            plan.fmus[fmu.0].name,
            plan.task_of(*unit).thread,
            plan.told_name(planned)
        );
        Some(FindingResult { kind: "thread_changed".into(), count, message })
    }

    /// Sets the priorities of all threads and records their scheduling. `false`: one could not be set.
    fn schedule(&mut self, plan: &Plan, board: Board, remarks: &mut Vec<Remark>) -> bool {
        let runners: BTreeSet<u32> = std::fs::read_dir(format!("/proc/{}/task", self.runner))
            .map(|tasks| tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()).collect())
            .unwrap_or_default();
        let fifo = board.global(Global::Scheduling).load(SeqCst) == Scheduling::Fifo as u64 + 1;
        // The kernel takes zero for the calling thread, and a thread of another process must not get a priority.
        let own = |tid: u64| {
            u32::try_from(tid).ok().filter(|tid| runners.contains(tid)).ok_or_else(|| {
                SysError::new(format!("find a thread {tid} in the runner"), 0, "FMU code has destroyed shared memory")
            })
        };
        let mut ceilings = vec![0; plan.fmus.len()];
        for planned in plan.units.iter().filter(|_| fifo) {
            ceilings[planned.fmu.0] = plan.tasks[planned.task.0].fifo.get().max(ceilings[planned.fmu.0]);
        }
        let mut all = true;
        for task in &plan.tasks {
            let unit = task.first();
            let scheduled = own(board.task(unit).get(TaskWord::Tid)).and_then(|tid| {
                if fifo {
                    scheduling::set_fifo_of(tid, task.fifo.get())?;
                }
                Ok((tid, State::of(tid)?))
            });
            match scheduled {
                Ok((tid, given)) => {
                    let ceiling = ceilings[plan.units[unit.0].fmu.0];
                    self.watched.push(Watched { unit, tid, given, ceiling });
                }
                Err(error) => {
                    remarks.push((3, kind::NOT_STARTED, format!("thread {}: {error}", task.thread)));
                    all = false;
                }
            }
        }
        let tid = |word| Some(board.global(word).load(SeqCst)).filter(|tid| fifo && *tid != 0);
        if let (Some(tid), Some(receiver)) = (tid(Global::ReceiverTid), plan.receiver)
            && let Err(error) = own(tid).and_then(|tid| scheduling::set_fifo_of(tid, receiver.fifo.get()))
        {
            remarks.push((3, kind::NOT_STARTED, format!("thread vecud.receiver: {error}")));
            all = false;
        }
        if let Some(tid) = tid(Global::WatchdogTid) {
            let above = (plan.host.fifo_band.1.get() + 1).min(99);
            if let Err(error) = own(tid).and_then(|tid| scheduling::set_fifo_of(tid, above)) {
                let what = "the watchdog is an ordinary thread, which a partition that never ends keeps from running";
                remarks.push((1, kind::NOT_REAL_TIME, format!("{what}: {error}")));
            }
        }
        all
    }

    /// Compares some threads with their assigned scheduling. `idle`: no partition is active any more.
    fn look_at(&mut self, board: Board, which: std::ops::Range<usize>, idle: bool) {
        for watched in self.watched.get(which).into_iter().flatten() {
            // A thread that has ended has no scheduling; its end is detected elsewhere.
            let Ok(now) = State::of(watched.tid) else { continue };
            let mut expected = watched.given.clone();
            let changed = now.scheduling;
            let raised = !idle && changed.policy == Policy::Fifo && changed.priority == watched.ceiling;
            let demoted = board.task(watched.unit).get(TaskWord::Demoted) == 1 && changed.policy == Policy::Other;
            if raised || demoted {
                expected.scheduling = changed;
            }
            if now != expected {
                let what = format!("{} now, not {}", now.words(), watched.given.words());
                self.changed.insert(watched.unit, what);
            }
        }
    }
}

//! A thread that takes the priority of a partition that runs for too long (semantics S17).
//!
//! The thread runs on a core without partitions, or above the band when there is none, and compares the processor time that an activation
//! has used with the clock's `max_execution`. Threads of FMU code that are confined to the core of a partition whose activation
//! has held it for [`LONG`] are moved to cores without partitions: the activation may be waiting for them, for ever. (Without its
//! priority it would go on all the same, with that of a thread that waits for it.)

use super::privileges::Say;
use super::realtime::SetUp;
use super::run_state::RunState;
use crossbeam::channel::bounded;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;
use vecud_base::time::Nanos;
use vecud_linux::preemption::Demotion;
use vecud_linux::{affinity, thread};
use vecud_plan::UnitId;
use vecud_record::board::{Global, Scheduling, TaskWord};
use vecud_record::findings::{FindingKind, Occurrence};
use vecud_record::log::kind;

/// Processor time after which the watchdog looks for threads that wait for the core: the kernel's own throttling gives them a
/// share by then, unless that is turned off.
const LONG: Nanos = Nanos(1_000_000_000);
/// How often it is looked where no clock has a limit.
const LOOK: Duration = Duration::from_millis(250);
/// A thread that is ready and does not run for this long is kept from running.
const WAIT: Duration = Duration::from_millis(20);

/// The running watchdog; dropping it stops it.
pub struct Watchdog {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

struct Watched {
    unit: UnitId,
    demotion: Demotion,
    limit: Option<Nanos>,
    /// The activation that is being watched, by its start, and the processor time at which it was first seen.
    seen: Option<(u64, i64)>,
}

impl Watchdog {
    /// Starts it where a clock has a limit, or where threads of FMU code could go elsewhere.
    pub fn start(run: &'static RunState, threads: Vec<SetUp>, say: Say) -> Watchdog {
        let stop = Arc::new(AtomicBool::new(false));
        let watched: Vec<Watched> = threads
            .into_iter()
            .map(|SetUp { unit, demotion, .. }| {
                let limit = run.plan.task_of(unit).limits.max_execution;
                Watched { unit, demotion, limit, seen: None }
            })
            .collect();
        let mut watchdog = Watchdog { stop: stop.clone(), thread: None };
        let has_work = watched.iter().any(|watched| watched.limit.is_some()) || !free_cpus(run).is_empty();
        if watched.is_empty() || run.scheduling != Scheduling::Fifo || !has_work {
            return watchdog;
        }
        let (ready, is_ready) = bounded::<()>(1);
        let body = move || {
            find_a_place(run);
            drop(ready);
            watch(run, watched, &stop);
        };
        match thread::spawn("vecud.watchdog", 256 * 1024, body) {
            Ok(thread) => watchdog.thread = Some(thread),
            Err(error) => say(1, kind::NOT_STARTED, &format!("no partition is watched: {error}")),
        }
        // Nothing is sent: it has its place when it drops its end.
        let _ = is_ready.recv();
        watchdog
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where partitions cannot keep the calling thread from running: on a core without any, else above their band, which is for
/// the supervisor to do.
fn find_a_place(run: &RunState) {
    let in_use = run.plan.cores();
    let free = affinity::allowed_cpus().ok().and_then(|cpus| cpus.into_iter().find(|cpu| !in_use.contains(cpu)));
    if free.is_none_or(|cpu| affinity::pin_to(cpu).is_err()) {
        run.board.global(Global::WatchdogTid).store(u64::from(thread::current_tid()), SeqCst);
    }
}

fn watch(run: &RunState, mut watched: Vec<Watched>, stop: &AtomicBool) {
    let shortest = watched.iter().filter_map(|watched| watched.limit).min();
    let period = shortest.map_or(LOOK, |limit| Duration::from_nanos((limit.0 / 4).clamp(1_000_000, 50_000_000) as u64));
    while !stop.load(SeqCst) {
        std::thread::sleep(period);
        for watched in &mut watched {
            look(run, watched);
        }
    }
}

fn look(run: &RunState, watched: &mut Watched) {
    let cells = run.board.task(watched.unit);
    if cells.get(TaskWord::Active) == 0 || watched.demotion.is_demoted() {
        watched.seen = None;
        return;
    }
    let started = cells.word(TaskWord::StartedAt).load(Relaxed);
    let Ok(used) = thread::cpu_time(cells.get(TaskWord::Tid) as u32) else { return };
    match watched.seen {
        Some((activation, before)) if activation == started => {
            let used = Nanos(used - before);
            if watched.limit.is_some_and(|limit| used > limit) {
                // Before the demotion: other observers of the thread have to see it.
                cells.word(TaskWord::Demoted).store(1, SeqCst);
                if watched.demotion.demote().is_err() {
                    cells.word(TaskWord::Demoted).store(0, SeqCst);
                }
            } else if used > LONG {
                free_the_kept(run, watched.unit);
            }
        }
        _ => watched.seen = Some((started, used)),
    }
}

/// Cores without partitions, among those of the first thread, which is bound to none.
fn free_cpus(run: &RunState) -> Vec<usize> {
    let in_use = run.plan.cores();
    let allowed = affinity::allowed_cpus_of(std::process::id()).unwrap_or_default();
    allowed.into_iter().filter(|cpu| !in_use.contains(cpu)).collect()
}

/// Moves threads that FMU code has made away from the core of a partition that keeps them from running.
fn free_the_kept(run: &RunState, unit: UnitId) {
    let kept = kept_from(run.plan.task_of(unit).cpu);
    let free = free_cpus(run);
    let moved = kept.into_iter().filter(|tid| affinity::move_to(*tid, &free).is_ok()).count() as u64;
    if moved > 0 {
        let seen = Occurrence { unit: Some(unit), value: moved, ..Occurrence::default() };
        run.board.fmu(run.plan.units[unit.0].fmu).findings().note(FindingKind::StarvedThreads, seen);
    }
}

/// Threads that FMU code has made, want this core, may run on no other, and get nothing of it.
fn kept_from(cpu: usize) -> Vec<u32> {
    let bound = |tid: &u32| affinity::allowed_cpus_of(*tid).is_ok_and(|cpus| cpus.len() == 1 && cpus.contains(&cpu));
    let waiting = |tid: u32| Some((tid, thread::cpu_time(tid).ok().filter(|_| thread::wants_to_run(tid))?));
    let before: Vec<(u32, i64)> =
        thread::of_others().unwrap_or_default().into_iter().filter(bound).filter_map(waiting).collect();
    if before.is_empty() {
        return Vec::new();
    }
    std::thread::sleep(WAIT);
    before.into_iter().filter(|seen| waiting(seen.0) == Some(*seen)).map(|seen| seen.0).collect()
}

//! A thread that takes the priority of a partition that runs for too long (semantics S17).
//!
//! It runs on a core without partitions, or above the band when there is none, and compares the processor time that an
//! activation has used with the clock's `max_execution`.

use super::realtime::SetUp;
use super::world::World;
use crate::plan::TaskId;
use crate::record::board::{Global, Scheduling, TaskWord};
use crate::sys::preemption::Demotion;
use crate::sys::{affinity, thread};
use crate::time::Nanos;
use crossbeam::channel::bounded;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;

/// The running watchdog; dropping it stops it.
pub struct Watchdog {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

struct Watched {
    task: TaskId,
    demotion: Demotion,
    limit: Nanos,
    /// The activation that is being watched, by its start, and the processor time at which it was first seen.
    seen: Option<(u64, i64)>,
}

impl Watchdog {
    /// Starts it if any clock has a limit.
    pub fn start(world: &'static World, threads: Vec<SetUp>, say: &dyn Fn(u8, &str)) -> Watchdog {
        let stop = Arc::new(AtomicBool::new(false));
        let watched: Vec<Watched> = threads
            .into_iter()
            .filter_map(|SetUp { task, demotion, .. }| {
                let limit = world.plan.tasks[task.0].limits.max_execution?;
                Some(Watched { task, demotion, limit, seen: None })
            })
            .collect();
        let mut watchdog = Watchdog { stop: stop.clone(), thread: None };
        if watched.is_empty() || world.scheduling != Scheduling::Fifo {
            return watchdog;
        }
        let (ready, is_ready) = bounded::<()>(1);
        let body = move || {
            find_a_place(world);
            drop(ready);
            watch(world, watched, &stop);
        };
        match thread::spawn("vecud.watchdog", 256 * 1024, body) {
            Ok(thread) => watchdog.thread = Some(thread),
            Err(error) => say(1, &format!("no partition is watched: {error}")),
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
fn find_a_place(world: &World) {
    let in_use: Vec<usize> = world.plan.tasks.iter().map(|task| task.cpu).collect();
    let free = affinity::allowed_cpus().ok().and_then(|cpus| cpus.into_iter().find(|cpu| !in_use.contains(cpu)));
    if free.is_none_or(|cpu| affinity::pin_to(cpu).is_err()) {
        world.board.global(Global::WatchdogTid).store(u64::from(thread::current_tid()), SeqCst);
    }
}

fn watch(world: &World, mut watched: Vec<Watched>, stop: &AtomicBool) {
    let shortest = watched.iter().map(|watched| watched.limit.0).min().unwrap_or(0);
    let period = Duration::from_nanos((shortest / 4).clamp(1_000_000, 50_000_000) as u64);
    while !stop.load(SeqCst) {
        std::thread::sleep(period);
        for watched in &mut watched {
            look(world, watched);
        }
    }
}

fn look(world: &World, watched: &mut Watched) {
    let cells = world.board.task(watched.task);
    if cells.get(TaskWord::Active) == 0 || watched.demotion.is_demoted() {
        watched.seen = None;
        return;
    }
    let started = cells.word(TaskWord::StartedAt).load(Relaxed);
    let Ok(used) = thread::cpu_time(cells.get(TaskWord::Tid) as u32) else { return };
    match watched.seen {
        Some((activation, before)) if activation == started => {
            if used - before > watched.limit.0 {
                // Before it is: whoever looks at the thread from outside has to know.
                cells.word(TaskWord::Demoted).store(1, SeqCst);
                if watched.demotion.demote().is_err() {
                    cells.word(TaskWord::Demoted).store(0, SeqCst);
                }
            }
        }
        _ => watched.seen = Some((started, used)),
    }
}

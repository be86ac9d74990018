//! Virtual time with a thread for each task, which run side by side: each makes its next step while the others make one.
//!
//! For independent FMUs that make steps, such as two instances of one FMU: shows whether they disturb each other, and whether one
//! minds calls from another thread than the one that instantiated it. Each task is a step ahead of the next one, since instances
//! that computed the same at once would leave the same in memory that they share.

use super::context::VirtualContext;
use super::end::{goes_on, left};
use super::moment::Moment;
use crate::activation::Activation;
use crate::run_state::RunState;
use crate::thread_host::{Dispatch, PartitionHost};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{Duration, Instant};
use vecud_fmi::set_thread_host;
use vecud_linux::preemption::LockMember;
use vecud_linux::{memory, thread};
use vecud_plan::TaskId;
use vecud_plan::schedule::{Agenda, Timeline};
use vecud_record::board::Global;

/// How long a thread waits for the others to begin at the same time.
const TOGETHER: Duration = Duration::from_millis(1);
/// The only task of an agenda.
const ONLY: TaskId = TaskId(0);

/// The progress of the threads.
struct Together {
    /// Per task: the turn that it is in or waits for; `u64::MAX`: it is done. Task n begins in turn n.
    turns: Vec<AtomicU64>,
    /// Per task: nothing of it happens any more up to this time, ns since the start of the run.
    complete: Vec<AtomicU64>,
}

impl Together {
    fn new(tasks: u64) -> Together {
        let complete = (0..tasks).map(|_| AtomicU64::new(0)).collect();
        Together { turns: (0..tasks).map(AtomicU64::new).collect(), complete }
    }

    /// `task` comes to a turn: waits until the others have come to it, but not for ever, as one of them may be in a long step.
    fn meet(&self, task: TaskId, turn: u64) {
        self.turns[task.0].store(turn, SeqCst);
        let from = Instant::now();
        while self.turns.iter().any(|other| other.load(SeqCst) < turn) && from.elapsed() < TOGETHER {
            // Where there is one core others get it.
            std::thread::yield_now();
        }
    }

    /// Tells the supervisor up to when the recording is complete.
    fn tell(&self, run: &RunState) {
        let all = self.complete.iter().map(|own| own.load(SeqCst)).min();
        all.into_iter().for_each(|time| _ = run.board.global(Global::Complete).fetch_max(time, SeqCst));
    }

    /// `task` is done.
    fn leave(&self, task: TaskId, run: &RunState) {
        self.turns[task.0].store(u64::MAX, SeqCst);
        self.complete[task.0].store(u64::MAX, SeqCst);
        self.tell(run);
    }
}

/// Runs all activations up to the stop time, or until the end of the run is requested, and returns them with the timelines.
/// `Err`: the system refuses threads.
pub fn run(
    run: &'static RunState,
    activations: Vec<Activation>,
    timelines: Vec<Timeline>,
) -> Result<(Vec<Activation>, Vec<Timeline>), String> {
    let together = Arc::new(Together::new(activations.len() as u64));
    memory::admit_stacks().map_err(|error| error.to_string())?;
    let mut threads = Vec::new();
    for (task, (activation, timeline)) in activations.into_iter().zip(timelines).enumerate() {
        let (task, together) = (TaskId(task), Arc::clone(&together));
        let body = move |_| {
            let done = serve(run, task, activation, timeline, &together);
            together.leave(task, run);
            done
        };
        let name = &run.plan.tasks[task.0].thread;
        threads.push(thread::spawn_deep(name, 0, body).map_err(|error| error.to_string())?);
    }
    let (mut activations, mut timelines) = (Vec::new(), Vec::new());
    for thread in threads {
        let (activation, agenda) =
            thread.join().map_err(|_| "a thread of FMU code has ended before the run".to_owned())?;
        activations.push(activation);
        timelines.extend(agenda.into_timelines());
    }
    Ok((activations, left(run, timelines)))
}

/// Runs the activations of a task until there are no more.
fn serve(
    run: &'static RunState,
    task: TaskId,
    mut activation: Activation,
    timeline: Timeline,
    together: &Together,
) -> (Activation, Agenda) {
    let events = Dispatch::Events(RefCell::default());
    let unit = run.plan.tasks[task.0].first();
    let host = PartitionHost::new(run, run.plan.units[unit.0].fmu, LockMember::outside(), events);
    // Leaked: FMU code may call back until the very end of the process.
    let host: &'static PartitionHost = Box::leak(Box::new(host));
    set_thread_host(Some(host));
    let mut context = VirtualContext::new(run, unit, &mut activation, host, &[]);
    let (mut agenda, mut moment) = (Agenda::new(vec![timeline]), Moment::default());
    let [reached, stop_request] = [Global::Reached, Global::StopRequest].map(|word| run.board.global(word));
    let (begin, tasks) = (run.plan.start.nanos(), run.plan.tasks.len() as u64);
    for count in 0.. {
        if !goes_on(run, &mut agenda, stop_request) || context.failed.load(Relaxed) || agenda.take().is_none() {
            break;
        }
        moment.follow(&agenda, begin, &together.complete[task.0]);
        together.tell(run);
        together.meet(task, count + task.0 as u64);
        let result = context.activate(run, agenda.due(), moment.seconds);
        // This agenda has no other task that it could tick.
        host.take_events(|_| ());
        if let Some(point) = context.activation.unit.take_point() {
            agenda.beside(ONLY, point);
        }
        if context.has(|rare| rare.recorded) && result.is_ok() {
            context.record(run, count * tasks + task.0 as u64, agenda.due());
        }
        reached.fetch_max(moment.since_start, Relaxed);
    }
    activation.finish(run, host);
    set_thread_host(None);
    (activation, agenda)
}

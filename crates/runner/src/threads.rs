//! Starts the partition threads at one instant, watches over the run, and joins them (semantics S14).

use super::activation::Activation;
use super::endpoints::{Receiver, Requests};
use super::pause::Pausing;
use super::privileges::{self, Say};
use super::realtime::{PartitionThread, SetUp, take_mail};
use super::reconfigure::{Reconfigurable, Reconfigurer};
use super::run_state::{Ending, RunState};
use super::surroundings::OutsideLook;
use super::watchdog::Watchdog;
use super::{state, stimuli};
use crossbeam::channel::unbounded;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;
use std::time::Duration;
use vecud_base::time::{Instant, Nanos};
use vecud_linux::clock::{self, SystemClock, monotonic_now};
use vecud_linux::{affinity, crash, memory, thread};
use vecud_plan::schedule::{QuietPoint, Timeline};
use vecud_plan::{TaskPlan, UnitId};
use vecud_record::board::{Global, Phase, Scheduling, TaskWord, ThreadsState};
use vecud_record::log::kind;

/// The result of a thread.
type Left = (Activation, Timeline);

/// How long the main thread looks away, at least, ns.
const LOOK: Nanos = Nanos(2_000_000);
/// How often it looks for an answer of the supervisor.
const ANSWER: Duration = Duration::from_micros(100);
/// The time that the supervisor has for its last look at the threads, ns.
const LAST_LOOK: i64 = 500_000_000;
/// An event that is handed over later than this after its arrival may find its time recorded as complete, ns.
const EVENTS_CLOSE: i64 = 50_000_000;
/// The time before the stop time that is never recorded as complete before the end, ns.
const LAST_EVENTS: i64 = 1_000_000;
/// Starts fall on whole multiples of this on the run's clock, plus the rig's phase (semantics S18), ns.
const START_GRID: i64 = 10_000_000;

/// Runs the plan in real time and returns the activations, so that the instances can be ended, and, if the state is saved, the
/// pending releases. `Err`: the threads could not be set up; an instance whose activations are not all there may not be touched
/// any more.
///
/// When a thread does not return in time this does not return either: the process ends.
pub fn run(
    run: &'static RunState,
    activations: Vec<Activation>,
    timelines: Vec<Timeline>,
    reconfigurable: Vec<Reconfigurable>,
    say: Say,
) -> Result<(Vec<Activation>, Vec<Timeline>), Vec<Activation>> {
    let (ready, is_ready) = unbounded();
    let mut threads = Vec::new();
    let mut problems = Vec::new();
    problems.extend(memory::admit_stacks().err().map(|error| error.to_string()));
    for ((planned, activation), timeline) in run.plan.tasks.iter().zip(activations).zip(timelines) {
        let unit = planned.first();
        // Nothing is released for them.
        planned.others().iter().for_each(|member| run.left(*member));
        let body = PartitionThread { run, unit, activation, measure: None, ready: ready.clone() };
        match thread::spawn_deep(&planned.thread, run.plan.host.stack_kib * 1024, |stack| body.run(timeline, stack)) {
            Ok(thread) => threads.push(thread),
            Err(error) => problems.push(error.to_string()),
        }
    }
    // So that a thread that dies before it is ready ends the wait for it.
    drop(ready);
    let mut set_up: Vec<SetUp> = Vec::new();
    for _ in &threads {
        match is_ready.recv() {
            Ok(Ok(thread)) => set_up.push(thread),
            Ok(Err(problem)) => problems.push(problem),
            Err(_) => problems.push("a partition thread ended before it was set up".to_owned()),
        }
    }
    let receiver = Receiver::start(run).unwrap_or_else(|problem| {
        problems.push(problem);
        None
    });
    for problem in &problems {
        say(3, kind::NOT_STARTED, problem);
    }
    let give_up = |receiver: Option<Receiver>, threads, reconfigurer| {
        run.end(Ending::Discard);
        receiver.into_iter().for_each(Receiver::join);
        let left = join(run, threads, reconfigurer, monotonic_now());
        Err(left.into_iter().map(|(activation, _)| activation).collect())
    };
    if !problems.is_empty() {
        return give_up(receiver, threads, None);
    }
    if let Some(error) = set_up.iter().find_map(|thread| thread.unrefined.as_ref()) {
        say(1, kind::NOT_REAL_TIME, &format!("WAKE-UPS MAY BE 50 µs LATER THAN THEY HAVE TO BE: {error}"));
    }
    if run.clock == SystemClock::Tai && clock::tai_offset() == 0 {
        let way_out = "start ptp4l and phc2sys, or use clock = \"monotonic\"";
        say(
            1,
            kind::CLOCK_NOT_SET,
            &format!("CLOCK_TAI IS NOT SET: the kernel has it equal to UTC, so nobody keeps it; {way_out}"),
        );
    }
    let reconfigurer = Reconfigurer::start(run, reconfigurable, say);
    let stacks = set_up
        .iter()
        .map(|thread| thread.stack.clone())
        .chain(receiver.iter().map(|receiver| receiver.stack.clone()))
        .collect();
    privileges::settle_memory(&run.plan, run.board, stacks, say);
    let watchdog = Watchdog::start(run, set_up, say);
    if !are_scheduled(run) {
        return give_up(receiver, threads, reconfigurer);
    }
    run.set_start(Nanos((run.now() / START_GRID + 4) * START_GRID).plus(run.plan.host.phase));
    run.board.set_phase(Phase::Running);
    receiver.iter().for_each(Receiver::receive);
    for task in &run.tasks {
        task.wake.wake();
    }
    let own = run.plan.cores();
    // Where threads cannot be pinned, which was reported, this is impossible, too.
    if let (true, Err(error)) = (run.pinned, affinity::keep_off(&own)) {
        say(1, kind::NOT_REAL_TIME, &error.to_string());
    }
    // From here on the threads wait by CLOCK_MONOTONIC.
    let asked = watch(run, receiver.as_ref()) - run.clock.ahead();
    receiver.iter().for_each(Receiver::close);
    run.board.set_phase(Phase::Stopping);
    let left = join(run, threads, reconfigurer, asked);
    let (activations, mut timelines): (Vec<_>, Vec<_>) = left.into_iter().unzip();
    receiver.into_iter().for_each(Receiver::join);
    for (task, unit) in run.plan.tasks.iter().map(TaskPlan::first).enumerate() {
        // Ticks of partitions, and of the receiver, that were still running when the thread that they were for had left.
        if run.saves
            && let Some(timeline) = timelines.get_mut(task)
        {
            take_mail(run, unit, timeline);
        }
        let left = std::iter::from_fn(|| run.tasks[unit.0].ticks.pop()).count();
        run.board.task(unit).count_shared(TaskWord::Discarded, left as u64);
    }
    if run.ending() == Ending::Discard && !run.saves {
        let reached = state::end_together(run, &mut timelines);
        run.board.global(Global::Reached).store(reached, SeqCst);
    }
    run.board.global(Global::Ended).store(monotonic_now() as u64, SeqCst);
    drop(watchdog);
    Ok((activations, timelines))
}

/// Has the supervisor give all threads their priorities, for which FMU code has no privilege. `false`: it could not, and has
/// reported why.
fn are_scheduled(run: &RunState) -> bool {
    run.board.set_threads(ThreadsState::SetUp);
    loop {
        match run.board.threads() {
            ThreadsState::Scheduled => return true,
            ThreadsState::Refused => return false,
            ThreadsState::SetUp => (),
            // FMU code has written over it.
            _ => run.board.set_threads(ThreadsState::SetUp),
        }
        std::thread::sleep(ANSWER);
    }
}

/// Lets the supervisor look at the threads of a run that has begun for the last time; does not wait for one that is busy.
fn are_seen(run: &RunState) {
    if run.board.threads() != ThreadsState::Scheduled {
        return;
    }
    run.board.set_threads(ThreadsState::Leaving);
    let until = monotonic_now() + LAST_LOOK;
    while run.board.threads() == ThreadsState::Leaving && monotonic_now() < until {
        std::thread::sleep(ANSWER);
    }
}

fn duration(nanos: Nanos) -> Duration {
    Duration::from_nanos(nanos.0 as u64)
}

/// Waits for the end of the run: by its stop time, a request, or a failure. Returns when it ended by the run's clock, less the
/// time for which a hanging instance was waited for already.
fn watch(run: &RunState, receiver: Option<&Receiver>) -> i64 {
    let mut pausing = Pausing::of(run, START_GRID);
    let quiet_point = QuietPoint::of(&run.plan);
    let mut requests = Requests::of(run);
    let mut outside = OutsideLook::new();
    let [complete, reached] = [Global::Complete, Global::Reached].map(|word| run.board.global(word));
    loop {
        let now = run.now();
        pausing.look(now);
        outside.look(run, now);
        if let Some(time) = complete_at(run, now) {
            complete.fetch_max(time, SeqCst);
            stimuli::set_floor(run, run.time_since_start(time));
        }
        // Comes after `now`: requests that are handed on now are not before it, or after the time at which the run is held.
        if let Some(requests) = &mut requests {
            requests.hand_on(run, None, pausing.is_held());
        }
        reached.store(reached_at(run, now), SeqCst);
        let given_up = run.give_up();
        if run.ending() != Ending::No {
            reached.store(reached_at(run, run.now()), SeqCst);
            return if given_up { now - run.plan.shutdown_timeout.0 } else { now };
        }
        if [Global::StopRequest, Global::OverdueTask].iter().any(|word| run.board.global(*word).load(SeqCst) != 0) {
            run.end(Ending::Discard);
            reached.store(reached_at(run, run.now()), SeqCst);
            return now;
        }
        if run.tasks.iter().all(|task| task.finished.load(SeqCst)) {
            return now;
        }
        let stop = run.plan.stop.filter(|_| !pausing.is_held()).map(|stop| run.wall(stop).0);
        if let Some(stop) = stop.filter(|stop| now >= *stop) {
            // Activations released and ticks raised before the stop time still run, unless they take for ever.
            let late = now - stop > run.plan.shutdown_timeout.0;
            // External events from before the stop time count among these.
            let received = receiver.is_none_or(Receiver::finish);
            if late || (received && run.is_quiet()) {
                run.end(if late { Ending::Discard } else { Ending::Finished });
                return stop;
            }
        }
        let now = run.simulation(Nanos(run.now()));
        std::thread::sleep(duration(quiet_point.map_or(LOOK, |quiet_point| quiet_point.pause(now, LOOK))));
    }
}

/// The simulation time that the run has reached at this wall clock, ns since its start.
fn reached_at(run: &RunState, now: i64) -> u64 {
    run.since_start(run.until(Nanos(now)))
}

/// [`RunState::complete`], with external events taken into account: their times are closed a moment after they have come.
fn complete_at(run: &RunState, now: i64) -> Option<u64> {
    if run.plan.receiver.is_none() {
        // A tick may be requested at any time from now on.
        let limit = if run.plan.requests.is_empty() { u64::MAX } else { run.since_start(run.simulation(Nanos(now))) };
        return run.complete().map(|complete| complete.min(limit));
    }
    let until = run.simulation(Nanos(now - EVENTS_CLOSE)).nanos();
    // Everything from before the stop time has room there, however late it is handed over.
    let until = run.plan.stop.map_or(until, |stop| until.min(stop.nanos().minus(Nanos(LAST_EVENTS))));
    if !run.horizon.close(until.0) {
        return None;
    }
    Some(run.complete()?.min(run.since_start(Instant::from_nanos(until))))
}

/// Waits for all threads, at most as long as the rig allows after the end was `asked` for, but never without a chance.
fn join(run: &RunState, threads: Vec<JoinHandle<Left>>, reconfigurer: Option<Reconfigurer>, asked: i64) -> Vec<Left> {
    const CHANCE: i64 = 100_000_000;
    // Longer than a tick of the kernel.
    const STARVES: Duration = Duration::from_millis(50);
    let chance = monotonic_now() + CHANCE;
    let deadline = asked.saturating_add(run.plan.shutdown_timeout.0).max(chance);
    let missing = || (0..run.tasks.len()).filter(|unit| !run.tasks[*unit].finished.load(SeqCst));
    let instance = |unit: usize| &run.instances[run.plan.units[unit].fmu.0];
    let is_given_up = |unit: usize| instance(unit).given_up.load(SeqCst);
    // The culprit is inside FMU code; others may only be waiting for it: at the gate, or for the lock that it holds.
    let hangs = || {
        let word = |unit: usize, word| run.board.task(UnitId(unit)).get(word);
        let active = |unit: usize| word(unit, TaskWord::Active) == 1;
        let holds = |unit: usize| {
            let holder = instance(unit).lock.holder();
            active(unit) && holder.is_some_and(|tid| u64::from(tid) == word(unit, TaskWord::Tid))
        };
        missing().min_by_key(|&unit| (!is_given_up(unit), !holds(unit), !active(unit)))
    };
    let exist = threads.len() == run.plan.tasks.len();
    let reconfigures = || reconfigurer.as_ref().is_some_and(|thread| !thread.has_left());
    // Instances that were given up were waited for already.
    let is_awaited = || reconfigures() || missing().any(|unit| !is_given_up(unit));
    while exist
        && (hangs().is_some() || reconfigures())
        && monotonic_now() < if is_awaited() { deadline } else { chance }
    {
        std::thread::sleep(duration(LOOK));
    }
    if exist && (hangs().is_some() || reconfigures()) {
        let global = |word| run.board.global(word);
        let outside = run.board.outside_call();
        // No other thread is inside of FMU code outside of activations: partitions wait for that one at their gates.
        match (outside.function, hangs()) {
            (0, Some(unit)) => {
                let word = |unit: usize, word| run.board.task(UnitId(unit)).get(word);
                let gets_no_core =
                    |unit: usize| thread::is_kept_from_running(word(unit, TaskWord::Tid) as u32, STARVES);
                // No thread of this rig keeps it from running.
                let is_beside = |other: usize| {
                    let cpu = |unit: usize| run.plan.task_of(UnitId(unit)).cpu;
                    other != unit && cpu(other) == cpu(unit) && word(other, TaskWord::Active) == 1
                };
                let is_urgent = run.scheduling == Scheduling::Fifo && !is_given_up(unit);
                let starves =
                    is_urgent && gets_no_core(unit) && !missing().any(|other| is_beside(other) && !gets_no_core(other));
                let word = if starves { Global::StarvedTask } else { Global::HungTask };
                global(word).store(unit as u64 + 1, SeqCst);
            }
            (0, None) => (),
            _ => global(Global::HungFmu).store(outside.fmu.map_or(0, |fmu| fmu.0 as u64 + 1), SeqCst),
        }
        run.board.global(Global::Ended).store(monotonic_now() as u64, SeqCst);
        crash::expect_exit();
        // Whatever the thread does in there, no instance can be ended while it does it.
        crash::exit_now(1);
    }
    if let Some(reconfigurer) = reconfigurer {
        reconfigurer.join();
    }
    are_seen(run);
    run.dismiss();
    threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
}

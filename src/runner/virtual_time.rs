//! Virtual time: the same plan in one thread, as fast as possible, execution taking zero time (design S15).
//!
//! Ordered by (time, merged order). No activation runs inside another: what a partition triggers runs after it has
//! returned and its outputs were read. Nothing here looks at a clock, so a run repeats byte for byte.

use super::activation::Activation;
use super::reconfigure::Reconfigurable;
use super::site::Site;
use super::state;
use super::stimuli::VirtualStimuli;
use super::thread_host::{Event, PartitionHost, virtual_flow};
use super::world::{Ending, World};
use crate::exchange::TickStamp;
use crate::ffi::set_thread_host;
use crate::fmu::description::IntervalVariability;
use crate::plan::{self, TaskId};
use crate::record::board::{Global, TaskWord};
use crate::record::trace::{Note, NoteRing};
use crate::schedule::{Agenda, Due, Timeline};
use crate::time::ToNanos;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::time::Duration;

/// What every activation of a task needs, side by side.
struct Lane<'a> {
    activation: &'a mut Activation,
    host: &'static PartitionHost,
    site: &'static Site,
    failed: &'static AtomicBool,
    /// What only some tasks have; `None`: nothing of it.
    rare: Option<Rare>,
}

/// What is to be done for a task beside its calls.
#[derive(Clone, Copy, Default, PartialEq)]
struct Rare {
    tunable: bool,
    changing: bool,
    recorded: bool,
    delays: bool,
    stimulated: bool,
    traced: bool,
    /// Structural parameters of its instance can be set.
    reconfigured: bool,
    /// Its activations can bring about something for other tasks.
    ticks: bool,
}

impl Lane<'_> {
    fn new<'a>(
        world: &'static World,
        task: TaskId,
        activation: &'a mut Activation,
        hosts: &[&'static PartitionHost],
        reconfigurable: &[Reconfigurable],
    ) -> Lane<'a> {
        let plan = &world.plan.tasks[task.0];
        let (host, site) = (hosts[plan.fmu.0], &world.sites[task.0]);
        let rare = Rare {
            tunable: plan.has_clock(IntervalVariability::Tunable),
            changing: plan.release == plan::Release::Changing,
            recorded: activation.is_recorded(),
            delays: activation.delays(),
            stimulated: activation.is_stimulated(),
            traced: site.trace.is_some(),
            reconfigured: reconfigurable.iter().any(|own| own.fmu == plan.fmu),
            ticks: !activation.is_plain() || host.can_tick(),
        };
        let rare = Some(rare).filter(|rare| *rare != Rare::default());
        Lane { activation, host, site, failed: &world.instances[plan.fmu.0].failed, rare }
    }
}

/// The instant that is worked off, as it is told to others.
#[derive(Default)]
struct Moment {
    /// [`Agenda::instant`].
    instant: u64,
    /// As FMUs get it.
    seconds: f64,
    /// Nanoseconds since the start of the run.
    since_start: u64,
}

/// Runs all activations up to the stop time, or until somebody asks for an end, and gives back what is left to be done.
/// `hosts` has one per instance.
pub fn run(
    world: &'static World,
    activations: &mut [Activation],
    hosts: &[&'static PartitionHost],
    timelines: Vec<Timeline>,
    reconfigurable: &[Reconfigurable],
) -> Vec<Timeline> {
    let plan = &world.plan;
    let begin = plan.start.nanos();
    let mut agenda = Agenda::new(timelines);
    let complete = world.board.global(Global::Complete);
    let reached = world.board.global(Global::Reached);
    let stop_request = world.board.global(Global::StopRequest);
    let mut stimuli = VirtualStimuli::new(world);
    let lane = |(task, activation)| Lane::new(world, TaskId(task), activation, hosts, reconfigurable);
    let mut lanes: Vec<Lane> = activations.iter_mut().enumerate().map(lane).collect();
    let mut nanos = ToNanos::default();
    let mut moment = Moment::default();
    let mut served = None;
    let mut order = 0;
    loop {
        // A run that is taken up again is not left in the midst of an instant, so that each has one row in the recording.
        let mut within = || {
            let now = agenda.due().time;
            world.saves && agenda.instant() > 0 && agenda.peek() == Some(now)
        };
        if world.ending() == Ending::Discard || (stop_request.load(Relaxed) != 0 && !within()) {
            world.end(Ending::Discard);
            break;
        }
        if !stimuli.wait(world, &mut agenda) {
            break;
        }
        let Some(task) = agenda.take() else { break };
        let Lane { activation, host, site, failed, rare } = &mut lanes[task.0];
        let (host, site): (&'static PartitionHost, &'static Site) = (host, site);
        let rare = rare.as_ref();
        if rare.is_some_and(|rare| rare.delays) {
            agenda.tell_next(task);
        }
        let due = agenda.due();
        let mut ends = false;
        if rare.is_some_and(|rare| rare.reconfigured)
            && let Some(own) = reconfigurable.iter().find(|own| own.fmu == host.fmu())
        {
            own.apply(world, host, due.time, || due.time);
            ends = world.ending() == Ending::Discard;
        }
        if ends || failed.load(Relaxed) {
            // Periodic releases after the end are none; pending ones are thrown away.
            if due.dispatched.is_some() {
                site.cells.count(TaskWord::Discarded, 1);
            }
            continue;
        }
        if rare.is_some_and(|rare| rare.stimulated) && !activation.stimulate(world, due.time) {
            site.cells.count(TaskWord::Discarded, 1);
            continue;
        }
        if moment.instant != agenda.instant() {
            // Whatever the two are, the difference is right: no time is before the start.
            let since_start = (nanos.of(&due.time).0 as u64).wrapping_sub(begin.0 as u64);
            moment = Moment { instant: agenda.instant(), seconds: due.time.seconds(), since_start };
            // One nanosecond less, since nanoseconds are rounded.
            complete.store(since_start.saturating_sub(1), Release);
        }
        if served.is_none_or(|served: &PartitionHost| !std::ptr::eq(served, host)) {
            set_thread_host(Some(host));
            served = Some(host);
        }
        crate::sys::crash::label_thread(task.0 as u64 + 1);
        if rare.is_some_and(|rare| rare.tunable) {
            world.tell_grid(task, agenda.grid(task));
        }
        host.begin(site, due);
        let trace = rare.filter(|rare| rare.traced).and(site.trace.as_ref());
        let trace = trace.map(|ring| (ring, world.board.next_in_order()));
        let result = activation.run(world, host, due, moment.seconds, &mut ());
        // Still in the name of this activation.
        host.returned_from_fmu();
        if let Err(halt) = &result {
            activation.fail();
            halt.note(host);
        }
        host.end();
        crate::sys::crash::label_thread(0);
        let activated = activation.computed();
        match activated {
            true => site.cells.count(TaskWord::Activations, 1),
            false => site.cells.count(TaskWord::Discarded, 1),
        }
        if let Some((ring, start)) = trace.filter(|_| activated) {
            trace_activation(world, ring, start, due);
        }
        if rare.is_some_and(|rare| rare.ticks) && host.has_events() {
            let since = due.time;
            // Nothing is late in virtual time.
            let stamp = |time| TickStamp { time, dispatched: world.wall(time), root: None };
            host.take_events(|event| match event {
                Event::Tick(target, time, root) => world.count(target, stamp(time), agenda.tick(target, time, root)),
                Event::Arm(target, time, root) => {
                    world.count_armed(target, stamp(time), agenda.arm(target, time, since, root));
                }
                Event::Retune(target, interval, from) => {
                    agenda.retune(target, interval, from);
                    world.tell_grid(target, agenda.grid(target));
                }
            });
        }
        if rare.is_some_and(|rare| rare.changing)
            && let Some(interval) = activation.take_next()
        {
            agenda.follow(task, interval, agenda.due().time);
        }
        order += 1;
        while rare.is_some_and(|rare| rare.recorded)
            && result.is_ok()
            && !activation.sample(world, host, order, agenda.due())
        {
            // Nothing is lost in virtual time: wait for the supervisor to read.
            std::thread::sleep(Duration::from_micros(100));
        }
        reached.store(moment.since_start, Relaxed);
    }
    let early = world.ending() == Ending::Discard;
    if let Some(stop) = plan.stop.filter(|_| !early) {
        reached.store(world.since_start(stop), Relaxed);
    }
    // After a regular end nothing waits but deadlines after the stop, which are nobody's loss.
    let mut timelines = agenda.into_timelines();
    if early && !world.saves {
        state::discard(world, &mut timelines);
    }
    timelines
}

/// Notes that an activation began at `start`, and ends now.
#[inline(never)]
fn trace_activation(world: &World, ring: &NoteRing, start: u64, due: &Due) {
    let (time, start) = (due.time.nanos().0, start as i64);
    let flow = due.dispatched.map_or(0, |_| virtual_flow(time));
    let (end, execution, retimed) = (world.board.next_in_order() as i64, 0, due.retimed);
    let (release, woken) = (start, start);
    world.trace_in(ring, Note::Activated { time, release, woken, start, end, execution, flow, retimed });
}

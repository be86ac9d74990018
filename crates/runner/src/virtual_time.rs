//! Virtual time: the same plan in one thread, as fast as possible, execution taking zero time (semantics S15).
//!
//! Ordered by (time, merged order). No activation runs inside another: what a partition triggers runs after it has
//! returned and its outputs were read. Nothing here looks at a clock, so a run repeats byte for byte.

pub mod side_by_side;
mod strides;

use self::strides::Strides;
use super::activation::Activation;
use super::halt::Halt;
use super::pause;
use super::reconfigure::Reconfigurable;
use super::requests::Requests;
use super::site::TaskTelemetry;
use super::state;
use super::stimuli::VirtualStimuli;
use super::surroundings;
use super::thread_host::{Event, PartitionHost, virtual_flow};
use super::world::{Ending, World};
use crate::exchange::TickStamp;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use vecud_base::time::{Instant, Nanos, ToNanos};
use vecud_description::IntervalVariability;
use vecud_fmi::{change_thread_host, set_thread_host};
use vecud_linux::crash::label_thread;
use vecud_plan::schedule::{Agenda, Due, Timeline};
use vecud_plan::{TaskPlan, UnitId};
use vecud_record::board::{Global, TaskWord};
use vecud_record::control::CommandOutcome;
use vecud_record::ring::Ring;
use vecud_record::trace::Note;

/// What every activation of a task needs, side by side.
struct Lane<'a> {
    activation: &'a mut Activation,
    host: &'static PartitionHost,
    site: &'static TaskTelemetry,
    failed: &'static AtomicBool,
    /// The unit whose figures are those of the task's releases.
    unit: UnitId,
    /// What only some tasks have; `None`: nothing of it.
    rare: Option<Rare>,
    /// Nothing is ever done for it but steps that can be usual.
    can_stride: bool,
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
    /// It can be released beside its grid.
    leaves_its_grid: bool,
    /// Activations of this task can bring about something for other tasks.
    ticks: bool,
    /// Its FMU can change what all FMUs have together.
    changes_process: bool,
}

impl Lane<'_> {
    fn new<'a>(
        world: &'static World,
        unit: UnitId,
        activation: &'a mut Activation,
        host: &'static PartitionHost,
        reconfigurable: &[Reconfigurable],
    ) -> Lane<'a> {
        let (plan, site) = (&world.plan.units[unit.0], &world.sites[unit.0]);
        let rare = Rare {
            tunable: plan.has_clock(IntervalVariability::Tunable),
            changing: plan.release == vecud_plan::Release::Changing,
            recorded: activation.is_recorded(),
            delays: activation.delays(),
            stimulated: activation.is_stimulated(),
            traced: site.trace.is_some(),
            reconfigured: reconfigurable.iter().any(|own| own.is_called_by(plan.fmu)),
            leaves_its_grid: activation.leaves_its_grid(),
            changes_process: surroundings::is_suspect(world, unit),
            ticks: !activation.is_plain() || host.can_tick() || activation.is_group(),
        };
        let of_steps = Rare { leaves_its_grid: true, ..Rare::default() };
        let can_stride = rare == of_steps && activation.can_stride();
        let rare = Some(rare).filter(|rare| *rare != Rare::default());
        Lane { activation, host, site, failed: &world.instances[plan.fmu.0].failed, unit, rare, can_stride }
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
    nanos: ToNanos,
}

impl Moment {
    /// Tells others, if the agenda has come to another instant, that nothing before it happens any more.
    #[inline(always)] // in the one loop there is
    fn follow(&mut self, agenda: &Agenda, begin: Nanos, complete: &AtomicU64) {
        if self.instant != agenda.instant() {
            self.instant = agenda.instant();
            // Not moved from there: what was written a moment ago in parts is slow to copy as a whole.
            self.come_to(&agenda.due().time, begin, complete);
        }
    }

    #[inline(always)] // in the two loops there are
    fn come_to(&mut self, time: &Instant, begin: Nanos, complete: &AtomicU64) {
        self.seconds = time.seconds();
        // Whatever the two are, the difference is right: no time is before the start.
        self.since_start = (self.nanos.of(time).0 as u64).wrapping_sub(begin.0 as u64);
        // One nanosecond less, since nanoseconds are rounded.
        complete.store(self.since_start.saturating_sub(1), Release);
    }
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
    let begin = world.plan.start.nanos();
    let mut agenda = Agenda::new(timelines);
    let complete = world.board.global(Global::Complete);
    let reached = world.board.global(Global::Reached);
    let [stop_request, pause_request] =
        [Global::StopRequest, Global::PauseRequest].map(|word| world.board.global(word));
    let mut stimuli = VirtualStimuli::new(world);
    let host = |unit: UnitId| hosts[world.plan.units[unit.0].fmu.0];
    let lane = |(unit, activation)| Lane::new(world, unit, activation, host(unit), reconfigurable);
    let units = world.plan.tasks.iter().map(TaskPlan::first);
    let mut lanes: Vec<Lane> = units.zip(activations).map(lane).collect();
    let mut strides = Strides::new(world, &lanes, &stimuli);
    let mut requests = Requests::of(world);
    let mut moment = Moment::default();
    let mut served = None;
    let mut order = 0;
    while goes_on(world, &mut agenda, stop_request) && stimuli.wait(world, &mut agenda) {
        if let Some(requests) = &mut requests {
            requests.hand_to(world, &mut agenda, CommandOutcome::Applied);
        }
        if pause_request.load(Relaxed) != 0 {
            // Not in the midst of an instant.
            if let Some(next) = agenda.peek()
                && agenda.instant() != moment.instant
            {
                complete.store(world.since_start(next).saturating_sub(1), Release);
                pause::wait(world, || {
                    requests.iter_mut().for_each(|own| own.hand_to(world, &mut agenda, CommandOutcome::Held));
                });
                continue;
            }
        } else if strides.make(world, &mut lanes, &mut agenda, &mut moment, &mut served) {
            continue;
        }
        let Some(task) = agenda.take() else { break };
        let lane = &mut lanes[task.0];
        if lane.has(|rare| rare.delays) {
            agenda.tell_next(task);
        }
        if !lane.may_run(world, agenda.due(), reconfigurable) {
            continue;
        }
        moment.follow(&agenda, begin, complete);
        lane.serve(&mut served);
        if lane.has(|rare| rare.tunable) {
            world.tell_grid(lane.unit, agenda.grid(task));
        }
        let result = lane.activate(world, agenda.due(), moment.seconds);
        if lane.has(|rare| rare.ticks) && lane.host.has_events() {
            hand_on(world, lane.host, &mut agenda);
        }
        if lane.has(|rare| rare.changing)
            && let Some(interval) = lane.activation.take_next()
        {
            agenda.follow(task, interval, agenda.due().time);
        }
        if lane.has(|rare| rare.leaves_its_grid)
            && let Some(point) = lane.activation.take_point()
        {
            agenda.beside(task, point);
        }
        order += 1;
        if lane.has(|rare| rare.recorded) && result.is_ok() {
            lane.record(world, order, agenda.due());
        }
        reached.store(moment.since_start, Relaxed);
    }
    for lane in &mut lanes {
        lane.activation.finish(world, lane.host);
    }
    left(world, agenda.into_timelines())
}

/// The timelines at the end, with the activations that are left to be done.
fn left(world: &World, mut timelines: Vec<Timeline>) -> Vec<Timeline> {
    let early = world.ending() == Ending::Discard;
    if let Some(stop) = world.plan.stop.filter(|_| !early) {
        world.board.global(Global::Reached).store(world.since_start(stop), Relaxed);
    }
    // After a regular end nothing waits but deadlines after the stop, which are nobody's loss.
    if early && !world.saves {
        state::discard(world, &mut timelines);
    }
    timelines
}

/// Whether nobody has asked for an end. A run that is taken up again is not left in the midst of an instant, so that each has
/// one row in the recording.
#[inline(always)] // in the one loop there is
fn goes_on(world: &World, agenda: &mut Agenda, stop_request: &AtomicU64) -> bool {
    let mut within = || {
        let now = agenda.due().time;
        world.saves && agenda.instant() > 0 && agenda.peek() == Some(now)
    };
    let ends = world.ending() == Ending::Discard || (stop_request.load(Relaxed) != 0 && !within());
    if ends {
        world.end(Ending::Discard);
    }
    !ends
}

/// Puts what the callbacks of an activation have brought about into the agenda.
#[inline(always)] // in the one loop there is
fn hand_on(world: &World, host: &PartitionHost, agenda: &mut Agenda) {
    let since = agenda.due().time;
    // Nothing is late in virtual time.
    let stamp = |time| TickStamp { time, dispatched: world.wall(time), root: None };
    host.take_events(|event| match event {
        Event::Tick(target, time, root) => {
            world.count(target, stamp(time), agenda.tick(world.task_of[target.0], time, root))
        }
        Event::Arm(target, time, root) => {
            world.count_armed(target, stamp(time), agenda.arm(world.task_of[target.0], time, since, root));
        }
        Event::Retune(target, interval, from) => {
            let task = world.task_of[target.0];
            agenda.retune(task, interval, from);
            world.tell_grid(target, agenda.grid(task));
        }
    });
}

impl Lane<'_> {
    /// The thread serves its FMU; `served` is the host of the last one.
    #[inline(always)] // in the two loops there are
    fn serve(&self, served: &mut Option<&'static PartitionHost>) {
        match *served {
            Some(served) if std::ptr::eq(served, self.host) => return,
            Some(_) => change_thread_host(self.host),
            None => drop(set_thread_host(Some(self.host))),
        }
        *served = Some(self.host);
    }

    /// Whether the task has something that only some have.
    #[inline(always)]
    fn has(&self, what: impl FnOnce(&Rare) -> bool) -> bool {
        self.rare.as_ref().is_some_and(what)
    }

    /// Whether the activation `due` takes place: neither the run nor the instance has ended, and what stimuli have for it is
    /// there.
    #[inline(always)] // in the one loop there is
    fn may_run(&mut self, world: &World, due: &Due, reconfigurable: &[Reconfigurable]) -> bool {
        let mut ends = false;
        if self.has(|rare| rare.reconfigured) {
            for own in reconfigurable.iter().filter(|own| own.is_called_by(self.host.fmu())) {
                own.apply(world, self.host, due.time, || due.time);
            }
            ends = world.ending() == Ending::Discard;
        }
        if ends || self.failed.load(Relaxed) {
            // Periodic releases after the end are none; pending ones are thrown away.
            if due.dispatched.is_some() {
                self.site.cells.count(TaskWord::Discarded, 1);
            }
            return false;
        }
        if self.has(|rare| rare.stimulated) && !self.activation.stimulate(world, due) {
            self.site.cells.count(TaskWord::Discarded, 1);
            // The run ends here, and others that were released at this instant are discarded as well.
            world.board.global(Global::Reached).fetch_max(world.since_start(due.time), Relaxed);
            return false;
        }
        true
    }

    /// Runs the activation `due`, which is so many `seconds`, and counts it.
    #[inline(always)] // in the one loop there is
    fn activate(&mut self, world: &'static World, due: &Due, seconds: f64) -> Result<(), Halt> {
        let Lane { host, site, unit, .. } = *self;
        label_thread(unit.0 as u64 + 1);
        host.begin(site, due);
        let ring = if self.has(|rare| rare.traced) { site.trace.as_ref() } else { None };
        let trace = ring.map(|ring| (ring, world.board.next_in_order()));
        let result = self.activation.run(world, host, due, seconds, &mut ());
        // Still in the name of this activation.
        host.returned_from_fmu();
        if let Err(halt) = &result {
            self.activation.fail();
            halt.note(host);
        }
        host.end();
        if self.has(|rare| rare.changes_process) {
            surroundings::look_after(world, unit);
        }
        label_thread(0);
        let computed = self.count();
        if let Some((ring, start)) = trace.filter(|_| computed) {
            trace_activation(world, ring, start, due);
        }
        result
    }

    /// Counts the activation that is over, and tells whether it came to the call that computes.
    #[inline(always)] // in the two loops there are
    fn count(&self) -> bool {
        let computed = self.activation.computed();
        if computed {
            self.site.cells.count(TaskWord::Activations, 1);
        } else {
            self.site.cells.count(TaskWord::Discarded, 1);
        }
        computed
    }

    /// Records the activation `due`, which finds room: nothing is lost in virtual time.
    #[inline(always)] // in the one loop there is
    fn record(&self, world: &World, order: u64, due: &Due) {
        self.activation.sample(world, self.host, order, due);
    }
}

/// Notes that an activation began at `start`, and ends now.
#[inline(never)]
fn trace_activation(world: &World, ring: &Ring, start: u64, due: &Due) {
    let (time, start) = (due.time.nanos().0, start as i64);
    let flow = due.dispatched.map_or(0, |_| virtual_flow(time));
    let (end, execution, retimed) = (world.board.next_in_order() as i64, 0, due.retimed);
    let (release, woken) = (start, start);
    world.trace_in(ring, Note::Activated { time, release, woken, start, end, execution, flow, retimed });
}

//! Virtual time: the same plan in one thread, as fast as possible, execution taking zero time (semantics S15).
//!
//! Ordered by (time, merged order). No activation runs inside another: tasks that a partition triggers run after it has returned
//! and its outputs were read. Nothing here looks at a clock, so a run repeats byte for byte.

mod batch_stepping;
pub mod side_by_side;

use self::batch_stepping::BatchStepping;
use super::activation::Activation;
use super::activation_error::ActivationError;
use super::endpoints::Requests;
use super::pause;
use super::reconfigure::Reconfigurable;
use super::run_state::{Ending, RunState};
use super::state;
use super::stimuli::VirtualStimuli;
use super::surroundings;
use super::task_telemetry::TaskTelemetry;
use super::thread_host::{Event, PartitionHost, virtual_flow};
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

/// The context of a task, with all data that every activation needs at hand.
struct VirtualContext<'a> {
    activation: &'a mut Activation,
    host: &'static PartitionHost,
    telemetry: &'static TaskTelemetry,
    failed: &'static AtomicBool,
    /// The unit whose figures are those of the task's releases.
    unit: UnitId,
    /// The features that only some tasks have; `None`: it has none.
    rare: Option<Rare>,
    /// Its releases are nothing but steps that the fast path can make.
    can_batch: bool,
}

/// Work for a task beside its calls.
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
    /// The task can be released beside its grid.
    leaves_its_grid: bool,
    /// Activations of this task can bring about something for other tasks.
    ticks: bool,
    /// Its FMU can change state that all FMUs share.
    changes_process: bool,
}

impl VirtualContext<'_> {
    fn new<'a>(
        run: &'static RunState,
        unit: UnitId,
        activation: &'a mut Activation,
        host: &'static PartitionHost,
        reconfigurable: &[Reconfigurable],
    ) -> VirtualContext<'a> {
        let (plan, telemetry) = (&run.plan.units[unit.0], &run.telemetry[unit.0]);
        let rare = Rare {
            tunable: plan.has_clock(IntervalVariability::Tunable),
            changing: plan.release == vecud_plan::Release::Changing,
            recorded: activation.is_recorded(),
            delays: activation.delays(),
            stimulated: activation.is_stimulated(),
            traced: telemetry.trace.is_some(),
            reconfigured: reconfigurable.iter().any(|own| own.is_called_by(plan.fmu)),
            leaves_its_grid: activation.leaves_its_grid(),
            changes_process: surroundings::is_suspect(run, unit),
            ticks: !activation.is_plain() || host.can_tick() || activation.is_group(),
        };
        let of_steps = Rare { leaves_its_grid: true, ..Rare::default() };
        let can_batch = rare == of_steps && activation.can_batch();
        let rare = Some(rare).filter(|rare| *rare != Rare::default());
        VirtualContext { activation, host, telemetry, failed: &run.instances[plan.fmu.0].failed, unit, rare, can_batch }
    }
}

/// The present instant, as others see it.
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
            // Borrowed instead of moved: parts that were written a moment ago are slow to copy as a whole.
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

/// Runs all activations up to the stop time, or until the end of the run is requested, and returns the pending releases. `hosts`
/// has one per instance.
pub fn run(
    run: &'static RunState,
    activations: &mut [Activation],
    hosts: &[&'static PartitionHost],
    timelines: Vec<Timeline>,
    reconfigurable: &[Reconfigurable],
) -> Vec<Timeline> {
    let begin = run.plan.start.nanos();
    let mut agenda = Agenda::new(timelines);
    let complete = run.board.global(Global::Complete);
    let reached = run.board.global(Global::Reached);
    let [stop_request, pause_request] = [Global::StopRequest, Global::PauseRequest].map(|word| run.board.global(word));
    let mut stimuli = VirtualStimuli::new(run);
    let host = |unit: UnitId| hosts[run.plan.units[unit.0].fmu.0];
    let context = |(unit, activation)| VirtualContext::new(run, unit, activation, host(unit), reconfigurable);
    let units = run.plan.tasks.iter().map(TaskPlan::first);
    let mut contexts: Vec<VirtualContext> = units.zip(activations).map(context).collect();
    let mut batches = BatchStepping::new(run, &contexts, &stimuli);
    let mut requests = Requests::of(run);
    let mut moment = Moment::default();
    let mut served = None;
    let mut order = 0;
    while goes_on(run, &mut agenda, stop_request) && stimuli.wait(run, &mut agenda) {
        if let Some(requests) = &mut requests {
            requests.hand_to(run, &mut agenda, CommandOutcome::Applied);
        }
        if pause_request.load(Relaxed) != 0 {
            // Not in the midst of an instant.
            if let Some(next) = agenda.peek()
                && agenda.instant() != moment.instant
            {
                complete.store(run.since_start(next).saturating_sub(1), Release);
                pause::wait(run, || {
                    requests.iter_mut().for_each(|own| own.hand_to(run, &mut agenda, CommandOutcome::Held));
                });
                continue;
            }
        } else if batches.make(run, &mut contexts, &mut agenda, &mut moment, &mut served) {
            continue;
        }
        let Some(task) = agenda.take() else { break };
        let context = &mut contexts[task.0];
        if context.has(|rare| rare.delays) {
            agenda.tell_next(task);
        }
        if !context.may_run(run, agenda.due(), reconfigurable) {
            continue;
        }
        moment.follow(&agenda, begin, complete);
        context.serve(&mut served);
        if context.has(|rare| rare.tunable) {
            run.tell_grid(context.unit, agenda.grid(task));
        }
        let result = context.activate(run, agenda.due(), moment.seconds);
        if context.has(|rare| rare.ticks) && context.host.has_events() {
            hand_on(run, context.host, &mut agenda);
        }
        if context.has(|rare| rare.changing)
            && let Some(interval) = context.activation.take_next()
        {
            agenda.follow(task, interval, agenda.due().time);
        }
        if context.has(|rare| rare.leaves_its_grid)
            && let Some(point) = context.activation.take_point()
        {
            agenda.beside(task, point);
        }
        order += 1;
        if context.has(|rare| rare.recorded) && result.is_ok() {
            context.record(run, order, agenda.due());
        }
        reached.store(moment.since_start, Relaxed);
    }
    for context in &mut contexts {
        context.activation.finish(run, context.host);
    }
    left(run, agenda.into_timelines())
}

/// The timelines at the end, with the activations that are left to be done.
fn left(run: &RunState, mut timelines: Vec<Timeline>) -> Vec<Timeline> {
    let early = run.ending() == Ending::Discard;
    if let Some(stop) = run.plan.stop.filter(|_| !early) {
        run.board.global(Global::Reached).store(run.since_start(stop), Relaxed);
    }
    // After a regular end only deadlines after the stop wait, and nothing is lost with them.
    if early && !run.saves {
        state::discard(run, &mut timelines);
    }
    timelines
}

/// Whether no end is requested. A run whose state is saved is not left in the midst of an instant, so that each has one row in
/// the recording.
#[inline(always)] // in the one loop there is
fn goes_on(run: &RunState, agenda: &mut Agenda, stop_request: &AtomicU64) -> bool {
    let mut within = || {
        let now = agenda.due().time;
        run.saves && agenda.instant() > 0 && agenda.peek() == Some(now)
    };
    let ends = run.ending() == Ending::Discard || (stop_request.load(Relaxed) != 0 && !within());
    if ends {
        run.end(Ending::Discard);
    }
    !ends
}

/// Moves the events of an activation's callbacks to the agenda.
#[inline(always)] // in the one loop there is
fn hand_on(run: &RunState, host: &PartitionHost, agenda: &mut Agenda) {
    let since = agenda.due().time;
    // Nothing is late in virtual time.
    let stamp = |time| TickStamp { time, dispatched: run.wall(time), root: None };
    host.take_events(|event| match event {
        Event::Tick(target, time, root) => {
            run.count(target, stamp(time), agenda.tick(run.task_of[target.0], time, root))
        }
        Event::Arm(target, time, root) => {
            run.count_armed(target, stamp(time), agenda.arm(run.task_of[target.0], time, since, root));
        }
        Event::Retune(target, interval, from) => {
            let task = run.task_of[target.0];
            agenda.retune(task, interval, from);
            run.tell_grid(target, agenda.grid(task));
        }
    });
}

impl VirtualContext<'_> {
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

    /// Whether the activation `due` takes place: neither the run nor the instance has ended, and the stimuli's values for it are
    /// there.
    #[inline(always)] // in the one loop there is
    fn may_run(&mut self, run: &RunState, due: &Due, reconfigurable: &[Reconfigurable]) -> bool {
        let mut ends = false;
        if self.has(|rare| rare.reconfigured) {
            for own in reconfigurable.iter().filter(|own| own.is_called_by(self.host.fmu())) {
                own.apply(run, self.host, due.time, || due.time);
            }
            ends = run.ending() == Ending::Discard;
        }
        if ends || self.failed.load(Relaxed) {
            // Periodic releases after the end are none; pending ones are thrown away.
            if due.dispatched.is_some() {
                self.telemetry.cells.count(TaskWord::Discarded, 1);
            }
            return false;
        }
        if self.has(|rare| rare.stimulated) && !self.activation.stimulate(run, due) {
            self.telemetry.cells.count(TaskWord::Discarded, 1);
            // The run ends here, and others that were released at this instant are discarded as well.
            run.board.global(Global::Reached).fetch_max(run.since_start(due.time), Relaxed);
            return false;
        }
        true
    }

    /// Runs the activation `due`, whose time is `seconds`, and counts it.
    #[inline(always)] // in the one loop there is
    fn activate(&mut self, run: &'static RunState, due: &Due, seconds: f64) -> Result<(), ActivationError> {
        let VirtualContext { host, telemetry, unit, .. } = *self;
        label_thread(unit.0 as u64 + 1);
        host.begin(telemetry, due);
        let ring = if self.has(|rare| rare.traced) { telemetry.trace.as_ref() } else { None };
        let trace = ring.map(|ring| (ring, run.board.next_in_order()));
        let result = self.activation.run(run, host, due, seconds, &mut ());
        // Still in the name of this activation.
        host.returned_from_fmu();
        if let Err(error) = &result {
            self.activation.fail();
            error.note(host);
        }
        host.end();
        if self.has(|rare| rare.changes_process) {
            surroundings::look_after(run, unit);
        }
        label_thread(0);
        let computed = self.count();
        if let Some((ring, start)) = trace.filter(|_| computed) {
            trace_activation(run, ring, start, due);
        }
        result
    }

    /// Counts the activation that is over. Returns whether it came to the call that computes.
    #[inline(always)] // in the two loops there are
    fn count(&self) -> bool {
        let computed = self.activation.computed();
        if computed {
            self.telemetry.cells.count(TaskWord::Activations, 1);
        } else {
            self.telemetry.cells.count(TaskWord::Discarded, 1);
        }
        computed
    }

    /// Records the activation `due`, which finds room: nothing is lost in virtual time.
    #[inline(always)] // in the one loop there is
    fn record(&self, run: &RunState, order: u64, due: &Due) {
        self.activation.sample(run, self.host, order, due);
    }
}

/// Notes that an activation began at `start`, and ends now.
#[inline(never)]
fn trace_activation(run: &RunState, ring: &Ring, start: u64, due: &Due) {
    let (time, start) = (due.time.nanos().0, start as i64);
    let flow = due.dispatched.map_or(0, |_| virtual_flow(time));
    let (end, execution, retimed) = (run.board.next_in_order() as i64, 0, due.retimed);
    let (release, woken) = (start, start);
    run.trace_in(ring, Note::Activated { time, release, woken, start, end, execution, flow, retimed });
}

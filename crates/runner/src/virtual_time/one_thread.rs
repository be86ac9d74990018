//! The loop over all activations of a run, in one thread.

use super::batch_stepping::BatchStepping;
use super::context::VirtualContext;
use super::end::{goes_on, left};
use super::moment::Moment;
use crate::activation::Activation;
use crate::endpoints::Requests;
use crate::exchange::TickStamp;
use crate::pause;
use crate::reconfigure::Reconfigurable;
use crate::run_state::RunState;
use crate::stimuli::VirtualStimuli;
use crate::thread_host::{Event, PartitionHost};
use std::sync::atomic::Ordering::{Relaxed, Release};
use vecud_plan::schedule::{Agenda, Timeline};
use vecud_plan::{TaskPlan, UnitId};
use vecud_record::board::Global;

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
            requests.hand_on(run, Some(&mut agenda), false);
        }
        if pause_request.load(Relaxed) != 0 {
            // Not in the midst of an instant.
            if let Some(next) = agenda.peek()
                && agenda.instant() != moment.instant
            {
                complete.store(run.since_start(next).saturating_sub(1), Release);
                pause::wait(run, || {
                    requests.iter_mut().for_each(|own| own.hand_on(run, Some(&mut agenda), true));
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
            && let Some(interval) = context.activation.unit.take_next()
        {
            agenda.follow(task, interval, agenda.due().time);
        }
        if context.has(|rare| rare.leaves_its_grid)
            && let Some(point) = context.activation.unit.take_point()
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

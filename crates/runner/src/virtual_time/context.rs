//! The context of a task in virtual time, and the way of an activation through it.

use crate::activation::Activation;
use crate::activation_error::ActivationError;
use crate::reconfigure::Reconfigurable;
use crate::run_state::{Ending, RunState};
use crate::surroundings;
use crate::task_telemetry::TaskTelemetry;
use crate::thread_host::{PartitionHost, virtual_flow};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use vecud_description::IntervalVariability;
use vecud_fmi::{change_thread_host, set_thread_host};
use vecud_linux::crash::label_thread;
use vecud_plan::UnitId;
use vecud_plan::schedule::Due;
use vecud_record::board::{Global, TaskWord};
use vecud_record::ring::Ring;
use vecud_record::trace::Note;

/// The context of a task, with all data that every activation needs at hand.
pub(super) struct VirtualContext<'a> {
    pub(super) activation: &'a mut Activation,
    pub(super) host: &'static PartitionHost,
    pub(super) telemetry: &'static TaskTelemetry,
    pub(super) failed: &'static AtomicBool,
    /// The unit whose figures are those of the task's releases.
    pub(super) unit: UnitId,
    /// The features that only some tasks have; `None`: it has none.
    rare: Option<Rare>,
    /// Its releases are nothing but steps that the fast path can make.
    pub(super) can_batch: bool,
}

/// Work for a task beside its calls.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Rare {
    pub(super) tunable: bool,
    pub(super) changing: bool,
    pub(super) recorded: bool,
    pub(super) delays: bool,
    stimulated: bool,
    traced: bool,
    /// Structural parameters of its instance can be set.
    reconfigured: bool,
    /// The task can be released beside its grid.
    pub(super) leaves_its_grid: bool,
    /// Activations of this task can bring about something for other tasks.
    pub(super) ticks: bool,
    /// Its FMU can change state that all FMUs share.
    changes_process: bool,
}

impl VirtualContext<'_> {
    pub(super) fn new<'a>(
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
            delays: activation.calls.delays(),
            stimulated: activation.is_stimulated(),
            traced: telemetry.trace.is_some(),
            reconfigured: reconfigurable.iter().any(|own| own.is_called_by(plan.fmu)),
            leaves_its_grid: activation.unit.leaves_its_grid(),
            changes_process: surroundings::is_suspect(run, unit),
            ticks: !activation.calls.is_plain() || host.can_tick() || activation.unit.is_group(),
        };
        let of_steps = Rare { leaves_its_grid: true, ..Rare::default() };
        let can_batch = rare == of_steps && activation.can_batch();
        let rare = Some(rare).filter(|rare| *rare != Rare::default());
        VirtualContext { activation, host, telemetry, failed: &run.instances[plan.fmu.0].failed, unit, rare, can_batch }
    }
}

impl VirtualContext<'_> {
    /// The thread serves its FMU; `served` is the host of the last one.
    #[inline(always)] // in the two loops there are
    pub(super) fn serve(&self, served: &mut Option<&'static PartitionHost>) {
        match *served {
            Some(served) if std::ptr::eq(served, self.host) => return,
            Some(_) => change_thread_host(self.host),
            None => drop(set_thread_host(Some(self.host))),
        }
        *served = Some(self.host);
    }

    /// Whether the task has something that only some have.
    #[inline(always)]
    pub(super) fn has(&self, what: impl FnOnce(&Rare) -> bool) -> bool {
        self.rare.as_ref().is_some_and(what)
    }

    /// Whether the activation `due` takes place: neither the run nor the instance has ended, and the stimuli's values for it are
    /// there.
    #[inline(always)] // in the one loop there is
    pub(super) fn may_run(&mut self, run: &RunState, due: &Due, reconfigurable: &[Reconfigurable]) -> bool {
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
    pub(super) fn activate(&mut self, run: &'static RunState, due: &Due, seconds: f64) -> Result<(), ActivationError> {
        let VirtualContext { host, telemetry, unit, .. } = *self;
        label_thread(unit.0 as u64 + 1);
        host.begin(telemetry, due);
        let ring = if self.has(|rare| rare.traced) { telemetry.trace.as_ref() } else { None };
        let trace = ring.map(|ring| (ring, run.board.next_in_order()));
        let result = self.activation.run(run, host, due, seconds, &mut ());
        // Still in the name of this activation.
        host.returned_from_fmu();
        if let Err(error) = &result {
            self.activation.unit.fail();
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
    pub(super) fn count(&self) -> bool {
        let computed = self.activation.calls.computed();
        if computed {
            self.telemetry.cells.count(TaskWord::Activations, 1);
        } else {
            self.telemetry.cells.count(TaskWord::Discarded, 1);
        }
        computed
    }

    /// Records the activation `due`, which finds room: nothing is lost in virtual time.
    #[inline(always)] // in the one loop there is
    pub(super) fn record(&self, run: &RunState, order: u64, due: &Due) {
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

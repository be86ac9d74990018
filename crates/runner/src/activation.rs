//! One activation: sets inputs from connections and stimuli, makes the [calls](Calls) of its unit, and records the results
//! (semantics S10). The same code in real and in virtual time.

use super::activation_error::ActivationError;
use super::calls::{Calls, Meter, Recorded, SharedOutputs};
use super::run_state::RunState;
use super::stimuli::Stimulated;
use super::thread_host::PartitionHost;
use super::unit::{StepUnit, Unit};
use vecud_base::time::Instant;
use vecud_fmi::FastPathExit;
use vecud_plan::schedule::Due;
use vecud_plan::{TaskPlan, UnitId};

/// A task with its FMU code and its buffers, of all members if it is a group; belongs to one thread.
pub struct Activation {
    /// The FMU code.
    pub unit: Unit,
    /// The calls of the unit, with what they set and read.
    pub calls: Calls,
    stimuli: Vec<Stimulated>,
    /// `None`: nothing of this task is recorded, or its unit does that.
    recorded: Option<Recorded>,
}

impl Activation {
    /// The buffers of a task.
    pub fn new(run: &RunState, id: UnitId, unit: Unit, shared: &SharedOutputs) -> Activation {
        let calls = Calls::new(run, id, unit.asks_nothing(), shared);
        let recorded = if unit.records() { None } else { Recorded::of(run, id) };
        let stimuli = calls.stimuli(run);
        Activation { unit, calls, stimuli, recorded }
    }

    /// Whether [`Activation::stimulate`] has something to do: stimuli, ticks of a file, or members of a group that may have them.
    #[inline]
    pub fn is_stimulated(&self) -> bool {
        !self.stimuli.is_empty() || self.unit.is_fed() || self.unit.is_group()
    }

    /// Gives the FMU code back, so that instances can be ended, with the number of each unit.
    pub fn into_units(self) -> Vec<(UnitId, Unit)> {
        self.unit.apart(self.calls.unit())
    }

    /// Joins the activations of all units to those of the tasks, in the order of the plan's tasks.
    pub fn of_tasks(run: &RunState, units: Vec<Activation>) -> Vec<Activation> {
        let mut units: Vec<Option<Activation>> = units.into_iter().map(Some).collect();
        let mut take = |unit: UnitId| units[unit.0].take().expect("a unit computes in one task");
        let mut of_task = |task: &TaskPlan| {
            let mut own = take(task.first());
            for Activation { unit, calls, stimuli, .. } in task.others().iter().map(|other| take(*other)) {
                own.unit.join(unit, calls, stimuli);
            }
            own
        };
        run.plan.tasks.iter().map(&mut of_task).collect()
    }

    /// Asks for the memory that [`Activation::run`] will touch.
    #[inline]
    pub fn prefetch(&self) {
        self.unit.prefetch();
        self.calls.prefetch();
    }

    /// Fetches the stimuli's values for the release `due`. `false`: they cannot be read, and the run ends without this
    /// activation.
    #[inline]
    pub fn stimulate(&mut self, run: &RunState, due: &Due) -> bool {
        let is_held = self.unit.holds_inputs(due.time);
        let own = is_held || self.calls.stimulate(&mut self.stimuli, run, due.time);
        if let Some(member) = self.unit.member() {
            member.follow_rows(&self.stimuli);
        }
        own && self.unit.take_fed(run, due) && self.unit.stimulate_others(run, due, is_held)
    }

    /// Runs the activation for the release `due`, whose time is `seconds`. When a call fails, or another partition of the
    /// instance has failed, the rest is left out.
    #[inline]
    pub fn run(
        &mut self,
        run: &'static RunState,
        host: &'static PartitionHost,
        due: &Due,
        seconds: f64,
        meter: &mut impl Meter,
    ) -> Result<(), ActivationError> {
        self.unit.run(&mut self.calls, run, host, due, seconds, meter)
    }

    /// Whether its releases are nothing but steps that the fast path can make, with nothing to set or read.
    pub fn can_batch(&self) -> bool {
        self.calls.are_none() && self.unit.steps().is_some_and(StepUnit::can_batch)
    }

    /// Makes one step on the fast path, in place of [`Activation::run`]. Returns whether the next release is another one than the next
    /// regular step.
    #[inline(always)] // in the one loop there is
    pub fn fast_step(&mut self, due: &Due, seconds: f64, end: Instant) -> Result<bool, ActivationError> {
        let result = self.unit.batched().fast_step(due, seconds, end);
        self.calls.count_fast_step(result)
    }

    /// Finishes a step that has left the fast path. Returns whether the next release is another one than the next regular step.
    #[cold]
    pub fn finish_irregular_step(
        &mut self,
        exit: FastPathExit,
        due: &Due,
        seconds: f64,
        end: Instant,
    ) -> Result<bool, ActivationError> {
        let result = self.unit.batched().finish_irregular_step(exit, due, seconds, end);
        self.calls.count_fast_step(result)
    }

    /// Ends the work after the last release of the run.
    pub fn finish(&mut self, run: &RunState, host: &'static PartitionHost) {
        self.unit.finish(&self.calls, run, host);
    }

    /// Whether [`Activation::sample`] has something to record.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        self.recorded.is_some()
    }

    /// Appends a sample to the task's ring: the inputs and outputs of the last run, for `due`, and the values that callbacks read
    /// through `host`. `false`: there was no room.
    #[inline]
    pub fn sample(&self, run: &RunState, host: &PartitionHost, order: u64, due: &Due) -> bool {
        let append = |own: &Recorded| own.append(&self.calls, run, host, order, due.time);
        self.recorded.as_ref().is_none_or(append)
    }
}

//! The calls of one activation: set, compute, get, publish. A [`Setting`] sets and computes, a [`Getting`] gets.

use super::batches::{Discrete, Inputs, Outputs, jumping};
use super::meter::Meter;
use super::seen::LastSet;
use super::shared_outputs::SharedOutputs;
use crate::activation_error::ActivationError;
use crate::exchange::Stamp;
use crate::inbox::{Carried, Inbox, Settable, Turn};
use crate::lines::Lines;
use crate::ports;
use crate::resize::Resizable;
use crate::run_state::RunState;
use crate::slopes::{CarriedDerivatives, Moved};
use crate::stimuli::Stimulated;
use crate::thread_host::PartitionHost;
use crate::values::{self, Input, Output, Publishing};
use vecud_base::time::Instant;
use vecud_fmi::{Attempt, Batch, Failure, Outcome, TimeDerivatives};
use vecud_linux::prefetch::prefetch_all;
use vecud_plan::schedule::Due;
use vecud_plan::snapshot::BetweenSteps;
use vecud_plan::{BatchItem, ConnectionId, OnWarning, UnitId};

/// The inputs and outputs of a task, where they come from and where they go.
pub struct Calls {
    pub(super) unit: UnitId,
    on_warning: OnWarning,
    pub(super) set: Vec<(Batch, Inputs)>,
    pub(super) get: Vec<(Batch, Outputs)>,
    /// The last run came to the call that computes.
    computed: bool,
    /// Some run has read the outputs.
    pub(super) has_read: bool,
    /// `None`: all values are numbers in signal bundles, and the calls are always the same.
    pub(super) beside: Option<Box<Beside>>,
}

/// The state of calls that only some tasks make.
pub(super) struct Beside {
    inbox: Inbox,
    pub(super) resizable: Option<Resizable>,
    /// Reads variables that other partitions read as well and that feed connections, or strings or binaries: reading and
    /// publishing must not be interrupted by other partitions.
    undisturbed: bool,
    /// Delayed connections begin here.
    delays: bool,
}

/// A unit before it computes.
pub trait Setting: Settable {
    /// The unit after that.
    type Getting: Getting;

    /// Sets the derivatives of the inputs that were set just now for a release at `time`. Only steps have any.
    fn set_slopes(
        &mut self,
        _host: &PartitionHost,
        _time: Instant,
        _batch: &Batch,
        _slopes: &CarriedDerivatives,
    ) -> Result<Outcome, Failure> {
        Ok(Outcome::Ok)
    }

    /// The time at which the inputs for the release `due` have to be visible.
    #[inline(always)] // it is the same time
    fn looks_at(&self, due: &Due) -> Instant {
        due.time
    }

    /// All inputs for the release `due` are set.
    fn ready(&mut self, _calls: &Calls, _run: &RunState, _host: &PartitionHost, _due: &Due) {}

    /// Computes for the release `due`, whose time is `seconds`, after `calls` have set the inputs.
    fn compute(self, calls: &mut Calls, due: &Due, seconds: f64) -> Result<Self::Getting, Failure>;
}

/// A unit that has computed.
pub trait Getting {
    /// How that went.
    fn outcome(&self) -> Outcome;

    /// Asks the FMU for what the host needs before it reads anything else.
    fn ask(&mut self, host: &PartitionHost, due: &Due) -> Result<(), ActivationError>;

    /// The time from which on the outputs computed for `due` are valid.
    fn valid_from(&self, due: &Due) -> Instant {
        due.time
    }

    /// The stamp of the outputs for `due` in delayed connections; `None`: these never show them.
    fn stamp(&mut self, run: &RunState, due: &Due) -> Option<Stamp>;

    /// Reads the enabled items of the batch, in one call.
    fn get(&mut self, batch: &mut Batch) -> Result<Outcome, Failure>;

    /// Reads slopes of outputs. Only steps have any.
    fn get_slopes(&mut self, _slopes: &mut CarriedDerivatives) -> Result<Outcome, Failure> {
        Ok(Outcome::Ok)
    }
}

/// The outcome of a step on the fast path, and whether the next release is another one than the next regular step.
pub type FastStepResult = Result<(Outcome, bool), Failure>;

impl Calls {
    /// The calls of a task. `asks_nothing`: [`Getting::ask`] does nothing.
    pub fn new(run: &RunState, unit: UnitId, asks_nothing: bool, shared: &SharedOutputs) -> Calls {
        let plan = &run.plan.units[unit.0];
        let unit_of_time = run.plan.fmus[plan.fmu.0].time_unit;
        // The values of a saved run that this one continues.
        let BetweenSteps { seen: left, jumps, .. } = run.instances[plan.fmu.0].between_steps();
        let asks = run.plan.fmus[plan.fmu.0].intermediate().is_some_and(|own| !own.inputs.is_empty());
        let set = plan.set.iter().map(|planned| {
            let (mut values, mut inputs) = values::set(&run.plan, planned);
            for input in &mut inputs {
                input.follow_delay(run, unit, &mut values);
                input.put_back(&jumps);
            }
            let (bundles, single) = ports::incoming(run, planned, inputs, &mut values);
            let seen = |values: &Batch| {
                let mut seen = LastSet::new(values);
                for (item, BatchItem { reference, .. }) in planned.items.iter().enumerate() {
                    let left = left.iter().find(|(own, _)| *own == reference.0);
                    left.into_iter().for_each(|(_, elements)| seen.put_back(values, item, elements));
                }
                seen
            };
            let discrete = planned.in_event_mode.then(|| {
                let ticked = planned.ticked.clone();
                Discrete { seen: seen(&values), has_changed: false, ticked }
            });
            let jumping = jumping(&run.plan, unit, planned, &values);
            let jumping = (!jumping.is_empty()).then(|| (seen(&values), jumping));
            let slopes = CarriedDerivatives::of(&run.plan, planned, &values, unit_of_time);
            let moved = slopes.as_ref().filter(|_| !asks).map(|slopes| Moved::of(planned, &values, slopes));
            let lines = Lines::of(&run.plan, unit, planned, &values);
            (values, Inputs { bundles, single, slopes, moved, lines, discrete, has_jumped: false, jumping })
        });
        let set: Vec<_> = set.collect();
        let get = plan.get.iter().map(|planned| {
            let (values, outputs) = values::get(&run.plan, planned);
            outputs.iter().for_each(|output| output.put_back(&jumps));
            let (bundles, single) = ports::outgoing(run, planned, &values, outputs);
            let slopes = CarriedDerivatives::of(&run.plan, planned, &values, unit_of_time);
            let (ticked, in_event_mode) = (planned.ticked.clone(), planned.in_event_mode);
            let seen = (plan.leaves_its_grid() && ticked.is_empty()).then(|| LastSet::new(&values));
            (values, Outputs { bundles, single, slopes, ticked, in_event_mode, seen })
        });
        let get: Vec<_> = get.collect();
        let beside = Beside {
            inbox: Inbox::new(run, unit),
            resizable: Resizable::new(&run.plan, plan),
            undisturbed: shared.disturb(plan),
            delays: get.iter().flat_map(|(_, outputs)| &outputs.single).any(Output::is_delayed),
        };
        let plain = set.iter().all(|(_, inputs)| inputs.single.is_empty())
            && get.iter().all(|(_, outputs)| outputs.single.is_empty() && outputs.ticked.is_empty())
            && asks_nothing
            && beside.inbox.is_unused()
            && beside.resizable.is_none()
            && !beside.undisturbed;
        let beside = (!plain).then(|| Box::new(beside));
        let on_warning = run.plan.fmus[plan.fmu.0].on_warning;
        Calls { unit, on_warning, set, get, computed: false, has_read: false, beside }
    }

    /// Whether there are none but the one that computes.
    pub fn are_none(&self) -> bool {
        self.is_plain() && self.set.is_empty() && self.get.is_empty()
    }

    /// Whether all calls are always the same.
    pub fn is_plain(&self) -> bool {
        self.beside.is_none()
    }

    /// Whether delayed connections begin here.
    #[inline]
    pub fn delays(&self) -> bool {
        self.beside.as_ref().is_some_and(|beside| beside.delays)
    }

    /// Whether the last run came to the call that computes, such as `fmi3ActivateModelPartition`: before it, setting an input can fail,
    /// or the instance can turn out to be one that must not be called any more.
    pub fn computed(&self) -> bool {
        self.computed
    }

    /// Asks for the memory that they will touch.
    #[inline]
    pub fn prefetch(&self) {
        for (values, inputs) in &self.set {
            prefetch_all(values);
            inputs.bundles.prefetch();
        }
        for (values, outputs) in &self.get {
            prefetch_all(values);
            outputs.bundles.prefetch();
        }
    }

    /// The stimuli that feed inputs of this task.
    pub fn stimuli(&self, run: &RunState) -> Vec<Stimulated> {
        let batches: Vec<&Batch> = self.set.iter().map(|(values, _)| values).collect();
        Stimulated::of(run, self.unit, &batches)
    }

    /// Copies the stimuli's values at `time` into the input batches. `false`: they cannot be read.
    #[inline]
    pub fn stimulate(&mut self, stimuli: &mut [Stimulated], run: &RunState, time: Instant) -> bool {
        stimuli.iter_mut().all(|stimulus| stimulus.fetch(run, self.unit, time, &mut self.set))
    }

    /// Accounts for a step on the fast path, made in place of these calls. Returns whether the next release is another one than
    /// the next regular step.
    #[inline(always)] // as what calls it
    pub fn count_fast_step(&mut self, result: FastStepResult) -> Result<bool, ActivationError> {
        self.computed = !result.as_ref().is_err_and(|failure| failure.refused);
        let (outcome, is_over) = result?;
        ActivationError::unless_allowed(outcome, self.on_warning)?;
        Ok(is_over)
    }

    /// Notes, after the end of the run, what was finished only after the last call.
    pub fn settle(&self, run: &RunState) {
        self.set.iter().flat_map(|(_, inputs)| &inputs.single).for_each(|input| input.note_missed(run));
    }

    /// Reads all outputs that belong to no clock, with `get`, and publishes none of them.
    pub fn read(&mut self, mut get: impl FnMut(&mut Batch) -> Result<Outcome, Failure>) -> Result<(), ActivationError> {
        for (values, _) in self.get.iter_mut().filter(|(_, outputs)| outputs.ticked.is_empty()) {
            ActivationError::unless_allowed(get(values)?, self.on_warning)?;
        }
        self.has_read = true;
        Ok(())
    }

    /// The task that they are made for.
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// Whether to go on after a call that went well, by the rig's word on warnings.
    pub fn allow(&self, outcome: Outcome) -> Result<(), ActivationError> {
        ActivationError::unless_allowed(outcome, self.on_warning)
    }

    /// Begins a release whose calls are made one by one, by the methods below, instead of by [`Calls::run`].
    pub fn begin(&mut self) {
        self.computed = false;
    }

    /// The call that computes comes next.
    pub fn computes(&mut self) {
        self.computed = true;
    }

    /// Arrays that are read are as long as they are now.
    pub fn follow_sizes(&mut self, run: &RunState, host: &PartitionHost) {
        let Calls { get, beside, .. } = self;
        if let Some(resizable) = beside.as_deref_mut().and_then(|beside| beside.resizable.as_mut()) {
            resizable.follow(run, host.fmu(), |batch, elements| get[batch].0.resize(elements));
        }
    }

    /// Copies the values that are visible at `time` into the input batches.
    pub fn fetch(&mut self, run: &RunState, host: &PartitionHost, time: Instant) {
        self.follow_sizes(run, host);
        for (values, inputs) in &mut self.set {
            inputs.bundles.fetch(values);
            let Inputs { single, slopes, has_jumped, .. } = inputs;
            single.iter_mut().for_each(|input| *has_jumped |= input.fetch(run, time, values, slopes.as_mut()));
        }
    }

    /// Whether the source of a continuous input has jumped since the last call.
    pub fn take_jump(&mut self) -> bool {
        self.set.iter_mut().fold(false, |any, (values, inputs)| {
            let jumping = inputs.jumping.as_mut();
            let has_jumped = jumping.is_some_and(|(seen, elements)| seen.has_changed_among(values, elements));
            any | has_jumped | std::mem::take(&mut inputs.has_jumped)
        })
    }

    /// Whether there is a jump that [`Calls::take_jump`] has not reported.
    pub fn has_jump(&self) -> bool {
        self.set.iter().any(|(_, inputs)| inputs.has_jumped)
    }

    /// The last jumps of inputs and outputs, for a run that goes on: [`BetweenSteps::jumps`].
    pub fn jumps(&self) -> Vec<(ConnectionId, i64)> {
        let seen = self.set.iter().flat_map(|(_, inputs)| &inputs.single).filter_map(Input::jump);
        seen.chain(self.get.iter().flat_map(|(_, outputs)| &outputs.single).flat_map(Output::jumps)).collect()
    }

    /// Before an event: reads with `get` the outputs that may jump in it, unless they were read at this communication point.
    pub fn look_before_event(
        &mut self,
        mut get: impl FnMut(&mut Batch) -> Result<Outcome, Failure>,
    ) -> Result<(), ActivationError> {
        for (values, outputs) in &mut self.get {
            if outputs.single.iter().any(Output::tells_jumps)
                && let Some(seen) = &mut outputs.seen
            {
                ActivationError::unless_allowed(get(values)?, self.on_warning)?;
                seen.has_changed(values);
            }
        }
        Ok(())
    }

    /// Whether a discrete input has another value than the one that was set.
    pub fn has_changed(&mut self) -> bool {
        let mut any = false;
        for (values, inputs) in &mut self.set {
            if let Some(discrete) = inputs.discrete.as_mut().filter(|discrete| discrete.ticked.is_empty()) {
                discrete.has_changed |= discrete.seen.has_changed(values);
                any |= discrete.has_changed;
            }
        }
        any
    }

    /// The values that were set last of variables that are set when they have changed, for a run that goes on: [`BetweenSteps::seen`].
    pub fn seen(&self, run: &RunState) -> Vec<(u32, Vec<Option<u64>>)> {
        let mut all = Vec::new();
        for (planned, (values, inputs)) in run.plan.units[self.unit.0].set.iter().zip(&self.set) {
            let discrete = inputs.discrete.as_ref().map(|discrete| &discrete.seen);
            let Some(seen) = discrete.or(inputs.jumping.as_ref().map(|(seen, _)| seen)) else { continue };
            for (item, BatchItem { reference, .. }) in planned.items.iter().enumerate() {
                all.push((reference.0, seen.of_item(values, item)));
            }
        }
        all
    }

    /// Carries out the commands that are due before `time` and belong to this turn.
    pub fn carry_out(
        &mut self,
        run: &RunState,
        host: &PartitionHost,
        setting: &mut impl Settable,
        time: Instant,
        turn: Turn,
    ) -> Result<Carried, ActivationError> {
        match self.beside.as_deref_mut() {
            Some(beside) => beside.inbox.apply(run, host, setting, time, turn),
            None => Ok(Carried::default()),
        }
    }

    /// Sets the inputs of Event Mode: those that have changed, and those of active clocks.
    pub fn set_discrete(
        &mut self,
        is_active: impl Fn(&[usize]) -> bool,
        mut set: impl FnMut(&Batch) -> Result<Outcome, Failure>,
    ) -> Result<(), ActivationError> {
        for (values, inputs) in &mut self.set {
            let Some(discrete) = &mut inputs.discrete else { continue };
            if is_active(&discrete.ticked) || std::mem::take(&mut discrete.has_changed) {
                ActivationError::unless_allowed(set(values)?, self.on_warning)?;
            }
        }
        Ok(())
    }

    /// Whether something is set in Step Mode.
    pub fn sets_between_events(&self) -> bool {
        self.set.iter().any(|(_, inputs)| inputs.discrete.is_none())
    }

    /// Sets the inputs of Step Mode, with their derivatives where they travel with them.
    pub fn set_continuous(
        &mut self,
        mut set: impl FnMut(&Batch, Option<&CarriedDerivatives>) -> Result<Outcome, Failure>,
    ) -> Result<(), ActivationError> {
        for (values, inputs) in self.set.iter().filter(|(_, inputs)| inputs.discrete.is_none()) {
            let slopes = inputs.slopes.as_ref().filter(|slopes| slopes.is_known());
            ActivationError::unless_allowed(set(values, slopes)?, self.on_warning)?;
        }
        Ok(())
    }

    /// Sets inputs on curves and their derivatives again where a part of a step begins, `later` than they were set, in the FMU's
    /// unit of time. The batches keep their values.
    pub fn set_moved(
        &mut self,
        later: f64,
        mut set: impl FnMut(&Batch, &TimeDerivatives) -> Result<Outcome, Failure>,
    ) -> Result<Outcome, Failure> {
        let mut all = Outcome::Ok;
        for (values, Inputs { slopes, moved, .. }) in &mut self.set {
            let known = slopes.as_ref().filter(|slopes| slopes.is_known());
            if let Some((slopes, moved)) = known.zip(moved.as_mut()) {
                let (values, derivatives) = moved.bring(values, slopes, later);
                all = all.or(set(values, derivatives)?);
            }
        }
        Ok(all)
    }

    /// The values that the call of this number has read last.
    pub fn got(&self, call: usize) -> &Batch {
        &self.get[call].0
    }

    /// The values that the call of this number sets next.
    pub fn wanted(&mut self, call: usize) -> &mut Batch {
        &mut self.set[call].0
    }

    /// Moves inputs on lines to this time, s, and sets them.
    pub fn set_on_lines(
        &mut self,
        time: f64,
        mut set: impl FnMut(&Batch) -> Result<Attempt, Failure>,
    ) -> Result<Attempt, Failure> {
        let mut all = Outcome::Ok;
        for (values, inputs) in &mut self.set {
            if inputs.lines.as_ref().is_some_and(|lines| lines.bring(time, values)) {
                match set(values)? {
                    Attempt::Done(outcome) => all = all.or(outcome),
                    discarded => return Ok(discarded),
                }
            }
        }
        Ok(Attempt::Done(all))
    }

    /// Reads the batches of Event Mode that `is_read` selects by the clocks that they belong to, and publishes them.
    pub fn get_discrete(
        &mut self,
        is_read: impl Fn(&[usize]) -> bool,
        run: &RunState,
        host: &PartitionHost,
        now: Publishing,
        mut get: impl FnMut(&mut Batch) -> Result<Outcome, Failure>,
    ) -> Result<(), ActivationError> {
        let which = |outputs: &Outputs| outputs.in_event_mode && is_read(&outputs.ticked);
        self.get_where(which, run, host, now, |values, _| get(values))
    }

    /// Reads the outputs that belong to no clock, and publishes them.
    pub fn get(
        &mut self,
        run: &RunState,
        host: &PartitionHost,
        now: Publishing,
        get: impl FnMut(&mut Batch, Option<&mut CarriedDerivatives>) -> Result<Outcome, Failure>,
    ) -> Result<(), ActivationError> {
        self.get_where(|outputs| outputs.ticked.is_empty(), run, host, now, get)?;
        self.has_read = true;
        Ok(())
    }

    fn get_where(
        &mut self,
        which: impl Fn(&Outputs) -> bool,
        run: &RunState,
        host: &PartitionHost,
        now: Publishing,
        mut get: impl FnMut(&mut Batch, Option<&mut CarriedDerivatives>) -> Result<Outcome, Failure>,
    ) -> Result<(), ActivationError> {
        for (values, outputs) in self.get.iter_mut().filter(|(_, outputs)| which(outputs)) {
            ActivationError::unless_allowed(get(values, outputs.slopes.as_mut())?, self.on_warning)?;
            run.look_for_nan(host.fmu(), Some(now.unit), values, || now.valid_from());
            // A value that an event has left unchanged is no new value: other tasks would have to see it within a nanosecond.
            let has_changed = outputs.seen.as_mut().is_none_or(|seen| seen.has_changed(values));
            if has_changed || !now.in_event || outputs.slopes.is_some() {
                outputs.publish(run, host, now, values);
            }
        }
        Ok(())
    }

    /// None of them is made for a release.
    pub fn leave_out(&mut self) {
        self.computed = false;
    }

    /// Makes the calls for the release `due`, whose time is `seconds`.
    #[inline]
    pub fn run(
        &mut self,
        setting: impl Setting,
        run: &RunState,
        host: &PartitionHost,
        due: &Due,
        seconds: f64,
        meter: &mut impl Meter,
    ) -> Result<(), ActivationError> {
        match self.beside {
            None => self.run_as::<true>(setting, run, host, due, seconds, meter),
            Some(_) => self.run_with_everything(setting, run, host, due, seconds, meter),
        }
    }

    #[inline(never)]
    fn run_with_everything(
        &mut self,
        setting: impl Setting,
        run: &RunState,
        host: &PartitionHost,
        due: &Due,
        seconds: f64,
        meter: &mut impl Meter,
    ) -> Result<(), ActivationError> {
        self.run_as::<false>(setting, run, host, due, seconds, meter)
    }

    /// `PLAIN`: there is nothing [beside](Calls::beside) the regular calls, and the code for it is left out, for speed.
    #[inline(always)]
    fn run_as<const PLAIN: bool>(
        &mut self,
        mut setting: impl Setting,
        run: &RunState,
        host: &PartitionHost,
        due: &Due,
        seconds: f64,
        meter: &mut impl Meter,
    ) -> Result<(), ActivationError> {
        let (unit, on_warning) = (self.unit, self.on_warning);
        self.computed = false;
        let Calls { set, get, beside, .. } = self;
        if let Some(beside) = beside.as_deref_mut().filter(|_| !PLAIN) {
            if let Some(resizable) = &mut beside.resizable {
                resizable.follow(run, host.fmu(), |batch, elements| get[batch].0.resize(elements));
            }
            let time = setting.looks_at(due);
            for (values, inputs) in &mut *set {
                inputs.bundles.fetch(values);
                let Inputs { single, slopes, .. } = inputs;
                single.iter_mut().for_each(|input| {
                    input.fetch(run, time, values, slopes.as_mut());
                });
            }
            if beside.inbox.apply(run, host, &mut setting, due.time, Turn::All)?.tuned {
                setting.follow_parameters(host, due.time)?;
            }
        }
        for (values, inputs) in set {
            if PLAIN {
                inputs.bundles.fetch(values);
            }
            ActivationError::unless_allowed(setting.set(values)?, on_warning)?;
            if let Some(slopes) = inputs.slopes.as_ref().filter(|slopes| !PLAIN && slopes.is_known()) {
                ActivationError::unless_allowed(setting.set_slopes(host, due.time, values, slopes)?, on_warning)?;
            }
        }
        setting.ready(self, run, host, due);
        meter.enter();
        let getting = setting.compute(self, due, seconds);
        meter.leave();
        self.computed = !getting.as_ref().is_err_and(|failure| failure.refused);
        host.returned_from_fmu();
        let mut getting = getting?;
        ActivationError::unless_allowed(getting.outcome(), on_warning)?;
        if !PLAIN {
            getting.ask(host, due)?;
        }
        let Calls { get, beside, has_read, .. } = self;
        let beside = if PLAIN { None } else { beside.as_deref_mut() };
        let stamp = if beside.as_ref().is_some_and(|own| own.delays) { getting.stamp(run, due) } else { None };
        let now = Publishing { unit, time: due.time, stamp, in_event: false };
        let state = &run.tasks[unit.0];
        let read_and_publish = || {
            for (values, outputs) in get {
                if !PLAIN && !outputs.ticked.is_empty() && !state.has_one_ticked(&outputs.ticked) {
                    continue;
                }
                ActivationError::unless_allowed(getting.get(values)?, on_warning)?;
                run.look_for_nan(host.fmu(), Some(unit), values, || getting.valid_from(due));
                if let Some(slopes) = outputs.slopes.as_mut().filter(|_| !PLAIN) {
                    ActivationError::unless_allowed(getting.get_slopes(slopes)?, on_warning)?;
                }
                match PLAIN {
                    true => outputs.bundles.publish(values),
                    false => outputs.publish(run, host, now, values),
                }
            }
            *has_read = true;
            Ok(())
        };
        if beside.is_some_and(|own| own.undisturbed) { host.locked(read_and_publish) } else { read_and_publish() }
    }
}
